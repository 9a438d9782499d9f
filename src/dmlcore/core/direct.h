/* direct.h: each element gathered or scattered by itself, as soon as its indices are checked. With branches; by arithmetic, whatever the
 * signs of indices, as all scatters; and by columns where each coordinate of pairs follows the other. Included by fused.h, without guard,
 * where a tuning moves elements so. */
#define MANY_SINGLES (1 << 20) /* positions with single indices: beside so many the hardware fetches nothing by itself */
#define SOON 64 /* positions between an element that is fetched and one that is moved, where they are one by one */
#define SOON_NEAR 24 /* and one that is fetched to the first-level cache, to be stored to */

/* Tuples of q coordinates, `each` bytes from one to the next, `along` from a coordinate to the next: what one names is moved as soon as
 * it is checked. Where `soon` is not 0, what the one so many tuples further will name if it stays as it is, and in the table, is fetched, to
 * the first-level cache if `near`.
 * `ahead`: bytes to the index that is needed soon, so far from each of the first `lines` coordinates, and to what is stored to then; 0: the
 * hardware fetches them. q, `soon`, `near`, `ahead` and `lines` are constants. */
DML_INLINE int NAME(one_by_one)(const char *index, int64_t each, int64_t along, int64_t count, const char *table, char *stream,
                                int q, const uint64_t *n, const uint64_t *add, const uint64_t *step, int soon, int near,
                                int ahead, int lines)
{
    for (int64_t left = count; left > 0; left--, index += each, stream += sizeof(T)) {
        const char *at = table, *there = table, *others = index + soon * each;
        for (int k = 0; soon && k < q; k++) {
            uint64_t u = (uint64_t)NAME(read)(others + k * along);
            there += (u < n[k] ? u : 0) * step[k];
        }
        if (soon && near)
            DML_PREFETCH(there);
        else if (soon)
            DML_PREFETCH_L2(there);
        for (int k = 0; ahead && k < lines; k++)
            DML_PREFETCH(index + k * along + ahead);
        if (ahead)
            DML_PREFETCH_WRITE(stream + ahead);
        for (int k = 0; k < q; k++) {
            uint64_t u = (uint64_t)NAME(read)(index + k * along);
            if (u >= n[k]) {
                u += add[k];
                if (u >= n[k])
                    return 1;
            }
            at += u * step[k];
        }
        memcpy(stream, at, sizeof(T));
    }
    return 0;
}

/* The same where some coordinates are negative: nobody can guess which, so that there is no branch, but more arithmetic; and for all
 * scatters. What comes `soon` positions later is always fetched, soon 0: nothing new; near: to the first-level cache.
 * ramp: what is added for each position, NULL: nothing. */
DML_INLINE int NAME(wrapping)(const char *index, int64_t each, int64_t count, char *table, char *stream, int q,
                              const uint64_t *n, const uint64_t *add, const uint64_t *step, int64_t soon, const u32 *ramp,
                              int scatter, int near)
{
    uint64_t most[2], more[2], steps[2]; /* in registers: what is stored might change the caller's */
    for (int k = 0; k < q; k++) {
        most[k] = n[k];
        more[k] = add[k];
        steps[k] = step[k];
    }
    for (int64_t i = 0; i < count; i++, index += each, stream += sizeof(T)) {
        char *at = table + (ramp ? ramp[i] : 0);
        const char *others = index + soon * each;
        uintptr_t there = (uintptr_t)table + (ramp ? ramp[i + soon] : 0); /* anywhere: nobody has checked these */
        for (int k = 0; k < q; k++)
            there += (uintptr_t)(NAME(wrapped)(NAME(read)(others + k * (int)sizeof(I)), more[k]) * steps[k]);
        if (near && scatter)
            DML_PREFETCH_WRITE((const char *)there);
        else if (near)
            DML_PREFETCH((const char *)there);
        else
            DML_PREFETCH_L2((const char *)there);
        DML_PREFETCH(index + DML_PAGES_AHEAD);
        if (scatter)
            DML_PREFETCH(stream + DML_PAGES_AHEAD);
        else
            DML_PREFETCH_WRITE(stream + DML_PAGES_AHEAD);
        for (int k = 0; k < q; k++) {
            uint64_t u = NAME(wrapped)(NAME(read)(index + k * (int)sizeof(I)), more[k]);
            if (u >= most[k])
                return 1;
            at += u * steps[k];
        }
        NAME(one)(at, stream, scatter);
    }
    return 0;
}

/* Functions of their own, whose constants registers hold. */
#define WRAPPING(name, q, RAMP, scatter, NEAR)                                                                             \
    DML_PIECE int NAME(name)(const char *index, int64_t each, int64_t count, char *table, char *stream, const uint64_t *n, \
                             const uint64_t *add, const uint64_t *step, int64_t soon, const u32 *ramp, int near)           \
    {                                                                                                                      \
        (void)ramp, (void)near;                                                                                            \
        return NAME(wrapping)(index, each, count, table, stream, q, n, add, step, soon, RAMP, scatter, NEAR);              \
    }
WRAPPING(wrapping_singles, 1, NULL, 0, near)
WRAPPING(walking_singles, 1, ramp, 0, 0)
WRAPPING(wrapping_pairs, 2, NULL, 0, 0)
WRAPPING(scattered_singles, 1, NULL, 1, near)
WRAPPING(scattered_walking, 1, ramp, 1, 0)
WRAPPING(scattered_pairs, 2, NULL, 1, 0)
#undef WRAPPING

typedef int NAME(wrapper)(const char *index, int64_t each, int64_t count, char *table, char *stream, const uint64_t *n,
                          const uint64_t *add, const uint64_t *step, int64_t soon, const u32 *ramp, int near);

/* A box by one of these: the last ones fetch nothing new. */
DML_INLINE int NAME(all_wrapped)(NAME(wrapper) * wrapper, const dml_plan *p, const dml_block *b, char *table, int64_t each,
                                 const uint64_t *n, const uint64_t *add, const uint64_t *step, int64_t soon, int near)
{
    int64_t first = dml_most(0, b->count - soon);
    const u32 *ramp = p->ramps->table.narrow;
    return wrapper(b->indices, each, first, table, b->stream, n, add, step, soon, ramp, near) ||
           wrapper(b->indices + first * each, each, b->count - first, table, b->stream + first * (int64_t)sizeof(T), n, add,
                   step, 0, ramp + first, near);
}

/* The first ones, whose others are fetched, and the rest. */
DML_PIECE int NAME(many_singles)(const char *index, int64_t each, int64_t first, int64_t count, const char *table, char *stream,
                                 const uint64_t *bound, const uint64_t *more, const uint64_t *bytes)
{
    const uint64_t n = *bound, add = *more, step = *bytes;
    const int ahead = DML_PAGES_AHEAD;
    return NAME(one_by_one)(index, each, 0, first, table, stream, 1, &n, &add, &step, SOON, 0, ahead, 1) ||
           NAME(one_by_one)(index + first * each, each, 0, count - first, table, stream + first * (int64_t)sizeof(T), 1, &n,
                            &add, &step, 0, 0, ahead, 1);
}

DML_PIECE int NAME(pairs_by_columns)(const char *index, int64_t along, int64_t first, int64_t count, const char *table,
                                     char *stream, const uint64_t *bounds, const uint64_t *more, const uint64_t *steps)
{
    uint64_t n[2] = {bounds[0], bounds[1]}, add[2] = {more[0], more[1]}, step[2] = {steps[0], steps[1]};
    return NAME(one_by_one)(index, sizeof(I), along, first, table, stream, 2, n, add, step, SOON, 0, DML_PAGES_AHEAD, 2) ||
           NAME(one_by_one)(index + first * (int)sizeof(I), sizeof(I), along, count - first, table,
                            stream + first * (int)sizeof(T), 2, n, add, step, 0, 0, DML_PAGES_AHEAD, 2);
}

/* What the loops for q coordinates need. */
DML_INLINE void NAME(constants)(const dml_plan *p, int q, uint64_t *n, uint64_t *add, uint64_t *step)
{
    for (int k = 0; k < q; k++) {
        n[k] = (uint64_t)p->bounds[k];
        add[k] = DML_JOIN3(from_end, I, ISA)(dml_index_signed(p->index), p->bounds[k]);
        step[k] = (uint64_t)p->steps[k];
    }
}

/* Each element gathered by itself, as soon as its indices are checked: in a far table the processor gets along with the more
 * elements at a time, the less there is to do for each. Tuples of q coordinates, a constant wherever this is inlined. */
DML_INLINE int NAME(direct)(const dml_plan *p, const dml_block *b, int q)
{
    int64_t each = p->joined ? p->joined : q * (int64_t)sizeof(I), known = b->count + (p->gap ? 0 : b->following);
    int64_t first = p->soon ? dml_most(0, dml_least(b->count, known - SOON)) : 0, own = dml_most(0, b->count - SOON);
    int near = q == 1 && p->soon == DML_FETCH_L1;
    const char *index = b->indices;
    char *stream = b->stream, *table = b->table + p->back; /* addresses of 64 bits go backwards by themselves */
    const int ahead = q > 1 ? DML_PAGES_AHEAD : 0; /* the hardware fetches single ones, so few of them */
    uint64_t n[4], add[4], step[4];
    NAME(constants)(p, q, n, add, step);
    if (sizeof(T) <= 8 && q < 3 && p->by_arithmetic)
        return NAME(all_wrapped)(q == 2      ? NAME(wrapping_pairs)
                                 : p->ramped ? NAME(walking_singles)
                                             : NAME(wrapping_singles),
                                 p, b, q == 1 && p->ramped ? b->table : table, each, n, add, step, SOON, near);
    if (sizeof(T) >= 4 && sizeof(T) <= 8 && q == 2 && p->by_columns)
        return NAME(pairs_by_columns)(index, p->coordinate_stride, own, b->count, table, stream, n, add, step);
    DML_NEVER(first && p->joined);
    if (q == 1 && p->positions >= MANY_SINGLES && !near)
        return NAME(many_singles)(index, each, first, b->count, table, stream, n, add, step);
    if (first && near) {
        if (NAME(one_by_one)(index, sizeof(I), 0, first, table, stream, 1, n, add, step, SOON, 1, 0, 1))
            return 1;
    } else if (first && NAME(one_by_one)(index, q * (int64_t)sizeof(I), sizeof(I), first, table, stream, q, n, add, step, SOON,
                                         0, ahead, 1))
        return 1;
    return NAME(one_by_one)(index + first * each, each, sizeof(I), b->count - first, table, stream + first * (int64_t)sizeof(T),
                            q, n, add, step, 0, 0, ahead, 1);
}

DML_PIECE int NAME(direct_singles)(const dml_plan *p, const dml_block *b) { return NAME(direct)(p, b, 1); }
DML_PIECE int NAME(direct_pairs)(const dml_plan *p, const dml_block *b) { return NAME(direct)(p, b, 2); }
DML_PIECE int NAME(direct_triples)(const dml_plan *p, const dml_block *b) { return NAME(direct)(p, b, 3); }

/* Each element scattered by itself: single indices, or pairs. */
DML_PIECE int NAME(scatter_direct)(const dml_plan *p, const dml_block *b)
{
    uint64_t n[2], add[2], step[2];
    int near = p->fetch == DML_FETCH_L1; /* single indices alone: pairs and rows go into far tables only (policy_loads.c) */
    int64_t each = p->joined ? p->joined : p->tuple * (int64_t)sizeof(I), soon = near ? SOON_NEAR : SOON;
    NAME(wrapper) *wrapper = p->ramped ? NAME(scattered_walking) : NAME(scattered_singles);
    NAME(constants)(p, 1, n, add, step);
    if (p->tuple == 2) {
        NAME(constants)(p, 2, n, add, step);
        wrapper = NAME(scattered_pairs);
    }
    return NAME(all_wrapped)(wrapper, p, b, b->table, each, n, add, step, soon, near);
}

#undef SOON_NEAR
#undef MANY_SINGLES
#undef SOON
