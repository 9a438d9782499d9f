/* baseline.c: the loops for the instruction set that the compiler assumes anyway, on every machine. */
#include "../core/dispatch.h"
#include "../core/block.h"

#define ISA baseline
#if defined(__aarch64__)
#define PERMUTES_THREE 1
#endif
#include "../core/loops.h"
