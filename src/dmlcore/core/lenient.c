/* lenient.c: the modes for which an index out of range is no error. The indices of a box that has one are clamped; positions that were
 * elsewhere are noted where a gather fills them, and marked where a scatter leaves them out. */
#include "block.h"
#include "dispatch.h"

const char dml_some_elsewhere;

/* Tuples of coordinates to the nearest ones that are in range, of dimensions that are not empty. U and S are their unsigned and signed
 * types, U_MOST and S_MOST the largest bounds that differ. */
#define CLAMP(U, S, U_MOST, S_MOST)                                                   \
    static void clamp_##U(const dml_plan *p, const U *index, int64_t count, U *to)    \
    {                                                                                 \
        int is_signed = dml_index_signed(p->index), q = p->tuple;                     \
        for (int k = 0; k < q; k++) {                                                 \
            U last = (U)dml_least(p->bounds[k] - 1, is_signed ? (S_MOST) : (U_MOST)); \
            S high = (S)last, low = -high - 1;                                        \
            for (int64_t i = k; i < count * q; i += q) {                              \
                U v = index[i];                                                       \
                if (is_signed)                                                        \
                    to[i] = (U)((S)v < low ? low : (S)v < high ? (S)v : high);        \
                else                                                                  \
                    to[i] = v < last ? v : last;                                      \
            }                                                                         \
        }                                                                             \
    }
CLAMP(u32, i32, (int64_t)UINT32_MAX, (int64_t)INT32_MAX)
CLAMP(u64, i64, INT64_MAX, INT64_MAX)

/* For each of so many tuples 1 where one of its coordinates was clamped, else 0. */
#define TELL(U)                                                                                 \
    static void tell_##U(const U *index, const U *clamped, int64_t count, int q, u8 *elsewhere) \
    {                                                                                           \
        for (int64_t i = 0; i < count; i++, index += q, clamped += q) {                         \
            U differ = 0;                                                                       \
            for (int k = 0; k < q; k++)                                                         \
                differ |= index[k] ^ clamped[k];                                                \
            elsewhere[i] = differ != 0;                                                         \
        }                                                                                       \
    }
TELL(u32)
TELL(u64)

/* The numbers of those that are told; the answer is how many. Mostly there are none among eight. */
static int64_t sift(u8 *elsewhere, int64_t count, u16 *numbers)
{
    int64_t found = 0;
    memset(elsewhere + count, 0, 8);
    for (int64_t i = 0; i < count; i += 8) {
        u64 eight;
        memcpy(&eight, elsewhere + i, sizeof eight);
        for (int64_t k = i; eight && k < i + 8; k++) {
            numbers[found] = (u16)k;
            found += elsewhere[k];
        }
    }
    return found;
}

/* Fills the block's offsets by clamped indices. 1: one is out of range, as some dimension is empty, or another thread is writing to the
 * caller's indices. */
static int place(const dml_plan *p, dml_block *b, const void *index, void *clamped)
{
    int width = dml_index_width(p->index), is_signed = dml_index_signed(p->index);
    for (int k = 0; k < p->tuple; k++)
        if (p->bounds[k] == 0)
            return 1;
    if (p->tuple == 1)
        dml_chosen_isa->clampers[width](index, b->positions, is_signed, p->bounds[0], clamped);
    else if (width == DML_WIDTH_U32)
        clamp_u32(p, index, b->positions, clamped);
    else
        clamp_u64(p, index, b->positions, clamped);
    if (p->wide)
        return dml_wide(clamped, b->positions, p, b->offsets.wide);
    return dml_chosen_isa->normalisers[width](clamped, b->positions, p->tuple, is_signed, p->bounds, p->steps,
                                              p->ramped ? p->ramps->table.narrow : NULL, b->offsets.narrow);
}

void dml_lenient(const dml_plan *p, dml_block *b, const void *index)
{
    union {
        _Alignas(DML_LINE) u32 half[DML_PACKED]; /* no box has more coordinates (boxes.c) */
        u64 full[DML_PACKED];
    } clamped;
    u8 elsewhere[DML_BLOCK + 8];
    u16 numbers[DML_BLOCK + 8];
    int width = dml_index_width(p->index), none = place(p, b, index, &clamped);
    int64_t found = b->positions;
    b->known = DML_SOME_ELSEWHERE;
    if (none)
        b->count = 0;
    if (p->mode == DML_CLIP)
        return;
    if (!none) {
        if (p->tuple == 1)
            dml_chosen_isa->tellers[width](index, &clamped, b->positions, elsewhere);
        else if (width == DML_WIDTH_U32)
            tell_u32(index, clamped.half, b->positions, p->tuple, elsewhere);
        else
            tell_u64(index, clamped.full, b->positions, p->tuple, elsewhere);
        found = sift(elsewhere, b->positions, numbers);
    }
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

/* Elements of so many bytes, a constant where this is inlined. */
DML_INLINE void fill_elements(const dml_plan *p, const dml_block *b, int64_t bytes)
{
    char element[16];
    char *stream = b->stream;
    memcpy(element, p->fill, (size_t)bytes);
    for (int64_t i = 0; i < b->missed; i++)
        memcpy(stream + b->missing[i], element, (size_t)bytes);
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
    switch (p->slice == p->element ? p->element : 0) {
    case 1: fill_elements(p, b, 1); break;
    case 2: fill_elements(p, b, 2); break;
    case 4: fill_elements(p, b, 4); break;
    case 8: fill_elements(p, b, 8); break;
    default: fill_slices(p, b);
    }
}
