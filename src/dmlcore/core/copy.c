/* copy.c: copying bytes, and whole tensors, unit by unit (shape.c, units.c). */
#include "dispatch.h"
#include "shape.h"

#define SHORT ((int64_t)32 << 10) /* bytes that vector moves copy beside what comes next; a string instruction does not */
/* Bytes: to what lies less than so far behind the source in their pages, a string instruction copies 3 GB/s instead of 50 (Zen 3). */
#define STRING_APART 32
#define SHARED 16777216.0 /* bytes that several threads store through the caches, however many they read */

void dml_copy_long(char *to, const char *from, int64_t bytes)
{
    int64_t align = dml_tuned->string_align, apart = (to - from) & (DML_PAGE - 1);
    if (align && apart % align == 0 && (apart == 0 || apart >= STRING_APART))
        memcpy(to, from, (size_t)bytes);
    else
        dml_chosen_isa->copy(to, from, bytes);
}

void dml_copy_bytes(char *to, const char *from, int64_t bytes, dml_store store)
{
    if (DML_STREAM && store != DML_STORE_PLAIN && bytes >= 4096) {
        int64_t at = (int64_t)(-(intptr_t)to & 63);
        memcpy(to, from, (size_t)at);
        at += dml_chosen_isa->copy_past(to + at, from + at, bytes - at, store == DML_STORE_PAGES);
        memcpy(to + at, from + at, (size_t)(bytes - at));
        DML_STREAM_END();
    } else if (bytes < SHORT)
        dml_chosen_isa->copy(to, from, bytes);
    else
        dml_copy_long(to, from, bytes);
}

dml_order dml_order_for(int64_t bytes, int untouched)
{
    return untouched && bytes >= DML_FRESH ? DML_FROM_THE_END : DML_FORWARD;
}

dml_store dml_store_for(int64_t bytes, double read, int threads, int untouched)
{
    double least = (double)dml_tuned->past_caches, shared = (double)dml_tuned->past_caches_shared - read;
    if (threads > 1 && dml_tuned->past_caches_shared)
        least = shared > SHARED ? shared : SHARED;
    else if (dml_tuned->past_caches_beside && (double)dml_tuned->past_caches_beside - read < least)
        least = (double)dml_tuned->past_caches_beside - read;
    if (untouched || (double)bytes < least)
        return DML_STORE_PLAIN;
    return bytes < dml_tuned->by_pages ? DML_STORE_PAST_CACHES : DML_STORE_PAGES;
}

typedef struct {
    dml_shape shape;
    char *to;
    const char *from;
} copying;

static int copy_group(void *job, dml_worker *worker, int64_t group)
{
    const copying *c = job;
    int status = DML_OK;
    for (int64_t k = 0; k < c->shape.group && !status; k++) {
        dml_shape_copy(&c->shape, c->to, c->from, group * c->shape.group + k);
        status = dml_tick(worker, c->shape.unit_bytes);
    }
    return status;
}

/* Predicted: long runs, planes that are turned, every second element, others. */
static int64_t nanoseconds_for(const dml_shape *s)
{
    const dml_step *row = dml_shape_row(s);
    int turned = s->across >= 0 || s->chained >= 0 || s->turns > 1;
    if (s->run >= 64)
        return dml_copy_nanoseconds(s->places * s->run);
    if (turned && s->run < 4)
        return s->places * s->run / 8;
    return row->to == s->run && row->from == 2 * s->run && s->run < 8 ? s->places * s->run / 20 : s->places / 2;
}

int dml_copy(char *to, const char *from, dml_list sizes, dml_list to_strides, dml_list from_strides, int64_t width,
             dml_store store, int untouched, int64_t nanoseconds, int *threads, dml_pulse *pulse)
{
    copying c; /* not to be cleared: a shape has room for many dimensions */
    c.to = to;
    c.from = from;
    dml_shape_begin(&c.shape);
    for (int64_t d = 0; d < sizes.n; d++)
        dml_shape_add(&c.shape, sizes.v[d], dml_stride(to_strides, d), dml_stride(from_strides, d));
    int64_t bytes = c.shape.places * width;
    dml_shape_end(&c.shape, width, store, *threads);
    if (bytes == 0) {
        *threads = 1;
        return DML_OK;
    }
    int64_t copy = nanoseconds_for(&c.shape),
            all = nanoseconds ? (nanoseconds + copy) / 2 : copy; /* half for each time that threads meet */
    *threads = dml_threads_worth(*threads, all, pulse);
    if (c.shape.units == 1) {
        dml_shape_copy(&c.shape, to, from, 0);
        if (nanoseconds < copy) /* too little for others to come and take the lines */
            *threads = 1;
        return DML_OK;
    }
    return dml_parallel(copy_group, &c, c.shape.units / c.shape.group, dml_order_for(bytes, untouched), *threads, pulse);
}
