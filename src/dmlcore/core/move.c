/* move.c: runs an indexed move: makes the plan, checks first where that was asked for, copies a scatter's source, shares
 * the boxes out among threads, and finds the first index that is out of range when a loop met one. */
#include "block.h"
#include "combine.h"
#include "copy.h"
#include "dispatch.h"

#define CHUNK_BYTES ((int64_t)1 << 20)   /* work that a thread claims at a time */
#define BATCH ((int64_t)1 << 22)         /* positions between two joins of a scatter by ranges */
#define LINE 64                          /* bytes of a cache line: two threads should not write to the same one */

typedef struct {
    const dml_plan *plan;
    dml_loop loop;
    int64_t begin, end;                  /* boxes */
    int64_t per_chunk;                   /* boxes, columns, bytes of a slice, bytes of the table: whatever is shared out */
    int64_t span;                        /* bytes of the table that the coordinates reach */
} dml_job;

static int some_boxes(void *data, dml_worker *worker, int64_t chunk)
{
    const dml_job *job = data;
    int64_t begin = job->begin + chunk * job->per_chunk;
    return job->loop(job->plan, worker, begin, dml_least(begin + job->per_chunk, job->end));
}

/* A range of the last dimension, all positions in front of it in order. */
static int some_columns(void *data, dml_worker *worker, int64_t chunk)
{
    const dml_job *job = data;
    dml_plan part = *job->plan;
    dml_ramps ramps;
    dml_dim *last = part.dim + part.rank - 1;
    int64_t first = chunk * job->per_chunk;
    part.table += first * last->table;
    part.stream += first * last->stream;
    part.indices += first * last->index;
    last->size = dml_least(job->per_chunk, last->size - first);
    dml_plan_cut(&part, &ramps);
    return job->loop(&part, worker, 0, part.boxes);
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

/* The same for a scatter: one thread takes its bytes of all positions, in order. */
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

static int64_t boxes_per_chunk(const dml_plan *p, int64_t boxes, int threads)
{
    if (threads == 1)
        return boxes;
    int64_t wanted = dml_most(1, CHUNK_BYTES / dml_most(1, p->block_bytes));
    return dml_most(1, dml_least(wanted, boxes / (4 * threads)));
}

/* Every position writes a place of its own: share out the boxes, or long slices where there are few of them. */
static int run_gather(dml_job *job, int threads, dml_pulse *pulse)
{
    const dml_plan *p = job->plan;
    if (threads > 1 && !p->whole && p->boxes < 4 * threads && p->slice >= 4096) {
        int64_t parts = dml_ceil(4 * threads, p->boxes);
        job->per_chunk = dml_most(2048, dml_ceil(dml_ceil(p->slice, parts), LINE) * LINE);
        return dml_parallel(some_bytes, job, p->boxes * dml_ceil(p->slice, job->per_chunk), threads, pulse);
    }
    job->per_chunk = boxes_per_chunk(p, p->boxes, threads);
    return dml_parallel(some_boxes, job, dml_ceil(p->boxes, job->per_chunk), threads, pulse);
}

/* Updates for one place must stay in order, so they must stay with one thread. */
static int run_scatter(dml_job *job, int threads, dml_pulse *pulse)
{
    const dml_plan *p = job->plan;
    const dml_dim *last = p->dim + p->rank - 1;
    int64_t lines = 1, unit = p->pieces;
    int free_dims = 0, all_bound = 1;
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
    if (threads > 1 && lines > 1 && (lines >= 2 * threads || last->table == 0)) {
        job->per_chunk = unit * dml_most(1, boxes_per_chunk(p, p->boxes, threads) / unit);
        return dml_parallel(some_boxes, job, dml_ceil(p->boxes, job->per_chunk), threads, pulse);
    }
    if (threads > 1 && last->table != 0 && last->size * p->slice >= 2 * LINE * (int64_t)threads) {
        int64_t line = dml_most(1, LINE / p->slice);
        job->per_chunk = dml_most(line, dml_ceil(dml_ceil(last->size, threads), line) * line);
        return dml_parallel(some_columns, job, dml_ceil(last->size, job->per_chunk), threads, pulse);
    }
    if (threads > 1 && p->combine == NULL && p->slice >= 16 * LINE * (int64_t)threads) {
        job->per_chunk = dml_ceil(dml_ceil(p->slice, threads), LINE) * LINE;
        return dml_parallel(some_bytes_of_all, job, dml_ceil(p->slice, job->per_chunk), threads, pulse);
    }
    if (threads > 1 && all_bound) {
        /* offsets from `low` on; with negative steps the reach begins below the table's first element */
        uint64_t span = 1;
        int forward = 1;
        for (int k = 0; k < p->tuple; k++) {
            forward &= p->steps[k] >= 0;
            if (p->bounds[k] > 0)
                span += (uint64_t)(p->bounds[k] - 1) * (uint64_t)p->steps[k];
        }
        if (forward && span > (uint64_t)threads) {
            job->span = (int64_t)span;
            job->per_chunk = dml_ceil(dml_ceil((int64_t)span, threads), LINE) * LINE;
            int64_t boxes = dml_most(1, BATCH / (p->rows * p->inner)), all = job->end;
            int status = DML_OK;
            for (; job->begin < all && !status; job->begin = job->end) {
                job->end = dml_least(job->begin + boxes, all);
                status = dml_parallel(some_range, job, dml_ceil(job->span, job->per_chunk), threads, pulse);
            }
            return status;
        }
    }
    job->per_chunk = p->boxes;
    return dml_parallel(some_boxes, job, 1, 1, pulse);
}

static int64_t coordinate_at(const char *from, int index)
{
    i32 a;
    u32 b;
    i64 c;
    switch (index) {
    case DML_INDEX_I32:
        memcpy(&a, from, sizeof a);
        return a;
    case DML_INDEX_U32:
        memcpy(&b, from, sizeof b);
        return b;
    default:
        memcpy(&c, from, sizeof c);
        return c;
    }
}

/* The first index in row-major order that is out of range; only errors come here. */
static int report(const dml_move *m, dml_run *run)
{
    int64_t place[DML_RANK_MAX] = {0};
    const char *at = m->indices;
    int is_signed = run->index == DML_INDEX_I32 || run->index == DML_INDEX_I64;
    run->bad_position = -1;              /* stays so when another thread has mended it meanwhile */
    run->bad_coordinate = run->bad_value = run->bad_bound = 0;
    for (int64_t position = 0;; position++) {
        for (int64_t k = 0; k < m->bounds.n; k++) {
            int64_t value = coordinate_at(at + k * m->coordinate_stride, run->index), n = m->bounds.v[k];
            if (is_signed ? value < -n || value >= n : (uint64_t)value >= (uint64_t)n) {
                run->bad_position = position;
                run->bad_coordinate = k;
                run->bad_value = value;
                run->bad_bound = n;
                return DML_OUT_OF_RANGE;
            }
        }
        int64_t d = m->positions.n - 1;
        for (; d >= 0; d--) {
            int64_t stride = m->index_strides.n ? m->index_strides.v[d] : 0;
            at += stride;
            if (++place[d] < m->positions.v[d])
                break;
            at -= place[d] * stride;
            place[d] = 0;
        }
        if (d < 0)
            return DML_OUT_OF_RANGE;
    }
}

int dml_move_run(int op, const dml_move *m, dml_run *run)
{
    dml_plan plan;
    dml_ramps ramps;
    dml_pulse pulse = {run->poll, 0};
    int scatter = dml_kinds[op] == DML_KIND_SCATTER, copies = scatter && m->source != NULL, status;

    dml_plan_make(&plan, m, run);
    int checks = plan.positions > 0;
    plan.boxes = 0;
    if (checks) {
        plan.combine = dml_combiner_for(run->reduction, run->data_type);
        dml_plan_cut(&plan, &ramps);
        if (plan.mode == DML_CLIP)
            for (int k = 0; k < plan.tuple; k++)
                if (plan.bounds[k] == 0)
                    return report(m, run);
    }
    dml_job job = {&plan, NULL, 0, plan.boxes, 0, 0};
    int threads = run->threads > 1 && checks ? dml_threads_worth(run->threads, dml_plan_nanoseconds(&plan)) : 1;

    /* one box on one thread is checked as a whole before anything of it is moved */
    int scans = plan.boxes > 1 || threads > 1 || copies;
    if (checks && plan.mode == DML_RAISE && (plan.slice == 0 || (run->check_first && scans))) {
        job.loop = dml_chosen_isa->scans[plan.index];
        job.per_chunk = boxes_per_chunk(&plan, plan.boxes, threads);
        status = dml_parallel(some_boxes, &job, dml_ceil(plan.boxes, job.per_chunk), threads, &pulse);
        if (status)
            return status == DML_OUT_OF_RANGE ? report(m, run) : status;
    }
    if (copies) {
        status = dml_copy(m->table, m->source, m->copy, m->copy_table_strides, m->copy_source_strides,
                          (int64_t)1 << run->storage, run->threads, &pulse);
        if (status)
            return status;
    }
    if (!checks || plan.slice == 0)
        return DML_OK;
    job.loop = dml_chosen_isa->loops[op][plan.storage][plan.index];
    status = scatter ? run_scatter(&job, threads, &pulse) : run_gather(&job, threads, &pulse);
    return status == DML_OUT_OF_RANGE ? report(m, run) : status;
}
