/* policy_stores.c: whether what a plan moves is stored through the caches or past them. Decided by sizes alone, before boxes are cut. */
#include "copy.h"
#include "policy.h"

#include <stdlib.h>

/* bytes */
/* slices of a gather with gaps between them (Zen 4): plain stores take 1.0 to 3.3 times as long as those past the caches where
 * the gaps are at least GAP and the slices at least WITH_A_GAP long, else 0.6 to 1.4 times */
#define GAP 128
#define WITH_A_GAP 256
#define KEPT (16 << 20) /* a table that the third-level cache holds beside some of what it gives */
#define KEPT_SHARED (2 << 20) /* the same where several threads read it */
#define SMALL_TABLE (512 << 10) /* the second-level cache holds it */
#define BESIDE 32 /* bytes of short ones that are not stored past it for each of a small table */
#define MOSTLY_ENDS (5 * DML_LINE / 2) /* shorter slices that are scattered anywhere have no more than one line of their own */
#define SHORT_PAST (16 << 20) /* less in slices shorter than two lines is stored through the caches */

/* Whether slices begin and end where cache lines do: in the table of a scatter, in the stream of a gather. */
static int at_lines(const dml_plan *p)
{
    int64_t mixed = p->slice | (int64_t)(intptr_t)(p->stores ? p->table : p->stream);
    for (int k = 0; p->stores && k < p->tuple; k++)
        mixed |= p->steps[k];
    for (int d = 0; d < p->rank; d++)
        mixed |= p->stores ? p->dim[d].table : p->dim[d].stream;
    return mixed % DML_LINE == 0;
}

/* Whether single elements had better go past the caches, when there are many of them. */
static int elements_go_past(const dml_plan *p)
{
    const dml_tuning *t = p->tuned;
    if (!p->fetch && p->reached >= (double)(p->slice > 4 ? t->gathers_kept : t->gathers_kept_u32))
        return 0;
    return !p->stores && p->slice >= DML_SHORTEST_PAST && p->reached + p->walked >= (double)t->gathers_past &&
           (p->slice > 4 || p->reached >= (double)t->gathers_past_u32);
}

/* Whether long slices of a table that the third-level cache holds had better stay there as well: shorter ones if all that is stored,
 * and twice of what is read, is so much at most for one thread, or for several. */
static int had_better_stay(const dml_plan *p, double bytes, double read)
{
    static const struct {
        int64_t below, alone, shared;
    } most[] = {
        {6 << 10, 21 << 20, 21 << 20}, /* 4 to 6 KiB: 1.0 to 1.9x */
        {8 << 10, 24 << 20, 52 << 20}, /* longer ones 0.7 to 2.1x, on average 1.06x */
        {32 << 10, 36 << 20, 60 << 20}, /* to 32 KiB */
        {1 << 20, 64 << 20, 80 << 20}, /* to 1 MiB */
        {INT64_MAX, 28 << 20, 80 << 20}, /* no second-level cache holds them */
    };
    int i = 0;
    while (p->slice >= most[i].below)
        i++;
    return p->slice >= p->tuned->slices_kept && read <= KEPT &&
           bytes + 2 * read <= (double)(p->threads > 1 ? most[i].shared : most[i].alone);
}

/* Whether what is gathered is stored through the caches though it is much. Measured on Granite Rapids: slices shorter than a page, or of a
 * small table, up to 32 MiB, out of tables of 128 KB to 10 MB 1.0 to 1.4x, on average 1.15x (longer ones 0.85 to 1.0x); with two threads
 * out of tables of up to 1.2 MB 1.0 to 1.3x, else 0.9 to 1.06x. Out of farther tables up to 12 MiB, 1.05 to 1.5x. */
static int had_better_go_through(const dml_plan *p, double bytes, double read)
{
    int64_t most = p->tuned->slices_through;
    int near = read <= SMALL_TABLE || (p->slice < DML_PAGE && read <= (p->threads > 1 ? KEPT_SHARED : KEPT));
    int far = p->threads == 1 && p->far && p->slice >= p->tuned->slices_copied;
    return !p->stores && ((near && bytes <= (double)most) || (far && bytes <= (double)most / 8 * 3));
}

/* The same for longer slices. Lines at the ends of a slice that have parts of others as well cost more there. */
static int slices_go_past(const dml_plan *p)
{
    const dml_tuning *t = p->tuned;
    int64_t gap = llabs(p->dim[p->rank - 1].stream) - p->slice;
    int apart = p->stores || (!p->lines && gap && (gap < GAP || p->slice < WITH_A_GAP));
    int64_t least = apart ? t->scattered_past : p->far ? t->slices_past : t->slices_past_near;
    double read = p->reached + p->walked, bytes = (double)(p->positions * p->slice);
    if (had_better_stay(p, bytes, read) || had_better_go_through(p, bytes, read) ||
        bytes + BESIDE * read <= (double)t->slices_beside)
        return 0;
    if (p->slice < MOSTLY_ENDS && p->stores && !p->lines)
        return 0;
    if (p->slice < 2 * DML_LINE && p->positions * p->slice < SHORT_PAST)
        return 0;
    return p->slice >= least;
}

/* Whether so much is stored that it may go past the caches. */
static int stores_much(const dml_plan *p, int element)
{
    if (element && p->slice > 4 && p->tuned->elements_past)
        return !p->untouched && dml_streamed(p) >= p->tuned->elements_past * (p->threads > 1 ? 2 : 1);
    int threads = element ? 1 : p->threads; /* several gain nothing for single elements that stay in the caches */
    int64_t bytes = p->positions * p->slice;
    double read = p->reached < (double)bytes ? p->reached : (double)bytes;
    return dml_store_for(bytes, read, threads, p->untouched) != DML_STORE_PLAIN;
}

void dml_policy_stores(dml_plan *p)
{
    int element = p->slice <= 16;
    p->lines = at_lines(p);
    p->past = DML_STREAM && stores_much(p, element) && (element ? elements_go_past(p) : slices_go_past(p));
}
