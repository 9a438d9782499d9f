"""Single elements of nearer tables: one row of indices, boxes that follow each other, past the caches, fresh outputs that are
written from the end, dimensions of one. Each against NumPy's own functions.
"""

import numpy as np
import pytest
from layouts import at_offset
from moves import DTYPES, THREADS, both_outputs, numbers, wanted_of
from oracle import same_bits

import dmlcore


@pytest.mark.parametrize("isa", ("avx2", "avx512", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("index", ("int64", "int32", "uint32"))
@pytest.mark.parametrize("dtype", (*DTYPES, "int64"))
def test_elements_of_near_tables(rng, every_thread, isa, dtype, index):
    """Out of each level of the caches, along columns, along rows of which little is met and along all of them."""
    for shape, index_shape, axis in (
        ((3000,), (5003,), 0),
        ((90_000,), (5003,), 0),
        ((700_001,), (5003,), 0),
        ((306, 480), (281, 480), 0),
        ((20, 33), (190, 33), 0),
        ((700, 1000), (700, 83), 1),
        ((2000, 130), (2000, 130), 1),
        ((70, 1100), (70, 1033), 1),
    ):
        table = numbers(rng, shape, dtype)
        n = shape[axis]
        indices = rng.integers(0 if index[0] == "u" else -n, n, index_shape).astype(index)
        wanted = np.take_along_axis(table, indices.astype("int64"), axis)
        both_outputs(dmlcore.gather_elements, table, indices, axis, wanted=wanted)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("offset", (0, 16, 24, 2))
@pytest.mark.parametrize("dtype", ("float32", "float64", "complex128"))
def test_elements_past_the_caches(rng, every_thread, isa, dtype, offset):
    """Single elements, much of them, out of rows, by pairs of coordinates, out of more than the second-level cache, and out of
    what registers hold, to outputs that begin anywhere in a line."""
    rows, columns = 33, 34_000_000 // 33 // np.dtype(dtype).itemsize
    table, long = numbers(rng, (rows, 1_000), dtype), numbers(rng, 300_000, dtype)
    indices = rng.integers(-1_000, 1_000, (rows, columns))
    wanted = np.take_along_axis(table, indices, 1)
    pairs = np.stack([np.repeat(np.arange(rows), columns), indices.reshape(-1)], axis=-1)
    for threads in THREADS:
        with at_offset(indices.shape, dtype, offset) as out:
            dmlcore.gather_elements(table, indices, axis=1, out=out, num_threads=threads)
            assert same_bits(out, wanted)
            out[...] = 0
            dmlcore.gather_nd(table, pairs, out=out.reshape(-1), num_threads=threads)
            assert same_bits(out, wanted)
            dmlcore.gather(long, indices, out=out, num_threads=threads)
            assert same_bits(out, long[indices])
            dmlcore.gather(long[:7], indices % 7, out=out, num_threads=threads)
            assert same_bits(out, long[indices % 7])


@pytest.mark.parametrize("dtype", DTYPES)
def test_fresh_outputs(rng, every_thread, dtype):
    """Elements, to more than NumPy's own threshold for huge pages; the last step is a short one."""
    table = numbers(rng, 1000, dtype)
    indices = rng.integers(0, 1000, 4_300_001 // np.dtype(dtype).itemsize + 1_000)
    both_outputs(dmlcore.gather_elements, table, indices, axis=0, wanted=table[indices])


@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512", "avx512-zen5", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("dtype", ("uint8", "float16", "float32", "float64", "complex128"))
@pytest.mark.parametrize("order", ("contiguous", "transposed", "every third", "backwards"))
@pytest.mark.parametrize("columns", (1100, 3000, 20_000))
def test_one_row_of_indices(rng, every_thread, isa, dtype, order, columns):
    """Each names a row of the table in a column of its own: positions of one dimension that walk along the table."""
    for rows in (2, 3, 50):
        table = rng.integers(0, 250, (rows, columns)).astype(dtype)
        if order == "transposed":
            table = np.asfortranarray(table)
        elif order == "every third":
            table = np.repeat(table, 3, axis=1)[:, ::3]
        elif order == "backwards":
            table = np.ascontiguousarray(table[:, ::-1])[:, ::-1]
        for index in ("int32", "int64"):
            indices = rng.integers(-rows, rows, (1, columns)).astype(index)
            wanted = np.take_along_axis(table, indices % rows, 0)
            updates = rng.integers(0, 250, (1, columns)).astype(dtype)
            updated = table.copy()
            np.put_along_axis(updated, indices % rows, updates, 0)
            out, place = np.zeros_like(wanted), np.zeros((rows, columns), dtype)
            for threads in (1, 3):
                assert same_bits(dmlcore.gather_elements(table, indices, 0, num_threads=threads), wanted)
                dmlcore.gather_elements(table, indices, 0, out=out, num_threads=threads)
                assert same_bits(out, wanted)
                dmlcore.scatter_elements(table, indices, updates, 0, out=place, num_threads=threads)
                assert same_bits(place, updated)
                out[:], place[:] = 0, 0


@pytest.mark.one_in(3)
@pytest.mark.parametrize("isa", ("baseline", "avx512", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize("shape", ((5000, 1), (1, 512), (2451, 20), (130, 9), (1, 1100), (300, 1)), ids=str)
def test_boxes_that_follow_each_other(rng, every_thread, isa, shape, index):
    """Indices are checked some positions before their elements are moved, across the ends of boxes that are full, short, or no
    multiple of sixteen long; a bad one is found wherever it is."""
    shape = (40, *shape) if shape[0] == 1 else (3, *shape)
    for dtype in DTYPES:
        table, updates = numbers(rng, (shape[0], 70, shape[2]), dtype), numbers(rng, shape, dtype)
        indices = rng.integers(0 if index.startswith("u") else -70, 70, shape).astype(index)
        places, wanted = indices.astype("int64"), table.copy()
        both_outputs(dmlcore.gather_elements, table, indices, wanted=np.take_along_axis(table, places, 1), axis=1)
        np.put_along_axis(wanted, places, updates, 1)  # NumPy too keeps the last one
        both_outputs(dmlcore.scatter_elements, table, indices, updates, wanted=wanted, axis=1)
    for bad in rng.integers(0, indices.size, 20):
        broken = indices.copy()
        broken.flat[bad] = 70
        with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
            dmlcore.gather_elements(table, broken, axis=1)
        assert caught.value.position == np.unravel_index(bad, shape)


@pytest.mark.parametrize("columns", (1, 2, 257, 1024, 1025, 2241))
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", ("uint8", "float64"))
def test_one_update_for_all(rng, every_thread, columns, order, dtype):
    """A broadcast update has strides of zero, also where a box ends with a single column."""
    for axis, shape in ((1, (16, columns)), (0, (12, columns))):
        table = numbers(rng, (16, 4096), dtype)
        unique = rng.permutation(table.shape[axis])[: shape[axis]]
        indices = np.asarray(np.broadcast_to(unique if axis else unique[:, np.newaxis], shape), order=order)
        update = np.broadcast_to(np.array(7, dtype), shape)
        wanted = table.copy()
        np.put_along_axis(wanted if axis else wanted[:, :columns], indices, update, axis)
        for threads in (1, 2, 8):
            got = dmlcore.scatter_elements(table, indices, update, axis=axis, num_threads=threads)
            assert same_bits(got, wanted), (axis, threads)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", ((1, 40, 30), (40, 1, 30), (1, 300_000), (3000, 200, 1)))
def test_dimensions_of_one(rng, every_thread, shape, dtype):
    """Indices along a dimension of length one all name the same place; tables, indices and outputs in any order."""
    axis, x = shape.index(1), numbers(rng, shape, dtype)
    for count in (1, 4):
        indices = rng.integers(-1, 1, (*shape[:axis], count, *shape[axis + 1 :]))
        wanted = np.repeat(x, count, axis)
        both_outputs(dmlcore.gather_elements, x, indices, wanted=wanted, axis=axis)
        both_outputs(dmlcore.gather, x, indices.reshape(-1)[:count], wanted=wanted, axis=axis)
        for table in (np.asfortranarray(x), np.broadcast_to(x[:1], shape)):
            out = np.zeros(wanted.shape[::-1], dtype).T
            dmlcore.gather_elements(table, np.asfortranarray(indices), axis=axis, out=out)
            assert same_bits(out, np.repeat(table, count, axis))
    pairs = np.stack([rng.integers(-1, 1, 500), rng.integers(-1, 1, 500)], 1)
    for row in (x.reshape(-1)[:900], x.reshape(-1)[:900:2]):  # slices, which are no such copies
        both_outputs(dmlcore.gather_nd, row[np.newaxis, np.newaxis], pairs, wanted=np.repeat(row[np.newaxis], 500, 0))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512-zen5", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("index", ("int32", "uint32", "int64", "uint64"))
@pytest.mark.parametrize("count", (2, 300, 5000, 40_011, 300_000))
def test_ranges(rng, every_thread, isa, index, count):
    """Indices that follow each other, also from the end; with one that does not, and as the last of them; beyond either end."""
    size, signed = count + 70_000 * (count > 5000) + 10, index[0] == "i"
    for dtype in DTYPES:
        x, updates = numbers(rng, size, dtype), numbers(rng, count, dtype)
        for start in (0, 7, size - count, *((-size, -count, -count + 1) if signed else ())):
            at = np.arange(start, start + count)
            for place in (None, 0, count // 2, count - 1):
                given = at.copy()
                if place is not None:
                    given[place] = (at[place] + size // 2) % size
                given = given.astype(index)
                gathered, scattered = wanted_of("elements", x, given, updates, 0)
                assert same_bits(dmlcore.gather(x, given), gathered)
                assert same_bits(dmlcore.gather_elements(x, given, out=np.empty_like(gathered)), gathered)
                assert same_bits(dmlcore.scatter_elements(x, given, updates), scattered)
                whole = x.copy()
                assert same_bits(dmlcore.scatter_elements(whole, given, updates, out=whole), scattered)
        for start in (size - count + 1, *((-size - 1,) if signed else ())):
            out, whole = np.zeros_like(updates), x.copy()
            with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                dmlcore.gather(x, np.arange(start, start + count).astype(index), out=out)
            assert caught.value.position == ((0 if start < 0 else count - 1),) and not out.any()
            with pytest.raises(dmlcore.IndexOutOfRangeError):
                dmlcore.scatter_elements(whole, np.arange(start, start + count).astype(index), updates, out=whole)
            assert same_bits(whole, x)


@pytest.mark.parametrize("index", ("int32", "uint32", "int64", "uint64"))
def test_ranges_that_reach_the_ends_of_a_type(every_thread, index):
    """Differences of such indices do not fit into their type (for builds with a sanitizer)."""
    least, most = np.iinfo(index).min, np.iinfo(index).max
    table = np.arange(300_000, dtype="uint32")
    for count in (200, 20_000, 200_000):
        last = count - 1
        for places in ({0: -1, 1: most}, {0: most, 1: least}, {0: -2, last: most}, {count * 4 // 5: most}, {last: least}):
            indices, out = np.arange(count).astype(index), np.zeros(count, "uint32")
            for place, value in places.items():
                indices[place] = max(value, least)
            wrong = [k for k in sorted(places) if not -len(table) <= int(indices[k]) < len(table)]
            for options in ({}, {"out": out}):
                if wrong:
                    with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                        dmlcore.gather(table, indices, **options)
                    assert caught.value.position == (wrong[0],) and not out.any()
                else:
                    assert same_bits(dmlcore.gather(table, indices, **options), table[indices.astype("int64")])


@pytest.mark.parametrize("index", ("int64", "uint32"))
@pytest.mark.parametrize("width", (3, 16, 100))
def test_ranges_of_slices(rng, every_thread, index, width):
    """As many as are copied at once, and with one that is elsewhere."""
    count, table = 300_000, numbers(rng, (301_000, width), "uint8")
    for start in (0, 700, *((-count,) if index == "int64" else ())):
        for place in (None, 0, 150_000, count - 1):
            at = np.arange(start, start + count)
            if place is not None:
                at[place] = 500
            given, out = at.astype(index), np.zeros((count, width), "uint8")
            assert same_bits(dmlcore.gather(table, given), table[at])
            assert same_bits(dmlcore.gather(table, given, out=out), table[at])
    for position in (0, 7, count - 1):
        broken, before = np.arange(count).astype(index), out.copy()
        broken[position] = 301_000
        with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
            dmlcore.gather(table, broken, out=out)
        assert caught.value.position == (position,) and same_bits(out, before)
    with pytest.raises(dmlcore.IndexOutOfRangeError, match="301000"):
        dmlcore.gather(table, np.arange(1001, 301_001).astype(index), out=out)
    assert same_bits(out, before)


@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512-zen5", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("columns", (3, 100, 3000))
@pytest.mark.parametrize("index", ("int32", "uint64"))
def test_rows_of_one_index(rng, every_thread, isa, index, columns):
    """One index for each row, and for all of a row but one element; ranges along rows."""
    rows = 40_000 // columns
    for dtype in DTYPES:
        x, updates = numbers(rng, (50, columns), dtype), numbers(rng, (rows, columns), dtype)
        at = np.repeat(rng.integers(0, 50, (rows, 1)), columns, axis=1)
        along = np.resize(np.arange(columns), (50, columns))
        for place in (None, 0, columns // 2, columns - 1):
            given, other = at.copy(), along.copy()
            if place is not None:
                given[rows // 2, place] = (at[rows // 2, place] + 25) % 50
                other[7, place] = 1
            given, other = given.astype(index), other.astype(index)
            gathered, scattered = wanted_of("elements", x, given, updates, 0)
            both_outputs(dmlcore.gather_elements, x, given, wanted=gathered, axis=0)
            assert same_bits(dmlcore.scatter_elements(x, given, updates, 0), scattered)
            both_outputs(dmlcore.gather_elements, x, other, wanted=np.take_along_axis(x, other.astype("int64"), 1), axis=1)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("isa", ("avx2", "avx512", "avx512-zen5", "avx512-granite"), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64"))
@pytest.mark.parametrize("dtype", ("uint16", "float32", "float64"))
@pytest.mark.parametrize("columns", (97, 113, 300, 2053))
def test_rows_that_begin_and_end_within_a_line(rng, every_thread, isa, dtype, index, columns):
    """17 MB, stored past the caches line by line, wherever the output begins: what a row has in front of its first line
    and behind its last one is stored by itself, while the next row's indices are checked already; a bad one changes nothing.
    """
    size = np.dtype(dtype).itemsize
    rows = 17_000_000 // size // columns
    table = rng.integers(0, 250, (rows, 61)).astype(dtype)
    indices = rng.integers(-61, 61, (rows, columns)).astype(index)
    wanted = np.take_along_axis(table, indices.astype("int64") % 61, 1)
    room = np.zeros(rows * columns * size + 128, "uint8")
    begin = -room.ctypes.data % 64
    for offset in (0, size, 16, 64 - size):
        out = room[begin + offset :][: wanted.nbytes].view(dtype).reshape(wanted.shape)
        for threads in (1, 2):
            out[:] = 251
            dmlcore.gather_elements(table, indices, 1, out=out, num_threads=threads)
            assert same_bits(out, wanted), (offset, threads)
        out[:] = 251
        untouched = out.copy()
        for place in ((1, 0), (1, 3), (2, 95), (rows // 2, columns - 1), (rows - 1, 17)):
            before, indices[place] = indices[place], 61
            with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                dmlcore.gather_elements(table, indices, 1, out=out)
            assert caught.value.position == place and same_bits(out, untouched)
            with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                dmlcore.gather_elements(table, indices, 1)
            assert caught.value.position == place
            indices[place] = before
