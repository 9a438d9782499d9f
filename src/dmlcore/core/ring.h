/* ring.h: the loop of fused.h where the vector unit checks sixteen indices at a time (WRAP_SIXTEEN): it does so RING_AHEAD positions
 * before their elements are moved, those of the next box included, and a ring holds the offsets meanwhile. The processor looks some
 * hundred instructions ahead; so it sees checks and moves, and does not wait where a block of either ends. Tuples of q coordinates, a
 * constant wherever this is inlined; apart: bytes from one to the next, of up to four coordinates; along: bytes from one dimension's
 * coordinates to those of the next, where these follow each other; 0 where tuples do. What the loop counts by is as little as it can
 * be: one pointer more, kept on the stack, costs a tenth. Included by fused.h, without guard. */
#define FARTHEST_FETCHED 256 /* bytes from one tuple to the next; farther ones, not fetched: 1.05 to 1.25x, Zen 4 */

DML_INLINE int NAME(ring)(const dml_plan *p, dml_block *b, int q, int64_t apart, int64_t along, const u32 *ramps, int drift,
                          int scatter, enum dml_joins way, int past)
{
    const char *index = b->indices, *next = b->next;
    int64_t each = apart ? apart : (along ? 1 : q) * (int64_t)sizeof(I);
    char *table = b->table, *stream = b->stream;
    int64_t count = b->count, next_step = p->next_step, ahead = p->ahead, at = 0, ready = 0;
    int64_t first = past ? DML_JOIN3(to_line, T, ISA)(stream, count) : 0, bounds[4], steps[4];
    int is_signed = dml_index_signed(p->index);
    u32 *ring = b->offsets.narrow, *few = ring + RING;
    for (int k = 0; k < q; k++) {
        bounds[k] = p->bounds[k];
        steps[k] = p->steps[k];
    }
    int64_t whole = (count - first) & -16, last = count - first - whole;
    /* of the next box, behind what it has in front of a line if it goes on where this one ends */
    int64_t skipped = past ? (-(intptr_t)(stream + count * (int64_t)sizeof(T)) & (DML_LINE - 1)) / (int64_t)sizeof(T) : 0;
    int64_t further = whole < RING_AHEAD ? 0 : dml_most(0, dml_least(RING_AHEAD, (b->following - skipped) & -16));
    if (first) {
        if (DML_JOIN3(last_offsets, I, ISA)(p, index, first, apart, along, ramps, few))
            return 1;
        for (int64_t j = 0; j < first; j++, table += drift, stream += sizeof(T))
            NAME(one)(table + few[j], stream, scatter);
        index += first * each;
        if (ramps)
            ramps += first;
    }
    if (b->known == index) {
        at = b->known_at;
        ready = b->known_positions;
    }
    if (ready < dml_least(RING_AHEAD, whole) &&
        DML_JOIN3(first_offsets, I, ISA)(p, index, ready, dml_least(RING_AHEAD, whole), apart, along, ramps, ring, at))
        return 1;
    /* lines that are fetched ahead of sixteen tuples which are apart: all, one for each tuple, or none */
    int64_t soon_lines = dml_ceil(llabs(16 * apart), DML_LINE), soon_from = apart < 0 ? 16 * apart - ahead : ahead,
            soon_step = DML_LINE;
    if (soon_lines > 16) {
        soon_lines = llabs(apart) > FARTHEST_FETCHED ? 0 : 16;
        soon_from = ahead / DML_LINE * apart;
        soon_step = apart;
    }
    const char *end = stream + whole * (int64_t)sizeof(T);
    for (int part = 0; part < 2; part++) { /* what is checked meanwhile: its own indices, then those of the next box */
        const char *soon = index + (part ? whole + last + p->gap + skipped : RING_AHEAD) * each;
        const char *soon_end = soon + (part ? further : dml_most(0, whole - RING_AHEAD)) * each;
        const u32 *soon_ramp = !ramps ? NULL : part ? ramps - first + skipped : ramps + RING_AHEAD;
        for (; soon != soon_end;
             table += 16 * drift, stream += 16 * sizeof(T), at = (at + 16) & (RING - 1), soon += 16 * each) {
            for (int k = 0; !apart && k < (along ? q : 1); k++)
                dml_fetch(soon + k * along + ahead, 16 * each);
            for (int64_t k = 0; apart && k < soon_lines; k++)
                DML_PREFETCH(soon + soon_from + k * soon_step);
            next = dml_block_fetch(next, next_step, scatter);
            if (WRAP_SIXTEEN(soon, q, apart, along, sizeof(I), is_signed, bounds, steps, soon_ramp,
                             ring + ((at + RING_AHEAD) & (RING - 1))))
                return 1;
            NAME(sixteen)(table, stream, ring + at, drift, scatter, way, past);
            if (ramps)
                soon_ramp += 16;
        }
    }
    for (; stream < end; table += 16 * drift, stream += 16 * sizeof(T), at = (at + 16) & (RING - 1)) {
        next = dml_block_fetch(next, next_step, scatter);
        NAME(sixteen)(table, stream, ring + at, drift, scatter, way, past);
    }
    if (last && DML_JOIN3(last_offsets, I, ISA)(p, index + whole * each, last, apart, along, ramps ? ramps + whole : NULL, few))
        return 1;
    for (int64_t j = 0; j < last; j++, table += drift, stream += sizeof(T))
        NAME(one)(table + few[j], stream, scatter);
    b->known = index + (whole + last + p->gap + skipped) * each;
    b->known_at = at;
    b->known_positions = further;
    return 0;
}

#if LONGEST_RING > 1
#include "row_ring.h"
#endif

#undef FARTHEST_FETCHED
