/* row_lookups_avx512.h: elements out of rows of a table so short that a vector register holds some of them, or two hold one, with
 * AVX-512: each row is loaded once and permuted by indices of its own, which are checked on the way. Included by avx512.c; stands in
 * for a part of core/loops.h. */

#define ROW_LOOKUPS row_lookups

/* What indices are checked with: what is added to those below zero; ones where there are any; the largest one so far, and what the high
 * halves of eight bytes are beside signs. */
typedef struct {
    __m512i add, sign, most, high;
} row_checks;

DML_INLINE row_checks checks_for(int64_t n, int is_signed)
{
    return (row_checks){added_to(is_signed, n), _mm512_set1_epi32(-is_signed), _mm512_setzero_si512(), _mm512_setzero_si512()};
}

DML_INLINE int out_of_row(const row_checks *c, int64_t n)
{
    return (_mm512_cmpge_epu32_mask(c->most, _mm512_set1_epi32((int)n)) | _mm512_test_epi32_mask(c->high, c->high)) != 0;
}

/* The low halves of sixteen indices of eight bytes: the high ones should repeat their signs. */
DML_INLINE __m512i low_halves(const char *index, __mmask16 some, row_checks *c)
{
    __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    __m512i first = _mm512_maskz_loadu_epi64((__mmask8)some, (const void *)index);
    __m512i second = _mm512_maskz_loadu_epi64((__mmask8)(some >> 8), (const void *)(index + 64));
    __asm__("" : "+v"(first), "+v"(second)); /* as read: what is checked is what is used */
    __m512i low = _mm512_permutex2var_epi32(first, even, second);
    __m512i high = _mm512_permutex2var_epi32(first, _mm512_or_si512(even, _mm512_set1_epi32(1)), second);
    __m512i sign = _mm512_and_si512(_mm512_srai_epi32(low, 31), c->sign);
    c->high = _mm512_or_si512(c->high, _mm512_xor_si512(high, sign));
    return low;
}

/* Sixteen elements' numbers, or those of `some`; of elements of eight bytes there are eight at most, whose indices
 * one instruction halves sooner. */
DML_INLINE __m512i sixteen_numbers(const char *index, __mmask16 some, size_t width, size_t index_width, row_checks *c)
{
    __m512i v = index_width == 8 && width < 8 ? low_halves(index, some, c) : indices_at(index, some, index_width);
    v = from_the_end(v, c->add);
    c->most = _mm512_max_epu32(c->most, v);
    return v;
}

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

/* The numbers of so many elements of 2, 4 or 8 bytes, as wide as these: all that a register holds, or less. `mask` is a constant if it
 * is all. */
DML_INLINE __m512i masked_numbers(const char *index, u64 mask, size_t width, size_t index_width, row_checks *c)
{
    __m512i low = sixteen_numbers(index, (__mmask16)(width == 8 ? mask & 255 : mask), width, index_width, c);
    if (width == 4)
        return low;
    if (width == 8)
        return _mm512_cvtepu32_epi64(_mm512_castsi512_si256(low));
    low = _mm512_packus_epi32(low, sixteen_numbers(index + 16 * index_width, (__mmask16)(mask >> 16), width, index_width, c));
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), low);
}

DML_INLINE __m512i numbers_in_row(const char *index, int64_t some, size_t width, size_t index_width, row_checks *c)
{
    if (some >= 64 / (int64_t)width)
        return masked_numbers(index, ~(u64)0, width, index_width, c);
    return masked_numbers(index, ((u64)1 << some) - 1, width, index_width, c);
}

/* Rows that follow each other and have as many indices as elements, n: as many at a time as a register has room for. All lanes are
 * stored, as long as what comes later overwrites those that are not theirs. */
DML_INLINE int rows_together(char *stream, const char *table, const char *index, int64_t count, int64_t n, int is_signed,
                             size_t width, size_t index_width)
{
    int64_t lanes = 64 / (int64_t)width, group = lanes / n * n;
    row_checks c = checks_for(n, is_signed);
    __m512i row, at;
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
        at = numbers_in_row(index, some, width, index_width, &c);
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
    return out_of_row(&c, n);
}

/* Rows `apart` bytes from one to the next, of n elements, which one or two registers hold; each has `length` indices, with `gap`
 * bytes, maybe less than none, to those of the next. */
DML_INLINE int rows_apart(char *stream, const char *table, int64_t apart, const char *index, int64_t gap, int64_t count,
                          int64_t length, int64_t n, int is_signed, size_t width, size_t index_width)
{
    int64_t lanes = 64 / (int64_t)width;
    row_checks c = checks_for(n, is_signed);
    __m512i at;
    for (; count > 0; table += apart, index += gap) {
        __m512i low = load_some(table, n, width), high = low;
        if (n > lanes)
            high = load_some(table + 64, n - lanes, width);
        for (int64_t left = length; left > 0; left -= lanes) {
            int64_t some = dml_least(count, lanes), own = dml_least(left, lanes);
            at = numbers_in_row(index, gap ? own : some, width, index_width, &c);
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
    return out_of_row(&c, n);
}

/* The numbers of two rows' elements, half a register of each, in two registers that hold these rows. */
DML_INLINE __m512i numbers_in_two(const char *first, const char *second, int64_t length, __m512i add, size_t width,
                                  size_t index_width, __m512i *most)
{
    __mmask16 some = (__mmask16)((1 << length) - 1);
    __m512i v, both;
    if (width == 2) {
        v = wrapped_indices(first, some, index_width, add);
        both = wrapped_indices(second, some, index_width, add);
        *most = _mm512_max_epu32(*most, _mm512_max_epu32(v, both));
        v = _mm512_castsi256_si512(_mm512_cvtepi32_epi16(v));
        v = _mm512_inserti64x4(v, _mm512_cvtepi32_epi16(both), 1);
        return _mm512_or_si512(v, _mm512_inserti64x4(_mm512_setzero_si512(), _mm256_set1_epi16(32), 1));
    }
    if (width == 4 && index_width == 8)
        v = _mm512_inserti64x4(_mm512_castsi256_si512(halved_indices(first, (__mmask8)some)),
                               halved_indices(second, (__mmask8)some), 1);
    else if (width == 4)
        v = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_maskz_loadu_epi32((__mmask8)some, (const void *)first)),
                               _mm256_maskz_loadu_epi32((__mmask8)some, (const void *)second), 1);
    else if (index_width == 8) {
        both = _mm512_castsi256_si512(_mm256_maskz_loadu_epi64((__mmask8)some, (const void *)first));
        both = _mm512_inserti64x4(both, _mm256_maskz_loadu_epi64((__mmask8)some, (const void *)second), 1);
        v = _mm512_castsi256_si512(_mm512_cvtsepi64_epi32(both));
    } else
        v = _mm512_castsi256_si512(
            _mm256_inserti32x4(_mm256_castsi128_si256(_mm_maskz_loadu_epi32((__mmask8)some, (const void *)first)),
                               _mm_maskz_loadu_epi32((__mmask8)some, (const void *)second), 1));
    __asm__("" : "+v"(v)); /* as read: what is checked is what is used */
    v = from_the_end(v, add);
    if (width == 4) {
        *most = _mm512_max_epu32(*most, v);
        return _mm512_or_si512(v, _mm512_inserti64x4(_mm512_setzero_si512(), _mm256_set1_epi32(16), 1));
    }
    v = _mm512_zextsi256_si512(_mm512_castsi512_si256(v));
    *most = _mm512_max_epu32(*most, v);
    v = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(v));
    return _mm512_or_si512(v, _mm512_inserti64x4(_mm512_setzero_si512(), _mm256_set1_epi64x(8), 1));
}

/* Two rows at a time, of at most a register of elements and half as many indices; leaves the last ones, of which these tell. Not 0: an
 * index is out of range. */
DML_INLINE int rows_by_twos(const dml_rows *r, char **stream, const char **table, const char **index, int64_t *count,
                            int is_signed, size_t width, size_t index_width)
{
    int64_t bytes = r->length * (int64_t)width;
    __m512i add = added_to(is_signed, r->n), most = _mm512_setzero_si512(), at;
    for (; *count * (int64_t)width >= bytes + 32; *count -= 2 * r->length, *table += 2 * r->table, *index += 2 * r->index) {
        __m512i first = load_some(*table, r->n, width), second = load_some(*table + r->table, r->n, width);
        at = numbers_in_two(*index, *index + r->index, r->length, add, width, index_width, &most);
        at = width == 2   ? _mm512_permutex2var_epi16(first, at, second)
             : width == 4 ? _mm512_permutex2var_epi32(first, at, second)
                          : _mm512_permutex2var_epi64(first, at, second);
        _mm256_storeu_si256((void *)*stream, _mm512_castsi512_si256(at));
        _mm256_storeu_si256((void *)(*stream + bytes), _mm512_extracti64x4_epi64(at, 1));
        *stream += 2 * bytes;
    }
    return _mm512_cmpge_epu32_mask(most, _mm512_set1_epi32((int)r->n)) != 0;
}

/* A dml_row_lookup. */
DML_INLINE int rows_avx512(const dml_rows *r, char *stream, const char *table, const char *index, int64_t count, int is_signed,
                           size_t width, size_t index_width)
{
    int64_t length = r->length ? r->length : count, gap = r->length ? r->index - length * (int64_t)index_width : 0;
    if (gap == 0 && r->length == r->n && r->table == r->n * (int64_t)width && r->table <= 64)
        return rows_together(stream, table, index, count, r->n, is_signed, width, index_width);
    int by_twos = r->length && 2 * length * (int64_t)width <= 64 && r->n * (int64_t)width <= 64;
    if (by_twos && rows_by_twos(r, &stream, &table, &index, &count, is_signed, width, index_width))
        return 1;
    if (gap == 0) /* a constant: 1.1 to 1.4x */
        return rows_apart(stream, table, r->table, index, 0, count, length, r->n, is_signed, width, index_width);
    return rows_apart(stream, table, r->table, index, gap, count, length, r->n, is_signed, width, index_width);
}

#define ROW_LOOKUP(T, I)                                                                                                     \
    static int row_lookup_##T##_##I(const dml_rows *rows, char *stream, const char *table, const char *index, int64_t count, \
                                    int is_signed)                                                                           \
    {                                                                                                                        \
        return rows_avx512(rows, stream, table, index, count, is_signed, sizeof(T), sizeof(I));                              \
    }
ROW_LOOKUP(u16, u32)
ROW_LOOKUP(u16, u64)
ROW_LOOKUP(u32, u32)
ROW_LOOKUP(u32, u64)
ROW_LOOKUP(u64, u32)
ROW_LOOKUP(u64, u64)
#include "byte_lookups_avx512.h"
static const dml_row_lookup ROW_LOOKUPS[DML_STORAGES][DML_WIDTHS] = {
    [DML_STORAGE_U8] = {row_lookup_u8_u32, row_lookup_u8_u64},
    [DML_STORAGE_U16] = {row_lookup_u16_u32, row_lookup_u16_u64},
    [DML_STORAGE_U32] = {row_lookup_u32_u32, row_lookup_u32_u64},
    [DML_STORAGE_U64] = {row_lookup_u64_u32, row_lookup_u64_u64},
};
