/* elements.h: moving single elements through checked offsets, in both directions.
 * Included by core/loops.h for each storage class T and instruction set ISA, without guard. Scalar loads and stores,
 * eight in a row: measured faster than the vector units' gathers and scatters, and than joining elements in registers,
 * which compilers do as soon as they may assume that table and stream do not overlap; so nobody tells them. */

#define NAME(name) DML_JOIN3(name, T, ISA)

DML_INLINE T NAME(load)(const char *from)
{
    T value;
    memcpy(&value, from, sizeof value);
    return value;
}

DML_INLINE void NAME(store)(char *to, T value) { memcpy(to, &value, sizeof value); }

/* One loop for all cases: OFFSETS is narrow or wide, AHEAD the prefetch distance, WHERE the stream address. Without
 * AHEAD the table's next row is fetched, where there is one. */
#define GATHER_EIGHT(OFFSETS, WHERE)                                                                              \
    do {                                                                                                          \
        NAME(store)(stream + WHERE(i), NAME(load)(table + b->offsets.OFFSETS[i]));                                \
        NAME(store)(stream + WHERE(i + 1), NAME(load)(table + b->offsets.OFFSETS[i + 1]));                        \
        NAME(store)(stream + WHERE(i + 2), NAME(load)(table + b->offsets.OFFSETS[i + 2]));                        \
        NAME(store)(stream + WHERE(i + 3), NAME(load)(table + b->offsets.OFFSETS[i + 3]));                        \
        NAME(store)(stream + WHERE(i + 4), NAME(load)(table + b->offsets.OFFSETS[i + 4]));                        \
        NAME(store)(stream + WHERE(i + 5), NAME(load)(table + b->offsets.OFFSETS[i + 5]));                        \
        NAME(store)(stream + WHERE(i + 6), NAME(load)(table + b->offsets.OFFSETS[i + 6]));                        \
        NAME(store)(stream + WHERE(i + 7), NAME(load)(table + b->offsets.OFFSETS[i + 7]));                        \
        i += 8;                                                                                                   \
    } while (0)

#define GATHER_LOOP(OFFSETS, AHEAD, WHERE)                                                                        \
    do {                                                                                                          \
        int64_t i = 0;                                                                                            \
        const char *next = b->next;                                                                               \
        if (AHEAD)                                                                                                \
            while (i + AHEAD + 8 <= n) {                                                                          \
                for (int j = 0; j < 8; j++)                                                                       \
                    DML_PREFETCH(table + b->offsets.OFFSETS[i + j + AHEAD]);                                      \
                GATHER_EIGHT(OFFSETS, WHERE);                                                                     \
            }                                                                                                     \
        while (i + 8 <= n) {                                                                                      \
            DML_PREFETCH(next);                                                                                   \
            if (sizeof(T) > 8)                                                                                    \
                DML_PREFETCH(next + 64);                                                                          \
            next += p->next_step;                                                                                 \
            GATHER_EIGHT(OFFSETS, WHERE);                                                                         \
        }                                                                                                         \
        for (; i < n; i++)                                                                                        \
            NAME(store)(stream + WHERE(i), NAME(load)(table + b->offsets.OFFSETS[i]));                            \
    } while (0)

#define SCATTER_EIGHT(OFFSETS, WHERE)                                                                             \
    do {                                                                                                          \
        NAME(store)(table + b->offsets.OFFSETS[i], NAME(load)(stream + WHERE(i)));                                \
        NAME(store)(table + b->offsets.OFFSETS[i + 1], NAME(load)(stream + WHERE(i + 1)));                        \
        NAME(store)(table + b->offsets.OFFSETS[i + 2], NAME(load)(stream + WHERE(i + 2)));                        \
        NAME(store)(table + b->offsets.OFFSETS[i + 3], NAME(load)(stream + WHERE(i + 3)));                        \
        NAME(store)(table + b->offsets.OFFSETS[i + 4], NAME(load)(stream + WHERE(i + 4)));                        \
        NAME(store)(table + b->offsets.OFFSETS[i + 5], NAME(load)(stream + WHERE(i + 5)));                        \
        NAME(store)(table + b->offsets.OFFSETS[i + 6], NAME(load)(stream + WHERE(i + 6)));                        \
        NAME(store)(table + b->offsets.OFFSETS[i + 7], NAME(load)(stream + WHERE(i + 7)));                        \
        i += 8;                                                                                                   \
    } while (0)

#define SCATTER_LOOP(OFFSETS, AHEAD, WHERE)                                                                       \
    do {                                                                                                          \
        int64_t i = 0;                                                                                            \
        if (AHEAD)                                                                                                \
            while (i + AHEAD + 8 <= n) {                                                                          \
                for (int j = 0; j < 8; j++)                                                                       \
                    DML_PREFETCH_WRITE(table + b->offsets.OFFSETS[i + j + AHEAD]);                                \
                SCATTER_EIGHT(OFFSETS, WHERE);                                                                    \
            }                                                                                                     \
        while (i + 8 <= n) {                                                                                      \
            SCATTER_EIGHT(OFFSETS, WHERE);                                                                        \
        }                                                                                                         \
        for (; i < n; i++)                                                                                        \
            NAME(store)(table + b->offsets.OFFSETS[i], NAME(load)(stream + WHERE(i)));                            \
    } while (0)

#define IN_ORDER(i) ((i) * (int64_t)sizeof(T))
#define ELSEWHERE(i) (where[i])

/* From the table to the stream. */
DML_PIECE void NAME(gather)(const dml_plan *p, const dml_block *b)
{
    const char *table = b->table;
    char *stream = b->stream;
    const int64_t *where = b->where;
    int64_t n = b->count;
    if (p->wide) {
        if (where)
            GATHER_LOOP(wide, 128, ELSEWHERE);
        else
            GATHER_LOOP(wide, 128, IN_ORDER);
    } else if (where)
        GATHER_LOOP(narrow, 0, ELSEWHERE);
    else if (p->far)
        GATHER_LOOP(narrow, 64, IN_ORDER);
    else
        GATHER_LOOP(narrow, 0, IN_ORDER);
}

/* From the stream to the table, in order: of updates to one place the last one stays. */
DML_PIECE void NAME(scatter)(const dml_plan *p, const dml_block *b)
{
    char *table = b->table;
    const char *stream = b->stream;
    const int64_t *where = b->where;
    int64_t n = b->count;
    if (p->wide) {
        if (where)
            SCATTER_LOOP(wide, 48, ELSEWHERE);
        else
            SCATTER_LOOP(wide, 48, IN_ORDER);
    } else if (where) {
        if (p->far)
            SCATTER_LOOP(narrow, 48, ELSEWHERE);
        else
            SCATTER_LOOP(narrow, 0, ELSEWHERE);
    } else if (p->far)
        SCATTER_LOOP(narrow, 48, IN_ORDER);
    else
        SCATTER_LOOP(narrow, 0, IN_ORDER);
}

#undef IN_ORDER
#undef ELSEWHERE
#undef GATHER_EIGHT
#undef SCATTER_EIGHT
#undef GATHER_LOOP
#undef SCATTER_LOOP
#undef NAME
