/* combine.h: add, multiply, minimum and maximum for every data type. Integers wrap around, float16 is rounded after each
 * step, NaN stays NaN. Updates are taken in order, so the result does not depend on the number of threads.
 * Included by core/loops.h once for each instruction set ISA, without guard. The only part of the core that depends on the
 * data type itself. */
#include "half.h"

#define NAME(name) DML_JOIN2(name, ISA)
#define AHEAD 192                              /* elements of a large table that are on their way, */
#define SLICES 64                              /* slices of it at most: a thread's share of a block has only some hundreds */

/* `next` is the update, `here` the element it is for. */
#define STEP(type, expression, to, from)  \
    do {                                  \
        type here, next;                  \
        memcpy(&here, to, sizeof here);   \
        memcpy(&next, from, sizeof next); \
        here = (type)(expression);        \
        memcpy(to, &here, sizeof here);   \
    } while (0)

#define FETCH(address, to_l1)            \
    do {                                 \
        if (to_l1)                       \
            DML_PREFETCH_WRITE(address); \
        else                             \
            DML_PREFETCH_L2(address);    \
    } while (0)

/* Walks over the block; the first loops are for single elements, those of a far table and others. */
#define COMBINER(name, type, expression)                                                                                   \
    DML_PIECE void NAME(name)(const dml_plan *p, dml_block *b)                                                             \
    {                                                                                                                      \
        int64_t n = b->count, size = (int64_t)sizeof(type), i = 0;                                                         \
        if (p->slice == size && !p->wide) {                                                                                \
            const u32 *offsets = b->offsets.narrow;                                                                        \
            char *table = b->table;                                                                                        \
            const char *stream = b->stream;                                                                                \
            const int64_t *where = b->where, step = p->stream_step;                                                        \
            int to_l1 = SECOND_TUNING && p->fetch == DML_FETCH_L1;                                                         \
            if (p->fetch) {                                                                                                \
                for (int64_t at = 0; at < dml_least(AHEAD, n); at++)                                                       \
                    FETCH(table + offsets[at], to_l1);                                                                     \
                for (; i + AHEAD < n; i++) {                                                                               \
                    FETCH(table + offsets[i + AHEAD], to_l1);                                                              \
                    STEP(type, expression, table + offsets[i], stream + (where ? where[i] : i * step));                    \
                }                                                                                                          \
            }                                                                                                              \
            for (; i < n; i++)                                                                                             \
                STEP(type, expression, table + offsets[i], stream + (where ? where[i] : i * step));                        \
            return;                                                                                                        \
        }                                                                                                                  \
        int64_t ahead = p->far ? dml_least(SLICES, dml_most(1, DML_FAR_AHEAD / p->slice)) : 0, elements = p->slice / size; \
        for (; i < n; i++) {                                                                                               \
            const char *fetch = dml_block_table(p, b, dml_least(i + ahead, n - 1));                                        \
            for (int64_t at = 0; ahead && at < p->slice + 63; at += 64)                                                    \
                DML_PREFETCH_L2(fetch + dml_least(at, p->slice - 1));                                                      \
            char *DML_RESTRICT to = dml_block_table(p, b, i);                                                              \
            const char *DML_RESTRICT from = b->stream + dml_block_where(p, b, i);                                          \
            for (int64_t k = 0; k < elements; k++)                                                                         \
                STEP(type, expression, to + k * size, from + k * size);                                                    \
        }                                                                                                                  \
    }

/* sums and products of signed integers have the bits of unsigned ones */
#define INTEGER(bits)                                                \
    COMBINER(add_u##bits, uint##bits##_t, (u64)here + (u64)next)     \
    COMBINER(mul_u##bits, uint##bits##_t, ((u64)here * (u64)next))   \
    COMBINER(min_u##bits, uint##bits##_t, next < here ? next : here) \
    COMBINER(max_u##bits, uint##bits##_t, next > here ? next : here) \
    COMBINER(min_i##bits, int##bits##_t, next < here ? next : here)  \
    COMBINER(max_i##bits, int##bits##_t, next > here ? next : here)

/* Of two NaN the processor keeps the first, and compilers choose which one that is, for each loop anew. Here it is always
 * the element's own. */
#define OTHER (here != here ? here : next)

#define FLOATING(name, type)                                               \
    COMBINER(add_##name, type, here + OTHER)                               \
    COMBINER(mul_##name, type, (here * OTHER))                             \
    COMBINER(min_##name, type, here != here || next >= here ? here : next) \
    COMBINER(max_##name, type, here != here || next <= here ? here : next)

/* float holds sums and products of two halves exactly enough that rounding twice is rounding once */
#define HALF(name, expression)                                        \
    DML_INLINE u16 NAME(name##_half)(u16 one, u16 other)              \
    {                                                                 \
        float here = dml_from_half(one), next = dml_from_half(other); \
        return expression;                                            \
    }                                                                 \
    COMBINER(name##_f16, u16, NAME(name##_half)(here, next))

HALF(add, dml_to_half(here + OTHER))
HALF(mul, dml_to_half((here * OTHER)))
HALF(min, here != here || next >= here ? one : other)
HALF(max, here != here || next <= here ? one : other)
INTEGER(8)
INTEGER(16)
INTEGER(32)
INTEGER(64)
FLOATING(f32, float)
FLOATING(f64, double)

#define ROW_OF(sums, name) {NULL, NAME(add_##sums), NAME(mul_##sums), NAME(min_##name), NAME(max_##name)}
#define ROW(name) ROW_OF(name, name)
static const dml_combiner DML_TABLE(combiners)[DML_NUMBERS][DML_REDUCTIONS] = {
    [DML_FLOAT64] = ROW(f64),       [DML_UINT64] = ROW(u64),        [DML_INT64] = ROW_OF(u64, i64), [DML_FLOAT32] = ROW(f32),
    [DML_UINT32] = ROW(u32),        [DML_INT32] = ROW_OF(u32, i32), [DML_FLOAT16] = ROW(f16),       [DML_UINT16] = ROW(u16),
    [DML_INT16] = ROW_OF(u16, i16), [DML_UINT8] = ROW(u8),          [DML_INT8] = ROW_OF(u8, i8),
};
#undef NAME
#undef AHEAD
#undef FETCH
#undef STEP
#undef COMBINER
#undef INTEGER
#undef OTHER
#undef FLOATING
#undef HALF
#undef ROW
#undef ROW_OF
