/* gathers_avx512.h: elements gathered by the vector unit, stores past the caches, and leaving out offsets of other threads, with
 * AVX-512. Included by avx512.c after indices_avx512.h; stands in for parts of joins_x86.h, core/fused.h and core/slices.h. */

#define STREAM64 stream_avx512

DML_INLINE void stream_avx512(char *to, const char *from) /* `to` is a multiple of 64 */
{
    _mm512_stream_si512((void *)to, _mm512_loadu_si512((const void *)from));
}

#define EXCHANGE64 exchange_avx512

/* What comes is read first: a load is held up by a store to the same place in another page. */
DML_INLINE void exchange_avx512(char *to, char *stage, const char *from)
{
    __m512i in = _mm512_loadu_si512((const void *)from);
    stream_avx512(to, stage);
    _mm512_storeu_si512((void *)stage, in);
}

#define GATHERS(T) (sizeof(T) <= 8)
#define GATHER_SIXTEEN gather_of

/* As many elements as offsets in a vector. What they replace is nothing: a gather waits for what its register held before. */
DML_INLINE __m512i sixteen_at(const char *table, __m512i at)
{
    return _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), 0xffff, at, (const void *)table, 1);
}

DML_INLINE __m256i eight_words_at(const char *table, __m256i at)
{
    return _mm256_mmask_i32gather_epi32(_mm256_setzero_si256(), 0xff, at, (const void *)table, 1);
}

DML_INLINE __m512i eight_at(const char *table, __m256i at)
{
    return _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), 0xff, at, (const void *)table, 1);
}

DML_INLINE void store_avx512(char *to, __m512i line, int past)
{
    if (past)
        _mm512_stream_si512((void *)to, line);
    else
        _mm512_storeu_si512((void *)to, line);
}

/* Up to sixteen elements of one or two bytes, as parts of the words that they lie in: these are read as a whole, which no page can
 * forbid as it has all of a word or nothing. Elements of two bytes have even addresses, and offsets three more than any fit into
 * 31 bits (boxes.c). */
DML_INLINE void gather_parts(char *stream, const char *table, __m512i at, __mmask16 some, size_t width)
{
    int inside = (int)((uintptr_t)table & 3);
    __m512i three = _mm512_set1_epi32(3);
    at = _mm512_add_epi32(at, _mm512_set1_epi32(inside));
    __m512i shift = _mm512_slli_epi32(_mm512_and_si512(at, three), 3), first = _mm512_andnot_si512(three, at);
    if (some < 256) {
        __m256i half = _mm256_srlv_epi32(eight_words_at(table - inside, _mm512_castsi512_si256(first)),
                                         _mm512_castsi512_si256(shift));
        if (width == 1)
            _mm_mask_storeu_epi8((void *)stream, some, _mm256_cvtepi32_epi8(half));
        else
            _mm_mask_storeu_epi16((void *)stream, (__mmask8)some, _mm256_cvtepi32_epi16(half));
        return;
    }
    __m512i words = _mm512_srlv_epi32(sixteen_at(table - inside, first), shift);
    if (width == 1)
        _mm_mask_storeu_epi8((void *)stream, some, _mm512_cvtepi32_epi8(words));
    else
        _mm256_mask_storeu_epi16((void *)stream, some, _mm512_cvtepi32_epi16(words));
}

/* Sixteen elements. past: those of four and eight bytes are stored past the caches, the stream is a multiple of 64 then. */
DML_INLINE void gather_at(char *stream, const char *table, __m512i at, size_t width, int past)
{
    if (width < 4) {
        gather_parts(stream, table, at, 0xffff, width);
        return;
    }
    if (width == 4) {
        store_avx512(stream, sixteen_at(table, at), past);
        return;
    }
    store_avx512(stream, eight_at(table, _mm512_castsi512_si256(at)), past);
    store_avx512(stream + 64, eight_at(table, _mm512_extracti64x4_epi64(at, 1)), past);
}

/* The table moves on by `drift` from one to the next. */
DML_INLINE void gather_of(char *stream, const char *table, int64_t drift, const u32 *offsets, size_t width, int past)
{
    __m512i at = _mm512_loadu_si512((const void *)offsets);
    if (drift)
        at = _mm512_add_epi32(at, _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                                     _mm512_set1_epi32((int)drift)));
    gather_at(stream, table, at, width, past);
}

#define TAKES(T) (sizeof(T) <= 8)
#define TAKE take_avx512

/* Eight indices of 64 bits; those below zero count from the end (indices_avx512.h narrows before, which takes longer). */
DML_INLINE __m512i wide_indices(const char *index, __mmask8 some, __m512i add)
{
    __m512i v = _mm512_maskz_loadu_epi64(some, (const void *)index);
    __asm__("" : "+v"(v)); /* as read: what is checked is what is used */
    return _mm512_mask_add_epi64(v, _mm512_movepi64_mask(v), v, add);
}

/* Up to sixteen elements by as many indices, checked on their way. dense: table elements follow each other; else they are `step` bytes
 * apart, and what `more` says is added. n and add are numbers of the width of indices. Not 0: one is out of range. */
DML_INLINE int take_some(char *stream, const char *table, const char *index, __mmask16 some, __m512i n, __m512i add,
                         __m512i step, int dense, __m512i more, size_t width, size_t index_width)
{
    __m512i evens = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), v, low, high;
    if (index_width == 8) {
        low = wide_indices(index, (__mmask8)some, add);
        high = wide_indices(index + 64, (__mmask8)(some >> 8), add);
        if (_mm512_cmpge_epu64_mask(low, n) | _mm512_cmpge_epu64_mask(high, n))
            return 1;
        v = _mm512_permutex2var_epi32(low, evens, high);
    } else {
        v = wrapped_indices(index, some, index_width, add);
        if (_mm512_cmpge_epu32_mask(v, n))
            return 1;
    }
    /* lanes that are left out load the first element: it is there */
    v = dense ? _mm512_slli_epi32(v, width == 8 ? 3 : width / 2)
              : _mm512_maskz_add_epi32(some, more, _mm512_mullo_epi32(v, step));
    if (width < 4) {
        gather_parts(stream, table, v, some, width);
        return 0;
    }
    int few = some < 256; /* half a vector takes half the time */
    if (width == 4 && few) {
        _mm256_mask_storeu_epi32((void *)stream, (__mmask8)some, eight_words_at(table, _mm512_castsi512_si256(v)));
        return 0;
    }
    if (width == 4) {
        _mm512_mask_storeu_epi32((void *)stream, some, sixteen_at(table, v));
        return 0;
    }
    if (dense && index_width == 8)
        low = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), 0xff, low, (const void *)table, 8);
    else
        low = eight_at(table, _mm512_castsi512_si256(v));
    _mm512_mask_storeu_epi64((void *)stream, (__mmask8)some, low); /* the first line first: 0.75 of the time */
    if (few)
        return 0;
    if (dense && index_width == 8)
        high = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), 0xff, high, (const void *)table, 8);
    else
        high = eight_at(table, _mm512_extracti64x4_epi64(v, 1));
    _mm512_mask_storeu_epi64((void *)(stream + 64), (__mmask8)(some >> 8), high);
    return 0;
}

/* As many as there are, where a ramp tells what is added, or, without one, `drift` more for each. Vectors that are whole lines are loaded,
 * and stored, faster, so those in front of the first line come by themselves, of what is wider. */
DML_INLINE int take_avx512(char *stream, const char *table, const char *index, int64_t count, int64_t bound, int64_t step,
                           const u32 *ramp, int drift, int dense, size_t width, size_t index_width, int is_signed)
{
    __m512i n = repeated((u64)bound, index_width), add = repeated(is_signed ? (u64)bound : 0, index_width);
    __m512i by = _mm512_set1_epi32((int)step);
    __m512i drifts = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                        _mm512_set1_epi32(drift));
    size_t before = width > index_width ? -(uintptr_t)stream % DML_LINE / width : -(uintptr_t)index % DML_LINE / index_width;
    int64_t i = 0, some = count < 64 ? 0 : (int64_t)before;
#define TAKE_SOME(mask)                                                                                                  \
    take_some(stream + i * (int64_t)width, table + i * drift, index + i * (int64_t)index_width, mask, n, add, by, dense, \
              ramp ? _mm512_maskz_loadu_epi32(mask, (const void *)(ramp + i)) : drifts, width, index_width)
    if (some && TAKE_SOME((__mmask16)((1 << some) - 1)))
        return 1;
    for (i = some; i + 16 <= count; i += 16)
        if (TAKE_SOME(0xffff))
            return 1;
    some = count - i;
    return some > 0 && TAKE_SOME((__mmask16)((1 << some) - 1));
#undef TAKE_SOME
}

#define TAKE_SIXTEEN take_sixteen

/* Sixteen elements by as many tuples of q coordinates, checked on their way. Not 0: one is out of range. */
DML_INLINE int take_sixteen(char *stream, const char *table, const char *index, int q, const int64_t *bounds,
                            const int64_t *steps, size_t width, size_t index_width, int is_signed)
{
    int bad;
    __m512i at = some_offsets(index, 16, q, 0, index_width, is_signed, bounds, steps, _mm512_setzero_si512(), &bad);
    if (bad)
        return 1;
    gather_at(stream, table, at, width, 0);
    return 0;
}

#define KEEPS 1
#define KEEP keep_avx512

/* Keeps the offsets from `low` on, `extent` long, in order, and where their stream elements are. */
DML_INLINE int64_t keep_avx512(u32 *offsets, int64_t *chosen, const int64_t *where, int64_t step, int64_t count, u32 low,
                               u32 extent)
{
    __m512i from = _mm512_set1_epi32((int)low), length = _mm512_set1_epi32((int)extent);
    __m512i at = _mm512_mullo_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), _mm512_set1_epi64(step));
    __m512i eight = _mm512_set1_epi64(8 * step);
    int64_t kept = 0, i = 0;
    for (; i + 16 <= count; i += 16) {
        __m512i v = _mm512_loadu_si512((const void *)(offsets + i));
        u32 mine = _mm512_cmplt_epu32_mask(_mm512_sub_epi32(v, from), length), half = mine & 255;
        /* counted at once: gcc 12 may put a mask of 16 bits aside and take 32 back */
        int64_t after_half = kept + _mm_popcnt_u32(half), after_all = kept + _mm_popcnt_u32(mine);
        __m512i first = at, second = _mm512_add_epi64(at, eight);
        at = _mm512_add_epi64(second, eight);
        if (where) {
            first = _mm512_loadu_si512((const void *)(where + i));
            second = _mm512_loadu_si512((const void *)(where + i + 8));
        }
        /* whole vectors are stored: what follows the kept ones is overwritten later, or not looked at */
        _mm512_storeu_si512((void *)(offsets + kept), _mm512_maskz_compress_epi32((__mmask16)mine, v));
        _mm512_storeu_si512((void *)(chosen + kept), _mm512_maskz_compress_epi64((__mmask8)half, first));
        _mm512_storeu_si512((void *)(chosen + after_half), _mm512_maskz_compress_epi64((__mmask8)(mine >> 8), second));
        kept = after_all;
    }
    for (; i < count; i++) {
        u32 offset = offsets[i];
        chosen[kept] = where ? where[i] : i * step;
        offsets[kept] = offset;
        kept += offset - low < extent;
    }
    return kept;
}
