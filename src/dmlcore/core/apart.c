/* apart.c: copies few elements that are any way apart, and the sources of scatters of few positions. With few.c and few_elements.c for
 * calls without a plan. */
#include "apart.h"
#include "copy.h"
#include "dispatch.h"

#define FEW_COPIED ((int64_t)512 << 10) /* bytes of a scatter's source, twice as many where no thread may help; */
#define FEW_APART 1024 /* elements of one that is not contiguous */

/* One dimension of elements that are any way apart; strides in bytes. */
typedef struct {
    int64_t size, to, from;
} dimension;

/* All elements of it, of a constant number of bytes. */
DML_INLINE void copy_dimension(char *to, const char *from, dimension dim, int64_t width)
{
    for (; dim.size > 0; dim.size--, to += dim.to, from += dim.from)
        memcpy(to, from, (size_t)width);
}

void dml_copy_apart(char *to, dml_list to_strides, const char *from, dml_list from_strides, dml_list sizes, int64_t width)
{
    dimension inner = {1, 0, 0}, outer[DML_RANK_MAX + 1];
    int64_t done[DML_RANK_MAX + 1], rank = 0, d;
    for (d = 0; d < sizes.n; d++) {
        dimension dim = {sizes.v[d], dml_stride(to_strides, d), dml_stride(from_strides, d)};
        if (dim.size == 0)
            return;
        if (dim.size == 1)
            continue;
        done[rank] = 0;
        outer[rank++] = dim.size > inner.size ? inner : dim;
        inner = dim.size > inner.size ? dim : inner;
    }
    do {
        switch (width) {
        case 1: copy_dimension(to, from, inner, 1); break;
        case 2: copy_dimension(to, from, inner, 2); break;
        case 4: copy_dimension(to, from, inner, 4); break;
        case 8: copy_dimension(to, from, inner, 8); break;
        default: copy_dimension(to, from, inner, 16);
        }
        for (d = rank - 1; d >= 0; d--) {
            to += outer[d].to;
            from += outer[d].from;
            if (++done[d] < outer[d].size)
                break;
            to -= done[d] * outer[d].to;
            from -= done[d] * outer[d].from;
            done[d] = 0;
        }
    } while (d >= 0);
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
