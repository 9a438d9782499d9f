/* policy.c: chooses among the ways to load, check and store what a plan moves: ahead or not, one by one or by the vector
 * unit, through the caches or past them. Only speed depends on it; what differs among machines is in dml_tuning (dispatch.c),
 * what was measured in docs/design.md. */
#include "copy.h"
#include "dispatch.h"
#include "move.h"
#include "plan.h"
#include "worth.h"

#include <stdlib.h>

/* loads; positions, where nothing else is said */
#define FEW_POSITIONS (640 << 10)  /* those of a far table that fewer meet are in the caches the next time */
#define FEW_UPDATED 32768          /* their lines of a table in the third-level cache are in the second-level one then */
#define MET_IN_L2 (1 << 20)        /* bytes of lines that the second-level cache holds, */
#define MET_IN_L1 (48 << 10)       /* and the first-level one */
#define LEAST_ROLLED 32768         /* positions; the second-level cache holds what fewer met before: 1.0 to 1.5 */
#define ROLLED (4 << 20)           /* bytes of tuples and of the elements that they name */
#define MANY_COMBINED 250000       /* elements: with their table they fill the third-level cache sooner */
#define NEGATIVES_SOUGHT 16        /* coordinates that are looked at */
#define DIRECT_TUPLE 3             /* coordinates of one position at most, where elements are checked and moved one by one */
#define TOGETHER 16                /* boxes that fused.h takes for one, where they differ in their positions alone */
#define MERGED (32 << 10)          /* bytes of a table in the second-level cache: from there on, */
#define MERGED_BELOW (2 << 20)     /* and below, 0.92 to 0.95 of the time; elsewhere 1.02 to 1.07 */
#define MERGED_APART (8 << 20)     /* from there on, along rows, 1.0 to 1.7, as one load waits for another */
#define FEW_OF_A_ROW 32            /* elements of each row of a large table that are fetched ahead */
#define FEW_ROWS 16                /* that positions walk along together: so many the hardware fetches by itself, */
#define LONG_WALK 4096             /* if that is so many bytes of each */
#define ASKED 8                    /* positions whose elements are loaded to see how long they take, */
#define MOST_ASKED (64 << 10)      /* of no more lines than a cache may hold; */
#define CACHED 200                 /* ns: out of caches they take 40 to 200, 250 to 1200 otherwise */
#define NOWHERE INT64_MIN
#define WINDOWS 16                 /* places where */
#define LOOKED_AT 8                /* positions that follow each other are looked at; */
#define CLOSE 16                   /* bytes between them on average, so that the hardware fetches them by itself */
#define MANY_PAGES 3072            /* elements that each are on a page of their own, more than the processor remembers, */
#define FEEDS ((int64_t)16 << 20)  /* bytes of indices and updates: some are fetched while others are combined, */
#define LEAST_FED (48 << 10)       /* where the first-level cache does not hold the table */
#define MANY ((int64_t)16 << 20)   /* bytes of indices, more than the third-level cache holds beside the rest */
#define FAR_MORE ((int64_t)40 << 20) /* the same of single 64-bit ones that had better not be looked up in registers */
#define STORED_FAR (16 << 20)      /* bytes of indices and elements beside which what is stored to leaves that cache, too */
#define LEAST_ROW 512              /* bytes of a row that is fetched as a whole while the one before it is read; */
#define MOST_ROW (512 << 10)       /* longer ones would have left the cache before they are used */
#define STORED_FOR_EACH 48         /* bytes of it for each position, where rows are scattered to */
#define COMBINED_ROWS (12 << 20)   /* bytes of rows whose elements are combined: that cache has fewer */

/* stores; bytes */
/* slices of a gather with gaps between them (Zen 4): plain stores take 1.0 to 3.3 times as long as those past the caches where
 * the gaps are at least GAP and the slices at least WITH_A_GAP long, else 0.6 to 1.4 times */
#define GAP 128
#define WITH_A_GAP 256
#define KEPT (16 << 20)            /* a table that the third-level cache holds beside some of what it gives */
#define BESIDE 32                  /* bytes of short ones that are not stored past it for each of a small table */
#define FEWEST_COLUMNS 9           /* that are gathered one after the other, */
#define FEWEST_ROWS 8              /* of so many rows in a box, */
#define LONG_FOR_COLUMNS 1024      /* which are so many bytes long in the table */
#define MOSTLY_ENDS (5 * DML_LINE / 2) /* shorter slices that are scattered anywhere have no more than one line of their own */
#define SHORT_PAST (16 << 20) /* less in slices shorter than two lines is stored through the caches */

/* Whether some element of the table may have an odd address. */
static int has_odd_places(const dml_plan *p)
{
    int64_t mixed = (int64_t)(intptr_t)p->table;
    for (int k = 0; k < p->tuple; k++)
        mixed |= p->steps[k];
    for (int d = 0; d < p->rank; d++)
        mixed |= p->dim[d].table;
    return mixed & 1;
}

/* Whether each row of a large table gives a few elements, so few that these are a line and more apart on average. */
static int takes_few_of_rows(const dml_plan *p)
{
    int64_t each = 1;
    int d = p->rank - 1;
    for (; d > 0 && p->dim[d].table == 0; d--)
        each *= p->dim[d].size;
    int64_t least = p->dim[d].index ? p->tuned->rows_fetched : p->tuned->rows_fetched_alike;
    if (p->whole && !p->stores && p->positions * p->slice * p->slice < p->tuned->rows_gathered)
        return 0;
    return p->walked >= (double)least && each > 0 && each <= FEW_OF_A_ROW && llabs(p->dim[d].table) >= each * DML_LINE;
}

/* Whether indices only choose among a few rows, along all of which positions walk, and meet most of their lines. Measured
 * without fetching, Zen 4: 1.1 to 2.4x. */
static int walks_along_few_rows(const dml_plan *p)
{
    const dml_dim *last = p->dim + p->rank - 1;
    if (p->tuple != 1 || last->table == 0 || p->bounds[0] > FEW_ROWS)
        return 0;
    int64_t step = llabs(last->table), most = p->stores ? p->tuned->scatter_follows : p->tuned->gather_follows;
    return p->bounds[0] * step <= most && last->size >= LONG_WALK / step;
}

/* Bytes of elements and of their indices. */
static int64_t streamed(const dml_plan *p) { return p->positions * (p->slice + p->tuple * (int64_t)dml_index_bytes(p->index)); }

/* Bytes of lines that are met at a time: where positions walk along the rows among which indices choose, a line of each. */
static double met_at_a_time(const dml_plan *p)
{
    return p->dim[p->rank - 1].table ? (double)p->bounds[0] * DML_LINE : p->reached;
}

/* Where single elements are fetched to before they are moved. */
static enum dml_fetch choose_fetch(const dml_plan *p)
{
    const dml_tuning *t = p->tuned;
    int near = p->reached < DML_NEAR, in_l2 = p->reached < (double)t->to_l2;
    int64_t fetches = p->stores ? t->scatter_fetches : t->gather_fetches;
    int64_t beside = dml_least(streamed(p), p->stores ? t->scatter_streams : t->gather_streams);
    if (p->combines && t->combined_fetches && p->positions >= MANY_COMBINED) {
        fetches = t->combined_fetches;
        beside = 0;
    }
    if (met_at_a_time(p) < MET_IN_L2)
        beside = 0;
    int too_few = !p->stores && p->positions <= DML_FEW_GATHERED;
    int in_l2_already = p->stores && near && !in_l2 && p->positions < FEW_UPDATED;
    if (too_few || walks_along_few_rows(p))
        return DML_FETCH_NONE;
    if (near && takes_few_of_rows(p))
        return DML_FETCH_L2;
    if (p->reached + (double)beside >= (double)fetches && !in_l2_already)
        return in_l2 ? DML_FETCH_L1 : DML_FETCH_L2;
    return p->far && near ? DML_FETCH_L2 : DML_FETCH_NONE;
}

void dml_policy_loads(dml_plan *p)
{
    const dml_tuning *t = p->tuned;
    p->merges = p->reached >= MERGED && p->reached < MERGED_BELOW;
    p->apart = p->reached >= MERGED_APART;
    p->gathers = p->reached < (double)t->gathers_below && !(p->slice == 2 && has_odd_places(p));
    p->fetch = choose_fetch(p);
    int fetched = p->fetch && p->positions >= FEW_POSITIONS;
    p->direct = !p->stores && p->tuple <= DIRECT_TUPLE && p->reached >= (double)t->gathers_direct && !fetched;
}

/* Whether slices begin and end where cache lines do: in the table of a scatter, in the stream of a gather. */
static int at_lines(const dml_plan *p)
{
    int64_t mixed = p->slice | (int64_t)(intptr_t)(p->stores ? p->table : p->stream);
    for (int k = 0; p->stores && k < p->tuple; k++)
        mixed |= p->steps[k];
    for (int d = 0; d < p->rank; d++)
        mixed |= p->stores ? p->dim[d].table : p->dim[d].stream;
    return mixed % DML_LINE == 0;
}

/* Whether single elements had better go past the caches, when there are many of them. */
static int elements_go_past(const dml_plan *p)
{
    const dml_tuning *t = p->tuned;
    if (!p->fetch && p->reached >= (double)(p->slice > 4 ? t->gathers_kept : t->gathers_kept_u32))
        return 0;
    return !p->stores && p->slice >= DML_SHORTEST_PAST && p->reached + p->walked >= (double)t->gathers_past &&
           (p->slice > 4 || p->reached >= (double)t->gathers_past_u32);
}

/* Whether long slices of a table that the third-level cache holds had better stay there as well: shorter ones if all that is stored,
 * and twice of what is read, is so much at most for one thread, or for several. */
static int had_better_stay(const dml_plan *p, double bytes, double read)
{
    static const struct {
        int64_t below, alone, shared;
    } most[] = {
        {6 << 10, 21 << 20, 21 << 20}, /* 4 to 6 KiB: 1.0 to 1.9x */
        {8 << 10, 24 << 20, 52 << 20}, /* longer ones 0.7 to 2.1x, on average 1.06x */
        {32 << 10, 36 << 20, 60 << 20}, /* to 32 KiB */
        {1 << 20, 64 << 20, 80 << 20}, /* to 1 MiB */
        {INT64_MAX, 28 << 20, 80 << 20}, /* no second-level cache holds them */
    };
    int i = 0;
    while (p->slice >= most[i].below)
        i++;
    return p->slice >= p->tuned->slices_kept && read <= KEPT &&
           bytes + 2 * read <= (double)(p->threads > 1 ? most[i].shared : most[i].alone);
}

/* The same for longer slices. Lines at the ends of a slice that have parts of others as well cost more there. */
static int slices_go_past(const dml_plan *p)
{
    const dml_tuning *t = p->tuned;
    int64_t gap = llabs(p->dim[p->rank - 1].stream) - p->slice;
    int apart = p->stores || (!p->lines && gap && (gap < GAP || p->slice < WITH_A_GAP));
    int64_t least = apart ? t->scattered_past : p->far ? t->slices_past : t->slices_past_near;
    double read = p->reached + p->walked, bytes = (double)(p->positions * p->slice);
    if (had_better_stay(p, bytes, read) || bytes + BESIDE * read <= (double)t->slices_beside)
        return 0;
    if (p->slice < MOSTLY_ENDS && p->stores && !p->lines)
        return 0;
    if (p->slice < 2 * DML_LINE && p->positions * p->slice < SHORT_PAST)
        return 0;
    return p->slice >= least;
}

/* Whether so much is stored that it may go past the caches. */
static int stores_much(const dml_plan *p, int element)
{
    if (element && p->slice > 4 && p->tuned->elements_past)
        return !p->untouched && streamed(p) >= p->tuned->elements_past * (p->threads > 1 ? 2 : 1);
    int threads = element ? 1 : p->threads; /* several gain nothing for single elements that stay in the caches */
    int64_t bytes = p->positions * p->slice;
    double read = p->reached < (double)bytes ? p->reached : (double)bytes;
    return dml_store_for(bytes, read, threads, p->untouched) != DML_STORE_PLAIN;
}

void dml_policy_stores(dml_plan *p)
{
    int element = p->slice <= 16;
    p->lines = at_lines(p);
    p->past = DML_STREAM && stores_much(p, element) && (element ? elements_go_past(p) : slices_go_past(p));
}

/* The place in the table that a position of one dimension names; one that is out of range is found and reported later. */
static int64_t place_of(const dml_plan *p, int64_t position)
{
    const char *index = p->indices + position * p->dim[0].index;
    int64_t place = position * p->dim[0].table, bytes = dml_index_bytes(p->index);
    for (int k = 0; k < p->tuple; k++, index += bytes) {
        uint64_t n = (uint64_t)p->bounds[k], u = (uint64_t)dml_coordinate_at(index, p->index);
        u += u < n ? 0 : n;
        if (u >= n)
            return NOWHERE;
        place += (int64_t)u * p->steps[k];
    }
    return place;
}

/* Whether the caches hold what a gather out of a far table names, as they do when the same indices come again: nothing tells
 * but how long some of it takes. */
static int is_cached(const dml_plan *p)
{
    int64_t start = dml_clock();
    for (int64_t i = 0; i < ASKED; i++) {
        int64_t place = place_of(p, i * (p->positions / ASKED));
        if (place == NOWHERE)
            return 0;
        (void)*(const volatile char *)(p->table + place);
    }
    return dml_clock() - start <= CACHED;
}

/* Whether positions that follow each other name elements or short slices that are close together, as those of a range do, and of
 * sorted indices. Looked at in some places. Measured without fetching, Zen 5: ranges 1.5 to 3.3x, 24 bytes and less apart 1.1 to
 * 3.2x, 32 bytes 0.9 to 1.8x; slices of 20 and 33 bytes 1.0 to 2.2x, of 64 bytes and more 0.8 to 1.2x. */
static int walks(const dml_plan *p)
{
    int64_t apart = (p->positions - LOOKED_AT) / WINDOWS, walked = 0;
    if (apart < LOOKED_AT)
        return 0;
    for (int64_t i = 0; i < WINDOWS; i++)
        for (int64_t k = 0, last = 0; k < LOOKED_AT; k++) {
            int64_t place = place_of(p, i * apart + k);
            if (place == NOWHERE)
                return 0;
            walked += k ? llabs(place - last) : 0;
            if (walked > WINDOWS * LOOKED_AT * (p->slice + CLOSE))
                return 0;
            last = place;
        }
    return 1;
}

/* Elements and slices of a far table need not be fetched where the hardware does it, or where they are cached. */
static void look_ahead(dml_plan *p)
{
    int simple = p->rank == 1 && p->mode == DML_RAISE && !p->packed && p->slice > 0;
    if (simple && (p->whole ? p->fetch != DML_FETCH_NONE : p->far && p->slice < DML_LINE) && walks(p)) {
        p->fetch = DML_FETCH_NONE;
        p->far = 0;
    }
    int asks = (p->whole ? p->fetch && !p->direct : p->far && !p->past) && !p->stores && simple;
    if (!asks || p->positions > MOST_ASKED / dml_ceil(p->slice, DML_LINE) || !is_cached(p))
        return;
    p->fetch = DML_FETCH_NONE;
    p->far = 0;
    if (!p->whole)
        return;
    p->direct = dml_chosen_isa->moves_directly && p->tuple <= DIRECT_TUPLE && p->positions >= MANY_PAGES &&
                p->reached >= (double)p->tuned->cached_direct;
}

/* Whether some of the first coordinates are negative: nobody can foresee which of the others are, and branches that the
 * processor guesses wrong take longer than blocks of offsets. Measured: 1.1 to 2.4x for pairs, 1.6 to 2.8x for triples. */
static int meets_negative(const dml_plan *p, int64_t count)
{
    if (p->index == DML_INDEX_U32 || p->index == DML_INDEX_U64)
        return 0;
    int bytes = dml_index_bytes(p->index);
    for (int64_t k = 0; k < NEGATIVES_SOUGHT; k++) {
        const char *at = p->indices + count * k / NEGATIVES_SOUGHT * bytes;
        i32 high; /* the last four bytes tell the sign */
        memcpy(&high, at + bytes - (int)sizeof high, sizeof high);
        if (high < 0)
            return 1;
    }
    return 0;
}

/* Bytes of the table where registers hold it and a box has enough of its elements; else 0. What lies between elements that
 * can be named is read as well: on the page of the first one, or on that of the last. */
static int64_t bytes_in_registers(const dml_plan *p)
{
    int simple = p->whole && !p->stores && p->mode == DML_RAISE;
    int apart = p->wide || p->ramped || p->again || p->scattered || p->fetch;
    int gathers_as_fast = p->slice == 8 && p->gathers;
    if (!dml_chosen_isa->looks_up || !simple || p->slice == 0 || p->slice > 8 || apart || gathers_as_fast ||
        p->rows * p->inner < DML_HELD_AT_ONCE)
        return 0;
    return dml_held(p->slice, p->tuple, p->bounds, p->steps);
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
    return bytes == 8 || (p->tuple <= dml_chosen_isa->wraps && DML_WRAPS_TUPLES(p->slice));
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
    return columns >= FEWEST_COLUMNS && columns != 16 && p->rows >= FEWEST_ROWS && row >= LONG_FOR_COLUMNS &&
           columns * DML_LINE <= row / 2 * 3 && p->positions >= p->tuned->columns / DML_LINE;
}

/* Whether a gather goes along short rows of the table, by no more bytes of indices than they have: both are streams then, and so
 * is what it stores. The hardware fetches the indices early enough by itself. */
static int goes_along_short_rows(const dml_plan *p)
{
    const dml_dim *last = p->dim + p->rank - 1;
    if (p->stores || p->fetch || p->rank < 2 || p->tuple != 1 || last->table != 0)
        return 0;
    int64_t row = last[-1].table;
    return row <= p->tuned->short_rows && p->bounds[0] * llabs(p->steps[0]) <= row &&
           last->size * dml_index_bytes(p->index) <= row;
}

/* Whether elements are fetched by a ring of offsets (far.c), and stored through the caches. Where nothing is fetched, it moves
 * scattered tuples better than blocks do, if they and the table are in no second-level cache. Measured, Zen 5: 1.1 to 2.1x, else
 * 0.7 to 1.0x. */
static int had_better_roll(const dml_plan *p)
{
    if (p->combine || p->reached < (double)(p->stores ? p->tuned->scatters_rolled : p->tuned->gathers_rolled))
        return 0;
    if (p->positions < LEAST_ROLLED || met_at_a_time(p) < MET_IN_L1)
        return 0;
    return p->fetch || (p->stores && p->tuple > 1 && streamed(p) >= ROLLED);
}

void dml_policy_loops(dml_plan *p)
{
    int repeated = p->pieces == 1; /* every box has the same indices: their offsets are computed once */
    for (int d = 0; d < p->cut; d++)
        repeated &= p->dim[d].index == 0;
    int simple = p->whole && p->mode == DML_RAISE && p->boxes > 1 && !(repeated || p->again || p->wide || p->packed);
    simple &= !p->scattered;
    fetch_rows(p);
    int64_t tuple = p->tuple * (int64_t)dml_index_bytes(p->index);
    int many = p->positions * tuple >= MANY;
    p->ahead = p->tuned->ahead_of_moves;
    look_ahead(p);
    p->in_rows = p->again && !p->stores && p->whole && !p->scattered;
    p->columns = p->in_rows && !p->fetch && goes_by_columns(p);
    p->in_rows &= p->fetch || p->columns;
    p->in_registers = had_better_fetch(p, many) ? 0 : bytes_in_registers(p);
    p->stream_fetched = p->in_registers && streamed(p) >= STORED_FAR;
    p->direct &= simple && !p->ramped && !p->in_registers;
    if (p->direct && meets_negative(p, p->rows * p->inner * p->tuple)) {
        p->direct = 0;
        p->fetch = DML_FETCH_L2;
    }
    p->rolls = simple && !p->direct && had_better_roll(p);
    p->past &= !p->rolls;
    int fits = p->gathers ? p->slice <= 8 && !p->past : DML_WRAPS_TUPLES(p->slice);
    int tuples = p->tuple <= dml_chosen_isa->wraps && fits && !p->ramped && !p->stores && !p->in_registers;
    p->fused = p->direct || p->rolls || (simple && (p->tuple == 1 || tuples) && !p->fetch);
    p->fed = !p->fused && !p->packed && !p->again && many && p->tuned->ahead_of_many > p->ahead ? 16 * tuple : 0;
    p->ahead = many ? p->tuned->ahead_of_many : p->ahead;
    if (goes_along_short_rows(p))
        p->ahead = p->fed = 0;
    int goes_on = !p->ramped || p->dim[0].table == p->slice; /* without the ramp, which is no longer than a box */
    p->together = p->fused && p->rank == 1 && goes_on && !p->combine ? TOGETHER : 1;
    p->follows = p->fused;
    p->gap = 0;
    for (int d = 0; d < p->cut; d++)
        p->follows &= p->dim[d].index == p->dim[d + 1].index * p->dim[d + 1].size;
    p->feeds = p->combine && p->fused && p->reached + p->walked >= LEAST_FED &&
               p->positions * (p->slice + dml_index_bytes(p->index)) >= FEEDS;
}
