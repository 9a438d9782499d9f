/* scatter_nd.h: every position has a tuple of coordinates and moves a slice from the stream to where they point in the
 * table; of slices for one place the last one stays, because each thread takes positions in order and keeps to its own
 * part of the table. Included by _generated/loops.inc for each storage class T, index width I and instruction set. */

static int LOOP(scatter_nd)(const dml_plan *plan, dml_worker *worker, int64_t begin, int64_t end)
{
    dml_block block;
    block.known = NULL;
    for (int64_t box = begin, boxes; box < end; box += boxes) {
        boxes = dml_block_open(plan, box, worker->extent ? 1 : end - box, &block);
        int fused = plan->fused && !block.kept && !plan->combine && !worker->extent;
        if (fused ? SCATTER_FUSED(plan, &block) : NORMALISE(plan, &block))
            return DML_OUT_OF_RANGE;
        if (worker->extent)
            KEEP_RANGE(plan, &block, worker->low, worker->extent);
        if (plan->combine)
            dml_block_combine(plan, &block);
        else if (!plan->whole)
            SCATTER_SLICES(plan, &block);
        else if (!fused)
            SCATTER(plan, &block);
        int stop = dml_tick(worker, boxes * plan->block_bytes);
        if (stop)
            return stop;
    }
    return DML_OK;
}
