/* few_elements.c: few single elements that stand one after the other in memory, named by indices in a row, by those of one dimension after
 * the other, or by indices that are apart: finds such moves, and makes offsets of all their indices before it moves, or combines, any. */
#include "few_elements.h"
#include "apart.h"
#include "dispatch.h"
#include "looked_up.h"
#include "move.h"
#include "plan.h"
#include "together.h"

#define FEW 128 /* indices that are apart: fewer are left to few.c */
#define FEW_IN_A_ROW 4096 /* elements that follow each other, as their indices do, going forwards */
#define FEW_BY_GATHERS 2048 /* that are gathered: of more some had better be planned (had_better_plan) */
#define MORE_IN_A_ROW DML_MOST_FEW /* where updates are combined; on other machines also if a plan would read indices twice, */
#define NEAREST ((int64_t)16 << 10) /* or the first-level cache holds the table, or loops have no rings (has_rings); */
#define SHORT_TUPLE 2 /* coordinates of one position that is gathered */
#define NEAR ((int64_t)1 << 20) /* along a table of so many bytes at most, */
#define NEAR_UNFETCHED ((int64_t)16 << 20) /* or of so many, where nothing would be fetched ahead, */
#define FAR INT32_MAX /* or, DML_FEW_GATHERED of them, as far as offsets go */
#define FEW_FOR_VECTORS 12 /* more are left to the loops for the machine at hand */
#define FEW_TOGETHER 4096 /* indices that do not follow each other, brought together */
#define WORTH_A_CALL 10 /* elements of each row, if all rows have the same indices */

/* How elements that stand one after the other in memory are named. */
enum { NOT_IN_A_ROW, BY_TUPLES, BY_COLUMNS, APART };

/* Single elements in a row. */
typedef struct {
    int64_t count, bytes, copied, width; /* positions; bytes of an element, of the source, of one of its elements */
    int index, scatter, named;
    int walks; /* how many dimensions longer than one go along the table, 1 at least if there is something in `back`; 0: none */
    int64_t back; /* bytes from the first place of a table that is gathered backwards to its lowest, from where offsets count */
    int64_t alike; /* dimensions in front of these positions, which are gathered again for each place along them */
    dml_combiner combine; /* NULL: updates overwrite */
} row;

/* Whether elements stand one after the other in memory, in a table of so many bytes at most; if so, whether their indices, or those for
 * each dimension (BY_COLUMNS), do as well, or are apart. */
static int in_a_row(const dml_move *m, row *r, int64_t most)
{
    int64_t index_bytes = dml_index_bytes(r->index);
    int64_t before = 1, tuple = m->bounds.n * index_bytes;
    int tuples = m->bounds.n == 1 || m->coordinate_stride == index_bytes, columns = m->bounds.n > 1;
    double walked = 0, reached = 0, back = 0;
    int dimensions = 0;
    for (int64_t k = 0; k < m->bounds.n; k++) {
        DML_FEW;
        int64_t step = m->steps.v[k];
        if (step == 0)
            return NOT_IN_A_ROW;
        reached += (double)m->bounds.v[k] * (double)llabs(step);
        if (step < 0 && m->bounds.v[k])
            back += (double)(m->bounds.v[k] - 1) * (double)-step;
    }
    for (int64_t d = m->positions.n - 1; d >= 0; d--) {
        int64_t size = m->positions.v[d], table = dml_stride(m->table_strides, d), index = dml_stride(m->index_strides, d);
        if (size == 1)
            continue;
        if (dml_stride(m->stream_strides, d) != before * r->bytes)
            return NOT_IN_A_ROW;
        tuples &= index == before * tuple;
        columns &= index == before * index_bytes;
        walked += (double)(size - 1) * (double)llabs(table);
        if (table < 0)
            back += (double)(size - 1) * (double)-table;
        before *= size;
        dimensions++;
    }
    if (reached + walked > (double)most || (back > 0 && r->scatter))
        return NOT_IN_A_ROW;
    r->walks = walked > 0 ? dimensions : back > 0;
    r->back = (int64_t)back;
    if ((uintptr_t)m->indices % (uintptr_t)index_bytes || (!tuples && m->coordinate_stride % index_bytes))
        return APART;
    return tuples ? BY_TUPLES : columns && !r->walks ? BY_COLUMNS : APART;
}

static int offsets_with(const dml_move *m, const char *indices, int index, int64_t count, const u32 *ramp, u32 *offsets)
{
    const dml_normaliser check = dml_chosen_isa->normalisers[dml_index_width(index)];
    return check(indices, count, (int)m->bounds.n, dml_index_signed(index), m->bounds.v, m->steps.v, ramp, offsets);
}

/* What is added to the offsets of positions that go along the table, or of the first one and all others. */
DML_LONG_PIECE void fill_ramp(const dml_move *m, int64_t first, u32 *ramp)
{
    int64_t done = 1;
    ramp[0] = (u32)first;
    for (int64_t d = m->positions.n - 1; d >= 0; d--) {
        int64_t all = done * m->positions.v[d];
        u32 add = (u32)dml_stride(m->table_strides, d); /* of place number `done` */
        if (done == 1) { /* as below, without reading what has just been written */
            u32 place = (u32)first;
            for (int64_t i = 0; i < all; i++, place += add)
                ramp[i] = place;
            done = all;
        }
        for (int64_t some; done < all; done += some, add += add) {
            some = dml_least(done, all - done);
            for (int64_t i = 0; i < some; i++)
                ramp[done + i] = ramp[i] + add;
        }
    }
}

/* Offsets of so many tuples in a row, whose positions go along the table; 1: an index is out of range. */
DML_LONG_PIECE int offsets_along(const dml_move *m, const row *r, u32 *offsets)
{
    _Alignas(DML_LINE) u32 ramp[MORE_IN_A_ROW];
    fill_ramp(m, r->back, ramp);
    return offsets_with(m, m->indices, r->index, r->count, ramp, offsets);
}

/* Those of so many coordinates in a row, of one dimension after the other: what they come to is added to what those before did. */
static int offsets_of_columns(const dml_move *m, int index, int64_t count, u32 *other, u32 *offsets)
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

/* Whether a plan's loops check indices by rings, far ahead of their moves. Where they do not, a plan gains less, and more elements go
 * without one. */
static int has_rings(void) { return dml_chosen_isa->longest_ring > 1; }

/* Bytes of a table that elements in a row may be anywhere in. many: not as few as they usually are. */
static int64_t how_far(int64_t count, int scatter, const dml_run *run, int many)
{
    if (many && !scatter && !run->check_first && has_rings())
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

/* Before anything is moved by offsets. 1: updates were combined, nothing is left to move. */
DML_INLINE int begin_row(const dml_move *m, const row *r, const u32 *at)
{
    if (r->scatter)
        dml_copy_source(m, r->copied, r->width);
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
    int64_t bytes = r->bytes, d, done[DML_DIMS];
    int storage = DML_CTZ64((uint64_t)bytes);
    char *table = m->table - r->back, *stream = m->stream;
    if (begin_row(m, r, at))
        return;
    if (r->scatter) {
        dml_chosen_isa->scatterers[storage](table, stream, at, r->count);
        return;
    }
    int gathers = bytes >= 4 && dml_tuned->gathers_below > 0;
    int looks_up = dml_chosen_isa->looks_up && !r->walks && r->count >= DML_HELD_AT_ONCE && !(bytes == 8 && gathers);
    int64_t held = looks_up ? dml_held(bytes, m->bounds.n, m->bounds.v, m->steps.v) : 0;
    for (d = 0; d < r->alike; d++)
        done[d] = 0;
    do {
        dml_chosen_isa->gatherers[storage](stream, table, at, r->count, gathers, held);
        stream += r->count * bytes;
        for (d = r->alike - 1; d >= 0; d--) {
            int64_t stride = dml_stride(m->table_strides, d);
            table += stride;
            if (++done[d] < m->positions.v[d])
                break;
            table -= done[d] * stride;
            done[d] = 0;
        }
    } while (d >= 0);
}

/* Offsets where indices do not follow each other, or those of each dimension do. */
DML_PIECE int offsets_apart(const dml_move *m, const row *r, u32 *at)
{
    union {
        _Alignas(DML_LINE) int64_t indices[FEW_TOGETHER];
        u32 at[FEW_TOGETHER];
    } other;
    _Alignas(DML_LINE) u32 ramp[FEW_TOGETHER];
    char *together = (char *)other.indices;
    int64_t bytes = dml_index_bytes(r->index), rows = 0, columns = 0, pitch = 0;
    int index = r->index;
    if (r->named == BY_COLUMNS)
        return offsets_of_columns(m, index, r->count, other.at, at);
    dml_turner turn = dml_turns_vectors(m, index, &rows, &columns, &pitch);
    if (turn) {
        if (turn(together, columns * (int64_t)sizeof(u32), m->indices, pitch, rows, columns, (int)bytes,
                 dml_index_signed(index), m->bounds.v[0]))
            return 1;
        index = dml_index_narrowed(index);
    } else
        dml_bring_together(together, m, bytes);
    if (r->walks)
        fill_ramp(m, r->back, ramp);
    return offsets_with(m, together, index, r->count, r->walks ? ramp : NULL, at);
}

/* m: all positions; one: those that have their offsets, all or one row of them. */
DML_PIECE int move_long_row(const dml_move *m, const dml_move *one, const row *r)
{
    _Alignas(DML_LINE) u32 at[MORE_IN_A_ROW];
    int bad = r->named > BY_TUPLES ? offsets_apart(one, r, at)
              : r->walks           ? offsets_along(one, r, at)
                                   : offsets_with(one, one->indices, r->index, r->count, NULL, at);
    if (bad)
        return 0;
    move_by(m, r, at);
    return 1;
}

static dml_list without(dml_list list, int64_t dimensions)
{
    return list.n ? (dml_list){list.v + dimensions, list.n - dimensions} : list;
}

/* Rows that have the same indices: these are read once. 0: they have not, or one is out of range. */
static int move_alike(const dml_move *m, const row *all, int64_t far)
{
    int64_t alike = 0, rows = 1;
    for (; alike < m->positions.n && (m->positions.v[alike] == 1 || dml_stride(m->index_strides, alike) == 0); alike++)
        rows *= m->positions.v[alike];
    if (rows == 1 || all->count < rows * WORTH_A_CALL || all->count / rows * m->bounds.n > FEW_TOGETHER)
        return 0;
    dml_move one = *m;
    row each = *all;
    one.positions = without(m->positions, alike);
    one.index_strides = without(m->index_strides, alike);
    one.table_strides = without(m->table_strides, alike);
    one.stream_strides = without(m->stream_strides, alike);
    each.alike = alike;
    each.count = all->count / rows;
    each.named = in_a_row(&one, &each, far);
    return each.named && move_long_row(m, &one, &each);
}

/* Whether the vector unit's gathers, by a plan, are better for what is gathered: elements in a row, 1.0 to 1.3x, that nothing moves on
 * along the table, nor are checked first by tuples; those that are apart, unless vectors turn their indices; and what threads read sooner.
 * The others 1.0 to 1.5x here. */
static int had_better_plan(const dml_move *m, const dml_run *run, const row *r)
{
    int64_t rows = 0, columns = 0, pitch = 0;
    if (run->threads > 1 && dml_reads_long(m))
        return 1;
    if (r->named == APART)
        return !dml_turns_vectors(m, run->index, &rows, &columns, &pitch);
    return !r->walks && !(run->check_first && m->bounds.n > 1);
}

int dml_move_few_elements(const dml_move *m, const dml_run *run, int scatter, int64_t count, int64_t bytes,
                          dml_combiner combine)
{
    int many = count > FEW_IN_A_ROW, gathers = dml_tuned->gathers_below && !combine;
    if (bytes > 8 || bytes & (bytes - 1) || (many && gathers) || (count <= FEW_FOR_VECTORS && m->bounds.n > 1))
        return 0;
    row all = {.count = count,
               .bytes = bytes,
               .width = (int64_t)1 << run->storage,
               .index = run->index,
               .scatter = scatter,
               .combine = combine};
    int64_t far = how_far(count, scatter, run, many);
    all.named = in_a_row(m, &all, far);
    if (gathers && count > FEW_BY_GATHERS && !scatter && had_better_plan(m, run, &all))
        return 0;
    int rows = all.named && all.walks > 1, table = all.named == BY_TUPLES && !all.walks && m->bounds.v[0] <= DML_LOOKED_UP;
    if ((rows || table) && !scatter && count > FEW_FOR_VECTORS && count <= FEW_TOGETHER &&
        ((!all.back && dml_move_looked_up(m, run, count, bytes)) || (rows && move_alike(m, &all, far))))
        return 1;
    int in_row = all.named == BY_TUPLES && ((m->bounds.n == 1 && !all.walks) || count > FEW_FOR_VECTORS);
    in_row &= !many || ((!all.walks || !has_rings()) && (scatter || m->bounds.n <= SHORT_TUPLE));
    in_row |= all.named > BY_TUPLES && count > FEW && count <= FEW_TOGETHER &&
              (all.named == BY_COLUMNS || count * m->bounds.n <= FEW_TOGETHER);
    if (!in_row || (scatter && !dml_copies_few(m, run, &all.copied)))
        return 0;
    return count > FEW_FOR_VECTORS ? move_long_row(m, m, &all) : move_short_row(m, &all);
}
