/* strided.c: slices whose elements do not follow each other in memory, as those of transposed arrays and of every second
 * column. The offset of a slice is computed once, where the loops would compute one for each of its elements, and the slice
 * is copied like a tensor (shape.c). Decides how slices are cut and shared out; striding.c moves them. */
#include "striding.h"

#include <stdlib.h>

#define FEWEST 2                         /* elements of a slice that is worth it, */
#define FEWEST_SCATTERED 3               /* scattered (two: Zen 4 0.8 to 1.9 times the speed, Emerald Rapids 0.7 to 1.5), */
#define LITTLE 32                        /* and of all slices together */
#define PART 128                         /* bytes of a slice that are moved at a time where whole ones leave the cache */
#define CACHED_TABLE ((int64_t)1 << 20)          /* bytes of the table that stay in the cache while all positions are done */
#define CACHED_SHORT ((int64_t)64 << 10) /* the same of slices whose rows are short, */
#define CROWDED ((int64_t)256 << 10)     /* unless they meet in the cache */
#define CROWDED_ROWS ((int64_t)32 << 10) /* rows of the stream that meet in the first-level cache, */
#define STRIP 8                          /* which are stored by so many */
#define SPREAD_PART ((int64_t)256 << 10) /* bytes of lines of spread planes that lie side by side */
#define SPREAD_ALONG 1024                /* bytes from one of their columns to the next: nearer ones are moved as rows */
#define PARTS_EACH 4                     /* for each thread, at least */
#define SHORT_READ 1024                  /* bytes that a part spans in what is read: fewer, no more parts than threads */
#define LEAST_SCATTERED 256              /* bytes of a slice that each thread's part spans */
#define SHARED_STREAM 2048               /* bytes of the stream that a thread stores in a row */
#define SEVERAL 4                        /* positions that are worth it */
#define SEVERAL_BOXES 8                  /* with the same indices, of short slices, that are left to the loops */
#define CHUNK ((int64_t)256 << 10)       /* bytes that a thread claims at a time */
#define CACHED_PART ((int64_t)28 << 10)  /* bytes of the lines of a part that stay in the first-level cache, */
#define FEWEST_CACHED 16                 /* and elements of each of its slices that are worth it, */
#define LONG_SLICE 256                   /* of so many at least where the table is near */
#define SHORT_ROW 16                     /* elements of a row that is moved as a whole */
#define FEW_COLUMNS 12                   /* elements: moved along another dimension of the slice, half as many for */
#define MANY 32                          /* positions */

int dml_slice_dimensions(const dml_plan *p)
{
    int n = 0;
    while (n < p->rank && p->dim[p->rank - 1 - n].index == 0)
        n++;
    return n;
}

/* Scatters have the dimensions in front of the slice's in their order, as updates for one place follow each other. Gathers have
 * all along which the index stays the same behind the positions, so that each of these is checked once. */
static void lay_out(dml_striding *s, const dml_plan *p, int scatter)
{
    int trailing = p->rank - dml_slice_dimensions(p), across = dml_across(p);
    s->plan = p;
    s->scatter = scatter;
    s->turns = !scatter && dml_turns_columns(p);
    s->positions = s->outside = s->moved = s->rank = s->keeps_spread = 0;
    s->rows = 1;
    for (int what = 0; what < 3; what++)
        for (int d = 0; d < p->rank; d++) {
            const dml_dim *dim = p->dim + d;
            int in_slice = d >= trailing || (!scatter && d == across);
            if (!scatter && !s->turns && across >= 0 && dim->index == 0)
                in_slice |= llabs(dim->stream) <= llabs(p->dim[across].stream);
            int is = in_slice ? 2 : scatter || dim->index ? 0 : 1;
            if (is != what)
                continue;
            s->dim[s->rank++] = *dim;
            s->positions += is == 0;
            s->outside += is == 1;
        }
}

/* Whether one box, roughly, has all indices, and at least eight boxes share them: the loops compute its offsets once.
 * Measured for slices of up to 12 elements: 0.6 to 1.0 times the speed for two boxes, 0.9 to 2.4 for twenty, 1.2 to 6 for a
 * thousand. */
static int boxes_repeat(const dml_plan *p)
{
    int64_t boxes = 1, box = 1;
    for (int d = 0; d < p->rank; d++)
        if (box == 1 && p->dim[d].index == 0)
            boxes *= p->dim[d].size;
        else
            box = dml_mul(box, p->dim[d].size);
    return boxes >= SEVERAL_BOXES && box <= DML_BLOCK;
}

int dml_takes_strided(const dml_plan *p, int scatter)
{
    int64_t elements = 1;
    int n = dml_slice_dimensions(p);
    for (int d = p->rank - n; d < p->rank; d++) {
        elements *= p->dim[d].size;
        if (scatter && p->dim[d].table == 0)
            return 0; /* updates for one place: their order counts */
    }
    int slices = n && elements >= (scatter ? FEWEST_SCATTERED : FEWEST) && !(elements <= DML_SHORT_SLICE && boxes_repeat(p));
    return p->positions >= LITTLE && p->whole && !p->combine && p->mode == DML_RAISE && p->rank <= DML_RANK_MAX &&
           (slices || (!scatter && dml_turns_columns(p)));
}

int dml_strides_at_once(const dml_plan *p)
{
    int64_t positions = 1;
    int changing = 0;
    for (int d = 0; d < p->rank; d++)
        if (p->dim[d].index) {
            changing++;
            positions *= p->dim[d].size;
        }
    return changing <= 1 && positions <= DML_SOME_AT_ONCE && p->positions * p->slice <= CHUNK;
}

static int64_t size_in_part(const dml_striding *s, int d, int64_t length) { return d == s->cut ? length : s->dim[d].size; }

/* A part of a slice, between stream and table. */
static void shape_of(const dml_striding *s, dml_shape *shape, int64_t length)
{
    dml_shape_begin(shape);
    shape->keeps_spread = s->keeps_spread;
    for (int d = s->positions + s->outside; d < s->rank; d++)
        if (s->scatter)
            dml_shape_add(shape, size_in_part(s, d, length), s->dim[d].table, s->dim[d].stream);
        else
            dml_shape_add(shape, size_in_part(s, d, length), s->dim[d].stream, s->dim[d].table);
    dml_shape_end(shape, s->plan->slice, DML_STORE_PLAIN, 1);
}

/* Slices of the table that positions may name. */
static int64_t named_slices(const dml_striding *s)
{
    int64_t slices = 1;
    for (int d = 0; d < s->positions; d++)
        slices *= s->dim[d].table ? s->dim[d].size : 1;
    for (int k = 0; k < s->plan->tuple; k++) {
        int64_t bound = s->plan->bounds[k];
        slices = bound && slices > s->count / bound ? s->count + 1 : slices * bound;
    }
    return slices;
}

static int64_t elements_in_slice(const dml_striding *s)
{
    int64_t elements = 1;
    for (int d = s->positions + s->outside; d < s->rank; d++)
        elements *= s->dim[d].size;
    return elements;
}

/* The slice becomes its dimension that is cut; all others are walked outside of the positions, shared out or not. */
static void move_outside(dml_striding *s, int shared_out)
{
    int first = s->positions + s->outside, last = s->rank - 1;
    dml_dim slice = s->dim[s->cut];
    for (int d = s->cut; d < last; d++)
        s->dim[d] = s->dim[d + 1];
    s->cut = last;
    s->dim[last] = slice;
    s->outside = last - s->positions;
    if (shared_out)
        return;
    s->moved = last - first;
    for (int d = first; d < last; d++)
        s->rows *= s->dim[d].size;
}

/* The dimension of a slice that is cut: that whose elements are closest to each other in the stream, or, where these are few, a
 * longer one of which several are in a line there, but none follow each other in the table. */
static int cut_dimension(const dml_striding *s)
{
    int first = s->positions + s->outside, closest = first, cut;
    for (int d = first; d < s->rank; d++)
        if (s->dim[d].size > 1 && llabs(s->dim[d].stream) <= llabs(s->dim[closest].stream))
            closest = d;
    cut = closest;
    int few = s->dim[closest].size < (s->count < MANY ? FEW_COLUMNS : FEW_COLUMNS / 2);
    for (int d = first; d < s->rank && few; d++)
        if (llabs(s->dim[d].stream) < 2 * DML_LINE && llabs(s->dim[d].table) > s->plan->slice &&
            s->dim[d].size > s->dim[cut].size)
            cut = d;
    return cut;
}

/* Bytes from one of its elements to the next, in what is read and in what is stored to. */
static int64_t read_step(const dml_striding *s, const dml_dim *dim) { return llabs(s->scatter ? dim->stream : dim->table); }
static int64_t stored_step(const dml_striding *s, const dml_dim *dim) { return llabs(s->scatter ? dim->table : dim->stream); }

/* Elements of a dimension that a thread should have in a row, so that few lines are read, or stored to, by several. Scattered slices of
 * several dimensions, which are read slowly, gain by threads although they do share lines: 310 bytes each 2.6x. */
static int64_t least_part(const dml_striding *s, const dml_dim *dim)
{
    int several = s->rank - s->positions - s->outside > 1;
    int64_t stored = s->scatter ? (several ? 0 : LEAST_SCATTERED) : 2 * DML_LINE;
    return dml_most(dml_ceil(2 * DML_LINE, dml_most(1, read_step(s, dim))), dml_ceil(stored, dml_most(1, stored_step(s, dim))));
}

/* The dimension of a slice that threads share out: of those that give each of them a part, the one whose steps in what is stored to are
 * the longest. -1: there is none but the one whose elements follow each other, or each thread's positions have enough of the stream in a
 * row: then few lines are stored to by several. */
static int dimension_around(const dml_striding *s, int threads)
{
    int around = -1, few = s->scatter || s->count < PARTS_EACH * threads;
    int64_t step = s->positions ? llabs(s->dim[0].stream) : 0, longest = dml_most(few ? 0 : step, s->plan->slice);
    if (!few && s->count / (PARTS_EACH * threads) * step >= SHARED_STREAM)
        return -1;
    for (int d = s->positions + s->outside; d < s->rank; d++) {
        int64_t stored = stored_step(s, s->dim + d), size = s->dim[d].size;
        int wide = !s->scatter || size * stored >= LEAST_SCATTERED;
        if (wide && size >= threads * least_part(s, s->dim + d) && stored > longest) {
            longest = stored;
            around = d;
        }
    }
    return around;
}

/* Bytes of lines that one element of each slice is in, where slices lie side by side; 0: no line has parts of several. */
static int64_t lines_across(const dml_striding *s, int64_t slices)
{
    const dml_plan *p = s->plan;
    int64_t step = INT64_MAX, across = DML_LINE;
    for (int k = 0; k < p->tuple; k++) {
        int64_t each = llabs(p->steps[k]);
        step = dml_least(step, each);
        across += dml_mul(each, p->bounds[k]);
        across = dml_least(across, INT64_MAX / 2);
    }
    return step < DML_LINE ? dml_least(across, dml_mul(slices, DML_LINE)) : 0;
}

/* Slices side by side are moved row by row, one row of all positions after the other, as their lines have parts of several: in parts
 * whose lines stay in the first-level cache until all positions are done, where that holds enough of each row; at once if it holds all
 * rows. Measured, tables of three and four dimensions the other way round, Zen 4: 0.6 to 10x of slice by slice, on
 * average 1.1 to 1.2x. */
static void cut_rows(dml_striding *s, int64_t across)
{
    const dml_dim *cut = s->dim + s->cut;
    int64_t rows = elements_in_slice(s) / cut->size;
    int64_t stored = rows > 1 ? dml_mul(s->count, dml_least(DML_LINE, llabs(cut->stream))) : 0; /* again for each row */
    int64_t room = CACHED_PART / (dml_least(CACHED_PART, across) + dml_least(CACHED_PART, stored));
    int far = rows * cut->size > CACHED_TABLE / across;
    int fits = far ? rows == 1 || room >= FEWEST_CACHED / 2 : cut->size >= LONG_SLICE && room >= FEWEST_CACHED;
    int again = s->count >= across / DML_LINE; /* lines are read more than once */
    if (fits && again) {
        if (rows * cut->size <= room)
            return;
        s->length = dml_least(s->length, far ? dml_most(PART / s->plan->slice, room) : room);
    }
    move_outside(s, 0);
}

/* Bytes of the lines, or pages, of one column of a gathered slice that is a spread plane (shape.h); 0: it is none. */
static int64_t spread_column(dml_striding *s)
{
    if (s->scatter || dml_across(s->plan) >= 0 || llabs(s->dim[s->cut].table) < SPREAD_ALONG)
        return 0;
    shape_of(s, &s->whole, s->dim[s->cut].size);
    if (!s->whole.spread)
        return 0;
    const dml_step *across = s->whole.dim + s->whole.across;
    return across->size * llabs(across->from);
}

/* Lines that a slice has parts of are needed again by other positions, so slices are moved in parts if these lines would
 * otherwise have left the cache by then; row by row, if neighbours of a slice are in its lines. */
static void cut_slices(dml_striding *s, int threads)
{
    const dml_plan *p = s->plan;
    s->cut = cut_dimension(s);
    dml_dim cut = s->dim[s->cut];
    int64_t slices = named_slices(s), across = lines_across(s, slices);
    int64_t line = dml_most(1, DML_LINE / p->slice); /* elements that only one thread should store */
    int shared = s->count > 1 && llabs(cut.table) >= DML_LINE, alone = dml_across(p) < 0;
    int beside = alone && shared && !s->scatter && !s->turns && s->count >= SEVERAL && across;
    int64_t column = shared ? spread_column(s) : 0;
    int64_t crowd = alone && !column ? dml_crowd(cut.size, cut.table) : 0, bytes = elements_in_slice(s) * slices * p->slice;
    s->length = cut.size;
    if (beside && column)
        s->length = dml_least(s->length, dml_most(1, SPREAD_PART / column / DML_TOGETHER) * DML_TOGETHER);
    else if (beside && cut.size >= SHORT_ROW)
        cut_rows(s, across);
    else if (beside && bytes > CACHED_SHORT)
        move_outside(s, 1);
    if (s->turns || (!beside && shared && (cut.size * slices * p->slice > CACHED_TABLE || crowd > CROWDED)))
        s->length = dml_least(s->length, dml_most(1, PART / p->slice));
    else if (s->length == cut.size && threads > 1) {
        int around = dimension_around(s, threads);
        if (around >= 0) {
            shape_of(s, &s->whole, s->length);
            s->keeps_spread = s->whole.spread;
            s->cut = around;
            cut = s->dim[around];
            int64_t each = dml_ceil(cut.size, PARTS_EACH * threads);
            s->length = dml_most(least_part(s, &cut),
                                 each * read_step(s, &cut) < SHORT_READ ? dml_ceil(cut.size, threads) : each);
        } else if (s->scatter || s->count < PARTS_EACH * threads) {
            int64_t stored = s->scatter ? cut.size * llabs(cut.table) : INT64_MAX; /* of each slice */
            int64_t parts = PARTS_EACH * threads;
            if (stored < threads * LEAST_SCATTERED) /* too little for all: they would take each other's lines */
                parts = stored / LEAST_SCATTERED;
            if (parts > 1)
                s->length = dml_least(s->length, dml_ceil(s->length, parts * line) * line);
        }
    }
    s->cuts = dml_ceil(cut.size, s->length);
    s->strip = dml_crowd(s->length, cut.stream) > CROWDED_ROWS ? STRIP : s->length;
}

/* Gathers share out positions, and parts of slices; scatters parts alone, because updates for one place follow each other. */
int dml_share_strided(const dml_plan *p, int scatter, int untouched, int threads, dml_pulse *pulse)
{
    dml_striding s; /* not to be cleared: a shape has room for many dimensions */
    lay_out(&s, p, scatter);
    s.count = 1;
    for (int d = 0; d < s.positions; d++)
        s.count *= s.dim[d].size;
    cut_slices(&s, threads);
    shape_of(&s, &s.whole, s.length);
    if (s.cuts > 1)
        shape_of(&s, &s.rest, s.dim[s.cut].size - (s.cuts - 1) * s.length);
    s.parts = s.cuts;
    for (int d = s.positions; d < s.positions + s.outside - s.moved; d++)
        s.parts *= s.dim[d].size;
    s.per_chunk = s.count;
    if (!scatter) {
        int64_t part = dml_most(1, p->positions / s.count / s.parts / s.rows) * p->slice; /* bytes */
        /* every share begins each row anew: 1.1x for as few as that */
        int64_t each = s.rows > 1 ? 1 : PARTS_EACH;
        int64_t shares = threads == 1 ? 1 : dml_ceil(each * threads, s.parts);
        s.per_chunk = dml_most(1, dml_least(CHUNK / part, dml_ceil(s.count, shares)));
    }
    s.chunks = dml_ceil(s.count, s.per_chunk);
    dml_order order = scatter ? DML_FORWARD : dml_order_for(p->positions * p->slice, untouched);
    return dml_parallel(dml_strided_positions, &s, s.parts * s.chunks, order, threads, pulse);
}
