/* combine.c: add, multiply, minimum and maximum for every data type. Integers wrap around, float16 is rounded after each
 * step, NaN stays NaN. Updates are taken in order, so the result does not depend on the number of threads. */
#include "combine.h"

/* DML_TENSOR_DATA_TYPE */
enum { FLOAT32 = 1, FLOAT16, UINT32, UINT16, UINT8, INT32, INT16, INT8, FLOAT64, UINT64, INT64, DATA_TYPES };

static float from_half(u16 half)
{
    u32 sign = (u32)(half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 0x3ff, bits;
    if (exponent == 31)
        bits = sign | 0x7f800000 | fraction << 13;
    else if (exponent)
        bits = sign | (exponent + 112) << 23 | fraction << 13;
    else if (fraction) {                       /* too small for half's exponents, not for float's */
        exponent = 113;
        while (!(fraction & 0x400)) {
            fraction <<= 1;
            exponent--;
        }
        bits = sign | exponent << 23 | (fraction & 0x3ff) << 13;
    } else
        bits = sign;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Rounds to the nearest, ties to even. */
static u16 to_half(float value)
{
    u32 bits;
    memcpy(&bits, &value, sizeof bits);
    u32 sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    if (rest > 0x7f800000)
        return (u16)(sign | 0x7e00 | (rest >> 13 & 0x3ff));
    if (rest >= 0x477ff000)                    /* rounds to 2**16 or more */
        return (u16)(sign | 0x7c00);
    if (rest >= 0x38800000) {
        rest -= 112u << 23;
        return (u16)(sign | (rest + 0xfff + (rest >> 13 & 1)) >> 13);
    }
    if (rest <= 0x33000000)                    /* half of the smallest, or less */
        return (u16)sign;
    u32 shift = 126 - (rest >> 23), fraction = (rest & 0x7fffff) | 0x800000;
    u32 half = fraction >> shift, left = fraction << (32 - shift);
    return (u16)(sign | (half + (left > 0x80000000u || (left == 0x80000000u && (half & 1)))));
}

#define AHEAD 192                              /* elements of a far table that are on their way */

/* `next` is the update, `here` the element it is for. */
#define STEP(type, expression, to, from)                                                              \
    do {                                                                                              \
        type here, next;                                                                              \
        memcpy(&here, to, sizeof here);                                                               \
        memcpy(&next, from, sizeof next);                                                             \
        here = (type)(expression);                                                                    \
        memcpy(to, &here, sizeof here);                                                               \
    } while (0)

#define TOGETHER 128                           /* elements of a slice whose results are looked at together */

/* Walks over the block; the first loop is for single elements whose updates follow each other. The second takes the usual
 * expression for many elements at once, unless `odd` tells that one of the results needs the exact one. */
#define COMBINER(name, type, bits, expression, usual, odd)                                                \
    static void name(const dml_plan *p, dml_block *b)                                                 \
    {                                                                                                 \
        int64_t n = b->count, size = (int64_t)sizeof(type);                                           \
        if (p->slice == size && p->stream_step == p->slice && !b->where && !p->wide) {                \
            const u32 *offsets = b->offsets.narrow;                                                   \
            char *table = b->table;                                                                   \
            const char *stream = b->stream;                                                           \
            int64_t i = 0;                                                                            \
            if (p->far) {                                                                             \
                for (int64_t at = 0; at < dml_least(AHEAD, n); at++)                                  \
                    DML_PREFETCH_WRITE(table + offsets[at]);                                          \
                for (; i + AHEAD < n; i++) {                                                          \
                    DML_PREFETCH_WRITE(table + offsets[i + AHEAD]);                                   \
                    STEP(type, expression, table + offsets[i], stream + i * size);                    \
                }                                                                                     \
            }                                                                                         \
            for (; i < n; i++)                                                                        \
                STEP(type, expression, table + offsets[i], stream + i * size);                        \
            return;                                                                                   \
        }                                                                                             \
        int64_t ahead = p->far ? dml_most(1, DML_FAR_AHEAD / p->slice) : 0;                           \
        for (int64_t i = 0; i < n; i++) {                                                             \
            char *table = dml_block_table(p, b, i);                                                   \
            const char *stream = b->stream + dml_block_where(p, b, i);                                \
            const char *next_slice = dml_block_table(p, b, dml_least(i + ahead, n - 1));              \
            for (int64_t at = 0; ahead && at < p->slice + 63; at += 64)                               \
                DML_PREFETCH_L2(next_slice + dml_least(at, p->slice - 1));                            \
            for (int64_t done = 0, some; done < p->slice; done += some * size) {                      \
                char *DML_RESTRICT to = table + done;                                                 \
                const char *DML_RESTRICT from = stream + done;                                        \
                type old[TOGETHER];                                                                   \
                bits found = 0;                                                                       \
                some = dml_least(TOGETHER, (p->slice - done) / size);                                 \
                for (int64_t k = 0; k < some; k++) {                                                  \
                    type here, next;                                                                  \
                    memcpy(&here, to + k * size, sizeof here);                                        \
                    memcpy(&next, from + k * size, sizeof next);                                      \
                    old[k] = here;                                                                    \
                    here = (type)(usual);                                                             \
                    found |= odd(here);                                                               \
                    memcpy(to + k * size, &here, sizeof here);                                        \
                }                                                                                     \
                if (DML_UNLIKELY(found >> (sizeof found * 8 - 1))) {                                  \
                    memcpy(to, old, (size_t)(some * size));                                           \
                    for (int64_t k = 0; k < some; k++)                                                \
                        STEP(type, expression, to + k * size, from + k * size);                       \
                }                                                                                     \
            }                                                                                         \
        }                                                                                             \
    }

#define NEVER(result) 0
#define INTEGER_COMBINER(name, type, expression) COMBINER(name, type, u32, expression, expression, NEVER)

#define INTEGER(name, type)                                               \
    INTEGER_COMBINER(add_##name, type, (u64)here + (u64)next)             \
    INTEGER_COMBINER(mul_##name, type, (u64)here * (u64)next)             \
    INTEGER_COMBINER(min_##name, type, next < here ? next : here)         \
    INTEGER_COMBINER(max_##name, type, next > here ? next : here)

/* Of two NaN the processor keeps the first, and compilers choose which one that is, for each loop anew. Here it is always
 * the element's own. */
#define SURE(name, type, operator)                                                              \
    DML_INLINE type name(type here, type next)                                                  \
    {                                                                                           \
        type result = here operator next;                                                       \
        if (DML_UNLIKELY(result != result))                                                     \
            return here != here ? here operator here : next != next ? next operator next : result; \
        return result;                                                                          \
    }
SURE(sum_f32, float, +)
SURE(sum_f64, double, +)
SURE(product_f32, float, *)
SURE(product_f64, double, *)

/* The highest bit tells; by integers, so that compilers look at several numbers at once. */
#define NOT_A_NUMBER(name, type, bits, infinity)                                                \
    DML_INLINE bits name(type result)                                                           \
    {                                                                                           \
        bits one;                                                                               \
        memcpy(&one, &result, sizeof one);                                                      \
        return infinity - (one & ((bits)-1 >> 1));                                              \
    }
NOT_A_NUMBER(nan_f32, float, u32, (u32)0x7f800000)
NOT_A_NUMBER(nan_f64, double, u64, (u64)0x7ff0000000000000)

#define CHOICE(name, type, operator)                                                            \
    DML_INLINE type name(type here, type next) { return here != here || next operator here ? here : next; }
CHOICE(lower_f32, float, >=)
CHOICE(lower_f64, double, >=)
CHOICE(higher_f32, float, <=)
CHOICE(higher_f64, double, <=)

#define FLOATING(name, type, bits)                                                 \
    COMBINER(add_##name, type, bits, sum_##name(here, next), here + next, nan_##name)                  \
    COMBINER(mul_##name, type, bits, product_##name(here, next), here * next, nan_##name)              \
    COMBINER(min_##name, type, bits, lower_##name(here, next), lower_##name(here, next), NEVER)               \
    COMBINER(max_##name, type, bits, higher_##name(here, next), higher_##name(here, next), NEVER)

DML_INLINE u16 lower_half(u16 a, u16 b)
{
    float x = from_half(a), y = from_half(b);
    return x != x || y >= x ? a : b;
}

DML_INLINE u16 higher_half(u16 a, u16 b)
{
    float x = from_half(a), y = from_half(b);
    return x != x || y <= x ? a : b;
}

INTEGER(u8, uint8_t)
INTEGER(u16, uint16_t)
INTEGER(u32, uint32_t)
INTEGER(u64, uint64_t)
INTEGER(i8, int8_t)
INTEGER(i16, int16_t)
INTEGER(i32, int32_t)
INTEGER(i64, int64_t)
FLOATING(f32, float, u32)
FLOATING(f64, double, u64)
/* float holds sums and products of two halves exactly enough that rounding twice is rounding once */
INTEGER_COMBINER(add_f16, u16, to_half(sum_f32(from_half(here), from_half(next))))
INTEGER_COMBINER(mul_f16, u16, to_half(product_f32(from_half(here), from_half(next))))
INTEGER_COMBINER(min_f16, u16, lower_half(here, next))
INTEGER_COMBINER(max_f16, u16, higher_half(here, next))

#define ROW(name) {NULL, add_##name, mul_##name, min_##name, max_##name}
static const dml_combiner combiners[DATA_TYPES][DML_MAX + 1] = {
    [FLOAT32] = ROW(f32), [FLOAT16] = ROW(f16), [UINT32] = ROW(u32), [UINT16] = ROW(u16), [UINT8] = ROW(u8),
    [INT32] = ROW(i32), [INT16] = ROW(i16), [INT8] = ROW(i8), [FLOAT64] = ROW(f64), [UINT64] = ROW(u64),
    [INT64] = ROW(i64),
};

dml_combiner dml_combiner_for(int reduction, int data_type)
{
    return reduction == DML_NONE ? NULL : combiners[data_type][reduction];
}
