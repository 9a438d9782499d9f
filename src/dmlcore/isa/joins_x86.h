/* joins_x86.h: elements that lie anywhere are joined in a vector register and stored together, which saves stores:
 * a fifth faster than element by element, and faster than the vector units' gathers where the plan does not ask for those.
 * Included by avx2.c and avx512.c; stands in for a part of core/elements.h and core/fused.h. */

#ifndef GATHERS
#define GATHERS(T) 0
#define GATHER_SIXTEEN(stream, table, drift, offsets, width, past) ((void)0)
#endif

#define JOINS(T) 1
#define JOIN(T, stream, table, drift, offsets, way, past)                                \
    do {                                                                                 \
        if (GATHERS(T) && (way) == DML_GATHERS)                                          \
            GATHER_SIXTEEN(stream, table, drift, offsets, sizeof(T), (past));            \
        else                                                                             \
            join_of((stream), (table), (drift), (offsets), 0, sizeof(T), (way), (past)); \
    } while (0)

/* Where element number j lies. Places are offsets, counted from `drift` further on for each element, or numbered: two bytes each,
 * which count elements of `width` bytes. */
DML_INLINE const char *place_of(const char *table, int64_t drift, const void *places, int numbered, size_t width, int j)
{
    if (numbered && width < 4) /* what is shifted here costs more than loads */
        return table + ((const u16 *)places)[j] * width;
    if (numbered) {
        u64 four;
        memcpy(&four, (const u16 *)places + (j & ~3), sizeof four);
        return table + (four >> 16 * (j & 3) & 0xffff) * width;
    }
    u64 two = dml_offsets((const u32 *)places + (j & ~1));
    return table + j * drift + (j & 1 ? two >> 32 : dml_low(two));
}

DML_INLINE int number_at(const char *from, size_t width)
{
    int number = 0;
    memcpy(&number, from, width);
    return number;
}

/* Puts the number that lies at `from` into a place of v. A masked broadcast is one operation, an insertion two: elements out of the
 * second-level cache take 0.85 to 0.95 of the time, those out of the first-level one more of it, the more masks there are (Zen 5).
 * But it waits for what is in the other places: of elements that come from farther away fewer are on their way at a time. */
#define INSERT(bits, place, from) v = _mm_insert_epi##bits(v, number_at(from, bits / 8), place)
#if MERGES
#define MERGE(bits, place, from) \
    v = _mm_mask_mov_epi##bits(v, (__mmask8)(1 << (place)), _mm_set1_epi##bits(number_at(from, bits / 8)))
#else
#define MERGE INSERT
#endif
#define PUT(apart, bits, place, from)  \
    do {                               \
        if (apart)                     \
            INSERT(bits, place, from); \
        else                           \
            MERGE(bits, place, from);  \
    } while (0)

/* The functions below join elements j, j + 1, ...; FROM(j) is where one lies. */
#define FROM(j) place_of(table, drift, places, numbered, width, (j))

DML_INLINE __m128i two_of_eight_bytes(const char *table, int64_t drift, const void *places, int numbered, int j)
{
    const size_t width = 8;
    __m128d low = _mm_castsi128_pd(_mm_loadl_epi64((const __m128i *)(const void *)FROM(j)));
    return _mm_castpd_si128(_mm_loadh_pd(low, (const double *)(const void *)FROM(j + 1)));
}

DML_INLINE __m128i four_of_four_bytes(const char *table, int64_t drift, const void *places, int numbered, int j, int merges)
{
    const size_t width = 4;
    __m128i v = _mm_cvtsi32_si128(number_at(FROM(j), 4));
    PUT(!merges, 32, 1, FROM(j + 1));
    PUT(!merges, 32, 2, FROM(j + 2));
    PUT(!merges, 32, 3, FROM(j + 3));
    return v;
}

/* Two inserted of eight: as fast out of the first-level cache as if all were. apart: all are. */
DML_INLINE __m128i eight_of_two_bytes(const char *table, int64_t drift, const void *places, int numbered, int j, int apart)
{
    const size_t width = 2;
    __m128i v = _mm_setzero_si128();
    PUT(apart, 16, 0, FROM(j));
    PUT(apart, 16, 1, FROM(j + 1));
    INSERT(16, 2, FROM(j + 2));
    PUT(apart, 16, 3, FROM(j + 3));
    PUT(apart, 16, 4, FROM(j + 4));
    PUT(apart, 16, 5, FROM(j + 5));
    INSERT(16, 6, FROM(j + 6));
    PUT(apart, 16, 7, FROM(j + 7));
    return v;
}

DML_INLINE __m128i sixteen_bytes(const char *table, int64_t drift, const void *places, int numbered)
{
    const size_t width = 1;
    __m128i v = _mm_setzero_si128();
    INSERT(8, 0, FROM(0));
    INSERT(8, 1, FROM(1));
    INSERT(8, 2, FROM(2));
    INSERT(8, 3, FROM(3));
    INSERT(8, 4, FROM(4));
    INSERT(8, 5, FROM(5));
    INSERT(8, 6, FROM(6));
    INSERT(8, 7, FROM(7));
    INSERT(8, 8, FROM(8));
    INSERT(8, 9, FROM(9));
    INSERT(8, 10, FROM(10));
    INSERT(8, 11, FROM(11));
    INSERT(8, 12, FROM(12));
    INSERT(8, 13, FROM(13));
    INSERT(8, 14, FROM(14));
    INSERT(8, 15, FROM(15));
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
DML_INLINE void join_of(char *stream, const char *table, int64_t drift, const void *places, int numbered, size_t width,
                        enum dml_joins way, int past)
{
    __m128i *to = (__m128i *)(void *)stream;
    if (width == 1)
        store_of(to, sixteen_bytes(table, drift, places, numbered), past);
    else if (width == 2) { /* compilers that count instructions leave a loop as it is, and its shifts and drifts not constant */
        store_of(to, eight_of_two_bytes(table, drift, places, numbered, 0, way == DML_APART), past);
        store_of(to + 1, eight_of_two_bytes(table, drift, places, numbered, 8, way == DML_APART), past);
    } else if (width == 4) {
        store_of(to, four_of_four_bytes(table, drift, places, numbered, 0, way == DML_MERGES), past);
        store_of(to + 1, four_of_four_bytes(table, drift, places, numbered, 4, way == DML_MERGES), past);
        store_of(to + 2, four_of_four_bytes(table, drift, places, numbered, 8, way == DML_MERGES), past);
        store_of(to + 3, four_of_four_bytes(table, drift, places, numbered, 12, way == DML_MERGES), past);
    } else if (width == 8) {
        store_of(to, two_of_eight_bytes(table, drift, places, numbered, 0), past);
        store_of(to + 1, two_of_eight_bytes(table, drift, places, numbered, 2), past);
        store_of(to + 2, two_of_eight_bytes(table, drift, places, numbered, 4), past);
        store_of(to + 3, two_of_eight_bytes(table, drift, places, numbered, 6), past);
        store_of(to + 4, two_of_eight_bytes(table, drift, places, numbered, 8), past);
        store_of(to + 5, two_of_eight_bytes(table, drift, places, numbered, 10), past);
        store_of(to + 6, two_of_eight_bytes(table, drift, places, numbered, 12), past);
        store_of(to + 7, two_of_eight_bytes(table, drift, places, numbered, 14), past);
    } else
        for (int j = 0; j < 16; j += 4) { /* one by one shifts would not be constant: 1.05 to 1.5 times as long */
            store_of(to + j, _mm_loadu_si128((const __m128i *)(const void *)FROM(j)), past);
            store_of(to + j + 1, _mm_loadu_si128((const __m128i *)(const void *)FROM(j + 1)), past);
            store_of(to + j + 2, _mm_loadu_si128((const __m128i *)(const void *)FROM(j + 2)), past);
            store_of(to + j + 3, _mm_loadu_si128((const __m128i *)(const void *)FROM(j + 3)), past);
        }
}

#define JOIN_AT(T, stream, table, places, numbered, way) \
    join_of((stream), (table), 0, (places), (numbered), sizeof(T), (way), 0)

#undef INSERT
#undef MERGE
#undef PUT
#undef FROM
