/* narrowed.h: gathers of single elements whose indices were checked before and narrowed to 16 bits (narrow.c): to the elements'
 * numbers, or, where these need more, as they are. Included by core/loops.h for each storage class T of up to eight bytes and
 * instruction set ISA that has NARROW, without guard. */

#define NAME(name) DML_JOIN3(name, T, ISA)

/* places: such numbers, or offsets. */
DML_INLINE void NAME(gather_places)(const dml_plan *p, const dml_block *b, const char *places, int numbered, int merges)
{
    const char *table = b->table, *next = b->next;
    char *stream = b->stream;
    int64_t i = 0, count = b->count, next_step = p->next_step, bytes = numbered ? sizeof(u16) : sizeof(u32);
    const u16 *number = (const u16 *)(const void *)places;
    if (numbered && count > 0 && number[count - 1] - number[0] == count - 1 && DML_JOIN3(grow, u16, ISA)(number, count, 1, 0)) {
        memcpy(stream, table + number[0] * sizeof(T), (size_t)count * sizeof(T));
        return;
    }
    for (; i + 16 <= count; i += 16) {
        next = dml_block_fetch(next, next_step, 0);
        JOIN_AT(T, stream + i * (int64_t)sizeof(T), table, places + i * bytes, numbered, merges ? DML_MERGES : DML_INSERTS);
    }
    for (; i < count; i++) {
        const char *place = places + i * bytes;
        int64_t at = numbered ? *(const u16 *)(const void *)place * (int64_t)sizeof(T) : *(const u32 *)(const void *)place;
        NAME(store)(stream + i * (int64_t)sizeof(T), NAME(load)(table + at));
    }
}

static int NAME(narrowed)(const dml_plan *p, dml_worker *worker, int64_t begin, int64_t end)
{
    int merges = MERGES && sizeof(T) == 4 && p->merges;
    int together = p->numbered && !p->ramped; /* ramps, and offsets in a block, are for one box */
    dml_block block;
    for (int64_t box = begin, boxes; box < end; box += boxes) {
        boxes = dml_block_open(p, box, together ? end - box : 1, &block);
        u32 *offsets = block.offsets.narrow;
        if (!p->numbered && DML_JOIN2(widened, ISA)((const u16 *)(const void *)block.indices, block.count, p->bounds[0],
                                                    p->steps[0], p->ramped ? p->ramps->table.narrow : NULL, offsets))
            return DML_OUT_OF_RANGE;
        if (p->numbered && merges)
            NAME(gather_places)(p, &block, block.indices, 1, 1);
        else if (p->numbered)
            NAME(gather_places)(p, &block, block.indices, 1, 0);
        else if (merges)
            NAME(gather_places)(p, &block, (const char *)offsets, 0, 1);
        else
            NAME(gather_places)(p, &block, (const char *)offsets, 0, 0);
        int stop = dml_tick(worker, boxes * p->block_bytes);
        if (stop)
            return stop;
    }
    return DML_OK;
}

#undef NAME
