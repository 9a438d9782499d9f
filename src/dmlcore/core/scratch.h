/* scratch.h: scratch memory of a call (scratch.c). It begins with a cache line: malloc's begins sixteen bytes after one, or as good as
 * anywhere, so that every vector of 64 bytes would be stored to two lines: turning few rows of indices takes 1.5 to 2 times as long then
 * (Granite Rapids). */
#ifndef DMLCORE_SCRATCH_H
#define DMLCORE_SCRATCH_H

#include "compiler.h"

/* NULL: there is none. */
void *dml_scratch(int64_t bytes);
void dml_scratch_free(void *line);

/* Gives back what is kept. */
void dml_scratch_forget(void);

#endif
