/* row_lookups_avx2.h: elements of one, two and four bytes out of rows of a table that have at most 64, with AVX2: each row is loaded once,
 * or some are together, and permuted by indices of its own, which are checked on the way. What is out of range names some byte of a
 * register, so that nothing else is ever read. core/looked_up.c sees to it that rows that are not together have sixteen bytes at least of
 * less than four-byte elements, and as many positions as a register has lanes. Included by avx2.c; stands in for a part of core/loops.h. */

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

/* Where the bytes of elements lie, a lane's by indices from the first place and the other's from the second; more is added to each. most:
 * the largest number so far. */
DML_INLINE __m256i places_of_bytes(const char *first, const char *second, size_t width, size_t index_width, __m256i add,
                                   __m256i more, __m256i *most, __m256i *bad)
{
    __m128i none = _mm_setzero_si128();
    size_t eight = 8 * index_width;
    if (width == 4) {
        __m256i v = from_the_end(four_and_four(first, second, index_width, bad), add);
        *most = _mm256_max_epu32(*most, v);
        return _mm256_add_epi8(_mm256_mullo_epi32(v, _mm256_set1_epi32(0x04040404)), more);
    }
    if (width == 2) {
        __m256i v = numbers_of_sixteen(first, second, index_width, add, add, NULL, none, 1, most, bad);
        return _mm256_add_epi8(_mm256_mullo_epi16(v, _mm256_set1_epi16(0x0202)), more);
    }
    __m256i low = numbers_of_sixteen(first, first + eight, index_width, add, add, NULL, none, 1, most, bad);
    __m256i high = numbers_of_sixteen(second, second + eight, index_width, add, add, NULL, none, 1, most, bad);
    return _mm256_add_epi8(_mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xd8), more);
}

/* Rows of at most sixteen bytes that follow each other and have as many indices as elements: as many as have room in sixteen bytes, twice.
 * All sixteen bytes are stored; what comes later overwrites those that are not theirs. */
DML_INLINE int rows_together(const dml_rows *r, char *stream, const char *table, const char *index, int64_t count,
                             int is_signed, size_t width, size_t index_width)
{
    int64_t each = 16 / (int64_t)width, group = each / r->n * r->n, bytes = group * (int64_t)width;
    int64_t further = group * (int64_t)index_width;
    __m256i add = added_to(is_signed, r->n), most = _mm256_setzero_si256(), bad = most;
    _Alignas(16) unsigned char begin[16];
    for (int64_t j = 0; j < 16; j++) { /* each byte's place in its element, behind where its row begins */
        int64_t k = j / (int64_t)width, row = k / r->n * r->n;
        begin[j] = (unsigned char)(j - (k - row) * (int64_t)width);
    }
    __m256i more = _mm256_broadcastsi128_si256(_mm_load_si128((const void *)begin));
    char indices[32 * 8] = {0}, few[32] = {0}, last[32], *to = NULL;
    for (; count > 0; count -= 2 * group, table += 2 * bytes, index += 2 * further, stream += 2 * bytes) {
        if (count < group + each) { /* the last few, two groups at most, as all are whole rows */
            memcpy(indices, index, (size_t)count * index_width);
            memcpy(few, table, (size_t)count * width);
            index = indices;
            table = few;
            to = stream;
            stream = last;
        }
        DML_PREFETCH(table + DML_PAGES_AHEAD);
        dml_fetch(index + DML_PAGES_AHEAD, 2 * each * (int64_t)index_width);
        __m256i at = places_of_bytes(index, index + further, width, index_width, add, more, &most, &bad);
        __m256i rows = _mm256_castsi128_si256(_mm_loadu_si128((const void *)table));
        at = _mm256_shuffle_epi8(_mm256_inserti128_si256(rows, _mm_loadu_si128((const void *)(table + bytes)), 1), at);
        _mm_storeu_si128((void *)stream, _mm256_castsi256_si128(at));
        _mm_storeu_si128((void *)(stream + bytes), _mm256_extracti128_si256(at, 1));
        if (to)
            memcpy(to, last, (size_t)count * width);
    }
    return out_of_range(most, _mm256_set1_epi32((int)r->n), bad);
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
    __m256i more = width == 2 ? _mm256_set1_epi16(0x0100) : most;
    int64_t lanes = 32 / (int64_t)width, half = lanes / 2 * (int64_t)index_width, bytes = r->n * (int64_t)width;
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
            at = places_of_bytes(from, from + half, width, index_width, add, more, &most, &bad);
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
    if (bytes <= 16 && r.length == r.n && r.table == bytes && r.index == r.n * (int64_t)index_width)
        return rows_together(rows, stream, table, index, count, is_signed, width, index_width);
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
