/* apart.c: copies few elements that are any way apart, and the sources of scatters of few positions. With few.c and few_elements.c for
 * calls without a plan. */
#include "apart.h"
#include "copy.h"
#include "dispatch.h"

#define FEW_COPIED ((int64_t)512 << 10) /* bytes of a scatter's source, twice as many where no thread may help; */
#define FEW_APART 1024 /* elements of one that is not contiguous */

/* All elements of one dimension, of a constant number of bytes. */
DML_INLINE void copy_dimension(char *to, const char *from, dml_apart_dim dim, int64_t width)
{
    for (; dim.size > 0; dim.size--, to += dim.to, from += dim.from)
        memcpy(to, from, (size_t)width);
}

void dml_apart_open(dml_apart *a, dml_list to_strides, dml_list from_strides, dml_list sizes)
{
    a->inner = (dml_apart_dim){1, 0, 0};
    a->rank = 0;
    for (int64_t d = 0; d < sizes.n; d++) {
        dml_apart_dim dim = {sizes.v[d], dml_stride(to_strides, d), dml_stride(from_strides, d)};
        if (dim.size == 0) {
            a->inner.size = a->rank = 0;
            return;
        }
        if (dim.size == 1)
            continue;
        dml_apart_dim shorter = dim.size > a->inner.size ? a->inner : dim;
        a->inner = dim.size > a->inner.size ? dim : a->inner;
        if (shorter.size > 1)
            a->outer[a->rank++] = shorter;
    }
}

void dml_apart_copy(const dml_apart *a, char *to, const char *from, int64_t width)
{
    int64_t done[DML_RANK_MAX + 1], d;
    for (d = 0; d < a->rank; d++) {
        DML_FEW;
        done[d] = 0;
    }
    do {
        switch (width) {
        case 1: copy_dimension(to, from, a->inner, 1); break;
        case 2: copy_dimension(to, from, a->inner, 2); break;
        case 4: copy_dimension(to, from, a->inner, 4); break;
        case 8: copy_dimension(to, from, a->inner, 8); break;
        default: copy_dimension(to, from, a->inner, 16);
        }
        for (d = a->rank - 1; d >= 0; d--) {
            to += a->outer[d].to;
            from += a->outer[d].from;
            if (++done[d] < a->outer[d].size)
                break;
            to -= done[d] * a->outer[d].to;
            from -= done[d] * a->outer[d].from;
            done[d] = 0;
        }
    } while (d >= 0);
}

/* Of one dimension, elements of a constant number of bytes: without a call for each. */
DML_INLINE void copy_rows(dml_apart_dim row, char *to, const int64_t *to_at, const char *from, const int64_t *from_at,
                          int64_t count, int64_t width)
{
    for (int64_t i = 0; i < count; i++)
        copy_dimension(to + to_at[i], from + from_at[i], row, width);
}

void dml_apart_copy_all(const dml_apart *a, char *to, const int64_t *to_at, const char *from, const int64_t *from_at,
                        int64_t count, int64_t width)
{
    switch (a->rank ? 0 : width) {
    case 1: copy_rows(a->inner, to, to_at, from, from_at, count, 1); break;
    case 2: copy_rows(a->inner, to, to_at, from, from_at, count, 2); break;
    case 4: copy_rows(a->inner, to, to_at, from, from_at, count, 4); break;
    case 8: copy_rows(a->inner, to, to_at, from, from_at, count, 8); break;
    default:
        for (int64_t i = 0; i < count; i++)
            dml_apart_copy(a, to + to_at[i], from + from_at[i], width);
    }
}

void dml_copy_apart(char *to, dml_list to_strides, const char *from, dml_list from_strides, dml_list sizes, int64_t width)
{
    dml_apart apart;
    dml_apart_open(&apart, to_strides, from_strides, sizes);
    dml_apart_copy(&apart, to, from, width);
}

int dml_copies_few(const dml_move *m, const dml_run *run, int64_t *bytes)
{
    *bytes = 0;
    if (!m->source)
        return 1;
    *bytes = dml_contiguous(m->copy, m->copy_table_strides, m->copy_source_strides, (int64_t)1 << run->storage);
    return *bytes ? *bytes <= (run->threads > 1 ? 1 : 2) * FEW_COPIED : dml_product(m->copy) <= FEW_APART;
}

void dml_copy_source(const dml_move *m, int64_t bytes, int64_t width)
{
    if (bytes)
        dml_copy_bytes(m->table, m->source, bytes, DML_STORE_PLAIN);
    else if (m->source)
        dml_copy_apart(m->table, m->copy_table_strides, m->source, m->copy_source_strides, m->copy, width);
}
