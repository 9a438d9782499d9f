/* capi.c: the functions behind include/dmlcore.h: what they are handed is checked as far as that can be, then run.
 * Plain C; core/door.pxi puts the table into a capsule. */
#include "capi.h"

#include <stddef.h>

#include "_generated/operators.h"
#include "_generated/support.h"
#include "core/dispatch.h"

/* Programs that were compiled against dmlcore.h rely on this. Where an assertion fails, a change has broken them: undo it,
 * or raise DMLCORE_API_MAJOR together with the numbers here. */
#define AT(type, member, place) _Static_assert(offsetof(type, member) == (place), "dmlcore.h: " #type "." #member " has moved")
#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "dmlcore.h: " #type " has another size")
#define VALUE(name, number) _Static_assert((name) == (number), "dmlcore.h: " #name " has another value")
_Static_assert(DMLCORE_API_MAJOR == 1, "dmlcore.h: the numbers below belong to version 1");
#if UINTPTR_MAX == UINT64_MAX
SIZE(dml_list, 16);
AT(dml_run, mode, 12);
AT(dml_run, threads, 24);
AT(dml_run, untouched, 28);
AT(dml_run, poll, 32);
AT(dml_run, fill, 40);
AT(dml_run, bad_position, 48);
SIZE(dml_run, 80);
AT(dml_move, bounds, 64);
AT(dml_move, coordinate_stride, 96);
AT(dml_move, slice, 104);
AT(dml_move, table, 152);
AT(dml_move, source, 176);
SIZE(dml_move, 232);
AT(dml_nonzero, mask, 40);
AT(dml_nonzero, coordinates, 64);
AT(dml_nonzero, coordinate_bytes, 88);
AT(dml_nonzero, count, 104);
SIZE(dml_nonzero, 120);
SIZE(dmlcore_data_type, 32);
#endif
VALUE(DML_STORAGE_U128, 4);
VALUE(DML_INDEX_U64, 3);
VALUE(DML_INTERRUPTED, 3);
VALUE(DML_DROP, 3);
VALUE(DML_MAX, 4);

static int find_data_type(const char *name, dmlcore_data_type *answer)
{
    for (int value = 0; value < DML_DATA_TYPES; value++) {
        const dml_data_type *type = dml_data_types + value;
        if (type->bits >= 8 && strcmp(name, type->name) == 0) {
            answer->value = value;
            answer->bits = type->bits;
            answer->storage = type->storage;
            answer->index = type->index;
            answer->zero_mask[0] = type->zero_mask[0];
            answer->zero_mask[1] = type->zero_mask[1];
            return 0;
        }
    }
    return DMLCORE_INVALID;
}

static int one_thread(void) { return 1; }

/* No negative size, and no product that a 64-bit offset could not reach. */
static int sound(dml_list sizes)
{
    int64_t product = 1;
    if (sizes.n < 0 || sizes.n > DML_RANK_MAX || (sizes.n && !sizes.v))
        return 0;
    for (int64_t d = 0; d < sizes.n; d++) {
        if (sizes.v[d] < 0)
            return 0;
        product = dml_mul(product, sizes.v[d] ? sizes.v[d] : 1);
    }
    return product <= INT64_MAX / 32;
}

static int fits(dml_list strides, dml_list sizes) { return strides.n == 0 || (strides.n == sizes.n && strides.v); }

static int within(int value, int end) { return value >= 0 && value < end; }

static int move_is_sound(const dml_move *m, const dml_run *run)
{
    if (!within(run->storage, DML_STORAGES) || !within(run->index, DML_INDEXES) || !within(run->mode, DML_DROP + 1) ||
        !within(run->reduction, DML_MAX + 1))
        return 0;
    if (!sound(m->positions) || !sound(m->bounds) || m->bounds.n == 0 || !sound(m->slice) || !sound(m->copy))
        return 0;
    if (dml_mul(dml_product(m->positions), dml_product(m->slice)) > INT64_MAX / 32)
        return 0;
    if (dml_product(m->positions) > 0 && (!m->indices || (dml_product(m->slice) > 0 && (!m->table || !m->stream))))
        return 0;
    if (m->source && dml_product(m->copy) > 0 && !m->table)
        return 0;
    return fits(m->index_strides, m->positions) && fits(m->table_strides, m->positions) &&
           fits(m->stream_strides, m->positions) && m->steps.n == m->bounds.n && m->steps.v &&
           fits(m->slice_table_strides, m->slice) && fits(m->slice_stream_strides, m->slice) &&
           fits(m->copy_source_strides, m->copy) && fits(m->copy_table_strides, m->copy);
}

/* Runs with the default number of threads where none was given. */
static int move_with(int op, const dml_move *move, dml_run *run)
{
    int threads = run->threads;
    if (threads < 1)
        run->threads = dmlcore_functions.get_num_threads();
    int status = dml_move_few(op, move, run) ? DML_OK : dml_move_run(op, move, run);
    run->threads = threads;
    return status;
}

/* All operators that gather run the same loops, and all that scatter (core/walk.h). */
static int gather(const dml_move *move, dml_run *run)
{
    if (!move_is_sound(move, run) || run->mode == DML_DROP || run->reduction != DML_NONE || move->source ||
        (run->mode == DML_FILL && !run->fill))
        return DMLCORE_INVALID;
    return move_with(DML_OP_GATHER_ND, move, run);
}

static int scatter(const dml_move *move, dml_run *run)
{
    if (!move_is_sound(move, run) || run->mode == DML_CLIP || run->mode == DML_FILL)
        return DMLCORE_INVALID;
    if (run->reduction != DML_NONE &&
        (run->data_type < 1 || run->data_type >= DML_NUMBERS || dml_data_types[run->data_type].storage != run->storage))
        return DMLCORE_INVALID;
    return move_with(DML_OP_SCATTER_ND, move, run);
}

static int nonzero_is_sound(const dml_nonzero *nz, const dml_run *run)
{
    return within(run->storage, DML_STORAGES) && sound(nz->sizes) && fits(nz->strides, nz->sizes) && nz->columns >= 0 &&
           nz->columns <= nz->sizes.n && (nz->input || dml_product(nz->sizes) == 0);
}

static int nonzero_with(int (*step)(dml_nonzero *, dml_run *), dml_nonzero *nz, dml_run *run)
{
    int threads = run->threads;
    if (threads < 1)
        run->threads = dmlcore_functions.get_num_threads();
    int status = step(nz, run);
    run->threads = threads;
    return status;
}

static int nonzero_count(dml_nonzero *nz, dml_run *run)
{
    return nonzero_is_sound(nz, run) ? nonzero_with(dml_nonzero_count, nz, run) : DMLCORE_INVALID;
}

static int nonzero_write(dml_nonzero *nz, dml_run *run)
{
    if (!nonzero_is_sound(nz, run) || !nz->scratch || nz->count < 0 ||
        (nz->coordinate_bytes != 4 && nz->coordinate_bytes != 8) ||
        (!nz->coordinates && nz->count > 0 && nz->rows_max > 0 && nz->columns > 0))
        return DMLCORE_INVALID;
    for (int64_t d = nz->sizes.n - nz->columns; nz->coordinate_bytes == 4 && d < nz->sizes.n; d++)
        if (nz->sizes.v[d] - 1 > UINT32_MAX)
            return DMLCORE_INVALID;
    return nonzero_with(dml_nonzero_write, nz, run);
}

dmlcore_api dmlcore_functions = {
    DMLCORE_API_MAJOR, DMLCORE_API_MINOR, find_data_type,   gather,     scatter,
    nonzero_count,     nonzero_write,     dml_nonzero_free, one_thread, dml_isa_name,
};
