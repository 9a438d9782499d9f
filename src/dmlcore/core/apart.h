/* apart.h: few elements that are any way apart (apart.c). */
#ifndef DMLCORE_APART_H
#define DMLCORE_APART_H

#include "move.h"

/* One dimension; strides in bytes. */
typedef struct {
    int64_t size, to, from;
} dml_apart_dim;

/* Elements of one shape that are any way apart on both sides, the longest dimension innermost. */
typedef struct {
    int64_t rank; /* of the others */
    dml_apart_dim inner, outer[DML_RANK_MAX + 1];
} dml_apart;

/* Finds them; copies those that begin there, of 1, 2, 4, 8 or 16 bytes; as many times as places are listed; or both, once. */
void dml_apart_open(dml_apart *apart, dml_list to_strides, dml_list from_strides, dml_list sizes);
void dml_apart_copy(const dml_apart *apart, char *to, const char *from, int64_t width);
void dml_apart_copy_all(const dml_apart *apart, char *to, const int64_t *to_at, const char *from, const int64_t *from_at,
                        int64_t count, int64_t width);
void dml_copy_apart(char *to, dml_list to_strides, const char *from, dml_list from_strides, dml_list sizes, int64_t width);

/* Whether a scatter without a plan may copy its source; *bytes: of it, if it is contiguous, else 0. And the copy. */
int dml_copies_few(const dml_move *m, const dml_run *run, int64_t *bytes);
void dml_copy_source(const dml_move *m, int64_t bytes, int64_t width);

#endif
