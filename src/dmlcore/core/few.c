/* few.c: moves of so few positions that making a plan would take longer than the move: checks every index, then copies or
 * combines one slice after the other; more where single elements are named one after the other (few_elements.c). What is not that
 * simple, and what is wrong, is left to dml_move_run. */
#include "apart.h"
#include "copy.h"
#include "dispatch.h"
#include "few_elements.h"
#include "move.h"
#include "plan.h"

/* positions at most */
#define FEW 192      /* of slices out of a near table, or whose elements are apart */
#define FEW_FAR 128  /* out of a far one, of which more are fetched ahead, */
#define LONG 192     /* bytes; slices of so many and more, */
#define FEW_LONG 512 /* out of a near table, */
#define FEW_LONG_FAR 16
/* bytes of all at most: threads would not be worth more */
#define MOST ((int64_t)192 << 10)
#define MOST_COMBINED ((int64_t)64 << 10) /* which takes longer than copies */
#define MOST_APART 2048 /* elements of all slices, where these are not contiguous */

/* Slices of a constant number of bytes, where they are frequent: each becomes a load and a store. */
DML_INLINE void copy_slices(const char *from, const int64_t *from_offsets, char *to, const int64_t *to_offsets, int64_t count,
                            int64_t bytes)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(to + to_offsets[i], from + from_offsets[i], (size_t)bytes);
}

/* Where a position's index, its part of the table and its slice of the stream begin; or bytes from one to the next. */
typedef struct {
    int64_t index, table, stream;
} place;

static place steps_of(const dml_move *m, int64_t d)
{
    place steps = {dml_stride(m->index_strides, d), dml_stride(m->table_strides, d), dml_stride(m->stream_strides, d)};
    return steps;
}

DML_INLINE void go(place *at, place steps, int64_t times)
{
    at->index += times * steps.index;
    at->table += times * steps.table;
    at->stream += times * steps.stream;
}

/* Offsets of the slices of so many positions, in both tensors; 0: an index is out of range. Each is read once: the offsets are
 * what nobody else can change. `is_signed` and the index's class are constants. */
DML_INLINE int row_of(const dml_move *m, place at, place steps, int64_t count, int index, int is_signed, int64_t *table,
                      int64_t *stream)
{
    const char *indices = m->indices;
    for (int64_t i = 0; i < count; i++) {
        table[i] = at.table + i * steps.table;
        stream[i] = at.stream + i * steps.stream;
    }
    for (int64_t k = 0; k < m->bounds.n; k++, indices += m->coordinate_stride) {
        int64_t n = m->bounds.v[k], offset = at.index, bad = 0;
        uint64_t step = (uint64_t)m->steps.v[k];
        for (int64_t i = 0; i < count; i++, offset += steps.index) {
            int64_t value = dml_coordinate_at(indices + offset, index);
            value += is_signed && value < 0 ? n : 0;
            bad |= (uint64_t)value >= (uint64_t)n;
            table[i] = (int64_t)((uint64_t)table[i] + (uint64_t)value * step); /* may overflow where it is not used */
        }
        if (bad)
            return 0;
    }
    return 1;
}

/* Whether so many slices of so many bytes are few; 0: they are not contiguous. */
static int are_few(const dml_move *m, int64_t count, int64_t bytes)
{
    if (count <= FEW_LONG_FAR || bytes == 0)
        return count <= FEW;
    double walked = dml_span(m->positions, m->table_strides);
    int far = dml_is_far(dml_span(m->bounds, m->steps), walked, count * dml_ceil(bytes, DML_FAR_APART));
    return count <= (bytes < LONG ? (far ? FEW_FAR : FEW) : far ? FEW_LONG_FAR : FEW_LONG);
}

/* Slices of so many bytes, 0: whose elements, of `width`, are apart; copied: those of a scatter's source. 0: an index is out of range. */
DML_PIECE int move_slices(const dml_move *m, const dml_run *run, int scatter, int64_t count, int64_t bytes, int64_t width,
                          int64_t copied, dml_combiner combine)
{
    /* gathers may take the longest dimension at a time, scatters keep the order */
    int64_t table[FEW_LONG], stream[FEW_LONG], done[DML_DIMS], rank = m->positions.n, along = 0;
    int fine;
    for (int64_t d = 0; d < rank; d++) {
        DML_FEW;
        done[d] = 0;
        if (m->positions.v[d] > (scatter ? 1 : m->positions.v[along]))
            along = d;
    }
    int64_t size = rank ? m->positions.v[along] : 1;
    place at = {0, 0, 0}, steps = rank ? steps_of(m, along) : at;
    for (int64_t i = 0; i < count; i += size) {
        switch (run->index) {
        case DML_INDEX_I32: fine = row_of(m, at, steps, size, DML_INDEX_I32, 1, table + i, stream + i); break;
        case DML_INDEX_U32: fine = row_of(m, at, steps, size, DML_INDEX_U32, 0, table + i, stream + i); break;
        case DML_INDEX_I64: fine = row_of(m, at, steps, size, DML_INDEX_I64, 1, table + i, stream + i); break;
        default: fine = row_of(m, at, steps, size, DML_INDEX_U64, 0, table + i, stream + i);
        }
        if (!fine)
            return 0;
        for (int64_t d = rank - 1; d >= 0; d--) {
            if (d == along)
                continue;
            go(&at, steps_of(m, d), 1);
            if (++done[d] < m->positions.v[d])
                break;
            go(&at, steps_of(m, d), -done[d]);
            done[d] = 0;
        }
    }

    if (scatter)
        dml_copy_source(m, copied, width);
    if (combine) {
        combine(&(dml_updates){
            .count = count, .slice = bytes, .table = m->table, .wide = table, .stream = m->stream, .where = stream});
        return 1;
    }
    const char *from = scatter ? m->stream : m->table;
    char *to = scatter ? m->table : m->stream;
    const int64_t *from_offsets = scatter ? stream : table, *to_offsets = scatter ? table : stream;
    dml_list from_strides = scatter ? m->slice_stream_strides : m->slice_table_strides;
    dml_list to_strides = scatter ? m->slice_table_strides : m->slice_stream_strides;
    dml_apart one;
    switch (bytes) {
    case 0:
        dml_apart_open(&one, to_strides, from_strides, m->slice);
        dml_apart_copy_all(&one, to, to_offsets, from, from_offsets, count, width);
        break;
    case 1: copy_slices(from, from_offsets, to, to_offsets, count, 1); break;
    case 2: copy_slices(from, from_offsets, to, to_offsets, count, 2); break;
    case 4: copy_slices(from, from_offsets, to, to_offsets, count, 4); break;
    case 8: copy_slices(from, from_offsets, to, to_offsets, count, 8); break;
    default: dml_chosen_isa->few_slices(to, to_offsets, from, from_offsets, count, bytes);
    }
    return 1;
}

int dml_move_few(int op, const dml_move *m, const dml_run *run)
{
    int scatter = dml_kinds[op] == DML_KIND_SCATTER;
    int64_t width = (int64_t)1 << run->storage, count = dml_product(m->positions), copied = 0;
    if (count == 0 || count > DML_MOST_FEW)
        return 0;
    dml_combiner combine = run->reduction == DML_NONE ? NULL : dml_chosen_isa->combiners[run->data_type][run->reduction];
    int64_t bytes = dml_contiguous(m->slice, m->slice_table_strides, m->slice_stream_strides, width);
    if (dml_mul(count, bytes) > (combine ? MOST_COMBINED : MOST))
        return 0;
    if (bytes == 0) {
        int64_t apart = dml_mul(count, dml_product(m->slice));
        if (apart == 0 || apart > MOST_APART || combine)
            return 0;
    } else if (dml_move_few_elements(m, run, scatter, count, bytes, combine))
        return 1;
    if (!are_few(m, count, bytes) || (scatter && !dml_copies_few(m, run, &copied)))
        return 0;
    return move_slices(m, run, scatter, count, bytes, width, copied, combine);
}
