/* policy_loops.c: which loop moves a plan whose boxes are cut, and what it fetches meanwhile. */
#include "dispatch.h"
#include "looked_up.h"
#include "policy.h"

#include <stdlib.h>

#define MET_IN_L1 (48 << 10)       /* bytes of lines that the first-level cache holds */
#define APART_MOST 2048            /* bytes between indices that are joined; on pages of their own 0.5 to 0.9 */
#define LEAST_ROLLED 32768         /* positions; the second-level cache holds what fewer met before: 1.0 to 1.5 */
#define ROLLED (4 << 20)           /* bytes of tuples and of the elements that they name */
#define TOGETHER 16                /* boxes that fused.h takes for one, where they differ in their positions alone */
#define FEEDS ((int64_t)16 << 20)  /* bytes of indices and updates: some are fetched while others are combined, */
#define LEAST_FED (48 << 10)       /* where the first-level cache does not hold the table */
#define MANY ((int64_t)16 << 20)   /* bytes of indices, more than the third-level cache holds beside the rest */
#define FEEDS_INDICES (10 << 20)   /* bytes of tuples, beside a near table */
#define LONG_TUPLE 24              /* bytes; of more that follow each other blocks read many sooner than rings: 0.75 to 1.0 */
#define FAR_MORE ((int64_t)40 << 20) /* the same of single 64-bit ones that had better not be looked up in registers */
#define STORED_FAR (16 << 20)      /* bytes of indices and elements beside which what is stored to leaves that cache, too */
#define LEAST_ROW 512              /* bytes of a row that is fetched as a whole while the one before it is read; */
#define MOST_ROW (512 << 10)       /* longer ones would have left the cache before they are used */
#define STORED_FOR_EACH 48         /* bytes of it for each position, where rows are scattered to */
#define COMBINED_ROWS (12 << 20)   /* bytes of rows whose elements are combined: that cache has fewer */
#define LEAST_TAKEN 16             /* indices of a row that the vector unit takes by themselves, with others between rows; */
#define LEAST_FOLLOWING_TAKEN 40   /* without */
#define LEAST_IN_ROW 4             /* positions of a row of updates that is read where it is; */
#define ROWS_BEYOND (6 << 20)      /* bytes of both: shorter rows of more are as well, and rows of either alone */
#define LEAST_SCATTERED 16         /* positions of a row that are scattered one by one; of fewer 0.5 to 1.0 */
#define FEWEST_COLUMNS 9           /* that are gathered one after the other, */
#define FEWEST_ROWS 8              /* of so many rows in a box, */
#define FEWEST_WITHOUT_MASKS 16    /* or, without AVX-512, of so many, as of fewer 0.88x (Zen 3), */
#define LONG_FOR_COLUMNS 1024      /* which are so many bytes long in the table */

/* Bytes of a table up to which registers that hold it are faster than the vector unit's gathers. */
static const int64_t held_by_tuples[DML_STORAGES] = {0, 512, 256, 0, 0};

/* Bytes of the table where registers hold it and a box has enough of its elements; else 0. What lies between elements that
 * can be named is read as well: on the page of the first one, or on that of the last. in_boxes: what is named may go by boxes that are
 * simple enough to look up such a table as its rows are. */
static int64_t bytes_in_registers(const dml_plan *p, int in_boxes)
{
    int simple = p->whole && !p->stores && p->mode == DML_RAISE;
    int apart = p->wide || p->ramped || p->back || p->again || p->scattered || p->fetch;
    if (!dml_chosen_isa->looks_up || !simple || p->slice < 2 || p->slice > 8 || apart ||
        p->rows * p->inner < DML_HELD_AT_ONCE || (in_boxes && !p->past && dml_plan_looks_up_table(p)))
        return 0;
    int64_t bytes = dml_held(p->slice, p->tuple, p->bounds, p->steps);
    return p->gathers && bytes > (p->tuple > 1 ? held_by_tuples : p->tuned->held)[p->storage] ? 0 : bytes;
}

/* Whether indices come out of memory, and ways to move that fetch them better are faster than registers that hold the
 * table. Measured, Zen 5: tuples 1.0 to 2.3x, 32-bit ones that no ring reads 0.66 to 0.87x; single indices, before what is
 * stored to was fetched as well, 1.1 to 1.9x, after that 0.8x, 1.0x, 1.3x for 26, 40, 72 MB of 64-bit indices. */
static int had_better_fetch(const dml_plan *p, int many)
{
    if (!many || p->tuned->ahead_of_many <= p->tuned->ahead_of_moves)
        return 0;
    int64_t bytes = dml_index_bytes(p->index);
    if (p->tuple == 1)
        return bytes == 8 && p->slice <= 4 && p->positions * bytes >= FAR_MORE;
    int longest = dml_chosen_isa->longest_ring - !DML_WRAPS_FOURS(p->slice);
    return bytes == 8 || (p->tuple <= longest && DML_WRAPS_TUPLES(p->slice));
}

/* Rows of the table that lie one after the other, each read by a row of positions: the next one is fetched meanwhile,
 * though not all of it may be met. Measured: 1.0 to 1.8x for rows of 2 KiB and more out of the third-level cache, 0.9 to
 * 1.05x for shorter ones; where a position is for each 12 to 48 bytes of a row, 1.3 to 2.7x out of that cache and out of
 * memory (Zen 5). Scattered in place, 1.0 to 3x there (Zen 5), 1.0 to 3.4x (Emerald Rapids); not where lines have just been
 * copied (dml_copies_lines), 0.8 to 1.05x. */
static void fetch_rows(dml_plan *p)
{
    const dml_dim *last = p->dim + p->rank - 1;
    p->next_row = p->next_step = 0;
    if (p->tuple != 1 || p->rank < 2 || last->table || p->steps[0] < p->slice)
        return;
    if (p->combine && p->walked < COMBINED_ROWS)
        return;
    int64_t row = p->bounds[0] * p->steps[0], each = p->stores ? STORED_FOR_EACH : p->tuned->row_for_each;
    if (p->walked < DML_NEAR_L2)
        each = 2 * p->slice;
    if (last[-1].table != row || row < LEAST_ROW || row > dml_least(MOST_ROW, last->size * each))
        return;
    p->next_row = row;
    p->next_step = 16 * row / last->size;
}

/* Whether the same columns of all rows are gathered sixteen at a time: where they have more lines than the caches hold beside
 * others, and rows have not many more of them. Sixteen find a load each in the usual loop. Measured, Zen 5: 0.4 to 1.0 of the time, 47
 * columns up to 1.16; fewer, shorter rows, and tables that the third-level cache holds 0.8 to 1.5. */
static int goes_by_columns(const dml_plan *p)
{
    int64_t columns = p->again, row = llabs(p->dim[p->cut].table);
    int fits = dml_chosen_isa->moves_directly || DML_BY_COLUMNS(p->slice);
    int64_t fewest = dml_chosen_isa->moves_directly ? FEWEST_ROWS : FEWEST_WITHOUT_MASKS;
    return fits && columns >= FEWEST_COLUMNS && columns != 16 && p->rows >= fewest && row >= LONG_FOR_COLUMNS &&
           columns * DML_LINE <= row / 2 * 3 && p->positions >= p->tuned->columns / DML_LINE;
}

/* Whether a gather goes along short rows of the table, by no more bytes of indices than they have, or than the machine says: both are
 * streams then, and so is what it stores. The hardware fetches the indices early enough by itself. */
static int goes_along_short_rows(const dml_plan *p)
{
    const dml_dim *last = p->dim + p->rank - 1;
    if (p->stores || p->fetch || p->rank < 2 || p->tuple != 1 || last->table != 0)
        return 0;
    const dml_tuning *t = p->tuned;
    int64_t row = last[-1].table, indices = last->size * last->index, most = t->short_indices ? t->short_indices : row;
    return row <= t->short_rows && p->bounds[0] * llabs(p->steps[0]) <= row && last[-1].index == indices && indices <= most &&
           (p->slice >= 4 || !t->short_indices) && p->walked + (double)dml_streamed(p) >= (double)t->short_rows_beyond;
}

/* Whether elements are fetched by a ring of offsets (far.c), and stored through the caches. Where nothing is fetched, it moves
 * scattered tuples better than blocks do, if they and the table are in no second-level cache. Measured, Zen 5: 1.1 to 2.1x, else
 * 0.7 to 1.0x. */
static int had_better_roll(const dml_plan *p)
{
    if (p->combine || p->reached < (double)(p->stores ? p->tuned->scatters_rolled : p->tuned->gathers_rolled))
        return 0;
    if (p->positions < LEAST_ROLLED || dml_met_at_a_time(p) < MET_IN_L1)
        return 0;
    return p->fetch || (p->stores && p->tuple > 1 && dml_streamed(p) >= ROLLED);
}

/* Whether single indices, or tuples, are equally far apart, and not so far that a ring had better leave them to others. */
static int are_apart(const dml_plan *p)
{
    int64_t apart = p->dim[p->rank - 1].index;
    return dml_chosen_isa->longest_ring > 1 && p->packed && p->linear && !p->ramped && !p->stores &&
           DML_WRAPS_TUPLES(p->slice) && llabs(apart) <= APART_MOST &&
           (p->tuple == 1 || p->coordinate_stride == dml_index_bytes(p->index));
}

/* Whether elements that are moved one by one are named by indices that are equally far apart, and read where they are: what is brought
 * together first waits for memory twice. Measured on Emerald Rapids, 2 to 64 indices apart: 1.1 to 1.4x. */
static int goes_directly_apart(const dml_plan *p)
{
    return p->direct && p->packed && p->linear && !p->unaligned &&
           (p->tuple == 1 || p->by_columns || p->coordinate_stride == dml_index_bytes(p->index));
}

/* Whether negative indices of elements that go one by one are wrapped by arithmetic, not by branches, and pairs by columns may go one by
 * one. Measured on Granite Rapids: single ones 1.0 to 1.5x, along rows of the table 1.1 to 1.6x, negative pairs 1.0 to 1.5x, pairs by
 * columns 1.05 to 1.6x; others, and triples, 0.6 to 1.05x. On Emerald Rapids from 24 MiB on: negative ones and pairs 1.1 to 1.45x, pairs
 * by columns 1.2 to 1.5x, along rows 0.82 to 1.5x (of 16 MiB 0.8 to 0.95x; an earlier guest 0.4 to 1.3x). Elements of sixteen bytes, and
 * columns for those of one and two, are not worth their code. Out of near tables, which go by branches otherwise (dml_policy_indices),
 * from where all do. */
static int wraps_directly(const dml_plan *p)
{
    int64_t from = p->soon == DML_FETCH_L1 ? p->tuned->gathers_direct : p->tuned->wraps_directly;
    return p->direct && p->tuple <= 2 && p->slice <= 8 && dml_spread(p) >= (double)from;
}

/* Whether tuples each of whose coordinates follow each other, and single indices and tuples that are equally far apart, are joined in
 * registers, by the ring that moves what they name. Single ones that are neither every second one nor backwards: those of eight bytes
 * out of tables of middling size, 1.0 to 1.4x; others, and of four bytes, which take twice as many inserts, 0.67 to 1.36x. */
static int joins_apart(const dml_plan *p)
{
    int64_t bytes = dml_index_bytes(p->index), apart = p->dim[p->rank - 1].index;
    int by_ring = dml_chosen_isa->longest_ring > 1 && p->fused && !p->stores && !p->direct && !p->rolls && !p->in_registers &&
                  !p->gathers;
    if (by_ring && p->by_columns)
        return DML_WRAPS_COLUMNS(p->slice) && p->coordinate_stride != 0;
    if (!by_ring || p->row_lookup || !are_apart(p))
        return 0;
    return p->tuple > 1 || apart == 2 * bytes || apart == -bytes || (p->merges && bytes == 8);
}

/* Whether tuples that are equally far apart are read where they lie, one by one (singly.h). Measured on Zen 3, pairs and triples: 0.96 to
 * 1.75x, on average 1.25x. */
static int goes_by_tuples_singly(const dml_plan *p)
{
    int simple = dml_chosen_isa->moves_singly && p->packed && p->linear &&
                 !(p->ramped || p->stores || p->fetch || p->unaligned);
    return simple && (p->tuple == 2 || p->tuple == 3) && p->slice <= 8 && !p->past &&
           p->coordinate_stride == dml_index_bytes(p->index) && !dml_meets_negative(p);
}

/* Whether all indices of a box are equally far apart, and so is what they name if they are the same. */
static int are_one_row(const dml_plan *p) { return p->linear && (!p->ramped || p->cut == p->rank - 1); }

/* Whether single indices are, all of a box equally far apart or row by row; or where they follow each other and name cached elements
 * (policy_indices.c). Measured on Zen 3, rows of 2 to 60 with others between them: 0.86 to 1.9x, on average 1.14x; each in a line of its own
 * 0.95 to 1.6x, 1.2x; scattered likewise, and along the table, 1.0 to 1.2x. */
static int goes_singly(const dml_plan *p)
{
    const dml_dim *last = p->dim + p->rank - 1;
    int simple = dml_chosen_isa->moves_singly && p->fused && (p->packed || p->cached) &&
                 !(p->rolls || p->row_lookup || p->grows || p->unaligned || p->back);
    if (!simple || p->slice > 8 || p->tuple > 1 || last->index == 0 || p->scattered || p->combine)
        return 0;
    if (are_one_row(p) ? p->past : p->cut != p->rank - 2)
        return 0;
    if (p->stores && (!DML_WRAPS_ROWS(p->slice) || last->size < LEAST_SCATTERED ||
                      (last->index == dml_index_bytes(p->index) && last->table == 0)))
        return 0;
    return !dml_meets_negative(p);
}

/* Whether single indices in short rows are read where they lie, by a ring. Measured on Zen 4 in rows of 3 to 14: 0.85 to 1.6x, on average
 * 1.1x; of two 1.0 to 2.1x, on average 1.3x. */
static int goes_by_rows(const dml_plan *p)
{
    const dml_dim *last = p->dim + p->rank - 1;
    int by_ring = dml_chosen_isa->longest_ring > 1 && p->fused && !p->direct && !p->rolls && !p->in_registers && !p->gathers;
    by_ring &= p->tuned->rows_in_place < INT64_MAX && DML_WRAPS_ROWS(p->slice) && !p->stores && !p->row_lookup && !p->grows;
    return by_ring && p->packed && !p->unaligned && !p->linear && p->tuple == 1 && p->cut == p->rank - 2 &&
           last->index == dml_index_bytes(p->index) && last->size > 1;
}

/* Whether the vector unit gathers row by row. Measured on Emerald Rapids, rows of 16 to 150 of wider ones: 0.9 to 1.5x, on average 1.12x,
 * into an output, where the check keeps no offsets then, 1.17x; of 12 and 14 0.9 to 1.15x. Rows that follow each other, of 40 and more: one
 * thread 0.8 to 1.2x, on average 1.0x, four 0.95 to 1.3x, 1.1x; Granite Rapids, one and two, 0.9 to 1.4x, 1.08x; shorter ones 0.7 to 1.05x. */
static int takes_rows(const dml_plan *p)
{
    const dml_dim *last = p->dim + p->rank - 1;
    int index_bytes = dml_index_bytes(p->index);
    int simple = p->fused && p->gathers && !(p->stores || p->past || p->in_registers || p->row_lookup || p->grows);
    simple &= !p->direct && !p->rolls;
    if (!simple || p->slice > 8 || p->tuple > 1 || p->unaligned || p->rank < 2 || p->cut != p->rank - 2 ||
        last->index != index_bytes)
        return 0;
    if (p->packed)
        return !p->linear && last->size >= LEAST_TAKEN && (p->ramped || last->table == 0);
    return p->ramped && last->size >= LEAST_FOLLOWING_TAKEN;
}

/* Whether a scatter reads short rows of indices or updates where they are (row_scatter.h). Measured on Zen 4, on average of each length
 * from 4 to 150, where both have others between them: 1.0 to 1.35x, out of the third-level cache 1.0 to 1.55x, at most 2.7x. Updates alone
 * 0.8 to 1.0x, there 1.0 to 1.25x; indices alone 0.85 to 1.1x, there 1.0 to 1.4x. Rows of two and three 0.85 to 1.0x, there 1.2x, of
 * updates alone 0.65 to 0.9x. Emerald Rapids: both 1.05 to 1.2x, either 0.9 to 1.1x. */
static int scatters_by_rows(const dml_plan *p)
{
    const dml_dim *last = p->dim + p->rank - 1;
    int simple = dml_chosen_isa->longest_ring && p->stores && p->whole && p->mode == DML_RAISE && p->boxes > 1 && p->tuple == 1;
    simple &= !(p->combine || p->wide || p->again || p->fetch || p->rolls || p->unaligned);
    if (!simple || !DML_WRAPS_ROWS(p->slice) || p->rank < 2 || p->cut != p->rank - 2 ||
        last->index != dml_index_bytes(p->index) || last->stream != p->slice)
        return 0;
    int apart = p->packed && !p->linear, beyond = dml_streamed(p) >= ROWS_BEYOND, long_enough = last->size >= LEAST_IN_ROW;
    if (apart && p->scattered)
        return beyond || long_enough;
    return beyond && (apart || (p->scattered && long_enough));
}

/* Whether the next box's indices are checked while those of one move: they lie right behind them, or in all boxes as far behind or
 * in front of them, if a box has as many as any loop looks ahead. */
static void follow_each_other(dml_plan *p)
{
    int64_t tuple = p->joined ? p->joined : p->tuple * (int64_t)dml_index_bytes(p->index), gap = 0;
    int long_enough = p->pieces == 1 && p->rows * p->inner >= DML_LONGEST_LOOK;
    p->follows = p->fused && (!p->packed || p->joined || p->by_rows); /* others are brought together for each box */
    for (int d = 0; d < p->cut; d++) {
        int64_t rest = p->dim[d].index - p->dim[d + 1].index * p->dim[d + 1].size;
        if (rest && d == p->cut - 1 && long_enough && rest % tuple == 0)
            gap = rest / tuple;
        else if (rest)
            p->follows = 0;
    }
    p->gap = p->follows ? gap : 0;
}

/* Where boxes are rows of indices with others between them, what is fetched ahead is in the rows that come, not between them: a
 * distance in bytes becomes as many whole rows, one at least. */
static void look_ahead_along_rows(dml_plan *p)
{
    if (!p->by_rows && (p->cut == 0 || p->pieces > 1 || p->packed))
        return;
    const dml_dim *rows = p->by_rows ? p->dim + p->cut : p->dim + p->cut - 1;
    int64_t pitch = rows->index, row = rows[1].size * rows[1].index;
    if (pitch && pitch != row)
        p->ahead = dml_ceil(p->ahead, llabs(pitch)) * pitch;
}

/* Whether a box's indices are fetched while elements of the one before it move: they come out of memory then all the time, not in turns. */
static int feeds_indices(const dml_plan *p, int many)
{
    int64_t bytes = p->positions * p->tuple * dml_index_bytes(p->index);
    int near = bytes >= FEEDS_INDICES && p->reached < (double)p->tuned->feeds_indices_near;
    return near || (many && p->tuned->ahead_of_many > p->tuned->ahead_of_moves);
}

void dml_policy_loops(dml_plan *p)
{
    int repeated = p->pieces == 1; /* every box has the same indices: their offsets are computed once */
    for (int d = 0; d < p->cut; d++)
        repeated &= p->dim[d].index == 0;
    int simple = p->whole && p->mode == DML_RAISE && p->boxes > 1 && !(repeated || p->again || p->wide);
    simple &= !p->scattered;
    fetch_rows(p);
    int64_t tuple = p->tuple * (int64_t)dml_index_bytes(p->index);
    int many = p->positions * tuple >= MANY;
    p->ahead = p->tuned->ahead_of_moves;
    dml_policy_indices(p);
    p->in_rows = p->again && !p->stores && p->whole && !p->scattered;
    p->columns = p->in_rows && !p->fetch && goes_by_columns(p);
    p->in_rows &= p->fetch || p->columns;
    int fetches = had_better_fetch(p, many);
    p->in_registers = fetches ? 0 : bytes_in_registers(p, simple);
    p->stream_fetched = p->in_registers && dml_streamed(p) >= STORED_FAR;
    int wraps = p->stores ? p->direct : wraps_directly(p);
    p->direct &= simple && !p->in_registers && (!p->ramped || (wraps && p->tuple == 1)) &&
                 (!p->by_columns || (wraps && p->tuple == 2 && p->slice >= 4 && !p->stores));
    int negative = p->direct && !p->stores && dml_meets_negative(p);
    int sooner = p->tuned->gathers_to_l1 > 0 && p->soon != DML_FETCH_L1; /* without branches; elsewhere 0.82 to 1.02x */
    p->by_arithmetic = p->direct && wraps && (negative || (p->tuple == 1 && (p->ramped || sooner)));
    if (negative && (p->by_columns || !p->by_arithmetic)) {
        p->direct = 0;
        int nearer = p->soon == DML_FETCH_L1 && p->reached < (double)p->tuned->gathers_direct;
        p->fetch = p->by_columns || nearer ? p->fetch : DML_FETCH_L2;
    }
    p->ramped |= p->back > 0; /* which tells how far in front of the first position offsets begin */
    p->rolls = simple && !p->by_columns && !p->direct && had_better_roll(p);
    p->past &= !p->rolls;
    int fours = DML_WRAPS_FOURS(p->slice);
    int columns = p->by_columns && DML_WRAPS_COLUMNS(p->slice) && p->coordinate_stride != 0 && !p->ramped && !p->stores;
    /* joined by a ring: on Emerald Rapids 1.0 to 1.9x, on average 1.2x; columns 1.1x there, 1.2x on Granite Rapids */
    if (simple && !p->fetch && p->tuple > 1 && p->tuple <= dml_chosen_isa->longest_ring - (columns || !fours) &&
        (columns || are_apart(p)))
        p->gathers = 0;
    int fits = p->gathers ? p->slice <= 8 && !p->past : DML_WRAPS_TUPLES(p->slice);
    int blocks_as_well = many && !p->packed && tuple > LONG_TUPLE;
    int less = p->gathers || p->by_columns || blocks_as_well || !fours;
    int longest = dml_chosen_isa->longest_ring - less; /* these by one coordinate less */
    int tuples = p->tuple <= longest && fits && !p->ramped && !p->stores && !p->in_registers && !(p->by_columns && p->gathers);
    p->fused = p->direct || p->rolls || (simple && (p->tuple == 1 || tuples) && !p->fetch);
    int tuples_singly = simple && goes_by_tuples_singly(p);
    p->fused |= tuples_singly;
    int scatters_rows = scatters_by_rows(p);
    p->fused |= scatters_rows;
    dml_plan_looks_up(p, !fetches);
    p->grows = p->fused && !p->back && !scatters_rows && p->tuple == 1 && !many && !p->row_lookup && dml_meets_range(p);
    p->singly = tuples_singly || (!scatters_rows && goes_singly(p));
    int one_row = p->singly && are_one_row(p);
    p->joined = one_row || (!p->grows && (joins_apart(p) || goes_directly_apart(p))) ? p->dim[p->rank - 1].index : 0;
    p->by_rows = (p->singly && !one_row) || scatters_rows || goes_by_rows(p) || takes_rows(p);
    p->past &= !(p->by_rows || (p->joined && p->by_columns)); /* stored past the caches 0.3 to 0.9 */
    p->fed = !p->fused && !p->packed && !p->again && feeds_indices(p, many) ? 16 * tuple : 0;
    p->ahead = many ? p->tuned->ahead_of_many : p->ahead;
    if (goes_along_short_rows(p))
        p->ahead = p->fed = 0;
    int goes_on = (!p->packed || p->joined) && /* without the ramp, which is no longer than a box */
                  (!p->ramped || (p->dim[0].table == p->slice && !p->direct && !p->back));
    p->together = p->fused && p->rank == 1 && goes_on && !p->combine ? TOGETHER : 1;
    follow_each_other(p);
    look_ahead_along_rows(p);
    p->feeds = p->combine && p->fused && p->reached + p->walked >= LEAST_FED &&
               p->positions * (p->slice + dml_index_bytes(p->index)) >= FEEDS;
}
