/* apart_avx512.h: sixteen coordinates of indices that are equally far apart in memory, joined in a register with AVX-512: every second
 * one and backwards by permutations, others load by load. Included by avx512.c; indices_avx512.h checks them. */

/* Two numbers of eight bytes. */
DML_INLINE __m128i two_units(const char *from, int64_t apart)
{
    __m128d low = _mm_castsi128_pd(_mm_loadl_epi64((const __m128i *)(const void *)from));
    return _mm_castpd_si128(_mm_loadh_pd(low, (const double *)(const void *)(from + apart)));
}

/* As many units of 8 or 16 bytes as fill a vector, `apart` from one to the next. */
DML_INLINE __m512i joined(const char *from, int64_t apart, size_t unit)
{
    __m128i part[4];
    for (int k = 0; k < 4; k++)
        if (unit == 16)
            part[k] = _mm_loadu_si128((const void *)(from + k * apart));
        else
            part[k] = two_units(from + 2 * k * apart, apart);
    __m512i v = _mm512_inserti64x2(_mm512_castsi128_si512(part[0]), part[1], 1);
    v = _mm512_inserti64x2(_mm512_inserti64x2(v, part[2], 2), part[3], 3);
    __asm__("" : "+v"(v)); /* as read: what is checked is what is used */
    return v;
}

/* Eight numbers of eight bytes, or sixteen of four: every second one, and backwards. */
DML_INLINE __m512i every_second(const char *from, size_t width)
{
    if (width == 4) {
        __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        __m512i v = _mm512_loadu_si512((const void *)from), w = _mm512_maskz_loadu_epi32(0x7fff, (const void *)(from + 64));
        return _mm512_permutex2var_epi32(v, even, w);
    }
    __m512i v = _mm512_loadu_si512((const void *)from), w = _mm512_maskz_loadu_epi64(0x7f, (const void *)(from + 64));
    return _mm512_permutex2var_epi64(v, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), w);
}

DML_INLINE __m512i backwards(const char *from, size_t width)
{
    __m512i v = _mm512_loadu_si512((const void *)(from + width - 64));
    if (width == 4)
        return _mm512_permutexvar_epi32(_mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), v);
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), v);
}

DML_INLINE __m512i joined_any(const char *from, int64_t apart, int q, size_t width)
{
    __m512i v;
    if (q == 1 && apart == 2 * (int64_t)width)
        v = every_second(from, width);
    else if (q == 1 && apart == -(int64_t)width)
        v = backwards(from, width);
    else
        return joined(from, apart, (size_t)q * width);
    __asm__("" : "+v"(v));
    return v;
}

/* Four coordinates of four bytes, or of eight, the last of which is nothing if q is three. */
DML_INLINE __m128i four_halves(const char *from, int q)
{
    return _mm_maskz_loadu_epi32((__mmask8)((1 << q) - 1), (const void *)from);
}
DML_INLINE __m256i four_units(const char *from, int q)
{
    return _mm256_maskz_loadu_epi64((__mmask8)((1 << q) - 1), (const void *)from);
}

/* Those of two tuples of q, three or four, that are `apart`, eight bytes each. */
DML_INLINE __m512i two_tuples(const char *from, int64_t apart, int q)
{
    __m512i v = _mm512_inserti64x4(_mm512_castsi256_si512(four_units(from, q)), four_units(from + apart, q), 1);
    __asm__("" : "+v"(v)); /* as read: what is checked is what is used */
    return v;
}

/* Those of four, each in four bytes. */
DML_INLINE __m512i four_tuples(const char *from, int64_t apart, int q, size_t width)
{
    __m512i v;
    if (width == 8) {
        __m256i low = _mm512_cvtsepi64_epi32(two_tuples(from, apart, q));
        return _mm512_inserti64x4(_mm512_castsi256_si512(low), _mm512_cvtsepi64_epi32(two_tuples(from + 2 * apart, apart, q)),
                                  1);
    }
    v = _mm512_inserti64x2(_mm512_castsi128_si512(four_halves(from, q)), four_halves(from + apart, q), 1);
    v = _mm512_inserti64x2(v, four_halves(from + 2 * apart, q), 2);
    v = _mm512_inserti64x2(v, four_halves(from + 3 * apart, q), 3);
    __asm__("" : "+v"(v));
    return v;
}

/* Sixteen coordinates, likewise from tuples of q that are `apart`; triples take the room of four. */
DML_INLINE __m512i joined_indices(const char *index, int64_t apart, int q, size_t width)
{
    if (q > 2)
        return four_tuples(index, apart, q, width);
    if (width == 4)
        return joined_any(index, apart, q, width);
    __m256i low = _mm512_cvtsepi64_epi32(joined_any(index, apart, q, width));
    __m256i high = _mm512_cvtsepi64_epi32(joined_any(index + 8 / q * apart, apart, q, width));
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
