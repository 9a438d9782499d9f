/* move.c: runs an indexed move: makes the plan, checks first where that was asked for, decides how a scatter's source is
 * copied, has the work shared out, and finds the first index that is out of range when a loop met one. */
#include "copy.h"
#include "dispatch.h"
#include "move.h"
#include "scratch.h"
#include "share.h"
#include "together.h"

#include <stdlib.h>

#define SMALL 8192                       /* elements, */
#define SMALL_AND_FAR 4096               /* and out of tables that the caches do not hold */
#define MANY_LINES 2500                  /* of indices, */
#define CROWDED ((int64_t)3 << 19)       /* bytes that they take in the second-level cache: it may not hold them */
#define MANY_INDICES (384 << 10)         /* bytes to check: worth a region, where threads are worth their while at all */
#define SMALL_COPY 16384                 /* bytes; the first-level cache holds them until they are updated */
#define FEW_UPDATES 8                    /* lines of the table for each that is updated */
#define ASK_EVERY ((int64_t)1 << 22)     /* positions that a bad index is looked for among */

/* A second thread helps to copy a table that a single one updates afterwards where it gains more than that one loses: */
#define COPIED 48                        /* bytes for each nanosecond that the copy takes less, */
#define REGION 4000                      /* nanoseconds for the start, */
#define BEYOND 4                         /* and for each updated line, which is in the other one's cache */

static int64_t number_of(const dml_move *m, const int64_t *place)
{
    int64_t number = 0;
    for (int64_t d = 0; d < m->positions.n; d++)
        number = number * m->positions.v[d] + place[d];
    return number;
}

/* The first index in row-major order that is out of range, or that no mode accepts; only errors come here. Dimensions along
 * which the indices stay the same have it at their first place, however long they are. */
static int report(const dml_move *m, dml_run *run)
{
    int64_t place[DML_DIMS] = {0};
    const char *at = m->indices;
    int is_signed = dml_index_signed(run->index);
    run->bad_position = -1;              /* stays so when another thread has mended it meanwhile */
    run->bad_coordinate = run->bad_value = run->bad_bound = 0;
    for (int64_t looked = 0;; looked++) {
        if (run->poll && looked % ASK_EVERY == ASK_EVERY - 1 && run->poll())
            return DML_INTERRUPTED;
        for (int64_t k = 0; k < m->bounds.n; k++) {
            int64_t value = dml_coordinate_at(at + k * m->coordinate_stride, run->index), n = m->bounds.v[k];
            if (run->mode == DML_CLIP && n > 0)
                continue;
            if (is_signed ? value < -n || value >= n : (uint64_t)value >= (uint64_t)n) {
                run->bad_position = number_of(m, place);
                run->bad_coordinate = k;
                run->bad_value = value;
                run->bad_bound = n;
                return DML_OUT_OF_RANGE;
            }
        }
        int64_t d = m->positions.n - 1;
        for (; d >= 0; d--) {
            int64_t stride = dml_stride(m->index_strides, d);
            if (stride == 0)
                continue;
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

static void scan_of(dml_job *job, const dml_plan *plan, int threads)
{
    dml_job_open(job, plan, dml_chosen_isa->scans[dml_index_width(plan->index)], 0);
    job->per_chunk = dml_boxes_per_chunk(plan, plan->boxes, threads);
}

int dml_scan(const dml_plan *plan, int threads, dml_pulse *pulse)
{
    dml_plan once;
    dml_ramps ramps;
    dml_job job;
    scan_of(&job, dml_plan_indices(&once, plan, &ramps) ? &once : plan, threads);
    return dml_parallel(dml_some_boxes, &job, dml_ceil(job.end, job.per_chunk), DML_FORWARD, threads, pulse);
}

int dml_scan_threads(const dml_plan *plan, int threads)
{
    int64_t tuple = plan->tuple * dml_index_bytes(plan->index), nearest = dml_plan_nearest(plan);
    /* a line of its own takes far longer than its bytes */
    int64_t each = nearest > tuple && nearest >= DML_LINE ? 4 * DML_LINE : dml_most(tuple, dml_least(nearest, DML_LINE));
    return dml_mul(plan->positions, each) >= MANY_INDICES ? threads : 1;
}

int dml_check(const dml_plan *plan, int threads, dml_pulse *pulse)
{
    return dml_scan(plan, dml_scan_threads(plan, threads), pulse);
}

/* The copy that a scatter begins with. threads: set to what copy and updates are worth together where they share lines; else
 * left as it is. */
static int copy_source(const dml_job *job, const dml_move *m, const dml_run *run, int apart, int *threads, dml_pulse *pulse)
{
    const dml_plan *p = job->plan;
    int64_t bytes = dml_product(m->copy) * p->element, updated = p->positions * dml_ceil(p->slice, DML_LINE), after = 0;
    int copiers = run->threads;
    if (updated && bytes <= DML_NEAR_COPY) { /* its lines stay with the threads that copy them */
        if (apart ? *threads > 1 : !dml_scatters_alone(job, copiers)) /* apart: *threads share out the updates */
            after = dml_plan_nanoseconds(p);
        else if (bytes / COPIED < REGION + BEYOND * updated)
            copiers = 1;
    }
    dml_store store = dml_store_for(bytes, (double)bytes, copiers, job->untouched);
    int many = updated >= bytes / DML_LINE / FEW_UPDATES;
    if (bytes < (many ? dml_tuned->past_caches_updated : dml_tuned->past_caches_copied))
        store = DML_STORE_PLAIN;
    int status = dml_copy(m->table, m->source, m->copy, m->copy_table_strides, m->copy_source_strides, p->element, store,
                          job->untouched, after, &copiers, pulse);
    if (after)
        *threads = copiers;
    return status;
}

/* What a move's regions have in common, and the check that the region which moves does first. */
typedef struct {
    dml_pulse pulse;
    dml_first first;
    dml_job check;
    dml_narrowing narrowing;
    int otherwise; /* a mode: that of indices out of range, where a plan that raises can have them clamped (lenient.c) */
} regions;

static int move_straight(const dml_plan *plan, int op, const dml_move *m, const dml_run *run, dml_straight *straight,
                         int64_t taken, int threads, regions *shared);

/* What move_with leaves to its caller. */
static void forget(dml_plan *plan)
{
    dml_scratch_free(plan->kept);
    dml_scratch_free(plan->narrowed);
}

/* Leaves it to the caller to forget the plan, and to free straight->scratch. taken: bytes of scratch memory that run->threads
 * have already. */
static int move_with(dml_plan *plan, int op, const dml_move *m, const dml_run *run, dml_straight *straight, int64_t taken,
                     regions *shared)
{
    dml_ramps ramps;
    dml_pulse *pulse = &shared->pulse;
    int scatter = dml_kinds[op] == DML_KIND_SCATTER, copies = scatter && m->source != NULL, status;

    dml_plan_make(plan, m, run, dml_tuned, scatter);
    int checks = plan->positions > 0;
    plan->boxes = 0;
    if (checks) {
        plan->combine = run->reduction == DML_NONE ? NULL : dml_chosen_isa->combiners[run->data_type][run->reduction];
        dml_plan_boxes(plan, &ramps);
        if (plan->mode == DML_CLIP)
            for (int k = 0; k < plan->tuple; k++)
                if (plan->bounds[k] == 0)
                    return DML_OUT_OF_RANGE;
    }
    int threads = run->threads > 1 && checks ? dml_threads_worth(run->threads, dml_plan_nanoseconds(plan), pulse) : 1;
    if (checks && !scatter) {
        status = dml_gather_whole(plan, run, &ramps, threads, pulse);
        if (status != DML_NO_MEMORY)
            return status;
    }
    int listed = checks && !scatter && plan->slice && dml_takes_listed(plan);
    if (checks && !scatter && plan->slice && !listed && dml_takes_short_rows(plan)) {
        status = dml_share_short_rows(plan, run->untouched, threads, pulse);
        if (status != DML_NO_MEMORY)
            return status;
    }
    if (checks && !scatter && plan->slice && !listed && dml_straightens(plan, m, threads, straight))
        return move_straight(plan, op, m, run, straight, taken, threads, shared);

    int by_rows = checks && plan->slice && !listed && dml_moves_rows(plan);
    int strided = checks && plan->slice && !by_rows && !listed && dml_takes_strided(plan, scatter);
    int turned = checks && plan->slice && !by_rows && !listed && !strided && dml_takes_turned(plan, scatter);
    int apart = listed || strided || turned; /* these have nothing to do with boxes */
    int later = turned && !scatter && !run->check_first; /* only if there is no scratch memory */
    if (checks && !listed && !strided && !later)
        dml_plan_ramps(plan, &ramps);

    dml_job job;
    const dml_loop *loops = dml_chosen_isa->loops[op][plan->storage];
    dml_job_open(&job, plan, loops[dml_index_width(plan->index)], run->untouched);
    job.for_narrow = loops[DML_WIDTH_U32];
    if (by_rows) {
        plan->plain = job.loop;
        job.loop = dml_rows_loop;
    }

    int lenient = checks && plan->slice && !scatter && !by_rows && !apart &&
                  dml_goes_on(&job, plan, shared->otherwise, threads);

    int64_t bytes = copies && checks && plan->slice
                        ? dml_contiguous(m->copy, m->copy_table_strides, m->copy_source_strides, plan->element)
                        : 0;
    int rest = bytes && !strided && dml_overwrites(plan, bytes, taken);

    /* one box on one thread is checked as a whole before anything of it is moved */
    int at_once = listed ? 0 : strided ? dml_strides_at_once(plan) : plan->boxes == 1;
    int scans = run->check_first && !rest && !lenient && (!at_once || threads > 1 || copies);
    if (scans && checks && !scatter && plan->mode == DML_RAISE && !by_rows && !apart && dml_goes_aside(plan, threads, taken) &&
        !dml_takes_tiles(&job, NULL, 0, 0)) {
        status = dml_gather_aside(&job, plan, threads, pulse);
        if (status != DML_NO_MEMORY)
            return status;
    }
    status = DML_OK;
    if (checks && plan->mode == DML_RAISE && (plan->slice == 0 || scans)) {
        int in_boxes = scans && !by_rows && !apart && (scatter || !dml_takes_tiles(&job, NULL, 0, 0));
        int narrows = in_boxes && dml_narrows(plan, threads, taken) &&
                      dml_narrow(&job, plan, threads, taken, &shared->narrowing);
        if (in_boxes && !narrows)
            dml_keep(plan, threads, taken);
        if (narrows && threads > 1)
            pulse->first = &shared->narrowing.first;
        else if (narrows) {
            const dml_first *first = &shared->narrowing.first;
            status = dml_parallel(first->work, first->job, first->chunks, DML_FORWARD, 1, pulse);
        } else if (threads > 1 && !scatter && !apart && plan->slice && dml_plan_in_order(plan)) {
            scan_of(&shared->check, plan, threads); /* the region that moves does it first */
            shared->first = (dml_first){dml_some_boxes, &shared->check, dml_ceil(shared->check.end, shared->check.per_chunk)};
            pulse->first = &shared->first;
        } else
            status = dml_check(plan, threads, pulse);
        if (status)
            return status;
        job.checked = !narrows;
    }
    if (rest)
        status = dml_copy_rest(&job, m->source, bytes, threads, pulse);
    else if (bytes && bytes <= SMALL_COPY && threads == 1)
        dml_copy_bytes(m->table, m->source, bytes, DML_STORE_PLAIN);
    else if (bytes && !apart && dml_copies_lines(&job, plan, m->source, bytes, run->threads)) {
        int64_t done = job.line * job.lines;
        dml_copy_bytes(m->table + done, m->source + done, bytes - done, DML_STORE_PLAIN);
        threads = (int)dml_most(threads, dml_threads_worth(run->threads, bytes / 12, pulse));
    } else if (bytes && !by_rows && !apart && dml_takes_tiles(&job, m->source, bytes, 1))
        threads = (int)dml_most(threads, dml_threads_worth(run->threads, bytes / 6, pulse));
    else if (bytes && !by_rows && !apart && dml_copies_columns(&job, m->source, bytes, run->threads, &threads, pulse))
        ; /* the job says so; both are done together */
    else if (copies)
        status = copy_source(&job, m, run, apart, &threads, pulse);
    if (status)
        return status;
    if (!checks || plan->slice == 0)
        return DML_OK;
    status = DML_NO_MEMORY;
    if (listed)
        status = dml_share_listed(plan, job.untouched, threads, pulse);
    else if (strided)
        status = dml_share_strided(plan, scatter, job.untouched, threads, pulse);
    else if (turned)
        status = dml_share_turned(&job, scatter, threads, pulse);
    else if (job.tile || (!job.source && !by_rows && dml_takes_tiles(&job, NULL, 0, scatter))) {
        status = dml_share_tiles(&job, threads, pulse);
        if (status == DML_NO_MEMORY && job.source) {
            job.source = NULL;
            status = copy_source(&job, m, run, 0, &threads, pulse);
            status = status ? status : DML_NO_MEMORY;
        }
    }
    if (status == DML_NO_MEMORY && later)
        dml_plan_ramps(plan, &ramps);
    if (status == DML_NO_MEMORY) /* for scratch, or nothing of that: the loops do without */
        status = scatter ? dml_share_scatter(&job, threads, pulse) : dml_share_gather(&job, threads, pulse);
    return status;
}

/* Parts of a table, each of them straightened and read by one thread. */
typedef struct {
    const dml_plan *plan;
    int op;
    const dml_move *move;
    const dml_run *run;
    const dml_straight *straight;
    int64_t taken;
} straight_parts;

static int straight_part(void *data, dml_worker *worker, int64_t number)
{
    const straight_parts *parts = data;
    dml_straight straight = *parts->straight, none;
    dml_run run = *parts->run;
    regions shared; /* the rest is filled in where it is used */
    shared.pulse = (dml_pulse){.poll = worker->calling ? run.poll : NULL, .around = worker->team};
    shared.otherwise = DML_RAISE;
    dml_plan plan;
    run.threads = 1;
    straight.scratch += worker->number * straight.bytes;
    int status = dml_straighten(&straight, parts->move, number, parts->plan->element, 1, &shared.pulse);
    if (!status) {
        status = move_with(&plan, parts->op, &straight.move, &run, &none, parts->taken + straight.bytes, &shared);
        forget(&plan);
    }
    if (shared.pulse.interrupted) /* this one calls */
        worker->team->pulse->interrupted = 1;
    return status ? status : dml_tick(worker, DML_FUEL); /* a part is too short for a look at the clock of its own */
}

/* Part by part; the parts' own plans find slices that are contiguous. */
static int move_straight(const dml_plan *plan, int op, const dml_move *m, const dml_run *run, dml_straight *straight,
                         int64_t taken, int threads, regions *shared)
{
    dml_pulse *pulse = &shared->pulse;
    dml_plan part;
    dml_straight none;
    dml_run part_run = *run;
    int status = DML_OK;
    if (straight->alone)
        part_run.threads = threads = 1;
    if (run->check_first && plan->mode == DML_RAISE && straight->parts > 1)
        status = dml_check(plan, threads, pulse);
    part_run.check_first &= straight->parts == 1; /* where that was asked for, those of several parts are checked already */
    if (!status && straight->apart) {
        straight_parts parts = {plan, op, m, &part_run, straight, taken};
        return dml_parallel(straight_part, &parts, straight->parts, DML_FORWARD, threads, pulse);
    }
    for (int64_t n = 0; n < straight->parts && !status; n++) {
        status = dml_straighten(straight, m, n, plan->element, threads, pulse);
        if (status)
            break;
        status = move_with(&part, op, &straight->move, &part_run, &none, taken + straight->bytes, shared);
        forget(&part);
    }
    return status;
}

int dml_reads_long(const dml_move *m)
{
    int64_t positions = dml_product(m->positions), nearest = INT64_MAX;
    for (int64_t d = 0; d < m->positions.n; d++)
        if (m->positions.v[d] > 1)
            nearest = dml_least(nearest, llabs(dml_stride(m->index_strides, d)));
    return positions >= MANY_LINES && nearest >= DML_LINE && dml_mul(positions, dml_crowd(1, nearest)) >= CROWDED;
}

int dml_move_is_small(const dml_move *m)
{
    int64_t slice = dml_most(1, dml_product(m->slice)); /* the indices of empty ones are checked */
    int64_t elements = dml_add(dml_mul(dml_product(m->positions), slice), dml_product(m->copy));
    if (elements >= SMALL || dml_reads_long(m))
        return 0;
    double walked = dml_span(m->positions, m->table_strides);
    return elements < SMALL_AND_FAR || !dml_is_far(dml_span(m->bounds, m->steps), walked, elements);
}

static int move_in_mode(int op, const dml_move *m, dml_run *run, int otherwise)
{
    dml_plan plan;
    dml_straight straight;
    straight.scratch = NULL;
    regions shared; /* as above */
    shared.pulse = (dml_pulse){.poll = run->poll, .twice = run->check_first};
    shared.otherwise = otherwise;
    dml_together together;
    int status = dml_together_open(&together, m, run, dml_kinds[op] == DML_KIND_SCATTER, &shared.pulse);
    if (!status) {
        status = move_with(&plan, op, together.bytes ? &together.move : m, &together.run, &straight, together.bytes, &shared);
        forget(&plan);
        dml_scratch_free(straight.scratch);
    }
    if (together.bytes)
        dml_scratch_free(together.indices);
    return status;
}

/* Modes that accept every index are slower, and mostly meet none that they are for: first it is tried whether all are in range, in the ways
 * that raise. A gather of single elements may go on so where one is not (lenient.c), or has lost what it moved so far; gathers of slices
 * look first, which costs little of what they do, and a scatter has to, as it may combine. That the caller's own output stays as it was
 * needs no check: only clip can fail, and only if all positions do, because a dimension is empty. (Another thread that writes to the indices
 * meanwhile may have updates combined twice.) */
int dml_move_run(int op, const dml_move *m, dml_run *run)
{
    run->threads = (int)dml_least(run->threads, DML_THREADS_MOST);
    int status = DML_OUT_OF_RANGE;
    if (run->mode != DML_RAISE && !dml_move_is_small(m)) {
        dml_run strict = *run;
        strict.mode = DML_RAISE;
        strict.check_first = dml_kinds[op] == DML_KIND_SCATTER || dml_product(m->slice) > 1;
        status = move_in_mode(op, m, &strict, run->mode);
    }
    if (status == DML_OUT_OF_RANGE)
        status = move_in_mode(op, m, run, DML_RAISE);
    return status == DML_OUT_OF_RANGE ? report(m, run) : status;
}
