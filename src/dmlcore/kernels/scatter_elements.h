/* scatter_elements.h: every position has one index along the axis and moves one element from the stream to the table; of
 * elements for one place the last one stays, because lines along the axis never meet and each stays with one thread.
 * Included by _generated/loops.inc for each storage class T, index width I and instruction set. */

static int LOOP(scatter_elements)(const dml_plan *plan, dml_worker *worker, int64_t begin, int64_t end)
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
