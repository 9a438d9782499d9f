/* byte_lookups_avx512.h: elements of one byte out of rows of a table, or out of all of it, that up to four vector registers hold, with
 * AVX-512 VBMI: 64 at a time are permuted by indices that are checked on the way. Included by row_lookups_avx512.h; dispatch.c knows
 * which processors have such permutations (dml_permutes_bytes). */

/* The instruction sets of avx512.c, and permutations of bytes. */
#define PERMUTES_BYTES \
    __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vbmi")))

/* 64 indices, or `some`, as bytes. */
DML_INLINE __m512i byte_numbers(const char *index, u64 some, size_t index_width, row_checks *c)
{
    __m512i v[4];
    for (int k = 0; k < 4; k++, index += 16 * index_width, some >>= 16)
        v[k] = some ? sixteen_numbers(index, (__mmask16)some, 1, index_width, c) : _mm512_setzero_si512();
    __m512i all = _mm512_packus_epi16(_mm512_packus_epi32(v[0], v[1]), _mm512_packus_epi32(v[2], v[3]));
    return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), all);
}

DML_INLINE u64 first_bytes(int64_t count) { return count >= 64 ? ~(u64)0 : count > 0 ? ((u64)1 << count) - 1 : 0; }

PERMUTES_BYTES DML_INLINE int byte_rows(const dml_rows *r, char *stream, const char *table, const char *index, int64_t count,
                                        int is_signed, size_t index_width)
{
    int64_t n = r->n, length = r->length ? r->length : count;
    int64_t gap = r->length ? r->index - r->length * (int64_t)index_width : 0;
    row_checks c = checks_for(n, is_signed);
    for (; count > 0; table += r->table, index += gap) {
        __m512i part[4];
        for (int k = 0; k < 4; k++)
            part[k] = _mm512_maskz_loadu_epi8(first_bytes(n - 64 * k), (const void *)(table + 64 * k));
        for (int64_t left = length, own; left > 0; left -= own) {
            own = dml_least(left, 64);
            __m512i at = own == 64 ? byte_numbers(index, ~(u64)0, index_width, &c)
                                   : byte_numbers(index, first_bytes(own), index_width, &c);
            __m512i v = _mm512_permutex2var_epi8(part[0], at, part[1]);
            if (n > 128)
                v = _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), v, _mm512_permutex2var_epi8(part[2], at, part[3]));
            if (count >= 64) /* what comes later overwrites those that are not this row's */
                _mm512_storeu_si512((void *)stream, v);
            else
                _mm512_mask_storeu_epi8((void *)stream, first_bytes(own), v);
            count -= own;
            stream += own;
            index += own * (int64_t)index_width;
        }
    }
    return out_of_row(&c, n);
}

#define BYTE_LOOKUP(I)                                                                                                    \
    PERMUTES_BYTES static int row_lookup_u8_##I(const dml_rows *rows, char *stream, const char *table, const char *index, \
                                                int64_t count, int is_signed)                                             \
    {                                                                                                                     \
        return byte_rows(rows, stream, table, index, count, is_signed, sizeof(I));                                        \
    }
BYTE_LOOKUP(u32)
BYTE_LOOKUP(u64)

#undef PERMUTES_BYTES
