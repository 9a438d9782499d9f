/* marks_avx2.h: one bit for each element that is not zero, with AVX2, and the instructions that it brings along.
 * Included by avx2.c in place of core/mark.h. */

#define CHECK_BY_MAX 4   /* bytes; see core/normalise.h */
#define DML_OWN_MARK 1
#define POPCOUNT(word) ((int)_mm_popcnt_u64(word))

/* All ones where the element has no bit of the mask. */
DML_INLINE __m256i zeros_avx2(__m256i x, __m256i mask, int width)
{
    __m256i rest = _mm256_and_si256(x, mask), zero = _mm256_setzero_si256();
    return width == 1   ? _mm256_cmpeq_epi8(rest, zero)
           : width == 2 ? _mm256_cmpeq_epi16(rest, zero)
           : width == 4 ? _mm256_cmpeq_epi32(rest, zero)
                        : _mm256_cmpeq_epi64(rest, zero);
}

DML_INLINE __m256i at_avx2(const char *from, int i) { return _mm256_loadu_si256((const __m256i *)(from + 32 * i)); }

/* Thirty-two elements of 1 or 2 bytes, eight of 4, four of 8: as many as one result of movemask holds. */
DML_INLINE uint64_t some_avx2(const char *from, __m256i mask, int width)
{
    if (width == 1)
        return (u32)~_mm256_movemask_epi8(zeros_avx2(at_avx2(from, 0), mask, 1));
    if (width == 2) {
        __m256i both = _mm256_packs_epi16(zeros_avx2(at_avx2(from, 0), mask, 2), zeros_avx2(at_avx2(from, 1), mask, 2));
        return (u32)~_mm256_movemask_epi8(_mm256_permute4x64_epi64(both, 0xd8));
    }
    if (width == 4)
        return (unsigned)~_mm256_movemask_ps(_mm256_castsi256_ps(zeros_avx2(at_avx2(from, 0), mask, 4))) & 0xff;
    return (unsigned)~_mm256_movemask_pd(_mm256_castsi256_pd(zeros_avx2(at_avx2(from, 0), mask, 8))) & 0xf;
}

DML_INLINE int64_t mark_avx2(const char *from, int64_t n, uint64_t mask, uint64_t *bits, int width)
{
    __m256i masks = width == 1   ? _mm256_set1_epi8((char)mask)
                    : width == 2 ? _mm256_set1_epi16((short)mask)
                    : width == 4 ? _mm256_set1_epi32((int)mask)
                                 : _mm256_set1_epi64x((long long)mask);
    int step = width <= 2 ? 32 : width == 4 ? 8 : 4;
    int64_t count = 0;
    for (int64_t at = 0; at < n; at += 64) {
        const char *here = from + at * width;
        char tail[64 * 8];
        if (n - at < 64) {
            memset(tail, 0, sizeof tail);
            memcpy(tail, here, (size_t)((n - at) * width));
            here = tail;
        }
        uint64_t word = 0;
        for (int i = 0; i < 64; i += step)
            word |= some_avx2(here + i * width, masks, width) << i;
        bits[at / 64] = word;
        count += POPCOUNT(word);
    }
    return count;
}

#define MARK_OF(type, width)                                                                                 \
    DML_PIECE int64_t mark__##type##_avx2(const char *from, int64_t n, const uint64_t *mask, uint64_t *bits) \
    {                                                                                                        \
        return mark_avx2(from, n, mask[0], bits, width);                                                     \
    }
MARK_OF(u8, 1)
MARK_OF(u16, 2)
MARK_OF(u32, 4)
MARK_OF(u64, 8)
#undef MARK_OF
