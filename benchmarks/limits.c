/* limits.c: what the machine can do. Copies of so many bytes, and the plainest loops through offsets that somebody else
 * computed: nothing is checked, nothing is counted from the end. Threads take equal parts. */
#include <stdint.h>
#include <string.h>
#if defined(__AVX__)
#include <immintrin.h>
#endif

#define PART(n) int64_t begin = (n) * part / parts, end = (n) * (part + 1) / parts
#define SHARED_OUT(body)                                                                                                \
    if (threads == 1) {                                                                                                 \
        const int64_t part = 0, parts = 1;                                                                              \
        body                                                                                                            \
    } else {                                                                                                            \
        _Pragma("omp parallel for num_threads(threads) schedule(static, 1)") for (int part = 0; part < threads; part++) \
        {                                                                                                               \
            const int64_t parts = threads;                                                                              \
            body                                                                                                        \
        }                                                                                                               \
    }

void copy(char *to, const char *from, int64_t bytes, int threads)
{
    SHARED_OUT({
        PART(bytes / 64);
        memcpy(to + begin * 64, from + begin * 64, (size_t)(end - begin) * 64 + (part + 1 < parts ? 0 : (size_t)(bytes % 64)));
    })
}

/* Past the caches. */
void stream(char *to, const char *from, int64_t bytes, int threads)
{
#if defined(__AVX__)
    int64_t skip = -(int64_t)(intptr_t)to & 63;
    to += skip;
    from += skip;
    SHARED_OUT({
        PART((bytes - skip) / 64);
        for (int64_t i = begin * 64; i < end * 64; i += 64) {
            __m256i a = _mm256_loadu_si256((const void *)(from + i));
            __m256i b = _mm256_loadu_si256((const void *)(from + i + 32));
            _mm256_stream_si256((void *)(to + i), a);
            _mm256_stream_si256((void *)(to + i + 32), b);
        }
        _mm_sfence();
    })
#else
    copy(to, from, bytes, threads);
#endif
}

#define LOOPS(offset)                                                                                                  \
    static inline void gather_part_##offset(char *to, const char *from, const offset *at, int64_t begin, int64_t end,  \
                                            int64_t size)                                                              \
    {                                                                                                                  \
        for (int64_t i = begin; i < end; i++)                                                                          \
            memcpy(to + i * size, from + (int64_t)at[i] * size, (size_t)size);                                         \
    }                                                                                                                  \
    static inline void scatter_part_##offset(char *to, const char *from, const offset *at, int64_t begin, int64_t end, \
                                             int64_t size)                                                             \
    {                                                                                                                  \
        for (int64_t i = begin; i < end; i++)                                                                          \
            memcpy(to + (int64_t)at[i] * size, from + i * size, (size_t)size);                                         \
    }                                                                                                                  \
    FIXED_SIZES(gather, offset)                                                                                        \
    FIXED_SIZES(scatter, offset)

/* The compiler turns a memcpy of a known size into loads and stores. */
#define FIXED_SIZES(name, offset)                                                                                \
    void name##_##offset(char *to, const char *from, const offset *at, int64_t count, int64_t size, int threads) \
    {                                                                                                            \
        SHARED_OUT({                                                                                             \
            PART(count);                                                                                         \
            switch (size) {                                                                                      \
            case 1: name##_part_##offset(to, from, at, begin, end, 1); break;                                    \
            case 2: name##_part_##offset(to, from, at, begin, end, 2); break;                                    \
            case 4: name##_part_##offset(to, from, at, begin, end, 4); break;                                    \
            case 8: name##_part_##offset(to, from, at, begin, end, 8); break;                                    \
            case 16: name##_part_##offset(to, from, at, begin, end, 16); break;                                  \
            case 64: name##_part_##offset(to, from, at, begin, end, 64); break;                                  \
            case 128: name##_part_##offset(to, from, at, begin, end, 128); break;                                \
            case 256: name##_part_##offset(to, from, at, begin, end, 256); break;                                \
            default: name##_part_##offset(to, from, at, begin, end, size);                                       \
            }                                                                                                    \
        })                                                                                                       \
    }

LOOPS(uint32_t)
LOOPS(int64_t)

/* y[i[r][k]][k] += u[r][k]; threads take columns. */
void add_rows(float *y, const float *u, const int64_t *i, int64_t rows, int64_t columns, int threads)
{
    SHARED_OUT({
        PART(columns);
        for (int64_t r = 0; r < rows; r++)
            for (int64_t k = begin; k < end; k++)
                y[i[r * columns + k] * columns + k] += u[r * columns + k];
    })
}
