/* worth.h: what the decision whether threads pay (dml_threads_worth in parallel.h) is told of regions and of work without
 * them, and the clock. */
#ifndef DMLCORE_WORTH_H
#define DMLCORE_WORTH_H

#include "parallel.h"

/* Nanoseconds of a clock that never goes back. */
int64_t dml_clock(void);

/* A region has ended; how long its call was predicted to take on one thread, and how long a line took from one to another; 0: not
 * known. */
void dml_note_region(int64_t start, int64_t end, int64_t predicted, int64_t handed);

/* Whether the region that starts should find that out. */
int dml_asks_line(int64_t start);

/* Work on one thread has ended, some of a call's or all. */
void dml_note_serial(const dml_pulse *pulse);

/* In a forked child, which has no threads yet. */
void dml_forget_regions(void);

/* How many CPUs the process may use; 0 without OpenMP. */
int64_t dml_cpus(void);

#endif
