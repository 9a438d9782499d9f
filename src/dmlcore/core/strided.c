/* strided.c: moves of slices whose elements do not follow each other in memory, as those of transposed arrays and of every
 * second column. Computes the offset of a slice once, where the loops would for each of its elements, and copies the slice
 * like a tensor (shape.c). */
#include "shape.h"
#include "share.h"

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
#define PARTS_EACH 4                     /* for each thread, at least */
#define SHARED_STREAM 2048               /* bytes of the stream that a thread stores in a row */
#define SEVERAL 4                        /* positions that are worth it */
#define SEVERAL_BOXES 8                  /* with the same indices, of short slices, that are left to the loops */
#define SHORT_SLICE 12                   /* elements of a slice that is moved together with others */
#define CHUNK ((int64_t)256 << 10)       /* bytes that a thread claims at a time */
#define CACHED_PART ((int64_t)28 << 10)  /* bytes of the lines of a part that stay in the first-level cache, */
#define FEWEST_CACHED 16                 /* and elements of each of its slices that are worth it, */
#define LONG_SLICE 256                   /* of so many at least where the table is near */
#define SHORT_ROW 16                     /* elements of a row that is moved as a whole */
#define FEW_COLUMNS 12                   /* elements: moved along another dimension of the slice, half as many for */
#define MANY 32                          /* positions */
#define SOME 64                          /* indices that are checked at a time */
#define NEXT 2                           /* so many slices ahead they are fetched, */
#define REACH 1024                       /* so many bytes of them */

/* The dimensions, those of the positions in front, then some that are walked outside of them, then the slice's. */
typedef struct {
    const dml_plan *plan;
    int scatter;
    int positions, outside, rank;
    int moved;                           /* of those outside, dimensions that are walked inside of the cut, */
    int64_t rows;                        /* and their steps */
    dml_dim dim[DML_DIMS];
    int turns;                           /* the slice is contiguous in the table, the positions are in the stream */
    int64_t strip;                       /* elements of a slice that are turned at a time */
    int cut;                             /* the slice's dimension that is shared out, in parts of `length` */
    int64_t length, cuts, parts;         /* how many of them, and of everything but the positions */
    dml_shape whole, rest;               /* a part, and the last one of several */
    int64_t count, per_chunk, chunks;    /* positions: all, at a time, and how many times */
} striding;

int dml_slice_dimensions(const dml_plan *p)
{
    int n = 0;
    while (n < p->rank && p->dim[p->rank - 1 - n].index == 0)
        n++;
    return n;
}

/* Scatters have the dimensions in front of the slice's in their order, as updates for one place follow each other. Gathers have
 * all along which the index stays the same behind the positions, so that each of these is checked once. */
static void lay_out(striding *s, const dml_plan *p, int scatter)
{
    int trailing = p->rank - dml_slice_dimensions(p), across = dml_across(p);
    s->plan = p;
    s->scatter = scatter;
    s->turns = !scatter && dml_turns_columns(p);
    s->positions = s->outside = s->moved = s->rank = 0;
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
    int slices = n && elements >= (scatter ? FEWEST_SCATTERED : FEWEST) && !(elements <= SHORT_SLICE && boxes_repeat(p));
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
    return changing <= 1 && positions <= SOME && p->positions * p->slice <= CHUNK;
}

static int64_t size_in_part(const striding *s, int d, int64_t length) { return d == s->cut ? length : s->dim[d].size; }

/* A part of a slice, between stream and table. */
static void shape_of(const striding *s, dml_shape *shape, int64_t length)
{
    dml_shape_begin(shape);
    for (int d = s->positions + s->outside; d < s->rank; d++)
        if (s->scatter)
            dml_shape_add(shape, size_in_part(s, d, length), s->dim[d].table, s->dim[d].stream);
        else
            dml_shape_add(shape, size_in_part(s, d, length), s->dim[d].stream, s->dim[d].table);
    dml_shape_end(shape, s->plan->slice, DML_STORE_PLAIN, 1);
}

/* The table's offsets that some tuples name. 0: a coordinate is out of range. What is checked is what is used, also if another
 * thread changes the index meanwhile. Without wraps negative ones are out of range: that is tried first; then all are treated
 * alike, as nobody can foresee which are negative. */
#define OFFSETS(name, T)                                                                                   \
    DML_INLINE int name##_some(const dml_plan *p, const char *indices, int64_t step, int64_t count,        \
                               uint64_t *DML_RESTRICT offset, int wraps)                                   \
    {                                                                                                      \
        int bad = 0;                                                                                       \
        for (int k = 0; k < p->tuple; k++, indices += p->coordinate_stride) {                              \
            const char *at = indices;                                                                      \
            uint64_t n = (uint64_t)p->bounds[k], each = (uint64_t)p->steps[k];                             \
            for (int64_t i = 0; i < count; i++, at += step) {                                              \
                T read;                                                                                    \
                memcpy(&read, at, sizeof read);                                                            \
                DML_ONCE(read);                                                                            \
                uint64_t u = (uint64_t)read;                                                               \
                if (wraps)                                                                                 \
                    u += n & (0 - (uint64_t)(u >= n));                                                     \
                bad |= u >= n;                                                                             \
                offset[i] = (k ? offset[i] : 0) + u * each;                                                \
            }                                                                                              \
        }                                                                                                  \
        return !bad;                                                                                       \
    }                                                                                                      \
    static int name(const dml_plan *p, const char *indices, int64_t step, int64_t count, uint64_t *offset) \
    {                                                                                                      \
        return name##_some(p, indices, step, count, offset, 0) ||                                          \
               ((T) - 1 < (T)1 && name##_some(p, indices, step, count, offset, 1));                        \
    }
OFFSETS(offsets_i32, i32)
OFFSETS(offsets_i64, i64)
OFFSETS(offsets_u32, u32)
OFFSETS(offsets_u64, u64)

static int offsets_of(const dml_plan *p, const char *indices, int64_t step, int64_t count, int64_t *offset)
{
    uint64_t *to = (uint64_t *)offset; /* what is too large wraps around, and is not used */
    switch (p->index) {
    case DML_INDEX_I32: return offsets_i32(p, indices, step, count, to);
    case DML_INDEX_I64: return offsets_i64(p, indices, step, count, to);
    case DML_INDEX_U32: return offsets_u32(p, indices, step, count, to);
    default: return offsets_u64(p, indices, step, count, to);
    }
}

/* Rows of some positions, column by column: each place keeps what comes last all the same. Four at a time: where a loop of so few
 * instructions happens to lie costs up to a third. */
#define BY_COLUMNS(name, T)                                                                                                    \
    DML_INLINE void name##_column(char *table, const int64_t *offset, char *stream, int64_t pitch, int64_t count, int scatter) \
    {                                                                                                                          \
        int64_t i = 0;                                                                                                         \
        for (; i + 4 <= count; i += 4, stream += 4 * pitch)                                                                    \
            for (int k = 0; k < 4; k++)                                                                                        \
                memcpy(scatter ? table + offset[i + k] : stream + k * pitch,                                                   \
                       scatter ? stream + k * pitch : table + offset[i + k], sizeof(T));                                       \
        for (; i < count; i++, stream += pitch)                                                                                \
            memcpy(scatter ? table + offset[i] : stream, scatter ? stream : table + offset[i], sizeof(T));                     \
    }                                                                                                                          \
    static void name(const dml_step *row, int scatter, char *table, const int64_t *offset, char *stream, int64_t pitch,        \
                     int64_t count)                                                                                            \
    {                                                                                                                          \
        int64_t to = row->to, from = row->from;                                                                                \
        for (int64_t k = row->size; k > 0; k--, table += scatter ? to : from, stream += scatter ? from : to)                   \
            if (scatter)                                                                                                       \
                name##_column(table, offset, stream, pitch, count, 1);                                                         \
            else                                                                                                               \
                name##_column(table, offset, stream, pitch, count, 0);                                                         \
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

/* The offsets of positions along one dimension, from where the first one's are counted. */
static void add_ramp(const dml_dim *dim, int64_t *offset, int64_t count)
{
    if (dim->table)
        for (int64_t i = 0; i < count; i++)
            offset[i] += i * dim->table;
}

/* Fetches the lines of a far table where slices are rows of a few elements, `apart` from one to the next. */
static void fetch_columns(const dml_dim *dim, const char *table, const int64_t *offset, int64_t count, int64_t size,
                          int64_t apart)
{
    int64_t step = dml_most(1, DML_LINE / dml_most(1, llabs(apart)));
    for (int64_t i = 0; i < count; i++, table += dim->table) {
        const char *at = table + offset[i];
        for (int64_t k = 0; k < size - 1; k += step)
            DML_PREFETCH_L2(at + k * apart);
        DML_PREFETCH_L2(at + (size - 1) * apart);
    }
}

/* Slices that are rows of a few elements: all first elements, all second ones. */
static void move_columns(const dml_shape *shape, int scatter, const dml_dim *dim, char *table, char *stream, int64_t *offset,
                         int64_t count)
{
    add_ramp(dim, offset, count);
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

/* Slices of positions along one dimension, `length` elements of each where they are turned. */
static int some_slices(const striding *s, dml_worker *worker, const dml_shape *shape, int64_t length, const dml_dim *dim,
                       char *table, char *stream, const char *indices, int64_t count)
{
    const dml_plan *p = s->plan;
    const dml_step *row = dml_shape_is_row(shape) ? dml_shape_row(shape) : NULL;
    int64_t memory[2][SOME], *offset = memory[0], *later = memory[1], some = dml_least(count, SOME), next;
    int short_rows = !s->turns && row && row->size <= SHORT_SLICE, stop = DML_OK;
    if (!offsets_of(p, indices, dim->index, some, offset))
        return DML_OUT_OF_RANGE;
    for (; count > 0 && !stop; count -= some, some = next) { /* `later`: of the next `next` positions */
        next = dml_least(count - some, SOME);
        if (!offsets_of(p, indices + some * dim->index, dim->index, next, later))
            return DML_OUT_OF_RANGE;
        if (short_rows && p->fetch) /* while those before them are moved */
            fetch_columns(dim, table + some * dim->table, later, next, row->size, s->scatter ? row->to : row->from);
        if (s->turns) {
            add_ramp(dim, offset, some);
            for (int64_t r = 0; r < length; r += s->strip)
                dml_interleave(stream + r * s->dim[s->cut].stream, s->dim[s->cut].stream, table + r * p->slice, offset,
                               dml_least(s->strip, length - r), some, p->slice);
        } else if (!row)
            stop = move_units(shape, s->scatter, dim, table, stream, offset, some, worker);
        else if (short_rows)
            move_columns(shape, s->scatter, dim, table, stream, offset, some);
        else
            move_rows(shape, s->scatter, dim, table, stream, offset, some);
        if (row || s->turns)
            stop = dml_tick(worker, some * shape->unit_bytes);
        indices += some * dim->index;
        table += some * dim->table;
        stream += some * dim->stream;
        int64_t *moved = offset;
        offset = later;
        later = moved;
    }
    return stop;
}

/* To step number `part` of some dimensions outside of the positions. */
static void go_outside(const striding *s, int first, int end, int64_t part, char **table, char **stream)
{
    for (int d = end - 1; d >= first; d--) {
        int64_t place = part % s->dim[d].size;
        part /= s->dim[d].size;
        *table += place * s->dim[d].table;
        *stream += place * s->dim[d].stream;
    }
}

/* One part of the slices of some positions, in their order. */
static int move_part(const striding *s, dml_worker *worker, const dml_shape *shape, int64_t length, char *part_table,
                     char *part_stream, int64_t at, int64_t end)
{
    static const dml_dim alone = {1, 0, 0, 0};
    const dml_dim *last = s->positions ? s->dim + s->positions - 1 : &alone;
    int status = DML_OK;
    for (int64_t some; at < end && !status; at += some) {
        int64_t first = at % last->size, left = at / last->size;
        char *table = part_table + first * last->table, *stream = part_stream + first * last->stream;
        const char *indices = s->plan->indices + first * last->index;
        for (int d = s->positions - 2; d >= 0; d--) {
            int64_t place = left % s->dim[d].size;
            left /= s->dim[d].size;
            table += place * s->dim[d].table;
            stream += place * s->dim[d].stream;
            indices += place * s->dim[d].index;
        }
        some = dml_least(end - at, last->size - first);
        status = some_slices(s, worker, shape, length, last, table, stream, indices, some);
    }
    return status;
}

/* The same of all rows that a slice is moved by: one thread's, as they may have parts of the same lines. */
static int some_positions(void *data, dml_worker *worker, int64_t chunk)
{
    const striding *s = data;
    const dml_plan *p = s->plan;
    int64_t at = chunk % s->chunks * s->per_chunk, end = dml_least(at + s->per_chunk, s->count), part = chunk / s->chunks;
    int64_t cut = part % s->cuts, from = cut * s->length, length = dml_least(s->length, s->dim[s->cut].size - from);
    const dml_shape *shape = cut == 0 || cut + 1 < s->cuts ? &s->whole : &s->rest;
    char *table = p->table + from * s->dim[s->cut].table, *stream = p->stream + from * s->dim[s->cut].stream;
    int inside = s->positions + s->outside, moved = inside - s->moved, status = DML_OK;
    go_outside(s, s->positions, moved, part / s->cuts, &table, &stream);
    for (int64_t row = 0; row < s->rows && !status; row++) {
        char *row_table = table, *row_stream = stream;
        go_outside(s, moved, inside, row, &row_table, &row_stream);
        status = move_part(s, worker, shape, length, row_table, row_stream, at, end);
    }
    return status;
}

/* Slices of the table that positions may name. */
static int64_t named_slices(const striding *s)
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

static int64_t elements_in_slice(const striding *s)
{
    int64_t elements = 1;
    for (int d = s->positions + s->outside; d < s->rank; d++)
        elements *= s->dim[d].size;
    return elements;
}

/* The slice becomes its dimension that is cut; all others are walked outside of the positions, shared out or not. */
static void move_outside(striding *s, int shared_out)
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
static int cut_dimension(const striding *s)
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

/* Elements of a dimension that a thread should have in a row, so that few lines of the table are read by several. */
static int64_t least_part(const dml_dim *dim) { return dml_most(1, 2 * DML_LINE / dml_most(1, llabs(dim->table))); }

/* The dimension of a gathered slice that threads share out: of those that give each of them a part, the one whose steps in the
 * stream are the longest. -1: there is none but the one whose elements follow each other, or each thread's positions have enough of
 * the stream in a row: then few lines are stored to by several. */
static int dimension_around(const striding *s, int threads)
{
    int around = -1;
    int64_t step = s->positions ? llabs(s->dim[0].stream) : 0, longest = dml_most(step, s->plan->slice);
    if (s->scatter || s->count / (PARTS_EACH * threads) * step >= SHARED_STREAM)
        return -1;
    for (int d = s->positions + s->outside; d < s->rank; d++)
        if (s->dim[d].size >= threads * least_part(s->dim + d) && llabs(s->dim[d].stream) > longest) {
            longest = llabs(s->dim[d].stream);
            around = d;
        }
    return around;
}

/* Bytes of lines that one element of each slice is in, where slices lie side by side; 0: no line has parts of several. */
static int64_t lines_across(const striding *s, int64_t slices)
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

/* Slices side by side are moved row by row: in parts whose lines stay in the first-level cache until all positions are done, if
 * each is read more than once; as a whole, if not, out of a table that is in the third-level cache or further away. */
static void cut_rows(striding *s, int64_t across)
{
    const dml_dim *cut = s->dim + s->cut;
    int64_t rows = elements_in_slice(s) / cut->size;
    int64_t stored = rows > 1 ? dml_mul(s->count, dml_least(DML_LINE, llabs(cut->stream))) : 0; /* again for each row */
    int64_t room = CACHED_PART / (dml_least(CACHED_PART, across) + dml_least(CACHED_PART, stored));
    int far = rows * cut->size > CACHED_TABLE / across, again = s->count >= across / DML_LINE;
    int fits = far ? rows == 1 || room >= FEWEST_CACHED / 2 : cut->size >= LONG_SLICE && room >= FEWEST_CACHED;
    if (again && (!fits || rows * cut->size <= room))
        return;
    if (again)
        s->length = dml_least(s->length, far ? dml_most(PART / s->plan->slice, room) : room);
    if (again || far)
        move_outside(s, 0);
}

/* Lines that a slice has parts of are needed again by other positions, so slices are moved in parts if these lines would
 * otherwise have left the cache by then; row by row, if neighbours of a slice are in its lines. */
static void cut_slices(striding *s, int threads)
{
    const dml_plan *p = s->plan;
    s->cut = cut_dimension(s);
    dml_dim cut = s->dim[s->cut];
    int64_t slices = named_slices(s), across = lines_across(s, slices);
    int64_t line = dml_most(1, DML_LINE / p->slice); /* elements that only one thread should store */
    int shared = s->count > 1 && llabs(cut.table) >= DML_LINE, alone = dml_across(p) < 0;
    int beside = alone && shared && !s->scatter && !s->turns && s->count >= SEVERAL && across;
    int64_t crowd = alone ? dml_crowd(cut.size, cut.table) : 0, bytes = elements_in_slice(s) * slices * p->slice;
    s->length = cut.size;
    if (beside && cut.size >= SHORT_ROW)
        cut_rows(s, across);
    else if (beside && bytes > CACHED_SHORT)
        move_outside(s, 1);
    if (s->turns || (!beside && shared && (cut.size * slices * p->slice > CACHED_TABLE || crowd > CROWDED)))
        s->length = dml_least(s->length, dml_most(1, PART / p->slice));
    else if (s->length == cut.size && threads > 1) {
        int around = dimension_around(s, threads);
        if (around >= 0) {
            s->cut = around;
            cut = s->dim[around];
            s->length = dml_most(least_part(&cut), dml_ceil(cut.size, PARTS_EACH * threads));
        } else if (s->scatter || s->count < PARTS_EACH * threads)
            s->length = dml_least(s->length, dml_ceil(s->length, PARTS_EACH * threads * line) * line);
    }
    s->cuts = dml_ceil(cut.size, s->length);
    s->strip = dml_crowd(s->length, cut.stream) > CROWDED_ROWS ? STRIP : s->length;
}

/* Gathers share out positions, and parts of slices; scatters parts alone, because updates for one place follow each other. */
int dml_share_strided(const dml_plan *p, int scatter, int untouched, int threads, dml_pulse *pulse)
{
    striding s; /* not to be cleared: a shape has room for many dimensions */
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
        int64_t part = dml_most(1, p->positions / s.count / s.parts) * p->slice; /* bytes */
        int64_t shares = threads == 1 ? 1 : dml_ceil(PARTS_EACH * threads, s.parts);
        s.per_chunk = dml_most(1, dml_least(CHUNK / part, dml_ceil(s.count, shares)));
    }
    s.chunks = dml_ceil(s.count, s.per_chunk);
    dml_order order = scatter ? DML_FORWARD : dml_order_for(p->positions * p->slice, untouched);
    return dml_parallel(some_positions, &s, s.parts * s.chunks, order, threads, pulse);
}
