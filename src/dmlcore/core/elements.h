/* elements.h: moving single elements through checked offsets, in both directions.
 * Included by core/loops.h for each storage class T and instruction set ISA, without guard. Scalar loads and stores,
 * several in a row, unless isa/ has something better. Compilers would join elements in registers as soon as they might
 * assume that table and stream do not overlap; nobody tells them, because what they make of it is slower than both this and
 * JOIN. */

#define NAME(name) DML_JOIN3(name, T, ISA)
#define IN_ROWS_AHEAD 48
#define WIDE_AHEAD 128

DML_INLINE T NAME(load)(const char *from)
{
    T value;
    memcpy(&value, from, sizeof value);
    return value;
}

DML_INLINE void NAME(store)(char *to, T value) { memcpy(to, &value, sizeof value); }

/* One loop for all cases: OFFSETS is narrow or wide, AHEAD the prefetch distance, WHERE the stream address. */
#define GATHER_EIGHT(OFFSETS, WHERE)                                                       \
    do {                                                                                   \
        NAME(store)(stream + WHERE(i), NAME(load)(table + b->offsets.OFFSETS[i]));         \
        NAME(store)(stream + WHERE(i + 1), NAME(load)(table + b->offsets.OFFSETS[i + 1])); \
        NAME(store)(stream + WHERE(i + 2), NAME(load)(table + b->offsets.OFFSETS[i + 2])); \
        NAME(store)(stream + WHERE(i + 3), NAME(load)(table + b->offsets.OFFSETS[i + 3])); \
        NAME(store)(stream + WHERE(i + 4), NAME(load)(table + b->offsets.OFFSETS[i + 4])); \
        NAME(store)(stream + WHERE(i + 5), NAME(load)(table + b->offsets.OFFSETS[i + 5])); \
        NAME(store)(stream + WHERE(i + 6), NAME(load)(table + b->offsets.OFFSETS[i + 6])); \
        NAME(store)(stream + WHERE(i + 7), NAME(load)(table + b->offsets.OFFSETS[i + 7])); \
        i += 8;                                                                            \
    } while (0)

#define GATHER_LOOP(OFFSETS, AHEAD, WHERE)                                             \
    do {                                                                               \
        int64_t i = 0;                                                                 \
        if (AHEAD)                                                                     \
            while (i + AHEAD + 8 <= n) {                                               \
                for (int j = 0; j < 8; j++)                                            \
                    DML_PREFETCH_L2(table + b->offsets.OFFSETS[i + j + AHEAD]);        \
                GATHER_EIGHT(OFFSETS, WHERE);                                          \
            }                                                                          \
        while (i + 8 <= n) {                                                           \
            GATHER_EIGHT(OFFSETS, WHERE);                                              \
        }                                                                              \
        for (; i < n; i++)                                                             \
            NAME(store)(stream + WHERE(i), NAME(load)(table + b->offsets.OFFSETS[i])); \
    } while (0)

#define SCATTER_EIGHT(OFFSETS, WHERE)                                                      \
    do {                                                                                   \
        NAME(store)(table + b->offsets.OFFSETS[i], NAME(load)(stream + WHERE(i)));         \
        NAME(store)(table + b->offsets.OFFSETS[i + 1], NAME(load)(stream + WHERE(i + 1))); \
        NAME(store)(table + b->offsets.OFFSETS[i + 2], NAME(load)(stream + WHERE(i + 2))); \
        NAME(store)(table + b->offsets.OFFSETS[i + 3], NAME(load)(stream + WHERE(i + 3))); \
        NAME(store)(table + b->offsets.OFFSETS[i + 4], NAME(load)(stream + WHERE(i + 4))); \
        NAME(store)(table + b->offsets.OFFSETS[i + 5], NAME(load)(stream + WHERE(i + 5))); \
        NAME(store)(table + b->offsets.OFFSETS[i + 6], NAME(load)(stream + WHERE(i + 6))); \
        NAME(store)(table + b->offsets.OFFSETS[i + 7], NAME(load)(stream + WHERE(i + 7))); \
        i += 8;                                                                            \
    } while (0)

#define SCATTER_LOOP(OFFSETS, AHEAD, FETCH, WHERE)                                     \
    do {                                                                               \
        int64_t i = 0;                                                                 \
        if (AHEAD)                                                                     \
            while (i + AHEAD + 8 <= n) {                                               \
                for (int j = 0; j < 8; j++)                                            \
                    FETCH(table + b->offsets.OFFSETS[i + j + AHEAD]);                  \
                SCATTER_EIGHT(OFFSETS, WHERE);                                         \
            }                                                                          \
        while (i + 8 <= n) {                                                           \
            SCATTER_EIGHT(OFFSETS, WHERE);                                             \
        }                                                                              \
        for (; i < n; i++)                                                             \
            NAME(store)(table + b->offsets.OFFSETS[i], NAME(load)(stream + WHERE(i))); \
    } while (0)

#define IN_ORDER(i) ((i) * (int64_t)sizeof(T))
#define ELSEWHERE(i) (where[i])

/* Whether whole lines of elements are stored past the caches: no element may begin in one and end in the next. */
DML_INLINE int NAME(goes_past)(const dml_plan *p, const char *stream)
{
    return JOINS(T) && p->past && (intptr_t)stream % (intptr_t)sizeof(T) == 0;
}

/* Elements in front of the first whole line. The last elements' line, which has others of the next box, is fetched meanwhile: stores
 * past the caches would wait behind theirs. */
DML_INLINE int64_t NAME(to_line)(const char *stream, int64_t count)
{
    dml_fetch_shared(stream + count * (int64_t)sizeof(T));
    return dml_least(count, (-(intptr_t)stream & (DML_LINE - 1)) / (int64_t)sizeof(T));
}

/* Sixteen elements that follow each other in the stream. */
DML_INLINE void NAME(gather_sixteen)(const char *table, char *stream, const u32 *offsets, enum dml_joins way, int past)
{
    if (JOINS(T)) {
        JOIN(T, stream, table, 0, offsets, way, past);
        return;
    }
    for (int j = 0; j < 16; j += 2) {
        u64 at = dml_offsets(offsets + j);
        NAME(store)(stream + IN_ORDER(j), NAME(load)(table + dml_low(at)));
        NAME(store)(stream + IN_ORDER(j + 1), NAME(load)(table + (at >> 32)));
    }
}

DML_INLINE void NAME(scatter_sixteen)(char *table, const char *stream, const u32 *offsets)
{
    for (int j = 0; j < 16; j += 2) {
        u64 at = dml_offsets(offsets + j);
        dml_part(table + dml_low(at), table + (at >> 32), stream + IN_ORDER(j), sizeof(T));
    }
}

/* Out of a table of so many bytes, which registers hold. */
DML_PIECE void NAME(look_up_at)(char *stream, const char *table, int64_t bytes, const u32 *offsets, int64_t count, int past)
{
    LOOK_UP(stream, table, bytes, offsets, count, sizeof(T), past);
}

DML_INLINE void NAME(look_up)(const dml_plan *p, char *stream, const char *table, const u32 *offsets, int64_t count)
{
    int past = NAME(goes_past)(p, stream);
    int64_t first = past ? NAME(to_line)(stream, count) : 0;
    if (first)
        NAME(look_up_at)(stream, table, p->in_registers, offsets, first, 0);
    NAME(look_up_at)(stream + IN_ORDER(first), table, p->in_registers, offsets + first, count - first, past);
}

/* The most frequent case. ahead: the prefetch distance of a far table; else its next row is fetched, where there is one. soon: the indices
 * that the next box is likely to have, those of sixteen positions at a time. */
DML_INLINE void NAME(gather_in_order)(const dml_plan *p, const dml_block *b, int64_t ahead)
{
    const u32 *offsets = b->offsets.narrow;
    const char *table = b->table, *next = b->next, *soon = b->indices + b->positions * p->fed / 16;
    char *stream = b->stream;
    int64_t n = b->count, i = 0;
    int past = NAME(goes_past)(p, stream), first = past ? NAME(to_line)(stream, n) : 0;
    for (; i < first; i++)
        NAME(store)(stream + IN_ORDER(i), NAME(load)(table + offsets[i]));
    for (; ahead && !past && i + ahead + 16 <= n; i += 16) {
        soon = dml_block_fetch(soon, p->fed, 0);
        for (int j = 0; j < 16; j++) {
            DML_PREFETCH_L2(table + offsets[i + j + ahead]);
            NAME(store)(stream + IN_ORDER(i + j), NAME(load)(table + offsets[i + j]));
        }
    }
    for (; ahead && i + ahead + 16 <= n; i += 16) {
        soon = dml_block_fetch(soon, p->fed, 0);
        for (int j = 0; j < 16; j++)
            DML_PREFETCH_L2(table + offsets[i + j + ahead]);
        NAME(gather_sixteen)(table, stream + IN_ORDER(i), offsets + i, DML_INSERTS, 1);
    }
    for (; i + 16 <= n; i += 16) {
        soon = dml_block_fetch(soon, p->fed, 0);
        next = dml_block_fetch(next, p->next_step, 0);
        NAME(gather_sixteen)(table, stream + IN_ORDER(i), offsets + i, p->gathers ? DML_GATHERS : DML_INSERTS, past);
    }
    for (; i < n; i++)
        NAME(store)(stream + IN_ORDER(i), NAME(load)(table + offsets[i]));
}

/* Out of a far table, row by row: the offsets of one row stay in the first-level cache, which a box of them would not beside
 * so many of the table's lines. They are fetched to the second-level one, IN_ROWS_AHEAD positions ahead. */
DML_INLINE void NAME(gather_in_rows)(const dml_plan *p, const dml_block *b)
{
    const u32 *offsets = b->offsets.narrow;
    const char *table = b->table;
    char *stream = b->stream;
    int64_t again = p->again, row = p->dim[p->cut].table, ahead = dml_ceil(IN_ROWS_AHEAD, again) * row;
    for (int64_t left = b->count; left > 0; left -= again, table += row)
        for (int64_t i = 0; i < again; i++, stream += sizeof(T)) {
            DML_PREFETCH_L2(table + ahead + offsets[i]);
            NAME(store)(stream, NAME(load)(table + offsets[i]));
        }
}

/* The same without fetching, sixteen columns at a time: each of the sixteen loads goes down a column, which the processor foresees;
 * loads that take turns it does not. What a store has behind the end of its row, the next row's store puts right, or the next
 * columns': so the last ones come first, and the last rows, which have nobody behind them, element by element. */
DML_INLINE void NAME(gather_columns)(const dml_plan *p, const dml_block *b)
{
    int64_t columns = p->again, rows = b->count / columns, row = p->dim[p->cut].table;
    for (int64_t group = 0; group * 16 < columns; group++) {
        int64_t first = group ? (group - 1) * 16 : (columns - 1) & -16, some = dml_least(16, columns - first);
        int64_t room = b->count - first - 16, whole = room < 0 ? 0 : dml_least(rows, room / columns + 1);
        const char *table = b->table;
        char *stream = b->stream + IN_ORDER(first);
        _Alignas(8) u32 offsets[16];
        for (int j = 0; j < 16; j++)
            offsets[j] = b->offsets.narrow[first + dml_least(j, some - 1)];
        for (int64_t i = 0; i < whole; i++, table += row, stream += IN_ORDER(columns))
            NAME(gather_sixteen)(table, stream, offsets, DML_INSERTS, 0);
        for (int64_t i = whole; i < rows; i++, table += row, stream += IN_ORDER(columns))
            for (int64_t j = 0; j < some; j++)
                NAME(store)(stream + IN_ORDER(j), NAME(load)(table + offsets[j]));
    }
}

DML_INLINE void NAME(scatter_in_order)(const dml_block *b, int64_t ahead, int to)
{
    const u32 *offsets = b->offsets.narrow;
    const char *stream = b->stream;
    char *table = b->table;
    int64_t n = b->count, i = 0;
    for (; ahead && i + ahead + 16 <= n; i += 16) {
        for (int j = 0; j < 16; j++)
            if (to == DML_FETCH_L2)
                DML_PREFETCH_L2(table + offsets[i + j + ahead]);
            else
                DML_PREFETCH_WRITE(table + offsets[i + j + ahead]);
        NAME(scatter_sixteen)(table, stream + IN_ORDER(i), offsets + i);
    }
    for (; i + 16 <= n; i += 16)
        NAME(scatter_sixteen)(table, stream + IN_ORDER(i), offsets + i);
    for (; i < n; i++)
        NAME(store)(table + offsets[i], NAME(load)(stream + IN_ORDER(i)));
}

/* Through offsets of 64 bits out of far tables, and into them. */
DML_INLINE void NAME(move_far_wide)(const dml_plan *p, const dml_block *b, int scatter)
{
    const i64 *offsets = b->offsets.wide;
    const int64_t *where = b->where;
    char *table = b->table, *stream = b->stream;
    int64_t n = b->count, last = dml_most(0, n - WIDE_AHEAD), step = p->stream_step;
    for (int64_t i = 0; i < n; i++, stream += step) {
        char *here = table + offsets[i], *there = where ? b->stream + where[i] : stream;
        DML_PREFETCH_L2(table + offsets[i < last ? i + WIDE_AHEAD : n - 1]);
        NAME(store)(scatter ? here : there, NAME(load)(scatter ? there : here));
    }
}

/* By so many narrow offsets: dml_gatherer, dml_scatterer. */
DML_PIECE void NAME(gather_at)(char *stream, const char *table, const u32 *offsets, int64_t count, int gathers, int64_t held)
{
    int64_t i = 0;
    if (LOOKS_UP(T) && held) {
        NAME(look_up_at)(stream, table, held, offsets, count, 0);
        return;
    }
    for (; i + 16 <= count; i += 16)
        NAME(gather_sixteen)(table, stream + IN_ORDER(i), offsets + i, gathers ? DML_GATHERS : DML_INSERTS, 0);
    for (; i < count; i++)
        NAME(store)(stream + IN_ORDER(i), NAME(load)(table + offsets[i]));
}

DML_PIECE void NAME(scatter_at)(char *table, const char *stream, const u32 *offsets, int64_t count)
{
    int64_t i = 0;
    for (; i + 16 <= count; i += 16)
        NAME(scatter_sixteen)(table, stream + IN_ORDER(i), offsets + i);
    for (; i < count; i++)
        NAME(store)(table + offsets[i], NAME(load)(stream + IN_ORDER(i)));
}

/* From the table to the stream. */
DML_PIECE void NAME(gather)(const dml_plan *p, const dml_block *b)
{
    const char *table = b->table;
    char *stream = b->stream;
    const int64_t *where = b->where;
    int64_t n = b->count;
    if ((SECOND_TUNING || (WRAPS && DML_BY_COLUMNS(sizeof(T)))) && p->columns)
        NAME(gather_columns)(p, b);
    else if (p->in_rows)
        NAME(gather_in_rows)(p, b);
    else if (p->wide && p->fetch)
        NAME(move_far_wide)(p, b, 0);
    else if (p->wide && where)
        GATHER_LOOP(wide, 0, ELSEWHERE);
    else if (p->wide)
        GATHER_LOOP(wide, 0, IN_ORDER);
    else if (where && p->fetch)
        GATHER_LOOP(narrow, 64, ELSEWHERE);
    else if (where)
        GATHER_LOOP(narrow, 0, ELSEWHERE);
    else if (LOOKS_UP(T) && p->in_registers)
        NAME(look_up)(p, stream, table, b->offsets.narrow, n);
    else if (p->fetch)
        NAME(gather_in_order)(p, b, 64);
    else
        NAME(gather_in_order)(p, b, 0);
}

/* From the stream to the table, in order: of updates to one place the last one stays. */
DML_PIECE void NAME(scatter)(const dml_plan *p, const dml_block *b)
{
    char *table = b->table;
    const char *stream = b->stream;
    const int64_t *where = b->where;
    int64_t n = b->count;
    if (p->wide && p->fetch)
        NAME(move_far_wide)(p, b, 1);
    else if (p->wide && where)
        SCATTER_LOOP(wide, 0, DML_PREFETCH_L2, ELSEWHERE);
    else if (p->wide)
        SCATTER_LOOP(wide, 0, DML_PREFETCH_L2, IN_ORDER);
    else if (where && SECOND_TUNING && p->fetch == DML_FETCH_L1)
        SCATTER_LOOP(narrow, 48, DML_PREFETCH_WRITE, ELSEWHERE);
    else if (where && p->fetch)
        SCATTER_LOOP(narrow, 48, DML_PREFETCH_L2, ELSEWHERE);
    else if (where)
        SCATTER_LOOP(narrow, 0, DML_PREFETCH_L2, ELSEWHERE);
    else if (SECOND_TUNING && p->fetch == DML_FETCH_L1)
        NAME(scatter_in_order)(b, 48, DML_FETCH_L1);
    else if (p->fetch)
        NAME(scatter_in_order)(b, 96, DML_FETCH_L2);
    else
        NAME(scatter_in_order)(b, 0, DML_FETCH_NONE);
}

#undef IN_ROWS_AHEAD
#undef WIDE_AHEAD
#undef IN_ORDER
#undef ELSEWHERE
#undef GATHER_EIGHT
#undef SCATTER_EIGHT
#undef GATHER_LOOP
#undef SCATTER_LOOP
#undef NAME
