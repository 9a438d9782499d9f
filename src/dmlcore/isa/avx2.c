/* avx2.c: the loops for x86-64 machines with AVX2; on other machines and compilers this file is empty.
 * Headers that the loops do not belong to are included before the instruction set is switched on. */
#include "../core/dispatch.h"
#include "../core/block.h"

#if DML_X86_64 && (defined(__GNUC__) || defined(__clang__))
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt,lzcnt,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt,lzcnt,f16c")
#endif

#define ISA avx2
#define PERMUTES_THREE 1
#define SINGLY 1
#include "stores_avx2.h"
#include "marks_avx2.h"
#include "indices_avx2.h"
#include "tuples_avx2.h"
#include "turns_avx2.h"
#include "row_lookups_avx2.h"
#include "halves_x86.h"
#define MERGES 0
#include "joins_x86.h"
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
