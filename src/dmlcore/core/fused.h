/* fused.h: the most frequent gather in one pass: one coordinate, elements that follow each other in the stream.
 * Included by core/fused_for.h for each storage class T, index class I and instruction set ISA, without guard. Checking 256
 * indices and moving 256 elements by turns lets the processor do both at once: the first is arithmetic, the second waits
 * for memory. */

#define NAME(name) DML_JOIN4(name, T, I, ISA)

DML_INLINE int NAME(fused_loop)(const dml_plan *p, const dml_block *b, const u32 *ramp)
{
    enum { STEP = 256 };
    const I *index = (const I *)b->indices;
    const char *table = b->table, *next = b->next;
    char *stream = b->stream;
    int64_t n = b->count, at = 0;
    u32 offsets[STEP];
    for (; at < n; at += STEP) {
        int64_t some = dml_least(STEP, n - at);
        if (some == STEP) {
            if (DML_JOIN3(narrow, I, ISA)(index + at, STEP, 1, p->bounds, p->steps, ramp ? ramp + at : NULL, offsets))
                return 1;
        } else if (DML_JOIN3(narrow, I, ISA)(index + at, some, 1, p->bounds, p->steps, ramp ? ramp + at : NULL, offsets))
            return 1;
        char *to = stream + at * (int64_t)sizeof(T);
        int64_t i = 0;
        for (; i + 8 <= some; i += 8) {
            DML_PREFETCH(next);
            if (sizeof(T) > 8)
                DML_PREFETCH(next + 64);
            next += p->next_step;
            for (int j = 0; j < 8; j++)
                memcpy(to + (i + j) * (int64_t)sizeof(T), table + offsets[i + j], sizeof(T));
        }
        for (; i < some; i++)
            memcpy(to + i * (int64_t)sizeof(T), table + offsets[i], sizeof(T));
    }
    return 0;
}

/* 1: some coordinate is out of range; elements in front of it may have been moved. */
DML_PIECE int NAME(gather_fused)(const dml_plan *p, const dml_block *b)
{
    return p->ramped ? NAME(fused_loop)(p, b, p->ramps->table.narrow) : NAME(fused_loop)(p, b, NULL);
}

#undef NAME
