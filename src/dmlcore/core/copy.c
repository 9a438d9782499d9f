/* copy.c: copying bytes, planes that lie the other way round, and whole tensors, unit by unit (shape.c). */
#include "dispatch.h"
#include "shape.h"

#define SHORT ((int64_t)32 << 10) /* bytes that vector moves copy beside what comes next; a string instruction does not */
#define WAYS 8 /* at least, of the first-level cache */
#define LARGE ((int64_t)6 << 20) /* bytes of a plane that the second-level cache does not hold */
#define MANY_ROWS 24 /* worth it to take half a line of each column at a time */

#define PAGES 4 /* that are copied at a time: memory serves several places at once faster than one after the other */

/* Whole lines past the caches; `to` is a multiple of 64. The same lines of the next pages are fetched meanwhile. */
static void stream_pages(char *to, const char *from)
{
    for (int64_t line = 0; line < DML_PAGE; line += 64)
        for (int64_t at = line; at < PAGES * DML_PAGE; at += DML_PAGE) {
            DML_PREFETCH(from + at + PAGES * DML_PAGE);
            dml_stream64(to + at, from + at);
        }
}

void dml_copy_bytes(char *to, const char *from, int64_t bytes, dml_store store)
{
    int64_t at = 0;
    if (DML_STREAM && store != DML_STORE_PLAIN && bytes >= 4096) {
        at = (int64_t)(-(intptr_t)to & 63);
        memcpy(to, from, (size_t)at);
        for (; store == DML_STORE_PAGES && at + PAGES * DML_PAGE <= bytes; at += PAGES * DML_PAGE)
            stream_pages(to + at, from + at);
        for (; at + 64 <= bytes; at += 64)
            dml_stream64(to + at, from + at);
        memcpy(to + at, from + at, (size_t)(bytes - at));
        DML_STREAM_END();
    } else if (bytes < SHORT) {
        for (; at + 64 <= bytes; at += 64)
            memcpy(to + at, from + at, 64);
        memcpy(to + at, from + at, (size_t)(bytes - at));
    } else
        memcpy(to, from, (size_t)bytes);
}

/* N columns at a time, because their lines may meet in the cache, which holds as many; the next ones are fetched meanwhile. */
#define TURN(T, N)                                                                                                         \
    for (; columns >= N; columns -= N, from += N * from_pitch, to += N * sizeof(T)) {                                      \
        for (int64_t c = 0; c < N; c++)                                                                                    \
            for (int64_t at = 0; at < rows * (int64_t)sizeof(T); at += 64)                                                 \
                DML_PREFETCH_L2(from + (c + N) * from_pitch + at);                                                         \
        for (int64_t r = 0; r < rows; r++) {                                                                               \
            T some[N];                                                                                                     \
            for (int64_t c = 0; c < N; c++)                                                                                \
                memcpy(some + c, from + c * from_pitch + r * (int64_t)sizeof(T), sizeof(T));                               \
            memcpy(to + r * to_pitch, some, sizeof some);                                                                  \
        }                                                                                                                  \
    }                                                                                                                      \
    for (int64_t r = 0; r < rows; r++) {                                                                                   \
        for (int64_t c = 0; c < columns; c++) {                                                                            \
            memcpy(to + r * to_pitch + c * (int64_t)sizeof(T), from + c * from_pitch + r * (int64_t)sizeof(T), sizeof(T)); \
        }                                                                                                                  \
    }

/* N columns at a time, ROWS rows of them at most: their elements go to as many rows, N to each, in one store where that can be.
 * Measured for pairs of eight bytes against single ones: 1.2 to 2x in the caches, 1.05 to 1.3x elsewhere; for four of four bytes
 * against rows of the destination: 1.05 to 1.3x. */
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
    if (width == 1) {
        TURN(u8, 8);
    } else if (width == 2) {
        TURN(u16, 8);
    } else if (width == 4 && dml_tuned->turns_lines && columns * from_pitch >= LARGE && rows_are_apart(to_pitch)) {
        TURN_LINES(u32, 4, 16);
    } else if (width == 4 && dml_tuned->turns_lines && rows >= MANY_ROWS && rows_are_apart(to_pitch)) {
        TURN_LINES(u32, 4, 8);
    } else if (width == 4 && dml_tuned->turns_lines && columns >= 16 && kept >= 32) {
        turn_rows_u32(to, to_pitch, from, from_pitch, rows, columns, kept);
    } else if (width == 4 && dml_tuned->turns_lines) {
        TURN(u32, 16);
    } else if (width == 4) {
        TURN(u32, 8);
    } else if (width == 8 && dml_tuned->turns_lines) {
        TURN_LINES(u64, 2, 8);
    } else if (width == 8) {
        TURN(u64, 8);
    } else if (dml_tuned->turns_lines) {
        TURN_LINES(u128, 1, 4);
    } else {
        TURN(u128, 8);
    }
}

dml_order dml_order_for(int64_t bytes, int untouched)
{
    return untouched && bytes >= DML_FRESH ? DML_FROM_THE_END : DML_FORWARD;
}

dml_store dml_store_for(int64_t bytes, int untouched)
{
    if (untouched || bytes < dml_tuned->past_caches)
        return DML_STORE_PLAIN;
    return bytes < dml_tuned->by_pages ? DML_STORE_PAST_CACHES : DML_STORE_PAGES;
}

typedef struct {
    dml_shape shape;
    char *to;
    const char *from;
} copying;

static int copy_unit(void *job, dml_worker *worker, int64_t unit)
{
    const copying *c = job;
    dml_shape_copy(&c->shape, c->to, c->from, unit);
    return dml_tick(worker, c->shape.unit_bytes);
}

int dml_copy(char *to, const char *from, dml_list sizes, dml_list to_strides, dml_list from_strides, int64_t width,
             dml_store store, int untouched, int64_t nanoseconds, int *threads, dml_pulse *pulse)
{
    copying c; /* not to be cleared: a shape has room for many dimensions */
    c.to = to;
    c.from = from;
    dml_shape_begin(&c.shape);
    for (int64_t d = 0; d < sizes.n; d++)
        dml_shape_add(&c.shape, sizes.v[d], dml_stride(to_strides, d), dml_stride(from_strides, d));
    int64_t bytes = c.shape.places * width;
    dml_shape_end(&c.shape, width, store, *threads);
    if (bytes == 0) {
        *threads = 1;
        return DML_OK;
    }
    /* a nanosecond for each element, or 1/24 for each byte of long runs, outside the second-level cache 1/12 */
    nanoseconds += c.shape.run < 64 ? c.shape.places : bytes / (bytes <= DML_NEAR_COPY ? 24 : 12);
    *threads = dml_threads_worth(*threads, nanoseconds, pulse);
    if (c.shape.units == 1) {
        dml_shape_copy(&c.shape, to, from, 0);
        return DML_OK;
    }
    return dml_parallel(copy_unit, &c, c.shape.units, dml_order_for(bytes, untouched), *threads, pulse);
}
