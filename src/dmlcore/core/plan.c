/* plan.c: from a dml_move to a plan. Everything here is done once per call and has to be quick: a tiny call
 * spends a good part of its time in this file. */
#include "plan.h"
#include "copy.h"
#include "dispatch.h"

#include <stdlib.h>

#define BOX ((int64_t)64 << 10)    /* bytes of slices in a box: there should be one for every thread */
#define LONG_ROW 256               /* a row of so many positions is worth a box of its own */
#define FEW_POSITIONS (640 << 10)  /* those of a far table that fewer meet are in the caches the next time */
#define FEW_GATHERED 700 /* of those: not fetched ahead they take 0.8 of the time if they are in a cache, 0.95 to 1.1 if not */
#define FEW_UPDATED 32768 /* updates of a table in the third-level cache: their lines are in the second-level one then */
#define NEGATIVES_SOUGHT 16 /* coordinates that are looked at */
#define DIRECT_TUPLE 3 /* coordinates at most where elements are gathered one by one */
#define GAP 128 /* bytes between slices of a gather: plain stores take 1.0 to 3.3 times as long as those past */
#define WITH_A_GAP 256 /* the caches, from so many bytes a slice on (Zen 4); with less between them 0.6 to 1.4 times */
#define SHORT_PAST (16 << 20) /* bytes; less in slices shorter than two lines is stored through the caches */
#define LOOKED_UP_AT_ONCE 200 /* positions; fewer are not worth loading the table into registers */
#define NEXT_ROW (256 << 10) /* bytes; a longer row would have left the cache before it is used */

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

/* Whether slices begin and end where cache lines do: in the table of a scatter, in the stream of a gather. */
static int at_lines(const dml_plan *p)
{
    int64_t mixed = p->slice | (int64_t)(intptr_t)(p->stores ? p->table : p->stream);
    for (int k = 0; p->stores && k < p->tuple; k++)
        mixed |= p->steps[k];
    for (int d = 0; d < p->rank; d++)
        mixed |= p->stores ? p->dim[d].table : p->dim[d].stream;
    return mixed % DML_LINE == 0;
}

void dml_plan_slices(dml_plan *p)
{
    int64_t gap = llabs(p->dim[p->rank - 1].stream) - p->slice;
    p->lines = at_lines(p);
    int shared = p->stores || (!p->lines && gap && (gap < GAP || p->slice < WITH_A_GAP));
    int64_t least = shared ? p->tuned->scattered_past : p->far ? p->tuned->slices_past : p->tuned->slices_past_near;
    p->past = p->much && p->slice >= least && (p->lines || !p->stores || p->slice >= 2 * DML_LINE);
    if (p->slice < 2 * DML_LINE && p->positions * p->slice < SHORT_PAST)
        p->past = 0;
}

/* Whether some element of the table may have an odd address. */
static int has_odd_places(const dml_plan *p)
{
    int64_t mixed = (int64_t)(intptr_t)p->table;
    for (int k = 0; k < p->tuple; k++)
        mixed |= p->steps[k];
    for (int d = 0; d < p->rank; d++)
        mixed |= p->dim[d].table;
    return mixed & 1;
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

    double span = dml_span(m->bounds, m->steps), others = 0;
    for (int d = 0; d < p->rank; d++)
        others += (double)p->dim[d].size * (double)llabs(p->dim[d].table);
    p->far = dml_is_far(span, others, p->positions * dml_ceil(p->slice, DML_FAR_APART));
    p->outside = span + others > DML_NEAR_COPY / 2;
    p->far |= run->reduction != DML_NONE && p->slice <= DML_LINE && span >= DML_NEAR_SUMS;
    p->tuned = tuning;
    int64_t read = (int64_t)(span < DML_NEAR ? span : DML_NEAR);
    int threads = p->slice > 16 ? run->threads : 1; /* more of them gain nothing for single elements that stay in the caches */
    int much = DML_STREAM && dml_store_for(p->positions * p->slice, read, threads, run->untouched) != DML_STORE_PLAIN;
    p->gathers = span < (double)tuning->gathers_below && !(p->slice == 2 && has_odd_places(p));
    p->fetch = DML_FETCH_NONE;
    int few = scatter ? span < DML_NEAR && span >= (double)tuning->to_l2 && p->positions < FEW_UPDATED
                      : p->positions <= FEW_GATHERED;
    if (span >= (double)(scatter ? tuning->scatter_fetches : tuning->gather_fetches) && !few)
        p->fetch = span >= (double)tuning->to_l2 ? DML_FETCH_L2 : DML_FETCH_L1;
    else if (p->far && span < DML_NEAR && (scatter || !few))
        p->fetch = DML_FETCH_L2;
    int fetches = scatter ? p->fetch == DML_FETCH_L2 : p->fetch && p->positions >= FEW_POSITIONS;
    double direct = (double)(scatter ? tuning->scatters_direct : tuning->gathers_direct);
    p->direct = p->tuple <= DIRECT_TUPLE && span >= direct && !fetches;
    p->much = much;
    dml_plan_slices(p);
    if (p->slice <= 16)
        p->past = much && !scatter && p->slice >= DML_SHORTEST_PAST && span + others >= (double)tuning->gathers_past &&
                  (p->slice > 4 || span >= (double)tuning->gathers_past_u32);
}

/* Narrow offsets are 32 bits wide, never negative, and count from the first position of a box. The answer is how far they
 * reach; more than that: they have to be wide. */
static uint64_t reach(const dml_plan *p)
{
    const uint64_t wide = UINT64_MAX;
    uint64_t span = 0;
    for (int k = 0; k < p->tuple; k++) {
        if (p->bounds[k] > INT32_MAX || p->steps[k] < 0 || p->steps[k] > UINT32_MAX)
            return wide;
        span += (uint64_t)p->bounds[k] * (uint64_t)p->steps[k];
        if (span > UINT32_MAX)
            return wide;
    }
    for (int d = p->cut; d < p->rank; d++) {
        int64_t last = (d == p->cut ? p->rows : p->dim[d].size) - 1;
        if (last > 0 && (p->dim[d].table < 0 || p->dim[d].table > UINT32_MAX))
            return wide;
        if (last > 0)
            span += (uint64_t)last * (uint64_t)p->dim[d].table;
        if (span > UINT32_MAX)
            return wide;
    }
    return span;
}

/* Positions inside `cut`, times the first of its rows, stand one after the other in memory. */
typedef struct {
    int index, table, stream;
} linear;

static linear linear_with(const dml_plan *p, linear so_far, int d, int64_t inner)
{
    const dml_dim *dim = p->dim + d, *last = p->dim + p->rank - 1;
    so_far.index &= dim->index == last->index * inner;
    so_far.table &= dim->table == 0;
    so_far.stream &= dim->stream == last->stream * inner;
    return so_far;
}

/* One ramp: the offsets inside one step of a dimension are known; they are repeated for each of its steps. Rows are the
 * rule, so the first dimension is a loop of its own, which vectorises as the others do. */
#define RAMP(name, type, member)                                               \
    static void name(const dml_plan *p, int64_t rows, type *DML_RESTRICT ramp) \
    {                                                                          \
        int64_t done = 1;                                                      \
        ramp[0] = 0;                                                           \
        for (int d = p->rank - 1; d >= p->cut; d--) {                          \
            int64_t size = d == p->cut ? rows : p->dim[d].size;                \
            type step = (type)p->dim[d].member;                                \
            if (done == 1)                                                     \
                for (int64_t c = 1; c < size; c++)                             \
                    ramp[c] = (type)c * step;                                  \
            for (int64_t c = 1; c < size && done > 1; c++) {                   \
                type *DML_RESTRICT to = ramp + c * done, add = (type)c * step; \
                for (int64_t i = 0; i < done; i++)                             \
                    to[i] = ramp[i] + add;                                     \
            }                                                                  \
            done *= size;                                                      \
        }                                                                      \
    }
RAMP(narrow_ramp, u32, table)
RAMP(wide_ramp, i64, table)
RAMP(stream_ramp, int64_t, stream)
RAMP(index_ramp, int64_t, index)

void dml_plan_ramps(const dml_plan *p, dml_ramps *r)
{
    int64_t rows = p->again ? 1 : p->rows;
    if (p->ramped && p->wide)
        wide_ramp(p, rows, r->table.wide);
    else if (p->ramped)
        narrow_ramp(p, rows, r->table.narrow);
    if (p->scattered)
        stream_ramp(p, p->rows, r->stream);
    if (p->packed)
        index_ramp(p, rows, r->index);
}

/* Whether some of the first coordinates are negative: nobody can foresee which of the others are, and branches that the processor
 * guesses wrong take longer than blocks of offsets. Measured: 1.1 to 2.4x for pairs, 1.6 to 2.8x for triples. */
static int meets_negative(const dml_plan *p, int64_t count)
{
    if (p->index == DML_INDEX_U32 || p->index == DML_INDEX_U64)
        return 0;
    int bytes = dml_index_bytes(p->index);
    for (int64_t k = 0; k < NEGATIVES_SOUGHT; k++) {
        const char *at = p->indices + count * k / NEGATIVES_SOUGHT * bytes;
        i32 high; /* the last four bytes tell the sign */
        memcpy(&high, at + bytes - (int)sizeof high, sizeof high);
        if (high < 0)
            return 1;
    }
    return 0;
}

/* Bytes of the table where registers hold it and a box has enough of its elements; else 0. What lies between elements that can be
 * named is read as well: on the page of the first one, or on that of the last. */
static int64_t looks_up(const dml_plan *p)
{
    int64_t bytes = p->slice, most = bytes == 2 || bytes == 4 ? DML_LOOKED_UP : DML_LOOKED_UP / 2;
    int apart = p->wide || p->ramped || p->again || p->scattered || p->fetch;
    apart |= p->slice == 8 && p->gathers; /* gathers of eight bytes are as fast */
    if (!dml_chosen_isa->looks_up || !p->whole || p->slice == 0 || p->slice > 8 || p->stores || p->mode != DML_RAISE || apart ||
        p->rows * p->inner < LOOKED_UP_AT_ONCE)
        return 0;
    for (int k = 0; k < p->tuple; k++) {
        bytes += (p->bounds[k] - 1) * p->steps[k]; /* narrow offsets: no more than 32 bits */
        if (p->bounds[k] == 0 || p->steps[k] % p->slice)
            return 0;
    }
    return bytes <= most ? bytes : 0;
}

void dml_plan_boxes(dml_plan *p, dml_ramps *ramps)
{
    const dml_dim *last = p->dim + p->rank - 1;
    int64_t cap = DML_BLOCK;
    if (p->tuple > DML_PACKED / DML_BLOCK)
        cap = DML_PACKED / p->tuple;
    if (p->slice > DML_LINE)
        cap = dml_most(1, dml_least(cap, BOX / p->slice));
    int tuple_bytes = p->tuple * dml_index_bytes(p->index);
    linear all = {1, 1, 1};

    p->cut = p->rank - 1;
    p->inner = 1;
    all = linear_with(p, all, p->cut, 1);
    linear inside = all; /* the same of what is inside `cut` */
    while (p->cut > 0 && p->inner * p->dim[p->cut].size <= cap) {
        int64_t inner = p->inner * p->dim[p->cut].size;
        linear more = linear_with(p, all, p->cut - 1, inner);
        if (inner >= LONG_ROW && (more.index < all.index || more.table < all.table || more.stream < all.stream))
            break;
        inside = all;
        all = more;
        p->inner = inner;
        p->cut--;
    }
    int64_t size = p->dim[p->cut].size;
    p->rows = size;
    p->pieces = size > 0;
    if (size * p->inner > cap) {
        int64_t pieces = dml_ceil(size, dml_most(1, cap / p->inner));
        p->rows = dml_ceil(size, pieces);
        p->pieces = dml_ceil(size, p->rows);
    }
    p->boxes = p->pieces;
    for (int d = 0; d < p->cut; d++)
        p->boxes *= p->dim[d].size;

    int64_t block = p->rows * p->inner;
    uint64_t span = reach(p);
    p->wide = span > UINT32_MAX;
    if (span > INT32_MAX - 3) /* the vector unit takes offsets for signed numbers, and may add up to three */
        p->gathers = 0;
    p->stream_step = block > 1 ? last->stream : p->slice;
    p->again = p->dim[p->cut].index == 0 && p->inner > 1 && p->rows > 1 && p->mode == DML_RAISE && !p->wide ? p->inner : 0;
    if (p->again) { /* one row's indices and offsets tell those of the others */
        all.index = inside.index;
        all.table = inside.table;
    }
    p->packed = block > 1 && (!all.index || last->index != tuple_bytes);
    p->packed |= p->unaligned || (p->tuple > 1 && p->coordinate_stride != dml_index_bytes(p->index));
    p->ramped = block > 1 && !all.table;
    p->scattered = block > 1 && (!all.stream || (p->whole && p->stream_step != p->slice));
    /* rows of the table that lie one after the other, each read by a row of positions: fetch the next one meanwhile, also of
     * every second column, where that is less than two lines for eight elements. Measured: 1.0 to 1.8x for rows of 2 KiB and
     * more out of the third-level cache, 0.9 to 1.05x for shorter ones */
    p->next_row = p->next_step = 0;
    if (p->tuple == 1 && p->rank > 1 && last->table == 0 && p->steps[0] >= p->slice) {
        int64_t row = p->bounds[0] * p->steps[0], most = p->steps[0] == p->slice ? NEXT_ROW : 2 * DML_LINE * last->size / 8 - 1;
        if (last[-1].table == row && row >= 512 && row <= dml_least(NEXT_ROW, most) && last->size * 2 >= p->bounds[0]) {
            p->next_row = row;
            p->next_step = 8 * row / last->size;
        }
    }
    p->ahead = p->tuned->ahead_of_moves;
    int repeated = p->pieces == 1; /* every box has the same indices: their offsets are computed once */
    for (int d = 0; d < p->cut; d++)
        repeated &= p->dim[d].index == 0;
    int simple = p->whole && p->mode == DML_RAISE && p->boxes > 1 && !repeated && !(p->wide || p->packed || p->scattered);
    simple &= !p->again;
    p->in_rows = p->again && p->fetch && !p->stores && p->whole && !p->scattered;
    p->looked_up = looks_up(p);
    p->direct &= simple && !p->ramped && !p->looked_up;
    if (p->direct && !p->stores && meets_negative(p, block * p->tuple)) {
        p->direct = 0;
        p->fetch = DML_FETCH_L2;
    }
    p->fused = p->direct || (simple && p->tuple == 1 && !p->fetch);
    p->block_bytes = block * (16 + 2 * p->slice);
    p->ramps = ramps;
}

void dml_plan_cut(dml_plan *p, dml_ramps *ramps)
{
    dml_plan_boxes(p, ramps);
    dml_plan_ramps(p, ramps);
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

int64_t dml_plan_nanoseconds(const dml_plan *p)
{
    /* half a nanosecond for each coordinate of an element, and for the element where it is not in the second-level cache; or 3 for
     * each slice and 1/32 for each of its bytes, within the caches; far more outside them */
    int64_t twice = p->far ? 16 : p->whole ? p->tuple + p->outside : 6;
    return dml_add(dml_mul(p->positions, twice) / 2, dml_mul(p->positions, p->slice / (p->far ? 8 : 32)));
}
