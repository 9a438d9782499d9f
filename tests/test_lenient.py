"""Indices out of range where the caller says what becomes of them (clip, fill, drop): one, some or all of several
thousand, wherever they are, by single indices and by tuples of any length, for every index type and instruction
set, against NumPy's own indexing by indices that were corrected beforehand.
"""

import numpy as np
import pytest
from oracle import same_bits

import dmlcore

ISAS = ("baseline", "avx2", "avx512")
COUNTS = (5000, 9000)  # positions: several boxes, the last one not full; of more than 8192 it is tried whether all are in range
BAD = {
    "last": lambda rng, shape: np.arange(np.prod(shape)).reshape(shape) == np.prod(shape) - 1,
    "some": lambda rng, shape: rng.random(shape) < 0.01,
    "half": lambda rng, shape: rng.random(shape) < 0.5,
    "all": lambda rng, shape: np.ones(shape, bool),
}
# Shape of the table, coordinates in a tuple: elements, slices that fill and that do not fill registers, an empty dimension
TABLES = [((3000,), 1), ((300, 10), 1), ((50, 70), 2), ((40, 30, 3), 2), ((20, 9, 16, 2), 3), ((3, 4, 5, 6), 4)]
TABLES += [((2, 3, 4, 2, 3), 5), ((2,) * 9, 9), ((2,) * 16, 16), ((2,) * 17, 17), ((7, 0, 5), 2), ((0, 5), 1)]


def flipped(values):
    """The same, stored from its end to its beginning."""
    return np.flip(np.ascontiguousarray(np.flip(values)))


def apart(values):
    """The same with something else behind every element."""
    stored = np.zeros((*values.shape, 2), values.dtype)
    stored[..., 0] = values
    return stored[..., 0]


def indices_for(rng, sizes, shape, dtype, share):
    """Tuples along the last dimension, some coordinates of `share` of them out of range on either side; and the tuples as
    they are clamped, and which of them were not in range."""
    given, clamped, missed = [], [], np.zeros(shape, bool)
    bad = BAD[share](rng, shape)
    chosen = rng.integers(0, len(sizes), shape)
    info = np.iinfo(dtype)
    for k, size in enumerate(sizes):
        above = [size, size + 1, 2**31 - 1, int(info.max)]
        below = [-size - 1, -(2**31), int(info.min)] if info.min else []
        usual = rng.integers(-size if info.min else 0, size, shape) if size else np.zeros(shape, np.int64)
        far = rng.integers(0, len(above) + len(below), shape)
        wrong = (bad & (chosen == k)) if size else np.ones(shape, bool)
        missed |= wrong
        given.append(np.where(wrong, np.array(above + below, dtype)[far], usual.astype(dtype)))
        nearest = np.where(far < len(above), max(size - 1, 0), 0)
        clamped.append(np.where(wrong, nearest, np.where(usual < 0, usual + size, usual)))
    return np.stack(given, -1), tuple(clamped), missed


def tensors(rng, shape, dtype):
    """The same values as they usually lie, and backwards, which takes offsets of 64 bits."""
    values = rng.integers(1, 100, shape).astype(dtype)
    yield values
    yield flipped(values)


@pytest.mark.parametrize("isa", ISAS, indirect=True)
@pytest.mark.parametrize("index_type", ["int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("share", BAD)
@pytest.mark.parametrize(("shape", "width"), TABLES, ids=lambda v: str(v).replace(" ", ""))
@pytest.mark.parametrize("count", COUNTS)
def test_tuples(isa, index_type, share, shape, width, count, rng, every_thread):
    dtype = rng.choice(["uint8", "float16", "float32", "float64", "complex128"])
    given, clamped, missed = indices_for(rng, shape[:width], (count,), index_type, share)
    empty = 0 in shape[:width]
    for table in tensors(rng, shape, dtype):
        for indices in (given, np.asfortranarray(given), apart(given)):
            for threads in (1, 3):
                gathered = np.zeros((count, *shape[width:]), dtype) if empty else table[clamped]
                if not empty:
                    found = dmlcore.gather_nd(table, indices, mode="clip", num_threads=threads)
                    assert same_bits(found, gathered)
                wanted = gathered.copy()
                wanted[missed] = 101
                out = np.zeros_like(wanted)
                found = dmlcore.gather_nd(table, indices, mode="fill", fill_value=101, out=out, num_threads=threads)
                assert found is out and same_bits(out, wanted)
                updates = (np.arange(wanted.size) % 199).reshape(wanted.shape).astype(dtype)
                wanted = table.copy()
                wanted[tuple(c[~missed] for c in clamped)] = updates[~missed]
                assert same_bits(dmlcore.scatter_nd(table, indices, updates, mode="drop", num_threads=threads), wanted)
                inside = table.copy()
                dmlcore.scatter_nd(inside, indices, updates, mode="drop", out=inside, num_threads=threads)
                assert same_bits(inside, wanted), "in place"


@pytest.mark.parametrize("isa", ISAS, indirect=True)
@pytest.mark.parametrize("index_type", ["int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("share", BAD)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(83, 61), (131, 71)], ids=str)
def test_elements(isa, index_type, share, axis, shape, rng, every_thread):
    """Rows of the indices walk along the table; updates are added, so that none may be met twice or left out."""
    for dtype in ("uint8", "uint16", "float32", "float64", "complex128"):
        given, (clamped,), missed = indices_for(rng, shape[axis : axis + 1], shape, index_type, share)
        given = given[..., 0]
        places = list(np.indices(shape))
        places[axis] = clamped
        for table in tensors(rng, shape, dtype):
            for indices in (given, np.asfortranarray(given), flipped(given)):
                for threads in (1, 3):
                    options = {"axis": axis, "num_threads": threads}
                    wanted = table[tuple(places)]
                    assert same_bits(dmlcore.gather_elements(table, indices, mode="clip", **options), wanted)
                    wanted[missed] = 101
                    found = dmlcore.gather_elements(table, indices, mode="fill", fill_value=101, **options)
                    assert same_bits(found, wanted)
                    updates = (np.arange(wanted.size) % 199).reshape(shape).astype(dtype)
                    wanted = table.copy()
                    wanted[tuple(p[~missed] for p in places)] = updates[~missed]
                    assert same_bits(dmlcore.scatter_elements(table, indices, updates, mode="drop", **options), wanted)
                    if dtype != "complex128":
                        wanted = table.copy()
                        np.add.at(wanted, tuple(p[~missed] for p in places), updates[~missed])
                        found = dmlcore.scatter_elements(table, indices, updates, mode="drop", reduction="add", **options)
                        assert same_bits(found, wanted)


@pytest.mark.parametrize("isa", ISAS, indirect=True)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("reduction", ["none", "add"])
def test_offsets_beyond_31_bits(isa, threads, reduction, rng, every_thread):
    """A table of 3 GiB, but for both ends never touched."""
    places = rng.choice(2**20, 4000, replace=False)
    places[rng.random(4000) < 0.5] += 3 * 2**30 - 2**20
    table, indices = np.zeros(3 * 2**30, np.uint8), places.copy()
    indices[[5, -1]] = 2**32, -(2**40)
    kept = np.delete(places, [5, len(places) - 1])
    dmlcore.scatter_elements(
        table, indices, np.full(4000, 3, np.uint8), mode="drop", reduction=reduction, out=table, num_threads=threads
    )
    assert (table[kept] == 3).all() and not table[places[[5, -1]]].any()
    assert (dmlcore.gather(table, indices, mode="fill", fill_value=9, num_threads=threads)[[4, 5, -1]] == [3, 9, 9]).all()


def test_bounds_beyond_62_bits():
    """Nobody has such a table, but for one element that is repeated."""
    table = np.broadcast_to(np.int8(5), (2**62 + 5, 1))
    found = dmlcore.gather_nd(table, [[2**62 + 2, 0], [2**62 + 5, 0], [-1, 0]], mode="fill", fill_value=7)
    assert found.tolist() == [5, 7, 5]


@pytest.mark.parametrize("count", [3, 20000])
def test_clip_has_nothing_to_take_from_an_empty_dimension(count, each_way):
    out = np.full((count, 2), 7.0)
    with pytest.raises(dmlcore.IndexOutOfRangeError):
        dmlcore.gather(np.zeros((0, 2)), np.zeros(count, int), mode="clip", out=out)
    assert (out == 7).all()


@pytest.mark.parametrize("share", BAD)
@pytest.mark.parametrize("count", [1, 7, 300, 20000])
def test_as_the_product_chooses(share, count, rng, each_way):
    """Few and many; nothing is lost where all indices were taken for in range at first."""
    for n in (5, 4000):
        given, (clamped,), missed = indices_for(rng, (n,), (count,), "int64", share)
        given = given[:, 0]
        x, out = rng.random(n), np.zeros(count)
        assert same_bits(dmlcore.gather(x, given, mode="clip"), x[clamped])
        wanted = np.where(missed, np.nan, x[clamped])
        dmlcore.gather(x, given, mode="fill", fill_value=np.nan, out=out)
        np.testing.assert_array_equal(out, wanted)
        y, updates = x.copy(), rng.random(count)
        wanted = x.copy()
        wanted[clamped[~missed]] = updates[~missed]
        dmlcore.scatter_elements(y, given, updates, mode="drop", out=y)
        assert same_bits(y, wanted)
        assert same_bits(dmlcore.scatter_elements(x, given, updates, mode="drop"), wanted)


@pytest.mark.parametrize("value", [0, 1, -1, 2.5, -0.0, float("nan"), float("inf"), 1e-8, True, np.float16(3), 127])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_fill_values_bit_by_bit(value, dtype):
    found = dmlcore.gather(np.zeros(3, dtype), [1, 9], mode="fill", fill_value=value)
    assert found[1:].tobytes() == np.asarray(value).astype(dtype).tobytes()
