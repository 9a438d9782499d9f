/* singly.h: indices that are apart, or name cached elements of large tables, read where they lie: each is checked, then what it names moved
 * at once, eight in a row, so that the processor has many of both on their way. If they were brought together first, it would wait for
 * indices, then for elements. Included by fused.h, without guard. */

/* The next of a row. */
#define SINGLE(j)                                                                \
    do {                                                                         \
        u64 u = NAME(read)(index);                                               \
        if (DML_UNLIKELY(u >= n))                                                \
            return 1;                                                            \
        NAME(one)(table + u * step, stream + (j) * (int64_t)sizeof(T), scatter); \
        index += apart;                                                          \
        if (!follow)                                                             \
            DML_ONCE(index); /* or the compiler keeps eight multiples */         \
        if (walks) {                                                             \
            table += drift;                                                      \
            DML_ONCE(table);                                                     \
        }                                                                        \
    } while (0)

/* A row of single indices that are `apart` bytes from one to the next, or follow each other; the table moves on by `drift` if it walks.
 * 1: one is negative, or out of range. */
DML_INLINE int NAME(plain_row)(const char *index, int64_t apart, int follow, int64_t count, char *table, int64_t drift,
                               int walks, char *stream, u64 n, u64 step, int scatter)
{
    for (; count >= 8; count -= 8, stream += 8 * sizeof(T)) {
        SINGLE(0);
        SINGLE(1);
        SINGLE(2);
        SINGLE(3);
        SINGLE(4);
        SINGLE(5);
        SINGLE(6);
        SINGLE(7);
    }
    if (!follow)
        DML_ONCE(count); /* the last seven in a loop: that compilers write them out gains in short rows that follow alone */
    for (; count > 0; count--, stream += sizeof(T))
        SINGLE(0);
    return 0;
}

/* The same whatever the signs. 1: one is out of range. */
DML_LONG_PIECE int NAME(any_row)(const char *index, int64_t apart, int64_t count, char *table, int64_t drift, char *stream,
                                 u64 n, u64 add, u64 step, int scatter)
{
    for (; count > 0; count--, index += apart, table += drift, stream += sizeof(T)) {
        u64 u = NAME(wrapped)(NAME(read)(index), add);
        if (u >= n)
            return 1;
        NAME(one)(table + u * step, stream, scatter);
    }
    return 0;
}

/* A box, row by row; one that is not plain is begun again. Constants: `size`, if it is not 0, is that of a row; the rest as above. */
DML_INLINE int NAME(rows_singly)(const dml_plan *p, const dml_block *b, int64_t size, int follow, u64 step, int walks,
                                 int scatter)
{
    const dml_dim *row = p->dim + p->rank - 1;
    const u64 n = (u64)p->bounds[0], add = DML_JOIN3(from_end, I, ISA)(dml_index_signed(p->index), p->bounds[0]);
    int64_t pitch = p->joined ? 0 : row[-1].index, further = p->joined ? 0 : row[-1].table;
    int64_t drift = row->table, apart = follow ? (int64_t)sizeof(I) : row->index;
    const char *index = b->indices, *end = b->stream + b->count * (int64_t)sizeof(T);
    char *table = b->table;
    if (size == 0)
        size = p->joined ? b->count : row->size;
    for (char *stream = b->stream; stream < end; stream += size * (int64_t)sizeof(T), index += pitch, table += further)
        if (NAME(plain_row)(index, apart, follow, size, table, drift, walks, stream, n, step, scatter) &&
            NAME(any_row)(index, apart, size, table, drift, stream, n, add, step, scatter))
            return 1;
    return 0;
}

DML_PIECE int NAME(gather_singly)(const dml_plan *p, const dml_block *b)
{
    const dml_dim *row = p->dim + p->rank - 1;
    if (p->cached == DML_CACHED_PAGES) /* one row; the fewer pages are looked up at a time, the better: 1.0 to 1.4x */
        return NAME(any_row)(b->indices, row->index, b->count, b->table, row->table, b->stream, (u64)p->bounds[0],
                             DML_JOIN3(from_end, I, ISA)(dml_index_signed(p->index), p->bounds[0]), (u64)p->steps[0], 0);
    if (p->steps[0] != (int64_t)sizeof(T) || row->table)
        return NAME(rows_singly)(p, b, 0, 0, (u64)p->steps[0], 1, 0);
    if (row->index != (int64_t)sizeof(I))
        return NAME(rows_singly)(p, b, 0, 0, sizeof(T), 0, 0);
    if (row->size == 2)
        return NAME(rows_singly)(p, b, 2, 1, sizeof(T), 0, 0);
    if (row->size == 4)
        return NAME(rows_singly)(p, b, 4, 1, sizeof(T), 0, 0);
    return NAME(rows_singly)(p, b, 0, 1, sizeof(T), 0, 0);
}

DML_PIECE int NAME(scatter_singly)(const dml_plan *p, const dml_block *b)
{
    return NAME(rows_singly)(p, b, 0, 0, (u64)p->steps[0], 1, 1);
}

/* The next of q coordinates. */
#define TUPLE(j)                                                        \
    do {                                                                \
        u64 place = 0;                                                  \
        for (int k = 0; k < q; k++) {                                   \
            u64 u = NAME(read)(index + k * (int)sizeof(I));             \
            if (DML_UNLIKELY(u >= n[k]))                                \
                return 1;                                               \
            place += u * step[k];                                       \
        }                                                               \
        NAME(one)(table + place, stream + (j) * (int64_t)sizeof(T), 0); \
        index += apart;                                                 \
        DML_ONCE(index);                                                \
    } while (0)

/* A row of tuples of q coordinates, a constant. 1: one is negative, or out of range. */
DML_INLINE int NAME(plain_tuples)(const char *index, int64_t apart, int64_t count, char *table, char *stream, int q,
                                  const u64 *n, const u64 *step)
{
    for (; count >= 8; count -= 8, stream += 8 * sizeof(T)) {
        TUPLE(0);
        TUPLE(1);
        TUPLE(2);
        TUPLE(3);
        TUPLE(4);
        TUPLE(5);
        TUPLE(6);
        TUPLE(7);
    }
    DML_ONCE(count);
    for (; count > 0; count--, stream += sizeof(T))
        TUPLE(0);
    return 0;
}

/* A box of them, one row. */
DML_INLINE int NAME(tuples_singly)(const dml_plan *p, const dml_block *b, int q)
{
    u64 n[3], step[3], add[3];
    for (int k = 0; k < q; k++) {
        n[k] = (u64)p->bounds[k];
        step[k] = (u64)p->steps[k];
        add[k] = DML_JOIN3(from_end, I, ISA)(dml_index_signed(p->index), p->bounds[k]);
    }
    const char *index = b->indices;
    char *stream = b->stream;
    if (!NAME(plain_tuples)(index, p->joined, b->count, b->table, stream, q, n, step))
        return 0;
    for (int64_t left = b->count; left > 0; left--, index += p->joined, stream += sizeof(T)) {
        u64 place = 0;
        for (int k = 0; k < q; k++) {
            u64 u = NAME(wrapped)(NAME(read)(index + k * (int)sizeof(I)), add[k]);
            if (u >= n[k])
                return 1;
            place += u * step[k];
        }
        NAME(one)(b->table + place, stream, 0);
    }
    return 0;
}

DML_PIECE int NAME(pairs_singly)(const dml_plan *p, const dml_block *b) { return NAME(tuples_singly)(p, b, 2); }
DML_PIECE int NAME(triples_singly)(const dml_plan *p, const dml_block *b) { return NAME(tuples_singly)(p, b, 3); }

#undef SINGLE
#undef TUPLE
