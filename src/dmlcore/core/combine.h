/* combine.h: reductions: what happens to an element when a scatter brings an update for it.
 * Included by move.c. The only part of the core that depends on the data type itself. */
#ifndef DMLCORE_COMBINE_H
#define DMLCORE_COMBINE_H

#include "block.h"

typedef void (*dml_combiner)(const dml_plan *plan, dml_block *block);

/* NULL for DML_NONE. */
dml_combiner dml_combiner_for(int reduction, int data_type);

#endif
