"""Slices: long ones out of far tables, past the caches, with gaps between them; rows that repeat one index, which are moved as
slices; tables whose slices are overwritten as a whole. Each against NumPy's own functions.
"""

import numpy as np
import pytest
from layouts import at_offset
from moves import THREADS, both_outputs, numbers
from oracle import same_bits

import dmlcore

ADDED = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


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


@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512"), indirect=True)
@pytest.mark.parametrize("width", (66, 130, 500, 2000))
def test_slices_beyond_32_bits(rng, isa, tmp_path, width):
    """A table of five gibibytes, a file that is mostly a hole: its first rows and its last ones, past the caches and through
    them, into outputs that begin anywhere in a line."""
    rows = (5 << 30) // width
    table = np.memmap(tmp_path / "table", np.uint8, "w+", shape=(rows, width))
    named = np.concatenate((np.arange(40), np.arange(rows - 40, rows)))
    table[named] = numbers(rng, (len(named), width), "uint8")
    for size in (1_000_000, 25_000_000):
        indices = rng.choice(named, size // width)
        wanted = table[indices]
        for threads in THREADS:
            with at_offset(wanted.shape, "uint8", int(rng.integers(64))) as out:
                dmlcore.gather(table, indices, out=out, num_threads=threads)
                assert same_bits(out, wanted), (size, threads)


@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512", "avx512-zen5", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("width", (2049, 2111, 4095, 8193, 33_001))
def test_near_slices_anywhere(rng, isa, width):
    """Slices, and copies of whole tables, to what begins anywhere in a line, and so many bytes behind what is copied, in their
    pages: of few, string instructions are slow. What lies beside an output stays."""
    table, indices = numbers(rng, (7, width), "uint8"), np.array([2, -1, 0, 2, 5])
    memory = np.empty(7 * width + 3 * 4096, "uint8")
    updates = numbers(rng, (5, width), "uint8")
    wanted = table.copy()
    wanted[indices] = updates  # the last one for a row stays
    for behind in (*range(40), 63, 64, 100, 2048, 4033, 4095):
        begin = (table[2].ctypes.data + behind - memory.ctypes.data) % 4096
        end = begin + 5 * width
        memory[:] = 77
        dmlcore.gather(table, indices, out=memory[begin:end].reshape(5, width))
        assert same_bits(memory[begin:end].reshape(5, width), table[indices]), behind
        assert (memory[:begin] == 77).all() and (memory[end:] == 77).all(), behind
        end = begin + 7 * width
        memory[:] = 77
        dmlcore.scatter_nd(table, indices[:, np.newaxis], updates, out=memory[begin:end].reshape(7, width))
        assert same_bits(memory[begin:end].reshape(7, width), wanted), behind
        assert (memory[:begin] == 77).all() and (memory[end:] == 77).all(), behind


@pytest.mark.parametrize("isa", ("baseline", "avx2"), indirect=True)
@pytest.mark.parametrize("width", (80, 2404, 120_004))
@pytest.mark.parametrize("held", (1_000_000, 10_000_000, 40_000_000))
def test_middling_outputs(rng, every_thread, isa, width, held):
    """Outputs about as large as what caches have room for beside tables of so many bytes, through them and past them."""
    table = numbers(rng, (held // width, width // 4), "float32")
    for size in (7_000_000, 9_000_000, 12_000_000):
        indices = rng.integers(-len(table), len(table), size // width)
        both_outputs(dmlcore.gather, table, indices, wanted=table[indices])


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


@pytest.mark.one_in(3)
@pytest.mark.parametrize("isa", ("baseline", "avx512-zen5", "avx512-gathers", "avx512-granite"), indirect=True)
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


@pytest.mark.parametrize("isa", ("baseline", "avx512-zen5", "avx512-gathers", "avx512-granite"), indirect=True)
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
