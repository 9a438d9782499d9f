"""Tables that lie backwards in memory along the dimensions that indices choose from, or that positions walk along:
offsets count from their lowest place. Each against NumPy's own functions.
"""

import numpy as np
import pytest
from moves import DTYPES, both_outputs, numbers
from oracle import same_bits

import dmlcore

ISAS = ("baseline", "avx2", "avx512", "avx512-zen5", "avx512-gathers", "avx512-granite")
SHAPES = {1: (300,), 2: (40, 37), 3: (7, 11, 13)}
WAYS = ((-1,), (1, -1), (-1, 1), (-1, -1), (-2, -1), (1, 1, -1), (1, -1, 1), (-1, 1, 1), (-1, -3, -1))


def backwards(rng, shape, dtype, ways):
    """Numbers that lie so in memory, with others between them where a step is more than one."""
    steps = tuple(slice(None, None, way) for way in ways)
    view = numbers(rng, [n * abs(way) for n, way in zip(shape, ways, strict=True)], dtype)[steps]
    return view[tuple(slice(0, n) for n in shape)]


def drawn(rng, bound, shape, index):
    """Indices of both signs, among them the first and the last place from both ends."""
    low = -bound if index[0] == "i" else 0
    indices = rng.integers(low, bound, shape)
    ends = [0, bound - 1, low, low + bound - 1][: indices.size]
    indices.flat[: len(ends)] = ends
    return indices.astype(index)


@pytest.mark.one_in(25)
@pytest.mark.parametrize("isa", ISAS, indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ways", WAYS, ids=str)
def test_elements_backwards(rng, each_way, isa, ways, dtype, index):
    """Single indices along every axis, as few as one and more than a box has; rows of the table in every direction."""
    shape = SHAPES[len(ways)]
    x = backwards(rng, shape, dtype, ways)
    for axis, bound in enumerate(shape):
        for count in (1, 12, 13, 90, 1100, 5003):
            indices = drawn(rng, bound, (*shape[:axis], -(-count // (x.size // bound)), *shape[axis + 1 :]), index)
            wanted = np.take_along_axis(x, indices.astype("int64"), axis)
            both_outputs(dmlcore.gather_elements, x, indices, axis=axis, wanted=wanted)
            if count <= 90:
                some = indices.reshape(-1)[:count]
                both_outputs(dmlcore.gather, x, some, axis=axis, wanted=np.take(x, some.astype("int64"), axis))


@pytest.mark.one_in(25)
@pytest.mark.parametrize("isa", ISAS, indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ways", WAYS, ids=str)
def test_tuples_backwards(rng, each_way, isa, ways, dtype, index):
    """Tuples of every length, in a row, with others between them, and by columns; slices; so many that offsets are kept."""
    shape = SHAPES[len(ways)]
    x = backwards(rng, shape, dtype, ways)
    for size in range(1, len(shape) + 1):
        for count in (3, 40, 1500, 9000):
            indices = np.stack([drawn(rng, bound, (count,), index) for bound in shape[:size]], -1)
            wanted = x[tuple(indices.astype("int64").T)]
            wide = np.zeros((count, size + 1), index)
            wide[:, :size] = indices
            for layout in (indices, wide[:, :size], np.asfortranarray(indices)):
                both_outputs(dmlcore.gather_nd, x, layout, wanted=wanted)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("isa", ISAS, indirect=True)
@pytest.mark.parametrize("mode", ("clip", "fill"))
@pytest.mark.parametrize("ways", WAYS, ids=str)
def test_out_of_range_backwards(rng, each_way, isa, ways, mode):
    """Some indices are out of range: they are clamped, or what they name is filled; or the call fails, and `out` stays."""
    shape = SHAPES[len(ways)]
    x, fill = backwards(rng, shape, "float32", ways), np.float32(-7)
    for count in (20, 3000, 20_000):
        indices = np.stack([drawn(rng, bound, (count,), "int64") for bound in shape], -1)
        indices[rng.integers(0, count, 5), rng.integers(0, len(shape), 5)] = (999, -999, shape[0] * 9, 1 << 40, -(1 << 63))
        outside = ((indices < -np.array(shape)) | (indices >= shape)).any(-1)
        near = np.clip(indices, -np.array(shape), np.array(shape) - 1)
        wanted = x[tuple(near.T)].copy()
        if mode == "fill":
            wanted[outside] = fill
        options = {"fill_value": fill} if mode == "fill" else {}
        out = np.full_like(wanted, 77)
        assert same_bits(dmlcore.gather_nd(x, indices, mode=mode, **options), wanted)
        assert same_bits(dmlcore.gather_nd(x, indices, mode=mode, out=out, **options), wanted)
        out.fill(77)
        with pytest.raises(dmlcore.IndexOutOfRangeError):
            dmlcore.gather_nd(x, indices, out=out)
        assert (out == 77).all()


@pytest.mark.parametrize("isa", ISAS, indirect=True)
@pytest.mark.parametrize("threads", (1, 2))
@pytest.mark.parametrize("ways", ((-1,), (1, -1), (-1, 1), (-1, -1)), ids=str)
def test_far_tables_backwards(rng, isa, ways, threads):
    """Of 40 MB, whose elements may go one by one: single indices, along rows, and pairs, of both signs and of one."""
    shape = (10_000_000,) if len(ways) == 1 else (2500, 4000)
    x = backwards(rng, shape, "float32", ways)
    for low in (0, 1):
        indices = np.stack([rng.integers(-n * low, n, 40_000) for n in shape], -1)
        wanted = x[tuple(indices.T)]
        for layout in (indices, np.asfortranarray(indices)):
            assert same_bits(dmlcore.gather_nd(x, layout, num_threads=threads), wanted)
            out = np.zeros_like(wanted)
            dmlcore.gather_nd(x, layout, out=out, num_threads=threads)
            assert same_bits(out, wanted)
        if len(shape) == 2:
            for axis, rows in ((0, (20, 4000)), (1, (2500, 20))):
                indices = rng.integers(-shape[axis] * low, shape[axis], rows)
                wanted = np.take_along_axis(x, indices, axis)
                assert same_bits(dmlcore.gather_elements(x, indices, axis=axis, num_threads=threads), wanted)


@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512", "avx512-gathers"), indirect=True)
def test_rows_that_share_an_index_backwards(rng, every_thread, isa):
    """One index for each row, expanded to its elements; rows lie backwards, or the planes that they are in do."""
    for ways in ((-1, 1, 1), (1, -1, 1), (-1, -1, 1), (1, 1, -1)):
        x = backwards(rng, (6, 50, 40), "float32", ways)
        for columns in (40, 33):
            indices = np.repeat(rng.integers(-50, 50, (6, 120, 1)), columns, axis=2)
            indices[3, 60, 7] = 0  # one row's differ
            table = x[:, :, :columns]
            wanted = np.take_along_axis(table, indices, 1)
            both_outputs(dmlcore.gather_elements, table, indices, axis=1, wanted=wanted)


@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("size", (2**31 - 5, 2**31 + 5, 2**32 - 5, 2**32 + 5))
def test_where_offsets_end_backwards(rng, isa, size):
    """Offsets of 32 bits that reach as far as they can, and farther; only the ends of such a table are met."""
    memory = np.zeros(size, "uint8")
    memory[:50], memory[-50:] = rng.integers(1, 99, 50), rng.integers(1, 99, 50)
    x = memory[::-1]
    for count in (9, 600, 30_000):
        near = rng.integers(0, 50, count)
        indices = np.where(rng.random(count) < 0.5, near, -1 - near)
        assert same_bits(dmlcore.gather(x, indices), x[indices])
        rows = memory[: size // 4 * 4].reshape(4, -1)[:, ::-1]
        pairs = np.stack([rng.integers(0, 2, count) * 3, indices], -1)
        assert same_bits(dmlcore.gather_nd(rows, pairs), rows[tuple(pairs.T)])


@pytest.mark.parametrize("isa", ISAS, indirect=True)
@pytest.mark.parametrize("ways", ((-1,), (1, -1), (-1, 1), (-1, -1)), ids=str)
def test_far_tables_backwards_by_indices_with_a_line_each(rng, each_way, isa, ways):
    """So many that the check into an output keeps their offsets, though elements of such tables go one by one otherwise."""
    shape = (10_000_000,) if len(ways) == 1 else (2500, 4000)
    x = backwards(rng, shape, "float32", ways)
    wide = np.zeros((300_000, 16), "int32")
    indices = wide[:, : len(shape)]
    for low in (0, 1):
        indices[...] = np.stack([rng.integers(-n * low, n, len(wide)) for n in shape], -1)
        wanted = x[tuple(indices.T)]
        for threads in (1, 2):
            out = np.zeros_like(wanted)
            assert same_bits(dmlcore.gather_nd(x, indices, out=out, num_threads=threads), wanted)
            assert same_bits(dmlcore.gather_nd(x, indices, num_threads=threads), wanted)
