/* together.c: brings indices that do not follow each other, as in Fortran order, into the order of the positions: few, where no plan is
 * made, and those that a plan would read more than once. */
#include "together.h"
#include "apart.h"
#include "copy.h"
#include "dispatch.h"
#include "scratch.h"

#include <stdlib.h>

#define WORTH_A_CALL 8 /* positions of a row */
/* Where a check comes before the first store, turned indices would be turned twice, or read where they are: 1.0 to 1.4 times as fast
 * if once, for all (Zen 5). Several threads do it side by side (turned.c). */
#define LEAST_TURNED 4096 /* positions; fewer need no plan */
#define MOST_TURNED ((int64_t)256 << 10) /* bytes: the second-level cache holds them beside the table */
#define MOST_FOR_THREADS 12288 /* positions */
/* Indices that rows of positions share, one after the other, as all of GATHER along an axis that is not the first one, would be read
 * for each of them. Measured on Emerald Rapids: short rows of wider ones 1.1 to 1.5x, turned 1.2 to 1.7x, a line each 1.4 to 9x; of
 * scatters into an output, which read them twice, 1.6 to 2.0x. */
#define LEAST_SHARED 1024 /* bytes */
#define MOST_SHARED ((int64_t)512 << 10)

int dml_is_turned(const dml_move *m, int64_t bytes, int64_t *rows, int64_t *columns, int64_t *pitch)
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

/* Rows of a constant number of bytes. */
DML_INLINE void copy_rows(char *DML_RESTRICT to, const char *from, int64_t pitch, int64_t rows, int64_t bytes)
{
    for (int64_t i = 0; i < rows; i++, from += pitch, to += bytes)
        memcpy(to, from, (size_t)bytes);
}

/* Rows of indices, `pitch` bytes from one to the next, short ones without a call for each. */
static void bring_rows(char *to, const char *from, int64_t pitch, int64_t rows, int64_t bytes)
{
    switch (bytes) {
    case 8: copy_rows(to, from, pitch, rows, 8); return;
    case 12: copy_rows(to, from, pitch, rows, 12); return;
    case 16: copy_rows(to, from, pitch, rows, 16); return;
    case 20: copy_rows(to, from, pitch, rows, 20); return;
    case 24: copy_rows(to, from, pitch, rows, 24); return;
    case 28: copy_rows(to, from, pitch, rows, 28); return;
    case 32: copy_rows(to, from, pitch, rows, 32); return;
    case 40: copy_rows(to, from, pitch, rows, 40); return;
    case 48: copy_rows(to, from, pitch, rows, 48); return;
    case 56: copy_rows(to, from, pitch, rows, 56); return;
    case 64: copy_rows(to, from, pitch, rows, 64); return;
    default:
        for (int64_t i = 0; i < rows; i++)
            dml_copy_short(to + i * bytes, from + i * pitch, bytes);
    }
}

/* Tuples of q indices, one at least: as many together as follow each other in memory; else those of the last dimension, or, where it
 * is short, as elements if there are such. */
static void bring_runs(char *to, const dml_move *m, int64_t q, int64_t bytes, const int64_t *strides)
{
    int64_t tuple = q * bytes, d = m->positions.n, run = tuple, apart = 0, rows = 1, outer = 1, collects = 0, place[DML_DIMS];
    for (; d > 0 && (m->positions.v[d - 1] == 1 || dml_stride(m->index_strides, d - 1) == run); d--)
        run *= m->positions.v[d - 1];
    if (run == tuple && d > 0 && m->positions.v[d - 1] >= WORTH_A_CALL) {
        apart = dml_stride(m->index_strides, --d);
        collects = 1;
        run *= m->positions.v[d];
    } else if (run == tuple && tuple <= 16 && (tuple & (tuple - 1)) == 0) {
        dml_copy_apart(to, (dml_list){strides, m->positions.n}, m->indices, m->index_strides, m->positions, tuple);
        return;
    } else if (d > 0) {
        apart = dml_stride(m->index_strides, --d);
        rows = m->positions.v[d];
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
    for (; outer > 0; outer--, to += rows * run) {
        if (collects)
            collect(to, from, apart, run / tuple, (int)q);
        else
            bring_rows(to, from, apart, rows, run);
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
    if (q == 1 && dml_is_turned(m, bytes, &rows, &columns, &pitch)) {
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

/* Leaves in `m` the dimensions whose positions have indices of their own, *bytes in all. How often these are read, one after the other. */
static int64_t keep_own(dml_move *m, int64_t bytes_each, int64_t *sizes, int64_t *strides, int64_t *tables, int64_t *bytes)
{
    int64_t times = 1, shared = 1, n = 0;
    *bytes = bytes_each;
    for (int64_t d = 0; d < m->positions.n; d++) {
        int64_t size = m->positions.v[d], stride = dml_stride(m->index_strides, d);
        if (size > 1 && stride == 0) {
            shared = dml_mul(shared, size);
        } else if (size != 1) {
            sizes[n] = size;
            tables[n] = dml_stride(m->table_strides, d);
            strides[n++] = stride;
            *bytes = dml_mul(*bytes, size);
            times = shared;
        }
    }
    m->positions = (dml_list){sizes, n};
    m->index_strides = (dml_list){strides, n};
    m->table_strides = (dml_list){tables, n};
    return times;
}

/* How many indices, or tuples, follow each other. */
static int64_t in_a_row(const dml_move *m, int64_t bytes, int64_t width)
{
    int64_t row = 1;
    if (m->bounds.n > 1 && m->coordinate_stride != width)
        return 1;
    for (int64_t d = m->positions.n - 1; d >= 0 && dml_stride(m->index_strides, d) == row * bytes; d--)
        row *= m->positions.v[d];
    return row;
}

/* Bytes from an index to its nearest neighbour, if each has a line of its own; else 0. */
static int64_t lines_of_their_own(const dml_move *own)
{
    int64_t nearest = INT64_MAX;
    for (int64_t d = 0; d < own->positions.n; d++)
        nearest = dml_least(nearest, llabs(dml_stride(own->index_strides, d)));
    return own->positions.n && nearest >= DML_LINE ? nearest : 0;
}

/* Whether indices would be read more often than there are threads, in no long rows; or are those of a scatter that is checked first, whose
 * threads read all of them, unless several threads turn them side by side; or those of one that a single thread would read, a line for
 * each. `own`: as keep_own left it. */
static int reads_again(const dml_move *own, int64_t times, int64_t bytes, int64_t width, const dml_run *run, int scatter)
{
    int64_t each = own->bounds.n * width, row = in_a_row(own, each, width);
    int64_t rows = 0, columns = 0, pitch = 0; /* compilers do not see that these are read only where they are found */
    int keeps = own->positions.n == 1 && dml_stride(own->table_strides, 0) == 0; /* offsets (boxes_stay in narrow.c) */
    int twice = scatter && run->check_first && row == 1 && !keeps;
    /* one thread may have to read them all, unless the table moves on: 1.5 to 1.7x (Granite Rapids) */
    twice |= scatter && run->threads > 1 && !run->check_first && dml_stride(own->table_strides, 0) == 0 &&
             lines_of_their_own(own);
    twice &= run->threads == 1 || own->bounds.n > 1 || !dml_is_turned(own, width, &rows, &columns, &pitch);
    int in_place = row * each == bytes && (intptr_t)own->indices % width == 0;
    return (times > run->threads || twice) && bytes >= LEAST_SHARED && bytes <= MOST_SHARED && row < DML_LONGEST_LOOK &&
           !in_place;
}

/* Whether they are turned, and would be so twice, or read where they are. */
static int turns_again(const dml_move *m, int64_t width, const dml_run *run)
{
    int64_t count = dml_product(m->positions), most = run->threads > 1 ? MOST_FOR_THREADS * width : MOST_TURNED;
    int64_t rows = 0, columns = 0, pitch = 0; /* likewise */
    return run->check_first && m->bounds.n == 1 && count > LEAST_TURNED && dml_mul(count, width) <= most &&
           dml_product(m->slice) == 1 && dml_is_turned(m, width, &rows, &columns, &pitch) &&
           columns * width % DML_CROWDED_TURNED != 0;
}

/* Parts of the first dimension, each for one thread. */
typedef struct {
    const dml_move *own;
    char *to;
    int64_t bytes, per_chunk; /* of a step along it; steps */
    int64_t width;
} parts;

static int some_brought(void *data, dml_worker *worker, int64_t chunk)
{
    const parts *p = data;
    int64_t begin = chunk * p->per_chunk, sizes[DML_DIMS];
    dml_move part = *p->own;
    (void)worker;
    memcpy(sizes, part.positions.v, (size_t)part.positions.n * sizeof *sizes);
    sizes[0] = dml_least(p->per_chunk, sizes[0] - begin);
    part.positions.v = sizes;
    part.indices += begin * dml_stride(part.index_strides, 0);
    dml_bring_together(p->to + begin * p->bytes, &part, p->width);
    return DML_OK;
}

/* Several threads read the lines of indices that have one each; where several indices share one, it is there before threads are. */
static void bring(char *to, const dml_move *own, int64_t bytes, int64_t width, int most, dml_pulse *pulse)
{
    int64_t nearest = lines_of_their_own(own), count = bytes / (own->bounds.n * width);
    int threads = 1;
    if (most > 1 && nearest)
        threads = dml_threads_worth(most, dml_mul(count, dml_line_nanoseconds(count, nearest)), pulse);
    int64_t steps = own->positions.n ? own->positions.v[0] : 1;
    parts p = {own, to, bytes / steps, dml_ceil(steps, threads), width};
    if (threads > 1)
        (void)dml_parallel(some_brought, &p, dml_ceil(steps, p.per_chunk), DML_FORWARD, threads, pulse);
    else
        dml_bring_together(to, own, width);
}

int dml_together_open(dml_together *together, const dml_move *m, const dml_run *run, int scatter, dml_pulse *pulse)
{
    int64_t sizes[DML_DIMS], strides[DML_DIMS], tables[DML_DIMS], bytes;
    int64_t width = dml_index_bytes(run->index), each = m->bounds.n * width;
    dml_move own = *m;
    int64_t times = keep_own(&own, each, sizes, strides, tables, &bytes);
    int narrowers = dml_turns_once(m, run, scatter, pulse); /* threads */
    together->run = *run;
    together->bytes = 0;
    if (!narrowers && !reads_again(&own, times, bytes, width, run, scatter) && !turns_again(m, width, run))
        return DML_OK;
    if (narrowers) {
        each = sizeof(u32);
        bytes = dml_product(m->positions) * each;
    }
    together->indices = dml_scratch(bytes);
    if (!together->indices)
        return DML_OK;
    together->bytes = bytes;
    if (narrowers) {
        int status = dml_turn_once(together->indices, m, run, narrowers, pulse);
        if (status)
            return status;
        together->run.index = dml_index_narrowed(run->index);
        together->run.check_first = 0;
    } else
        bring(together->indices, &own, bytes, width, run->threads, pulse);
    for (int64_t d = m->positions.n - 1; d >= 0; d--) {
        int shared = m->positions.v[d] > 1 && dml_stride(m->index_strides, d) == 0;
        together->strides[d] = shared ? 0 : each;
        each *= shared ? 1 : m->positions.v[d];
    }
    together->move = *m;
    together->move.indices = together->indices;
    together->move.index_strides = (dml_list){together->strides, m->positions.n};
    together->move.coordinate_stride = width;
    return DML_OK;
}
