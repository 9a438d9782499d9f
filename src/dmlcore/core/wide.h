/* wide.h: offsets of 64 bits (wide.c; those of single indices: normalise.h). */
#ifndef DMLCORE_WIDE_H
#define DMLCORE_WIDE_H

#include "plan.h"

/* Those that so many tuples of a plan name, one tuple after the other in memory. 1: a coordinate is out of range. */
int dml_wide(const void *indices, int64_t count, const dml_plan *plan, i64 *offsets);

#endif
