/* narrow.c: the check that comes before the first byte of a caller's own output is written, for gathers of single elements: indices are
 * narrowed to 16 bits on the way, and the move reads these. Two passes over as many indices of 64 bits take longer than one over those
 * and one over a quarter of them; where the table is in the second-level cache, indices compete with it for the way to the first. */
#include "dispatch.h"
#include "share.h"

#include <stdlib.h>

#define NARROW_BOUND 65536
#define NARROW_BYTES ((int64_t)1 << 20) /* scratch memory for each thread */
#define NARROW_CHUNK 16384 /* indices that a thread claims at a time */

static int some_narrowed(void *data, dml_worker *worker, int64_t chunk)
{
    const dml_narrowing *narrowing = data;
    int64_t begin = chunk * NARROW_CHUNK, count = dml_least(NARROW_CHUNK, narrowing->count - begin);
    if (narrowing->narrower(narrowing->indices + begin * narrowing->bytes, count, narrowing->bound, narrowing->to + begin))
        return DML_OUT_OF_RANGE;
    return dml_tick(worker, count * narrowing->bytes);
}

int dml_narrows(const dml_plan *p, int threads, int64_t taken)
{
    /* indices of 32 bits gain nothing: 0.92 to 1.0x */
    return dml_chosen_isa->narrowed && p->slice <= 8 && p->follows && p->tuple == 1 && dml_index_bytes(p->index) == 8 &&
           !p->direct && !p->in_registers && !p->gathers && !p->past && !p->stores && p->bounds[0] <= NARROW_BOUND &&
           p->positions * (int64_t)sizeof(u16) <= threads * NARROW_BYTES - taken;
}

int dml_narrow(dml_job *job, dml_plan *p, dml_narrowing *narrowing)
{
    int bytes = dml_index_bytes(p->index);
    p->narrowed = malloc((size_t)p->positions * sizeof(u16));
    if (!p->narrowed)
        return 0;
    *narrowing = (dml_narrowing){
        .indices = p->indices,
        .to = p->narrowed,
        .count = p->positions,
        .bound = p->bounds[0],
        .bytes = bytes,
        .narrower = dml_chosen_isa->narrowers[p->index],
        .first = {some_narrowed, narrowing, dml_ceil(p->positions, NARROW_CHUNK)},
    };
    for (int d = 0; d < p->rank; d++)
        p->dim[d].index = p->dim[d].index / bytes * (int64_t)sizeof(u16);
    p->indices = (const char *)p->narrowed;
    job->loop = dml_chosen_isa->narrowed[p->storage];
    return 1;
}
