/* kernel.h: what a kernel is handed and what it answers.
 * The generated validator fills a dml_move or a dml_nonzero from the fields of the operator's specification;
 * dml_move_run and the dml_nonzero_* functions choose the loop for the data type, the index type and the machine,
 * share it out among threads and report the first index that is out of range. */
#ifndef DMLCORE_KERNEL_H
#define DMLCORE_KERNEL_H

#include <stdint.h>
#include "list.h"

/* Moving an element depends on its width alone: the storage class. */
enum dml_storage { DML_STORAGE_U8, DML_STORAGE_U16, DML_STORAGE_U32, DML_STORAGE_U64, DML_STORAGE_U128, DML_STORAGES };

/* What a coordinate is read as. */
enum dml_index { DML_INDEX_I32, DML_INDEX_I64, DML_INDEX_U32, DML_INDEX_U64, DML_INDEXES };

enum dml_status { DML_OK, DML_OUT_OF_RANGE, DML_NO_MEMORY, DML_INTERRUPTED };

enum dml_mode { DML_RAISE, DML_CLIP, DML_FILL, DML_DROP };

enum dml_reduction { DML_NONE, DML_ADD, DML_MUL, DML_MIN, DML_MAX, DML_REDUCTIONS };

#define DML_THREADS_MOST 1024 /* whatever the caller allows */

#define DML_DIMS (2 * DML_RANK_MAX + 1) /* of a move: positions have some of the table's and all of the indices' */

/* How to run, and what came of it. */
typedef struct {
    int storage;             /* enum dml_storage of the data */
    int index;               /* enum dml_index of the indices */
    int data_type;           /* DML_TENSOR_DATA_TYPE; only reductions look at it */
    int mode;                /* enum dml_mode */
    int reduction;           /* enum dml_reduction */
    int check_first;         /* 1: a move that fails has written nothing (the caller's own output) */
    int threads;             /* upper bound; 1 never enters an OpenMP region */
    int untouched;           /* 1: the pages of the output are not in use yet; only speed depends on it */
    int (*poll)(void);       /* called now and then on the calling thread; non-zero stops the run (Ctrl-C). May be NULL */
    const void *fill;        /* DML_FILL: one element */
    /* answers, for DML_OUT_OF_RANGE: the smallest failing position, the same for any number of threads */
    int64_t bad_position;    /* row-major number of the position (the tuple) */
    int64_t bad_coordinate;  /* which coordinate of the tuple */
    int64_t bad_value;       /* its value; for DML_INDEX_U64 the bits of a uint64_t */
    int64_t bad_bound;       /* the length of the dimension that it should index */
} dml_run;

/* One indexed move. There is one *position* for each index tuple; what is stored to the same place is so in row-major order.
 * The *table* is the side that the indices address (a gather's input, a scatter's output), the *stream* the side that
 * they walk along (a gather's output, a scatter's updates). At every position one slice is moved: from table to stream
 * (gather) or from stream to table (scatter).
 *
 *   table address  = table + sum(position[d] * table_strides[d]) + sum(coordinate[k] * steps[k])
 *   stream address = stream + sum(position[d] * stream_strides[d])
 *   coordinate[k]  = *(I *)(indices + sum(position[d] * index_strides[d]) + k * coordinate_stride), in [-bounds[k], bounds[k])
 *                    for signed I, in [0, bounds[k]) for unsigned I
 *
 * All strides are in bytes and may be zero, negative or unaligned. An empty list of strides means all zeros.
 * Sizes may be zero. Lists are views; they stay valid during the run. */
typedef struct {
    dml_list positions;             /* sizes */
    dml_list index_strides;
    dml_list table_strides;         /* of dimensions that index and table share (axis operators, batches) */
    dml_list stream_strides;
    dml_list bounds;                /* one per coordinate of a tuple */
    dml_list steps;                 /* table strides, one per coordinate */
    int64_t coordinate_stride;      /* from one coordinate of a tuple to the next */
    dml_list slice;                 /* sizes of the slice; empty: one element */
    dml_list slice_table_strides;
    dml_list slice_stream_strides;
    char *table;
    char *stream;
    const char *indices;
    /* scatters only: the table starts as a copy of source (NULL: it already holds it, in place) */
    const char *source;
    dml_list copy;                  /* sizes of the whole table */
    dml_list copy_source_strides;
    dml_list copy_table_strides;
} dml_move;

/* Whether a move takes less time than giving Python's lock away and getting it back, and so is no work for threads either. */
int dml_move_is_small(const dml_move *move);

/* Runs a move of a few positions at once, on the calling thread: 1. Else 0, and nothing has been written but to a new output: it is
 * for dml_move_run, like every index that is out of range. */
int dml_move_few(int op, const dml_move *move, const dml_run *run);

/* Runs operator `op` (enum dml_operator in _generated/operators.h, the row of the loop tables). */
int dml_move_run(int op, const dml_move *move, dml_run *run);

/* Whether all positions of a scatter whose indices are in range name different places of its table. 0: some do not, or it would take
 * more than 4 KiB of memory, and 8 bytes for each position, to know; -1: `poll`, asked now and then where there are millions, said so. */
int dml_are_distinct(const dml_move *move, int index, int (*poll)(void));

/* A number for the place that each position names, one below 0 that no other has where its index is out of range; the move has some
 * positions. -1 as above. */
int dml_name_places(const dml_move *move, int index, int64_t *places, int (*poll)(void));

/* Coordinates of the elements x with (x & mask) != 0, in row-major order. Two steps, so that the caller can allocate the
 * exact result in between: count, then write; dml_nonzero_free releases the scratch memory after either. */
typedef struct {
    dml_list sizes;
    dml_list strides;               /* bytes, any */
    const char *input;
    uint64_t mask[2];               /* the bits that tell a zero, both words' for 16 bytes; none: nothing is zero */
    int64_t columns;                /* how many trailing coordinates a row gets (DirectML's N) */
    char *coordinates;              /* for write: one row per element */
    int64_t row_stride, column_stride;   /* bytes */
    int coordinate_bytes;           /* 4 or 8 */
    int64_t rows_max;               /* write never passes this row, whatever happens to the input meanwhile */
    int64_t count;                  /* answer of count */
    void *scratch;                  /* owned by count / free */
} dml_nonzero;

int dml_nonzero_count(dml_nonzero *nz, dml_run *run);
int dml_nonzero_write(dml_nonzero *nz, dml_run *run);
void dml_nonzero_free(dml_nonzero *nz);

#endif
