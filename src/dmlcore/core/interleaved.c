/* interleaved.c: copies columns of the source that become rows of the destination, wherever each begins (dml_interleave), or a few rows
 * of the destination that take turns in the source (dml_separate). Few columns are permuted by the vector unit, more of them in stages. */
#include "copy.h"
#include "deals.h"
#include "dispatch.h"

#define STAGE (8 << 10) /* bytes of rows that are permuted in several stages */

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
    int64_t next[DML_PERMUTED / 2], n = permuted(columns, width), length = STAGE / (columns * width);
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

/* Eight columns together, four, two, or one, wherever their rows belong. */
void dml_interleave_apart(char *to, int64_t to_pitch, const char *from, const int64_t *column, int64_t rows, int64_t columns,
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
            dml_pair_u64(to, to_pitch, from, column, rows);
            continue;
        } else if (n == 8)
            r = (width == 1 ? dml_deal_u8_8 : dml_deal_u16_8)(to, to_pitch, from, column, rows);
        else if (n == 4 && width == 1)
            r = dml_deal_u8_4(to, to_pitch, from, column, rows);
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
    dml_interleave_apart(to, 3 * width, from, four, rows - 1, 4, width);
    dml_interleave_apart(to + (rows - 1) * 3 * width, 3 * width, from + (rows - 1) * width, column, 1, 3, width);
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
        dml_interleave_apart(to, to_pitch, from, column, rows, columns, width);
}
