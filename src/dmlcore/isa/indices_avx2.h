/* indices_avx2.h: from single indices to checked offsets, or to narrowed indices, with AVX2. Included by avx2.c; stands in for a part of
 * core/normalise.h. */

#define WRAPS 1
#define LONGEST_RING 1
#define WRAP wrap_avx2
#define WRAP_SIXTEEN wrap_sixteen
#define WRAP_EIGHT wrap_eight
#define NARROW narrow_avx2
#define CHECKS_ROWS 1
#define CHECK_ROWS check_rows

/* As read: what is checked is what is used. */
#define AS_READ(v) __asm__("" : "+x"(v))

/* The lower halves of eight numbers of 64 bits, two of the first vector before two of the second; bad: bits are set where an upper half
 * is not what the lower one's sign tells. (Unsigned ones of 2**31 and more are out of range as they are.) */
DML_INLINE __m256i halves_in_turn(__m256 first, __m256 second, __m256i *bad)
{
    AS_READ(first);
    AS_READ(second);
    __m256i low = _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0x88));
    __m256i high = _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0xdd));
    *bad = _mm256_or_si256(*bad, _mm256_xor_si256(high, _mm256_srai_epi32(low, 31)));
    return low;
}

/* All of the first before those of the second. */
DML_INLINE __m256i lower_halves(__m256 first, __m256 second, __m256i *bad)
{
    return _mm256_permute4x64_epi64(halves_in_turn(first, second, bad), 0xd8);
}

/* Eight indices that have `width` bytes each, 2, 4 or 8. */
DML_INLINE __m256i eight_indices(const char *index, size_t width, __m256i *bad)
{
    if (width == 8)
        return lower_halves(_mm256_loadu_ps((const void *)index), _mm256_loadu_ps((const void *)(index + 32)), bad);
    __m256i v = width == 2 ? _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)index))
                           : _mm256_loadu_si256((const void *)index);
    AS_READ(v);
    return v;
}

/* The same of four or eight bytes each, four from either place. */
DML_INLINE __m256i four_and_four(const char *first, const char *second, size_t width, __m256i *bad)
{
    if (width == 8)
        return lower_halves(_mm256_loadu_ps((const void *)first), _mm256_loadu_ps((const void *)second), bad);
    __m256i v = _mm256_castsi128_si256(_mm_loadu_si128((const void *)first));
    v = _mm256_inserti128_si256(v, _mm_loadu_si128((const void *)second), 1);
    AS_READ(v);
    return v;
}

/* All bits where a number of 32 bits, of eight from 0 on, is less than n. */
DML_INLINE __m256i below(int64_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* The first `some` of eight, 4 or 8 bytes each; the others are 0, and nothing is read there. */
DML_INLINE __m256i some_indices(const char *index, int64_t some, size_t width, __m256i *bad)
{
    __m256i these = below(some);
    if (width == 8) {
        __m256i low = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(these));
        __m256i high = _mm256_cvtepi32_epi64(_mm256_extracti128_si256(these, 1));
        return lower_halves(_mm256_castsi256_ps(_mm256_maskload_epi64((const void *)index, low)),
                            _mm256_castsi256_ps(_mm256_maskload_epi64((const void *)(index + 32), high)), bad);
    }
    __m256i v = _mm256_maskload_epi32((const void *)index, these);
    AS_READ(v);
    return v;
}

/* What is added to an index: its bound, or nothing where indices are unsigned. */
DML_INLINE __m256i added_to(int is_signed, int64_t bound) { return _mm256_set1_epi32(is_signed ? (int)bound : 0); }

/* Those below zero count from the end: as unsigned numbers they are the larger ones before the bound is added, others are it after. */
DML_INLINE __m256i from_the_end(__m256i v, __m256i add) { return _mm256_min_epu32(v, _mm256_add_epi32(v, add)); }

/* Whether one of v is not below n, or bad has bits. */
DML_INLINE int out_of_range(__m256i v, __m256i n, __m256i bad)
{
    bad = _mm256_or_si256(bad, _mm256_cmpeq_epi32(_mm256_max_epu32(v, n), v));
    return !_mm256_testz_si256(bad, bad);
}

DML_INLINE __m256i offsets_of(__m256i v, __m256i step, const u32 *ramp)
{
    v = _mm256_mullo_epi32(v, step);
    return ramp ? _mm256_add_epi32(v, _mm256_loadu_si256((const void *)ramp)) : v;
}

/* Offsets of any number of single indices. The last few are stored one by one. Not 0: one is out of range. */
DML_INLINE int wrap_avx2(const char *index, int64_t count, size_t width, int is_signed, int64_t bound, int64_t step,
                         const u32 *ramp, u32 *offsets)
{
    __m256i n = _mm256_set1_epi32((int)bound), by = _mm256_set1_epi32((int)step), add = added_to(is_signed, bound);
    __m256i most = _mm256_setzero_si256(), bad = most;
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256i v = from_the_end(eight_indices(index + i * (int64_t)width, width, &bad), add);
        most = _mm256_max_epu32(most, v);
        _mm256_storeu_si256((void *)(offsets + i), offsets_of(v, by, ramp ? ramp + i : NULL));
    }
    if (i < count) {
        char few[8 * 8] = {0};
        _Alignas(32) u32 last[8];
        memcpy(few, index + i * (int64_t)width, (size_t)(count - i) * width);
        __m256i v = from_the_end(eight_indices(few, width, &bad), add);
        most = _mm256_max_epu32(most, v);
        _mm256_store_si256((void *)last, offsets_of(v, by, NULL));
        for (const u32 *from = last; i < count; i++, from++)
            offsets[i] = *from + (ramp ? ramp[i] : 0);
    }
    return out_of_range(most, n, bad);
}

/* Those of sixteen that follow each other. */
DML_INLINE int wrap_sixteen(const char *index, int q, int64_t apart, int64_t along, size_t width, int is_signed,
                            const int64_t *bounds, const int64_t *steps, const u32 *ramp, u32 *offsets)
{
    DML_NEVER(q > 1 || apart || along);
    return wrap_avx2(index, 16, width, is_signed, bounds[0], steps[0], ramp, offsets);
}

/* Of at most eight. Eight offsets are stored, and as many of the ramp read, however few there are. */
DML_INLINE int wrap_eight(const char *index, int64_t some, size_t width, int is_signed, int64_t bound, int64_t step,
                          const u32 *ramp, u32 *offsets)
{
    __m256i bad = _mm256_setzero_si256();
    __m256i v = from_the_end(some_indices(index, some, width, &bad), added_to(is_signed, bound));
    _mm256_storeu_si256((void *)offsets, offsets_of(v, _mm256_set1_epi32((int)step), ramp));
    return out_of_range(v, _mm256_set1_epi32((int)bound), bad);
}

/* What dml_narrower makes of sixteen indices, eight from either place; plain: they number the elements themselves. `most`: the largest so
 * far. */
DML_INLINE __m256i numbers_of_sixteen(const char *first, const char *second, size_t width, __m256i add, __m256i step,
                                      const u32 *ramp, __m128i shift, int plain, __m256i *most, __m256i *bad)
{
    __m256i v[2];
    for (int h = 0; h < 2; h++) {
        v[h] = from_the_end(eight_indices(h ? second : first, width, bad), add);
        *most = _mm256_max_epu32(*most, v[h]);
        if (!plain)
            v[h] = _mm256_srl_epi32(offsets_of(v[h], step, ramp ? ramp + 8 * h : NULL), shift);
    }
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(v[0], v[1]), 0xd8);
}

DML_INLINE int narrow_avx2(const char *index, int64_t count, size_t width, int is_signed, int64_t bound, int64_t step,
                           const u32 *ramp, int shift, int plain, u16 *to)
{
    __m256i n = _mm256_set1_epi32((int)bound), by = _mm256_set1_epi32((int)step), add = added_to(is_signed, bound);
    __m256i most = _mm256_setzero_si256(), bad = most;
    __m128i by_bits = _mm_cvtsi32_si128(shift);
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const char *from = index + i * (int64_t)width;
        _mm256_storeu_si256((void *)(to + i), numbers_of_sixteen(from, from + 8 * width, width, add, by, ramp ? ramp + i : NULL,
                                                                 by_bits, plain, &most, &bad));
    }
    if (i < count) {
        char few[16 * 8] = {0};
        u32 ramps[16] = {0};
        u16 last[16];
        memcpy(few, index + i * (int64_t)width, (size_t)(count - i) * width);
        if (ramp)
            memcpy(ramps, ramp + i, (size_t)(count - i) * sizeof *ramps);
        _mm256_storeu_si256((void *)last,
                            numbers_of_sixteen(few, few + 8 * width, width, add, by, ramps, by_bits, plain, &most, &bad));
        memcpy(to + i, last, (size_t)(count - i) * sizeof *to);
    }
    return out_of_range(most, n, bad);
}

DML_INLINE __m256i repeated(u64 v, size_t width)
{
    return width == 4 ? _mm256_set1_epi32((int)v) : _mm256_set1_epi64x((int64_t)v);
}

/* What some indices, v, add to what was found of others. Of eight bytes all of a lane's bits are set where v is not in [least, last], as
 * signed numbers; of four it is the largest v - least, unsigned. */
DML_INLINE __m256i worse(__m256i bad, __m256i v, __m256i least, __m256i last, size_t width)
{
    if (width == 4)
        return _mm256_max_epu32(bad, _mm256_sub_epi32(v, least));
    return _mm256_or_si256(bad, _mm256_or_si256(_mm256_cmpgt_epi64(least, v), _mm256_cmpgt_epi64(v, last)));
}

/* Whether any of `count` indices, rows of `length` that begin where the ramp says, is out of range. */
DML_INLINE int check_rows(const char *index, const int64_t *ramp, int64_t count, int64_t length, int64_t bound, int is_signed,
                          size_t width)
{
    int64_t lanes = 32 / (int64_t)width, whole = length / lanes * 32, rest = length % lanes;
    int64_t n = width == 4 ? dml_least(bound, (int64_t)1 << (is_signed ? 31 : 32)) : bound;
    __m256i least = repeated(is_signed ? -(u64)n : 0, width), last = repeated((u64)n - 1, width), bad = _mm256_setzero_si256();
    __m256i these = width == 4 ? below(rest) : _mm256_cvtepi32_epi64(_mm256_castsi256_si128(below(rest)));
    for (int64_t i = 0; i < count; i += length) {
        const char *row = index + ramp[i];
        for (int64_t at = 0; at < whole; at += 32) {
            DML_PREFETCH(row + at + DML_PAGES_AHEAD);
            bad = worse(bad, _mm256_loadu_si256((const void *)(row + at)), least, last, width);
        }
        if (rest && width == 4)
            bad = worse(bad, _mm256_maskload_epi32((const void *)(row + whole), these), least, last, 4);
        else if (rest)
            bad = worse(bad, _mm256_maskload_epi64((const void *)(row + whole), these), least, last, 8);
    }
    if (width == 8)
        return n == 0 || _mm256_movemask_pd(_mm256_castsi256_pd(bad)) != 0;
    __m256i most = repeated((u64)n + (is_signed ? (u64)n : 0) - 1, 4);
    bad = _mm256_xor_si256(_mm256_max_epu32(bad, most), most);
    return n == 0 || !_mm256_testz_si256(bad, bad);
}

#undef AS_READ
