/* plan.h: an indexed move in its simplest equal form, how its positions are cut into boxes, and how each is moved.
 * plan.c makes plans, boxes.c cuts them, the files policy_*.c choose the ways; the loops walk over their boxes, block.h opens one. */
#ifndef DMLCORE_PLAN_H
#define DMLCORE_PLAN_H

#include "compiler.h"
#include "kernel.h"
#include "parallel.h"

#define DML_BLOCK 1024             /* positions in a box: its offsets stay in the first-level cache */
#define DML_PACKED 2048            /* coordinates in a box that has to collect them first */
#define DML_PAGES_AHEAD 2048       /* bytes; left alone, the hardware stops to fetch ahead at the end of a page */
#define DML_FAR_AHEAD 4096         /* bytes of a far table's slices that are on their way */
#define DML_NEAR (8 << 20)         /* bytes of a table that the caches hold, */
#define DML_NEAR_L2 (512 << 10)    /* and the second-level one beside indices and stream */
#define DML_NEAR_SUMS (6 << 20)    /* the same where short slices are combined: they are read before they are stored */
#define DML_FAR_TABLE (16 << 20)   /* bytes; so large a table is far though its coordinates reach less than DML_NEAR, */
#define DML_FAR_APART 2048         /* if it has so many bytes for each part of it that is met */
#define DML_SHORTEST_ROW 16        /* indices of rows that a ring reads by sixteens, which two of them have */
#define DML_LONGEST_LOOK 192       /* positions whose indices a loop checks before it moves them, the next box's too */
#define DML_LINE 64                /* bytes of a cache line: two threads should not write to the same one */
#define DML_IN_REGISTERS 512       /* bytes of a table that registers hold; half as many of elements of one byte, or eight */
#define DML_HELD_AT_ONCE 200       /* elements of it that are gathered: fewer are not worth loading it */
#define DML_LONG_SLICE 1024        /* bytes; the lines at both ends of a slice cost little of so many */
#define DML_WRAPS_TUPLES(bytes) ((bytes) > 1 && (bytes) <= 8) /* of elements that rings read by pairs and triples, */
#define DML_WRAPS_FOURS(bytes) ((bytes) == 4 || (bytes) == 8) /* by tuples of four, */
#define DML_BY_COLUMNS(bytes) ((bytes) == 4 || (bytes) == 8) /* gathered column by column, others with AVX-512 alone */
#define DML_WRAPS_ROWS(bytes) ((bytes) == 4 || (bytes) == 8) /* read by single indices in short rows */
#define DML_WRAPS_COLUMNS(bytes) ((bytes) == 4 || (bytes) == 8) /* and by such whose coordinates lie dimension by dimension */
#define DML_SHORTEST_PAST 4        /* bytes of single elements that are stored past the caches; shorter ones gain nothing */

enum dml_width { DML_WIDTH_U32, DML_WIDTH_U64, DML_WIDTHS }; /* of an index, or a coordinate that is written */

/* Where single elements of a large table are fetched to before they are moved; in blocks L1: scatters only. */
enum dml_fetch { DML_FETCH_NONE, DML_FETCH_L1, DML_FETCH_L2 };

/* Which elements of a large table are in the caches: nobody knows; all that are named; all, on more pages than the processor remembers. */
enum dml_cached { DML_CACHED_UNKNOWN, DML_CACHED_LINES, DML_CACHED_PAGES };

/* How the vector unit joins elements that lie anywhere, where isa/ has more than one way. */
enum dml_joins { DML_INSERTS, DML_MERGES, DML_GATHERS, DML_APART };

/* What differs among machines with the same instructions; only speed depends on it. */
typedef struct {
    /* single elements; bytes of a table */
    int64_t gathers_below;         /* the vector unit's gathers are faster than loads one by one */
    int64_t held[DML_STORAGES];    /* bytes of a table up to which registers that hold it are faster, by single indices */
    int64_t gathers_past;          /* what comes out of smaller tables is never stored past the caches, */
    int64_t gathers_past_u32;      /* four bytes, out of what one position reaches */
    int64_t gathers_kept;          /* nor out of such large ones, unless blocks fetch them, */
    int64_t gathers_kept_u32;      /* at most four bytes; */
    int64_t elements_past;         /* longer ones from so much on with their indices, by threads twice; 0: as slices */
    int64_t gather_fetches;        /* from there on elements are fetched ahead: bytes of the table, */
    int64_t gather_streams;        /* and of indices and elements, up to so many, which fill the same cache */
    int64_t scatter_fetches;
    int64_t scatter_streams;
    int64_t combined_fetches;      /* the same where so many are combined; 0: as others */
    int64_t rows_fetched;          /* tables so large that few elements of each of their rows are fetched ahead as well, */
    int64_t rows_gathered;         /* if, gathered, their number times their bytes' square is so large, */
    int64_t rows_fetched_alike;    /* the same ones of all rows */
    int64_t cached_direct;         /* tables thousands of whose elements, if they are cached, are moved one by one */
    int64_t columns;               /* bytes of lines that these have for them to be gathered column by column */
    int64_t gather_follows;        /* bytes of a few rows for each position that walks along all: not fetched */
    int64_t scatter_follows;
    int64_t to_l2;                 /* tables of scatters: to the second-level cache, smaller ones to the first */
    int64_t gathers_direct;        /* from there on they are checked and moved one by one, where they can, */
    int64_t gathers_to_l1;         /* from there on many single ones as well; fetched to the first-level cache, but */
    int64_t gathers_to_l2;         /* from there on to the second; */
    int64_t wraps_directly;        /* from there on by arithmetic instead of branches, also if some indices are negative; */
    int64_t gathers_rolled;        /* from there on fetched elements, and tuples, go by a ring of offsets (far.c) */
    int64_t scatters_rolled;
    int64_t scatters_direct;       /* from there on they are checked and scattered one by one (policy_loads.c) */
    /* positions that are checked at a time where checking and moving take turns: multiples of 16 up to DML_STEP_MOST */
    int64_t step;
    /* bytes of indices, in short rows with others between, from which on rows may be boxes of their own; INT64_MAX: never, and then no
     * ring reads such rows where they lie, which it does otherwise however few they are */
    int64_t rows_in_place;
    /* bytes of indices that are fetched ahead; 0: the processor does that better */
    int64_t ahead_of_moves;
    int64_t ahead_of_many;         /* the same of more than the third-level cache holds */
    int64_t feeds_indices_near;    /* or of 10 MiB of tuples, where blocks read them, out of a smaller table; 0: never */
    int64_t short_rows;            /* bytes of a row; indices that walk along such ones, no longer, are not fetched; */
    int64_t short_indices;         /* 0, or bytes of them at most instead, if elements have four bytes and more, */
    int64_t short_rows_beyond;     /* where so much is read and written */
    int64_t ahead_of_scans;
    int64_t past_caches;           /* bytes; a destination so large is not in a cache when it is used next, */
    int64_t past_caches_beside;    /* or with what is read meanwhile, for one thread or single elements; 0: never, */
    int64_t past_caches_shared;    /* the same with what is read meanwhile, for several threads; 0: as for one, */
    int64_t past_caches_updated;   /* and a copy so large not even when much of it is updated at once, */
    int64_t past_caches_copied;    /* when little of it is; 0: as for one */
    int64_t lines_copied;          /* bytes of lines at a time that a scatter copies, then updates; 0: few, as they come */
    int64_t lines_near;            /* the same at least, of long lines of tables in the third-level cache */
    int64_t lines_staged;          /* bytes; so much is copied and updated in the first-level cache, then stored past all */
    int64_t string_align;          /* bytes; source and destination lie so for a string instruction to copy well; 0: none */
    int64_t by_pages;              /* bytes; so much is copied some pages at a time */
    /* slices */
    int64_t slices_past;           /* bytes; so long ones are stored past the caches where much is gathered, */
    int64_t slices_past_near;      /* and is not out of a far table, */
    int64_t scattered_past;        /* and where much is scattered, or gathered to rows that are apart */
    int64_t slices_copied;         /* bytes; so long ones of far tables are not fetched, */
    int64_t slices_kept;           /* and so long ones of tables that the third-level cache holds are not stored past it, */
    int64_t slices_beside;         /* nor so much in slices of any length beside a small table, */
    int64_t slices_through;        /* nor, at most, so much that is gathered (policy_stores.c) */
    int64_t slices_together;       /* bytes; shorter ones of far tables are put together though lines are theirs alone */
    int stores_soon;               /* lines of the second-level cache are fetched before they are stored to */
    int slices_to_l1;              /* those of far tables are fetched to the first-level cache when a gather stores plainly */
    int separates_all;             /* 0: rows that take turns are separated from three on, short elements */
    int paces;                     /* elements whole pages apart are read one by one */
    int permuted;                  /* elements of four bytes and more that are permuted at a time, at least */
    /* planes that lie the other way round */
    int64_t far_plane;             /* bytes; the more of each column of such a one is read at a time, the better */
    int straightened[DML_STORAGES]; /* quarters of what is moved that a table may have to be turned before, */
    int straightened_along[DML_STORAGES]; /* and where positions walk along it */
    int turns_squares;             /* 0: four bytes, and eight of smaller planes, row by row of the destination */
    int squares_crowded;           /* 1: eight bytes by squares, not blocks, also where lines meet in the cache */
    int row_for_each;              /* bytes for each position of a row of the table that is fetched as a whole */
    /* tiles of columns */
    int64_t tiles_moved;            /* elements of a plane that are moved, at least; 0: tiles are never slower */
    int64_t tiles_written;         /* bytes of a plane; smaller ones are written in place, unless rows meet in the cache */
    int tiles_rows, tiles_rows_written; /* fewer rows are in the caches while moves in row order go along them */
    int64_t tiles_crowded;         /* bytes of a plane that is moved in place though its rows meet in a cache */
    int64_t tiles_halves;          /* the same of elements of four bytes that are gathered, rows of 2 KiB */
    int tiles_wide;                /* rows at most for each index of a column, where elements have 8 bytes and more */
} dml_tuning;

#define DML_STEP_USUAL 128 /* for so many the compiler unrolls the loops */
#define DML_STEP_MOST 512

/* One dimension of positions; strides in bytes. */
typedef struct {
    int64_t size, index, table, stream;
} dml_dim;

/* Offsets of the positions of a box from its first position. They are the same in every box, so short rows and many
 * short dimensions cost no more than one long row. A box that was cut short uses their beginning. */
typedef struct {
    union {
        u32 narrow[DML_BLOCK];
        i64 wide[DML_BLOCK];
    } table;
    int64_t stream[DML_BLOCK];
    int64_t index[DML_BLOCK];
} dml_ramps;

struct dml_plan;

/* Updates to be combined with what the table holds, one after the other. */
typedef struct {
    int64_t count, slice;    /* how many, and bytes of each */
    char *table;
    const u32 *narrow;       /* offsets there; NULL: */
    const int64_t *wide;     /* these */
    const char *stream;
    const int64_t *where;    /* offsets there; NULL: */
    int64_t step;            /* from one to the next */
    int fetch;               /* how single elements of the table are fetched ahead: enum dml_fetch */
    int far;                 /* 1: so are slices */
    const char *next;        /* indices that are needed next, */
    int64_t ahead;           /* so many bytes for each update, are fetched meanwhile, as further updates are; 0: neither */
} dml_updates;

typedef void (*dml_combiner)(const dml_updates *updates);

/* Rows of n elements of the table, each for a row of `length` positions, as few as vector registers hold; bytes from one to the next in
 * the table, and from its first index to the next one's. length 0: one row, for as many positions as there are. */
typedef struct {
    int64_t n, length, table, index;
} dml_rows;

/* Looks up `count` positions, those of whole rows, one after the other, and checks their indices meanwhile. Not 0: one is out of
 * range. */
typedef int (*dml_row_lookup)(const dml_rows *rows, char *stream, const char *table, const char *index, int64_t count,
                              int is_signed);

typedef int (*dml_loop)(const struct dml_plan *plan, dml_worker *worker, int64_t begin, int64_t end);

typedef struct dml_plan {
    char *table, *stream;
    const char *indices;
    const char *fill;
    int64_t positions;             /* product of the dimensions' sizes */
    int64_t slice;                 /* contiguous bytes that are moved at each position; 0: check only */
    int64_t element;               /* bytes of one element of the tensor */
    int64_t stream_step;           /* bytes from one position's slice to the next in a box with a linear stream */
    const int64_t *bounds, *steps; /* one per coordinate */
    int64_t coordinate_stride;
    const dml_tuning *tuned;
    int tuple;                     /* coordinates in a tuple */
    int storage, index, mode;      /* classes; the storage class is that of the slice when it has the width of one */
    int wide;                      /* table offsets take 64 bits, or a bound more than 31 */
    int whole;                     /* the slice is one element of the storage class */

    /* boxes: `rows` steps of dimension `cut`, all of the dimensions inside it */
    int cut;
    int64_t inner, rows, pieces, boxes;
    int64_t again;                 /* positions of a box after which its indices repeat, where use is made of it; else 0 */
    int in_rows;                   /* a box has only so many offsets, and every row of it is gathered through them, */
    int columns;                   /* sixteen columns of all rows at a time */
    int64_t block_bytes;           /* work in one box, for dml_tick */
    int64_t back;                  /* bytes that narrow offsets begin in front of the first position, as the ramp tells */
    int numbered;                  /* 16 bits number the elements of the table that the positions of a box reach */
    int ramped, scattered, packed; /* table, stream, indices need the ramps */
    int linear;                    /* a box's indices are equally far apart; */
    int by_columns;                /* each coordinate's follow each other, but not those of a tuple */
    int stores, in_place, combines; /* to the table: a scatter; one without a source to copy first; a reduction */
    int unaligned;                 /* index elements are not aligned to their size */
    const dml_ramps *ramps;

    /* what the ways are chosen by */
    double reached, walked;        /* bytes of the table that coordinates reach; that positions walk along */
    int beyond_l2;                 /* what is met of the table may not be in the second-level cache */
    int far;                       /* it is in no cache: prefetch */
    int threads, untouched;        /* the caller's: that may share out the work; the output's pages are not in use yet */

    /* the ways: loads */
    int fused;                     /* simple enough for fused.h, and not checked box by box */
    int64_t together;              /* boxes that are opened as one, at most */
    int follows;                   /* fused, and every box's indices lie behind those of the box before, */
    int64_t gap;                   /* or, if it is negative, in front: so many other tuples in between */
    int grows;                     /* fused, and the first two indices name elements that follow each other (follow.c) */
    int64_t joined;                /* fused, joined by a ring, or read where they lie: bytes from one to the next; else 0 */
    int by_rows;                   /* fused, by a loop that reads rows of single indices where they lie */
    int cached;                    /* enum dml_cached, of tables that single elements are gathered from one by one */
    int singly;                    /* fused, one by one: indices that are apart, or elements that are cached (singly.h) */
    int direct;                    /* fused, and element by element (direct.h) */
    int soon;                      /* direct, gathers in a row: where to elements are fetched before (dml_fetch) */
    int by_arithmetic;             /* gathers: negative indices are wrapped by arithmetic instead of branches */
    int rolls;                     /* fused, by a ring of offsets (far.c), through the caches */
    int fetch;                     /* enum dml_fetch: whether single elements are fetched ahead */
    int apart;                     /* out of so large a table that no load had better wait for another */
    int merges;                    /* a masked load puts each element of four bytes into its place, where isa/ has that */
    int gathers;                   /* the vector unit loads elements, where isa/ has that; of two bytes: at even addresses */
    int64_t in_registers;          /* bytes of the table, where vector registers hold it; 0: they do not */
    dml_row_lookup row_lookup;     /* they hold a row of it, or some, for each row of positions, or one for all; NULL: not */
    dml_rows looked_up;            /* those rows */
    int64_t ahead;                 /* prefetch: bytes from an index to one that is needed soon; 0: the hardware fetches it */
    int64_t fed; /* prefetch: bytes of indices for sixteen positions, of the next box while those of one move */
    int feeds; /* the next box's indices and updates are fetched while those of one are combined */
    int64_t next_row, next_step; /* prefetch: bytes to the same place of the table's next row, bytes for 16 positions */

    /* the ways: stores */
    int past; /* the caches: more is written than they hold, in parts that are long enough */
    int stream_fetched; /* look-ups fetch the lines that they store to */
    int lines; /* slices begin and end where cache lines do, there where they are stored */

    unsigned char *seen; /* scans: a byte for each offset that is named; NULL: nobody wants to know */
    int64_t seen_apart; /* from one thread's bytes to those of the next */
    u32 *kept; /* the offsets of the last boxes, from a scan for a move, which must not cut others; NULL: none are kept */
    int64_t kept_from; /* the first of those boxes */
    u16 *narrowed; /* what indices of the first boxes became in such a scan (narrow.c); NULL: they are read again */
    int64_t narrows; /* how many boxes, */
    const struct dml_plan *narrower; /* and the same plan with these for indices */

    /* how updates are combined; NULL: the last one stays */
    dml_combiner combine;

    /* rows.c: the loop for what is no row, and for rows as slices; narrow.c: for what is not narrowed; lenient.c: the one that raises, */
    dml_loop plain;
    dml_loop for_clamped; /* and for indices that are clamped */
    int otherwise; /* lenient.c: the mode that those have which are out of range */

    int rank;
    dml_dim dim[DML_DIMS];
} dml_plan;

/* Simplifies: drops dimensions of size 1, joins neighbours that step alike, turns the contiguous end of the slice into
 * bytes and what is left of it into positions, and puts dimensions into the order in which the stream lies in memory. */
void dml_plan_make(dml_plan *plan, const dml_move *move, const dml_run *run, const dml_tuning *tuning, int scatter);

/* How a plan that is otherwise made loads and stores. rows.c asks for the latter again when it has made slices of rows. */
void dml_policy_loads(dml_plan *plan);
void dml_policy_stores(dml_plan *plan);

/* The loops that a plan whose boxes are cut needs. */
void dml_policy_loops(dml_plan *plan);

/* Cuts the positions into boxes; fills the ramps that they need; both. */
void dml_plan_boxes(dml_plan *plan, dml_ramps *ramps);
void dml_plan_ramps(const dml_plan *plan, dml_ramps *ramps);
void dml_plan_cut(dml_plan *plan, dml_ramps *ramps);

/* Whether every index is met once, in the order of memory. */
int dml_plan_in_order(const dml_plan *plan);

/* The same indices, each met once and in the order of memory, with nothing to move: a plan for checks. 0: `from` is that
 * already. */
int dml_plan_indices(dml_plan *plan, const dml_plan *from, dml_ramps *ramps);

/* Bytes of the table that some dimensions span at most. A floating-point number cannot overflow; dml_mul would have to divide
 * to find out whether an integer does. */
DML_INLINE double dml_span(dml_list sizes, dml_list strides)
{
    double span = 0;
    for (int64_t d = 0; d < strides.n; d++)
        span += (double)sizes.v[d] * (double)(strides.v[d] < 0 ? -strides.v[d] : strides.v[d]);
    return span;
}

/* Whether positions find their parts of the table in no cache: coordinates reach far (`reached` bytes), or the table, with the
 * dimensions that positions walk along (`walked`), is so large and so few parts of it are met that what is next to one of them is
 * of no use to another. */
DML_INLINE int dml_is_far(double reached, double walked, int64_t parts)
{
    double all = reached + walked;
    return reached >= DML_NEAR || (all >= DML_FAR_TABLE && all >= (double)parts * DML_FAR_APART);
}

/* Bytes from an index, or tuple, to its nearest neighbour. */
int64_t dml_plan_nearest(const dml_plan *plan);

/* Predicted for each of so many indices that have lines of their own, so many bytes apart: more where the second-level cache does not
 * hold these. */
int64_t dml_line_nanoseconds(int64_t count, int64_t apart);

/* Predicted time of the whole move on one thread. */
int64_t dml_plan_nanoseconds(const dml_plan *plan);

/* Bytes of the longest table that registers hold, of elements of so many; those of one byte are looked up by indices in a row alone
 * (looked_up.c). */
DML_INLINE int64_t dml_in_registers(int64_t element)
{
    return element == 2 || element == 4 ? DML_IN_REGISTERS : DML_IN_REGISTERS / 2;
}

/* Bytes of the table that tuples reach, where registers hold it; else 0. Offsets take no more than 32 bits. */
DML_INLINE int64_t dml_held(int64_t element, int64_t tuple, const int64_t *bounds, const int64_t *steps)
{
    int64_t bytes = element;
    for (int64_t k = 0; k < tuple; k++) {
        if (bounds[k] == 0 || steps[k] % element)
            return 0;
        bytes += (bounds[k] - 1) * steps[k];
    }
    return bytes <= dml_in_registers(element) ? bytes : 0;
}

/* Bytes of one index, the number of its width among those that have loops of their own, and its sign. */
DML_INLINE int dml_index_bytes(int index) { return index == DML_INDEX_I32 || index == DML_INDEX_U32 ? 4 : 8; }
DML_INLINE int dml_index_width(int index) { return dml_index_bytes(index) == 4 ? DML_WIDTH_U32 : DML_WIDTH_U64; }
DML_INLINE int dml_index_signed(int index) { return index == DML_INDEX_I32 || index == DML_INDEX_I64; }
DML_INLINE int dml_index_narrowed(int index) { return dml_index_signed(index) ? DML_INDEX_I32 : DML_INDEX_U32; }

#endif
