/* direct.h: each element gathered by itself, as soon as its indices are checked. With branches, by arithmetic where some indices are
 * negative, and by columns where each coordinate of pairs follows the other. Included by fused.h, without guard, where a tuning moves
 * elements so. */
#define MANY_SINGLES (1 << 20) /* positions with single indices: beside so many the hardware fetches nothing by itself */
#define SOON 64 /* positions between an element that is fetched and one that is moved, where they are one by one */

/* An index, read once: another thread may change it meanwhile. */
DML_INLINE I NAME(read)(const char *index) { return *(const volatile I *)(const void *)index; }

/* A coordinate that may be negative: then its highest bit is set, and something is added, without a branch. */
DML_INLINE uint64_t NAME(wrapped)(I index, uint64_t add)
{
    return (uint64_t)index + (add & (uint64_t)((int64_t)((uint64_t)index << (64 - 8 * (int)sizeof(I))) >> 63));
}

/* Tuples of q coordinates, `each` bytes from one to the next, `along` from a coordinate to the next: what one names is moved as soon as
 * it is checked. Where `soon` is not 0, what the one so many tuples further will name if it stays as it is, and in the table, is fetched.
 * `ahead`: bytes to the index that is needed soon, so far from each of the first `lines` coordinates, and to what is stored to then; 0: the
 * hardware fetches them. q, `soon`, `ahead` and `lines` are constants. */
DML_INLINE int NAME(one_by_one)(const char *index, int64_t each, int64_t along, int64_t count, const char *table, char *stream,
                                int q, const uint64_t *n, const uint64_t *add, const uint64_t *step, int soon, int ahead,
                                int lines)
{
    for (int64_t left = count; left > 0; left--, index += each, stream += sizeof(T)) {
        const char *at = table, *there = table, *others = index + soon * each;
        for (int k = 0; soon && k < q; k++) {
            uint64_t u = (uint64_t)NAME(read)(others + k * along);
            there += (u < n[k] ? u : 0) * step[k];
        }
        if (soon)
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

/* The same where some coordinates are negative: nobody can guess which, so that there is no branch, but more arithmetic. What comes
 * `soon` is always fetched; 0: nothing new. ramp: what is added for each position, NULL: nothing. */
DML_INLINE int NAME(wrapping)(const char *index, int64_t each, int64_t count, const char *table, char *stream, int q,
                              const uint64_t *n, const uint64_t *add, const uint64_t *step, int64_t soon, const u32 *ramp)
{
    uint64_t most[2], more[2], steps[2]; /* in registers: what is stored might change the caller's */
    for (int k = 0; k < q; k++) {
        most[k] = n[k];
        more[k] = add[k];
        steps[k] = step[k];
    }
    for (int64_t i = 0; i < count; i++, index += each, stream += sizeof(T)) {
        const char *at = table + (ramp ? ramp[i] : 0), *others = index + soon * each;
        uintptr_t there = (uintptr_t)table + (ramp ? ramp[i + soon] : 0); /* anywhere: nobody has checked these */
        for (int k = 0; k < q; k++)
            there += (uintptr_t)(NAME(wrapped)(NAME(read)(others + k * (int)sizeof(I)), more[k]) * steps[k]);
        DML_PREFETCH_L2((const char *)there);
        DML_PREFETCH(index + DML_PAGES_AHEAD);
        DML_PREFETCH_WRITE(stream + DML_PAGES_AHEAD);
        for (int k = 0; k < q; k++) {
            uint64_t u = NAME(wrapped)(NAME(read)(index + k * (int)sizeof(I)), more[k]);
            if (u >= most[k])
                return 1;
            at += u * steps[k];
        }
        memcpy(stream, at, sizeof(T));
    }
    return 0;
}

/* Functions of their own, whose constants registers hold. */
DML_PIECE int NAME(wrapping_singles)(const char *index, int64_t each, int64_t count, const char *table, char *stream,
                                     const uint64_t *n, const uint64_t *add, const uint64_t *step, int64_t soon)
{
    return NAME(wrapping)(index, each, count, table, stream, 1, n, add, step, soon, NULL);
}

DML_PIECE int NAME(walking_singles)(const char *index, int64_t each, int64_t count, const char *table, char *stream,
                                    const uint64_t *n, const uint64_t *add, const uint64_t *step, int64_t soon, const u32 *ramp)
{
    DML_NEVER(!ramp);
    return NAME(wrapping)(index, each, count, table, stream, 1, n, add, step, soon, ramp);
}

DML_PIECE int NAME(wrapping_pairs)(const char *index, int64_t each, int64_t count, const char *table, char *stream,
                                   const uint64_t *n, const uint64_t *add, const uint64_t *step, int64_t soon)
{
    return NAME(wrapping)(index, each, count, table, stream, 2, n, add, step, soon, NULL);
}

/* The first ones, whose others are fetched, and the rest. */
DML_PIECE int NAME(many_singles)(const char *index, int64_t each, int64_t first, int64_t count, const char *table, char *stream,
                                 const uint64_t *bound, const uint64_t *more, const uint64_t *bytes)
{
    const uint64_t n = *bound, add = *more, step = *bytes;
    const int ahead = DML_PAGES_AHEAD;
    return NAME(one_by_one)(index, each, 0, first, table, stream, 1, &n, &add, &step, SOON, ahead, 1) ||
           NAME(one_by_one)(index + first * each, each, 0, count - first, table, stream + first * (int64_t)sizeof(T), 1, &n,
                            &add, &step, 0, ahead, 1);
}

DML_PIECE int NAME(pairs_by_columns)(const char *index, int64_t along, int64_t first, int64_t count, const char *table,
                                     char *stream, const uint64_t *bounds, const uint64_t *more, const uint64_t *steps)
{
    uint64_t n[2] = {bounds[0], bounds[1]}, add[2] = {more[0], more[1]}, step[2] = {steps[0], steps[1]};
    return NAME(one_by_one)(index, sizeof(I), along, first, table, stream, 2, n, add, step, SOON, DML_PAGES_AHEAD, 2) ||
           NAME(one_by_one)(index + first * (int)sizeof(I), sizeof(I), along, count - first, table,
                            stream + first * (int)sizeof(T), 2, n, add, step, 0, DML_PAGES_AHEAD, 2);
}

/* Each element gathered by itself, as soon as its indices are checked: in a far table the processor gets along with the more
 * elements at a time, the less there is to do for each. Tuples of q coordinates, a constant wherever this is inlined. */
DML_INLINE int NAME(direct)(const dml_plan *p, const dml_block *b, int q)
{
    int64_t each = p->joined ? p->joined : q * (int64_t)sizeof(I), known = b->count + (p->gap ? 0 : b->following);
    int64_t first = p->fetches_soon ? dml_most(0, dml_least(b->count, known - SOON)) : 0, own = dml_most(0, b->count - SOON);
    const char *index = b->indices;
    char *stream = b->stream;
    const int ahead = q > 1 ? DML_PAGES_AHEAD : 0; /* single indices are few enough for the hardware */
    uint64_t n[4], add[4], step[4];
    for (int k = 0; k < q; k++) {
        n[k] = (uint64_t)p->bounds[k];
        add[k] = DML_JOIN3(from_end, I, ISA)(dml_index_signed(p->index), p->bounds[k]);
        step[k] = (uint64_t)p->steps[k];
    }
    if (sizeof(T) <= 8 && q < 3 && p->wraps) {
        const char *rest = index + own * each;
        char *last = stream + own * (int)sizeof(T);
        int64_t others = b->count - own;
        if (q == 2)
            return NAME(wrapping_pairs)(index, each, own, b->table, stream, n, add, step, SOON) ||
                   NAME(wrapping_pairs)(rest, each, others, b->table, last, n, add, step, 0);
        const u32 *ramp = p->ramps->table.narrow;
        if (p->ramped)
            return NAME(walking_singles)(index, each, own, b->table, stream, n, add, step, SOON, ramp) ||
                   NAME(walking_singles)(rest, each, others, b->table, last, n, add, step, 0, ramp + own);
        return NAME(wrapping_singles)(index, each, own, b->table, stream, n, add, step, SOON) ||
               NAME(wrapping_singles)(rest, each, others, b->table, last, n, add, step, 0);
    }
    if (sizeof(T) >= 4 && sizeof(T) <= 8 && q == 2 && p->by_columns)
        return NAME(pairs_by_columns)(index, p->coordinate_stride, own, b->count, b->table, stream, n, add, step);
    if (q == 1 && p->positions >= MANY_SINGLES)
        return NAME(many_singles)(index, each, first, b->count, b->table, stream, n, add, step);
    DML_NEVER(first && p->joined);
    if (first &&
        NAME(one_by_one)(index, q * (int64_t)sizeof(I), sizeof(I), first, b->table, stream, q, n, add, step, SOON, ahead, 1))
        return 1;
    return NAME(one_by_one)(index + first * each, each, sizeof(I), b->count - first, b->table,
                            stream + first * (int64_t)sizeof(T), q, n, add, step, 0, ahead, 1);
}

#undef MANY_SINGLES
#undef SOON
