/* core_smoke.c: the C core without Python, against plain loops: every storage class and index class, every instruction set
 * of the machine, one thread and three. Built by test_core_builds.py and `make aarch64` with other compilers and settings:
 *     cc -std=c11 -I src/dmlcore tests/packaging/core_smoke.c src/dmlcore/capi.c src/dmlcore/core/<all>.c src/dmlcore/isa/<all>.c */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capi.h"
#include "core/dispatch.h"
#include "core/parallel.h"
#include "core/pool.h"

static uint64_t seed = 88172645463325252u;

static int64_t below(int64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (int64_t)(seed % (uint64_t)n);
}

static void need(int condition, const char *what)
{
    if (!condition) {
        printf("failed: %s (%s)\n", what, dml_isa_name());
        exit(1);
    }
}

static const int index_bytes[] = {4, 8, 4, 8};

static void put_index(char *to, int index, int64_t value)
{
    int32_t narrow = (int32_t)value;
    if (index_bytes[index] == 4)
        memcpy(to, &narrow, 4);
    else
        memcpy(to, &value, 8);
}

/* A table of rows x columns elements, `count` indices of rows, slices of one row: out[i] = table[index[i]] and back. */
static void rows(const dmlcore_api *dml, int storage, int index, int threads, int64_t rows, int64_t columns, int64_t count)
{
    int64_t width = (int64_t)1 << storage, row = width * columns;
    char *table = malloc((size_t)(rows * row)), *out = malloc((size_t)(count * row + 1)), *back = malloc((size_t)(rows * row));
    char *indices = malloc((size_t)(count * 8 + 1));
    int64_t *plain = malloc((size_t)(count + 1) * 8);
    int is_signed = index == DML_INDEX_I32 || index == DML_INDEX_I64;
    for (int64_t i = 0; i < rows * row; i++)
        table[i] = (char)below(256);
    for (int64_t i = 0; i < count; i++) {
        plain[i] = below(rows);
        put_index(indices + i * index_bytes[index], index, is_signed && below(2) ? plain[i] - rows : plain[i]);
    }
    dml_move move = {0};
    dml_run run = {0};
    int64_t index_stride = index_bytes[index];
    move.positions = (dml_list){&count, 1};
    move.index_strides = (dml_list){&index_stride, 1};
    move.stream_strides = (dml_list){&row, 1};
    move.bounds = (dml_list){&rows, 1};
    move.steps = (dml_list){&row, 1};
    move.slice = (dml_list){&columns, 1};
    move.slice_table_strides = (dml_list){&width, 1};
    move.slice_stream_strides = (dml_list){&width, 1};
    move.table = table;
    move.stream = out;
    move.indices = indices;
    run.storage = storage;
    run.index = index;
    run.threads = threads;
    run.check_first = 1;
    need(dml->gather(&move, &run) == DML_OK, "gather ends well");
    for (int64_t i = 0; i < count; i++)
        need(memcmp(out + i * row, table + plain[i] * row, (size_t)row) == 0, "gather");

    memset(back, 0, (size_t)(rows * row));
    int64_t all = rows * row, one = 1;
    move.table = back;
    move.source = table;
    move.copy = (dml_list){&all, 1};
    move.copy_source_strides = move.copy_table_strides = (dml_list){&one, 1};
    if (storage == 0) {     /* the copy is made of elements of the storage class */
        for (int64_t i = 0; i < count * row; i++)
            out[i] = (char)below(256);
        need(dml->scatter(&move, &run) == DML_OK, "scatter ends well");
        for (int64_t i = 0; i < count; i++)
            memcpy(table + plain[i] * row, out + i * row, (size_t)row);
        need(memcmp(back, table, (size_t)(rows * row)) == 0, "scatter");
    }

    if (count) {     /* the first index out of range is told, and nothing is written */
        int64_t at = below(count), wrong = rows + below(3);
        put_index(indices + at * index_bytes[index], index, wrong);
        put_index(indices + (count - 1) * index_bytes[index], index, rows);
        move.table = table;
        move.source = NULL;
        memset(out, 7, (size_t)(count * row));
        need(dml->gather(&move, &run) == DML_OUT_OF_RANGE, "an index out of range is told");
        need(run.bad_position == at && run.bad_bound == rows, "the first one");
        for (int64_t i = 0; i < count * row; i++)
            need(out[i] == 7, "nothing is written");
        run.mode = DML_DROP;
        need(dml->gather(&move, &run) == DMLCORE_INVALID, "a gather cannot drop");
        memcpy(back, table, (size_t)(rows * row));
        need(dml->scatter(&move, &run) == DML_OK, "scatter drops");
        for (int64_t i = 0; i < count; i++)
            if (i != at && i != count - 1)
                memset(back + plain[i] * row, 7, (size_t)row);
        need(memcmp(back, table, (size_t)(rows * row)) == 0, "all but what is dropped is scattered");
        char nines[16];
        memset(nines, 9, sizeof nines);
        run.fill = nines;
        for (run.mode = DML_CLIP; run.mode <= DML_FILL; run.mode++) {
            need(dml->gather(&move, &run) == DML_OK, "gather clips and fills");
            for (int64_t i = 0; i < count; i++) {
                int bad = i == at || i == count - 1, fills = bad && run.mode == DML_FILL;
                const char *wanted = table + (bad ? rows - 1 : plain[i]) * row;
                for (int64_t k = 0; k < row; k++)
                    need(out[i * row + k] == (fills ? 9 : wanted[k]), "gather clips and fills");
            }
        }
    }
    free(table), free(out), free(back), free(indices), free(plain);
}

/* Planes of a table, `count` rows of indices for each: out[p][i][c] = table[p][index[p][i][c]][c], and back into a copy. None of
 * any size may be too few. */
static void along(const dmlcore_api *dml, int threads, int64_t planes, int64_t rows, int64_t columns, int64_t count)
{
    int64_t plane = rows * columns, moved = count * columns, all = planes * moved, elements = planes * plane, width = 4;
    float *table = malloc((size_t)elements * 4 + 4), *back = malloc((size_t)elements * 4 + 4),
          *out = malloc((size_t)all * 4 + 4);
    int32_t *indices = malloc((size_t)all * 4 + 4);
    for (int64_t i = 0; i < elements; i++)
        table[i] = (float)below(1000);
    for (int64_t i = 0; i < all; i++)
        indices[i] = (int32_t)(below(2 * rows) - rows);
    int64_t positions[] = {planes, count, columns}, dense[] = {moved * 4, columns * 4, 4}, table_strides[] = {plane * 4, 0, 4};
    int64_t step = columns * 4;
    dml_move move = {0};
    dml_run run = {0};
    move.positions = (dml_list){positions, 3};
    move.index_strides = move.stream_strides = (dml_list){dense, 3};
    move.table_strides = (dml_list){table_strides, 3};
    move.bounds = (dml_list){&rows, 1};
    move.steps = (dml_list){&step, 1};
    move.table = (char *)table;
    move.stream = (char *)out;
    move.indices = (char *)indices;
    run.storage = DML_STORAGE_U32;
    run.index = DML_INDEX_I32;
    run.threads = threads;
    run.check_first = (int)below(2);
    need(dml->gather(&move, &run) == DML_OK, "gather along an axis ends well");
    for (int64_t p = 0, i = 0; p < planes; p++)
        for (int64_t k = 0; k < count; k++)
            for (int64_t c = 0; c < columns; c++, i++) {
                int64_t row = indices[i] < 0 ? indices[i] + rows : indices[i];
                need(out[i] == table[p * plane + row * columns + c], "gather along an axis");
                out[i] = (float)below(1000);
            }
    move.table = (char *)back;
    move.source = (char *)table;
    move.copy = (dml_list){&elements, 1};
    move.copy_source_strides = move.copy_table_strides = (dml_list){&width, 1};
    need(dml->scatter(&move, &run) == DML_OK, "scatter along an axis ends well");
    for (int64_t p = 0, i = 0; p < planes; p++)
        for (int64_t k = 0; k < count; k++)
            for (int64_t c = 0; c < columns; c++, i++) {
                int64_t row = indices[i] < 0 ? indices[i] + rows : indices[i];
                table[p * plane + row * columns + c] = out[i];
            }
    need(memcmp(back, table, (size_t)elements * 4) == 0, "scatter along an axis");
    free(table), free(back), free(out), free(indices);
}

/* The same where everything lies the other way round: out[p][c][i] = table[p][c][index[p][c][i]], of each of which the neighbours
 * in memory have the next c. */
static void across(const dmlcore_api *dml, int threads, int64_t planes, int64_t rows, int64_t columns, int64_t count)
{
    int64_t step = columns + 64, plane = rows * step, moved = count * columns, all = planes * moved;
    uint8_t *table = malloc((size_t)(planes * plane)), *out = malloc((size_t)all);
    int64_t *indices = malloc((size_t)all * 8);
    for (int64_t i = 0; i < planes * plane; i++)
        table[i] = (uint8_t)below(250);
    for (int64_t i = 0; i < all; i++)
        indices[i] = below(2 * rows) - rows;
    int64_t positions[] = {planes, columns, count}, dense[] = {moved, count, 1}, table_strides[] = {plane, 1, 0};
    int64_t index_strides[] = {moved * 8, 8, columns * 8};
    dml_move move = {0};
    dml_run run = {0};
    move.positions = (dml_list){positions, 3};
    move.index_strides = (dml_list){index_strides, 3};
    move.stream_strides = (dml_list){dense, 3};
    move.table_strides = (dml_list){table_strides, 3};
    move.bounds = (dml_list){&rows, 1};
    move.steps = (dml_list){&step, 1};
    move.table = (char *)table;
    move.stream = (char *)out;
    move.indices = (char *)indices;
    run.storage = DML_STORAGE_U8;
    run.index = DML_INDEX_I64;
    run.threads = threads;
    run.check_first = (int)below(2);
    need(dml->gather(&move, &run) == DML_OK, "gather across ends well");
    for (int64_t p = 0, i = 0; p < planes; p++)
        for (int64_t c = 0; c < columns; c++)
            for (int64_t k = 0; k < count; k++, i++) {
                int64_t row = indices[p * moved + k * columns + c];
                need(out[i] == table[p * plane + (row < 0 ? row + rows : row) * step + c], "gather across");
            }
    free(table), free(out), free(indices);
}

static void nonzero(const dmlcore_api *dml, const char *name, int threads, int64_t rows, int64_t columns)
{
    dmlcore_data_type type;
    need(dml->find_data_type(name, &type) == 0, name);
    int64_t width = type.bits / 8, total = rows * columns, expected = 0;
    char *data = calloc((size_t)total + 1, (size_t)width);
    for (int64_t i = 0; i < total; i++)
        data[i * width] = (char)(below(3) == 0);
    int64_t sizes[] = {rows, columns}, strides[] = {columns * width, width};
    dml_nonzero nz = {0};
    dml_run run = {0};
    nz.sizes = (dml_list){sizes, 2};
    nz.strides = (dml_list){strides, 2};
    nz.input = data;
    nz.mask[0] = type.zero_mask[0];
    nz.mask[1] = type.zero_mask[1];
    nz.columns = 2;
    nz.row_stride = 8;
    nz.column_stride = 4;
    nz.coordinate_bytes = 4;
    run.storage = type.storage;
    run.threads = threads;
    need(dml->nonzero_count(&nz, &run) == DML_OK, "count");
    uint32_t *found = malloc((size_t)nz.count * 8 + 8);
    nz.coordinates = (char *)found;
    nz.rows_max = nz.count;
    need(dml->nonzero_write(&nz, &run) == DML_OK, "write");
    dml->nonzero_free(&nz);
    for (int64_t i = 0; i < total; i++) {
        int is_set = type.zero_mask[0] == 0 || data[i * width] != 0;
        if (is_set && expected < nz.count)
            need(found[2 * expected] == i / columns && found[2 * expected + 1] == i % columns, "coordinates");
        expected += is_set;
    }
    need(expected == nz.count, "count of coordinates");
    free(data), free(found);
}

/* table[index[i]] += update[i], float32, in place. */
static void add(const dmlcore_api *dml, int threads)
{
    float table[10] = {0}, updates[100];
    double sums[10] = {0};
    uint32_t indices[100];
    int64_t count = 100, step = 4, bound = 10;
    for (int i = 0; i < 100; i++) {
        indices[i] = (uint32_t)below(10);
        updates[i] = (float)below(64);
        sums[indices[i]] += updates[i];
    }
    dmlcore_data_type type;
    need(dml->find_data_type("FLOAT32", &type) == 0, "FLOAT32");
    dml_move move = {0};
    dml_run run = {0};
    move.positions = (dml_list){&count, 1};
    move.index_strides = move.stream_strides = move.steps = (dml_list){&step, 1};
    move.bounds = (dml_list){&bound, 1};
    move.table = (char *)table;
    move.stream = (char *)updates;
    move.indices = (const char *)indices;
    run.storage = type.storage;
    run.data_type = type.value;
    run.index = DML_INDEX_U32;
    run.reduction = DML_ADD;
    run.threads = threads;
    need(dml->scatter(&move, &run) == DML_OK, "scatter that adds ends well");
    for (int i = 0; i < 10; i++)
        need(table[i] == sums[i], "scatter that adds");
    run.data_type = 99;
    need(dml->scatter(&move, &run) == DMLCORE_INVALID, "unknown data types cannot be added");
    const int64_t none = 0, ten = 10;
    run.reduction = DML_NONE;
    move.positions = (dml_list){&none, 1};
    move.source = move.table;
    move.table = NULL;
    move.copy = (dml_list){&ten, 1};
    need(dml->scatter(&move, &run) == DMLCORE_INVALID, "nothing is copied to nowhere");
}

static void *take(void *left, size_t bytes)
{
    ++*(int64_t *)left;
    return malloc(bytes);
}

static void give(void *left, void *at, size_t bytes)
{
    (void)bytes;
    --*(int64_t *)left;
    free(at);
}

/* Blocks that come and go at random hold what was written to them, and all of them return to the source. */
static void pool(void)
{
    static const size_t sizes[] = {1, 100 << 10, 1 << 20, (1 << 20) + 5, 3 << 20, 17 << 20};
    int64_t left = 0, limit = 24 << 20, used = 0;
    unsigned char *blocks[6] = {0};
    size_t bytes[6] = {0};
    dml_pool_init((dml_pool_source){&left, take, give}, limit);
    for (int turn = 0; turn < 400; turn++) {
        int64_t alive = 0;
        int i = (int)below(6);
        if (blocks[i]) {
            need(blocks[i][0] == bytes[i] % 251 && blocks[i][bytes[i] - 1] == bytes[i] % 251, "a block of the pool");
            dml_pool_free(NULL, blocks[i], bytes[i]);
            blocks[i] = NULL;
        } else {
            bytes[i] = sizes[below(6)];
            int zeros = (int)below(2);
            blocks[i] = zeros ? dml_pool_calloc(NULL, 1, bytes[i]) : dml_pool_malloc(NULL, bytes[i]);
            need(blocks[i] != NULL && (uintptr_t)blocks[i] % 64 == 0, "dml_pool_malloc");
            for (size_t at = 0; zeros && at < bytes[i]; at++)
                need(blocks[i][at] == 0, "dml_pool_calloc");
            used += dml_pool_in_use(blocks[i]);
            if (below(4) == 0) {
                size_t before = bytes[i];
                bytes[i] = sizes[below(6)];
                memset(blocks[i], 77, before);
                blocks[i] = dml_pool_realloc(NULL, blocks[i], bytes[i]);
                before = before < bytes[i] ? before : bytes[i];
                need(blocks[i][0] == 77 && blocks[i][before - 1] == 77, "dml_pool_realloc");
            }
            memset(blocks[i], (int)(bytes[i] % 251), bytes[i]);
        }
        for (int j = 0; j < 6; j++)
            alive += blocks[j] ? (int64_t)bytes[j] : 0;
        need(dml_pool_kept() == 0 || dml_pool_kept() + alive <= limit, "the limit of the pool");
    }
    for (int i = 0; i < 6; i++)
        if (blocks[i])
            dml_pool_free(NULL, blocks[i], bytes[i]);
    need(left > 0 && dml_pool_kept() > 0 && used > 0, "blocks are kept");
    dml_pool_free(NULL, NULL, 1);
    dml_pool_set_limit(0);
    need(left == 0 && dml_pool_kept() == 0, "all blocks return");
    need(dml_pool_malloc(NULL, SIZE_MAX - 8) == NULL && dml_pool_calloc(NULL, SIZE_MAX / 2, 3) == NULL, "too many bytes");
}

int main(void)
{
    const dmlcore_api *dml = &dmlcore_functions;
    static const char *const types[] = {"UINT8", "FLOAT16", "FLOAT32", "FLOAT64", "COMPLEX128", "FLOAT8_E8M0FNU"};
    const char *name;
    dmlcore_data_type type;
    need(dml->find_data_type("INT4", &type) == DMLCORE_INVALID && dml->find_data_type("", &type) == DMLCORE_INVALID, "names");
    pool();
    dml_set_grain(1);
    for (int i = 0; (name = dml_isa_available(i)) != NULL; i++) {
        need(dml_isa_select(name) == 0, "dml_isa_select");
        for (int threads = 1; threads <= 3; threads += 2) {
            for (int storage = 0; storage < DML_STORAGES; storage++)
                for (int index = 0; index < DML_INDEXES; index++) {
                    rows(dml, storage, index, threads, 5, 1, 7);
                    rows(dml, storage, index, threads, 100, 3, 3000);
                    rows(dml, storage, index, threads, 20, 40, 100);
                    rows(dml, storage, index, threads, 3, 9000, 4);
                }
            for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
                nonzero(dml, types[t], threads, 3, 5);
                nonzero(dml, types[t], threads, 300, 777);
                nonzero(dml, types[t], threads, 2, 200000);
            }
            add(dml, threads - 1);
            along(dml, threads, 3, 9, 70001, 20);
            across(dml, threads, 6, 4097, 9, 4001); /* parts of odd sizes, for each thread */
            for (int turn = 0; turn < 10; turn++) /* one plane, all of whose indices are turned at once */
                across(dml, threads, 1, 1 + below(300), 6 + below(150), 6 + below(500));
            for (int turn = 0; turn < 40; turn++)
                along(dml, threads, 1 + below(4), 1 + below(300), 1 + below(turn % 2 ? 500 : 30), turn % 4 ? below(40) : 0);
        }
        printf("%s: all as expected\n", name);
    }
    return 0;
}
