/* columns.c: moves some columns of all rows at a time where positions walk along the rows of a table: the second-level cache holds
 * these columns' part of it meanwhile. Scatters copy it before, if that is not done yet. */
#include "copy.h"
#include "share.h"

#define CACHED_COLUMNS ((int64_t)512 << 10) /* bytes of columns that the second-level cache holds beside their updates */
#define SHORT_ROW 2048 /* bytes; shorter rows of columns would be stored piece by piece, */
#define SHORT_ROW_GATHERED 4096
#define OFTEN 3 /* times that each of their lines is met: if fewer, the cache need not hold them */
#define LARGE_GATHERED ((int64_t)64 << 20) /* bytes of a plane times those of an element */

/* Moves some columns, and fetches as many of the next ones meanwhile, a part of them beside each box: `lines` of each row. */
static int move_and_fetch(const dml_job *job, const dml_plan *part, dml_worker *worker, int64_t lines)
{
    const char *row = part->table + part->dim[part->rank - 1].size * part->slice;
    int64_t all = lines * part->bounds[0], fetched = 0, line = 0;
    int status = DML_OK;
    for (int64_t box = 0; box < part->boxes && !status; box++) {
        for (int64_t end = all * (box + 1) / part->boxes; fetched < end; fetched++) {
            DML_PREFETCH_L2(row + line * DML_LINE);
            if (++line == lines) {
                line = 0;
                row += part->steps[0];
            }
        }
        status = job->loop(part, worker, box, box + 1);
    }
    return status;
}

void dml_plane_of(dml_plan *part, const dml_plan *p, int64_t plane)
{
    *part = *p;
    for (int d = p->rank - 3; d >= 0; d--) {
        int64_t rest = plane / p->dim[d].size, c = plane - rest * p->dim[d].size;
        part->table += c * p->dim[d].table;
        part->stream += c * p->dim[d].stream;
        part->indices += c * p->dim[d].index;
        plane = rest;
    }
    part->dim[0] = p->dim[p->rank - 2];
    part->dim[1] = p->dim[p->rank - 1];
    part->rank = 2;
    part->positions = part->dim[0].size * part->dim[1].size;
}

/* Makes a plan the same for some columns of it; kept: the second-level cache holds their part of the table, so no element of it is
 * fetched, nor moved by itself. Scattered without fetching they take 1.1 to 1.8 times as long on Emerald Rapids. */
static void take_columns(dml_plan *part, int64_t first, int64_t columns, int kept)
{
    dml_dim *last = part->dim + part->rank - 1;
    part->table += first * last->table;
    part->stream += first * last->stream;
    part->indices += first * last->index;
    part->positions = part->positions / last->size * columns;
    last->size = columns;
    if (kept)
        part->direct = 0;
    if (kept && (!part->stores || part->tuned->scatter_follows))
        part->fetch = DML_FETCH_NONE;
}

/* The last chunk copies the rest of each row as well, where nothing is updated. */
int dml_some_columns(void *data, dml_worker *worker, int64_t chunk)
{
    const dml_job *job = data;
    dml_plan part = *job->plan;
    dml_ramps ramps;
    int64_t first = chunk * job->per_chunk, left = part.dim[part.rank - 1].size - first;
    int64_t columns = dml_least(job->per_chunk, left);
    take_columns(&part, first, columns, job->columns > 0);
    dml_plan_cut(&part, &ramps);
    int64_t at = part.table - job->plan->table, bytes = columns < left ? columns * part.slice : part.steps[0] - at;
    for (int64_t row = 0; job->source && row < part.bounds[0]; row++, at += part.steps[0])
        dml_copy_bytes(job->plan->table + at, job->source + at, bytes, DML_STORE_PLAIN);
    return job->loop(&part, worker, 0, part.boxes);
}

static int some_columns_gathered(void *data, dml_worker *worker, int64_t chunk)
{
    const dml_job *job = data;
    dml_plan part;
    dml_ramps ramps;
    int64_t all = job->plan->dim[job->plan->rank - 1].size, across = dml_ceil(all, job->per_chunk), plane = chunk / across;
    int64_t first = (chunk - plane * across) * job->per_chunk, columns = dml_least(job->per_chunk, all - first);
    dml_plane_of(&part, job->plan, plane);
    take_columns(&part, first, columns, 1);
    dml_plan_cut(&part, &ramps);
    int64_t next = dml_least(columns, all - first - columns);
    return dml_after_stores(&part, move_and_fetch(job, &part, worker, next * part.slice / DML_LINE));
}

int dml_gather_columns(dml_job *job, int threads, dml_pulse *pulse)
{
    const dml_plan *p = job->plan;
    int64_t chunks = dml_ceil(p->dim[p->rank - 1].size, job->columns);
    for (int d = 0; d < p->rank - 2; d++)
        chunks *= p->dim[d].size;
    job->per_chunk = job->columns;
    return dml_parallel(some_columns_gathered, job, chunks, DML_FORWARD, threads, pulse);
}

/* Columns that are moved before the next ones are, so that the second-level cache holds their part of the table meanwhile; 0: it
 * holds all of it, or too few of them. Measured: scatters 1.2 to 2.1x for 7 to 100 rows, nothing for 16 that are a power of two
 * apart, on Zen 4 1.1 to 1.6x once more if they are not fetched element by element as well. Gathers of four and eight bytes out of
 * planes that the third-level cache does not hold, 9 to 128 rows, 1.0 to 2.6x (Zen 4), 0.6 to 1.5x without fetching the next columns. */
int64_t dml_columns_kept(const dml_plan *p, int threads)
{
    const dml_dim *last = p->dim + p->rank - 1;
    if (p->rank < 2 || p->tuple != 1 || last->table != p->slice || last[-1].table != 0)
        return 0;
    int64_t rows = dml_most(1, p->bounds[0]), bytes = last->size * p->slice, all = dml_mul(bytes, rows);
    if (all <= 2 * CACHED_COLUMNS || (!p->stores && (p->slice < 4 || dml_mul(all, p->slice) < LARGE_GATHERED)))
        return 0;
    int64_t kept = dml_least(CACHED_COLUMNS / rows, bytes / threads);
    /* each row of positions meets every element of a line's width once, in one of the rows of the table */
    if (last[-1].size * DML_LINE < OFTEN * rows * p->slice || kept < (p->stores ? SHORT_ROW : SHORT_ROW_GATHERED))
        return 0;
    return dml_ceil(kept, DML_LINE) * DML_LINE / p->slice;
}

int dml_copies_columns(dml_job *job, const char *source, int64_t bytes, int most, int *threads, dml_pulse *pulse)
{
    const dml_plan *p = job->plan;
    const dml_dim *last = p->dim + p->rank - 1;
    /* One coordinate names the row; and pages that are not in use yet had better be stored to in the order of memory. */
    if (job->untouched || p->tuple != 1 || p->rank != 2 || p->dim[0].table || last->table != p->slice ||
        p->steps[0] < last->size * p->slice || p->bounds[0] * p->steps[0] != bytes)
        return 0;
    int worth = dml_threads_worth(most, dml_plan_nanoseconds(p) + dml_copy_nanoseconds(bytes), pulse);
    int64_t kept = dml_columns_kept(p, worth);
    /* columns of more would have left the second-level caches of all threads before their updates come */
    if (!dml_scatters_columns(job, worth) || (!kept && bytes > worth * DML_NEAR_COPY))
        return 0;
    *threads = worth;
    job->columns = kept;
    job->source = source; /* dml_share_scatter, asked with *threads, decides the same */
    return 1;
}
