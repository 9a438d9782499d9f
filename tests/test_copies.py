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


@pytest.mark.parametrize("threads", (1, 2, 3, 900))
def test_nothing_to_update(rng, threads):
    """Such a call has no boxes of positions: nothing may be shared out by what an earlier call left of them."""
    cube, along = rng.random((4, 5, 400), np.float32), rng.integers(0, 400, (3, 4, 300))
    for shape in ((500, 40), (200, 100), (20_000, 1), (900, 4000)):
        x = rng.random(shape, np.float32)
        for axis in (0, 1):
            none = [n * (d != axis) for d, n in enumerate(shape)]
            dmlcore.scatter_elements(cube, along, cube[:3, :4, :300], axis=2, num_threads=threads)
            found = dmlcore.scatter_elements(x, np.zeros(none, int), np.zeros(none, "f4"), axis=axis, num_threads=threads)
            assert np.array_equal(found, x)
        for rows in (x, x.ravel()):
            dmlcore.scatter_elements(cube, along, cube[:3, :4, :300], axis=2, num_threads=threads)
            none = np.zeros((0, *rows.shape[1:]), np.float32)
            assert np.array_equal(dmlcore.scatter_nd(rows, np.zeros((0, 1), int), none, num_threads=threads), rows)
    nowhere = np.zeros((2000, 0), np.float32)
    with pytest.raises(dmlcore.IndexOutOfRangeError, match="length 0"):
        dmlcore.scatter_elements(nowhere, np.zeros((2000, 30), int), np.zeros((2000, 30), "f4"), axis=1, num_threads=threads)


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
