/* loops.h: all loops for one instruction set: the shared pieces for every class, then the generated list of operators.
 * Included by the files of isa/, which define ISA (a name) and, where they have something better than plain C, what
 * stands in for a piece. */

#define DML_TABLE(name) DML_JOIN2(name, ISA)

/* 1: these loops run with another tuning than the usual one as well (dispatch.c) */
#ifndef SECOND_TUNING
#define SECOND_TUNING 0
#endif

/* the words that the operators' loops are written in, */
#define LOOP(name) DML_JOIN4(name, T, I, ISA)
#define LOOP_T(name) DML_JOIN3(name, T, ISA)
#define LOOP_C(name) DML_JOIN3(name, C, ISA)
#define GATHER_BOXES DML_JOIN4(gather_boxes, T, I, ISA)
#define SCATTER_BOXES DML_JOIN4(scatter_boxes, T, I, ISA)
#define MARK DML_JOIN3(mark, T, ISA)
#define EXTRACT DML_JOIN2(extract, ISA)
#define EMIT DML_JOIN3(emit, C, ISA)

/* and what most of them come to (walk.h) */
#define NORMALISE DML_JOIN3(normalise, I, ISA)
#define GATHER DML_JOIN3(gather, T, ISA)
#define GATHER_FUSED DML_JOIN4(gather_fused, T, I, ISA)
#define GATHER_SLICES DML_JOIN2(gather_slices, ISA)
#define SCATTER DML_JOIN3(scatter, T, ISA)
#define SCATTER_FUSED DML_JOIN4(scatter_fused, T, I, ISA)
#define SCATTER_SLICES DML_JOIN2(scatter_slices, ISA)
#define KEEP_RANGE DML_JOIN2(keep_range, ISA)

/* 1: indices that are apart, or name cached elements, are read where they lie, each by itself (singly.h) */
#ifndef SINGLY
#define SINGLY 0
#endif

/* table offsets from coordinates */
#ifndef CHECK_BY_MAX
#define CHECK_BY_MAX 0
#endif
#ifndef CHECK_ROWS
#define CHECKS_ROWS 0
#define CHECK_ROWS(index, ramp, count, length, bound, is_signed, index_width) 0
#endif
#ifndef WRAP
#define WRAPS 0
#define LONGEST_WRAPPED 0
#define LONGEST_RING 0
#define WRAP(index, count, index_width, is_signed, bound, step, ramp, offsets) 0
#define WRAP_TUPLES(index, count, tuple, index_width, is_signed, bounds, steps, offsets) 0
#endif
_Static_assert(!SECOND_TUNING || LONGEST_RING > 1, "what far.c and take_tuples move are tuples as well");
#define T u32
#include "check.h"
#include "grow.h"
#include "pack.h"
#undef T
#define T u64
#include "check.h"
#include "grow.h"
#include "pack.h"
#undef T
#define RING 128      /* offsets that there is room for where indices are checked ahead (ring.h), */
#define RING_AHEAD 96 /* and that wait for their moves; measured on Zen 5: 112 are as good, 64 and less slower by 4 to 30 % */
_Static_assert(RING_AHEAD <= DML_LONGEST_LOOK, "the next box has so many");
#define I u32
#define S i32
#include "normalise.h"
#include "scan.h"
#if WRAPS
#include "ring_ends.h"
#endif
#undef I
#undef S
#define I u64
#define S i64
#include "normalise.h"
#include "scan.h"
#if WRAPS
#include "ring_ends.h"
#endif
#undef I
#undef S

/* storing a line past the caches */
#ifndef STREAM64
#define STREAM64 dml_stream64
#endif
#ifdef EXCHANGE64
#include "exchange.h"
#define EXCHANGE DML_JOIN2(exchange, ISA)
#else
#define EXCHANGE NULL
#endif

/* moving slices of any size, leaving out what other threads move */
#ifndef KEEP
#define KEEPS 0
#define KEEP(offsets, chosen, where, step, count, low, extent) 0
#endif
#include "slices.h"

/* moving elements */
#ifndef TAKE
#define TAKES(T) 0
#define TAKE(stream, table, index, count, bound, step, ramp, drift, dense, width, index_width, is_signed) \
    ((void)(stream), (void)(table), (void)(index), (void)(count), (void)(bound), (void)(ramp), (void)(drift), (void)(dense), 0)
#endif
#ifndef JOIN
#define JOINS(T) 0
#define GATHERS(T) 0
#define MERGES 0
#define JOIN(T, stream, table, drift, offsets, way, past) ((void)(way), (void)(past))
#endif
#ifndef LOOK_UP
#define LOOKS_UP(T) 0
#define LOOK_UP(stream, table, bytes, offsets, count, width, past) \
    ((void)(stream), (void)(table), (void)(bytes), (void)(offsets), (void)(count), (void)(past))
#endif
#define T u8
#include "elements.h"
#define I u32
#include "fused.h"
#include "walk.h"
#undef I
#define I u64
#include "fused.h"
#include "walk.h"
#undef I
#undef T
#define T u16
#include "elements.h"
#define I u32
#include "fused.h"
#include "walk.h"
#undef I
#define I u64
#include "fused.h"
#include "walk.h"
#undef I
#undef T
#define T u32
#include "elements.h"
#define I u32
#include "fused.h"
#include "walk.h"
#undef I
#define I u64
#include "fused.h"
#include "walk.h"
#undef I
#undef T
#define T u64
#include "elements.h"
#define I u32
#include "fused.h"
#include "walk.h"
#undef I
#define I u64
#include "fused.h"
#include "walk.h"
#undef I
#undef T
#define T u128
#include "elements.h"
#define I u32
#include "fused.h"
#include "walk.h"
#undef I
#define I u64
#include "fused.h"
#include "walk.h"
#undef I
#undef T

/* the same of indices that were narrowed */
#if WRAPS
DML_PIECE int DML_JOIN2(widened, ISA)(const u16 *index, int64_t count, int64_t bound, int64_t step, const u32 *ramp,
                                      u32 *offsets)
{
    return WRAP((const char *)index, count, sizeof *index, 0, bound, step, ramp, offsets);
}
#define T u16
#include "grow.h"
#undef T
#define T u8
#include "narrowed.h"
#undef T
#define T u16
#include "narrowed.h"
#undef T
#define T u32
#include "narrowed.h"
#undef T
#define T u64
#include "narrowed.h"
#undef T
static const dml_loop DML_TABLE(narrowed)[DML_STORAGES] = {
    [DML_STORAGE_U8] = DML_JOIN3(narrowed, u8, ISA),
    [DML_STORAGE_U16] = DML_JOIN3(narrowed, u16, ISA),
    [DML_STORAGE_U32] = DML_JOIN3(narrowed, u32, ISA),
    [DML_STORAGE_U64] = DML_JOIN3(narrowed, u64, ISA),
};
static const dml_narrower DML_TABLE(narrowers)[] = {DML_JOIN3(narrow_row, u32, ISA), DML_JOIN3(narrow_row, u64, ISA)};
#define NARROWED DML_TABLE(narrowed)
#define NARROWERS DML_TABLE(narrowers)
#else
#define NARROWED NULL
#define NARROWERS NULL
#endif

/* columns to rows and back */
#ifndef COLUMNS_OF
#define COLUMNS_OF ISA
#ifndef PERMUTES_THREE
#define PERMUTES_THREE 0 /* as many columns of less than eight bytes: no better than element by element */
#endif
#define T u8
#include "interleave.h"
#undef T
#define T u16
#include "interleave.h"
#undef T
#define T u32
#include "interleave.h"
#undef T
#define T u64
#include "interleave.h"
#undef T
const dml_columns *const DML_TABLE(dml_columns)[] = {
    &DML_JOIN3(columns, u8, ISA),
    &DML_JOIN3(columns, u16, ISA),
    &DML_JOIN3(columns, u32, ISA),
    &DML_JOIN3(columns, u64, ISA),
};
#endif

/* turning indices */
#ifndef TURN_INDICES
#define TURN_INDICES NULL
#endif
#ifndef TURNS_FEW
#define TURNS_FEW 0
#endif

/* permuting bytes, and rows */
#ifndef SHUFFLES
#define SHUFFLES NULL
#endif
#ifndef ROW_LOOKUPS
#define ROW_LOOKUPS NULL
#endif

/* combining updates with what is there */
#include "combine.h"

/* marking elements, finding the marks, writing their coordinates */
#ifndef POPCOUNT
#define POPCOUNT dml_popcount
#endif
#ifndef DML_OWN_MARK
#define T u8
#include "mark.h"
#undef T
#define T u16
#include "mark.h"
#undef T
#define T u32
#include "mark.h"
#undef T
#define T u64
#include "mark.h"
#undef T
#endif
#define T u128
#include "mark.h"
#undef T
#ifndef DML_OWN_EXTRACT
#include "extract.h"
#endif
#define C u32
#include "emit.h"
#undef C
#define C u64
#include "emit.h"
#undef C

#include "../_generated/loops.inc"

static const dml_loop DML_TABLE(scans)[] = {DML_JOIN3(scan, u32, ISA), DML_JOIN3(scan, u64, ISA)};

static const dml_gatherer DML_TABLE(gatherers)[DML_STORAGES] = {
    [DML_STORAGE_U8] = DML_JOIN3(gather_at, u8, ISA),     [DML_STORAGE_U16] = DML_JOIN3(gather_at, u16, ISA),
    [DML_STORAGE_U32] = DML_JOIN3(gather_at, u32, ISA),   [DML_STORAGE_U64] = DML_JOIN3(gather_at, u64, ISA),
    [DML_STORAGE_U128] = DML_JOIN3(gather_at, u128, ISA),
};

static const dml_scatterer DML_TABLE(scatterers)[DML_STORAGES] = {
    [DML_STORAGE_U8] = DML_JOIN3(scatter_at, u8, ISA),     [DML_STORAGE_U16] = DML_JOIN3(scatter_at, u16, ISA),
    [DML_STORAGE_U32] = DML_JOIN3(scatter_at, u32, ISA),   [DML_STORAGE_U64] = DML_JOIN3(scatter_at, u64, ISA),
    [DML_STORAGE_U128] = DML_JOIN3(scatter_at, u128, ISA),
};

static const dml_normaliser DML_TABLE(normalisers)[] = {DML_JOIN3(normalise_row, u32, ISA), DML_JOIN3(normalise_row, u64, ISA)};

static const dml_clamper DML_TABLE(clampers)[] = {DML_JOIN3(clamp, u32, ISA), DML_JOIN3(clamp, u64, ISA)};

static const dml_packer DML_TABLE(packers)[] = {DML_JOIN3(pack, u32, ISA), DML_JOIN3(pack, u64, ISA)};

static const dml_collector DML_TABLE(collectors)[] = {DML_JOIN3(collect_row, u32, ISA), DML_JOIN3(collect_row, u64, ISA)};

static const dml_growth DML_TABLE(growths)[] = {DML_JOIN3(grow, u32, ISA), DML_JOIN3(grow, u64, ISA)};

const dml_isa DML_JOIN2(dml_isa, ISA) = {
    DML_TABLE(loops),
    DML_TABLE(scans),
    DML_TABLE(normalisers),
    DML_TABLE(clampers),
    DML_TABLE(growths),
    DML_TABLE(gatherers),
    DML_TABLE(scatterers),
    DML_TABLE(packers),
    DML_TABLE(collectors),
    NARROWERS,
    NARROWED,
    DML_TABLE(combiners),
    DML_TABLE(nonzero_counts),
    DML_TABLE(nonzero_writes),
    DML_JOIN2(dml_columns, COLUMNS_OF),
    DML_JOIN2(few_slices, ISA),
    DML_JOIN2(copy, ISA),
    DML_JOIN2(copy_past, ISA),
    EXCHANGE,
    TURN_INDICES,
    TURNS_FEW,
    SHUFFLES,
    ROW_LOOKUPS,
    LONGEST_RING,
    LOOKS_UP(u16),
    SECOND_TUNING,
    SINGLY,
};
