"""Indices that do not follow each other in memory: parts of wider rows, every second row or element, backwards, fields of
records, not aligned. What lies between them is out of range, so a loop that reads it fails. Each against NumPy's own functions.
"""

import mmap
import sys
from functools import partial

import numpy as np
import pytest
from moves import DTYPES, THREADS, both_outputs, numbers, wanted_of
from oracle import same_bits

import dmlcore

ISAS = ("baseline", "avx2", "avx512", "avx512-zen5", "avx512-gathers")
BETWEEN = 2**31 - 1
NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)
LAYOUTS = ("columns", "rows", "backwards", "every second", "every third", "from the last", "records", "bytes", "both")


def laid_out(indices, layout):
    """The same numbers, in memory of which they are a part."""
    shape, last = indices.shape, indices.shape[-1]
    if layout == "records":
        records = np.zeros(shape, [("a", indices.dtype), ("b", indices.dtype), ("c", indices.dtype)])
        records["b"] = records["c"] = BETWEEN
        view = records["a"]
    elif layout == "bytes":
        view = np.zeros(indices.nbytes + 1, "uint8")[1:].view(indices.dtype).reshape(shape)
    else:
        view = {
            "columns": lambda full: full((*shape[:-1], last + 3))[..., 2:-1],
            "rows": lambda full: full((2 * shape[0], *shape[1:]))[::2],
            "backwards": lambda full: full(shape)[::-1],
            "every second": lambda full: full((*shape[:-1], 2 * last))[..., ::2],
            "every third": lambda full: full((*shape[:-1], 3 * last))[..., 1::3],
            "from the last": lambda full: full(shape)[..., ::-1],
            "column": lambda full: full((*shape, 17))[..., 4],
            "both": lambda full: full((*shape[:-2], 3 * shape[-2], last + 40))[..., ::-3, 20:-20],
        }[layout](lambda size: np.full(size, BETWEEN, indices.dtype))
    view[...] = indices
    return view


def broken(call, indices, out, places, bound):
    """An index out of range, anywhere, is found, and the output stays as it was."""
    before = out.copy()
    for place in places:
        good, indices[place] = indices[place], bound
        for threads in THREADS:
            with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                call(out=out, num_threads=threads)
            assert caught.value.position == place
        indices[place] = good
    assert same_bits(out, before)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("isa", ISAS, indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize(
    "shape",
    (
        *((50, 20), (9, 127), (40, 128), (300, 191), (31, 200), (5, 700), (7, 1100), (3, 40, 200), (4, 3, 2, 193)),
        *((2500, 2), (1000, 5), (700, 7), (400, 11), (30, 20, 14)),
    ),
    ids=str,
)
def test_rows(rng, every_thread, isa, shape, index):
    """Along every axis, few and many; rows so long that each is a box, of which the next one is looked at already, and
    shorter ones."""
    for layout in LAYOUTS:
        dtype = rng.choice(DTYPES)
        for axis in (len(shape) - 1, 0):
            table = numbers(rng, shape, dtype)
            low = -shape[axis] if index[0] == "i" else 0
            given = laid_out(rng.integers(low, shape[axis], shape).astype(index), layout)
            updates = numbers(rng, shape, dtype)
            gathered, scattered = wanted_of("elements", table, given, updates, axis)
            both_outputs(dmlcore.gather_elements, table, given, axis=axis, wanted=gathered)
            for threads in THREADS:
                found = dmlcore.scatter_elements(table, given, updates, axis, num_threads=threads)
                assert same_bits(found, scattered), (layout, axis, threads)
            last = tuple(n - 1 for n in shape)
            places = ((0,) * len(shape), last, (*last[:-1], 0), (0, *last[1:]), tuple(n // 2 for n in shape))
            broken(partial(dmlcore.gather_elements, table, given, axis), given, np.full_like(gathered, 7), places, shape[axis])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("isa", ISAS, indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize("size", (3000, 65_536, 70_000, 7_000_000))
def test_one_dimension(rng, every_thread, isa, size, index):
    """Positions of two dimensions out of a table of one: numbers of elements that 16 bits hold, indices that they hold, and
    neither, where some offsets are kept; and a table that no cache holds."""
    dtypes = ("float32",) if size > 70_000 else ("uint8", "float16", "float32", "float64")
    for layout in LAYOUTS:
        for dtype, shape in zip(dtypes, ((60, 90), (41, 230), (700, 131), (450, 600)), strict=False):
            table = np.resize(np.arange(251).astype(dtype), size)
            given = laid_out(rng.integers(-size if index[0] == "i" else 0, size, shape).astype(index), layout)
            both_outputs(dmlcore.gather, table, given, wanted=table[given.astype(np.int64)])
            places = ((0, 0), (shape[0] - 1, shape[1] - 1), (shape[0] // 2, shape[1] - 1))
            broken(partial(dmlcore.gather, table, given), given, np.full(shape, 7, dtype), places, size)


@pytest.mark.parametrize("isa", ISAS, indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize("positions", ((1000,), (20, 45), (30_000,), (150, 140)), ids=str)
def test_tuples(rng, every_thread, isa, positions, index):
    """Pairs and triples, their coordinates beside each other or not."""
    for shape in ((90, 80), (30, 20, 30)):
        for layout in LAYOUTS:
            dtype = rng.choice(DTYPES)
            table = numbers(rng, shape, dtype)
            given = np.stack([rng.integers(-n if index[0] == "i" else 0, n, positions) for n in shape], -1).astype(index)
            given = laid_out(given, "columns" if layout == "both" else layout)
            updates = numbers(rng, positions, dtype)
            gathered, scattered = wanted_of("nd", table, given, updates)
            both_outputs(dmlcore.gather_nd, table, given, wanted=gathered)
            for threads in THREADS:
                assert same_bits(dmlcore.scatter_nd(table, given, updates, num_threads=threads), scattered), (layout, threads)
            last = tuple(n - 1 for n in positions)
            for k, n in enumerate(shape):
                places = (*last, k), (*(0 for _ in last), k)
                broken(partial(dmlcore.gather_nd, table, given), given, np.full_like(gathered, 7), places, n)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("isa", ("baseline", "avx512", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize(
    "shape", ((300,), (3000,), (20_011,), (70_000,), (40, 30), (700, 3), (2000, 2), (900, 14), (30, 200), (9, 7, 20)), ids=str
)
def test_indices_that_rows_share(rng, every_thread, isa, shape, index):
    """So many that they are brought together once for all rows; more, and fewer: single ones, along rows, in pairs."""
    columns = 500
    low = -columns if index[0] == "i" else 0
    for layout in (*LAYOUTS, "column"):
        if layout == "both" and len(shape) == 1:
            continue
        rows = int(rng.choice([2, 3, 5, 30])) if np.prod(shape) < 5000 else 5
        table = numbers(rng, (rows, columns), rng.choice(DTYPES))
        given = rng.integers(low, columns, shape).astype(index)
        given = laid_out(given, layout)
        places = (0,) * len(shape), tuple(n - 1 for n in shape), tuple(n // 2 for n in shape)
        wanted = table[:, given.astype(np.int64)]
        both_outputs(dmlcore.gather, table, given, axis=1, wanted=wanted)
        broken(partial(dmlcore.gather, table, given, 1), given, np.full_like(wanted, 7), places, columns)

        if len(shape) == 1:
            shared = np.broadcast_to(given, (rows, *shape))
            updates = numbers(rng, shared.shape, table.dtype)
            gathered, scattered = wanted_of("elements", table, shared, updates, 1)
            both_outputs(dmlcore.gather_elements, table, shared, axis=1, wanted=gathered)
            for threads in THREADS:
                assert same_bits(dmlcore.scatter_elements(table, shared, updates, 1, num_threads=threads), scattered), layout
        if shape[-1] == 2:
            given %= np.array([rows, columns], index)
            pairs = np.broadcast_to(given, (rows, *shape))
            wanted = table[tuple(np.moveaxis(pairs.astype(np.int64), -1, 0))]
            both_outputs(dmlcore.gather_nd, table, pairs, wanted=wanted)
            given[places[1]], before = columns, given[places[1]]
            for threads in THREADS:
                with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                    dmlcore.gather_nd(table, pairs, num_threads=threads)
                assert caught.value.position == (0, *places[1])
            given[places[1]] = before


@pytest.mark.parametrize("isa", ISAS, indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize("shape", ((3000, 1), (700, 2), (60, 130), (200, 20), (5, 1500), (1, 5000)), ids=str)
def test_scatters_into_an_output(rng, each_way, isa, shape, index):
    """Fewer indices than the table has places, along both axes, with a check first and without; updates that are apart, and
    that are combined; nothing beside the output is written. Two threads bring indices together that have a line each."""
    rows, columns = shape
    for table_shape, axis in (((rows, columns + 3), 1), ((rows + 5, columns), 0)):
        table = numbers(rng, table_shape, "float32")
        bound = table_shape[axis]
        for layout in (*LAYOUTS, "column"):
            given = laid_out(rng.integers(-bound if index[0] == "i" else 0, bound, shape).astype(index), layout)
            updates = numbers(rng, shape, "float32")
            apart_ = np.repeat(updates, 2, axis=-1)[..., ::2]
            at = list(np.indices(shape))
            at[axis] = given.astype(np.int64)
            added = table.copy()
            np.add.at(added, tuple(at), updates)
            _, scattered = wanted_of("elements", table, given, updates, axis)
            for u, reduction, wanted in ((updates, "none", scattered), (apart_, "none", scattered), (updates, "add", added)):
                for threads in THREADS:
                    around = np.full((3 * table_shape[0], table_shape[1]), -1, "float32")
                    out = around[table_shape[0] : 2 * table_shape[0]]
                    dmlcore.scatter_elements(table, given, u, axis, reduction=reduction, out=out, num_threads=threads)
                    assert same_bits(out, wanted), (layout, axis, reduction, threads)
                    if u is updates:
                        fresh = dmlcore.scatter_elements(table, given, u, axis, reduction=reduction, num_threads=threads)
                        assert same_bits(fresh, wanted), (layout, axis, reduction, threads)
                    out[:] = table
                    dmlcore.scatter_elements(out, given, u, axis, reduction=reduction, out=out, num_threads=threads)
                    assert same_bits(out, wanted), (layout, axis, reduction, threads)
                    out[:] = -1
                    assert (around == -1).all(), (layout, axis, reduction, threads)
            given[-1, 0] = bound
            for threads in THREADS:
                with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                    dmlcore.scatter_elements(table, given, updates, axis, num_threads=threads)
                assert caught.value.position == (rows - 1, 0)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("isa", ("avx2",), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint64"))
@pytest.mark.parametrize("negative", (0, 1, 20), ids=("none", "one", "some"))
@pytest.mark.parametrize("dtype", ("uint8", "float16", "float32", "float64"))
def test_signs(rng, each_way, isa, index, negative, dtype):
    """Rows of any length, columns and tuples whose indices seem not to be negative where the first ones are looked at: some
    of the others are. A bad one at each place of eight that are read in a row, and of the rest."""

    def drawn(shape, bound):
        found = rng.integers(0, bound, shape).astype(index)
        if negative and index[0] == "i":
            some = rng.integers(found.size // 2, found.size, negative)
            found.flat[some] -= bound
        return found

    for columns in (1, 2, 3, 4, 7, 8, 9, 15, 16, 24, 65):
        table = numbers(rng, (6000 // columns + 40, columns), dtype)
        updates = numbers(rng, table.shape, dtype)
        for axis in (1, 0):
            for layout in ("columns", "column", "every third"):
                given = laid_out(drawn(table.shape, table.shape[axis]), layout)
                gathered, scattered = wanted_of("elements", table, given, updates, axis)
                both_outputs(dmlcore.gather_elements, table, given, axis=axis, wanted=gathered)
                both_outputs(dmlcore.scatter_elements, table, given, updates, axis=axis, wanted=scattered)
        places = [(len(table) - 1 - k // columns, k % columns) for k in range(18)]
        broken(partial(dmlcore.gather_elements, table, given, 0), given, np.full_like(table, 7), places, 10**6)
    for shape in ((4000,), (70, 50), (20, 15, 10)):
        table = numbers(rng, shape, dtype)
        given = np.stack([drawn(5003, n) for n in shape], -1)
        given = laid_out(given, "columns")
        both_outputs(dmlcore.gather_nd, table, given, wanted=table[tuple(given.astype(np.int64).T)])
        places = [(5002 - k, k % len(shape)) for k in range(20)]
        broken(partial(dmlcore.gather_nd, table, given), given, np.full(5003, 7, dtype), places, 10**6)


@pytest.mark.parametrize("isa", ("baseline", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("between", (1, 20, 300))
@pytest.mark.parametrize("q", (1, 2, 3))
def test_columns_that_name_elements_of_far_tables(rng, isa, between, q):
    """Elements that are moved one by one, more of them than are put aside: the first columns of wider rows, also backwards."""
    shape, count = ((1700, 1300), (130, 17, 1000))[q == 3], 150_000 if between < 300 else 20_000
    table = rng.integers(0, 100, shape).astype("float64")
    table = table.reshape(-1) if q == 1 else table
    wide = np.full((count, q + between), BETWEEN, "int32")
    wide[:, :q] = np.stack([rng.integers(0, n, count) for n in table.shape], -1)
    for given in (wide[:, :q], wide[::-1, :q]):
        both_outputs(dmlcore.gather_nd, table, given, wanted=table[tuple(given.T)])
        places = (0, 0), (count - 1, q - 1), (count // 2, q - 1)
        broken(partial(dmlcore.gather_nd, table, given), given, np.full(count, 7.0), places, 10**7)


@pytest.mark.parametrize("width", (64, 500, 1024))
@pytest.mark.parametrize("count", (2400, 2600, 4200, 7900))
def test_lines_of_their_own(rng, width, count):
    """So few indices, each in a line that holds no other: worth threads from some number on, with the default grain."""
    table, square = rng.random(5000, np.float32), rng.random((70, 70))
    wide = rng.integers(-70, 70, (count, width))
    index, pair = wide[:, 3], wide[:, 7:9]
    updates = rng.random(count, np.float32)
    scattered = table.copy()
    for place, value in zip(index.tolist(), updates.tolist(), strict=True):
        scattered[place] = value
    both_outputs(dmlcore.gather, table, index, wanted=table[index])
    both_outputs(dmlcore.gather_nd, square, pair, wanted=square[pair[:, 0], pair[:, 1]])
    both_outputs(dmlcore.scatter_elements, table, index, updates, wanted=scattered)
    wide[-1, 3] = 5000
    for threads in THREADS:
        for out in (None, np.full(count, 7, np.float32)):
            with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                dmlcore.gather(table, index, num_threads=threads, out=out)
            assert caught.value.position == (count - 1,)
            assert out is None or (out == 7).all()


@pytest.mark.parametrize("isa", ISAS, indirect=True)
@pytest.mark.parametrize("q", (1, 2, 3))
def test_lines_of_their_own_of_many(rng, isa, q):
    """Into an output, more than there is room for of what is put aside, or of offsets that a check keeps; and so few, but read
    backwards, or into rows that are apart, that none are kept."""
    for count, shape in ((300_000, (60, 50, 40)), (300_000, (40, 50, 60)), (20_000, (50, 60, 40))):
        table = rng.random(shape[:q])
        wide = np.full((count, 9), BETWEEN)
        wide[:, :q] = np.stack([rng.integers(0, n, count) for n in table.shape], -1)
        for given, out in (
            (wide[:, :q], np.empty(count)),
            (wide.reshape(-1, 1000, 9)[::-1, :, :q], np.empty((count // 1000, 1003))[:, :1000]),
        ):
            wanted = table[tuple(np.moveaxis(given, -1, 0))]
            for threads in THREADS:
                out[...] = -1
                dmlcore.gather_nd(table, given, out=out, num_threads=threads)
                assert same_bits(np.ascontiguousarray(out), wanted), threads
                assert same_bits(dmlcore.gather_nd(table, given, num_threads=threads), wanted), threads


@pytest.mark.skipif(sys.platform != "linux", reason="address space without memory is had in Linux's way")
@pytest.mark.parametrize("isa", ISAS, indirect=True)
def test_strides_of_more_than_32_bits(rng, each_way, isa):
    """Indices so far apart that 32 bits of their distance would say that they are close together."""
    apart, count = (2**32 + 3) * 4, 1300
    try:
        memory = mmap.mmap(-1, apart * count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
    except OSError:
        pytest.skip("no such address space")
    table = numbers(rng, 5000, "float32")
    np.frombuffer(memory, "int32", 4096)[:] = BETWEEN
    given = np.ndarray(count, "int32", memory, 0, (apart,))[::-1]
    given[:] = rng.integers(-5000, 5000, count)
    both_outputs(dmlcore.gather, table, given, wanted=table[given])
