/* scan.h: checks every index and moves nothing: what comes before the first byte of a caller's own output is written.
 * Included by core/loops.h for each width of indices, I, and instruction set ISA, after check.h and normalise.h, without guard. */

#define NAME(name) DML_JOIN3(name, I, ISA)
#define FEWEST 256 /* positions that are worth the preparations */
#define LONG_BOX 512 /* the same for each box */
#define MOST_SPREAD (DML_LINE / (int)sizeof(I)) /* coordinates from a tuple to the next, with what lies between them */
#define LEAST_IN_ROW 4 /* indices of a row that are worth a look of its own; two and three: 0.8 to 1.05 of the speed */
#define CHECK(index, count, tuple, bounds, ahead) \
    DML_JOIN3(check, I, ISA)((const I *)(const void *)(index), count, tuple, bounds, is_signed, ahead)

/* Notes which slices of the table positions name, by offsets in slices. */
static void NAME(note)(unsigned char *seen, const dml_plan *p, const dml_block *block)
{
    const u32 *narrow = block->offsets.narrow;
    const i64 *wide = block->offsets.wide;
    int64_t count = block->count; /* which the compiler would read again after each store */
    if (p->wide)
        for (int64_t i = 0; i < count; i++)
            seen[wide[i]] = 1;
    else
        for (int64_t i = 0; i < count; i++)
            seen[narrow[i]] = 1;
}

/* Tuples that are equally far apart in a box: as many coordinates as lie from one to the next, where what lies between them may be read
 * as coordinates that have no bound; else 0. */
static int NAME(spread)(const dml_plan *p, int64_t *bounds)
{
    int64_t lanes = p->dim[p->rank - 1].index / (int64_t)sizeof(I);
    if (!p->packed || !p->linear || p->unaligned || lanes <= p->tuple || lanes > MOST_SPREAD ||
        !DML_JOIN3(has_lanes_for, I, ISA)((int)lanes) || (p->tuple > 1 && p->coordinate_stride != (int64_t)sizeof(I)))
        return 0;
    for (int k = 0; k < lanes; k++)
        bounds[k] = k < p->tuple ? p->bounds[k] : -1;
    return (int)lanes;
}

static int NAME(scan)(const dml_plan *p, dml_worker *worker, int64_t begin, int64_t end)
{
    dml_block block;
    block.known = NULL;
    int is_signed = dml_index_signed(p->index);
    int64_t tuple_bytes = p->tuple * (int64_t)sizeof(I), dense = tuple_bytes;
    for (int d = p->rank - 1; d >= 0 && dense; d--)
        dense = p->dim[d].index == dense ? dense * p->dim[d].size : 0;
    unsigned char *seen = p->seen ? p->seen + worker->number * p->seen_apart : NULL;
    int simple = !seen && p->mode == DML_RAISE && !p->again, stop = DML_OK;
    int by_lanes = simple && p->positions >= FEWEST && DML_JOIN3(has_lanes_for, I, ISA)(p->tuple);
    int64_t spread_bounds[MOST_SPREAD];
    int spread = simple && p->positions >= FEWEST ? NAME(spread)(p, spread_bounds) : 0;
    const dml_dim *last = p->dim + p->rank - 1;
    int by_rows = CHECKS_ROWS && simple && p->packed && p->tuple == 1 && !p->linear && last->index == tuple_bytes &&
                  last->size >= LEAST_IN_ROW;
    int one_row = CHECKS_ROWS && simple && !p->packed && p->tuple == 1; /* each box */
    int columns = simple && p->by_columns;
    int64_t box = begin, kept = p->kept ? dml_most(begin, dml_least(p->kept_from, end)) : end;
    if ((dense && by_lanes && !p->packed) || (spread && p->rank == 1)) { /* one run of coordinates: boxes do not matter */
        int lanes = spread ? spread : p->tuple;
        int64_t at = dml_block_number(p, begin), stop_at = dml_block_number(p, kept), each = lanes * (int64_t)sizeof(I), some;
        for (; at < stop_at && !stop; at += some) {
            some = dml_least(stop_at - at, 16 * DML_BLOCK);
            if (CHECK(p->indices + at * each, (some - 1) * lanes + p->tuple, lanes, spread ? spread_bounds : p->bounds,
                      p->tuned->ahead_of_scans))
                return DML_OUT_OF_RANGE;
            stop = dml_tick(worker, some * each);
        }
        box = kept;
    } else if (columns && p->rank == 1) { /* one for each coordinate */
        int64_t at = dml_block_number(p, begin), stop_at = dml_block_number(p, kept), some;
        for (; at < stop_at && !stop; at += some) {
            some = dml_least(stop_at - at, 16 * DML_BLOCK);
            for (int k = 0; k < p->tuple; k++)
                if (CHECK(p->indices + at * (int64_t)sizeof(I) + k * p->coordinate_stride, some, 1, p->bounds + k,
                          p->tuned->ahead_of_scans))
                    return DML_OUT_OF_RANGE;
            stop = dml_tick(worker, some * tuple_bytes);
        }
        box = kept;
    }
    for (; box < kept && !stop; box++) {
        dml_block_open(p, box, 1, &block);
        int bad = 0;
        for (int k = 0; columns && k < p->tuple; k++)
            bad |= CHECK(block.indices + k * p->coordinate_stride, block.positions, 1, p->bounds + k, 0);
        if (spread && block.positions >= LONG_BOX)
            bad = CHECK(block.indices, (block.positions - 1) * spread + p->tuple, spread, spread_bounds, 0);
        else if (by_rows)
            bad = CHECK_ROWS(block.indices, p->ramps->index, block.positions, last->size, p->bounds[0], is_signed, sizeof(I));
        else if (one_row && block.positions < LONG_BOX)
            bad = CHECK_ROWS(block.indices, (const int64_t[]){0}, block.positions, block.positions, p->bounds[0], is_signed,
                             sizeof(I));
        else if (!columns && by_lanes && block.positions >= LONG_BOX)
            bad = CHECK(p->packed ? DML_JOIN3(pack, I, ISA)(p, &block, block.positions) : block.indices,
                        block.positions * p->tuple, p->tuple, p->bounds, 0);
        else if (!columns)
            bad = NAME(normalise)(p, &block);
        if (bad)
            return DML_OUT_OF_RANGE;
        if (seen)
            NAME(note)(seen, p, &block);
        stop = dml_tick(worker, p->block_bytes);
    }
    const u32 *ramp = p->ramped ? p->ramps->table.narrow : NULL;
    for (; box < end && !stop; box++) {
        dml_block_open(p, box, 1, &block);
        u32 *to = dml_block_kept(p, box);
        block.kept = NULL;
        const I *index = (const I *)block.indices;
        if (p->packed ? NAME(normalise)(p, &block)
                      : NAME(offsets)(index, block.positions, p->tuple, is_signed, p->bounds, p->steps, ramp, to))
            return DML_OUT_OF_RANGE;
        if (p->packed)
            memcpy(to, block.offsets.narrow, (size_t)block.positions * sizeof *to);
        stop = dml_tick(worker, p->block_bytes);
    }
    return stop;
}

#undef NAME
#undef FEWEST
#undef LONG_BOX
#undef MOST_SPREAD
#undef LEAST_IN_ROW
#undef CHECK
