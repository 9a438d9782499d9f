/* nonzero.c: finding the coordinates of non-zero elements in two phases: a bitmap with counts for each chunk, then the
 * rows, which every chunk can write at once because the counts say where it begins. */
#include "bitmap.h"
#include "dispatch.h"
#include "in_order.h"
#include "parallel.h"
#include "scratch.h"

#include <stdlib.h>

#define CHUNK ((int64_t)1 << 16)       /* elements counted together; a multiple of 64 */
#define FEW 2                          /* fewer than one found element of so many */
#define EMPTY_WORDS 20                 /* the same: many words of the bitmap have none */

/* Elements that lie in another order are brought into their own, so many bytes at a time: those that are read row by row, and others,
 * whose lines the second-level cache holds until all their elements are met; a few without asking for memory. */
#define STAGE_OF_ROWS ((int64_t)8 << 10)
#define STAGE ((int64_t)256 << 10)
#define SMALL 1024

typedef struct {
    dml_bitmap map;
    dml_in_order input;
    const uint64_t *mask;
    char *stage; /* a part for each thread; NULL: elements are in their order where they are */
    int64_t some; /* elements of a part */
    int64_t total, chunks;
    int64_t *counts; /* marked elements of each chunk, then the row that each begins with */
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

static int count_chunk(void *job, dml_worker *worker, int64_t chunk)
{
    finding *f = job;
    int64_t begin = chunk * CHUNK, end = dml_least(begin + CHUNK, f->total), count = 0;
    char *stage = f->stage ? f->stage + worker->number * f->some * f->width : NULL;
    for (int64_t at = begin, some; at < end; at += some) {
        some = dml_least(f->some, end - at);
        const char *from = stage;
        if (stage)
            dml_put_in_order(&f->input, at, some, stage);
        else
            from = f->input.from + at * f->width;
        count += f->counter(from, some, f->mask, f->map.bits + at / 64);
    }
    f->counts[chunk] = count;
    return dml_tick(worker, (end - begin) * f->width * (stage ? 4 : 1));
}

int dml_nonzero_count(dml_nonzero *nz, dml_run *run)
{
    /* of a type without a zero every element is told by one and the same, which is not zero */
    static const char one[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const uint64_t every_bit[2] = {UINT64_MAX, UINT64_MAX};
    int zeros = nz->mask[0] || nz->mask[1];
    finding f;
    dml_pulse pulse = {.poll = run->poll};
    f.width = 1 << run->storage;
    f.total = 1;
    for (int64_t d = 0; d < nz->sizes.n; d++)
        f.total *= nz->sizes.v[d];
    f.chunks = dml_ceil(f.total, CHUNK);
    f.counter = dml_chosen_isa->nonzero_counts[run->storage];
    f.mask = zeros ? nz->mask : every_bit;
    f.stage = NULL;
    f.some = CHUNK;
    dml_in_order_of(&f.input, zeros ? nz->input : one, nz->sizes, zeros ? nz->strides : (dml_list){NULL, 0}, f.width);
    int64_t nanoseconds = f.input.dense ? f.total * f.width / 24 : f.total * dml_most(f.width, 2) / 6;
    int threads = f.chunks > 1 ? dml_threads_worth(run->threads, nanoseconds, &pulse) : 1;

    nz->count = 0;
    nz->scratch = scratch_for(f.total, f.chunks);
    char small[SMALL];
    if (!f.input.dense && f.total * f.width <= SMALL)
        f.stage = small;
    else if (!f.input.dense) {
        int64_t apart = llabs(f.input.stride[f.input.rank - 1]), bytes = apart > DML_LINE ? STAGE : STAGE_OF_ROWS;
        f.some = dml_least(dml_least(bytes / f.width, CHUNK), dml_ceil(f.total, 64) * 64);
        f.stage = dml_scratch(threads * f.some * f.width);
    }
    if (!nz->scratch || (!f.input.dense && !f.stage)) {
        if (f.stage != small)
            dml_scratch_free(f.stage);
        dml_nonzero_free(nz);
        return DML_NO_MEMORY;
    }
    f.counts = nz->scratch;
    f.map.bits = (uint64_t *)(f.counts + f.chunks + 1);
    int status = dml_parallel(count_chunk, &f, f.chunks, DML_FORWARD, threads, &pulse);
    if (f.stage != small)
        dml_scratch_free(f.stage);
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
    if (f->rows_max < length / FEW) { /* dividing for each of them takes less time than making the table */
        map->packed = 0;
        return;
    }
    map->table = table;
    memset(table, 0, (size_t)bytes);
    int64_t done = 1;
    for (int d = map->columns; d >= map->cut; d--) { /* what is there already, once more for each step, with its number */
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
