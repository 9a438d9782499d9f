/* interleave.h: two, three or four columns of elements of type T become rows that follow each other, and such rows become
 * columns again. Included once for each T by loops.h: compilers make permutations of these loops, as good as the instruction
 * set has. */

#define MOVE(to, i, from, j) memcpy((to) + (i) * (int64_t)sizeof(T), (from) + (j) * (int64_t)sizeof(T), sizeof(T))

static void DML_JOIN3(interleave_2, T, ISA)(char *DML_RESTRICT to, const char *const *column, int64_t rows)
{
    const char *DML_RESTRICT a = column[0], *DML_RESTRICT b = column[1];
    for (int64_t r = 0; r < rows; r++) {
        MOVE(to, 2 * r, a, r);
        MOVE(to, 2 * r + 1, b, r);
    }
}

static void DML_JOIN3(interleave_3, T, ISA)(char *DML_RESTRICT to, const char *const *column, int64_t rows)
{
    const char *DML_RESTRICT a = column[0], *DML_RESTRICT b = column[1], *DML_RESTRICT c = column[2];
    for (int64_t r = 0; r < rows; r++) {
        MOVE(to, 3 * r, a, r);
        MOVE(to, 3 * r + 1, b, r);
        MOVE(to, 3 * r + 2, c, r);
    }
}

static void DML_JOIN3(interleave_4, T, ISA)(char *DML_RESTRICT to, const char *const *column, int64_t rows)
{
    const char *DML_RESTRICT a = column[0], *DML_RESTRICT b = column[1], *DML_RESTRICT c = column[2],
                             *DML_RESTRICT d = column[3];
    for (int64_t r = 0; r < rows; r++) {
        MOVE(to, 4 * r, a, r);
        MOVE(to, 4 * r + 1, b, r);
        MOVE(to, 4 * r + 2, c, r);
        MOVE(to, 4 * r + 3, d, r);
    }
}

static void DML_JOIN3(separate_2, T, ISA)(char *const *column, const char *DML_RESTRICT from, int64_t rows)
{
    char *DML_RESTRICT a = column[0], *DML_RESTRICT b = column[1];
    for (int64_t r = 0; r < rows; r++) {
        MOVE(a, r, from, 2 * r);
        MOVE(b, r, from, 2 * r + 1);
    }
}

static void DML_JOIN3(separate_3, T, ISA)(char *const *column, const char *DML_RESTRICT from, int64_t rows)
{
    char *DML_RESTRICT a = column[0], *DML_RESTRICT b = column[1], *DML_RESTRICT c = column[2];
    for (int64_t r = 0; r < rows; r++) {
        MOVE(a, r, from, 3 * r);
        MOVE(b, r, from, 3 * r + 1);
        MOVE(c, r, from, 3 * r + 2);
    }
}

static void DML_JOIN3(separate_4, T, ISA)(char *const *column, const char *DML_RESTRICT from, int64_t rows)
{
    char *DML_RESTRICT a = column[0], *DML_RESTRICT b = column[1], *DML_RESTRICT c = column[2], *DML_RESTRICT d = column[3];
    for (int64_t r = 0; r < rows; r++) {
        MOVE(a, r, from, 4 * r);
        MOVE(b, r, from, 4 * r + 1);
        MOVE(c, r, from, 4 * r + 2);
        MOVE(d, r, from, 4 * r + 3);
    }
}

static const dml_columns DML_JOIN3(columns, T, ISA) = {
    {DML_JOIN3(interleave_2, T, ISA), sizeof(T) == 8 || PERMUTES_THREE ? DML_JOIN3(interleave_3, T, ISA) : NULL,
     DML_JOIN3(interleave_4, T, ISA)},
    {DML_JOIN3(separate_2, T, ISA), sizeof(T) == 8 || PERMUTES_THREE ? DML_JOIN3(separate_3, T, ISA) : NULL,
     DML_JOIN3(separate_4, T, ISA)},
};

#undef MOVE
