/* halves_x86.h: float16 to float and back by the vector unit, one and eight at a time; rounds and keeps NaN like core/half.h.
 * Included by avx2.c and avx512.c; what core/combine.h makes use of. */

#define FROM_HALF(half) _cvtsh_ss(half)
#define TO_HALF(value) (u16) _cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT)
#define EIGHT_HALVES 1
#define FROM_HALVES(to, from) _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(from))))
#define TO_HALVES(to, from) _mm_storeu_si128((void *)(to), _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT))
