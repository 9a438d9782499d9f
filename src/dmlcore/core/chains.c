/* chains.c: planes whose sides are short, but followed by other dimensions: those that follow each other in the source become one
 * side, those that follow each other in the destination the other one. Where rows and columns begin is listed for each tile. */
#include "dispatch.h"
#include "kernel.h"
#include "shape.h"

#define FEWEST 8 /* places of either side, */
#define CHAINED 256 /* which gets no more dimensions when it has so many bytes */
#define TILE_HIGH 128 /* places that are copied at a time, along the source, */
#define FAR_HIGH 64 /* if no cache holds them, */
#define TILE_WIDE 2048 /* and bytes along the destination */
#define LINES 128 /* bytes along the source, where several threads share few tiles */

/* Dimensions that follow each other, here or there. */
typedef struct {
    dml_step dim[DML_RANK_MAX + 1]; /* the first one is that with contiguous elements */
    int rank;
    int64_t places;
} chain;

/* Adds the next of the first `rank` dimensions, which has one less then. 0: none comes next. */
static int lengthen(chain *c, dml_step *dim, int *rank, int there, int64_t run)
{
    for (int d = 0; d < *rank; d++)
        if ((there ? dim[d].to : dim[d].from) == c->places * run) {
            c->places *= dim[d].size;
            c->dim[c->rank++] = dim[d];
            for (--*rank; d < *rank; d++)
                dim[d] = dim[d + 1];
            return 1;
        }
    return 0;
}

/* Puts the dimensions of a chain behind all others. */
static void put_chain(dml_shape *s, const chain *c)
{
    for (int k = c->rank; k-- > 0;)
        s->dim[s->rank++] = c->dim[k];
}

/* Finds a plane of several dimensions on either side; the shorter one gets the next dimension. */
int dml_chains_find(dml_shape *s)
{
    chain across = {.places = 1}, along = {.places = 1};
    dml_step dim[DML_RANK_MAX + 1];
    int rank = s->rank, more = 1;
    memcpy(dim, s->dim, sizeof dim);
    if (s->run > 8 || !lengthen(&along, dim, &rank, 1, s->run) || !lengthen(&across, dim, &rank, 0, s->run))
        return 0;
    while (more) {
        int shorter = along.places < across.places; /* the one along */
        chain *first = shorter ? &along : &across, *second = shorter ? &across : &along;
        more = (first->places * s->run < CHAINED && lengthen(first, dim, &rank, shorter, s->run)) ||
               (second->places * s->run < CHAINED && lengthen(second, dim, &rank, !shorter, s->run));
    }
    if (across.rank + along.rank == 2 || across.places < FEWEST || along.places < FEWEST)
        return 0;
    memcpy(s->dim, dim, sizeof dim);
    s->rank = s->chained = rank;
    put_chain(s, &across);
    s->chained_along = s->rank;
    put_chain(s, &along);
    s->high = across.places;
    s->wide = along.places;
    return 1;
}

static int is_far(const dml_shape *s) { return s->places * s->run >= dml_tuned->far_plane; }

/* Tiles, so many that every thread has some. */
void dml_chains_cut(dml_shape *s, int threads)
{
    int64_t high = is_far(s) ? FAR_HIGH : TILE_HIGH, wide = dml_least(DML_COLUMNS, TILE_WIDE / s->run),
            planes = s->places / s->high / s->wide;
    int64_t along = dml_ceil(s->wide, wide);
    while (threads > 1 && high * s->run > LINES && planes * along * dml_ceil(s->high, high) < 4 * threads)
        high /= 2;
    s->length = dml_ceil(s->high, dml_ceil(s->high, high));
    s->in_line = dml_ceil(s->wide, along);
    int64_t groups = planes * dml_ceil(s->high, s->length);
    s->units = groups * along;
    s->group = groups >= 4 * threads ? along : 1;
    s->unit_bytes = 4 * s->length * s->in_line * s->run;
}

void dml_list_places(int64_t *at, int rank, const int64_t *size, const int64_t *step, int64_t begin, int64_t count)
{
    int64_t place[DML_DIMS], offset = 0;
    for (int d = 0; d < rank; d++) {
        place[d] = begin % size[d];
        begin /= size[d];
        offset += place[d] * step[d];
    }
    for (int64_t k = 0, run; k < count; k += run) {
        run = dml_least(count - k, size[0] - place[0]);
        for (int64_t i = 0; i < run; i++)
            at[k + i] = offset + i * step[0];
        offset -= place[0] * step[0];
        place[0] = 0;
        for (int d = 1; d < rank; d++) {
            offset += step[d];
            if (++place[d] < size[d])
                break;
            offset -= place[d] * step[d];
            place[d] = 0;
        }
    }
}

/* The same of a chain, in the array where its dimensions do not follow each other. */
static void list(int64_t *at, const dml_step *dim, int first, int end, int to, int64_t begin, int64_t count)
{
    int64_t size[DML_RANK_MAX + 1], step[DML_RANK_MAX + 1];
    for (int d = end - 1; d >= first; d--) {
        size[end - 1 - d] = dim[d].size;
        step[end - 1 - d] = to ? dim[d].to : dim[d].from;
    }
    dml_list_places(at, end - first, size, step, begin, count);
}

void dml_chains_copy(const dml_shape *s, char *to, const char *from, int64_t unit)
{
    int64_t row[TILE_HIGH], column[DML_COLUMNS];
    int64_t tiles = dml_ceil(s->high, s->length), tiles_along = dml_ceil(s->wide, s->in_line);
    int64_t c = unit % tiles_along * s->in_line, r = unit / tiles_along % tiles * s->length;
    unit /= tiles * tiles_along;
    for (int d = s->chained - 1; d >= 0; d--) {
        int64_t k = unit % s->dim[d].size;
        unit /= s->dim[d].size;
        to += k * s->dim[d].to;
        from += k * s->dim[d].from;
    }
    int64_t rows = dml_least(s->length, s->high - r), columns = dml_least(s->in_line, s->wide - c);
    list(row, s->dim, s->chained, s->chained_along, 1, r, rows);
    list(column, s->dim, s->chained_along, s->rank, 0, c, columns);
    dml_turn_listed(to + c * s->run, row, 0, from + r * s->run, column, rows, columns, s->run, is_far(s));
}
