/* lines.c: updates that stay within a line of the table, which is copied just before: shares out the lines. What no cache holds
 * meets its updates in memory of the thread's own, the stage, and goes past the caches from there. */
#include "copy.h"
#include "dispatch.h"
#include "share.h"

#define GROUP ((int64_t)4 << 10) /* bytes of lines that are copied at a time: few enough for the first-level cache, */
#define STAGE ((int64_t)32 << 10) /* and of the longest line that is staged: twice as much is slower than in place */
#define FEW_AT_A_TIME 256 /* positions; fewer are not worth a call: more lines then, */
#define BY_STRING ((int64_t)16 << 10) /* and so many bytes of them are best copied by a string instruction: */
#define CACHED_LINES ((int64_t)16 << 20) /* it need not read what it writes, which counts beyond the caches */
#define LONG_LINE ((int64_t)4 << 20) /* bytes; a longer line would have left the caches before its updates come; */
#define LONG_L2 ((int64_t)256 << 10) /* one that leaves the second-level cache is worth it */
#define LINES_EACH 2 /* where each thread has some */
#define NEAR ((int64_t)1 << 20) /* bytes of tables that the third-level cache holds: from there on, */
#define NEAR_BELOW ((int64_t)32 << 20) /* and below, */
#define NEAR_LINE 2048 /* and of lines so long */
#define GROUPS 8 /* that a thread claims at least: the first of them is not staged */
#define FEW_UPDATES 4 /* cache lines for each that is updated: copies go past the caches instead */

/* The first box of a line; lines are steps of the first dimension. */
static int64_t box_of(const dml_plan *p, int64_t line)
{
    if (p->cut == 0)
        return dml_ceil(line, p->rows);
    int64_t boxes = p->pieces;
    for (int d = 1; d < p->cut; d++)
        boxes *= p->dim[d].size;
    return line * boxes;
}

/* A range of lines, in the stage. This thread has just stored a cache line at least in front of it: what the first cache line has
 * of that is stored again. The last one, which other threads may have a part of, is stored in part. */
static int staged_lines(const dml_job *job, dml_worker *worker, int64_t line, int64_t end)
{
    _Alignas(DML_LINE) char room[STAGE + 2 * DML_LINE + DML_PAGE];
    char shared[DML_LINE], *to = job->plan->table + line * job->line;
    const char *from = job->source + line * job->line;
    /* half a page from what comes in first: loads are held up by stores to about the same place in another page */
    char *stage = room + ((from - room + DML_PAGE / 2) & (DML_PAGE - DML_LINE));
    int64_t filled = (intptr_t)to & (DML_LINE - 1);
    dml_plan part = *job->plan;
    int status = DML_OK;
    to -= filled; /* where the stage goes */
    memcpy(stage, to, (size_t)filled);
    while (line < end && !status) {
        int64_t next = dml_least(line + job->group, end), bytes = (next - line) * job->line;
        int64_t full = filled / DML_LINE, before = filled % DML_LINE;
        filled = before + bytes;
        int64_t whole = filled / DML_LINE;
        memcpy(shared, stage + full * DML_LINE, DML_LINE);
        dml_chosen_isa->exchange(to, stage, full, from - before, whole);
        memcpy(stage + whole * DML_LINE, from - before + whole * DML_LINE, (size_t)(filled % DML_LINE));
        memcpy(stage, shared, (size_t)before);
        to += full * DML_LINE;
        from += bytes;
        part.table = stage + before - line * job->line;
        status = job->loop(&part, worker, box_of(&part, line), box_of(&part, next));
        status = status ? status : dml_tick(worker, bytes);
        line = next;
    }
    dml_chosen_isa->exchange(to, stage, filled / DML_LINE, NULL, 0);
    memcpy(to + filled / DML_LINE * DML_LINE, stage + filled / DML_LINE * DML_LINE, (size_t)(filled % DML_LINE));
    DML_STREAM_END();
    return status;
}

/* A range of lines: each is copied just before its updates are stored. */
static int some_lines(void *data, dml_worker *worker, int64_t chunk)
{
    const dml_job *job = data;
    int64_t first = chunk * job->per_chunk, line = first, end = dml_least(line + job->per_chunk, job->lines);
    int status = DML_OK;
    while (line < end && !status) {
        int64_t next = dml_least(line + job->group, end), bytes = (next - line) * job->line;
        char *to = job->plan->table + line * job->line;
        if (job->by_string && bytes >= BY_STRING)
            memcpy(to, job->source + line * job->line, (size_t)bytes);
        else
            dml_copy_bytes(to, job->source + line * job->line, bytes, DML_STORE_PLAIN);
        status = job->loop(job->plan, worker, box_of(job->plan, line), box_of(job->plan, next));
        status = status ? status : dml_tick(worker, bytes);
        line = next;
        if (job->staged && (line - first) * job->line >= DML_LINE && line < end && !status)
            return staged_lines(job, worker, line, end);
    }
    return status;
}

int dml_copies_lines(dml_job *job, dml_plan *p, const char *source, int64_t bytes, int threads)
{
    int64_t line = p->dim[0].table, lines = p->dim[0].size, reach = p->slice;
    if (p->boxes < 2 || lines < 2 || line <= 0 || line > LONG_LINE || line > bytes / lines)
        return 0;
    int few = p->positions * dml_ceil(p->slice, DML_LINE) < bytes / DML_LINE / FEW_UPDATES;
    int64_t staged = few && threads > 1 ? p->tuned->past_caches_shared : 0; /* the caches of several threads hold more */
    job->staged = dml_chosen_isa->exchange && p->whole && !job->untouched && line <= STAGE &&
                  bytes >= dml_most(staged, p->tuned->lines_staged);
    if (few && bytes >= p->tuned->past_caches && !job->staged)
        return 0;
    if (line > LONG_L2 && (threads > 1 ? lines < LINES_EACH * (int64_t)threads : bytes >= p->tuned->by_pages))
        return 0;
    for (int d = 1; d < p->rank && reach <= line; d++) {
        if (p->dim[d].table < 0)
            return 0;
        reach += (p->dim[d].size - 1) * p->dim[d].table;
    }
    for (int k = 0; k < p->tuple && reach <= line; k++) {
        if (p->steps[k] < 0 || p->bounds[k] > line)
            return 0;
        reach += (p->bounds[k] - 1) * p->steps[k];
    }
    if (reach > line) /* updates of one line would reach into the next */
        return 0;
    p->next_row = p->next_step = 0; /* copied just before, they are in the cache */
    job->source = source;
    job->line = line;
    job->lines = lines;
    int is_near = !job->staged && bytes >= NEAR && bytes < NEAR_BELOW && line >= NEAR_LINE;
    int64_t near = is_near ? dml_least(p->tuned->lines_near, bytes / (GROUPS * threads)) : 0; /* some for each thread */
    job->group = dml_most(1, dml_most(GROUP, near) / line);
    job->by_string = p->tuned->lines_copied > 0;
    if (!job->staged && job->by_string && (bytes > CACHED_LINES || p->positions / lines * job->group < FEW_AT_A_TIME))
        job->group = dml_most(1, p->tuned->lines_copied / line);
    if (p->cut == 0) { /* boxes no longer than a group */
        p->rows = job->group = dml_least(job->group, p->rows);
        job->end = p->boxes = p->pieces = dml_ceil(lines, p->rows);
        p->block_bytes = p->rows * p->inner * (16 + 2 * p->slice);
    }
    return 1;
}

int dml_share_lines(dml_job *job, int threads, dml_pulse *pulse)
{
    int64_t most = dml_ceil(job->lines, threads == 1 ? 1 : 8 * threads);
    if (job->untouched)
        most = dml_least(most, dml_most(1, DML_FRESH_STEP / job->line));
    else if (job->staged)
        most = dml_most(most, GROUPS * job->group);
    job->per_chunk = dml_ceil(most, job->group) * job->group;
    return dml_parallel(some_lines, job, dml_ceil(job->lines, job->per_chunk), job->untouched ? DML_FROM_THE_END : DML_FORWARD,
                        threads, pulse);
}
