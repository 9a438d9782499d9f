/* striding.h: slices that strided.c has cut, and what moves them (striding.c). */
#ifndef DMLCORE_STRIDING_H
#define DMLCORE_STRIDING_H

#include "shape.h"
#include "share.h"

#define DML_SHORT_SLICE 12  /* elements of a slice that is moved together with others */
#define DML_SOME_AT_ONCE 64 /* indices that are checked at a time */

/* The dimensions, those of the positions in front, then some that are walked outside of them, then the slice's. */
typedef struct {
    const dml_plan *plan;
    int scatter;
    int positions, outside, rank;
    int moved;                           /* of those outside, dimensions that are walked inside of the cut, */
    int64_t rows;                        /* and their steps */
    dml_dim dim[DML_DIMS];
    int turns;                           /* the slice is contiguous in the table, the positions are in the stream */
    int64_t strip;                       /* elements of a slice that are turned at a time */
    int cut;                             /* the slice's dimension that is shared out, in parts of `length` */
    int keeps_spread;                    /* of shapes (shape.h): the whole slice is a spread plane */
    int64_t length, cuts, parts;         /* how many of them, and of everything but the positions */
    dml_shape whole, rest;               /* a part, and the last one of several */
    int64_t count, per_chunk, chunks;    /* positions: all, at a time, and how many times */
} dml_striding;

/* The positions of one chunk: of one part of the slices, those of all rows that a slice is moved by, in their order; one
 * thread's, as they may have parts of the same lines. */
int dml_strided_positions(void *striding, dml_worker *worker, int64_t chunk);

/* The table's offsets that some tuples name, `step` bytes from one to the next. 0: a coordinate is out of range. */
int dml_offsets_of(const dml_plan *plan, const char *indices, int64_t step, int64_t count, int64_t *offset);

#endif
