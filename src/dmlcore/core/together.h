/* together.h: indices in the order of their positions (together.c). */
#ifndef DMLCORE_TOGETHER_H
#define DMLCORE_TOGETHER_H

#include "move.h"
#include "parallel.h"

/* The indices of all positions, `bytes` long each, in the order of these, tuple after tuple. */
void dml_bring_together(char *to, const dml_move *m, int64_t bytes);

/* A move whose indices, read more than once and not next to each other or not aligned, were brought into the order of the positions. */
typedef struct {
    dml_move move;
    int64_t strides[DML_DIMS];
    char *indices;
} dml_together;

/* Brings them together where that is faster, by several threads if each has a line of its own; the answer is how many bytes they have,
 * 0: they stay as they are. */
int64_t dml_together_open(dml_together *together, const dml_move *m, const dml_run *run, int scatter, dml_pulse *pulse);

#endif
