/* worth.c: whether threads pay, told from how much work is predicted, from the regions before, and from what the calling
 * thread did meanwhile. docs/design.md has the measurements. */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L   /* -std=c11 alone hides the monotonic clock */
#endif
#include "worth.h"

#include <time.h>

/* Measured: a region costs 1-4 us back to back, so less work than this stays serial. */
#define GRAIN 7500               /* ns */

/* That is where CPUs share a cache. Where they do not, as the two of a guest do at times and at times do not, a line that one
 * thread hands to another takes up to five times as long, 45 or 220 ns, and threads hand over dozens: the job, the chunks, and what
 * they all read. So regions tell how long one took, and less work than HANDED times that stays serial; half as much more where
 * threads meet once more after the check. */
#define HANDED 40                /* with two threads as much again, with more the less */
#define INTERRUPTED 1000         /* ns; no line takes so long */
#define ASKED_EVERY 50000000     /* ns, */
#define TRIED_EVERY 1000000      /* until a thread is there soon enough to tell */
#define FORGOTTEN 1000000000     /* ns without a region; then one is tried again */

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

/* Where others want the CPUs too, a region ends when its last thread was given one again, which takes milliseconds: other programs,
 * or threads of other libraries that wait for their next work without giving the CPU back (ONNX Runtime's do for 45 ms). A region
 * so much later than one thread takes is taken as a sign of that: calls stay serial for a while, twice as long each time, and half
 * as long again after a region in time. The first one after a caller's sleep may be late for itself; it counts as well, as others
 * are late then if calls follow another library's. What one thread takes is predicted, and seen while calls stay serial: then it
 * is remembered for calls of the same prediction, as some take several times as long as predicted. */
#define LATE(alone) (2 * (alone) + 1000000)
#define CROWDED_LEAST 8000000
#define CROWDED_MOST 320000000
#define SEEN 17 /* predictions; no power of two, as they often are multiples of one */
typedef struct {
    int64_t predicted; /* 0: none */
    int64_t call, last, least; /* when the last call began, what it took so far, the least of those before */
} alone;

static int64_t grain = GRAIN;
static int64_t region_end; /* when the last region ended, ns; races are harmless, it is a hint */
static int64_t line_handed; /* ns; 0: not known */
static int64_t line_asked; /* when */
static int64_t serial_end; /* when the last piece of serial work ended that was worth threads */
static int64_t earned; /* ns of such work without a pause */
static int64_t crowded_until; /* calls stay serial */
static int64_t crowded; /* how long they stayed so after the last late region */
static alone seen[SEEN];

int64_t dml_clock(void)
{
    struct timespec now;
#if defined(CLOCK_MONOTONIC)
    clock_gettime(CLOCK_MONOTONIC, &now);
#else
    timespec_get(&now, TIME_UTC);
#endif
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static alone *seen_for(int64_t predicted) { return seen + predicted % SEEN; }

/* What a call of that prediction takes on one thread. Races are harmless in all of these. */
static int64_t alone_for(int64_t predicted)
{
    alone *one = seen_for(predicted);
    if (DML_ATOMIC_LOAD(&one->predicted) != predicted)
        return predicted;
    return dml_most(predicted, dml_least(DML_ATOMIC_LOAD(&one->last), DML_ATOMIC_LOAD(&one->least)));
}

static void note_alone(int64_t predicted, int64_t call, int64_t nanoseconds)
{
    alone *one = seen_for(predicted);
    int another = DML_ATOMIC_LOAD(&one->predicted) != predicted;
    if (another)
        DML_ATOMIC_STORE(&one->least, INT64_MAX);
    else if (DML_ATOMIC_LOAD(&one->call) != call)
        DML_ATOMIC_STORE(&one->least, dml_least(DML_ATOMIC_LOAD(&one->least), DML_ATOMIC_LOAD(&one->last)));
    DML_ATOMIC_STORE(&one->call, call);
    DML_ATOMIC_STORE(&one->last, nanoseconds);
    DML_ATOMIC_STORE(&one->predicted, predicted);
}

static void note_lateness(int64_t start, int64_t end, int64_t predicted)
{
    int64_t length = DML_ATOMIC_LOAD(&crowded);
    if (end - start <= LATE(alone_for(predicted))) {
        DML_ATOMIC_STORE(&crowded, length > CROWDED_LEAST ? length / 2 : 0);
        return;
    }
    length = dml_most(CROWDED_LEAST, dml_least(2 * length, CROWDED_MOST));
    DML_ATOMIC_STORE(&crowded_until, end + length);
    DML_ATOMIC_STORE(&crowded, length);
    DML_ATOMIC_STORE(&seen_for(predicted)->predicted, 0); /* to be seen anew */
}

int dml_asks_line(int64_t start)
{
    if (start - DML_ATOMIC_LOAD(&line_asked) < (DML_ATOMIC_LOAD(&line_handed) ? ASKED_EVERY : TRIED_EVERY))
        return 0;
    DML_ATOMIC_STORE(&line_asked, start);
    return 1;
}

void dml_note_region(int64_t start, int64_t end, int64_t predicted, int64_t handed)
{
    if (handed && handed < INTERRUPTED)
        DML_ATOMIC_STORE(&line_handed, handed);
    note_lateness(start, end, predicted);
    DML_ATOMIC_STORE(&region_end, end);
}

void dml_note_serial(const dml_pulse *pulse)
{
    if (!pulse->kept_serial && !DML_ATOMIC_LOAD(&earned))
        return;
    int64_t now = dml_clock();
    if (pulse->kept_serial)
        note_alone(pulse->predicted, pulse->kept_serial, now - pulse->kept_serial);
    if (DML_ATOMIC_LOAD(&earned))
        DML_ATOMIC_STORE(&serial_end, now);
}

void dml_forget_regions(void) { region_end = line_handed = line_asked = serial_end = earned = crowded_until = crowded = 0; }

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
        int64_t looked, used; /* at the last look: the time, the thread's own time */
        double busy;
    } me;
    struct timespec own;
    if (now - me.looked < LOOK_EVERY)
        return me.busy >= BUSY;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own) != 0)
        return 0;
    int64_t used = (int64_t)own.tv_sec * 1000000000 + own.tv_nsec;
    if (me.looked && now > me.looked && used >= me.used) { /* after a fork the thread's time begins anew */
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
    if (threads <= 1 || nanoseconds < grain)
        return 1;
    if (grain != GRAIN)
        return (int)dml_least(threads, DML_THREADS_MOST);
    threads = (int)dml_least(threads, dml_threads_max());
    if (threads <= 1)
        return 1;
    int64_t now = dml_clock();
    if (now < DML_ATOMIC_LOAD(&crowded_until)) {
        pulse->kept_serial = pulse->kept_serial ? pulse->kept_serial : now;
        return 1;
    }
    int64_t idle = now - DML_ATOMIC_LOAD(&region_end), lines = (HANDED + HANDED / (threads - 1)) * (2 + pulse->twice) / 2;
    if (idle >= FORGOTTEN)
        DML_ATOMIC_STORE(&line_handed, 0);
    else if (nanoseconds < DML_ATOMIC_LOAD(&line_handed) * lines)
        return 1;
    if (idle < PAUSE || pulse->woken)
        return threads;
    /* without what this call has asked for already */
    int64_t before = now - DML_ATOMIC_LOAD(&serial_end) < PAUSE ? DML_ATOMIC_LOAD(&earned) - pulse->earned : 0;
    price asked = {threads * for_each_thread.alone, threads * for_each_thread.in_a_row};
    if (!busy_caller(now) && threads >= dml_cpus())
        asked = threads <= FEW_CPUS ? few_asleep : all_asleep;
    if (nanoseconds >= asked.alone || before >= asked.in_a_row) {
        DML_ATOMIC_STORE(&earned, 0);
        pulse->woken = 1;
        return threads;
    }
    pulse->earned = dml_most(pulse->earned, nanoseconds);
    DML_ATOMIC_STORE(&earned, before + pulse->earned);
    DML_ATOMIC_STORE(&serial_end, now + nanoseconds);
    return 1;
}

void dml_set_grain(int64_t nanoseconds) { grain = nanoseconds > 0 ? nanoseconds : GRAIN; }
