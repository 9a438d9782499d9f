/* few.c: moves of so few positions that making a plan would take longer than the move: checks every index, then copies or
 * combines one slice after the other; more where single elements are named one after the other. What is not that simple, and what
 * is wrong, is left to dml_move_run. */
#include "apart.h"
#include "copy.h"
#include "dispatch.h"
#include "looked_up.h"
#include "move.h"
#include "plan.h"

#define FEW 128                            /* positions, */
#define SHORT_SLICE 1024                   /* with slices of so many bytes at most; */
#define FEW_IN_A_ROW 4096                  /* those of elements that follow each other, as their indices do, going forwards */
#define FEW_BY_GATHERS 2048                /* where the vector unit's gathers are fast: plans are as good from there on, */
#define MORE_IN_A_ROW 8192                 /* unless updates are combined; elsewhere, if a plan would read indices twice, */
#define NEAREST ((int64_t)16 << 10)        /* or the first-level cache holds the table; */
#define SHORT_TUPLE 2                      /* coordinates of one position that is gathered */
#define NEAR ((int64_t)1 << 20)            /* along a table of so many bytes at most, */
#define NEAR_UNFETCHED ((int64_t)16 << 20) /* or of so many, where nothing would be fetched ahead, */
#define FAR INT32_MAX                      /* or, DML_FEW_GATHERED of them, as far as offsets go */
#define FEW_FOR_VECTORS 12                 /* more are left to the loops for the machine at hand */
#define FEW_COPIED ((int64_t)512 << 10)    /* bytes of a scatter's source, twice as many where no thread may help */
#define FEW_TOGETHER 4096                  /* indices that do not follow each other, brought together */
#define FEW_APART 1024                     /* elements of it, or of all slices, that are not next to each other */

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

/* How elements that stand one after the other in memory are named. */
enum { NOT_IN_A_ROW, BY_TUPLES, BY_COLUMNS, APART };

/* Whether elements stand one after the other in memory and go forwards along a table of so many bytes at most, if at all (*walks);
 * if so, whether their indices, or those for each dimension (BY_COLUMNS), do as well, or are apart. */
static int in_a_row(const dml_move *m, int64_t index_bytes, int64_t bytes, int64_t most, int *walks)
{
    int64_t before = 1, tuple = m->bounds.n * index_bytes;
    int tuples = m->bounds.n == 1 || m->coordinate_stride == index_bytes, columns = m->bounds.n > 1;
    double walked = 0, reached = 0;
    for (int64_t k = 0; k < m->bounds.n; k++) {
        DML_FEW;
        if (m->steps.v[k] <= 0)
            return NOT_IN_A_ROW;
        reached += (double)m->bounds.v[k] * (double)m->steps.v[k];
    }
    for (int64_t d = m->positions.n - 1; d >= 0; d--) {
        place steps = steps_of(m, d);
        int64_t size = m->positions.v[d];
        if (size == 1)
            continue;
        if (steps.table < 0 || steps.stream != before * bytes)
            return NOT_IN_A_ROW;
        tuples &= steps.index == before * tuple;
        columns &= steps.index == before * index_bytes;
        if (steps.table)
            walked += (double)(size - 1) * (double)steps.table;
        before *= size;
    }
    *walks = walked > 0;
    if (reached + walked > (double)most)
        return NOT_IN_A_ROW;
    if ((uintptr_t)m->indices % (uintptr_t)index_bytes || (!tuples && m->coordinate_stride % index_bytes))
        return APART;
    return tuples ? BY_TUPLES : columns && !*walks ? BY_COLUMNS : APART;
}

static int offsets_with(const dml_move *m, const char *indices, int index, int64_t count, const u32 *ramp, u32 *offsets)
{
    const dml_normaliser check = dml_chosen_isa->normalisers[dml_index_width(index)];
    return check(indices, count, (int)m->bounds.n, dml_index_signed(index), m->bounds.v, m->steps.v, ramp, offsets);
}

/* Offsets of so many tuples in a row, whose positions go along the table; 1: an index is out of range. */
DML_LONG_PIECE int offsets_along(const dml_move *m, const char *indices, int index, int64_t count, u32 *offsets)
{
    _Static_assert(FEW_TOGETHER <= FEW_IN_A_ROW, "the ramp has room for both");
    u32 ramp[FEW_IN_A_ROW];
    int64_t done = 1;
    ramp[0] = 0;
    for (int64_t d = m->positions.n - 1; d >= 0; d--) {
        int64_t all = done * m->positions.v[d];
        u32 add = (u32)dml_stride(m->table_strides, d); /* of place number `done` */
        for (int64_t some; done < all; done += some, add += add) {
            some = dml_least(done, all - done);
            for (int64_t i = 0; i < some; i++)
                ramp[done + i] = ramp[i] + add;
        }
    }
    return offsets_with(m, indices, index, count, ramp, offsets);
}

/* Those of so many coordinates in a row, of one dimension after the other: what they come to is added to what those before did. */
static int offsets_by_columns(const dml_move *m, int index, int64_t count, u32 *other, u32 *offsets)
{
    const dml_normaliser check = dml_chosen_isa->normalisers[dml_index_width(index)];
    const u32 *before = NULL;
    for (int64_t k = 0; k < m->bounds.n; k++) {
        u32 *to = (m->bounds.n - k) % 2 ? offsets : other;
        if (check(m->indices + k * m->coordinate_stride, count, 1, dml_index_signed(index), m->bounds.v + k, m->steps.v + k,
                  before, to))
            return 1;
        before = to;
    }
    return 0;
}

/* Bytes of a table that elements in a row may be anywhere in. many: not as few as they usually are. */
static int64_t how_far(int64_t count, int scatter, const dml_run *run, int many)
{
    if (many && !scatter && !run->check_first)
        return NEAREST;
    if (!scatter && count <= DML_FEW_GATHERED)
        return FAR;
    return dml_most(NEAR, dml_least(NEAR_UNFETCHED, scatter ? dml_tuned->scatter_fetches : dml_tuned->gather_fetches));
}

/* Offsets of so few indices in a row that vectors would not pay; 1: one is out of range. `is_signed` and the index's class are
 * constants. */
DML_INLINE int offsets_of(const char *from, int64_t count, int64_t n, int64_t step, int index, int is_signed, u32 *offsets)
{
    int64_t bytes = dml_index_bytes(index), bad = 0;
    for (int64_t i = 0; i < count; i++) {
        DML_FEW;
        int64_t value = dml_coordinate_at(from + i * bytes, index);
        value += is_signed && value < 0 ? n : 0;
        bad |= (uint64_t)value >= (uint64_t)n;
        offsets[i] = (u32)((uint64_t)value * (uint64_t)step);
    }
    return (int)bad;
}

/* Elements of a constant number of bytes, in that order. */
DML_INLINE void copy_elements(char *table, const u32 *at, char *stream, int64_t count, int64_t bytes, int scatter)
{
    if (scatter)
        for (int64_t i = 0; i < count; i++)
            memcpy(table + at[i], stream + i * bytes, (size_t)bytes);
    else
        for (int64_t i = 0; i < count; i++)
            memcpy(stream + i * bytes, table + at[i], (size_t)bytes);
}

/* The source of a scatter, if it has one: so many bytes, or elements that are apart. */
static void copy_few(const dml_move *m, int64_t bytes, int64_t width)
{
    if (bytes)
        dml_copy_bytes(m->table, m->source, bytes, DML_STORE_PLAIN);
    else if (m->source)
        dml_copy_apart(m->table, m->copy_table_strides, m->source, m->copy_source_strides, m->copy, width);
}

/* Single elements in a row. */
typedef struct {
    int64_t count, bytes, copied, width; /* positions; bytes of an element, of the source, of one of its elements */
    int index, scatter, walks, named;
    dml_combiner combine; /* NULL: updates overwrite */
} row;

/* Before anything is moved by offsets. 1: updates were combined, nothing is left to move. */
DML_INLINE int begin_row(const dml_move *m, const row *r, const u32 *at)
{
    if (r->scatter)
        copy_few(m, r->copied, r->width);
    if (r->combine)
        r->combine(&(dml_updates){
            .count = r->count, .slice = r->bytes, .table = m->table, .narrow = at, .stream = m->stream, .step = r->bytes});
    return r->combine != NULL;
}

static int move_short_row(const dml_move *m, const row *r)
{
    u32 at[FEW_FOR_VECTORS];
    int64_t n = m->bounds.v[0], step = m->steps.v[0], count = r->count;
    int bad;
    switch (r->index) {
    case DML_INDEX_I32: bad = offsets_of(m->indices, count, n, step, DML_INDEX_I32, 1, at); break;
    case DML_INDEX_U32: bad = offsets_of(m->indices, count, n, step, DML_INDEX_U32, 0, at); break;
    case DML_INDEX_I64: bad = offsets_of(m->indices, count, n, step, DML_INDEX_I64, 1, at); break;
    default: bad = offsets_of(m->indices, count, n, step, DML_INDEX_U64, 0, at);
    }
    if (bad)
        return 0;
    if (begin_row(m, r, at))
        return 1;
    switch (r->bytes) {
    case 1: copy_elements(m->table, at, m->stream, count, 1, r->scatter); break;
    case 2: copy_elements(m->table, at, m->stream, count, 2, r->scatter); break;
    case 4: copy_elements(m->table, at, m->stream, count, 4, r->scatter); break;
    default: copy_elements(m->table, at, m->stream, count, 8, r->scatter);
    }
    return 1;
}

/* By their offsets. */
static void move_by(const dml_move *m, const row *r, const u32 *at)
{
    int64_t bytes = r->bytes;
    int storage = DML_CTZ64((uint64_t)bytes);
    if (begin_row(m, r, at))
        return;
    if (r->scatter) {
        dml_chosen_isa->scatterers[storage](m->table, m->stream, at, r->count);
        return;
    }
    int gathers = bytes >= 4 && dml_tuned->gathers_below > 0;
    int looks_up = dml_chosen_isa->looks_up && !r->walks && r->count >= DML_HELD_AT_ONCE && !(bytes == 8 && gathers);
    int64_t held = looks_up ? dml_held(bytes, m->bounds.n, m->bounds.v, m->steps.v) : 0;
    dml_chosen_isa->gatherers[storage](m->stream, m->table, at, r->count, gathers, held);
}

DML_PIECE int move_long_row(const dml_move *m, const row *r)
{
    u32 at[MORE_IN_A_ROW];
    if (r->walks ? offsets_along(m, m->indices, r->index, r->count, at)
                 : offsets_with(m, m->indices, r->index, r->count, NULL, at))
        return 0;
    move_by(m, r, at);
    return 1;
}

/* The same where indices do not follow each other, or those of each dimension do. */
DML_PIECE int move_row_apart(const dml_move *m, const row *r)
{
    u32 at[FEW_TOGETHER];
    union {
        int64_t indices[FEW_TOGETHER];
        u32 at[FEW_TOGETHER];
    } other;
    char *together = (char *)other.indices;
    if (r->named == BY_COLUMNS) {
        if (offsets_by_columns(m, r->index, r->count, other.at, at))
            return 0;
    } else {
        dml_bring_together(together, m, dml_index_bytes(r->index));
        if (r->walks ? offsets_along(m, together, r->index, r->count, at)
                     : offsets_with(m, together, r->index, r->count, NULL, at))
            return 0;
    }
    move_by(m, r, at);
    return 1;
}

int dml_move_few(int op, const dml_move *m, const dml_run *run)
{
    int scatter = dml_kinds[op] == DML_KIND_SCATTER, fine;
    int64_t width = (int64_t)1 << run->storage, count = dml_product(m->positions), copied = 0;
    int planned = dml_tuned->gathers_below && run->reduction == DML_NONE; /* so many are as fast that way */
    int many = count > (dml_tuned->gathers_below ? FEW_BY_GATHERS : FEW_IN_A_ROW);
    if (count == 0 || count > MORE_IN_A_ROW || (many && planned) || run->mode != DML_RAISE)
        return 0;
    dml_combiner combine = run->reduction == DML_NONE ? NULL : dml_chosen_isa->combiners[run->data_type][run->reduction];
    int64_t bytes = dml_contiguous(m->slice, m->slice_table_strides, m->slice_stream_strides, width);
    if (bytes > SHORT_SLICE)
        return 0;
    int64_t apart = bytes ? 0 : dml_mul(count, dml_product(m->slice)); /* elements; 0: slices are contiguous */
    if (bytes == 0 && (apart == 0 || apart > FEW_APART || combine))
        return 0;
    int element = bytes > 0 && bytes <= 8 && (bytes & (bytes - 1)) == 0;
    int64_t far = how_far(count, scatter, run, many);
    int walks = 0, named = element ? in_a_row(m, dml_index_bytes(run->index), bytes, far, &walks) : NOT_IN_A_ROW;
    if (named && walks && !scatter && count > FEW_FOR_VECTORS && dml_move_looked_up(m, run, count, bytes))
        return 1;
    int in_row = named == BY_TUPLES && ((m->bounds.n == 1 && !walks) || count > FEW_FOR_VECTORS);
    in_row &= !many || (!walks && (scatter || m->bounds.n <= SHORT_TUPLE));
    in_row |= named > BY_TUPLES && count > FEW && count <= FEW_TOGETHER &&
              (named == BY_COLUMNS || count * m->bounds.n <= FEW_TOGETHER);
    if (count > FEW && !in_row)
        return 0;
    if (scatter && m->source) {
        copied = dml_contiguous(m->copy, m->copy_table_strides, m->copy_source_strides, width);
        if (copied > (run->threads > 1 ? 1 : 2) * FEW_COPIED || (copied == 0 && dml_product(m->copy) > FEW_APART))
            return 0;
    }

    if (in_row) {
        row all = {count, bytes, copied, width, run->index, scatter, walks, named, combine};
        if (named > BY_TUPLES)
            return move_row_apart(m, &all);
        return count > FEW_FOR_VECTORS ? move_long_row(m, &all) : move_short_row(m, &all);
    }

    /* gathers may take the longest dimension at a time, scatters keep the order */
    int64_t table[FEW], stream[FEW], done[DML_DIMS], rank = m->positions.n, along = 0;
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
        copy_few(m, copied, width);
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
    for (int64_t i = 0; apart && i < count; i++)
        dml_copy_apart(to + to_offsets[i], to_strides, from + from_offsets[i], from_strides, m->slice, width);
    switch (bytes) {
    case 0: break;
    case 1: copy_slices(from, from_offsets, to, to_offsets, count, 1); break;
    case 2: copy_slices(from, from_offsets, to, to_offsets, count, 2); break;
    case 4: copy_slices(from, from_offsets, to, to_offsets, count, 4); break;
    case 8: copy_slices(from, from_offsets, to, to_offsets, count, 8); break;
    default: dml_chosen_isa->few_slices(to, to_offsets, from, from_offsets, count, bytes);
    }
    return 1;
}
