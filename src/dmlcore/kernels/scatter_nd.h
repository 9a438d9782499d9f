/* scatter_nd.h: every position has a tuple of coordinates and moves a slice from the stream to where they point in the
 * table; of slices for one place the last one stays, because each thread takes positions in order and keeps to its own
 * part of the table. Included by _generated/loops.inc for each storage class T, index width I and instruction set. */

static int LOOP(scatter_nd)(const dml_plan *plan, dml_worker *worker, int64_t begin, int64_t end)
{
    return SCATTER_BOXES(plan, worker, begin, end);
}
