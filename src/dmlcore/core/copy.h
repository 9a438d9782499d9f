/* copy.h: copying a whole tensor, the first step of a scatter that does not work in place.
 * Included by move.c. */
#ifndef DMLCORE_COPY_H
#define DMLCORE_COPY_H

#include "parallel.h"

/* Copies elements of `width` bytes; strides in bytes, any. */
int dml_copy(char *to, const char *from, dml_list sizes, dml_list to_strides, dml_list from_strides, int64_t width,
             int threads, dml_pulse *pulse);

#endif
