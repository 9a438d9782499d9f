/* rows.c: moves along an axis that is not the last one, with indices that repeat along the last one, as they do when one
 * index per row was expanded to the shape of the data. Takes one index of each such row, and moves the rows as slices. */
#include "move.h"
#include "scratch.h"
#include "share.h"

#define MOST DML_BLOCK                   /* rows that are moved at a time, */
#define FETCHED ((int64_t)512 << 10)     /* and their bytes: they stay in the second-level cache */
#define TOGETHER ((int64_t)1 << 16)      /* rows whose indices threads collect before they store their ranges */
#define SHORTEST 64                      /* bytes of a row that is worth it */

/* Whether a row's indices repeat: it equals itself, one index on. */
static int repeats(const dml_plan *p, const char *row)
{
    int64_t index = dml_index_bytes(p->index), rest = (p->dim[p->rank - 1].size - 1) * index;
    return !memcmp(row, row + rest, (size_t)index) && !memcmp(row, row + index, (size_t)rest);
}

/* The row of the table that an index names, if it is in range. */
static const char *row_named(const dml_plan *p, const char *table, const char *index)
{
    int64_t bound = p->bounds[0], row = dml_coordinate_at(index, p->index);
    row += row < 0 && dml_index_signed(p->index) ? bound : 0;
    return (uint64_t)row < (uint64_t)bound ? table + row * p->steps[0] : NULL;
}

/* Whether a box is one row, or some of a plane's. */
static int boxes_are_rows(const dml_plan *p) { return p->cut == p->rank - 2 || (p->cut == p->rank - 1 && p->pieces == 1); }

int dml_moves_rows(const dml_plan *p)
{
    const dml_dim *rows = p->dim + p->rank - 2, *last = rows + 1;
    if (p->rank < 2 || p->tuple != 1 || !p->whole || last->index != dml_index_bytes(p->index) || last->table != p->slice ||
        last->stream != p->slice || last->size * p->slice < SHORTEST || p->positions < 2 * DML_BLOCK || !boxes_are_rows(p))
        return 0;
    dml_block block;
    for (int64_t i = 0; i < 3; i++) {
        dml_block_open(p, (p->boxes - 1) * i / 2, 1, &block);
        if (!repeats(p, block.indices))
            return 0;
    }
    return 1;
}

/* All rows as slices, their indices one after the other; the caller says how many at a time, and where. */
static void plan_rows(const dml_plan *p, dml_plan *part)
{
    *part = *p;
    part->slice *= p->dim[p->rank - 1].size;
    part->positions /= p->dim[p->rank - 1].size;
    part->whole = part->unaligned = 0;
    part->dim[0] = p->dim[p->rank - 2];
    part->dim[0].index = dml_index_bytes(p->index);
    part->rank = 1;
    dml_policy_stores(part);
}

int dml_rows_loop(const dml_plan *p, dml_worker *worker, int64_t begin, int64_t end)
{
    const dml_dim *rows = p->dim + p->rank - 2, *last = rows + 1;
    int64_t index = dml_index_bytes(p->index), indices[MOST];
    dml_block block;
    dml_plan part;
    dml_ramps ramps;
    if (!boxes_are_rows(p)) /* parts of a plan are cut anew: few columns have boxes of several planes */
        return p->plain(p, worker, begin, end);
    plan_rows(p, &part);
    part.indices = (const char *)indices;
    int64_t most = dml_most(1, dml_least(MOST, FETCHED / part.slice));
    int status = DML_OK;
    for (int64_t box = begin, next; box < end && !status; box = next) {
        int64_t found = 0;
        for (next = box; next < end; next++) {
            dml_block_open(p, next, 1, &block);
            int64_t here = block.positions / last->size, row = 0;
            char *table = block.table + p->back;
            if (found && (found + here > most || table != part.table + found * rows->table ||
                          block.stream != part.stream + found * rows->stream))
                break;
            for (; row < here && repeats(p, block.indices + row * rows->index); row++) {
                char *to = (char *)indices + (found + row) * index;
                memcpy(to, block.indices + row * rows->index, (size_t)index);
                const char *slice = p->far ? row_named(p, table + row * rows->table, to) : NULL;
                for (int64_t at = 0; slice && at < part.slice + 63; at += 64)
                    DML_PREFETCH_L2(slice + dml_least(at, part.slice - 1));
            }
            if (row < here)
                break;
            if (!found) {
                part.table = table;
                part.stream = block.stream;
            }
            found += here;
        }
        if (found) {
            part.positions = part.dim[0].size = found;
            dml_plan_cut(&part, &ramps);
            status = p->plain(&part, worker, 0, part.boxes);
        } else
            status = p->plain(p, worker, box, ++next);
    }
    if (part.past && !p->stores)
        DML_STREAM_END();
    return status;
}

typedef struct {
    const dml_plan *plan;
    const char *from;                    /* the indices of the first row */
    char *to;
    int64_t rows;
    int64_t odd;                         /* a row does not repeat */
} collecting;

static int collect(void *data, dml_worker *worker, int64_t chunk)
{
    collecting *c = data;
    int64_t index = dml_index_bytes(c->plan->index), step = c->plan->dim[0].index;
    int64_t row = chunk * MOST, end = dml_least(row + MOST, c->rows);
    for (; row < end && repeats(c->plan, c->from + row * step); row++)
        memcpy(c->to + row * index, c->from + row * step, (size_t)index);
    if (row < end)
        DML_ATOMIC_STORE(&c->odd, 1);
    return dml_tick(worker, MOST * c->plan->dim[1].size * index);
}

int dml_share_rows(const dml_job *job, int threads, dml_pulse *pulse)
{
    const dml_plan *p = job->plan;
    const dml_dim *rows = p->dim;
    dml_plan part;
    dml_ramps ramps;
    char *indices = dml_scratch(dml_least(TOGETHER, rows->size) * dml_index_bytes(p->index));
    if (!indices) /* one thread needs none */
        return dml_parallel(dml_some_boxes, (void *)job, 1, DML_FORWARD, 1, pulse);
    int status = DML_OK;
    for (int64_t first = 0; first < rows->size && !status; first += TOGETHER) {
        collecting c = {p, p->indices + first * rows->index, indices, dml_least(TOGETHER, rows->size - first), 0};
        status = dml_parallel(collect, &c, dml_ceil(c.rows, MOST), DML_FORWARD, threads, pulse);
        if (status)
            break;
        if (c.odd) {
            part = *p;
            part.indices = c.from;
        } else {
            plan_rows(p, &part);
            part.indices = indices;
        }
        part.stream = p->stream + first * rows->stream;
        part.dim[0].size = c.rows;
        part.positions = c.rows * (c.odd ? p->dim[1].size : 1);
        dml_plan_cut(&part, &ramps);
        dml_job these;
        dml_job_open(&these, &part, p->plain, job->untouched);
        status = dml_share_scatter(&these, threads, pulse);
    }
    dml_scratch_free(indices);
    return status;
}
