"""Moves and reductions of so few positions that no plan is made for them (few.c), and of a few more: slices, rows of
elements, elements any way apart, indices of several and of many dimensions. Each against NumPy, into fresh arrays and
into `out=`.
"""

import itertools
import re

import numpy as np
import pytest
from moves import DTYPES, apart, numbers, wanted_of
from oracle import same_bits

import dmlcore

FEW = (1, 7, 24, 192, 193, 512, 513)
WIDTHS = (1, 2, 3, 4, 8, 15, 16, 64, 191, 192, 384, 1025, 8192, 8193, 196_608, 196_609)


@pytest.mark.parametrize(("count", "width"), [(n, w) for n, w in itertools.product(FEW, WIDTHS) if n * w <= 2**20])
def test_few_positions(rng, each_way, count, width):
    """As many as are moved without a plan, and one more; slices and copies as long as that takes, and longer. A bad index
    leaves the output as it was.
    """
    for rows in sorted({1, max(1, 65536 // width), 2**19 // width + 1, max(1, 2**20 // width), 2**20 // width + 1}):
        x = rng.integers(0, 255, (rows, width), np.uint8)
        at = rng.integers(-rows, rows, count)
        indices, updates = at[:, np.newaxis], rng.integers(0, 255, (count, width), np.uint8)
        wanted = x.copy()
        for place, row in zip(at, updates, strict=True):
            wanted[place] = row
        out, whole = np.empty_like(updates), np.empty_like(x)
        for gathered in (dmlcore.gather(x, at), dmlcore.gather_nd(x, indices), dmlcore.gather_nd(x, indices, out=out)):
            assert (gathered == x[at]).all()
        assert (dmlcore.gather_elements(x, np.repeat(indices, width, 1), 0) == x[at]).all()
        inside = x.copy()
        for scattered in (
            dmlcore.scatter_nd(x, indices, updates),
            dmlcore.scatter_nd(x, indices, updates, out=whole),
            dmlcore.scatter_nd(inside, indices, updates, out=inside),
        ):
            assert (scattered == wanted).all()
        bad = indices.copy()
        bad[rng.integers(count)] = rows if rng.random() < 0.5 else -rows - 1
        before = out.copy(), inside.copy()
        with pytest.raises(dmlcore.IndexOutOfRangeError):
            dmlcore.gather_nd(x, bad, out=out)
        with pytest.raises(dmlcore.IndexOutOfRangeError):
            dmlcore.scatter_nd(x, bad, updates, out=whole)
        with pytest.raises(dmlcore.IndexOutOfRangeError):
            dmlcore.scatter_nd(inside, bad, updates, out=inside)
        assert (out == before[0]).all() and (inside == before[1]).all() and (whole == wanted).all()


@pytest.mark.parametrize("count", (1, 16, 17, 128, 129))
def test_few_slices_of_a_far_table(rng, each_way, count):
    """Out of and into a table that no cache holds, where fewer are moved without a plan, and slices whose elements are apart. A
    bad index leaves the output as it was.
    """
    x = rng.integers(0, 255, (9 * 2**20 // 1000, 1000), np.uint8)
    for columns in (1000, 192, 100):
        table = np.ascontiguousarray(x[:, :columns].repeat(1000 // columns, axis=0))
        at = rng.integers(-len(table), len(table), count)
        indices, out = at[:, np.newaxis].copy(), np.empty((count, columns), np.uint8)
        assert (dmlcore.gather(table, at) == table[at]).all()
        assert (dmlcore.gather(table[:, 3:19:2], at) == table[at, 3:19:2]).all()
        assert (dmlcore.gather_nd(table, indices, out=out) == table[at]).all()
        updates, wanted = 255 - out, table.copy()
        for place, row in zip(at, updates, strict=True):
            wanted[place] = row
        scattered = table.copy()
        assert (dmlcore.scatter_nd(scattered, indices, updates, out=scattered) == wanted).all()
        before, indices[-1] = out.copy(), len(table)
        with pytest.raises(dmlcore.IndexOutOfRangeError):
            dmlcore.gather_nd(table, indices, out=out)
        with pytest.raises(dmlcore.IndexOutOfRangeError):
            dmlcore.scatter_nd(scattered, indices, updates, out=scattered)
        assert (out == before).all() and (scattered == wanted).all()


@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize(
    ("count", "width"), ((1, 49_152), (1, 49_153), (2, 8192), (24, 2048), (192, 48), (193, 48), (512, 32), (512, 96))
)
def test_few_long_slices(rng, isa, count, width):
    """float32, the longest that go without a plan and one more, copied and added, several to one place in order."""
    x, updates = numbers(rng, (20, width), "float32"), numbers(rng, (count, width), "float32")
    at = rng.integers(-20, 20, count)
    wanted, added = x.copy(), x.copy()
    for place, row in zip(at, updates, strict=True):
        wanted[place] = row
        added[place] += row
    indices, out = at[:, np.newaxis], np.empty_like(updates)
    assert same_bits(dmlcore.gather(x, at), x[at])
    assert same_bits(dmlcore.gather(x, at, out=out), x[at])
    assert same_bits(dmlcore.scatter_nd(x, indices, updates), wanted)
    places = np.broadcast_to(indices, updates.shape)
    assert same_bits(dmlcore.scatter_elements(x, places, updates), wanted)
    assert same_bits(dmlcore.scatter_elements(x, places, updates, reduction="add"), added)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("index", ("int32", "uint32", "int64", "uint64"))
@pytest.mark.parametrize("dtype", DTYPES)
def test_few_in_a_row(rng, each_way, dtype, index):
    """Elements that are named one after the other, up to as many as are moved without a plan: out of dense tables, of every
    second element and from the last one on, near and far; updates overwrite or are combined, in order. Each index in turn is
    just beyond an end, or as far as its type goes.
    """
    info, signed = np.iinfo(index), index[0] == "i"
    reductions = {"add": np.add, "max": np.maximum} if dtype != "complex128" else {}
    for count in (1, 2, 12, 13, 129, 400, 401, 4096, 4097, 8192, 8193):
        for rows, step in ((1, 1), (60, 1), (30, 2), (300, 1), (300, 2), (300, -1), (50_000, 1), (1_100_000, 1)):
            if (rows > 50_000 and count not in (13, 4096)) or (count > 4097 and step < 0):
                continue
            x = numbers(rng, (rows * abs(step)), dtype)[::step]
            at = rng.integers(-rows if signed else 0, rows, count).astype(index)
            updates = numbers(rng, count, dtype)
            wanted = x.copy()
            for place, update in zip(at, updates, strict=True):
                wanted[place] = update
            assert same_bits(dmlcore.gather(x, at), x[at])
            assert same_bits(dmlcore.gather(x, at % rows), x[at % rows])
            assert same_bits(dmlcore.scatter_elements(x, at, updates), wanted)
            for reduction, combine in reductions.items():
                combined = x.copy()
                with np.errstate(over="ignore"):  # thousands of float16 to one place
                    combine.at(combined, at, updates)
                assert same_bits(dmlcore.scatter_elements(x, at, updates, reduction=reduction), combined)
                inside = x.copy()
                assert same_bits(dmlcore.scatter_elements(inside, at, updates, out=inside, reduction=reduction), combined)
            for bad in {rows, info.max, *([-rows - 1, info.min] if signed else [])}:
                place = rng.integers(count)
                broken, out, inside = at.copy(), updates.copy(), x.copy()
                broken[place] = bad
                message = rf"\[{place}\].*{bad}|{bad}.*\[{place}\]"
                with pytest.raises(dmlcore.IndexOutOfRangeError, match=message):
                    dmlcore.gather(x, broken, out=out)
                with pytest.raises(dmlcore.IndexOutOfRangeError, match=message):
                    dmlcore.scatter_elements(inside, broken, updates, out=inside)
                if reductions:
                    with pytest.raises(dmlcore.IndexOutOfRangeError, match=message):
                        dmlcore.scatter_elements(inside, broken, updates, out=inside, reduction="add")
                assert same_bits(out, updates) and same_bits(inside, x.copy())


@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("index", ("int32", "uint32", "int64", "uint64"))
@pytest.mark.parametrize(
    "shape", ((1, 13), (8, 16), (500, 2), (64, 64), (65, 64), (1, 4096), (128, 64), (129, 64), (2, 3, 1, 7, 11)), ids=str
)
def test_few_that_walk_along_the_table(rng, isa, shape, index):
    """Positions of several dimensions, each of which begins at a place of its own in the table: up to as many as are moved
    without a plan, and more; a bad index leaves the output as it was.
    """
    signed = index[0] == "i"
    for dtype, axis, length in itertools.product(DTYPES, {0, len(shape) - 1}, (1, 9)):
        x = numbers(rng, (*shape[:axis], length, *shape[axis + 1 :]), dtype)
        at = rng.integers(-length if signed else 0, length, shape).astype(index)
        places, updates = at.astype("int64") % length, numbers(rng, shape, dtype)
        gathered, scattered = np.take_along_axis(x, places, axis), x.copy()
        np.put_along_axis(scattered, places, updates, axis)  # NumPy too keeps the last one
        for table in (x, np.asfortranarray(x)):
            out, whole = np.empty_like(gathered), np.empty_like(x)
            assert same_bits(dmlcore.gather_elements(table, at, axis), gathered)
            assert same_bits(dmlcore.gather_elements(table, at, axis, out=out), gathered)
            assert same_bits(dmlcore.scatter_elements(table, at, updates, axis), scattered)
            assert same_bits(dmlcore.scatter_elements(table, at, updates, axis, out=whole), scattered)
            if dtype != "complex128":
                largest, where = x.copy(), list(np.indices(shape))
                where[axis] = places
                np.maximum.at(largest, tuple(where), updates)
                assert same_bits(dmlcore.scatter_elements(table, at, updates, axis, reduction="max"), largest)
            broken, place = at.copy(), int(rng.integers(at.size))
            broken.flat[place] = length
            with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                dmlcore.gather_elements(table, broken, axis, out=out)
            assert caught.value.position == np.unravel_index(place, shape) and same_bits(out, gathered)
            with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                dmlcore.scatter_elements(table, broken, updates, axis, out=whole)
            assert caught.value.position == np.unravel_index(place, shape) and same_bits(whole, scattered)


SHAPES = ((30, 40), (5, 6, 7), (3, 4, 5, 6), (2, 3, 2, 3, 2), (3, 2, 2, 2, 3, 2), (2, 1, 2, 3, 2, 2, 2))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("index", ("int32", "uint32", "int64", "uint64"))
@pytest.mark.parametrize("count", (1, 12, 13, 128, 129, 4096, 4097, 8192, 8193))
def test_few_tuples(rng, isa, count, index):
    """Elements that tuples of two to seven name, one after the other; the last update of an element stays."""
    signed = index[0] == "i"
    for shape, dtype in itertools.product(SHAPES, DTYPES):
        x, updates = numbers(rng, shape, dtype), numbers(rng, count, dtype)
        places = np.stack([rng.integers(0, n, count) for n in shape], -1)
        at = (places - np.where(rng.random(places.shape) < 0.3, shape, 0) if signed else places).astype(index)
        wanted = x.copy()
        for place, update in zip(map(tuple, places), updates, strict=True):
            wanted[place] = update
        out, whole = np.empty_like(updates), np.empty_like(x)
        assert same_bits(dmlcore.gather_nd(x, at), x[tuple(places.T)])
        assert same_bits(dmlcore.gather_nd(x, at, out=out), x[tuple(places.T)])
        assert same_bits(dmlcore.scatter_nd(x, at, updates), wanted)
        assert same_bits(dmlcore.scatter_nd(x, at, updates, out=whole), wanted)
        k, place = int(rng.integers(len(shape))), int(rng.integers(count))
        broken = at.copy()
        broken[place, k] = shape[k]
        with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
            dmlcore.gather_nd(x, broken, out=out)
        assert caught.value.position[0] == place and same_bits(out, x[tuple(places.T)])
        with pytest.raises(dmlcore.IndexOutOfRangeError):
            dmlcore.scatter_nd(x, broken, updates, out=whole)
        assert same_bits(whole, wanted)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", ((62, 1), (1, 62), (31, 3), (3, 31), (1, 9, 1, 4, 2), (24, 4), (25, 4)))
def test_few_indices_of_several_dimensions(rng, each_way, shape, dtype):
    """One element of each row, of each column, of each plane: whichever dimension is the longest, of updates to one place
    the last one in row-major order stays.
    """
    for axis, length in itertools.product(range(len(shape)), (1, 5)):
        x = numbers(rng, (*shape[:axis], length, *shape[axis + 1 :]), dtype)
        at, updates = rng.integers(-length, length, shape), numbers(rng, shape, dtype)
        wanted, places = x.copy(), np.indices(shape)
        places[axis] = at
        for place in np.ndindex(shape):
            wanted[tuple(places[(slice(None), *place)])] = updates[place]
        for layout in (np.ascontiguousarray, np.asfortranarray):
            table, indices, values = layout(x), layout(at), layout(updates)
            assert same_bits(dmlcore.gather_elements(table, indices, axis=axis), x[tuple(places)])
            assert same_bits(dmlcore.scatter_elements(table, indices, values, axis=axis), wanted)
        broken = at.copy()
        place = tuple(rng.integers(shape))
        broken[place] = length
        with pytest.raises(dmlcore.IndexOutOfRangeError, match=re.escape(str([int(p) for p in place]))):
            dmlcore.gather_elements(x, broken, axis=axis)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", ((3, 4), (6, 2, 4), (8, 128), (8, 129), (5, 1, 3, 2)))
def test_few_apart(rng, each_way, shape, dtype):
    """Slices and copies of few elements that are not next to each other, up to as many as are moved without a plan, and more. A
    bad index leaves the output as it was.
    """
    for count in (1, 3, 8, 16, 17, 192, 193):
        at = rng.integers(-shape[0], shape[0], count)
        for way in (np.asfortranarray, lambda a: a[..., ::-1].copy()[..., ::-1], lambda a: np.repeat(a, 2, -1)[..., ::2]):
            x, updates = way(numbers(rng, shape, dtype)), way(numbers(rng, (count, *shape[1:]), dtype))
            wanted = x.copy()
            for place, update in zip(at, updates, strict=True):
                wanted[place] = update
            out, inside = way(np.zeros_like(updates)), way(x.copy())
            assert same_bits(dmlcore.gather(x, at), x[at])
            assert same_bits(dmlcore.gather_nd(x, at[:, np.newaxis], out=out), x[at])
            assert same_bits(dmlcore.scatter_nd(x, at[:, np.newaxis], updates), wanted)
            assert same_bits(dmlcore.scatter_nd(x, at[:, np.newaxis], updates, out=way(np.zeros_like(x))), wanted)
            assert same_bits(dmlcore.scatter_nd(inside, at[:, np.newaxis], updates, out=inside), wanted)
            bad = at[:, np.newaxis].copy()
            bad[-1] = shape[0]
            before = out.copy(), inside.copy()
            with pytest.raises(dmlcore.IndexOutOfRangeError):
                dmlcore.gather_nd(x, bad, out=out)
            with pytest.raises(dmlcore.IndexOutOfRangeError):
                dmlcore.scatter_nd(inside, bad, updates, out=inside)
            with pytest.raises(dmlcore.IndexOutOfRangeError):
                dmlcore.scatter_nd(x, bad, updates, out=inside)
            assert same_bits(out, before[0]) and same_bits(inside, before[1])


@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512-zen5", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("index", ("int32", "uint32", "int64", "uint64"))
@pytest.mark.parametrize("shape", ((129,), (50, 50), (3, 200), (200, 3), (1, 700), (5, 6, 50), (64, 64), (65, 64)), ids=str)
def test_few_indices_that_are_apart(rng, isa, index, shape):
    """Up to 4096 elements, and more, whose indices do not follow each other: gathered, scattered, added."""
    signed, size = index[0] == "i", 40
    for axis, dtype in itertools.product(range(len(shape)), ("uint8", "float32", "float64")):
        x = numbers(rng, (*shape[:axis], size, *shape[axis + 1 :]), dtype)
        updates, places = numbers(rng, shape, dtype), rng.integers(0, size, shape)
        wanted, scattered = wanted_of("elements", x, places, updates, axis)
        added, at = x.copy(), np.indices(shape)
        at[axis] = places
        np.add.at(added, tuple(at), updates)
        every_second = np.empty(tuple(2 * n for n in shape), index)[(slice(None, None, 2),) * len(shape)]
        every_second[:] = places - np.where(rng.random(shape) < 0.3, size, 0) if signed else places
        for given in (every_second, *apart(np.ascontiguousarray(every_second))):
            out, whole = np.zeros_like(wanted), np.zeros_like(x)
            assert same_bits(dmlcore.gather_elements(x, given, axis), wanted)
            assert same_bits(dmlcore.gather_elements(x, given, axis, out=out), wanted)
            assert same_bits(dmlcore.scatter_elements(x, given, updates, axis), scattered)
            assert same_bits(dmlcore.scatter_elements(x, given, updates, axis, out=whole), scattered)
            assert same_bits(dmlcore.scatter_elements(x, given, updates, axis, reduction="add"), added)
            place = tuple(int(p) for p in rng.integers(shape))
            given[place] = size
            with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                dmlcore.gather_elements(x, given, axis, out=out)
            assert caught.value.position == place
            with pytest.raises(dmlcore.IndexOutOfRangeError):
                dmlcore.scatter_elements(x, given, updates, axis, out=whole)
            assert same_bits(out, wanted) and same_bits(whole, scattered)


@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512-zen5", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("count", (129, 2048, 4096, 4097))
def test_few_tuples_that_are_apart(rng, isa, count):
    """Those of two to seven coordinates whose columns follow each other, and others; each meets the length of its dimension."""
    for shape, index in itertools.product(SHAPES, ("int64", "uint32")):
        x, updates = numbers(rng, shape, "float32"), numbers(rng, count, "float32")
        places = np.stack([rng.integers(0 if index[0] == "u" else -n, n, count) for n in shape], -1).astype(index)
        wanted, scattered = wanted_of("tuples", x, places, updates)
        for given in apart(places):
            out = np.zeros_like(wanted)
            assert same_bits(dmlcore.gather_nd(x, given, out=out), wanted)
            assert same_bits(dmlcore.scatter_nd(x, given, updates), scattered)
            for k, n in enumerate(shape):
                place = int(rng.integers(count))
                good, given[place, k] = given[place, k], n
                with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                    dmlcore.gather_nd(x, given, out=out)
                assert caught.value.position == (place, k) and same_bits(out, wanted)
                given[place, k] = good


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="NumPy 1 has arrays of 32 dimensions")
@pytest.mark.parametrize("count", (2, 400))
def test_many_dimensions(rng, each_way, count):
    """Indices of so many dimensions that there are more than 64 of positions; transposed tables, too."""
    for shape in ((2, 3, 4), (5, 30, 40, 3)):
        x = rng.integers(0, 255, shape, np.uint8)
        for rank in (*range(30, 65 - len(shape), 3), 65 - len(shape)):
            for axis in range(len(shape)):
                at = rng.integers(0, shape[axis], count)
                wanted = x.take(at, axis).tobytes()
                indices = at.reshape((1,) * (rank - 1) + (count,))
                for table in (x, np.asfortranarray(x)):
                    assert dmlcore.gather(table, indices, axis=axis).tobytes() == wanted
                indices[..., -1] = shape[axis]
                with pytest.raises(dmlcore.IndexOutOfRangeError, match=rf"{count - 1}\]"):
                    dmlcore.gather(x, indices, axis=axis)
