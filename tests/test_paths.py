"""The ways that only some shapes take: long slices out of far tables, fresh outputs that are written from the end, rows
that repeat one index, indices and tables that lie the other way round, tiles of large planes, columns a power of two apart,
tables that are overwritten as a whole, non-zero elements of short rows. Each against NumPy's own functions, with one thread and
with four, into a fresh array and into `out=`.
"""

import numpy as np
import pytest
from layouts import at_offset
from oracle import same_bits

import dmlcore

THREADS = (1, 4)
DTYPES = ("uint8", "float16", "float32", "float64", "complex128")
ADDED = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def numbers(rng, shape, dtype):
    """Small numbers: sums and products of them are exact in any order."""
    if np.dtype(dtype).kind == "c":
        return numbers(rng, shape, "float64") + 1j * numbers(rng, shape, "float64")
    return rng.integers(0, 100, shape).astype(dtype)


def both_outputs(function, *inputs, wanted, **options):
    """Fresh and `out=`, for every number of threads; an index out of range leaves `out=` as it was."""
    for threads in THREADS:
        assert same_bits(function(*inputs, num_threads=threads, **options), wanted), threads
        out = np.zeros_like(wanted)
        function(*inputs, out=out, num_threads=threads, **options)
        assert same_bits(out, wanted), threads
    broken = inputs[1].copy(order="K")
    broken[tuple(n * 3 // 4 for n in broken.shape)] = 10**9
    out = np.full_like(wanted, 7)
    for options_ in (dict(options), dict(options, out=out)):
        with pytest.raises(dmlcore.IndexOutOfRangeError, match="1000000000"):
            function(inputs[0], broken, *inputs[2:], **options_)
    assert (out == 7).all()


@pytest.mark.parametrize("width", (1, 3, 4, 12, 31, 48, 64, 100, 256, 1000, 5000, 300_000))
def test_far_slices(rng, every_thread, width):
    """A table that no second-level cache holds, slices that begin anywhere in a line; short ones, strided ones, sums."""
    rows = min(9_900_000, 12_000_000 // width)
    table = numbers(rng, (rows, width), "uint8")
    indices = rng.integers(-rows, rows, (max(3, min(60_000, 6_000_000 // width)), 1))
    both_outputs(dmlcore.gather_nd, table, indices, wanted=table[indices[:, 0]])
    updates = numbers(rng, (len(indices), width), "uint8")
    wanted = table.copy()
    wanted[indices[:, 0]] = updates  # NumPy too keeps the last one
    both_outputs(dmlcore.scatter_nd, table, indices, updates, wanted=wanted)
    apart = np.zeros((len(indices), 2 * width), "uint8")[:, 1::2]
    apart[...] = updates
    added = table.copy()
    np.add.at(added, indices[:, 0], updates)
    for threads in THREADS:
        assert same_bits(dmlcore.scatter_nd(table, indices, apart, num_threads=threads), wanted), threads
        for some in (updates, apart):
            assert same_bits(dmlcore.scatter_nd(table, indices, some, reduction="add", num_threads=threads), added), threads
        out = np.zeros_like(apart.base)[:, 1::2]
        dmlcore.gather_nd(table, indices, out=out, num_threads=threads)
        assert same_bits(out, table[indices[:, 0]]), threads


def test_far_slices_that_are_not_contiguous(rng, every_thread):
    """Every second element of each row, of a table so large that the caches are asked for what it gives; with `out=` they are
    checked without the rows, which do not count for that."""
    table = numbers(rng, (60, 90, 1600), "float32")[..., ::2]
    indices = rng.integers(-60, 60, (40, 1))
    both_outputs(dmlcore.gather_nd, table, indices, wanted=table[indices[:, 0]])
    both_outputs(dmlcore.gather, table, indices[:, 0], wanted=table[:, indices[:, 0]], axis=1)


@pytest.mark.parametrize("length", range(1, 11))
@pytest.mark.parametrize("index", ("int64", "int32", "uint32", "uint64"))
def test_tuples(rng, every_thread, length, index):
    """Tuples of every length, more of them than a box holds; with `out=` the check keeps the offsets of long ones."""
    shape = (5, 4, 3, 2, 7, 2, 3, 2, 2, 3)[:length]
    table = numbers(rng, shape, "float16")
    lowest = [0 if index[0] == "u" else -n for n in shape]
    count = 5000
    indices = np.stack([rng.integers(low, n, count) for low, n in zip(lowest, shape, strict=True)], -1).astype(index)
    both_outputs(dmlcore.gather_nd, table, indices, wanted=table[tuple(indices.T)])
    picked = rng.permutation(np.ravel_multi_index(tuple(indices.T.astype("int64") % np.array(shape)[:, np.newaxis]), shape))
    unique = np.stack(np.unravel_index(np.unique(picked), shape), -1).astype(index)
    updates = numbers(rng, len(unique), "float16")
    wanted = table.copy()
    wanted[tuple(unique.T)] = updates
    both_outputs(dmlcore.scatter_nd, table, unique, updates, wanted=wanted)


@pytest.mark.parametrize("isa", ("baseline", "avx512", "avx512-zen5"), indirect=True)
@pytest.mark.parametrize("length", range(1, 11))
@pytest.mark.parametrize("index", ("int64", "int32", "uint32"))
def test_tuples_are_checked_one_by_one(rng, every_thread, isa, length, index):
    """So many that the check keeps the offsets of few of them: each coordinate meets the length of its own dimension, also one
    that fits all others, among some that fit all."""
    shape = (5, 4, 3, 2, 7, 2, 3, 2, 2, 3)[:length]
    table = numbers(rng, shape, "float32")
    indices = np.stack([rng.integers(0 if index[0] == "u" else -n, n, 530_000) for n in shape], -1).astype(index)
    wanted = table[tuple(indices.astype("int64").T)]
    for threads in THREADS:
        out = np.zeros_like(wanted)
        dmlcore.gather_nd(table, indices, out=out, num_threads=threads)
        assert same_bits(out, wanted), threads
    indices = rng.integers(0, min(shape), indices.shape).astype(index)
    for threads in THREADS:
        for k, n in enumerate(shape):
            at = (rng.integers(len(indices)), k)
            good, indices[at] = indices[at], n
            out[...] = 77
            with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                dmlcore.gather_nd(table, indices, out=out, num_threads=threads)
            assert caught.value.position == at and (out == 77).all()
            indices[at] = good


ORDERS = {"backwards": slice(None, None, -1), "every other": slice(None, None, 2), "both": slice(None, None, -2)}


@pytest.mark.parametrize("isa", ("baseline", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("shape", ((30, 20), (100_000, 100), (70, 200, 600), (3, 4, 2_000_000)), ids=str)
def test_nothing_out_of_large_tables(every_thread, isa, shape):
    """No index at all, along every axis: nothing is gathered, and a scatter is a copy."""
    x = np.zeros(shape, "float32")
    for axis in range(len(shape)):
        nothing = (*shape[:axis], 0, *shape[axis + 1 :])
        indices, updates = np.zeros(nothing, "int64"), np.zeros(nothing, "float32")
        for table in (x, x[..., ::2]):
            assert dmlcore.gather(table, indices.reshape(-1)[:0], axis=axis).size == 0
        assert dmlcore.gather_elements(x, indices, axis=axis).shape == nothing
        assert dmlcore.scatter_elements(x, indices, updates, axis=axis, out=x) is x
        tuples = np.zeros((*shape[:axis], 0, 1), "int64")
        assert dmlcore.gather_nd(x, tuples, batch_dims=axis).size == 0
    assert not dmlcore.scatter_nd(x, np.zeros((0, 1), "int64"), np.zeros((0, *shape[1:]), "float32")).any()


@pytest.mark.parametrize("order", [*ORDERS, "repeated"])
def test_tuples_in_another_order(rng, every_thread, order):
    """Slices so long that each has a box of its own, tuples that do not follow each other: offsets may not be mixed up."""
    table = numbers(rng, (5, 4, 40_000), "float32")
    indices = np.stack([rng.integers(-n, n, 24) for n in (5, 4)], -1)
    if order == "repeated":
        taken = np.broadcast_to(indices[:1], indices.shape)
        indices[1:] = 10**6  # what the view leaves out is not looked at
    else:
        taken = indices[ORDERS[order]]
        indices[np.setdiff1d(np.arange(24), np.arange(24)[ORDERS[order]])] = 10**6
    wanted = table[tuple(taken.T)]
    target = table.copy()
    target[tuple(taken.T)] = wanted + 1
    for threads in THREADS:
        out = np.zeros_like(wanted)
        dmlcore.gather_nd(table, taken, out=out, num_threads=threads)
        assert same_bits(out, wanted), threads
        scattered = table.copy()
        dmlcore.scatter_nd(scattered, taken, wanted + 1, out=scattered, num_threads=threads)
        assert same_bits(scattered, target), threads
    for broken in range(len(taken)):
        bad = taken.copy()
        bad[broken, 1] = 4
        bad = np.repeat(bad, 2, axis=0)[::2] if order == "every other" else bad[::-1].copy()[::-1]
        with pytest.raises(dmlcore.IndexOutOfRangeError):
            dmlcore.gather_nd(table, bad, out=out)
        assert same_bits(out, wanted)


@pytest.mark.parametrize("width", (1029, 4096, 300_001))
def test_past_the_caches(rng, every_thread, width):
    """So many bytes in long slices that whole lines are stored past the caches, and the ends of slices are not."""
    count = 34_000_000 // width
    table = numbers(rng, (count // 8, width), "uint8")
    indices = rng.integers(-len(table), len(table), (count, 1))
    for threads in THREADS:
        out = np.zeros((count, width), "uint8")
        dmlcore.gather_nd(table, indices, out=out, num_threads=threads)
        assert (out == table[indices[:, 0]]).all()
    updates, unique = out, rng.permutation(count)[:, np.newaxis]
    wanted = np.empty_like(out)
    wanted[unique[:, 0]] = updates
    for threads in THREADS:
        target = np.zeros_like(out)
        dmlcore.scatter_nd(target, unique, updates, out=target, num_threads=threads)
        assert (target == wanted).all()


@pytest.mark.parametrize("isa", ("baseline", "avx512-zen5", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("offset", (0, 16, 1))
@pytest.mark.parametrize("width", (32, 48, 56, 64, 80, 192, 700, 1500))
def test_lines_past_the_caches(rng, every_thread, isa, width, offset):
    """Short slices, much of them, to outputs that begin anywhere in a line; of those for one place the last one stays."""
    count = 34_000_000 // width
    table = numbers(rng, (5_000, width), "uint8")
    indices = rng.integers(-len(table), len(table), (count, 1))
    source = rng.permutation(count)
    source[: count // 9] = source[count // 2 : count // 2 + count // 9]
    last = np.full(count, -1)
    last[source] = np.arange(count)
    for threads in THREADS:
        with at_offset((count, width), "uint8", offset) as out:
            dmlcore.gather_nd(table, indices, out=out, num_threads=threads)
            assert (out == table[indices[:, 0]]).all()
        with at_offset((count, width), "uint8", offset) as target:
            dmlcore.scatter_nd(target, source[:, np.newaxis], out, out=target, num_threads=threads)
            assert (target[last >= 0] == out[last[last >= 0]]).all() and not target[last < 0].any()


@pytest.mark.parametrize("isa", ("baseline", "avx512-zen5", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize(("width", "gap"), ((200, 300), (257, 127), (256, 128), (700, 1001)))
def test_slices_with_gaps(rng, every_thread, isa, width, gap):
    """So many bytes to slices with others between them, as to some columns of a wider output, that lines are stored past the
    caches; and rows that repeat an index. What is between them stays."""
    count = 17_000_000 // width
    table = numbers(rng, (5_000, width), "uint8")
    indices = rng.integers(-len(table), len(table), (count, 1))
    for threads in THREADS:
        with at_offset((count, width + gap), "uint8", 3) as wider:
            wider[...] = 7
            dmlcore.gather_nd(table, indices, out=wider[:, :width], num_threads=threads)
            assert (wider[:, :width] == table[indices[:, 0]]).all() and (wider[:, width:] == 7).all()
            wider[...] = 7
            repeated = np.repeat(indices, width, axis=1)
            dmlcore.gather_elements(table, repeated, axis=0, out=wider[:, :width], num_threads=threads)
            assert (wider[:, :width] == table[indices[:, 0]]).all() and (wider[:, width:] == 7).all()


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


def expanded(rng, rows, shape, order):
    """One index per row, written out along the others; some rows are not."""
    indices = np.empty(shape, np.int64, order)
    indices[...] = rng.integers(-rows, rows, (shape[0], *[1] * (len(shape) - 1)))
    indices[rng.integers(0, shape[0], 3)] = rng.integers(-rows, rows, shape[1:])
    return indices


@pytest.mark.parametrize("tail", ((16,), (80,), (300,), (1500,), (4, 20)), ids=str)
@pytest.mark.parametrize("dtype", ("uint8", "float32", "complex128"))
def test_rows_that_repeat_an_index(rng, every_thread, tail, dtype):
    table, indices = numbers(rng, (700, *tail), dtype), expanded(rng, 700, (2000, *tail), "C")
    positive = np.where(indices < 0, indices + 700, indices)
    wanted = np.take_along_axis(table, positive, 0)
    both_outputs(dmlcore.gather_elements, table, indices, axis=0, wanted=wanted)
    updates = numbers(rng, indices.shape, dtype)
    wanted = table.copy()
    for row, update in zip(positive, updates, strict=True):
        np.put_along_axis(wanted, row[np.newaxis], update[np.newaxis], 0)
    both_outputs(dmlcore.scatter_elements, table, indices, updates, axis=0, wanted=wanted)
    view = np.broadcast_to(indices[:, :1], indices.shape) if len(tail) == 1 else None
    if view is not None:  # the same without the copies: a stride of 0
        wanted = np.take_along_axis(table, np.where(view < 0, view + 700, view), 0)
        assert same_bits(dmlcore.gather_elements(table, view, axis=0), wanted)


@pytest.mark.parametrize("reduction", ADDED)
@pytest.mark.parametrize("dtype", ("int8", "float16", "float32", "float64"))
def test_rows_that_are_combined(rng, every_thread, reduction, dtype):
    """NaN stays where it comes up, also in the middle of a row that is combined many elements at a time."""
    table, indices = numbers(rng, (500, 150), dtype), expanded(rng, 500, (900, 150), "C")
    updates = numbers(rng, indices.shape, dtype) % (2 if reduction == "mul" else 90)
    if np.dtype(dtype).kind == "f":
        updates[rng.integers(0, 900, 40), rng.integers(0, 150, 40)] = np.nan
        updates[rng.integers(0, 900, 9), rng.integers(0, 150, 9)] = np.inf
        table[3, ::7] = -np.inf
    wanted = table.copy()
    with np.errstate(all="ignore"):
        for row, update in zip(indices, updates, strict=True):
            at = np.arange(150)
            wanted[row, at] = ADDED[reduction](wanted[row, at], update)
    for threads in THREADS:
        result = dmlcore.scatter_elements(table, indices, updates, axis=0, reduction=reduction, num_threads=threads)
        np.testing.assert_array_equal(result, wanted)


def either_way(array):
    """The same in Fortran order, and as a transposed view; three dimensions also in mixed orders."""
    yield np.asfortranarray(array)
    if array.ndim == 3:
        yield np.ascontiguousarray(array.transpose(1, 2, 0)).transpose(2, 0, 1)
        yield np.ascontiguousarray(array.transpose(0, 2, 1)).transpose(0, 2, 1)


@pytest.mark.parametrize("row", (64, 100, 4096, 70_000))
@pytest.mark.parametrize("pattern", ("permutation", "one twice", "one missing", "half", "random", "drop"))
def test_most_rows_are_overwritten(rng, every_thread, row, pattern):
    """Only the rest is copied; whether two updates meet decides how threads share them out."""
    rows = max(60, 400_000 // row)
    table = numbers(rng, (rows, row), "uint8")
    indices = rng.integers(0, rows, rows) if pattern == "random" else rng.permutation(rows)
    if pattern == "one twice":
        indices[-1] = indices[0]
    elif pattern in ("one missing", "half"):
        indices = indices[: rows - 1 if pattern == "one missing" else rows // 2]
    updates = numbers(rng, (len(indices), row), "uint8")
    wanted = table.copy()
    wanted[indices] = updates
    both_outputs(dmlcore.scatter_nd, table, indices[:, None], updates, wanted=wanted)
    if pattern == "drop":
        indices[3] = rows
        wanted = table.copy()
        wanted[np.delete(indices, 3)] = np.delete(updates, 3, 0)
        for threads in (1, 2, 3, 8):
            y = dmlcore.scatter_nd(table, indices[:, None], updates, mode="drop", num_threads=threads)
            assert same_bits(y, wanted), threads


@pytest.mark.parametrize("isa", ("baseline", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("index_rows", (1, 20, 64, 90))
@pytest.mark.parametrize("dtype", DTYPES)
def test_columns_that_meet_in_the_cache(rng, every_thread, isa, dtype, index_rows):
    """Rows of 4 KiB: tiles, for elements that are short enough and indices enough to pay."""
    columns = 4096 // np.dtype(dtype).itemsize
    for shape, axis in (((64, columns), 0), ((3, 64, columns), 1), ((64, 2, columns // 2), 0)):
        table = numbers(rng, shape, dtype)
        index_shape = (*shape[:axis], index_rows, *shape[axis + 1 :])
        indices = rng.integers(-64, 64, index_shape)
        both_outputs(dmlcore.gather_elements, table, indices, wanted=np.take_along_axis(table, indices, axis), axis=axis)
        updates = numbers(rng, index_shape, dtype)
        wanted = table.copy()
        np.put_along_axis(wanted, indices, updates, axis)
        both_outputs(dmlcore.scatter_elements, table, indices, updates, wanted=wanted, axis=axis)
        for threads in THREADS:
            out = table.copy()
            dmlcore.scatter_elements(out, indices, updates, axis, out=out, num_threads=threads)
            assert same_bits(out, wanted), threads


@pytest.mark.parametrize("isa", ("baseline", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("index_rows", (5, 14, 30))
@pytest.mark.parametrize("dtype", ("uint8", "float32", "float64"))
def test_columns_of_a_wider_table(rng, every_thread, isa, dtype, index_rows):
    """Rows that are much longer than what is used of them: even a single box of positions may come to tiles."""
    whole = numbers(rng, (14, 8192 // np.dtype(dtype).itemsize), dtype)
    deep = numbers(rng, (3, *whole.shape), dtype)
    for columns in (64, 300):
        for table, axis in ((whole[:, :columns], 0), (deep[:, :, :columns], 1)):
            shape = (*table.shape[:axis], index_rows, columns)
            indices, updates = rng.integers(-14, 14, shape), numbers(rng, shape, dtype)
            both_outputs(dmlcore.gather_elements, table, indices, wanted=np.take_along_axis(table, indices, axis), axis=axis)
            wanted = table.copy()
            np.put_along_axis(wanted, indices, updates, axis)
            both_outputs(dmlcore.scatter_elements, table, indices, updates, wanted=wanted, axis=axis)
            in_place(table, indices, updates, wanted, axis)


def in_place(table, indices, updates, wanted, axis):
    """A view of a larger array is scattered to in place; an index out of range leaves the view, and always what is around."""
    assert table.base is not None
    for broken in (True, False):
        for threads in THREADS:
            around = table.base.copy()
            view = np.lib.stride_tricks.as_strided(around, table.shape, table.strides)
            if broken:
                bad = indices.copy()
                bad[tuple(n - 1 for n in bad.shape)] = 99
                with pytest.raises(dmlcore.IndexOutOfRangeError, match="99"):
                    dmlcore.scatter_elements(view, bad, updates, axis, out=view, num_threads=threads)
                assert same_bits(around, table.base), threads
            else:
                dmlcore.scatter_elements(view, indices, updates, axis, out=view, num_threads=threads)
                assert same_bits(view, wanted), threads
                view[...] = table
                assert same_bits(around, table.base), threads


@pytest.mark.parametrize("isa", ("baseline", "avx512-zen5", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("shape", ((2_700_000,), (3000, 900), (300, 30, 300)), ids=str)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
def test_elements_of_far_tables(rng, isa, shape, index):
    """Between 20 and 128 MiB they are moved one by one, or in blocks if some of the first indices are negative: duplicates, and
    an index out of range, which changes nothing.
    """
    table = np.zeros(shape, "float64")
    indices = np.stack([rng.integers(-n if index[0] == "i" else 0, n, 70_000) for n in shape], axis=-1).astype(index)
    indices[:20_000] = indices[50_000:]
    updates = rng.random(len(indices))
    wanted = table.copy()
    for place, update in zip(map(tuple, indices.astype(np.int64)), updates, strict=True):
        wanted[place] = update
    for threads in (1, 2):
        assert same_bits(dmlcore.scatter_nd(table, indices, updates, num_threads=threads), wanted)
    both_outputs(dmlcore.gather_nd, wanted, indices, wanted=wanted[tuple(indices.T.astype(np.int64))])
    late = np.abs(indices.astype(np.int64)) % shape
    late[-9:] -= [n * (index[0] == "i") for n in shape]
    late = late.astype(index)
    both_outputs(dmlcore.gather_nd, wanted, late, wanted=wanted[tuple(late.T.astype(np.int64))])
    out = table.copy()
    bad = indices.copy()
    bad[-1, -1] = shape[-1]
    with pytest.raises(dmlcore.IndexOutOfRangeError):
        dmlcore.scatter_nd(out, bad, updates, out=out, num_threads=1)
    assert same_bits(out, table)
    with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
        dmlcore.scatter_nd(table, bad, updates, num_threads=1)
    assert caught.value.position == (len(bad) - 1, len(shape) - 1)
    dmlcore.scatter_nd(out, indices, updates, out=out, num_threads=1)
    assert same_bits(out, wanted)


def wanted_of(operator, table, indices, updates, axis=None):
    """NumPy's answer of a gather, and of a scatter, whose last update stays."""
    if operator == "elements":
        wanted = table.copy()
        np.put_along_axis(wanted, indices.astype(np.int64), updates, axis)
        return np.take_along_axis(table, indices.astype(np.int64), axis), wanted
    at = tuple(indices[..., k].astype(np.int64) for k in range(indices.shape[-1]))
    wanted = table.copy()
    wanted[at] = updates
    return table[at], wanted


@pytest.mark.parametrize("isa", ("avx512-zen5", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_that_are_fetched_by_a_ring(rng, every_thread, isa, dtype, index):
    """Out of and into tables of 27 MB, or 160 MB: positions in a row, and tuples, so many that boxes, steps of 32 and the
    ring end anywhere; an index out of range at either end, and where the next box is looked at already."""
    size = np.dtype(dtype).itemsize
    large = 160_000_000 if isa == "avx512-gathers" else 27_000_000
    for shape, tuples in (((), 1), ((7,), 2), ((3, 5), 3)):
        table = np.resize(np.arange(251).astype(dtype), (large // size // int(np.prod(shape)), *shape))
        count = 33_000 + 37 * tuples
        low = [-n if index[0] == "i" else 0 for n in table.shape]
        indices = np.stack([rng.integers(a, n, count) for a, n in zip(low, table.shape, strict=True)], -1).astype(index)
        updates = numbers(rng, count, dtype)
        gathered, scattered = wanted_of("nd", table, indices, updates)
        both_outputs(dmlcore.gather_nd, table, indices, wanted=gathered)
        for threads in THREADS:
            assert same_bits(dmlcore.scatter_nd(table, indices, updates, num_threads=threads), scattered), threads
        for place in (0, 1030, count - 1):
            broken = indices.copy()
            broken[place, -1] = table.shape[-1]
            with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                dmlcore.gather_nd(table, broken, num_threads=1)
            assert caught.value.position == (place, tuples - 1)


@pytest.mark.parametrize("isa", ("avx512-zen5",), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32"))
@pytest.mark.parametrize("dtype", ("uint8", "float32", "float64", "complex128"))
@pytest.mark.parametrize("columns", (3, 70, 1500))
def test_columns_that_are_fetched_by_a_ring(rng, every_thread, isa, columns, dtype, index):
    """The same along the first axis, and along the middle one, where the table moves on with the positions."""
    size = np.dtype(dtype).itemsize
    rows = 27_000_000 // size // columns
    for shape, axis in (((rows, columns), 0), ((2, rows // 2, columns), 1)):
        table = np.resize(np.arange(251).astype(dtype), shape)
        some = (*shape[:axis], 34_000 // columns + 1, columns)
        indices = rng.integers(-shape[axis] if index[0] == "i" else 0, shape[axis], some).astype(index)
        indices[..., -1, :] = indices[..., 0, :]
        updates = numbers(rng, some, dtype)
        gathered, scattered = wanted_of("elements", table, indices, updates, axis)
        both_outputs(dmlcore.gather_elements, table, indices, wanted=gathered, axis=axis)
        for threads in THREADS:
            assert same_bits(dmlcore.scatter_elements(table, indices, updates, axis, num_threads=threads), scattered), threads


@pytest.mark.parametrize("isa", ("avx512-zen5",), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64"))
@pytest.mark.parametrize("dtype", ("uint8", "float16"))
def test_one_row_that_is_fetched_by_a_ring(rng, every_thread, isa, dtype, index):
    """One row of indices, all of whose boxes follow each other, and along which the table moves on."""
    shape = (1000, 40_003)
    table = np.resize(np.arange(251).astype(dtype), shape)
    indices = rng.integers(-1000, 1000, (1, shape[1])).astype(index)
    updates = numbers(rng, indices.shape, dtype)
    gathered, scattered = wanted_of("elements", table, indices, updates, 0)
    both_outputs(dmlcore.gather_elements, table, indices, wanted=gathered, axis=0)
    for threads in THREADS:
        assert same_bits(dmlcore.scatter_elements(table, indices, updates, 0, num_threads=threads), scattered), threads


@pytest.mark.parametrize("isa", ("avx512-zen5",), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize("shape", ((1100, 1000), (100, 80, 140)), ids=str)
def test_tuples_that_are_scattered_by_a_ring(rng, every_thread, isa, shape, index):
    """To tables that the second-level cache does not hold, but others do; an index out of range changes nothing."""
    table = rng.random(shape)
    count = 300_011
    indices = np.stack([rng.integers(-n if index[0] == "i" else 0, n, count) for n in shape], -1).astype(index)
    updates = rng.random(count)
    _, scattered = wanted_of("nd", table, indices, updates)
    both_outputs(dmlcore.scatter_nd, table, indices, updates, wanted=scattered)


@pytest.mark.parametrize("isa", ("avx512-zen5", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize("pattern", ("range", "backwards", "close together", "runs"))
def test_indices_that_walk(rng, every_thread, isa, index, pattern):
    """Elements beside each other, or nearly, out of and into tables of which others are fetched ahead; tuples in row-major
    order; an index out of range where the indices are looked at, and elsewhere."""
    rows, columns = (4000, 1700) if isa == "avx512-zen5" else (9000, 4500)
    table, count = np.resize(np.arange(251, dtype="float32"), rows * columns), 40_007
    steps = {"range": 1, "backwards": -1, "close together": rng.integers(0, 9, count), "runs": 1}[pattern]
    places = (len(table) // 2 + np.cumsum(np.broadcast_to(steps, count))) % len(table)
    if pattern == "runs":
        places = (places // 17 * 7919 + places % 17) % len(table)
    updates = numbers(rng, count, "float32")
    for shape in ((-1,), (rows, columns), (rows, 20, columns // 20)):
        x = table.reshape(shape)
        indices = np.stack(np.unravel_index(places, x.shape), -1).astype(index)
        gathered, scattered = wanted_of("nd", x, indices, updates)
        both_outputs(dmlcore.gather_nd, x, indices, wanted=gathered)
        for threads in THREADS:
            assert same_bits(dmlcore.scatter_nd(x, indices, updates, num_threads=threads), scattered), threads
        for place in (0, 5, 1000, count - 1):
            broken = indices.copy()
            broken[place, -1] = x.shape[-1]
            for call in (dmlcore.gather_nd, lambda *inputs: dmlcore.scatter_nd(*inputs, updates)):
                with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                    call(x, broken)
                assert caught.value.position == (place, x.ndim - 1)


@pytest.mark.parametrize("isa", ("baseline", "avx512", "avx512-zen5", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("shape", ((4_400_000,), (1100, 4000), (40, 110, 1000), (11, 20, 40, 500)), ids=str)
@pytest.mark.parametrize("index", ("int32", "int64", "uint64"))
def test_the_same_elements_of_far_tables_again(rng, isa, shape, index):
    """Whether the caches hold them is found out by loading some: the first one too, which may be negative or out of range."""
    table = rng.random(shape)
    for count in (800, 5000, 60_000):
        indices = np.stack([rng.integers(0, n, count) for n in shape], axis=-1)
        negative = indices - np.array(shape) * (np.arange(count) % 7 == 0)[:, np.newaxis]
        for tuples in (indices, *([negative] if index[0] == "i" else [])):
            given = tuples.astype(index)
            wanted = table[tuple(tuples.T)]
            for _ in range(3):
                both_outputs(dmlcore.gather_nd, table, given, wanted=wanted)
            for place in (0, count // 8, count - 1):
                bad = given.copy()
                bad[place, -1] = shape[-1]
                with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                    dmlcore.gather_nd(table, bad)
                assert caught.value.position == (place, len(shape) - 1)


@pytest.mark.parametrize("shape", ((2, 1_100_000), (7, 900_001), (13, 700_000)), ids=str)
@pytest.mark.parametrize("dtype", ("uint8", "float16", "float32"))
@pytest.mark.parametrize("order", ("C", "F"))
def test_a_choice_of_few_rows(rng, every_thread, shape, dtype, order):
    """Indices choose among a few long rows, along which positions walk: negative ones too, and one out of range."""
    table = np.asarray(numbers(rng, shape, dtype), order=order)
    indices = np.stack([rng.permutation(shape[0])[:2] for _ in range(shape[1])], axis=-1)
    indices[1, ::3] -= shape[0]
    both_outputs(dmlcore.gather_elements, table, indices, axis=0, wanted=np.take_along_axis(table, indices, 0))
    updates = numbers(rng, indices.shape, dtype)
    wanted = np.array(table, order="C")
    np.put_along_axis(wanted, indices, updates, 0)
    both_outputs(dmlcore.scatter_elements, table, indices, updates, axis=0, wanted=wanted)
    out = np.empty((shape[0], 2 * shape[1]), dtype)[:, ::2]
    for threads in THREADS:
        out[...] = table
        dmlcore.scatter_elements(out, indices, updates, 0, out=out, num_threads=threads)
        assert same_bits(out, wanted), threads


@pytest.mark.parametrize("shape", ((9, 80_000), (19, 150_001), (3, 500_000), (3, 5, 200_000), (2, 600_000)), ids=str)
@pytest.mark.parametrize("dtype", ("uint8", "float64"))
def test_updates_of_long_lines(rng, every_thread, shape, dtype):
    """Lines of some megabytes are copied and updated one after the other, longer ones, and too few of them, are not."""
    table = numbers(rng, shape, dtype)
    indices = np.sort(np.stack([rng.permutation(shape[-1])[: shape[-1] // 5] for _ in range(table[..., 0].size)]))
    indices = indices.reshape(*shape[:-1], -1)
    updates = numbers(rng, indices.shape, dtype)
    wanted = table.copy()
    np.put_along_axis(wanted, indices, updates, -1)
    both_outputs(dmlcore.scatter_elements, table, indices, updates, axis=-1, wanted=wanted)
    added = table.copy()
    np.put_along_axis(added, indices, np.take_along_axis(table, indices, -1) + updates, -1)
    for threads in THREADS:
        assert same_bits(dmlcore.scatter_elements(table, indices, updates, -1, reduction="add", num_threads=threads), added)


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


@pytest.mark.parametrize("isa", ("baseline", "avx512", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("index", ("int64", "int32", "uint32", "uint64"))
@pytest.mark.parametrize("shape", ((70, 50), (300, 1100), (7, 20, 33), (3, 400, 200)), ids=str)
def test_tuples_out_of_near_tables(rng, every_thread, isa, shape, index):
    """Sixteen at a time and what is left; so many that the check keeps some offsets; a bad one is found wherever it is."""
    for dtype, count in [(d, c) for d in DTYPES for c in (1030, 5003)] + [("float64", 300_003)]:
        table = numbers(rng, shape, dtype)
        indices = np.stack([rng.integers(0 if index[0] == "u" else -n, n, count) for n in shape], -1).astype(index)
        both_outputs(dmlcore.gather_nd, table, indices, wanted=table[tuple(indices.astype("int64").T)])
    for bad in rng.integers(0, indices.size, 20):
        broken = indices.copy()
        broken.flat[bad] = shape[bad % len(shape)]
        with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
            dmlcore.gather_nd(table, broken)
        assert caught.value.position == np.unravel_index(bad, indices.shape)


@pytest.mark.parametrize("isa", ("baseline", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("shape", ((1200, 300), (2, 700, 512), (4000, 70), (40, 9000), (2, 70, 2100)), ids=str)
def test_tiles_of_large_planes(rng, every_thread, isa, shape):
    axis = len(shape) - 2
    table, updates = numbers(rng, shape, "float32"), numbers(rng, shape, "float32")
    indices = rng.integers(-shape[axis], shape[axis], shape)
    both_outputs(dmlcore.gather_elements, table, indices, wanted=np.take_along_axis(table, indices, axis), axis=axis)
    wanted = table.copy()
    np.put_along_axis(wanted, indices, updates, axis)
    both_outputs(dmlcore.scatter_elements, table, indices, updates, wanted=wanted, axis=axis)


@pytest.mark.parametrize("shape", ((301, 217), (64, 1100), (9, 2000), (40, 13, 30), (3, 130, 90), (4096, 70)), ids=str)
@pytest.mark.parametrize(
    ("dtype", "index"), (("uint8", "int32"), ("float16", "int64"), ("float32", "int32"), ("complex128", "int64")), ids=str
)
def test_the_other_way_round(rng, every_thread, shape, dtype, index):
    """Indices, data and updates in other orders of memory than the output, along every axis."""
    for axis in range(len(shape)):
        table = numbers(rng, [n + 3 * (d == axis) for d, n in enumerate(shape)], dtype)
        length = table.shape[axis]
        positive = rng.integers(0, length, shape).astype(index)
        indices = np.where(rng.random(shape) < 0.3, positive - length, positive).astype(index)
        updates = numbers(rng, shape, dtype)
        gathered = np.take_along_axis(table, positive, axis)
        unique = np.argsort(rng.random(shape), axis).astype(index)
        scattered = table.copy()
        np.put_along_axis(scattered, unique, updates, axis)
        for other_indices, other_unique in zip(either_way(indices), either_way(unique), strict=True):
            both_outputs(dmlcore.gather_elements, table, other_indices, axis=axis, wanted=gathered)
            both_outputs(dmlcore.scatter_elements, table, other_unique, updates, axis=axis, wanted=scattered)
        for other in either_way(table):
            both_outputs(dmlcore.gather_elements, other, indices, axis=axis, wanted=gathered)
            both_outputs(dmlcore.scatter_elements, other, unique, updates, axis=axis, wanted=scattered)
        for other in either_way(updates):
            both_outputs(dmlcore.scatter_elements, table, unique, other, axis=axis, wanted=scattered)
        both_outputs(dmlcore.gather_elements, np.asfortranarray(table), np.asfortranarray(indices), axis=axis, wanted=gathered)
        few = positive // 5 * 5  # duplicates: the last one stays
        wanted = table.copy()
        for step in range(shape[axis]):
            at = (slice(None),) * axis + (slice(step, step + 1),)
            np.put_along_axis(wanted, few[at], updates[at], axis)
        for other in either_way(few):
            both_outputs(dmlcore.scatter_elements, table, other, updates, axis=axis, wanted=wanted)


@pytest.mark.parametrize(
    "shape", ((3000, 2), (2, 2500), (900, 3), (3, 1100), (700, 8), (501, 13), (13, 400), (128, 128)), ids=str
)
@pytest.mark.parametrize("index", ("int32", "int64"))
def test_few_columns_the_other_way_round(rng, every_thread, shape, index):
    """Indices in Fortran order, of few rows or columns, along either axis; also backwards, and every second one."""
    for axis in (0, 1):
        table, updates = numbers(rng, shape, "float32"), numbers(rng, shape, "float32")
        indices = rng.integers(-shape[axis], shape[axis], shape).astype(index)
        gathered, scattered = wanted_of("elements", table, indices, updates, axis)
        twice = np.repeat(indices.T, 2, axis=0)
        for given in (np.asfortranarray(indices), np.asfortranarray(indices[::-1])[::-1], twice[::2].T, twice[::-2].T[:, ::-1]):
            both_outputs(dmlcore.gather_elements, table, given, axis=axis, wanted=gathered)
            both_outputs(dmlcore.scatter_elements, table, given, updates, axis=axis, wanted=scattered)


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


@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512"), indirect=True)
@pytest.mark.parametrize("density", (0, 0.002, 0.01, 0.04, 0.06, 0.3, 0.6, 1))
def test_non_zero_elements_of_short_rows(rng, every_thread, isa, density):
    """Few found elements, whose coordinates are divided out, and many, which look them up; dimensions of one step as well; rows
    that begin and end within a word of the bitmap, with an element at the very end.
    """
    shapes = ((4, 64, 4, 1), (1, 700, 3), (2, 3, 4, 5, 6, 1, 7), (2100, 2), (3, 257), (1, 1, 5), (2, 1, 70, 90), (9, 1, 1))
    for shape in (*shapes, (9, 1531), (20_011,), (3, 4095), (70, 577)):
        x = (rng.random(shape) < density).astype("uint8")
        x.flat[-1] = density > 0
        wanted = np.argwhere(x)
        for dtype in ("uint32", "int64"):
            for threads in THREADS:
                found = dmlcore.nonzero_coordinates(x, dtype=dtype, num_threads=threads)
                assert found.dtype == dtype and np.array_equal(found, wanted), (shape, dtype, threads)


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
