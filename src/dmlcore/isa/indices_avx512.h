/* indices_avx512.h: from indices to checked offsets, and through offsets to elements, with AVX-512.
 * Included by avx512.c; stands in for parts of core/normalise.h and core/fused.h. */

#define WRAPS 1
#define WRAP wrap_avx512

/* Narrow offsets of 64-bit indices. What does not fit into 32 bits becomes the nearest number that does, which is out of
 * range as well: a bound is less than 2**31. */
DML_INLINE int wrap_avx512(const i64 *index, int64_t count, int64_t bound, int64_t step, const u32 *ramp, u32 *offsets)
{
    __m512i n = _mm512_set1_epi32((int)bound), by = _mm512_set1_epi32((int)step), most = _mm512_setzero_si512();
    int64_t i = 0;
    int bad = 0;
    for (; i + 16 <= count; i += 16) {
        __m256i low = _mm512_cvtsepi64_epi32(_mm512_loadu_si512((const void *)(index + i)));
        __m256i high = _mm512_cvtsepi64_epi32(_mm512_loadu_si512((const void *)(index + i + 8)));
        __m512i v = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
        v = _mm512_mask_add_epi32(v, _mm512_movepi32_mask(v), v, n);
        most = _mm512_max_epu32(most, v);
        v = _mm512_mullo_epi32(v, by);
        if (ramp)
            v = _mm512_add_epi32(v, _mm512_loadu_si512((const void *)(ramp + i)));
        _mm512_storeu_si512((void *)(offsets + i), v);
    }
    for (; i < count; i++) {
        uint64_t u = (uint64_t)index[i] + (index[i] < 0 ? (uint64_t)bound : 0);
        bad |= u >= (uint64_t)bound;
        offsets[i] = (ramp ? ramp[i] : 0) + (u32)u * (u32)step;
    }
    return bad | (_mm512_cmpge_epu32_mask(most, n) != 0);
}

/* Eight elements of 4 or 8 bytes through checked offsets, by the vector unit's own gathers. core/fused.h lets these and scalar loads take turns, because the two keep different parts of the
 * processor busy: a quarter faster than either alone where the first-level cache holds the table (measured on Zen 4). */

#define TAKES(T) (sizeof(T) == 4 || sizeof(T) == 8)
#define TAKE(T, stream, table, offsets) take_avx512((stream), (table), (offsets), sizeof(T))

/* Offsets are less than 2**31. */
DML_INLINE void take_avx512(char *stream, const char *table, const u32 *offsets, size_t width)
{
    __m256i at = _mm256_loadu_si256((const void *)offsets);
    if (width == 4)
        _mm256_storeu_si256((void *)stream, _mm256_i32gather_epi32((const void *)table, at, 1));
    else
        _mm512_storeu_si512((void *)stream, _mm512_i32gather_epi64(at, (const void *)table, 1));
}
