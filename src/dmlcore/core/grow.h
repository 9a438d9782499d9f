/* grow.h: whether indices (follow.c), or what they were narrowed to (narrowed.h), follow each other. Included by core/loops.h for
 * each unsigned type T of them and instruction set ISA, without guard. */

#define NAME(name) DML_JOIN3(name, T, ISA)
#define SOME 256 /* indices between which the loop asks whether to go on */

/* A dml_growth. */
static int NAME(grow)(const void *indices, int64_t count, int by, int64_t ahead)
{
    const T *index = indices;
    T next = *index, mask = (T)0 - (T)by, differ = 0;
    for (; count >= SOME && !differ; count -= SOME, index += SOME, next += SOME & mask) {
        for (int line = 0; ahead && line < SOME * (int)sizeof(T); line += DML_LINE)
            DML_PREFETCH((const char *)index + ahead + line);
        for (int i = 0; i < SOME; i++)
            differ |= index[i] ^ (next + ((T)i & mask));
    }
    for (int64_t i = 0; i < count; i++)
        differ |= index[i] ^ (next + ((T)i & mask));
    return !differ;
}

#undef NAME
#undef SOME
