/* tensor.h: what the validator reads of a tensor, and the rules of DML_BUFFER_TENSOR_DESC.
 * Arrays and descriptors are both loaded into a dml_tensor; a descriptor brings a dml_buffer along, for the rules that
 * DirectML imposes on buffers. The texts, ids and levels of these rules stand in spec/tensor.yaml. */
#ifndef DMLCORE_TENSOR_H
#define DMLCORE_TENSOR_H

#include <stdint.h>
#include "list.h"
#include "../_generated/support.h"

typedef struct {
    char *data;
    int data_type;                    /* DML_TENSOR_DATA_TYPE, or one of dmlcore's extensions */
    int inferred;                     /* an output that the caller left to the size rules */
    int64_t rank;                     /* DimensionCount */
    int64_t sizes[DML_RANK_MAX];
    int64_t strides[DML_RANK_MAX];    /* bytes */
} dml_tensor;

/* The members of DML_BUFFER_TENSOR_DESC beyond type and sizes; all numbers saturated to 63 bits. */
typedef struct {
    int has_strides;
    int64_t stride_count;
    int64_t strides[DML_RANK_MAX];    /* elements */
    int64_t total_size;               /* bytes */
    int64_t alignment;
} dml_buffer;

static inline dml_list dml_sizes(const dml_tensor *t)
{
    dml_list all = {t->sizes, t->rank};
    return all;
}

static inline dml_list dml_strides(const dml_tensor *t)
{
    dml_list all = {t->strides, t->rank};
    return all;
}

/* Ones in front, up to `rank` dimensions: how natural ranks become DirectML's common DimensionCount. */
static inline void dml_pad(dml_tensor *t, int64_t rank)
{
    int64_t front = (rank > DML_RANK_MAX ? DML_RANK_MAX : rank) - t->rank;
    if (front <= 0)
        return;
    for (int64_t d = t->rank - 1; d >= 0; d--) {
        DML_FEW;
        t->sizes[d + front] = t->sizes[d];
        t->strides[d + front] = t->strides[d];
    }
    for (int64_t d = 0; d < front; d++) {
        DML_FEW;
        t->sizes[d] = 1;
        t->strides[d] = 0;
    }
    t->rank += front;
}

/* Sizes of an output that the caller left open. */
static inline void dml_set_sizes(dml_tensor *t, dml_list sizes)
{
    t->rank = sizes.n > DML_RANK_MAX ? DML_RANK_MAX : sizes.n;
    for (int64_t d = 0; d < t->rank; d++) {
        DML_FEW;
        t->sizes[d] = sizes.v[d];
    }
}

/* Whether two elements of `item` bytes may share an address: dimensions, from the smallest stride up, must not reach into the
 * next one. */
static inline int dml_overlaps_itself(const dml_tensor *t, int64_t item)
{
    int64_t strides[DML_RANK_MAX], last[DML_RANK_MAX], reach = item;
    int rank = 0;
    for (int64_t d = 0; d < t->rank; d++) {
        int64_t stride = t->strides[d] < 0 ? dml_sub(0, t->strides[d]) : t->strides[d];
        int at = rank;
        if (t->sizes[d] == 0)
            return 0;
        if (t->sizes[d] == 1)
            continue;
        for (; at > 0 && strides[at - 1] > stride; at--) {
            strides[at] = strides[at - 1];
            last[at] = last[at - 1];
        }
        strides[at] = stride;
        last[at] = t->sizes[d] - 1;
        rank++;
    }
    for (int d = 0; d < rank; d++) {
        if (strides[d] < reach)
            return 1;
        reach = dml_add(reach, dml_mul(strides[d], last[d]));
    }
    return 0;
}

/* Which rules are violated: numbers in the operator's list of checks, in the order of the specification. */
typedef struct {
    int count;
    int16_t checks[DML_CHECKS_MAX];
} dml_violations;

static inline void dml_fail(dml_violations *bad, int check)
{
    if (bad->count < DML_CHECKS_MAX)
        bad->checks[bad->count++] = (int16_t)check;
}

static inline int dml_supports_type(const dml_cell *cell, int data_type) { return (int)(cell->data_types >> data_type & 1); }

static inline int dml_supports_rank(const dml_cell *cell, int64_t rank)
{
    return cell->rank_min <= rank && rank <= cell->rank_max;
}

/* The highest element that the strides reach, plus one. */
static inline int64_t dml_extent(const dml_tensor *t, const dml_buffer *b)
{
    int64_t last = 0;
    if (!b->has_strides)
        return dml_product(dml_sizes(t));
    for (int64_t d = 0; d < t->rank && d < b->stride_count; d++)
        last = dml_add(last, dml_mul(dml_max(t->sizes[d] - 1, 0), b->strides[d]));
    return dml_add(last, 1);
}

/* The rules of spec/tensor.yaml, in its order; the first one has the number `first` in the operator's list. */
static inline void dml_check_buffer(const dml_tensor *t, const dml_buffer *b, int level, int first, dml_violations *bad)
{
    const int64_t uint_max = UINT32_MAX;
    const dml_data_type *type = &dml_data_types[t->data_type];
    int known = type->bits != 0;
    int nonzero = 1, fits = 1, strides_fit = 1;
    int64_t bytes;

    for (int64_t d = 0; d < t->rank; d++) {
        nonzero &= t->sizes[d] != 0;
        fits &= t->sizes[d] >= 0 && t->sizes[d] <= uint_max;
    }
    for (int64_t d = 0; b->has_strides && d < b->stride_count; d++)
        strides_fit &= b->strides[d] >= 0 && b->strides[d] <= uint_max;
    /* extent in bytes, rounded up to 4, without overflow: an extent near 2^63 saturates */
    bytes = dml_add(dml_mul(dml_extent(t, b), type->bits), 7) / 8;
    bytes = dml_add(bytes, 3) & ~INT64_C(3);

    if (!known)
        dml_fail(bad, first + DML_TENSOR_DATA_TYPE_KNOWN);
    if (t->rank < 1 || t->rank > (level < DML_EIGHT_DIMENSIONS_LEVEL ? 5 : 8))
        dml_fail(bad, first + DML_TENSOR_DIMENSION_COUNT_RANGE);
    if (!nonzero)
        dml_fail(bad, first + DML_TENSOR_SIZES_NONZERO);
    if (!fits)
        dml_fail(bad, first + DML_TENSOR_SIZES_RANGE);
    if (b->has_strides && b->stride_count != t->rank)
        dml_fail(bad, first + DML_TENSOR_STRIDES_COUNT);
    if (!strides_fit)
        dml_fail(bad, first + DML_TENSOR_STRIDES_RANGE);
    if (dml_product(dml_sizes(t)) > uint_max)
        dml_fail(bad, first + DML_TENSOR_ELEMENT_COUNT_LIMIT);
    if (dml_extent(t, b) > uint_max)
        dml_fail(bad, first + DML_TENSOR_EXTENT_LIMIT);
    if (known && b->total_size < bytes)
        dml_fail(bad, first + DML_TENSOR_TOTAL_TENSOR_SIZE_IN_BYTES_MINIMUM);
    if (b->alignment != 0 && (b->alignment < 0 || (b->alignment & (b->alignment - 1)) != 0 || b->alignment * 8 < type->bits))
        dml_fail(bad, first + DML_TENSOR_GUARANTEED_BASE_OFFSET_ALIGNMENT_VALUE);
}

#endif
