/* walk.h: walks over boxes of a plan, checks the indices of each and moves what they name: what the kernel of an operator comes to.
 * Included by core/loops.h for each storage class T, width of indices I and instruction set ISA, without guard. */

/* From the table to the stream. */
static int LOOP(gather_boxes)(const dml_plan *plan, dml_worker *worker, int64_t begin, int64_t end)
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

/* From the stream to the table, or to the part of it that is the worker's; or what is there is combined with it. Each thread takes its
 * positions in order, so of slices for one place the last one stays. */
static int LOOP(scatter_boxes)(const dml_plan *plan, dml_worker *worker, int64_t begin, int64_t end)
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
