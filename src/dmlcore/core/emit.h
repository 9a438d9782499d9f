/* emit.h: writing rows of coordinates for the found positions of a segment.
 * Included by core/loops.h for each coordinate width C and instruction set ISA, without guard. */

#define NAME(name) DML_JOIN3(name, C, ISA)

/* n columns, a constant wherever this is inlined. A row is moved as a whole, with what makes `lanes` of it, a power of two: what is
 * written too much is the next row's, which follows. The last row, whose next one may be another thread's, is written exactly. base has
 * as many lanes, none of which the compiler knows: it would leave those out, and add one coordinate at a time. */
DML_INLINE void NAME(rows)(C *to, int n, int lanes, const C *base, const C *table, const u32 *found, int64_t count)
{
    C start[8], row[8];
    u64 starts, both;
    for (int c = 0; c < lanes; c++)
        start[c] = base[c];
    memcpy(&starts, start, sizeof starts);
    for (int64_t i = 0; lanes * sizeof(C) == 8 && i < count - 1; i++, to += n) {
        memcpy(&both, table + found[i] * (u32)n, sizeof both);
        both += starts; /* two coordinates at once: nothing is carried */
        memcpy(to, &both, sizeof both);
    }
    for (int64_t i = 0; lanes * sizeof(C) != 8 && i < count - 1; i++, to += n) {
        memcpy(row, table + found[i] * (u32)n, (size_t)lanes * sizeof(C));
        for (int c = 0; c < lanes; c++)
            row[c] += start[c];
        memcpy(to, row, (size_t)lanes * sizeof(C));
    }
    for (int c = 0; c < n; c++)
        to[c] = start[c] + table[found[count - 1] * (u32)n + (u32)c];
}

/* Where only the last column moves. */
DML_INLINE void NAME(numbered_rows)(C *DML_RESTRICT to, int n, const C *base, const u32 *DML_RESTRICT found, int64_t count)
{
    C start[8];
    for (int c = 0; c < n; c++)
        start[c] = base[c];
    for (int64_t i = 0; i < count; i++)
        for (int c = 0; c < n; c++)
            to[i * n + c] = start[c] + (c == n - 1 ? (C)found[i] : 0);
}

#define ROWS(n, lanes)                                                \
    case n:                                                           \
        if (table)                                                    \
            NAME(rows)((C *)to, n, lanes, base, table, found, count); \
        else                                                          \
            NAME(numbered_rows)((C *)to, n, base, found, count);      \
        return

/* Rows row .. row+count-1. */
DML_PIECE void NAME(emit)(const dml_bitmap *map, const dml_segment *segment, const u32 *found, int64_t count, int64_t row)
{
    char *to = map->coordinates + row * map->row_stride;
    const C *table = (const C *)map->table;
    C base[DML_RANK_MAX];
    for (int c = 0; c < map->columns; c++)
        base[c] = (C)segment->base[c];
    for (int c = map->columns; c < 8; c++) /* lanes that no column has */
        base[c] = 0;
    if (map->packed && count > 0)
        switch (map->columns) {
            ROWS(1, 1);
            ROWS(2, 2);
            ROWS(3, 4);
            ROWS(4, 4);
            ROWS(5, 8);
            ROWS(6, 8);
            ROWS(7, 8);
            ROWS(8, 8);
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
