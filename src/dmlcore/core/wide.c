/* wide.c: from tuples to offsets of 64 bits, as tables of more than 4 GiB have and those
 * that lie backwards where boxes.c says so.
 * Compiled once, not for each instruction set: few have vectors of products of 64 bits. */
#include "wide.h"

/* One coordinate after the other adds to what those before it came to; T is their unsigned type. Where the highest bit is set, and they are
 * signed, n is added, less 2**32 where they have 32 bits. 1: one is out of range. */
#define WIDE(T)                                                                                                   \
    static int wide_##T(const T *DML_RESTRICT index, int64_t count, const dml_plan *p, i64 *DML_RESTRICT offsets) \
    {                                                                                                             \
        uint64_t bad = 0, high = sizeof(T) == 4 ? (uint64_t)1 << 32 : 0;                                          \
        for (int64_t k = 0, q = p->tuple; k < q; k++) {                                                           \
            uint64_t n = (uint64_t)p->bounds[k], step = (uint64_t)p->steps[k];                                    \
            uint64_t add = dml_index_signed(p->index) ? n - high : 0;                                             \
            for (int64_t i = 0; i < count; i++) {                                                                 \
                T v = index[i * q + k];                                                                           \
                uint64_t u = v + (add & (0 - (uint64_t)(v >> (8 * sizeof(T) - 1))));                              \
                bad |= u >= n;                                                                                    \
                offsets[i] = (i64)((uint64_t)offsets[i] + u * step);                                              \
            }                                                                                                     \
        }                                                                                                         \
        return bad != 0;                                                                                          \
    }
WIDE(u32)
WIDE(u64)

int dml_wide(const void *indices, int64_t count, const dml_plan *p, i64 *offsets)
{
    if (p->ramped)
        memcpy(offsets, p->ramps->table.wide, (size_t)count * sizeof *offsets);
    else
        memset(offsets, 0, (size_t)count * sizeof *offsets);
    return dml_index_bytes(p->index) == 4 ? wide_u32(indices, count, p, offsets) : wide_u64(indices, count, p, offsets);
}
