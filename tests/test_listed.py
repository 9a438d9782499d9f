"""Gathers out of transposed tables along the last dimension, or one with short ones behind it: the indices name the columns
of a transposed copy. Planes of one dimension and of several on either side, parts of tiles, few and many columns.
Against NumPy's take.
"""

import numpy as np
import pytest
from layouts import reordered
from moves import DTYPES, THREADS, both_outputs, numbers
from oracle import same_bits

import dmlcore

# shape, axis: sides of one dimension and of several, shorter and longer than a tile, lines that meet in the cache and others
TABLES = (
    ((300, 40), 1), ((17, 700), 1), ((1024, 33), 1), ((5, 70, 30), 2), ((6, 6, 9, 20), 3), ((2, 512, 64), 2), ((90, 25, 3), 1),
    ((257, 31, 1, 2), 1), ((60, 25, 12), 1), ((33, 4, 12, 2), 2), ((3, 8, 5, 70), 3), ((64, 9, 7, 130), 3),
)  # fmt: skip


def transposed(table):
    return reordered(table, range(table.ndim)[::-1])


@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512"), indirect=True)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "axis"), TABLES, ids=str)
def test_columns(rng, every_thread, isa, shape, axis, dtype):
    """All dimensions the other way round: fewer columns than the table has, all of them, and more."""
    table = numbers(rng, shape, dtype)
    x = transposed(table)
    for count, index in ((7, "int64"), (shape[axis], "uint32"), (2 * shape[axis] + 261, "int32")):
        least = -shape[axis] if np.dtype(index).kind == "i" else 0
        indices = rng.integers(least, shape[axis], count).astype(index)
        both_outputs(dmlcore.gather, x, indices, wanted=np.take(table, indices.astype(int), axis), axis=axis)


@pytest.mark.parametrize("dtype", DTYPES)
def test_other_orders(rng, every_thread, dtype):
    """Two dimensions of indices, with gaps and backwards; some dimensions of the table in their order; an output with gaps."""
    table = numbers(rng, (20, 6, 30, 50), dtype)
    for order in ((3, 0, 1, 2), (3, 2, 0, 1), (3, 1, 0, 2), (2, 3, 0, 1), (3, 2, 1, 0)):
        x = reordered(table, order)
        for indices in (rng.integers(-50, 50, (4, 9)), rng.integers(-50, 50, 80)[::2], rng.integers(-50, 50, (9, 4)).T[::-1]):
            wanted = np.take(table, indices, 3)
            both_outputs(dmlcore.gather, x, indices, wanted=wanted, axis=3)
            out = np.zeros((*wanted.shape[:2], 45, *wanted.shape[3:]), dtype)[:, :, :30]
            dmlcore.gather(x, indices, axis=3, out=out)
            assert same_bits(out, wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_indices_of_each_batch(rng, every_thread, dtype):
    """Rows of a batch share their indices, which those of another one do not."""
    table = numbers(rng, (6, 80, 40), dtype)
    x = reordered(table, (0, 2, 1))
    indices = np.broadcast_to(rng.integers(-40, 40, (6, 1, 70)), (6, 80, 70))
    wanted = np.take_along_axis(table, indices, 2)
    for threads in (1, 4):
        assert same_bits(dmlcore.gather_elements(x, indices, axis=2, num_threads=threads), wanted)


@pytest.mark.parametrize("shape", ((2, 16, 32), (3, 40, 50), (2, 300, 600)), ids=str)
def test_nothing_is_moved_before_all_is_checked(rng, every_thread, shape):
    """The last index of the last batch is out of range: neither its own batch nor one before it is in `out`."""
    batches, rows, columns = shape
    x = reordered(numbers(rng, (batches, rows, 20), "float32"), (0, 2, 1))
    each = rng.integers(-20, 20, (batches, 1, columns))
    each[-1, 0, -1] = 20
    for threads in THREADS:
        out = np.full(shape, 7, "float32")
        with pytest.raises(dmlcore.IndexOutOfRangeError) as error:
            dmlcore.gather_elements(x, np.broadcast_to(each, shape), axis=2, out=out, num_threads=threads)
        assert (error.value.value, error.value.position) == (20, (batches - 1, 0, columns - 1))
        assert (out == 7).all()


@pytest.mark.parametrize("shape", ((9500, 12), (90, 120, 9), (40, 600, 31)), ids=str)
def test_short_rows_of_eight_bytes(rng, every_thread, shape):
    """In rows of up to 32; by uint64, where one index is a number that no int64 has, and by bytes that are not aligned."""
    table = numbers(rng, shape, "float64")
    for count in (8, 20, 32):
        indices = rng.integers(0, shape[-1], count).astype("uint64")
        wanted = np.take(table, indices.astype(int), -1)
        both_outputs(dmlcore.gather, transposed(table), indices, wanted=wanted, axis=-1)
        bytes_ = np.zeros(indices.nbytes + 1, "uint8")[1:]
        bytes_[:] = indices.view("uint8")
        assert same_bits(dmlcore.gather(transposed(table), bytes_.view("uint64"), axis=-1), wanted)
        indices[3] = 2**63 + 1
        with pytest.raises(dmlcore.IndexOutOfRangeError, match=str(2**63 + 1)):
            dmlcore.gather(transposed(table), indices, axis=-1)


def test_far_tables(rng, every_thread):
    """Columns that no cache holds are fetched ahead, in squares and in blocks; several tiles on either side."""
    tables = (((600, 1000), "float32"), ((512, 1024), "float32"), ((40, 40, 700), "uint8"), ((2048, 300), "float16"))
    for shape, dtype in tables:
        table = numbers(rng, shape, dtype)
        for count in (9, 300, 600):
            indices = rng.integers(-shape[-1], shape[-1], count)
            both_outputs(dmlcore.gather, transposed(table), indices, wanted=np.take(table, indices, -1), axis=-1)
