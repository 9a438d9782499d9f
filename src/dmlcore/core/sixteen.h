/* sixteen.h: one element and sixteen of them, each checked already, and indices that are fetched meanwhile: pieces of fused.h and
 * narrowed.h, which include it for each storage class T, index class I and instruction set ISA, without guard. */

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

/* Indices that sixteen positions need soon: tuples of q. */
DML_INLINE void NAME(fetch)(const I *index, int q, int64_t ahead)
{
    for (int at = 0; at < 16 * q * (int)sizeof(I); at += DML_LINE)
        DML_PREFETCH((const char *)index + ahead + at);
}
