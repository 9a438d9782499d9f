/* lenient.c: the modes for which an index out of range is no error: such indices are clamped. Gathers of elements whose indices follow each
 * other are then moved by the loops that raise, part by part, and filled where they differ. Elsewhere boxes are moved by offsets: positions
 * that were out of range are noted where a gather fills them, and marked where a scatter leaves them out. */
#include "block.h"
#include "dispatch.h"
#include "share.h"

#define PART DML_PACKED /* coordinates that are clamped at a time: no box has more (boxes.c) */
#define TRIED 8192 /* that are tried at a time */

const char dml_some_elsewhere;

/* The limits of a plan's coordinates, of dimensions that are not empty and that offsets of 32 bits reach. */
static void limit(const dml_plan *p, dml_limits *limits)
{
    int is_signed = dml_index_signed(p->index);
    limits->period = 16 * p->tuple;
    for (int64_t i = 0, k = 0; i < limits->period; i++, k = k + 1 < p->tuple ? k + 1 : 0) {
        i64 low = is_signed ? -p->bounds[k] : 0, high = p->bounds[k] - 1;
        if (dml_index_bytes(p->index) == 4) {
            limits->low.half[i] = (i32)(is_signed ? low : low + INT32_MIN);
            limits->high.half[i] = (i32)(is_signed ? high : high + INT32_MIN);
        } else {
            limits->low.full[i] = is_signed ? low : low + INT64_MIN;
            limits->high.full[i] = is_signed ? high : high + INT64_MIN;
        }
    }
}

/* A dml_clamper's work where offsets take 64 bits, and for long tuples: clamped coordinates take as many bits as they did. */
static void clamp_any(const dml_plan *p, const void *index, int64_t count, void *to, u32 *differs)
{
    int bytes = dml_index_bytes(p->index), is_signed = dml_index_signed(p->index);
    for (int64_t i = 0; i < count; i++) {
        i64 n = p->bounds[i % p->tuple], low = is_signed ? -n : 0, high = n - 1;
        i64 v = bytes == 8 ? ((const i64 *)index)[i] : is_signed ? (i64)((const i32 *)index)[i] : (i64)((const u32 *)index)[i];
        i64 near = v < 0 && !is_signed ? high : v < low ? low : v < high ? v : high;
        differs[i] = near != v;
        if (bytes == 8)
            ((i64 *)to)[i] = near;
        else
            ((u32 *)to)[i] = (u32)near;
    }
}

/* The numbers of those of so many tuples of which some coordinate differs; the answer is how many. */
static int64_t sift(const u32 *differs, int64_t count, int tuple, u16 *numbers)
{
    static const uint64_t any[2] = {UINT64_MAX, UINT64_MAX};
    uint64_t bits[PART / 64];
    int64_t found = 0;
    dml_chosen_isa->nonzero_counts[DML_STORAGE_U32]((const char *)differs, count * tuple, any, bits);
    for (int64_t i = 0; i < dml_ceil(count * tuple, 64); i++)
        for (uint64_t word = bits[i]; word; word &= word - 1) {
            int64_t number = 64 * i + DML_CTZ64(word);
            if (tuple > 1)
                number /= tuple;
            if (found == 0 || numbers[found - 1] != number)
                numbers[found++] = (u16)number;
        }
    return found;
}

static int has_empty(const dml_plan *p)
{
    for (int k = 0; k < p->tuple; k++)
        if (p->bounds[k] == 0)
            return 1;
    return 0;
}

/* Fills the block's offsets by clamped indices. 1: one is out of range, as some dimension is empty, or another thread is writing to the
 * caller's indices. */
static int place(const dml_plan *p, dml_block *b, const void *index, u32 *differs)
{
    union {
        _Alignas(DML_LINE) u32 half[PART];
        u64 full[PART];
    } clamped;
    int width = dml_index_width(p->index), is_signed = dml_index_signed(p->index);
    int64_t count = b->positions * p->tuple;
    if (has_empty(p))
        return 1;
    if (p->wide || p->tuple > DML_LONGEST_CLAMPED)
        clamp_any(p, index, count, &clamped, differs);
    else {
        dml_limits limits;
        limit(p, &limits);
        dml_chosen_isa->clampers[width](index, count, &limits, !is_signed, clamped.half, p->mode == DML_CLIP ? NULL : differs);
        width = DML_WIDTH_U32;
    }
    if (p->wide)
        return dml_wide(&clamped, b->positions, p, b->offsets.wide);
    return dml_chosen_isa->normalisers[width](&clamped, b->positions, p->tuple, is_signed, p->bounds, p->steps,
                                              p->ramped ? p->ramps->table.narrow : NULL, b->offsets.narrow);
}

void dml_lenient(const dml_plan *p, dml_block *b, const void *index)
{
    _Alignas(DML_LINE) u32 differs[PART];
    u16 numbers[DML_BLOCK];
    int none = place(p, b, index, differs);
    int64_t found = b->positions;
    b->known = DML_SOME_ELSEWHERE;
    if (none)
        b->count = 0;
    if (p->mode == DML_CLIP)
        return;
    if (!none)
        found = sift(differs, b->positions, p->tuple, numbers);
    for (int64_t i = 0; i < found; i++) {
        int64_t at = none ? i : numbers[i];
        if (p->mode == DML_FILL)
            b->missing[b->missed++] = dml_block_where(p, b, at);
        else if (p->wide)
            b->offsets.wide[at] = DML_NOWHERE;
        else
            b->offsets.narrow[at] = DML_NOWHERE_NARROW;
    }
    if (!found)
        b->known = NULL;
}

/* So many elements of so many bytes, a constant where this is inlined. */
DML_INLINE void fill_at(char *stream, const int64_t *at, int64_t count, const char *element, int64_t bytes)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(stream + at[i], element, (size_t)bytes);
}

static void fill_elements(char *stream, const int64_t *at, int64_t count, const char *from, int64_t bytes)
{
    char element[16]; /* the stream cannot change it */
    memcpy(element, from, (size_t)bytes);
    switch (bytes) {
    case 1: fill_at(stream, at, count, element, 1); break;
    case 2: fill_at(stream, at, count, element, 2); break;
    case 4: fill_at(stream, at, count, element, 4); break;
    case 8: fill_at(stream, at, count, element, 8); break;
    default: fill_at(stream, at, count, element, 16);
    }
}

/* The first slice by copies of what is there already, the others are copies of it. */
static void fill_slices(const dml_plan *p, const dml_block *b)
{
    char *first = b->stream + b->missing[0];
    memcpy(first, p->fill, (size_t)p->element);
    for (int64_t done = p->element; done < p->slice; done += done)
        memcpy(first + done, first, (size_t)dml_least(done, p->slice - done));
    for (int64_t i = 1; i < b->missed; i++)
        dml_copy_short(b->stream + b->missing[i], first, p->slice);
}

void dml_block_fill(const dml_plan *p, const dml_block *b)
{
    if (p->slice == p->element)
        fill_elements(b->stream, b->missing, b->missed, p->fill, p->element);
    else
        fill_slices(p, b);
}

/* Of slices that follow each other, as long as an element may be, those whose indices differ. */
static void fill_those(const dml_plan *p, char *stream, const u32 *differs, int64_t count)
{
    u16 numbers[PART];
    int64_t missing[PART], found = sift(differs, count, p->tuple, numbers);
    char slice[16];
    for (int64_t at = 0; at < p->slice; at += p->element)
        memcpy(slice + at, p->fill, (size_t)p->element);
    for (int64_t i = 0; i < found; i++)
        missing[i] = numbers[i] * p->slice;
    fill_elements(stream, missing, found, slice, p->slice);
}

/* Whether indices, and what is filled, follow each other, and offsets take 32 bits. */
static int is_simple(const dml_plan *p, int mode)
{
    int64_t width = dml_index_bytes(p->index), apart = p->tuple * width, slice = p->slice;
    int simple = (mode == DML_CLIP || mode == DML_FILL) && p->whole && !p->stores && !p->wide && !p->unaligned;
    if (!simple || has_empty(p) || p->tuple > DML_LONGEST_CLAMPED || (p->tuple > 1 && p->coordinate_stride != width))
        return 0;
    for (int d = p->rank - 1; d >= 0; d--) {
        if (p->dim[d].index != apart || (mode == DML_FILL && p->dim[d].stream != slice))
            return 0;
        apart *= p->dim[d].size;
        slice *= p->dim[d].size;
    }
    return 1;
}

/* The same plan for clamped indices of 32 bits, those of a part at a time. */
static void plan_for_clamped(dml_plan *part, const dml_plan *p)
{
    int64_t width = dml_index_bytes(p->index);
    *part = *p;
    part->index = dml_index_narrowed(p->index);
    part->coordinate_stride = sizeof(u32);
    part->joined = p->joined / width * (int64_t)sizeof(u32);
    part->row_lookup = NULL;
    part->follows = 0; /* nothing is known of the next part's */
    part->ahead = part->fed = 0;
    for (int d = 0; d < p->rank; d++)
        part->dim[d].index = p->dim[d].index / width * (int64_t)sizeof(u32);
}

/* Some boxes, a part at a time. */
static int clamped_boxes(const dml_plan *p, dml_worker *worker, int64_t begin, int64_t end)
{
    _Alignas(DML_LINE) u32 clamped[PART], differs[PART];
    dml_limits limits;
    dml_plan part;
    int fills = p->otherwise == DML_FILL, status = DML_OK;
    int64_t bytes = dml_index_bytes(p->index), boxes = PART / (p->rows * p->inner * p->tuple);
    limit(p, &limits);
    plan_for_clamped(&part, p);
    for (int64_t box = begin, next; box < end && !status; box = next) {
        next = dml_least(box + dml_most(1, boxes), end);
        int64_t at = dml_block_number(p, box), count = (next < p->boxes ? dml_block_number(p, next) : p->positions) - at;
        dml_chosen_isa->clampers[dml_index_width(p->index)](p->indices + at * p->tuple * bytes, count * p->tuple, &limits,
                                                            !dml_index_signed(p->index), clamped, fills ? differs : NULL);
        /* where those of the first box would be */
        part.indices = (const char *)((uintptr_t)clamped - (uintptr_t)(at * p->tuple) * sizeof *clamped);
        status = p->for_clamped(&part, worker, box, next);
        if (fills)
            fill_those(p, p->stream + at * p->slice, differs, count);
    }
    return status;
}

/* The loop for all boxes. */
static int lenient_boxes(const dml_plan *p, dml_worker *worker, int64_t begin, int64_t end)
{
    int64_t some = dml_most(1, TRIED / (p->rows * p->inner * p->tuple));
    int status = DML_OK;
    for (int64_t box = begin; box < end && !status; box += some) {
        status = p->plain(p, worker, box, dml_least(box + some, end));
        if (status == DML_OUT_OF_RANGE)
            status = clamped_boxes(p, worker, box, dml_least(box + some, end));
    }
    return status;
}

int dml_goes_on(dml_job *job, dml_plan *p, int mode, int threads)
{
    if (!is_simple(p, mode) || dml_takes_tiles(job, NULL, 0, 0) || (!p->untouched && dml_columns_kept(p, threads)))
        return 0;
    p->plain = job->loop;
    p->for_clamped = job->for_narrow;
    p->otherwise = mode;
    job->loop = lenient_boxes;
    return 1;
}
