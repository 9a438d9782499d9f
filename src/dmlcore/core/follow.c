/* follow.c: boxes whose elements follow each other in the table as they do in the stream, as a range of indices names them, or one
 * index for a whole row: they are copied at once. And gathers that are one such range. Every index is still looked at. */
#include "block.h"
#include "dispatch.h"
#include "move.h"
#include "share.h"

#define CHUNK ((int64_t)16 << 10) /* indices that a thread looks at, at a time */

/* Whether so many indices may each be `by` more than the one before it, 0 or 1, as the first and the last tell. *first: as it is in
 * memory, read once; *at: the element that it names. */
static int may_grow(const dml_plan *p, const char *indices, int64_t count, int by, int64_t *first, int64_t *at)
{
    int64_t n = p->bounds[0], further = by ? count - 1 : 0;
    *first = dml_coordinate_at(indices, p->index);
    DML_ONCE(*first);
    uint64_t last = (uint64_t)dml_coordinate_at(indices + (count - 1) * dml_index_bytes(p->index), p->index);
    *at = *first < 0 && dml_index_signed(p->index) ? *first + n : *first;
    return last - (uint64_t)*first == (uint64_t)further && *at >= 0 && *at < n && further < n - *at;
}

static int grow(const dml_plan *p, const char *indices, int64_t count, int by, int64_t ahead)
{
    return dml_chosen_isa->growths[dml_index_width(p->index)](indices, count, by, ahead);
}

int dml_follows(const dml_plan *p, const dml_block *b, int scatter)
{
    const dml_dim *last = p->dim + p->rank - 1;
    int one = p->cut == p->rank - 1 && last->table == p->slice; /* index for all */
    int64_t first, at;
    if (p->tuple != 1 || (!one && (p->ramped || p->steps[0] != p->slice)))
        return 0;
    if (!may_grow(p, b->indices, b->count, !one, &first, &at) || !grow(p, b->indices, b->count, !one, p->ahead))
        return 0;
    char *table = b->table + at * p->steps[0];
    dml_copy_bytes(scatter ? table : b->stream, scatter ? b->stream : table, b->count * p->slice,
                   p->past && !scatter ? DML_STORE_PAST_CACHES : DML_STORE_PLAIN);
    return 1;
}

typedef struct {
    const dml_plan *plan;
    int64_t first; /* index */
} range;

/* DML_OUT_OF_RANGE: they are not those of the range. */
static int some_of_range(void *data, dml_worker *worker, int64_t chunk)
{
    const range *r = data;
    const dml_plan *p = r->plan;
    int64_t from = chunk * CHUNK, count = dml_least(CHUNK, p->positions - from), bytes = dml_index_bytes(p->index);
    const char *indices = p->indices + from * bytes;
    if (dml_coordinate_at(indices, p->index) != r->first + from || !grow(p, indices, count, 1, p->tuned->ahead_of_scans))
        return DML_OUT_OF_RANGE;
    return dml_tick(worker, count * bytes);
}

int dml_names_range(const dml_plan *p, int threads, dml_pulse *pulse, int64_t *at)
{
    range r = {.plan = p};
    if (p->rank != 1 || p->tuple != 1 || p->packed || p->dim[0].index != dml_index_bytes(p->index) || p->dim[0].table ||
        p->steps[0] != p->slice || !may_grow(p, p->indices, p->positions, 1, &r.first, at))
        return DML_OUT_OF_RANGE;
    return dml_parallel(some_of_range, &r, dml_ceil(p->positions, CHUNK), DML_FORWARD, threads, pulse);
}
