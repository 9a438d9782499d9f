/* check.h: whether coordinates are in range, without moving anything. Included by core/loops.h for indices of four and of eight bytes,
 * T, signed or not, and each instruction set ISA, without guard. */

#define NAME(name) DML_JOIN3(name, T, ISA)
#define LANES (DML_LINE / (int)sizeof(T)) /* of the longest vectors, */
#define VECTORS(tuple) ((tuple) % 5 == 0 ? 5 : (tuple) % 7 == 0 ? 7 : 3) /* so many of which are checked at a time */

/* The largest coordinates so far, of the first lanes or all; v is in [-n, n) exactly when v + n is in [0, 2n), unsigned: one addition and one
 * maximum for each. */
DML_INLINE void NAME(look)(const T *index, int lanes, const T *add, T *most)
{
    for (int lane = 0; lane < lanes; lane++) {
        T u = index[lane] + add[lane];
        most[lane] = most[lane] > u ? most[lane] : u;
    }
}

/* How many coordinates, whole tuples, lie in front of the first line that a tuple begins with, if it is among so many lanes; else 0. */
DML_INLINE int NAME(before_line)(const T *index, int tuple, int lanes)
{
    int before = 0;
    while (before < lanes && (uintptr_t)(index + before) % DML_LINE)
        before += tuple;
    return before < lanes ? before : 0;
}

/* Coordinates that follow each other, `tuple` of them for each position. A bound below zero is for what lies between tuples: every
 * value is right. lanes, a constant, is a multiple of the tuple and of the vectors' lengths, so a lane always meets coordinates of the
 * same dimension. Vectors that are whole lines are loaded faster, so some of the first coordinates may be looked at twice. */
DML_INLINE int NAME(check_by)(const T *index, int64_t count, int tuple, const int64_t *bounds, int is_signed, int64_t ahead,
                              int lanes)
{
    T add[7 * LANES], last[7 * LANES], most[7 * LANES];
    int bad = 0, before = NAME(before_line)(index, tuple, lanes);
    for (int lane = 0, k = 0; lane < lanes; lane++, k = k + 1 < tuple ? k + 1 : 0) {
        int64_t n = bounds[k];
        if (sizeof(T) == 4) /* a longer dimension takes every value */
            n = dml_least(n, is_signed ? (int64_t)1 << 31 : (int64_t)1 << 32);
        bad |= n == 0;
        add[lane] = is_signed && n > 0 ? (T)n : 0;
        last[lane] = n < 0 ? (T)-1 : (T)n + add[lane] - 1;
        most[lane] = 0;
    }
    if (before && count >= lanes) {
        NAME(look)(index, lanes, add, most);
        index += before;
        count -= before;
    }
    for (; count >= lanes; count -= lanes, index += lanes) {
        for (int line = 0; ahead && line < lanes * (int)sizeof(T); line += DML_LINE)
            DML_PREFETCH((const char *)index + ahead + line);
        NAME(look)(index, lanes, add, most);
    }
    NAME(look)(index, (int)count, add, most);
    for (int lane = 0; lane < lanes; lane++)
        bad |= most[lane] > last[lane];
    return bad;
}

DML_INLINE int NAME(has_lanes_for)(int tuple) { return VECTORS(tuple) * LANES % tuple == 0; }

/* For tuples that have lanes. 1: one is out of range. */
DML_LONG_PIECE int NAME(check)(const T *index, int64_t count, int tuple, const int64_t *bounds, int is_signed, int64_t ahead)
{
    switch (VECTORS(tuple)) {
    case 5: return NAME(check_by)(index, count, tuple, bounds, is_signed, ahead, 5 * LANES);
    case 7: return NAME(check_by)(index, count, tuple, bounds, is_signed, ahead, 7 * LANES);
    default: return NAME(check_by)(index, count, tuple, bounds, is_signed, ahead, 3 * LANES);
    }
}

#undef NAME
#undef LANES
#undef VECTORS
