"""Arrays that end, or begin, where memory does: whatever a loop loads at once, it touches nothing that no array owns. Pages
without access stand on both sides; a loop that reads or writes into one ends the process.
"""

import ctypes
import itertools
import mmap
import sys

import numpy as np
import pytest
from arrays import data_types, index_types, random_call
from layouts import plain_data
from oracle import call, same_bits
from specs import OPERATORS
from test_threads import ISAS

import dmlcore
from dmlcore._generated.operators import _select_isa

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="access is taken from pages in Linux's way")
PAGE = mmap.PAGESIZE


class Fences:
    """Gives out arrays between two pages that nobody may touch."""

    def __init__(self):
        self.libc, self.kept = ctypes.CDLL(None, use_errno=True), []

    def array(self, like: np.ndarray, at_the_end: bool) -> np.ndarray:
        """The same elements, one after the other, up to the last byte of a page or from the first one on."""
        room = max(1, -(-like.nbytes // PAGE)) * PAGE
        memory = mmap.mmap(-1, room + 2 * PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        for page in (start, start + PAGE + room):
            assert self.libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(PAGE), 0) == 0
        offset = PAGE + (room - like.nbytes if at_the_end else 0)
        array = np.frombuffer(memory, like.dtype, like.size, offset).reshape(like.shape)
        array[...] = like
        self.kept.append((memory, start, room))
        return array

    def open(self):
        """Memory is given back with the access that it was taken with."""
        for _, start, room in self.kept:
            for page in (start, start + PAGE + room):
                self.libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(PAGE), mmap.PROT_READ | mmap.PROT_WRITE)
        self.kept.clear()


@pytest.fixture
def fences():
    fences = Fences()
    yield fences
    fences.open()


@pytest.fixture(params=ISAS)
def isa(request):
    _select_isa(request.param)
    yield request.param
    _select_isa(None)


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_operators(op, rng, isa, fences):
    types = [str(t) for t in rng.choice(data_types(op), 12)]
    for n, data_type in enumerate(types):
        drawn = random_call(op, rng, data_type, rng.choice(index_types(op)), 3, 60, plain_data, 6000)
        wanted = call(op, drawn.arrays, drawn.options)
        fenced = {name: fences.array(a, n % 2 == 0) for name, a in drawn.arrays.items()}
        assert same_bits(call(op, fenced, drawn.options), wanted)
        if "out" in op.python.options and not op.python.rows:
            out = fences.array(np.zeros_like(wanted), n % 2 == 0)
            call(op, fenced, drawn.options, out=out)
            assert same_bits(out, wanted)
        fences.open()


@pytest.mark.parametrize("dtype", ("uint8", "uint16", "float32", "float64", "complex128"))
@pytest.mark.parametrize("shape", ((3,), (301,), (1003,), (7, 33), (5, 3, 101)), ids=str)
def test_first_and_last_elements(rng, isa, fences, shape, dtype):
    """Indices of the elements next to a fence, enough of them for every vector; and bytes in pairs at odd addresses."""
    table = rng.integers(0, 100, shape).astype(dtype)
    for at_the_end in (True, False):
        x = fences.array(table, at_the_end)
        for axis, n in enumerate(shape):
            ends = fences.array(np.tile([0, n - 1, -1, -n, n // 2], 41), at_the_end)
            assert same_bits(dmlcore.gather(x, ends, axis=axis), table.take(ends, axis))
            sizes = (*shape[:axis], 37, *shape[axis + 1 :])
            index = fences.array(rng.choice([0, n - 1], sizes).astype("uint32"), at_the_end)
            found = np.take_along_axis(table, index.astype("int64"), axis)
            assert same_bits(dmlcore.gather_elements(x, index, axis=axis), found)
            place = fences.array(table, at_the_end)
            dmlcore.scatter_elements(place, index, fences.array(found, at_the_end), axis=axis, out=place)
            assert same_bits(place, table)
        if dtype == "uint8":
            for first in (0, 1):
                pairs = x.reshape(-1)[first:][: (x.size - first) // 2 * 2].reshape(-1, 2)
                ends = np.tile([0, len(pairs) - 1], 50)[:, np.newaxis]
                assert same_bits(dmlcore.gather_nd(pairs, ends), pairs[ends[:, 0]])
        fences.open()


@pytest.mark.parametrize("index", ("int32", "int64", "uint32"))
def test_indices_that_are_apart(rng, isa, fences, index):
    """Indices next to a fence that run away from it, are far apart, or repeated, out of near tables and far ones: looking at
    some of them ahead keeps to them as well."""
    for rows in (300, 4_500_000):
        line = np.resize(np.arange(251, dtype="float32"), rows)
        plane = line.reshape(-1, 10)
        for at_the_end in (True, False):
            given = rng.integers(0, rows // 10, (2000, 2)).astype(index)
            given[:, 1] %= 10
            for order in (slice(None, None, -1), slice(None, None, 2), slice(None, None, -3)):
                fenced = fences.array(given, at_the_end)
                for tuples in (fenced[order], fenced[order][:, ::-1] % 10, fenced.reshape(2, -1).T[order] % 10):
                    assert same_bits(dmlcore.gather_nd(plane, tuples), plane[tuples[:, 0], tuples[:, 1]])
                column = fences.array(given[:, 0], at_the_end)[order]
                assert same_bits(dmlcore.gather(line, column), line[column])
            wide = fences.array(rng.integers(0, 10, (5001, 3)).astype(index), at_the_end)
            wide[:, ::2] = rng.integers(0, rows // 10, (5001, 2))
            ends = fences.array(wide[:, :2], at_the_end)[::-1]
            for pairs in (wide[:, :2], wide[::-1, :2], wide[1::2, :2], wide[:, :0:-1], ends):
                assert same_bits(dmlcore.gather_nd(plane, pairs), plane[pairs[:, 0], pairs[:, 1]])
            for some in (wide.reshape(-1)[::2], wide.reshape(-1)[::-1], wide[:, 2], wide[::-2, 0]):
                for first in ((5, 6), (7, 3)):  # which may be a range, and not
                    some[:2] = first
                    assert same_bits(dmlcore.gather(line, some), line[some])
            for columns in (20, 300):
                far = fences.array(np.zeros((5001, columns), index), at_the_end)
                pairs = far[:, -2:] if at_the_end else far[:, :2]
                pairs[...] = rng.integers(0, 10, (5001, 2))
                for some in (pairs, pairs[::-1], pairs[1::2]):
                    assert same_bits(dmlcore.gather_nd(plane, some), plane[some[:, 0], some[:, 1]])
                    assert same_bits(dmlcore.gather(line, some[:, 1]), line[some[:, 1]])
            cube = line.reshape(-1, 5, 2)
            for q, x in ((2, plane), (3, cube)):
                columns = fences.array(np.stack([rng.integers(0, n, 5003) for n in x.shape[:q]]).astype(index), at_the_end)
                out = fences.array(np.zeros(5003, "float32"), at_the_end)
                for tuples in (columns.T, columns.T[1:], columns[:, :4999].T):
                    wanted = x[tuple(tuples.T)]
                    assert same_bits(dmlcore.gather_nd(x, tuples), wanted)
                    assert same_bits(dmlcore.gather_nd(x, tuples, out=out[: len(wanted)]), wanted)
                columns[q - 1, 5002] = x.shape[q - 1]
                for output in ({}, {"out": out}):
                    with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                        dmlcore.gather_nd(x, columns.T, **output)
                    assert caught.value.position == (5002, q - 1)
            same = np.broadcast_to(fences.array(given[:1], at_the_end), (2000, 2))
            assert same_bits(dmlcore.gather_nd(plane, same), plane[same[:, 0], same[:, 1]])
            twice = np.lib.stride_tricks.as_strided(fences.array(given[:, 1], at_the_end), (2000, 2), (given.itemsize, 0))
            assert same_bits(dmlcore.gather_nd(plane, twice), plane[twice[:, 0], twice[:, 1]])
            fences.open()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("dtype", ("uint8", "uint16", "float32", "float64"))
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
def test_rows_in_registers(rng, isa, fences, dtype, index):
    """Rows that vector registers hold, some at a time or one: no element behind the last one is touched, and every index
    is looked at, but nothing between rows of indices that are a part of wider ones."""
    longer = (128, 129, 200, 256, 257) if dtype == "uint8" else ()
    for n, few in itertools.product((1, 2, 3, 4, 8, 9, 16, 17, 31, 32, 33, 64, 65, *longer), (False, True)):
        for length in {n, 3, 4, 6, 8, 13, 16, 40, 97}:
            rows = int(rng.integers(200, 1000) if few else rng.integers(9000, 9100)) // length + 1
            whole = rng.integers(0, 100, (rows, n + 3)).astype(dtype)
            low = -n if index[0] == "i" else 0
            given = rng.integers(low, n, (rows, length)).astype(index)
            bad = [n, np.iinfo(index).max] + ([-n - 1, np.iinfo(index).min] if low else [])
            for at_the_end in (True, False):
                beside = np.full((rows, 2), bad[-1], index)
                if at_the_end:
                    part = fences.array(np.hstack((beside, given)), True)[:, 2:]
                else:
                    part = fences.array(np.hstack((given, beside)), False)[:, :-2]
                for x in (fences.array(whole[:, :n], at_the_end), fences.array(whole, at_the_end)[:, 3:]):
                    for i in (part[::-1], part, fences.array(given, at_the_end)):
                        wanted = np.take_along_axis(x, i.astype("int64"), 1)
                        assert same_bits(dmlcore.gather_elements(x, i, 1), wanted)
                        out = fences.array(np.zeros_like(wanted), at_the_end)
                        dmlcore.gather_elements(x, i, 1, out=out)
                        assert same_bits(out, wanted)
            for given, place in itertools.product((part, i), ((rows - 1, length - 1), (0, 0), (rows // 2, length // 2))):
                given[place], before = bad[rng.integers(len(bad))], given[place]
                for output in ({}, {"out": out}):
                    with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                        dmlcore.gather_elements(x, given, 1, **output)
                    assert caught.value.position == place
                given[place] = before
            assert same_bits(out, wanted)
            fences.open()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("threads", (1, 3))
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
def test_tuples_of_wider_rows(rng, every_thread, isa, fences, index, threads):
    """Tuples with others between them, whatever these hold, forwards and backwards: nothing in front of the first one or
    behind the last one is touched, every coordinate is checked, and what lies between them is not."""
    limits = np.iinfo(index)
    for q, between in itertools.product(range(1, 7), (1, 2, 5)):
        shape = ((700,), (30, 40), (9, 11, 13), (5, 7, 4, 6), (2, 3, 5, 7, 4), (2, 3, 5, 2, 7, 3))[q - 1]  # not in registers
        dtype = rng.choice(("uint8", "uint16", "float32", "float64"))
        table = fences.array(rng.integers(0, 100, shape).astype(dtype), True)
        counts = (301, 70_001) if between == 1 + q % 2 else (304, 5003)
        for count, at_the_end in itertools.product(counts, (True, False)):
            others = np.array([limits.min, limits.max, 0], index)
            wide = fences.array(others[rng.integers(3, size=(count, q + between))], at_the_end)
            given = wide[:, between:] if at_the_end else wide[:, :q]
            given[...] = np.stack([rng.integers(-n if index[0] == "i" else 0, n, count) for n in shape], -1)
            for i in (given, given[::-1]):
                wanted = table[tuple(i.astype("int64").T)]
                out, target = np.zeros_like(wanted), table.copy()
                for output in ({}, {"out": out}):
                    assert same_bits(dmlcore.gather_nd(table, i, num_threads=threads, **output), wanted)
                updates = rng.integers(100, 200, count).astype(dtype)
                for place, update in zip(i.astype("int64").tolist(), updates[:5003], strict=False):
                    target[tuple(place)] = update
                found = dmlcore.scatter_nd(table, i[:5003], updates[:5003], num_threads=threads)
                assert same_bits(found, target)
                for k, n in enumerate(shape):
                    place = int(rng.choice([0, count - 1, count // 2])), k
                    bad = [n, limits.max] + ([-n - 1, limits.min] if index[0] == "i" else [])
                    i[place], before = bad[rng.integers(len(bad))], i[place]
                    for output in ({}, {"out": out}):
                        with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                            dmlcore.gather_nd(table, i, num_threads=threads, **output)
                        assert caught.value.position == place
                    i[place] = before
                assert same_bits(out, wanted)
        fences.open()


@pytest.mark.parametrize("threads", (1, 3))
@pytest.mark.parametrize("dtype", ("uint8", "float32", "float64"))
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
def test_indices_in_short_rows_of_wider_ones(rng, every_thread, isa, fences, index, dtype, threads):
    """Indices read where they lie, a row at a time or a part of sixteen from the next row: forwards, backwards, every second
    row, along planes; nothing between them is looked at, and every one is checked."""
    n = 71
    shortest = ((2, 1, 9000), (2, 7, 9014), (3, 1, 9000), (5, 6, 9001), (8, 2, 9000), (9, 30, 9000), (15, 1, 9000))
    longer = ((16, 1, 9000), (17, 31, 9000), (40, 3, 9000), (191, 2, 9000), (50, 9, 300_000))
    for length, between, positions in shortest + longer:
        rows = positions // length + 1
        line = fences.array(rng.integers(0, 100, 5000).astype(dtype), True)
        x = fences.array(rng.integers(0, 100, (rows, n)).astype(dtype), True)
        low = -n if index[0] == "i" else 0
        bad = [n, np.iinfo(index).max] + ([-n - 1, np.iinfo(index).min] if low else [])
        for at_the_end in (True, False):
            wide = fences.array(np.full((rows, length + between), bad[-1], index), at_the_end)
            part = wide[:, between:] if at_the_end else wide[:, :length]
            part[...] = rng.integers(low, n, (rows, length))
            planes = part[: rows // 3 * 3].reshape(3, rows // 3, length)[:, 1:]
            for i in (part, part[::-1], part[1::2]):
                wanted = np.take_along_axis(x[: len(i)], i.astype("int64"), 1)
                out = fences.array(np.zeros_like(wanted), at_the_end)
                for output in ({}, {"out": out}):
                    found = dmlcore.gather_elements(x[: len(i)], i, 1, num_threads=threads, **output)
                    assert same_bits(found, wanted)
                assert same_bits(dmlcore.gather(line, i, num_threads=threads), line[i.astype("int64")])
                place = (len(i) - 1 - rng.integers(3), int(rng.choice([0, length - 1, length // 2])))
                i[place], before = bad[rng.integers(len(bad))], i[place]
                for output in ({}, {"out": out}):
                    with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                        dmlcore.gather_elements(x[: len(i)], i, 1, num_threads=threads, **output)
                    assert caught.value.position == place
                assert same_bits(out, wanted)
                i[place] = before
            cube = x[: planes.shape[0] * planes.shape[1]].reshape(*planes.shape[:2], n)
            wanted = np.take_along_axis(cube, planes.astype("int64"), 2)
            assert same_bits(dmlcore.gather_elements(cube, planes, 2, num_threads=threads), wanted)
            assert same_bits(dmlcore.gather(line, planes, num_threads=threads), line[planes.astype("int64")])
        fences.open()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("threads", (1, 3))
@pytest.mark.parametrize(
    "index, dtype",
    (("int32", "float64"), ("uint64", "float32"), ("uint32", "float32"), ("int64", "float64"), ("int64", "uint16")),
)
def test_updates_in_short_rows_of_wider_ones(rng, every_thread, isa, fences, index, dtype, threads):
    """Updates, and indices, read where they lie: along rows, along columns, anywhere; of updates for one place the last one
    stays, nothing between rows is looked at, and every index is checked."""
    for length, between in (2, 1), (3, 2), (4, 5), (7, 1), (8, 8), (9, 3), (16, 1), (45, 3), (191, 2):
        positions = 600_000 if dtype == "float64" and length in (2, 8) else 3000
        rows = positions // length + 1
        line = fences.array(rng.integers(0, 100, 5000).astype(dtype), True)
        x = fences.array(rng.integers(0, 100, (rows, max(length, 11))).astype(dtype), True)
        low = -11 if index[0] == "i" else 0
        bad = [max(5000, rows), np.iinfo(index).max] + ([-max(5000, rows) - 1, np.iinfo(index).min] if low else [])
        for at_the_end in (True, False):
            wide = fences.array(np.full((rows, length + between), bad[-1], index), at_the_end)
            more = fences.array(rng.integers(0, 100, wide.shape).astype(dtype), at_the_end)
            part, apart = ((a[:, between:] if at_the_end else a[:, :length]) for a in (wide, more))
            part[...] = rng.integers(low, 11, (rows, length))
            dense, close = np.ascontiguousarray(part), np.ascontiguousarray(apart)
            for i, updates in ((part, apart), (part[::-1], apart[::-1]), (dense, apart), (part, close)):
                along_rows, along_columns, anywhere = x.copy(), x.copy(), line.copy()
                for column in range(length):
                    along_rows[np.arange(rows), i[:, column]] = updates[:, column]
                for name in range(low, 11):
                    for column in range(length):
                        named = np.flatnonzero(i[:, column] % rows == name % rows)
                        along_columns[name, column] = updates[named[-1], column] if named.size else along_columns[name, column]
                anywhere[i.ravel()] = updates.ravel()  # in order, which NumPy does not keep for arrays that run backwards
                for axis, wanted in ((1, along_rows), (0, along_columns)):
                    assert same_bits(dmlcore.scatter_elements(x, i, updates, axis, num_threads=threads), wanted)
                assert same_bits(dmlcore.scatter_nd(line, i[..., np.newaxis], updates, num_threads=threads), anywhere)
                place = (rows - 1 - rng.integers(3), int(rng.integers(length)))
                i[place], before = bad[rng.integers(len(bad))], i[place]
                out = x.copy()
                for output in ({}, {"out": out}):
                    with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                        dmlcore.scatter_elements(x, i, updates, 1, num_threads=threads, **output)
                    assert caught.value.position == place
                assert same_bits(out, x)
                i[place] = before
        fences.open()


@pytest.mark.parametrize("dtype", ("uint8", "uint16", "float32"))
def test_short_slices_in_registers(rng, isa, fences, dtype):
    """Slices of two and four elements are as good as single ones of that size: rows of them, with indices of their own."""
    for rows, n, length, slice_ in itertools.product((20, 1000), (5, 16), (5, 7, 20), (2, 4)):
        x = fences.array(rng.integers(0, 100, (rows, n, slice_)).astype(dtype), True)
        i = fences.array(rng.integers(-n, n, (rows, length, 1)), True)
        assert same_bits(dmlcore.gather_nd(x, i, batch_dims=1), np.take_along_axis(x, i, 1))
        fences.open()


@pytest.mark.parametrize("dtype", ("uint8", "uint16", "float32", "float64", "complex128"))
@pytest.mark.parametrize("columns", (1025, 1027, 2051, 3000))
def test_rows_that_end_together(rng, every_thread, isa, fences, dtype, columns):
    """Windows of a line of elements, each one further than the one before: no vector may go on behind the end of any."""
    line = fences.array(rng.integers(0, 100, columns + 4).astype(dtype), True)
    down = np.lib.stride_tricks.sliding_window_view(line, columns)
    for windows in (down, down[::-1]):
        for index_type in ("int32", "int64", "uint32"):
            index = fences.array(rng.integers(0, 5, (7, columns)).astype(index_type), True)
            wanted = np.take_along_axis(windows, index.astype("int64"), 0)
            for threads in (1, 3):
                assert same_bits(dmlcore.gather_elements(windows, index, axis=0, num_threads=threads), wanted)
                out = fences.array(np.zeros_like(wanted), True)
                dmlcore.gather_elements(windows, index, axis=0, out=out, num_threads=threads)
                assert same_bits(out, wanted)
    fences.open()


@pytest.mark.parametrize("columns", (9, 13, 16, 17, 33, 47))
@pytest.mark.parametrize("dtype", ("uint8", "uint16", "float32", "float64", "complex128"))
def test_the_same_columns_of_many_rows(rng, every_thread, isa, fences, dtype, columns):
    """So many that they are gathered sixteen columns at a time: what that stores behind a row must not be seen."""
    rows, width = 200_000 // columns + int(rng.integers(9)), np.dtype(dtype).itemsize
    plain = np.frombuffer(rng.bytes(rows * 2048), np.uint8).reshape(rows, -1).view(f"V{width}")
    indices = rng.integers(-plain.shape[1], plain.shape[1], columns)
    wanted = plain[:, indices].view(dtype)
    for threads in (1, 3):
        for end in (True, False):
            out = fences.array(np.zeros_like(wanted), end)
            dmlcore.gather(plain.view(dtype), indices, axis=1, out=out, num_threads=threads)
            assert same_bits(out, wanted)


@pytest.mark.parametrize("threads", (1, 3))
@pytest.mark.parametrize("dtype", ("uint8", "uint16", "float32", "float64"))
def test_short_rows(rng, every_thread, isa, fences, dtype, threads):
    """Channels in another order, moved by whole vectors, which no row is: all of them, every second one, all but the first or
    last one; and an index that is out of range."""
    few = (3, [2, 1, 0]), (4, [2, 1, 0]), (5, [-1, 0, 0, 3]), (2, [1] * 7), (9, [8, 1, 2, 3, 4])
    for channels, picked in (*few, (40, range(0, 40, 3))):
        rows, indices = 1 + rng.integers(600 // len(picked), 3000), np.array(picked)
        plain = rng.integers(0, 256, (rows, channels, np.dtype(dtype).itemsize), np.uint8).view(dtype)[..., 0]
        table, at_the_end = fences.array(plain, True), fences.array(plain, False)
        for x in (table, at_the_end, table[::2], table[:, 1:], table[:, :-1], table[:, ::2]):
            chosen = indices if indices.max() < x.shape[1] and -indices.min() <= x.shape[1] else indices % x.shape[1]
            wanted = np.ascontiguousarray(x[:, chosen])
            assert same_bits(dmlcore.gather(x, chosen, axis=1, num_threads=threads), wanted)
            for end in (True, False):
                out = fences.array(np.zeros_like(wanted), end)
                dmlcore.gather(x, chosen.astype(rng.choice(["int32", "int64"])), axis=1, out=out, num_threads=threads)
                assert same_bits(out, wanted)
                with pytest.raises(dmlcore.IndexOutOfRangeError):
                    dmlcore.gather(x, np.append(chosen[1:], x.shape[1]), axis=1, out=out, num_threads=threads)
                assert same_bits(out, wanted)
        fences.open()


@pytest.mark.parametrize("threads", (1, 3))
@pytest.mark.parametrize("dtype", ("uint8", "uint16", "float32", "float64"))
def test_short_tables(rng, every_thread, isa, fences, dtype, threads):
    """Tables that registers hold, up to their last element and one more; every second element, rows of a few, rows that
    each have a table; indices from both ends, and one that is out of range."""
    width = np.dtype(dtype).itemsize
    held = 64 // max(2, width)
    for size in sorted({1, held - 1, held, *(held * k + more for k in (2, 4, 8) for more in (-1, 0, 1))}):
        plain = rng.integers(0, 256, (size, width), np.uint8).view(dtype)[:, 0]
        table, at_the_end = fences.array(plain, True), fences.array(plain, False)
        for x in (table, at_the_end, table[::2], table[size % 3 :].reshape(-1, 3)[:, :2]):
            if x.size == 0:
                continue
            count = int(rng.choice([199, 200, 1023, 2048, 3000, 16384])) + int(rng.integers(0, 40))
            chosen = rng.integers(np.array([[-n] for n in x.shape]), np.array([[n] for n in x.shape]), (x.ndim, count))
            wanted = x[tuple(chosen)]
            index = chosen.T.astype(rng.choice(["int32", "int64"]))
            if rng.random() < 0.3:
                index = (chosen % np.array(x.shape)[:, np.newaxis]).T.astype(rng.choice(["uint32", "uint64"]))
            assert same_bits(dmlcore.gather_nd(x, index, num_threads=threads), wanted)
            for end in (True, False):
                out = fences.array(np.zeros_like(wanted), end)
                dmlcore.gather_nd(x, index, out=out, num_threads=threads)
                assert same_bits(out, wanted)
                wrong = index.copy()
                wrong[int(rng.integers(count)), -1] = x.shape[-1]
                with pytest.raises(dmlcore.IndexOutOfRangeError):
                    dmlcore.gather_nd(x, wrong, out=out, num_threads=threads)
                assert same_bits(out, wanted)
        rows = fences.array(np.stack([plain, plain[::-1], np.roll(plain, 1)]), True)
        index = rng.integers(0, size, (3, int(rng.integers(200, 1500))))
        assert same_bits(dmlcore.gather_elements(rows, index, axis=1, num_threads=threads), np.take_along_axis(rows, index, 1))
        fences.open()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dtype", ("uint8", "float16", "float32"))
@pytest.mark.parametrize("count", (1_048_577, 1_034_255))
def test_last_few_of_many(rng, isa, fences, dtype, count):
    """Tables that registers hold, and so many positions that blocks of them leave one, or fifteen."""
    table = fences.array(rng.integers(0, 100, 16).astype(dtype), True)
    index = fences.array(rng.integers(-16, 16, count).astype("int32"), True)
    wanted = table[index]
    assert same_bits(dmlcore.gather(table, index), wanted)
    out = fences.array(np.zeros_like(wanted), True)
    assert same_bits(dmlcore.gather(table, index, out=out), wanted)
    index[-1] = 16
    for output in ({}, {"out": out}):
        with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
            dmlcore.gather(table, index, **output)
        assert caught.value.position == (count - 1,)
    assert same_bits(out, wanted)
    fences.open()


@pytest.mark.parametrize("dtype", ("uint8", "float16", "float32", "float64"))
@pytest.mark.parametrize("threads", (1, 3))
def test_tuples(rng, every_thread, isa, fences, dtype, threads):
    """Pairs and triples out of tables that registers do not hold, up to the last element; indices end where memory does."""
    for shape in ((40, 37), (300, 211), (9, 11, 23)):
        plain = rng.integers(0, 100, shape).astype(dtype)
        for end in (True, False):
            table = fences.array(plain, end)
            for count in (199, 1040 + int(rng.integers(16)), 5003):
                chosen = np.stack([rng.choice([0, 1, n - 2, n - 1, *rng.integers(0, n, 5)], count) for n in shape])
                index = fences.array(chosen.T.astype(rng.choice(["int32", "int64", "uint32", "uint64"])), end)
                out = fences.array(np.zeros(count, dtype), end)
                assert same_bits(dmlcore.gather_nd(table, index, num_threads=threads), plain[tuple(chosen)])
                dmlcore.gather_nd(table, index, out=out, num_threads=threads)
                assert same_bits(out, plain[tuple(chosen)])
        fences.open()


@pytest.mark.parametrize("threads", (1, 3))
def test_slices(rng, every_thread, isa, fences, threads):
    """Few and many slices of every length up to a few lines, and some longer ones, gathered and scattered, at both ends."""
    for width in (*range(12, 200, 7), 256, 511, 512, 577, 1000, 2049, 40_000):
        for count in (3, 90, max(97, 70_000 // width)):
            plain = rng.integers(0, 256, (max(4, 80_000 // width), width), np.uint8)
            index, end = rng.integers(-len(plain), len(plain), (count, 1)), bool(rng.integers(2))
            table, out = fences.array(plain, end), fences.array(np.zeros((count, width), np.uint8), end)
            dmlcore.gather_nd(table, index, out=out, num_threads=threads)
            assert same_bits(out, plain[index[:, 0]])
            dmlcore.scatter_nd(table, index, out[::-1].copy(), out=table, num_threads=threads)
            plain[index[:, 0]] = out[::-1]  # NumPy too keeps the last one
            assert same_bits(table, plain)
        fences.open()


@pytest.mark.parametrize("each_way", (1 << 60,), ids=("planned",), indirect=True)
@pytest.mark.parametrize("dtype", ("uint8", "float16", "float32", "float64", "complex128"))
def test_tables_that_lie_backwards(rng, each_way, isa, fences, dtype):
    """Offsets count from the lowest place that a box reaches, which nothing lies in front of, also where the last box is
    shorter: vectors load what the first offset names for lanes that they leave out."""
    for rows, columns in ((1031, 16), (5003, 16), (277, 45), (2, 2000)):
        plain = plain_data(rng, np.dtype(dtype), (rows, columns))
        for way in ((-1, 1), (1, -1), (-1, -1)):
            for at_the_end in (False, True):
                table = fences.array(plain, at_the_end)[:: way[0], :: way[1]]
                for axis, shape in ((1, (rows, 1)), (1, (rows, 3)), (0, (1, columns)), (0, (7, columns))):
                    for index in ("int64", "uint32"):
                        indices = rng.integers(0, table.shape[axis], shape).astype(index)
                        wanted = np.take_along_axis(table, indices.astype("int64"), axis)
                        for threads in (1, 2):
                            got = dmlcore.gather_elements(table, indices, axis=axis, num_threads=threads)
                            assert same_bits(got, wanted)
                            out = np.zeros_like(wanted)
                            assert same_bits(dmlcore.gather_elements(table, indices, axis=axis, out=out), wanted)
                pairs = np.stack([rng.integers(-n, n, 1100) for n in table.shape], -1)
                assert same_bits(dmlcore.gather_nd(table, pairs), table[tuple(pairs.T)])
                assert same_bits(dmlcore.gather_nd(table, pairs[:, :1]), table[pairs[:, 0]])
        fences.open()
