/* share_gather.c: every position of a gather writes a place of its own, so any part can run at any time. Shares out the
 * boxes, or parts of long slices. Also what gathers and scatters have in common. */
#include "copy.h"
#include "share.h"

#define CHUNK_BYTES ((int64_t)1 << 20)   /* work that a thread claims at a time */

/* Where a thread has just checked so many bytes of indices, the last ones are still in its second-level cache and the first
 * ones are not: it begins with the last, in steps of so many bytes. Then the next check finds the first ones there. Measured:
 * 1.07 to 1.13x for 1.5 to 4 MB of indices; no gain and no loss for 8 MB and more, nor where the table moves on with the positions. */
#define CHECKED ((int64_t)1 << 20)
#define CHECKED_STEP (64 << 10)
#define MOST_CHECKED ((int64_t)16 << 20) /* no cache holds the last ones of more, and those ahead are fetched (Zen 5: 1.06x) */

int dml_some_boxes(void *data, dml_worker *worker, int64_t chunk)
{
    const dml_job *job = data;
    int64_t begin = job->begin + chunk * job->per_chunk;
    return dml_after_stores(job->plan, job->loop(job->plan, worker, begin, dml_least(begin + job->per_chunk, job->end)));
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
    int64_t box = chunk / parts;
    return dml_after_stores(&part, job->loop(&part, worker, box, box + 1));
}

/* Every position writes a place of its own: share out the boxes, or long slices where there are few of them. */
int dml_share_gather(dml_job *job, int threads, dml_pulse *pulse)
{
    const dml_plan *p = job->plan;
    dml_order order = dml_order_for(p->positions * p->slice, job->untouched);
    int few = threads > 1 && p->boxes < 4 * threads && p->slice >= 4096, one = p->rows * p->inner == 1;
    if (!p->whole && (few || (order == DML_FROM_THE_END && one && p->slice > DML_FRESH_STEP))) {
        int64_t parts = dml_ceil(few ? 4 * threads : 1, p->boxes);
        job->per_chunk = dml_most(2048, dml_ceil(dml_ceil(p->slice, parts), DML_LINE) * DML_LINE);
        if (order == DML_FROM_THE_END && one)
            job->per_chunk = dml_least(job->per_chunk, DML_FRESH_STEP);
        return dml_parallel(some_bytes, job, p->boxes * dml_ceil(p->slice, job->per_chunk), order, threads, pulse);
    }
    job->columns = job->untouched || p->narrowed || p->kept || !p->whole ? 0 : dml_columns_kept(p, threads);
    if (job->columns)
        return dml_gather_columns(job, threads, pulse);
    job->per_chunk = dml_boxes_per_chunk(p, p->boxes, threads);
    int64_t tuple = p->tuple * dml_index_bytes(p->index), step = job->per_chunk, box = dml_most(1, p->rows * p->inner);
    if (order == DML_FROM_THE_END)
        step = DML_FRESH_STEP / (box * p->slice);
    else if (job->checked && p->whole && p->rank == 1 && p->positions * tuple >= threads * CHECKED &&
             p->positions * tuple < MOST_CHECKED) {
        order = DML_FROM_THE_END;
        step = CHECKED_STEP / (box * tuple);
    }
    job->per_chunk = dml_most(1, dml_least(job->per_chunk, step));
    return dml_parallel(dml_some_boxes, job, dml_ceil(p->boxes, job->per_chunk), order, threads, pulse);
}
