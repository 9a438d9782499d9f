/* looked_up.c: gathers along a short last dimension where each row of positions has indices of its own, or out of a short table:
 * a row of the table is loaded into registers once and permuted there (isa/row_lookups_avx512.h, isa/row_lookups_avx2.h). Finds such
 * gathers among plans, and runs few positions at once. */
#include "looked_up.h"
#include "dispatch.h"

#define LEAST_TOGETHER 48 /* bytes of eight-byte elements in whole rows that a register holds */
#define VECTOR 32 /* bytes of a register with AVX2 */
#define LEAST_OF_HALF 12 /* bytes of elements in whole rows that half of it holds; all of it where they have four */
#define LEAST_BYTES 20 /* positions of a row of elements of one byte */
#define MOST 4096 /* positions that need no plan, */
#define MOST_ASIDE 16384 /* bytes of their elements, where the output has to stay as it was if an index is out of range */

/* Whether registers had better hold rows of elements of so many bytes, a power of two: where each has as many indices as elements, some
 * are read together, or two at a time where they are short; else enough of each has to be gathered. That is less if their indices
 * would be copied before (gap), and without a plan. Measured for fewer, Zen 4: 0.4 to 1.0. */
static int is_faster_with_masks(const dml_rows *r, int64_t element, int64_t index, int planned)
{
    int64_t row = r->n * element, gap = r->index - r->length * index;
    if (element == 1)
        return dml_permutes_bytes && row > 0 && row <= DML_LOOKED_UP && r->length >= LEAST_BYTES;
    if (element < 2 || element > 8 || row == 0 || row > 2 * DML_LINE)
        return 0;
    if (row <= DML_LINE && r->length == r->n && r->table == row && gap == 0)
        return element < 8 || DML_LINE / row * row >= LEAST_TOGETHER;
    if (row <= DML_LINE && 2 * r->length * element <= DML_LINE)
        return r->length >= (gap && !planned ? 3 : element == 8 ? 4 : element == 4 || !planned ? 6 : 8);
    if (planned && element == 8 && gap == 0 && r->length % 8)
        return 0;
    int64_t least = (planned ? 8 : 4) + (gap ? 0 : 4);
    return r->length >= (element == 2 ? least * 3 / 2 : least);
}

/* What the loops with AVX2 have to have for other rows: else they would read or write where they must not. */
static int fit_without_masks(const dml_rows *r, int64_t element)
{
    int64_t row = r->n * element;
    return element <= 4 && row >= (element == 4 ? 1 : VECTOR / 2) && row <= 2 * VECTOR && r->length >= VECTOR / element;
}

/* Short rows that follow each other and have as many indices as elements, some of which half a register holds, and enough of it. The loop
 * asks for the same layout itself. */
static int are_together(const dml_rows *r, int64_t element, int64_t index)
{
    int64_t row = r->n * element;
    return element <= 4 && row > 0 && row <= VECTOR / 2 && r->length == r->n && r->table == row && r->index == r->n * index &&
           VECTOR / 2 / row * row >= (element == 4 ? VECTOR / 2 : LEAST_OF_HALF);
}

/* Whether rows that fit are faster: positions fill two thirds of the registers. Measured on Zen 3: 0.9 to 2.4x, on average 1.4x. */
static int is_faster_without_masks(const dml_rows *r, int64_t element)
{
    int64_t lanes = VECTOR / element;
    return 3 * r->length >= 2 * dml_ceil(r->length, lanes) * lanes;
}

static int is_faster(const dml_rows *r, int64_t element, int64_t index, int planned)
{
    if (dml_chosen_isa->looks_up)
        return is_faster_with_masks(r, element, index, planned);
    return are_together(r, element, index) || (fit_without_masks(r, element) && is_faster_without_masks(r, element));
}

/* Whether indices that follow each other choose from elements of one place. */
static int choose_in_rows(const dml_plan *p)
{
    const dml_dim *last = p->dim + p->rank - 1;
    return p->slice > 0 && p->tuple == 1 && last->table == 0 && last->index == dml_index_bytes(p->index) &&
           p->steps[0] == p->slice && !p->stores && !p->unaligned;
}

/* Whether a table of n elements is looked up as its rows are, which checks indices meanwhile. Measured on Emerald Rapids: bytes 1.2 to 2.8x
 * of what takes offsets first, others in two registers 0.98 to 1.9x; eight bytes by indices of eight 0.88 to 1.0x, so not these. */
static int table_is_a_row(int64_t n, int64_t element, int64_t index)
{
    if (!dml_chosen_isa->looks_up)
        return 1;
    if (element == 1)
        return dml_permutes_bytes && n > 0 && n <= DML_LOOKED_UP;
    return dml_tuned->gathers_below && n > 0 && n * element <= 2 * DML_LINE && (element < 8 || index == 4);
}

int dml_plan_looks_up_table(const dml_plan *p)
{
    return dml_chosen_isa->row_lookups && p->slice <= 8 && p->cut == p->rank - 1 && choose_in_rows(p) &&
           table_is_a_row(p->bounds[0], p->slice, dml_index_bytes(p->index));
}

void dml_plan_looks_up(dml_plan *p, int tables)
{
    const dml_dim *last = p->dim + p->rank - 1;
    int otherwise = p->in_registers || p->direct || p->rolls || p->past || p->back;
    p->row_lookup = NULL;
    if (!dml_chosen_isa->row_lookups || !p->fused || otherwise || !choose_in_rows(p))
        return;
    int table = tables && dml_plan_looks_up_table(p);
    if (table)
        p->looked_up = (dml_rows){p->bounds[0], last->size, 0, last->size * last->index};
    else if (p->cut == p->rank - 2)
        p->looked_up = (dml_rows){p->bounds[0], last->size, last[-1].table, last[-1].index};
    else
        return;
    if ((table && dml_chosen_isa->looks_up) || is_faster(&p->looked_up, p->slice, last->index, 1))
        p->row_lookup = dml_chosen_isa->row_lookups[p->storage][dml_index_width(p->index)];
    if (table)
        p->looked_up.length = 0;
}

/* The rows of the table that are for one row of positions each, if all positions are such rows, more than one. */
static int are_rows(const dml_move *m, int64_t index_bytes, dml_rows *found)
{
    int64_t rows = 0;
    *found = (dml_rows){m->bounds.v[0], 0, 0, 0};
    for (int64_t d = m->positions.n - 1; d >= 0; d--) {
        int64_t size = m->positions.v[d], table = dml_stride(m->table_strides, d), index = dml_stride(m->index_strides, d);
        if (size == 1)
            continue;
        if (found->length == 0) {
            if (table || index != index_bytes)
                return 0;
            found->length = size;
        } else if (rows == 0) {
            found->table = table;
            found->index = index;
            rows = size;
        } else if (table != rows * found->table || index != rows * found->index)
            return 0;
        else
            rows *= size;
    }
    return rows > 0;
}

DML_PIECE int look_up_aside(const dml_rows *rows, dml_row_lookup look_up, const dml_move *m, int64_t count, int64_t bytes,
                            int is_signed)
{
    char scratch[MOST_ASIDE];
    if (look_up(rows, scratch, m->table, m->indices, count, is_signed))
        return 1;
    memcpy(m->stream, scratch, (size_t)(count * bytes));
    return 0;
}

int dml_move_looked_up(const dml_move *m, const dml_run *run, int64_t count, int64_t bytes)
{
    int64_t index_bytes = dml_index_bytes(run->index);
    int is_signed = dml_index_signed(run->index);
    dml_rows rows;
    if (!dml_chosen_isa->row_lookups || m->bounds.n != 1 || m->steps.v[0] != bytes || count > MOST ||
        (run->check_first && count * bytes > MOST_ASIDE))
        return 0;
    if (are_rows(m, index_bytes, &rows)) {
        if (!is_faster(&rows, bytes, index_bytes, 0))
            return 0;
    } else if (rows.length == count && dml_chosen_isa->looks_up && bytes < 8 && table_is_a_row(rows.n, bytes, index_bytes))
        rows.length = 0;
    else
        return 0;
    const dml_row_lookup look_up = dml_chosen_isa->row_lookups[DML_CTZ64((uint64_t)bytes)][dml_index_width(run->index)];
    return !(run->check_first ? look_up_aside(&rows, look_up, m, count, bytes, is_signed)
                              : look_up(&rows, m->stream, m->table, m->indices, count, is_signed));
}
