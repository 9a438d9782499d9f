/* narrow.c: what the check that comes before the first byte of a caller's own output leaves for the move. Gathers of single elements:
 * indices are narrowed to 16 bits on the way, to the numbers of their elements where these fit (narrowed.h), and the move reads these.
 * Two passes over as many indices take longer than one over those and one over a quarter of them, or half; where the table is in the
 * second-level cache, indices compete with it for the way to the first. Where there is no room for all, the first ones are. Else of
 * indices that take long to read the offsets are kept; where there is no room for all, those of the last boxes. */
#include "dispatch.h"
#include "scratch.h"
#include "share.h"

#include <stdlib.h>

#define NARROW_BOUND 65536
#define NARROW_BYTES ((int64_t)1 << 20) /* scratch memory for each thread */
#define NARROW_NEAR (128 << 10) /* bytes that indices of 32 bits reach; farther out it would take up to 1.08 times as long */
/* bytes of indices of a thread that the vector unit gathers by: fewer are in its cache when read again */
#define TAKEN_AGAIN ((int64_t)768 << 10)
#define NARROW_CHUNK 16384 /* indices that a thread claims at a time, about, */
#define CHUNKS_EACH 4 /* or fewer, so that each of several threads has so many chunks */
#define FEW_NARROWED 3 /* not worth it for a smaller part of them all */
#define OFFSETS_KEPT ((int64_t)1 << 20) /* bytes of offsets for each thread, */
#define FEW_KEPT 8 /* likewise */
#define SHORT_TUPLE 16 /* bytes; shorter ones are read again as quickly as their offsets */
#define READ_AGAIN ((int64_t)2 << 20) /* bytes of a thread's indices and of the table: its cache holds both */

/* Boxes whose narrowed indices there is room for. */
static int64_t boxes_narrowed(const dml_plan *p, int threads, int64_t taken)
{
    int64_t room = (threads * NARROW_BYTES - taken) / (int64_t)sizeof(u16);
    return p->positions <= room ? p->boxes : dml_most(0, room) / (p->rows * p->inner);
}

/* Whether the indices of all boxes follow each other, so that any number of them can be narrowed at once. */
static int are_dense(const dml_plan *p) { return p->follows && !p->gap && !p->packed; }

/* Those of one box, unless they are dense. */
static int narrow_some(const dml_narrowing *n, int64_t begin, int64_t end)
{
    const dml_plan *p = n->plan;
    int64_t at = dml_block_number(p, begin), count = (end < p->boxes ? dml_block_number(p, end) : p->positions) - at;
    const char *from = p->indices + at * dml_index_bytes(p->index);
    dml_block block;
    if (!are_dense(p)) {
        dml_block_open(p, begin, 1, &block);
        from = block.indices;
        if (p->packed)
            from = dml_chosen_isa->packers[dml_index_width(p->index)](p, &block, count);
    }
    int is_signed = dml_index_signed(p->index);
    dml_narrower narrower = dml_chosen_isa->narrowers[dml_index_width(p->index)];
    if (!p->numbered)
        return narrower(from, count, is_signed, p->bounds[0], 1, NULL, 0, p->narrowed + at);
    return narrower(from, count, is_signed, p->bounds[0], p->steps[0], p->ramped ? p->ramps->table.narrow : NULL, p->storage,
                    p->narrowed + at);
}

/* Checks some boxes; narrows the indices of those that there is room for, one by one where their numbers differ from indices by
 * more than a factor: ramps are for one box. */
static int some_checked(void *data, dml_worker *worker, int64_t chunk)
{
    const dml_narrowing *n = data;
    const dml_plan *p = n->plan;
    int64_t begin = chunk * n->per_chunk, end = dml_least(begin + n->per_chunk, p->boxes);
    int64_t narrowed = dml_least(end, p->narrows);
    int64_t step = (p->numbered && p->ramped) || !are_dense(p) ? 1 : n->per_chunk;
    for (int64_t box = begin; box < narrowed; box += step)
        if (narrow_some(n, box, dml_least(box + step, narrowed)))
            return DML_OUT_OF_RANGE;
    if (narrowed < end)
        return dml_chosen_isa->scans[dml_index_width(p->index)](p, worker, dml_most(begin, narrowed), end);
    return dml_tick(worker, NARROW_CHUNK * dml_index_bytes(p->index));
}

/* The loop for both kinds of boxes. */
static int some_moved(const dml_plan *p, dml_worker *worker, int64_t begin, int64_t end)
{
    int status = DML_OK;
    if (begin < p->narrows)
        status = dml_chosen_isa->narrowed[p->storage](p->narrower, worker, begin, dml_least(end, p->narrows));
    if (!status && end > p->narrows)
        status = p->plain(p, worker, dml_most(begin, p->narrows), end);
    return status;
}

/* Whether each index is met once: others are read again as quickly as what they become. */
static int each_once(const dml_plan *p)
{
    int once = 1;
    for (int d = 0; d < p->rank; d++)
        once &= p->dim[d].index != 0;
    return once;
}

/* Measured for indices that are apart: 1.2 to 1.5x. Where the vector unit gathers, of eight bytes by as many, from 800 KB on, 1.0 to 1.13x,
 * fewer 0.7 to 1.0x; others from 2 MiB on, which no second-level cache holds, 0.95 to 1.2x, on average 1.03x, fewer 0.7 to 1.05x (Emerald
 * Rapids, Granite Rapids); those that are equally far apart 1.0 to 1.4x, on average 1.1x (Emerald Rapids). */
int dml_narrows(const dml_plan *p, int threads, int64_t taken)
{
    int elements = p->fused && !p->stores && p->slice <= 8 && p->tuple == 1 && p->bounds[0] <= NARROW_BOUND && each_once(p);
    int widest = p->slice == 8 && dml_index_bytes(p->index) == 8 && !p->by_rows;
    int apart = p->packed && p->linear &&
                llabs(p->dim[p->rank - 1].index) > dml_index_bytes(p->index); /* brought together twice */
    int takes = p->gathers && !apart &&
                p->positions * dml_index_bytes(p->index) < threads * (widest ? TAKEN_AGAIN : READ_AGAIN);
    int otherwise = p->direct || p->fetch || p->in_registers || p->row_lookup || takes || p->past;
    int gains = p->packed || dml_index_bytes(p->index) == 8 || (p->numbered && p->reached < NARROW_NEAR);
    int by_columns = !p->untouched && dml_columns_kept(p, threads);
    return dml_chosen_isa->narrowers && elements && !otherwise && gains && !by_columns &&
           boxes_narrowed(p, threads, taken) * FEW_NARROWED >= p->boxes;
}

int dml_narrow(dml_job *job, dml_plan *p, int threads, int64_t taken, dml_narrowing *narrowing)
{
    int64_t boxes = boxes_narrowed(p, threads, taken);
    p->narrowed = dml_scratch((boxes < p->boxes ? dml_block_number(p, boxes) : p->positions) * (int64_t)sizeof(u16));
    if (!p->narrowed)
        return 0;
    p->narrows = boxes;
    p->plain = job->loop;
    job->loop = some_moved;
    narrowing->plan = p;
    int64_t share = threads > 1 ? p->boxes / (CHUNKS_EACH * threads) : p->boxes;
    narrowing->per_chunk = dml_most(1, dml_least(NARROW_CHUNK / (p->rows * p->inner), share));
    narrowing->first = (dml_first){some_checked, narrowing, dml_ceil(p->boxes, narrowing->per_chunk)};
    narrowing->narrower = *p;
    narrowing->narrower.gap = narrowing->narrower.packed = 0;
    for (int64_t d = p->rank - 1, apart = sizeof(u16); d >= 0; apart *= p->dim[d--].size)
        narrowing->narrower.dim[d].index = apart;
    narrowing->narrower.indices = (const char *)p->narrowed;
    p->narrower = &narrowing->narrower;
    return 1;
}

/* Whether offsets may be kept, which are those of the boxes that the check has: it has the move's if it meets each index once, in
 * their order; and if the move does not cut others, as scatters do along whose positions the table moves on. */
static int boxes_stay(const dml_plan *p)
{
    if (p->wide || p->again || p->mode != DML_RAISE || !dml_plan_in_order(p))
        return 0;
    return p->stores ? p->rank == 1 && p->dim[0].table == 0 : 1;
}

/* How many boxes' offsets: of tuples, and of indices that are apart, which take longer to read than these, unless a ring joins them on the
 * way (Zen 4: 1.2 to 1.9x, single ones 1.0 to 1.2x, without). */
static int64_t boxes_kept(const dml_plan *p, int threads, int64_t taken)
{
    int64_t tuple = (int64_t)p->tuple * dml_index_bytes(p->index);
    int row = p->rank == 1 && p->dim[0].table == 0 && p->dim[0].index == tuple; /* one, where they follow each other */
    int read_again = p->fused && (!p->gathers || (double)(p->positions * tuple / threads) + p->reached < READ_AGAIN);
    if (p->joined || !boxes_stay(p) || p->row_lookup || (p->by_rows && p->gathers) ||
        (!p->packed && (!row || tuple < SHORT_TUPLE || read_again)))
        return 0;
    int64_t boxes = (threads * OFFSETS_KEPT - taken) / (p->rows * p->inner * (int64_t)sizeof(u32));
    return boxes * FEW_KEPT < p->boxes ? 0 : dml_least(boxes, p->boxes);
}

void dml_keep(dml_plan *p, int threads, int64_t taken)
{
    /* indices with a line each: reading them again would take longer than bringing them together once, 1.0 to 3x */
    if ((p->direct || p->singly) && llabs(p->joined) >= DML_LINE) {
        p->joined = p->gap = 0;
        p->fused &= !(p->singly && p->tuple > 1); /* no other loop of fused.h has these */
        p->singly = 0;
        p->follows = 0;
        p->together = 1;
    }
    int64_t kept = boxes_kept(p, threads, taken);
    if (!kept)
        return;
    p->kept_from = p->boxes - kept;
    p->kept = dml_scratch((p->positions - dml_block_number(p, p->kept_from)) * (int64_t)sizeof(u32));
}
