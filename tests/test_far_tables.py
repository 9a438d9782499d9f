"""Elements of tables that no cache holds, or only the last one: fetched ahead, by a ring of offsets or left to the hardware;
cached ones that are met again; long rows and lines. Each against NumPy's own functions.
"""

import numpy as np
import pytest
from moves import DTYPES, THREADS, both_outputs, numbers, wanted_of
from oracle import same_bits

import dmlcore


@pytest.mark.parametrize("isa", ("baseline", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("shape", ((30, 20), (100_000, 100), (70, 200, 600), (3, 4, 2_000_000)), ids=str)
def test_nothing_out_of_large_tables(every_thread, isa, shape):
    """No index at all, along every axis: nothing is gathered, and a scatter is a copy."""
    x = np.zeros(shape, "float32")
    for axis in range(len(shape)):
        nothing = (*shape[:axis], 0, *shape[axis + 1 :])
        indices, updates = np.zeros(nothing, "int64"), np.zeros(nothing, "float32")
        for table in (x, x[..., ::2]):
            assert dmlcore.gather(table, indices.reshape(-1)[:0], axis=axis).size == 0
        assert dmlcore.gather_elements(x, indices, axis=axis).shape == nothing
        assert dmlcore.scatter_elements(x, indices, updates, axis=axis, out=x) is x
        tuples = np.zeros((*shape[:axis], 0, 1), "int64")
        assert dmlcore.gather_nd(x, tuples, batch_dims=axis).size == 0
    assert not dmlcore.scatter_nd(x, np.zeros((0, 1), "int64"), np.zeros((0, *shape[1:]), "float32")).any()


@pytest.mark.parametrize("isa", ("baseline", "avx512-zen5", "avx512-gathers", "avx512-granite"), indirect=True)
@pytest.mark.parametrize("shape", ((2_700_000,), (3000, 900), (300, 30, 300)), ids=str)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
def test_elements_of_far_tables(rng, isa, shape, index):
    """From 20 MiB on they are moved one by one, or in blocks if some of the first indices are negative: duplicates, and
    an index out of range, which changes nothing.
    """
    table = np.zeros(shape, "float64")
    indices = np.stack([rng.integers(-n if index[0] == "i" else 0, n, 70_000) for n in shape], axis=-1).astype(index)
    indices[:20_000] = indices[50_000:]
    updates = rng.random(len(indices))
    wanted = table.copy()
    for place, update in zip(map(tuple, indices.astype(np.int64)), updates, strict=True):
        wanted[place] = update
    for threads in (1, 2):
        assert same_bits(dmlcore.scatter_nd(table, indices, updates, num_threads=threads), wanted)
    both_outputs(dmlcore.gather_nd, wanted, indices, wanted=wanted[tuple(indices.T.astype(np.int64))])
    late = np.abs(indices.astype(np.int64)) % shape
    late[-9:] -= [n * (index[0] == "i") for n in shape]
    late = late.astype(index)
    both_outputs(dmlcore.gather_nd, wanted, late, wanted=wanted[tuple(late.T.astype(np.int64))])
    out = table.copy()
    bad = indices.copy()
    bad[-1, -1] = shape[-1]
    with pytest.raises(dmlcore.IndexOutOfRangeError):
        dmlcore.scatter_nd(out, bad, updates, out=out, num_threads=1)
    assert same_bits(out, table)
    with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
        dmlcore.scatter_nd(table, bad, updates, num_threads=1)
    assert caught.value.position == (len(bad) - 1, len(shape) - 1)
    dmlcore.scatter_nd(out, indices, updates, out=out, num_threads=1)
    assert same_bits(out, wanted)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("isa", ("avx512-zen5", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_that_are_fetched_by_a_ring(rng, every_thread, isa, dtype, index):
    """Out of and into tables of 27 MB, or 160 MB: positions in a row, and tuples, so many that boxes, steps of 32 and the
    ring end anywhere; an index out of range at either end, and where the next box is looked at already."""
    size = np.dtype(dtype).itemsize
    large = 160_000_000 if isa == "avx512-gathers" else 27_000_000
    for shape, tuples in (((), 1), ((7,), 2), ((3, 5), 3)):
        table = np.resize(np.arange(251).astype(dtype), (large // size // int(np.prod(shape)), *shape))
        count = 33_000 + 37 * tuples
        low = [-n if index[0] == "i" else 0 for n in table.shape]
        indices = np.stack([rng.integers(a, n, count) for a, n in zip(low, table.shape, strict=True)], -1).astype(index)
        updates = numbers(rng, count, dtype)
        gathered, scattered = wanted_of("nd", table, indices, updates)
        both_outputs(dmlcore.gather_nd, table, indices, wanted=gathered)
        for threads in THREADS:
            assert same_bits(dmlcore.scatter_nd(table, indices, updates, num_threads=threads), scattered), threads
        for place in (0, 1030, count - 1):
            broken = indices.copy()
            broken[place, -1] = table.shape[-1]
            with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                dmlcore.gather_nd(table, broken, num_threads=1)
            assert caught.value.position == (place, tuples - 1)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("isa", ("avx512", "avx512-gathers", "avx512-granite"), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_that_the_vector_unit_gathers(rng, every_thread, isa, dtype, index):
    """Row by row, rows that follow each other or have others between them, those of the table as well; along columns; single
    ones and pairs out of tables that registers hold, or just not; few out of 3 MB. At any address; an index out of range."""
    size, low = np.dtype(dtype).itemsize, -1 if index[0] == "i" else 0

    def table_of(shape):
        memory = np.zeros(int(np.prod(shape)) * size + 1, "uint8")[rng.integers(2) :]
        table = memory[: int(np.prod(shape)) * size].view(dtype).reshape(shape)
        table[...] = np.resize(np.arange(251).astype(dtype), shape)
        return table

    def gathered(function, table, indices, bounds, wanted, *axis):
        both_outputs(function, table, indices, *axis, wanted=wanted)
        broken = indices.copy()
        place = int(rng.integers(broken.size))
        broken.reshape(-1)[place] = bounds[place % len(bounds)]
        out = wanted.copy()
        with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
            function(table, broken, *axis, out=out)
        assert caught.value.position == np.unravel_index(place, broken.shape)
        assert same_bits(out, wanted)

    for width in (30, 39, 40, 63, 64, 95, 200):
        for wider in (1, 3):
            table = table_of((37, wider * width))
            indices = np.zeros((37, width + 5), index)[:, : width + 5 * (wider == 1)]
            indices[...] = rng.integers(low * table.shape[1], table.shape[1], indices.shape)
            wanted = np.take_along_axis(table, indices.astype(np.int64), axis=1)
            gathered(dmlcore.gather_elements, table, indices, table.shape[1:], wanted, 1)
            down = rng.integers(low * 37, 37, (90, table.shape[1])).astype(index)
            wanted = np.take_along_axis(table, down.astype(np.int64), axis=0)
            gathered(dmlcore.gather_elements, table, down, table.shape[:1], wanted, 0)
    for length in (16, 64, 65, 128, 130, 256, 258, 3_000_000 // size):
        for shape in ((length,), (length // 2, 2)):
            table = table_of(shape)
            tuples = np.stack([rng.integers(low * n, n, 5000) for n in shape], -1).astype(index)
            wanted = table[tuple(tuples.T.astype(np.int64))]
            gathered(dmlcore.gather_nd, table, tuples, shape, wanted)


@pytest.mark.parametrize("isa", ("avx512-zen5",), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32"))
@pytest.mark.parametrize("dtype", ("uint8", "float32", "float64", "complex128"))
@pytest.mark.parametrize("columns", (3, 70, 1500))
def test_columns_that_are_fetched_by_a_ring(rng, every_thread, isa, columns, dtype, index):
    """The same along the first axis, and along the middle one, where the table moves on with the positions."""
    size = np.dtype(dtype).itemsize
    rows = 27_000_000 // size // columns
    for shape, axis in (((rows, columns), 0), ((2, rows // 2, columns), 1)):
        table = np.resize(np.arange(251).astype(dtype), shape)
        some = (*shape[:axis], 34_000 // columns + 1, columns)
        indices = rng.integers(-shape[axis] if index[0] == "i" else 0, shape[axis], some).astype(index)
        indices[..., -1, :] = indices[..., 0, :]
        updates = numbers(rng, some, dtype)
        gathered, scattered = wanted_of("elements", table, indices, updates, axis)
        both_outputs(dmlcore.gather_elements, table, indices, wanted=gathered, axis=axis)
        for threads in THREADS:
            assert same_bits(dmlcore.scatter_elements(table, indices, updates, axis, num_threads=threads), scattered), threads


@pytest.mark.parametrize("isa", ("avx512-zen5",), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64"))
@pytest.mark.parametrize("dtype", ("uint8", "float16"))
def test_one_row_that_is_fetched_by_a_ring(rng, every_thread, isa, dtype, index):
    """One row of indices, all of whose boxes follow each other, and along which the table moves on."""
    shape = (1000, 40_003)
    table = np.resize(np.arange(251).astype(dtype), shape)
    indices = rng.integers(-1000, 1000, (1, shape[1])).astype(index)
    updates = numbers(rng, indices.shape, dtype)
    gathered, scattered = wanted_of("elements", table, indices, updates, 0)
    both_outputs(dmlcore.gather_elements, table, indices, wanted=gathered, axis=0)
    for threads in THREADS:
        assert same_bits(dmlcore.scatter_elements(table, indices, updates, 0, num_threads=threads), scattered), threads


@pytest.mark.parametrize("isa", ("avx512-zen5",), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize("shape", ((1100, 1000), (100, 80, 140)), ids=str)
def test_tuples_that_are_scattered_by_a_ring(rng, every_thread, isa, shape, index):
    """To tables that the second-level cache does not hold, but others do; an index out of range changes nothing."""
    table = rng.random(shape)
    count = 300_011
    indices = np.stack([rng.integers(-n if index[0] == "i" else 0, n, count) for n in shape], -1).astype(index)
    updates = rng.random(count)
    _, scattered = wanted_of("nd", table, indices, updates)
    both_outputs(dmlcore.scatter_nd, table, indices, updates, wanted=scattered)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("isa", ("avx512-zen5", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize("pattern", ("range", "backwards", "close together", "runs"))
def test_indices_that_walk(rng, every_thread, isa, index, pattern):
    """Elements beside each other, or nearly, out of and into tables of which others are fetched ahead; tuples in row-major
    order; an index out of range where the indices are looked at, and elsewhere."""
    rows, columns = (4000, 1700) if isa == "avx512-zen5" else (9000, 4500)
    table, count = np.resize(np.arange(251, dtype="float32"), rows * columns), 40_007
    steps = {"range": 1, "backwards": -1, "close together": rng.integers(0, 9, count), "runs": 1}[pattern]
    places = (len(table) // 2 + np.cumsum(np.broadcast_to(steps, count))) % len(table)
    if pattern == "runs":
        places = (places // 17 * 7919 + places % 17) % len(table)
    updates = numbers(rng, count, "float32")
    for shape in ((-1,), (rows, columns), (rows, 20, columns // 20)):
        x = table.reshape(shape)
        indices = np.stack(np.unravel_index(places, x.shape), -1).astype(index)
        gathered, scattered = wanted_of("nd", x, indices, updates)
        both_outputs(dmlcore.gather_nd, x, indices, wanted=gathered)
        for threads in THREADS:
            assert same_bits(dmlcore.scatter_nd(x, indices, updates, num_threads=threads), scattered), threads
        for place in (0, 5, 1000, count - 1):
            broken = indices.copy()
            broken[place, -1] = x.shape[-1]
            for call in (dmlcore.gather_nd, lambda *inputs: dmlcore.scatter_nd(*inputs, updates)):
                with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                    call(x, broken)
                assert caught.value.position == (place, x.ndim - 1)


@pytest.mark.parametrize("isa", ("baseline", "avx512", "avx512-zen5", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("shape", ((4_400_000,), (1100, 4000), (40, 110, 1000), (11, 20, 40, 500)), ids=str)
@pytest.mark.parametrize("index", ("int32", "int64", "uint64"))
def test_the_same_elements_of_far_tables_again(rng, isa, shape, index):
    """Whether the caches hold them is found out by loading some: the first one too, which may be negative or out of range."""
    table = rng.random(shape)
    for count in (800, 5000, 60_000):
        indices = np.stack([rng.integers(0, n, count) for n in shape], axis=-1)
        negative = indices - np.array(shape) * (np.arange(count) % 7 == 0)[:, np.newaxis]
        for tuples in (indices, *([negative] if index[0] == "i" else [])):
            given = tuples.astype(index)
            wanted = table[tuple(tuples.T)]
            for _ in range(3):
                both_outputs(dmlcore.gather_nd, table, given, wanted=wanted)
            for place in (0, count // 8, count - 1):
                bad = given.copy()
                bad[place, -1] = shape[-1]
                with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                    dmlcore.gather_nd(table, bad)
                assert caught.value.position == (place, len(shape) - 1)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("shape", ((2, 1_100_000), (7, 900_001), (13, 700_000)), ids=str)
@pytest.mark.parametrize("dtype", ("uint8", "float16", "float32"))
@pytest.mark.parametrize("order", ("C", "F"))
def test_a_choice_of_few_rows(rng, every_thread, shape, dtype, order):
    """Indices choose among a few long rows, along which positions walk: negative ones too, and one out of range."""
    table = np.asarray(numbers(rng, shape, dtype), order=order)
    indices = np.stack([rng.permutation(shape[0])[:2] for _ in range(shape[1])], axis=-1)
    indices[1, ::3] -= shape[0]
    both_outputs(dmlcore.gather_elements, table, indices, axis=0, wanted=np.take_along_axis(table, indices, 0))
    updates = numbers(rng, indices.shape, dtype)
    wanted = np.array(table, order="C")
    np.put_along_axis(wanted, indices, updates, 0)
    both_outputs(dmlcore.scatter_elements, table, indices, updates, axis=0, wanted=wanted)
    out = np.empty((shape[0], 2 * shape[1]), dtype)[:, ::2]
    for threads in THREADS:
        out[...] = table
        dmlcore.scatter_elements(out, indices, updates, 0, out=out, num_threads=threads)
        assert same_bits(out, wanted), threads


@pytest.mark.parametrize("shape", ((9, 80_000), (19, 150_001), (3, 500_000), (3, 5, 200_000), (2, 600_000)), ids=str)
@pytest.mark.parametrize("dtype", ("uint8", "float64"))
def test_updates_of_long_lines(rng, every_thread, shape, dtype):
    """Lines of some megabytes are copied and updated one after the other, longer ones, and too few of them, are not."""
    table = numbers(rng, shape, dtype)
    indices = np.sort(np.stack([rng.permutation(shape[-1])[: shape[-1] // 5] for _ in range(table[..., 0].size)]))
    indices = indices.reshape(*shape[:-1], -1)
    updates = numbers(rng, indices.shape, dtype)
    wanted = table.copy()
    np.put_along_axis(wanted, indices, updates, -1)
    both_outputs(dmlcore.scatter_elements, table, indices, updates, axis=-1, wanted=wanted)
    added = table.copy()
    np.put_along_axis(added, indices, np.take_along_axis(table, indices, -1) + updates, -1)
    for threads in THREADS:
        assert same_bits(dmlcore.scatter_elements(table, indices, updates, -1, reduction="add", num_threads=threads), added)
