/* whole.c: gathers that are copies once their indices are checked: of a table that every index names as a whole, as there is nothing
 * else, and of a range of it. */
#include "copy.h"
#include "share.h"

#define MANY_OF_A_RANGE ((int64_t)1 << 20) /* bytes of indices that had better not be read twice */

/* Whether every index names the same part of the table, and each is for one element: the indices were a good part of the work. */
static int names_all(const dml_plan *p)
{
    int all = p->mode == DML_RAISE && p->whole;
    for (int k = 0; k < p->tuple; k++)
        all &= p->bounds[k] == 1;
    for (int d = 0; d < p->rank; d++)
        all &= p->dim[d].index != 0;
    return all;
}

/* The copy. Every dimension at least doubles the output, so there are fewer of them than a copy may have. step: from one position to
 * the next of a range; 0: as the plan says. */
static int copy_whole(const dml_plan *p, const dml_run *run, const char *table, int64_t step, dml_pulse *pulse)
{
    int64_t sizes[DML_DIMS + 1], from[DML_DIMS + 1], to[DML_DIMS + 1], bytes = p->positions * p->slice;
    int rank = 0, copiers = run->threads;
    for (; rank < p->rank; rank++) {
        sizes[rank] = p->dim[rank].size;
        from[rank] = step ? step : p->dim[rank].table;
        to[rank] = p->dim[rank].stream;
    }
    sizes[rank] = p->slice / p->element;
    from[rank] = to[rank] = p->element;
    rank++;
    return dml_copy(p->stream, table, (dml_list){sizes, rank}, (dml_list){to, rank}, (dml_list){from, rank}, p->element,
                    dml_store_for(bytes, (double)bytes, copiers, run->untouched), run->untouched, 0, &copiers, pulse);
}

/* Whether to look for a range: longer indices of a fresh output had better be read beside the elements. */
static int may_be_range(const dml_plan *p, const dml_run *run)
{
    int64_t width = dml_index_bytes(p->index);
    return p->mode == DML_RAISE && p->slice && p->positions * width >= MANY_OF_A_RANGE &&
           (run->check_first || width == 4 || width < p->slice);
}

int dml_gather_whole(const dml_plan *p, const dml_run *run, dml_ramps *ramps, int threads, dml_pulse *pulse)
{
    if (names_all(p)) {
        dml_plan_ramps(p, ramps);
        int status = dml_check(p, threads, pulse);
        return status ? status : copy_whole(p, run, p->table, 0, pulse);
    }
    int64_t at;
    int status = may_be_range(p, run) ? dml_names_range(p, threads, pulse, &at) : DML_OUT_OF_RANGE;
    if (status == DML_OK)
        return copy_whole(p, run, p->table + at * p->slice, p->slice, pulse);
    return status == DML_OUT_OF_RANGE ? DML_NO_MEMORY : status;
}
