/* lenient.c: the modes for which an index out of range is no error. The indices of a box that has one are clamped; positions that were
 * elsewhere are noted where a gather fills them, and marked where a scatter leaves them out. */
#include "block.h"
#include "dispatch.h"

const char dml_some_elsewhere;

/* None is moved: a dimension that coordinates count along is empty. */
static void miss_all(const dml_plan *p, dml_block *b)
{
    b->known = NULL;
    b->count = 0;
    for (; p->mode == DML_FILL && b->missed < b->positions; b->missed++)
        b->missing[b->missed] = dml_block_where(p, b, b->missed);
}

/* Tuples of coordinates to the nearest ones that are in range, of dimensions that are not empty; and the numbers of those that were
 * not in range, how many is the answer. U and S are their unsigned and signed types. */
#define CLAMP(U, S, MOST)                                                                           \
    static void clamp_##U(const dml_plan *p, const U *index, int64_t count, U *to)                  \
    {                                                                                               \
        int is_signed = dml_index_signed(p->index), q = p->tuple;                                   \
        for (int k = 0; k < q; k++) {                                                               \
            U last = (U)dml_least(p->bounds[k] - 1, is_signed ? (MOST) >> 1 : (MOST));              \
            S high = (S)last, low = -high - 1;                                                      \
            for (int64_t i = k; i < count * q; i += q) {                                            \
                S v = (S)index[i];                                                                  \
                if (is_signed)                                                                      \
                    to[i] = (U)(v < low ? low : v < high ? v : high);                               \
                else                                                                                \
                    to[i] = index[i] < last ? index[i] : last;                                      \
            }                                                                                       \
        }                                                                                           \
    }                                                                                               \
                                                                                                    \
    static int64_t sift_##U(const U *index, const U *clamped, int64_t count, int q, u16 *elsewhere) \
    {                                                                                               \
        int64_t found = 0;                                                                          \
        for (int64_t i = 0; i < count && q == 1; i++) {                                             \
            elsewhere[found] = (u16)i;                                                              \
            found += index[i] != clamped[i];                                                        \
        }                                                                                           \
        for (int64_t i = 0; i < count && q > 1; i++, index += q, clamped += q) {                    \
            U differ = 0;                                                                           \
            for (int k = 0; k < q; k++)                                                             \
                differ |= index[k] ^ clamped[k];                                                    \
            elsewhere[found] = (u16)i;                                                              \
            found += differ != 0;                                                                   \
        }                                                                                           \
        return found;                                                                               \
    }
CLAMP(u32, i32, (int64_t)UINT32_MAX)
CLAMP(u64, i64, INT64_MAX)

/* Their offsets, of positions number `begin` and the next ones. */
static void place(const dml_plan *p, dml_block *b, const void *clamped, int64_t begin, int64_t count)
{
    int width = dml_index_width(p->index);
    if (p->wide)
        dml_wide(clamped, count, p, p->ramped ? p->ramps->table.wide + begin : NULL, b->offsets.wide + begin);
    else
        dml_chosen_isa->normalisers[width](clamped, count, p->tuple, dml_index_signed(p->index), p->bounds, p->steps,
                                           p->ramped ? p->ramps->table.narrow + begin : NULL, b->offsets.narrow + begin);
}

void dml_lenient(const dml_plan *p, dml_block *b, const void *indices)
{
    union {
        _Alignas(DML_LINE) u32 half[DML_PACKED];
        u64 full[DML_PACKED];
    } clamped;
    u16 elsewhere[DML_PACKED];
    int width = dml_index_width(p->index), q = p->tuple;
    int64_t tuple = q * dml_index_bytes(p->index), count = 0, all = 0;
    const char *index = indices;
    for (int k = 0; k < q; k++)
        if (p->bounds[k] == 0) {
            miss_all(p, b);
            return;
        }
    for (int64_t begin = 0; begin < b->positions; begin += count, index += count * tuple) {
        const u32 *half = (const u32 *)(const void *)index;
        const u64 *full = (const u64 *)(const void *)index;
        count = dml_least(DML_PACKED / q, b->positions - begin);
        if (q == 1)
            dml_chosen_isa->clampers[width](index, count, dml_index_signed(p->index), p->bounds[0], &clamped);
        else if (width == DML_WIDTH_U32)
            clamp_u32(p, half, count, clamped.half);
        else
            clamp_u64(p, full, count, clamped.full);
        place(p, b, &clamped, begin, count);
        if (p->mode == DML_CLIP)
            continue;
        int64_t found = width == DML_WIDTH_U32 ? sift_u32(half, clamped.half, count, q, elsewhere)
                                               : sift_u64(full, clamped.full, count, q, elsewhere);
        for (int64_t i = 0; i < found; i++) {
            int64_t at = begin + elsewhere[i];
            if (p->mode == DML_FILL)
                b->missing[b->missed++] = dml_block_where(p, b, at);
            else if (p->wide)
                b->offsets.wide[at] = DML_NOWHERE;
            else
                b->offsets.narrow[at] = UINT32_MAX;
        }
        all += found;
    }
    b->known = all || p->mode == DML_CLIP ? DML_SOME_ELSEWHERE : NULL;
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
