/* turns_avx512.h: single indices that lie the other way round, column by column, become rows of indices of four bytes. Included by
 * avx512.c; turned.c does without where there is none. */

#define TURN_INDICES turn_indices

/* Eight rows of two columns, in pairs; of eight bytes each index takes its lower half. `most`: the largest so far, with what is added to
 * it, as numbers of `width` bytes. */
DML_INLINE __m512i pairs_of_columns(const char *first, const char *second, __mmask8 rows, size_t width, __m512i add,
                                    __m512i *most)
{
    if (width == 4) {
        __m256i v = _mm256_maskz_loadu_epi32(rows, (const void *)first),
                w = _mm256_maskz_loadu_epi32(rows, (const void *)second);
        __m512i by_turns = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        __m512i pairs = _mm512_permutex2var_epi32(_mm512_castsi256_si512(v), by_turns, _mm512_castsi256_si512(w));
        __asm__("" : "+v"(pairs)); /* as read: what is checked is what is used */
        *most = _mm512_max_epu32(*most, _mm512_add_epi32(pairs, add));
        return pairs;
    }
    __m512i v = _mm512_maskz_loadu_epi64(rows, (const void *)first), w = _mm512_maskz_loadu_epi64(rows, (const void *)second);
    __asm__("" : "+v"(v), "+v"(w)); /* likewise */
    *most = _mm512_max_epu64(*most, _mm512_max_epu64(_mm512_add_epi64(v, add), _mm512_add_epi64(w, add)));
    __m512i lower = _mm512_setr_epi32(0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
    return _mm512_permutex2var_epi32(v, lower, w);
}

/* Up to sixteen columns of up to eight rows; the last column stands in for those that are not there. */
DML_INLINE void turn_some(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns,
                          size_t width, __m512i add, __m512i *most)
{
    __mmask8 in_rows = (__mmask8)((1 << rows) - 1);
    __mmask16 in_columns = (__mmask16)((1 << columns) - 1);
    __m512i pair[8], two[8], four[8], row[8];
    for (int k = 0; k < 8; k++)
        pair[k] = pairs_of_columns(from + dml_least(2 * k, columns - 1) * from_pitch,
                                   from + dml_least(2 * k + 1, columns - 1) * from_pitch, in_rows, width, add, most);
    for (int k = 0; k < 8; k += 2) { /* even rows of four columns, odd ones */
        two[k] = _mm512_unpacklo_epi64(pair[k], pair[k + 1]);
        two[k + 1] = _mm512_unpackhi_epi64(pair[k], pair[k + 1]);
    }
    for (int k = 0; k < 8; k += 4) /* rows 0 and 4 of eight columns, 2 and 6, 1 and 5, 3 and 7 */
        for (int odd = 0; odd < 2; odd++) {
            four[k + 2 * odd] = _mm512_shuffle_i64x2(two[k + odd], two[k + 2 + odd], 0x88);
            four[k + 2 * odd + 1] = _mm512_shuffle_i64x2(two[k + odd], two[k + 2 + odd], 0xdd);
        }
    for (int k = 0; k < 4; k++) {
        int first = k / 2 + k % 2 * 2;
        row[first] = _mm512_shuffle_i64x2(four[k], four[k + 4], 0x88);
        row[first + 4] = _mm512_shuffle_i64x2(four[k], four[k + 4], 0xdd);
    }
    for (int r = 0; r < rows; r++)
        _mm512_mask_storeu_epi32((void *)(to + r * to_pitch), in_columns, row[r]);
}

DML_INLINE int turn_all(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns,
                        size_t width, int is_signed, int64_t bound)
{
    uint64_t n = (uint64_t)bound, added = is_signed ? n : 0; /* v is in [-n, n) exactly when v + n is in [0, 2n), unsigned */
    __m512i most = _mm512_setzero_si512(), add = repeated(added, width), last = repeated(n + added - 1, width);
    for (int64_t c = 0; c < columns; c += 16) {
        const char *column = from + c * from_pitch;
        char *at = to + c * 4;
        int64_t wide = dml_least(16, columns - c);
        for (int64_t r = 0; r < rows; r += 8)
            turn_some(at + r * to_pitch, to_pitch, column + r * (int64_t)width, from_pitch, dml_least(8, rows - r), wide, width,
                      add, &most);
    }
    return n == 0 || (width == 8 ? _mm512_cmpgt_epu64_mask(most, last) : _mm512_cmpgt_epu32_mask(most, last)) != 0;
}

/* A dml_turner. */
static int turn_indices(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns,
                        int width, int is_signed, int64_t bound)
{
    return width == 8 ? turn_all(to, to_pitch, from, from_pitch, rows, columns, 8, is_signed, bound)
                      : turn_all(to, to_pitch, from, from_pitch, rows, columns, 4, is_signed, bound);
}
