/* list.h: lists of 64-bit integers as views, the values that rules and plans are computed with.
 * A slice of a list is a view into the same memory; only joining and padding write, into a buffer of the caller's.
 * Every function is total: no argument can make it read outside its list (spec/README.md has the exact meaning). */
#ifndef DMLCORE_LIST_H
#define DMLCORE_LIST_H

#include <stdint.h>

/* In a loop over a few entries: what compilers make of it otherwise, memset or vectors, takes longer than the loop does. */
#if defined(__GNUC__) || defined(__clang__)
#define DML_FEW __asm__ volatile("")
#else
#define DML_FEW ((void)0)
#endif

#define DML_RANK_MAX 64                    /* NumPy's limit; a descriptor has at most 8 */
#define DML_LIST_MAX (4 * DML_RANK_MAX)    /* room for anything that rules join or pad */

typedef struct {
    const int64_t *v;
    int64_t n;
} dml_list;

/* Saturating arithmetic, so that no size can wrap around into a valid one. */
static inline int64_t dml_add(int64_t a, int64_t b)
{
    if (b > 0 && a > INT64_MAX - b)
        return INT64_MAX;
    if (b < 0 && a < INT64_MIN - b)
        return INT64_MIN;
    return a + b;
}

static inline int64_t dml_sub(int64_t a, int64_t b)
{
    if (b < 0 && a > INT64_MAX + b)
        return INT64_MAX;
    if (b > 0 && a < INT64_MIN + b)
        return INT64_MIN;
    return a - b;
}

static inline int64_t dml_mul(int64_t a, int64_t b)
{
    const int64_t small = INT64_C(1) << 31;
    if (a > -small && a < small && b > -small && b < small)
        return a * b;
    if (a == 0 || b == 0)
        return 0;
    if ((a > 0) == (b > 0)) {              /* |a * b| > MAX, told by division, which cannot overflow here */
        if (a > 0 ? a > INT64_MAX / b : b < INT64_MAX / a)
            return INT64_MAX;
    } else {
        if (a > 0 ? b < INT64_MIN / a : a < INT64_MIN / b)
            return INT64_MIN;
    }
    return a * b;
}

static inline int64_t dml_max(int64_t a, int64_t b) { return a > b ? a : b; }

/* One of a list of strides; a list that is left out means zeros. */
static inline int64_t dml_stride(dml_list strides, int64_t d) { return strides.n ? strides.v[d] : 0; }

/* Where a bound of a slice lies: `at` from the front, or from the end when it was written with a minus; clamped. */
static inline int64_t dml_front(int64_t n, int64_t at) { return at < 0 ? 0 : at > n ? n : at; }
static inline int64_t dml_end(int64_t n, int64_t at) { return dml_front(n, dml_sub(n, at)); }

static inline dml_list dml_slice(dml_list a, int64_t start, int64_t stop)
{
    dml_list part = {a.v + start, stop > start ? stop - start : 0};
    return part;
}

/* a[at:], a[-at:], a[:at], a[:-at] */
static inline dml_list dml_from(dml_list a, int64_t at) { return dml_slice(a, dml_front(a.n, at), a.n); }
static inline dml_list dml_last(dml_list a, int64_t at) { return dml_slice(a, dml_end(a.n, at), a.n); }
static inline dml_list dml_until(dml_list a, int64_t at) { return dml_slice(a, 0, dml_front(a.n, at)); }
static inline dml_list dml_all_but(dml_list a, int64_t at) { return dml_slice(a, 0, dml_end(a.n, at)); }

/* a[start:stop], each bound from the front or from the end */
static inline dml_list dml_cut(dml_list a, int64_t start, int start_from_end, int64_t stop, int stop_from_end)
{
    return dml_slice(a, start_from_end ? dml_end(a.n, start) : dml_front(a.n, start),
                     stop_from_end ? dml_end(a.n, stop) : dml_front(a.n, stop));
}

/* One entry; 0 outside the list. */
static inline int64_t dml_at(dml_list a, int64_t at) { return at >= 0 && at < a.n ? a.v[at] : 0; }
static inline int64_t dml_at_end(dml_list a, int64_t at) { return dml_at(a, dml_sub(a.n, at)); }

static inline int dml_equal(dml_list a, dml_list b)
{
    if (a.n != b.n)
        return 0;
    for (int64_t i = 0; i < a.n; i++)
        if (a.v[i] != b.v[i])
            return 0;
    return 1;
}

/* Every entry of a is at most the one of b. */
static inline int dml_within(dml_list a, dml_list b)
{
    if (a.n != b.n)
        return 0;
    for (int64_t i = 0; i < a.n; i++)
        if (a.v[i] > b.v[i])
            return 0;
    return 1;
}

static inline int64_t dml_product(dml_list a)
{
    int64_t product = 1;
    for (int64_t i = 0; i < a.n; i++)
        product = dml_mul(product, a.v[i]);
    return product;
}

/* How many entries are left without the ones in front. */
static inline int64_t dml_effective_rank(dml_list a)
{
    int64_t ones = 0;
    while (ones < a.n && a.v[ones] == 1)
        ones++;
    return a.n - ones;
}

/* The writers; `buffer` has DML_LIST_MAX entries. */
static inline dml_list dml_empty(int64_t *buffer)
{
    dml_list none = {buffer, 0};
    return none;
}

static inline dml_list dml_append(dml_list a, int64_t item)
{
    if (a.n < DML_LIST_MAX)
        ((int64_t *)a.v)[a.n++] = item;
    return a;
}

static inline dml_list dml_join(dml_list a, dml_list b, int64_t *buffer)
{
    dml_list all = {buffer, 0};
    for (int64_t i = 0; i < a.n && all.n < DML_LIST_MAX; i++) {
        DML_FEW;
        buffer[all.n++] = a.v[i];
    }
    for (int64_t i = 0; i < b.n && all.n < DML_LIST_MAX; i++) {
        DML_FEW;
        buffer[all.n++] = b.v[i];
    }
    return all;
}

static inline dml_list dml_repeat(int64_t item, int64_t count, int64_t *buffer)
{
    dml_list all = {buffer, count < 0 ? 0 : count > DML_LIST_MAX ? DML_LIST_MAX : count};
    for (int64_t i = 0; i < all.n; i++) {
        DML_FEW;
        buffer[i] = item;
    }
    return all;
}

static inline dml_list dml_right_align(dml_list a, int64_t count, int64_t *buffer)
{
    int64_t n = count < 0 ? 0 : count > DML_LIST_MAX ? DML_LIST_MAX : count;
    dml_list all = {buffer, n};
    if (a.n >= n)
        return dml_slice(a, a.n - n, a.n);
    for (int64_t i = 0; i < n - a.n; i++) {
        DML_FEW;
        buffer[i] = 1;
    }
    for (int64_t i = 0; i < a.n; i++) {
        DML_FEW;
        buffer[n - a.n + i] = a.v[i];
    }
    return all;
}

#endif
