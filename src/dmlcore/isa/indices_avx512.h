/* indices_avx512.h: from indices to checked offsets or to elements, gathers by the vector unit, and leaving out offsets of other
 * threads, with AVX-512. Included by avx512.c; stands in for parts of core/normalise.h, joins_x86.h, core/fused.h and
 * core/slices.h. */

#define WRAPS 1
#define WRAP wrap_avx512
#define WRAP_SIXTEEN wrap_sixteen

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

/* Two numbers of eight bytes, and four of four. */
DML_INLINE __m128i two_units(const char *from, int64_t apart)
{
    __m128d low = _mm_castsi128_pd(_mm_loadl_epi64((const __m128i *)(const void *)from));
    return _mm_castpd_si128(_mm_loadh_pd(low, (const double *)(const void *)(from + apart)));
}

DML_INLINE __m128i four_units(const char *from, int64_t apart)
{
    int v[4];
    for (int k = 0; k < 4; k++)
        memcpy(v + k, from + k * apart, sizeof v[k]);
    return _mm_insert_epi32(_mm_insert_epi32(_mm_insert_epi32(_mm_cvtsi32_si128(v[0]), v[1], 1), v[2], 2), v[3], 3);
}

/* As many units of 4, 8 or 16 bytes as fill a vector, `apart` from one to the next. */
DML_INLINE __m512i joined(const char *from, int64_t apart, size_t unit)
{
    __m128i part[4];
    for (int k = 0; k < 4; k++)
        if (unit == 16)
            part[k] = _mm_loadu_si128((const void *)(from + k * apart));
        else if (unit == 8)
            part[k] = two_units(from + 2 * k * apart, apart);
        else
            part[k] = four_units(from + 4 * k * apart, apart);
    __m512i v = _mm512_inserti64x2(_mm512_castsi128_si512(part[0]), part[1], 1);
    v = _mm512_inserti64x2(_mm512_inserti64x2(v, part[2], 2), part[3], 3);
    __asm__("" : "+v"(v)); /* as read: what is checked is what is used */
    return v;
}

/* Eight numbers of eight bytes, or sixteen of four: every second one, and backwards. */
DML_INLINE __m512i every_second(const char *from, size_t width)
{
    if (width == 4) {
        __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        __m512i v = _mm512_loadu_si512((const void *)from), w = _mm512_maskz_loadu_epi32(0x7fff, (const void *)(from + 64));
        return _mm512_permutex2var_epi32(v, even, w);
    }
    __m512i v = _mm512_loadu_si512((const void *)from), w = _mm512_maskz_loadu_epi64(0x7f, (const void *)(from + 64));
    return _mm512_permutex2var_epi64(v, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), w);
}

DML_INLINE __m512i backwards(const char *from, size_t width)
{
    __m512i v = _mm512_loadu_si512((const void *)(from + width - 64));
    if (width == 4)
        return _mm512_permutexvar_epi32(_mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), v);
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), v);
}

DML_INLINE __m512i joined_any(const char *from, int64_t apart, int q, size_t width)
{
    __m512i v;
    if (q == 1 && apart == 2 * (int64_t)width)
        v = every_second(from, width);
    else if (q == 1 && apart == -(int64_t)width)
        v = backwards(from, width);
    else
        return joined(from, apart, (size_t)q * width);
    __asm__("" : "+v"(v));
    return v;
}

/* Sixteen coordinates, likewise from tuples of q that are `apart`. */
DML_INLINE __m512i joined_indices(const char *index, int64_t apart, int q, size_t width)
{
    if (width == 4)
        return joined_any(index, apart, q, width);
    __m256i low = _mm512_cvtsepi64_epi32(joined_any(index, apart, q, width));
    __m256i high = _mm512_cvtsepi64_epi32(joined_any(index + 8 / q * apart, apart, q, width));
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

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

#define LONGEST_WRAPPED 6 /* tuple */

/* Narrow offsets of up to sixteen tuples of q coordinates; bad: whether one is out of range. apart, unless it is 0: bytes from one of
 * sixteen to the next, of up to two coordinates; else they follow each other. */
DML_INLINE __m512i some_offsets(const char *index, int64_t some, int q, int64_t apart, size_t width, int is_signed,
                                const int64_t *bounds, const int64_t *steps, __m512i offset, int *bad)
{
    __m512i all[LONGEST_WRAPPED];
    __mmask16 out = 0;
    for (int k = 0; k < q; k++) {
        int64_t there = dml_most(0, dml_least(16, some * q - 16 * k));
        all[k] = apart ? joined_indices(index + 16 / q * k * apart, apart, q, width)
                       : indices_at(index + k * 16 * (int64_t)width, (__mmask16)((1 << there) - 1), width);
    }
    for (int k = 0; k < q; k++) {
        __m512i n = _mm512_set1_epi32((int)bounds[k]), add = added_to(is_signed, bounds[k]);
        __m512i v = from_the_end(coordinate_of(all, q, k), add);
        out |= _mm512_cmpge_epu32_mask(v, n);
        offset = _mm512_add_epi32(offset, _mm512_mullo_epi32(v, _mm512_set1_epi32((int)steps[k])));
    }
    *bad = out != 0;
    return offset;
}

/* Those of sixteen, stored. Not 0: one is out of range. */
DML_INLINE int wrap_sixteen(const char *index, int q, int64_t apart, size_t width, int is_signed, const int64_t *bounds,
                            const int64_t *steps, const u32 *ramp, u32 *offsets)
{
    int bad;
    __m512i first = ramp ? _mm512_loadu_si512((const void *)ramp) : _mm512_setzero_si512();
    _mm512_storeu_si512((void *)offsets, some_offsets(index, 16, q, apart, width, is_signed, bounds, steps, first, &bad));
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

/* Of any number of tuples. */
DML_INLINE int wrap_tuples(const char *index, int64_t count, int q, size_t width, int is_signed, const int64_t *bounds,
                           const int64_t *steps, u32 *offsets)
{
    int64_t i = 0;
    int bad, any = 0;
    for (; i + 16 <= count; i += 16, index += 16 * q * (int64_t)width)
        any |= wrap_sixteen(index, q, 0, width, is_signed, bounds, steps, NULL, offsets + i);
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

#define TAKES(T) (sizeof(T) == 4 || sizeof(T) == 8)
#define TAKE take_avx512

/* Up to eight elements of `width` bytes out of a table of `n` of them, checked on their way: as many as there are 64-bit indices
 * in a register; the index has its own width. add: n, or nothing where indices are unsigned. dense: table elements follow each other. Else they are `step` bytes apart, and
 * what `more` says is added. Not 0: one is out of range. */
DML_INLINE int eight_avx512(char *stream, const char *table, const char *index, __m512i n, __m512i add, int dense, __m512i step,
                            __m512i more, __mmask8 some, size_t width, size_t index_width)
{
    __m512i v;
    if (index_width == 8)
        v = _mm512_maskz_loadu_epi64(some, (const void *)index);
    else
        v = _mm512_cvtepi32_epi64(
            _mm256_maskz_loadu_epi32(some, (const void *)index)); /* what changes is out of range anyway */
    __asm__("" : "+v"(v)); /* as read: what is checked is what is used */
    v = _mm512_mask_add_epi64(v, _mm512_movepi64_mask(v), v, add);
    if (_mm512_cmpge_epu64_mask(v, n))
        return 1;
    if (!dense)
        v = _mm512_add_epi64(_mm512_mul_epu32(v, step), more);
    if (width == 4) {
        __m256i found = dense ? _mm512_i64gather_epi32(v, (const void *)table, 4)
                              : _mm512_i64gather_epi32(v, (const void *)table, 1);
        __asm__(""
                : "+v"(found)); /* half a register may be stored by vextracti32x8, which faults for what the mask leaves out */
        _mm256_mask_storeu_epi32((void *)stream, some, found);
    } else
        _mm512_mask_storeu_epi64((void *)stream, some,
                                 dense ? _mm512_i64gather_epi64(v, (const void *)table, 8)
                                       : _mm512_i64gather_epi64(v, (const void *)table, 1));
    return 0;
}

/* So many of these, where a ramp tells what is added, or, without one, `drift` more for each. */
DML_INLINE int take_avx512(char *stream, const char *table, const char *index, int64_t count, int64_t bound, int64_t step,
                           const u32 *ramp, int drift, int dense, size_t width, size_t index_width, int is_signed)
{
    __m512i n = _mm512_set1_epi64(bound), add = _mm512_set1_epi64(is_signed ? bound : 0), by = _mm512_set1_epi64(step);
    __m512i first = _mm512_mullo_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), _mm512_set1_epi64(drift)), second = first;
    for (; count >= 16; count -= 16, index += 16 * index_width, stream += 16 * width, table += 16 * drift) {
        if (ramp) {
            first = _mm512_cvtepu32_epi64(_mm256_loadu_si256((const void *)ramp));
            second = _mm512_cvtepu32_epi64(_mm256_loadu_si256((const void *)(ramp + 8)));
            ramp += 16;
        }
        if (eight_avx512(stream, table, index, n, add, dense, by, first, 0xff, width, index_width) |
            eight_avx512(stream + 8 * width, table + 8 * drift, index + 8 * index_width, n, add, dense, by, second, 0xff, width,
                         index_width))
            return 1;
    }
    for (; count > 0; count -= 8, index += 8 * index_width, stream += 8 * width, table += 8 * drift) {
        __mmask8 some = (__mmask8)(count < 8 ? (1 << count) - 1 : 0xff);
        if (ramp) {
            first = _mm512_cvtepu32_epi64(_mm256_maskz_loadu_epi32(some, (const void *)ramp));
            ramp += 8;
        }
        first = _mm512_maskz_mov_epi64(some, first); /* others load what the first one may: it is there */
        if (eight_avx512(stream, table, index, n, add, dense, by, first, some, width, index_width))
            return 1;
    }
    return 0;
}

#define GATHERS(T) (sizeof(T) <= 8)
#define GATHER_SIXTEEN gather_of

DML_INLINE void store_avx512(char *to, __m512i line, int past)
{
    if (past)
        _mm512_stream_si512((void *)to, line);
    else
        _mm512_storeu_si512((void *)to, line);
}

/* Sixteen elements of one or two bytes, as parts of the words that they lie in: these are read as a whole, which no page can
 * forbid as it has all of a word or nothing. Elements of two bytes have even addresses, and offsets
 * three more than any fit into 31 bits (boxes.c). */
DML_INLINE void gather_parts(char *stream, const char *table, __m512i at, size_t width)
{
    int inside = (int)((uintptr_t)table & 3);
    __m512i three = _mm512_set1_epi32(3);
    at = _mm512_add_epi32(at, _mm512_set1_epi32(inside));
    __m512i words = _mm512_i32gather_epi32(_mm512_andnot_si512(three, at), (const void *)(table - inside), 1);
    words = _mm512_srlv_epi32(words, _mm512_slli_epi32(_mm512_and_si512(at, three), 3));
    if (width == 1)
        _mm_storeu_si128((void *)stream, _mm512_cvtepi32_epi8(words));
    else
        _mm256_storeu_si256((void *)stream, _mm512_cvtepi32_epi16(words));
}

/* Sixteen elements. past: those of four and eight bytes are stored past the caches, the stream is a multiple of 64 then. */
DML_INLINE void gather_at(char *stream, const char *table, __m512i at, size_t width, int past)
{
    if (width < 4) {
        gather_parts(stream, table, at, width);
        return;
    }
    if (width == 4) {
        store_avx512(stream, _mm512_i32gather_epi32(at, (const void *)table, 1), past);
        return;
    }
    __m512i low = _mm512_i32gather_epi64(_mm512_castsi512_si256(at), (const void *)table, 1);
    __m512i high = _mm512_i32gather_epi64(_mm512_extracti64x4_epi64(at, 1), (const void *)table, 1);
    store_avx512(stream, low, past);
    store_avx512(stream + 64, high, past);
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
