/* aside.c: gathers of single elements into a caller's own output, which stays as it was if an index is out of range. Indices that have
 * many times the bytes of what they name are read once: their elements are put aside, and copied when all indices are known to be in
 * range. */
#include "copy.h"
#include "dispatch.h"
#include "scratch.h"
#include "share.h"

#include <stdlib.h>

#define ASIDE ((int64_t)1 << 20) /* scratch memory for each thread */
#define TIMES 4 /* the bytes of what they name: such indices are read once. Measured 0.7 to 1.1 of the time */
/* The same where the loop for fresh arrays reads each by itself (singly.h), 0.65 to 0.95 of the time; or, with AVX2, looks up what it names
 * in a row (looked_up.c), 0.6 to 1.1. Indices with as many bytes as what they name took 0.95 to 1.15 (Zen 3). */
#define TIMES_ONCE 2
#define SHARED ((int64_t)512 << 10) /* bytes of indices; several threads read as many again in no more time */
#define CLAIMED ((int64_t)32 << 10) /* bytes of them that a thread copies at a time, at most */

typedef struct {
    char *to;
    const char *from;
    int64_t bytes, per_chunk;
} copying;

static int some_copied(void *data, dml_worker *worker, int64_t chunk)
{
    const copying *c = data;
    int64_t begin = chunk * c->per_chunk, bytes = dml_least(c->per_chunk, c->bytes - begin);
    dml_copy_bytes(c->to + begin, c->from + begin, bytes, DML_STORE_PLAIN);
    return dml_tick(worker, bytes);
}

/* Whether rows are looked up with AVX2; with AVX-512 it had better not be put aside, 0.92 to 0.99x (Zen 4). */
static int looks_up_rows(const dml_plan *p) { return p->row_lookup && !dml_chosen_isa->looks_up; }

/* Bytes from an index to the next where they are apart and read where they lie; else 0. */
static int64_t bytes_apart(const dml_plan *p, int threads, int64_t taken)
{
    if (looks_up_rows(p))
        return p->looked_up.length ? p->looked_up.index / p->looked_up.length : 0;
    if (p->singly)
        return p->dim[p->rank - 1].index;
    return p->joined && !dml_narrows(p, threads, taken) ? p->joined : 0;
}

int dml_goes_aside(const dml_plan *p, int threads, int64_t taken)
{
    int64_t bytes = p->slice, tuple = p->tuple * dml_index_bytes(p->index), indices = tuple;
    int64_t apart = bytes_apart(p, threads, taken), times = p->singly || looks_up_rows(p) ? TIMES_ONCE : TIMES;
    if (apart) /* what lies between them is read as well */
        indices = dml_most(tuple, dml_least(llabs(apart), DML_LINE));
    for (int d = p->rank - 1; d >= 0; bytes *= p->dim[d--].size) {
        if (p->dim[d].stream != bytes)
            return 0;
        if (p->dim[d].index) /* along others the check does not read them again */
            indices *= p->dim[d].size;
    }
    if (threads > 1 && indices <= SHARED)
        return 0;
    return p->whole && !p->past && indices >= times * bytes && bytes <= threads * ASIDE - taken;
}

int dml_gather_aside(dml_job *job, dml_plan *p, int threads, dml_pulse *pulse)
{
    int64_t bytes = p->positions * p->slice;
    char *scratch = dml_scratch(bytes);
    if (!scratch)
        return DML_NO_MEMORY;
    copying c = {p->stream, scratch, bytes, dml_least(CLAIMED, dml_ceil(bytes, 4 * threads * DML_LINE) * DML_LINE)};
    p->stream = scratch;
    job->per_chunk = dml_boxes_per_chunk(p, p->boxes, threads);
    dml_first first = {dml_some_boxes, job, dml_ceil(p->boxes, job->per_chunk)};
    pulse->first = &first;
    int status = dml_parallel(some_copied, &c, dml_ceil(bytes, c.per_chunk), DML_FORWARD, threads, pulse);
    dml_scratch_free(scratch);
    return status;
}
