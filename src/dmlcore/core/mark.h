/* mark.h: one bit for each of n elements that has a bit of the mask set, in plain C.
 * Included by core/loops.h for the storage classes T for which isa/ has nothing better, without guard. */

#define NAME(name) DML_JOIN3(name, T, ISA)

DML_INLINE int NAME(marked)(const char *from, const uint64_t *mask)
{
    uint64_t words[2] = {0, 0};
    memcpy(words, from, sizeof(T));
    return sizeof(T) == 16 ? ((words[0] & mask[0]) | (words[1] & mask[1])) != 0 : (words[0] & mask[0]) != 0;
}

/* Bytes first, because compilers vectorise that; a multiplication brings the lowest bits of eight bytes together. */
DML_PIECE int64_t NAME(mark)(const char *from, int64_t n, const uint64_t *mask, uint64_t *bits)
{
    int64_t count = 0;
    for (int64_t at = 0; at < n; at += 64) {
        unsigned char flags[64] = {0};
        int64_t some = dml_least(64, n - at);
        if (some == 64)
            for (int i = 0; i < 64; i++)
                flags[i] = (unsigned char)NAME(marked)(from + (at + i) * (int64_t)sizeof(T), mask);
        else
            for (int64_t i = 0; i < some; i++)
                flags[i] = (unsigned char)NAME(marked)(from + (at + i) * (int64_t)sizeof(T), mask);
        uint64_t word = 0;
        for (int i = 0; i < 8; i++) {
            uint64_t eight = 0;
            for (int k = 0; k < 8; k++)                     /* a plain load where the lowest byte comes first */
                eight |= (uint64_t)flags[8 * i + k] << 8 * k;
            word |= (eight * 0x0102040810204080u >> 56) << 8 * i;
        }
        bits[at / 64] = word;
        count += POPCOUNT(word);
    }
    return count;
}

#undef NAME
