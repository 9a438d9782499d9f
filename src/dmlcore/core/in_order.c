/* in_order.c: from any elements of a tensor, counted in their order, to as many that follow each other: as few blocks as there are, each
 * of which is copied like a tensor (shape.c). */
#include "in_order.h"

#include "shape.h"

#define LITTLE 256 /* elements that are copied sooner, row by row, than a shape is found for them */

/* A row of elements of so many bytes each. */
#define ROW(bytes)                                              \
    case bytes:                                                 \
        for (int64_t i = 0; i < count; i++)                     \
            memcpy(to + i * (bytes), from + i * stride, bytes); \
        return

static void copy_row(char *to, const char *from, int64_t count, int64_t stride, int64_t width)
{
    switch (width) {
        ROW(1);
        ROW(2);
        ROW(4);
        ROW(8);
        ROW(16);
    }
}

void dml_in_order_of(dml_in_order *e, const char *from, dml_list sizes, dml_list strides, int64_t width)
{
    e->from = from;
    e->width = width;
    e->rank = 0;
    for (int64_t d = 0; d < sizes.n; d++) {
        int64_t size = sizes.v[d], stride = dml_stride(strides, d), last = e->rank - 1;
        if (size == 1)
            continue;
        if (e->rank && e->stride[last] == stride * size) {
            e->size[last] *= size;
            e->stride[last] = stride;
        } else {
            e->size[e->rank] = size;
            e->stride[e->rank++] = stride;
        }
    }
    if (e->rank == 0) {
        e->size[0] = 1;
        e->stride[e->rank++] = width;
    }
    e->dense = e->rank == 1 && e->stride[0] == width;
    e->inside[e->rank - 1] = 1;
    for (int d = e->rank - 1; d > 0; d--)
        e->inside[d - 1] = e->inside[d] * e->size[d];
}

/* Some steps of dimension d. */
static void copy_block(const dml_in_order *e, int d, int64_t steps, const char *from, char *to)
{
    dml_shape shape;
    dml_shape_begin(&shape);
    for (int k = d; k < e->rank; k++)
        dml_shape_add(&shape, k == d ? steps : e->size[k], e->inside[k] * e->width, e->stride[k]);
    dml_shape_end(&shape, e->width, DML_STORE_PLAIN, 1);
    for (int64_t unit = 0; unit < shape.units; unit++)
        dml_shape_copy(&shape, to, from, unit);
}

/* Row by row along the last dimension. */
static void copy_few(const dml_in_order *e, int64_t at, int64_t count, char *to)
{
    const char *from = e->from;
    int64_t place[DML_RANK_MAX + 1], some;
    int last = e->rank - 1;
    for (int d = last; d >= 0; d--) {
        place[d] = at % e->size[d];
        at /= e->size[d];
        from += place[d] * e->stride[d];
    }
    for (;; to += some * e->width) {
        some = dml_least(count, e->size[last] - place[last]);
        copy_row(to, from, some, e->stride[last], e->width);
        count -= some;
        if (count == 0)
            return;
        from -= place[last] * e->stride[last];
        place[last] = 0;
        for (int d = last - 1; d >= 0; d--) {
            from += e->stride[d];
            if (++place[d] < e->size[d])
                break;
            from -= place[d] * e->stride[d];
            place[d] = 0;
        }
    }
}

void dml_put_in_order(const dml_in_order *e, int64_t at, int64_t count, char *to)
{
    for (int64_t some; count > 0; at += some, count -= some, to += some * e->width) {
        int d = 0;
        while (e->inside[d] > count || at % e->inside[d])
            d++;
        int64_t steps = dml_least(count / e->inside[d], e->size[d] - at / e->inside[d] % e->size[d]);
        some = steps * e->inside[d];
        if (some <= LITTLE) {
            some = dml_least(count, LITTLE);
            copy_few(e, at, some, to);
            continue;
        }
        const char *from = e->from;
        for (int k = 0; k <= d; k++)
            from += at / e->inside[k] % e->size[k] * e->stride[k];
        copy_block(e, d, steps, from, to);
    }
}
