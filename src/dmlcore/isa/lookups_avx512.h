/* lookups_avx512.h: elements out of a table so short that vector registers hold all of it, with AVX-512: they are permuted there
 * instead of loaded one by one. Included by avx512.c; stands in for a part of core/elements.h. Elements of one byte are not: indices in a
 * row look them up by byte_lookups_avx512.h. */

#define LOOKS_UP(T) (sizeof(T) >= 2 && sizeof(T) <= 8)
#define LOOK_UP look_up_of

typedef struct {
    __m512i part[8];
} table_avx512;

_Static_assert(DML_IN_REGISTERS == sizeof(table_avx512), "the longest table fills all parts");

/* The first `bytes` of a table; zeros follow them. */
DML_INLINE table_avx512 load_table(const char *table, int64_t bytes)
{
    table_avx512 t;
    for (int k = 0; k < 8; k++, table += 64, bytes -= 64) {
        __mmask64 some = bytes >= 64 ? ~(u64)0 : bytes > 0 ? ((u64)1 << bytes) - 1 : 0;
        t.part[k] = _mm512_maskz_loadu_epi8(some, (const void *)table);
    }
    return t;
}

/* Elements number `at` out of two registers, from the one numbered `k` on; out of four; out of 2, 4 or 8. A permutation looks at
 * as many bits of a number as it needs. */
DML_INLINE __m512i out_of_two(const table_avx512 *t, int k, __m512i at, size_t width)
{
    return width == 2   ? _mm512_permutex2var_epi16(t->part[k], at, t->part[k + 1])
           : width == 4 ? _mm512_permutex2var_epi32(t->part[k], at, t->part[k + 1])
                        : _mm512_permutex2var_epi64(t->part[k], at, t->part[k + 1]);
}

/* Of each pair of elements, one out of two vectors, the one that a bit of its number `at` tells. */
DML_INLINE __m512i by_bit(__m512i clear, __m512i set, __m512i at, int bit, size_t width)
{
    return width == 2   ? _mm512_mask_blend_epi16(_mm512_test_epi16_mask(at, _mm512_set1_epi16((short)bit)), clear, set)
           : width == 4 ? _mm512_mask_blend_epi32(_mm512_test_epi32_mask(at, _mm512_set1_epi32(bit)), clear, set)
                        : _mm512_mask_blend_epi64(_mm512_test_epi64_mask(at, _mm512_set1_epi64(bit)), clear, set);
}

DML_INLINE __m512i out_of_four(const table_avx512 *t, int k, __m512i at, size_t width)
{
    return by_bit(out_of_two(t, k, at, width), out_of_two(t, k + 2, at, width), at, 128 / (int)width, width);
}

DML_INLINE __m512i out_of(const table_avx512 *t, int registers, __m512i at, size_t width)
{
    if (registers == 2)
        return out_of_two(t, 0, at, width);
    if (registers == 4)
        return out_of_four(t, 0, at, width);
    return by_bit(out_of_four(t, 0, at, width), out_of_four(t, 4, at, width), at, 256 / (int)width, width);
}

/* The numbers of up to sixteen elements. */
DML_INLINE __m512i numbers_of(const u32 *offsets, int64_t count, size_t width)
{
    __mmask16 some = (__mmask16)(count >= 16 ? 0xffff : count > 0 ? (1 << count) - 1 : 0);
    return _mm512_srli_epi32(_mm512_maskz_loadu_epi32(some, (const void *)offsets), width == 8 ? 3 : (unsigned)width / 2);
}

/* Up to 32 elements of two bytes. */
DML_INLINE void look_up_short(char *stream, const table_avx512 *t, int registers, const u32 *offsets, int64_t count)
{
    __m256i low = _mm512_cvtepi32_epi16(numbers_of(offsets, count, 2));
    __m256i high = _mm512_cvtepi32_epi16(numbers_of(offsets + 16, count - 16, 2));
    __m512i v = out_of(t, registers, _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1), 2);
    __mmask32 some = count >= 32 ? ~(u32)0 : ((u32)1 << count) - 1;
    _mm512_mask_storeu_epi16((void *)stream, some, v);
}

/* Up to sixteen of four or eight. */
DML_INLINE void look_up_long(char *stream, const table_avx512 *t, int registers, const u32 *offsets, int64_t count,
                             size_t width, int past)
{
    __m512i at = numbers_of(offsets, count, width);
    __mmask16 some = (__mmask16)(count >= 16 ? 0xffff : (1 << count) - 1);
    if (width == 4) {
        __m512i v = out_of(t, registers, at, 4);
        if (past)
            store_avx512(stream, v, 1);
        else
            _mm512_mask_storeu_epi32((void *)stream, some, v);
        return;
    }
    __m512i low = out_of(t, registers, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(at)), 8);
    __m512i high = out_of(t, registers, _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(at, 1)), 8);
    if (past) {
        store_avx512(stream, low, 1);
        store_avx512(stream + 64, high, 1);
    } else {
        _mm512_mask_storeu_epi64((void *)stream, (__mmask8)some, low);
        _mm512_mask_storeu_epi64((void *)(stream + 64), (__mmask8)(some >> 8), high);
    }
}

DML_INLINE void look_up_with(char *stream, const table_avx512 *t, int registers, const u32 *offsets, int64_t count,
                             size_t width, int past)
{
    int64_t each = width == 2 ? 32 : 16;
    for (; count > 0; count -= each, offsets += each, stream += each * (int64_t)width)
        if (width == 2)
            look_up_short(stream, t, registers, offsets, count);
        else
            look_up_long(stream, t, registers, offsets, count, width, past && count >= each);
}

/* `count` elements out of a table of `bytes` (DML_IN_REGISTERS). past: whole lines are stored past the caches, the stream is a multiple
 * of 64 then. */
DML_INLINE void look_up_of(char *stream, const char *table, int64_t bytes, const u32 *offsets, int64_t count, size_t width,
                           int past)
{
    table_avx512 t = load_table(table, bytes);
    if (bytes <= 2 * 64)
        look_up_with(stream, &t, 2, offsets, count, width, past);
    else if (bytes <= 4 * 64 || width == 8)
        look_up_with(stream, &t, 4, offsets, count, width, past);
    else
        look_up_with(stream, &t, 8, offsets, count, width, past);
}
