/* joins_x86.h: elements that lie anywhere are joined in a vector register and stored together, which saves stores:
 * a fifth faster than element by element, and faster than the vector units' gathers where the plan does not ask for those.
 * Included by avx2.c and avx512.c; stands in for a part of core/elements.h and core/fused.h. */

#ifndef GATHERS
#define GATHERS(T) 0
#define GATHER_SIXTEEN(stream, table, drift, offsets, width, past) ((void)0)
#endif

#define JOINS(T) 1
#define JOIN(T, stream, table, drift, offsets, way, past)                                           \
    do {                                                                                            \
        if (GATHERS(T) && (way) == DML_GATHERS)                                                     \
            GATHER_SIXTEEN(stream, table, drift, offsets, sizeof(T), (past));                       \
        else                                                                                        \
            join_of((stream), (table), (drift), (offsets), sizeof(T), (way) == DML_MERGES, (past)); \
    } while (0)

/* Element number j, of `at`, the offsets of numbers j and j + 1. */
#define ONE(j) (table + (j) * drift + dml_low(at))
#define TWO(j) (table + ((j) + 1) * drift + (at >> 32))

DML_INLINE int number_at(const char *from, size_t width)
{
    int number = 0;
    memcpy(&number, from, width);
    return number;
}

/* Puts the number that lies at `from` into a place of v. A masked broadcast is one operation, an insertion two: elements out of the
 * second-level cache take 0.85 to 0.95 of the time, those out of the first-level one more of it, the more masks there are (Zen 5). */
#define INSERT(bits, place, from) v = _mm_insert_epi##bits(v, number_at(from, bits / 8), place)
#if MERGES
#define MERGE(bits, place, from) \
    v = _mm_mask_mov_epi##bits(v, (__mmask8)(1 << (place)), _mm_set1_epi##bits(number_at(from, bits / 8)))
#else
#define MERGE INSERT
#endif

DML_INLINE __m128i two_of_eight_bytes(const char *table, int64_t drift, const u32 *offsets, int j)
{
    u64 at = dml_offsets(offsets + j);
    __m128d low = _mm_castsi128_pd(_mm_loadl_epi64((const __m128i *)(const void *)ONE(j)));
    return _mm_castpd_si128(_mm_loadh_pd(low, (const double *)(const void *)TWO(j)));
}

DML_INLINE __m128i four_of_four_bytes(const char *table, int64_t drift, const u32 *offsets, int j, int merges)
{
    u64 at = dml_offsets(offsets + j);
    __m128i v = _mm_cvtsi32_si128(number_at(ONE(j), 4));
    if (merges) {
        MERGE(32, 1, TWO(j));
        at = dml_offsets(offsets + j + 2);
        MERGE(32, 2, ONE(j + 2));
        MERGE(32, 3, TWO(j + 2));
    } else {
        INSERT(32, 1, TWO(j));
        at = dml_offsets(offsets + j + 2);
        INSERT(32, 2, ONE(j + 2));
        INSERT(32, 3, TWO(j + 2));
    }
    return v;
}

#define PUT_TWO(bits, place, PUT, OTHER)            \
    do {                                            \
        at = dml_offsets(offsets + j + (place));    \
        PUT(bits, place, ONE(j + (place)));         \
        OTHER(bits, (place) + 1, TWO(j + (place))); \
    } while (0)

/* Two inserted of eight: as fast out of the first-level cache as if all were. */
DML_INLINE __m128i eight_of_two_bytes(const char *table, int64_t drift, const u32 *offsets, int j)
{
    u64 at;
    __m128i v = _mm_setzero_si128();
    PUT_TWO(16, 0, MERGE, MERGE);
    PUT_TWO(16, 2, INSERT, MERGE);
    PUT_TWO(16, 4, MERGE, MERGE);
    PUT_TWO(16, 6, INSERT, MERGE);
    return v;
}

DML_INLINE __m128i sixteen_bytes(const char *table, int64_t drift, const u32 *offsets)
{
    u64 at;
    int j = 0;
    __m128i v = _mm_setzero_si128();
    PUT_TWO(8, 0, INSERT, INSERT);
    PUT_TWO(8, 2, INSERT, INSERT);
    PUT_TWO(8, 4, INSERT, INSERT);
    PUT_TWO(8, 6, INSERT, INSERT);
    PUT_TWO(8, 8, INSERT, INSERT);
    PUT_TWO(8, 10, INSERT, INSERT);
    PUT_TWO(8, 12, INSERT, INSERT);
    PUT_TWO(8, 14, INSERT, INSERT);
    return v;
}

DML_INLINE void store_of(__m128i *to, __m128i v, int past)
{
    if (past)
        _mm_stream_si128(to, v);
    else
        _mm_storeu_si128(to, v);
}

/* Sixteen elements; the table moves on by `drift` from one to the next. past: they are stored past the caches, the stream is a
 * multiple of 16 then. */
DML_INLINE void join_of(char *stream, const char *table, int64_t drift, const u32 *offsets, size_t width, int merges, int past)
{
    __m128i *to = (__m128i *)(void *)stream;
    if (width == 1)
        store_of(to, sixteen_bytes(table, drift, offsets), past);
    else if (width == 2)
        for (int j = 0; j < 16; j += 8)
            store_of(to + j / 8, eight_of_two_bytes(table, drift, offsets, j), past);
    else if (width == 4)
        for (int j = 0; j < 16; j += 4)
            store_of(to + j / 4, four_of_four_bytes(table, drift, offsets, j, merges), past);
    else if (width == 8)
        for (int j = 0; j < 16; j += 2)
            store_of(to + j / 2, two_of_eight_bytes(table, drift, offsets, j), past);
    else
        for (int j = 0; j < 16; j += 2) {
            u64 at = dml_offsets(offsets + j);
            store_of(to + j, _mm_loadu_si128((const __m128i *)(const void *)ONE(j)), past);
            store_of(to + j + 1, _mm_loadu_si128((const __m128i *)(const void *)TWO(j)), past);
        }
}

#undef ONE
#undef TWO
#undef INSERT
#undef MERGE
#undef PUT_TWO
