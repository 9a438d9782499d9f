"""Elements that are moved one by one, each as soon as its index is checked: cached ones of large tables, those whose negative
indices arithmetic wraps, scattered ones. Each against NumPy's own functions.
"""

import numpy as np
import pytest
from moves import DTYPES, THREADS, both_outputs, numbers, wanted_of
from oracle import same_bits

import dmlcore


@pytest.mark.one_in(2)
@pytest.mark.parametrize("isa", ("avx2",), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize("dtype", DTYPES)
def test_cached_elements_singly(rng, every_thread, isa, dtype, index):
    """Out of 9 and 27 MB, few and many: elements that are looked at before are in the caches, and most machines find them there
    in time for them to go one by one. Out of every third element as well, and along the first axis. The last ones may be
    negative, which is only found on the way; an index out of range that is not among those looked at first changes nothing.
    """
    size = np.dtype(dtype).itemsize
    for large, counts in ((9_000_000, (1103, 70_003)), (27_000_000, (1103, 5003, 70_003))):
        memory = np.resize(np.arange(251).astype(dtype), 3 * (large // size))
        for table in (memory[: large // size], memory[::3]):
            for count in counts:
                indices = rng.integers(0, len(table), count).astype(index)
                if index[0] == "i":
                    indices[-3:] -= len(table)
                wanted = table[indices.astype(np.int64)]
                for _ in range(2):
                    both_outputs(dmlcore.gather, table, indices, wanted=wanted)
                both_outputs(dmlcore.gather_elements, table[:, None], indices[:, None], 0, wanted=wanted[:, None])
                for place in (1, count // 2 + 1, count - 1):
                    before = indices[place]
                    for wrong in (len(table), -len(table) - 1 if index[0] == "i" else np.iinfo(index).max):
                        indices[place] = wrong
                        for out in (None, wanted.copy()):
                            with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                                dmlcore.gather(table, indices, out=out)
                            assert caught.value.position == (place,)
                            assert out is None or same_bits(out, wanted)
                    indices[place] = before
    drifting = np.resize(np.arange(251).astype(dtype), (1103, 27_000_000 // size // 1103))
    tuples = rng.integers(0, drifting.shape[1], (1103, 1)).astype(index)
    wanted = drifting[np.arange(1103), tuples[:, 0].astype(np.int64)]
    for _ in range(2):
        both_outputs(dmlcore.gather_nd, drifting, tuples, batch_dims=1, wanted=wanted)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("isa", ("avx512-granite",), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_that_are_wrapped_by_arithmetic(rng, every_thread, isa, dtype, index):
    """Single ones out of 9 to 27 MB and pairs out of 22, some negative: tuples in a row, in Fortran order, and with others
    between them, few and so many that there are several boxes; an index out of range at either end changes nothing."""
    size = np.dtype(dtype).itemsize
    singles = ((9_000_000, (41_003, 164_003)), (22_000_000, (1100, 9001)), (27_000_000, (9001,)))
    singles = [((large // size,), counts) for large, counts in singles]
    for shape, counts in (*singles, ((11, 2_000_000 // size), (1100, 9001))):
        table = np.resize(np.arange(251).astype(dtype), shape)
        for count in counts:
            for low in (-1, 0) if index[0] == "i" else (0,):
                indices = np.stack([rng.integers(low * n, n, count) for n in shape], -1).astype(index)
                wider = np.zeros((count, len(shape) + 3), index)
                wider[:, : len(shape)] = indices
                wanted = table[tuple(indices.T.astype(np.int64))]
                for laid_out in (indices, np.asfortranarray(indices), wider[:, : len(shape)]):
                    both_outputs(dmlcore.gather_nd, table, laid_out, wanted=wanted)
                    for place, column in ((0, 0), (count // 2, -1), (count - 1, len(shape) - 1)):
                        before = laid_out[place, column]
                        for wrong in (shape[column], -shape[column] - 1 if index[0] == "i" else np.iinfo(index).max):
                            laid_out[place, column] = wrong
                            out = wanted.copy()
                            with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                                dmlcore.gather_nd(table, laid_out, out=out)
                            assert caught.value.position == (place, column % len(shape))
                            assert same_bits(out, wanted)
                            with pytest.raises(dmlcore.IndexOutOfRangeError):
                                dmlcore.gather_nd(table, laid_out)
                        laid_out[place, column] = before


@pytest.mark.one_in(2)
@pytest.mark.parametrize("isa", ("avx512-granite",), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_that_are_wrapped_by_arithmetic(rng, every_thread, isa, dtype, index):
    """Along the first axis of 22 MB, where each position has a column of its own, in either order of memory: rows shorter than
    what is fetched ahead, as long, longer than a box, in boxes with others or alone; of a batch; an index out of range anywhere
    changes nothing."""
    size = np.dtype(dtype).itemsize
    long = (((65,), 33), ((367,), 9), ((7, 60), 5), ((3001,), 3), ((5000,), 1))
    for shape, rows in (((5,), 300), ((63,), 20), ((64,), 19), *long):
        length = 22_000_000 // size // int(np.prod(shape))
        table = np.resize(np.arange(251).astype(dtype), (length, *shape))
        table = np.asfortranarray(table) if rows in (20, 33) else table
        wider = np.zeros((rows, *shape[:-1], shape[-1] + 3), index)
        for low in (-1, 0) if index[0] == "i" else (0,):
            indices = rng.integers(low * length, length, (rows, *shape)).astype(index)
            wanted = np.take_along_axis(table, indices.astype(np.int64), axis=0)
            wider[..., : shape[-1]] = indices
            for laid_out in (indices, np.asfortranarray(indices), wider[..., : shape[-1]]):
                both_outputs(dmlcore.gather_elements, table, laid_out, 0, wanted=wanted)
            for place in (0, indices.size // 2, indices.size - 1):
                broken = indices.copy()
                broken.reshape(-1)[place] = length
                out = wanted.copy()
                with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                    dmlcore.gather_elements(table, broken, axis=0, out=out)
                assert caught.value.position == np.unravel_index(place, indices.shape)
                assert same_bits(out, wanted)
                with pytest.raises(dmlcore.IndexOutOfRangeError):
                    dmlcore.gather_elements(table, broken, axis=0)
    batch = np.resize(np.arange(251).astype(dtype), (3, 22_000_000 // size // 3))
    tuples = rng.integers(0, batch.shape[1], (3, 700, 1)).astype(index)
    wanted = np.take_along_axis(batch, tuples[..., 0].astype(np.int64), axis=1)
    both_outputs(dmlcore.gather_nd, batch, tuples, batch_dims=1, wanted=wanted)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("isa", ("avx512-granite",), indirect=True)
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_that_are_scattered_one_by_one(rng, every_thread, isa, dtype, index):
    """Single ones and pairs into 200 KB and 22 MB, and along rows; many for one place, of which the last stays; an index out of
    range at either end, and where others are fetched no longer, changes nothing."""
    size = np.dtype(dtype).itemsize

    def scattered(function, table, indices, laid_out, updates, wanted, **options):
        for threads in THREADS:
            assert same_bits(function(table, laid_out, updates, num_threads=threads, **options), wanted), threads
        out = table.copy()
        function(out, laid_out, updates, out=out, num_threads=1, **options)
        assert same_bits(out, wanted)
        for place in (0, max(0, len(indices) - 20), len(indices) - 1):
            before = laid_out[place, -1]
            laid_out[place, -1] = 2**31 - 1
            out = table.copy()
            with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                function(out, laid_out, updates, out=out, num_threads=1, **options)
            assert caught.value.position == (place, laid_out.shape[1] - 1)
            assert same_bits(out, table)
            with pytest.raises(dmlcore.IndexOutOfRangeError):
                function(table, laid_out, updates, num_threads=1, **options)
            laid_out[place, -1] = before

    low = -1 if index[0] == "i" else 0
    for shape in ((200_000 // size,), (22_000_000 // size,), (11, 2_000_000 // size)):
        table = np.resize(np.arange(251).astype(dtype), shape)
        for count in (2, 1061, 9001):
            indices = np.stack([rng.integers(low * n, n, count) for n in shape], -1).astype(index)
            indices[count // 2 :] = indices[: count - count // 2]
            updates = numbers(rng, count, dtype)
            wanted = wanted_of("nd", table, indices, updates)[1]
            wider = np.zeros((count, len(shape) + 3), index)
            wider[:, : len(shape)] = indices
            apart = np.zeros((count, 40), index)  # each with a line of its own
            apart[:, : len(shape)] = indices
            shifted = np.zeros(indices.nbytes + 1, "uint8")[1:].view(index).reshape(indices.shape)  # not aligned
            shifted[:] = indices
            layouts = (indices, np.asfortranarray(indices), wider[:, : len(shape)], apart[:, : len(shape)], shifted)
            for laid_out in layouts:
                scattered(dmlcore.scatter_nd, table, indices, laid_out, updates, wanted)
    for columns, rows in ((5, 300), (65, 33), (3001, 3), (5000, 1)):
        table = np.resize(np.arange(251).astype(dtype), (22_000_000 // size // columns, columns))
        indices = rng.integers(low * len(table), len(table), (rows, columns)).astype(index)
        indices[rows // 2 :] = indices[: rows - rows // 2]
        updates = numbers(rng, indices.size, dtype).reshape(indices.shape)
        wanted = wanted_of("elements", table, indices, updates, 0)[1]
        wider = np.zeros((rows, columns + 3), index)
        wider[:, :columns] = indices
        for laid_out in (indices, np.asfortranarray(indices), wider[:, :columns]):
            scattered(dmlcore.scatter_elements, table, indices, laid_out, updates, wanted, axis=0)


@pytest.mark.parametrize("isa", ("avx512-granite", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("rest", (1, 63, 64, 65))
@pytest.mark.parametrize("layout", ("C", "F"))
@pytest.mark.parametrize("columns", (3100, 5400))
def test_the_last_of_a_million_pairs(rng, isa, layout, rest, columns):
    """And of as many single indices: a last box shorter than what is fetched ahead, or just as long; its last index at the end
    of the array, and a bad one. Out of 12 and 22 MB."""
    table = rng.random((1000, columns)).astype("float32")
    count = 64 * 16_384 + rest
    for low in (-1, 0):
        for shape in (table.shape, (table.size,)):
            indices = np.stack([rng.integers(low * n, n, count) for n in shape], -1)
            indices = np.array(indices, order=layout)
            flat = table.reshape(shape)
            assert same_bits(dmlcore.gather_nd(flat, indices, num_threads=1), flat[tuple(indices.T)])
            indices[-1, -1] = shape[-1]
            with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                dmlcore.gather_nd(flat, indices, num_threads=1)
            assert caught.value.position == (count - 1, len(shape) - 1)
