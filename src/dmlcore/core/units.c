/* units.c: copies one unit of a shape (shape.c): a part of a long run, some steps of a plane that lies the other way round,
 * or rows of elements that are any way apart. */
#include "dispatch.h"
#include "shape.h"

#define CROWDED 1000  /* elements whole pages apart that the second-level cache does not hold, though it is large enough, */
#define TOO_FAR 16384 /* and that the third-level one does not hold */

/* Rows of elements, by fours: the end of a short row comes as the processor expects it. */
#define ELEMENTS(name, T, TO, FROM)                                                                 \
    static void name(char *to, const char *from, int64_t count, int64_t to_step, int64_t from_step) \
    {                                                                                               \
        T some[4];                                                                                  \
        (void)to_step;                                                                              \
        for (; count >= 4; count -= 4, to += 4 * (TO), from += 4 * (FROM)) {                        \
            for (int i = 0; i < 4; i++)                                                             \
                memcpy(some + i, from + i * (FROM), sizeof(T));                                     \
            for (int i = 0; i < 4; i++)                                                             \
                memcpy(to + i * (TO), some + i, sizeof(T));                                         \
        }                                                                                           \
        for (; count > 0; count--, to += (TO), from += (FROM))                                      \
            memcpy(to, from, sizeof(T));                                                            \
    }

/* Elements whose lines meet in the cache, one after the other: where the next one is depends on what this one holds, though not on
 * its value. Left alone the processor asks for dozens at a time, more than the places that they meet in, before it foresees them. */
#define PACED(name, T)                                                                              \
    static void name(char *to, const char *from, int64_t count, int64_t to_step, int64_t from_step) \
    {                                                                                               \
        T one;                                                                                      \
        int64_t none = 0;                                                                           \
        (void)to_step;                                                                              \
        DML_ONCE(none);                                                                             \
        for (; count > 0; count--, to += sizeof one, from += from_step + ((int64_t)one & none)) {   \
            memcpy(&one, from, sizeof one);                                                         \
            memcpy(to, &one, sizeof one);                                                           \
        }                                                                                           \
    }

/* Every second element: compilers have a way. */
#define HALF(name, T)                                                                               \
    static void name(char *to, const char *from, int64_t count, int64_t to_step, int64_t from_step) \
    {                                                                                               \
        (void)to_step, (void)from_step;                                                             \
        for (int64_t i = 0; i < count; i++)                                                         \
            memcpy(to + i * (int64_t)sizeof(T), from + i * 2 * (int64_t)sizeof(T), sizeof(T));      \
    }

/* Columns side by side, `apart` from one to the next: what is read goes on in as many lines as a cache has places for where these are a
 * power of two apart, and each row of them is stored to one line. */
#define TOGETHER(name, T)                                                                                          \
    static void name(char *to, const char *from, int64_t count, int64_t to_step, int64_t from_step, int64_t apart) \
    {                                                                                                              \
        for (; count > 0; count--, to += to_step, from += from_step) {                                             \
            T some[DML_TOGETHER];                                                                                  \
            for (int k = 0; k < DML_TOGETHER; k++)                                                                 \
                memcpy(some + k, from + k * apart, sizeof(T));                                                     \
            for (int k = 0; k < DML_TOGETHER; k++)                                                                 \
                memcpy(to + k * (int64_t)sizeof(T), some + k, sizeof(T));                                          \
        }                                                                                                          \
    }

/* Elements backwards: compilers have a way, but for bytes; one element again and again. */
#define BACK(name, T)                                                                               \
    static void name(char *to, const char *from, int64_t count, int64_t to_step, int64_t from_step) \
    {                                                                                               \
        (void)to_step, (void)from_step;                                                             \
        for (int64_t i = 0; i < count; i++)                                                         \
            memcpy(to + i * (int64_t)sizeof(T), from - i * (int64_t)sizeof(T), sizeof(T));          \
    }
#define REPEATED(name, T)                                                                           \
    static void name(char *to, const char *from, int64_t count, int64_t to_step, int64_t from_step) \
    {                                                                                               \
        T one;                                                                                      \
        (void)to_step, (void)from_step;                                                             \
        memcpy(&one, from, sizeof one);                                                             \
        for (int64_t i = 0; i < count; i++)                                                         \
            memcpy(to + i * (int64_t)sizeof(T), &one, sizeof one);                                  \
    }
BACK(back_u16, u16)
BACK(back_u32, u32)
BACK(back_u64, u64)
BACK(back_u128, u128)
static void back_u8(char *to, const char *from, int64_t count, int64_t to_step, int64_t from_step)
{
    u64 some;
    for (; count >= 8; count -= 8, to += 8, from -= 8) {
        memcpy(&some, from - 7, 8);
        some = DML_SWAPPED(some);
        memcpy(to, &some, 8);
    }
    for (; count > 0; count--, to += to_step, from += from_step)
        *to = *from;
}

#define ROWS(T)                                                \
    ELEMENTS(scattered_##T, T, to_step, from_step)             \
    ELEMENTS(collected_##T, T, (int64_t)sizeof(T), from_step)  \
    HALF(halved_##T, T)                                        \
    REPEATED(repeated_##T, T)                                  \
    static dml_row row_##T(int64_t to, int64_t from)           \
    {                                                          \
        const int64_t width = sizeof(T);                       \
        if (to != width)                                       \
            return scattered_##T;                              \
        if (from == 0)                                         \
            return repeated_##T;                               \
        if (from == -width)                                    \
            return back_##T;                                   \
        return from == 2 * width ? halved_##T : collected_##T; \
    }
ROWS(u8)
ROWS(u16)
ROWS(u32)
ROWS(u64)
ROWS(u128)
PACED(paced_u8, u8)
PACED(paced_u16, u16)
PACED(paced_u32, u32)
PACED(paced_u64, u64)
static const dml_row paced[] = {paced_u8, paced_u16, paced_u32, paced_u64};
TOGETHER(together_u8, u8)
TOGETHER(together_u16, u16)
TOGETHER(together_u32, u32)
TOGETHER(together_u64, u64)
TOGETHER(together_u128, u128)
static void (*const together[DML_STORAGES])(char *to, const char *from, int64_t count, int64_t to_step, int64_t from_step,
                                            int64_t apart) = {together_u8, together_u16, together_u32, together_u64,
                                                              together_u128};

/* Runs of more than one T and up to two: from both their ends. */
#define RUNS(T)                                                                                                            \
    static void runs_of_##T(char *to, const char *from, int64_t count, int64_t to_step, int64_t from_step, int64_t second) \
    {                                                                                                                      \
        for (int64_t i = 0; i < count; i++, to += to_step, from += from_step) {                                            \
            T begin, end;                                                                                                  \
            memcpy(&begin, from, sizeof(T));                                                                               \
            memcpy(&end, from + second, sizeof(T));                                                                        \
            memcpy(to, &begin, sizeof(T));                                                                                 \
            memcpy(to + second, &end, sizeof(T));                                                                          \
        }                                                                                                                  \
    }
RUNS(u16)
RUNS(u32)
RUNS(u64)
RUNS(u128)

static void copy_runs(char *to, const char *from, int64_t count, int64_t to_step, int64_t from_step, int64_t run)
{
    if (run <= 4)
        runs_of_u16(to, from, count, to_step, from_step, run - 2);
    else if (run <= 8)
        runs_of_u32(to, from, count, to_step, from_step, run - 4);
    else if (run <= 16)
        runs_of_u64(to, from, count, to_step, from_step, run - 8);
    else if (run <= 32)
        runs_of_u128(to, from, count, to_step, from_step, run - 16);
    else
        for (int64_t i = 0; i < count; i++)
            dml_copy_short(to + i * to_step, from + i * from_step, run);
}

dml_row dml_shape_loop(const dml_shape *s)
{
    const dml_step *row = dml_shape_row(s);
    int64_t to = row->to, from = row->from;
    int crowded = dml_tuned->paces && from && from % DML_PAGE == 0 && row->size >= CROWDED && row->size < TOO_FAR;
    if (crowded && to == s->run && s->run <= 8 && (s->run & (s->run - 1)) == 0)
        return paced[DML_CTZ64((uint64_t)s->run)];
    switch (s->run) {
    case 1: return row_u8(to, from);
    case 2: return row_u16(to, from);
    case 4: return row_u32(to, from);
    case 8: return row_u64(to, from);
    case 16: return row_u128(to, from);
    default: return NULL;
    }
}

/* A part of one long run. */
static void copy_part(const dml_shape *s, char *to, const char *from, int64_t unit)
{
    int64_t parts = dml_ceil(s->run, s->unit), at = unit % parts * s->unit, place = unit / parts;
    for (int d = s->rank - 1; d >= 0; d--) {
        int64_t k = place % s->dim[d].size;
        place /= s->dim[d].size;
        to += k * s->dim[d].to;
        from += k * s->dim[d].from;
    }
    dml_copy_bytes(to + at, from + at, dml_least(s->unit, s->run - at), s->store);
}

/* Rows that are anywhere in the destination: turned in scratch memory, then copied. */
static void turn_listed(const dml_shape *s, char *to, const int64_t *row, const char *from, int64_t rows)
{
    char stage[DML_TILE];
    const dml_step *along = s->dim + s->along;
    int64_t columns = s->columns ? s->columns : along->size, most = (DML_TILE / rows - DML_LINE) / s->run, some;
    int dense = !s->columns && along->from == rows * s->run && dml_shape_separates(s, rows);
    for (int64_t c = 0; c < columns; c += some) {
        some = dml_least(most, columns - c);
        int64_t bytes = some * s->run, pitch = bytes + DML_LINE; /* a line keeps rows from meeting in the cache */
        if (s->columns)
            dml_interleave(stage, pitch, from, s->column + c, rows, some, s->run);
        else if (dense)
            dml_separate(stage, pitch, from + c * along->from, some, rows, s->run);
        else
            dml_turn(stage, pitch, from + c * along->from, along->from, rows, some, s->run);
        for (int64_t r = 0; r < rows; r++)
            memcpy(to + row[r] + c * s->run, stage + r * pitch, (size_t)bytes);
    }
}

/* Some columns at a time: the first ones, then those that begin where a line does if they fill one, then the last ones, some of them
 * once more. */
static void copy_spread(const dml_shape *s, char *to, const char *from, int64_t rows)
{
    const dml_step *across = s->dim + s->across, *along = s->dim + s->along;
    int64_t bytes = DML_TOGETHER * s->run, into_line = bytes < DML_LINE ? 0 : (int64_t)((uintptr_t)to % DML_LINE) / s->run;
    for (int64_t c = 0; c < along->size; c += DML_TOGETHER - (c ? 0 : into_line)) {
        int64_t first = dml_least(c, along->size - DML_TOGETHER);
        together[DML_CTZ64((uint64_t)s->run)](to + first * s->run, from + first * along->from, rows, across->to, across->from,
                                              along->from);
    }
}

/* Some steps across of one plane; planes inside a step before the next steps, because their lines in the destination are the
 * same ones. */
static void copy_turned(const dml_shape *s, char *to, const char *from, int64_t unit)
{
    const dml_step *across = s->dim + s->across, *along = s->dim + s->along;
    int64_t at = 0;
    for (int d = s->along - 1; d >= 0; d--) {
        int64_t size = d == s->across ? dml_ceil(across->size, s->length) : s->dim[d].size, k = unit % size;
        unit /= size;
        if (d == s->across) {
            k *= s->length;
            at = k;
        }
        to += d == s->across && s->listed ? 0 : k * s->dim[d].to;
        from += k * s->dim[d].from;
    }
    int64_t rows = dml_least(s->length, across->size - at);
    if (s->spread)
        copy_spread(s, to, from, rows);
    else if (s->listed)
        turn_listed(s, to, s->row_at + at, from, rows);
    else if (s->store != DML_STORE_PLAIN && s->columns * s->run == across->to && dml_permutes(s->columns, s->run)) {
        char stage[DML_TILE];
        dml_interleave(stage, across->to, from, s->column, rows, s->columns, s->run);
        dml_copy_bytes(to, stage, rows * across->to, s->store);
    } else if (s->columns)
        dml_interleave(to, across->to, from, s->column, rows, s->columns, s->run);
    else
        dml_turn(to, across->to, from, along->from, rows, along->size, s->run);
}

static void copy_row(const dml_shape *s, char *to, const char *from, int64_t count)
{
    int64_t to_step = dml_shape_row(s)->to, from_step = dml_shape_row(s)->from;
    if (s->turns > 1)
        dml_separate(to, s->turn_to, from, count, s->turns, s->run);
    else if (s->row)
        s->row(to, from, count, to_step, from_step);
    else if (s->run <= DML_SHORT)
        copy_runs(to, from, count, to_step, from_step, s->run);
    else
        for (int64_t i = 0; i < count; i++)
            dml_copy_bytes(to + i * to_step, from + i * from_step, s->run, s->store);
}

static void copy_rows(const dml_shape *s, char *to, const char *from, int64_t unit)
{
    int64_t row = unit * s->rows_in_unit, end = dml_least(row + s->rows_in_unit, s->rows), at[DML_RANK_MAX + 1], rest = row;
    for (int d = s->rank - 2; d >= 0; d--) {
        at[d] = rest ? rest % s->dim[d].size : 0;
        rest = rest ? rest / s->dim[d].size : 0;
        to += at[d] * s->dim[d].to;
        from += at[d] * s->dim[d].from;
    }
    for (;;) {
        copy_row(s, to, from, s->cut < 0 ? s->length : dml_least(s->length, s->in_line - at[s->cut] * s->length));
        if (++row == end)
            return;
        for (int d = s->rank - 2; d >= 0; d--) {
            to += s->dim[d].to;
            from += s->dim[d].from;
            if (++at[d] < s->dim[d].size)
                break;
            to -= at[d] * s->dim[d].to;
            from -= at[d] * s->dim[d].from;
            at[d] = 0;
        }
    }
}

void dml_shape_copy(const dml_shape *s, char *to, const char *from, int64_t unit)
{
    if (s->chained >= 0)
        dml_chains_copy(s, to, from, unit);
    else if (s->across >= 0)
        copy_turned(s, to, from, unit);
    else if (s->units == 1 && s->places == 1)
        dml_copy_bytes(to, from, s->run, s->store);
    else if (s->run >= s->unit)
        copy_part(s, to, from, unit);
    else
        copy_rows(s, to, from, unit);
}
