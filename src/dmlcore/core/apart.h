/* apart.h: few elements that are any way apart (apart.c). */
#ifndef DMLCORE_APART_H
#define DMLCORE_APART_H

#include "move.h"

/* Copies elements of 1, 2, 4, 8 or 16 bytes, the longest dimension innermost. */
void dml_copy_apart(char *to, dml_list to_strides, const char *from, dml_list from_strides, dml_list sizes, int64_t width);

/* Whether a scatter without a plan may copy its source; *bytes: of it, if it is contiguous, else 0. And the copy. */
int dml_copies_few(const dml_move *m, const dml_run *run, int64_t *bytes);
void dml_copy_source(const dml_move *m, int64_t bytes, int64_t width);

/* The indices of all positions, `bytes` long each, in the order of these, tuple after tuple. */
void dml_bring_together(char *to, const dml_move *m, int64_t bytes);

/* A move whose indices, read more than once and not next to each other, were brought into the order of the positions. */
typedef struct {
    dml_move move;
    int64_t strides[DML_DIMS];
    char *indices;
} dml_together;

/* Brings them together where that is faster; the answer is how many bytes they have, 0: they stay as they are. */
int64_t dml_together_open(dml_together *together, const dml_move *m, const dml_run *run, int scatter);

#endif
