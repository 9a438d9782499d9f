/* pack.h: indices that are apart in memory, or not aligned, become indices that follow each other, a box at a time; these copies are
 * what is checked and used. Included by core/loops.h for indices of four and of eight bytes, T, and each instruction set ISA,
 * without guard. (Of pointers to bytes compilers make slower loops.) */

#define NAME(name) DML_JOIN3(name, T, ISA)
#define APART 32 /* indices with other things between them are fetched so many earlier */
/* bytes from one to the next; farther ones come as fast or faster if not fetched: 1.0 to 1.5x, out of memory 0.85 to 1.13x (Zen 4) */
#define FARTHEST_FETCHED 256
#define WORTH_A_LOOP 8 /* positions of a row */
#define SHORT_ROW 128 /* bytes */

/* Single indices that are `stride` bytes apart; compilers have ways for rows that run backwards and for every second element. */
DML_INLINE void NAME(collect)(T *DML_RESTRICT to, const char *from, int64_t stride, int64_t count)
{
    const int64_t width = sizeof(T);
    if (stride == width)
        dml_copy_short((char *)to, from, count * width);
    else if (stride == -width)
        for (int64_t i = 0; i < count; i++)
            memcpy(to + i, from - i * width, sizeof(T));
    else if (stride == 2 * width)
        for (int64_t i = 0; i < count; i++)
            memcpy(to + i, from + i * 2 * width, sizeof(T));
    else if (count <= 2 * APART || (stride > -DML_LINE / 2 && stride < DML_LINE / 2)) {
        int64_t i = 0;
        for (; i + 4 <= count; i += 4, from += 4 * stride) {
            memcpy(to + i, from, sizeof(T));
            memcpy(to + i + 1, from + stride, sizeof(T));
            memcpy(to + i + 2, from + 2 * stride, sizeof(T));
            memcpy(to + i + 3, from + 3 * stride, sizeof(T));
        }
        for (; i < count; i++, from += stride) {
            DML_FEW;
            memcpy(to + i, from, sizeof(T));
        }
    } else if (stride > FARTHEST_FETCHED || stride < -FARTHEST_FETCHED)
        for (int64_t i = 0; i < count; i++, from += stride) { /* one load for all: the hardware sees that steps are equal */
            DML_FEW;
            memcpy(to + i, from, sizeof(T));
        }
    else { /* four at a time, or where the loop lies in memory would make it up to 1.4 times as long */
        int64_t i = 0;
        for (; i + 4 <= count; i += 4, from += 4 * stride)
            for (int k = 0; k < 4; k++) {
                DML_PREFETCH(from + (APART + k) * stride);
                memcpy(to + i + k, from + k * stride, sizeof(T));
            }
        for (; i < count; i++, from += stride) {
            DML_FEW;
            memcpy(to + i, from, sizeof(T));
        }
    }
}

/* Single indices of short rows, `row` of each, a constant; the ramp tells where they begin. */
DML_INLINE void NAME(collect_short)(T *DML_RESTRICT to, const char *from, const int64_t *ramp, int64_t stride, int64_t count,
                                    int row)
{
    for (int64_t i = 0; i < count; i += row) {
        DML_FEW;
        const char *at = from + ramp[i];
        if (stride == (int64_t)sizeof(T))
            memcpy(to + i, at, (size_t)row * sizeof(T));
        else
            for (int k = 0; k < row; k++)
                memcpy(to + i + k, at + k * stride, sizeof(T));
    }
}

/* Rows of so many bytes, 32 to 128, that are contiguous: what is copied twice costs less than a loop. */
DML_INLINE void NAME(copy_rows)(char *to, const char *from, const int64_t *ramp, int64_t count, int64_t row, int64_t bytes)
{
    for (int64_t i = 0; i < count; i += row, to += bytes) {
        DML_FEW;
        const char *at = from + ramp[i];
        memcpy(to, at, 32);
        if (bytes > 64) {
            memcpy(to + 32, at + 32, 32);
            memcpy(to + bytes - 64, at + bytes - 64, 32);
        }
        memcpy(to + bytes - 32, at + bytes - 32, 32);
    }
}

DML_INLINE void NAME(collect_rows)(T *to, const char *from, const int64_t *ramp, int64_t stride, int64_t count, int64_t row)
{
    switch (row) {
    case 1: NAME(collect_short)(to, from, ramp, sizeof(T), count, 1); return;
    case 2: NAME(collect_short)(to, from, ramp, stride, count, 2); return;
    case 3: NAME(collect_short)(to, from, ramp, stride, count, 3); return;
    case 4: NAME(collect_short)(to, from, ramp, stride, count, 4); return;
    case 5: NAME(collect_short)(to, from, ramp, stride, count, 5); return;
    case 6: NAME(collect_short)(to, from, ramp, stride, count, 6); return;
    case 7: NAME(collect_short)(to, from, ramp, stride, count, 7); return;
    default:
        if (stride == (int64_t)sizeof(T) && row * (int64_t)sizeof(T) <= SHORT_ROW)
            NAME(copy_rows)((char *)to, from, ramp, count, row, row * (int64_t)sizeof(T));
        else
            for (int64_t i = 0; i < count; i += row)
                NAME(collect)(to + i, from + ramp[i], stride, row);
    }
}

/* Tuples of q coordinates, a constant, `apart` bytes from one to the next. */
DML_INLINE void NAME(collect_tuples)(T *DML_RESTRICT to, const char *from, int64_t stride, int64_t count, int q, int64_t apart)
{
    for (int64_t i = 0; i < count; i++, from += stride, to += q) {
        DML_FEW;
        if (apart == (int64_t)sizeof(T))
            memcpy(to, from, (size_t)q * sizeof(T));
        else
            for (int k = 0; k < q; k++)
                memcpy(to + k, from + k * apart, sizeof(T));
    }
}

/* Any tuples; long ones whose coordinates are apart one coordinate after the other. */
DML_INLINE void NAME(collect_any)(T *DML_RESTRICT to, const char *from, int64_t stride, int64_t count, int q, int64_t apart)
{
    switch (apart == (int64_t)sizeof(T) ? q : -q) {
    case 2: NAME(collect_tuples)(to, from, stride, count, 2, sizeof(T)); return;
    case 3: NAME(collect_tuples)(to, from, stride, count, 3, sizeof(T)); return;
    case 4: NAME(collect_tuples)(to, from, stride, count, 4, sizeof(T)); return;
    case -2: NAME(collect_tuples)(to, from, stride, count, 2, apart); return;
    case -3: NAME(collect_tuples)(to, from, stride, count, 3, apart); return;
    default:
        for (int64_t i = 0; apart == (int64_t)sizeof(T) && i < count; i++)
            dml_copy_short((char *)(to + i * q), from + i * stride, q * (int64_t)sizeof(T));
        for (int k = 0; apart != (int64_t)sizeof(T) && k < q; k++)
            for (int64_t i = 0; i < count; i++) {
                DML_FEW;
                memcpy(to + i * q + k, from + i * stride + k * apart, sizeof(T));
            }
    }
}

/* A dml_collector. */
static void NAME(collect_row)(void *to, const char *from, int64_t stride, int64_t count, int q)
{
    if (q == 1)
        NAME(collect)(to, from, stride, count);
    else
        NAME(collect_any)(to, from, stride, count, q, sizeof(T));
}

/* The coordinates of so many positions of a box. */
DML_PIECE const void *NAME(pack)(const dml_plan *p, dml_block *b, int64_t count)
{
    T *to = sizeof(T) == 4 ? (T *)(void *)b->packed.half : (T *)(void *)b->packed.full;
    const dml_dim *last = p->dim + p->rank - 1;
    static const int64_t none[] = {0};
    const int64_t *ramp = p->linear ? none : p->ramps->index;
    const char *from = b->indices;
    int64_t row = p->linear ? count : last->size;
    int q = p->tuple;
    if (q == 1 && p->linear && last->index == 0)
        for (int64_t i = 0; i < count; i++) {
            DML_FEW;
            memcpy(to + i, from, sizeof(T));
        }
    else if (q == 1)
        NAME(collect_rows)(to, from, ramp, last->index, count, row);
    else if (p->linear || row >= WORTH_A_LOOP)
        for (int64_t i = 0; i < count; i += row)
            NAME(collect_any)(to + i * q, from + ramp[i], last->index, row, q, p->coordinate_stride);
    else
        for (int64_t i = 0; i < count; i++)
            for (int k = 0; k < q; k++) {
                DML_FEW;
                memcpy(to + i * q + k, from + ramp[i] + k * p->coordinate_stride, sizeof(T));
            }
    return to;
}

#undef NAME
#undef APART
#undef FARTHEST_FETCHED
#undef WORTH_A_LOOP
#undef SHORT_ROW
