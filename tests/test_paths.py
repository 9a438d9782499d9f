"""The ways that only some shapes take: long slices out of far tables, fresh outputs that are written from the end, rows
that repeat one index, indices and tables that lie the other way round, tiles of large planes. Each against NumPy's own
functions, with one thread and with three, into a fresh array and into `out=`.
"""

import numpy as np
import pytest
from oracle import same_bits

import dmlcore

THREADS = (1, 3)
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
    broken[tuple(n * 3 // 4 for n in broken.shape)] = 10**6
    out = np.full_like(wanted, 7)
    for options_ in (dict(options), dict(options, out=out)):
        with pytest.raises(dmlcore.IndexOutOfRangeError, match="1000000"):
            function(inputs[0], broken, *inputs[2:], **options_)
    assert (out == 7).all()


@pytest.mark.parametrize("width", (64, 100, 256, 1000, 5000, 300_000))
def test_far_slices(rng, every_thread, width):
    """A table and an output that no cache holds, slices that begin anywhere in a line."""
    rows = 12_000_000 // width
    table = numbers(rng, (rows, width), "uint8")
    indices = rng.integers(-rows, rows, (max(3, 6_000_000 // width), 1))
    both_outputs(dmlcore.gather_nd, table, indices, wanted=table[indices[:, 0]])
    updates = numbers(rng, (len(indices), width), "uint8")
    wanted = table.copy()
    wanted[indices[:, 0]] = updates                 # NumPy too keeps the last one
    both_outputs(dmlcore.scatter_nd, table, indices, updates, wanted=wanted)


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
    if view is not None:                            # the same without the copies: a stride of 0
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
