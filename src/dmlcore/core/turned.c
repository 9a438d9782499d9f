/* turned.c: moves whose indices or table lie the other way round, as in Fortran order and in transposed arrays: the
 * neighbours of a position along the last dimension are far away in memory, those along another one are next to it. Some
 * steps of that other dimension at a time are copied to scratch memory in the order of the positions and moved there. Where the vector
 * unit can, indices are checked meanwhile, those of eight bytes narrowed to four. */
#include "copy.h"
#include "dispatch.h"
#include "scratch.h"
#include "share.h"
#include "together.h"

#include <stddef.h>
#include <stdlib.h>

#define FEWEST 8                         /* positions along either dimension, */
#define FEWEST_OF_TWO 2                  /* where there is no other one */
#define LEAST (2 * DML_BLOCK)            /* positions */
#define LINES 128                        /* bytes across that are copied at least: a line and the one fetched with it */
#define FEW_COLUMNS_ALONE 100            /* that one thread copies, while several read them where they are */
#define CROWDED_PITCH 512                /* bytes; rows a multiple of it apart meet in the cache */
#define INDICES ((int64_t)128 << 10) /* bytes of indices in scratch memory: a part of the second-level cache, */
#define NARROWED ((int64_t)8 << 10) /* or of the first-level one, if LINES of up to so many columns fit; */
#define NARROWED_WITHOUT_MASKS ((int64_t)32 << 10) /* by smaller vectors: 1.05x on average (Zen 3) */
#define TABLE ((int64_t)512 << 10) /* and of the table */
#define LARGE ((int64_t)256 << 10) /* bytes of a plane of the table that is worth it */
#define MANY_COLUMNS 512 /* whose lines fill the first-level cache before they are needed again */
#define FEW_COLUMNS 16 /* of which that is true nowhere */
/* Columns that begin at few places of the cache have less room (dml_crowd): read in place, 32 and more of 4096 bytes take 1.4 to 3 times
 * as long (Zen 4), but not on Emerald Rapids, where no squares are turned (0.6 to 1.1). Elements of one and two bytes are copied faster. */
#define CROWDED ((int64_t)127 << 10)
#define CROWDED_FOR_NO_SQUARES ((int64_t)256 << 10)
#define CROWDED_SHORT ((int64_t)32 << 10)
#define OFTEN 128 /* that are read in place as quickly where each is named twice: two bytes */
#define CROWDED_NAMED ((int64_t)128 << 10) /* columns that are named */
#define TURNED ((int64_t)128) /* bytes of columns that are turned at a time */

/* A thread's plan for tiles. */
typedef struct {
    int64_t wide, length; /* 0: not made yet */
    dml_plan plan;
    dml_ramps ramps;
} tile;

/* A move in tiles of wide x length positions, across and along the last dimension. */
typedef struct {
    const dml_plan *plan;
    dml_loop loop;
    int indices, table; /* which of them is copied */
    dml_turner turner; /* NULL: indices are copied as they are */
    int index; /* what the copied ones are */
    int across; /* the dimension along which it lies the right way round */
    int64_t wide, length;
    int axis_across; /* tiles across follow each other, not those along: a scatter's have to */
    int64_t tiles, units; /* tiles that are shared out in each plane, and all of them */
    char *scratch;
    tile *plans;
} turning;

static int64_t fewest(const dml_plan *p) { return p->rank == 2 ? FEWEST_OF_TWO : FEWEST; }

/* The dimension in front of the last one with such a stride; -1: none. */
static int with_stride(const dml_plan *p, size_t member, int64_t stride)
{
    for (int d = 0; d < p->rank - 1; d++)
        if (*(const int64_t *)((const char *)(p->dim + d) + member) == stride && p->dim[d].size >= fewest(p))
            return d;
    return -1;
}

/* Whether lines of the table leave the caches before the next row of positions needs them again. Measured: up to MANY_COLUMNS
 * that are not crowded are read in place in 0.15 to 0.9 of the time. */
static int leaves(int64_t columns, int64_t apart, int64_t width)
{
    int64_t crowded = width < 4 ? CROWDED_SHORT : dml_tuned->turns_squares ? CROWDED : CROWDED_FOR_NO_SQUARES;
    return columns > MANY_COLUMNS || (columns > FEW_COLUMNS && dml_crowd(columns, apart) > crowded);
}

/* Rows of scratch memory. One more line keeps those of the table from meeting in the cache, and those of indices that would; others
 * follow each other: read so, and turned by permutations, indices of few rows or columns are 1.1 to 2.6 times as fast as where they
 * are (Zen 5; with gaps between the rows 0.65 to 1.3). */
static int64_t index_pitch(const turning *t)
{
    int64_t bytes = t->length * dml_index_bytes(t->index);
    return !t->indices ? 0 : bytes % CROWDED_PITCH ? bytes : bytes + DML_LINE;
}

static int64_t table_pitch(const turning *t) { return t->plan->bounds[0] * t->plan->slice + DML_LINE; }

/* Whole lines: the indices of each thread are aligned. */
static int64_t scratch_bytes(const turning *t)
{
    return dml_ceil(t->wide * (index_pitch(t) + (t->table ? table_pitch(t) : 0)), DML_LINE) * DML_LINE;
}

/* Whether indices are turned by vectors, narrowed and checked: where these do it well. With masks, unless their plane is so far that its
 * next columns are fetched; else those of eight bytes: 0.9 to 2.1x, on average 1.2x, of four 0.85 to 1.2x (Zen 3). */
static int narrows(const dml_plan *p, int across)
{
    const dml_dim *last = p->dim + p->rank - 1;
    int64_t bytes = dml_index_bytes(p->index), plane = dml_mul(last->size, llabs(last->index));
    int gains = dml_chosen_isa->turns_few ? plane < dml_tuned->far_plane : bytes == 8;
    return dml_chosen_isa->turn_indices && p->mode == DML_RAISE && p->bounds[0] <= INT32_MAX && gains &&
           dml_turns_well(p->dim[across].size, last->size, last->index, bytes);
}

static int turns(turning *t, const dml_plan *p)
{
    *t = (turning){.plan = p};
    const dml_dim *last = p->dim + p->rank - 1;
    int64_t index = dml_index_bytes(p->index), step = p->tuple == 1 ? llabs(p->steps[0]) : 0;
    if (p->rank < 2 || p->tuple != 1 || !p->whole || p->unaligned || last->size < fewest(p) || p->positions < LEAST)
        return 0;
    int apart = last->index != index && last->index != 0, table = -1;
    int indices = apart ? with_stride(p, offsetof(dml_dim, index), index) : -1;
    if (last->table == 0 && step >= DML_LINE && p->bounds[0] >= LARGE / step && last->size * 2 >= p->bounds[0] &&
        leaves(p->bounds[0], step, p->slice))
        table = with_stride(p, offsetof(dml_dim, table), p->slice);
    t->across = indices >= 0 ? indices : table;
    t->indices = indices >= 0;
    t->index = p->index;
    if (t->indices && narrows(p, t->across)) {
        t->turner = dml_chosen_isa->turn_indices;
        t->index = dml_index_narrowed(p->index);
        index = sizeof(u32);
    }
    int64_t least = DML_LINE / p->slice, more = LINES / index;
    t->table = table >= 0 && table == t->across && least * table_pitch(t) <= TABLE;
    t->wide = t->indices && (!t->table || more * table_pitch(t) <= TABLE) ? more : least;
    t->length = t->indices ? dml_least(last->size, INDICES / (t->wide * index)) : last->size;
    int64_t turned = t->turner ? (dml_chosen_isa->turns_few ? NARROWED : NARROWED_WITHOUT_MASKS) : INDICES;
    if (t->indices && !t->table)
        t->wide = dml_most(t->wide, turned / (t->length * index));
    if (t->across >= 0)
        t->wide = dml_least(t->wide, p->dim[t->across].size);
    return t->indices || t->table;
}

/* Whether the planes of a scatter store to the same places, and so have one thread, one after the other. */
static int follow_each_other(const turning *t)
{
    return t->plan->dim[t->across].table != 0 && t->plan->dim[t->plan->rank - 1].table != 0;
}

int dml_takes_turned(const dml_plan *p, int scatter)
{
    turning t;
    if (!turns(&t, p) || (scatter && !t.indices))
        return 0;
    int axes = 0;
    for (int d = 0; d < p->rank; d++)
        axes += p->dim[d].table == 0;
    if (scatter && p->threads > 1 && follow_each_other(&t) && p->dim[p->rank - 1].size <= FEW_COLUMNS_ALONE)
        return 0;
    return !scatter || axes == 1; /* else updates for one place could change their order */
}

int dml_across(const dml_plan *p)
{
    for (int d = p->rank - 2; d >= 0; d--)
        if (p->dim[d].index == 0 && p->dim[d].table == p->slice && p->dim[d].size >= FEWEST)
            return d;
    return -1;
}

/* Columns that are named as often as there are some are copied to scratch memory in their order. */
int dml_turns_columns(const dml_plan *p)
{
    const dml_dim *last = p->dim + p->rank - 1;
    int64_t all = 1, apart = p->steps[p->tuple - 1];
    if (p->rank < 2 || last->index == 0 || last->stream != p->slice || last->size < FEWEST || dml_across(p) < 0)
        return 0;
    for (int k = 0; k < p->tuple; k++) {
        all = dml_mul(all, p->bounds[k]);
        if (llabs(p->steps[k]) < DML_LINE)
            return 0;
    }
    int64_t named = dml_least(all, last->size);
    if (p->slice >= 4 && named <= MANY_COLUMNS && dml_crowd(named, apart) < CROWDED_NAMED)
        return 0;
    if (p->slice == 2 && all <= OFTEN && last->size >= 2 * all && dml_crowd(all, apart) < CROWDED_SHORT)
        return 0;
    int copied = p->slice >= 4 ? leaves(all, apart, p->slice) : dml_mul(all, TURNED) >= TABLE;
    return last->size < all || !copied || !dml_takes_turned(p, 0);
}

/* The plan for a tile. All but the last ones are as large as the one before. */
static const dml_plan *tile_plan(const turning *t, tile *own, int64_t wide, int64_t length, char *table, char *stream,
                                 const char *indices)
{
    const dml_plan *p = t->plan;
    dml_plan *part = &own->plan;
    int same = own->wide == wide && own->length == length;
    if (!same) {
        own->wide = wide;
        own->length = length;
        *part = *p;
        part->rank = 2;
        part->positions = wide * length;
        part->dim[0] = p->dim[t->across];
        part->dim[1] = p->dim[p->rank - 1];
        part->dim[0].size = wide;
        part->dim[1].size = length;
        if (t->indices) {
            part->dim[0].index = index_pitch(t);
            part->dim[1].index = dml_index_bytes(t->index);
            part->index = t->index;
        }
        if (t->table) {
            part->dim[0].table = table_pitch(t);
            part->steps = &p->slice;
            part->direct = part->far = part->fetch = 0;
            part->gathers = p->tuned->gathers_below > 0;
        }
    }
    part->past = 0;
    part->table = table;
    part->stream = stream;
    part->indices = indices;
    if (!same)
        dml_plan_cut(part, &own->ramps);
    return part;
}

void dml_turn_or_permute(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns,
                         int64_t width)
{
    int64_t column[DML_PERMUTED];
    if (from_pitch == rows * width && rows <= DML_PERMUTED && dml_permutes(rows, width))
        dml_separate(to, to_pitch, from, columns, rows, width);
    else if (to_pitch == columns * width && columns <= DML_PERMUTED && (columns == 3 || dml_permutes(columns, width))) {
        for (int64_t k = 0; k < columns; k++)
            column[k] = k * from_pitch;
        dml_interleave(to, to_pitch, from, column, rows, columns, width);
    } else
        dml_turn(to, to_pitch, from, from_pitch, rows, columns, width);
}

/* All tiles that follow each other, and the part of the table that they share. */
static int some_tiles(void *data, dml_worker *worker, int64_t plane)
{
    const turning *t = data;
    const dml_plan *p = t->plan;
    const dml_dim *across = p->dim + t->across, *along = p->dim + p->rank - 1;
    int64_t first = plane % t->tiles;
    char *scratch = t->scratch + worker->number * scratch_bytes(t), *rows = scratch + t->wide * index_pitch(t);
    char *table = p->table, *stream = p->stream;
    const char *indices = p->indices;
    plane /= t->tiles;
    for (int d = p->rank - 2; d >= 0; d--)
        if (d != t->across) {
            int64_t c = plane % p->dim[d].size;
            plane /= p->dim[d].size;
            table += c * p->dim[d].table;
            stream += c * p->dim[d].stream;
            indices += c * p->dim[d].index;
        }
    if (t->table) {
        int64_t from = first * t->wide, wide = dml_least(t->wide, across->size - from);
        dml_turn(rows, table_pitch(t), table + from * across->table, p->steps[0], wide, p->bounds[0], p->slice);
    }
    int64_t others = t->axis_across ? dml_ceil(across->size, t->wide) : dml_ceil(along->size, t->length);
    int status = DML_OK;
    for (int64_t other = 0; other < others && !status; other++) {
        int64_t x = (t->axis_across ? other : first) * t->wide, y = (t->axis_across ? first : other) * t->length;
        int64_t wide = dml_least(t->wide, across->size - x), length = dml_least(t->length, along->size - y);
        const char *here = indices + x * across->index + y * along->index;
        if (t->indices && t->turner) {
            if (t->turner(scratch, index_pitch(t), here, along->index, wide, length, dml_index_bytes(p->index),
                          dml_index_signed(p->index), p->bounds[0]))
                return DML_OUT_OF_RANGE;
        } else if (t->indices)
            dml_turn_or_permute(scratch, index_pitch(t), here, along->index, wide, length, dml_index_bytes(p->index));
        const dml_plan *part = tile_plan(t, t->plans + worker->number, wide, length,
                                         t->table ? rows : table + x * across->table + y * along->table,
                                         stream + x * across->stream + y * along->stream, t->indices ? scratch : here);
        status = t->loop(part, worker, 0, part->boxes);
    }
    return status;
}

/* Smaller tiles where there are fewer of them than threads. */
static void cut_for_all(turning *t, int threads)
{
    const dml_plan *p = t->plan;
    int64_t size = p->dim[t->axis_across ? p->rank - 1 : t->across].size, *side = t->axis_across ? &t->length : &t->wide;
    int64_t planes = p->positions / (p->dim[t->across].size * p->dim[p->rank - 1].size),
            each = dml_ceil(size * planes, threads);
    *side = dml_most(dml_least(*side, each), dml_least(*side, LINES / dml_index_bytes(p->index)));
}

int dml_share_turned(const dml_job *job, int scatter, int threads, dml_pulse *pulse)
{
    const dml_plan *p = job->plan;
    turning t;
    turns(&t, p);
    if (scatter)
        t.table = 0;
    const dml_dim *across = p->dim + t.across, *along = p->dim + p->rank - 1;
    t.loop = t.indices && t.turner ? job->for_narrow : job->loop;
    int few = across->size * dml_index_bytes(p->index) <= LINES;
    t.axis_across = scatter ? across->table == 0 : few && !t.table;
    if (scatter && follow_each_other(&t))
        threads = 1;
    else
        cut_for_all(&t, threads);
    t.tiles = t.axis_across ? dml_ceil(along->size, t.length) : dml_ceil(across->size, t.wide);
    t.units = t.tiles;
    for (int d = 0; d < p->rank - 1; d++)
        t.units *= d == t.across ? 1 : p->dim[d].size;
    t.scratch = dml_scratch(threads * scratch_bytes(&t));
    t.plans = malloc((size_t)threads * sizeof *t.plans);
    int status = DML_NO_MEMORY;
    if (t.scratch && t.plans) {
        for (int n = 0; n < threads; n++)
            t.plans[n].wide = 0;
        dml_order order = dml_order_for(p->positions * p->slice, job->untouched && !scatter);
        status = dml_parallel(some_tiles, &t, t.units, order, threads, pulse);
    }
    free(t.plans);
    dml_scratch_free(t.scratch);
    return status;
}
