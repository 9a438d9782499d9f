/* parallel.c: the only OpenMP pragmas, the claiming of chunks, the decision whether threads pay, and fork safety.
 * Built without OpenMP everything here runs serially. */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L   /* -std=c11 alone hides the monotonic clock */
#endif
#include "parallel.h"

#include <time.h>
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

/* Measured: a region costs 1-4 us back to back, so less work than this stays serial. */
#define GRAIN 10000              /* ns */

/* After a pause the runtime's threads sleep. Waking them takes 0.03 to 0.25 ms, but up to 8 ms where every one of few CPUs
 * takes part and the caller has slept as well: the system lets the woken thread wait for the CPU on which the caller spins
 * until it has seen that one busy for a while. So after a pause threads have to be earned: by a call that is long in itself,
 * or by several calls in a row, after which more are to be expected. */
#define PAUSE 3000000
#define FEW_CPUS 3
typedef struct {
    int64_t alone, in_a_row;     /* ns */
} price;
static const price few_asleep = {14000000, 3000000}, all_asleep = {2000000, 1000000}, for_each_thread = {20000, 8000};

/* How busy the calling thread was of late: older times count less, those of HALF_LIFE ago half. The system's own measure is
 * of this form. */
#define HALF_LIFE 32000000       /* ns */
#define BUSY 0.75
#define LOOK_EVERY 250000        /* a look takes half a microsecond */

/* Where other programs want the CPUs too, a region ends when its last thread was given one again, which takes milliseconds.
 * The first region after a pause may be late for itself; two others so much later than predicted, one soon after the
 * other, are taken as a sign of that: calls stay serial for a while, twice as long each time, and half as long again after
 * a region in time. */
#define LATE(predicted) (8 * (predicted) + 3000000)
#define SOON 100000000
#define CROWDED_LEAST 2000000
#define CROWDED_MOST 320000000

#define FORCED 1024              /* threads at most that tests get */

static int64_t grain = GRAIN;
static int64_t region_end;       /* when the last region ended, ns; races are harmless, it is a hint */
static int64_t serial_end;       /* when the last piece of serial work ended that was worth threads */
static int64_t earned;           /* ns of such work without a pause */
static int64_t crowded_until;    /* calls stay serial */
#ifdef _OPENMP
static int64_t late_at, crowded; /* when a region was late, how long calls stayed serial then */
#endif
static int fork_failed, serial_only;

static int64_t clock_ns(void)
{
    struct timespec now;
#if defined(CLOCK_MONOTONIC)
    clock_gettime(CLOCK_MONOTONIC, &now);
#else
    timespec_get(&now, TIME_UTC);
#endif
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int dml_tick_slowly(dml_worker *worker)
{
    dml_team *team = worker->team;
    worker->fuel = DML_FUEL;
    if (worker->calling && team->pulse->poll) {
        int64_t now = clock_ns();
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
    return (int)DML_ATOMIC_LOAD(&team->status);
}

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

#ifdef _OPENMP
/* Races are harmless here as well. */
static void note_lateness(int64_t start, int64_t end, int64_t predicted)
{
    int64_t length = DML_ATOMIC_LOAD(&crowded), before = DML_ATOMIC_LOAD(&late_at);
    if (start - DML_ATOMIC_LOAD(&region_end) >= PAUSE)
        return;
    if (end - start <= LATE(predicted)) {
        DML_ATOMIC_STORE(&crowded, length > CROWDED_LEAST ? length / 2 : 0);
        return;
    }
    DML_ATOMIC_STORE(&late_at, end);
    if (end - before > SOON && !length)
        return;
    length = dml_most(CROWDED_LEAST, dml_least(2 * length, CROWDED_MOST));
    DML_ATOMIC_STORE(&crowded_until, end + length);
    DML_ATOMIC_STORE(&crowded, length);
}
#endif

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

int dml_parallel(dml_work work, void *job, int64_t chunks, dml_order order, int threads, dml_pulse *pulse)
{
    const dml_first *first = pulse->first;
    dml_team team, ahead;
    if (chunks < 2)
        threads = 1;
    pulse->first = NULL;
    assemble(&team, chunks, order, threads, pulse);
    ahead.status = DML_OK;
    if (first)
        assemble(&ahead, first->chunks, DML_FORWARD, threads, pulse);
#ifdef _OPENMP
    if (threads > 1) {
        int64_t start = clock_ns();
        /* as many for few chunks: the runtime ends and starts threads when the number changes, 0.6 ms for 4 and 16 */
#pragma omp parallel num_threads(threads)
        {
            int number = omp_get_thread_num();
            if (first) {
                if (number < first->chunks)
                    claim(first->work, first->job, &ahead, number);
#pragma omp barrier
            }
            if (number < chunks && !ahead.status)
                claim(work, job, &team, number);
        }
        int64_t end = clock_ns();
        note_lateness(start, end, pulse->predicted);
        DML_ATOMIC_STORE(&region_end, end);
        return answer(&ahead, &team);
    }
#endif
    if (first)
        claim(first->work, first->job, &ahead, 0);
    if (!ahead.status)
        claim(work, job, &team, 0);
    if (DML_ATOMIC_LOAD(&earned))
        DML_ATOMIC_STORE(&serial_end, clock_ns());
    return answer(&ahead, &team);
}

/* Asked for once, because the runtime asks the system each time; it is a hint. */
static int64_t cpus(void)
{
    static int64_t known;
    int64_t n = DML_ATOMIC_LOAD(&known);
#ifdef _OPENMP
    if (!n)
        DML_ATOMIC_STORE(&known, n = omp_get_num_procs());
#endif
    return n;
}

/* What is left of a weight after some time; between the half-lives a straight line does. */
static double faded(int64_t nanoseconds)
{
    int64_t halves = nanoseconds / HALF_LIFE;
    double rest = (double)(nanoseconds % HALF_LIFE) / HALF_LIFE;
    return halves > 30 ? 0 : (1 - rest / 2) / (double)((int64_t)1 << halves);
}

/* Whether the calling thread has had a CPU for most of the time of late. */
static int busy_caller(int64_t now)
{
#if defined(CLOCK_THREAD_CPUTIME_ID)
    static _Thread_local struct {
        int64_t looked, used;    /* at the last look: the time, the thread's own time */
        double busy;
    } me;
    struct timespec own;
    if (now - me.looked < LOOK_EVERY)
        return me.busy >= BUSY;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own) != 0)
        return 0;
    int64_t used = (int64_t)own.tv_sec * 1000000000 + own.tv_nsec;
    if (me.looked && now > me.looked && used >= me.used) {   /* after a fork the thread's time begins anew */
        double left = faded(now - me.looked), share = (double)(used - me.used) / (double)(now - me.looked);
        me.busy = me.busy * left + share * (1 - left);
    }
    me.looked = now;
    me.used = used;
    return me.busy >= BUSY;
#else
    (void)now;
    return 0;
#endif
}

int dml_threads_worth(int threads, int64_t nanoseconds, dml_pulse *pulse)
{
    pulse->predicted = dml_most(pulse->predicted, nanoseconds);
    if (threads <= 1 || nanoseconds < grain || serial_only)
        return 1;
    if (grain != GRAIN)
        return (int)dml_least(threads, FORCED);
    threads = (int)dml_least(threads, dml_threads_max());
    if (threads <= 1)
        return 1;
    int64_t now = clock_ns();
    if (now < DML_ATOMIC_LOAD(&crowded_until))
        return 1;
    if (now - DML_ATOMIC_LOAD(&region_end) < PAUSE)
        return threads;
    int64_t before = now - DML_ATOMIC_LOAD(&serial_end) < PAUSE ? DML_ATOMIC_LOAD(&earned) : 0;
    price asked = {threads * for_each_thread.alone, threads * for_each_thread.in_a_row};
    if (!busy_caller(now) && threads >= cpus())
        asked = threads <= FEW_CPUS ? few_asleep : all_asleep;
    if (nanoseconds >= asked.alone || before >= asked.in_a_row) {
        DML_ATOMIC_STORE(&earned, 0);
        return threads;
    }
    DML_ATOMIC_STORE(&earned, before + nanoseconds);
    DML_ATOMIC_STORE(&serial_end, now + nanoseconds);
    return 1;
}

int dml_threads_available(void)
{
#ifdef _OPENMP
    return 1;
#else
    return 0;
#endif
}

int dml_threads_max(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

void dml_set_grain(int64_t nanoseconds) { grain = nanoseconds > 0 ? nanoseconds : GRAIN; }
int64_t dml_grain(void) { return grain; }

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
    region_end = serial_end = earned = late_at = crowded_until = crowded = 0;
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
