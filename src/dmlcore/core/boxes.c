/* boxes.c: cuts a plan's positions into boxes whose offsets the first-level cache holds, and computes the offsets of a box's
 * positions from its first one (ramps). Done once per call, like everything about plans, so it has to be quick. */
#include "dispatch.h"
#include "plan.h"

#include <stdlib.h>

#define BOX ((int64_t)64 << 10) /* bytes of slices in a box: there should be one for every thread; */
#define MOST_BOX (4 * BOX)      /* so many where there is enough: a box costs as much as 4 KiB of a slice */
#define BOXES_EACH 16           /* for a thread */
#define SLICES_PAST 8 /* at least, where these go past the caches: the next one is fetched meanwhile, but not the next box's */
#define LONG_ROW 256 /* a row of so many positions is worth a box of its own, */
#define LONG_ROW_GATHERED 512 /* of single elements that are gathered: 0.75 to 1.05 of the time if shorter rows share one */

/* So many indices in a row, with others between rows, have a box of their own where all indices have `rows_in_place` bytes and more, and
 * each row of positions has a row of the table of its own: copied first, they and the table are waited for by turns. Not where a ring
 * reads them where they lie. */
#define ALONE_IF_FAR 48

/* Narrow offsets are 32 bits wide, never negative, and count from the first position of a box, or, of gathers out of tables that lie
 * backwards along some dimension, from so far in front of it as a box may go back (*back): steps are added modulo 2**32. The answer is how
 * far they reach; more than that: they have to be wide. */
static uint64_t reach(const dml_plan *p, uint64_t *back)
{
    const uint64_t wide = UINT64_MAX;
    uint64_t span = 0;
    int64_t least = p->stores ? 0 : -(int64_t)UINT32_MAX;
    *back = 0;
    for (int k = 0; k < p->tuple; k++) {
        int64_t step = p->steps[k];
        if (p->bounds[k] > INT32_MAX || step < least || step > UINT32_MAX)
            return wide;
        span += (uint64_t)p->bounds[k] * (uint64_t)llabs(step);
        if (step < 0 && p->bounds[k])
            *back += (uint64_t)(p->bounds[k] - 1) * (uint64_t)-step;
        if (span > UINT32_MAX)
            return wide;
    }
    for (int d = p->cut; d < p->rank; d++) {
        int64_t last = (d == p->cut ? p->rows : p->dim[d].size) - 1, step = p->dim[d].table;
        if (last > 0 && (step < least || step > UINT32_MAX))
            return wide;
        if (last > 0 && step < 0 && d == p->cut && p->dim[d].size % p->rows)
            return wide; /* vectors load what offset 0 names for lanes that they leave out: a last, shorter box would have nothing there */
        if (last > 0)
            span += (uint64_t)last * (uint64_t)llabs(step);
        if (last > 0 && step < 0)
            *back += (uint64_t)last * (uint64_t)-step;
        if (span > UINT32_MAX)
            return wide;
    }
    return span;
}

/* Positions of a row that is not put into a box with others. */
static int64_t long_row(const dml_plan *p)
{
    int in_registers = p->reached <= (double)dml_in_registers(p->slice); /* a table that they hold is for boxes without ramps */
    return p->whole && !p->stores && !in_registers && !p->gathers ? LONG_ROW_GATHERED : LONG_ROW;
}

/* Whether 16 bits number the elements that the positions of a box reach: offsets come to `span` less one step at most. */
static int has_numbers(const dml_plan *p, uint64_t span)
{
    int64_t apart = p->steps[0];
    for (int d = p->cut; d < p->rank; d++)
        apart |= p->dim[d].table;
    return p->whole && p->tuple == 1 && !p->back && p->slice > 0 && p->slice <= 8 && apart % p->slice == 0 &&
           span <= (uint64_t)(UINT16_MAX * p->slice + p->steps[0]);
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

/* One ramp, from its first places to twice as many, and so on: short rows and long ones are the same long loops. */
#define RAMP(name, type, bits, member, first)                                  \
    static void name(const dml_plan *p, int64_t rows, type *DML_RESTRICT ramp) \
    {                                                                          \
        int64_t done = 1;                                                      \
        ramp[0] = first;                                                       \
        for (int d = p->rank - 1; d >= p->cut; d--) {                          \
            int64_t all = done * (d == p->cut ? rows : p->dim[d].size);        \
            bits add = (bits)p->dim[d].member; /* of place number `done` */    \
            while (done < all) {                                               \
                int64_t some = dml_least(done, all - done);                    \
                type *DML_RESTRICT to = ramp + done;                           \
                for (int64_t i = 0; i < some; i++)                             \
                    to[i] = (type)((bits)ramp[i] + add);                       \
                done += some;                                                  \
                add += add;                                                    \
            }                                                                  \
            done = all; /* nothing where a dimension is empty */               \
        }                                                                      \
    }
RAMP(narrow_ramp, u32, u32, table, (u32)p->back)
RAMP(wide_ramp, i64, u64, table, 0)
RAMP(stream_ramp, int64_t, uint64_t, stream, 0)
RAMP(index_ramp, int64_t, uint64_t, index, 0)

void dml_plan_ramps(const dml_plan *p, dml_ramps *r)
{
    int64_t rows = p->again ? 1 : p->rows;
    if (p->ramped && p->wide)
        wide_ramp(p, rows, r->table.wide);
    else if (p->ramped)
        narrow_ramp(p, rows, r->table.narrow);
    if (p->scattered)
        stream_ramp(p, p->rows, r->stream);
    if (p->packed && !p->linear)
        index_ramp(p, rows, r->index);
}

/* As many rows in every box, if half as many as were cut, or more, are a part of all. */
static void cut_evenly(dml_plan *p)
{
    int64_t size = p->dim[p->cut].size;
    for (int64_t rows = p->rows; rows > p->rows / 2; rows--)
        if (size % rows == 0) {
            p->rows = rows;
            p->pieces = size / rows;
            return;
        }
}

void dml_plan_boxes(dml_plan *p, dml_ramps *ramps)
{
    const dml_dim *last = p->dim + p->rank - 1;
    int64_t cap = DML_BLOCK;
    if (p->tuple > DML_PACKED / DML_BLOCK)
        cap = DML_PACKED / p->tuple;
    if (p->slice > DML_LINE) {
        int64_t share = p->positions / (BOXES_EACH * p->threads) * p->slice, box = dml_most(BOX, dml_least(share, MOST_BOX));
        cap = dml_most(p->past && p->slice <= 4 * BOX ? SLICES_PAST : 1, dml_least(cap, box / p->slice));
    }
    int tuple_bytes = p->tuple * dml_index_bytes(p->index);
    int64_t row = long_row(p);
    int in_rows = p->whole && !p->unaligned && last->index == tuple_bytes;
    in_rows &= p->tuple == 1 || p->coordinate_stride == dml_index_bytes(p->index);
    int far_rows = p->positions * tuple_bytes >= p->tuned->rows_in_place;
    /* whether they are read where they lie, as far as is known yet (goes_by_rows, goes_singly) */
    int by_rows = dml_chosen_isa->longest_ring && p->tuple == 1 && DML_WRAPS_ROWS(p->slice);
    by_rows &= !(p->stores || p->gathers || p->fetch || p->direct);
    linear all = {1, 1, 1};

    p->cut = p->rank - 1;
    p->inner = 1;
    all = linear_with(p, all, p->cut, 1);
    linear inside = all; /* the same of what is inside `cut` */
    while (p->cut > 0 && p->inner * p->dim[p->cut].size <= cap) {
        int64_t inner = p->inner * p->dim[p->cut].size;
        linear more = linear_with(p, all, p->cut - 1, inner);
        const dml_dim *rows = p->dim + p->cut - 1;
        int alone = far_rows && !by_rows && rows->table;
        if (inner >= (alone ? ALONE_IF_FAR : DML_LONGEST_LOOK) && all.index && !more.index && in_rows && rows->index)
            break; /* they need not be brought together with others */
        if (inner >= row && (more.index < all.index || more.table < all.table || more.stream < all.stream))
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
    if (p->dim[p->cut].table < 0 && !p->stores)
        cut_evenly(p);
    p->boxes = p->pieces;
    for (int d = 0; d < p->cut; d++)
        p->boxes *= p->dim[d].size;

    int64_t block = p->rows * p->inner;
    uint64_t back, span = reach(p, &back);
    p->wide = span > UINT32_MAX;
    p->back = p->wide ? 0 : (int64_t)back;
    p->numbered = !p->wide && has_numbers(p, span);
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
    p->linear = all.index || block == 1;
    p->by_columns = p->linear && p->tuple > 1 && !p->unaligned && last->index == dml_index_bytes(p->index);
    p->ramped = block > 1 && !all.table;
    p->scattered = block > 1 && (!all.stream || (p->whole && p->stream_step != p->slice));
    p->block_bytes = block * (16 + 2 * p->slice);
    p->ramps = ramps;
    dml_policy_loops(p);
}

void dml_plan_cut(dml_plan *p, dml_ramps *ramps)
{
    dml_plan_boxes(p, ramps);
    dml_plan_ramps(p, ramps);
}
