/* policy_loads.c: whether elements that a plan moves are fetched ahead, and how they are loaded: one by one, or by the vector unit.
 * Decided by sizes alone, before boxes are cut. */
#include "dispatch.h"
#include "move.h"
#include "policy.h"

#include <stdlib.h>

/* positions, where nothing else is said */
#define FEW_CACHED 16384 /* lines that the second-level cache keeps: the vector unit gathers them out of tables up to */
#define GATHERED_NEAR (6 << 20) /* bytes, 1.0 to 1.25x (Granite Rapids); pairs, and along rows of the table, 0.9 to 1.1x */
#define FEW_UPDATED 32768 /* their lines of a table in the third-level cache are in the second-level one then */
#define MET_IN_L2 (1 << 20) /* bytes of lines that the second-level cache holds */
#define MANY_COMBINED 250000 /* elements: with their table they fill the third-level cache sooner */
#define MERGED (32 << 10) /* bytes of a table in the second-level cache: from there on, */
#define MERGED_BELOW (2 << 20) /* and below, 0.92 to 0.95 of the time; elsewhere 1.02 to 1.07 */
#define MERGED_APART (8 << 20) /* from there on, along rows, 1.0 to 1.7, as one load waits for another */
#define FEW_OF_A_ROW 32 /* elements of each row of a large table that are fetched ahead */
#define LONG_COLUMN (64 << 10) /* bytes of each part of the table that indices choose from */
#define FAR_SCATTERED (8 << 20) /* bytes of a table */
#define MANY_TUPLES 100000 /* out of nearer tables than */
#define TUPLES_FAR (16 << 20) /* these blocks read them as fast as one by one: 0.85 to 1.0 */
#define FEW_ROWS 16 /* that positions walk along together: so many the hardware fetches by itself, */
#define LONG_WALK 4096 /* if that is so many bytes of each */

/* Whether some element of the table may have an odd address. */
static int has_odd_places(const dml_plan *p)
{
    int64_t mixed = (int64_t)(intptr_t)p->table;
    for (int k = 0; k < p->tuple; k++)
        mixed |= p->steps[k];
    for (int d = 0; d < p->rank; d++)
        mixed |= p->dim[d].table;
    return mixed & 1;
}

/* Whether each row of a large table gives a few elements, so few that these are a line and more apart on average. */
static int takes_few_of_rows(const dml_plan *p)
{
    int64_t each = 1;
    int d = p->rank - 1;
    for (; d > 0 && p->dim[d].table == 0; d--)
        each *= p->dim[d].size;
    int64_t least = p->dim[d].index ? p->tuned->rows_fetched : p->tuned->rows_fetched_alike;
    if (p->whole && !p->stores && p->positions * p->slice * p->slice < p->tuned->rows_gathered)
        return 0;
    return p->walked >= (double)least && each > 0 && each <= FEW_OF_A_ROW && llabs(p->dim[d].table) >= each * DML_LINE;
}

/* Whether indices only choose among a few rows, along all of which positions walk, and meet most of their lines. Measured
 * without fetching, Zen 4: 1.1 to 2.4x. */
static int walks_along_few_rows(const dml_plan *p)
{
    const dml_dim *last = p->dim + p->rank - 1;
    if (p->tuple != 1 || last->table == 0 || p->bounds[0] > FEW_ROWS)
        return 0;
    int64_t step = llabs(last->table), most = p->stores ? p->tuned->scatter_follows : p->tuned->gather_follows;
    return p->bounds[0] * step <= most && last->size >= LONG_WALK / step;
}

/* Where single elements are fetched to before they are moved. */
static enum dml_fetch choose_fetch(const dml_plan *p)
{
    const dml_tuning *t = p->tuned;
    int near = p->reached < DML_NEAR, in_l2 = p->stores && p->reached < (double)t->to_l2;
    int64_t fetches = p->stores ? t->scatter_fetches : t->gather_fetches;
    int64_t beside = dml_least(dml_streamed(p), p->stores ? t->scatter_streams : t->gather_streams);
    if (p->combines && t->combined_fetches && p->positions >= MANY_COMBINED) {
        fetches = t->combined_fetches;
        beside = 0;
    }
    if (dml_met_at_a_time(p) < MET_IN_L2)
        beside = 0;
    int too_few = !p->stores && p->positions <= DML_FEW_GATHERED;
    int in_l2_already = p->stores && near && !in_l2 && p->positions < FEW_UPDATED;
    if (too_few || walks_along_few_rows(p))
        return DML_FETCH_NONE;
    if (near && takes_few_of_rows(p))
        return DML_FETCH_L2;
    if (p->reached + (double)beside >= (double)fetches && !in_l2_already)
        return in_l2 ? DML_FETCH_L1 : DML_FETCH_L2;
    return p->far && near ? DML_FETCH_L2 : DML_FETCH_NONE;
}

double dml_spread(const dml_plan *p)
{
    int64_t step = p->rank ? llabs(p->dim[p->rank - 1].table) : 0;
    int beyond = step > 0 && (double)step >= p->reached && p->reached >= LONG_COLUMN;
    return p->tuple == 1 && beyond ? p->walked : p->reached;
}

/* Whether elements are scattered one by one. Measured on Granite Rapids, 5000 to 8,000,000 of them by a single index: 0.95 to 1.6x; of pairs,
 * and along rows of the table, 1.1 to 1.8x into FAR_SCATTERED and more, else 0.9 to 1.0x, as along few rows of any table. */
static int scatters_directly(const dml_plan *p)
{
    int rows = p->walked > 0, far = p->reached >= FAR_SCATTERED && !(rows && p->bounds[0] <= FEW_ROWS);
    return p->tuple <= 2 && p->slice <= 8 && p->fetch && !p->combines && p->reached >= (double)p->tuned->scatters_direct &&
           (far || (p->tuple == 1 && !rows));
}

void dml_policy_loads(dml_plan *p)
{
    const dml_tuning *t = p->tuned;
    p->merges = p->reached >= MERGED && p->reached < MERGED_BELOW;
    p->apart = p->reached >= MERGED_APART;
    int simple = t->gathers_below > 0 && p->tuple == 1 && p->walked == 0;
    int cached = simple && p->positions <= FEW_CACHED && p->reached < GATHERED_NEAR;
    p->gathers = (p->reached < (double)t->gathers_below || cached) && !(p->slice == 2 && has_odd_places(p));
    p->fetch = choose_fetch(p);
    int64_t direct = p->tuple > 1 && p->positions >= MANY_TUPLES ? dml_most(t->gathers_direct, TUPLES_FAR) : t->gathers_direct;
    p->direct = p->stores ? scatters_directly(p) : p->tuple <= DML_DIRECT_TUPLE && dml_spread(p) >= (double)direct;
}
