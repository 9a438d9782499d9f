/* baseline.c: the loops for the instruction set that the compiler assumes anyway, on every machine. */
#include "../core/dispatch.h"
#include "../core/block.h"

#define ISA baseline
#include "../core/loops.h"
