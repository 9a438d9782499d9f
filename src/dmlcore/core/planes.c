/* planes.c: copies planes that lie the other way round: what follows each other along the columns of the source does so along
 * the rows of the destination. Columns may be evenly far apart (dml_turn) or anywhere (dml_interleave); or a few rows of the
 * destination take turns in the source (dml_separate). */
#include "copy.h"
#include "dispatch.h"

#define WAYS 8 /* at least, of the first-level cache */
#define LARGE ((int64_t)6 << 20) /* bytes of a plane that the second-level cache does not hold */
#define STAGE (8 << 10) /* bytes of rows that are permuted in several stages, */
#define PERMUTED 32 /* of so many columns at most */
#define MANY_ROWS 24 /* worth it to take half a line of each column at a time */

/* How many columns are permuted at a time, where that is possible; else 1. */
static int64_t permuted(int64_t columns, int64_t width)
{
    return columns % 4 == 0 && width <= 2 ? 4 : columns % 2 == 0 && width <= 4 ? 2 : 1;
}

/* NULL: they are not two, three or four of at most eight bytes, or nothing is better for them than element by element. */
static const dml_columns *few_columns(int64_t columns, int64_t width)
{
    if (columns < 2 || columns > 4 || width > 8)
        return NULL;
    const dml_columns *few = dml_chosen_isa->columns[width == 8 ? 3 : width / 2];
    return few->interleave[columns - 2] ? few : NULL;
}

int dml_permutes(int64_t columns, int64_t width)
{
    int64_t n = permuted(columns, width);
    return few_columns(columns, width) || (columns > 4 && n > 1 && dml_permutes(columns / n, n * width));
}

void dml_separate(char *to, int64_t to_pitch, const char *from, int64_t rows, int64_t columns, int64_t width)
{
    const dml_columns *few = few_columns(columns, width);
    if (few) {
        char *at[4];
        for (int64_t k = 0; k < columns; k++)
            at[k] = to + k * to_pitch;
        few->separate[columns - 2](at, from, rows);
        return;
    }
    char stage[STAGE];
    int64_t n = permuted(columns, width), length = STAGE / (columns * width);
    for (int64_t r = 0; r < rows; r += length, from += length * columns * width) {
        int64_t some = dml_least(length, rows - r);
        dml_separate(stage, some * n * width, from, some, columns / n, n * width);
        for (int64_t k = 0; k < columns / n; k++)
            dml_separate(to + k * n * to_pitch + r * width, to_pitch, stage + k * some * n * width, some, n, width);
    }
}

/* Dense rows: first of some columns each, which are the elements of the columns that are interleaved then. */
static void interleave_in_stages(char *to, const char *from, const int64_t *column, int64_t rows, int64_t columns,
                                 int64_t width)
{
    char stage[STAGE];
    int64_t next[PERMUTED / 2], n = permuted(columns, width), length = STAGE / (columns * width);
    for (int64_t r = 0; r < rows; r += length, from += length * width, to += length * columns * width) {
        int64_t some = dml_least(length, rows - r);
        for (int64_t k = 0; k < columns / n; k++) {
            next[k] = k * some * n * width;
            dml_interleave(stage + next[k], n * width, from, column + k * n, some, n, width);
        }
        dml_interleave(to, columns * width, stage, next, some, columns / n, n * width);
    }
}

/* Dense rows of 1, 2, 4, 8 or 16 bytes to where they belong. */
static void put_rows(char *to, int64_t to_pitch, const char *from, int64_t rows, int64_t bytes)
{
#define PUT(BYTES)                                              \
    case BYTES:                                                 \
        for (int64_t r = 0; r < rows; r++)                      \
            memcpy(to + r * to_pitch, from + r * BYTES, BYTES); \
        return
    switch (bytes) {
        PUT(1);
        PUT(2);
        PUT(4);
        PUT(8);
        PUT(16);
    }
}

/* Deals blocks of elements out like packs of cards, from their two halves by turns, which turns the binary digits of every
 * place by one: done TIMES times, N columns are rows. Compilers have instructions for it, and keep such a block in registers where
 * it has a function of its own. The answer is how many rows are done: all, unless they are fewer than a block has. */
#define DEAL(T, N, TIMES, BLOCK)                                                                                        \
    DML_PIECE int64_t deal_##T##_##N(char *to, int64_t to_pitch, const char *from, const int64_t *column, int64_t rows) \
    {                                                                                                                   \
        enum { WIDTH = sizeof(T), LENGTH = (BLOCK) / (N) };                                                             \
        for (int64_t r = 0; rows >= LENGTH; r = dml_least(r + LENGTH, rows - LENGTH)) {                                 \
            T block[BLOCK], dealt[BLOCK];                                                                               \
            for (int k = 0; k < (N); k++)                                                                               \
                memcpy(block + k * LENGTH, from + column[k] + r * WIDTH, LENGTH * WIDTH);                               \
            for (int times = 0; times < (TIMES); times++) {                                                             \
                for (int i = 0; i < (BLOCK) / 2; i++) {                                                                 \
                    dealt[2 * i] = block[i];                                                                            \
                    dealt[2 * i + 1] = block[(BLOCK) / 2 + i];                                                          \
                }                                                                                                       \
                memcpy(block, dealt, sizeof dealt);                                                                     \
            }                                                                                                           \
            for (int64_t k = 0; k < LENGTH; k++)                                                                        \
                memcpy(to + (r + k) * to_pitch, block + k * (N), (N) * WIDTH);                                          \
            if (r == rows - LENGTH)                                                                                     \
                return rows;                                                                                            \
        }                                                                                                               \
        return 0;                                                                                                       \
    }
typedef int64_t dealing(char *to, int64_t to_pitch, const char *from, const int64_t *column, int64_t rows);
DEAL(u8, 4, 2, 64)
DEAL(u8, 8, 3, 64)
DEAL(u16, 8, 3, 64)

/* Pairs of eight bytes need no other place on their way. */
static void pair_u64(char *to, int64_t to_pitch, const char *from, const int64_t *column, int64_t rows)
{
    const char *a = from + column[0], *b = from + column[1];
    for (int64_t r = 0; r < rows; r++) {
        u64 some[2];
        memcpy(some, a + r * 8, 8);
        memcpy(some + 1, b + r * 8, 8);
        memcpy(to + r * to_pitch, some, 16);
    }
}

/* Eight columns together, four, two, or one, wherever their rows belong. */
static void interleave_apart(char *to, int64_t to_pitch, const char *from, const int64_t *column, int64_t rows, int64_t columns,
                             int64_t width)
{
    char stage[STAGE];
    for (int64_t n; columns > 0; columns -= n, column += n, to += n * width) {
        for (n = width <= 2 ? 8 : dml_most(1, 16 / width); n > columns; n /= 2)
            ;
        int64_t r = 0;
        if (n == 1) {
            put_rows(to, to_pitch, from + *column, rows, width);
            continue;
        } else if (width == 8) {
            pair_u64(to, to_pitch, from, column, rows);
            continue;
        } else if (n == 8)
            r = (width == 1 ? deal_u8_8 : deal_u16_8)(to, to_pitch, from, column, rows);
        else if (n == 4 && width == 1)
            r = deal_u8_4(to, to_pitch, from, column, rows);
        for (int64_t some; r < rows; r += some) {
            some = dml_least(STAGE / (n * width), rows - r);
            dml_interleave(stage, n * width, from + r * width, column, some, n, width);
            put_rows(to + r * to_pitch, to_pitch, stage, some, n * width);
        }
    }
}

/* Dense rows of three, stored as four, whose last element the next row replaces: 1.3 to 2x. */
static void interleave_three(char *to, const char *from, const int64_t *column, int64_t rows, int64_t width)
{
    const int64_t four[] = {column[0], column[1], column[2], column[2]};
    interleave_apart(to, 3 * width, from, four, rows - 1, 4, width);
    interleave_apart(to + (rows - 1) * 3 * width, 3 * width, from + (rows - 1) * width, column, 1, 3, width);
}

void dml_interleave(char *to, int64_t to_pitch, const char *from, const int64_t *column, int64_t rows, int64_t columns,
                    int64_t width)
{
    int dense = to_pitch == columns * width;
    const dml_columns *few = dense ? few_columns(columns, width) : NULL;
    if (few) {
        const char *at[4];
        for (int64_t k = 0; k < columns; k++)
            at[k] = from + column[k];
        few->interleave[columns - 2](to, at, rows);
    } else if (dense && dml_permutes(columns, width))
        interleave_in_stages(to, from, column, rows, columns, width);
    else if (dense && columns == 3 && width < 8)
        interleave_three(to, from, column, rows, width);
    else
        interleave_apart(to, to_pitch, from, column, rows, columns, width);
}

/* Eight columns at a time, because their lines may meet in the cache, which holds as many; the next ones are fetched
 * meanwhile. */
static void turn_interleaved(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns,
                             int64_t width)
{
    dealing *deal = width == 1 ? deal_u8_8 : deal_u16_8;
    int64_t column[8];
    for (int k = 0; k < 8; k++)
        column[k] = k * from_pitch;
    for (; columns >= 8; columns -= 8, from += 8 * from_pitch, to += 8 * width) {
        for (int64_t c = 8; c < 16; c++)
            for (int64_t at = 0; at < rows * width; at += 64)
                DML_PREFETCH_L2(from + c * from_pitch + at);
        if (!deal(to, to_pitch, from, column, rows))
            interleave_apart(to, to_pitch, from, column, rows, 8, width);
    }
    interleave_apart(to, to_pitch, from, column, rows, columns, width);
}

/* n columns at a time, a constant wherever this is inlined, because their lines may meet in the cache, which holds as many; the
 * next ones are fetched meanwhile. */
DML_INLINE void turn_columns_u32(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows,
                                 int64_t columns, int n)
{
    for (; columns >= n; columns -= n, from += n * from_pitch, to += n * 4) {
        for (int64_t c = n; c < 2 * n; c++)
            for (int64_t at = 0; at < rows * 4; at += 64)
                DML_PREFETCH_L2(from + c * from_pitch + at);
        for (int64_t r = 0; r < rows; r++) {
            u32 some[16];
            for (int64_t c = 0; c < n; c++)
                memcpy(some + c, from + c * from_pitch + r * 4, 4);
            memcpy(to + r * to_pitch, some, (size_t)n * 4);
        }
    }
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            memcpy(to + r * to_pitch + c * 4, from + c * from_pitch + r * 4, 4);
}

/* N columns at a time, ROWS rows of them at most: their elements go to as many rows, N to each, in one store where that can be.
 * Measured against columns: pairs of eight bytes 1.2 to 2.5x, fours of four bytes 1.3 to 3x (Zen 4); against rows of the
 * destination, four bytes: 1.05 to 1.3x (Emerald Rapids). */
#define TURN_LINES(T, N, ROWS)                                                                                                 \
    for (int64_t left = rows, n; left > 0; left -= n, to += n * to_pitch, from += n * (int64_t)sizeof(T)) {                    \
        n = dml_least(left, ROWS);                                                                                             \
        int64_t c = 0;                                                                                                         \
        for (; c + (N) <= columns; c += (N))                                                                                   \
            for (int64_t r = 0; r < n; r++) {                                                                                  \
                T some[N];                                                                                                     \
                for (int64_t k = 0; k < (N); k++)                                                                              \
                    memcpy(some + k, from + (c + k) * from_pitch + r * (int64_t)sizeof(T), sizeof(T));                         \
                memcpy(to + r * to_pitch + c * (int64_t)sizeof(T), some, sizeof some);                                         \
            }                                                                                                                  \
        for (; c < columns; c++)                                                                                               \
            for (int64_t r = 0; r < n; r++)                                                                                    \
                memcpy(to + r * to_pitch + c * (int64_t)sizeof(T), from + c * from_pitch + r * (int64_t)sizeof(T), sizeof(T)); \
    }

/* Row by row of the destination, of so many columns that a line of each stays in the first-level cache until its last element
 * is copied. */
static void turn_rows_u32(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns,
                          int64_t most)
{
    for (int64_t n; columns > 0; columns -= n, to += n * 4, from += n * from_pitch) {
        n = dml_least(columns, most);
        for (int64_t r = 0; r < rows; r++) {
            char *at = to + r * to_pitch;
            const char *line = from + r * 4;
            int64_t c = 0;
            for (; c + 4 <= n; c += 4, at += 16, line += 4 * from_pitch) {
                u32 some[4];
                for (int k = 0; k < 4; k++)
                    memcpy(some + k, line + k * from_pitch, 4);
                memcpy(at, some, 16);
            }
            for (; c < n; c++, at += 4, line += from_pitch)
                memcpy(at, line, 4);
        }
    }
}

/* How many lines, `pitch` bytes apart, the first-level cache holds: there are places for WAYS of those whose addresses have the
 * same last twelve bits, but for the last six. */
static int64_t lines_kept(int64_t pitch)
{
    int64_t apart = dml_least(pitch & -pitch, 4096);
    return WAYS * dml_least(64, 4096 / dml_most(1, apart));
}

/* Whether hardly any of sixteen lines, `pitch` bytes apart, have the same place in the first-level cache. */
static int rows_are_apart(int64_t pitch)
{
    uint64_t taken = 0;
    int free = 0;
    for (int64_t r = 0; r < 16; r++) {
        uint64_t place = (uint64_t)1 << ((uint64_t)(r * pitch) >> 6 & 63);
        free += !(taken & place);
        taken |= place;
    }
    return free >= 12;
}

void dml_turn(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns, int64_t width)
{
    int64_t kept = lines_kept(from_pitch);
    int large = columns * from_pitch >= LARGE, apart = rows_are_apart(to_pitch);
    if (width < 4) {
        turn_interleaved(to, to_pitch, from, from_pitch, rows, columns, width);
    } else if (width == 4 && large && apart && dml_tuned->turned_at_once == 16) {
        TURN_LINES(u32, 4, 16);
    } else if (width == 4 && (large || rows >= MANY_ROWS) && apart) {
        TURN_LINES(u32, 4, 8);
    } else if (width == 4 && columns >= 16 && kept >= 32) {
        turn_rows_u32(to, to_pitch, from, from_pitch, rows, columns, kept);
    } else if (width == 4 && dml_tuned->turned_at_once == 16) {
        turn_columns_u32(to, to_pitch, from, from_pitch, rows, columns, 16);
    } else if (width == 4) {
        turn_columns_u32(to, to_pitch, from, from_pitch, rows, columns, 8);
    } else if (width == 8) {
        TURN_LINES(u64, 2, 8);
    } else {
        TURN_LINES(u128, 1, 4);
    }
}
