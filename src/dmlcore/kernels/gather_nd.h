/* gather_nd.h: every position has a tuple of coordinates and moves the slice that they pick from the table to the stream.
 * Included by _generated/loops.inc for each storage class T, index width I and instruction set. */

static int LOOP(gather_nd)(const dml_plan *plan, dml_worker *worker, int64_t begin, int64_t end)
{
    dml_block block;
    block.known = NULL;
    for (int64_t box = begin, boxes; box < end; box += boxes) {
        boxes = dml_block_open(plan, box, end - box, &block);
        int fused = plan->fused && !block.kept;
        if (fused ? GATHER_FUSED(plan, &block) : NORMALISE(plan, &block))
            return DML_OUT_OF_RANGE;
        if (!plan->whole)
            GATHER_SLICES(plan, &block);
        else if (!fused)
            GATHER(plan, &block);
        if (block.missed)
            dml_block_fill(plan, &block);
        int stop = dml_tick(worker, boxes * plan->block_bytes);
        if (stop)
            return stop;
    }
    return DML_OK;
}
