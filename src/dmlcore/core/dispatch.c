/* dispatch.c: the only CPU detection, and the choice among the builds of the loops in isa/ and what they are tuned for. */
#include "dispatch.h"

#if DML_X86_64 && (defined(__GNUC__) || defined(__clang__))
#include <cpuid.h>
#endif

extern const dml_isa dml_isa__baseline;
#if DML_X86_64
extern const dml_isa dml_isa__avx2, dml_isa__avx512;
#endif

#if DML_X86_64 && (defined(__GNUC__) || defined(__clang__))
static int has_avx2(void)
{
    unsigned a, b, c, d; /* compilers have no name for F16C yet that all know */
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt") && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static int has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
}

static int has_vbmi(void) { return __builtin_cpu_supports("avx512vbmi"); }
#else
static int has_vbmi(void) { return 0; }
#endif

static int always(void) { return 1; }

#define NEVER INT64_MAX
/* What AMD's processors have in common. Measured on Zen 4, whose third-level cache has 32 MiB: single elements of far tables, fetched
 * to the second-level cache instead of the first, take half to two thirds of the time; elements of eight and sixteen bytes, gathered,
 * past the caches 0.6 to 0.9, of four out of the third-level cache 0.7 to 0.95; gathered slices of 128 bytes and more 1.3 to 2.5x,
 * from 16 MiB on also shorter ones out of nearer tables, 1.1 to 1.8x, but scattered ones 0.5 to 0.8x where lines are not theirs
 * alone. Memory takes 25 GB/s however many threads store, the cache twice as much from two: slices that it holds take 0.3 to 0.8
 * of the time there. Planes of few rows take 0.25 to 0.9 of the time without tiles. straightened_along is not measured there: it
 * stays closer to what was than Intel's, where it was. */
#define ZEN                                                                                                                   \
    .gathers_below = 0, .held = {0}, .gathers_past = 0, .gathers_past_u32 = 1 << 20, .gather_follows = 48,                    \
    .scatter_follows = 64, .to_l2 = 0, .gathers_direct = NEVER, .gathers_to_l1 = 0, .gathers_to_l2 = 0,                       \
    .wraps_directly = NEVER, .scatters_direct = NEVER, .step = DML_STEP_USUAL, .by_pages = NEVER,                             \
    .ahead_of_moves = DML_PAGES_AHEAD, .slices_past = 2 * DML_LINE, .slices_past_near = 32, .scattered_past = DML_LONG_SLICE, \
    .slices_together = 0, .stores_soon = 0, .slices_to_l1 = 0, .separates_all = 1, .far_plane = 9 << 20,                      \
    .straightened = {16, 11, 8, 6, 4}, .straightened_along = {5, 5, 3, 2, 2}, .turns_squares = 1, .row_for_each = 48,         \
    .permuted = 4, .tiles_moved = 1 << 20, .tiles_written = 1 << 20, .tiles_rows = 24, .tiles_rows_written = 64,              \
    .tiles_crowded = 0, .tiles_wide = 8

/* Zen 4: fetched elements of tables of 8 MiB and more, scattered to those of 6 MiB and more, take 0.7 to 1.0 of the time; copies of
 * 12 to 31 MiB past the caches 0.3 to 0.7, which is as much as the next reader of 16 MiB loses. Where thousands of elements of a
 * table of 24 MiB and more are cached, each on a page of its own, few at a time take 0.75 to 1.0 of the time of many (Zen 5 and
 * Emerald Rapids: 1.0 to 1.6). Lines of 2 KiB and more of tables from 1 to 32 MiB, 64 KiB of them copied before their updates instead
 * of 4, 0.95 to 1.36x, on average 1.07x (shorter ones 0.85 to 1.1x). Slices of 128 bytes and more beside small tables, through the
 * caches up to 20 MiB, 0.6 to 2.6x, on average 1.2x. Indices in rows of 2 to 191 with others between them, read where
 * they lie instead of copied before: by a ring 1.0 to 1.2x in the caches, 1.2 to 2.2x out of the third and out of memory; alone in their
 * boxes there, where no ring reads them, 1.3 to 1.6x (both together on Emerald Rapids 0.7 to 1.26x, on average 1.02x; not measured on
 * Zen 5). Indices of elements of four bytes and more along dense short rows, from 18 MiB on in all, not fetched: 0.85 to 1.4x, on
 * average 1.07x; of fewer 0.9 to 1.1x, for elements of one and two bytes 0.7 to 1.0x. */
#define USUAL                                                                                                              \
    ZEN, .gathers_kept = NEVER, .gathers_kept_u32 = NEVER, .elements_past = 0, .gather_fetches = DML_NEAR,                 \
        .gather_streams = 0, .scatter_fetches = 6 << 20, .scatter_streams = 0, .gathers_rolled = NEVER,                    \
        .scatters_rolled = NEVER, .rows_fetched = 24 << 20, .rows_gathered = 0, .cached_direct = 24 << 20,                 \
        .past_caches = 12 << 20, .past_caches_shared = 24 << 20, .past_caches_updated = 20 << 20, .past_caches_copied = 0, \
        .lines_copied = 0, .lines_near = 64 << 10, .lines_staged = NEVER, .ahead_of_many = DML_PAGES_AHEAD,                \
        .rows_in_place = 2 << 20, .short_rows = 1024, .short_indices = 1024, .short_rows_beyond = 18 << 20,                \
        .slices_copied = NEVER, .slices_kept = NEVER, .slices_beside = 20 << 20

static const dml_tuning usual = {USUAL,
                                 .rows_fetched_alike = 24 << 20,
                                 .columns = NEVER,
                                 .ahead_of_scans = 0,
                                 .tiles_halves = 0,
                                 .string_align = DML_X86_64 ? 32 : 1};

#if DML_X86_64 && (defined(__GNUC__) || defined(__clang__))
/* Without AVX-512. Zen 3, whose third-level cache has 32 MiB as well: the same few columns of all rows of large tables, not fetched, as it
 * foresees them, elements of four and eight bytes in sixteens if rows are long, 1.0 to 1.9x, on average 1.28x, with two threads 1.34x (lines
 * of 2 to 12 MiB 0.86 to 1.3x, 1.05x); planes in its second-level cache whose rows are 2 KiB apart, read in place, 0.94 to 1.65x.
 * Indices that are checked before any is moved, fetched ahead, 0.9 to 1.2x, on average 1.03x. Planes of eight-byte elements whose lines meet
 * in the cache by squares, 1.05 to 1.6x, on average 1.2x. Slices of more than 2 KiB that its caches hold, by vector moves instead of a
 * string instruction, 0.8 to 3.6x, on average 1.05x. What is stored goes past the caches from 8 MiB on where it and what is read have 16
 * MiB: slices 0.86 to 2.0x, on average 1.43x, copies 1.0 to 1.9x, 1.28x, elements of eight bytes 0.9 to 1.35x, 1.08x. Tuples that blocks
 * read, fetched beside a table in the second-level cache, 0.86 to 1.6x, on average 1.08x, with two threads 1.12x. */
static const dml_tuning zen3 = {
    USUAL,
    .rows_fetched_alike = NEVER,
    .columns = 2 << 20,
    .ahead_of_scans = DML_PAGES_AHEAD,
    .tiles_halves = 512 << 10,
    .squares_crowded = 1,
    .string_align = 0,
    .past_caches_beside = 16 << 20,
    .feeds_indices_near = 512 << 10,
};

/* Measured on Emerald Rapids: out of near tables gathers take 0.26 to 0.56 ns an element where single loads take 0.39 to 0.65, and 0.8 to
 * 1.0 of what registers take that hold a table of more than 64 elements of four bytes, or any of eight; from 16 MiB on elements
 * had better be moved one by one, and fetched to the second-level cache 64 positions before: 0.65 to 1.0 of the time without that. Stores
 * wait for their lines, wherever they are, so slices are stored past the caches as soon as they have a line of their own, and all that is
 * written from 8 MiB on (slices by several threads: 16): 1.2 to 2.2x for slices up to 30 MiB; but not elements out of a table in the second-
 * level cache, which take 1.06 to 1.34x as long then. Pages in turn: 1.3 to 1.5x for 64 MB. Scatters to a few rows that positions walk along
 * take 1.1 to 1.8 times as long without fetching. Measured on Granite Rapids as well: slices of one and two lines of far tables, put
 * together before they are stored, take 0.5 to 0.95 of the time; planes that the second-level cache holds, moved in place, 0.5 to 1.0; near
 * slices whose lines are fetched before they are stored to 0.65 to 1.05 (scattered ones on Emerald Rapids 0.75 to 1.2). Lines that are
 * staged take 0.33 to 0.95 on the latter. */
#define INTEL                                                                                                                 \
    .gathers_past = 1536 << 10, .gathers_past_u32 = 0, .gathers_kept = NEVER, .gathers_kept_u32 = NEVER, .elements_past = 0,  \
    .gather_fetches = 128 << 20, .gather_streams = 0, .scatter_fetches = 24 << 10, .scatter_streams = 0,                      \
    .rows_fetched = NEVER, .rows_gathered = 0, .rows_fetched_alike = NEVER, .cached_direct = NEVER, .columns = NEVER,         \
    .gather_follows = 0, .scatter_follows = 0, .gathers_rolled = NEVER, .scatters_rolled = 128 << 20, .step = DML_STEP_MOST,  \
    .ahead_of_moves = 0, .rows_in_place = NEVER, .short_rows = 0, .ahead_of_scans = DML_PAGES_AHEAD, .past_caches = 8 << 20,  \
    .past_caches_shared = 16 << 20, .past_caches_updated = 32 << 20, .lines_copied = 0, .lines_near = 0,                      \
    .lines_staged = 16 << 20, .string_align = 1, .by_pages = 48 << 20, .slices_past = DML_LINE, .slices_past_near = DML_LINE, \
    .scattered_past = DML_LINE, .slices_kept = NEVER, .slices_beside = 0, .slices_together = 3 * DML_LINE, .stores_soon = 1,  \
    .slices_to_l1 = 1, .separates_all = 0, .far_plane = NEVER, .straightened = {10, 7, 4, 4, 4},                              \
    .straightened_along = {5, 5, 1, 0, 0}, .turns_squares = 0, .row_for_each = 16, .permuted = 10, .tiles_moved = 0,          \
    .tiles_written = 48 << 20, .tiles_rows = 2, .tiles_rows_written = 2, .tiles_crowded = 1 << 20, .tiles_halves = 0,         \
    .tiles_wide = 2

static const dml_tuning gathering = {
    INTEL,
    .gathers_below = DML_NEAR,
    .held = {0, 512, 256, 0, 0},
    .to_l2 = 128 << 20,
    .gathers_direct = 16 << 20,
    .gathers_to_l1 = 0,
    .gathers_to_l2 = 0,
    .wraps_directly = 24 << 20,
    .scatters_direct = NEVER,
    .ahead_of_many = 0,
    .past_caches_copied = 0,
    .slices_copied = 32 << 10,
    .slices_through = 0,
};

/* Granite Rapids: gathers by single indices take 0.7 to 0.98 of what registers take that hold a table of more than 128 elements of two
 * bytes, or any of four (pairs 1.0 to 1.15). Its third-level cache answers later, and the later the more is asked of it at once: out of 3
 * MiB and more the vector unit's gathers take 1.1 to 1.4 times as long as single loads, and elements of tables from 24 MiB on, moved one
 * by one, 0.7 to 0.9 of the time with some arithmetic between them (a C program; Emerald Rapids: no difference). One by one they take 0.65
 * to 1.0 of the time from 11 MiB on already, of 8 MiB 0.9 to 1.4; with arithmetic 0.65 to 1.0 of the rest where some are negative, from 14
 * MiB on; many single ones out of 8 to 24 MiB, with branches, or arithmetic from 11 MiB on if some are negative, fetched to the
 * first-level cache, 0.8 to 1.0. Stores to tables from 8 MiB on whose lines are fetched to the second-level cache only take 0.85 to 1.0 of
 * the time, and scatters that go one by one, from 160 KiB on, 0.6 to 1.05 of what blocks take (policy_loads.c). Slices that are gathered
 * stay in the third up to 32 MiB (policy_stores.c), as copies do up to 24 MiB of which few lines are updated, 0.83 to 0.96; those of far
 * tables are not fetched from 256 bytes on, gathered 0.93 to 1.0, scattered in place 0.7 to 1.0. */
static const dml_tuning granite = {
    INTEL,
    .gathers_below = 2 << 20,
    .held = {0, 256, 0, 0, 0},
    .to_l2 = 8 << 20,
    .gathers_direct = 11 << 20,
    .gathers_to_l1 = 8 << 20,
    .gathers_to_l2 = 24 << 20,
    .wraps_directly = 14 << 20,
    .scatters_direct = 160 << 10,
    .ahead_of_many = 1024,
    .past_caches_copied = 24 << 20,
    .slices_copied = 4 * DML_LINE,
    .slices_through = 32 << 20,
};

/* Zen 5 sees farther ahead by itself: elements that the third-level cache holds take 0.5 to 0.9 of the time if they are not
 * fetched, gathered or scattered, out of and into tables of 5 to 24 MiB, the same few columns of all rows 0.33 to 0.9. What
 * streams by takes the room of a table of 12 MiB and more, which is fetched then, 0.6 to 1.0, by a ring of offsets (far.c), as all are
 * that are fetched, 0.6 to 1.0; elements out of 14 MiB and more that are not fetched, of four bytes out of 4, are stored
 * plainly, 0.5 to 0.9, those of eight and sixteen past the caches when 18 MiB stream by, 0.6 to 0.9. A string instruction
 * copies well from any place to any other, also slices, and long ones out of tables that the cache holds better than stores
 * past it, 0.5 to 0.9; slices beside small tables stay in the cache up to 24 MiB, 0.46 to 0.9, those of several threads up to
 * 36, 0.25 to 0.9. Copies of 12 to 24 MiB stay there, 0.5 to 0.9, if many of their lines are updated up to 40, 0.6 to 0.9;
 * lines with few updates, or of tables that no cache holds, are copied 64 KiB at a time, 0.65 to 1.0, and up to 32 KiB long ones
 * staged, 0.56 to 1.15. Lines of slices fetched before they are stored to gain
 * nothing: 0.7 to 1.3. Many elements that are combined are fetched from 16 MiB on, 0.3 to 0.9; few of each row of a table are not
 * if these are fewer than 262,144 of four bytes, 0.7 to 1.04; nor the indices of short rows that follow each other, 0.8 to 1.05.
 * Columns whose elements are whole pages apart, one after the other, take half the time. */
static const dml_tuning zen5 = {
    ZEN,
    .gathers_kept = 14 << 20,
    .gathers_kept_u32 = 4 << 20,
    .elements_past = 18 << 20,
    .gather_fetches = 24 << 20,
    .gather_streams = 12 << 20,
    .scatter_fetches = 24 << 20,
    .scatter_streams = 6 << 20,
    .gathers_rolled = 0,
    .scatters_rolled = 1 << 20,
    .combined_fetches = 16 << 20,
    .rows_fetched = 24 << 20,
    .rows_gathered = 4 << 20,
    .rows_fetched_alike = NEVER,
    .cached_direct = NEVER,
    .columns = 12 << 20,
    .tiles_halves = 0,
    .past_caches = 16 << 20,
    .past_caches_shared = 36 << 20,
    .past_caches_updated = 40 << 20,
    .past_caches_copied = 24 << 20,
    .lines_copied = 64 << 10,
    .lines_near = 0,
    .lines_staged = 16 << 20,
    .ahead_of_many = 4 * DML_PAGES_AHEAD,
    .rows_in_place = NEVER,
    .short_rows = 400,
    .ahead_of_scans = 2 * DML_PAGES_AHEAD,
    .string_align = 1,
    .paces = 1,
    .slices_copied = 4096,
    .slices_kept = 4 << 10,
    .slices_beside = 24 << 20,
};

/* AMD's family 26. */
static int is_zen5(void)
{
    unsigned a, b, c, d;
    return __builtin_cpu_is("amd") && __get_cpuid(1, &a, &b, &c, &d) && (a >> 8 & 15) + (a >> 20 & 255) == 26;
}

/* Intel's processors with AVX512-FP16, from Sapphire Rapids on. Earlier ones gather slowly since their microcode was mended
 * (CVE-2022-40982); AMD's are as fast without. */
static int gathers_fast(void)
{
    unsigned a, b, c, d;
    return __builtin_cpu_is("intel") && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 23 & 1);
}

/* Those of them whose third-level cache is larger than that of any Emerald Rapids; a smaller Granite Rapids goes without. */
static int is_granite(void)
{
    unsigned a, b, c, d, most = gathers_fast() ? 16 : 0;
    for (unsigned cache = 0; cache < most && __get_cpuid_count(4, cache, &a, &b, &c, &d) && (a & 31); cache++) {
        uint64_t ways = (b >> 22) + 1, partitions = (b >> 12 & 1023) + 1, line = (b & 4095) + 1, sets = (uint64_t)c + 1;
        if ((a >> 5 & 7) == 3 && ways * partitions * line * sets > (uint64_t)320 << 20)
            return 1;
    }
    return 0;
}
#endif

/* From the plainest to the best; where `fast` says no they are there for those who ask by name. */
static const struct {
    const char *name;
    const dml_isa *isa;
    const dml_tuning *tuning;
    int (*available)(void), (*fast)(void);
} known[] = {
    {"baseline", &dml_isa__baseline, &usual, always, always},
#if DML_X86_64 && (defined(__GNUC__) || defined(__clang__))
    {"avx2", &dml_isa__avx2, &zen3, has_avx2, always},
    {"avx512", &dml_isa__avx512, &usual, has_avx512, always},
    {"avx512-zen5", &dml_isa__avx512, &zen5, has_avx512, is_zen5},
    {"avx512-gathers", &dml_isa__avx512, &gathering, has_avx512, gathers_fast},
    {"avx512-granite", &dml_isa__avx512, &granite, has_avx512, is_granite},
#endif
};

#define KNOWN ((int)(sizeof known / sizeof known[0]))

const dml_isa *dml_chosen_isa = &dml_isa__baseline;
const dml_tuning *dml_tuned = &usual;
int dml_permutes_bytes = 0;
static const char *chosen_name = "baseline";

int dml_isa_select(const char *name)
{
    for (int i = KNOWN - 1; i >= 0; i--)
        if ((name ? strcmp(name, known[i].name) == 0 : known[i].fast()) && known[i].available()) {
            dml_chosen_isa = known[i].isa;
            dml_tuned = known[i].tuning;
            chosen_name = known[i].name;
            dml_permutes_bytes = dml_chosen_isa->looks_up && has_vbmi();
            return 0;
        }
    return -1;
}

const char *dml_isa_name(void) { return chosen_name; }

const char *dml_isa_available(int i)
{
    for (int k = 0; k < KNOWN; k++)
        if (known[k].available() && i-- == 0)
            return known[k].name;
    return NULL;
}
