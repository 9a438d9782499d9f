/* tiles.c: moves along an axis that is not the last one, where a plane of the table is too large for the caches, or its
 * columns are crowded into a part of the first-level cache: some columns at a time are copied to scratch memory, rows next
 * to each other, and the indexed moves happen there. A scatter's tiles are filled from its source, so nothing is copied
 * twice. */
#include "scratch.h"
#include "share.h"

#define LARGE ((int64_t)1 << 20)         /* bytes of a plane that moves in row order would fetch again and again */
#define SCRATCH ((int64_t)512 << 10)     /* bytes of a tile at most: half of a second-level cache, */
#define SCRATCH_WIDE ((int64_t)768 << 10) /* or less than half of one of 2 MiB */
#define WIDEST 512                       /* bytes of a tile's row, */
#define IN_A_ROW 256                     /* or so many elements, where tiles are wide, */
#define NARROWEST 128                    /* or fewer bytes where there are many rows, but not less than this */
#define APART 64                         /* bytes between the rows of a tile, so that they do not meet in the cache */
#define L1 ((int64_t)40 << 10)           /* bytes that the first-level cache holds beside others; */
#define WAY ((int64_t)4096)              /* bytes after which addresses meet in one set of it, */
#define SETS_HOLD 8                      /* which holds at least so many lines */
#define MOST_OF_A_COLUMN 8192            /* bytes, of planes whose rows do not meet */
#define NEAR_PLANE ((int64_t)2560 << 10) /* bytes of a plane most of which a second-level cache of 2 MiB has; */
#define MANY_ROWS 128                    /* planes of so many rows, and of */
#define MANY_ROWS_PLANE ((int64_t)10 << 20) /* so many bytes, need more indices as well */
#define ROWS_AHEAD 8                     /* rows that are fetched ahead: they are far apart, the hardware does not see it */

/* Rows of `bytes` from one place to another. The rows ahead are fetched, after the last one those that follow them to the right,
 * where the next tile is; on both sides, unless `to` is scratch memory. */
static void copy_rows(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t bytes,
                      int to_scratch)
{
    int64_t ahead = dml_least(ROWS_AHEAD, rows);
    for (int64_t row = 0; row < rows; row++, to += to_pitch, from += from_pitch) {
        int next = row + ahead >= rows;
        const char *soon = from + (next ? (ahead - rows) * from_pitch + bytes : ahead * from_pitch);
        const char *there = to + (next ? (ahead - rows) * to_pitch + bytes : ahead * to_pitch);
        for (int64_t at = 0; at < bytes; at += 64) {
            if (to_scratch)
                DML_PREFETCH(soon + at);
            else
                DML_PREFETCH_WRITE(there + at);
        }
        memcpy(to, from, (size_t)bytes);
    }
}

static int some_tile(void *data, dml_worker *worker, int64_t chunk)
{
    const dml_job *job = data;
    const dml_plan *p = job->plan;
    const dml_dim *axis = p->dim + p->rank - 2, *columns = axis + 1;
    dml_plan part;
    int64_t across = dml_ceil(columns->size * p->slice, job->tile), plane = chunk / across;
    int64_t first = (chunk - plane * across) * job->tile / p->slice;
    int64_t size = dml_least(job->tile / p->slice, columns->size - first), width = size * p->slice;
    char *tile = job->scratch + worker->number * p->bounds[0] * job->pitch;

    dml_plane_of(&part, p, plane);
    part.stream += first * columns->stream;
    part.indices += first * columns->index;
    int64_t table = part.table - p->table + first * columns->table;
    copy_rows(tile, job->pitch, (job->source ? job->source : p->table) + table, p->steps[0], p->bounds[0], width, 1);

    /* a plan for one plane, each row of which is a box */
    part.table = tile;
    part.steps = &job->pitch;
    part.dim[1].size = part.rows = size;
    part.cut = part.inner = part.pieces = part.ramped = part.fused = 1;
    part.back = part.direct = part.singly = part.rolls = 0;
    part.joined = part.by_rows = 0;
    part.row_lookup = NULL;
    part.wide = part.far = part.fetch = part.packed = part.scattered = 0;
    part.again = part.in_rows = part.columns = 0;
    part.gathers = p->tuned->gathers_below > 0;
    part.past = 0;
    part.in_registers = part.next_row = part.next_step = part.fed = part.grows = 0;
    part.ahead = ROWS_AHEAD * axis->index;
    part.positions = axis->size * size;
    part.follows = axis->index > 0;
    part.gap = axis->index / dml_index_bytes(p->index) - size;
    part.block_bytes = size * (16 + 2 * p->slice);
    int status = job->loop(&part, worker, 0, axis->size);
    if (job->writes && !status)
        copy_rows(p->table + table, p->steps[0], tile, job->pitch, p->bounds[0], width, 0);
    return status;
}

/* Whether the rows of a plane begin at so few places of the first-level cache that their elements of one column drive each
 * other out, as they do at powers of two. */
static int rows_meet(const dml_plan *p, int64_t rows, int64_t pitch)
{
    int64_t apart = dml_least(pitch & -pitch, WAY), needed = p->slice < 8 ? WAY / 2 : WAY;
    return apart >= needed && rows * apart > SETS_HOLD * WAY;
}

/* Whether tiles gain for that reason alone. Measured: 64 rows of 4 KiB take half the time in tiles, bytes a quarter; longer
 * elements gain less, because a tile has fewer of them in a row. Planes that the second-level cache holds are moved in place where
 * that is as near as tiles_crowded says: gathers of two and four bytes take 0.5 to 1.0 of the time there, scatters of four and eight
 * 0.55 to 1.0, those of shorter elements, and of four bytes from rows of 4 KiB, 1.5 to 4.5 times as long. So do gathers of
 * four bytes from rows of up to 8 KiB, of twice as large planes, 1.0 to 1.57x (Emerald Rapids), and
 * from rows of 2 KiB where tiles_halves says so: Zen 3, 0.75 to 1.06 of the time, with two threads 0.6 to 1.0. */
static int crowded(const dml_plan *p, int64_t rows, int64_t pitch, int writes)
{
    int gains = p->slice < 8 || (p->slice == 8 && writes);
    int in_place = rows * pitch <= p->tuned->tiles_crowded && p->slice >= (!writes ? 2 : pitch % WAY ? 4 : 8);
    in_place |= !writes && p->slice == 4 && pitch <= 2 * WAY && rows * pitch <= 2 * p->tuned->tiles_crowded;
    in_place |= !writes && p->slice == 4 && pitch < WAY && rows * pitch <= p->tuned->tiles_halves;
    return gains && !in_place && rows_meet(p, rows, pitch) && 2 * p->dim[p->rank - 2].size >= rows;
}

/* Rows of a plane for each position of a column, at most, for elements of 1, 2, 4 and 8 bytes. */
static const struct {
    int meeting, read, written;
} rows_each[] = {{8, 8, 8}, {8, 8, 4}, {4, 4, 2}, {1, 2, 2}};

/* Whether so many elements of a large plane are read or written, and it has so few rows, that tiles gain, which copy all of it, and
 * back. Measured on Zen 4: elsewhere they take 1.0 to 9 times as long as row order, here 0.2 to 1.0. */
static int worth_copying(const dml_plan *p, int64_t rows, int64_t pitch, int writes)
{
    int64_t each = p->dim[p->rank - 2].size, all = each * p->dim[p->rank - 1].size, moved = p->tuned->tiles_moved;
    if (p->slice > 8)
        return 0;
    int width = DML_CTZ64((uint64_t)p->slice);
    if (rows_meet(p, rows, pitch) && each * rows_each[width].meeting >= rows)
        return 1;
    int64_t least = writes ? moved * 3 / 2 : p->slice < 4 ? moved / 2 : moved;
    int64_t most = each * (writes ? rows_each[width].written : rows_each[width].read);
    return all >= least && rows <= most && rows * p->slice <= MOST_OF_A_COLUMN;
}

/* A tile is copied as a whole, and back: the indices of a column have to be many. The most rows of the plane for each of them. Measured
 * on Emerald Rapids, gathers of one and four bytes by fewer indices without tiles: 1.0 to 2.2x the speed. */
static int64_t rows_for_each(const dml_plan *p, int64_t plane, int writes)
{
    if (p->slice >= 8)
        return p->tuned->tiles_wide;
    if (writes || p->tuned->tiles_moved)
        return 8;
    return plane <= NEAR_PLANE ? 4 : plane <= MANY_ROWS_PLANE && p->bounds[0] >= MANY_ROWS && p->slice == 4 ? 6 : 8;
}

/* Bytes of a plane up to which elements are gathered in row order. Where the second-level cache has 2 MiB, tiles gain less the shorter
 * rows are, as they are narrow where there are many. Measured on Emerald Rapids without tiles, 0.5 to 30 indices for each
 * row: planes of 1.1 to 2 MiB 1.0 to 1.9x, on average 1.3x, of up to 4.5 MiB 0.86 to 2.3x, on average 1.3x. */
static int64_t in_row_order(const dml_plan *p)
{
    int64_t rows = p->bounds[0], columns = p->dim[p->rank - 1].size;
    if (p->tuned->tiles_moved)
        return LARGE;
    if (p->slice > 1 && (rows >= 2000 || (p->slice >= 8 && columns <= 1000)))
        return LARGE / 2 * 9;
    return columns <= 2000 && p->slice >= 4 ? 2 * LARGE : columns <= 4000 ? LARGE / 4 * 5 : LARGE;
}

/* Whether tiles are wider where the second-level cache has 2 MiB: each of their rows is a box, which takes its time. Measured on Emerald
 * Rapids, gathered, four bytes 0.9 to 1.4x, on average 1.13x, eight 0.95 to 2.4x, 1.18x; scattered, eight bytes into planes that the
 * first-level cache holds no narrow tiles of 0.93 to 1.5x, 1.15x, others 0.8 to 1.1x. */
static int tiles_are_wide(const dml_plan *p, int64_t rows, int writes)
{
    return !p->tuned->tiles_moved && (!writes || (p->slice == 8 && rows * WIDEST > L1));
}

int dml_takes_tiles(dml_job *job, const char *source, int64_t bytes, int writes)
{
    const dml_plan *p = job->plan;
    const dml_dim *axis = p->dim + p->rank - 2, *columns = axis + 1;
    if (p->rank < 2 || p->tuple != 1 || !p->whole || p->mode != DML_RAISE || p->combine || p->unaligned || axis->table)
        return 0;
    if (axis->index == 0) /* few elements of the plane are meant, by all rows */
        return 0;
    if (p->boxes < 2) /* a box is checked as a whole before anything of it is moved, tiles are not */
        return 0;
    int64_t pitch = p->steps[0], rows = p->bounds[0], width = columns->size * p->slice;
    if (columns->table != p->slice || columns->stream != p->slice || columns->index != dml_index_bytes(p->index) || rows < 2 ||
        rows > SCRATCH / NARROWEST || width < 2 * NARROWEST || pitch < width)
        return 0;
    if (!writes && !p->untouched && !rows_meet(p, rows, pitch) && dml_columns_kept(p, p->threads))
        return 0; /* the second-level cache holds columns that are not copied as well */
    int64_t plane = rows * dml_least(pitch, width + DML_LINE); /* bytes of its lines: others may lie between its rows */
    int few = rows < (writes ? p->tuned->tiles_rows_written : p->tuned->tiles_rows), crowds = crowded(p, rows, pitch, writes);
    if (few ? !crowds || (!writes && p->slice >= 4) : !crowds && plane <= (writes ? p->tuned->tiles_written : in_row_order(p)))
        return 0;
    if (!crowds && p->tuned->tiles_moved && !worth_copying(p, rows, pitch, writes))
        return 0;
    int64_t most = rows_for_each(p, plane, writes);
    if (plane > LARGE && axis->size * dml_least(most, source ? 4 : 8) < rows)
        return 0;
    if (writes) /* planes of the indices that share one of the table must stay in order */
        for (int d = p->rank - 3; d >= 0; d--)
            if (p->dim[d].table == 0)
                return 0;
    if (source) { /* tiles have to cover the whole table */
        int64_t covered = rows * pitch;
        for (int d = p->rank - 3; d >= 0; d--)
            covered = p->dim[d].table == covered ? covered * p->dim[d].size : 0;
        if (covered != bytes || pitch != width)
            return 0;
    }
    int wide = tiles_are_wide(p, rows, writes);
    int64_t most_bytes = wide ? SCRATCH_WIDE : SCRATCH;
    job->tile = wide ? dml_most(WIDEST, IN_A_ROW * p->slice) : WIDEST;
    while (job->tile > NARROWEST && rows * job->tile > most_bytes)
        job->tile /= 2;
    job->pitch = job->tile + (rows * (job->tile + APART) > most_bytes ? 0 : APART);
    job->source = source;
    job->writes = writes;
    return 1;
}

int dml_share_tiles(dml_job *job, int threads, dml_pulse *pulse)
{
    const dml_plan *p = job->plan;
    int64_t tiles = dml_ceil(p->dim[p->rank - 1].size * p->slice, job->tile);
    for (int d = 0; d < p->rank - 2; d++)
        tiles *= p->dim[d].size;
    job->scratch = dml_scratch(threads * p->bounds[0] * job->pitch);
    if (!job->scratch)
        return DML_NO_MEMORY;
    int status = dml_parallel(some_tile, job, tiles, DML_FORWARD, threads, pulse);
    dml_scratch_free(job->scratch);
    return status;
}
