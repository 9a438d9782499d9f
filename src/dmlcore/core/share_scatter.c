/* share_scatter.c: updates for one place must stay in order, so they must stay with one thread: shares out positions that
 * never meet, or columns, or bytes of long slices, or ranges of the table. */
#include "copy.h"
#include "share.h"

#define BATCH ((int64_t)1 << 21)         /* positions between two joins of a scatter by ranges */
/* Bytes of a slice that a thread gets at least: the hardware fetches lines beyond those that a thread stores to, which another
 * has just written. Halves of 4 KiB slices took two threads three to five times as long as one. */
#define LONG_BYTES ((int64_t)32 << 10)
/* A thread's columns are cut in PARTS, done one after the other, so that what is fetched beyond its own is done by then; borders need not
 * be those of lines. A part has so many bytes of a row, and so many columns, at least: fewer where the second-level cache does not hold
 * what is met. */
#define PARTS 2
#define PART_BYTES 192
#define PART 192
#define FAR_PART 128
#define MANY_COLUMNS 24576               /* positions, of all columns: fewer do not pay */
/* Threads that share out ranges of the table look at all positions: as long as it takes one or two to store elements, or short
 * slices, in parts of the table that the second-level cache holds. */
#define SMALL_PART ((uint64_t)512 << 10)
#define SMALL_PART_OF_SLICES ((uint64_t)128 << 10)
#define FEW_THREADS 3

/* A range of bytes of every slice: one thread takes its bytes of all positions, in order. */
static int some_bytes_of_all(void *data, dml_worker *worker, int64_t chunk)
{
    dml_job job = *(const dml_job *)data;
    dml_plan part = *job.plan;
    int64_t first = chunk * job.per_chunk;
    part.table += first;
    part.stream += first;
    part.slice = dml_least(job.per_chunk, part.slice - first);
    return job.loop(&part, worker, job.begin, job.end);
}

/* A range of the table: all positions are looked at, those that point into the range are moved. */
static int some_range(void *data, dml_worker *worker, int64_t chunk)
{
    const dml_job *job = data;
    worker->low = chunk * job->per_chunk;
    worker->extent = dml_least(job->per_chunk, job->span - worker->low);
    int status = job->loop(job->plan, worker, job->begin, job->end);
    worker->extent = 0;
    return status;
}

/* How the positions are shared out. */
typedef enum { ALONE, BOXES, COLUMNS, ROWS, BYTES, RANGES } way;

int dml_shares_columns(int64_t columns, int64_t positions, int64_t slice, int beyond_l2, int threads)
{
    int64_t part = dml_most(beyond_l2 ? FAR_PART : PART, PART_BYTES / slice);
    return positions >= MANY_COLUMNS && columns >= part * PARTS * threads;
}

/* Bytes of the table that the coordinates reach; 0: not from its first byte on, because of negative steps. */
static uint64_t span_of(const dml_plan *p)
{
    uint64_t span = 1;
    for (int k = 0; k < p->tuple; k++) {
        if (p->steps[k] < 0)
            return 0;
        if (p->bounds[k] > 0)
            span += (uint64_t)(p->bounds[k] - 1) * (uint64_t)p->steps[k];
    }
    return span;
}

/* Also says how much of it is a chunk. */
static way way_for(dml_job *job, int threads)
{
    const dml_plan *p = job->plan;
    const dml_dim *last = p->dim + p->rank - 1;
    int64_t lines = 1, unit = p->pieces;
    int free_dims = 0, all_bound = 1;
    job->columns = job->columns ? job->columns : dml_columns_kept(p, threads);
    if (job->columns) {
        job->per_chunk = job->columns;
        return COLUMNS;
    }
    job->per_chunk = p->boxes;
    if (threads == 1)
        return ALONE;
    if (job->distinct && p->far) { /* near ones had better stay with the thread that stored to them last time */
        job->per_chunk = dml_boxes_per_chunk(p, p->boxes, threads);
        return BOXES;
    }
    for (int d = 0; d < p->rank; d++)
        all_bound &= p->dim[d].table == 0;
    /* positions that differ in a leading dimension with a table stride never meet */
    while (free_dims < p->rank && p->dim[free_dims].table != 0)
        lines *= p->dim[free_dims++].size;
    for (int d = free_dims; d < p->cut; d++)
        unit *= p->dim[d].size;
    if (free_dims > p->cut) {
        unit = 1;
        lines = p->boxes;
    }
    if (lines > 1 && (lines >= 2 * threads || last->table == 0)) {
        job->per_chunk = unit * dml_most(1, dml_boxes_per_chunk(p, p->boxes, threads) / unit);
        return BOXES;
    }
    /* parts of short rows would be collected piece by piece, which costs more than a second thread gains */
    if (last->table != 0 && dml_shares_columns(last->size, p->positions, p->slice, p->beyond_l2, threads)) {
        job->per_chunk = dml_ceil(last->size, PARTS * threads);
        return COLUMNS;
    }
    if (job->loop == dml_rows_loop && p->rank == 2 && p->dim[0].table == 0)
        return ROWS;
    if (p->combine == NULL && p->slice >= LONG_BYTES * (int64_t)threads) {
        job->per_chunk = dml_ceil(dml_ceil(p->slice, threads), DML_LINE) * DML_LINE;
        return BYTES;
    }
    uint64_t span = all_bound ? span_of(p) : 0, range = span / (uint64_t)threads;
    if (range > (threads > FEW_THREADS ? 0 : p->whole ? SMALL_PART : SMALL_PART_OF_SLICES)) {
        job->span = (int64_t)span;
        job->per_chunk = dml_ceil(dml_ceil((int64_t)span, threads), DML_LINE) * DML_LINE;
        return RANGES;
    }
    return ALONE;
}

int dml_scatters_alone(const dml_job *job, int threads)
{
    dml_job same = *job;
    return way_for(&same, threads) == ALONE;
}

int dml_scatters_columns(const dml_job *job, int threads)
{
    dml_job same = *job;
    return way_for(&same, threads) == COLUMNS;
}

int dml_share_scatter(dml_job *job, int threads, dml_pulse *pulse)
{
    const dml_plan *p = job->plan;
    if (job->line)
        return dml_share_lines(job, threads, pulse);
    switch (way_for(job, threads)) {
    case BOXES: return dml_parallel(dml_some_boxes, job, dml_ceil(p->boxes, job->per_chunk), DML_FORWARD, threads, pulse);
    case COLUMNS: {
        int64_t columns = p->dim[p->rank - 1].size;
        return dml_parallel(dml_some_columns, job, dml_ceil(columns, job->per_chunk), DML_FORWARD, threads, pulse);
    }
    case ROWS: return dml_share_rows(job, threads, pulse);
    case BYTES: return dml_parallel(some_bytes_of_all, job, dml_ceil(p->slice, job->per_chunk), DML_FORWARD, threads, pulse);
    case RANGES: {
        int64_t boxes = dml_most(1, BATCH / (p->rows * p->inner)), all = job->end;
        int status = DML_OK;
        for (; job->begin < all && !status; job->begin = job->end) {
            job->end = dml_least(job->begin + boxes, all);
            status = dml_parallel(some_range, job, dml_ceil(job->span, job->per_chunk), DML_FORWARD, threads, pulse);
        }
        return status;
    }
    default: return dml_parallel(dml_some_boxes, job, 1, DML_FORWARD, 1, pulse);
    }
}
