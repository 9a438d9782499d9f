/* marks_avx512.h: one bit for each element that is not zero, and the numbers of set bits, with AVX-512.
 * Included by avx512.c in place of core/mark.h and core/extract.h. */

#define CHECK_BY_MAX 8   /* bytes; see core/normalise.h */
#define DML_OWN_MARK 1
#define DML_OWN_EXTRACT 1
#define POPCOUNT(word) ((int)_mm_popcnt_u64(word))

DML_INLINE __m512i at_avx512(const char *from, int i) { return _mm512_loadu_si512((const void *)(from + 64 * i)); }

DML_INLINE uint64_t word_avx512(const char *from, __m512i mask, int width)
{
    uint64_t word = 0;
    for (int i = 0; i < width; i++) {
        __m512i x = at_avx512(from, i);
        uint64_t some = width == 1   ? _mm512_test_epi8_mask(x, mask)
                        : width == 2 ? _mm512_test_epi16_mask(x, mask)
                        : width == 4 ? _mm512_test_epi32_mask(x, mask)
                                     : _mm512_test_epi64_mask(x, mask);
        word |= some << i * (64 / width);
    }
    return word;
}

DML_INLINE int64_t mark_avx512(const char *from, int64_t n, uint64_t mask, uint64_t *bits, int width)
{
    __m512i masks = width == 1   ? _mm512_set1_epi8((char)mask)
                    : width == 2 ? _mm512_set1_epi16((short)mask)
                    : width == 4 ? _mm512_set1_epi32((int)mask)
                                 : _mm512_set1_epi64((long long)mask);
    int64_t count = 0, at = 0;
    for (; at + 64 <= n; at += 64) {
        uint64_t word = word_avx512(from + at * width, masks, width);
        bits[at / 64] = word;
        count += POPCOUNT(word);
    }
    if (at < n) {
        char tail[64 * 8];
        memset(tail, 0, sizeof tail);
        memcpy(tail, from + at * width, (size_t)((n - at) * width));
        bits[at / 64] = word_avx512(tail, masks, width);
        count += POPCOUNT(bits[at / 64]);
    }
    return count;
}

#define MARK_OF(type, width)                                                                                   \
    DML_PIECE int64_t mark__##type##_avx512(const char *from, int64_t n, const uint64_t *mask, uint64_t *bits) \
    {                                                                                                          \
        return mark_avx512(from, n, mask[0], bits, width);                                                     \
    }
MARK_OF(u8, 1)
MARK_OF(u16, 2)
MARK_OF(u32, 4)
MARK_OF(u64, 8)
#undef MARK_OF

/* Words of a segment that have bits set, and where they begin in it; room for eight and sixteen more. */
typedef struct {
    uint64_t word[DML_SEGMENT / 64 + 8];
    u32 place[DML_SEGMENT / 64 + 16];
} words_avx512;

/* Lists them, eight at a time, and answers how many they are. Without a branch for each: where every second word has bits, no
 * processor guesses which. */
DML_INLINE int64_t list_words_avx512(const uint64_t *bits, int64_t first, int64_t length, words_avx512 *list)
{
    const __m512i lanes = _mm512_set_epi64(448, 384, 320, 256, 192, 128, 64, 0);
    const __m512i places = _mm512_set_epi32(960, 896, 832, 768, 704, 640, 576, 512, 448, 384, 320, 256, 192, 128, 64, 0);
    const uint64_t *from = bits + first / 64;
    __m128i down = _mm_cvtsi64_si128(first & 63), up = _mm_cvtsi64_si128(64 - (first & 63));
    int64_t count = 0;
    for (int64_t at = 0; at < length; at += 512) {
        __mmask8 there = (__mmask8)(((uint64_t)1 << dml_least(8, dml_ceil(length - at, 64))) - 1);
        __m512i words = _mm512_maskz_loadu_epi64(there, from + at / 64);
        if (first & 63) /* there is one word more than needed */
            words = _mm512_or_si512(_mm512_srl_epi64(words, down),
                                    _mm512_sll_epi64(_mm512_maskz_loadu_epi64(there, from + at / 64 + 1), up));
        /* bits of each word that are not the segment's */
        __m512i beyond = _mm512_max_epi64(_mm512_sub_epi64(lanes, _mm512_set1_epi64(length - at - 64)), _mm512_setzero_si512());
        words = _mm512_and_si512(words, _mm512_srlv_epi64(_mm512_set1_epi64(-1), beyond));
        __mmask8 some = _mm512_test_epi64_mask(words, words);
        _mm512_storeu_si512((void *)(list->word + count), _mm512_maskz_compress_epi64(some, words));
        _mm512_storeu_si512((void *)(list->place + count),
                            _mm512_maskz_compress_epi32(some, _mm512_add_epi32(places, _mm512_set1_epi32((int)at))));
        count += _mm_popcnt_u32(some);
    }
    return count;
}

/* As in core/extract.h, sixteen numbers at a time. Compressed in a register and stored whole: compressing to memory is
 * microcode on some machines. */
DML_INLINE int64_t extract_word_avx512(uint64_t word, u32 place, u32 *found, int64_t count)
{
    const __m512i iota = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    for (int i = 0; i < 64; i += 16) {
        __mmask16 some = (__mmask16)(word >> i);
        __m512i numbers = _mm512_add_epi32(iota, _mm512_set1_epi32((int)place + i));
        _mm512_storeu_si512((void *)(found + count), _mm512_maskz_compress_epi32(some, numbers));
        count += _mm_popcnt_u32(some);
    }
    return count;
}

DML_PIECE int64_t extract__avx512(const dml_bitmap *map, int64_t first, int64_t length, u32 *found)
{
    int64_t count = 0;
    if (map->few) {
        words_avx512 list;
        int64_t words = list_words_avx512(map->bits, first, length, &list);
        for (int64_t w = 0; w < words; w++)
            count = extract_word_avx512(list.word[w], list.place[w], found, count);
        return count;
    }
    for (int64_t at = 0; at < length; at += 64) {
        uint64_t word = dml_bits_at(map->bits, first + at);
        if (length - at < 64)
            word &= ((uint64_t)1 << (length - at)) - 1;
        if (word)
            count = extract_word_avx512(word, (u32)at, found, count);
    }
    return count;
}
