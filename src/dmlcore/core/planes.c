/* planes.c: copies planes that lie the other way round: what follows each other along the columns of the source does so along
 * the rows of the destination. Columns may be evenly far apart (dml_turn) or anywhere (dml_interleave). */
#include "copy.h"
#include "dispatch.h"

#define WAYS 8 /* at least, of the first-level cache */
#define LARGE ((int64_t)6 << 20) /* bytes of a plane that the second-level cache does not hold */
#define MANY_ROWS 24 /* worth it to take half a line of each column at a time */

/* deal: deals a block of elements out like a pack of cards, from its two halves by turns, which turns the binary digits of every
 * place by one: done d times, 2**d rows are columns. Compilers have instructions for it, for blocks of this size.
 * dealt: as many rows of n columns at a time as a block has, if n is MOST or less; how many rows are done. dense: rows
 * follow each other; a constant as well, else compilers keep every block in memory too. */
#define BLOCK 64
#define DEAL(T, MOST)                                                                                                   \
    DML_INLINE void deal_##T(T *block, int times)                                                                       \
    {                                                                                                                   \
        T dealt[BLOCK];                                                                                                 \
        for (; times > 0; times--) {                                                                                    \
            for (int i = 0; i < BLOCK / 2; i++) {                                                                       \
                dealt[2 * i] = block[i];                                                                                \
                dealt[2 * i + 1] = block[BLOCK / 2 + i];                                                                \
            }                                                                                                           \
            memcpy(block, dealt, sizeof dealt);                                                                         \
        }                                                                                                               \
    }                                                                                                                   \
    DML_INLINE int64_t dealt_##T(char *to, int64_t to_pitch, const char *const *column, int64_t rows, int n, int dense) \
    {                                                                                                                   \
        const int64_t width = sizeof(T), length = BLOCK / n;                                                            \
        int64_t r = 0;                                                                                                  \
        for (; n > 1 && n <= (MOST) && r + length <= rows; r += length) {                                               \
            T block[BLOCK];                                                                                             \
            for (int k = 0; k < n; k++)                                                                                 \
                memcpy(block + k * length, column[k] + r * width, (size_t)(length * width));                            \
            deal_##T(block, n == 8 ? 3 : n / 2);                                                                        \
            if (dense)                                                                                                  \
                memcpy(to + r * to_pitch, block, sizeof block);                                                         \
            else                                                                                                        \
                for (int64_t k = 0; k < length; k++)                                                                    \
                    memcpy(to + (r + k) * to_pitch, block + k * n, (size_t)(n * width));                                \
        }                                                                                                               \
        return r;                                                                                                       \
    }
DEAL(u8, 8)
DEAL(u16, 8)
#define dealt_u32(to, to_pitch, column, rows, n, dense) 0
#define dealt_u64(to, to_pitch, column, rows, n, dense) 0
#define dealt_u128(to, to_pitch, column, rows, n, dense) 0

/* n columns, at most eight, one store for each of their rows; then N columns at a time. Three alone are stored as four, whose
 * last element the next row replaces: 1.3 to 2x. */
#define INTERLEAVE(T, N)                                                                                                       \
    DML_INLINE void some_columns_##T(char *to, int64_t to_pitch, const char *from, const int64_t *column, int64_t rows, int n) \
    {                                                                                                                          \
        const char *at[8];                                                                                                     \
        for (int k = 0; k < n; k++)                                                                                            \
            at[k] = from + column[k];                                                                                          \
        for (int64_t r = to_pitch == n * (int64_t)sizeof(T) ? dealt_##T(to, to_pitch, at, rows, n, 1)                          \
                                                            : dealt_##T(to, to_pitch, at, rows, n, 0);                         \
             r < rows; r++) {                                                                                                  \
            T some[8];                                                                                                         \
            for (int k = 0; k < n; k++)                                                                                        \
                memcpy(some + k, at[k] + r * (int64_t)sizeof(T), sizeof(T));                                                   \
            memcpy(to + r * to_pitch, some, (size_t)n * sizeof(T));                                                            \
        }                                                                                                                      \
    }                                                                                                                          \
    static void interleave_##T(char *to, int64_t to_pitch, const char *from, const int64_t *column, int64_t rows,              \
                               int64_t columns)                                                                                \
    {                                                                                                                          \
        if (sizeof(T) <= 4 && columns == 3 && to_pitch == 3 * (int64_t)sizeof(T)) {                                            \
            const int64_t four[] = {column[0], column[1], column[2], column[2]}, last = rows - 1;                              \
            some_columns_##T(to, to_pitch, from, four, last, 4);                                                               \
            for (int64_t k = 0; k < 3; k++)                                                                                    \
                memcpy(to + (3 * last + k) * (int64_t)sizeof(T), from + column[k] + last * (int64_t)sizeof(T), sizeof(T));     \
            return;                                                                                                            \
        }                                                                                                                      \
        int64_t c = 0;                                                                                                         \
        for (; c + N <= columns; c += N)                                                                                       \
            some_columns_##T(to + c * (int64_t)sizeof(T), to_pitch, from, column + c, rows, N);                                \
        if (N > 2 && c + 2 <= columns) {                                                                                       \
            some_columns_##T(to + c * (int64_t)sizeof(T), to_pitch, from, column + c, rows, 2);                                \
            c += 2;                                                                                                            \
        }                                                                                                                      \
        if (c < columns)                                                                                                       \
            some_columns_##T(to + c * (int64_t)sizeof(T), to_pitch, from, column + c, rows, 1);                                \
    }
INTERLEAVE(u8, 4)
INTERLEAVE(u16, 4)
INTERLEAVE(u32, 4)
INTERLEAVE(u64, 2)
INTERLEAVE(u128, 1)

void dml_interleave(char *to, int64_t to_pitch, const char *from, const int64_t *column, int64_t rows, int64_t columns,
                    int64_t width)
{
    switch (width) {
    case 1: interleave_u8(to, to_pitch, from, column, rows, columns); return;
    case 2: interleave_u16(to, to_pitch, from, column, rows, columns); return;
    case 4: interleave_u32(to, to_pitch, from, column, rows, columns); return;
    case 8: interleave_u64(to, to_pitch, from, column, rows, columns); return;
    default: interleave_u128(to, to_pitch, from, column, rows, columns);
    }
}

/* Eight columns at a time, because their lines may meet in the cache, which holds as many; the next ones are fetched
 * meanwhile. */
#define TURN_DEALT(T)                                                                     \
    do {                                                                                  \
        int64_t column[8];                                                                \
        for (int k = 0; k < 8; k++)                                                       \
            column[k] = k * from_pitch;                                                   \
        for (; columns >= 8; columns -= 8, from += 8 * from_pitch, to += 8 * sizeof(T)) { \
            for (int64_t c = 8; c < 16; c++)                                              \
                for (int64_t at = 0; at < rows * (int64_t)sizeof(T); at += 64)            \
                    DML_PREFETCH_L2(from + c * from_pitch + at);                          \
            some_columns_##T(to, to_pitch, from, column, rows, 8);                        \
        }                                                                                 \
        interleave_##T(to, to_pitch, from, column, rows, columns);                        \
    } while (0)

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
    if (width == 1) {
        TURN_DEALT(u8);
    } else if (width == 2) {
        TURN_DEALT(u16);
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
