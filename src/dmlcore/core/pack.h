/* pack.h: indices that are apart in memory, or not aligned, become indices that follow each other, a box at a time; these copies are
 * what is checked and used. Included by core/loops.h once for each instruction set ISA, without guard. */

#define NAME(name) DML_JOIN2(name, ISA)
#define APART 32 /* indices with other things between them are fetched so many earlier */
#define WORTH_A_LOOP 8 /* indices of a row */

/* Single indices of `width` bytes, a constant, that are `stride` bytes apart; compilers have ways for rows that run backwards
 * and for every second element. */
DML_INLINE void NAME(collect)(char *DML_RESTRICT to, const char *from, int64_t stride, int64_t count, int64_t width)
{
    if (stride == width)
        dml_copy_short(to, from, count * width);
    else if (stride == -width)
        for (int64_t i = 0; i < count; i++)
            memcpy(to + i * width, from - i * width, (size_t)width);
    else if (stride == 2 * width)
        for (int64_t i = 0; i < count; i++)
            memcpy(to + i * width, from + i * 2 * width, (size_t)width);
    else if (count <= 2 * APART || (stride > -DML_LINE / 2 && stride < DML_LINE / 2))
        for (int64_t i = 0; i < count; i++) {
            DML_FEW;
            memcpy(to + i * width, from + i * stride, (size_t)width);
        }
    else
        for (int64_t i = 0; i < count; i++) {
            DML_PREFETCH(from + (i + APART) * stride);
            memcpy(to + i * width, from + i * stride, (size_t)width);
        }
}

/* Tuples of q coordinates, a constant where there are few, `apart` bytes from one to the next. */
DML_INLINE void NAME(collect_tuples)(char *DML_RESTRICT to, const char *from, int64_t stride, int64_t count, int q,
                                     int64_t apart, int64_t width)
{
    for (int64_t i = 0; i < count; i++, from += stride, to += q * width) {
        DML_FEW;
        for (int k = 0; k < q; k++)
            memcpy(to + k * width, from + k * apart, (size_t)width);
    }
}

DML_INLINE void NAME(collect_any)(char *DML_RESTRICT to, const char *from, int64_t stride, int64_t count, int q, int64_t apart,
                                  int64_t width)
{
    switch (apart == width ? q : -q) {
    case 2: NAME(collect_tuples)(to, from, stride, count, 2, width, width); return;
    case 3: NAME(collect_tuples)(to, from, stride, count, 3, width, width); return;
    case 4: NAME(collect_tuples)(to, from, stride, count, 4, width, width); return;
    case -2: NAME(collect_tuples)(to, from, stride, count, 2, apart, width); return;
    case -3: NAME(collect_tuples)(to, from, stride, count, 3, apart, width); return;
    default: NAME(collect_tuples)(to, from, stride, count, q, apart, width);
    }
}

DML_INLINE void NAME(pack_of)(const dml_plan *p, char *DML_RESTRICT to, const char *from, int64_t count, int64_t width)
{
    const dml_dim *last = p->dim + p->rank - 1;
    const int64_t *ramp = p->ramps->index;
    int64_t row = p->linear ? count : last->size;
    int q = p->tuple;
    if (q == 1 && p->linear && last->index == 0)
        for (int64_t i = 0; i < count; i++)
            memcpy(to + i * width, from, (size_t)width);
    else if (row >= WORTH_A_LOOP && q == 1)
        for (int64_t i = 0; i < count; i += row)
            NAME(collect)(to + i * width, from + ramp[i], last->index, row, width);
    else if (row >= WORTH_A_LOOP)
        for (int64_t i = 0; i < count; i += row)
            NAME(collect_any)(to + i * q * width, from + ramp[i], last->index, row, q, p->coordinate_stride, width);
    else if (q == 1)
        for (int64_t i = 0; i < count; i++)
            memcpy(to + i * width, from + ramp[i], (size_t)width);
    else
        for (int64_t i = 0; i < count; i++)
            for (int k = 0; k < q; k++)
                memcpy(to + (i * q + k) * width, from + ramp[i] + k * p->coordinate_stride, (size_t)width);
}

/* The coordinates of so many positions of a box. */
DML_PIECE const void *NAME(pack)(const dml_plan *p, dml_block *b, int64_t count)
{
    char *to = (char *)&b->packed;
    if (dml_index_bytes(p->index) == 4)
        NAME(pack_of)(p, to, b->indices, count, 4);
    else
        NAME(pack_of)(p, to, b->indices, count, 8);
    return to;
}

#undef NAME
#undef APART
#undef WORTH_A_LOOP
