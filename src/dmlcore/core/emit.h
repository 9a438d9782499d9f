/* emit.h: writing rows of coordinates for the found positions of a segment.
 * Included by core/loops.h for each coordinate width C and instruction set ISA, without guard. */

#define NAME(name) DML_JOIN3(name, C, ISA)

/* n columns, a constant wherever this is inlined. */
DML_INLINE void NAME(rows)(C *DML_RESTRICT to, int n, const C *base, const C *DML_RESTRICT table, const u32 *DML_RESTRICT found,
                           int64_t count)
{
    C start[8];
    for (int c = 0; c < n; c++)
        start[c] = base[c];
    for (int64_t i = 0; i < count; i++)
        for (int c = 0; c < n; c++)
            to[i * n + c] = start[c] + (table ? table[found[i] * (u32)n + (u32)c] : c == n - 1 ? (C)found[i] : 0);
}

#define ROWS(n)                                                \
    case n:                                                    \
        if (table)                                             \
            NAME(rows)((C *)to, n, base, table, found, count); \
        else                                                   \
            NAME(rows)((C *)to, n, base, NULL, found, count);  \
        return

/* Rows row .. row+count-1. */
DML_PIECE void NAME(emit)(const dml_bitmap *map, const dml_segment *segment, const u32 *found, int64_t count, int64_t row)
{
    char *to = map->coordinates + row * map->row_stride;
    const C *table = (const C *)map->table;
    C base[DML_RANK_MAX];
    for (int c = 0; c < map->columns; c++)
        base[c] = (C)segment->base[c];
    if (map->packed)
        switch (map->columns) {
            ROWS(1);
            ROWS(2);
            ROWS(3);
            ROWS(4);
            ROWS(5);
            ROWS(6);
            ROWS(7);
            ROWS(8);
        }
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = found[i];
        for (int c = map->columns - 1; c >= 0; c--) {
            C value = base[c];
            if (c > map->cut - 1) {
                value = (C)(value + (C)(rest % map->shape[c + 1]));
                rest /= map->shape[c + 1];
            } else if (c == map->cut - 1)
                value = (C)(value + (C)rest);
            memcpy(to + i * map->row_stride + c * map->column_stride, &value, sizeof value);
        }
    }
}

#undef ROWS
#undef NAME
