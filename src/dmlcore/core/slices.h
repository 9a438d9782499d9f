/* slices.h: moving slices of any number of bytes through checked offsets, in both directions.
 * Included by core/loops.h once for each instruction set ISA, without guard. Copies of a fixed size become plain vector
 * moves; a call of memcpy for each small slice costs three times as much. */

#define NAME(name) DML_JOIN2(name, ISA)
#define STAGED 1024   /* bytes that are put together before they are stored */
#define SHORT_AHEAD 64 /* slices shorter than a line of a far table that are on their way */
#define SOON 512 /* bytes between what is fetched to be stored to and what is stored, */
#define FAR_STORES (24 << 10) /* where so many are stored: the first-level cache does not hold them beside the rest */
#define LONG 8192 /* bytes of one whose lines had better be fetched before they are stored to */
#define ALIGNED 512 /* bytes of a slice that is stored line by line, but for its ends */
#define SCATTERED_AHEAD 1024 /* the same of scattered slices, and at most so many bytes of each are fetched; */
#define SHORTEST_AHEAD 12 /* they have so many bytes, at least, */
#define FAR_TARGETS (64 << 10) /* and their table has so many */
#define PAGES 4 /* that are copied at a time: memory serves several places at once faster than one after the other */
#define TOGETHER 1536 /* bytes of a slice that is put together with others; with STAGED of them less than a page */

/* The beginning of a slice that is moved a little later; the rest follows by itself. */
DML_INLINE void NAME(ahead)(const char *from, int64_t bytes)
{
    for (int64_t at = 0; at < bytes && at < 512; at += 64)
        DML_PREFETCH(from + at);
}

/* A slice of a line and more, by stores of whole lines where it is long enough for that to pay. soon: lines are fetched before they
 * are stored to, and with them those of the next slice, which should follow: stores leave one after the other, and each would wait for
 * the next cache. */
DML_INLINE void NAME(by_lines)(char *DML_RESTRICT to, const char *DML_RESTRICT from, int64_t bytes, int soon)
{
    int64_t at = 0;
    if (bytes >= ALIGNED) {
        memcpy(to, from, 64);
        at = 64 - ((intptr_t)to & 63);
    }
    for (; at + 256 <= bytes; at += 256)
        for (int line = 0; line < 256; line += 64) {
            if (soon)
                DML_PREFETCH_WRITE(to + at + line + SOON);
            memcpy(to + at + line, from + at + line, 64);
        }
    for (; at + 64 <= bytes; at += 64) {
        if (soon)
            DML_PREFETCH_WRITE(to + at + SOON);
        memcpy(to + at, from + at, 64);
    }
    dml_copy_end(to, from, at, bytes);
}

/* Any number of bytes, through the caches. What is fetched behind long ones is nobody's, or another slice's. */
static void NAME(copy)(char *to, const char *from, int64_t bytes)
{
    if (bytes >= 64)
        NAME(by_lines)(to, from, bytes, bytes >= LONG);
    else
        memcpy(to, from, (size_t)bytes);
}

/* Whole lines, past the caches. By pages the same lines of the next ones are fetched meanwhile. */
static int64_t NAME(copy_past)(char *to, const char *from, int64_t bytes, int by_pages)
{
    int64_t at = 0;
    for (; SECOND_TUNING && by_pages && at + PAGES * DML_PAGE <= bytes; at += PAGES * DML_PAGE)
        for (int64_t line = at; line < at + DML_PAGE; line += 64)
            for (int64_t next = line; next < at + PAGES * DML_PAGE; next += DML_PAGE) {
                DML_PREFETCH(from + next + PAGES * DML_PAGE);
                STREAM64(to + next, from + next);
            }
    for (; at + 64 <= bytes; at += 64)
        STREAM64(to + at, from + at);
    return at;
}

/* Slices of any places, without a plan. */
static void NAME(few_slices)(char *to, const int64_t *to_at, const char *from, const int64_t *from_at, int64_t count,
                             int64_t bytes)
{
    int lines = SECOND_TUNING && bytes >= 64 && dml_tuned->stores_soon,
        soon = count * bytes >= FAR_STORES && (count == 1 || to_at[1] - to_at[0] == bytes);
    for (int64_t i = 0; i < count; i++)
        if (lines && soon)
            NAME(by_lines)(to + to_at[i], from + from_at[i], bytes, 1);
        else if (lines)
            NAME(by_lines)(to + to_at[i], from + from_at[i], bytes, 0);
        else
            dml_copy_short(to + to_at[i], from + from_at[i], bytes);
}

/* Fetches the lines of a slice that is stored to a little later, anywhere. */
DML_INLINE void NAME(stored_soon)(const char *to, int64_t bytes)
{
    for (int64_t at = 0; at < bytes && at < SCATTERED_AHEAD; at += 64)
        DML_PREFETCH_WRITE(to + at);
    DML_PREFETCH_WRITE(to + bytes - 1);
}

/* Slices of the stream that are equally far apart, through narrow offsets: nothing but these has to be read for each. `bytes` is a
 * constant for the sizes that are frequent. */
DML_INLINE void NAME(steady)(const dml_plan *p, const dml_block *b, int64_t bytes, int scatter, int64_t ahead)
{
    const u32 *offset = b->offsets.narrow, *end = offset + b->count;
    char *table = b->table, *stream = b->stream;
    int soon = !scatter && bytes >= 64 && p->stream_step == p->slice && !p->far && p->tuned->stores_soon;
    /* lines that are a slice's alone need no fetching */
    int apart = scatter && bytes >= SHORTEST_AHEAD && !p->lines && p->reached >= FAR_TARGETS;
    int64_t waits = apart && p->tuned->stores_soon ? dml_most(1, SCATTERED_AHEAD / bytes) : 0;
    for (int64_t step = p->stream_step; offset < end; offset++, stream += step) {
        if (ahead)
            NAME(ahead)(table + (end - offset > ahead ? offset[ahead] : end[-1]), bytes);
        if (SECOND_TUNING && waits)
            NAME(stored_soon)(table + (end - offset > waits ? offset[waits] : end[-1]), bytes);
        if (scatter)
            dml_copy_short(table + *offset, stream, bytes);
        else if (SECOND_TUNING && soon)
            NAME(by_lines)(stream, table + *offset, bytes, 1);
        else
            dml_copy_short(stream, table + *offset, bytes);
    }
}

DML_INLINE void NAME(slices)(const dml_plan *p, const dml_block *b, int64_t bytes, int scatter, int64_t ahead)
{
    if (!b->where && !p->wide) {
        NAME(steady)(p, b, bytes, scatter, ahead);
        return;
    }
    const dml_places places = dml_block_places(p, b);
    for (int64_t i = 0; i < places.count; i++) {
        char *stream = dml_in_stream(places, i);
        char *table = dml_in_table(places, i);
        if (scatter)
            dml_copy_short(table, stream, bytes);
        else
            dml_copy_short(stream, table, bytes);
    }
}

/* Slices of a far table: each line of the table is fetched, to the cache that suits the machine, while the one that is moved
 * DML_FAR_AHEAD bytes earlier, or half as many, is copied. Plain stores of whole lines are faster here than memcpy. */
DML_INLINE void NAME(far_slices)(const dml_plan *p, const dml_block *b, int scatter, int to_l1)
{
    int64_t bytes = p->slice, ahead = dml_most(1, DML_FAR_AHEAD / (to_l1 ? 2 : 1) / bytes);
    const dml_places places = dml_block_places(p, b);
    for (int64_t i = 0; i < places.count; i++) {
        int64_t next = dml_least(i + ahead, places.count - 1), at = 0;
        char *stream = dml_in_stream(places, i);
        char *table = dml_in_table(places, i);
        const char *fetch = dml_in_table(places, next);
        char *to = scatter ? table : stream;
        const char *from = scatter ? stream : table;
        for (; at + 64 <= bytes; at += 64) {
            if (to_l1)
                DML_PREFETCH(fetch + at);
            else
                DML_PREFETCH_L2(fetch + at);
            memcpy(to + at, from + at, 64);
        }
        DML_PREFETCH_L2(fetch + bytes - 1);  /* a slice begins anywhere in a line, so it may end in one more */
        dml_copy_end(to, from, at, bytes);
    }
}

/* Those that are shorter than a line. */
DML_INLINE void NAME(far_short_slices)(const dml_plan *p, const dml_block *b, int scatter)
{
    int64_t bytes = p->slice;
    const dml_places places = dml_block_places(p, b);
    for (int64_t i = 0; i < places.count; i++) {
        char *stream = dml_in_stream(places, i);
        char *table = dml_in_table(places, i);
        const char *fetch = dml_in_table(places, dml_least(i + SHORT_AHEAD, places.count - 1));
        DML_PREFETCH_L2(fetch);
        DML_PREFETCH_L2(fetch + bytes - 1);
        dml_copy_short(scatter ? table : stream, scatter ? stream : table, bytes);
    }
}

/* Slices that are written past the caches, line by line; the next ones of the table are fetched meanwhile. The lines at
 * both ends of a slice belong to others as well, so they go through the caches. */
DML_INLINE void NAME(slices_past)(const dml_plan *p, const dml_block *b, int scatter)
{
    int64_t bytes = p->slice, ahead = dml_most(1, DML_FAR_AHEAD / bytes);
    const dml_places places = dml_block_places(p, b);
    for (int64_t i = 0; i < places.count; i++) {
        char *stream = dml_in_stream(places, i);
        char *table = dml_in_table(places, i);
        const char *fetch = scatter ? stream : dml_in_table(places, dml_least(i + ahead, places.count - 1));
        char *to = scatter ? table : stream;
        const char *from = scatter ? stream : table;
        int64_t at = (int64_t)(-(intptr_t)to & 63);
        if (at)
            memcpy(to, from, (size_t)at);
        dml_fetch_shared(to + bytes);
        DML_PREFETCH_L2(fetch);
        for (; at + 64 <= bytes; at += 64) {
            DML_PREFETCH_L2(fetch + at);
            STREAM64(to + at, from + at);
        }
        if (at < bytes) {
            DML_PREFETCH_L2(fetch + bytes - 1);
            memcpy(to + at, from + at, (size_t)(bytes - at));
        }
    }
    if (scatter) /* gathers wait at the end of a thread's boxes */
        DML_STREAM_END();
}

/* One of a block's offsets. wide is a constant, and places are pointers: asked for each slice, by number, they would take 1.16 times as
 * long to put together (Zen 3). */
DML_INLINE int64_t NAME(offset_at)(const char *offset, int wide)
{
    return wide ? *(const i64 *)(const void *)offset : (int64_t)*(const u32 *)(const void *)offset;
}

/* The same for shorter slices that follow each other, of which a line has parts of two: they are put together in the
 * first-level cache, and from there whole lines are stored. All of the stage is in one page: stores to the end of one and the
 * beginning of the next, loaded again at once, take a hundred nanoseconds (Zen 4). */
DML_INLINE void NAME(slices_together)(const dml_plan *p, const dml_block *b, int wide)
{
    char memory[2 * DML_PAGE], *stage = memory + (-(intptr_t)memory & (DML_PAGE - 1));
    const char *table = b->table; /* here, as what is stored through pointers to char might be any part of a plan or a block */
    const int64_t each = wide ? sizeof(i64) : sizeof(u32);
    const char *offset = (const char *)&b->offsets, *last = offset + (b->count - 1) * each;
    int64_t bytes = p->slice, ahead = dml_most(1, DML_FAR_AHEAD / bytes) * each;
    int64_t begin = (intptr_t)b->stream & 63, filled = begin;
    char *line = b->stream - begin; /* where the stage's first byte belongs */
    for (; offset <= last; offset += each) {
        const char *from = table + NAME(offset_at)(offset, wide);
        const char *fetch = table + NAME(offset_at)(last - offset > ahead ? offset + ahead : last, wide);
        int64_t at = 0;
        for (; at + 64 <= bytes; at += 64) {
            DML_PREFETCH_L2(fetch + at);
            memcpy(stage + filled + at, from + at, 64);
        }
        DML_PREFETCH_L2(fetch + bytes - 1);
        if (at + 32 < bytes)
            memcpy(stage + filled + bytes - 64, from + bytes - 64, 64);
        else if (at < bytes)
            memcpy(stage + filled + bytes - 32, from + bytes - 32, 32);
        filled += bytes;
        if (filled < STAGED)
            continue;
        at = 0;
        if (begin) { /* the line's beginning is somebody else's */
            memcpy(line + begin, stage + begin, (size_t)(64 - begin));
            begin = 0;
            at = 64;
        }
        for (; at + 64 <= filled; at += 64)
            STREAM64(line + at, stage + at);
        memcpy(stage, stage + at, 64);
        line += at;
        filled -= at;
    }
    memcpy(line + begin, stage + begin, (size_t)(filled - begin));
}

/* Slices of 32 or 48 bytes, the stream a multiple of 16: stored past the caches in sixteens, which the processor joins to lines
 * when they follow each other. */
DML_INLINE void NAME(quarters_past)(const dml_plan *p, const dml_block *b, int64_t bytes)
{
    char *stream = b->stream;
    const dml_places places = dml_block_places(p, b);
    for (int64_t i = 0; i < places.count; i++, stream += bytes) {
        const char *table = dml_in_table(places, i);
        for (int64_t at = 0; at < bytes; at += 16)
            dml_stream16(stream + at, table + at);
    }
}

/* Slices of `least` to `most` bytes, which the caller knows that they are, and the compiler has to be told: then its loop does
 * not ask for each slice how long it is. */
DML_INLINE void NAME(slices_between)(const dml_plan *p, const dml_block *b, int64_t least, int64_t most, int scatter)
{
    if (p->slice >= least && p->slice <= most)
        NAME(slices)(p, b, p->slice, scatter, 0);
}

DML_INLINE void NAME(slices_of)(const dml_plan *p, const dml_block *b, int scatter)
{
    int follow = !b->where && p->stream_step == p->slice;
    int quarters = p->past && !scatter && follow && (intptr_t)b->stream % 16 == 0;
    if (quarters && p->slice == 32)
        NAME(quarters_past)(p, b, 32);
    else if (quarters && p->slice == 48)
        NAME(quarters_past)(p, b, 48);
    else if (p->past && p->slice >= 64 && p->slice <= TOGETHER && !scatter && follow &&
             (!p->lines || (SECOND_TUNING && p->far && p->slice < p->tuned->slices_together))) {
        if (p->wide)
            NAME(slices_together)(p, b, 1);
        else
            NAME(slices_together)(p, b, 0);
    } else if (p->past && p->slice >= 64) /* shorter: elements, or the last part of a slice that threads share out */
        NAME(slices_past)(p, b, scatter);
    else if (SECOND_TUNING && p->far && p->slice >= p->tuned->slices_copied)
        NAME(slices)(p, b, p->slice, scatter, 0);
    else if (SECOND_TUNING && p->far && p->slice >= 64 && !scatter && p->tuned->slices_to_l1)
        NAME(far_slices)(p, b, 0, 1);
    else if (p->far && p->slice >= 64)
        NAME(far_slices)(p, b, scatter, 0);
    else if (p->far)
        NAME(far_short_slices)(p, b, scatter);
    else if (p->slice < 4)
        NAME(slices_between)(p, b, 1, 3, scatter);
    else if (p->slice < 8)
        NAME(slices_between)(p, b, 4, 7, scatter);
    else if (p->slice < 16)
        NAME(slices_between)(p, b, 8, 15, scatter);
    else if (p->slice < 32)
        NAME(slices_between)(p, b, 16, 31, scatter);
    else if (p->slice == 32)
        NAME(slices)(p, b, 32, scatter, 0);
    else if (p->slice < 64)
        NAME(slices_between)(p, b, 33, 63, scatter);
    else if (p->slice == 64)
        NAME(slices)(p, b, 64, scatter, 0);
    else if (p->slice < 128)
        NAME(slices_between)(p, b, 65, 127, scatter);
    else if (p->slice == 128)
        NAME(slices)(p, b, 128, scatter, 0);
    else if (p->slice < 192)
        NAME(slices_between)(p, b, 129, 191, scatter);
    else if (p->slice < 256)
        NAME(slices_between)(p, b, 192, 255, scatter);
    else if (p->slice == 256)
        NAME(slices)(p, b, 256, scatter, 6);
    else
        NAME(slices)(p, b, p->slice, scatter, 0);
}

DML_PIECE void NAME(gather_slices)(const dml_plan *p, const dml_block *b) { NAME(slices_of)(p, b, 0); }

DML_PIECE void NAME(scatter_slices)(const dml_plan *p, const dml_block *b) { NAME(slices_of)(p, b, 1); }

/* Leaves out what other threads store, or nobody: keeps the offsets from low on, extent long, in order. */
DML_PIECE void NAME(keep_range)(const dml_plan *p, dml_block *b, int64_t low, int64_t extent)
{
    int64_t kept = 0;
    if (p->wide)
        for (int64_t i = 0; i < b->count; i++) {
            i64 offset = b->offsets.wide[i];
            b->chosen[kept] = dml_block_where(p, b, i);
            b->offsets.wide[kept] = offset;
            kept += (uint64_t)(offset - low) < (uint64_t)extent;
        }
    else if (KEEPS)
        kept = KEEP(b->offsets.narrow, b->chosen, b->where, p->stream_step, b->count, (u32)low, (u32)extent);
    else if (b->where)
        for (int64_t i = 0; i < b->count; i++) {
            u32 offset = b->offsets.narrow[i];
            b->chosen[kept] = b->where[i];
            b->offsets.narrow[kept] = offset;
            kept += (uint64_t)((int64_t)offset - low) < (uint64_t)extent;
        }
    else
        for (int64_t i = 0; i < b->count; i++) {
            u32 offset = b->offsets.narrow[i];
            b->chosen[kept] = i * p->stream_step;
            b->offsets.narrow[kept] = offset;
            kept += (uint64_t)((int64_t)offset - low) < (uint64_t)extent;
        }
    b->count = kept;
    b->where = b->chosen;
    if (b->known != DML_SOME_ELSEWHERE)
        b->known = NULL;
}

#undef STAGED
#undef SHORT_AHEAD
#undef SOON
#undef FAR_STORES
#undef LONG
#undef ALIGNED
#undef SCATTERED_AHEAD
#undef SHORTEST_AHEAD
#undef FAR_TARGETS
#undef PAGES
#undef TOGETHER
#undef NAME
