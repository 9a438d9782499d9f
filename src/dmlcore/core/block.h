/* block.h: one box of positions while it is worked on: where it lies, its checked offsets, what was left out of it.
 * Included by core/loops.h and by what opens boxes itself. */
#ifndef DMLCORE_BLOCK_H
#define DMLCORE_BLOCK_H

#include "copy.h"
#include "pairs.h"
#include "plan.h"
#include "wide.h"

/* Offsets that no table has: the others of 32 bits are less, those of 64 bits are more. */
#define DML_NOWHERE_NARROW UINT32_MAX
#define DML_NOWHERE (INT64_MIN / 2)

/* What a box leaves to the next one when it had indices out of range, which probably has some too. */
extern const char dml_some_elsewhere;
#define DML_SOME_ELSEWHERE (&dml_some_elsewhere)

typedef struct dml_block {
    int64_t count;                 /* positions to be moved */
    int64_t positions;             /* all of the box: as many, unless some were left out */
    char *table, *stream;          /* of the first position */
    const char *indices;
    const char *known;             /* indices that the offsets come from already; NULL: none; or DML_SOME_ELSEWHERE */
    int64_t known_positions;       /* normalise.h: how many; */
    int64_t known_at;              /* rings, which check as many ahead as they need: where their offsets begin */
    int64_t following;             /* positions behind its own whose indices may be looked at already: the next boxes' */
    const u32 *kept;               /* offsets that a scan has kept; NULL: none */
    const char *next;              /* prefetch: where the table's next row will be read */
    const int64_t *where;          /* stream offsets; NULL: one slice after the other, plan->stream_step apart */
    int64_t missed;                /* DML_FILL: positions whose index was out of range */
    union {
        _Alignas(DML_LINE) u32 narrow[DML_BLOCK]; /* vectors are stored there */
        i64 wide[DML_BLOCK];
    } offsets;
    int64_t chosen[DML_BLOCK];     /* `where` after some positions were left out */
    int64_t missing[DML_BLOCK];    /* `where` of the missed ones */
    union {
        i32 half[DML_PACKED];
        i64 full[DML_PACKED];
    } packed;
} dml_block;

/* How many positions lie in front of a box. */
DML_INLINE int64_t dml_block_number(const dml_plan *p, int64_t box)
{
    int64_t outer = box / p->pieces, row = (box - outer * p->pieces) * p->rows;
    return (outer * p->dim[p->cut].size + row) * p->inner;
}

/* Where the offsets of a box are kept; NULL: nowhere. */
DML_INLINE u32 *dml_block_kept(const dml_plan *p, int64_t box)
{
    if (!p->kept || box < p->kept_from)
        return NULL;
    return p->kept + (dml_block_number(p, box) - dml_block_number(p, p->kept_from));
}

/* Opens a box, or as many of the next `most` as fused.h takes for one; the answer is how many they are. */
DML_INLINE int64_t dml_block_open(const dml_plan *p, int64_t box, int64_t most, dml_block *b)
{
    const dml_dim *cut = p->dim + p->cut;
    int64_t boxes = p->kept ? 1 : dml_least(p->together, most);
    int64_t row = 0, outer = box;
    if (p->pieces > 1) {
        outer = box / p->pieces;
        row = (box - outer * p->pieces) * p->rows;
    }
    b->count = b->positions = dml_least(boxes * p->rows, cut->size - row) * p->inner;
    b->following = p->follows ? p->positions - (outer * cut->size + row) * p->inner - b->positions : 0;
    b->table = p->table - p->back + row * cut->table;
    b->stream = p->stream + row * cut->stream;
    b->indices = p->indices + row * cut->index;
    for (int d = p->cut - 1; d >= 0 && outer; d--) {
        int64_t rest = d ? outer / p->dim[d].size : 0, c = outer - rest * p->dim[d].size;
        b->table += c * p->dim[d].table;
        b->stream += c * p->dim[d].stream;
        b->indices += c * p->dim[d].index;
        outer = rest;
    }
    b->next = b->table + p->back;
    if (p->next_row) {
        int64_t in_row = p->cut == p->rank - 1 ? row : 0;
        b->next += p->next_row + in_row * p->next_step / 16;
    }
    b->kept = dml_block_kept(p, box);
    b->where = p->scattered ? p->ramps->stream : NULL;
    b->missed = 0;
    return boxes;
}

/* Fetches some bytes that are read soon. */
DML_INLINE void dml_fetch(const char *from, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += DML_LINE)
        DML_PREFETCH(from + at);
}

/* Likewise of what is met a piece at a time, as the table's next row, to be stored to or not; the answer is what comes after them. */
DML_INLINE const char *dml_block_fetch(const char *next, int64_t bytes, int stores)
{
    for (int64_t at = 0; at < bytes; at += DML_LINE)
        if (stores)
            DML_PREFETCH_WRITE(next + at);
        else
            DML_PREFETCH(next + at);
    return next + bytes;
}

DML_INLINE int64_t dml_block_where(const dml_plan *p, const dml_block *b, int64_t i)
{
    return b->where ? b->where[i] : i * p->stream_step;
}

/* Where a block's slices are, for loops that store them. It has to be a variable of theirs: what is stored through a pointer to char might
 * be any part of a plan or a block, which would be read again for each slice. */
typedef struct {
    int64_t count, step;
    char *table, *stream;
    const u32 *narrow;
    const i64 *wide;               /* NULL: offsets are narrow */
    const int64_t *where;          /* NULL: a slice every `step` bytes */
} dml_places;

DML_INLINE dml_places dml_block_places(const dml_plan *p, const dml_block *b)
{
    return (dml_places){.count = b->count,
                        .step = p->stream_step,
                        .table = b->table,
                        .stream = b->stream,
                        .narrow = b->offsets.narrow,
                        .wide = p->wide ? b->offsets.wide : NULL,
                        .where = b->where};
}

DML_INLINE char *dml_in_table(dml_places at, int64_t i) { return at.table + (at.wide ? at.wide[i] : (int64_t)at.narrow[i]); }

DML_INLINE char *dml_in_stream(dml_places at, int64_t i) { return at.stream + (at.where ? at.where[i] : i * at.step); }

DML_INLINE void dml_block_combine(const dml_plan *p, const dml_block *b)
{
    dml_updates updates = {
        .count = b->count,
        .slice = p->slice,
        .table = b->table,
        .narrow = p->wide ? NULL : b->offsets.narrow,
        .wide = p->wide ? b->offsets.wide : NULL,
        .stream = b->stream,
        .where = b->where,
        .step = p->stream_step,
        .fetch = p->fetch,
        .far = p->far,
        .next = b->indices + b->positions * dml_index_bytes(p->index),
        .ahead = p->feeds ? dml_index_bytes(p->index) : 0,
    };
    dml_block_fetch(b->next, b->count * p->next_step / 16, 1); /* of the next row as much as this box has met of its own */
    p->combine(&updates);
}

/* far.c: moves a box of a plan that rolls. 1: some coordinate is out of range; elements in front of it may have been moved. */
int dml_far(const dml_plan *p, dml_block *b, int scatter);

/* follow.c: moves a box of single indices whose elements follow each other in the table as well. 0: it is not such a box. */
int dml_follows(const dml_plan *p, const dml_block *b, int scatter);

/* lenient.c: offsets of a box that has indices out of range, which follow each other in memory, where the mode allows for them. */
void dml_lenient(const dml_plan *p, dml_block *b, const void *indices);

/* DML_FILL: writes the fill value where the index was out of range. */
void dml_block_fill(const dml_plan *p, const dml_block *b);

#endif
