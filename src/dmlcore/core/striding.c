/* striding.c: moves the slices that strided.c has cut: checks some tuples, then copies a part of each of their slices, row
 * by row, along the columns of several, or unit by unit (units.c). */
#include "striding.h"

#define NEXT 2     /* so many slices ahead they are fetched, */
#define REACH 1024 /* so many bytes of them */
#define CROWDED ((int64_t)32 << 10) /* bytes of rows of the stream that meet in the first-level cache, */
#define FEW 8 /* of which so many have room */
#define MEETING 512 /* bytes; what is a multiple of it apart meets there sooner than elsewhere */

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

int dml_offsets_of(const dml_plan *p, const char *indices, int64_t step, int64_t count, int64_t *offset)
{
    return offsets_of(p, indices, step, count, offset);
}

/* Rows of some positions, eight columns at a time, then one: each place keeps what comes last all the same. The lines of eight columns
 * find room in the cache also where columns are a power of two of bytes apart, and eight elements of a row are stored at once. One
 * column goes by fours: where a loop of so few instructions happens to lie costs up to a third. */
#define BY_COLUMNS(name, T)                                                                                                    \
    DML_INLINE void name##_eight(char *table, const int64_t *offset, int64_t apart, char *stream, int64_t pitch,               \
                                 int64_t count, int scatter)                                                                   \
    {                                                                                                                          \
        for (int64_t i = 0; i < count; i++, stream += pitch) {                                                                 \
            char *at = table + offset[i];                                                                                      \
            T some[DML_TOGETHER];                                                                                              \
            for (int k = 0; k < DML_TOGETHER; k++)                                                                             \
                memcpy(some + k, scatter ? stream + k * (int64_t)sizeof(T) : at + k * apart, sizeof(T));                       \
            for (int k = 0; k < DML_TOGETHER; k++)                                                                             \
                memcpy(scatter ? at + k * apart : stream + k * (int64_t)sizeof(T), some + k, sizeof(T));                       \
        }                                                                                                                      \
    }                                                                                                                          \
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
    DML_INLINE void name##_all(int64_t size, int64_t table_step, int64_t stream_step, int scatter, char *table,                \
                               const int64_t *offset, char *stream, int64_t pitch, int64_t count)                              \
    {                                                                                                                          \
        int64_t k = 0;                                                                                                         \
        for (; stream_step == sizeof(T) && k + DML_TOGETHER <= size; k += DML_TOGETHER)                                        \
            name##_eight(table + k * table_step, offset, table_step, stream + k * stream_step, pitch, count, scatter);         \
        for (; k < size; k++)                                                                                                  \
            name##_column(table + k * table_step, offset, stream + k * stream_step, pitch, count, scatter);                    \
    }                                                                                                                          \
    static void name(const dml_step *row, int scatter, char *table, const int64_t *offset, char *stream, int64_t pitch,        \
                     int64_t count)                                                                                            \
    {                                                                                                                          \
        if (scatter)                                                                                                           \
            name##_all(row->size, row->to, row->from, 1, table, offset, stream, pitch, count);                                 \
        else                                                                                                                   \
            name##_all(row->size, row->from, row->to, 0, table, offset, stream, pitch, count);                                 \
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

/* Slices that are rows of a few elements, or of elements in lines of their own: all first ones, all second ones. */
static void move_columns(const dml_shape *shape, int scatter, const dml_dim *dim, char *table, char *stream, int64_t *offset,
                         int64_t count)
{
    int64_t some = !scatter && dml_crowd(count, dim->stream) > CROWDED ? FEW : count;
    add_ramp(dim, offset, count);
    for (; count > 0; count -= some, offset += some, stream += some * dim->stream)
        by_columns[DML_CTZ64((uint64_t)shape->run)](dml_shape_row(shape), scatter, table, offset, stream, dim->stream,
                                                    dml_least(some, count));
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
static int some_slices(const dml_striding *s, dml_worker *worker, const dml_shape *shape, int64_t length, const dml_dim *dim,
                       char *table, char *stream, const char *indices, int64_t count)
{
    const dml_plan *p = s->plan;
    const dml_step *row = dml_shape_is_row(shape) ? dml_shape_row(shape) : NULL;
    int64_t memory[2][DML_SOME_AT_ONCE], *offset = memory[0], *later = memory[1], some = dml_least(count, DML_SOME_AT_ONCE),
                                         next;
    int short_rows = !s->turns && row && row->size <= DML_SHORT_SLICE, stop = DML_OK;
    int64_t apart = row ? llabs(s->scatter ? row->to : row->from) : 0;
    int better = p->slice == 1 || some < DML_TOGETHER || (p->slice == 8 && !p->tuned->turns_squares);
    int by_rows = better && !s->scatter && (dml_crowd(1, apart) < MEETING || dml_crowd(row->size, apart) <= CROWDED);
    int columns = short_rows || (!s->turns && apart >= DML_LINE && !by_rows);
    if (!offsets_of(p, indices, dim->index, some, offset))
        return DML_OUT_OF_RANGE;
    for (; count > 0 && !stop; count -= some, some = next) { /* `later`: of the next `next` positions */
        next = dml_least(count - some, DML_SOME_AT_ONCE);
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
        else if (columns)
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
static void go_outside(const dml_striding *s, int first, int end, int64_t part, char **table, char **stream)
{
    for (int d = end - 1; d >= first; d--) {
        int64_t place = part % s->dim[d].size;
        part /= s->dim[d].size;
        *table += place * s->dim[d].table;
        *stream += place * s->dim[d].stream;
    }
}

/* One part of the slices of some positions, in their order. */
static int move_part(const dml_striding *s, dml_worker *worker, const dml_shape *shape, int64_t length, char *part_table,
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

int dml_strided_positions(void *data, dml_worker *worker, int64_t chunk)
{
    const dml_striding *s = data;
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
