/* few_elements.h: few single elements in a row, moved without a plan (few_elements.c). Included by few.c. */
#ifndef DMLCORE_FEW_ELEMENTS_H
#define DMLCORE_FEW_ELEMENTS_H

#include "kernel.h"
#include "plan.h"

#define DML_MOST_FEW 8192 /* positions */

/* So many positions, each of a contiguous slice of so many bytes; combine: NULL, or how updates are combined. 1: all are moved. 0:
 * they are no such elements, or an index is out of range; nothing of a caller's own output has been written. */
int dml_move_few_elements(const dml_move *move, const dml_run *run, int scatter, int64_t count, int64_t bytes,
                          dml_combiner combine);

#endif
