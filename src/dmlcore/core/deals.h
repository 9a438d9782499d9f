/* deals.h: what planes.c and interleaved.c use of each other: a few columns of the source that become rows of the destination. Where a
 * list of columns is taken, it tells where each begins in the source; to_pitch: bytes from row to row. */
#ifndef DMLCORE_DEALS_H
#define DMLCORE_DEALS_H

#include "compiler.h"

/* Four or eight columns, of one or two bytes, in registers (planes.c). The answer is how many rows are done: all, or none where they
 * are fewer than a block has. */
typedef int64_t dml_dealing(char *to, int64_t to_pitch, const char *from, const int64_t *column, int64_t rows);
dml_dealing dml_deal_u8_4, dml_deal_u8_8, dml_deal_u16_8;

/* Any columns, wherever their rows belong (interleaved.c). */
void dml_interleave_apart(char *to, int64_t to_pitch, const char *from, const int64_t *column, int64_t rows, int64_t columns,
                          int64_t width);

/* Pairs of eight bytes need no other place on their way. */
DML_INLINE void dml_pair_u64(char *to, int64_t to_pitch, const char *from, const int64_t *column, int64_t rows)
{
    const char *a = from + column[0], *b = from + column[1];
    for (int64_t r = 0; r < rows; r++) {
        u64 some[2];
        memcpy(some, a + r * 8, 8);
        memcpy(some + 1, b + r * 8, 8);
        memcpy(to + r * to_pitch, some, 16);
    }
}

#endif
