"""Non-zero elements of short rows, few and many, against np.argwhere."""

import numpy as np
import pytest
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
