/* indices_avx512.h: from indices to checked offsets, or to narrowed indices, with AVX-512. Included by avx512.c after
 * apart_avx512.h; stands in for a part of core/normalise.h. */

#define WRAPS 1
#define LONGEST_WRAPPED 6 /* tuple */
#define LONGEST_RING 4
#define WRAP wrap_avx512
#define WRAP_SIXTEEN wrap_sixteen
#define WRAP_EIGHT wrap_eight
#define WRAP_ROWS wrap_rows
#define WRAP_PAIRS wrap_pairs
#define CHECKS_ROWS 1
#define CHECK_ROWS check_rows

/* Eight 64-bit indices, as signed ones. What does not fit into 32 bits becomes the nearest number that does, which is out of range as
 * well: a bound is less than 2**31, and unsigned indices below zero stay there (from_the_end). */
DML_INLINE __m256i halved_indices(const char *index, __mmask8 some)
{
    return _mm512_cvtsepi64_epi32(_mm512_maskz_loadu_epi64(some, (const void *)index));
}

/* Up to sixteen indices that have `width` bytes each, 2, 4 or 8. */
DML_INLINE __m512i indices_at(const char *index, __mmask16 some, size_t width)
{
    __m512i v;
    if (width == 8)
        v = _mm512_inserti64x4(_mm512_castsi256_si512(halved_indices(index, (__mmask8)some)),
                               halved_indices(index + 64, (__mmask8)(some >> 8)), 1);
    else if (width == 2)
        v = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, (const void *)index));
    else
        v = _mm512_maskz_loadu_epi32(some, (const void *)index);
    __asm__("" : "+v"(v)); /* as read: what is checked is what is used */
    return v;
}

/* What is added to an index: its bound, or nothing where indices are unsigned. */
DML_INLINE __m512i added_to(int is_signed, int64_t bound) { return _mm512_set1_epi32(is_signed ? (int)bound : 0); }

/* Those below zero count from the end: as unsigned numbers they are the larger ones before the bound is added, others are it after. */
DML_INLINE __m512i from_the_end(__m512i v, __m512i add) { return _mm512_min_epu32(v, _mm512_add_epi32(v, add)); }

/* Both. */
DML_INLINE __m512i wrapped_indices(const char *index, __mmask16 some, size_t width, __m512i add)
{
    return from_the_end(indices_at(index, some, width), add);
}

/* Coordinate k of sixteen tuples of q, which lie in q vectors: number q * j + k for tuple j. Permutations take two vectors at a
 * time, and look at as many bits of a number as that needs. */
DML_INLINE __m512i coordinate_of(const __m512i *v, int q, int k)
{
    __m512i tuple = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i number = _mm512_add_epi32(_mm512_mullo_epi32(tuple, _mm512_set1_epi32(q)), _mm512_set1_epi32(k));
    if (q == 1)
        return v[0];
    __m512i found = _mm512_permutex2var_epi32(v[0], number, v[1]);
    for (int pair = 2; pair < q; pair += 2) {
        __mmask16 in_pair = _mm512_cmpge_epu32_mask(number, _mm512_set1_epi32(16 * pair));
        const __m512i *second = v + (pair + 1 < q ? pair + 1 : pair);
        found = _mm512_mask_mov_epi32(found, in_pair, _mm512_permutex2var_epi32(v[pair], number, *second));
    }
    return found;
}
/* Narrow offsets of up to sixteen tuples of q coordinates; bad: whether one is out of range. apart, unless it is 0: bytes from one of
 * sixteen to the next, of up to four coordinates; else they follow each other. */
DML_INLINE __m512i some_offsets(const char *index, int64_t some, int q, int64_t apart, size_t width, int is_signed,
                                const int64_t *bounds, const int64_t *steps, __m512i offset, int *bad)
{
    __m512i all[LONGEST_WRAPPED];
    __mmask16 out = 0;
    int room = apart && q == 3 ? 4 : q; /* that a tuple takes */
    for (int k = 0; k < room; k++) {
        int64_t there = dml_most(0, dml_least(16, some * q - 16 * k));
        all[k] = apart ? joined_indices(index + 16 / room * k * apart, apart, q, width)
                       : indices_at(index + k * 16 * (int64_t)width, (__mmask16)((1 << there) - 1), width);
    }
    for (int k = 0; k < q; k++) {
        __m512i n = _mm512_set1_epi32((int)bounds[k]), add = added_to(is_signed, bounds[k]);
        __m512i v = from_the_end(coordinate_of(all, room, k), add);
        out |= _mm512_cmpge_epu32_mask(v, n);
        offset = _mm512_add_epi32(offset, _mm512_mullo_epi32(v, _mm512_set1_epi32((int)steps[k])));
    }
    *bad = out != 0;
    return offset;
}

/* Those of sixteen, each of whose coordinates follow each other, `along` bytes from one dimension's to the next one's; any q. */
DML_INLINE __m512i offsets_by_columns(const char *index, int q, int64_t along, size_t width, int is_signed,
                                      const int64_t *bounds, const int64_t *steps, int *bad)
{
    __m512i offset = _mm512_setzero_si512();
    __mmask16 out = 0;
    for (int k = 0; k < q; k++, index += along) {
        __m512i v = wrapped_indices(index, 0xffff, width, added_to(is_signed, bounds[k]));
        out |= _mm512_cmpge_epu32_mask(v, _mm512_set1_epi32((int)bounds[k]));
        offset = _mm512_add_epi32(offset, _mm512_mullo_epi32(v, _mm512_set1_epi32((int)steps[k])));
    }
    *bad = out != 0;
    return offset;
}

/* Those of sixteen, either way, stored; by columns (along) without a ramp. Not 0: one is out of range. */
DML_INLINE int wrap_sixteen(const char *index, int q, int64_t apart, int64_t along, size_t width, int is_signed,
                            const int64_t *bounds, const int64_t *steps, const u32 *ramp, u32 *offsets)
{
    int bad;
    __m512i first = ramp ? _mm512_loadu_si512((const void *)ramp) : _mm512_setzero_si512();
    _mm512_storeu_si512((void *)offsets, along
                                             ? offsets_by_columns(index, q, along, width, is_signed, bounds, steps, &bad)
                                             : some_offsets(index, 16, q, apart, width, is_signed, bounds, steps, first, &bad));
    return bad;
}

/* Of any number of single ones. The last few are stored one by one: what is stored with a mask cannot be handed to the next load. */
DML_INLINE int wrap_avx512(const char *index, int64_t count, size_t width, int is_signed, int64_t bound, int64_t step,
                           const u32 *ramp, u32 *offsets)
{
    __m512i n = _mm512_set1_epi32((int)bound), by = _mm512_set1_epi32((int)step), most = _mm512_setzero_si512();
    __m512i add = added_to(is_signed, bound);
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
        __m512i v = wrapped_indices(index + i * (int64_t)width, 0xffff, width, add);
        most = _mm512_max_epu32(most, v);
        v = _mm512_mullo_epi32(v, by);
        if (ramp)
            v = _mm512_add_epi32(v, _mm512_loadu_si512((const void *)(ramp + i)));
        _mm512_storeu_si512((void *)(offsets + i), v);
    }
    if (i < count) {
        _Alignas(64) u32 last[16];
        __m512i v = wrapped_indices(index + i * (int64_t)width, (__mmask16)((1 << (count - i)) - 1), width, add);
        most = _mm512_max_epu32(most, v);
        _mm512_store_si512((void *)last, _mm512_mullo_epi32(v, by));
        for (const u32 *from = last; i < count; i++, from++)
            offsets[i] = *from + (ramp ? ramp[i] : 0);
    }
    return _mm512_cmpge_epu32_mask(most, n) != 0;
}

#define WRAP_TUPLES wrap_tuples

/* Of at most eight single ones. Eight offsets are stored, however few there are. Not 0: one is out of range. */
DML_INLINE int wrap_eight(const char *index, int64_t some, size_t width, int is_signed, int64_t bound, int64_t step,
                          const u32 *ramp, u32 *offsets)
{
    __mmask8 these = (__mmask8)((1 << some) - 1);
    __m256i v = width == 8 ? halved_indices(index, these) : _mm256_maskz_loadu_epi32(these, (const void *)index);
    __asm__("" : "+v"(v)); /* as read: what is checked is what is used */
    v = _mm256_min_epu32(v, _mm256_add_epi32(v, _mm512_castsi512_si256(added_to(is_signed, bound))));
    __m256i offset = _mm256_mullo_epi32(v, _mm256_set1_epi32((int)step));
    if (ramp)
        offset = _mm256_add_epi32(offset, _mm256_maskz_loadu_epi32(these, (const void *)ramp));
    _mm256_storeu_si256((void *)offsets, offset);
    return _mm256_cmpge_epu32_mask(v, _mm256_set1_epi32((int)bound)) != 0;
}

/* Of sixteen single ones in eight rows of two, which are `pitch` bytes apart. Not 0: one is out of range. */
DML_INLINE int wrap_pairs(const char *index, int64_t pitch, size_t width, int is_signed, int64_t bound, int64_t step,
                          const u32 *ramp, u32 *offsets)
{
    __m512i v = from_the_end(joined_indices(index, pitch, 2, width), added_to(is_signed, bound));
    __m512i offset = _mm512_mullo_epi32(v, _mm512_set1_epi32((int)step));
    _mm512_storeu_si512((void *)offsets, ramp ? _mm512_add_epi32(offset, _mm512_loadu_si512((const void *)ramp)) : offset);
    return _mm512_cmpge_epu32_mask(v, _mm512_set1_epi32((int)bound)) != 0;
}

/* Of `some` single ones, 1 to 16: the first `left` follow each other from `index` on, the others lie `gap` bytes further than they would
 * then. Sixteen offsets are stored, and as many of the ramp read, however few there are. Not 0: one is out of range. */
DML_INLINE int wrap_rows(const char *index, int64_t some, int64_t left, int64_t gap, size_t width, int is_signed, int64_t bound,
                         int64_t step, const u32 *ramp, u32 *offsets)
{
    __mmask16 all = (__mmask16)((1 << some) - 1), here = (__mmask16)(left < some ? (1 << left) - 1 : all);
    const char *beyond = left < some ? index + gap : index; /* where nothing is loaded, a line comes all the same */
    __m512i v = _mm512_or_si512(indices_at(index, here, width), indices_at(beyond, all & (__mmask16)~here, width));
    __m512i first = ramp ? _mm512_loadu_si512((const void *)ramp) : _mm512_setzero_si512();
    v = from_the_end(v, added_to(is_signed, bound));
    __m512i offset = _mm512_add_epi32(first, _mm512_mullo_epi32(v, _mm512_set1_epi32((int)step)));
    _mm512_storeu_si512((void *)offsets, offset);
    return _mm512_cmpge_epu32_mask(v, _mm512_set1_epi32((int)bound)) != 0;
}

/* Of any number of tuples. */
DML_INLINE int wrap_tuples(const char *index, int64_t count, int q, size_t width, int is_signed, const int64_t *bounds,
                           const int64_t *steps, u32 *offsets)
{
    int64_t i = 0;
    int bad, any = 0;
    for (; i + 16 <= count; i += 16, index += 16 * q * (int64_t)width)
        any |= wrap_sixteen(index, q, 0, 0, width, is_signed, bounds, steps, NULL, offsets + i);
    if (i < count) {
        _Alignas(64) u32 last[16];
        __m512i v = some_offsets(index, count - i, q, 0, width, is_signed, bounds, steps, _mm512_setzero_si512(), &bad);
        any |= bad;
        _mm512_store_si512((void *)last, v);
        for (const u32 *from = last; i < count; i++)
            offsets[i] = *from++;
    }
    return any;
}

/* What dml_narrower makes of up to sixteen indices; plain: they number the elements themselves. `most`: the largest so far. */
DML_INLINE __m256i numbers_of_sixteen(const char *index, __mmask16 some, size_t width, __m512i add, __m512i step,
                                      const u32 *ramp, __m128i shift, int plain, __m512i *most)
{
    __m512i v = wrapped_indices(index, some, width, add);
    *most = _mm512_max_epu32(*most, v);
    if (!plain) {
        v = _mm512_mullo_epi32(v, step);
        if (ramp)
            v = _mm512_add_epi32(v, _mm512_maskz_loadu_epi32(some, (const void *)ramp));
        v = _mm512_srl_epi32(v, shift);
    }
    return _mm512_cvtepi32_epi16(v);
}

/* The last ones are stored one by one, as above. */
DML_INLINE int narrow_avx512(const char *index, int64_t count, size_t width, int is_signed, int64_t bound, int64_t step,
                             const u32 *ramp, int shift, int plain, u16 *to)
{
    __m512i n = _mm512_set1_epi32((int)bound), by = _mm512_set1_epi32((int)step), most = _mm512_setzero_si512();
    __m512i add = added_to(is_signed, bound);
    __m128i by_bits = _mm_cvtsi32_si128(shift);
    int64_t i = 0;
    for (; i + 16 <= count; i += 16)
        _mm256_storeu_si256((void *)(to + i), numbers_of_sixteen(index + i * (int64_t)width, 0xffff, width, add, by,
                                                                 ramp ? ramp + i : NULL, by_bits, plain, &most));
    if (i < count) {
        u16 last[16];
        __mmask16 some = (__mmask16)((1 << (count - i)) - 1);
        _mm256_storeu_si256((void *)last, numbers_of_sixteen(index + i * (int64_t)width, some, width, add, by,
                                                             ramp ? ramp + i : NULL, by_bits, plain, &most));
        for (const u16 *from = last; i < count; i++)
            to[i] = *from++;
    }
    return _mm512_cmpge_epu32_mask(most, n) != 0;
}

#define NARROW narrow_avx512

DML_INLINE __m512i repeated(u64 v, size_t width)
{
    return width == 4 ? _mm512_set1_epi32((int)v) : _mm512_set1_epi64((int64_t)v);
}

/* The larger ones of these and of some indices with what is added to them. */
DML_INLINE __m512i larger_of(__m512i most, const char *index, __mmask16 some, __m512i add, size_t width)
{
    if (width == 4)
        return _mm512_max_epu32(most, _mm512_add_epi32(_mm512_maskz_loadu_epi32(some, (const void *)index), add));
    return _mm512_max_epu64(most, _mm512_add_epi64(_mm512_maskz_loadu_epi64((__mmask8)some, (const void *)index), add));
}

/* Whether any of `count` indices, rows of `length` that begin where the ramp says, is out of range. v is in [-n, n) exactly when v + n
 * is in [0, 2n), unsigned. */
DML_INLINE int check_rows(const char *index, const int64_t *ramp, int64_t count, int64_t length, int64_t bound, int is_signed,
                          size_t width)
{
    int64_t lanes = 64 / (int64_t)width, whole = length / lanes * 64;
    int64_t n = width == 4 ? dml_least(bound, (int64_t)1 << (is_signed ? 31 : 32)) : bound;
    u64 added = is_signed ? (u64)n : 0, last = (u64)n + added - 1;
    __mmask16 rest = (__mmask16)((1 << length % lanes) - 1);
    __m512i most = _mm512_setzero_si512(), add = repeated(added, width);
    for (int64_t i = 0; i < count; i += length) {
        const char *row = index + ramp[i];
        for (int64_t at = 0; at < whole; at += 64)
            most = larger_of(most, row + at, 0xffff, add, width);
        if (rest)
            most = larger_of(most, row + whole, rest, add, width);
    }
    return n == 0 || (width == 4 ? _mm512_cmpgt_epu32_mask(most, repeated(last, width)) != 0
                                 : _mm512_cmpgt_epu64_mask(most, repeated(last, width)) != 0);
}
