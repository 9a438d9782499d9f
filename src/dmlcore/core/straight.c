/* straight.c: gathers out of tables whose slices are strided, as those of transposed arrays and of every second column. A table
 * of which enough is read is straightened for the usual loops: copied to scratch memory so that its slices are
 * contiguous, as a whole, or part by part, each of which is a gather of its own. Several threads have parts of their own where
 * that shares them out evenly, as what one of them straightened is far from the others. */
#include "copy.h"
#include "scratch.h"
#include "share.h"

#include <stdlib.h>

#define LITTLE 64 /* elements that are moved sooner than anything is straightened */
#define STRAIGHT ((int64_t)512 << 10) /* bytes that are straightened at a time */
#define NEIGHBOURS 4 /* element sizes from one element of a slice to the next: too near for parts, */
#define OFTEN 3 /* and times a table is read whose slices share lines */
#define MANY 48 /* elements along a slice's last dimension, whose lines the first-level cache does not hold for long, */
#define FEWER 16 /* or so many of one byte, which are turned fast */
#define SQUARE 16 /* bytes on a side of what is turned at a time */
#define LEAST_PART 16 /* elements of a slice in a part */
#define NARROW_PART 256 /* bytes of a slice in a part: not narrower for the sake of threads */
#define LONG_ALONE 24 /* elements of a slice with lines of its own, which is moved as fast as straightened */
#define SHORT_SLICE 12 /* elements of a slice that is not worth much by itself */
/* Threads are too far from each other for less: what one straightened, the other one reads. Measured for two, tables that are
 * straightened as a whole: 0.6 to 0.95x the speed of one below, 1.1 to 2x above. Long elements had better be left as they are. */
#define FOR_TWO ((int64_t)1 << 20) /* bytes that are moved */
#define SHARED ((int64_t)256 << 10) /* of long elements that are moved: worth two threads */
#define LONG_ELEMENT 8
#define CROWDED ((int64_t)256 << 10) /* bytes of the places where a slice's elements meet in the cache */
#define CROWDED_PITCH 512 /* bytes from one of them to the next, at least */
#define LONG_WALK 8 /* positions whose elements follow each other make a plane, however long slices are */

/* A dimension of the table: where it lies, and its step in scratch memory where the last ones are `bytes` long. */
static int64_t append(dml_straight *s, int64_t *bytes, int64_t size, int64_t stride)
{
    int64_t step = *bytes;
    s->copied[s->rank] = size;
    s->from[s->rank] = stride;
    s->to[s->rank++] = step;
    *bytes = size && step > INT64_MAX / size ? INT64_MAX : step * size;
    return step;
}

/* Slices of some length along the dimension that is cut, or so many batches of them; the answer is how many bytes all of
 * them have. */
static int64_t lay_out(dml_straight *s, const dml_move *m, int64_t element, int64_t length)
{
    int64_t bytes = element;
    s->rank = 0;
    for (int64_t d = m->slice.n - 1; d >= 0; d--) {
        s->slice[d] = d == s->cut && !s->batches ? length : m->slice.v[d];
        s->slice_strides[d] = append(s, &bytes, s->slice[d], m->slice_table_strides.v[d]);
    }
    for (int64_t k = m->bounds.n - 1; k >= 0; k--)
        s->steps[k] = append(s, &bytes, m->bounds.v[k], m->steps.v[k]);
    for (int64_t d = m->positions.n - 1; d >= 0; d--)
        s->positions[d] = d == s->cut && s->batches ? length : m->positions.v[d];
    for (int64_t d = m->table_strides.n - 1; d >= 0; d--)
        s->table_strides[d] = m->table_strides.v[d] ? append(s, &bytes, s->positions[d], m->table_strides.v[d]) : 0;
    return bytes;
}

/* Whether the slices of the table are contiguous. */
static int is_straight(const dml_move *m, int64_t bytes)
{
    for (int64_t d = m->slice.n - 1; d >= 0; bytes *= m->slice.v[d--])
        if (m->slice.v[d] != 1 && m->slice_table_strides.v[d] != bytes)
            return 0;
    return 1;
}

/* Bytes of the elements that follow each other in the table, but belong to different slices: all in a transposed table, some in others. */
static int64_t between_slices(const dml_plan *p, const dml_move *m)
{
    int64_t run = p->element;
    for (int64_t k = 0; k < m->bounds.n; k++)
        if (llabs(m->steps.v[k]) == run)
            run *= m->bounds.v[k];
    return run;
}

/* Whether a table whose slices share lines is worth turning though it is read only once: not where the first-level cache holds the lines
 * of a slice's last dimension until the next slice is read; nor where they are not turned well: in squares of 16 bytes, which are full,
 * except bytes. Of four bytes a single one is worth it only where those lines meet in the cache, two are only where they do not. */
static int worth_turning(const dml_plan *p, const dml_move *m, int64_t last, int64_t bytes)
{
    int64_t run = between_slices(p, m), size = m->slice.v[last], apart = llabs(m->slice_table_strides.v[last]);
    int crowded = dml_crowd(size, apart) >= CROWDED, full = run % SQUARE == 0;
    if (p->positions * p->slice < bytes || size < (p->element == 1 && run >= SQUARE ? FEWER : MANY))
        return 0;
    switch (p->element) {
    case 1: return 1;
    case 2: return run >= SQUARE / 2 && (full || crowded);
    case 4: return p->tuned->turns_squares && full && run != (crowded ? 2 * SQUARE : SQUARE);
    default: return p->tuned->turns_squares && full && run >= 4 * p->element;
    }
}

/* Whether it is worth it to straighten only a part of the table at a time: not if the elements of a slice are so near each
 * other that it is read as fast as it is; only for tables that are read several times if other elements of the slice are in
 * their lines, as such slices are still read faster than those that have every line to themselves. What is worth turning may have
 * such neighbours along the dimension that is cut, as a part has so many of them that lines are its own. */
static int worth_parts(const dml_straight *s, const dml_plan *p, const dml_move *m, int64_t bytes)
{
    int64_t last = m->slice.n - 1, nearest = INT64_MAX;
    while (m->slice.v[last] == 1)
        last--;
    int64_t here = !s->batches && worth_turning(p, m, last, bytes) ? s->length : 1;
    if (llabs(m->slice_table_strides.v[last]) <= NEIGHBOURS * p->element)
        return 0;
    for (int64_t d = 0; d <= last; d++)
        if (m->slice.v[d] != 1)
            nearest = dml_least(nearest, llabs(m->slice_table_strides.v[d]) * (d == s->cut ? here : 1));
    return nearest >= DML_LINE || p->positions / OFTEN * p->slice >= bytes;
}

/* Elements of a slice, of its dimensions from `first` on. */
static int64_t elements_from(const dml_move *m, int64_t first)
{
    int64_t elements = 1;
    for (int64_t d = first; d < m->slice.n; d++)
        elements *= m->slice.v[d];
    return elements;
}

/* Positions with the same indices that meet table elements at most so many bytes from each other, along the dimension that has most
 * of them. */
static int64_t walk_along(const dml_move *m, int64_t bytes)
{
    int64_t longest = 1;
    for (int64_t d = 0; d < m->table_strides.n; d++)
        if (llabs(m->table_strides.v[d]) <= bytes && dml_stride(m->index_strides, d) == 0)
            longest = dml_most(longest, m->positions.v[d]);
    return longest;
}

/* Halves of that, where the elements of a slice meet in the cache, as those of a column of 1024 are: 0.2 to 0.8 of the time; eight bytes
 * up to 1.25 (Zen 4). */
static const int in_a_crowd[DML_STORAGES] = {3, 3, 4, 2, 2};

/* Whether the lines of a slice have nothing of others. Slices of 24 elements and more that are moved as they lie instead of straightened
 * where as much is moved as the table has, and a fifth more, Emerald Rapids: 0.83 to 2.9x, on average 1.18x, elements of one and two bytes
 * in lines they share with others of their slice 0.62 to 1.7x, 1.0x. */
static int lies_alone(const dml_move *m)
{
    int alone = 1;
    for (int64_t k = 0; k < m->bounds.n; k++)
        alone &= m->bounds.v[k] == 1 || llabs(m->steps.v[k]) >= DML_LINE;
    for (int64_t d = 0; d < m->table_strides.n; d++)
        alone &= m->positions.v[d] == 1 || m->table_strides.v[d] == 0 || llabs(m->table_strides.v[d]) >= DML_LINE;
    return alone;
}

/* How much of the table may be straightened, in quarters of what is moved: more where every element of a slice has a line to
 * itself, and has to be met one by one. Measured where nine tenths of such a table are moved, Zen 5: 0.2 to 0.4 of the time for
 * elements of one byte, 0.25 to 0.55 for two, 0.4 to 0.85 for four, 0.6 to 1.1 for eight; Emerald Rapids 0.25 to 0.5 for one byte,
 * 0.5 to 0.85 for two. Where more positions walk along the table than a slice has elements, or many step by step, each index
 * moves a plane, which strided.c does as well as it is straightened: read once, 8 to 100 positions and slices of 24 to 300 elements
 * took 0.2 to 1.0 of the time (Zen 4). */
static int64_t quarters(const dml_plan *p, const dml_move *m, int64_t bytes, int64_t elements)
{
    int64_t last = m->slice.n - 1, most = bytes <= STRAIGHT && elements <= SHORT_SLICE ? 8 : 4;
    int width = DML_CTZ64((uint64_t)p->element);
    while (m->slice.v[last] == 1)
        last--;
    int near = llabs(m->slice_table_strides.v[last]) < DML_LINE;
    if (elements >= LONG_ALONE && p->whole && (p->element >= 4 || !near) && lies_alone(m))
        return 3;
    if (near)
        return most;
    if (walk_along(m, DML_LINE - 1) > elements)
        return p->tuned->straightened_along[width];
    if (walk_along(m, p->element) >= LONG_WALK) /* read four times, it is worth while everywhere */
        return dml_most(1, p->tuned->straightened_along[width]);
    int64_t apart = llabs(m->slice_table_strides.v[last]);
    int crowded = apart >= CROWDED_PITCH && dml_crowd(m->slice.v[last], apart) > CROWDED;
    return dml_most(most, p->tuned->straightened[width] * (crowded ? in_a_crowd[width] : 2) / 2);
}

/* The longest dimension of positions each of which has lines of the table of its own and the same indices; -1: none. */
static int64_t longest_batch(const dml_move *m)
{
    int64_t longest = -1;
    for (int64_t d = 0; d < m->table_strides.n; d++)
        if (llabs(m->table_strides.v[d]) >= DML_LINE && dml_stride(m->index_strides, d) == 0 && m->positions.v[d] > 1 &&
            (longest < 0 || m->positions.v[d] > m->positions.v[longest]))
            longest = d;
    return longest;
}

int dml_straightens(const dml_plan *p, const dml_move *m, int threads, dml_straight *s)
{
    s->scratch = NULL;
    s->batches = 0;
    if (m->slice_table_strides.n < m->slice.n || m->slice_stream_strides.n < m->slice.n ||
        m->slice.n + m->bounds.n + m->table_strides.n > DML_RANK_MAX) /* not from Python */
        return 0;
    if (p->positions < LITTLE || !dml_slice_dimensions(p) || p->slice >= DML_LINE || is_straight(m, p->element))
        return 0;
    for (s->cut = 0; m->slice.v[s->cut] == 1; s->cut++)
        ;
    int64_t bytes = lay_out(s, m, p->element, m->slice.v[s->cut]);
    int whole = bytes <= STRAIGHT;
    double moved = (double)p->positions * (double)p->slice;
    if (bytes == 0 || 4 * (double)bytes > moved * (double)quarters(p, m, bytes, elements_from(m, s->cut)))
        return 0;
    s->alone = whole && p->positions * p->slice < FOR_TWO;
    if (s->alone && threads > 1 && p->element >= LONG_ELEMENT && p->positions * p->slice >= SHARED)
        return 0;
    int64_t batch = whole ? -1 : longest_batch(m), size = batch < 0 ? 1 : m->positions.v[batch];
    s->batches = batch >= 0 && bytes / size <= STRAIGHT;
    int64_t in_cut = 1; /* elements of a step */
    if (s->batches)
        s->cut = batch;
    else {
        while (!whole && bytes / m->slice.v[s->cut] > STRAIGHT) { /* not even one step along this dimension */
            if (++s->cut == m->slice.n)
                return 0;
        }
        size = m->slice.v[s->cut];
        in_cut = elements_from(m, s->cut + 1);
    }
    int64_t step = bytes / size;
    s->length = whole ? size : STRAIGHT / step;
    if (!whole && ((!s->batches && s->length * in_cut < LEAST_PART) || !worth_parts(s, p, m, bytes)))
        return 0;
    s->parts = dml_ceil(size, s->length);
    int64_t even = dml_ceil(s->parts, threads) * threads;
    if (!whole && (s->batches ? size >= even : size * in_cut * p->element / even >= NARROW_PART))
        s->parts = even;
    s->length = dml_ceil(size, s->parts);
    s->parts = dml_ceil(size, s->length);
    s->bytes = step * s->length;
    int64_t each = dml_ceil(s->parts, threads) * s->length; /* of the longest share */
    s->apart = s->parts > 1 && threads > 1 && each * threads * 4 <= size * 5;
    s->scratch = dml_scratch(s->bytes * (s->apart ? dml_least(s->parts, threads) : 1));
    return s->scratch != NULL;
}

int dml_straighten(dml_straight *s, const dml_move *m, int64_t part, int64_t element, int threads, dml_pulse *pulse)
{
    int64_t first = part * s->length;
    dml_list sizes = s->batches ? m->positions : m->slice;
    dml_list table = s->batches ? m->table_strides : m->slice_table_strides;
    dml_list stream = s->batches ? m->stream_strides : m->slice_stream_strides;
    lay_out(s, m, element, dml_least(s->length, sizes.v[s->cut] - first));
    s->move = *m;
    s->move.table = s->scratch;
    s->move.stream = m->stream + first * dml_stride(stream, s->cut);
    s->move.positions = (dml_list){s->positions, m->positions.n};
    s->move.slice = (dml_list){s->slice, m->slice.n};
    s->move.slice_table_strides = (dml_list){s->slice_strides, m->slice.n};
    s->move.steps = (dml_list){s->steps, m->steps.n};
    s->move.table_strides = (dml_list){s->table_strides, m->table_strides.n};
    return dml_copy(s->scratch, m->table + first * table.v[s->cut], (dml_list){s->copied, s->rank}, (dml_list){s->to, s->rank},
                    (dml_list){s->from, s->rank}, element, DML_STORE_PLAIN, 0, 0, &threads, pulse);
}
