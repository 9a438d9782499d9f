/* row_lookups_avx512.h: elements out of rows of a table so short that a vector register holds some of them, or two hold one, with
 * AVX-512: each row is loaded once and permuted by indices of its own, which are checked on the way. Included by avx512.c; stands in
 * for a part of core/fused.h. */

#define LOOKS_UP_ROWS(T) (sizeof(T) > 1 && sizeof(T) <= 8)
#define LOOK_UP_ROWS rows_avx512

/* As many elements as a register has, or `some`. */
DML_INLINE __m512i load_some(const char *from, int64_t some, size_t width)
{
    int64_t lanes = 64 / (int64_t)width;
    u64 mask = some >= lanes ? ~(u64)0 : ((u64)1 << some) - 1;
    return width == 2   ? _mm512_maskz_loadu_epi16((__mmask32)mask, (const void *)from)
           : width == 4 ? _mm512_maskz_loadu_epi32((__mmask16)mask, (const void *)from)
                        : _mm512_maskz_loadu_epi64((__mmask8)mask, (const void *)from);
}

DML_INLINE void store_some(char *to, __m512i v, int64_t some, size_t width)
{
    u64 mask = ((u64)1 << some) - 1;
    if (width == 2)
        _mm512_mask_storeu_epi16((void *)to, (__mmask32)mask, v);
    else if (width == 4)
        _mm512_mask_storeu_epi32((void *)to, (__mmask16)mask, v);
    else
        _mm512_mask_storeu_epi64((void *)to, (__mmask8)mask, v);
}

/* The elements' numbers, as wide as these: `some` of them, at most a register full. most: the largest so far. */
DML_INLINE __m512i numbers_in_row(const char *index, int64_t some, __m512i add, size_t width, size_t index_width, __m512i *most)
{
    u64 mask = some >= 32 ? ~(u64)0 : ((u64)1 << some) - 1;
    __m512i low = wrapped_indices(index, (__mmask16)(width == 8 ? mask & 255 : mask), index_width, add);
    *most = _mm512_max_epu32(*most, low);
    if (width == 4)
        return low;
    if (width == 8)
        return _mm512_cvtepu32_epi64(_mm512_castsi512_si256(low));
    __m512i high = wrapped_indices(index + 16 * index_width, (__mmask16)(mask >> 16), index_width, add);
    *most = _mm512_max_epu32(*most, high);
    __m512i both = _mm512_castsi256_si512(_mm512_cvtepi32_epi16(low));
    return _mm512_inserti64x4(both, _mm512_cvtepi32_epi16(high), 1);
}

/* Rows that follow each other and have as many indices as elements, n: as many at a time as a register has room for. All lanes are
 * stored, as long as what comes later overwrites those that are not theirs. */
DML_INLINE int rows_together(char *stream, const char *table, const char *index, int64_t count, int64_t n, int is_signed,
                             size_t width, size_t index_width)
{
    int64_t lanes = 64 / (int64_t)width, group = lanes / n * n;
    __m512i add = added_to(is_signed, n), most = _mm512_setzero_si512(), row, at;
    _Alignas(64) unsigned char first[64] = {0}; /* of each lane's row */
    for (int64_t lane = 0, k = 0, begin = 0; lane < lanes; lane++, k++) {
        if (k == n) {
            begin += n;
            k = 0;
        }
        first[lane * (int64_t)width] = (unsigned char)begin;
    }
    __m512i begin = _mm512_load_si512((const void *)first);
    for (; count > 0; count -= group) {
        int64_t some = dml_least(count, lanes);
        at = numbers_in_row(index, some, add, width, index_width, &most);
        row = load_some(table, some, width);
        if (width == 2)
            row = _mm512_permutexvar_epi16(_mm512_add_epi16(at, begin), row);
        else if (width == 4)
            row = _mm512_permutexvar_epi32(_mm512_add_epi32(at, begin), row);
        else
            row = _mm512_permutexvar_epi64(_mm512_add_epi64(at, begin), row);
        if (some == lanes)
            _mm512_storeu_si512((void *)stream, row);
        else
            store_some(stream, row, some, width);
        stream += group * (int64_t)width;
        table += group * (int64_t)width;
        index += group * (int64_t)index_width;
    }
    return _mm512_cmpge_epu32_mask(most, _mm512_set1_epi32((int)n)) != 0;
}

/* Rows `apart` bytes from one to the next, of n elements, which one or two registers hold; each has `length` indices. */
DML_INLINE int rows_apart(char *stream, const char *table, int64_t apart, const char *index, int64_t count, int64_t length,
                          int64_t n, int is_signed, size_t width, size_t index_width)
{
    int64_t lanes = 64 / (int64_t)width;
    __m512i add = added_to(is_signed, n), most = _mm512_setzero_si512(), at;
    for (; count > 0; table += apart) {
        __m512i low = load_some(table, n, width), high = low;
        if (n > lanes)
            high = load_some(table + 64, n - lanes, width);
        for (int64_t left = length; left > 0; left -= lanes) {
            int64_t some = dml_least(count, lanes), own = dml_least(left, lanes);
            at = numbers_in_row(index, some, add, width, index_width, &most);
            at = width == 2   ? _mm512_permutex2var_epi16(low, at, high)
                 : width == 4 ? _mm512_permutex2var_epi32(low, at, high)
                              : _mm512_permutex2var_epi64(low, at, high);
            if (some == lanes)
                _mm512_storeu_si512((void *)stream, at);
            else
                store_some(stream, at, some, width);
            count -= own;
            stream += own * (int64_t)width;
            index += own * (int64_t)index_width;
        }
    }
    return _mm512_cmpge_epu32_mask(most, _mm512_set1_epi32((int)n)) != 0;
}

/* `count` elements, those of whole rows, checked on their way. Not 0: an index is out of range. */
DML_INLINE int rows_avx512(char *stream, const char *table, int64_t apart, const char *index, int64_t count, int64_t length,
                           int64_t n, int is_signed, size_t width, size_t index_width)
{
    if (length == n && apart == n * (int64_t)width && n * (int64_t)width <= 64)
        return rows_together(stream, table, index, count, n, is_signed, width, index_width);
    return rows_apart(stream, table, apart, index, count, length, n, is_signed, width, index_width);
}
