/* dispatch.c: the only CPU detection, and the choice among the builds of the loops in isa/. */
#include "dispatch.h"

extern const dml_isa dml_isa__baseline;
#if DML_X86_64
extern const dml_isa dml_isa__avx2, dml_isa__avx512;
#endif

#if DML_X86_64 && (defined(__GNUC__) || defined(__clang__))
static int has_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
}

static int has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
}
#endif

static int always(void) { return 1; }

/* From the plainest to the best. */
static const struct {
    const char *name;
    const dml_isa *isa;
    int (*available)(void);
} known[] = {
    {"baseline", &dml_isa__baseline, always},
#if DML_X86_64 && (defined(__GNUC__) || defined(__clang__))
    {"avx2", &dml_isa__avx2, has_avx2},
    {"avx512", &dml_isa__avx512, has_avx512},
#endif
};

#define KNOWN ((int)(sizeof known / sizeof known[0]))

const dml_isa *dml_chosen_isa = &dml_isa__baseline;
static const char *chosen_name = "baseline";

int dml_isa_select(const char *name)
{
    for (int i = KNOWN - 1; i >= 0; i--)
        if ((name == NULL || strcmp(name, known[i].name) == 0) && known[i].available()) {
            dml_chosen_isa = known[i].isa;
            chosen_name = known[i].name;
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
