/* gather_elements.h: every position has one index along the axis and moves one element from the table to the stream.
 * Included by _generated/loops.inc for each storage class T, index width I and instruction set. */

static int LOOP(gather_elements)(const dml_plan *plan, dml_worker *worker, int64_t begin, int64_t end)
{
    return GATHER_BOXES(plan, worker, begin, end);
}
