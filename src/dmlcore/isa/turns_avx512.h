/* turns_avx512.h: single indices that lie the other way round, column by column, become rows of indices of four bytes. Included by
 * avx512.c; turned.c does without where there is none. */

#define TURN_INDICES turn_indices
#define TURNS_FEW 1

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

/* Sixteen indices that follow each other, in four bytes each. */
DML_INLINE __m512i narrowed_vector(const char *from, size_t width, __m512i add, __m512i *most)
{
    __m512i v = _mm512_loadu_si512((const void *)from);
    if (width == 4) {
        __asm__("" : "+v"(v)); /* as read: what is checked is what is used */
        *most = _mm512_max_epu32(*most, _mm512_add_epi32(v, add));
        return v;
    }
    __m512i w = _mm512_loadu_si512((const void *)(from + 64));
    __asm__("" : "+v"(v), "+v"(w)); /* likewise */
    *most = _mm512_max_epu64(*most, _mm512_max_epu64(_mm512_add_epi64(v, add), _mm512_add_epi64(w, add)));
    return _mm512_permutex2var_epi32(v, _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30), w);
}

/* Eight rows out of the pairs of four columns. */
DML_INLINE void rows_of_four(__m128i *row, const __m512i *pair)
{
    for (int odd = 0; odd < 2; odd++) {
        __m512i four = odd ? _mm512_unpackhi_epi64(pair[0], pair[1]) : _mm512_unpacklo_epi64(pair[0], pair[1]);
        row[odd] = _mm512_castsi512_si128(four);
        row[odd + 2] = _mm512_extracti32x4_epi32(four, 1);
        row[odd + 4] = _mm512_extracti32x4_epi32(four, 2);
        row[odd + 6] = _mm512_extracti32x4_epi32(four, 3);
    }
}

/* Of eight: rows r and r + 2 share a register, r + 4 and r + 6 another one. */
DML_INLINE void rows_of_eight(__m256i *row, const __m512i *pair)
{
    __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    for (int odd = 0; odd < 2; odd++) {
        __m512i left = odd ? _mm512_unpackhi_epi64(pair[0], pair[1]) : _mm512_unpacklo_epi64(pair[0], pair[1]);
        __m512i right = odd ? _mm512_unpackhi_epi64(pair[2], pair[3]) : _mm512_unpacklo_epi64(pair[2], pair[3]);
        __m512i two = _mm512_permutex2var_epi64(left, first, right), more = _mm512_permutex2var_epi64(left, second, right);
        row[odd] = _mm512_castsi512_si256(two);
        row[odd + 2] = _mm512_extracti64x4_epi64(two, 1);
        row[odd + 4] = _mm512_castsi512_si256(more);
        row[odd + 6] = _mm512_extracti64x4_epi64(more, 1);
    }
}

/* Of sixteen. */
DML_INLINE void rows_of_sixteen(__m512i *row, const __m512i *pair)
{
    __m512i two[8], four[8];
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
}

/* Compilers join a masked store to what extracts the part that is stored from its vector. That instruction faults where any byte of the
 * part cannot be written, masked or not, which a masked store by itself does not. So the part is extracted to a register first. */
#define KEEP_APART(part) __asm__("" : "+v"(part))

/* Up to eight rows of up to `block` columns, four, eight or sixteen; the last column stands in for those that are not there. */
DML_INLINE void turn_some(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns,
                          int block, size_t width, __m512i add, __m512i *most)
{
    __mmask8 in_rows = (__mmask8)((1 << rows) - 1);
    __mmask16 in_columns = (__mmask16)((1 << columns) - 1);
    __m512i pair[8];
    for (int k = 0; k < block / 2; k++)
        pair[k] = pairs_of_columns(from + dml_least(2 * k, columns - 1) * from_pitch,
                                   from + dml_least(2 * k + 1, columns - 1) * from_pitch, in_rows, width, add, most);
    if (block == 16) {
        __m512i row[8];
        rows_of_sixteen(row, pair);
        for (int r = 0; r < 8; r++)
            if (r < rows)
                _mm512_mask_storeu_epi32((void *)(to + r * to_pitch), in_columns, row[r]);
    } else if (block == 8) {
        __m256i row[8];
        rows_of_eight(row, pair);
        for (int r = 0; r < 8; r++) {
            KEEP_APART(row[r]);
            if (r < rows)
                _mm256_mask_storeu_epi32((void *)(to + r * to_pitch), (__mmask8)in_columns, row[r]);
        }
    } else {
        __m128i row[8];
        rows_of_four(row, pair);
        for (int r = 0; r < 8; r++) {
            KEEP_APART(row[r]);
            if (r < rows)
                _mm_mask_storeu_epi32((void *)(to + r * to_pitch), (__mmask8)in_columns, row[r]);
        }
    }
}
#undef KEEP_APART

/* All rows of the columns of one block. */
DML_INLINE void turn_block(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns,
                           int block, size_t width, __m512i add, __m512i *most)
{
    for (int64_t r = 0; r < rows; r += 8)
        turn_some(to + r * to_pitch, to_pitch, from + r * (int64_t)width, from_pitch, dml_least(8, rows - r), columns, block,
                  width, add, most);
}

/* Vectors 0 to rows - 1 have rows * 16 indices, of which row r has number r, r + rows, r + 2 * rows, ... Where vector k is added to what
 * the vectors before gave of them: places of those up to 15, of vector k from 16 on. Of numbers that come later, any one. */
DML_INLINE __m512i places_in(int k, int r, int rows)
{
    __m512i ramp = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i number = _mm512_add_epi32(_mm512_mullo_epi32(ramp, _mm512_set1_epi32(rows)), _mm512_set1_epi32(r));
    if (k == 1)
        return number;
    __m512i place = _mm512_sub_epi32(number, _mm512_set1_epi32(16 * (k - 1)));
    return _mm512_mask_mov_epi32(ramp, _mm512_cmpge_epi32_mask(place, _mm512_set1_epi32(16)), place);
}

/* Two to DML_WHOLE_ROWS rows, whose columns follow each other: sixteen columns at a time, as many vectors. How many columns these are. */
DML_INLINE int64_t turn_few_rows(char *to, int64_t to_pitch, const char *from, int rows, int64_t columns, size_t width,
                                 __m512i add, __m512i *most)
{
    __m512i places[DML_WHOLE_ROWS][DML_WHOLE_ROWS], v[DML_WHOLE_ROWS];
    for (int r = 0; r < rows; r++)
        for (int k = 1; k < rows; k++)
            places[r][k] = places_in(k, r, rows);
    int64_t c = 0;
    for (; c + 16 <= columns; c += 16) {
        for (int k = 0; k < rows; k++, from += 16 * width)
            v[k] = narrowed_vector(from, width, add, most);
        for (int r = 0; r < rows; r++) {
            __m512i row = v[0];
            for (int k = 1; k < rows; k++)
                row = _mm512_permutex2var_epi32(row, places[r][k], v[k]);
            _mm512_storeu_si512((void *)(to + r * to_pitch + c * 4), row);
        }
    }
    return c;
}

DML_INLINE int turn_all(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns,
                        size_t width, int is_signed, int64_t bound)
{
    uint64_t n = (uint64_t)bound, added = is_signed ? n : 0; /* v is in [-n, n) exactly when v + n is in [0, 2n), unsigned */
    __m512i most = _mm512_setzero_si512(), add = repeated(added, width), last = repeated(n + added - 1, width);
    int64_t c = dml_turns_whole(rows, columns, from_pitch, (int64_t)width)
                    ? turn_few_rows(to, to_pitch, from, (int)rows, columns, width, add, &most)
                    : 0;
    for (; c < columns; c += 16) {
        const char *column = from + c * from_pitch;
        char *at = to + c * 4;
        int64_t some = dml_least(16, columns - c);
        if (some > 8)
            turn_block(at, to_pitch, column, from_pitch, rows, some, 16, width, add, &most);
        else if (some > 4)
            turn_block(at, to_pitch, column, from_pitch, rows, some, 8, width, add, &most);
        else
            turn_block(at, to_pitch, column, from_pitch, rows, some, 4, width, add, &most);
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
