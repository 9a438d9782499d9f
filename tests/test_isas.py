"""Instruction sets change nothing but the time: every one that the machine has equals the baseline, bit for bit, for tables in
every cache and in none.
"""

import itertools
import mmap
import os
import sys

import numpy as np
import pytest
from oracle import call, same_bits
from specs import OPERATORS
from test_threads import ISAS, some_calls

import dmlcore
from dmlcore._generated.operators import _select_isa


@pytest.fixture
def any_isa():
    yield
    _select_isa(os.environ.get("DMLCORE_ISA") or None)


def quieted(values, bits):
    """A NaN that went through arithmetic, as bits."""
    quiet = {"uint32": 1 << 22, "uint64": 1 << 51}[bits]
    return values.view(bits) | np.array(quiet, bits)


@pytest.mark.parametrize("reduction", ("add", "mul", "min", "max"))
@pytest.mark.parametrize(("dtype", "bits"), (("float32", "uint32"), ("float64", "uint64")))
def test_every_isa_keeps_the_same_nan(rng, any_isa, reduction, dtype, bits):
    """Of two NaN the element's own stays, whatever the loop: rows as slices, single elements, short ends."""
    one, other = (np.where(rng.random((40, 77)) < 0.5, np.nan, rng.random((40, 77))).astype(dtype) for _ in "ab")
    one.view(bits)[...] ^= np.isnan(one) * rng.integers(1, 1000, one.shape).astype(bits)
    other.view(bits)[...] ^= np.isnan(other) * rng.integers(1, 1000, one.shape).astype(bits)
    rows = np.arange(40)[:, np.newaxis]
    wanted = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}[reduction](one, other).view(bits)
    wanted = np.where(np.isnan(other), quieted(other, bits), wanted)
    wanted = np.where(np.isnan(one), quieted(one, bits), wanted)
    for isa in ISAS:
        _select_isa(isa)
        for result in (
            dmlcore.scatter_nd(one, rows, other, reduction=reduction),
            dmlcore.scatter_elements(one, np.broadcast_to(rows, one.shape), other, reduction=reduction),
            dmlcore.scatter_elements(one, np.tile(np.arange(77), (40, 1)), other, axis=1, reduction=reduction),
        ):
            assert (result.view(bits) == wanted).all(), isa


@pytest.mark.parametrize("reduction", ("add", "mul", "min", "max"))
@pytest.mark.parametrize("dtype", ("int8", "uint8", "uint16", "float16", "int32", "float32", "uint64", "int64", "float64"))
def test_every_isa_combines_rows_of_any_length(rng, any_isa, reduction, dtype):
    """Rows as slices: lines, quarters of them, what is left; at addresses of all kinds, each row several times."""
    combine = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}[reduction]
    rows = rng.integers(0, 9, 30)
    for length in (*range(1, 36), 63, 64, 65, 100, 127, 131):
        x, updates = ((rng.integers(0, 256, (n, length)) / 16).astype(dtype) for n in (9, 30))
        wanted = x.copy()
        with np.errstate(over="ignore", invalid="ignore"):
            for row, update in zip(rows, updates, strict=True):
                wanted[row] = combine(wanted[row], update)
        for isa in ISAS:
            _select_isa(isa)
            assert same_bits(dmlcore.scatter_nd(x, rows[:, np.newaxis], updates, reduction=reduction), wanted), (isa, length)


@pytest.mark.parametrize("reduction", ("add", "mul", "min", "max"))
def test_every_half_with_many_others(rng, any_isa, reduction):
    """All float16, NaN and subnormal ones too, as rows of many lengths and as single elements; rounded from float32, in which
    sums and products are exact enough. min and max keep the element where both are equal, as both zeros are."""
    every = np.arange(1 << 16, dtype="uint16")
    special = (0, 1, 0x3FF, 0x400, 0x3C00, 0x7BFF, 0x7C00, 0x7C01, 0x7E00, 0x7FFF)
    others = np.array([*special, *(0x8000 | bits for bits in special), *rng.integers(0, 1 << 16, 30)], "uint16")
    one, other = (bits.ravel() for bits in np.broadcast_arrays(every, others[:, np.newaxis]))
    a, b = one.view("float16").astype("float32"), other.view("float16").astype("float32")
    with np.errstate(all="ignore"):
        if reduction in ("min", "max"):
            quiet = 0
            wanted = np.where(b < a if reduction == "min" else b > a, other, one)
        else:
            quiet = 1 << 9
            wanted = (a + b if reduction == "add" else a * b).astype("float16").view("uint16")
    wanted = np.where(np.isnan(b), other | quiet, wanted)
    wanted = np.where(np.isnan(a), one | quiet, wanted)
    for isa in ISAS:
        _select_isa(isa)
        for row in (1, 2, 7, 8, 13, 64):
            count = len(one) // row
            x, updates = (bits[: count * row].view("float16").reshape(count, row) for bits in (one, other))
            y = dmlcore.scatter_nd(x, np.arange(count)[:, np.newaxis], updates, reduction=reduction).view("uint16").ravel()
            expected = wanted[: count * row]
            made = np.isnan(expected.view("float16")) & ~np.isnan(a[: len(y)]) & ~np.isnan(b[: len(y)])
            assert ((y == expected) | (made & (y & 0x7FFF == 0x7E00))).all(), (isa, row)


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_every_isa_equals_baseline(op, rng, any_isa, each_way):
    assert ISAS[0] == "baseline"
    for drawn, arrays in some_calls(op, rng, 80):
        results = {}
        for isa in ISAS:
            _select_isa(isa)
            assert dmlcore.build_info()["isa"] == isa
            results[isa] = call(op, arrays, drawn.options)
        assert all(same_bits(result, results["baseline"]) for result in results.values()), list(results)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dtype", ("uint8", "float16", "float32", "float64", "complex128"))
@pytest.mark.parametrize(
    ("size", "count"),
    (
        (5_000, 9_001),
        (50_000, 2_000_001),
        (200_000, 9_001),
        (3_000_000, 9_001),
        (40_000_000, 9_001),
        (40_000_000, 700_001),
    ),
)
def test_every_isa_with_tables_of_any_size(rng, any_isa, size, count, dtype):
    """Single elements out of tables and into tables that lie in one cache or another, or in none; few of them, and many."""
    if size * np.dtype(dtype).itemsize > 200 << 20:
        size = (200 << 20) // np.dtype(dtype).itemsize
    x = np.zeros(size, dtype)
    at = rng.integers(-size, size, count)
    x[at] = rng.integers(0, 100, count).astype(dtype)
    square = x[: size // 1000 * 1000].reshape(-1, 1000)
    pairs = np.stack([rng.integers(-n, n, count) for n in square.shape], axis=-1)
    updates = rng.integers(0, 100, count).astype(dtype)
    written, added = x.copy(), x.copy()
    written[at] = updates
    np.add.at(added, at, updates)
    for isa in ISAS:
        _select_isa(isa)
        assert same_bits(dmlcore.gather_elements(x, at), x[at]), isa
        assert same_bits(dmlcore.gather_nd(square, pairs), square[tuple(pairs.T)]), isa
        assert same_bits(dmlcore.gather_nd(square, pairs, out=np.empty(count, dtype)), square[tuple(pairs.T)]), isa
        positive = pairs % square.shape
        assert same_bits(dmlcore.gather_nd(square, positive), square[tuple(pairs.T)]), isa
        assert same_bits(dmlcore.scatter_elements(x, at, updates), written), isa
        assert same_bits(dmlcore.scatter_nd(x, at[:, np.newaxis], updates), written), isa
        if dtype != "complex128":
            assert same_bits(dmlcore.scatter_elements(x, at, updates, reduction="add"), added), isa


def every_bad_index_raises(x, tuples, places):
    """Values just out of range, or far, each at every coordinate of these tuples; what is stored to stays as it was."""
    info = np.iinfo(tuples.dtype)
    for place, coordinate in itertools.product(places, range(tuples.shape[1])):
        n = x.shape[coordinate]
        for value in {n, max(-n - 1, info.min), min(n + 2**32, info.max), info.max, info.max // 2 + 1, info.min} - {0}:
            bad = tuples.copy()
            bad[place, coordinate] = value
            out = np.full((len(bad), *x.shape[tuples.shape[1] :]), 7, x.dtype)
            for given in (None, out):
                with pytest.raises(dmlcore.IndexOutOfRangeError, match=str(value)):
                    dmlcore.gather_nd(x, bad, out=given)
            assert (out == 7).all()


@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize(
    "shape", ((3_001, 1_009), (301, 97, 101), (5_000_000,), (2_203, 2_003), (173, 163, 167), (51, 53, 41, 43)), ids=str
)
def test_every_isa_with_tuples_and_far_tables(rng, any_isa, shape, index):
    """Coordinates that are all positive, some negative, or one of them out of range, at every place of a step."""
    x = rng.random(shape, dtype="float32")
    positive = np.stack([rng.integers(0, n, 3_005) for n in shape], axis=-1).astype(index)
    wanted = x[tuple(positive.T)]
    mixed = positive.copy()
    if np.dtype(index).kind == "i":
        mixed[::7] -= np.array(shape, index)
    for isa in ISAS:
        _select_isa(isa)
        for tuples in (positive, mixed):
            assert same_bits(dmlcore.gather_nd(x, tuples), wanted), isa
            assert same_bits(dmlcore.gather_nd(x, tuples, out=np.empty_like(wanted)), wanted), isa
        every_bad_index_raises(x, positive, (0, 31, 32, 1_500, 3_004))


@pytest.mark.parametrize("index", ("int32", "uint32", "int64", "uint64"))
@pytest.mark.parametrize("shape", ((5_003,), (61, 53), (31, 17, 23), (7, 11, 5, 13), (40, 30, 3)), ids=str)
@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512-gathers"), indirect=True)
def test_tables_that_lie_backwards(rng, isa, index, shape):
    """Offsets of 64 bits, below zero: one coordinate and more, elements and short slices; good ones, and one out of range."""
    table, size = rng.random(shape), len(shape) - (shape[-1] == 3)
    positive = np.stack([rng.integers(0, n, 3_005) for n in shape[:size]], axis=-1).astype(index)
    mixed = positive.copy()
    if np.dtype(index).kind == "i":
        mixed[::7] -= np.array(shape[:size], index)
    for x in (table[::-1], table[..., ::-1], table[(slice(None, None, -1),) * table.ndim]):
        wanted = x[tuple(positive.T)]
        for tuples in (positive, mixed):
            assert same_bits(dmlcore.gather_nd(x, tuples), wanted)
            assert same_bits(dmlcore.gather_nd(x, tuples, out=np.empty_like(wanted)), wanted)
        every_bad_index_raises(x, positive, (0, 1_500, 3_004))


@pytest.mark.parametrize("size", (1_500, 40_000))
def test_pairs_are_scattered_in_place(rng, every_thread, any_isa, size):
    """More pairs than a box holds, many of them the same; the check keeps their offsets."""
    x, updates = rng.random((40, 50)), rng.random(size)
    pairs = np.stack([rng.integers(-n, n, size) for n in x.shape], axis=-1)
    wanted = x.copy()
    for pair, update in zip(pairs, updates, strict=True):
        wanted[tuple(pair)] = update
    for isa in ISAS:
        _select_isa(isa)
        for threads in (1, 4):
            out = x.copy()
            dmlcore.scatter_nd(out, pairs, updates, out=out, num_threads=threads)
            assert same_bits(out, wanted), (isa, threads)


@pytest.mark.skipif(sys.platform != "linux", reason="address space without memory is asked for in Linux's way")
def test_rows_gigabytes_apart(rng, any_isa):
    """Offsets within a box that take all of 32 bits, though the indexed dimension is short."""
    rows, columns, apart = 4, 200, 1 << 30
    memory = mmap.mmap(-1, (rows - 1) * apart + 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)  # MAP_NORESERVE
    x = np.ndarray((rows, columns), "float32", memory, 0, (apart, 4))
    x[...] = rng.random(x.shape)
    indices = rng.integers(-columns, columns, (rows, 250)).astype("int32")
    for isa in ISAS:
        _select_isa(isa)
        assert same_bits(dmlcore.gather_elements(x, indices, axis=1), np.take_along_axis(x, indices, 1)), isa


@pytest.mark.skipif(sys.platform != "linux", reason="address space without memory is asked for in Linux's way")
@pytest.mark.parametrize("n", (2**31 - 1, 2**31, 2**31 + 1))
@pytest.mark.parametrize("count", (8, 100, 900))
def test_indices_of_31_bits_and_more(any_isa, n, count):
    """Tables as long as a signed number of 32 bits can tell, and a little longer: the indices around their ends."""
    memory = mmap.mmap(-1, n, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)  # MAP_NORESERVE
    x = np.ndarray(n, "uint8", memory)
    x[[0, -1]] = 1, 2
    for isa in ISAS:
        _select_isa(isa)
        assert same_bits(dmlcore.gather(x, np.tile([n - 1, -n], count)), np.tile(np.array([2, 1], "uint8"), count)), isa
        for bad in (n, -n - 1, 2**32, 2**32 - 1, 2**40, -(2**40)):
            indices = np.zeros(count, "int64")
            indices[count // 2] = bad
            with pytest.raises(dmlcore.IndexOutOfRangeError, match=str(bad)):
                dmlcore.gather(x, indices)


@pytest.mark.skipif(sys.platform != "linux", reason="address space without memory is asked for in Linux's way")
@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("dtype", ("uint8", "int16"))
def test_offsets_of_31_bits(any_isa, dtype, first):
    """Two rows so far apart that the last offset of a box is as large as a signed number can be, from any byte of a word on."""
    columns, width = 4096, np.dtype(dtype).itemsize
    apart = (2**31 - 1 - columns * width) // width * width
    memory = mmap.mmap(-1, 2**31 + 8192, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)  # MAP_NORESERVE
    x = np.ndarray((2, columns), dtype, memory, first, (apart, width))
    x[:, -64:] = np.arange(128).reshape(2, 64)
    indices = np.tile(np.arange(columns - 64, columns), (2, 1))
    broadcast = np.ndarray((2, columns), dtype, memory, first + apart + (columns - 1) * width, (0, 0))
    far = np.ndarray((2, 64), dtype, memory, first + (columns - 64) * width, (apart, width))
    for isa in ISAS:
        _select_isa(isa)
        assert same_bits(dmlcore.gather_elements(x, indices, axis=1), np.ascontiguousarray(x[:, -64:])), isa
        assert same_bits(dmlcore.gather_elements(far, np.zeros((1, 64), int) + 1), np.ascontiguousarray(far[1:])), isa
        assert same_bits(dmlcore.gather_elements(broadcast, indices, axis=1), np.full((2, 64), 127, dtype)), isa


@pytest.mark.parametrize("dtype", ("float32", "int64", "int16", "uint8"))
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
def test_near_tables_with_every_last_place(rng, any_isa, index, dtype):
    """Rows and boxes that end anywhere, unaligned starts, and one index out of range, at every place of the last ones."""
    for count in (1025, 2047, 2051, 4100):
        table = rng.integers(-(2**30), 2**30, 700).astype(dtype)
        least = -700 if np.dtype(index).kind == "i" else 0
        indices = rng.integers(least, 700, count + 1).astype(index)[1:]
        wanted = table[indices.astype(int)]
        rows = table[np.newaxis].repeat(3, 0)
        for isa in ISAS:
            _select_isa(isa)
            assert same_bits(dmlcore.gather(table, indices), wanted), isa
            out = np.empty(count + 1, dtype)[1:]
            assert same_bits(dmlcore.gather_elements(table, indices, out=out), wanted), isa
            found = dmlcore.gather_elements(rows, indices[np.newaxis].repeat(3, 0), axis=1)
            assert same_bits(found, wanted[np.newaxis].repeat(3, 0)), isa
            for place in (0, 9, *range(count - 18, count)):
                for value in (700, np.iinfo(index).max, *([-701, np.iinfo(index).min] if least else [])):
                    bad = indices.copy()
                    bad[place] = value
                    with pytest.raises(dmlcore.IndexOutOfRangeError, match=rf"\[{place}\] .* is {value},"):
                        dmlcore.gather(table, bad)


@pytest.mark.parametrize("dtype", ("float32", "int64", "uint8"))
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
def test_rows_of_every_length(rng, any_isa, index, dtype):
    """Rows of indices with others between them, which are out of range, and without; one of these at every place of a row."""
    for length in (*range(14, 36), 63, 64, 95, 96, 97, 130, 191, 192, 193):
        table = rng.integers(0, 100, (6, length + 3)).astype(dtype)
        least = -length - 3 if np.dtype(index).kind == "i" else 0
        wider = np.full((6, length + 2), 2**31 - 1, index)
        apart = wider[:, 1:-1]
        apart[...] = rng.integers(least, length + 3, apart.shape)
        for indices in (apart, apart.copy()):
            wanted = np.take_along_axis(table, indices.astype(int), 1)
            for isa in ISAS:
                _select_isa(isa)
                out = np.zeros_like(wanted)
                assert same_bits(dmlcore.gather_elements(table, indices, 1), wanted), (isa, length)
                assert same_bits(dmlcore.gather_elements(table, indices, 1, out=out), wanted), (isa, length)
                for row, place in ((0, length - 1), *((5, place) for place in range(0, length, 1 + length // 40))):
                    good, indices[row, place] = indices[row, place], length + 3
                    with pytest.raises(dmlcore.IndexOutOfRangeError, match=rf"\[{row}, {place}\] .* is {length + 3},"):
                        dmlcore.gather_elements(table, indices, 1, out=out)
                    with pytest.raises(dmlcore.IndexOutOfRangeError, match=rf"\[{row}, {place}\] "):
                        dmlcore.gather_elements(table, indices, 1)
                    indices[row, place] = good
                assert same_bits(out, wanted)


@pytest.mark.parametrize("dtype", ("float32", "int64", "uint8", "float16"))
@pytest.mark.parametrize("index", ("int32", "uint64"))
def test_rows_that_share_a_table_row(rng, any_isa, index, dtype):
    """Parts of wider rows of indices, all out of one dimension: contiguous, every second element, a column, one for all."""
    wide = rng.integers(0, 100, (900, 3)).astype(dtype)
    tables = (wide[:, 0].copy(), wide[::2, 0].copy()[::2], wide[:, 1], wide[::-1, 2], np.broadcast_to(wide[5, :1], 900))
    for length in (12, 16, 20, 40, 130, 192):
        for table in tables:
            indices = np.full((200, length + 2), 2**31 - 1, index)[:, 1:-1]
            indices[...] = rng.integers(0, len(table), indices.shape)
            wanted = table[indices.astype(int)]
            for isa in ISAS:
                _select_isa(isa)
                out = np.zeros_like(wanted)
                assert same_bits(dmlcore.gather(table, indices), wanted), (isa, length)
                assert same_bits(dmlcore.gather(table, indices, out=out), wanted), (isa, length)
                assert same_bits(dmlcore.gather_nd(table, indices[..., np.newaxis]), wanted), (isa, length)
                good, indices[150, length - 1] = indices[150, length - 1], len(table)
                with pytest.raises(dmlcore.IndexOutOfRangeError, match=rf"\[150, {length - 1}\] "):
                    dmlcore.gather(table, indices, out=out)
                indices[150, length - 1] = good
                assert same_bits(out, wanted)
