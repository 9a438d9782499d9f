/* ring_ends.h: the offsets of a box that ring.h does not compute while it moves elements: the first ones, and those of tuples that are
 * no whole sixteen. The same for elements of any width. Included by core/loops.h for each width of indices, I, and instruction set ISA
 * that has WRAP_SIXTEEN, without guard. */

#define NAME(name) DML_JOIN3(name, I, ISA)

/* The offsets of tuples at an end of a box, fewer than sixteen, of as many coordinates as the plan's. apart, along: as in ring.h. */
DML_LONG_PIECE int NAME(last_offsets)(const dml_plan *p, const char *index, int64_t count, int64_t apart, int64_t along,
                                      const u32 *ramps, u32 *offsets)
{
    int q = p->tuple;
    I together[16 * 4];
    const I *from = (const I *)(const void *)index;
    for (int64_t j = 0; (apart || along) && j < count; j++)
        for (int k = 0; k < q; k++)
            memcpy(together + j * q + k,
                   along ? index + k * along + j * (int64_t)sizeof(I) : index + j * apart + k * (int64_t)sizeof(I), sizeof(I));
    return NAME(offsets)(apart || along ? together : from, count, q, dml_index_signed(p->index), p->bounds, p->steps, ramps,
                         offsets);
}

/* Those of tuples number `from` to `to`, sixteen at a time; q, and whether the others are zero, constant where this is inlined. */
DML_INLINE int NAME(sixteens)(const dml_plan *p, const char *index, int64_t from, int64_t to, int q, int64_t apart,
                              int64_t along, const u32 *ramps, u32 *ring, int64_t at)
{
    int64_t each = apart ? apart : (along ? 1 : q) * (int64_t)sizeof(I);
    int bad = 0;
    for (; from < to; from += 16)
        bad |= WRAP_SIXTEEN(index + from * each, q, apart, along, sizeof(I), dml_index_signed(p->index), p->bounds, p->steps,
                            ramps ? ramps + from : NULL, ring + ((at + from) & (RING - 1)));
    return bad;
}

/* What a ring has to know before the first of them is moved. 1: one is out of range. */
DML_LONG_PIECE int NAME(first_offsets)(const dml_plan *p, const char *index, int64_t from, int64_t to, int64_t apart,
                                       int64_t along, const u32 *ramps, u32 *ring, int64_t at)
{
#if LONGEST_RING > 1
    if (along)
        return p->tuple == 2 ? NAME(sixteens)(p, index, from, to, 2, 0, along, NULL, ring, at)
                             : NAME(sixteens)(p, index, from, to, 3, 0, along, NULL, ring, at);
    if (apart)
        switch (p->tuple) {
        case 1: return NAME(sixteens)(p, index, from, to, 1, apart, 0, NULL, ring, at);
        case 2: return NAME(sixteens)(p, index, from, to, 2, apart, 0, NULL, ring, at);
        case 3: return NAME(sixteens)(p, index, from, to, 3, apart, 0, NULL, ring, at);
        default: return NAME(sixteens)(p, index, from, to, 4, apart, 0, NULL, ring, at);
        }
    switch (p->tuple) {
    case 1: return NAME(sixteens)(p, index, from, to, 1, 0, 0, ramps, ring, at);
    case 2: return NAME(sixteens)(p, index, from, to, 2, 0, 0, NULL, ring, at);
    case 3: return NAME(sixteens)(p, index, from, to, 3, 0, 0, NULL, ring, at);
    default: return NAME(sixteens)(p, index, from, to, 4, 0, 0, NULL, ring, at);
    }
#else
    DML_NEVER(along || apart);
    return NAME(sixteens)(p, index, from, to, 1, 0, 0, ramps, ring, at);
#endif
}

#undef NAME
