/* distinct.c: whether all positions of a scatter name different places of the table: a bit for each place, set by the position that
 * names it; and a number for the place that each names. For callers that want no two updates to meet (duplicates="raise"). */
#include "move.h"
#include "plan.h"

#include <stdlib.h>

#define FEW 512 /* words of bits that need no memory of their own; more at most as many as positions */
#define PIECE ((int64_t)1 << 16) /* positions after which it is asked whether two have met, */
#define ASK_EVERY ((int64_t)1 << 22) /* and whether to stop */

/* Steps in units of what all of them are multiples of; so many bytes lie below the table's first place. Bits are set in `seen`, unless
 * numbers are wanted. */
typedef struct {
    int64_t unit, below, places;
    int64_t steps[DML_DIMS], strides[DML_DIMS];
    uint64_t *seen;
    int64_t *named; /* NULL: none */
} notebook;

static int64_t common(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return llabs(a);
}

/* So many places, `step` apart. */
static void reach(notebook *n, int64_t places, int64_t step)
{
    if (places <= 1)
        return;
    int64_t far = dml_mul(places - 1, llabs(step));
    n->unit = common(n->unit, step);
    n->below = dml_add(n->below, step < 0 ? far : 0);
    n->places = dml_add(n->places, far);
}

static void open_notebook(notebook *n, const dml_move *m)
{
    int64_t inner = 1;
    int empty = dml_product(m->slice) == 0; /* whose strides may be zero, and tell no place */
    n->unit = n->below = 0;
    n->places = 1;
    for (int64_t k = m->bounds.n - 1; k >= 0; k--) {
        n->steps[k] = empty ? inner : m->steps.v[k];
        inner = dml_mul(inner, m->bounds.v[k]);
        reach(n, m->bounds.v[k], n->steps[k]);
    }
    for (int64_t d = 0; d < m->positions.n; d++) {
        n->strides[d] = dml_stride(m->table_strides, d);
        reach(n, m->positions.v[d], n->strides[d]);
    }
    n->unit = dml_most(1, n->unit);
    for (int64_t k = 0; k < m->bounds.n; k++)
        n->steps[k] /= n->unit;
    for (int64_t d = 0; d < m->positions.n; d++)
        n->strides[d] /= n->unit;
}

/* So many positions in a row, the first of which is number `first`; 1: one names a place again. Those out of range name none. */
static int write_some(const dml_move *m, notebook *n, int index, const char *at, int64_t place, int64_t first, int64_t count)
{
    int64_t last = m->positions.n - 1, q = m->bounds.n;
    int64_t stride = last < 0 ? 0 : dml_stride(m->index_strides, last), walk = last < 0 ? 0 : n->strides[last];
    int is_signed = dml_index_signed(index);
    uint64_t met = 0;
    for (int64_t i = 0; i < count; i++, at += stride, place += walk) {
        uint64_t number = (uint64_t)place;
        int missed = 0;
        for (int64_t k = 0; k < q; k++) {
            uint64_t bound = (uint64_t)m->bounds.v[k], u = (uint64_t)dml_coordinate_at(at + k * m->coordinate_stride, index);
            u += is_signed && (int64_t)u < 0 ? bound : 0;
            DML_ONCE(u); /* another thread may be writing to the indices */
            missed |= u >= bound;
            number += u * (uint64_t)n->steps[k];
        }
        if (n->named)
            n->named[first + i] = missed ? -1 - first - i : (int64_t)number;
        else if (!missed) {
            uint64_t bit = (uint64_t)1 << (number & 63);
            met |= n->seen[number >> 6] & bit;
            n->seen[number >> 6] |= bit;
        }
    }
    return met != 0;
}

/* 1: all places are different, or are not compared; -1: poll said so. */
static int write_all(const dml_move *m, notebook *n, int index, int (*poll)(void))
{
    int64_t done[DML_DIMS] = {0}, place = n->below / n->unit, asked = 0, first = 0, d = m->positions.n - 1;
    int64_t row = d < 0 ? 1 : m->positions.v[d], stride = dml_stride(m->index_strides, d), walk = d < 0 ? 0 : n->strides[d];
    const char *at = m->indices;
    do {
        for (int64_t begin = 0, some; begin < row; begin += some, first += some) {
            some = dml_least(PIECE, row - begin);
            if (write_some(m, n, index, at + begin * stride, place + begin * walk, first, some))
                return 0;
            if (first - asked >= ASK_EVERY) {
                asked = first;
                if (poll())
                    return -1;
            }
        }
        for (d = m->positions.n - 2; d >= 0; d--) {
            at += dml_stride(m->index_strides, d);
            place += n->strides[d];
            if (++done[d] < m->positions.v[d])
                break;
            at -= done[d] * dml_stride(m->index_strides, d);
            place -= done[d] * n->strides[d];
            done[d] = 0;
        }
    } while (d >= 0);
    return 1;
}

int dml_are_distinct(const dml_move *m, int index, int (*poll)(void))
{
    int64_t positions = dml_product(m->positions);
    uint64_t few[FEW];
    notebook n;
    if (positions <= 1)
        return 1;
    open_notebook(&n, m);
    int64_t words = n.places / n.unit / 64 + 1;
    if (words > FEW && words > positions)
        return 0;
    n.named = NULL;
    n.seen = words > FEW ? calloc((size_t)words, sizeof *n.seen) : memset(few, 0, (size_t)words * sizeof *few);
    if (!n.seen)
        return 0;
    int distinct = write_all(m, &n, index, poll);
    if (words > FEW)
        free(n.seen);
    return distinct;
}

int dml_name_places(const dml_move *m, int index, int64_t *places, int (*poll)(void))
{
    notebook n;
    open_notebook(&n, m);
    n.named = places;
    return write_all(m, &n, index, poll);
}
