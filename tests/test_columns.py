"""Columns: the same few indices for every row of a table, near or so wide that no cache holds what is met of it; and updates of
columns, some at a time. Each against NumPy's own functions, with one thread and with three, into a fresh array and into `out=`.
"""

import numpy as np
import pytest
from layouts import reordered
from oracle import same_bits

import dmlcore

SHAPES = ((40, 60), (300, 7), (2100, 9000), (5, 7, 30), (9, 300, 12), (20, 3000, 320), (20, 9, 90_000))
INDEXES = ("int64", "int32", "uint32", "uint64")


def gathered(x, indices, axis, wanted):
    for threads in (1, 3):
        assert same_bits(dmlcore.gather(x, indices, axis=axis, num_threads=threads), wanted)
        out = np.zeros_like(wanted)
        dmlcore.gather(x, indices, axis=axis, out=out, num_threads=threads)
        assert same_bits(out, wanted)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_columns(rng, every_thread, isa, shape):
    """One index and many, as they are and every third, rows of them; the table as it is and backwards."""
    for k, dtype in enumerate(("uint8", "float16", "float32", "int64", "complex128")):
        table = rng.integers(0, 100, shape).astype(dtype)
        for axis in range(len(shape)):
            for count in (1, 2, 5, 13, 61, 700):
                if count * table.size // shape[axis] > 500_000:
                    continue
                x = table[::-1] if count == 5 else table
                low, index = -shape[axis], INDEXES[(k + count) % 4]
                indices = rng.integers(0 if index[0] == "u" else low, -low, count).astype(index)
                gathered(x, indices, axis, x.take(indices.astype("int64"), axis))
                apart = indices[::3]
                gathered(x, apart, axis, x.take(apart.astype("int64"), axis))
    rows = rng.integers(0, shape[-1], (3, 4, 2)).transpose(1, 2, 0)
    gathered(x, rows, -1, x.take(rows, -1))


@pytest.mark.parametrize("isa", ("baseline", "avx512-zen5"), indirect=True)
@pytest.mark.parametrize("dtype", ("uint8", "float16", "float32", "float64", "complex128"))
@pytest.mark.parametrize("rows", (999, 1000, 2137, 16_384))
def test_a_column_whose_rows_meet_in_the_cache(rng, isa, dtype, rows):
    """Elements whole pages apart, forwards and backwards, also of the last column."""
    columns = 4096 // np.dtype(dtype).itemsize
    table = np.zeros((rows, columns), dtype)  # most of its pages are never touched
    for column in (0, columns - 1):
        table[:, column] = rng.integers(0, 100, rows)
        for x in (table, table[::-1]):
            gathered(x, np.array([column]), 1, x.take([column], 1))
    one = np.broadcast_to(table[:1, -1:], (rows, 3))  # no pages apart, but all the same place
    gathered(one, np.array([1]), 1, one.take([1], 1))


@pytest.mark.parametrize("shape", ((60, 41), (2100, 9000), (12, 9, 30)), ids=str)
def test_other_orders(rng, every_thread, shape):
    """Transposed tables and outputs, and indices of gather_elements that are the same for every row."""
    for order in ((1, 0), (2, 1, 0), (0, 2, 1)):
        if len(order) != len(shape):
            continue
        x = reordered(rng.random(shape, np.float32), order)
        columns = rng.integers(-shape[-1], shape[-1], 6)
        same = np.broadcast_to(columns, (*shape[:-1], 6))
        wanted = np.take_along_axis(x, same, -1)
        gathered(x, columns, -1, wanted)
        out = reordered(np.zeros_like(wanted), order)
        for threads in (1, 3):
            assert same_bits(dmlcore.gather_elements(x, same, axis=-1, num_threads=threads), wanted)
            dmlcore.gather(x, columns, axis=-1, out=out, num_threads=threads)
            assert same_bits(out, wanted)
            updates = rng.random(same.shape, np.float32)
            target = x.copy()
            np.put_along_axis(target, same, updates, -1)  # of two updates of one place the last one stays
            found = dmlcore.scatter_elements(x, same, updates, axis=-1, num_threads=threads)
            assert same_bits(found, np.ascontiguousarray(target))


@pytest.mark.parametrize("isa", ("baseline", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("dtype", ("uint8", "float16", "float32", "int64", "complex128"))
@pytest.mark.parametrize("shape, axis", (((7, 60_001), 0), ((100, 9000), 0), ((255, 5000), 0), ((3, 40, 5, 3001), 1)), ids=str)
def test_updates_of_columns(rng, every_thread, isa, shape, axis, dtype):
    """Planes that no second-level cache holds are copied and updated some columns at a time; the last update stays."""
    x = rng.integers(0, 100, shape).astype(dtype)
    for count, index in ((4, "int32"), (19, "int64")):
        sizes = [*shape[:axis], count, *shape[axis + 1 :]]
        indices = rng.integers(-shape[axis], shape[axis], sizes).astype(index)
        updates = rng.integers(0, 100, sizes).astype(dtype)
        wanted, added = x.copy(), x.copy()
        for k in range(count):
            one = np.s_[(*(slice(None),) * axis, slice(k, k + 1))]
            np.put_along_axis(wanted, indices[one], updates[one], axis)
            before = np.take_along_axis(added, indices[one], axis)
            np.put_along_axis(added, indices[one], before + updates[one], axis)
        for threads in (1, 3):
            options = {"axis": axis, "num_threads": threads}
            assert same_bits(dmlcore.scatter_elements(x, indices, updates, **options), wanted)
            place = x.copy()
            dmlcore.scatter_elements(place, indices, updates, out=place, **options)
            assert same_bits(place, wanted)
            if dtype != "complex128":
                assert same_bits(dmlcore.scatter_elements(x, indices, updates, reduction="add", **options), added)
        broken, out = indices.copy(), np.full_like(x, 7)
        broken[..., -1] = 10**6
        with pytest.raises(dmlcore.IndexOutOfRangeError, match="1000000"):
            dmlcore.scatter_elements(x, broken, updates, axis=axis, out=out)
        assert (out == 7).all()


@pytest.mark.parametrize("dtype", ("uint8", "float32", "float64"))
@pytest.mark.parametrize("shape, used", (((135, 924), 924), ((64, 4099), 4000), ((9, 6200), 6199), ((1000, 520), 520)), ids=str)
def test_updates_shared_by_columns(rng, every_thread, shape, used, dtype):
    """Each thread copies and updates columns of its own, part by part; the last ones are copied with what is not updated."""
    x = rng.integers(0, 100, shape).astype(dtype)
    indices = rng.integers(-shape[0], shape[0], (60, used))
    updates = rng.integers(0, 100, indices.shape).astype(dtype)
    wanted = x.copy()
    for row, update in zip(indices, updates, strict=True):
        np.put_along_axis(wanted[:, :used], row[None], update[None], 0)
    for threads in (1, 2, 3, 8):
        assert same_bits(dmlcore.scatter_elements(x, indices, updates, axis=0, num_threads=threads), wanted), threads
        out = np.zeros_like(x)
        dmlcore.scatter_elements(x, indices, updates, axis=0, out=out, num_threads=threads)
        assert same_bits(out, wanted), threads
        dmlcore.scatter_elements(out, indices, updates, axis=0, out=out, num_threads=threads)
        assert same_bits(out, wanted), threads
    indices[-1, -1], out = 10**6, np.full_like(x, 7)
    with pytest.raises(dmlcore.IndexOutOfRangeError, match="1000000"):
        dmlcore.scatter_elements(x, indices, updates, axis=0, out=out)
    assert (out == 7).all()


def test_updates_of_columns_that_rows_have_twice(rng, every_thread):
    """One row of indices, whose halves are not next to each other: the columns of both are in the same rows of the table."""
    x = rng.integers(0, 100, (10, 2, 13_001)).astype(np.float32)
    indices = rng.integers(0, 10, (1, 2, 14_000))[..., : x.shape[2]]
    updates = rng.integers(100, 200, (1, 2, 14_000)).astype(np.float32)[..., : x.shape[2]]
    wanted = x.copy()
    np.put_along_axis(wanted, indices, updates, 0)
    for threads in (1, 2, 3, 8):
        assert same_bits(dmlcore.scatter_elements(x, indices, updates, axis=0, num_threads=threads), wanted), threads
        out = np.zeros_like(x)
        dmlcore.scatter_elements(x, indices, updates, axis=0, out=out, num_threads=threads)
        assert same_bits(out, wanted), threads


@pytest.mark.parametrize("reduction, mode", (("add", "raise"), ("none", "drop"), ("none", "raise")))
@pytest.mark.parametrize("shape", ((8, 16, 2000), (3, 3, 1163)), ids=str)
def test_columns_that_pairs_name(rng, every_thread, shape, reduction, mode):
    """Slices whose updates are not next to each other: of a pair, the first coordinate names several rows of the table."""
    x = rng.integers(0, 100, shape).astype(np.float32)
    indices = np.stack([rng.integers(0, n, 200) for n in shape[:2]], 1)
    values = rng.integers(0, 9, (200, 2 * shape[2])).astype(np.float32)
    for updates in (np.asfortranarray(values[:, ::2]), values[:, ::2], np.broadcast_to(values[:, :1], (200, shape[2]))):
        wanted = x.copy()
        for pair, update in zip(indices, updates, strict=True):
            wanted[tuple(pair)] = update + (wanted[tuple(pair)] if reduction == "add" else 0)
        for threads in (1, 2, 3, 8):
            options = {"reduction": reduction, "mode": mode, "num_threads": threads}
            assert same_bits(dmlcore.scatter_nd(x, indices, updates, **options), wanted), threads
            out = np.zeros_like(x)
            dmlcore.scatter_nd(x, indices, updates, out=out, **options)
            assert same_bits(out, wanted), threads


@pytest.mark.parametrize("mode", ("clip", "fill"))
@pytest.mark.parametrize("shape", ((40, 60), (2100, 9000)), ids=str)
def test_modes(rng, mode, shape):
    x, columns = rng.random(shape, np.float32), rng.integers(-2 * shape[1], 2 * shape[1], 9)
    inside = np.clip(np.where(columns < 0, columns + shape[1], columns), 0, shape[1] - 1)
    wanted = x.take(inside, 1)
    if mode == "fill":
        wanted[:, (columns < -shape[1]) | (columns >= shape[1])] = 7
    options = {"mode": mode} | ({"fill_value": 7} if mode == "fill" else {})
    for threads in (1, 3):
        assert same_bits(dmlcore.gather(x, columns, axis=1, num_threads=threads, **options), wanted)


@pytest.mark.parametrize("shape", ((40, 60), (2100, 9000)), ids=str)
def test_out_of_range(rng, shape):
    """The first one is named; `out=` stays as it was."""
    x, columns = rng.random(shape, np.float32), rng.integers(0, shape[1], 8)
    columns[5:] = (shape[1], -1, 10**12)
    out = np.full((shape[0], 8), 7, np.float32)
    for options in ({}, {"out": out}):
        with pytest.raises(dmlcore.IndexOutOfRangeError, match=rf"indices\[5\].* is {shape[1]},"):
            dmlcore.gather(x, columns, axis=1, **options)
    assert (out == 7).all()


@pytest.mark.parametrize("dtype", ("uint8", "float32", "float64", "complex128"))
@pytest.mark.parametrize(
    "shape, count", (((2, 256, 513), 96), ((2, 40, 513), 2), ((3, 40, 600), 2), ((2, 3, 7, 1025), 5)), ids=str
)
def test_rows_of_columns(rng, every_thread, shape, count, dtype):
    """Indices that are the same for a whole row, so that it moves as one slice, where columns are shared out in several planes:
    the last columns may be few. The planes' indices differ, or all are the same ones."""
    x = rng.integers(0, 100, shape).astype(dtype)
    sizes = (*shape[:-2], count, shape[-1])
    updates = rng.integers(0, 100, sizes).astype(dtype)
    planes = rng.integers(-shape[-2], shape[-2], (*sizes[:-1], 1))
    for rows in (np.broadcast_to(planes, sizes).copy(), np.broadcast_to(planes[:1, ..., :1, :1], sizes)):
        for indices in (rows, np.broadcast_to(rows[0].copy(), sizes)):
            wanted = x.copy()
            for k in range(count):
                np.put_along_axis(wanted, indices[..., k : k + 1, :], updates[..., k : k + 1, :], -2)
            for threads in (1, 2, 3):
                place = x.copy()
                dmlcore.scatter_elements(place, indices, updates, axis=-2, out=place, num_threads=threads)
                assert same_bits(place, wanted)
                assert same_bits(dmlcore.scatter_elements(x, indices, updates, axis=-2, num_threads=threads), wanted)
            assert same_bits(dmlcore.gather_elements(x, indices, axis=-2), np.take_along_axis(x, indices, -2))


LARGE_PLANES = (
    ("float32", (9, 470_001)),
    ("float64", (33, 32_003)),
    ("float64", (16, 65_536)),
    ("int64", (2, 12, 90_100)),
    ("complex128", (3, 110, 2501)),
)


@pytest.mark.parametrize("dtype, shape", LARGE_PLANES, ids=str)
def test_columns_of_planes_that_no_cache_holds(rng, every_thread, dtype, shape):
    """Planes along whose rows positions walk are read some columns at a time; the last ones are fewer."""
    x, axis = rng.integers(0, 1000, shape).astype(dtype), len(shape) - 2
    if dtype == "complex128":
        x = np.broadcast_to(x[:1], shape)
    for count, index in ((shape[axis], "int32"), (15, "int64")):
        indices = rng.integers(-shape[axis], shape[axis], (*shape[:axis], count, shape[-1])).astype(index)
        wanted = np.take_along_axis(x, indices, axis)
        out = np.full_like(wanted, 7)
        for threads in (1, 3):
            assert same_bits(dmlcore.gather_elements(x, indices, axis, num_threads=threads), wanted)
            dmlcore.gather_elements(x, indices, axis, out=out, num_threads=threads)
            assert same_bits(out, wanted)
        indices[..., -1] = 10**6
        out[:] = 7
        for given in (None, out):
            with pytest.raises(dmlcore.IndexOutOfRangeError, match="1000000"):
                dmlcore.gather_elements(x, indices, axis, out=given)
        assert (out == 7).all()
