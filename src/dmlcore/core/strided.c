/* strided.c: moves of slices whose elements do not follow each other in memory, as those of transposed arrays and of every
 * second column. Computes the offset of a slice once, where the loops would for each of its elements, and copies the slice
 * like a tensor (shape.c). */
#include "shape.h"
#include "share.h"

#include <stdlib.h>

#define FEWEST 3                         /* elements of a slice that is worth it, */
#define LITTLE 32                        /* and of all slices together */
#define PART 128                         /* bytes of a slice that are moved at a time where whole ones leave the cache */
#define CACHED_TABLE ((int64_t)1 << 20)          /* bytes of the table that stay in the cache while all positions are done */
#define SHORT_SLICE 12                   /* elements of a slice that is moved together with others */
#define CHUNK ((int64_t)256 << 10)       /* bytes that a thread claims at a time */
#define SOME 64                          /* indices that are checked at a time */
#define NEXT 2                           /* so many slices ahead they are fetched, */
#define REACH 1024                       /* so many bytes of them */

typedef struct {
    const dml_plan *plan;
    int scatter;
    int positions;                       /* the dimensions in front; those behind are the slice's */
    int cut;                             /* the slice's dimension that is shared out, in parts of `length` */
    int64_t length, parts;
    dml_shape whole, rest;               /* a part, and the last one of several */
    int64_t count, per_chunk, chunks;    /* positions: all, at a time, and how many times */
    int64_t slices;                      /* of the table */
} striding;

int dml_slice_dimensions(const dml_plan *p)
{
    int n = 0;
    while (n < p->rank && p->dim[p->rank - 1 - n].index == 0)
        n++;
    return n;
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
    return n && p->positions >= LITTLE && p->whole && !p->combine && p->mode == DML_RAISE && elements >= FEWEST &&
           n <= DML_RANK_MAX;
}

int dml_strides_at_once(const dml_plan *p)
{
    int positions = p->rank - dml_slice_dimensions(p);
    return positions <= 1 && (positions == 0 || p->dim[0].size <= SOME) && p->positions * p->slice <= CHUNK;
}

static int64_t size_in_part(const striding *s, int d, int64_t length) { return d == s->cut ? length : s->plan->dim[d].size; }

/* A part of a slice, between stream and table. */
static void shape_of(const striding *s, dml_shape *shape, int64_t length)
{
    const dml_plan *p = s->plan;
    dml_shape_begin(shape);
    for (int d = s->positions; d < p->rank; d++)
        if (s->scatter)
            dml_shape_add(shape, size_in_part(s, d, length), p->dim[d].table, p->dim[d].stream);
        else
            dml_shape_add(shape, size_in_part(s, d, length), p->dim[d].stream, p->dim[d].table);
    dml_shape_end(shape, p->slice, DML_STORE_PLAIN, 1);
}

/* The table's offsets that some tuples name. 0: a coordinate is out of range. What is checked is what is used, also if another
 * thread changes the index meanwhile. Without wraps negative ones are out of range: that is tried first; then all are treated
 * alike, as nobody can foresee which are negative. */
#define NAMED(name, T)                                                                                               \
    DML_INLINE int name##_some(const dml_plan *p, const char *indices, int64_t step, int64_t count, int64_t *offset, \
                               int wraps)                                                                            \
    {                                                                                                                \
        for (int64_t i = 0; i < count; i++, indices += step) {                                                       \
            const char *at = indices;                                                                                \
            int64_t sum = 0;                                                                                         \
            for (int k = 0; k < p->tuple; k++, at += p->coordinate_stride) {                                         \
                T read;                                                                                              \
                memcpy(&read, at, sizeof read);                                                                      \
                DML_ONCE(read);                                                                                      \
                uint64_t n = (uint64_t)p->bounds[k], u = (uint64_t)read;                                             \
                if (wraps)                                                                                           \
                    u += n & (0 - (uint64_t)(u >= n));                                                               \
                if (u >= n)                                                                                          \
                    return 0;                                                                                        \
                sum += (int64_t)u * p->steps[k];                                                                     \
            }                                                                                                        \
            offset[i] = sum;                                                                                         \
        }                                                                                                            \
        return 1;                                                                                                    \
    }                                                                                                                \
    static int name(const dml_plan *p, const char *indices, int64_t step, int64_t count, int64_t *offset)            \
    {                                                                                                                \
        return name##_some(p, indices, step, count, offset, 0) ||                                                    \
               ((T) - 1 < (T)1 && name##_some(p, indices, step, count, offset, 1));                                  \
    }
NAMED(named_i32, i32)
NAMED(named_i64, i64)
NAMED(named_u32, u32)
NAMED(named_u64, u64)

static int named(const dml_plan *p, const char *indices, int64_t step, int64_t count, int64_t *offset)
{
    switch (p->index) {
    case DML_INDEX_I32: return named_i32(p, indices, step, count, offset);
    case DML_INDEX_I64: return named_i64(p, indices, step, count, offset);
    case DML_INDEX_U32: return named_u32(p, indices, step, count, offset);
    default: return named_u64(p, indices, step, count, offset);
    }
}

/* Rows of some positions, column by column: each place keeps what comes last all the same. */
#define BY_COLUMNS(name, T)                                                                                             \
    static void name(const dml_step *row, int scatter, char *table, const int64_t *offset, char *stream, int64_t pitch, \
                     int64_t count)                                                                                     \
    {                                                                                                                   \
        int64_t to = row->to, from = row->from;                                                                         \
        for (int64_t k = row->size; k > 0; k--, table += scatter ? to : from, stream += scatter ? from : to) {          \
            char *at = stream;                                                                                          \
            if (scatter)                                                                                                \
                for (int64_t i = 0; i < count; i++, at += pitch)                                                        \
                    memcpy(table + offset[i], at, sizeof(T));                                                           \
            else                                                                                                        \
                for (int64_t i = 0; i < count; i++, at += pitch)                                                        \
                    memcpy(at, table + offset[i], sizeof(T));                                                           \
        }                                                                                                               \
    }
BY_COLUMNS(columns_u8, u8)
BY_COLUMNS(columns_u16, u16)
BY_COLUMNS(columns_u32, u32)
BY_COLUMNS(columns_u64, u64)
BY_COLUMNS(columns_u128, u128)
typedef void (*columns)(const dml_step *row, int scatter, char *table, const int64_t *offset, char *stream, int64_t pitch,
                        int64_t count);
static const columns by_columns[DML_STORAGES] = {
    columns_u8, columns_u16, columns_u32, columns_u64, columns_u128,
};

/* Slices that are one row each; while one is moved, a later one is fetched. */
static void move_rows(const dml_shape *shape, int scatter, const dml_dim *dim, char *table, char *stream, const int64_t *offset,
                      int64_t count)
{
    const dml_step *row = dml_shape_row(shape);
    int64_t reach = 0;
    if (!scatter && row->from < DML_LINE) /* lines that follow each other, too few for the hardware to foresee */
        reach = dml_least(REACH, row->size * row->from);
    for (int64_t i = 0; i < count; i++, table += dim->table, stream += dim->stream) {
        char *at = table + offset[i];
        for (int64_t ahead = 0; ahead < reach && i + NEXT < count; ahead += DML_LINE)
            DML_PREFETCH(table + NEXT * dim->table + offset[i + NEXT] + ahead);
        shape->row(scatter ? at : stream, scatter ? stream : at, row->size, row->to, row->from);
    }
}

/* Slices that are rows of a few elements: all first elements, all second ones. */
static void move_columns(const dml_shape *shape, int scatter, const dml_dim *dim, char *table, char *stream, int64_t *offset,
                         int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        offset[i] += i * dim->table;
    by_columns[DML_CTZ64((uint64_t)shape->run)](dml_shape_row(shape), scatter, table, offset, stream, dim->stream, count);
}

/* Slices of any shape. */
static int move_units(const dml_shape *shape, int scatter, const dml_dim *dim, char *table, char *stream, const int64_t *offset,
                      int64_t count, dml_worker *worker)
{
    int stop = DML_OK;
    for (int64_t i = 0; i < count; i++, table += dim->table, stream += dim->stream) {
        char *at = table + offset[i];
        for (int64_t unit = 0; unit < shape->units && !stop; unit++) {
            dml_shape_copy(shape, scatter ? at : stream, scatter ? stream : at, unit);
            stop = dml_tick(worker, shape->unit_bytes);
        }
    }
    return stop;
}

/* Slices of positions along one dimension. */
static int some_slices(const striding *s, dml_worker *worker, const dml_shape *shape, const dml_dim *dim, char *table,
                       char *stream, const char *indices, int64_t count)
{
    const dml_step *row = dml_shape_is_row(shape) ? dml_shape_row(shape) : NULL;
    int64_t offset[SOME], some;
    int stop = DML_OK;
    for (; count > 0 && !stop; count -= some) {
        some = dml_least(count, SOME);
        if (!named(s->plan, indices, dim->index, some, offset))
            return DML_OUT_OF_RANGE;
        if (!row)
            stop = move_units(shape, s->scatter, dim, table, stream, offset, some, worker);
        else if (row->size <= SHORT_SLICE)
            move_columns(shape, s->scatter, dim, table, stream, offset, some);
        else
            move_rows(shape, s->scatter, dim, table, stream, offset, some);
        if (row)
            stop = dml_tick(worker, some * shape->unit_bytes);
        indices += some * dim->index;
        table += some * dim->table;
        stream += some * dim->stream;
    }
    return stop;
}

/* One part of the slices of some positions, in their order. */
static int some_positions(void *data, dml_worker *worker, int64_t chunk)
{
    static const dml_dim alone = {1, 0, 0, 0};
    const striding *s = data;
    const dml_plan *p = s->plan;
    int64_t part = chunk / s->chunks, at = chunk % s->chunks * s->per_chunk, end = dml_least(at + s->per_chunk, s->count);
    const dml_shape *shape = s->parts == 1 || part + 1 < s->parts ? &s->whole : &s->rest;
    const dml_dim *last = s->positions ? p->dim + s->positions - 1 : &alone;
    int status = DML_OK;
    for (int64_t some; at < end && !status; at += some) {
        int64_t first = at % last->size, left = at / last->size;
        char *table = p->table + part * s->length * p->dim[s->cut].table + first * last->table;
        char *stream = p->stream + part * s->length * p->dim[s->cut].stream + first * last->stream;
        const char *indices = p->indices + first * last->index;
        for (int d = s->positions - 2; d >= 0; d--) {
            int64_t place = left % p->dim[d].size;
            left /= p->dim[d].size;
            table += place * p->dim[d].table;
            stream += place * p->dim[d].stream;
            indices += place * p->dim[d].index;
        }
        some = dml_least(end - at, last->size - first);
        status = some_slices(s, worker, shape, last, table, stream, indices, some);
    }
    return status;
}

/* Lines that a slice has parts of are needed again by other positions, so slices are moved in parts if these lines would
 * otherwise have left the cache by then. */
static void cut_slices(striding *s, int threads)
{
    const dml_plan *p = s->plan;
    s->cut = s->positions;
    for (int d = s->positions; d < p->rank; d++)
        if (p->dim[d].size > 1 && llabs(p->dim[d].stream) <= llabs(p->dim[s->cut].stream))
            s->cut = d;
    const dml_dim *cut = p->dim + s->cut;
    int64_t line = dml_most(1, DML_LINE / p->slice); /* elements that only one thread should store */
    s->length = cut->size;
    if (llabs(cut->table) >= DML_LINE && cut->size * s->slices * p->slice > CACHED_TABLE && s->count > 1)
        s->length = dml_least(s->length, dml_most(1, PART / p->slice));
    else if (threads > 1 && (s->scatter || s->count < 4 * threads))
        s->length = dml_least(s->length, dml_ceil(s->length, 4 * threads * line) * line);
}

/* Gathers share out positions, and parts of slices; scatters parts alone, because updates for one place follow each other. */
int dml_share_strided(const dml_plan *p, int scatter, int untouched, int threads, dml_pulse *pulse)
{
    striding s; /* not to be cleared: a shape has room for many dimensions */
    s.plan = p;
    s.scatter = scatter;
    s.positions = p->rank - dml_slice_dimensions(p);
    s.count = s.slices = 1;
    for (int d = 0; d < s.positions; d++) {
        s.count *= p->dim[d].size;
        s.slices *= p->dim[d].table ? p->dim[d].size : 1;
    }
    for (int k = 0; k < p->tuple; k++)
        s.slices = p->bounds[k] && s.slices > s.count / p->bounds[k] ? s.count + 1 : s.slices * p->bounds[k];
    cut_slices(&s, threads);
    const dml_dim *cut = p->dim + s.cut;
    s.parts = dml_ceil(cut->size, s.length);
    shape_of(&s, &s.whole, s.length);
    if (s.parts > 1)
        shape_of(&s, &s.rest, cut->size - (s.parts - 1) * s.length);
    s.per_chunk = s.count;
    if (!scatter) {
        int64_t part = p->positions / s.count / cut->size * s.length * p->slice; /* bytes */
        int64_t shares = threads == 1 ? 1 : dml_ceil(4 * threads, s.parts);
        s.per_chunk = dml_most(1, dml_least(CHUNK / part, dml_ceil(s.count, shares)));
    }
    s.chunks = dml_ceil(s.count, s.per_chunk);
    dml_order order = scatter ? DML_FORWARD : dml_order_for(p->positions * p->slice, untouched);
    return dml_parallel(some_positions, &s, s.parts * s.chunks, order, threads, pulse);
}
