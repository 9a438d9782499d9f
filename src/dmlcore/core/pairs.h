/* pairs.h: two numbers that follow each other in memory, loaded at once: loads and stores are what the processor has too few
 * of when elements are moved one by one. */
#ifndef DMLCORE_PAIRS_H
#define DMLCORE_PAIRS_H

#include "compiler.h"

/* Two offsets: the first one is dml_low(pair), the second one pair >> 32. */
DML_INLINE u64 dml_offsets(const u32 *offsets)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return (u64)offsets[1] << 32 | offsets[0];
#else
    u64 pair;
    memcpy(&pair, offsets, sizeof pair);
    DML_ONCE(pair);
    return pair;
#endif
}

/* Kept out of the vector registers, which compilers like to pass it through. */
DML_INLINE u64 dml_low(u64 pair)
{
    u64 low = (u32)pair;
    DML_ONCE(low);
    return low;
}

/* Two elements of `width` bytes, a constant, each to a place of its own, the second one last. */
DML_INLINE void dml_part(char *first, char *second, const char *from, size_t width)
{
#if !(defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
    if (width < 8) {
        size_t one = width < 8 ? width : 4;    /* compilers warn of what is never reached */
        u64 pair = 0;
        memcpy(&pair, from, 2 * one);
        memcpy(first, &pair, one);
        pair >>= 8 * one;
        memcpy(second, &pair, one);
        return;
    }
#endif
    u128 one, other;
    memcpy(&one, from, width);
    memcpy(&other, from + width, width);
    memcpy(first, &one, width);
    memcpy(second, &other, width);
}

#endif
