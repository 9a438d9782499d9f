/* apart.c: copies few elements that are any way apart, and brings the indices of few positions together that do not follow each
 * other, as in Fortran order: into the order of the positions. With few.c and few_elements.c for calls without a plan; and for more
 * positions, where a plan would have to read them twice. */
#include "apart.h"
#include "copy.h"
#include "dispatch.h"

#include <stdlib.h>

/* Where a check comes before the first store, turned indices would be turned twice, or read where they are: 1.0 to 1.4 times as fast
 * if once, for all (Zen 5). Several threads do it side by side (turned.c). */
#define LEAST_TOGETHER 4096 /* positions; fewer need no plan */
#define MOST_TOGETHER ((int64_t)256 << 10) /* bytes: the second-level cache holds them beside the table */
#define MOST_FOR_THREADS 12288 /* positions */
#define WORTH_A_CALL 8 /* positions of a row */
#define FEW_COPIED ((int64_t)512 << 10) /* bytes of a scatter's source, twice as many where no thread may help; */
#define FEW_APART 1024 /* elements of one that is not contiguous */
#define CROWDED_PITCH 2048 /* bytes; rows a multiple of it apart meet in the cache: 0.5 to 0.95 */

/* One dimension of elements that are any way apart; strides in bytes. */
typedef struct {
    int64_t size, to, from;
} dimension;

/* All elements of it, of a constant number of bytes. */
DML_INLINE void copy_dimension(char *to, const char *from, dimension dim, int64_t width)
{
    for (; dim.size > 0; dim.size--, to += dim.to, from += dim.from)
        memcpy(to, from, (size_t)width);
}

void dml_copy_apart(char *to, dml_list to_strides, const char *from, dml_list from_strides, dml_list sizes, int64_t width)
{
    dimension inner = {1, 0, 0}, outer[DML_RANK_MAX + 1];
    int64_t done[DML_RANK_MAX + 1], rank = 0, d;
    for (d = 0; d < sizes.n; d++) {
        dimension dim = {sizes.v[d], dml_stride(to_strides, d), dml_stride(from_strides, d)};
        if (dim.size == 0)
            return;
        if (dim.size == 1)
            continue;
        done[rank] = 0;
        outer[rank++] = dim.size > inner.size ? inner : dim;
        inner = dim.size > inner.size ? dim : inner;
    }
    do {
        switch (width) {
        case 1: copy_dimension(to, from, inner, 1); break;
        case 2: copy_dimension(to, from, inner, 2); break;
        case 4: copy_dimension(to, from, inner, 4); break;
        case 8: copy_dimension(to, from, inner, 8); break;
        default: copy_dimension(to, from, inner, 16);
        }
        for (d = rank - 1; d >= 0; d--) {
            to += outer[d].to;
            from += outer[d].from;
            if (++done[d] < outer[d].size)
                break;
            to -= done[d] * outer[d].to;
            from -= done[d] * outer[d].from;
            done[d] = 0;
        }
    } while (d >= 0);
}

int dml_copies_few(const dml_move *m, const dml_run *run, int64_t *bytes)
{
    *bytes = 0;
    if (!m->source)
        return 1;
    *bytes = dml_contiguous(m->copy, m->copy_table_strides, m->copy_source_strides, (int64_t)1 << run->storage);
    return *bytes ? *bytes <= (run->threads > 1 ? 1 : 2) * FEW_COPIED : dml_product(m->copy) <= FEW_APART;
}

void dml_copy_source(const dml_move *m, int64_t bytes, int64_t width)
{
    if (bytes)
        dml_copy_bytes(m->table, m->source, bytes, DML_STORE_PLAIN);
    else if (m->source)
        dml_copy_apart(m->table, m->copy_table_strides, m->source, m->copy_source_strides, m->copy, width);
}

/* Whether the indices lie in rows of `rows` elements that are to be columns, as those of matrices in Fortran order; what has one
 * element only is no dimension. */
static int is_turned(const dml_move *m, int64_t bytes, int64_t *rows, int64_t *columns, int64_t *pitch)
{
    int64_t found = 0;
    for (int64_t d = m->positions.n - 1; d >= 0; d--) {
        int64_t size = m->positions.v[d], stride = dml_stride(m->index_strides, d);
        if (size == 1)
            continue;
        if (found == 0) {
            *columns = size;
            *pitch = stride;
        } else {
            *rows = size;
            if (stride != bytes)
                return 0;
        }
        found++;
    }
    return found == 2 && *pitch >= *rows * bytes;
}

/* Strides of what has so many bytes for each position, in their order. */
static void lay_out(const dml_move *m, int64_t bytes, int64_t *strides)
{
    for (int64_t d = m->positions.n - 1; d >= 0; d--) {
        strides[d] = bytes;
        bytes *= m->positions.v[d];
    }
}

/* Tuples of q indices, one at least: as many together as follow each other in memory; else those of the last dimension, or, where it
 * is short, as elements if there are such. */
static void bring_runs(char *to, const dml_move *m, int64_t q, int64_t bytes, const int64_t *strides)
{
    int64_t tuple = q * bytes, d = m->positions.n, run = tuple, apart = 0, outer = 1, collects = 0, place[DML_DIMS];
    for (; d > 0 && (m->positions.v[d - 1] == 1 || dml_stride(m->index_strides, d - 1) == run); d--)
        run *= m->positions.v[d - 1];
    if (run == tuple && d > 0 && m->positions.v[d - 1] >= WORTH_A_CALL) {
        apart = dml_stride(m->index_strides, --d);
        collects = 1;
        run *= m->positions.v[d];
    } else if (run == tuple && tuple <= 16 && (tuple & (tuple - 1)) == 0) {
        dml_copy_apart(to, (dml_list){strides, m->positions.n}, m->indices, m->index_strides, m->positions, tuple);
        return;
    }
    if (tuple == 8) { /* a pair of halves is moved as one */
        q = 1;
        bytes = 8;
    }
    const dml_collector collect = dml_chosen_isa->collectors[bytes == 8 ? DML_WIDTH_U64 : DML_WIDTH_U32];
    const char *from = m->indices;
    for (int64_t k = 0; k < d; k++) {
        outer *= m->positions.v[k];
        place[k] = 0;
    }
    for (; outer > 0; outer--, to += run) {
        if (collects)
            collect(to, from, apart, run / tuple, (int)q);
        else
            dml_copy_short(to, from, run);
        for (int64_t k = d - 1; k >= 0; k--) {
            from += dml_stride(m->index_strides, k);
            if (++place[k] < m->positions.v[k])
                break;
            from -= place[k] * dml_stride(m->index_strides, k);
            place[k] = 0;
        }
    }
}

void dml_bring_together(char *to, const dml_move *m, int64_t bytes)
{
    int64_t q = m->bounds.n, rows, columns, pitch, strides[DML_DIMS];
    if (q == 1 && is_turned(m, bytes, &rows, &columns, &pitch)) {
        dml_turn_or_permute(to, columns * bytes, m->indices, pitch, rows, columns, bytes);
        return;
    }
    lay_out(m, q * bytes, strides);
    if (q == 1 || m->coordinate_stride == bytes) {
        bring_runs(to, m, q, bytes, strides);
        return;
    }
    for (int64_t k = 0; k < q; k++)
        dml_copy_apart(to + k * bytes, (dml_list){strides, m->positions.n}, m->indices + k * m->coordinate_stride,
                       m->index_strides, m->positions, bytes);
}

int64_t dml_together_open(dml_together *together, const dml_move *m, const dml_run *run)
{
    int64_t count = dml_product(m->positions), width = dml_index_bytes(run->index), bytes = dml_mul(count, width);
    int64_t rows = 0, columns, pitch, most = run->threads > 1 ? MOST_FOR_THREADS * width : MOST_TOGETHER;
    if (!run->check_first || m->bounds.n != 1 || count <= LEAST_TOGETHER || bytes > most || dml_product(m->slice) != 1 ||
        !is_turned(m, width, &rows, &columns, &pitch) || columns * width % CROWDED_PITCH == 0)
        return 0;
    together->indices = malloc((size_t)bytes);
    if (!together->indices)
        return 0;
    dml_bring_together(together->indices, m, width);
    lay_out(m, width, together->strides);
    together->move = *m;
    together->move.indices = together->indices;
    together->move.index_strides = (dml_list){together->strides, m->positions.n};
    return bytes;
}
