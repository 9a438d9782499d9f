/* pool.h: the memory pool. Turns the memory of large outputs that were freed into that of the next ones, whose pages need
 * not be cleared by the system again, which takes as long as filling them does.
 * The functions have the signatures of NumPy's PyDataMemAllocator; memory.pxi hands them to NumPy. */
#ifndef DMLCORE_POOL_H
#define DMLCORE_POOL_H

#include <stddef.h>
#include "compiler.h"

/* Outputs of so many bytes begin on a cache line; those that are kept have at least the second number of bytes. */
#define DML_POOL_FROM ((int64_t)256 << 10)
#define DML_POOL_KEPT_FROM ((int64_t)1 << 20)

/* What the pool does not have comes from here, and what it does not keep returns there. */
typedef struct {
    void *context;
    void *(*malloc)(void *context, size_t bytes);
    void (*free)(void *context, void *at, size_t bytes);
} dml_pool_source;

/* Once, before all others. */
void dml_pool_init(dml_pool_source source, int64_t limit);

void *dml_pool_malloc(void *context, size_t bytes);
void *dml_pool_calloc(void *context, size_t count, size_t bytes);
void *dml_pool_realloc(void *context, void *at, size_t bytes);
void dml_pool_free(void *context, void *at, size_t bytes);

/* Whether memory that dml_pool_malloc has just handed out was in use before, so that its pages are there. */
int dml_pool_in_use(const void *at);

/* What is kept together with what is handed out never takes more bytes than this; 0 keeps nothing. */
void dml_pool_set_limit(int64_t bytes);
int64_t dml_pool_limit(void);

/* How many bytes are kept. */
int64_t dml_pool_kept(void);

#endif
