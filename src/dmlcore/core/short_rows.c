/* short_rows.c: gathers along a short dimension, the same few indices for every row, as the channels of an image in another
 * order. The indices become a permutation of a vector's bytes, for as many rows as it holds, and the vector unit does the rest. */
#include "copy.h"
#include "dispatch.h"
#include "move.h"
#include "share.h"

#define FEWEST 512                    /* elements that are worth it, */
#define TOGETHER 3                    /* and of a piece; dml_tuning says how many of four bytes and more */
#define MOST 64                       /* indices of a row, and pieces that it is put together of */
#define CHUNK ((int64_t)64 << 10)     /* bytes that a thread claims at a time */

typedef struct {
    const dml_plan *plan;
    const dml_shuffle *shuffle;
    int64_t count, bytes, apart; /* elements and bytes of a row of the output; bytes from one row of the table to the next */
    int64_t offset[MOST], begin, end; /* of each element in a row of the table; where the first one begins, the last one ends */
    dml_piece piece[MOST];
    int64_t pieces, group; /* of some rows together */
    int64_t per_chunk; /* rows */
} shuffling;

int dml_takes_short_rows(const dml_plan *p)
{
    const dml_dim *row = p->dim, *along = p->dim + 1;
    return dml_chosen_isa->shuffles && p->rank == 2 && p->tuple == 1 && p->mode == DML_RAISE && p->whole && p->slice <= 8 &&
           row->index == 0 && row->table > 0 && p->positions >= FEWEST && !p->past && along->table == 0 &&
           along->size <= MOST && along->stream == p->slice && row->stream == along->size * p->slice && p->steps[0] > 0;
}

/* Checks the indices. */
static int find_offsets(shuffling *s)
{
    const dml_plan *p = s->plan;
    int64_t n = p->bounds[0];
    s->begin = INT64_MAX;
    s->end = 0;
    for (int64_t i = 0; i < s->count; i++) {
        int64_t v = dml_coordinate_at(p->indices + i * p->dim[1].index, p->index);
        DML_ONCE(v);
        uint64_t u = (uint64_t)v + (v < 0 && dml_index_signed(p->index) ? (uint64_t)n : 0);
        if (u >= (uint64_t)n)
            return 0;
        s->offset[i] = (int64_t)u * p->steps[0];
        s->begin = dml_least(s->begin, s->offset[i]);
        s->end = dml_most(s->end, s->offset[i] + p->slice);
    }
    return 1;
}

/* As many rows as are one piece, or one row, cut where more than a piece would be read or written. */
static void cut_pieces(shuffling *s)
{
    int64_t width = s->plan->slice, most = s->shuffle->bytes, unit = s->shuffle->unit, row = 0, i = 0;
    s->group = dml_least(most / s->bytes, s->end - s->begin <= most ? (most - s->end + s->begin) / s->apart + 1 : 1);
    s->group = dml_most(1, s->group);
    s->pieces = 0;
    while (row < s->group) {
        dml_piece *piece = s->piece + s->pieces++;
        int64_t low = INT64_MAX, high = 0, count = 0, at[sizeof piece->places];
        for (; row < s->group && (count + 1) * width <= most; count++) {
            at[count] = row * s->apart + s->offset[i];
            if (dml_most(high, at[count] + width) - dml_least(low, at[count]) > most)
                break;
            low = dml_least(low, at[count]);
            high = dml_most(high, at[count] + width);
            row += i + 1 == s->count;
            i = i + 1 == s->count ? 0 : i + 1;
        }
        piece->from = low;
        piece->to = s->pieces == 1 ? 0 : piece[-1].to + piece[-1].length;
        piece->length = count * width;
        memset(piece->places, 0, sizeof piece->places);
        for (int64_t e = 0; e < count; e++)
            for (int64_t b = 0; b < width; b += unit) /* the first byte of a number is its lowest one, on these machines */
                piece->places[e * width + b] = (unsigned char)((at[e] - low + b) / unit);
    }
}

/* Pieces are read and written as a whole: not behind the last row. Its elements, and those of some rows in front, are moved one by
 * one. */
static void move_rows(const shuffling *s, char *to, const char *from, int64_t rows)
{
    int64_t width = s->plan->slice, most = 0, group_to = s->group * s->bytes, group_from = s->group * s->apart;
    for (int64_t k = 0; k < s->pieces; k++)
        most = dml_most(most, s->piece[k].from);
    int64_t written = rows * s->bytes - s->piece[s->pieces - 1].to - s->shuffle->bytes;
    int64_t read = (rows - 1) * s->apart + s->end - most - s->shuffle->bytes;
    int64_t groups = written < 0 || read < 0 ? 0 : dml_least(written / group_to, read / group_from) + 1;
    groups = dml_least(groups, rows / s->group);
    s->shuffle->run(to, from, s->piece, s->pieces, groups, group_to, group_from);
    to += groups * group_to;
    from += groups * group_from;
    for (int64_t row = groups * s->group; row < rows; row++, from += s->apart)
        for (int64_t i = 0; i < s->count; i++, to += width)
            memcpy(to, from + s->offset[i], (size_t)width);
}

static int some_rows(void *data, dml_worker *worker, int64_t chunk)
{
    const shuffling *s = data;
    int64_t begin = chunk * s->per_chunk, rows = dml_least(s->per_chunk, s->plan->dim[0].size - begin);
    move_rows(s, s->plan->stream + begin * s->bytes, s->plan->table + begin * s->apart, rows);
    return dml_tick(worker, rows * (s->bytes + s->apart));
}

int dml_share_short_rows(const dml_plan *p, int untouched, int threads, dml_pulse *pulse)
{
    shuffling s = {.plan = p, .count = p->dim[1].size, .bytes = p->dim[0].stream, .apart = p->dim[0].table};
    if (!find_offsets(&s))
        return DML_OUT_OF_RANGE;
    s.shuffle = dml_chosen_isa->shuffles + (p->slice < 4 ? p->slice - 1 : 2);
    if (s.apart % s.shuffle->unit || p->steps[0] % s.shuffle->unit)
        s.shuffle = dml_chosen_isa->shuffles;
    cut_pieces(&s);
    if (s.group * s.count < s.pieces * (p->slice < 4 ? TOGETHER : p->tuned->permuted))
        return DML_NO_MEMORY;
    int64_t bytes = p->dim[0].size * s.bytes;
    s.per_chunk = dml_most(1, CHUNK / s.bytes);
    if (bytes < 2 * CHUNK)
        threads = 1;
    return dml_parallel(some_rows, &s, dml_ceil(p->dim[0].size, s.per_chunk), dml_order_for(bytes, untouched), threads, pulse);
}
