/* avx512.c: the loops for x86-64 machines with AVX512; on other machines and compilers this file is empty.
 * Headers that the loops do not belong to are included before the instruction set is switched on. */
#include "../core/dispatch.h"
#include "../core/block.h"

#if DML_X86_64 && (defined(__GNUC__) || defined(__clang__))
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(                                                                               \
    __attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512cd"))), \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt,lzcnt,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512cd,prefer-vector-width=512")
#endif

#define ISA avx512
#define SECOND_TUNING 1
#define COLUMNS_OF avx2 /* as good */
#define WIDE_SHUFFLES
#include "marks_avx512.h"
#include "apart_avx512.h"
#include "indices_avx512.h"
#include "turns_avx512.h"
#include "gathers_avx512.h"
#include "halves_x86.h"
#define MERGES 1
#include "joins_x86.h"
#include "lookups_avx512.h"
#include "row_lookups_avx512.h"
#include "shuffles_x86.h"
#include "../core/loops.h"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else
typedef int dml_nothing_here;   /* a C file may not be empty */
#endif
