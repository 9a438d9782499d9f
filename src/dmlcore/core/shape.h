/* shape.h: elements of one shape that lie in one way here and in another way there, cut into units that are copied one at a
 * time (shape.c, chains.c), and the copies of these (units.c). */
#ifndef DMLCORE_SHAPE_H
#define DMLCORE_SHAPE_H

#include "copy.h"

#define DML_COLUMNS 256 /* that planes are interleaved of, at most */
#define DML_TILE ((int64_t)16 << 10) /* bytes of rows and of planes that the first-level cache holds */

/* One dimension: bytes from one of its steps to the next. */
typedef struct {
    int64_t size, to, from;
} dml_step;

/* Copies elements of one width, `to_step` and `from_step` bytes apart. */
typedef void (*dml_row)(char *to, const char *from, int64_t count, int64_t to_step, int64_t from_step);

typedef struct {
    int64_t run;                         /* contiguous bytes at each place */
    int64_t places;
    int64_t unit, units;                 /* bytes of one, or a little more; their number */
    int64_t group;                       /* units in a row that share lines of the destination: one thread copies them */
    int64_t unit_bytes;                  /* work in one of them, for dml_tick */
    dml_store store;                     /* of long runs, and of dense rows of columns */
    /* the last dimension is the innermost loop: rows of `length` places, of which the dimension `cut` counts those that are one
     * after the other; `rows` of them in all, some of them a unit */
    int64_t length, rows, rows_in_unit, in_line;
    int cut;
    dml_row row; /* NULL: runs are no elements, or there are turns */
    /* rows of the destination that take turns in the source, 1: there is only one; bytes from one to the next */
    int64_t turns, turn_to;
    /* planes to be turned: the dimension with contiguous elements in the source, the first of those that are contiguous in the
     * destination; -1: none */
    int across, along;
    int64_t listed; /* places of the former, of several dimensions together, else 0 */
    int64_t row_at[DML_COLUMNS]; /* bytes from the first of them to each, in the destination */
    int64_t columns; /* places of the latter together where they are interleaved, else 0 */
    int64_t column[DML_COLUMNS]; /* bytes from the first of them to each, in the source */
    int spread; /* whether elements across have others between them, in lines or pages that they share */
    int keeps_spread; /* set by the caller for a part of such a plane: not asked whether rows are better */
    /* or planes of several dimensions, -1: none: those from `chained` on follow each other in the source, `high` places, those from
     * `chained_along` on in the destination, `wide` places; tiles of `length` x `in_line` places are units */
    int chained, chained_along;
    int64_t high, wide;
    int rank;
    dml_step dim[DML_RANK_MAX + 1];
} dml_shape;

void dml_shape_begin(dml_shape *shape);

/* Dimensions may come in any order. */
void dml_shape_add(dml_shape *shape, int64_t size, int64_t to, int64_t from);

/* Elements of `width` bytes, to be copied by so many threads at most. */
void dml_shape_end(dml_shape *shape, int64_t width, dml_store store, int threads);

/* The innermost loop, and whether the shape is nothing but one row of it. */
DML_INLINE const dml_step *dml_shape_row(const dml_shape *s) { return s->dim + s->rank - 1; }
DML_INLINE int dml_shape_is_row(const dml_shape *s)
{
    return s->across < 0 && s->chained < 0 && s->units == 1 && s->places > 1 && s->rows == 1 && s->row;
}

/* The loop for rows of elements, NULL where runs are no elements; whether so many rows of the destination that take turns in the
 * source are separated by permutations. */
dml_row dml_shape_loop(const dml_shape *shape);
int dml_shape_separates(const dml_shape *shape, int64_t turns);

#define DML_TOGETHER 8 /* columns that are moved at a time; a spread plane has as many */
#define DML_SPREAD DML_LINE /* bytes from one of its elements to the next, across, at most where they share lines */

/* Planes of several dimensions (chains.c): finds one, of elements of up to eight bytes, cuts it into units, copies one of them. */
int dml_chains_find(dml_shape *shape);
void dml_chains_cut(dml_shape *shape, int threads);
void dml_chains_copy(const dml_shape *shape, char *to, const char *from, int64_t unit);

/* `to` and `from` are those of the first element of the whole shape. */
void dml_shape_copy(const dml_shape *shape, char *to, const char *from, int64_t unit);

#endif
