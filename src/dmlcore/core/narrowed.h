/* narrowed.h: gathers of single elements whose indices were checked and narrowed to 16 bits before (narrow.c), box by box.
 * Included by core/loops.h for each storage class T and instruction set ISA that has WRAP, without guard. */

#define I u16
#define NAME(name) DML_JOIN4(name, T, I, ISA)
#include "sixteen.h"

DML_INLINE int NAME(some)(const I *index, int64_t count, int q, const dml_plan *p, const u32 *ramp, u32 *offsets)
{
    (void)q; /* 1 */
    return DML_JOIN2(widened, ISA)(index, count, p->bounds[0], p->steps[0], ramp, offsets);
}

#include "ring.h"

static int NAME(narrowed)(const dml_plan *p, dml_worker *worker, int64_t begin, int64_t end)
{
    const dml_dim *last = p->dim + p->rank - 1;
    dml_block block;
    block.known = NULL;
    for (int64_t box = begin, boxes; box < end; box += boxes) {
        boxes = dml_block_open(p, box, end - box, &block);
        int bad;
        if (!p->ramped)
            bad = NAME(loop)(p, &block, NULL, 0, 0, DML_MERGES, 0);
        else if (p->cut == p->rank - 1 && last->table == (int64_t)sizeof(T))
            bad = NAME(loop)(p, &block, NULL, sizeof(T), 0, DML_MERGES, 0);
        else
            bad = NAME(loop)(p, &block, p->ramps->table.narrow, 0, 0, DML_MERGES, 0);
        if (bad)
            return DML_OUT_OF_RANGE;
        int stop = dml_tick(worker, boxes * p->block_bytes);
        if (stop)
            return stop;
    }
    return DML_OK;
}

#undef NAME
#undef I
