/* turns_avx2.h: single indices that lie the other way round, column by column, become rows of indices of four bytes. Included by avx2.c
 * behind indices_avx2.h. */

#define TURN_INDICES turn_indices
#define FAR_PLANE (4 << 20) /* bytes; nearer ones the hardware fetches soon enough (Zen 3: 0.9 to 1.25x) */
#define CROWDED 4096 /* bytes; of columns a multiple of it apart the first-level cache holds eight lines: 1.1 to 1.2x (Zen 3) */

/* What is known of the indices so far: the largest, with what is added to it; bits where one of eight bytes does not fit in four. */
typedef struct {
    __m256i add, most, bad;
} turned;

/* Sixteen bytes of a column, and sixteen elsewhere. */
DML_INLINE __m256i two_parts(const char *from, int64_t apart)
{
    __m128i first = _mm_loadu_si128((const void *)from), second = _mm_loadu_si128((const void *)(from + apart));
    __m256i parts = _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
    __asm__("" : "+x"(parts)); /* as read: what is checked is what is used */
    return parts;
}

DML_INLINE void note(turned *t, __m256i v) { t->most = _mm256_max_epu32(t->most, _mm256_add_epi32(v, t->add)); }

/* Two rows of two columns, of eight bytes each. */
DML_INLINE __m256 narrowed_columns(__m256i v, __m256i w, turned *t)
{
    __m256i low = halves_in_turn(_mm256_castsi256_ps(v), _mm256_castsi256_ps(w), &t->bad);
    note(t, low);
    return _mm256_castsi256_ps(low);
}

DML_INLINE void store_parts(char *to, int64_t apart, int wide, __m256i row)
{
    if (wide)
        _mm256_storeu_si256((void *)to, row);
    else {
        _mm_storeu_si128((void *)to, _mm256_castsi256_si128(row));
        _mm_storeu_si128((void *)(to + apart), _mm256_extracti128_si256(row, 1));
    }
}

/* Sixteen bytes of eight columns, or thirty-two of four: each half of a vector has four of them, side by side or one below the other. */
DML_INLINE void turn_some(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, size_t width, int wide, turned *t)
{
    int64_t rows = 16 / (int64_t)width, apart = wide ? 4 * from_pitch : 16, to_apart = wide ? 16 : rows * to_pitch;
    __m256i column[4], row[4];
    for (int k = 0; k < 4; k++) {
        column[k] = two_parts(from + k * from_pitch, apart);
    }
    if (width == 8) {
        __m256 left = narrowed_columns(column[0], column[1], t), right = narrowed_columns(column[2], column[3], t);
        row[0] = _mm256_castps_si256(_mm256_shuffle_ps(left, right, 0x88));
        row[1] = _mm256_castps_si256(_mm256_shuffle_ps(left, right, 0xdd));
    } else {
        for (int k = 0; k < 4; k++)
            note(t, column[k]);
        __m256i left = _mm256_unpacklo_epi32(column[0], column[1]), right = _mm256_unpacklo_epi32(column[2], column[3]);
        row[0] = _mm256_unpacklo_epi64(left, right);
        row[1] = _mm256_unpackhi_epi64(left, right);
        left = _mm256_unpackhi_epi32(column[0], column[1]);
        right = _mm256_unpackhi_epi32(column[2], column[3]);
        row[2] = _mm256_unpacklo_epi64(left, right);
        row[3] = _mm256_unpackhi_epi64(left, right);
    }
    for (int64_t r = 0; r < rows; r++)
        store_parts(to + r * to_pitch, to_apart, wide, row[r]);
}

/* All rows of so many blocks of columns, side by side: whole lines of what is stored. The last rows may be turned twice. Some columns
 * behind these are fetched meanwhile. */
DML_INLINE void turn_columns(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int blocks,
                             size_t width, int wide, int64_t fetched, turned *t)
{
    int64_t step = (wide ? 16 : 32) / (int64_t)width, line = DML_LINE / (int64_t)width;
    for (int64_t r = 0; r < rows; r += step) {
        for (int64_t next = 0; next < fetched && r % line == 0; next++)
            DML_PREFETCH_L2(from + (8 * blocks + next) * from_pitch + r * (int64_t)width);
        r = dml_least(r, rows - step);
        for (int k = 0; k < blocks; k++)
            turn_some(to + r * to_pitch + k * 32, to_pitch, from + r * (int64_t)width + k * 8 * from_pitch, from_pitch, width,
                      wide, t);
    }
}

/* Index by index: what is too small for vectors. */
DML_INLINE int turn_each(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns,
                         size_t width, int is_signed, uint64_t bound)
{
    int bad = 0;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) {
            int64_t v = 0;
            i32 low;
            const char *at = from + c * from_pitch + r * (int64_t)width;
            if (width == 8) {
                memcpy(&v, at, 8);
                low = (i32)v;
            } else {
                memcpy(&low, at, 4);
                v = is_signed ? low : (int64_t)(u32)low;
            }
            bad |= (uint64_t)v + (is_signed ? bound : 0) >= bound * (is_signed ? 2 : 1);
            memcpy(to + r * to_pitch + c * 4, &low, 4);
        }
    return bad;
}

DML_INLINE int turn_all(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns,
                        size_t width, int is_signed, int64_t bound)
{
    turned t = {added_to(is_signed, bound), _mm256_setzero_si256(), _mm256_setzero_si256()};
    if (columns < 4 || rows * (int64_t)width < 32)
        return turn_each(to, to_pitch, from, from_pitch, rows, columns, width, is_signed, (uint64_t)bound);
    int64_t c = 0;
    int far = columns * from_pitch >= FAR_PLANE;
    for (; columns - c >= 16 && from_pitch % CROWDED; c += 16)
        turn_columns(to + c * 4, to_pitch, from + c * from_pitch, from_pitch, rows, 2, width, 1,
                     far ? dml_least(16, columns - c - 16) : 0, &t);
    while (c < columns) { /* the last columns may be turned twice, too */
        int wide = columns >= 8 && columns - c > 4;
        c = dml_least(c, columns - (wide ? 8 : 4));
        if (wide)
            turn_columns(to + c * 4, to_pitch, from + c * from_pitch, from_pitch, rows, 1, width, 1,
                         far ? dml_least(8, columns - c - 8) : 0, &t);
        else
            turn_columns(to + c * 4, to_pitch, from + c * from_pitch, from_pitch, rows, 1, width, 0, 0, &t);
        c += wide ? 8 : 4;
    }
    return out_of_range(t.most, _mm256_set1_epi32((int)(is_signed ? 2 * (u32)bound : (u32)bound)), t.bad);
}

/* A dml_turner. */
static int turn_indices(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns,
                        int width, int is_signed, int64_t bound)
{
    return width == 8 ? turn_all(to, to_pitch, from, from_pitch, rows, columns, 8, is_signed, bound)
                      : turn_all(to, to_pitch, from, from_pitch, rows, columns, 4, is_signed, bound);
}
