/* copy.c: copying a whole tensor: joins dimensions, then copies contiguous runs, or elements where there are none. */
#include "copy.h"

#define CHUNK DML_FRESH_STEP
#define TURNED 128                      /* bytes across: a line of the source and the one fetched with it */
#define SHORT ((int64_t)32 << 10) /* bytes that vector moves copy beside what comes next; a string instruction does not */
#define PAST_CACHES ((int64_t)32 << 20) /* a destination so large is not in a cache when it is used next */

typedef struct {
    int64_t size, to, from;
} dimension;

typedef struct {
    char *to;
    const char *from;
    int64_t run; /* contiguous bytes at each place */
    int64_t places;
    int64_t chunk; /* places */
    dml_store store;
    int across, along; /* dimensions with contiguous elements in the source, in the destination */
    int rank;
    dimension dim[DML_RANK_MAX + 1];
} copying;

void dml_copy_bytes(char *to, const char *from, int64_t bytes, dml_store store)
{
    int64_t at = 0;
    if (DML_STREAM && store == DML_STORE_PAST_CACHES && bytes >= 4096) {
        at = (int64_t)(-(intptr_t)to & 63);
        memcpy(to, from, (size_t)at);
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

/* Eight columns at a time, because their lines may meet in the cache, which holds as many; the next ones are fetched
 * meanwhile. */
#define TURN(T)                                                                                                            \
    for (; columns >= 8; columns -= 8, from += 8 * from_pitch, to += 8 * sizeof(T)) {                                      \
        for (int64_t c = 0; c < 8; c++)                                                                                    \
            for (int64_t at = 0; at < rows * (int64_t)sizeof(T); at += 64)                                                 \
                DML_PREFETCH_L2(from + (c + 8) * from_pitch + at);                                                         \
        for (int64_t r = 0; r < rows; r++) {                                                                               \
            T eight[8];                                                                                                    \
            for (int64_t c = 0; c < 8; c++)                                                                                \
                memcpy(eight + c, from + c * from_pitch + r * (int64_t)sizeof(T), sizeof(T));                              \
            memcpy(to + r * to_pitch, eight, sizeof eight);                                                                \
        }                                                                                                                  \
    }                                                                                                                      \
    for (int64_t r = 0; r < rows; r++) {                                                                                   \
        for (int64_t c = 0; c < columns; c++) {                                                                            \
            memcpy(to + r * to_pitch + c * (int64_t)sizeof(T), from + c * from_pitch + r * (int64_t)sizeof(T), sizeof(T)); \
        }                                                                                                                  \
    }

void dml_turn(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns, int64_t width)
{
    if (width == 1) {
        TURN(u8);
    } else if (width == 2) {
        TURN(u16);
    } else if (width == 4) {
        TURN(u32);
    } else if (width == 8) {
        TURN(u64);
    } else {
        TURN(u128);
    }
}

dml_order dml_order_for(int64_t bytes, int untouched)
{
    return untouched && bytes >= DML_FRESH ? DML_FROM_THE_END : DML_FORWARD;
}

dml_store dml_store_for(int64_t bytes, int untouched)
{
    return !untouched && bytes >= PAST_CACHES ? DML_STORE_PAST_CACHES : DML_STORE_PLAIN;
}

/* `count` runs along the last dimension. */
static void copy_row(const copying *c, char *to, const char *from, int64_t count)
{
    const dimension *last = c->dim + c->rank - 1;
    switch (c->run) {
#define ELEMENTS(bytes)                                              \
    case bytes:                                                      \
        for (int64_t i = 0; i < count; i++)                          \
            memcpy(to + i * last->to, from + i * last->from, bytes); \
        break
        ELEMENTS(1);
        ELEMENTS(2);
        ELEMENTS(4);
        ELEMENTS(8);
        ELEMENTS(16);
#undef ELEMENTS
    default:
        for (int64_t i = 0; i < count; i++)
            dml_copy_bytes(to + i * last->to, from + i * last->from, c->run, c->store);
    }
}

/* Where place number `place` is; its number along the last dimension is the answer. */
static int64_t locate(const copying *c, int64_t place, char **to, const char **from)
{
    int64_t in_row = 0;
    *to = c->to;
    *from = c->from;
    for (int d = c->rank - 1; d >= 0; d--) {
        int64_t k = place % c->dim[d].size;
        place /= c->dim[d].size;
        *to += k * c->dim[d].to;
        *from += k * c->dim[d].from;
        if (d == c->rank - 1)
            in_row = k;
    }
    return in_row;
}

/* A part of one long run. */
static int copy_part(void *job, dml_worker *worker, int64_t chunk)
{
    const copying *c = job;
    int64_t parts = dml_ceil(c->run, CHUNK), at = chunk % parts * CHUNK, bytes = dml_least(CHUNK, c->run - at);
    char *to;
    const char *from;
    locate(c, chunk / parts, &to, &from);
    dml_copy_bytes(to + at, from + at, bytes, c->store);
    return dml_tick(worker, 2 * bytes);
}

/* Several short runs. */
static int copy_runs(void *job, dml_worker *worker, int64_t chunk)
{
    const copying *c = job;
    int64_t at = chunk * c->chunk, end = dml_least(at + c->chunk, c->places);
    while (at < end) {
        char *to;
        const char *from;
        int64_t in_row = locate(c, at, &to, &from), count = dml_least(c->dim[c->rank - 1].size - in_row, end - at);
        copy_row(c, to, from, count);
        at += count;
    }
    return dml_tick(worker, c->chunk * (8 + 2 * c->run));
}

/* Some steps across of a plane whose elements follow each other along one dimension here, along another one there. */
static int copy_turned(void *job, dml_worker *worker, int64_t chunk)
{
    const copying *c = job;
    const dimension *across = c->dim + c->across, *along = c->dim + c->along;
    int64_t parts = dml_ceil(across->size, c->chunk), at = chunk % parts * c->chunk, plane = chunk / parts;
    char *to = c->to + at * across->to;
    const char *from = c->from + at * across->from;
    for (int d = c->rank - 1; d >= 0; d--)
        if (d != c->across && d != c->along) {
            to += plane % c->dim[d].size * c->dim[d].to;
            from += plane % c->dim[d].size * c->dim[d].from;
            plane /= c->dim[d].size;
        }
    int64_t rows = dml_least(c->chunk, across->size - at);
    dml_turn(to, across->to, from, along->from, rows, along->size, c->run);
    return dml_tick(worker, 4 * rows * along->size * c->run);
}

int dml_copy(char *to, const char *from, dml_list sizes, dml_list to_strides, dml_list from_strides, int64_t width,
             int untouched, int threads, dml_pulse *pulse)
{
    copying c;
    c.to = to;
    c.from = from;
    c.places = 1;
    c.rank = 0;
    for (int64_t d = 0; d < sizes.n; d++) {
        dimension this = {sizes.v[d], to_strides.n ? to_strides.v[d] : 0, from_strides.n ? from_strides.v[d] : 0};
        c.places *= this.size;
        if (this.size == 1)
            continue;
        if (c.rank && c.dim[c.rank - 1].to == this.to * this.size && c.dim[c.rank - 1].from == this.from * this.size) {
            this.size *= c.dim[c.rank - 1].size;
            c.dim[c.rank - 1] = this;
        } else
            c.dim[c.rank++] = this;
    }
    if (c.places == 0)
        return DML_OK;
    int64_t bytes = c.places * width;
    c.run = width;
    if (c.rank && c.dim[c.rank - 1].to == width && c.dim[c.rank - 1].from == width) {
        c.run *= c.dim[--c.rank].size;
        c.places = bytes / c.run;
    }
    if (c.rank == 0 && bytes <= 4096) {
        memcpy(to, from, (size_t)bytes);
        return DML_OK;
    }
    c.store = dml_store_for(bytes, untouched);
    dml_order order = dml_order_for(bytes, untouched);
    c.chunk = dml_most(1, CHUNK / c.run);
    threads = dml_threads_worth(threads, c.run < 64 ? c.places : bytes / 12, pulse);
    c.across = c.along = -1;
    for (int d = 0; d < c.rank; d++) {
        if (c.dim[d].from == width && c.dim[d].size >= 8)
            c.across = d;
        if (c.dim[d].to == width && c.dim[d].size >= 8)
            c.along = d;
    }
    if (c.run == width && c.across >= 0 && c.along >= 0 && c.across != c.along) {
        c.chunk = dml_least(c.dim[c.across].size, TURNED / width);
        int64_t planes = c.places / c.dim[c.across].size / c.dim[c.along].size;
        return dml_parallel(copy_turned, &c, planes * dml_ceil(c.dim[c.across].size, c.chunk), order, threads, pulse);
    }
    if (c.rank == 0 || c.run >= CHUNK)
        return dml_parallel(copy_part, &c, c.places * dml_ceil(c.run, CHUNK), order, threads, pulse);
    return dml_parallel(copy_runs, &c, dml_ceil(c.places, c.chunk), order, threads, pulse);
}
