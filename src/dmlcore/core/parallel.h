/* parallel.h: sharing work out among threads, and being interruptible meanwhile.
 * Included by everything that walks over data; parallel.c holds the project's only OpenMP pragmas. */
#ifndef DMLCORE_PARALLEL_H
#define DMLCORE_PARALLEL_H

#include "compiler.h"
#include "kernel.h"

struct dml_worker;
struct dml_team;

typedef int (*dml_work)(void *job, struct dml_worker *worker, int64_t chunk);

/* Work that the next region does first, all of it before anything else begins. */
typedef struct {
    dml_work work;
    void *job;
    int64_t chunks;
} dml_first;

/* What the regions of one call have in common: when the caller was last asked whether to go on, the longest of them, and
 * what was put off. */
typedef struct {
    int (*poll)(void);
    int64_t asked;             /* ns; 0: not yet */
    int64_t predicted;         /* ns on one thread */
    int64_t earned;            /* ns that the call has added to what is earned (worth.c): the longest of its parts */
    int woken;                 /* a part of the call was given threads after a pause, so all its parts are */
    int64_t kept_serial;       /* ns of the clock, when it was worth threads but these would have been late; 0: it was not */
    const dml_first *first;    /* NULL: nothing */
    int interrupted;           /* the caller does not want to go on */
    int twice;                 /* threads wait for each other once more: indices are checked first */
    const struct dml_team *around; /* one of its threads does this as a part of its work; NULL: of none */
} dml_pulse;

/* An output whose pages are not in use yet is written from its end, see copy.h. */
typedef enum { DML_FORWARD, DML_FROM_THE_END } dml_order;

/* Chunks that lie together, counted from the first; each has a cache line of its own. */
typedef struct {
    int64_t next;              /* the next one to claim */
    int64_t begin, end;
    int64_t unused[5];
} dml_portion;

#define DML_PORTIONS 32

/* Every thread begins with the chunks of its own portion, the same ones in every region and every call, because their bytes are
 * in the caches of its CPU; then it helps with those of the others. */
typedef struct dml_team {
    _Alignas(64) dml_portion portion[DML_PORTIONS];
    int portions;
    dml_order order;
    int64_t status;            /* the first status other than DML_OK stops everybody */
    dml_pulse *pulse;
} dml_team;

/* One thread of a team. Loops call dml_tick after each block; it costs a subtraction until enough work is done. */
typedef struct dml_worker {
    dml_team *team;
    int calling;               /* 1 on the thread that called, the only one that may poll */
    int number;                /* 0 on that thread */
    int64_t fuel;              /* bytes of work until the next look at the clock */
    int64_t low, extent;       /* scatters by output range: this thread stores at offsets low .. low + extent - 1 only */
} dml_worker;

#define DML_FUEL ((int64_t)1 << 20)

int dml_tick_slowly(dml_worker *worker);

/* Non-zero: stop and return it. */
DML_INLINE int dml_tick(dml_worker *worker, int64_t bytes)
{
    worker->fuel -= bytes;
    return DML_UNLIKELY(worker->fuel < 0) ? dml_tick_slowly(worker) : DML_OK;
}

/* Runs chunks 0 .. chunks-1, each on one thread, and returns the first status other than DML_OK. What the pulse
 * put off comes before. */
int dml_parallel(dml_work work, void *job, int64_t chunks, dml_order order, int threads, dml_pulse *pulse);

/* How many threads the work is worth: at most `threads`, 1 for small work and when waking them would cost more. */
int dml_threads_worth(int threads, int64_t nanoseconds, dml_pulse *pulse);

/* Once, when the module is loaded: makes a fork after parallel work safe. */
void dml_threads_init(void);

/* What the runtime allows at most (omp_get_max_threads), 1 without OpenMP. */
int dml_threads_max(void);

/* Tests: predicted nanoseconds from which on threads are used, as many as asked for; 1 always uses them, 0 restores the
 * default. */
void dml_set_grain(int64_t nanoseconds);

#endif
