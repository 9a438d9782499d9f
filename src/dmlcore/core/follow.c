/* follow.c: boxes whose elements follow each other in the table as they do in the stream, as a range of indices names them, or one
 * index for a whole row: they are copied at once. And gathers that are one such range. Every index is still looked at. */
#include "block.h"
#include "dispatch.h"
#include "move.h"
#include "share.h"

#define CHUNK ((int64_t)16 << 10) /* indices that a thread looks at, at a time */

int dml_follows(const dml_plan *p, const dml_block *b, int scatter)
{
    const dml_dim *last = p->dim + p->rank - 1;
    const char *indices = b->indices;
    int one = p->cut == p->rank - 1 && last->table == p->slice; /* index for all */
    int64_t bytes = dml_index_bytes(p->index), further = one ? 0 : b->count - 1;
    if (p->tuple != 1 || (!one && (p->ramped || p->steps[0] != p->slice)))
        return 0;
    int64_t n = p->bounds[0], at = dml_coordinate_at(indices, p->index);
    DML_ONCE(at);
    if ((uint64_t)dml_coordinate_at(indices + (b->count - 1) * bytes, p->index) != (uint64_t)at + (uint64_t)further)
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

typedef struct {
    const dml_plan *plan;
    int64_t first;
} range;

/* DML_OUT_OF_RANGE: they are not those of the range. */
static int some_of_range(void *data, dml_worker *worker, int64_t chunk)
{
    const range *r = data;
    const dml_plan *p = r->plan;
    int64_t from = chunk * CHUNK, count = dml_least(CHUNK, p->positions - from), bytes = dml_index_bytes(p->index);
    const char *indices = p->indices + from * bytes;
    if (dml_coordinate_at(indices, p->index) != r->first + from ||
        !dml_chosen_isa->growths[bytes == 8](indices, count, 1, p->tuned->ahead_of_scans))
        return DML_OUT_OF_RANGE;
    return dml_tick(worker, count * bytes);
}

int dml_names_range(const dml_plan *p, int threads, dml_pulse *pulse, int64_t *first)
{
    int64_t bytes = dml_index_bytes(p->index), n = p->bounds[0];
    if (p->rank != 1 || p->tuple != 1 || p->packed || p->dim[0].index != bytes || p->dim[0].table || p->steps[0] != p->slice)
        return DML_OUT_OF_RANGE;
    range r = {p, dml_coordinate_at(p->indices, p->index)};
    DML_ONCE(r.first);
    uint64_t last = (uint64_t)dml_coordinate_at(p->indices + (p->positions - 1) * bytes, p->index);
    *first = r.first < 0 && p->index != DML_INDEX_U64 ? r.first + n : r.first;
    if (last - (uint64_t)r.first != (uint64_t)(p->positions - 1) || *first < 0 || *first >= n || p->positions > n - *first)
        return DML_OUT_OF_RANGE;
    return dml_parallel(some_of_range, &r, dml_ceil(p->positions, CHUNK), DML_FORWARD, threads, pulse);
}
