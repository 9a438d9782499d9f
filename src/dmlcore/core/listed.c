/* listed.c: gathers whose output lies the other way round than the table, its rows being of positions: transposed copies, of which
 * the indices name the columns. Dimensions that follow each other in the output make one side of a plane, those that do so in the table
 * the other one; where rows and columns of a tile begin is listed, then planes.c turns it. */
#include "copy.h"
#include "move.h"
#include "striding.h"

#include <stddef.h>

#define LEAST 1024 /* positions, */
#define LEAST_LONG 65536 /* or so many of eight bytes, in rows */
#define SHORT_ROW 32 /* of at most so many, where these are whole rows of the output */
#define LARGE ((int64_t)8 << 20) /* bytes; elements of four, so many out of all columns of a plane, are read in order instead */
#define FEWEST 8 /* places of either side; */
#define FEW 16 /* of the output at least so many, if there are two dimensions on the other side, */
#define NARROW 8 /* the first one no longer than that */
#define CHAINED 256 /* bytes of a side, which gets no more dimensions then, */
#define DEALT 64 /* nor one of the table of elements of one and two bytes, which are dealt out as many at a time; */
#define SHORT 16 /* of such elements so many bytes at least are a side */
#define UNNAMED 64 /* bytes that follow each other in the output and are one slice's; longer slices are moved by themselves */
#define TILE_HIGH 256 /* places that are moved at a time, along the table, */
#define TILE_WIDE 256 /* and along the output */
#define NEAR ((int64_t)384 << 10) /* bytes of columns that the second-level cache holds beside the output */
#define PARTS_EACH 4 /* for each thread, at least */

/* Dimensions that follow each other, the first one that with contiguous elements. */
typedef struct {
    dml_dim dim[DML_DIMS];
    int rank;
    int64_t places;
} chain;

typedef struct {
    const dml_plan *plan;
    chain across, along; /* in the table, in the output */
    int rank; /* dimensions outside of these */
    dml_dim dim[DML_DIMS];
    int64_t high, wide; /* of a tile */
    int64_t group; /* tiles across that have the same columns and one thread */
    int64_t groups, tiles_along;
    int far;
} listing;

/* Adds the next one of the dimensions that are left. 0: none comes next. */
static int lengthen(listing *s, chain *c)
{
    int along = c == &s->along;
    int64_t bytes = c->places * s->plan->slice;
    for (int d = 0; d < s->rank; d++)
        if (along ? s->dim[d].stream == bytes : s->dim[d].index == 0 && s->dim[d].table == bytes) {
            if (!along && s->plan->slice < 4 && bytes >= DEALT)
                return 0;
            c->places *= s->dim[d].size;
            c->dim[c->rank++] = s->dim[d];
            for (s->rank--; d < s->rank; d++)
                s->dim[d] = s->dim[d + 1];
            return 1;
        }
    return 0;
}

/* Places of the first dimension whose indices differ; 0: there is none. */
static int64_t named(const chain *c)
{
    for (int d = 0; d < c->rank; d++)
        if (c->dim[d].index)
            return c->dim[d].size;
    return 0;
}

/* Finds both sides; the shorter one gets the next dimension. 0: there is no such plane, or its columns are not named. */
static int find(listing *s, const dml_plan *p)
{
    s->plan = p;
    s->rank = p->rank;
    memcpy(s->dim, p->dim, sizeof s->dim);
    s->across.rank = s->along.rank = 0;
    s->across.places = s->along.places = 1;
    int more = lengthen(s, &s->along) && lengthen(s, &s->across);
    while (more && (named(&s->along) || s->along.places * p->slice <= UNNAMED)) {
        chain *first = s->along.places < s->across.places ? &s->along : &s->across;
        chain *second = first == &s->along ? &s->across : &s->along;
        more = (first->places * p->slice < CHAINED && lengthen(s, first)) ||
               (second->places * p->slice < CHAINED && lengthen(s, second));
    }
    return named(&s->along) > 0;
}

int dml_takes_listed(const dml_plan *p)
{
    listing s;
    int across = 0;
    if (!p->whole || p->slice > 8 || p->combine || p->mode != DML_RAISE || p->positions < LEAST)
        return 0;
    for (int d = 0; d < p->rank; d++)
        across |= p->dim[d].index == 0 && p->dim[d].table == p->slice;
    if (!across || !find(&s, p) || s.across.places < FEWEST || s.along.places < FEWEST)
        return 0;
    const dml_dim *first = s.along.dim, *row = s.across.dim;
    if (s.across.rank == 2 && row->size <= NARROW && s.along.places < FEW)
        return 0;
    if (p->slice < 4)
        return s.across.places * p->slice >= SHORT;
    if (p->slice == 8)
        return p->tuned->turns_squares && (!first->index || (p->positions >= LEAST_LONG && first->size <= SHORT_ROW));
    int often = s.across.rank == 1 && p->tuple == 1 && named(&s.along) >= p->bounds[0];
    return !often || p->positions * p->slice < LARGE;
}

/* dml_list_places of a chain, by the steps that its dimensions have at `of`. */
static void list(int64_t *at, const chain *c, size_t of, int64_t begin, int64_t count)
{
    int64_t size[DML_DIMS], step[DML_DIMS];
    for (int d = 0; d < c->rank; d++) {
        size[d] = c->dim[d].size;
        memcpy(step + d, (const char *)(c->dim + d) + of, sizeof *step);
    }
    dml_list_places(at, c->rank, size, step, begin, count);
}

/* Where columns begin in the table: those that tuples name. 0: a coordinate is out of range. What is checked is what is used, also if
 * another thread changes the index meanwhile. */
static int list_columns(const listing *s, const char *indices, int64_t begin, int64_t *column, int64_t count)
{
    const dml_plan *p = s->plan;
    const dml_dim *first = s->along.dim;
    int64_t index[TILE_WIDE];
    int is_signed = dml_index_signed(p->index);
    if (s->along.rank == 1) {
        int good = dml_offsets_of(p, indices + begin * first->index, first->index, count, column);
        for (int64_t i = 0; first->table && i < count; i++)
            column[i] += (begin + i) * first->table;
        return good;
    }
    list(column, &s->along, offsetof(dml_dim, table), begin, count);
    list(index, &s->along, offsetof(dml_dim, index), begin, count);
    for (int k = 0; k < p->tuple; k++, indices += p->coordinate_stride)
        for (int64_t i = 0; i < count; i++) {
            int64_t value = dml_coordinate_at(indices + index[i], p->index);
            DML_ONCE(value);
            value += is_signed && value < 0 ? p->bounds[k] : 0;
            if ((uint64_t)value >= (uint64_t)p->bounds[k])
                return 0;
            column[i] += value * p->steps[k];
        }
    return 1;
}

/* Tiles across that have the same columns. */
static int some_tiles(void *data, dml_worker *worker, int64_t unit)
{
    const listing *s = data;
    const dml_plan *p = s->plan;
    int64_t row[TILE_HIGH], column[TILE_WIDE];
    int64_t c = unit % s->tiles_along * s->wide, r = unit / s->tiles_along % s->groups * s->group * s->high;
    char *table = p->table, *stream = p->stream;
    const char *indices = p->indices;
    unit /= s->tiles_along * s->groups;
    for (int d = s->rank - 1; d >= 0; d--) {
        int64_t place = unit % s->dim[d].size;
        unit /= s->dim[d].size;
        table += place * s->dim[d].table;
        stream += place * s->dim[d].stream;
        indices += place * s->dim[d].index;
    }
    int64_t columns = dml_least(s->wide, s->along.places - c), end = dml_least(r + s->group * s->high, s->across.places);
    int64_t pitch = s->across.rank == 1 ? s->across.dim[0].stream : 0; /* 0: rows are listed */
    if (!list_columns(s, indices, c, column, columns))
        return DML_OUT_OF_RANGE;
    int stop = DML_OK;
    for (int64_t rows; r < end && !stop; r += rows) {
        rows = dml_least(s->high, end - r);
        if (!pitch)
            list(row, &s->across, offsetof(dml_dim, stream), r, rows);
        dml_turn_listed(stream + c * p->slice + r * pitch, pitch ? NULL : row, pitch, table + r * p->slice, column, rows,
                        columns, p->slice, s->far);
        stop = dml_tick(worker, 4 * rows * columns * p->slice);
    }
    return stop;
}

/* Bytes of the columns that may be named. */
static int64_t reach(const listing *s)
{
    int64_t all = 1;
    for (int k = 0; k < s->plan->tuple; k++)
        all = dml_mul(all, s->plan->bounds[k]);
    return dml_mul(s->across.places * s->plan->slice, dml_least(all, s->along.places));
}

/* Parts of so many places, no more than `most` and whole lines. */
static int64_t part(int64_t places, int64_t most, int64_t line)
{
    return dml_least(most, dml_ceil(dml_ceil(places, dml_ceil(places, most)), line) * line);
}

int dml_share_listed(const dml_plan *p, int untouched, int threads, dml_pulse *pulse)
{
    listing s;
    find(&s, p);
    int64_t line = DML_LINE / p->slice, planes = 1;
    for (int d = 0; d < s.rank; d++)
        planes *= s.dim[d].size;
    s.far = reach(&s) > NEAR;
    s.wide = part(s.along.places, TILE_WIDE, line);
    s.high = part(s.across.places, TILE_HIGH, line);
    s.tiles_along = dml_ceil(s.along.places, s.wide);
    int64_t parts = planes * s.tiles_along, wanted = threads > 1 ? dml_ceil(PARTS_EACH * threads, parts) : 1;
    while (s.high > 2 * line && dml_ceil(s.across.places, s.high) < wanted)
        s.high = dml_ceil(s.high / 2, line) * line;
    int64_t tiles_across = dml_ceil(s.across.places, s.high);
    s.group = dml_ceil(tiles_across, dml_least(tiles_across, wanted));
    s.groups = dml_ceil(tiles_across, s.group);
    dml_order order = dml_order_for(p->positions * p->slice, untouched);
    return dml_parallel(some_tiles, &s, parts * s.groups, order, threads, pulse);
}
