/* plan.c: from a dml_move to a plan. Everything here is done once per call and has to be quick: a tiny call
 * spends a good part of its time in this file. */
#include "plan.h"

#include "copy.h"

#include <stdlib.h>

/* Appends a dimension, joined to the one before it where they step alike. */
DML_INLINE void append(dml_plan *p, int64_t size, int64_t index, int64_t table, int64_t stream)
{
    p->positions *= size;
    if (size == 1)
        return;
    if (p->rank) {
        dml_dim *last = p->dim + p->rank - 1;
        if (last->index == index * size && last->table == table * size && last->stream == stream * size) {
            *last = (dml_dim){last->size * size, index, table, stream};
            return;
        }
    }
    p->dim[p->rank++] = (dml_dim){size, index, table, stream};
}

/* Bytes of the table from one position along a dimension to the next, where indices are neighbours; none are as near where all
 * positions name one place. */
static int64_t step_of(const dml_plan *p, const dml_dim *dim)
{
    int64_t step = dim->table ? llabs(dim->table) : INT64_MAX;
    for (int k = 0; k < p->tuple && !dim->table && dim->index; k++)
        step = dml_least(step, llabs(p->steps[k]));
    return step;
}

/* Positions are moved in the order in which the stream lies in memory. Not those of a scatter if they would be farther apart in the table
 * then; and those that may name the same place, as they differ only along dimensions without a step in the table, keep their order. */
static void follow_stream(dml_plan *p, int scatter)
{
    dml_dim dim[DML_DIMS];
    int rank = p->rank, sorted = 1;
    for (int d = 1; d < rank; d++)
        sorted &= llabs(p->dim[d].stream) <= llabs(p->dim[d - 1].stream);
    if (sorted)
        return;
    for (int d = 0, at; d < rank; d++) {
        for (at = d; at > 0 && llabs(p->dim[d].stream) > llabs(dim[at - 1].stream); at--)
            dim[at] = dim[at - 1];
        dim[at] = p->dim[d];
    }
    if (scatter && step_of(p, dim + rank - 1) > step_of(p, p->dim + rank - 1))
        return;
    for (int d = 0, at = 0; scatter && d < rank; d++)
        if (dim[d].table == 0) {
            while (p->dim[at].table)
                at++;
            if (p->dim[at].index != dim[d].index || p->dim[at].stream != dim[d].stream || p->dim[at].size != dim[d].size)
                return;
            at++;
        }
    p->rank = 0;
    p->positions = 1;
    for (int d = 0; d < rank; d++)
        append(p, dim[d].size, dim[d].index, dim[d].table, dim[d].stream);
}

void dml_plan_make(dml_plan *p, const dml_move *m, const dml_run *run, const dml_tuning *tuning, int scatter)
{
    int64_t width = (int64_t)1 << run->storage;
    p->element = width;
    p->table = m->table;
    p->stream = m->stream;
    p->indices = m->indices;
    p->fill = run->fill;
    p->tuple = (int)m->bounds.n;
    p->bounds = m->bounds.v;
    p->steps = m->steps.v;
    p->coordinate_stride = m->coordinate_stride;
    p->storage = run->storage;
    p->index = run->index;
    p->mode = run->mode;
    p->stores = scatter;
    p->combine = NULL;
    p->seen = NULL;
    p->kept = NULL;
    p->narrowed = NULL;
    p->ramps = NULL;
    p->positions = 1;
    p->rank = 0;
    for (int64_t d = 0; d < m->positions.n; d++)
        append(p, m->positions.v[d], dml_stride(m->index_strides, d), dml_stride(m->table_strides, d),
               dml_stride(m->stream_strides, d));

    int64_t bytes = width, outer = m->slice.n;
    for (; outer > 0; outer--) {
        int64_t d = outer - 1, size = m->slice.v[d];
        if (size != 1 && (dml_stride(m->slice_table_strides, d) != bytes || dml_stride(m->slice_stream_strides, d) != bytes))
            break;
        bytes *= size;
    }
    for (int64_t d = 0; d < outer; d++)
        if (m->slice.v[d] == 0)
            bytes = 0;
    p->slice = bytes;
    if (bytes)
        for (int64_t d = 0; d < outer; d++)
            append(p, m->slice.v[d], 0, dml_stride(m->slice_table_strides, d), dml_stride(m->slice_stream_strides, d));
    follow_stream(p, scatter);
    /* positions that share one index and lie one after the other on both sides are a slice */
    while (bytes && p->positions && p->rank && p->dim[p->rank - 1].index == 0 && p->dim[p->rank - 1].table == bytes &&
           p->dim[p->rank - 1].stream == bytes) {
        int64_t size = p->dim[--p->rank].size;
        p->slice = bytes *= size;
        p->positions /= size;
    }
    if (p->rank == 0)
        p->dim[p->rank++] = (dml_dim){1, 0, 0, 0};

    p->whole = bytes == width;
    if (run->reduction == DML_NONE && !p->whole)
        for (int storage = run->storage + 1; storage < DML_STORAGES; storage++)
            if (bytes == (int64_t)1 << storage) {
                p->storage = storage;
                p->whole = 1;
            }

    int align = dml_index_bytes(p->index) - 1;
    int64_t mixed = (int64_t)(intptr_t)p->indices | (p->tuple > 1 ? p->coordinate_stride : 0);
    for (int d = 0; d < p->rank; d++)
        mixed |= p->dim[d].index;
    p->unaligned = (mixed & align) != 0;

    p->threads = run->threads;
    p->untouched = run->untouched;
    p->reached = dml_span(m->bounds, m->steps);
    p->walked = 0;
    for (int d = 0; d < p->rank; d++)
        p->walked += (double)p->dim[d].size * (double)llabs(p->dim[d].table);
    p->far = dml_is_far(p->reached, p->walked, p->positions * dml_ceil(p->slice, DML_FAR_APART));
    p->combines = run->reduction != DML_NONE;
    p->in_place = scatter && !m->source;
    p->far |= p->combines && !p->whole && p->slice <= DML_LINE && p->reached >= DML_NEAR_SUMS;
    p->beyond_l2 = p->reached + p->walked > DML_NEAR_L2;
    p->tuned = tuning;
    dml_policy_loads(p);
    dml_policy_stores(p);
}

int dml_plan_in_order(const dml_plan *p)
{
    for (int d = 0; d < p->rank; d++)
        if (p->dim[d].index <= 0 || (d && p->dim[d].index > p->dim[d - 1].index))
            return 0;
    return 1;
}

int dml_plan_indices(dml_plan *p, const dml_plan *from, dml_ramps *ramps)
{
    if (dml_plan_in_order(from))
        return 0;
    int order[DML_DIMS], rank = 0;
    for (int d = 0; d < from->rank; d++) {
        int64_t stride = from->dim[d].index;
        int at = rank;
        if (stride == 0)
            continue;
        for (; at > 0 && llabs(stride) > llabs(from->dim[order[at - 1]].index); at--)
            order[at] = order[at - 1];
        order[at] = d;
        rank++;
    }
    *p = *from;
    p->positions = 1;
    p->slice = 0;
    p->rank = 0;
    for (int at = 0; at < rank; at++) {
        dml_dim dim = from->dim[order[at]];
        if (dim.index < 0)
            p->indices += (dim.size - 1) * dim.index;
        append(p, dim.size, llabs(dim.index), 0, 0);
    }
    if (p->rank == 0)
        p->dim[p->rank++] = (dml_dim){1, 0, 0, 0};
    dml_plan_cut(p, ramps);
    return 1;
}

int64_t dml_plan_nearest(const dml_plan *p)
{
    int64_t nearest = INT64_MAX;
    for (int d = 0; d < p->rank; d++)
        nearest = dml_least(nearest, llabs(p->dim[d].index));
    return nearest;
}

int64_t dml_line_nanoseconds(int64_t count, int64_t apart)
{
    return dml_mul(count, dml_most(DML_LINE, dml_crowd(1, apart))) <= DML_NEAR_COPY ? 1 : 5;
}

int64_t dml_plan_nanoseconds(const dml_plan *p)
{
    /* half a nanosecond for each coordinate of an element, and for the element where it is not in the second-level cache; or 3 for
     * each slice and 1/32 for each of its bytes, of long ones 1/40, within the caches; far more outside them, and for cached elements of
     * large tables, whose pages are looked up; and more for an index that has a line of its own, five nanoseconds where the second-level
     * cache does not hold these */
    int64_t twice = p->far || p->cached ? 16 : p->whole ? p->tuple + p->beyond_l2 : 6, nearest = dml_plan_nearest(p);
    int64_t tuple = p->tuple * (int64_t)dml_index_bytes(p->index);
    if (nearest >= DML_LINE && nearest > tuple)
        twice += 2 * dml_line_nanoseconds(p->positions, nearest);
    return dml_add(dml_mul(p->positions, twice) / 2, dml_mul(p->positions, p->slice / (p->far                 ? 8
                                                                                       : p->slice >= DML_PAGE ? 40
                                                                                                              : 32)));
}
