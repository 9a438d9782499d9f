/* together.h: indices in the order of their positions (together.c). */
#ifndef DMLCORE_TOGETHER_H
#define DMLCORE_TOGETHER_H

#include "dispatch.h"
#include "move.h"
#include "parallel.h"

#define DML_CROWDED_TURNED 2048 /* bytes; turned rows a multiple of it apart meet in the cache: 0.5 to 0.95 */

/* The indices of all positions, `bytes` long each, in the order of these, tuple after tuple. */
void dml_bring_together(char *to, const dml_move *m, int64_t bytes);

/* Whether the indices lie in rows of `rows` elements that are to be columns, as those of matrices in Fortran order; what has one
 * element only is no dimension. */
int dml_is_turned(const dml_move *m, int64_t bytes, int64_t *rows, int64_t *columns, int64_t *pitch);

/* Whether vectors turn so many rows and columns, `pitch` apart, of indices of so many bytes as well as permutations do. */
int dml_turns_well(int64_t rows, int64_t columns, int64_t pitch, int64_t bytes);

/* What turns them by vectors, and checks and narrows them; NULL: nothing does, or not as well. */
dml_turner dml_turns_vectors(const dml_move *m, int index, int64_t *rows, int64_t *columns, int64_t *pitch);

/* How many threads turn single indices, all before any is used, and check and narrow them to four bytes meanwhile; 0: that is not worth it.
 * And does that. DML_OUT_OF_RANGE: one is. */
int dml_turns_once(const dml_move *m, const dml_run *run, int scatter, dml_pulse *pulse);
int dml_turn_once(char *to, const dml_move *m, const dml_run *run, int threads, dml_pulse *pulse);

/* A move whose indices, read more than once and not next to each other or not aligned, were brought into the order of the positions. */
typedef struct {
    dml_move move;
    dml_run run;
    int64_t strides[DML_DIMS];
    char *indices;
    int64_t bytes; /* of these; 0: they stay as they are, only the run is set */
} dml_together;

/* Brings them together where that is faster, by several threads if each has a line of its own. Those that are turned by vectors
 * (turned_once.c) are checked, so that nobody has to do it first, and have four bytes then; DML_OUT_OF_RANGE: one is. The caller has to
 * free them (scratch.h). */
int dml_together_open(dml_together *together, const dml_move *m, const dml_run *run, int scatter, dml_pulse *pulse);

#endif
