"""Planes: columns a power of two apart, tiles of large ones, indices and tables that lie the other way round. Each against
NumPy's own functions.
"""

import numpy as np
import pytest
from moves import DTYPES, THREADS, both_outputs, numbers, wanted_of
from oracle import same_bits

import dmlcore

# few rows, and columns that blocks of four and of eight hold
NARROW = ((2, 47), (3, 130), (4, 300), (6, 333), (1002, 2), (1001, 4), (1003, 7), (1005, 8))


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


@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512-gathers"), indirect=True)
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


def either_way(array):
    """The same in Fortran order, and as a transposed view; three dimensions also in mixed orders."""
    yield np.asfortranarray(array)
    if array.ndim == 3:
        yield np.ascontiguousarray(array.transpose(1, 2, 0)).transpose(2, 0, 1)
        yield np.ascontiguousarray(array.transpose(0, 2, 1)).transpose(0, 2, 1)


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
    "shape",
    ((3000, 2), (2, 2500), (900, 3), (3, 1100), (701, 4), (450, 5), (901, 7), (700, 8), (501, 13), (13, 400), (128, 128)),
    ids=str,
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


@pytest.mark.parametrize("isa", ("avx2", "avx512", "avx512-granite"), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize("length", (300, 2**31 - 1, 2**31))
@pytest.mark.parametrize("shape", ((12, 20), (60, 61), (50, 90), (333, 17), (9, 600), (130, 129), (700, 600), *NARROW), ids=str)
def test_one_bad_index_the_other_way_round(rng, every_thread, isa, index, length, shape):
    """Whatever its bits are and wherever it lies, also where turning narrows it: it is found, and `out` stays as it was. The
    last one is more than is turned at once."""
    rows, columns = shape
    table = np.broadcast_to(np.arange(rows, dtype="int16")[:, None], (rows, length))
    info, low = np.iinfo(index), -length if index.startswith("int") else 0
    indices = np.asfortranarray(rng.integers(low, length, shape).astype(index))
    wanted = np.broadcast_to(table[:, :1], shape)
    values = (length, low - 1, 2**32, 2**32 + 5, -(2**32), 5 - 2**32, 2**40 + 1, info.min, info.max)
    bad = [value for value in values if info.min <= value <= info.max and not low <= value < length]
    corners = [(0, 0), (rows - 1, 0), (0, columns - 1), (rows - 1, columns - 1)]
    places = [*corners, *zip(rng.integers(0, rows, 5), rng.integers(0, columns, 5), strict=True)]
    updates, few = np.zeros(shape, "int16"), np.zeros((rows, 300), "int16")
    for threads in (1, 2):
        out = np.zeros(shape, "int16")
        dmlcore.gather_elements(table, indices, axis=1, out=out, num_threads=threads)
        assert (out == wanted).all()
        assert (dmlcore.gather_elements(table, indices, axis=1, num_threads=threads) == wanted).all()
        for number, place in enumerate(places if bad else ()):
            broken = indices.copy(order="F")
            broken[place] = value = bad[number % len(bad)]
            out = np.full(shape, 7, "int16")
            for given in ({"out": out}, {}):
                with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                    dmlcore.gather_elements(table, broken, axis=1, num_threads=threads, **given)
                assert (caught.value.position, caught.value.value) == (place, value)
            assert (out == 7).all()
            if length == 300:
                out = np.full(few.shape, 7, "int16")
                for given in ({"out": out}, {}):
                    with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                        dmlcore.scatter_elements(few, broken, updates, axis=1, num_threads=threads, **given)
                    assert (caught.value.position, caught.value.value) == (place, value)
                assert (out == 7).all()
