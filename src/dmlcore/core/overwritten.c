/* overwritten.c: a scatter of long slices need not copy what its updates overwrite anyway. Notes which slices of the table
 * are overwritten, which checks every index on the way, and copies the others. */
#include "copy.h"
#include "share.h"

#include <stdlib.h>

#define LITTLE 16384 /* bytes of a table that are copied sooner than the notes are made */
#define SHORTEST 64                      /* bytes of a slice that is worth a note */
#define FAST_COPY ((int64_t)48 << 20)    /* bytes that are copied so fast as a whole that gaps cost four times as much */
#define MOST ((int64_t)1 << 20)          /* notes, a byte each */
#define JOINED ((int64_t)64 << 10)       /* notes that a thread joins at a time */

/* Every thread has notes of its own: noted in one place, every second note would wait for the line that another thread has
 * just written to. (4096 rows of 64 bytes: 50 us with two threads, 15 with one.) */
typedef struct {
    unsigned char *all;
    int64_t slices;
    int threads;
} notebooks;

static int join_notes(void *data, dml_worker *worker, int64_t chunk)
{
    const notebooks *n = data;
    int64_t begin = chunk * JOINED, end = dml_least(begin + JOINED, n->slices);
    for (int t = 1; t < n->threads; t++) {
        const unsigned char *other = n->all + t * n->slices;
        for (int64_t i = begin; i < end; i++)
            n->all[i] |= other[i];
    }
    return dml_tick(worker, (end - begin) * n->threads);
}

typedef struct {
    char *to;
    const char *from;
    const unsigned char *seen;
    int64_t slices, slice, per_chunk;
    dml_store store;
} copying;

/* The first slice from `at` on whose note is not `note` (1: positions name it, 0: none does); `end` if there is none. */
DML_INLINE int64_t behind_alike(const unsigned char *seen, int64_t at, int64_t end, int note)
{
    uint64_t eight, all = note ? UINT64_C(0x0101010101010101) : 0;
    for (; at + 8 <= end; at += 8) {
        memcpy(&eight, seen + at, 8);
        if (eight != all)
            break;
    }
    while (at < end && seen[at] == note)
        at++;
    return at;
}

static int copy_unseen(void *data, dml_worker *worker, int64_t chunk)
{
    const copying *c = data;
    int64_t at = chunk * c->per_chunk, end = dml_least(at + c->per_chunk, c->slices), copied = 0;
    while (at < end) {
        int64_t run = behind_alike(c->seen, at, end, 0);
        dml_copy_bytes(c->to + at * c->slice, c->from + at * c->slice, (run - at) * c->slice, c->store);
        copied += run - at;
        at = behind_alike(c->seen, run, end, 1);
    }
    return dml_tick(worker, 2 * copied * c->slice + c->per_chunk);
}

/* How many slices have to be overwritten for it to be worth the notes and the gaps in the copy. Measured: 1.1 to 1.6x at these
 * limits and beyond, up to 2x where most are. */
static int64_t fewest_overwritten(const dml_plan *p, int64_t bytes)
{
    int64_t slices = bytes / p->slice, worth = bytes < FAST_COPY ? p->slice : p->slice / 4;
    if (worth < 512)
        return worth >= 256 ? slices - slices / 3 : slices - slices / 8;
    return worth >= 4096 ? slices / 4 : worth >= 1024 ? slices / 3 : slices / 2;
}

int dml_overwrites(const dml_plan *p, int64_t bytes, int64_t taken)
{
    if (bytes < LITTLE || p->combine || p->slice < SHORTEST || p->tuple > 4 || bytes / p->slice > MOST - taken ||
        p->positions < fewest_overwritten(p, bytes))
        return 0;
    for (int d = 0; d < p->rank; d++)
        if (p->dim[d].table)
            return 0;
    for (int k = 0; k < p->tuple; k++)
        if (p->steps[k] < p->slice || p->steps[k] % p->slice)
            return 0;
    return 1;
}

int dml_copy_rest(dml_job *job, const char *source, int64_t bytes, int threads, dml_pulse *pulse)
{
    const dml_plan *p = job->plan;
    int64_t steps[4], slices = bytes / p->slice, unseen = 0;
    dml_plan notes = *p; /* offsets in slices instead of bytes */
    int scanners = dml_scan_threads(p, threads);
    notebooks books = {calloc((size_t)(slices * scanners), 1), slices, scanners};
    if (!books.all)
        return DML_NO_MEMORY;
    notes.seen = books.all;
    notes.seen_apart = slices;
    notes.steps = steps;
    for (int k = 0; k < p->tuple; k++)
        steps[k] = p->steps[k] / p->slice;
    int status = dml_scan(&notes, scanners, pulse);
    if (!status && scanners > 1)
        status = dml_parallel(join_notes, &books, dml_ceil(slices, JOINED), DML_FORWARD, scanners, pulse);
    for (int64_t i = 0; i < slices; i++)
        unseen += !notes.seen[i];
    job->distinct = slices - unseen == p->positions;
    if (slices - unseen < fewest_overwritten(p, bytes))
        memset(notes.seen, 0, (size_t)(unseen = slices));
    if (!status) {
        threads = dml_threads_worth(threads, dml_copy_nanoseconds(unseen * p->slice), pulse);
        int64_t per_chunk = dml_most(1, DML_FRESH_STEP / p->slice);
        dml_store store = dml_store_for(bytes, (double)bytes, threads, job->untouched);
        copying c = {p->table, source, notes.seen, slices, p->slice, per_chunk, store};
        status = dml_parallel(copy_unseen, &c, dml_ceil(slices, per_chunk), dml_order_for(bytes, job->untouched), threads,
                              pulse);
    }
    free(books.all);
    return status;
}
