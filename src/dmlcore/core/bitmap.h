/* bitmap.h: one bit for each element that is not zero, and the segments in which their coordinates are written.
 * nonzero.c makes the bitmap, mark.h, extract.h and emit.h fill and read it. */
#ifndef DMLCORE_BITMAP_H
#define DMLCORE_BITMAP_H

#include "compiler.h"
#include "kernel.h"

#define DML_SEGMENT 1024           /* most elements in a segment; a multiple of 64 */
#define DML_TABLE_BYTES 16384      /* for the coordinates of all positions of a segment */

typedef struct {
    uint64_t *bits;
    int few;                       /* many words have no bit set */

    /* writing: the counted dimensions, unjoined, after one for all that are not counted */
    char *coordinates;
    int64_t row_stride, column_stride;
    int columns, packed;           /* packed: rows follow each other without gaps */
    int64_t shape[DML_RANK_MAX + 1];
    /* segments: `rows` steps of dimension `cut` (0: not counted, d: column d - 1), all of the dimensions inside it */
    int cut;
    int64_t inner, rows, pieces;
    const void *table;             /* coordinates of every position of a segment; NULL: only the last column moves,
                                    * or, where rows are not packed, each one is computed */
} dml_bitmap;

typedef struct {
    int64_t first, length;         /* element numbers */
    int64_t base[DML_RANK_MAX];    /* coordinates of the first element */
} dml_segment;

/* Marks n elements that follow each other, from a word of the bitmap on; the answer is how many have a bit of the mask. */
typedef int64_t (*dml_nonzero_counter)(const char *from, int64_t n, const uint64_t *mask, uint64_t *bits);
typedef void (*dml_nonzero_writer)(const dml_bitmap *map, int64_t begin, int64_t end, int64_t row, int64_t limit);

DML_INLINE void dml_segment_open(const dml_bitmap *map, int64_t number, dml_segment *segment)
{
    int64_t outer = number / map->pieces, row = (number - outer * map->pieces) * map->rows;
    int64_t rows = dml_least(map->rows, map->shape[map->cut] - row);
    segment->first = (outer * map->shape[map->cut] + row) * map->inner;
    segment->length = rows * map->inner;
    for (int c = map->cut; c < map->columns; c++)
        segment->base[c] = 0;
    if (map->cut > 0)
        segment->base[map->cut - 1] = row;
    for (int d = map->cut - 1; d > 0; d--) {
        segment->base[d - 1] = outer % map->shape[d];
        outer /= map->shape[d];
    }
}

/* 64 bits from any bit on; there is one word more than needed. */
DML_INLINE uint64_t dml_bits_at(const uint64_t *bits, int64_t at)
{
    const uint64_t *word = bits + at / 64;
    int shift = (int)(at & 63);
    return shift ? word[0] >> shift | word[1] << (64 - shift) : word[0];
}


DML_INLINE int dml_popcount(uint64_t word)
{
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    return (int)(((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
}

#endif
