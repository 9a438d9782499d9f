/* strided.c: moves of slices whose elements do not follow each other in memory, as those of transposed arrays and of every
 * second column. Computes the offset of a slice once, where the loops would for each of its elements, and copies the slice
 * like a tensor (shape.c). Where a table is read more than once, it is straightened in scratch memory: a small one as a whole,
 * for the usual loops, a larger one part by part. */
#include "shape.h"
#include "share.h"

#include <stdlib.h>

#define FEWEST 8                         /* elements of a slice that is worth it */
#define PART 128                         /* bytes of a slice that are moved at a time where whole ones leave the cache */
#define NEAR ((int64_t)1 << 20)          /* bytes of the table that stay in the cache while all positions are done, */
#define STRAIGHT ((int64_t)512 << 10)    /* and of the part of it that is straightened */
#define CHUNK ((int64_t)256 << 10)       /* bytes that a thread claims at a time */

typedef struct {
    const dml_plan *plan;
    int scatter;
    int positions;                       /* the dimensions in front; those behind are the slice's */
    int cut;                             /* the slice's dimension that is shared out, in parts of `length` */
    int64_t length, parts;
    dml_shape whole, rest;               /* a part, and the last one */
    int64_t count, per_chunk, chunks;    /* positions: all, at a time, and how many times */
    int64_t slices;                      /* of the table */
    int64_t step[DML_RANK_MAX];          /* of the coordinates, */
    int64_t table[DML_DIMS];             /* and of the dimensions, in the table as it is read */
    char *scratch;                       /* NULL: the table is read where it is */
    int64_t scratch_bytes;               /* for each thread */
} striding;

/* Dimensions that the slice has: those at the end along which the index stays the same. */
static int slice_dimensions(const dml_plan *p)
{
    int n = 0;
    while (n < p->rank && p->dim[p->rank - 1 - n].index == 0)
        n++;
    return n;
}

int dml_takes_strided(const dml_plan *p, int scatter)
{
    int64_t elements = 1;
    int n = slice_dimensions(p);
    for (int d = p->rank - n; d < p->rank; d++) {
        elements *= p->dim[d].size;
        if (scatter && p->dim[d].table == 0)
            return 0; /* updates for one place: their order counts */
    }
    return n && p->whole && !p->combine && p->mode == DML_RAISE && elements >= FEWEST && p->rank + p->tuple <= DML_RANK_MAX;
}

int dml_straightens(const dml_plan *p, const dml_move *m, dml_straight *s)
{
    int64_t bytes = p->element, moved = p->positions * p->slice;
    s->scratch = NULL;
    if (!slice_dimensions(p) || p->slice >= DML_LINE)
        return 0;
    dml_shape shape;
    dml_shape_begin(&shape);
#define DIMENSION(place, size, stride)                        \
    do {                                                      \
        place = bytes;                                        \
        dml_shape_add(&shape, size, bytes, stride);           \
        bytes *= size;                                        \
        if (bytes == 0 || bytes > dml_least(STRAIGHT, moved)) \
            return 0;                                         \
    } while (0)
    int is_straight = 1;
    for (int64_t d = m->slice.n - 1; d >= 0; d--) {
        is_straight &= m->slice.v[d] == 1 || m->slice_table_strides.v[d] == bytes;
        DIMENSION(s->slice[d], m->slice.v[d], m->slice_table_strides.v[d]);
    }
    if (is_straight)
        return 0;
    for (int64_t k = m->bounds.n - 1; k >= 0; k--)
        DIMENSION(s->steps[k], m->bounds.v[k], m->steps.v[k]);
    for (int64_t d = m->table_strides.n - 1; d >= 0; d--) {
        s->table[d] = 0;
        if (m->table_strides.v[d])
            DIMENSION(s->table[d], m->positions.v[d], m->table_strides.v[d]);
    }
#undef DIMENSION
    s->scratch = malloc((size_t)bytes);
    if (!s->scratch)
        return 0;
    dml_shape_end(&shape, p->element, DML_STORE_PLAIN);
    for (int64_t unit = 0; unit < shape.units; unit++)
        dml_shape_copy(&shape, s->scratch, m->table, unit);
    s->move = *m;
    s->move.table = s->scratch;
    s->move.slice_table_strides = (dml_list){s->slice, m->slice.n};
    s->move.steps = (dml_list){s->steps, m->steps.n};
    s->move.table_strides = (dml_list){s->table, m->table_strides.n};
    return 1;
}

static int64_t size_in_part(const striding *s, int d, int64_t length) { return d == s->cut ? length : s->plan->dim[d].size; }

/* A part of a slice, between stream and table. */
static void shape_of(const striding *s, dml_shape *shape, int64_t length)
{
    const dml_plan *p = s->plan;
    dml_shape_begin(shape);
    for (int d = s->positions; d < p->rank; d++)
        if (s->scatter)
            dml_shape_add(shape, size_in_part(s, d, length), s->table[d], p->dim[d].stream);
        else
            dml_shape_add(shape, size_in_part(s, d, length), p->dim[d].stream, s->table[d]);
    dml_shape_end(shape, p->slice, DML_STORE_PLAIN);
}

/* Copies a part of all of the table's slices, one after the other. */
static void straighten(const striding *s, char *to, const char *from, int64_t length)
{
    const dml_plan *p = s->plan;
    dml_shape shape;
    dml_shape_begin(&shape);
    for (int d = 0; d < p->rank; d++)
        if (d >= s->positions || p->dim[d].table)
            dml_shape_add(&shape, size_in_part(s, d, length), s->table[d], p->dim[d].table);
    for (int k = 0; k < p->tuple; k++)
        dml_shape_add(&shape, p->bounds[k], s->step[k], p->steps[k]);
    dml_shape_end(&shape, p->slice, DML_STORE_PLAIN);
    for (int64_t unit = 0; unit < shape.units; unit++)
        dml_shape_copy(&shape, to, from, unit);
}

/* Looks for a dimension of the slice that can be cut so that a part of all slices is small enough, from the outermost on, so
 * that parts have long runs; and tells where everything is in scratch memory. */
static int can_be_straight(striding *s, int threads)
{
    const dml_plan *p = s->plan;
    int64_t all = s->slices * p->slice;
    for (int d = s->positions; d < p->rank; d++)
        all *= p->dim[d].size;
    if (s->scatter || s->slices == 0 || s->count < s->slices)
        return 0;
    for (s->cut = s->positions; s->cut < p->rank; s->cut++)
        if (all / p->dim[s->cut].size <= STRAIGHT)
            break;
    if (s->cut == p->rank)
        return 0;
    int64_t size = p->dim[s->cut].size, each = all / size;
    s->length = dml_most(1, dml_least(STRAIGHT / each, dml_ceil(size, threads)));
    s->scratch_bytes = each * s->length;
    int64_t step = p->slice;
    for (int d = p->rank - 1; d >= s->positions; d--) {
        s->table[d] = step;
        step *= size_in_part(s, d, s->length);
    }
    for (int k = p->tuple - 1; k >= 0; k--) {
        s->step[k] = step;
        step *= p->bounds[k];
    }
    for (int d = s->positions - 1; d >= 0; d--) {
        s->table[d] = p->dim[d].table ? step : 0;
        step *= p->dim[d].table ? p->dim[d].size : 1;
    }
    return 1;
}

/* The table's offset that a tuple names. 0: a coordinate is out of range. */
static int named(const striding *s, const char *index, int64_t *offset)
{
    const dml_plan *p = s->plan;
    *offset = 0;
    for (int k = 0; k < p->tuple; k++, index += p->coordinate_stride) {
        uint64_t n = (uint64_t)p->bounds[k], read;
        u32 narrow;
        if (dml_index_bytes(p->index) == 8)
            memcpy(&read, index, 8);
        else {
            memcpy(&narrow, index, 4);
            read = p->index == DML_INDEX_I32 ? (uint64_t)(int64_t)(i32)narrow : narrow;
        }
        volatile uint64_t once = read;   /* what is checked is what is used: another thread may change the index meanwhile */
        uint64_t u = once;
        if (u >= n && (p->index == DML_INDEX_I32 || p->index == DML_INDEX_I64))
            u += n;
        if (u >= n)
            return 0;
        *offset += (int64_t)u * s->step[k];
    }
    return 1;
}

/* One part of the slices of some positions, in their order. */
static int some_positions(void *data, dml_worker *worker, int64_t chunk)
{
    const striding *s = data;
    const dml_plan *p = s->plan;
    int64_t part = chunk / s->chunks, at = chunk % s->chunks * s->per_chunk, end = dml_least(at + s->per_chunk, s->count);
    const dml_shape *shape = part + 1 < s->parts ? &s->whole : &s->rest;
    char *table = p->table + part * s->length * p->dim[s->cut].table;
    char *stream = p->stream + part * s->length * p->dim[s->cut].stream;
    const char *indices = p->indices;
    if (s->scratch) {
        char *scratch = s->scratch + worker->number * s->scratch_bytes;
        straighten(s, scratch, table, part + 1 < s->parts ? s->length : p->dim[s->cut].size - part * s->length);
        table = scratch;
    }
    int64_t place[DML_DIMS], left = at;
    for (int d = s->positions - 1; d >= 0; d--) {
        place[d] = left % p->dim[d].size;
        left /= p->dim[d].size;
        table += place[d] * s->table[d];
        stream += place[d] * p->dim[d].stream;
        indices += place[d] * p->dim[d].index;
    }
    while (at < end) {
        int64_t offset;
        if (!named(s, indices, &offset))
            return DML_OUT_OF_RANGE;
        for (int64_t unit = 0; unit < shape->units; unit++) {
            dml_shape_copy(shape, s->scatter ? table + offset : stream, s->scatter ? stream : table + offset, unit);
            int stop = dml_tick(worker, shape->unit_bytes);
            if (stop)
                return stop;
        }
        at++;
        for (int d = s->positions - 1; d >= 0; d--) {
            table += s->table[d];
            stream += p->dim[d].stream;
            indices += p->dim[d].index;
            if (++place[d] < p->dim[d].size)
                break;
            table -= place[d] * s->table[d];
            stream -= place[d] * p->dim[d].stream;
            indices -= place[d] * p->dim[d].index;
            place[d] = 0;
        }
    }
    return DML_OK;
}

/* Without scratch memory: lines that a slice has parts of are needed again by other positions, so slices are moved in parts
 * if otherwise these lines would have left the cache by then. */
static void cut_slices(striding *s, int threads)
{
    const dml_plan *p = s->plan;
    s->cut = s->positions;
    for (int d = s->positions; d < p->rank; d++)
        if (p->dim[d].size > 1 && llabs(p->dim[d].stream) <= llabs(p->dim[s->cut].stream))
            s->cut = d;
    const dml_dim *cut = p->dim + s->cut;
    int64_t line = dml_most(1, DML_LINE / p->slice);     /* elements that only one thread should store */
    s->length = cut->size;
    if (llabs(cut->table) >= DML_LINE && cut->size * s->slices * p->slice > NEAR && s->count > 1)
        s->length = dml_least(s->length, dml_most(1, PART / p->slice));
    else if (threads > 1 && (s->scatter || s->count < 4 * threads))
        s->length = dml_least(s->length, dml_ceil(s->length, 4 * threads * line) * line);
    for (int k = 0; k < p->tuple; k++)
        s->step[k] = p->steps[k];
    for (int d = 0; d < p->rank; d++)
        s->table[d] = p->dim[d].table;
}

/* Gathers share out positions, and parts of slices; scatters parts alone, because updates for one place follow each other. */
int dml_share_strided(const dml_plan *p, int scatter, int straight, int untouched, int threads, dml_pulse *pulse)
{
    striding s = {.plan = p, .scatter = scatter, .positions = p->rank - slice_dimensions(p), .count = 1, .slices = 1};
    for (int d = 0; d < s.positions; d++) {
        s.count *= p->dim[d].size;
        s.slices *= p->dim[d].table ? p->dim[d].size : 1;
    }
    for (int k = 0; k < p->tuple; k++)
        s.slices = p->bounds[k] && s.slices > s.count / p->bounds[k] ? s.count + 1 : s.slices * p->bounds[k];
    if (!straight && can_be_straight(&s, threads))
        s.scratch = malloc((size_t)(s.scratch_bytes * threads));
    if (!s.scratch)
        cut_slices(&s, threads);
    const dml_dim *cut = p->dim + s.cut;
    s.parts = dml_ceil(cut->size, s.length);
    shape_of(&s, &s.whole, s.length);
    shape_of(&s, &s.rest, cut->size - (s.parts - 1) * s.length);
    s.per_chunk = s.count;
    if (!scatter && !s.scratch)
        s.per_chunk = dml_least(s.count, dml_most(1, CHUNK / (p->positions / s.count / cut->size * s.length * p->slice)));
    s.chunks = dml_ceil(s.count, s.per_chunk);
    dml_order order = scatter ? DML_FORWARD : dml_order_for(p->positions * p->slice, untouched);
    int status = dml_parallel(some_positions, &s, s.parts * s.chunks, order, threads, pulse);
    free(s.scratch);
    return status;
}
