/* looked_up.h: gathers out of rows of a table that registers hold, one row for each row of positions, or one for all (looked_up.c).
 * Included by few_elements.c and policy_loops.c. */
#ifndef DMLCORE_LOOKED_UP_H
#define DMLCORE_LOOKED_UP_H

#include "kernel.h"
#include "plan.h"

#define DML_LOOKED_UP 256 /* elements of a table, or a row of one, at most */

/* Whether a plan whose boxes are cut, and that is fused, is such a gather and faster so; then it says how. tables: whether one row for all
 * may be. */
void dml_plan_looks_up(dml_plan *plan, int tables);

/* Whether indices of such a plan that follow each other choose from a table that is looked up as rows are. */
int dml_plan_looks_up_table(const dml_plan *plan);

/* Few positions without a plan, elements of so many bytes whose stream is contiguous. 0: they are no such gather, or an index is out of
 * range; nothing of a caller's own output has been written. */
int dml_move_looked_up(const dml_move *move, const dml_run *run, int64_t count, int64_t bytes);

#endif
