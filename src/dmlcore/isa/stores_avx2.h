/* stores_avx2.h: a line of memory that is stored past the caches, in two halves. In quarters, as any x86-64 stores it, slices and copies
 * take 0.95 to 1.2 times as long (Zen 3). Included by avx2.c; stands in for a part of core/loops.h. */
#define STREAM64 stream_avx2

DML_INLINE void stream_avx2(char *to, const char *from) /* `to` is a multiple of 64 */
{
    __m256i low = _mm256_loadu_si256((const void *)from), high = _mm256_loadu_si256((const void *)(from + 32));
    _mm256_stream_si256((void *)to, low);
    _mm256_stream_si256((void *)(to + 32), high);
}
