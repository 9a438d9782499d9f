"""The copy that a scatter begins with: by one thread and by several, through the caches, past them, and in pages. Each against
NumPy.
"""

from itertools import permutations, product

import numpy as np
import pytest
from layouts import at_offset
from oracle import same_bits

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


def copied(x, threads, out=None):
    """What is left of a scatter when there is nothing to scatter."""
    none = np.zeros((0, *x.shape[1:]), x.dtype)
    return dmlcore.scatter_nd(x, np.zeros((0, 1), int), none, out=out, num_threads=threads)


@pytest.mark.parametrize("dtype", ("uint8", "uint16", "uint32", "float64", "complex128"))
def test_rows(rng, dtype):
    """Backwards, every second element, one again and again, and any other bytes apart, as columns that overlap are: all of a
    tensor, and as slices. Nothing beside them is stored to."""
    width = np.dtype(dtype).itemsize
    data = rng.integers(0, 256, 30_000).astype(np.uint8)
    steps = {0, *range(-9, 10), *(k * width for k in (-3, -2, -1, 1, 2, 3))}
    for columns, step in product((*range(1, 35), 64, 255, 300), sorted(steps)):
        x = np.ndarray((5, columns), dtype, data, 15_000, (width + 1, step))
        frame = np.full((5, columns + 2), 77, dtype)
        copied(x, 1, frame[:, 1:-1])
        assert same_bits(frame[:, 1:-1], x), (columns, step)
        assert (frame[:, [0, -1]] == 77).all(), (columns, step)
        for indices in ([3, 0], rng.integers(0, 5, 300)):
            assert same_bits(dmlcore.gather(x, indices), x[indices]), (columns, step)


@pytest.mark.parametrize("dtype", ("uint8", "uint16", "uint32", "float64", "complex128"))
@pytest.mark.parametrize("isa", ("baseline", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("threads", (1, 3))
def test_planes(rng, isa, dtype, threads):
    """Transposed tables of few columns and many: blocks, what is left of them, and rows that are apart in the destination."""
    prime = rng.integers(0, 256, (2, 786, 8)).astype(dtype).transpose(2, 1, 0)  # its columns are a part of 786
    assert np.array_equal(copied(prime, threads), prime)
    heights, widths = (1, 2, 7, 8, 16, 33, 64, 129, 1024, 1030), (2, 3, 4, 5, 7, 8, 15, 16, 17, 63, 64, 65, 255, 257)
    for rows, columns in product(heights, widths):
        x = rng.integers(0, 256, (columns, rows)).astype(dtype).T
        dense = np.full(rows * columns + 8, 77, dtype)
        copied(x, threads, dense[:-8].reshape(rows, columns))
        assert np.array_equal(dense[:-8].reshape(rows, columns), x), (rows, columns)
        assert (dense[-8:] == 77).all(), (rows, columns)
        frame = np.full((rows, columns + 1), 77, dtype)
        copied(x, threads, frame[:, :columns])
        assert np.array_equal(frame[:, :columns], x), (rows, columns)
        assert (frame[:, columns] == 77).all(), (rows, columns)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dtype", ("uint8", "uint16", "uint32", "float64", "complex128"))
@pytest.mark.parametrize("shape", ((1030, 700), (700, 1030), (1024, 90), (90, 1024), (64, 64), (1024, 1024)), ids=str)
@pytest.mark.parametrize("isa", ("baseline", "avx512-gathers"), indirect=True)
def test_large_planes(rng, isa, dtype, shape):
    """Some of which no second-level cache holds, and whose lines meet there, to rows that are a power of two apart as well."""
    times = 20_000_000 // (shape[0] * shape[1] * np.dtype(dtype).itemsize) if 90 not in shape else 4
    for rows, columns in ((shape[0] * times, shape[1]), (shape[0], shape[1] * times)):
        x = rng.integers(0, 256, (columns, rows)).astype(dtype).T
        for threads in (1, 3):
            assert np.array_equal(copied(x, threads), x), threads
            frame = np.full((rows, (columns // 1024 + 1) * 1024 if rows < 9000 else columns + 1), 77, dtype)
            copied(x, threads, frame[:, :columns])
            assert np.array_equal(frame[:, :columns], x), threads
            assert (frame[:, columns:] == 77).all(), threads


@pytest.mark.parametrize("dtype", ("uint8", "uint16", "uint32", "float64"))
@pytest.mark.parametrize(
    "shape",
    (
        *((2, 3, 5, 40), (5, 3, 2, 16), (16, 17, 2, 8), (40, 7, 3, 9), (300, 2, 2, 2), (2, 262, 2, 3), (9, 3, 99, 2)),
        *((5, 300, 3, 2), (1300, 5, 4, 2), (2, 900, 11, 12)),
    ),
    ids=str,
)
def test_short_dimensions(rng, dtype, shape):
    """Tables whose dimensions are in any order, some of them turned around, are copied in one that is regular."""
    values = rng.integers(0, 256, shape).astype(dtype)
    for order in permutations(range(4)):
        for x in (values.transpose(order), values[:, ::-1].transpose(order), values[..., ::2].transpose(order)):
            for threads in (1, 2):
                assert np.array_equal(copied(x, threads), x), order
            out = np.empty(x.shape[::-1], dtype).T
            copied(x, 1, out)
            assert np.array_equal(out, x), order


@pytest.mark.parametrize("dtype", ("uint8", "uint16", "uint32", "float64"))
@pytest.mark.parametrize(
    "shape", ((7, 1024, 8), (8, 1024, 7), (15, 512, 10), (6, 512, 20), (3, 128, 3, 4), (17, 256, 9)), ids=str
)
def test_short_dimensions_that_meet_in_the_cache(rng, dtype, shape):
    """Rows and columns that are multiples of 1024 bytes apart, and parts of lines on one side or both."""
    x = rng.integers(0, 256, shape[::-1]).astype(dtype).T
    for threads in (1, 3):
        assert np.array_equal(copied(x, threads), x)


@pytest.mark.parametrize("dtype", ("uint8", "uint16", "uint32", "float64", "complex128"))
@pytest.mark.parametrize(
    "shape",
    (
        *((2, 179, 300), (300, 179, 2), (179, 2, 300), (6, 100, 6), (5, 5, 5, 5, 5, 5), (4, 4, 4, 4, 4, 4), (2, 3, 500, 7)),
        *((2, 128, 1024), (4, 32, 512), (2, 2, 2, 2, 2, 2, 256), (4, 64, 64, 4), (1, 3, 3, 3, 3, 130), (3, 500, 4, 7)),
        *((3, 700, 900), (900, 700, 3), (3, 211, 211, 16)),
    ),
    ids=str,
)
def test_turned_around(rng, dtype, shape):
    """Tables with all dimensions the other way round, where some of either side have to be taken together: into arrays that
    have a frame, and of which a dimension or two were left out.
    """
    x = rng.integers(0, 256, shape[::-1]).astype(dtype).T
    for threads in (1, 3):
        assert np.array_equal(copied(x, threads), x)
        frame = np.full((*shape[:-2], shape[-2] + 1, shape[-1]), 77, dtype)
        copied(x, threads, frame[..., :-1, :])
        assert np.array_equal(frame[..., :-1, :], x)
        assert (frame[..., -1, :] == 77).all()
        frame = np.full((shape[0], *shape[1:-1], shape[-1] + 3), 77, dtype)
        copied(x, threads, frame[..., 1:-2])
        assert np.array_equal(frame[..., 1:-2], x)
        assert (frame[..., 0] == 77).all()
        assert (frame[..., -2:] == 77).all()
    for part in (x[1:], x[..., 1:], x[:, ::-1], x[:, 1::2]):
        assert np.array_equal(copied(part, 1), part)


SHAPES = ((32, 1024, 22), (8, 1030, 300), (64, 17, 1024), (3, 4096, 40), (33, 700, 16), (4, 9, 600, 20))


@pytest.mark.parametrize("dtype", ("uint8", "uint16", "uint32", "float64", "complex128"))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_columns_of_pages(rng, dtype, shape):
    """One plane of a transposed table: each row of the result has its elements on as many pages, each column in lines that have
    nothing else of it."""
    table = np.asfortranarray(rng.integers(0, 250, shape).astype(dtype))
    frame = np.full((*shape[1:-1], shape[-1] + 3), 77, dtype)
    for threads in (1, 3):
        for n in (0, shape[0] - 1):
            assert np.array_equal(dmlcore.gather(table, np.array([n]), 0, num_threads=threads)[0], table[n])
            assert np.array_equal(copied(table[n], threads), table[n])
            copied(table[n], threads, frame[..., :-3])
            assert np.array_equal(frame[..., :-3], table[n]) and (frame[..., -3:] == 77).all()


def test_short_runs(rng):
    """Images whose rows become columns: each place of some bytes that follow each other is copied whole."""
    for run in (*range(2, 70), 130, 2047, 2049):
        x = rng.integers(0, 256, (19, 7, run), np.uint8).transpose(1, 0, 2)
        assert np.array_equal(copied(x, 1), x), run
        frame = np.full((*x.shape[:2], run + 2), 77, np.uint8)
        copied(x, 1, frame[..., 1:-1])
        assert np.array_equal(frame[..., 1:-1], x), run
        assert (frame[..., (0, -1)] == 77).all(), run


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


@pytest.mark.one_in(3)
@pytest.mark.parametrize("isa", ("baseline", "avx512-zen5", "avx512-gathers"), indirect=True)
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


@pytest.mark.one_in(3)
@pytest.mark.parametrize("isa", ("avx512-zen5", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("line", (1, 3, 64, 1001, 8192, 32_768, 32_800))
@pytest.mark.parametrize("every", (1, 300))
def test_staged_lines(rng, every_thread, isa, line, every):
    """Lines are copied and updated elsewhere before they are stored; they end in lines of the cache that others begin in."""
    lines, updated = (17_000_000 if every == 1 else 40_000_000) // line, max(1, line // every)
    source = rng.integers(0, 100, (lines, line), np.uint8)
    indices = np.empty((lines, updated), np.uint32)
    indices[:] = rng.permuted(np.tile(np.arange(line, dtype=np.uint32), (16, 1)), axis=1)[rng.integers(0, 16, lines), :updated]
    updates = rng.integers(100, 200, indices.shape, np.uint8)
    wanted = source.copy()
    np.put_along_axis(wanted, indices, updates, 1)
    added = source.copy()
    np.put_along_axis(added, indices, np.take_along_axis(source, indices, 1) + updates, 1)
    for threads in (1, 3):
        for _ in range(2):  # the second time into memory that is in use
            assert np.array_equal(dmlcore.scatter_elements(source, indices, updates, axis=1, num_threads=threads), wanted)
        for offset in (0, 1, 48):
            with at_offset(source.shape, "uint8", offset) as out:
                out[:] = 255
                dmlcore.scatter_elements(source, indices, updates, axis=1, out=out, num_threads=threads)
                assert np.array_equal(out, wanted), (threads, offset)
        sums = dmlcore.scatter_elements(source, indices, updates, axis=1, reduction="add", num_threads=threads)
        assert np.array_equal(sums, added), threads
    indices[lines // 2, updated // 2] = line
    with at_offset(source.shape, "uint8", 16) as out:
        out[:] = 255
        with pytest.raises(dmlcore.IndexOutOfRangeError, match=str(line)):
            dmlcore.scatter_elements(source, indices, updates, axis=1, out=out)
        assert (out == 255).all()
