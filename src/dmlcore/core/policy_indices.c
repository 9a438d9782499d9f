/* policy_indices.c: what a few of the indices tell: whether they name elements close together, which the hardware fetches by
 * itself, or elements that the caches hold; whether some are negative. They are only looked at, the loops check them. */
#include "dispatch.h"
#include "move.h"
#include "policy.h"
#include "worth.h"

#include <stdlib.h>

#define NEGATIVES_SOUGHT 16        /* coordinates that are looked at */
#define ASKED 8                    /* positions whose elements are loaded to see how long they take, */
#define MOST_ASKED (256 << 10)     /* of no more elements than a cache may hold lines, */
#define MOST_LINES (64 << 10)      /* or lines of slices, beside what they are stored to; */
#define CACHED 200                 /* ns: out of caches they take 40 to 200, 250 to 1200 otherwise; */
#define CACHED_SINGLY 500          /* longer on Zen 3, in a virtual machine, which looks up pages slowly (could_go_singly) */
#define NOWHERE INT64_MIN
#define WINDOWS 16                 /* places where */
#define LOOKED_AT 8                /* positions that follow each other are looked at; */
#define CLOSE 16                   /* bytes between them on average, so that the hardware fetches them by itself */
#define SORTED 2048                /* likewise, so that elements are not moved one by one; see below */
#define MANY_NEAR (40 << 10)       /* positions for each thread out of near tables: its caches do not keep their lines */
#define FEW_POSITIONS (640 << 10)  /* lines of fewer are cached the next time: several threads fetch none of far tables */
#define MANY_PAGES 4096            /* elements each on a page of its own, more than the processor remembers: one by one, */
#define MANY_LINES (128 << 10)     /* but not so many, which take 1.1 to 1.5 times as long one by one (Zen 4) */
#define FAR_PAGES (24 << 20)       /* bytes of a table: out of so large ones, */
#define MANY_FAR_LINES (80 << 10)  /* not even so many with AVX2, */

/* The place in the table that a position of one dimension names, whose coordinates follow each other; a coordinate out of range
 * is found and reported later. */
static int64_t place_of(const dml_plan *p, int64_t position)
{
    const char *index = p->indices + position * p->dim[0].index;
    int64_t place = position * p->dim[0].table, bytes = dml_index_bytes(p->index);
    for (int k = 0; k < p->tuple; k++, index += bytes) {
        uint64_t n = (uint64_t)p->bounds[k], u = (uint64_t)dml_coordinate_at(index, p->index);
        DML_ONCE(u);
        u += u < n ? 0 : n;
        if (u >= n)
            return NOWHERE;
        place += (int64_t)u * p->steps[k];
    }
    return place;
}

/* Whether the caches hold what is named of a far table, as they do when the same indices come again: nothing tells but how long
 * some of it takes. */
static int is_cached(const dml_plan *p, int64_t most)
{
    int64_t start = dml_clock();
    for (int64_t i = 0; i < ASKED; i++) {
        int64_t place = place_of(p, i * (p->positions / ASKED));
        if (place == NOWHERE)
            return 0;
        (void)*(const volatile char *)(p->table + place);
    }
    return dml_clock() - start <= most;
}

/* Whether positions that follow each other name elements or short slices at most so many bytes apart, as those of a range do, and of
 * sorted indices. Looked at in some places. Measured without fetching what is close together, Zen 5: ranges 1.5 to 3.3x, 24 bytes
 * and less apart 1.1 to 3.2x, 32 bytes 0.9 to 1.8x; slices of 20 and 33 bytes 1.0 to 2.2x, of 64 bytes and more 0.8 to 1.2x. Granite
 * Rapids, in blocks where elements up to two KiB apart would be moved one by one: 0.95 to 1.9x, on average 1.25x; Emerald Rapids 0.86 to
 * 2.1x, four threads 0.85 to 1.2x. */
static int walks(const dml_plan *p, int64_t bytes)
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
            if (walked > WINDOWS * LOOKED_AT * bytes)
                return 0;
            last = place;
        }
    return 1;
}

/* Whether single elements that are gathered are fetched to the first-level cache, if they go one by one. Measured on Granite Rapids, out
 * of 9 to 24 MB: 1.0 to 1.2x, with two threads 0.9 to 1.17x; out of 32 MB as fast, of memory 0.75x. Emerald Rapids: 1.0x, with four
 * threads, whose caches hold most of such a table, 0.7 to 1.2x, on average 0.94x. */
static int is_near(const dml_plan *p)
{
    const dml_tuning *t = p->tuned;
    return p->whole && !p->stores && p->tuple == 1 && p->reached >= (double)t->gathers_to_l1 &&
           p->reached < (double)t->gathers_to_l2;
}

/* Whether elements that are cached go one by one with AVX2 (singly.h), whose blocks would ask for many at a time, some of them too early.
 * Measured on Zen 3, 1000 to 100,000 elements: 0.63 to 1.96x, on average 1.12x, with two threads 0.70 to 1.84x, 1.09x; more of them are not
 * asked so patiently. Those of a table that no cache holds, which may answer as soon, 0.85 to 1.1x, on average 0.98x. */
static int could_go_singly(const dml_plan *p)
{
    int64_t most = p->reached < FAR_PAGES ? MANY_LINES : MANY_FAR_LINES;
    int simple = p->whole && p->slice <= 8 && !p->stores && p->tuple == 1 && p->boxes > 1 && !p->wide;
    return dml_chosen_isa->moves_singly && simple && p->positions < most && !dml_meets_negative(p) && !walks(p, DML_PAGE);
}

/* Elements and slices of a far table need not be fetched where the hardware does it, or where they are cached. */
void dml_policy_indices(dml_plan *p)
{
    p->cached = DML_CACHED_UNKNOWN;
    int simple = p->rank == 1 && p->mode == DML_RAISE && !p->packed && p->slice > 0;
    int fetches = p->whole ? p->direct || p->fetch != DML_FETCH_NONE : p->far && p->slice < DML_LINE;
    if (simple && fetches && walks(p, p->slice + CLOSE)) {
        p->fetch = DML_FETCH_NONE;
        p->far = p->direct = 0;
    }
    p->direct &= !(simple && p->direct && walks(p, SORTED));
    int gains = p->threads == 1 || p->positions >= FEW_POSITIONS, cached = p->reached < (double)p->tuned->gathers_direct;
    p->soon = simple && p->direct && gains && !cached ? DML_FETCH_L2 : DML_FETCH_NONE;
    if (simple && is_near(p) && (p->direct || (p->positions >= MANY_NEAR * p->threads && !walks(p, SORTED)))) {
        p->direct = 1;
        p->soon = DML_FETCH_L1;
    }
    int asks = simple && (p->whole ? p->fetch && !p->direct : p->far && !p->past && !p->stores);
    asks &= !p->stores || (p->in_place && !p->combines);
    int singly = asks && could_go_singly(p);
    if (!asks || p->positions > (p->whole ? MOST_ASKED : MOST_LINES / dml_ceil(p->slice, DML_LINE)) ||
        !is_cached(p, singly ? CACHED_SINGLY : CACHED))
        return;
    if (singly)
        p->cached = p->reached >= FAR_PAGES && p->positions >= MANY_PAGES ? DML_CACHED_PAGES : DML_CACHED_LINES;
    p->fetch = DML_FETCH_NONE;
    p->far = 0;
    if (!p->whole || p->stores)
        return;
    p->direct = dml_chosen_isa->moves_directly && p->tuple <= DML_DIRECT_TUPLE && p->positions >= MANY_PAGES &&
                p->positions < MANY_LINES && p->reached >= (double)p->tuned->cached_direct && !walks(p, DML_PAGE);
}

int dml_meets_range(const dml_plan *p)
{
    const dml_dim *last = p->dim + p->rank - 1;
    if (last->size < 2)
        return 0;
    uint64_t second = (uint64_t)dml_coordinate_at(p->indices + last->index, p->index);
    return second - (uint64_t)dml_coordinate_at(p->indices, p->index) == (last->table != p->slice);
}

/* Whether some of the first coordinates are negative: nobody can foresee which of the others are, and branches that the
 * processor guesses wrong take longer than blocks of offsets. Measured: 1.1 to 2.4x for pairs, 1.6 to 2.8x for triples. Looked at
 * along the last dimension, as far as the first box has it. */
int dml_meets_negative(const dml_plan *p)
{
    if (!dml_index_signed(p->index))
        return 0;
    const dml_dim *last = p->dim + p->rank - 1;
    int64_t bytes = dml_index_bytes(p->index), apart = p->tuple > 1 ? p->coordinate_stride : 0;
    int64_t size = p->cut == p->rank - 1 ? p->rows : last->size;
    for (int64_t k = 0; k < NEGATIVES_SOUGHT; k++) {
        const char *at = p->indices + size * k / NEGATIVES_SOUGHT * last->index + k % p->tuple * apart;
        i32 high; /* the last four bytes tell the sign */
        memcpy(&high, at + bytes - (int)sizeof high, sizeof high);
        if (high < 0)
            return 1;
    }
    return 0;
}
