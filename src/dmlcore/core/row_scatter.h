/* row_scatter.h: the loop of fused.h for scatters whose indices and updates lie in short rows with others between them: both are read
 * where they are, up to eight of a row at a time. Included by fused.h, without guard. */

/* Moves a box, whole rows, from the stream to the table. 1: an index is out of range; elements in front of it may have been moved.
 * short_rows, a constant: they have at most eight. */
DML_INLINE int NAME(scatter_rows)(const dml_plan *p, const dml_block *b, const u32 *ramp, int short_rows)
{
    const dml_dim *rows = p->dim + p->cut;
    const int64_t row = rows[1].size, index_pitch = rows->index, pitch = rows->stream, ahead = p->ahead;
    const int64_t bound = p->bounds[0], step = p->steps[0], eights = short_rows ? 0 : row & -8, rest = row - eights;
    const char *index = b->indices;
    char *table = b->table, *stream = b->stream;
    int is_signed = dml_index_signed(p->index);
    _Alignas(32) u32 offsets[8];
    for (int64_t left = b->count; left > 0; left -= row, index += index_pitch, stream += pitch) {
        const char *at = index;
        char *from = stream;
        for (const char *end = at + eights * (int64_t)sizeof(I); at != end; at += 8 * sizeof(I), from += 8 * sizeof(T)) {
            DML_PREFETCH(at + ahead);
            if (WRAP_EIGHT(at, 8, sizeof(I), is_signed, bound, step, ramp, offsets))
                return 1;
            for (int j = 0; j < 8; j++)
                NAME(one)(table + offsets[j], from + j * (int64_t)sizeof(T), 1);
            if (ramp)
                ramp += 8;
        }
        if (!short_rows && !rest)
            continue;
        DML_PREFETCH(at + ahead);
        if (WRAP_EIGHT(at, rest, sizeof(I), is_signed, bound, step, ramp, offsets))
            return 1;
        for (int64_t j = 0; j < rest; j++)
            NAME(one)(table + offsets[j], from + j * (int64_t)sizeof(T), 1);
        if (ramp)
            ramp += rest;
    }
    return 0;
}

/* The same: the loops that rows' lengths and ramps need. */
DML_INLINE int NAME(scatter_by_rows)(const dml_plan *p, const dml_block *b)
{
    const u32 *ramp = p->ramped ? p->ramps->table.narrow : NULL;
    if (p->dim[p->cut + 1].size > 8)
        return NAME(scatter_rows)(p, b, ramp, 0);
    return ramp ? NAME(scatter_rows)(p, b, ramp, 1) : NAME(scatter_rows)(p, b, NULL, 1);
}
