/* gather_nd1.h: like gather_nd.h, but the leading positions are batches, which index and table share.
 * Included by _generated/loops.inc for each storage class T, index width I and instruction set. */

static int LOOP(gather_nd1)(const dml_plan *plan, dml_worker *worker, int64_t begin, int64_t end)
{
    return GATHER_BOXES(plan, worker, begin, end);
}
