/* nonzero_coordinates.h: the two phases of finding non-zero elements: mark and count them in a bitmap, then write the
 * coordinates of the marked ones. Included by _generated/loops.inc for each instruction set: once for each storage class
 * T (counting), once for each width C of a coordinate (writing). */

#ifdef T
/* Marks n elements that follow each other. Returns how many are not zero. */
static int64_t LOOP_T(nonzero_count)(const char *from, int64_t n, const uint64_t *mask, uint64_t *bits)
{
    return MARK(from, n, mask, bits);
}
#endif

#ifdef C
/* Writes the coordinates of the marked elements of segments begin .. end-1, from row `row` on, before row `limit`. */
static void LOOP_C(nonzero_write)(const dml_bitmap *map, int64_t begin, int64_t end, int64_t row, int64_t limit)
{
    u32 found[DML_SEGMENT + 64];
    dml_segment segment;
    for (int64_t number = begin; number < end && row < limit; number++) {
        dml_segment_open(map, number, &segment);
        int64_t count = EXTRACT(map, segment.first, segment.length, found);
        count = dml_least(count, limit - row);
        EMIT(map, &segment, found, count, row);
        row += count;
    }
}
#endif
