/* combine.h: add, multiply, minimum and maximum for every data type. Integers wrap around, float16 is rounded after each
 * step, NaN stays NaN. Updates are taken in order, so the result does not depend on the number of threads.
 * Included by core/loops.h once for each instruction set ISA, without guard. The only part of the core that depends on the
 * data type itself. */
#include "half.h"
#include "pairs.h"

#define NAME(name) DML_JOIN2(name, ISA)
#define AHEAD 192                              /* elements of a large table that are on their way, */
#define SLICES 64                              /* slices of it at most: a thread's share of a block has only some hundreds */

#define FETCH(address, to_l1)            \
    do {                                 \
        if (to_l1)                       \
            DML_PREFETCH_WRITE(address); \
        else                             \
            DML_PREFETCH_L2(address);    \
    } while (0)

/* Numbers are read as what they are: compilers take bytes that are copied to a number to the registers for integers first. `into`
 * is the table once more, unless one instruction adds to memory. The compiler does not know that, so each access has the offset
 * as part of its address, and nothing adds it before. */
#define COMBINE(one, at, from) *(number *)(into + (at)) = NAME(one)(*(number *)(table + (at)), *(const number *)(from))

/* Walks over the updates. name_one takes what is here and the update that is next, name_quick the same faster, where HAS_NAN says
 * that no update is NaN; name_slice takes a slice of both. */
#define COMBINER(name, type, HAS_NAN, once)                                                                             \
    DML_PIECE void NAME(name)(const dml_updates *updates)                                                               \
    {                                                                                                                   \
        typedef type DML_ANYWHERE number;                                                                               \
        int64_t n = updates->count, slice = updates->slice, step = updates->step, i = 0;                                \
        const int64_t *where = updates->where, *wide = updates->wide;                                                   \
        const u32 *narrow = updates->narrow;                                                                            \
        char *table = updates->table, *into = table;                                                                    \
        const char *stream = updates->stream;                                                                           \
        once;                                                                                                           \
        if (slice == (int64_t)sizeof(type)) {                                                                           \
            int to_l1 = SECOND_TUNING && updates->fetch == DML_FETCH_L1;                                                \
            int64_t ahead = updates->ahead;                                                                             \
            if (updates->fetch && narrow) {                                                                             \
                for (int64_t at = 0; at < dml_least(AHEAD, n); at++)                                                    \
                    FETCH(table + narrow[at], to_l1);                                                                   \
                for (; i + AHEAD < n; i++) {                                                                            \
                    FETCH(table + narrow[i + AHEAD], to_l1);                                                            \
                    COMBINE(name##_one, narrow[i], stream + (where ? where[i] : i * step));                             \
                }                                                                                                       \
            }                                                                                                           \
            if (narrow && !where && step == slice && !HAS_NAN(stream + i * step, n - i))                                \
                for (; i + 16 <= n; i += 16) {                                                                          \
                    for (int64_t at = 0; at < 16 * ahead; at += DML_LINE)                                               \
                        DML_PREFETCH(updates->next + i * ahead + at);                                                   \
                    for (int64_t at = 0; ahead && at < 16 * slice; at += DML_LINE)                                      \
                        DML_PREFETCH(stream + i * slice + at + DML_PAGES_AHEAD);                                        \
                    for (int64_t k = i; k < i + 16; k += 2) {                                                           \
                        u64 at = dml_offsets(narrow + k);                                                               \
                        COMBINE(name##_quick, dml_low(at), stream + k * (int64_t)sizeof(type));                         \
                        COMBINE(name##_quick, at >> 32, stream + (k + 1) * (int64_t)sizeof(type));                      \
                    }                                                                                                   \
                }                                                                                                       \
            for (; i < n && narrow; i++)                                                                                \
                COMBINE(name##_one, narrow[i], stream + (where ? where[i] : i * step));                                 \
            for (; i < n; i++) {                                                                                        \
                DML_ONCE(where); /* tables of that size are rare: one loop, not one for each kind of updates */         \
                COMBINE(name##_one, wide[i], stream + (where ? where[i] : i * step));                                   \
            }                                                                                                           \
            return;                                                                                                     \
        }                                                                                                               \
        int64_t ahead = updates->far ? dml_least(SLICES, dml_most(1, DML_FAR_AHEAD / slice)) : 0;                       \
        for (; i < n; i++) {                                                                                            \
            if (ahead) {                                                                                                \
                const char *fetch = table +                                                                             \
                                    (narrow ? narrow[dml_least(i + ahead, n - 1)] : wide[dml_least(i + ahead, n - 1)]); \
                for (int64_t at = 0; at < slice + 63; at += 64)                                                         \
                    DML_PREFETCH_L2(fetch + dml_least(at, slice - 1));                                                  \
            }                                                                                                           \
            NAME(name##_slice)(table + (narrow ? narrow[i] : wide[i]), stream + (where ? where[i] : i * step), slice);  \
        }                                                                                                               \
    }

/* quick: an expression for updates of which none is NaN; one: for all, its branches are hardly ever taken; each: the same for
 * vectors, without branches. */
#define ONE(name, type, expression) \
    DML_INLINE type NAME(name)(type here, type next) { return (type)(expression); }
/* So many bytes of a slice at a time: out of arrays of its own, so that the compiler knows that nothing overlaps. */
#define SOME(type, each, bytes)                                                \
    for (; left >= (bytes); left -= (bytes), to += (bytes), from += (bytes)) { \
        type some[(bytes) / sizeof(type)], others[(bytes) / sizeof(type)];     \
        memcpy(some, to, bytes);                                               \
        memcpy(others, from, bytes);                                           \
        for (int k = 0; k < (bytes) / (int)sizeof(type); k++) {                \
            type here = some[k], next = others[k];                             \
            some[k] = (type)(each);                                            \
        }                                                                      \
        memcpy(to, some, bytes);                                               \
    }
#define SLICE(name, type, each)                                                  \
    DML_INLINE void NAME(name##_slice)(char *to, const char *from, int64_t left) \
    {                                                                            \
        typedef type DML_ANYWHERE number;                                        \
        SOME(type, each, 64)                                                     \
        SOME(type, each, 16)                                                     \
        SOME(type, each, 8)                                                      \
        char *table = to, *into = to;                                            \
        left &= 7;                                                               \
        for (int64_t k = 0; k < left; k += (int64_t)sizeof(type))                \
            COMBINE(name##_one, k, from + k);                                    \
    }
#define ALL(name, type, HAS_NAN, quick, one, each, once) \
    ONE(name##_quick, type, quick)                       \
    ONE(name##_one, type, one)                           \
    SLICE(name, type, each)                              \
    COMBINER(name, type, HAS_NAN, once)
#define NO_NAN(numbers, count) 0
#define SUM(name, type, expression) ALL(name, type, NO_NAN, expression, expression, expression, (void)0)
#define SAME(name, type, expression) ALL(name, type, NO_NAN, expression, expression, expression, DML_ONCE(into))

/* sums and products of signed integers have the bits of unsigned ones */
#define INTEGER(bits)                                            \
    SUM(add_u##bits, uint##bits##_t, (u64)here + (u64)next)      \
    SAME(mul_u##bits, uint##bits##_t, ((u64)here * (u64)next))   \
    SAME(min_u##bits, uint##bits##_t, next < here ? next : here) \
    SAME(max_u##bits, uint##bits##_t, next > here ? next : here) \
    SAME(min_i##bits, int##bits##_t, next < here ? next : here)  \
    SAME(max_i##bits, int##bits##_t, next > here ? next : here)

/* Of two NaN the processor keeps the first, and compilers choose which one that is, for each loop anew. Here it is always
 * the element's own. */
#define OTHER (here != here ? here : next)
#define IF_NAN(value, expression, otherwise) (DML_UNLIKELY((value) != (value)) ? (expression) : (otherwise))

#define FLOATING(name, type, unsigned, infinity)                                                                           \
    DML_INLINE int NAME(has_nan_##name)(const char *numbers, int64_t count)                                                \
    {                                                                                                                      \
        unsigned below = 0;                                                                                                \
        for (int64_t i = 0; i < count; i++) {                                                                              \
            unsigned bits;                                                                                                 \
            memcpy(&bits, numbers + i * (int64_t)sizeof bits, sizeof bits);                                                \
            below |= infinity - (bits & ~(unsigned)0 >> 1); /* the highest bit says that NaN, which is above, was there */ \
        }                                                                                                                  \
        return (int)(below >> (8 * sizeof below - 1));                                                                     \
    }                                                                                                                      \
    ALL(add_##name, type, NAME(has_nan_##name), here + next, IF_NAN(here + next, here + OTHER, here + next), here + OTHER, \
        DML_ONCE(into))                                                                                                    \
    ALL(mul_##name, type, NAME(has_nan_##name), (here * next), IF_NAN((here * next), (here * OTHER), (here * next)),       \
        (here * OTHER), DML_ONCE(into))                                                                                    \
    ALL(min_##name, type, NAME(has_nan_##name), next < here ? next : here, IF_NAN(next, OTHER, next < here ? next : here), \
        here != here || next >= here ? here : next, DML_ONCE(into))                                                        \
    ALL(max_##name, type, NAME(has_nan_##name), next > here ? next : here, IF_NAN(next, OTHER, next > here ? next : here), \
        here != here || next <= here ? here : next, DML_ONCE(into))

INTEGER(8)
INTEGER(16)
INTEGER(32)
INTEGER(64)
FLOATING(f32, float, u32, 0x7f800000u)
FLOATING(f64, double, u64, 0x7ff0000000000000u)

/* float holds sums and products of two halves exactly enough that rounding twice is rounding once */
#ifndef FROM_HALF
#define FROM_HALF dml_from_half
#define TO_HALF dml_to_half
#endif
#ifndef EIGHT_HALVES
#define EIGHT_HALVES 0 /* at a time; 1: FROM_HALVES and TO_HALVES are there */
#define FROM_HALVES(to, from) ((void)0)
#define TO_HALVES(to, from) ((void)0)
#endif
#define HALVES(name, operator)                                                                     \
    DML_INLINE u16 NAME(name##_one)(u16 element, u16 update)                                       \
    {                                                                                              \
        float here = FROM_HALF(element), next = FROM_HALF(update);                                 \
        return TO_HALF(IF_NAN(here operator next, here operator OTHER, here operator next));       \
    }                                                                                              \
    DML_INLINE u16 NAME(name##_quick)(u16 here, u16 next) { return NAME(name##_one)(here, next); } \
    DML_INLINE void NAME(name##_slice)(char *to, const char *from, int64_t left)                   \
    {                                                                                              \
        typedef u16 DML_ANYWHERE number;                                                           \
        for (; EIGHT_HALVES && left >= 16; left -= 16, to += 16, from += 16) {                     \
            float element[8], update[8];                                                           \
            FROM_HALVES(element, to);                                                              \
            FROM_HALVES(update, from);                                                             \
            for (int lane = 0; lane < 8; lane++) {                                                 \
                float here = element[lane], next = update[lane];                                   \
                element[lane] = here operator OTHER;                                               \
            }                                                                                      \
            TO_HALVES(to, element);                                                                \
        }                                                                                          \
        char *table = to, *into = to;                                                              \
        for (int64_t k = 0; k < left; k += 2)                                                      \
            COMBINE(name##_one, k, from + k);                                                      \
    }                                                                                              \
    COMBINER(name, u16, NO_NAN, DML_ONCE(into))

#define HALF_OF(compares) \
    ((((dml_half_order(next) compares dml_half_order(here)) | DML_HALF_IS_NAN(next)) & !DML_HALF_IS_NAN(here)) ? next : here)

HALVES(add_f16, +)
HALVES(mul_f16, *)
SAME(min_f16, u16, HALF_OF(<))
SAME(max_f16, u16, HALF_OF(>))

#define ROW_OF(sums, name) {NULL, NAME(add_##sums), NAME(mul_##sums), NAME(min_##name), NAME(max_##name)}
#define ROW(name) ROW_OF(name, name)
static const dml_combiner DML_TABLE(combiners)[DML_NUMBERS][DML_REDUCTIONS] = {
    [DML_FLOAT64] = ROW(f64),       [DML_UINT64] = ROW(u64),        [DML_INT64] = ROW_OF(u64, i64), [DML_FLOAT32] = ROW(f32),
    [DML_UINT32] = ROW(u32),        [DML_INT32] = ROW_OF(u32, i32), [DML_FLOAT16] = ROW(f16),       [DML_UINT16] = ROW(u16),
    [DML_INT16] = ROW_OF(u16, i16), [DML_UINT8] = ROW(u8),          [DML_INT8] = ROW_OF(u8, i8),
};
#undef NAME
#undef AHEAD
#undef SLICES
#undef FETCH
#undef COMBINE
#undef COMBINER
#undef ONE
#undef SLICE
#undef ALL
#undef NO_NAN
#undef SUM
#undef SAME
#undef INTEGER
#undef OTHER
#undef IF_NAN
#undef FLOATING
#undef HALVES
#undef HALF_OF
#undef ROW
#undef ROW_OF
