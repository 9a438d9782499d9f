/* narrow.c: the check that comes before the first byte of a caller's own output is written, for gathers of single elements: indices are
 * narrowed to 16 bits on the way, to the numbers of their elements where these fit (narrowed.h), and the move reads these. Two passes
 * over as many indices take longer than one over those and one over a quarter of them, or half; where the table is in the second-level
 * cache, indices compete with it for the way to the first. */
#include "dispatch.h"
#include "share.h"

#include <stdlib.h>

#define NARROW_BOUND 65536
#define NARROW_BYTES ((int64_t)1 << 20) /* scratch memory for each thread */
#define NARROW_NEAR (128 << 10) /* bytes that indices of 32 bits reach; farther out it would take up to 1.08 times as long */
#define NARROW_CHUNK 16384 /* indices that a thread claims at a time; of boxes with ramps about as many */

/* Whether a box's numbers differ from its indices by more than a factor. */
static int has_ramp(const dml_plan *p) { return p->numbered && p->ramped; }

static int narrow_some(const dml_narrowing *n, int64_t at, int64_t end)
{
    const dml_plan *p = n->plan;
    const char *from = n->indices + at * n->bytes;
    if (!p->numbered)
        return n->narrower(from, end - at, p->bounds[0], 1, NULL, 0, p->narrowed + at);
    return n->narrower(from, end - at, p->bounds[0], p->steps[0], p->ramped ? p->ramps->table.narrow : NULL, p->storage,
                       p->narrowed + at);
}

static int some_narrowed(void *data, dml_worker *worker, int64_t chunk)
{
    const dml_narrowing *n = data;
    const dml_plan *p = n->plan;
    int64_t begin = chunk * n->per_chunk, end = begin + n->per_chunk;
    int bad = 0;
    if (!has_ramp(p))
        bad = narrow_some(n, begin, dml_least(end, p->positions));
    else
        for (int64_t box = begin; box < dml_least(end, p->boxes) && !bad; box++)
            bad = narrow_some(n, dml_block_number(p, box), box + 1 < p->boxes ? dml_block_number(p, box + 1) : p->positions);
    return bad ? DML_OUT_OF_RANGE : dml_tick(worker, NARROW_CHUNK * n->bytes);
}

int dml_narrows(const dml_plan *p, int threads, int64_t taken)
{
    int elements = p->slice <= 8 && p->follows && p->tuple == 1 && !p->direct && !p->in_registers && !p->gathers && !p->past &&
                   !p->stores && p->bounds[0] <= NARROW_BOUND;
    int gains = dml_index_bytes(p->index) == 8 || (p->numbered && p->reached < NARROW_NEAR);
    return dml_chosen_isa->narrowers && elements && gains &&
           p->positions * (int64_t)sizeof(u16) <= threads * NARROW_BYTES - taken;
}

int dml_narrow(dml_job *job, dml_plan *p, dml_narrowing *narrowing)
{
    int64_t bytes = dml_index_bytes(p->index);
    p->narrowed = malloc((size_t)p->positions * sizeof(u16));
    if (!p->narrowed)
        return 0;
    *narrowing = (dml_narrowing){
        .plan = p,
        .indices = p->indices,
        .bytes = bytes,
        .per_chunk = has_ramp(p) ? NARROW_CHUNK / (p->rows * p->inner) : NARROW_CHUNK, /* at most DML_BLOCK in a box */
        .narrower = dml_chosen_isa->narrowers[p->index],
    };
    narrowing->first = (dml_first){some_narrowed, narrowing,
                                   dml_ceil(has_ramp(p) ? p->boxes : p->positions, narrowing->per_chunk)};
    for (int d = 0; d < p->rank; d++)
        p->dim[d].index = p->dim[d].index / bytes * (int64_t)sizeof(u16);
    p->indices = (const char *)p->narrowed;
    job->loop = dml_chosen_isa->narrowed[p->storage];
    return 1;
}
