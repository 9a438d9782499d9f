/* copy.h: copying a whole tensor, the first step of a scatter that does not work in place.
 * Included by what copies, by what stores as much as a copy does, and by move.c, which decides. */
#ifndef DMLCORE_COPY_H
#define DMLCORE_COPY_H

#include "parallel.h"

/* How the bytes are stored best: through the caches, past them, past them in some pages at a time. */
typedef enum { DML_STORE_PLAIN, DML_STORE_PAST_CACHES, DML_STORE_PAGES } dml_store;

/* The first store into a page has the system clear it: huge pages of 2 MiB, which NumPy asks for from 4 MiB on, in the
 * order of their addresses. What was cleared last is still in the cache when the first store comes, what was cleared first
 * is not. So an output whose pages are not in use yet is written in steps of this size from its end to its beginning.
 * Measured: rows that are gathered to 64 MiB, and a copy of 128 MiB, take two thirds of the time. */
#define DML_FRESH ((int64_t)4 << 20)
#define DML_FRESH_STEP ((int64_t)256 << 10)

/* For a destination of so many bytes. read: those of the source, at most as many. threads: that may share them out. untouched: its
 * pages are not in use yet. */
dml_order dml_order_for(int64_t bytes, int untouched);
dml_store dml_store_for(int64_t bytes, double read, int threads, int untouched);

/* Bytes of columns where they meet in the cache: each is as long as the power of two by which they are apart. */
DML_INLINE int64_t dml_crowd(int64_t columns, int64_t apart) { return columns * dml_least(apart & -apart, DML_PAGE); }

#define DML_NEAR_COPY ((int64_t)1 << 20)     /* bytes that stay in the second-level cache of the thread that copies them */

/* Predicted for so many bytes in long runs. */
DML_INLINE int64_t dml_copy_nanoseconds(int64_t bytes) { return bytes / (bytes <= DML_NEAR_COPY ? 24 : 12); }

/* Copies elements of `width` bytes; strides in bytes, any. threads: how many at most; afterwards as many as the copy, and
 * `nanoseconds` of work that follows on the same bytes, are worth together. */
int dml_copy(char *to, const char *from, dml_list sizes, dml_list to_strides, dml_list from_strides, int64_t width,
             dml_store store, int untouched, int64_t nanoseconds, int *threads, dml_pulse *pulse);

/* Copies bytes that follow each other. */
void dml_copy_bytes(char *to, const char *from, int64_t bytes, dml_store store);

#define DML_SHORT 2048 /* bytes that inlined moves copy sooner than a call */

/* More of them: by the C library, which has a string instruction copy them, where that is fast, else by vector moves. */
void dml_copy_long(char *to, const char *from, int64_t bytes);

/* What is left behind `at`, less than 64 bytes of 64 or more: what is copied twice costs less than a loop. */
DML_INLINE void dml_copy_end(char *DML_RESTRICT to, const char *DML_RESTRICT from, int64_t at, int64_t bytes)
{
    if (bytes - at > 32)
        memcpy(to + bytes - 64, from + bytes - 64, 64);
    else if (at < bytes)
        memcpy(to + bytes - 32, from + bytes - 32, 32);
}

/* The same of a few, for loops; with the vectors of the instruction set that it is compiled for. */
DML_INLINE void dml_copy_short(char *DML_RESTRICT to, const char *DML_RESTRICT from, int64_t bytes)
{
    if (bytes > DML_SHORT) {
        dml_copy_long(to, from, bytes);
        return;
    }
    if (bytes >= 64) {
        int64_t at = 0;
        for (; at + 256 <= bytes; at += 256)
            for (int line = 0; line < 256; line += 64)
                memcpy(to + at + line, from + at + line, 64);
        for (; at + 64 <= bytes; at += 64)
            memcpy(to + at, from + at, 64);
        dml_copy_end(to, from, at, bytes);
    } else if (bytes >= 32) {
        memcpy(to, from, 32);
        if (bytes > 32)
            memcpy(to + bytes - 32, from + bytes - 32, 32);
    } else if (bytes >= 16) {
        memcpy(to, from, 16);
        memcpy(to + bytes - 16, from + bytes - 16, 16);
    } else if (bytes >= 8) {
        memcpy(to, from, 8);
        memcpy(to + bytes - 8, from + bytes - 8, 8);
    } else if (bytes >= 4) {
        memcpy(to, from, 4);
        memcpy(to + bytes - 4, from + bytes - 4, 4);
    } else {
        to[0] = from[0];
        to[bytes >> 1] = from[bytes >> 1];
        to[bytes - 1] = from[bytes - 1];
    }
}

/* Copies `rows` x `columns` elements of 1, 2, 4, 8 or 16 bytes. They follow each other along the rows of the destination,
 * to_pitch bytes from row to row, and along the columns of the source, from_pitch bytes from column to column (planes.c). */
void dml_turn(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns, int64_t width);

/* The same of rows and columns that are anywhere, elements of up to 8 bytes. row: NULL: rows are `pitch` bytes apart. far: the
 * columns that are needed next are fetched. */
void dml_turn_listed(char *to, const int64_t *row, int64_t pitch, const char *from, const int64_t *column, int64_t rows,
                     int64_t columns, int64_t width, int far);

/* Bytes from the first of the places of some dimensions to `count` others, from the one numbered `begin` on; the first dimension,
 * of one at least, is the fastest (chains.c). */
void dml_list_places(int64_t *at, int rank, const int64_t *size, const int64_t *step, int64_t begin, int64_t count);

#define DML_PERMUTED 32 /* columns at most */

/* Whether permutations interleave and separate so many columns, dense rows of them. */
int dml_permutes(int64_t columns, int64_t width);

/* The same of few columns, whose places in the source are told one by one. */
void dml_interleave(char *to, int64_t to_pitch, const char *from, const int64_t *column, int64_t rows, int64_t columns,
                    int64_t width);

/* Dense rows of few columns become columns that are contiguous, to_pitch bytes apart. */
void dml_separate(char *to, int64_t to_pitch, const char *from, int64_t rows, int64_t columns, int64_t width);

/* As dml_turn; few rows or columns of up to 8 bytes by permutations (turned.c). */
void dml_turn_or_permute(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns,
                         int64_t width);

#endif
