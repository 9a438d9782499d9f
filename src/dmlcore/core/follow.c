/* follow.c: boxes whose elements follow each other in the table as they do in the stream, as a range of indices names them, or one
 * index for a whole row: they are copied at once. Every index is still looked at. */
#include "block.h"
#include "dispatch.h"
#include "move.h"

int dml_follows(const dml_plan *p, const dml_block *b, int scatter)
{
    const dml_dim *last = p->dim + p->rank - 1;
    const char *indices = b->indices;
    int one = p->cut == p->rank - 1 && last->table == p->slice; /* index for all */
    int64_t bytes = dml_index_bytes(p->index), further = one ? 0 : b->count - 1;
    if (p->tuple != 1 || (!one && (p->ramped || p->steps[0] != p->slice)))
        return 0;
    int64_t n = p->bounds[0], first = dml_coordinate_at(indices, p->index), at = first;
    if (dml_coordinate_at(indices + (b->count - 1) * bytes, p->index) != first + further)
        return 0;
    if (at < 0 && p->index != DML_INDEX_U64)
        at += n;
    if (at < 0 || at >= n || further >= n - at)
        return 0;
    if (!dml_chosen_isa->growths[bytes == 8](indices, b->count, !one, p->ahead))
        return 0;
    char *table = b->table + at * p->steps[0];
    dml_copy_bytes(scatter ? table : b->stream, scatter ? b->stream : table, b->count * p->slice,
                   p->past && !scatter ? DML_STORE_PAST_CACHES : DML_STORE_PLAIN);
    return 1;
}
