/* parallel.c: the only OpenMP pragmas, the claiming of chunks, and fork safety. Built without OpenMP everything here runs
 * serially. */
#include "worth.h"

#ifdef _OPENMP
#include <omp.h>
#if defined(__ELF__) && defined(__GNUC__)
#pragma weak omp_pause_resource_all   /* built with a newer compiler, run with libgomp 8, which lacks it */
#define PAUSES (omp_pause_resource_all != NULL)
#else
#define PAUSES 1
#endif
#endif
#if !defined(_WIN32)
#include <pthread.h>
#endif

#define POLL_EVERY 50000000      /* ns between two polls */

static int fork_failed;
#ifdef _OPENMP
static int serial_only;
#endif

int dml_tick_slowly(dml_worker *worker)
{
    dml_team *team = worker->team;
    worker->fuel = DML_FUEL;
    if (worker->calling && team->pulse->poll) {
        int64_t now = dml_clock();
        if (!team->pulse->asked)
            team->pulse->asked = now;
        else if (now - team->pulse->asked >= POLL_EVERY) {
            team->pulse->asked = now;
            if (team->pulse->poll()) {
                team->pulse->interrupted = 1;
                DML_ATOMIC_STORE(&team->status, DML_INTERRUPTED);
            }
        }
    }
    if (team->pulse->around && DML_ATOMIC_LOAD(&team->pulse->around->status))
        return (int)DML_ATOMIC_LOAD(&team->pulse->around->status);
    return (int)DML_ATOMIC_LOAD(&team->status);
}

#ifdef _OPENMP
/* What one thread of the team does. Portions that are done are only looked at: writing would take their lines from others. */
static void claim(dml_work work, void *job, dml_team *team, int number)
{
    dml_worker worker = {team, number == 0, number, DML_FUEL, 0, 0};
    for (int i = 0; i < team->portions; i++) {
        dml_portion *portion = team->portion + (number + i) % team->portions;
        int64_t count = portion->end - portion->begin;
        while (DML_ATOMIC_LOAD(&portion->next) < count && !DML_ATOMIC_LOAD(&team->status)) {
            int64_t claimed = DML_ATOMIC_ADD(&portion->next, 1);
            if (claimed >= count)
                break;
            int64_t chunk = team->order == DML_FROM_THE_END ? portion->end - 1 - claimed : portion->begin + claimed;
            int status = work(job, &worker, chunk);
            if (status)
                DML_ATOMIC_STORE(&team->status, status);
        }
    }
}

static void assemble(dml_team *team, int64_t chunks, dml_order order, int threads, dml_pulse *pulse)
{
    team->portions = (int)dml_least(dml_most(1, dml_least(threads, chunks)), DML_PORTIONS);
    team->order = order;
    team->status = DML_OK;
    team->pulse = pulse;
    for (int i = 0; i < team->portions; i++) {
        team->portion[i].next = 0;
        team->portion[i].begin = chunks * i / team->portions;
        team->portion[i].end = chunks * (i + 1) / team->portions;
    }
}

/* An index that another thread found out of range meanwhile must not hide an interrupt: Python has its exception already. */
static int answer(const dml_team *ahead, const dml_team *team)
{
    return team->pulse->interrupted ? DML_INTERRUPTED : (int)(ahead->status ? ahead->status : team->status);
}

/* A line that two threads hand to each other, PASSES times each; patience in looks at it. */
#define PASSES 8
#define PATIENCE 2000
typedef struct {
    _Alignas(128) int64_t turn;
    int64_t unused[15];
} line;

/* The answer, for the calling thread, is how long it took from one to the other; 0: too long to wait for. */
static int64_t hand_over(line *line, int mine)
{
    int64_t start = 0;
    for (int64_t turn = mine; turn < 2 * PASSES; turn += 2) {
        for (int looks = 0; DML_ATOMIC_LOAD(&line->turn) != turn; looks++)
            if (looks == PATIENCE)
                return 0;
        if (turn == 2) /* the other one is there */
            start = dml_clock();
        DML_ATOMIC_STORE(&line->turn, turn + 1);
    }
    return mine ? 0 : dml_most(1, (dml_clock() - start) / (2 * PASSES - 4));
}

static int by_threads(dml_work work, void *job, int64_t chunks, dml_order order, int threads, const dml_first *first,
                      dml_pulse *pulse)
{
    dml_team team, ahead;
    assemble(&team, chunks, order, threads, pulse);
    ahead.status = DML_OK;
    if (first)
        assemble(&ahead, first->chunks, DML_FORWARD, threads, pulse);
    line line = {0};
    int64_t start = dml_clock(), handed = 0;
    int asks = dml_asks_line(start);
    /* as many for few chunks: the runtime ends and starts threads when the number changes, 0.6 ms for 4 and 16 */
#pragma omp parallel num_threads(threads)
    {
        int number = omp_get_thread_num();
        if (asks && number == 1)
            hand_over(&line, 1);
        if (asks && number == 0)
            handed = hand_over(&line, 0);
        if (first) {
            if (number < first->chunks)
                claim(first->work, first->job, &ahead, number);
#pragma omp barrier
        }
        if (number < chunks && !ahead.status)
            claim(work, job, &team, number);
    }
    int64_t end = dml_clock();
    dml_note_region(start, end, pulse->predicted, handed);
    return answer(&ahead, &team);
}
#endif

/* All of it on one thread, which claims nothing. */
static int serially(dml_work work, void *job, int64_t chunks, dml_order order, dml_pulse *pulse)
{
    dml_team team;
    team.status = DML_OK;
    team.pulse = pulse;
    dml_worker worker = {&team, 1, 0, DML_FUEL, 0, 0};
    int status = DML_OK;
    for (int64_t chunk = 0; chunk < chunks && !status; chunk++)
        status = work(job, &worker, order == DML_FROM_THE_END ? chunks - 1 - chunk : chunk);
    return pulse->interrupted ? DML_INTERRUPTED : status;
}

int dml_parallel(dml_work work, void *job, int64_t chunks, dml_order order, int threads, dml_pulse *pulse)
{
    const dml_first *first = pulse->first;
    pulse->first = NULL;
#ifdef _OPENMP
    if (threads > 1 && chunks > 1 && !serial_only)
        return by_threads(work, job, chunks, order, threads, first, pulse);
#else
    (void)threads;
#endif
    int status = first ? serially(first->work, first->job, first->chunks, DML_FORWARD, pulse) : DML_OK;
    if (!status)
        status = serially(work, job, chunks, order, pulse);
    dml_note_serial(pulse);
    return status;
}

int dml_threads_max(void)
{
#ifdef _OPENMP
    return serial_only ? 1 : omp_get_max_threads();
#else
    return 1;
#endif
}

/* Asked for once, because the runtime asks the system each time; it is a hint. */
int64_t dml_cpus(void)
{
    static int64_t known;
    int64_t n = DML_ATOMIC_LOAD(&known);
#ifdef _OPENMP
    if (!n)
        DML_ATOMIC_STORE(&known, n = omp_get_num_procs());
#endif
    return n;
}

#if defined(_OPENMP) && !defined(_WIN32)
/* A child inherits the book-keeping of threads that it does not have, and would wait for them for ever, also after
 * another library's regions when it shares the runtime. Giving the threads back before the fork avoids that; where it
 * is refused (a fork inside a region) the child stays serial. */
static void before_fork(void)
{
#if _OPENMP >= 201811 || (defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9)   /* gcc had it before it said so */
    fork_failed = !PAUSES || omp_pause_resource_all(omp_pause_hard) != 0;
#else
    fork_failed = 1;
#endif
}

static void in_child(void)
{
    serial_only |= fork_failed;
    dml_forget_regions();
}

void dml_threads_init(void)
{
    static int done;
    if (!done)
        done = pthread_atfork(before_fork, NULL, in_child) == 0;
}
#else
void dml_threads_init(void) { (void)fork_failed; }
#endif
