/* fused_for.h: fused.h for one storage class T and every index class. Included by core/loops.h, without guard. */
#define I i32
#include "fused.h"
#undef I
#define I i64
#include "fused.h"
#undef I
#define I u32
#include "fused.h"
#undef I
#define I u64
#include "fused.h"
#undef I
