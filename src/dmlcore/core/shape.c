/* shape.c: from dimensions to units of a copy: sorts and joins dimensions, then finds contiguous runs, planes that lie the other
 * way round, or loops whose innermost one is long, and cuts them into units, which units.c copies. */
#include "shape.h"

#include "dispatch.h"

#include <stdlib.h>

#define SMALLEST (4 * DML_PAGE) /* bytes of a unit at least, where several threads share them */
#define TURNED 128 /* bytes across: a line of the source and the one fetched with it */
#define TURNED_FAR 4096 /* of far planes as many, */
#define TURNED_MOST ((int64_t)32 << 20) /* but no more bytes than these, to be interrupted in between */
#define FAR_APART (DML_PAGE / 2) /* bytes from one to the next, across, of so many at least */
#define FEW_FAR_APART 4
#define FEW_THREADS 3 /* each of more than these has so many parts of long elements, or they are shared out unit by unit: */
#define PARTS_EACH 4
#define FEWEST 8 /* steps of a plane that is turned, along the source's dimension, */
#define NARROWEST 6 /* and along the destination's */
#define LINE 64 /* bytes; in planes that are not as wide short dimensions are taken together, */
#define INTERLEAVED 1024 /* to rows of so many bytes at most, */
#define ENOUGH 16 /* bytes; fewer, on either side, are taken together with other dimensions, */
#define CROWDED 1024 /* bytes from one to the next, a multiple: such lines meet in the cache, */
#define MEETING 256 /* or some of them */
#define FAR ((int64_t)12 << 20) /* bytes; long rows of eight bytes each had better stay rows then */
#define FEW_COLUMNS 3 /* places, for which rows are as good, as for pairs of four bytes, unless dense */
#define PLANE 128 /* and so many of the plane */
#define MOST_TURNS 12 /* rows that are separated at a time; planes are faster for more of them, */
#define MOST_TURNS_U8 16 /* elements of a byte, */
#define FEW_TURNS 4 /* of so much: */
#define LARGE ((int64_t)32 << 20) /* bytes; dense rows of so much are stored past the caches, if anything is */
#define LONG_ROW 128 /* places of a row that is separated */
#define MIDDLE_ROW 24 /* and those of a row of one or two bytes, */
#define FEW_TURNS_U16 6 /* of which there are not more */
#define SPREAD_ALONG 256 /* bytes from one column of a spread plane to the next, at least, */
#define SPREAD_ROWS 512 /* rows of it in a unit, */
#define SPREAD_MOST ((int64_t)4 << 20) /* and bytes of one of few rows, which had better be shared out */
#define FORESEEN 2048 /* bytes from one element of a row to the next, less */
#define SHORT_ROW 16 /* places; a longer dimension had better be the innermost loop */
#define INSIDE 256 /* places of the short dimensions that are repeated for each row then */
#define INSIDE_APART 1024 /* if these are on pages of their own */

void dml_shape_begin(dml_shape *s)
{
    s->places = 1;
    s->rank = s->keeps_spread = 0;
}

void dml_shape_add(dml_shape *s, int64_t size, int64_t to, int64_t from)
{
    s->places *= size;
    if (size == 1)
        return;
    int at = s->rank++;
    for (; at > 0 && llabs(s->dim[at - 1].to) < llabs(to); at--)
        s->dim[at] = s->dim[at - 1];
    s->dim[at] = (dml_step){size, to, from};
}

/* Neighbours that step alike become one dimension, contiguous elements a run. */
static void join(dml_shape *s, int64_t width)
{
    int rank = 0;
    for (int d = 0; d < s->rank; d++) {
        dml_step this = s->dim[d], *before = s->dim + rank - 1;
        if (rank && before->to == this.to * this.size && before->from == this.from * this.size)
            *before = (dml_step){before->size * this.size, this.to, this.from};
        else
            s->dim[rank++] = this;
    }
    s->run = width;
    if (rank && s->dim[rank - 1].to == width && s->dim[rank - 1].from == width) {
        s->run *= s->dim[--rank].size;
        s->places /= s->run / width;
    }
    if (rank == 0)
        s->dim[rank++] = (dml_step){1, 0, 0};
    s->rank = rank;
}

/* Whether steps of a dimension are parts of the same lines, or of those fetched with them. */
static int in_lines(const dml_step *step) { return dml_least(llabs(step->to), llabs(step->from)) < TURNED; }

/* The dimension that rows are of: the last one, unless it is short and another one is not, or each step of it is on another page
 * of the source, but some of another one are on the same: if their lines are met once, or those of the last one meet in the cache. */
static int innermost(const dml_shape *s)
{
    const dml_step *last = s->dim + s->rank - 1;
    int found = s->rank - 1, apart = llabs(last->from) >= DML_PAGE && last->size <= INSIDE_APART;
    int64_t least = last->from % CROWDED == 0 ? s->run : s->run <= 2 ? LINE / 2 : LINE;
    for (int d = 0; d < s->rank - 1 && s->run < LINE; d++) {
        const dml_step *this = s->dim + d;
        int64_t step = llabs(this->from);
        int closer = apart && this->size >= SHORT_ROW && step >= least && step < CROWDED && step < llabs(s->dim[found].from);
        if (last->size < SHORT_ROW ? this->size > s->dim[found].size : closer)
            found = d;
    }
    return found;
}

/* Makes rows. Dimensions whose steps share lines come next, inside of all others. Where rows are longer than a tile, or leave too
 * little of the cache to the dimensions inside, they are cut. */
static void cut_rows(dml_shape *s)
{
    int last = s->rank - 1, longest = innermost(s), outside = last;
    int64_t most = longest < last && s->dim[last].size >= SHORT_ROW ? INSIDE_APART : INSIDE;
    dml_step row = s->dim[longest];
    for (int d = longest; d < last; d++)
        s->dim[d] = s->dim[d + 1];
    int64_t inside = 1;
    for (int d = last - 1; d >= 0; d--) {
        dml_step step = s->dim[d];
        if (!in_lines(&step) || inside * step.size > most)
            continue;
        inside *= step.size;
        for (int k = d; k < outside - 1; k++)
            s->dim[k] = s->dim[k + 1];
        s->dim[--outside] = step;
    }
    int64_t bytes = s->run * s->turns; /* of a place */
    most = inside == 1 ? s->unit / bytes : dml_most(SHORT_ROW, DML_TILE / (bytes * inside));
    s->length = dml_least(row.size, dml_most(1, most));
    s->cut = -1;
    s->in_line = row.size;
    if (s->length < row.size) {
        for (int d = last; d > outside; d--)
            s->dim[d] = s->dim[d - 1];
        s->dim[outside] = (dml_step){dml_ceil(row.size, s->length), row.to * s->length, row.from * s->length};
        s->cut = outside;
        s->rank++;
    }
    s->dim[s->rank - 1] = row;
    s->row = s->turns > 1 ? NULL : dml_shape_loop(s);
    s->rows = 1;
    for (int d = 0; d < s->rank - 1; d++)
        s->rows *= s->dim[d].size;
    s->rows_in_unit = dml_most(1, s->unit / (s->length * bytes));
    s->units = dml_ceil(s->rows, s->rows_in_unit);
    s->unit_bytes = dml_least(s->rows, s->rows_in_unit) * s->length * (8 + 2 * bytes);
}

/* Units of all but large shapes are so small that every thread has some of them. */
static int64_t unit_of(int64_t bytes, int threads)
{
    int64_t part = threads > 1 ? bytes / (4 * threads) / DML_PAGE * DML_PAGE : DML_FRESH_STEP;
    return dml_least(DML_FRESH_STEP, dml_most(SMALLEST, part));
}

/* Cuts a dimension into equal parts of at most so many places: two dimensions. */
static void split(dml_shape *s, int d, int64_t most)
{
    int64_t part = most;
    while (part > 1 && s->dim[d].size % part)
        part--;
    if (part < 2)
        return;
    for (int k = s->rank++; k > d; k--)
        s->dim[k] = s->dim[k - 1];
    s->dim[d] = (dml_step){s->dim[d].size / part, s->dim[d].to * part, s->dim[d].from * part};
    s->dim[d + 1].size = part;
    s->across += s->across > d;
}

/* Dimensions that follow each other in the destination, wherever they are in the source, become columns: as many as there may
 * be. */
static void collect_columns(dml_shape *s)
{
    int64_t most = dml_least(DML_COLUMNS, INTERLEAVED / s->run), n = 1;
    s->column[0] = 0;
    for (int d = s->rank - 1; d >= 0 && d != s->across && s->dim[d].to == n * s->run; d--) {
        if (n * s->dim[d].size > most && s->rank < DML_RANK_MAX) {
            int rank = s->rank;
            split(s, d, most / n);
            d += s->rank - rank;
        }
        if (n * s->dim[d].size > most)
            break;
        for (int64_t at = n; at < n * s->dim[d].size; at++)
            s->column[at] = s->column[at - n] + s->dim[d].from;
        n *= s->dim[d].size;
        s->along = d;
    }
    s->columns = n;
}

/* Whether so many rows of the destination that take turns in the source are separated. */
int dml_shape_separates(const dml_shape *s, int64_t turns)
{
    int64_t least = dml_tuned->separates_all ? 2 : s->run <= 2 ? 3 : INT64_MAX;
    int64_t most = s->places * s->run >= LARGE ? FEW_TURNS : s->run == 1 ? MOST_TURNS_U8 : MOST_TURNS;
    return turns >= least && turns <= most && dml_permutes(turns, s->run);
}

/* Of dimensions that follow each other in the source, anywhere in the destination, the one after so many rows; -1: none. */
static int next_rows(const dml_shape *s, int64_t rows)
{
    for (int d = 0; d < s->along && rows * s->run < ENOUGH; d++)
        if (d != s->across && s->dim[d].from == rows * s->run)
            return d;
    return -1;
}

/* They become one, whose rows are listed, if they are enough together or can be separated. */
static void collect_rows(dml_shape *s)
{
    int64_t n = s->dim[s->across].size;
    int d;
    for (; (d = next_rows(s, n)) >= 0 && n * s->dim[d].size <= DML_COLUMNS; n *= s->dim[d].size)
        ;
    if (n < FEWEST && d < 0 && !(s->dim[s->along].from == n * s->run && dml_shape_separates(s, n)))
        return;
    n = s->dim[s->across].size;
    for (int64_t r = 0; r < n; r++)
        s->row_at[r] = r * s->dim[s->across].to;
    while ((d = next_rows(s, n)) >= 0) {
        if (n * s->dim[d].size > DML_COLUMNS && s->rank < DML_RANK_MAX) {
            int rank = s->rank;
            split(s, d, DML_COLUMNS / n);
            d += s->rank - rank;
            s->along += s->rank - rank;
        }
        if (n * s->dim[d].size > DML_COLUMNS)
            return;
        for (int64_t r = n; r < n * s->dim[d].size; r++)
            s->row_at[r] = s->row_at[r - n] + s->dim[d].to;
        n *= s->dim[d].size;
        s->listed = s->dim[s->across].size = n;
        s->rank--;
        s->along--;
        s->across -= s->across > d;
        for (int k = d; k < s->rank; k++)
            s->dim[k] = s->dim[k + 1];
    }
}

/* Whether columns that are interleaved become rows without a gap, for which there are permutations. */
static int is_dense(const dml_shape *s, int64_t columns)
{
    return !s->listed && s->dim[s->across].to == columns * s->run &&
           (columns == 3 ? s->run <= 8 : dml_permutes(columns, s->run));
}

/* Whether one side is so short that several dimensions had better be taken together. */
static int is_short(const dml_shape *s)
{
    const dml_step *across = s->dim + s->across, *along = s->dim + s->along;
    int64_t row = along->size * s->run;
    if (row < LINE && is_dense(s, along->size))
        return 0;
    switch (s->run) {
    case 1:
    case 2: return across->size < FEWEST && (along->size < FEWEST || (along->from % CROWDED == 0 && row >= LINE));
    case 4: return across->size < FEWEST || row < LINE;
    case 8:
        return row <= ENOUGH || (across->size < FEWEST && (row < LINE || (dml_tuned->turns_squares && s->places * 8 < FAR)));
    default: return 0;
    }
}

/* Finds out whether there is a plane to be turned. */
static int find_plane(dml_shape *s)
{
    int last = s->rank - 1;
    for (int d = 0; d < last; d++)
        if (s->dim[d].from == s->run)
            s->across = d;
    if (s->across < 0 || s->dim[last].to != s->run)
        return 0;
    s->columns = s->listed = 0;
    s->along = last;
    if (is_short(s) && dml_chains_find(s))
        return 1;
    int64_t row = s->dim[last].size, rows = s->dim[s->across].size;
    if (s->run <= 2 && row >= NARROWEST && (rows < FEWEST || (rows * s->run < LINE && row * s->run >= LINE)))
        collect_rows(s);
    if (row * s->run < LINE) {
        collect_columns(s);
        int worth = s->columns > FEW_COLUMNS || is_dense(s, s->columns) || (s->columns == 2 && s->run != 4);
        if (worth && s->dim[s->across].size >= FEWEST && s->columns * s->dim[s->across].size >= PLANE) {
            if (!s->listed && s->columns * s->run < ENOUGH)
                (void)dml_chains_find(s); /* if there are any, else these few columns */
            return 1;
        }
        s->columns = 0;
        s->along = s->rank - 1;
    }
    if (s->listed || (s->dim[s->across].size >= FEWEST && s->dim[s->along].size >= NARROWEST))
        return 1;
    return s->run <= 2 && dml_chains_find(s);
}

/* Whether elements across have lines of their own, but share pages: copied by rows whose elements nobody foresees, each would be met with
 * a page of its own. Eight bytes, Emerald Rapids: 1.2 to 3.2x, 0.9 where the second-level cache holds them; rows whose elements are
 * foreseen 0.53 to 1.0x. */
static int is_far_apart(const dml_shape *s, const dml_step *across)
{
    int64_t step = llabs(across->from), along = llabs(s->dim[s->rank - 1].from);
    return !dml_tuned->turns_squares && s->run == 8 && step > DML_SPREAD && step <= FAR_APART && along >= FORESEEN &&
           across->size >= FEW_FAR_APART;
}

/* Whether a spread plane had better be copied by rows: on Zen where so few meet in the cache that the second-level one holds them or the
 * hardware foresees their elements, 0.5 to 0.9 of the speed otherwise (on Emerald Rapids these are moved as planes, at 0.6 to 3.7 of the
 * speed, on average 1.2); there longer elements that meet in few places or nowhere, 0.5 to 1.0 (in more, as a multiple of 256 or 512 bytes
 * apart, 0.9 to 5.7, on average 1.7); and so few long ones that threads could not share them out. */
static int better_by_rows(const dml_shape *s)
{
    const dml_step *across = s->dim + s->across, *along = s->dim + s->rank - 1;
    int near = across->size * along->size * s->run <= DML_NEAR_COPY, foreseen = s->run <= 4 && llabs(along->from) < FORESEEN;
    if (across->size * s->run < 4 * TURNED && across->size * along->size * s->run > SPREAD_MOST)
        return 1;
    if (is_far_apart(s, across))
        return 0;
    if (across->to % CROWDED == 0)
        return dml_tuned->turns_squares && across->size <= INSIDE && (near || foreseen);
    return !dml_tuned->turns_squares && s->run >= 4 && along->from % MEETING != 0;
}

/* Finds out whether there is a plane whose elements have others between them across, but are near each other. Elements of sixteen bytes
 * are as fast in rows. */
static int find_spread(dml_shape *s)
{
    int last = s->rank - 1;
    s->across = -1;
    if (s->run > 8 || s->dim[last].to != s->run || s->dim[last].size < DML_TOGETHER || llabs(s->dim[last].from) < SPREAD_ALONG)
        return 0;
    for (int d = 0; d < last; d++) {
        int64_t step = llabs(s->dim[d].from), least = s->across < 0 ? FAR_APART + 1 : llabs(s->dim[s->across].from);
        int spread = step <= DML_SPREAD ? s->dim[d].size >= FEWEST : is_far_apart(s, s->dim + d);
        if (step && step < least && spread)
            s->across = d;
    }
    if (s->across < 0 || (!s->keeps_spread && better_by_rows(s)))
        return 0;
    s->columns = s->listed = 0;
    s->along = last;
    s->spread = 1;
    return 1;
}

/* Finds out whether rows of the destination, long ones, take turns in the source; then their number is no dimension any
 * more. */
static int find_separate(dml_shape *s)
{
    int last = s->rank - 1;
    const dml_step row = s->dim[last];
    for (int d = 0; d < last; d++) {
        dml_step turn = s->dim[d];
        if (turn.from != s->run || row.from != turn.size * s->run || row.to != s->run ||
            row.size < (s->run <= 2 && turn.size <= FEW_TURNS_U16 ? MIDDLE_ROW : LONG_ROW) ||
            llabs(turn.to) < row.size * s->run || !dml_shape_separates(s, turn.size))
            continue;
        s->turns = turn.size;
        s->turn_to = turn.to;
        for (s->rank--; d < s->rank; d++)
            s->dim[d] = s->dim[d + 1];
        return 1;
    }
    return 0;
}

void dml_shape_end(dml_shape *s, int64_t width, dml_store store, int threads)
{
    s->store = store;
    s->unit = unit_of(s->places * width, threads);
    s->across = s->along = s->chained = -1;
    s->turns = s->group = 1;
    s->spread = 0;
    if (s->places == 0) {
        s->units = 0;
        return;
    }
    join(s, width);
    if (s->rank == 1 && s->dim[0].size == 1 && s->run <= s->unit) {
        s->units = 1;
        s->unit_bytes = 2 * s->run;
        return;
    }
    if (s->run >= s->unit) {
        s->units = s->places * dml_ceil(s->run, s->unit);
        s->unit_bytes = 2 * s->unit;
        return;
    }
    int may = s->run == width && width <= 16;
    if (!may || find_separate(s) || (!find_plane(s) && !find_spread(s))) {
        s->across = -1;
        cut_rows(s);
        return;
    }
    if (s->chained >= 0) {
        s->across = -1;
        dml_chains_cut(s, threads);
        return;
    }
    if (s->places * width < LARGE) /* measured: 0.8 to 1.3x below, 1.3x above */
        s->store = DML_STORE_PLAIN;
    const dml_step *across = s->dim + s->across;
    int64_t columns = s->columns ? s->columns : s->dim[s->along].size;
    int follow = s->columns && !s->listed && across->to == columns * width; /* rows, in the destination */
    int64_t rows = follow ? dml_most(FEWEST, DML_TILE / across->to) : TURNED / width;
    if (s->spread) {
        int64_t most = dml_least(dml_most(SPREAD_ROWS, s->unit / (columns * width)), TURNED_MOST / (columns * width));
        rows = dml_most(rows, threads > 1 ? dml_least(most, across->size / (4 * threads)) : most);
    } else if (!s->columns && !s->listed && s->places * width >= dml_tuned->far_plane) {
        int64_t most = dml_least(TURNED_FAR / width, TURNED_MOST / (columns * width));
        rows = dml_most(rows, threads > 1 ? dml_least(most, across->size / (4 * threads)) : most);
    }
    /* Each thread has rows of the destination to itself: the hardware fetches lines beyond those that are stored to, and would take
     * them from another thread that stores to the same rows. */
    int64_t parts = dml_ceil(across->size, rows), inside = 1; /* planes in the same rows */
    for (int d = s->across + 1; d < s->along; d++)
        inside *= s->dim[d].size;
    int64_t outside = s->places / across->size / columns / inside, most = across->size / (width < 4 ? LINE / width : FEWEST);
    if (threads > 1 && !s->listed && outside < threads && most >= threads)
        parts = dml_least(dml_ceil(parts, threads), most / threads) * threads;
    s->length = dml_ceil(across->size, parts);
    parts = dml_ceil(across->size, s->length);
    s->units = outside * inside * parts;
    /* of long elements that costs several threads less than one of them that is late */
    int each = width < 8 || threads <= FEW_THREADS ? 1 : PARTS_EACH;
    if (!s->listed && outside * parts >= each * threads)
        s->group = inside;
    s->unit_bytes = 4 * s->length * columns * width;
}
