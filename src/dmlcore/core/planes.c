/* planes.c: copies planes that lie the other way round: what follows each other along the columns of the source does so along
 * the rows of the destination. Columns may be evenly far apart (dml_turn) or anywhere (dml_turn_listed). */
#include "copy.h"
#include "deals.h"
#include "dispatch.h"
#include "plan.h"

#define PAIRED 8 /* rows of pairs of columns */
#define CROWDED 1024 /* bytes; lines that are a multiple of it apart have few places in the caches */
#define LEAST_KEPT 128 /* lines of as many columns of eight bytes that are read row by row, */
#define KEPT_BELOW ((int64_t)16 << 20) /* in planes of so many bytes */
#define WAYS 8 /* at least, of the first-level cache */

/* Deals blocks of elements out like packs of cards, from their two halves by turns, which turns the binary digits of every
 * place by one: done TIMES times, N columns are rows. Compilers have instructions for it, and keep such a block in registers where
 * it has a function of its own. The answer is how many rows are done: all, unless they are fewer than a block has. */
#define DEAL(T, N, TIMES, BLOCK)                                                                                  \
    int64_t dml_deal_##T##_##N(char *to, int64_t to_pitch, const char *from, const int64_t *column, int64_t rows) \
    {                                                                                                             \
        enum { WIDTH = sizeof(T), LENGTH = (BLOCK) / (N) };                                                       \
        for (int64_t r = 0; rows >= LENGTH; r = dml_least(r + LENGTH, rows - LENGTH)) {                           \
            T block[BLOCK], dealt[BLOCK];                                                                         \
            for (int k = 0; k < (N); k++)                                                                         \
                memcpy(block + k * LENGTH, from + column[k] + r * WIDTH, LENGTH * WIDTH);                         \
            for (int times = 0; times < (TIMES); times++) {                                                       \
                for (int i = 0; i < (BLOCK) / 2; i++) {                                                           \
                    dealt[2 * i] = block[i];                                                                      \
                    dealt[2 * i + 1] = block[(BLOCK) / 2 + i];                                                    \
                }                                                                                                 \
                memcpy(block, dealt, sizeof dealt);                                                               \
            }                                                                                                     \
            for (int64_t k = 0; k < LENGTH; k++)                                                                  \
                memcpy(to + (r + k) * to_pitch, block + k * (N), (N) * WIDTH);                                    \
            if (r == rows - LENGTH)                                                                               \
                return rows;                                                                                      \
        }                                                                                                         \
        return 0;                                                                                                 \
    }
DEAL(u8, 4, 2, 64)
DEAL(u8, 8, 3, 64)
DEAL(u16, 8, 3, 64)

/* Eight columns at a time, because their lines may meet in the cache, which holds as many; the next ones are fetched
 * meanwhile. */
static void turn_interleaved(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns,
                             int64_t width)
{
    dml_dealing *deal = width == 1 ? dml_deal_u8_8 : dml_deal_u16_8;
    int64_t column[8];
    for (int k = 0; k < 8; k++)
        column[k] = k * from_pitch;
    for (; columns >= 8; columns -= 8, from += 8 * from_pitch, to += 8 * width) {
        for (int64_t c = 8; c < 16; c++)
            for (int64_t at = 0; at < rows * width; at += 64)
                DML_PREFETCH_L2(from + c * from_pitch + at);
        if (!deal(to, to_pitch, from, column, rows))
            dml_interleave_apart(to, to_pitch, from, column, rows, 8, width);
    }
    dml_interleave_apart(to, to_pitch, from, column, rows, columns, width);
}

/* Where rows or columns begin: at listed places, or evenly far apart. Where this is inlined, a constant NULL costs nothing. */
typedef struct {
    const int64_t *list;
    int64_t pitch;
} places;

DML_INLINE int64_t place(places p, int64_t k) { return p.list ? p.list[k] : k * p.pitch; }
/* Those from the k-th on, and how far beyond the others they are counted from. */
DML_INLINE places beyond(places p, int64_t k) { return (places){p.list ? p.list + k : NULL, p.pitch}; }
DML_INLINE int64_t even(places p, int64_t k) { return p.list ? 0 : k * p.pitch; }

/* A square of elements of 4, 8 or 16 bytes, a constant wherever this is inlined: as many on a side as 16 bytes hold. */
DML_INLINE void turn_square(char *to, places row, const char *from, places column, int64_t width)
{
    int64_t side = 16 / width;
#if DML_X86_64
    __m128i v[4], w[4];
    for (int64_t k = 0; k < side; k++)
        v[k] = _mm_loadu_si128((const __m128i *)(const void *)(from + place(column, k)));
    for (int64_t k = 0; k < side && width == 4; k += 2) {
        w[k] = _mm_unpacklo_epi32(v[k], v[k + 1]);
        w[k + 1] = _mm_unpackhi_epi32(v[k], v[k + 1]);
    }
    if (width == 16)
        _mm_storeu_si128((__m128i *)(void *)(to + place(row, 0)), v[0]);
    for (int64_t k = 0; k < side / 2; k++) {
        __m128i one = width == 4 ? w[k] : v[0], other = width == 4 ? w[k + 2] : v[1];
        _mm_storeu_si128((__m128i *)(void *)(to + place(row, 2 * k)), _mm_unpacklo_epi64(one, other));
        _mm_storeu_si128((__m128i *)(void *)(to + place(row, 2 * k + 1)), _mm_unpackhi_epi64(one, other));
    }
#else
    for (int64_t r = 0; r < side; r++)
        for (int64_t c = 0; c < side; c++)
            memcpy(to + place(row, r) + c * width, from + place(column, c) + r * width, (size_t)width);
#endif
}

/* Square by square, of so many columns at a time that their rows are lines of the destination: each of those is stored at once,
 * and so many lines of the source are read at the same time. Those of a far plane are fetched before. The last squares overlap those
 * before them. */
DML_INLINE void turn_squares(char *to, places row, const char *from, places column, int64_t rows, int64_t columns,
                             int64_t width, int far)
{
    int64_t side = 16 / width, line = DML_LINE / width, high = rows - rows % side, wide = columns - columns % side;
#define SQUARE(r, c) \
    turn_square(to + even(row, r) + (c) * width, beyond(row, r), from + even(column, c) + (r) * width, beyond(column, c), width)
    for (int64_t c = 0, end; high && c < wide; c = end) {
        end = dml_least(c + line, wide);
        for (int64_t r = 0; r < high; r += side) {
            for (int64_t next = end; far && r % line == 0 && next < end + line; next++)
                DML_PREFETCH_L2(from + place(column, column.list ? dml_least(next, columns - 1) : next) + r * width);
            for (int64_t k = c; k < end; k += side)
                SQUARE(r, k);
        }
        for (int64_t k = c; high < rows && k < end; k += side)
            SQUARE(rows - side, k);
    }
    for (int64_t r = 0; wide && wide < columns && r < high; r += side)
        SQUARE(r, columns - side);
    int fits = high && wide; /* else there is no square */
    for (int64_t r = fits ? high : 0; r < rows; r++)
        for (int64_t c = fits ? wide : 0; c < columns; c++)
            memcpy(to + place(row, r) + c * width, from + place(column, c) + r * width, (size_t)width);
#undef SQUARE
}

/* Row by row of the destination, of so many columns that a line of each stays in the first-level cache until its last element
 * is copied. Elements of 4 or 8 bytes. */
DML_INLINE void turn_rows(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns,
                          int64_t most, int64_t width)
{
    for (int64_t n; columns > 0; columns -= n, to += n * width, from += n * from_pitch) {
        n = dml_least(columns, most);
        for (int64_t r = 0; r < rows; r++) {
            char *at = to + r * to_pitch;
            const char *line = from + r * width;
            int64_t c = 0;
            for (; c + 4 <= n; c += 4, at += 4 * width, line += 4 * from_pitch) {
                char some[4 * 8];
                for (int64_t k = 0; k < 4; k++)
                    memcpy(some + k * width, line + k * from_pitch, (size_t)width);
                memcpy(at, some, (size_t)(4 * width));
            }
            for (; c < n; c++, at += width, line += from_pitch)
                memcpy(at, line, (size_t)width);
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

/* A block, column after column; its rows are lines. */
DML_INLINE void turn_block(char *to, const char *from, const int64_t *column, int64_t rows, int64_t columns, int64_t width)
{
    const places lines = {NULL, DML_LINE}, all = {column, 0};
    int64_t side = 16 / width, high = rows - rows % side, wide = columns - columns % side;
    if (width < 4 && rows * width == DML_LINE && columns % 8 == 0)
        for (int64_t c = 0; c < columns; c += 8)
            (width == 1 ? dml_deal_u8_8 : dml_deal_u16_8)(to + c * width, DML_LINE, from, column + c, rows);
    else if (width < 4)
        dml_interleave_apart(to, DML_LINE, from, column, rows, columns, width);
    for (int64_t c = 0; width >= 4 && c < wide; c += side)
        for (int64_t r = 0; r < high; r += side)
            turn_square(to + r * DML_LINE + c * width, lines, from + r * width, beyond(all, c), width);
    for (int64_t r = 0; width >= 4 && r < rows; r++)
        for (int64_t c = r < high ? wide : 0; c < columns; c++)
            memcpy(to + r * DML_LINE + c * width, from + column[c] + r * width, (size_t)width);
}

/* Block by block, each of up to as many elements on a side as a line has: where lines would meet in the cache, and for far planes
 * of bytes. Each is put together first, so that every line of source and destination is needed once. The last blocks overlap those
 * before them. */
#define TURN_BLOCKS(WIDTH)                                                                                            \
    DML_LONG_PIECE void turn_blocks_##WIDTH(char *to, places row, const char *from, places column, int64_t rows,      \
                                            int64_t columns, int far)                                                 \
    {                                                                                                                 \
        char memory[DML_LINE * DML_LINE + DML_LINE], *block = memory + (-(intptr_t)memory & (DML_LINE - 1));          \
        int64_t at[DML_LINE], line = DML_LINE / WIDTH, high = dml_least(rows, line), wide = dml_least(columns, line); \
        for (int64_t c = 0; c < columns; c = c + wide < columns ? dml_least(c + wide, columns - wide) : columns) {    \
            for (int64_t k = 0; k < wide; k++)                                                                        \
                at[k] = place(column, c + k);                                                                         \
            for (int64_t r = 0; r < rows; r = r + high < rows ? dml_least(r + high, rows - high) : rows) {            \
                for (int64_t k = c + wide; far && k < dml_least(c + 2 * wide, columns); k++)                          \
                    DML_PREFETCH_L2(from + place(column, k) + r * WIDTH);                                             \
                if (high == line && wide == line) {                                                                   \
                    turn_block(block, from + r * WIDTH, at, line, line, WIDTH);                                       \
                    for (int64_t k = 0; k < line; k++)                                                                \
                        memcpy(to + place(row, r + k) + c * WIDTH, block + k * DML_LINE, DML_LINE);                   \
                } else {                                                                                              \
                    turn_block(block, from + r * WIDTH, at, high, wide, WIDTH);                                       \
                    for (int64_t k = 0; k < high; k++)                                                                \
                        dml_copy_short(to + place(row, r + k) + c * WIDTH, block + k * DML_LINE, wide * WIDTH);       \
                }                                                                                                     \
            }                                                                                                         \
        }                                                                                                             \
    }
TURN_BLOCKS(1)
TURN_BLOCKS(2)
TURN_BLOCKS(4)
TURN_BLOCKS(8)
TURN_BLOCKS(16)

/* Eight bytes, some rows of all columns, in pairs: each column's part is read once and then done with. */
static void turn_pairs(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns)
{
    int64_t two[] = {0, from_pitch};
    for (int64_t left = rows, n; left > 0; left -= n, to += n * to_pitch, from += n * 8) {
        n = dml_least(left, PAIRED);
        int64_t c = 0;
        for (; c + 2 <= columns; c += 2)
            dml_pair_u64(to + c * 8, to_pitch, from + c * from_pitch, two, n);
        for (int64_t r = 0; c < columns && r < n; r++)
            memcpy(to + r * to_pitch + c * 8, from + c * from_pitch + r * 8, 8);
    }
}

/* Whether lines `pitch` bytes apart have too few places in the caches for squares of elements that have `width` bytes. */
static int is_crowded(int64_t pitch, int64_t width)
{
    return pitch % CROWDED == 0 && !(width == 8 && dml_tuned->squares_crowded);
}

void dml_turn_listed(char *to, const int64_t *row, int64_t pitch, const char *from, const int64_t *column, int64_t rows,
                     int64_t columns, int64_t width, int far)
{
    const places to_places = {row, pitch}, from_places = {column, 0};
    int crowded = (rows > 1 && is_crowded(row ? row[1] - row[0] : pitch, width)) ||
                  (columns > 1 && is_crowded(column[1] - column[0], width));
    /* without a list of rows, eight columns are dealt out at a time, as dml_turn does */
    if (width < 4 && !row && pitch % CROWDED) {
        dml_interleave(to, pitch, from, column, rows, columns, width);
        return;
    }
    /* blocks put whole lines together; where one side has only parts of lines, squares take 0.25 to 0.5 of their time */
    if (width < 4 || (crowded && rows * width >= DML_LINE && columns * width >= DML_LINE))
        switch (width) {
        case 1: turn_blocks_1(to, to_places, from, from_places, rows, columns, far); return;
        case 2: turn_blocks_2(to, to_places, from, from_places, rows, columns, far); return;
        case 4: turn_blocks_4(to, to_places, from, from_places, rows, columns, far); return;
        default: turn_blocks_8(to, to_places, from, from_places, rows, columns, far); return;
        }
    if (width == 4)
        turn_squares(to, to_places, from, from_places, rows, columns, 4, far);
    else
        turn_squares(to, to_places, from, from_places, rows, columns, 8, far);
}

void dml_turn(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns, int64_t width)
{
#define TURN(way, ...) way(to, to_pitch, from, from_pitch, rows, columns, __VA_ARGS__)
#define TURN_PLACES(way, ...) way(to, to_places, from, from_places, rows, columns, __VA_ARGS__)
    const places to_places = {NULL, to_pitch}, from_places = {NULL, from_pitch};
    int squares = dml_tuned->turns_squares, crowded = is_crowded(to_pitch, width) || is_crowded(from_pitch, width);
    int far = columns * from_pitch >= dml_tuned->far_plane;
    if (width == 8 && !squares && lines_kept(from_pitch) >= LEAST_KEPT && columns * from_pitch < KEPT_BELOW) {
        TURN(turn_rows, lines_kept(from_pitch), 8);
        return;
    }
    if (width == 8 && (!squares || rows * width <= DML_LINE)) {
        turn_pairs(to, to_pitch, from, from_pitch, rows, columns);
        return;
    }
    if ((crowded || (far && width == 1)) && rows * width >= DML_LINE && columns * width >= DML_LINE)
        switch (width) {
        case 1: turn_blocks_1(to, to_places, from, from_places, rows, columns, far); return;
        case 2: turn_blocks_2(to, to_places, from, from_places, rows, columns, far); return;
        case 4: turn_blocks_4(to, to_places, from, from_places, rows, columns, far); return;
        case 8: turn_blocks_8(to, to_places, from, from_places, rows, columns, far); return;
        default: turn_blocks_16(to, to_places, from, from_places, rows, columns, far); return;
        }
    if (width < 4)
        TURN(turn_interleaved, width);
    else if (width == 4 && squares)
        TURN_PLACES(turn_squares, 4, far);
    else if (width == 4)
        TURN(turn_rows, lines_kept(from_pitch), 4);
    else if (width == 8)
        TURN_PLACES(turn_squares, 8, far);
    else
        TURN_PLACES(turn_squares, 16, far);
#undef TURN_PLACES
#undef TURN
}
