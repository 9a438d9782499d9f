/* nonzero.c: finding the coordinates of non-zero elements in two phases: a bitmap with counts for each chunk, then the
 * rows, which every chunk can write at once because the counts say where it begins. */
#include "bitmap.h"
#include "dispatch.h"
#include "parallel.h"

#include <stdlib.h>

#define CHUNK ((int64_t)1 << 16)       /* elements counted together; a multiple of 64 */
#define FEW 2                          /* fewer than one found element of so many */
#define EMPTY_WORDS 20                 /* the same: many words of the bitmap have none */

typedef struct {
    dml_bitmap map;
    int64_t total, chunks;
    int64_t *counts;                   /* marked elements of each chunk, then the row that each begins with */
    dml_nonzero_counter counter;
    dml_nonzero_writer writer;
    int64_t segments, per_chunk, rows_max;
    int width;
} finding;

/* The scratch memory: counts, then the bitmap, then one word that shifted reads may touch. */
static void *scratch_for(int64_t total, int64_t chunks)
{
    return malloc((size_t)(chunks + 1) * sizeof(int64_t) + (size_t)(dml_ceil(total, 64) + 2) * sizeof(uint64_t));
}

static void join_dimensions(dml_bitmap *map, const dml_nonzero *nz, int64_t width)
{
    map->rank = 0;
    for (int64_t d = 0; d < nz->sizes.n; d++) {
        int64_t size = nz->sizes.v[d], stride = dml_stride(nz->strides, d);
        if (size == 1)
            continue;
        if (map->rank && map->stride[map->rank - 1] == stride * size) {
            map->size[map->rank - 1] *= size;
            map->stride[map->rank - 1] = stride;
        } else {
            map->size[map->rank] = size;
            map->stride[map->rank++] = stride;
        }
    }
    if (map->rank == 0) {
        map->size[0] = 1;
        map->stride[map->rank++] = width;
    }
    map->linear = map->rank == 1 && map->stride[0] == width;
}

static int count_chunk(void *job, dml_worker *worker, int64_t chunk)
{
    finding *f = job;
    int64_t begin = chunk * CHUNK, end = dml_least(begin + CHUNK, f->total);
    f->counts[chunk] = f->counter(&f->map, begin, end);
    return dml_tick(worker, (end - begin) * f->width * (f->map.linear ? 1 : 8));
}

int dml_nonzero_count(dml_nonzero *nz, dml_run *run)
{
    finding f;
    dml_pulse pulse = {.poll = run->poll};
    f.width = 1 << run->storage;
    f.total = 1;
    for (int64_t d = 0; d < nz->sizes.n; d++)
        f.total *= nz->sizes.v[d];
    f.chunks = dml_ceil(f.total, CHUNK);
    nz->count = 0;
    nz->scratch = scratch_for(f.total, f.chunks);
    if (!nz->scratch)
        return DML_NO_MEMORY;
    f.counts = nz->scratch;
    f.map.input = nz->input;
    f.map.mask[0] = nz->mask[0];
    f.map.mask[1] = nz->mask[1];
    f.map.bits = (uint64_t *)(f.counts + f.chunks + 1);
    join_dimensions(&f.map, nz, f.width);
    f.counter = dml_chosen_isa->nonzero_counts[run->storage];

    int threads = f.chunks > 1 ? dml_threads_worth(run->threads, f.total * f.width / (f.map.linear ? 24 : 4), &pulse) : 1;
    int status = dml_parallel(count_chunk, &f, f.chunks, DML_FORWARD, threads, &pulse);
    if (status) {
        dml_nonzero_free(nz);
        return status;
    }
    for (int64_t chunk = 0; chunk < f.chunks; chunk++) {
        int64_t count = f.counts[chunk];
        f.counts[chunk] = nz->count;
        nz->count += count;
    }
    f.counts[f.chunks] = nz->count;
    return DML_OK;
}

/* How the counted dimensions are cut into segments, and the coordinates of the positions of one. */
static void cut_segments(finding *f, const dml_nonzero *nz, char *table)
{
    dml_bitmap *map = &f->map;
    int64_t bytes = map->columns * nz->coordinate_bytes;
    int64_t cap = dml_least(DML_SEGMENT, dml_most(64, DML_TABLE_BYTES / bytes));
    map->shape[0] = f->total;
    for (int c = 0; c < map->columns; c++) {
        map->shape[c + 1] = nz->sizes.v[nz->sizes.n - map->columns + c];
        map->shape[0] /= map->shape[c + 1];
    }
    map->cut = map->columns;
    map->inner = 1;
    while (map->cut > 0 && map->inner * map->shape[map->cut] <= (map->inner == 1 ? cap / 4 : cap))
        map->inner *= map->shape[map->cut--];
    if (map->cut == map->columns)
        cap = DML_SEGMENT;
    map->rows = dml_most(1, cap / map->inner);
    map->pieces = dml_ceil(map->shape[map->cut], map->rows);
    map->rows = dml_ceil(map->shape[map->cut], map->pieces);
    map->pieces = dml_ceil(map->shape[map->cut], map->rows);
    f->segments = map->pieces;
    for (int d = 0; d < map->cut; d++)
        f->segments *= map->shape[d];

    int64_t length = map->rows * map->inner;
    map->table = NULL;
    if (map->cut == map->columns || map->columns > 8)
        return;
    if (f->rows_max < length / FEW) {    /* dividing for each of them takes less time than making the table */
        map->packed = 0;
        return;
    }
    map->table = table;
    memset(table, 0, (size_t)bytes);
    int64_t done = 1;
    for (int d = map->columns; d >= map->cut; d--) {   /* what is there already, once more for each step, with its number */
        int64_t size = d == map->cut ? map->rows : map->shape[d];
        for (int64_t k = 1; k < size; k++) {
            char *to = table + k * done * bytes;
            memcpy(to, table, (size_t)(done * bytes));
            to += d ? (d - 1) * nz->coordinate_bytes : 0;
            for (int64_t i = 0; d && i < done; i++, to += bytes) {
                u32 narrow = (u32)k;
                if (nz->coordinate_bytes == 4)
                    memcpy(to, &narrow, 4);
                else
                    memcpy(to, &k, 8);
            }
        }
        done *= size;
    }
}

/* How many elements in front of `end` are marked. */
static int64_t marked_before(const finding *f, int64_t end)
{
    int64_t chunk = end / CHUNK, count = f->counts[chunk];
    const uint64_t *bits = f->map.bits;
    for (int64_t at = chunk * CHUNK; at < end; at += 64) {
        uint64_t word = bits[at / 64];
        if (end - at < 64)
            word &= ((uint64_t)1 << (end - at)) - 1;
        count += dml_popcount(word);
    }
    return count;
}

static int write_chunk(void *job, dml_worker *worker, int64_t chunk)
{
    const finding *f = job;
    int64_t begin = chunk * f->per_chunk, end = dml_least(begin + f->per_chunk, f->segments);
    dml_segment first;
    dml_segment_open(&f->map, begin, &first);
    int64_t row = marked_before(f, first.first);
    f->writer(&f->map, begin, end, row, f->rows_max);
    return dml_tick(worker, (end - begin) * f->map.rows * f->map.inner * 4);
}

int dml_nonzero_write(dml_nonzero *nz, dml_run *run)
{
    finding f;
    dml_pulse pulse = {.poll = run->poll};
    uint64_t table[DML_TABLE_BYTES / 8];
    if (nz->count == 0 || nz->columns == 0 || nz->rows_max <= 0)
        return DML_OK;
    f.total = 1;
    for (int64_t d = 0; d < nz->sizes.n; d++)
        f.total *= nz->sizes.v[d];
    f.chunks = dml_ceil(f.total, CHUNK);
    f.counts = nz->scratch;
    f.map.bits = (uint64_t *)(f.counts + f.chunks + 1);
    f.map.bits[dml_ceil(f.total, 64)] = 0;
    f.map.few = nz->count < f.total / EMPTY_WORDS;
    f.map.columns = (int)nz->columns;
    f.map.coordinates = nz->coordinates;
    f.map.row_stride = nz->row_stride;
    f.map.column_stride = nz->column_stride;
    f.map.packed = (nz->columns == 1 || nz->column_stride == nz->coordinate_bytes) &&
                   nz->row_stride == nz->columns * nz->coordinate_bytes &&
                   (intptr_t)nz->coordinates % nz->coordinate_bytes == 0;
    f.rows_max = dml_least(nz->rows_max, nz->count);
    cut_segments(&f, nz, (char *)table);
    f.writer = dml_chosen_isa->nonzero_writes[nz->coordinate_bytes == 4 ? DML_WIDTH_U32 : DML_WIDTH_U64];
    f.per_chunk = dml_most(1, CHUNK / (f.map.rows * f.map.inner));
    int64_t nanoseconds = f.total / 24 + f.rows_max * nz->columns / 4;
    int threads = f.segments > f.per_chunk ? dml_threads_worth(run->threads, nanoseconds, &pulse) : 1;
    return dml_parallel(write_chunk, &f, dml_ceil(f.segments, f.per_chunk), DML_FORWARD, threads, &pulse);
}

void dml_nonzero_free(dml_nonzero *nz)
{
    free(nz->scratch);
    nz->scratch = NULL;
}
