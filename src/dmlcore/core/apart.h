/* apart.h: few elements that are any way apart (apart.c). */
#ifndef DMLCORE_APART_H
#define DMLCORE_APART_H

#include "move.h"

/* Copies elements of 1, 2, 4, 8 or 16 bytes, the longest dimension innermost. */
void dml_copy_apart(char *to, dml_list to_strides, const char *from, dml_list from_strides, dml_list sizes, int64_t width);

/* Whether a scatter without a plan may copy its source; *bytes: of it, if it is contiguous, else 0. And the copy. */
int dml_copies_few(const dml_move *m, const dml_run *run, int64_t *bytes);
void dml_copy_source(const dml_move *m, int64_t bytes, int64_t width);

#endif
