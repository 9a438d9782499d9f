/* share_gather.c: every position of a gather writes a place of its own, so any part can run at any time. Shares out the
 * boxes, or parts of long slices. Also what gathers and scatters have in common. */
#include "share.h"

#define CHUNK_BYTES ((int64_t)1 << 20)   /* work that a thread claims at a time */

int dml_some_boxes(void *data, dml_worker *worker, int64_t chunk)
{
    const dml_job *job = data;
    int64_t begin = job->begin + chunk * job->per_chunk;
    return job->loop(job->plan, worker, begin, dml_least(begin + job->per_chunk, job->end));
}

int64_t dml_boxes_per_chunk(const dml_plan *p, int64_t boxes, int threads)
{
    if (threads == 1)
        return boxes;
    int64_t wanted = dml_most(1, CHUNK_BYTES / dml_most(1, p->block_bytes));
    return dml_most(1, dml_least(wanted, boxes / (4 * threads)));
}

/* A range of bytes of every slice; the chunks of one box follow each other. */
static int some_bytes(void *data, dml_worker *worker, int64_t chunk)
{
    const dml_job *job = data;
    dml_plan part = *job->plan;
    int64_t parts = dml_ceil(part.slice, job->per_chunk), first = chunk % parts * job->per_chunk;
    part.table += first;
    part.stream += first;
    part.slice = dml_least(job->per_chunk, part.slice - first);
    part.block_bytes = part.rows * part.inner * (16 + 2 * part.slice);
    int64_t box = job->begin + chunk / parts;
    return job->loop(&part, worker, box, box + 1);
}

/* Every position writes a place of its own: share out the boxes, or long slices where there are few of them. */
int dml_share_gather(dml_job *job, int threads, dml_pulse *pulse)
{
    const dml_plan *p = job->plan;
    if (threads > 1 && !p->whole && p->boxes < 4 * threads && p->slice >= 4096) {
        int64_t parts = dml_ceil(4 * threads, p->boxes);
        job->per_chunk = dml_most(2048, dml_ceil(dml_ceil(p->slice, parts), DML_LINE) * DML_LINE);
        return dml_parallel(some_bytes, job, p->boxes * dml_ceil(p->slice, job->per_chunk), threads, pulse);
    }
    job->per_chunk = dml_boxes_per_chunk(p, p->boxes, threads);
    return dml_parallel(dml_some_boxes, job, dml_ceil(p->boxes, job->per_chunk), threads, pulse);
}
