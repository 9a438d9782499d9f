"""Moves against NumPy's answers: fresh and `out=`, with one thread and with four, and with an index out of range.

Shared by the tests of the ways that only some shapes take.
"""

import numpy as np
import pytest
from oracle import same_bits

import dmlcore

THREADS = (1, 4)
DTYPES = ("uint8", "float16", "float32", "float64", "complex128")


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
    broken[tuple(n * 3 // 4 for n in broken.shape)] = 10**9
    out = np.full_like(wanted, 7)
    for options_ in (dict(options), dict(options, out=out)):
        with pytest.raises(dmlcore.IndexOutOfRangeError, match="1000000000"):
            function(inputs[0], broken, *inputs[2:], **options_)
    assert (out == 7).all()


def wanted_of(operator, table, indices, updates, axis=None):
    """NumPy's answer of a gather, and of a scatter, whose last update stays."""
    if operator == "elements":
        wanted = table.copy()
        np.put_along_axis(wanted, indices.astype(np.int64), updates, axis)
        return np.take_along_axis(table, indices.astype(np.int64), axis), wanted
    at = tuple(indices[..., k].astype(np.int64) for k in range(indices.shape[-1]))
    wanted = table.copy()
    wanted[at] = updates
    return table[at], wanted


def apart(array):
    """The same numbers in other places: in Fortran order, backwards, every second column and row, part of wider rows, bytes
    that are not aligned."""
    yield array.copy(order="F")
    yield array[::-1].copy()[::-1]
    yield np.repeat(array, 2, axis=-1)[..., ::2]
    yield np.repeat(array, 2, axis=0)[::2]
    yield np.concatenate([array, array[..., :1], array[..., :1]], axis=-1)[..., :-2]
    yield array[..., ::-1].copy(order="F")[..., ::-1]
    bytes_ = np.zeros(array.nbytes + 1, "uint8")[1:]
    bytes_[:] = array.reshape(-1).view("uint8")
    yield bytes_.view(array.dtype).reshape(array.shape)
