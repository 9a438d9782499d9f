/* row_lookups_avx2.h: elements of one, two and four bytes out of rows of a table that have at most 64, with AVX2: each row is loaded once
 * and permuted by indices of its own, which are checked on the way. What is out of range names some byte of a register, so that nothing
 * else is ever read. core/looked_up.c sees to it that rows of less than four-byte elements have sixteen bytes at least, and as many positions
 * as a register has lanes. Included by avx2.c; stands in for a part of core/loops.h. */

#define ROW_LOOKUPS row_lookups

/* Eight elements of four bytes out of a row that one register holds, or two. */
DML_INLINE __m256i out_of_registers(__m256i first, __m256i second, int registers, __m256i at)
{
    first = _mm256_permutevar8x32_epi32(first, at);
    if (registers == 1)
        return first;
    __m256 high = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(second, at));
    __m256 is_high = _mm256_castsi256_ps(_mm256_slli_epi32(at, 28));
    return _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(first), high, is_high));
}

DML_INLINE int rows_in_registers(const dml_rows *r, char *stream, const char *table, const char *index, int64_t count,
                                 int is_signed, int registers, size_t index_width)
{
    __m256i add = added_to(is_signed, r->n), most = _mm256_setzero_si256(), bad = most, first, second = most, at;
    __m256i lanes = below(r->n), more_lanes = below(r->n - 8);
    int64_t length = r->length, apart = r->table, further = r->index;
    for (; count > 0; count -= length, table += apart, index += further, stream += 4 * length) {
        first = _mm256_maskload_epi32((const void *)table, lanes);
        DML_PREFETCH(table + DML_PAGES_AHEAD);
        if (registers > 1)
            second = _mm256_maskload_epi32((const void *)(table + 32), more_lanes);
        for (int64_t i = 0; i < length; i += 8) {
            int64_t k = dml_least(i, length - 8); /* the last eight may be some of those before once more */
            const char *from = index + k * (int64_t)index_width;
            DML_PREFETCH(from + DML_PAGES_AHEAD);
            at = from_the_end(eight_indices(from, index_width, &bad), add);
            most = _mm256_max_epu32(most, at);
            _mm256_storeu_si256((void *)(stream + 4 * k), out_of_registers(first, second, registers, at));
        }
    }
    return out_of_range(most, _mm256_set1_epi32((int)r->n), bad);
}

/* Where the bytes of 32 elements lie, or of sixteen of two bytes. most: the largest number so far. */
DML_INLINE __m256i places_of_bytes(const char *index, size_t width, size_t index_width, __m256i add, __m256i *most,
                                   __m256i *bad)
{
    __m128i none = _mm_setzero_si128();
    __m256i v = numbers_of_sixteen(index, index_width, add, add, NULL, none, 1, most, bad);
    if (width == 2)
        return _mm256_add_epi16(_mm256_mullo_epi16(v, _mm256_set1_epi16(0x0202)), _mm256_set1_epi16(0x0100));
    __m256i more = numbers_of_sixteen(index + 16 * index_width, index_width, add, add, NULL, none, 1, most, bad);
    return _mm256_permute4x64_epi64(_mm256_packus_epi16(v, more), 0xd8);
}

/* Of bytes out of two vectors those that a bit of their places tells, moved to the highest one. */
DML_INLINE __m256i by_highest(__m256i clear, __m256i set, __m256i at, int left)
{
    return _mm256_blendv_epi8(clear, set, _mm256_slli_epi16(at, left));
}

/* Bytes out of two or four pieces of sixteen; a permutation looks at the lowest four bits, as `low` has them. */
DML_INLINE __m256i out_of_pieces(const char *row, int pieces, __m256i at, __m256i low)
{
    __m256i v[4];
    for (int k = 0; k < pieces; k++)
        v[k] = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_load_si128((const void *)(row + 16 * k))), low);
    v[0] = by_highest(v[0], v[1], at, 3);
    return pieces == 2 ? v[0] : by_highest(v[0], by_highest(v[2], v[3], at, 3), at, 2);
}

DML_INLINE int rows_in_pieces(const dml_rows *r, char *stream, const char *table, const char *index, int64_t count,
                              int is_signed, int pieces, size_t width, size_t index_width)
{
    __m256i add = added_to(is_signed, r->n), most = _mm256_setzero_si256(), bad = most, at;
    int64_t lanes = 32 / (int64_t)width, bytes = r->n * (int64_t)width;
    int64_t length = r->length, apart = r->table, further = r->index;
    _Alignas(16) char row[64] = {0};
    for (; count > 0; count -= length, table += apart, index += further, stream += length * (int64_t)width) {
        DML_PREFETCH(table + DML_PAGES_AHEAD);
        for (int64_t from = 0; from < bytes; from += 16) {
            int64_t k = dml_least(from, bytes - 16);
            _mm_storeu_si128((void *)(row + k), _mm_loadu_si128((const void *)(table + k)));
        }
        for (int64_t i = 0; i < length; i += lanes) {
            int64_t k = dml_least(i, length - lanes);
            const char *from = index + k * (int64_t)index_width;
            dml_fetch(from + DML_PAGES_AHEAD, lanes * (int64_t)index_width);
            at = places_of_bytes(from, width, index_width, add, &most, &bad);
            at = out_of_pieces(row, pieces, at, _mm256_and_si256(at, _mm256_set1_epi8(15)));
            _mm256_storeu_si256((void *)(stream + k * (int64_t)width), at);
        }
    }
    return out_of_range(most, _mm256_set1_epi32((int)r->n), bad);
}

/* A dml_row_lookup. */
DML_INLINE int rows_avx2(const dml_rows *rows, char *stream, const char *table, const char *index, int64_t count, int is_signed,
                         size_t width, size_t index_width)
{
    dml_rows r = *rows;
    int64_t bytes = r.n * (int64_t)width, lanes = 32 / (int64_t)width;
    char indices[32 * 8], last[32], *to = NULL;
    if (r.length == 0)
        r.length = dml_most(count, lanes);
    if (count < lanes) { /* the first element stands in for those that are not there */
        memset(indices, 0, sizeof indices);
        memcpy(indices, index, (size_t)count * index_width);
        index = indices;
        to = stream;
        stream = last;
    }
    int bad = width == 4    ? bytes <= 32 ? rows_in_registers(&r, stream, table, index, count, is_signed, 1, index_width)
                                          : rows_in_registers(&r, stream, table, index, count, is_signed, 2, index_width)
              : bytes <= 32 ? rows_in_pieces(&r, stream, table, index, count, is_signed, 2, width, index_width)
                            : rows_in_pieces(&r, stream, table, index, count, is_signed, 4, width, index_width);
    if (to)
        memcpy(to, last, (size_t)count * width);
    return bad;
}

#define ROW_LOOKUP(T, I)                                                                                                     \
    static int row_lookup_##T##_##I(const dml_rows *rows, char *stream, const char *table, const char *index, int64_t count, \
                                    int is_signed)                                                                           \
    {                                                                                                                        \
        return rows_avx2(rows, stream, table, index, count, is_signed, sizeof(T), sizeof(I));                                \
    }
ROW_LOOKUP(u8, u32)
ROW_LOOKUP(u8, u64)
ROW_LOOKUP(u16, u32)
ROW_LOOKUP(u16, u64)
ROW_LOOKUP(u32, u32)
ROW_LOOKUP(u32, u64)
static const dml_row_lookup ROW_LOOKUPS[DML_STORAGES][DML_WIDTHS] = {
    [DML_STORAGE_U8] = {row_lookup_u8_u32, row_lookup_u8_u64},
    [DML_STORAGE_U16] = {row_lookup_u16_u32, row_lookup_u16_u64},
    [DML_STORAGE_U32] = {row_lookup_u32_u32, row_lookup_u32_u64},
};
