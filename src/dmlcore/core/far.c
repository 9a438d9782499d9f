/* far.c: single elements of far tables. Some indices are checked at a time, and what they name is fetched at once; a ring holds the
 * offsets until it is moved, AHEAD positions later. So there are always as many lines on their way as the processor can wait
 * for, across the ends of boxes as well. */
#include "block.h"
#include "dispatch.h"

#define STEP 32 /* positions that are checked, and moved, at a time, */
#define RING 256 /* offsets that there is room for, */
#define AHEAD 192 /* and that wait; measured on Zen 5: 160 and 224 are as good, 128 and 256 slower by 3 to 10 % */

_Static_assert(AHEAD <= DML_LONGEST_LOOK, "the next box has so many");

/* Fetches what so many positions name, to the first-level cache or only to the second one. (A compiler drops calls of what only
 * fetches, so this is to be inlined.) */
DML_INLINE void fetch_named(const char *table, const u32 *offsets, int near)
{
    if (near)
        for (int j = 0; j < STEP; j++)
            DML_PREFETCH(table + offsets[j]);
    else
        for (int j = 0; j < STEP; j++)
            DML_PREFETCH_L2(table + offsets[j]);
}

static void move(const dml_plan *p, char *table, char *stream, const u32 *offsets, int64_t count, int scatter)
{
    if (scatter)
        dml_chosen_isa->scatterers[p->storage](table, stream, offsets, count);
    else
        dml_chosen_isa->gatherers[p->storage](stream, table, offsets, count, 0, 0);
}

int dml_far(const dml_plan *p, dml_block *b, int scatter)
{
    const dml_dim *last = p->dim + p->rank - 1;
    const dml_normaliser check = dml_chosen_isa->normalisers[dml_index_width(p->index)];
    int is_signed = dml_index_signed(p->index);
    int64_t tuple = p->tuple * (int64_t)dml_index_bytes(p->index), width = p->slice;
    int64_t whole = b->count & -STEP, rest = b->count - whole;
    char *stream = b->stream, *table = b->table;
    int drifts_on = p->cut == p->rank - 1 && last->table == width && !p->back; /* the table moves on with each position, */
    int64_t drift = drifts_on ? width : 0;
    _Alignas(DML_LINE) u32 drifts[STEP], few[STEP], *ring = b->offsets.narrow;
    for (int j = 0; j < STEP; j++)
        drifts[j] = (u32)(j * drift);
    const u32 *ramp = drift ? drifts : p->ramped ? p->ramps->table.narrow : NULL; /* or as the ramp tells */
    int64_t further = whole < AHEAD ? 0 : dml_least(AHEAD, b->following & -STEP); /* of the next box, */
    const char *next_indices = b->indices + (b->count + p->gap) * tuple;
    /* where its elements are, probably: they are only fetched */
    int64_t next_row = p->pieces == 1 && p->cut ? p->dim[p->cut - 1].table : b->count / p->inner * p->dim[p->cut].table;
    const char *next_table = table + next_row;
    /* to the first-level cache, which is no good for updates, nor for the same columns of rows that contend for a few of its lines */
    int near = !scatter && !ramp;
    int64_t at = 0, ready = 0;
    if (b->known == b->indices) {
        at = b->known_at;
        ready = b->known_positions;
    }
    for (int64_t i = 0; i < whole; i += STEP) {
        for (; ready < dml_least(i + AHEAD, whole + further); ready += STEP) {
            int ends = ready >= whole;
            int64_t place = ends ? ready - whole : ready;
            const char *from = (ends ? next_indices : b->indices) + place * tuple;
            u32 *offsets = ring + ((at + ready) & (RING - 1));
            dml_fetch(from + p->ahead, STEP * tuple);
            if (check(from, STEP, p->tuple, is_signed, p->bounds, p->steps, ramp && !drift ? ramp + place : ramp, offsets))
                return 1;
            if (p->fetch)
                fetch_named((ends ? next_table : table) + place * drift, offsets, near);
        }
        if (scatter)
            dml_fetch(stream + i * width + DML_PAGES_AHEAD, STEP * width);
        move(p, table + i * drift, stream + i * width, ring + ((at + i) & (RING - 1)), STEP, scatter);
    }
    if (rest) {
        const u32 *there = ramp && !drift ? ramp + whole : ramp;
        if (check(b->indices + whole * tuple, rest, p->tuple, is_signed, p->bounds, p->steps, there, few))
            return 1;
        move(p, table + whole * drift, stream + whole * width, few, rest, scatter);
    }
    b->known = next_indices;
    b->known_at = at + whole;
    b->known_positions = dml_most(0, dml_least(further, ready - whole));
    return 0;
}
