/* half.h: float16 to float and back, rounding to the nearest, ties to even, and the order of float16.
 * Included by combine.h; plain integers, because not every instruction set knows float16. */
#ifndef DMLCORE_HALF_H
#define DMLCORE_HALF_H

#include "compiler.h"

DML_INLINE float dml_from_half(u16 half)
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
DML_INLINE u16 dml_to_half(float value)
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

#define DML_HALF_IS_NAN(half) (((half) & 0x7fff) > 0x7c00)

/* Numbers in the order of the halves; both zeros are the same. */
DML_INLINE int16_t dml_half_order(u16 half) { return (int16_t)(half & 0x8000 ? -(half & 0x7fff) : half); }

#endif
