/* shuffles_x86.h: sixteen bytes or more at a time, permuted by the vector unit. Included by avx2.c and avx512.c, which says so with
 * WIDE_SHUFFLES; what core/short_rows.c makes use of. */

#define SHUFFLES DML_JOIN2(shuffles, ISA)

/* Each group has so many pieces: `unit` is what the permutation moves, LOAD and STORE move `vector` bytes. */
#define SHUFFLE(unit, vector, LOAD, STORE, PERMUTE)                                                                   \
    static void DML_JOIN3(shuffle, unit, ISA)(char *to, const char *from, const dml_piece *piece, int64_t pieces,     \
                                              int64_t groups, int64_t to_step, int64_t from_step)                     \
    {                                                                                                                 \
        vector places = LOAD((const void *)piece->places);                                                            \
        if (pieces == 1)                                                                                              \
            for (int64_t g = 0; g < groups; g++)                                                                      \
                STORE((void *)(to + g * to_step), PERMUTE(LOAD((const void *)(from + piece->from + g * from_step)))); \
        else                                                                                                          \
            for (int64_t g = 0; g < groups; g++, to += to_step, from += from_step)                                    \
                for (int64_t k = 0; k < pieces; k++) {                                                                \
                    places = LOAD((const void *)piece[k].places);                                                     \
                    STORE((void *)(to + piece[k].to), PERMUTE(LOAD((const void *)(from + piece[k].from))));           \
                }                                                                                                     \
    }

#define PERMUTE_BYTES(v) _mm_shuffle_epi8(v, places)
#ifdef WIDE_SHUFFLES
#define PERMUTE_PAIRS(v) _mm512_permutexvar_epi16(places, v)
#define PERMUTE_WORDS(v) _mm512_permutexvar_epi32(places, v)
SHUFFLE(u8, __m128i, _mm_loadu_si128, _mm_storeu_si128, PERMUTE_BYTES)
SHUFFLE(u16, __m512i, _mm512_loadu_si512, _mm512_storeu_si512, PERMUTE_PAIRS)
SHUFFLE(u32, __m512i, _mm512_loadu_si512, _mm512_storeu_si512, PERMUTE_WORDS)
static const dml_shuffle SHUFFLES[] = {
    {1, 16, DML_JOIN3(shuffle, u8, ISA)},
    {2, 64, DML_JOIN3(shuffle, u16, ISA)},
    {4, 64, DML_JOIN3(shuffle, u32, ISA)},
};
#else
#define PERMUTE_WORDS(v) _mm256_permutevar8x32_epi32(v, places)
SHUFFLE(u8, __m128i, _mm_loadu_si128, _mm_storeu_si128, PERMUTE_BYTES)
SHUFFLE(u32, __m256i, _mm256_loadu_si256, _mm256_storeu_si256, PERMUTE_WORDS)
static const dml_shuffle SHUFFLES[] = {
    {1, 16, DML_JOIN3(shuffle, u8, ISA)},
    {1, 16, DML_JOIN3(shuffle, u8, ISA)},
    {4, 32, DML_JOIN3(shuffle, u32, ISA)},
};
#endif
