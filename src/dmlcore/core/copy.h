/* copy.h: copying a whole tensor, the first step of a scatter that does not work in place.
 * Included by move.c. */
#ifndef DMLCORE_COPY_H
#define DMLCORE_COPY_H

#include "parallel.h"

/* Copies elements of `width` bytes; strides in bytes, any. */
int dml_copy(char *to, const char *from, dml_list sizes, dml_list to_strides, dml_list from_strides, int64_t width,
             int threads, dml_pulse *pulse);

/* Whether a destination of so many bytes is better stored past the caches. */
int dml_past_caches(int64_t bytes);

/* Copies bytes that follow each other. past_caches: too many for the caches to hold until they are read again. */
void dml_copy_bytes(char *to, const char *from, int64_t bytes, int past_caches);

#endif
