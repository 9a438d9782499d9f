/* turned_once.c: indices that lie the other way round, to rows of four-byte ones that are in range: all of them turned, checked and narrowed
 * in one pass, so that no other has to come before the move, whose loops look at them again as at any. */
#include "share.h"
#include "together.h"

#define FEW_TURNED 12288 /* positions; more had better be moved in tiles, unless they have to be checked before, */
#define FEW_OF_LONG_ROWS 65536 /* or one thread moves them, in no more than FEW_LONG_ROWS: tiles, of 32 rows, are long then */
#define FEW_LONG_ROWS 256
#define ANY_NUMBER INT64_MAX /* for one thread without AVX-512: 0.83 to 1.3x of tiles, on average 1.04x (Zen 3) */
#define MOST_NARROWED ((int64_t)480 << 10) /* bytes for each thread: the move may want 512 KiB for a table, and a plan */
#define NARROWED_EACH 2 /* of them take a nanosecond: as many threads as are going to move them, whose caches have them then */
#define LEAST_OF_A_COLUMN 32 /* bytes, where vectors have no masks */
#define LEAST_ROWS 8 /* of a gather by several threads, which share the lines of fewer, */
#define MOST_WHOLE 3 /* rows that one thread turns as a whole, sooner than several do that have rows of their own */
#define MOST_ALONE 12288 /* positions; so many one thread turns for all */
#define MOST_THREADS 3 /* of a scatter along whose rows the table moves on: more turn columns of their own, 0.5 to 1.2 */

/* Measured on Granite Rapids: of fewer rows in blocks vectors have 0.6 to 1.0 of the speed of permutations; of four bytes, of fewer columns
 * too. */
int dml_turns_well(int64_t rows, int64_t columns, int64_t pitch, int64_t bytes)
{
    if (!dml_chosen_isa->turns_few)
        return columns >= 4 && rows * bytes >= LEAST_OF_A_COLUMN;
    int in_blocks = bytes == 8 ? columns >= 2 && rows >= 4 : columns >= 4 && rows >= 5;
    return in_blocks || dml_turns_whole(rows, columns, pitch, bytes);
}

dml_turner dml_turns_vectors(const dml_move *m, int index, int64_t *rows, int64_t *columns, int64_t *pitch)
{
    int fits = dml_chosen_isa->turn_indices && m->bounds.n == 1 && m->bounds.v[0] <= INT32_MAX;
    return fits && dml_is_turned(m, dml_index_bytes(index), rows, columns, pitch) &&
                   dml_turns_well(*rows, *columns, *pitch, dml_index_bytes(index))
               ? dml_chosen_isa->turn_indices
               : NULL;
}

/* Whether the table moves on along the last dimension. */
static int moves_along(const dml_move *m)
{
    int64_t d = m->positions.n - 1;
    while (d > 0 && m->positions.v[d] == 1)
        d--;
    return dml_stride(m->table_strides, d) != 0;
}

/* Whether one thread is going to scatter all of it, and had better have all indices in its caches. */
static int scatters_alone(const dml_move *m, const dml_run *run, int64_t columns, int threads)
{
    double reached = dml_span(m->bounds, m->steps) + dml_span(m->positions, m->table_strides);
    return moves_along(m) &&
           !dml_shares_columns(columns, dml_product(m->positions), (int64_t)1 << run->storage, reached > DML_NEAR_L2, threads);
}

/* Measured on Granite Rapids, 4096 to 120,000 positions: into an output 0.9 to 1.9x, on average 1.2x, fresh ones against tiles 0.92 to 1.36x,
 * scattered by two threads 1.0 to 1.3x. */
int dml_turns_once(const dml_move *m, const dml_run *run, int scatter, dml_pulse *pulse)
{
    int64_t count = dml_product(m->positions), rows = 0, columns = 0, pitch = 0;
    if (run->mode != DML_RAISE || !dml_turns_vectors(m, run->index, &rows, &columns, &pitch))
        return 0;
    int64_t long_rows = dml_least(dml_mul(FEW_LONG_ROWS, columns), FEW_OF_LONG_ROWS);
    int64_t few = run->threads > 1 ? FEW_TURNED : dml_chosen_isa->turns_few ? dml_most(FEW_TURNED, long_rows) : ANY_NUMBER;
    if (count > few && !run->check_first && !(scatter && run->threads > 1))
        return 0;
    if (scatter ? run->threads > MOST_THREADS && moves_along(m) : run->threads > 1 && count > MOST_ALONE && rows < LEAST_ROWS)
        return 0;
    if (dml_product(m->slice) != 1 || columns * (int64_t)sizeof(u32) % DML_CROWDED_TURNED == 0)
        return 0;
    int64_t bytes = dml_mul(count, sizeof(u32));
    int whole = rows <= MOST_WHOLE && dml_turns_whole(rows, columns, pitch, dml_index_bytes(run->index)) &&
                bytes <= MOST_NARROWED;
    int alone = run->threads == 1 || whole || (scatter && scatters_alone(m, run, columns, run->threads));
    int threads = alone ? 1 : dml_threads_worth(run->threads, count / NARROWED_EACH, pulse);
    return bytes <= threads * MOST_NARROWED ? threads : 0;
}

/* Parts of the rows, one for each thread. */
typedef struct {
    const char *from;
    char *to;
    int64_t rows, columns, pitch;
    int64_t chunk, chunks; /* of the move: rows, and how many there are; */
    int threads; /* each of them has those that it is going to move */
    int index;
    int64_t bound;
} narrowing;

static int some_narrowed(void *data, dml_worker *worker, int64_t chunk)
{
    const narrowing *n = data;
    int64_t begin = n->chunks * chunk / n->threads * n->chunk, end = n->chunks * (chunk + 1) / n->threads * n->chunk;
    int64_t pitch = n->columns * (int64_t)sizeof(u32), width = dml_index_bytes(n->index);
    (void)worker;
    return dml_chosen_isa->turn_indices(n->to + begin * pitch, pitch, n->from + begin * width, n->pitch,
                                        dml_least(end, n->rows) - begin, n->columns, (int)width, dml_index_signed(n->index),
                                        n->bound)
               ? DML_OUT_OF_RANGE
               : DML_OK;
}

int dml_turn_once(char *to, const dml_move *m, const dml_run *run, int threads, dml_pulse *pulse)
{
    narrowing n = {.from = m->indices, .to = to, .index = run->index, .bound = m->bounds.v[0]};
    (void)dml_is_turned(m, dml_index_bytes(run->index), &n.rows, &n.columns, &n.pitch);
    int64_t box = dml_most(1, DML_BLOCK / n.columns);
    n.chunk = box * dml_most(1, dml_ceil(n.rows, box) / (4 * threads));
    n.chunks = dml_ceil(n.rows, n.chunk);
    n.threads = threads;
    return dml_parallel(some_narrowed, &n, threads, DML_FORWARD, threads, pulse);
}
