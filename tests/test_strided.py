"""Slices whose elements do not follow each other in memory: transposed, cut out, every second column, from behind. Small
tables that are straightened as a whole, larger ones part by part, and those that are read where they are. And copies of such
tensors, which a scatter begins with. Each against NumPy's own functions.
"""

import itertools

import numpy as np
import pytest
from layouts import reordered
from moves import DTYPES, THREADS, both_outputs, numbers
from oracle import same_bits

import dmlcore

LAYOUTS = {
    "transposed": lambda a: reordered(a, range(a.ndim)[::-1]),
    "swapped": lambda a: reordered(a, (*range(a.ndim - 2), a.ndim - 1, a.ndim - 2)),
    "turned": lambda a: reordered(a, (*range(1, a.ndim), 0)),
    "every second": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "every third": lambda a: np.repeat(a, 3, axis=-1)[..., ::3],
    "backwards": lambda a: a[..., ::-1].copy()[..., ::-1],
    "cut out": lambda a: np.pad(a, [(1, 2)] * a.ndim)[(slice(1, -2),) * a.ndim],
}
SHAPES = (
    (7, 5, 9), (40, 3, 50), (3, 41, 2), (64, 64, 70), (150, 40, 5, 6), (6, 300, 200), (2, 3, 4, 5, 6, 7), (1200, 130, 9),
    (1, 512, 2, 193), (5, 40_001, 2),
)  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gathers(rng, every_thread, shape, layout):
    """Few positions and many, one coordinate and two, with all index types by turns."""
    types = itertools.cycle((("float32", "int64"), ("uint8", "int32"), ("complex128", "uint32"), ("float64", "uint64")))
    most = 4_000_000 // np.prod(shape[1:], dtype=int)
    for count, tuple_size in ((3, 1), (max(3, min(most, 3 * shape[0])), 1), (50, 2)):
        dtype, index = next(types)
        table = numbers(rng, shape, dtype)
        least = -1 if np.dtype(index).kind == "i" else 0
        tuples = np.stack([rng.integers(least * n, n, count) for n in shape[:tuple_size]], axis=-1).astype(index)
        x = LAYOUTS[layout](table)
        both_outputs(dmlcore.gather_nd, x, tuples, wanted=table[tuple(tuples.T.astype(int))])


@pytest.mark.parametrize("dtype", DTYPES)
def test_along_a_later_axis(rng, every_thread, dtype):
    """Positions on both sides of the axis, batches, and an output that lies the other way round as well."""
    table = numbers(rng, (9, 30, 4, 25), dtype)
    indices = rng.integers(-30, 30, (6, 11))
    wanted = np.take(table, indices, 1)
    for layout in LAYOUTS.values():
        x = layout(table)
        both_outputs(dmlcore.gather, x, indices, wanted=wanted, axis=1)
        for threads in THREADS:
            out = np.zeros(wanted.shape[::-1], dtype).T
            dmlcore.gather(x, indices, axis=1, out=out, num_threads=threads)
            assert same_bits(out, wanted)
        batches = rng.integers(-30, 30, (9, 70, 1))
        picked = np.stack([one[rows[:, 0]] for one, rows in zip(table, batches, strict=True)])
        both_outputs(dmlcore.gather_nd, x, batches, wanted=picked, batch_dims=1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", ((301, 4, 5), (2, 301, 2, 12), (130, 3, 70), (40, 6, 1, 33)), ids=str)
def test_planes(rng, every_thread, shape, dtype):
    """Positions with the same indices that walk along a transposed table: each index moves a plane, which threads share out."""
    table = numbers(rng, shape, dtype)
    axis = len(shape) - 2 if shape[1] > 6 else 1
    for count in (1, 2, shape[axis], 3 * shape[axis], 40):
        indices = rng.integers(-shape[axis], shape[axis], count)
        wanted = np.take(table, indices, axis)
        for x in (LAYOUTS["transposed"](table), LAYOUTS["turned"](table), LAYOUTS["transposed"](table)[::-1]):
            right = wanted if x.strides[0] > 0 else wanted[::-1]
            both_outputs(dmlcore.gather, x, indices, wanted=np.ascontiguousarray(right), axis=axis)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", (2, 3, 7, 12, 13))
def test_short_rows(rng, every_thread, size, dtype):
    """Every second element of short rows: one batch and several with the same indices, few positions and many, out of and into
    tables that no cache holds, and updates whose last one for a place stays.
    """
    for batches, rows, count in ((1, 50, 40), (1, 700, 1100), (3, 40, 600), (9, 40, 7), (30, 20, 100), (2, 1_100_000, 3000)):
        if batches * rows * size * np.dtype(dtype).itemsize > 2**26:
            continue
        x = np.repeat(numbers(rng, (batches, rows, size), dtype), 2, -1)[..., ::2]
        at = rng.integers(-rows, rows, count)
        updates = np.repeat(numbers(rng, (batches, count, size), dtype), 2, -1)[..., ::2]
        wanted = x.copy()
        last = np.full(rows, -1)
        last[at] = np.arange(count)
        wanted[:, last >= 0] = updates[:, last[last >= 0]]
        indices = np.broadcast_to(at[:, np.newaxis], updates.shape)
        for table in (x, np.asfortranarray(x)):
            both_outputs(dmlcore.gather, table, at, wanted=x[:, at], axis=1)
            both_outputs(dmlcore.scatter_elements, table, indices, updates, wanted=wanted, axis=1)
            inside = table.copy(order="K")
            dmlcore.scatter_elements(inside, indices, updates, axis=1, out=inside)
            assert same_bits(inside, wanted)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", ((4096, 64), (747, 3, 401), (300, 30, 90), (8000, 30)), ids=str)
def test_less_than_the_table(rng, every_thread, shape, dtype):
    """Fewer positions than rows, so that some of what is straightened is not read."""
    table = numbers(rng, shape, dtype)
    x = reordered(table, range(len(shape))[::-1])
    for count in (shape[0] * 9 // 10, shape[0] * 6 // 10, shape[0] // 3):
        indices = rng.integers(-shape[0], shape[0], count)
        both_outputs(dmlcore.gather, x, indices, wanted=table[indices])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", ((4, 700, 200), (8, 129, 601), (16, 1700, 40), (6, 500, 190), (12, 5, 30, 700)), ids=str)
def test_slices_with_common_lines(rng, every_thread, shape, dtype):
    """Tables that are read once or twice, of which some are straightened in parts nevertheless, as slices share their lines."""
    table = numbers(rng, shape, dtype)
    x = reordered(table, range(len(shape))[::-1])
    for count in (shape[0] - 1, shape[0], 2 * shape[0] + 1):
        indices = rng.integers(-shape[0], shape[0], count)
        both_outputs(dmlcore.gather, x, indices, wanted=table[indices])
    pairs = np.stack([rng.integers(-size, size, shape[0] * 150) for size in shape[:2]], axis=1)
    both_outputs(dmlcore.gather_nd, x, pairs, wanted=table[pairs[:, 0], pairs[:, 1]])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", ((160, 1203), (160, 1203, 2), (40, 6001, 3), (300, 130, 7), (90, 700, 15)), ids=str)
@pytest.mark.parametrize("count", (2, 6, 29, 61))
def test_slices_side_by_side(rng, every_thread, shape, dtype, count):
    """A line of the table has parts of many slices, of which few are moved: by rows, in parts or not, or by short ones."""
    table = numbers(rng, shape, dtype)
    x = reordered(table, range(len(shape))[::-1])
    indices = rng.integers(-shape[0], shape[0], count)
    both_outputs(dmlcore.gather, x, indices, wanted=table[indices])
    places = rng.permutation(shape[0])[:count, np.newaxis]
    updates = numbers(rng, (len(places), *shape[1:]), dtype)
    wanted = table.copy()
    wanted[places[:, 0]] = updates
    both_outputs(dmlcore.scatter_nd, x, places, updates, wanted=wanted)
    for threads in THREADS:
        out = reordered(table, range(len(shape))[::-1])
        dmlcore.scatter_nd(out, places, updates, out=out, num_threads=threads)
        assert same_bits(out, wanted), threads


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", ((64, 2048), (70, 1027), (2, 530, 300), (2, 512, 64), (8, 129, 1024), (5, 70, 9)), ids=str)
def test_columns_side_by_side(rng, every_thread, shape, dtype):
    """Elements that meet in the cache, or that are near those of other slices, are moved by eight columns at a time, which
    leave some over: forwards and backwards, few slices and many, some of them several times, of which the last update stays.
    """
    table = numbers(rng, shape, dtype)
    for way in (1, -1):
        x = reordered(table, range(len(shape))[::-1])[..., ::way]
        right = np.ascontiguousarray(table[..., ::way])
        for count in (1, 3, 9, 70):
            indices = rng.integers(-shape[0], shape[0], count)
            both_outputs(dmlcore.gather, x, indices, wanted=right[indices])
            updates = numbers(rng, (count, *shape[1:]), dtype)
            wanted = right.copy()
            for place, update in zip(indices, updates, strict=True):
                wanted[place] = update
            both_outputs(dmlcore.scatter_nd, x, indices[:, np.newaxis], updates, wanted=wanted)
            for threads in THREADS:
                out = x.copy(order="K")
                dmlcore.scatter_nd(out, indices[:, np.newaxis], updates, out=out, num_threads=threads)
                assert same_bits(out, wanted), (way, count, threads)


@pytest.mark.parametrize("isa", ("baseline", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize(
    "shape", ((90, 5, 703), (130, 4, 1024), (200, 11, 300), (9, 33, 6, 260), (257, 3, 512), (16, 8, 4100)), ids=str
)
def test_elements_on_shared_pages(rng, every_thread, isa, shape):
    """Elements of eight bytes that have lines of their own, of which some share a page, met page by page: forwards and
    backwards, with columns left over and without, and copies of such tables. The last two shapes are not met so: elements
    too few, or too near along the rows.
    """
    table = numbers(rng, shape, "float64")
    for way in (1, -1):
        x = reordered(table, range(len(shape))[::-1])[..., ::way]
        right = np.ascontiguousarray(table[..., ::way])
        for count in (1, 3, 12):
            indices = rng.integers(-shape[0], shape[0], count)
            both_outputs(dmlcore.gather, x, indices, wanted=right[indices])
            updates = numbers(rng, (count, *shape[1:]), "float64")
            wanted = right.copy()
            for place, update in zip(indices, updates, strict=True):
                wanted[place] = update
            both_outputs(dmlcore.scatter_nd, x, indices[:, np.newaxis], updates, wanted=wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_order(rng, every_thread, dtype):
    """Every axis of tables in any order of memory: columns that are named, alone and in pairs, slices with neighbours in front
    of the axis, few and many of them, outputs in another order; and a bad index, which leaves the output as it was."""
    for shape in ((90, 70), (513, 40), (33, 20, 50), (4, 40, 600), (64, 64, 30), (3, 9, 10, 21), (2, 3, 4, 5, 40)):
        orders = list(itertools.permutations(range(len(shape))))
        for order in orders if len(orders) < 7 else (orders[k] for k in rng.integers(0, len(orders), 6)):
            table = numbers(rng, shape, dtype)
            x, axis = reordered(table, order), rng.integers(len(shape))
            bound = shape[axis]
            for count in (max(1, bound // 5), bound // 2 + 9, 2 * bound):
                if count * table.size // bound > 300_000:
                    continue
                indices = rng.integers(-bound, bound, count)
                wanted = np.take(table, indices, axis)
                both_outputs(dmlcore.gather, x, indices, wanted=wanted, axis=axis)
                places = [d for d in rng.permutation(len(shape))]
                for threads in THREADS:
                    out = reordered(np.zeros_like(wanted), places)
                    dmlcore.gather(x, indices, axis=axis, out=out, num_threads=threads)
                    assert same_bits(out, wanted), (shape, order, axis, count, places)
                    before = out.copy()
                    wrong = indices.copy()
                    wrong[-1] = bound
                    with pytest.raises(dmlcore.IndexOutOfRangeError, match=rf"\[{count - 1}\]"):
                        dmlcore.gather(x, wrong, axis=axis, out=out, num_threads=threads)
                    assert same_bits(out, before)
            if len(shape) < 3:
                continue
            pairs = np.stack([rng.integers(0, n, 60) for n in shape[-2:]], axis=-1).astype("uint32")
            batches = np.broadcast_to(pairs, (*shape[:-2], 60, 2))
            wanted = table[..., pairs[:, 0], pairs[:, 1]]
            both_outputs(dmlcore.gather_nd, x, batches, wanted=wanted, batch_dims=len(shape) - 2)


@pytest.mark.parametrize("order", ((0, 1, 3, 2), (0, 3, 1, 2), (1, 0, 3, 2), (3, 2, 1, 0)), ids=str)
def test_batches(rng, every_thread, order):
    """Large tables of batches each of which is straightened by itself, along the axis and with tuples, and a bad index."""
    for dtype in ("uint8", "float64", "complex128"):
        table = numbers(rng, (70, 11, 30, 31), dtype)
        x = reordered(table, order)
        for axis, count in ((1, 12), (1, 30), (2, 31), (2, 70)):
            indices = rng.integers(-table.shape[axis], table.shape[axis], (2, count // 2))
            both_outputs(dmlcore.gather, x, indices, wanted=np.take(table, indices, axis), axis=axis)
        pairs = np.stack([rng.integers(0, n, 500) for n in (11, 30)], axis=-1)
        both_outputs(
            dmlcore.gather_nd, x, np.broadcast_to(pairs, (70, 500, 2)), wanted=table[:, pairs[:, 0], pairs[:, 1]], batch_dims=1
        )
        indices[1, 30] = 30
        for threads in THREADS:
            out = np.full((70, 11, 2, 35, 31), 7, dtype)
            with pytest.raises(dmlcore.IndexOutOfRangeError, match=r"\[1, 30\]"):
                dmlcore.gather(x, indices, axis=2, out=out, num_threads=threads)
            assert (out == 7).all()


def test_a_bad_index_for_a_table_in_parts(rng, every_thread):
    """The first one is named whatever part and thread meets one, and an output of the caller's stays as it was."""
    x = np.asfortranarray(numbers(rng, (4000, 300), "float32"))
    indices = rng.integers(-4000, 4000, 9000)
    indices[[8000, 2500, 4001]] = 4000, -4001, 1 << 40
    for threads in THREADS:
        for out in (None, np.full((9000, 300), 7, "float32")):
            with pytest.raises(dmlcore.IndexOutOfRangeError, match=r"-4001.*2500|2500.*-4001"):
                dmlcore.gather(x, indices, out=out, num_threads=threads)
            assert out is None or (out == 7).all()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_scatters(rng, every_thread, shape, layout):
    """Strided tables to copy, strided outputs and updates, and many updates for one place, of which the last one stays."""
    types = itertools.cycle((("float64", "int32"), ("float16", "int64"), ("uint8", "uint32")))
    for count, tuple_size in ((2, 1), (45, 1), (60, 2)):
        dtype, index = next(types)
        table = numbers(rng, shape, dtype)
        tuples = np.stack([rng.integers(0, min(n, 20), count) for n in shape[:tuple_size]], axis=-1).astype(index)
        updates = numbers(rng, (count, *shape[tuple_size:]), dtype)
        wanted = table.copy()
        for place, update in zip(tuples, updates, strict=True):
            wanted[tuple(place)] = update
        both_outputs(dmlcore.scatter_nd, LAYOUTS[layout](table), tuples, updates, wanted=wanted)
        turned = LAYOUTS[layout](updates)
        for threads in THREADS:
            out = LAYOUTS[layout](np.zeros_like(table))
            dmlcore.scatter_nd(table, tuples, turned, out=out, num_threads=threads)
            assert same_bits(out, wanted), threads
            out[...] = table
            dmlcore.scatter_nd(out, tuples, turned, out=out, num_threads=threads)
            assert same_bits(out, wanted), threads


def test_updates_for_one_place(rng, every_thread):
    """Indices that are the same along the last dimensions, which the output has not: the last update stays."""
    updates = numbers(rng, (300, 20, 30), "float32")
    rows = rng.integers(0, 9, (300, 1, 1, 1))
    wanted = np.zeros(9, "float32")
    for row, update in zip(rows[:, 0, 0, 0], updates, strict=True):
        wanted[row] = update[-1, -1]
    for given in (updates, reordered(updates, (2, 0, 1)), reordered(updates, (2, 1, 0))):
        for threads in THREADS:
            everywhere = np.broadcast_to(rows, (300, 20, 30, 1))
            found = dmlcore.scatter_nd(np.zeros(9, "float32"), everywhere, given, num_threads=threads)
            assert same_bits(found, wanted), threads


def test_without_updates_a_scatter_copies(rng, every_thread):
    """Tensors of up to six dimensions, some of them long, in every order of memory."""
    nothing = np.empty((0, 1), "int64")
    shapes = ((5, 7), (300, 4, 5), (3, 5000, 2), (2, 3, 70_000), (4, 1100, 15, 4), (9, 10, 11, 12), (2, 3, 2, 5, 2, 90))
    for shape in (*shapes, (700, 555), (512, 70), (600, 16, 8), (33, 1030)):
        orders = list(itertools.permutations(range(len(shape))))
        for order in orders if len(orders) < 25 else (orders[k] for k in rng.integers(0, len(orders), 12)):
            dtype = DTYPES[rng.integers(len(DTYPES))]
            table = numbers(rng, shape, dtype)
            for x in (reordered(table, order), np.repeat(reordered(table, order), 2, axis=rng.integers(len(shape)))):
                x = x[tuple(slice(None, None, 2 if n > m else 1) for n, m in zip(x.shape, shape, strict=True))]
                for threads in THREADS:
                    found = dmlcore.scatter_nd(x, nothing, np.empty((0, *shape[1:]), dtype), num_threads=threads)
                    assert same_bits(found, np.ascontiguousarray(x)), (shape, order, threads)
                    out = reordered(np.zeros_like(table), orders[rng.integers(len(orders))])
                    dmlcore.scatter_nd(x, nothing, np.empty((0, *shape[1:]), dtype), out=out, num_threads=threads)
                    assert same_bits(out, x), (shape, order, threads)


@pytest.mark.parametrize("mode", ("clip", "fill"))
def test_modes(rng, every_thread, mode):
    """They take another way, which has to give the same."""
    table = numbers(rng, (30, 6, 20), "float32")
    indices = rng.integers(-40, 40, 500)
    inside = np.where(indices < 0, indices + 30, indices)
    wanted = table[inside.clip(0, 29)]
    if mode == "fill":
        wanted[(inside < 0) | (inside > 29)] = -1
    filled = {"fill_value": -1} if mode == "fill" else {}
    for layout in LAYOUTS.values():
        for threads in THREADS:
            found = dmlcore.gather(layout(table), indices, mode=mode, num_threads=threads, **filled)
            assert same_bits(found, wanted)


@pytest.mark.parametrize("shape", ((40, 30), (3000, 100), (300, 4, 200)), ids=str)
def test_a_failing_call_leaves_the_output(rng, every_thread, shape):
    """One index of many is out of range, the last one: also where parts of all slices in front of it are moved first."""
    table = numbers(rng, shape, "float32")
    indices = rng.integers(0, shape[0], 3 * shape[0])
    indices[-1] = shape[0]
    for layout in LAYOUTS.values():
        for threads in THREADS:
            out = numbers(rng, (len(indices), *shape[1:]), "float32")
            before = out.copy()
            with pytest.raises(dmlcore.IndexOutOfRangeError, match=rf"\[{len(indices) - 1}\]"):
                dmlcore.gather(layout(table), indices, out=out, num_threads=threads)
            assert same_bits(out, before)


def test_parts_of_an_inner_dimension(rng, every_thread):
    """So large that a step of the slice's first dimension does not fit into the cache."""
    table = numbers(rng, (2000, 2, 3, 150), "float32")
    indices = rng.integers(-2000, 2000, 2500)
    for order in ((3, 2, 1, 0), (1, 3, 2, 0), (3, 0, 1, 2)):
        both_outputs(dmlcore.gather, reordered(table, order), indices, wanted=table[indices])
