"""The copy that a scatter begins with: by one thread and by several, through the caches, past them, and in pages. Each against
NumPy.
"""

import numpy as np
import pytest
from layouts import at_offset

import dmlcore


@pytest.mark.parametrize("order", ("C", "F", "step"))
@pytest.mark.parametrize("shape", ((90_000,), (200_000,), (301, 200), (3, 20_000)), ids=str)
def test_copies_in_parts(rng, shape, order):
    """A table is copied by several threads, then updated by as many or by one: few updates and many, no grain set."""
    source = rng.random((*shape[:-1], 2 * shape[-1]), np.float32)[..., ::2]
    source = source if order == "step" else np.array(source, order=order)
    for count in (1, 30, 3000):
        indices = rng.integers(0, shape[-1], (*shape[:-1], count))
        updates = np.broadcast_to(np.float32(7), indices.shape)
        wanted = source.copy()
        np.put_along_axis(wanted, indices, 7, -1)
        for threads in (1, 2, 5):
            for _ in range(3):
                found = dmlcore.scatter_elements(source, indices, updates, axis=-1, num_threads=threads)
                assert np.array_equal(found, wanted)


@pytest.mark.parametrize("isa", ("baseline", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("offset", (0, 16, 1))
@pytest.mark.parametrize("size", (17_000_000, 51_000_003))
@pytest.mark.parametrize("count", (1, 2_000_000))
def test_past_the_caches(rng, isa, offset, size, count):
    """Large tables, whose lines and pages the destination does not begin with."""
    source = rng.integers(0, 100, size, np.uint8)
    indices = rng.integers(0, size, count)
    wanted = source.copy()
    wanted[indices] = 200
    for threads in (1, 3):
        with at_offset((size,), "uint8", offset) as out:
            dmlcore.scatter_elements(source, indices, np.full(count, 200, np.uint8), out=out, num_threads=threads)
            assert np.array_equal(out, wanted)
