/* exchange.h: takes lines to their place past the caches while others come into the memory that held them.
 * Included by core/loops.h for each instruction set that has EXCHANGE64: the wider its vectors, the more lines are on their way. */

/* Stores `full` cache lines of the stage to `to`, a multiple of 64, and fills `next` of it, line by line: memory is written to
 * while it is read from. What comes a page later is fetched meanwhile, some of it while the next updates are stored. */
static void DML_JOIN2(exchange, ISA)(char *to, char *stage, int64_t full, const char *from, int64_t next)
{
    int64_t both = dml_least(full, next) * DML_LINE, in = 0, out = 0;
    for (; in < both; in += DML_LINE) {
        DML_PREFETCH(from + in + DML_PAGE);
        EXCHANGE64(to + in, stage + in, from + in);
    }
    for (out = in; out < full * DML_LINE; out += DML_LINE)
        STREAM64(to + out, stage + out);
    for (; in < next * DML_LINE; in += DML_LINE)
        memcpy(stage + in, from + in, DML_LINE);
}
