/* strided.c: moves of slices whose elements do not follow each other in memory, as those of transposed arrays and of every
 * second column. Computes the offset of a slice once, where the loops would for each of its elements, and copies the slice
 * like a tensor (shape.c). Where a table is read more than once it may be straightened instead, for the usual loops: copied to
 * scratch memory slice by slice, as a whole or part by part. */
#include "shape.h"
#include "share.h"

#include <stdlib.h>

#define FEWEST 3                         /* elements of a slice that is worth it */
#define PART 128                         /* bytes of a slice that are moved at a time where whole ones leave the cache */
#define NEAR ((int64_t)1 << 20)          /* bytes of the table that stay in the cache while all positions are done, */
#define STRAIGHT ((int64_t)512 << 10)    /* and of the part of it that is straightened */
#define LEAST_PART 16                    /* elements of a slice in such a part */
#define SHORT 12                         /* elements of a slice that is moved together with others */
#define MORE 2                           /* times what is moved may be straightened as a whole for such slices */
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
    dml_shape whole, rest;               /* a part, and the last one */
    int64_t count, per_chunk, chunks;    /* positions: all, at a time, and how many times */
    int64_t slices;                      /* of the table */
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
    return n && p->whole && !p->combine && p->mode == DML_RAISE && elements >= FEWEST && n <= DML_RANK_MAX;
}

/* A dimension of the table: where it lies, and its step in scratch memory where the last ones are `bytes` long. */
static int64_t append(dml_straight *s, int64_t *bytes, int64_t size, int64_t stride)
{
    int64_t step = *bytes;
    s->size[s->rank] = size;
    s->from[s->rank] = stride;
    s->to[s->rank++] = step;
    *bytes = size && step > INT64_MAX / size ? INT64_MAX : step * size;
    return step;
}

/* Slices of some length along one dimension; the answer is how many bytes all of them have. */
static int64_t lay_out(dml_straight *s, const dml_move *m, int64_t element, int64_t length)
{
    int64_t bytes = element;
    s->rank = 0;
    for (int64_t d = m->slice.n - 1; d >= 0; d--) {
        s->sizes[d] = d == s->cut ? length : m->slice.v[d];
        s->slice[d] = append(s, &bytes, s->sizes[d], m->slice_table_strides.v[d]);
    }
    for (int64_t k = m->bounds.n - 1; k >= 0; k--)
        s->steps[k] = append(s, &bytes, m->bounds.v[k], m->steps.v[k]);
    for (int64_t d = m->table_strides.n - 1; d >= 0; d--)
        s->table[d] = m->table_strides.v[d] ? append(s, &bytes, m->positions.v[d], m->table_strides.v[d]) : 0;
    return bytes;
}

/* Whether the slices of the table are contiguous. (A move with slices has their strides, none of them left out.) */
static int is_straight(const dml_move *m, int64_t bytes)
{
    for (int64_t d = m->slice.n - 1; d >= 0; bytes *= m->slice.v[d--])
        if (m->slice.v[d] != 1 && m->slice_table_strides.v[d] != bytes)
            return 0;
    return 1;
}

/* Whether a slice has several elements in each line of the table. */
static int shares_lines(const dml_move *m)
{
    for (int64_t d = 0; d < m->slice.n; d++)
        if (m->slice.v[d] != 1 && llabs(m->slice_table_strides.v[d]) < DML_LINE)
            return 1;
    return 0;
}

int dml_straightens(const dml_plan *p, const dml_move *m, dml_straight *s)
{
    s->scratch = NULL;
    if (!slice_dimensions(p) || p->slice >= DML_LINE || is_straight(m, p->element))
        return 0;
    for (s->cut = 0; m->slice.v[s->cut] == 1; s->cut++)
        ;
    int64_t size = m->slice.v[s->cut], bytes = lay_out(s, m, p->element, size), elements = 1;
    for (int64_t d = s->cut; d < m->slice.n; d++)
        elements *= m->slice.v[d];
    if (bytes == 0 || bytes > p->positions * p->slice * (bytes <= STRAIGHT && elements <= SHORT ? MORE : 1))
        return 0;
    s->length = size;
    while (bytes > STRAIGHT) {
        s->length = STRAIGHT / (bytes / size);
        if (s->length)
            break;
        if (++s->cut == m->slice.n)
            return 0;
        size = m->slice.v[s->cut];
    }
    int64_t inside = 1;
    for (int64_t d = s->cut + 1; d < m->slice.n; d++)
        inside *= m->slice.v[d];
    if (bytes > STRAIGHT && (s->length * inside < LEAST_PART || shares_lines(m)))
        return 0;
    s->parts = dml_ceil(size, s->length);
    s->length = dml_ceil(size, s->parts);
    s->scratch = malloc((size_t)(bytes / size * s->length));
    return s->scratch != NULL;
}

int dml_straighten(dml_straight *s, const dml_move *m, int64_t part, int64_t element, int threads, dml_pulse *pulse)
{
    int64_t first = part * s->length, at = first * m->slice_table_strides.v[s->cut];
    lay_out(s, m, element, dml_least(s->length, m->slice.v[s->cut] - first));
    s->move = *m;
    s->move.table = s->scratch;
    s->move.stream = m->stream + first * m->slice_stream_strides.v[s->cut];
    s->move.slice = (dml_list){s->sizes, m->slice.n};
    s->move.slice_table_strides = (dml_list){s->slice, m->slice.n};
    s->move.steps = (dml_list){s->steps, m->steps.n};
    s->move.table_strides = (dml_list){s->table, m->table_strides.n};
    return dml_copy(s->scratch, m->table + at, (dml_list){s->size, s->rank}, (dml_list){s->to, s->rank},
                    (dml_list){s->from, s->rank}, element, 0, threads, pulse);
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
    dml_shape_end(shape, p->slice, DML_STORE_PLAIN);
}

/* The table's offsets that some tuples name. 0: a coordinate is out of range. What is checked is what is used, also if another
 * thread changes the index meanwhile. */
#define NAMED(name, T, wraps)                                                                             \
    static int name(const dml_plan *p, const char *indices, int64_t step, int64_t count, int64_t *offset) \
    {                                                                                                     \
        for (int64_t i = 0; i < count; i++, indices += step) {                                            \
            const char *at = indices;                                                                     \
            int64_t sum = 0;                                                                              \
            for (int k = 0; k < p->tuple; k++, at += p->coordinate_stride) {                              \
                T read;                                                                                   \
                memcpy(&read, at, sizeof read);                                                           \
                DML_ONCE(read);                                                                           \
                uint64_t n = (uint64_t)p->bounds[k], u = (uint64_t)read;                                  \
                if (wraps && u >= n)                                                                      \
                    u += n;                                                                               \
                if (u >= n)                                                                               \
                    return 0;                                                                             \
                sum += (int64_t)u * p->steps[k];                                                          \
            }                                                                                             \
            offset[i] = sum;                                                                              \
        }                                                                                                 \
        return 1;                                                                                         \
    }
NAMED(named_i32, i32, 1)
NAMED(named_i64, i64, 1)
NAMED(named_u32, u32, 0)
NAMED(named_u64, u64, 0)

static int named(const dml_plan *p, const char *indices, int64_t step, int64_t count, int64_t *offset)
{
    switch (p->index) {
    case DML_INDEX_I32: return named_i32(p, indices, step, count, offset);
    case DML_INDEX_I64: return named_i64(p, indices, step, count, offset);
    case DML_INDEX_U32: return named_u32(p, indices, step, count, offset);
    default: return named_u64(p, indices, step, count, offset);
    }
}

/* Short slices of some positions, column by column: each place keeps what comes last all the same. */
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

/* Slices of positions along one dimension. */
static int some_slices(const striding *s, dml_worker *worker, const dml_shape *shape, const dml_dim *dim, char *table,
                       char *stream, const char *indices, int64_t count)
{
    const dml_step *row = dml_shape_is_row(shape) ? shape->dim + shape->rank - 1 : NULL;
    int64_t offset[SOME], some, reach = 0;
    if (row && !s->scatter && row->from < DML_LINE) /* lines that follow each other, too few for the hardware to foresee */
        reach = dml_least(REACH, row->size * row->from);
    int stop = DML_OK;
    for (; count > 0 && !stop; count -= some) {
        some = dml_least(count, SOME);
        if (!named(s->plan, indices, dim->index, some, offset))
            return DML_OUT_OF_RANGE;
        indices += some * dim->index;
        if (row && row->size <= SHORT) {
            for (int64_t i = 0; i < some; i++)
                offset[i] += i * dim->table;
            by_columns[DML_CTZ64((uint64_t)shape->run)](row, s->scatter, table, offset, stream, dim->stream, some);
            table += some * dim->table;
            stream += some * dim->stream;
            stop = dml_tick(worker, some * shape->unit_bytes);
            continue;
        }
        for (int64_t i = 0; i < some && !stop; i++, table += dim->table, stream += dim->stream) {
            char *to = s->scatter ? table + offset[i] : stream, *from = s->scatter ? stream : table + offset[i];
            for (int64_t at = 0; at < reach && i + NEXT < some; at += DML_LINE)
                DML_PREFETCH(table + NEXT * dim->table + offset[i + NEXT] + at);
            if (row)
                shape->row(to, from, row->size, row->to, row->from);
            for (int64_t unit = 0; !row && unit < shape->units && !stop; unit++) {
                dml_shape_copy(shape, to, from, unit);
                stop = dml_tick(worker, shape->unit_bytes);
            }
        }
        if (row && !stop)
            stop = dml_tick(worker, some * shape->unit_bytes);
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
    const dml_shape *shape = part + 1 < s->parts ? &s->whole : &s->rest;
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
    if (llabs(cut->table) >= DML_LINE && cut->size * s->slices * p->slice > NEAR && s->count > 1)
        s->length = dml_least(s->length, dml_most(1, PART / p->slice));
    else if (threads > 1 && (s->scatter || s->count < 4 * threads))
        s->length = dml_least(s->length, dml_ceil(s->length, 4 * threads * line) * line);
}

/* Gathers share out positions, and parts of slices; scatters parts alone, because updates for one place follow each other. */
int dml_share_strided(const dml_plan *p, int scatter, int untouched, int threads, dml_pulse *pulse)
{
    striding s = {.plan = p, .scatter = scatter, .positions = p->rank - slice_dimensions(p), .count = 1, .slices = 1};
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
    shape_of(&s, &s.rest, cut->size - (s.parts - 1) * s.length);
    s.per_chunk = s.count;
    if (!scatter) {
        int64_t part = p->positions / s.count / cut->size * s.length * p->slice; /* bytes */
        s.per_chunk = dml_most(1, dml_least(CHUNK / part, dml_ceil(s.count, threads == 1 ? 1 : 4 * threads)));
    }
    s.chunks = dml_ceil(s.count, s.per_chunk);
    dml_order order = scatter ? DML_FORWARD : dml_order_for(p->positions * p->slice, untouched);
    return dml_parallel(some_positions, &s, s.parts * s.chunks, order, threads, pulse);
}
