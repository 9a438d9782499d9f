/* gather_nd.h: every position has a tuple of coordinates and moves the slice that they pick from the table to the stream.
 * Included by _generated/loops.inc for each storage class T, index width I and instruction set. */

static int LOOP(gather_nd)(const dml_plan *plan, dml_worker *worker, int64_t begin, int64_t end)
{
    return GATHER_BOXES(plan, worker, begin, end);
}
