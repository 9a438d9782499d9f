/* pool.c: see pool.h. A block is what the source handed out: some bytes that are not used, a header that ends where the memory
 * of the output begins, and that memory. */
#define _DEFAULT_SOURCE     /* madvise */
#include "pool.h"

#include "scratch.h"

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#endif

/* Where an output begins: slices do not straddle lines, and what is stored to does not begin behind what is read, in its page
 * of 4 KiB, as NumPy's large arrays all begin 16 bytes behind one. (Loads are held up by stores to an address that differs in
 * more than the lower twelve bits, until the rest is compared: rows of 4 KiB take 5.1 instead of 6.4 ms.) */
#define LINE ((size_t)64)
#define PAGE ((size_t)4096)
#define SLOTS 16
#define HUGE_PAGE ((uintptr_t)2 << 20)
/* What is kept beyond so many bytes is lent to the system, the oldest blocks first, each once until it is taken. Lending costs
 * 2 to 5 % of the time that filling the block takes with one thread, 10 to 20 % with two, whose processors have to be told; far
 * more for a small block that is freed again and again. */
#define NOT_LENT ((int64_t)128 << 20)

typedef struct {
    char *block;
    int64_t bytes;  /* behind the header */
    size_t all;     /* bytes of the whole block */
    int in_use;     /* whether its pages are */
    int lent;       /* whether the system may take them meanwhile */
} header;

static dml_pool_source source;

/* Everything below is guarded by `busy`, for a few instructions at a time: nothing is called meanwhile. It is not taken while a call moves,
 * as another thread may fork then. */
static int64_t busy;
static int64_t limit, handed_out, kept;
static header *slots[SLOTS]; /* the one that was freed last comes last */
static int filled;

static void enter(void)
{
    while (DML_ATOMIC_TAKE(&busy))
        ;
}

static void leave(void) { DML_ATOMIC_GIVE(&busy); }

static header *header_of(const void *at) { return (header *)at - 1; }

static header *remove_slot(int i)
{
    header *h = slots[i];
    filled--;
    for (; i < filled; i++)
        slots[i] = slots[i + 1];
    kept -= h->bytes;
    return h;
}

/* Takes out the oldest blocks until `more` bytes can be added, and returns how many they are. */
static int make_room(int64_t more, header **old)
{
    int count = 0;
    while (filled && handed_out + kept + more > limit)
        old[count++] = remove_slot(0);
    return count;
}

static void give_back(header *const *old, int count)
{
    for (int i = 0; i < count; i++)
        source.free(source.context, old[i]->block, old[i]->all);
}

/* Keeps a block: one that is not lent as the one that was freed last, a lent one behind those that are. What there is no room
 * for goes to `old`: the oldest blocks, or the lent one. */
static int keep(header *h, header **old)
{
    int count = 0, at = 0;
    int64_t all = handed_out + h->bytes;
    if (all > limit || (h->lent && (all + kept > limit || filled == SLOTS))) {
        old[0] = h;
        return 1;
    }
    count = make_room(h->bytes, old);
    if (filled == SLOTS)
        old[count++] = remove_slot(0);
    while (at < filled && (!h->lent || slots[at]->lent))
        at++;
    for (int i = filled++; i > at; i--)
        slots[i] = slots[i - 1];
    slots[at] = h;
    kept += h->bytes;
    return count;
}

/* Takes out the oldest blocks that are not lent until few enough are left. They count as handed out. */
static int take_to_lend(header **blocks)
{
    int64_t not_lent = 0;
    int count = 0;
    for (int i = 0; i < filled; i++)
        not_lent += slots[i]->lent ? 0 : slots[i]->bytes;
    for (int i = 0; i < filled && not_lent > NOT_LENT;)
        if (slots[i]->lent)
            i++;
        else {
            not_lent -= slots[i]->bytes;
            handed_out += slots[i]->bytes;
            blocks[count++] = remove_slot(i);
        }
    return count;
}

/* The smallest block that is large enough, but not by more than an eighth; of equal ones that which was freed last. */
static header *take(int64_t bytes)
{
    int best = -1;
    for (int i = 0; i < filled; i++) {
        int64_t more = slots[i]->bytes - bytes;
        if (more >= 0 && more <= bytes / 8 && (best < 0 || slots[i]->bytes <= slots[best]->bytes))
            best = i;
    }
    return best < 0 ? NULL : remove_slot(best);
}

void *dml_pool_malloc(void *context, size_t bytes)
{
    header *old[SLOTS], *h;
    int count = 0;
    (void)context;
    if (bytes > SIZE_MAX / 4 || bytes > INT64_MAX / 4)
        return NULL;
    enter();
    h = take((int64_t)bytes);
    if (!h)
        count = make_room((int64_t)bytes, old);
    handed_out += h ? h->bytes : (int64_t)bytes;
    leave();
    if (h)
        return h + 1;
    give_back(old, count);

    size_t align = (int64_t)bytes < DML_POOL_KEPT_FROM ? LINE : PAGE, all = sizeof *h + align + bytes;
    char *block = source.malloc(source.context, all);
    if (!block) {
        enter();
        count = make_room(limit, old); /* all that is kept: with it there may be enough */
        leave();
        give_back(old, count);
        block = source.malloc(source.context, all);
    }
    if (!block) {
        enter();
        handed_out -= (int64_t)bytes;
        leave();
        return NULL;
    }
    h = (header *)((uintptr_t)(block + sizeof *h + align - 1) & ~(uintptr_t)(align - 1)) - 1;
    *h = (header){.block = block, .bytes = (int64_t)bytes, .all = all};
    return h + 1;
}

/* The system may take the pages of a block that is kept and give clean ones instead, whenever it is short of memory. The
 * header stays, and so does the part of a huge page at either end, which would be broken up. */
static void lend(header *h)
{
#if defined(MADV_FREE)
    uintptr_t first = ((uintptr_t)(h + 1) + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
    uintptr_t end = ((uintptr_t)(h + 1) + (uintptr_t)h->bytes) & ~(HUGE_PAGE - 1);
    if (first < end)
        (void)madvise((void *)first, end - first, MADV_FREE);
#else
    (void)h;
#endif
}

void dml_pool_free(void *context, void *at, size_t bytes)
{
    header *h, *old[SLOTS], *blocks[SLOTS];
    int count = 1, lending = 0; /* a small block is given back */
    (void)context, (void)bytes;
    if (!at)
        return;
    h = old[0] = header_of(at);
    h->in_use = 1;
    h->lent = 0;
    enter();
    handed_out -= h->bytes;
    if (h->bytes >= DML_POOL_KEPT_FROM) {
        count = keep(h, old);
        lending = take_to_lend(blocks);
    }
    leave();
    give_back(old, count);
    for (int i = 0; i < lending; i++) { /* meanwhile nobody else can take them */
        lend(blocks[i]);
        blocks[i]->lent = 1;
        enter();
        handed_out -= blocks[i]->bytes;
        count = keep(blocks[i], old);
        leave();
        give_back(old, count);
    }
}

void *dml_pool_calloc(void *context, size_t count, size_t bytes)
{
    void *at = bytes && count > SIZE_MAX / bytes ? NULL : dml_pool_malloc(context, count * bytes);
    return at ? memset(at, 0, count * bytes) : NULL;
}

void *dml_pool_realloc(void *context, void *at, size_t bytes)
{
    void *other = dml_pool_malloc(context, bytes);
    if (other && at) {
        size_t before = (size_t)header_of(at)->bytes;
        memcpy(other, at, before < bytes ? before : bytes);
        dml_pool_free(context, at, before);
    }
    return other;
}

int dml_pool_in_use(const void *at) { return header_of(at)->in_use; }

void dml_pool_init(dml_pool_source from, int64_t bytes)
{
    source = from;
    limit = bytes;
}

void dml_pool_set_limit(int64_t bytes)
{
    header *old[SLOTS];
    enter();
    DML_ATOMIC_STORE(&limit, bytes);
    int count = make_room(0, old);
    leave();
    give_back(old, count);
    dml_scratch_forget(); /* it may be more than the new limit */
}

/* Not guarded: asked by threads of a call, another of which may be in a fork meanwhile, whose child would wait for ever. */
int64_t dml_pool_limit(void) { return DML_ATOMIC_LOAD(&limit); }

int64_t dml_pool_kept(void)
{
    enter();
    int64_t bytes = kept;
    leave();
    return bytes;
}
