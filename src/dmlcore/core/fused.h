/* fused.h: the most frequent moves in one pass: elements that follow each other in the stream, coordinates that follow each
 * other in memory, or are brought together first (pack.h). Included by core/loops.h for each storage class T, width of indices I
 * and instruction set ISA, without guard. Checking some indices and moving as many elements by turns lets the processor do both
 * at once: the first is arithmetic, the second waits for memory. */

#define NAME(name) DML_JOIN4(name, T, I, ISA)
#define STORED_SOON 4096 /* bytes between what is fetched to be stored to and what is stored */

/* One element, and two, each checked already. */
DML_INLINE void NAME(one)(char *table, char *stream, int scatter)
{
    T value;
    memcpy(&value, scatter ? stream : table, sizeof value);
    memcpy(scatter ? table : stream, &value, sizeof value);
}

DML_INLINE void NAME(two)(char *first, char *second, char *stream, int scatter)
{
    if (scatter) {
        dml_part(first, second, stream, sizeof(T));
        return;
    }
    NAME(one)(first, stream, 0);
    NAME(one)(second, stream + sizeof(T), 0);
}

/* Sixteen elements, the table `drift` further from one to the next. */
DML_INLINE void NAME(sixteen)(char *table, char *stream, const u32 *offsets, int drift, int scatter, enum dml_joins way,
                              int past)
{
    for (int at = 0; scatter && at < 16 * (int)sizeof(T); at += DML_LINE)
        DML_PREFETCH(stream + at + DML_PAGES_AHEAD);
    if (JOINS(T) && !scatter) {
        JOIN(T, stream, table, drift, offsets, way, past);
        return;
    }
    for (int j = 0; j < 16; j += 2) {
        u64 at = dml_offsets(offsets + j);
        NAME(two)(table + j * drift + dml_low(at), table + (j + 1) * drift + (at >> 32), stream + j * (int64_t)sizeof(T),
                  scatter);
    }
}

/* The offsets of some tuples of q indices. */
DML_INLINE int NAME(some)(const I *index, int64_t count, int q, const dml_plan *p, const u32 *ramp, u32 *offsets)
{
    if (LONGEST_RING <= 1 && q == 1 && count == DML_STEP_USUAL &&
        !DML_JOIN3(usual, I, ISA)(index, p->bounds, p->steps, ramp, offsets))
        return 0;
    return DML_JOIN3(offsets, I, ISA)(index, count, q, dml_index_signed(p->index), p->bounds, p->steps, ramp, offsets);
}

/* An index, read once: another thread may change it meanwhile. */
DML_INLINE I NAME(read)(const char *index) { return *(const volatile I *)(const void *)index; }

/* A coordinate that may be negative: then its highest bit is set, and something is added, without a branch. */
DML_INLINE uint64_t NAME(wrapped)(I index, uint64_t add)
{
    return (uint64_t)index + (add & (uint64_t)((int64_t)((uint64_t)index << (64 - 8 * (int)sizeof(I))) >> 63));
}

#if SECOND_TUNING
#include "direct.h"
#endif

#if SINGLY
#include "singly.h"
#endif

#if WRAPS
#include "ring.h"
#include "row_scatter.h"
#endif

/* drift: how far the table moves on from one position to the next, where the ramp does not tell. past: whole lines of elements are
 * stored past the caches. By a ring where there is one; else, and with AVX2 in these cases and for scatters, some indices are
 * checked, then as many elements moved, by turns (Zen 3: 1.0 to 1.8x of a ring). */
DML_INLINE int NAME(loop)(const dml_plan *p, dml_block *b, const u32 *ramp, int drift, int scatter, enum dml_joins way,
                          int past)
{
#if WRAPS
    if (LONGEST_RING > 1 || !(drift || past || scatter))
        return NAME(ring)(p, b, 1, 0, 0, ramp, drift, scatter, way, past);
#endif
    const I *index = (const I *)b->indices;
    const char *next = b->next;
    char *table = b->table, *stream = b->stream;
    int64_t left = b->count, next_step = p->next_step, ahead = p->ahead;
    int64_t first = past ? DML_JOIN3(to_line, T, ISA)(stream, left) : 0;
    _Alignas(64) u32 offsets[DML_STEP_MOST];
    while (left > 0) {
        int64_t some = dml_least(first ? first : p->tuned->step, left), i = 0;
        first = 0;
        if (NAME(some)(index, some, 1, p, ramp, offsets))
            return 1;
        for (; i + 16 <= some; i += 16, table += 16 * drift, stream += 16 * sizeof(T)) {
            dml_fetch((const char *)(index + i) + ahead, 16 * sizeof(I));
            next = dml_block_fetch(next, next_step, scatter);
            NAME(sixteen)(table, stream, offsets + i, drift, scatter, way, past);
        }
        for (; i < some; i++, table += drift, stream += sizeof(T))
            NAME(one)(table + offsets[i], stream, scatter);
        index += some;
        if (ramp)
            ramp += some;
        left -= some;
    }
    return 0;
}

/* Out of a near table the vector unit gathers with the indices as they are where elements follow each other (dense), else with what
 * they come to. */
DML_INLINE int NAME(take)(const dml_plan *p, char *stream, const char *table, const char *index, int64_t count, const u32 *ramp,
                          int drift, int dense)
{
    return TAKE(stream, table, index, count, p->bounds[0], p->steps[0], ramp, drift, dense, sizeof(T), sizeof(I),
                dml_index_signed(p->index));
}

/* The same row by row: rows of indices that may have others between them, each with a row of the table, as the ramp tells if there is
 * one, or all with one. */
DML_PIECE int NAME(take_by_rows)(const dml_plan *p, const dml_block *b, const u32 *ramp)
{
    const dml_dim *row = p->dim + p->rank - 1, *rows = row - 1;
    const char *index = b->indices, *table = b->table, *end = b->stream + b->count * (int64_t)sizeof(T);
    int dense = p->steps[0] == (int64_t)sizeof(T) && row->table == 0 && !p->back;
    int64_t size = row->size;
    for (char *stream = b->stream; stream < end; stream += size * (int64_t)sizeof(T), index += rows->index) {
        if (dense ? NAME(take)(p, stream, table, index, size, NULL, 0, 1)
                  : NAME(take)(p, stream, table, index, size, ramp, 0, 0))
            return 1;
        if (dense)
            table += rows->table;
        else if (ramp)
            ramp += size;
    }
    return 0;
}

#if LONGEST_RING > 1
/* By tuples of q coordinates, a constant wherever this is inlined, where no ramp tells what is added. */
DML_INLINE int NAME(take_tuples)(const dml_plan *p, const dml_block *b, int q)
{
    const I *index = (const I *)b->indices;
    char *stream = b->stream;
    int64_t bounds[3], steps[3], left = b->count;
    int is_signed = dml_index_signed(p->index);
    u32 few[16];
    for (int k = 0; k < q; k++) {
        bounds[k] = p->bounds[k];
        steps[k] = p->steps[k];
    }
    for (; left >= 16; left -= 16, index += 16 * q, stream += 16 * sizeof(T))
        if (TAKE_SIXTEEN(stream, b->table, (const char *)index, q, bounds, steps, sizeof(T), sizeof(I), is_signed))
            return 1;
    if (left && NAME(some)(index, left, q, p, NULL, few))
        return 1;
    for (int64_t j = 0; j < left; j++, stream += sizeof(T))
        NAME(one)(b->table + few[j], stream, 0);
    return 0;
}
#endif

/* Out of a table that registers hold: loaded for DML_STEP_MOST positions at a time, whose elements are stored at once. So
 * what they are stored to is fetched while indices are checked; past the caches, whole lines are stored if some elements
 * come first. */
DML_PIECE int NAME(look_up_fused)(const dml_plan *p, const dml_block *b)
{
    const I *index = (const I *)b->indices;
    char *stream = b->stream;
    int past = DML_JOIN3(goes_past, T, ISA)(p, stream), soon = p->stream_fetched && !past;
    int64_t first = past ? DML_JOIN3(to_line, T, ISA)(stream, b->count) : 0;
    _Alignas(64) u32 offsets[DML_STEP_MOST];
    for (int64_t left = b->count, some; left > 0; left -= some, stream += some * (int64_t)sizeof(T)) {
        some = dml_least(first ? first : DML_STEP_MOST, left);
        first = 0;
        for (int64_t i = 0, few; i < some; i += few, index += few) {
            few = dml_least(DML_STEP_USUAL, some - i);
            for (int64_t k = 0; p->ahead && k < few; k += DML_LINE / (int64_t)sizeof(I))
                DML_PREFETCH((const char *)(index + k) + p->ahead);
            for (int64_t k = 0; soon && k < few; k += DML_LINE / (int64_t)sizeof(T))
                DML_PREFETCH_WRITE(stream + (i + k) * (int64_t)sizeof(T) + STORED_SOON);
            if (NAME(some)(index, few, 1, p, NULL, offsets + i))
                return 1;
        }
        DML_JOIN3(look_up, T, ISA)(p, stream, b->table, offsets, some);
    }
    return 0;
}

#if LONGEST_RING > 1
/* Rings that are functions of their own, which the compiler makes smaller; of tuples that are apart they would be slower, 0.8 to 0.95x. */
DML_PIECE int NAME(ring_of_pairs)(const dml_plan *p, dml_block *b, int past)
{
    return NAME(ring)(p, b, 2, 0, 0, NULL, 0, 0, DML_MERGES, past);
}
DML_PIECE int NAME(ring_of_triples)(const dml_plan *p, dml_block *b, int past)
{
    return NAME(ring)(p, b, 3, 0, 0, NULL, 0, 0, DML_MERGES, past);
}
DML_PIECE int NAME(ring_of_fours)(const dml_plan *p, dml_block *b, int past)
{
    return NAME(ring)(p, b, 4, 0, 0, NULL, 0, 0, DML_MERGES, past);
}
DML_PIECE int NAME(ring_of_pair_columns)(const dml_plan *p, dml_block *b)
{
    return NAME(ring)(p, b, 2, 0, p->coordinate_stride, NULL, 0, 0, DML_MERGES, 0);
}
DML_PIECE int NAME(ring_of_triple_columns)(const dml_plan *p, dml_block *b)
{
    return NAME(ring)(p, b, 3, 0, p->coordinate_stride, NULL, 0, 0, DML_MERGES, 0);
}
#endif

DML_INLINE int NAME(fused)(const dml_plan *p, dml_block *b, int scatter)
{
    const dml_dim *last = p->dim + p->rank - 1;
    int drifts = p->cut == p->rank - 1 && last->table == (int64_t)sizeof(T) && !p->back;
    const u32 *ramp = p->ramped && !drifts ? p->ramps->table.narrow : NULL;
    if (LOOKS_UP(T) && !scatter && p->in_registers)
        return NAME(look_up_fused)(p, b);
    if (SECOND_TUNING && p->rolls)
        return dml_far(p, b, scatter);
#if SECOND_TUNING
    if (scatter && p->direct && sizeof(T) <= 8)
        return NAME(scatter_direct)(p, b);
    if (!scatter && p->direct)
        switch (p->tuple) {
        case 1: return NAME(direct_singles)(p, b);
        case 2: return NAME(direct_pairs)(p, b);
        default: return NAME(direct_triples)(p, b);
        }
#endif
#if LONGEST_RING > 1
    if (SECOND_TUNING && GATHERS(T) && !scatter && p->gathers && p->tuple > 1)
        return p->tuple == 2 ? NAME(take_tuples)(p, b, 2) : NAME(take_tuples)(p, b, 3);
#endif
    int drift = drifts ? (int)sizeof(T) : 0, takes = SECOND_TUNING && TAKES(T) && !scatter && p->gathers && !p->past;
    if (takes && p->by_rows)
        return NAME(take_by_rows)(p, b, p->ramped ? p->ramps->table.narrow : NULL);
    int dense = !p->ramped && p->steps[0] == (int64_t)sizeof(T);
    if (takes && (dense || sizeof(T) > 1)) /* else the loop is faster */
        return dense  ? NAME(take)(p, b->stream, b->table, b->indices, b->count, NULL, 0, 1)
               : ramp ? NAME(take)(p, b->stream, b->table, b->indices, b->count, ramp, 0, 0)
                      : NAME(take)(p, b->stream, b->table, b->indices, b->count, NULL, drift, 0);
    int past = sizeof(T) >= DML_SHORTEST_PAST && !scatter && DML_JOIN3(goes_past, T, ISA)(p, b->stream);
#if LONGEST_RING > 1
    if (!scatter && DML_WRAPS_ROWS(sizeof(T)) && p->by_rows) {
        if (last->size >= DML_SHORTEST_ROW)
            return NAME(row_ring)(p, b, ramp);
        return last->size == 2 ? NAME(short_row_ring)(p, b, ramp, 1) : NAME(short_row_ring)(p, b, ramp, 0);
    }
    if (!scatter && DML_WRAPS_COLUMNS(sizeof(T)) && p->joined && p->by_columns)
        return p->tuple == 2 ? NAME(ring_of_pair_columns)(p, b) : NAME(ring_of_triple_columns)(p, b);
    if (!scatter && DML_WRAPS_TUPLES(sizeof(T)) && p->joined) {
        if (p->tuple == 2)
            return NAME(ring)(p, b, 2, p->joined, 0, NULL, 0, 0, DML_MERGES, past);
        if (p->tuple == 3)
            return NAME(ring)(p, b, 3, p->joined, 0, NULL, 0, 0, DML_MERGES, past);
        if (DML_WRAPS_FOURS(sizeof(T)) && p->tuple == 4)
            return NAME(ring)(p, b, 4, p->joined, 0, NULL, 0, 0, DML_MERGES, past);
        return p->merges && sizeof(T) == 4 ? NAME(ring)(p, b, 1, p->joined, 0, NULL, 0, 0, DML_MERGES, past)
                                           : NAME(ring)(p, b, 1, p->joined, 0, NULL, 0, 0, DML_INSERTS, past);
    }
    if (!scatter && DML_WRAPS_TUPLES(sizeof(T)) && p->tuple == 2)
        return NAME(ring_of_pairs)(p, b, past);
    if (!scatter && DML_WRAPS_TUPLES(sizeof(T)) && p->tuple == 3)
        return NAME(ring_of_triples)(p, b, past);
    if (!scatter && DML_WRAPS_FOURS(sizeof(T)) && p->tuple == 4)
        return NAME(ring_of_fours)(p, b, past);
#endif
    if (!JOINS(T)) /* one for all where nothing is fast anyway */
        return NAME(loop)(p, b, ramp, drift, scatter, DML_INSERTS, 0);
    if (sizeof(T) == 16) /* or where no two elements are joined: 0.9 to 1.05x */
        return past ? NAME(loop)(p, b, ramp, drift, 0, DML_INSERTS, 1) : NAME(loop)(p, b, ramp, drift, scatter, DML_INSERTS, 0);
    if (SECOND_TUNING && !scatter && p->gathers)
        return NAME(loop)(p, b, ramp, drift, 0, DML_GATHERS, past);
    if (past)
        return NAME(loop)(p, b, ramp, drift, 0, DML_INSERTS, 1);
    if (MERGES && drifts && !scatter && (sizeof(T) == 2 || sizeof(T) == 4) && p->apart)
        return NAME(loop)(p, b, NULL, sizeof(T), 0, DML_APART, 0);
    if (drifts)
        return NAME(loop)(p, b, NULL, sizeof(T), scatter, DML_MERGES, 0);
    int merges = MERGES && sizeof(T) == 4 && !scatter && p->merges;
    if (WRAPS && !p->ramped && merges)
        return NAME(loop)(p, b, NULL, 0, 0, DML_MERGES, 0);
    if (WRAPS && !p->ramped) /* elsewhere it makes no difference */
        return NAME(loop)(p, b, NULL, 0, scatter, DML_INSERTS, 0);
    DML_NEVER(WRAPS && !ramp);
    if (WRAPS && merges)
        return NAME(loop)(p, b, ramp, 0, 0, DML_MERGES, 0);
    return NAME(loop)(p, b, ramp, 0, scatter, DML_INSERTS, 0);
}

/* Indices that do not follow each other are brought together first. */
DML_INLINE void NAME(bring_together)(const dml_plan *p, dml_block *b)
{
    if (!p->packed || p->joined || p->by_rows)
        return;
    b->indices = DML_JOIN3(pack, I, ISA)(p, b, b->count);
    b->known = NULL;
}

/* 1: some coordinate is out of range; elements in front of it may have been moved. */
DML_PIECE int NAME(gather_fused)(const dml_plan *p, dml_block *b)
{
    if (p->row_lookup)
        return p->row_lookup(&p->looked_up, b->stream, b->table, b->indices, b->count, dml_index_signed(p->index));
#if SINGLY
    if (sizeof(T) <= 8 && p->singly)
        return p->tuple == 3   ? NAME(triples_singly)(p, b)
               : p->tuple == 2 ? NAME(pairs_singly)(p, b)
                               : NAME(gather_singly)(p, b);
#endif
    NAME(bring_together)(p, b);
    return p->grows && dml_follows(p, b, 0) ? 0 : NAME(fused)(p, b, 0);
}

DML_PIECE int NAME(scatter_fused)(const dml_plan *p, dml_block *b)
{
#if SINGLY
    if (DML_WRAPS_ROWS(sizeof(T)) && p->singly)
        return NAME(scatter_singly)(p, b);
#endif
#if WRAPS
    if (DML_WRAPS_ROWS(sizeof(T)) && p->by_rows)
        return NAME(scatter_by_rows)(p, b);
#endif
    NAME(bring_together)(p, b);
    return p->grows && dml_follows(p, b, 1) ? 0 : NAME(fused)(p, b, 1);
}

#undef STORED_SOON
#undef NAME
