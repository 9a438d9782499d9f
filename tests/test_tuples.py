"""Tuples of coordinates: of every length, one by one, in other orders of memory, out of near tables. Each against NumPy's own
functions.
"""

import numpy as np
import pytest
from moves import DTYPES, THREADS, apart, both_outputs, numbers
from oracle import same_bits

import dmlcore


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


@pytest.mark.one_in(3)
@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512-zen5", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("length", (1, 2, 3, 4, 5, 8))
@pytest.mark.parametrize("index", ("int64", "int32", "uint32", "uint64"))
def test_tuples_that_are_apart(rng, every_thread, isa, length, index):
    """Coordinates of one dimension that follow each other, and tuples with others between them; the table is larger than what
    registers hold, and every coordinate meets the length of its own dimension."""
    shape = (7000,) if length == 1 else (90, 80, 7, 3, 2, 2, 2, 2)[:length]
    table = np.resize(np.arange(251, dtype="float32"), shape)
    for count in (1200, 20_011):
        indices = np.stack([rng.integers(0 if index[0] == "u" else -n, n, count) for n in shape], -1).astype(index)
        wanted = table[tuple(indices.astype("int64").T)]
        last = count - 1
        for given in apart(indices):
            both_outputs(dmlcore.gather_nd, table, given, wanted=wanted)
            updates = numbers(rng, count, "float32")
            scattered = table.copy()
            scattered[tuple(indices.astype("int64").T)] = updates
            assert same_bits(dmlcore.scatter_nd(table, given, updates), scattered)
            for k, n in enumerate(shape):
                for at in ((0, k), (last, k)):
                    good, given[at] = given[at], n
                    with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                        dmlcore.gather_nd(table, given, out=np.empty_like(wanted))
                    assert caught.value.position == at
                    given[at] = good


@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("index", ("int64", "int32", "uint32", "uint64"))
@pytest.mark.parametrize("shape", ((70, 50), (300, 1100), (7, 20, 33), (3, 400, 200), (3, 11, 20, 17)), ids=str)
def test_tuples_out_of_near_tables(rng, every_thread, isa, shape, index):
    """Sixteen at a time and what is left; so many that the check keeps some offsets; a bad one is found wherever it is, also
    where its lower half would be in range."""
    for dtype, count in [(d, c) for d in DTYPES for c in (1030, 5003)] + [("float64", 300_003)]:
        table = numbers(rng, shape, dtype)
        indices = np.stack([rng.integers(0 if index[0] == "u" else -n, n, count) for n in shape], -1).astype(index)
        both_outputs(dmlcore.gather_nd, table, indices, wanted=table[tuple(indices.astype("int64").T)])
    info = np.iinfo(index)
    values = [v for v in (2**32 + 1, info.max, info.min or info.max, -(2**32) + 1) if info.min <= v <= info.max]
    for number, bad in enumerate(rng.integers(0, indices.size, 20)):
        broken = indices.copy()
        broken.flat[bad] = [shape[bad % len(shape)], *values][number % (len(values) + 1)]
        with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
            dmlcore.gather_nd(table, broken)
        assert caught.value.position == np.unravel_index(bad, indices.shape)
