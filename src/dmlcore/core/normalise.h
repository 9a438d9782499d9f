/* normalise.h: from coordinates to table offsets: wraps negative ones, checks every one, multiplies by the steps.
 * Included by core/loops.h for each width of indices, I (S: the signed type of it), and instruction set ISA, without guard. Whether
 * they are signed is known at run time only: what is added to those below zero is nothing otherwise, and they are out of range as they
 * are. The checked copy is what the movers use: nobody can change it any more. */

#define NAME(name) DML_JOIN3(name, I, ISA)

/* What is added, in 64 bits, to a coordinate whose highest bit is set, in a dimension of n: n, less 2**32 where it has 32 bits, as it was
 * read as an unsigned number; nothing where coordinates are unsigned. */
DML_INLINE uint64_t NAME(from_end)(int is_signed, int64_t n)
{
    return is_signed ? (uint64_t)n - (sizeof(I) == 4 ? (uint64_t)1 << 32 : 0) : 0;
}

/* Tuples of q coordinates, q constant wherever this is inlined. Where the vector unit knows the larger of two unsigned
 * numbers (CHECK_BY_MAX bytes wide), the largest coordinate tells whether all are in range. Elsewhere: u is in [0, n)
 * exactly when neither u nor n - 1 - u has its highest bit set, n being at most 2**31 - 1. */
DML_INLINE int NAME(wrapped)(const I *DML_RESTRICT index, int64_t count, int q, int is_signed, const int64_t *bounds,
                             const int64_t *steps, const u32 *ramp, u32 *DML_RESTRICT offsets)
{
    I bad = 0, n[4], add[4], most[4] = {0, 0, 0, 0};
    u32 step[4];
    for (int k = 0; k < q; k++) {
        n[k] = (I)bounds[k];
        add[k] = (I)NAME(from_end)(is_signed, bounds[k]);
        step[k] = (u32)steps[k];
    }
    for (int64_t i = 0; i < count; i++) {
        u32 offset = ramp ? ramp[i] : 0;
        for (int k = 0; k < q; k++) {
            I v = index[i * q + k];
            I u = v + ((S)v < 0 ? add[k] : 0);
            if (sizeof(I) <= CHECK_BY_MAX)
                most[k] = most[k] > u ? most[k] : u;
            else
                bad |= u | (n[k] - 1 - u);
            offset += (u32)u * step[k];
        }
        offsets[i] = offset;
    }
    bad >>= sizeof(I) * 8 - 1;
    for (int k = 0; k < q; k++)
        if (sizeof(I) <= CHECK_BY_MAX)
            bad |= most[k] >= n[k];
    return (int)bad;
}

/* The same where no coordinate is negative; others count as out of range. Half the work. */
DML_INLINE int NAME(plain)(const I *DML_RESTRICT index, int64_t count, int q, const int64_t *bounds, const int64_t *steps,
                           const u32 *ramp, u32 *DML_RESTRICT offsets)
{
    I any = 0;
    u32 most[4] = {0, 0, 0, 0}, step[4];
    for (int k = 0; k < q; k++)
        step[k] = (u32)steps[k];
    for (int64_t i = 0; i < count; i++) {
        u32 offset = ramp ? ramp[i] : 0;
        for (int k = 0; k < q; k++) {
            I v = index[i * q + k];
            any |= sizeof(I) > 4 ? v : 0;
            most[k] = most[k] > (u32)v ? most[k] : (u32)v;
            offset += (u32)v * step[k];
        }
        offsets[i] = offset;
    }
    int bad = any > UINT32_MAX;
    for (int k = 0; k < q; k++)
        bad |= most[k] >= (u32)bounds[k];
    return bad;
}

/* Most tensors hold no negative coordinate. That is tried first, unless four of them say otherwise. */
DML_INLINE int NAME(narrow)(const I *index, int64_t count, int q, int is_signed, const int64_t *bounds, const int64_t *steps,
                            const u32 *ramp, u32 *offsets)
{
    if (q == 1 && WRAPS)
        return WRAP((const char *)index, count, sizeof(I), is_signed, bounds[0], steps[0], ramp, offsets);
    if (q <= LONGEST_WRAPPED)
        return WRAP_TUPLES((const char *)index, count, q, sizeof(I), is_signed, bounds, steps, offsets);
    int64_t part = count / 4 * q;
    int negative = (S)index[0] < 0 || (S)index[part] < 0 || (S)index[2 * part] < 0 || (S)index[3 * part] < 0;
    if (!negative && !NAME(plain)(index, count, q, bounds, steps, ramp, offsets))
        return 0;
    return NAME(wrapped)(index, count, q, is_signed, bounds, steps, ramp, offsets);
}

/* Any number of coordinates, one dimension after the other: what belongs to it stays in registers. */
DML_INLINE int NAME(long_tuples)(const I *DML_RESTRICT index, int64_t count, int q, int is_signed, const int64_t *bounds,
                                 const int64_t *steps, u32 *DML_RESTRICT offsets)
{
    int bad = 0;
    memset(offsets, 0, (size_t)count * sizeof *offsets);
    for (int k = 0; k < q; k++) {
        uint64_t n = (uint64_t)bounds[k], add = NAME(from_end)(is_signed, bounds[k]);
        u32 step = (u32)steps[k];
        for (int64_t i = 0; i < count; i++) {
            I v = index[i * q + k];
            uint64_t u = v + ((S)v < 0 ? add : 0);
            bad |= u >= n;
            offsets[i] += (u32)u * step;
        }
    }
    return bad;
}

/* Narrow offsets of one or more positions; ramp is added, where there is one; tuples of several coordinates hardly
 * notice when that takes a loop of its own, and there are half as many of theirs. */
DML_LONG_PIECE int NAME(offsets)(const I *index, int64_t count, int q, int is_signed, const int64_t *bounds,
                                 const int64_t *steps, const u32 *ramp, u32 *DML_RESTRICT offsets)
{
    int bad;
    switch (q) {
    case 1:
        return ramp ? NAME(narrow)(index, count, 1, is_signed, bounds, steps, ramp, offsets)
                    : NAME(narrow)(index, count, 1, is_signed, bounds, steps, NULL, offsets);
    case 2: bad = NAME(narrow)(index, count, 2, is_signed, bounds, steps, NULL, offsets); break;
    case 3: bad = NAME(narrow)(index, count, 3, is_signed, bounds, steps, NULL, offsets); break;
    case 4: bad = NAME(narrow)(index, count, 4, is_signed, bounds, steps, NULL, offsets); break;
#if LONGEST_WRAPPED >= 6
    case 5: bad = NAME(narrow)(index, count, 5, is_signed, bounds, steps, NULL, offsets); break;
    case 6: bad = NAME(narrow)(index, count, 6, is_signed, bounds, steps, NULL, offsets); break;
#endif
    default: bad = NAME(long_tuples)(index, count, q, is_signed, bounds, steps, offsets);
    }
    if (ramp && !bad)
        for (int64_t i = 0; i < count; i++)
            offsets[i] += ramp[i];
    return bad;
}

/* Those of DML_STEP_USUAL single indices, none of which is negative: the compiler unrolls the loops. */
DML_LONG_PIECE int NAME(usual)(const I *index, const int64_t *bounds, const int64_t *steps, const u32 *ramp, u32 *offsets)
{
    if ((S)index[0] < 0)
        return 1;
    return ramp ? NAME(plain)(index, DML_STEP_USUAL, 1, bounds, steps, ramp, offsets)
                : NAME(plain)(index, DML_STEP_USUAL, 1, bounds, steps, NULL, offsets);
}

/* A dml_normaliser. */
static int NAME(normalise_row)(const void *indices, int64_t count, int tuple, int is_signed, const int64_t *bounds,
                               const int64_t *steps, const u32 *ramp, u32 *offsets)
{
    return NAME(offsets)(indices, count, tuple, is_signed, bounds, steps, ramp, offsets);
}

#if WRAPS
/* A dml_narrower. */
static int NAME(narrow_row)(const char *indices, int64_t count, int is_signed, int64_t bound, int64_t step, const u32 *ramp,
                            int shift, u16 *to)
{
    if (!ramp && step == (int64_t)1 << shift)
        return NARROW(indices, count, sizeof(I), is_signed, bound, step, NULL, shift, 1, to);
    return NARROW(indices, count, sizeof(I), is_signed, bound, step, ramp, shift, 0, to);
}
#endif

/* Offsets of 64 bits of single indices (tuples: wide.c). */
DML_INLINE int NAME(wide)(const I *DML_RESTRICT index, int64_t count, const dml_plan *p, const i64 *ramp,
                          i64 *DML_RESTRICT offsets)
{
    int bad = 0;
    uint64_t n = (uint64_t)p->bounds[0], step = (uint64_t)p->steps[0],
             add = NAME(from_end)(dml_index_signed(p->index), p->bounds[0]);
    for (int64_t i = 0; i < count; i++) {
        I v = index[i];
        uint64_t u = v + ((S)v < 0 ? add : 0);
        bad |= u >= n;
        offsets[i] = (i64)((ramp ? (uint64_t)ramp[i] : 0) + u * step);
    }
    return bad;
}

/* flip: the highest bit, which is inverted where coordinates are unsigned, so that they compare as signed ones. Sixteen at a time, of which
 * there is room for the last ones. Differences of 64 bits are brought together in 32. */
DML_INLINE void NAME(clamped)(const I *index, int64_t count, const S *low, const S *high, int64_t period, I flip,
                              u32 *DML_RESTRICT to, u32 *DML_RESTRICT differs, int tells)
{
    I rest[16] = {0};
    for (int64_t at = 0; count > 0; count -= 16, index += 16, to += 16, at = at + 16 < period ? at + 16 : 0) {
        if (count < 16)
            index = memcpy(rest, index, (size_t)count * sizeof(I));
        for (int i = 0; i < 16; i++) {
            S v = (S)(index[i] ^ flip), up = v > low[at + i] ? v : low[at + i], near = up < high[at + i] ? up : high[at + i];
            uint64_t differ = (I)(near ^ v);
            if (tells)
                differs[i] = (u32)(differ | differ >> 32);
            to[i] = (u32)((I)near ^ flip);
        }
        if (tells)
            differs += 16;
    }
}

/* A dml_clamper. */
static void NAME(clamp)(const void *indices, int64_t count, const dml_limits *limits, int is_unsigned, u32 *to, u32 *differs)
{
    const S *low = sizeof(I) == 4 ? (const S *)limits->low.half : (const S *)limits->low.full;
    const S *high = sizeof(I) == 4 ? (const S *)limits->high.half : (const S *)limits->high.full;
    I flip = is_unsigned ? (I)1 << (8 * sizeof(I) - 1) : 0;
    if (differs)
        NAME(clamped)(indices, count, low, high, limits->period, flip, to, differs, 1);
    else
        NAME(clamped)(indices, count, low, high, limits->period, flip, to, NULL, 0);
}

DML_PIECE void KEEP_RANGE(const dml_plan *p, dml_block *b, int64_t low, int64_t extent); /* slices.h */

/* Rows that all have the same indices: from the offsets of the first rows, `done` of them, to those of twice as many, and so on
 * until `count` are there. */
DML_PIECE void NAME(repeat)(const dml_plan *p, int64_t done, int64_t count, u32 *DML_RESTRICT offsets)
{
    while (done < count) {
        int64_t some = dml_least(done, count - done);
        u32 further = (u32)(done / p->again * p->dim[p->cut].table);
        u32 *DML_RESTRICT to = offsets + done;
        for (int64_t i = 0; i < some; i++)
            to[i] = offsets[i] + further;
        done += some;
    }
}

/* Offsets of a box each of whose coordinates follow each other, as in tuples in Fortran order: one coordinate after the other adds
 * to what those before it came to. */
DML_PIECE int NAME(by_columns)(const dml_plan *p, dml_block *b, const u32 *ramp)
{
    for (int k = 0; k < p->tuple; k++) {
        u32 *to = (p->tuple - k) % 2 ? b->offsets.narrow : (u32 *)(void *)b->packed.half;
        const char *next = b->indices + k * p->coordinate_stride + b->positions * (int64_t)sizeof(I);
        if (p->ahead)
            dml_fetch(next, b->positions * (int64_t)sizeof(I)); /* of the next box */
        if (NAME(offsets)((const I *)(b->indices + k * p->coordinate_stride), b->positions, 1, dml_index_signed(p->index),
                          p->bounds + k, p->steps + k, ramp, to))
            return 1;
        ramp = to;
    }
    return 0;
}

/* Fills the block's offsets; 1: some coordinate is out of range. Boxes that have the same indices as the one before, as
 * along dimensions that only the table and the stream have, find them done. */
DML_PIECE int NAME(normalise)(const dml_plan *p, dml_block *b)
{
    if (b->kept) {
        memcpy(b->offsets.narrow, b->kept, (size_t)b->positions * sizeof(u32));
        return 0;
    }
    if (b->known == b->indices && b->known_positions >= b->positions)
        return 0;
    int64_t count = p->again ? p->again : b->positions;
    if (p->by_columns && p->mode == DML_RAISE && !p->wide && !p->again) {
        b->known = b->indices;
        b->known_positions = b->positions;
        return NAME(by_columns)(p, b, p->ramped ? p->ramps->table.narrow : NULL);
    }
    const I *index = p->packed ? DML_JOIN3(pack, I, ISA)(p, b, count) : (const I *)b->indices;
    int bad = b->known == DML_SOME_ELSEWHERE; /* then there is no use in trying */
    b->known = b->indices;
    b->known_positions = b->positions;
    if (p->wide && !bad)
        bad = p->tuple > 1 ? dml_wide(index, b->positions, p, b->offsets.wide)
                           : NAME(wide)(index, b->positions, p, p->ramped ? p->ramps->table.wide : NULL, b->offsets.wide);
    else if (!bad)
        bad = NAME(offsets)(index, count, p->tuple, dml_index_signed(p->index), p->bounds, p->steps,
                            p->ramped ? p->ramps->table.narrow : NULL, b->offsets.narrow);
    if (bad && p->mode == DML_RAISE)
        return 1;
    if (bad)
        dml_lenient(p, b, index);
    if (bad && p->mode == DML_DROP)
        KEEP_RANGE(p, b, p->wide ? DML_NOWHERE + 1 : 0, p->wide ? INT64_MAX : DML_NOWHERE_NARROW);
    if (p->again && !p->in_rows)
        NAME(repeat)(p, count, b->positions, b->offsets.narrow);
    return 0;
}

#undef NAME
