/* extract.h: the numbers of the bits that are set, in plain C.
 * Included by core/loops.h for instruction sets ISA for which isa/ has nothing better, without guard. */

/* Numbers, from 0 on, of the bits set among `length` from `first` on; `found` has 64 places more than that.
 * Eight at a time without asking whether there are so many: what is written too much is overwritten by the next word. */
DML_PIECE int64_t DML_JOIN2(extract, ISA)(const dml_bitmap *map, int64_t first, int64_t length, u32 *found)
{
    int64_t count = 0;
    for (int64_t at = 0; at < length; at += 64) {
        uint64_t word = dml_bits_at(map->bits, first + at);
        if (length - at < 64)
            word &= ((uint64_t)1 << (length - at)) - 1;
        if (!word)
            continue;
        int n = POPCOUNT(word);
        for (int i = 0; i < n; i += 8)
            for (int k = 0; k < 8; k++) {
                found[count + i + k] = (u32)at + (u32)DML_CTZ64(word | (uint64_t)1 << 63);
                word &= word - 1;
            }
        count += n;
    }
    return count;
}
