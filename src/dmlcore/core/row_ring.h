/* row_ring.h: the ring of ring.h where single indices are in short rows with others between them: sixteen are read where they lie, a
 * part of them from the next row, or a row at a time. Copied together box by box, as elsewhere, none could be checked ahead across the
 * end of a box. Included by ring.h, without guard. */

/* Measured on Zen 4 */
#define SHORT_AHEAD 80 /* positions, in rows of less than sixteen */
#define TABLE_AHEAD 2048 /* bytes of the table */
#define MET_FOR_EACH 48 /* bytes of a row of the table for each position: most of its lines are met, */
#define BEYOND ((int64_t)24 << 20) /* fetched out of smaller tables 1.2 to 1.6x, out of larger ones 0.8 */

_Static_assert(DML_SHORTEST_ROW >= 16, "sixteen indices are in two rows at most");

/* Where the next index is, and how many of its row are not read yet, itself included: one at least. */
typedef struct {
    const char *index;
    int64_t left;
} NAME(in_row);

DML_INLINE NAME(in_row) NAME(in_row_at)(const char *index, int64_t position, int64_t row, int64_t pitch)
{
    int64_t above = position / row, before = position - above * row;
    return (NAME(in_row)){index + above * pitch + before * (int64_t)sizeof(I), row - before};
}

/* Sixteen further: in the same row or in the next one. gap: bytes from the end of a row to the next one, less than 0 where rows overlap
 * or go back. */
DML_INLINE NAME(in_row) NAME(sixteen_on)(NAME(in_row) from, int64_t row, int64_t gap)
{
    int within = from.left > 16;
    return (NAME(in_row)){from.index + 16 * sizeof(I) + (within ? 0 : gap), from.left - 16 + (within ? 0 : row)};
}

/* Moves the elements of a box, whole rows of indices, to the stream. 1: an index is out of range; elements in front of it may have been
 * moved. Less than sixteen last ones are not read ahead. */
DML_PIECE int NAME(row_ring)(const dml_plan *p, dml_block *b, const u32 *ramps)
{
    const dml_dim *rows = p->dim + p->cut;
    const int64_t row = rows[1].size, pitch = rows->index, gap = pitch - row * (int64_t)sizeof(I), bytes = 16 * sizeof(I);
    const int64_t bound = p->bounds[0], step = p->steps[0], whole = b->count & -16, last = b->count - whole;
    const int64_t further = whole < RING_AHEAD ? 0 : dml_least(RING_AHEAD, b->following & -16); /* of the next box */
    const char *behind = b->indices + b->count / row * pitch + p->gap * (int64_t)sizeof(I), *next = b->next;
    char *table = b->table, *stream = b->stream;
    int64_t at = 0, ready = 0, ahead = p->ahead, next_step = p->next_step;
    int is_signed = dml_index_signed(p->index);
    u32 *ring = b->offsets.narrow, *few = ring + RING;
    if (b->known == b->indices) {
        at = b->known_at;
        ready = b->known_positions;
    }
    NAME(in_row) soon = NAME(in_row_at)(b->indices, ready, row, pitch);
    for (; ready < dml_least(RING_AHEAD, whole); ready += 16, soon = NAME(sixteen_on)(soon, row, gap))
        if (WRAP_ROWS(soon.index, 16, soon.left, gap, sizeof(I), is_signed, bound, step, ramps ? ramps + ready : NULL,
                      ring + ((at + ready) & (RING - 1))))
            return 1;
    for (int part = 0; part < 2; part++) { /* what is checked meanwhile: its own indices, then those of the next box */
        const u32 *soon_ramp = ramps && !part ? ramps + RING_AHEAD : ramps;
        const char *end = stream + (part ? further : dml_most(0, whole - RING_AHEAD)) * (int64_t)sizeof(T);
        if (part)
            soon = (NAME(in_row)){behind, row};
        for (; stream != end; stream += 16 * sizeof(T), at = (at + 16) & (RING - 1), soon = NAME(sixteen_on)(soon, row, gap)) {
            dml_fetch(soon.index + ahead, bytes);
            DML_PREFETCH(soon.index + gap + bytes - 1 + ahead); /* the last of sixteen that go on in the next row */
            next = dml_block_fetch(next, next_step, 0);
            if (WRAP_ROWS(soon.index, 16, soon.left, gap, sizeof(I), is_signed, bound, step, soon_ramp,
                          ring + ((at + RING_AHEAD) & (RING - 1))))
                return 1;
            NAME(sixteen)(table, stream, ring + at, 0, 0, DML_INSERTS, 0);
            if (ramps)
                soon_ramp += 16;
        }
    }
    for (const char *end = b->stream + whole * (int64_t)sizeof(T); stream < end;
         stream += 16 * sizeof(T), at = (at + 16) & (RING - 1)) {
        next = dml_block_fetch(next, next_step, 0);
        NAME(sixteen)(table, stream, ring + at, 0, 0, DML_INSERTS, 0);
    }
    if (last) {
        soon = NAME(in_row_at)(b->indices, whole, row, pitch);
        if (WRAP_ROWS(soon.index, last, soon.left, gap, sizeof(I), is_signed, bound, step, ramps ? ramps + whole : NULL, few))
            return 1;
    }
    for (int64_t j = 0; j < last; j++, stream += sizeof(T))
        NAME(one)(table + few[j], stream, 0);
    b->known = behind;
    b->known_at = at;
    b->known_positions = further;
    return 0;
}

/* The same of rows shorter than sixteen, each checked by itself, SHORT_AHEAD positions before its elements are moved. two, a constant: rows
 * have two, and eight of them are checked at a time. Of tables in the third-level cache most of whose lines are met, the rows that come
 * are fetched. Sixteen offsets are stored, and read of the ramp, at a time: behind the last ones there is room, as either may have 64
 * bits. */
DML_INLINE int NAME(short_row_ring)(const dml_plan *p, dml_block *b, const u32 *ramps, int two)
{
    const dml_dim *rows = p->dim + p->cut;
    const int64_t row = rows[1].size, pitch = rows->index, ahead = p->ahead, bound = p->bounds[0], step = p->steps[0];
    const int64_t met = rows->table <= row * MET_FOR_EACH && p->walked >= DML_NEAR && p->walked < BEYOND ? rows->table : 0;
    const char *index = b->indices;
    char *table = b->table, *stream = b->stream;
    const char *soon = table + dml_ceil(TABLE_AHEAD, dml_most(1, rows->table)) * rows->table;
    int is_signed = dml_index_signed(p->index);
    u32 *offsets = b->offsets.narrow;
    const u32 *moved = offsets;
    for (int64_t left = b->count / row, some; left > 0; left -= some, index += some * pitch, soon += some * rows->table) {
        some = two && left >= 8 ? 8 : 1;
        for (int64_t i = 0; i < some; i += 2)
            DML_PREFETCH(index + i * pitch + ahead);
        for (int64_t at = 0; at < met * some; at += DML_LINE)
            DML_PREFETCH(soon + at);
        if (some == 8  ? WRAP_PAIRS(index, pitch, sizeof(I), is_signed, bound, step, ramps, offsets)
            : row <= 8 ? WRAP_EIGHT(index, row, sizeof(I), is_signed, bound, step, ramps, offsets)
                       : WRAP_ROWS(index, row, row, 0, sizeof(I), is_signed, bound, step, ramps, offsets))
            return 1;
        offsets += some * row;
        if (ramps)
            ramps += some * row;
        if (offsets - moved >= SHORT_AHEAD + 16) {
            NAME(sixteen)(table, stream, moved, 0, 0, DML_INSERTS, 0);
            moved += 16;
            stream += 16 * sizeof(T);
        }
    }
    for (; offsets - moved >= 16; moved += 16, stream += 16 * sizeof(T))
        NAME(sixteen)(table, stream, moved, 0, 0, DML_INSERTS, 0);
    for (; moved != offsets; moved++, stream += sizeof(T))
        NAME(one)(table + *moved, stream, 0);
    return 0;
}

#undef SHORT_AHEAD
#undef MET_FOR_EACH
#undef BEYOND
#undef TABLE_AHEAD
