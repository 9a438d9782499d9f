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
    for (int k = 0; k < 4; k++)
        column[k] = two_parts(from + k * from_pitch, apart);
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
#define TURN_COLUMNS(name, width, wide)                                                                             \
    DML_PIECE void name(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int blocks, \
                        int64_t fetched, turned *all)                                                               \
    {                                                                                                               \
        turned t = *all;                                                                                            \
        const int64_t step = ((wide) ? 16 : 32) / (width), line = DML_LINE / (width);                               \
        for (int64_t r = 0; r < rows; r += step) {                                                                  \
            for (int64_t next = 0; next < fetched && r % line == 0; next++)                                         \
                DML_PREFETCH_L2(from + (8 * blocks + next) * from_pitch + r * (width));                             \
            r = dml_least(r, rows - step);                                                                          \
            const char *here = from + r * (width);                                                                  \
            char *there = to + r * to_pitch;                                                                        \
            turn_some(there, to_pitch, here, from_pitch, (width), wide, &t);                                        \
            if (blocks > 1)                                                                                         \
                turn_some(there + 32, to_pitch, here + 8 * from_pitch, from_pitch, (width), wide, &t);              \
        }                                                                                                           \
        *all = t;                                                                                                   \
    }
TURN_COLUMNS(turn_eights_u32, 4, 1)
TURN_COLUMNS(turn_fours_u32, 4, 0)
TURN_COLUMNS(turn_eights_u64, 8, 1)
TURN_COLUMNS(turn_fours_u64, 8, 0)
#undef TURN_COLUMNS

/* Index by index: what is too small for vectors. Of four bytes both halves of a word are the index; masks, so that there is one loop. */
DML_PIECE int turn_each(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns,
                        int width, int is_signed, uint64_t bound)
{
    uint64_t add = is_signed ? bound : 0, end = bound + add;
    u32 upper = width == 8 ? UINT32_MAX : 0;
    int bad = 0, shift = 64 - 8 * width;
    for (int64_t r = 0; r < rows; r++, to += to_pitch, from += width)
        for (int64_t c = 0; c < columns; c++) {
            u32 low, high;
            memcpy(&low, from + c * from_pitch, sizeof low);
            memcpy(&high, from + c * from_pitch + width - 4, sizeof high);
            DML_ONCE(low); /* another thread may change it: what is checked is what is used */
            memcpy(to + c * 4, &low, sizeof low);
            uint64_t word = (uint64_t)((high & upper) | (low & ~upper)) << 32 | low;
            bad |= (is_signed ? (uint64_t)((int64_t)word >> shift) : word >> shift) + add >= end;
        }
    return bad;
}

/* A dml_turner. */
static int turn_indices(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, int64_t rows, int64_t columns,
                        int width, int is_signed, int64_t bound)
{
    if (columns < 4 || rows * width < 32)
        return turn_each(to, to_pitch, from, from_pitch, rows, columns, width, is_signed, (uint64_t)bound);
    turned t = {added_to(is_signed, bound), _mm256_setzero_si256(), _mm256_setzero_si256()};
    int far = columns * llabs(from_pitch) >= FAR_PLANE;
    for (int64_t c = 0; c < columns;) { /* the last columns may be turned twice, too */
        int wide = columns >= 8 && columns - c > 4, blocks = wide && columns - c >= 16 && from_pitch % CROWDED ? 2 : 1;
        int64_t some = wide ? 8 * blocks : 4;
        c = dml_least(c, columns - some);
        int64_t fetched = far && wide ? dml_least(some, columns - c - some) : 0;
        char *there = to + c * 4;
        const char *here = from + c * from_pitch;
        if (width == 8)
            (wide ? turn_eights_u64 : turn_fours_u64)(there, to_pitch, here, from_pitch, rows, blocks, fetched, &t);
        else
            (wide ? turn_eights_u32 : turn_fours_u32)(there, to_pitch, here, from_pitch, rows, blocks, fetched, &t);
        c += some;
    }
    return out_of_range(t.most, _mm256_set1_epi32((int)(is_signed ? 2 * (u32)bound : (u32)bound)), t.bad);
}
