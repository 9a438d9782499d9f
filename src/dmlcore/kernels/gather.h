/* gather.h: every position has one index and moves the slice that it picks along the axis from the table to the stream; positions
 * before the axis keep their place in the table.
 * Included by _generated/loops.inc for each storage class T, index width I and instruction set. */

static int LOOP(gather)(const dml_plan *plan, dml_worker *worker, int64_t begin, int64_t end)
{
    return GATHER_BOXES(plan, worker, begin, end);
}
