/* policy.h: what the files that choose a plan's ways (policy_loads.c, policy_stores.c, policy_indices.c, policy_loops.c) have in
 * common. Only speed depends on them; what differs among machines is in dml_tuning (dispatch.c), what was measured in
 * docs/design.md. */
#ifndef DMLCORE_POLICY_H
#define DMLCORE_POLICY_H

#include "plan.h"

#define DML_DIRECT_TUPLE 3 /* coordinates of one position at most, where elements are checked and moved one by one */

/* Bytes of elements and of their indices. */
DML_INLINE int64_t dml_streamed(const dml_plan *p)
{
    return p->positions * (p->slice + p->tuple * (int64_t)dml_index_bytes(p->index));
}

/* Bytes of lines that are met at a time: where positions walk along the rows among which indices choose, a line of each. */
DML_INLINE double dml_met_at_a_time(const dml_plan *p)
{
    return p->dim[p->rank - 1].table ? (double)p->bounds[0] * DML_LINE : p->reached;
}

/* What the first indices tell of a plan whose boxes are cut: nothing is fetched ahead, or some positions before; one by one or not. */
void dml_policy_indices(dml_plan *plan);

/* Bytes of the table that positions are spread over: where each chooses from a part of its own beyond those of others, as along the first
 * axis of a transposed table, all that they walk along, else what coordinates reach. */
double dml_spread(const dml_plan *plan);

/* Whether some of the first coordinates are negative. */
int dml_meets_negative(const dml_plan *plan);

/* Whether the first two indices are those of a range, or the same where positions walk along the table element by element. */
int dml_meets_range(const dml_plan *plan);

#endif
