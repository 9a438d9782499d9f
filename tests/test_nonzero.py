"""Non-zero elements of short rows, few and many, and of tensors in any order of memory, against np.argwhere."""

import numpy as np
import pytest
from layouts import reordered
from moves import THREADS

import dmlcore


@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512"), indirect=True)
@pytest.mark.parametrize("density", (0, 0.002, 0.01, 0.04, 0.06, 0.3, 0.6, 1))
def test_non_zero_elements_of_short_rows(rng, every_thread, isa, density):
    """Few found elements, whose coordinates are divided out, and many, which look them up; dimensions of one step as well; rows
    that begin and end within a word of the bitmap, with an element at the very end.
    """
    shapes = ((4, 64, 4, 1), (1, 700, 3), (2, 3, 4, 5, 6, 1, 7), (2100, 2), (3, 257), (1, 1, 5), (2, 1, 70, 90), (9, 1, 1))
    for shape in (*shapes, (9, 1531), (20_011,), (3, 4095), (70, 577)):
        x = (rng.random(shape) < density).astype("uint8")
        x.flat[-1] = density > 0
        wanted = np.argwhere(x)
        for dtype in ("uint32", "int64"):
            for threads in THREADS:
                found = dmlcore.nonzero_coordinates(x, dtype=dtype, num_threads=threads)
                assert found.dtype == dtype and np.array_equal(found, wanted), (shape, dtype, threads)


@pytest.mark.parametrize("isa", ("baseline", "avx512"), indirect=True)
@pytest.mark.parametrize("dtype", ("bool", "float16", "float32", "int64", "complex128"))
def test_non_zero_elements_in_any_order_of_memory(rng, every_thread, isa, dtype):
    """Few elements and many, rows that are shorter and longer than what is brought into order at a time, whose parts begin and
    end anywhere in a row; backwards, with others between them, and the same ones several times.
    """
    shapes = ((2, 4), (5, 8), (3, 7, 11), (40, 9), (257, 300), (2, 90_001), (90_001, 2), (70_003,), (300, 1, 299), (33, 64, 65))
    ways = {
        "transposed": lambda a: reordered(a, range(a.ndim)[::-1]),
        "turned": lambda a: reordered(a, (*range(1, a.ndim), 0)),
        "backwards": lambda a: a[::-1].copy()[::-1],
        "every second": lambda a: np.repeat(a, 2, -1)[..., ::2],
        "cut out": lambda a: np.pad(a, [(1, 2)] * a.ndim)[(slice(1, -2),) * a.ndim],
        "broadcast": lambda a: np.broadcast_to(a[..., :1], a.shape),
        "not aligned": lambda a: np.frombuffer(b" " + a.tobytes("F"), a.dtype, offset=1).reshape(a.shape, order="F"),
    }
    for shape in (*shapes, (0, 3), (2, 1, 3, 1, 5, 2)):
        x = (rng.random(shape) < 0.3).astype(dtype)
        for name, way in ways.items():
            there = way(x)
            wanted = np.argwhere(there)
            for threads in THREADS:
                found = dmlcore.nonzero_coordinates(there, num_threads=threads)
                assert np.array_equal(found, wanted), (shape, name, threads)
