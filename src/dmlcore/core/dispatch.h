/* dispatch.h: which build of the loops is used on this machine.
 * Included by whatever runs a loop; dispatch.c holds the only CPU detection. */
#ifndef DMLCORE_DISPATCH_H
#define DMLCORE_DISPATCH_H

#include "../_generated/operators.h"
#include "bitmap.h"
#include "plan.h"

/* Two, three or four columns to rows that follow each other, and back. NULL: nothing better than element by element. */
typedef struct {
    void (*interleave[3])(char *to, const char *const *column, int64_t rows);
    void (*separate[3])(char *const *column, const char *from, int64_t rows);
} dml_columns;

/* `length` bytes of a destination, from its byte `to` on: which unit of the vector that begins with the source's byte `from` comes
 * to each place. */
typedef struct {
    unsigned char places[64];
    int64_t from, to, length;
} dml_piece;

/* Permutes some pieces, of each of so many groups: `bytes` of each, `unit` bytes at a time. */
typedef struct {
    int64_t unit, bytes;
    void (*run)(char *to, const char *from, const dml_piece *piece, int64_t pieces, int64_t groups, int64_t to_step,
                int64_t from_step);
} dml_shuffle;

/* Offsets of so many tuples in a row, which are aligned, with those of a ramp where there is one; the farthest is at most 2**31 - 1.
 * 1: an index is out of range. */
typedef int (*dml_normaliser)(const void *indices, int64_t count, int tuple, int is_signed, const int64_t *bounds,
                              const int64_t *steps, const u32 *ramp, u32 *offsets);

/* Limits of coordinates, which repeat with a period, a multiple of 16; of unsigned ones with the highest bit inverted. */
#define DML_LONGEST_CLAMPED 16 /* coordinates of a tuple */
typedef struct {
    int64_t period;
    union {
        _Alignas(DML_LINE) i32 half[16 * DML_LONGEST_CLAMPED];
        i64 full[16 * DML_LONGEST_CLAMPED];
    } low, high;
} dml_limits;

/* So many coordinates in a row to the nearest ones that are in range, none of which takes more than 31 bits; and for each, unless differs is
 * NULL, something that is not 0 where it differs. There is room for a multiple of 16. */
typedef void (*dml_clamper)(const void *indices, int64_t count, const dml_limits *limits, int is_unsigned, u32 *clamped,
                            u32 *differs);

/* Whether each of so many indices, more than one, is `by` more than the one before it, 0 or 1. ahead: bytes from what is read to what is
 * fetched; 0: nothing is. */
typedef int (*dml_growth)(const void *indices, int64_t count, int by, int64_t ahead);

/* Single elements by so many offsets; gathers: by the vector unit, if it can; held: bytes of a table that registers hold, 0 of others. */
typedef void (*dml_gatherer)(char *stream, const char *table, const u32 *offsets, int64_t count, int gathers, int64_t held);
typedef void (*dml_scatterer)(char *table, const char *stream, const u32 *offsets, int64_t count);

/* So many indices in a row, checked, to the numbers of elements of 2**shift bytes: index times step, and what the ramp has where
 * there is one, fits into 16 bits of such. 1: one is out of range. */
typedef int (*dml_narrower)(const char *indices, int64_t count, int is_signed, int64_t bound, int64_t step, const u32 *ramp,
                            int shift, u16 *to);

/* The indices of so many positions of a box, which are apart or not aligned, one after the other in memory of its own. */
struct dml_block;
typedef const void *(*dml_packer)(const dml_plan *p, struct dml_block *b, int64_t count);

/* So many tuples of q indices, or of whatever has their size, that are `stride` bytes apart, one after the other. */
typedef void (*dml_collector)(void *to, const char *from, int64_t stride, int64_t count, int q);

/* Single indices of `width` bytes, columns from_pitch apart, to rows of indices of four bytes, to_pitch apart; the bound has no more than
 * 31 bits. 1: one is out of range. */
typedef int (*dml_turner)(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns,
                          int width, int is_signed, int64_t bound);

/* Whether it turns them as a whole: few rows, whose columns follow each other. Of two rows that is 2 to 5 times as fast as in blocks, of six
 * 1.15 to 1.25 times (Granite Rapids). */
#define DML_WHOLE_ROWS 6
static inline int dml_turns_whole(int64_t rows, int64_t columns, int64_t pitch, int64_t width)
{
    return rows >= 2 && rows <= DML_WHOLE_ROWS && columns >= 16 && pitch == rows * width;
}

/* All loops for one instruction set. */
typedef struct {
    const dml_loop (*loops)[DML_STORAGES][DML_WIDTHS];         /* one row for each operator */
    const dml_loop *scans;                                     /* one for each width of indices */
    const dml_normaliser *normalisers;                         /* likewise */
    const dml_clamper *clampers;                               /* likewise */
    const dml_growth *growths;                                 /* likewise */
    const dml_gatherer *gatherers;                             /* one for each storage class */
    const dml_scatterer *scatterers;                           /* likewise */
    const dml_packer *packers;                                 /* of indices of four bytes, of eight */
    const dml_collector *collectors;                           /* likewise */
    const dml_narrower *narrowers;                             /* one for each width of indices; NULL: none is narrowed */
    const dml_loop *narrowed;                                  /* gathers by narrowed ones, one for each storage class */
    const dml_combiner (*combiners)[DML_REDUCTIONS];           /* one row for each data type */
    const dml_nonzero_counter *nonzero_counts;                 /* one for each storage class */
    const dml_nonzero_writer *nonzero_writes;                  /* one for each dml_width */
    const dml_columns *const *columns;                         /* one for each storage class of up to eight bytes */
    /* contiguous slices from some places to others, in that order */
    void (*few_slices)(char *to, const int64_t *to_at, const char *from, const int64_t *from_at, int64_t count, int64_t bytes);
    /* any number of bytes by vector moves, through the caches; dml_copy_long tells when that is best */
    void (*copy)(char *to, const char *from, int64_t bytes);
    /* whole lines past the caches, `to` is a multiple of 64, a few pages at a time if wanted. How many bytes were copied */
    int64_t (*copy_past)(char *to, const char *from, int64_t bytes, int by_pages);
    /* so many cache lines of the stage to a place past the caches, so many others into it; NULL: nothing is staged */
    void (*exchange)(char *to, char *stage, int64_t full, const char *from, int64_t next);
    dml_turner turn_indices;                                   /* NULL: they are turned as they are */
    int turns_few;                                             /* as well two columns, and rows as a whole */
    const dml_shuffle *shuffles;                               /* for elements of one, two, four bytes and more; NULL: none */
    const dml_row_lookup (*row_lookups)[DML_WIDTHS];           /* by storage class and dml_width; NULL: none */
    int longest_ring; /* coordinates of tuples that rings read, of some elements one less; 1: single indices; 0: none */
    int looks_up;                                              /* elements in tables that registers hold */
    int moves_directly;                                        /* each element checked and moved by itself */
    int moves_singly;                                          /* the same where singly.h says */
} dml_isa;

#if DML_X86_64
extern const dml_columns *const dml_columns__avx2[]; /* for others as well */
#endif

/* The chosen ones; never NULL. */
extern const dml_isa *dml_chosen_isa;
extern const dml_tuning *dml_tuned;

/* Whether loops with AVX-512 are chosen and the processor permutes bytes, which not every such one does. */
extern int dml_permutes_bytes;

/* Chooses by name ("baseline", "avx2", "avx512", "avx512-zen5", "avx512-gathers", "avx512-granite"; NULL: the fastest). -1: unknown,
 * or the machine lacks it. */
int dml_isa_select(const char *name);
const char *dml_isa_name(void);

/* The name of the i-th instruction set that this machine has; NULL past the last. */
const char *dml_isa_available(int i);

#endif
