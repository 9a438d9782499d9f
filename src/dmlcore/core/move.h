/* move.h: what is asked of a dml_move, and of an index, without a plan.
 * Included by move.c and few.c, by the files that choose ways by positions and indices, and by those that read single indices. */
#ifndef DMLCORE_MOVE_H
#define DMLCORE_MOVE_H

#include "compiler.h"
#include "kernel.h"

/* Of a far table no more are fetched ahead: that takes 0.55 to 0.8 of the time if they are in a cache, 0.95 to 1.1 if not (of 1500 1.4). */
#define DML_FEW_GATHERED 1100

/* Whether few indices with lines of their own crowd so much that threads may be worth it: where a plan is made, so not for scatters of
 * single elements, nor where the vector unit does not gather, up to 4096 of them (few_elements.c). */
int dml_reads_long(const dml_move *m);

/* A coordinate as it stands; of DML_INDEX_U64 the bits. */
DML_INLINE int64_t dml_coordinate_at(const char *from, int index)
{
    i32 a;
    u32 b;
    i64 c;
    switch (index) {
    case DML_INDEX_I32: memcpy(&a, from, sizeof a); return a;
    case DML_INDEX_U32: memcpy(&b, from, sizeof b); return b;
    default: memcpy(&c, from, sizeof c); return c;
    }
}

/* Bytes of so many dimensions of two tensors if both are contiguous, else 0. */
DML_INLINE int64_t dml_contiguous(dml_list sizes, dml_list strides, dml_list other_strides, int64_t width)
{
    int64_t bytes = width;
    for (int64_t d = sizes.n - 1; d >= 0; d--) {
        int64_t size = sizes.v[d];
        if (size != 1 && (dml_stride(strides, d) != bytes || dml_stride(other_strides, d) != bytes))
            return 0;
        bytes = dml_mul(bytes, size);
    }
    return bytes;
}

#endif
