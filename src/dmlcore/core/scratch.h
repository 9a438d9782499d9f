/* scratch.h: scratch memory that begins with a cache line. malloc's begins sixteen bytes after one, or as good as anywhere, so that
 * every vector of 64 bytes would be stored to two lines: turning few rows of indices takes 1.5 to 2 times as long then (Granite Rapids). */
#ifndef DMLCORE_SCRATCH_H
#define DMLCORE_SCRATCH_H

#include "plan.h"

#include <stdlib.h>
#include <string.h>

/* NULL: there is none. What malloc gave lies in front of it, for dml_scratch_free. */
static inline void *dml_scratch(int64_t bytes)
{
    char *memory = malloc((size_t)bytes + DML_LINE);
    if (!memory)
        return NULL;
    char *line = memory + DML_LINE - (uintptr_t)memory % DML_LINE;
    memcpy(line - sizeof memory, &memory, sizeof memory);
    return line;
}

static inline void dml_scratch_free(void *line)
{
    char *memory = NULL;
    if (line)
        memcpy(&memory, (char *)line - sizeof memory, sizeof memory);
    free(memory);
}

#endif
