/* scatter_elements.h: every position has one index along the axis and moves one element from the stream to the table; of
 * elements for one place the last one stays, because lines along the axis never meet and each stays with one thread.
 * Included by _generated/loops.inc for each storage class T, index width I and instruction set. */

static int LOOP(scatter_elements)(const dml_plan *plan, dml_worker *worker, int64_t begin, int64_t end)
{
    return SCATTER_BOXES(plan, worker, begin, end);
}
