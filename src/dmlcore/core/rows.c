/* rows.c: moves along an axis that is not the last one, with indices that repeat along the last one, as they do when one
 * index per row was expanded to the shape of the data: such a row of positions is moved as one slice. */
#include "share.h"

#define MOST 256                         /* rows that are moved at a time: their indices stay in the second-level cache */
#define SHORTEST 64                      /* bytes of a row that is worth it */

/* Whether the indices of all rows of a box repeat. A row does when it equals itself, one index on. */
static int repeats(const dml_plan *p, const char *indices, int64_t rows)
{
    int64_t index = dml_index_bytes(p->index), rest = (p->dim[p->rank - 1].size - 1) * index;
    for (int64_t row = 0; row < rows; row++) {
        const char *first = indices + row * p->dim[p->rank - 2].index;
        if (memcmp(first, first + rest, (size_t)index) || memcmp(first, first + index, (size_t)rest))
            return 0;
    }
    return 1;
}

int dml_moves_rows(const dml_plan *p)
{
    const dml_dim *rows = p->dim + p->rank - 2, *last = rows + 1;
    if (p->rank < 2 || p->tuple != 1 || !p->whole || last->index != dml_index_bytes(p->index) ||
        last->table != p->slice || last->stream != p->slice || last->size * p->slice < SHORTEST ||
        p->cut < p->rank - 2 || p->positions < 2 * DML_BLOCK || (p->cut == p->rank - 1 && p->pieces != 1))
        return 0;
    dml_block block;
    for (int64_t i = 0; i < 3; i++) {
        dml_block_open(p, (p->boxes - 1) * i / 2, &block);
        if (!repeats(p, block.indices, 1))
            return 0;
    }
    return 1;
}

int dml_rows_loop(const dml_plan *p, dml_worker *worker, int64_t begin, int64_t end)
{
    const dml_dim *rows = p->dim + p->rank - 2, *last = rows + 1;
    dml_block block;
    dml_plan part;
    dml_ramps ramps;
    part = *p;
    part.slice *= last->size;
    part.whole = 0;
    part.dim[0] = *rows;
    part.rank = 1;
    int status = DML_OK;
    for (int64_t box = begin, next; box < end && !status; box = next) {
        int64_t found = 0;
        for (next = box; next < end && found < MOST; next++) {
            dml_block_open(p, next, &block);
            int64_t here = block.positions / last->size;
            if (found && (block.indices != part.indices + found * rows->index ||
                          block.table != part.table + found * rows->table ||
                          block.stream != part.stream + found * rows->stream))
                break;
            if (!repeats(p, block.indices, here))
                break;
            if (!found) {
                part.indices = block.indices;
                part.table = block.table;
                part.stream = block.stream;
            }
            found += here;
        }
        if (found) {
            part.positions = part.dim[0].size = found;
            dml_plan_cut(&part, &ramps);
            status = p->plain(&part, worker, 0, part.boxes);
        } else
            status = p->plain(p, worker, box, ++next);
    }
    return status;
}
