/* nonzero_coordinates.h: the two phases of finding non-zero elements: mark and count them in a bitmap, then write the
 * coordinates of the marked ones. Included by _generated/loops.inc for each instruction set: once for each storage class
 * T (counting), once for each width C of a coordinate (writing). */

#ifdef T
/* Marks elements begin .. end-1; begin is a multiple of 64. Returns how many are not zero. */
static int64_t LOOP_T(nonzero_count)(const dml_bitmap *map, int64_t begin, int64_t end)
{
    int64_t count = 0;
    char buffer[DML_SEGMENT * sizeof(T)];
    for (int64_t at = begin; at < end; at += DML_SEGMENT) {
        int64_t n = dml_least(DML_SEGMENT, end - at);
        const char *from = dml_bitmap_elements(map, at, n, sizeof(T), buffer);
        count += MARK(from, n, map->mask, map->bits + at / 64);
    }
    return count;
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
