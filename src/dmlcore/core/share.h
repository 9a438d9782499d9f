/* share.h: sharing out the boxes of a plan among threads.
 * Included by move.c, which makes the plan, and by the files that know what may run at once, one for each way to move. */
#ifndef DMLCORE_SHARE_H
#define DMLCORE_SHARE_H

#include "block.h"

typedef struct {
    const dml_plan *plan;
    dml_loop loop;
    dml_loop for_narrow;                 /* turned.c: the same for indices of four bytes */
    int64_t begin, end;                  /* boxes */
    int64_t per_chunk;                   /* boxes, lines, columns, bytes of a slice or the table: whatever is shared out */
    int untouched;                       /* the output's pages are not in use yet */
    int checked;                         /* every index was read a moment ago, from the first to the last */
    int distinct;                        /* no two positions of a scatter meet */
    int64_t span;                        /* bytes of the table that the coordinates reach */
    /* scatters that copy: lines or columns of the table and of its source, copied before their updates are stored */
    const char *source;                  /* NULL: the copy is made already, or there is none */
    int64_t columns;                     /* that the second-level cache holds while they are updated or gathered; 0: not so */
    int64_t line, lines, group;          /* bytes of one, 0: no lines, their number, how many are copied at a time, */
    int by_string;                       /* long ones by a string instruction, */
    int staged;                          /* or most of them beside the table (lines.c) */
    /* tiles: bytes of a row of one, 0: none, and from row to row; whether they are written back; memory for one per thread */
    int64_t tile, pitch;
    int writes;
    char *scratch;
} dml_job;

/* All boxes of a plan, nothing else decided. */
DML_INLINE void dml_job_open(dml_job *job, const dml_plan *plan, dml_loop loop, int untouched)
{
    job->plan = plan;
    job->loop = loop;
    job->begin = 0;
    job->end = plan->boxes;
    job->untouched = untouched;
    job->checked = job->distinct = 0;
    job->source = NULL;
    job->columns = job->line = job->tile = 0;
}

/* Waits for stores past the caches: once for some boxes, because that takes as long as some of them do. */
DML_INLINE int dml_after_stores(const dml_plan *p, int status)
{
    if (p->past && !p->stores)
        DML_STREAM_END();
    return status;
}

/* Chunk number `chunk` of per_chunk boxes. */
int dml_some_boxes(void *job, dml_worker *worker, int64_t chunk);

/* How many boxes a thread claims at a time. */
int64_t dml_boxes_per_chunk(const dml_plan *plan, int64_t boxes, int threads);

/* Checks every index; where the plan says so, notes the offsets they name. */
int dml_scan(const dml_plan *plan, int threads, dml_pulse *pulse);

/* How many threads a scan is worth: one if there are few indices. */
int dml_scan_threads(const dml_plan *plan, int threads);

/* Checks every index before a move. */
int dml_check(const dml_plan *plan, int threads, dml_pulse *pulse);

/* Whether the indices are one range, *at the element where it begins: DML_OK; DML_OUT_OF_RANGE: they are not (follow.c). */
int dml_names_range(const dml_plan *plan, int threads, dml_pulse *pulse, int64_t *at);

/* The same gather, if it is a copy once its indices are checked; DML_NO_MEMORY: it is not. */
int dml_gather_whole(const dml_plan *plan, const dml_run *run, dml_ramps *ramps, int threads, dml_pulse *pulse);

/* Indices that are checked and narrowed to 16 bits; `first` does that. */
typedef struct {
    const dml_plan *plan;
    dml_plan narrower; /* the same with narrowed indices, as far as there are any */
    int64_t per_chunk; /* boxes */
    dml_first first;
} dml_narrowing;

/* Whether that pays; and job and plan for the narrowed ones, which `first` has to make before. 0: no memory, nothing has changed. */
int dml_narrows(const dml_plan *plan, int threads, int64_t taken);
int dml_narrow(dml_job *job, dml_plan *plan, int threads, int64_t taken, dml_narrowing *narrowing);

/* Memory for offsets that the check keeps for the move, of the last boxes, which long rows are moved from first: none where that does
 * not pay. */
void dml_keep(dml_plan *plan, int threads, int64_t taken);

/* Whether to put what is gathered aside until every index is known to be in range, and the same move so. taken: as in move.c.
 * DML_NO_MEMORY: nothing has changed. */
int dml_goes_aside(const dml_plan *plan, int threads, int64_t taken);
int dml_gather_aside(dml_job *job, dml_plan *plan, int threads, dml_pulse *pulse);

/* Whether a gather that raises goes on where some indices are out of range, by clamped ones, as that mode has it; then job and plan say so. */
int dml_goes_on(dml_job *job, dml_plan *plan, int mode, int threads);

int dml_share_gather(dml_job *job, int threads, dml_pulse *pulse);

/* Whether the table, `bytes` long and contiguous like its source, can be copied line by line; then job and plan say so.
 * What lies behind the last line is not part of any. */
int dml_copies_lines(dml_job *job, dml_plan *plan, const char *source, int64_t bytes, int threads);
int dml_share_lines(dml_job *job, int threads, dml_pulse *pulse);

/* How many columns at a time had better be moved, all positions in front of the last dimension in order; 0: all of them. */
int64_t dml_columns_kept(const dml_plan *plan, int threads);

/* The same gather, so many columns at a time. */
int dml_gather_columns(dml_job *job, int threads, dml_pulse *pulse);

/* A plan for the last two dimensions, at the plane of that number. */
void dml_plane_of(dml_plan *part, const dml_plan *plan, int64_t plane);

/* Chunk number `chunk` of per_chunk columns of a scatter, copied before if that is not done yet. */
int dml_some_columns(void *job, dml_worker *worker, int64_t chunk);

/* Whether the table, likewise, had better be copied some columns at a time; then the job says so, and *threads how many that and the
 * updates are worth. most: how many there are. */
int dml_copies_columns(dml_job *job, const char *source, int64_t bytes, int most, int *threads, dml_pulse *pulse);

/* Whether to work in tiles, which copy the source on the way, if there is one; then the job says so. */
int dml_takes_tiles(dml_job *job, const char *source, int64_t bytes, int writes);

int dml_share_tiles(dml_job *job, int threads, dml_pulse *pulse);

/* Whether to copy indices or table to scratch memory the right way round. */
int dml_takes_turned(const dml_plan *plan, int scatter);

int dml_share_turned(const dml_job *job, int scatter, int threads, dml_pulse *pulse);

/* The dimension along which neighbours of an element follow it in the table though the index stays the same; -1: none. */
int dml_across(const dml_plan *plan);

/* Whether positions along the last dimension of a gather name columns of the table, and these had better be turned. */
int dml_turns_columns(const dml_plan *plan);

/* Dimensions that the slice has: those at the end along which the index stays the same. */
int dml_slice_dimensions(const dml_plan *plan);

/* A gather out of scratch memory, to which the table was copied so that its slices are contiguous: as a whole, or parts of its
 * slices one after the other, or one for each thread. The caller has to free it. */
typedef struct {
    dml_move move; /* of one part */
    int batches;
    int64_t cut, length, parts; /* a dimension, how much of it a part has, how many there are: of the slice, or of batches */
    int alone, apart; /* too little for several threads; each of them straightens and reads parts of its own */
    int64_t rank, copied[DML_RANK_MAX], from[DML_RANK_MAX], to[DML_RANK_MAX]; /* what is copied, strides */
    /* the lists of `move` */
    int64_t positions[DML_DIMS], slice[DML_RANK_MAX], slice_strides[DML_RANK_MAX], steps[DML_RANK_MAX];
    int64_t table_strides[DML_RANK_MAX];
    char *scratch;
    int64_t bytes; /* of a part */
} dml_straight;

/* Whether that was worth it; and copies a part. */
int dml_straightens(const dml_plan *plan, const dml_move *move, int threads, dml_straight *straight);
int dml_straighten(dml_straight *straight, const dml_move *move, int64_t part, int64_t element, int threads, dml_pulse *pulse);

/* Whether slices are strided; whether one thread checks all of their indices before it moves any (and again for each part); the
 * same move, slice by slice. */
int dml_takes_strided(const dml_plan *plan, int scatter);
int dml_strides_at_once(const dml_plan *plan);
int dml_share_strided(const dml_plan *plan, int scatter, int untouched, int threads, dml_pulse *pulse);

/* Whether a gather is a transposed copy whose columns are named; and the same move in squares (listed.c). */
int dml_takes_listed(const dml_plan *plan);
int dml_share_listed(const dml_plan *plan, int untouched, int threads, dml_pulse *pulse);

/* Whether a gather has the same few indices for every row; and the same move by permutations of bytes, DML_NO_MEMORY: these are no
 * better than the loops. */
int dml_takes_short_rows(const dml_plan *plan);
int dml_share_short_rows(const dml_plan *plan, int untouched, int threads, dml_pulse *pulse);

/* Whether rows of positions seem to repeat their indices; and the loop that moves those that do as slices, if boxes are whole
 * rows of one plane. */
int dml_moves_rows(const dml_plan *plan);
int dml_rows_loop(const dml_plan *plan, dml_worker *worker, int64_t begin, int64_t end);

/* The same scatter by several threads, each of which stores the rows of a range of the table; the plan has two dimensions. */
int dml_share_rows(const dml_job *job, int threads, dml_pulse *pulse);

/* Whether so many of the table's slices are overwritten that it pays to copy only the others of its `bytes`, and there is scratch memory
 * for that beside the bytes that are taken. */
int dml_overwrites(const dml_plan *plan, int64_t bytes, int64_t taken);

/* Checks every index, then copies the slices that no position names; tells whether no two positions name the same one. */
int dml_copy_rest(dml_job *job, const char *source, int64_t bytes, int threads, dml_pulse *pulse);

int dml_share_scatter(dml_job *job, int threads, dml_pulse *pulse);

/* Whether that would leave all of it to one thread. */
int dml_scatters_alone(const dml_job *job, int threads);

/* Whether each thread takes some columns of it; and whether it does where the table moves on along rows of so many positions. */
int dml_scatters_columns(const dml_job *job, int threads);
int dml_shares_columns(int64_t columns, int64_t positions, int64_t slice, int beyond_l2, int threads);

#endif
