/* tuples_avx2.h: from tuples of two to four indices that follow each other to checked offsets, with AVX2. Included by avx2.c behind
 * indices_avx2.h; stands in for a part of core/normalise.h. */

#define LONGEST_WRAPPED 4 /* tuple */
#define WRAP_TUPLES wrap_tuples

/* Every second number of two vectors: from the first on, or the second. Each half of the vector has those of both halves. */
DML_INLINE __m256i every_second(__m256i v, __m256i w, int odd)
{
    __m256 first = _mm256_castsi256_ps(v), second = _mm256_castsi256_ps(w);
    return _mm256_castps_si256(odd ? _mm256_shuffle_ps(first, second, 0xdd) : _mm256_shuffle_ps(first, second, 0x88));
}

/* Every third of three vectors, from the k-th on, k a constant. */
DML_INLINE __m256i every_third(const __m256i *v, int k)
{
    __m256i some = k == 0   ? _mm256_blend_epi32(_mm256_blend_epi32(v[0], v[1], 0x92), v[2], 0x24)
                   : k == 1 ? _mm256_blend_epi32(_mm256_blend_epi32(v[0], v[1], 0x24), v[2], 0x49)
                            : _mm256_blend_epi32(_mm256_blend_epi32(v[0], v[1], 0x49), v[2], 0x92);
    __m256i places = _mm256_setr_epi32(k, k + 3, k + 6, k + 9, k + 12, k + 15, k + 18, k + 21); /* the last three bits count */
    return _mm256_permutevar8x32_epi32(some, places);
}

/* The coordinates of eight tuples, dimension by dimension, in any order that is the same for all; `order`: what puts them right. */
DML_INLINE __m256i coordinates(const char *index, int q, size_t width, __m256i *c, __m256i *bad)
{
    const __m256i in_turn = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7), as_they_are = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i v[4];
    if (q == 2 && width == 8)
        for (int k = 0; k < 2; k++, index += 64)
            v[k] = halves_in_turn(_mm256_loadu_ps((const void *)index), _mm256_loadu_ps((const void *)(index + 32)), bad);
    else
        for (int k = 0; k < q; k++)
            v[k] = eight_indices(index + 8 * k * (int64_t)width, width, bad);
    if (q == 3) {
        c[0] = every_third(v, 0);
        c[1] = every_third(v, 1);
        c[2] = every_third(v, 2);
        return as_they_are;
    }
    if (q == 4) {
        for (int odd = 0; odd < 2; odd++) {
            __m256i first = every_second(v[0], v[1], odd), second = every_second(v[2], v[3], odd);
            c[odd] = every_second(first, second, 0);
            c[odd + 2] = every_second(first, second, 1);
        }
        return in_turn;
    }
    c[0] = every_second(v[0], v[1], 0);
    c[1] = every_second(v[0], v[1], 1);
    return width == 8 ? in_turn : _mm256_setr_epi32(0, 1, 4, 5, 2, 3, 6, 7);
}

/* Offsets of any number of tuples of q coordinates, a constant wherever this is inlined. The last few are stored one by one. Not 0: one is
 * out of range. */
DML_INLINE int wrap_tuples(const char *index, int64_t count, int q, size_t width, int is_signed, const int64_t *bounds,
                           const int64_t *steps, u32 *offsets)
{
    __m256i add[4], by[4], most[4], bad = _mm256_setzero_si256(), c[4];
    for (int k = 0; k < q; k++) {
        add[k] = added_to(is_signed, bounds[k]);
        by[k] = _mm256_set1_epi32((int)steps[k]);
        most[k] = _mm256_setzero_si256();
    }
    char few[8 * 4 * 8];
    _Alignas(32) u32 last[8];
    for (int64_t i = 0; i < count; i += 8) {
        const char *from = index + i * q * (int64_t)width;
        int64_t some = count - i;
        if (some < 8) {
            memset(few, 0, sizeof few);
            memcpy(few, from, (size_t)some * (size_t)q * width);
            from = few;
        }
        __m256i order = coordinates(from, q, width, c, &bad), at = _mm256_setzero_si256();
        for (int k = 0; k < q; k++) {
            c[k] = from_the_end(c[k], add[k]);
            most[k] = _mm256_max_epu32(most[k], c[k]);
            at = _mm256_add_epi32(at, _mm256_mullo_epi32(c[k], by[k]));
        }
        at = q == 3 ? at : _mm256_permutevar8x32_epi32(at, order);
        if (some >= 8) {
            _mm256_storeu_si256((void *)(offsets + i), at);
            continue;
        }
        _mm256_store_si256((void *)last, at);
        for (int64_t j = 0; j < some; j++)
            offsets[i + j] = last[j];
    }
    int out = 0;
    for (int k = 0; k < q; k++)
        out |= out_of_range(most[k], _mm256_set1_epi32((int)bounds[k]), bad);
    return out;
}
