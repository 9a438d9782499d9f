/* compiler.h: what differs between compilers and machines, so that everything else is plain C11.
 * Included by every C file of the core and of isa/; outside isa/ nearly all that is not plain C11 is here. */
#ifndef DMLCORE_COMPILER_H
#define DMLCORE_COMPILER_H

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) || defined(_M_X64)
#define DML_X86_64 1
#else
#define DML_X86_64 0
#endif

#define DML_PAGE 4096 /* bytes */

#if defined(__GNUC__) || defined(__clang__)
#define DML_INLINE static inline __attribute__((always_inline, unused))
#define DML_PIECE static __attribute__((noinline, unused))
#if defined(__clang__)
#define DML_LONG_PIECE DML_PIECE
#else
#define DML_LONG_PIECE static __attribute__((noinline, noclone, unused)) /* not copied for callers with constant arguments */
#endif
#define DML_RESTRICT __restrict
#define DML_PREFETCH(address) __builtin_prefetch((address), 0, 3)
#define DML_PREFETCH_L2(address) __builtin_prefetch((address), 0, 2)
#define DML_PREFETCH_WRITE(address) __builtin_prefetch((address), 1, 3)
#define DML_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define DML_NEVER(condition)         \
    do {                             \
        if (condition)               \
            __builtin_unreachable(); \
    } while (0) /* the compiler may count on it */
#define DML_ONCE(value) __asm__("" : "+r"(value)) /* as read: the compiler cannot read it again */
#define DML_ANYWHERE __attribute__((aligned(1), may_alias)) /* a type whose values lie at any address, among any others */
#define DML_CTZ64(word) __builtin_ctzll(word)
#define DML_SWAPPED(word) __builtin_bswap64(word) /* its bytes the other way round */
#define DML_ATOMIC_ADD(counter, by) __atomic_fetch_add((counter), (by), __ATOMIC_RELAXED)
#define DML_ATOMIC_LOAD(flag) __atomic_load_n((flag), __ATOMIC_RELAXED)
#define DML_ATOMIC_STORE(flag, to) __atomic_store_n((flag), (to), __ATOMIC_RELAXED)
#define DML_ATOMIC_TAKE(lock) __atomic_exchange_n((lock), 1, __ATOMIC_ACQUIRE) /* 0: it is ours now */
#define DML_ATOMIC_GIVE(lock) __atomic_store_n((lock), 0, __ATOMIC_RELEASE)
#define DML_ATOMIC_SWAP(pointer, with) __atomic_exchange_n((pointer), (with), __ATOMIC_ACQ_REL)
#elif defined(_MSC_VER)
#include <intrin.h>
#include <stdlib.h>
#define DML_INLINE static __forceinline
#define DML_PIECE static __declspec(noinline)
#define DML_LONG_PIECE DML_PIECE
#define DML_RESTRICT __restrict
#define DML_UNLIKELY(condition) (condition)
#if DML_X86_64
#define DML_PREFETCH(address) _mm_prefetch((const char *)(address), _MM_HINT_T0)
#else
#define DML_PREFETCH(address) ((void)(address))
#endif
#define DML_PREFETCH_L2(address) DML_PREFETCH(address)
#define DML_PREFETCH_WRITE(address) DML_PREFETCH(address)
#define DML_NEVER(condition) __assume(!(condition))
#define DML_ONCE(value) _ReadWriteBarrier()
#define DML_ANYWHERE __unaligned
static __forceinline int dml_ctz64(uint64_t word)
{
    unsigned long at;
    _BitScanForward64(&at, word);
    return (int)at;
}
#define DML_CTZ64(word) dml_ctz64(word)
#define DML_SWAPPED(word) _byteswap_uint64(word)
#define DML_ATOMIC_ADD(counter, by) _InterlockedExchangeAdd64((counter), (by))
#define DML_ATOMIC_LOAD(flag) (*(volatile const int64_t *)(flag))
#define DML_ATOMIC_STORE(flag, to) (*(volatile int64_t *)(flag) = (to))
#define DML_ATOMIC_TAKE(lock) _InterlockedExchange64((lock), 1)
#define DML_ATOMIC_GIVE(lock) _InterlockedExchange64((lock), 0)
#define DML_ATOMIC_SWAP(pointer, with) _InterlockedExchangePointer((pointer), (with))
#else
#error "compiler.h has no section for this compiler"
#endif

/* Storing past the caches pays when the stored bytes will not be read again soon; elsewhere a plain copy does. */
#if DML_X86_64
#include <emmintrin.h>
#define DML_STREAM 1
DML_INLINE void dml_stream64(char *to, const char *from)   /* `to` is a multiple of 64 */
{
    __m128i a = _mm_loadu_si128((const __m128i *)from), b = _mm_loadu_si128((const __m128i *)(from + 16));
    __m128i c = _mm_loadu_si128((const __m128i *)(from + 32)), d = _mm_loadu_si128((const __m128i *)(from + 48));
    _mm_stream_si128((__m128i *)to, a);
    _mm_stream_si128((__m128i *)(to + 16), b);
    _mm_stream_si128((__m128i *)(to + 32), c);
    _mm_stream_si128((__m128i *)(to + 48), d);
}
DML_INLINE void dml_stream16(char *to, const char *from)   /* a multiple of 16 */
{
    _mm_stream_si128((__m128i *)to, _mm_loadu_si128((const __m128i *)from));
}
#define DML_STREAM_END() _mm_sfence()
#else
#define DML_STREAM 0
DML_INLINE void dml_stream64(char *to, const char *from) { memcpy(to, from, 64); }
DML_INLINE void dml_stream16(char *to, const char *from) { memcpy(to, from, 16); }
#define DML_STREAM_END() ((void)0)
#endif

/* What is stored past the caches ends here, in a line that has others' bytes: these lines are stored to through the caches, and later
 * stores past them wait until it is there. Slices of 4 KiB into an output of NumPy's: 1.1 to 1.25x (Granite and Emerald Rapids). */
DML_INLINE void dml_fetch_shared(const char *end)
{
    if ((intptr_t)end & 63)
        DML_PREFETCH_WRITE(end);
}

/* Short names of the storage classes and widths of indices: loops are named after them. */
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef struct {
    uint64_t word[2];
} u128;
typedef int32_t i32;
typedef int64_t i64;

DML_INLINE int64_t dml_least(int64_t a, int64_t b) { return a < b ? a : b; }
DML_INLINE int64_t dml_most(int64_t a, int64_t b) { return a > b ? a : b; }
DML_INLINE int64_t dml_ceil(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* name__a_isa and the like; the two levels let macros expand before they are joined */
#define DML_JOIN2_(a, b) a##__##b
#define DML_JOIN2(a, b) DML_JOIN2_(a, b)
#define DML_JOIN3_(a, b, c) a##__##b##_##c
#define DML_JOIN3(a, b, c) DML_JOIN3_(a, b, c)
#define DML_JOIN4_(a, b, c, d) a##__##b##_##c##_##d
#define DML_JOIN4(a, b, c, d) DML_JOIN4_(a, b, c, d)

#endif
