"""`out=`: what it must be, what happens when it overlaps an input, in-place scatters, and memory: no widened copies
of indices, no copy of the data in place.
"""

import itertools
import os
import tracemalloc

import numpy as np
import pytest
from arrays import data_types, index_parameter, random_call
from layouts import WRITABLE
from oracle import call, same_bits
from specs import OPERATORS
from test_arrays import drawn_call

import dmlcore
from dmlcore.arrays import overlaps_itself

WITH_OUT = [op for op in OPERATORS if "out" in op.python.options and not op.python.rows]
SCATTERS = [op for op in OPERATORS if op.kernel.source]
operators = pytest.mark.parametrize("op", WITH_OUT, ids=lambda op: op.name)
scatters = pytest.mark.parametrize("op", SCATTERS, ids=lambda op: op.name)


@operators
def test_shape_and_dtype(op, rng, each_way):
    drawn = drawn_call(op, rng)
    wanted = call(op, drawn.arrays, drawn.options)
    for wrong in (np.full((*wanted.shape, 1, 2), 7, wanted.dtype), np.full((*wanted.shape[:-1], 9), 7, wanted.dtype)):
        with pytest.raises(dmlcore.ConstraintError) as caught:
            call(op, drawn.arrays, drawn.options, out=wrong)
        blamed = [v for v in caught.value.violations if v.member == op.outputs[0].name]
        assert blamed and "out (OutputTensor)" in blamed[-1].message and (wrong == 7).all()
    for dtype in ("float32", "int64", "uint32"):
        wrong = np.full(wanted.shape, 7, dtype)
        with pytest.raises(dmlcore.DataTypeConstraintError) as caught:
            call(op, drawn.arrays, drawn.options, out=wrong)
        assert "out" in str(caught.value) and (wrong == 7).all()


@operators
def test_what_it_cannot_be(op, rng):
    drawn = drawn_call(op, rng, max_size=3)
    wanted = call(op, drawn.arrays, drawn.options)
    read_only = np.zeros(wanted.shape, wanted.dtype)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match=r"out.*read-only"):
        call(op, drawn.arrays, drawn.options, out=read_only)
    with pytest.raises(ValueError, match=r"out.*byte order"):
        call(op, drawn.arrays, drawn.options, out=np.zeros(wanted.shape, wanted.dtype.newbyteorder()))
    with pytest.raises(TypeError, match="out"):
        call(op, drawn.arrays, drawn.options, out=wanted.tolist())
    with pytest.raises(TypeError, match=r"out is a masked array.*pass out\.data"):
        call(op, drawn.arrays, drawn.options, out=np.ma.masked_array(wanted.copy(), mask=True))


@operators
def test_overlap_with_itself(op, rng):
    while True:
        drawn = drawn_call(op, rng)
        wanted = call(op, drawn.arrays, drawn.options)
        if wanted.size > 1:
            break
    one = np.lib.stride_tricks.as_strided(np.zeros(1, wanted.dtype), wanted.shape, (0,) * wanted.ndim)
    with pytest.raises(ValueError, match=r"out.*overlaps itself"):
        call(op, drawn.arrays, drawn.options, out=one)


def test_strides_that_overlap(rng):
    """Every element of an output needs an address for itself, whatever the order and the signs of the strides."""
    refused = 0
    for _ in range(2000):
        shape = tuple(rng.integers(0, 4, rng.integers(1, 5)))
        strides = tuple(int(s) for s in rng.choice([-24, -16, -8, -4, 0, 4, 4, 8, 12, 16, 24, 36, 48], len(shape)))
        out = np.lib.stride_tricks.as_strided(np.zeros(1000, "float32")[500:], shape, strides)
        places = [sum(i * s for i, s in zip(at, strides, strict=True)) for at in np.ndindex(shape)]
        x, i = np.ones((1, *shape[1:]), "float32"), np.zeros(shape[0], "int64")
        if len(set(places)) < len(places):
            refused += 1
            with pytest.raises(ValueError, match="out overlaps itself"):
                dmlcore.gather(x, i, out=out)
        elif not overlaps_itself(out):
            dmlcore.gather(x, i, out=out)
            assert (out == 1).all()
        else:  # dimensions reach into each other without meeting: refused as well
            with pytest.raises(ValueError, match="out overlaps itself"):
                dmlcore.gather(x, i, out=out)
    assert 100 < refused < 1900


@operators
def test_partial_overlap(op, rng, each_way):
    """out shares memory with each input in turn, shifted by bytes or elements: the result is as if apart."""
    for turn in range(60):
        drawn = drawn_call(op, rng, "INT64", "INT64")
        wanted = call(op, drawn.arrays, drawn.options)
        for name, array in drawn.arrays.items():
            size = array.nbytes + wanted.nbytes + 64
            for shift in (0, 8, 3, int(rng.integers(0, max(array.nbytes, 1)))):
                buffer = np.zeros(size, np.uint8)
                start = 32
                shared = buffer[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
                shared[...] = array
                begin = start - min(shift, 32) if turn % 2 else start + shift
                out = buffer[begin : begin + wanted.nbytes].view(wanted.dtype).reshape(wanted.shape)
                result = call(op, drawn.arrays | {name: shared}, drawn.options, out=out, num_threads=1 + turn % 3)
                assert result is out and same_bits(np.array(out), wanted), (name, shift)


@scatters
def test_in_place(op, rng, each_way):
    """out=input, in any layout; a transposed view of the input is an overlap, not in place."""
    source = op.member(op.kernel.source).python
    for turn in range(60):
        drawn = drawn_call(op, rng)
        wanted = call(op, drawn.arrays, drawn.options)
        out = WRITABLE[list(WRITABLE)[turn % len(WRITABLE)]](drawn.arrays[source], rng)
        assert call(op, drawn.arrays | {source: out}, drawn.options, out=out, num_threads=1 + turn % 3) is out
        assert same_bits(np.array(out), wanted)
        square = np.arange(16, dtype=np.int32).reshape(4, 4)
        if drawn.arrays[source].shape == (4, 4):
            expected = call(op, drawn.arrays | {source: square.copy()}, drawn.options)
            assert same_bits(np.array(call(op, drawn.arrays | {source: square}, drawn.options, out=square.T)), expected)


def big_call(op, rows: int, dtype):
    """A call with `rows` indices over an input of the same length."""
    indices = np.arange(rows, dtype=dtype)[::-1]
    shape = (rows, 1) if "coordinate_stride" in op.kernel.fields else (rows,)
    arrays = {m.python: np.zeros(rows, np.float32) for m in op.inputs}
    return arrays | {index_parameter(op): np.ascontiguousarray(indices).reshape(shape)}


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
@operators
def test_no_hidden_copies(op, dtype):
    """With out= given, a call allocates far less than its indices take; in place too."""
    rows = 1 << 18
    arrays = big_call(op, rows, dtype)
    out = arrays["input"] if op.kernel.source else np.empty(rows, np.float32)
    tracemalloc.start()
    try:
        call(op, arrays, {}, out=out)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < rows, peak


@operators
def test_resident_memory(op):
    """The same for memory that does not come from Python: the peak of the process grows by little."""
    resource = pytest.importorskip("resource")
    rows = 1 << 23
    arrays = big_call(op, rows, "int32")
    out = arrays["input"] if op.kernel.source else np.zeros(rows, np.float32)
    call(op, arrays, {}, out=out)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    call(op, arrays, {}, out=out)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < (8 << 20) / 1024, f"{grown} KiB more"


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_inputs_may_be_read_only(op, rng):
    for data_type in data_types(op)[:3]:
        drawn = random_call(op, rng, data_type, "INT64" if op.kernel.indices else None)
        wanted = call(op, drawn.arrays, drawn.options)
        for array in drawn.arrays.values():
            array.flags.writeable = False
        assert same_bits(call(op, drawn.arrays, drawn.options), wanted)


@pytest.mark.parametrize("op", [op for op in OPERATORS if op.python.rows], ids=lambda op: op.name)
def test_rows_into_a_longer_array(op):
    """Where the number of rows depends on the values, out= may have more of them; those are left alone."""
    if "out" not in op.python.options:
        return
    function = getattr(dmlcore, op.python.function)
    out = np.full((9, 2), 77, np.uint32)
    found = function(np.array([[0, 5], [7, 0]]), out=out)
    assert found.tolist() == [[0, 1], [1, 0]] and np.shares_memory(found, out) and (out[2:] == 77).all()
    with pytest.raises(ValueError):
        function(np.ones((4, 4)), out=np.zeros((9, 2), np.uint32))


class Elsewhere(np.ndarray):
    """What it gives for a slice is not a part of it."""

    def __getitem__(self, key):
        return np.zeros((1, 2), np.uint32)


@pytest.mark.parametrize("op", [op for op in OPERATORS if op.python.rows], ids=lambda op: op.name)
def test_rows_of_an_array_with_its_own_slices(op):
    """What is written to is what was checked; what the caller's type makes of a slice is returned."""
    x, out = np.ones((300, 300), np.float32), np.zeros((90_000, 2), np.uint32)
    function = getattr(dmlcore, op.python.function)
    assert function(x, out=out.view(Elsewhere)).shape == (1, 2)
    assert np.array_equal(out, np.argwhere(x))


# ---- many indices: checked from the first to the last, moved from the last to the first ---------------------------


@pytest.mark.parametrize("index", ("int32", "uint32", "int64", "uint64"))
@pytest.mark.parametrize("count", (262_144, 300_001, 900_001))
def test_many_indices(rng, every_thread, index, count):
    """The offsets of long tuples are kept by the check, those of the last ones where they are too many."""
    data, updates = rng.random((70, 300), np.float32), rng.random(count, np.float32)
    for shape, flat in (((count,), data.ravel()), ((count, 2), data)):
        pairs = np.stack([rng.integers(0, n, count) for n in flat.shape], 1).astype(index).reshape(shape)
        function = dmlcore.gather_nd if len(shape) == 2 else dmlcore.gather
        for threads in (1, 2, 3):
            out = np.zeros(count, np.float32)
            function(flat, pairs, out=out, num_threads=threads)
            wanted = flat[tuple(pairs.astype(np.int64).reshape(count, -1).T)]
            assert np.array_equal(out, wanted)
            updated = flat.copy()
            updated[tuple(pairs.astype(np.int64).reshape(count, -1).T)] = updates
            target = flat.copy()
            dmlcore.scatter_nd(target, pairs.reshape(count, -1), updates, out=target, num_threads=threads)
            assert np.array_equal(target, updated)
            for bad in (0, count // 2, -1):
                wrong = pairs.copy()
                wrong[bad] = 70 * 300
                out[:] = 7
                with pytest.raises(IndexError):
                    function(flat, wrong, out=out, num_threads=threads)
                assert (out == 7).all()


# ---- sizes at which 32 bits end ----------------------------------------------------------------------------------


@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("index", ("int64", "uint64"))
@pytest.mark.parametrize("length", (65_535, 65_536, 65_537))
@pytest.mark.parametrize("count", (1025, 40_000, 600_000))
def test_indices_that_fit_into_16_bits(rng, every_thread, isa, index, length, count):
    """They are narrowed while they are checked; whatever bits a bad one has, nothing is written."""
    table = rng.random(length).astype("float32")
    signed = index == "int64"
    indices = rng.integers(-length if signed else 0, length, count).astype(index)
    indices[:2] = length - 1, 0
    wanted = table[indices.astype("int64")]
    bad = [length, 65_536 + length, 2**32, 2**32 + 1, 2**63 - 1]
    bad += [-length - 1, -(2**32), -(2**63)] if signed else [2**64 - 1]
    for threads in (1, 4):
        out = np.zeros_like(wanted)
        dmlcore.gather(table, indices, out=out, num_threads=threads)
        assert same_bits(out, wanted)
        out[:] = 7
        untouched = out.copy()
        room = 524_288  # where a thread's scratch memory ends, and the chunk that it ends in
        places = [place for place in range(room - 3000, room + 20_000, 500) if place < count]
        for value, place in zip(itertools.cycle(bad), [*rng.integers(0, count, len(bad)), *places]):
            broken = indices.copy()
            broken[place] = value
            with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                dmlcore.gather(table, broken, out=out, num_threads=threads)
            assert (caught.value.position, caught.value.value) == ((place,), value) and same_bits(out, untouched)


@pytest.mark.parametrize("isa", ("baseline", "avx2", "avx512", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("index", ("int64", "uint64"))
@pytest.mark.parametrize("length", (2**31 - 1, 2**31, 2**32 + 1, 2**62 - 1, 2**62 + 5, 2**63 - 1))
def test_dimensions_of_any_length(every_thread, isa, index, length):
    """Whatever an index and the length come to together; rows of wider ones, and indices that follow each other."""
    table = np.broadcast_to(np.array(7, "int8"), (length,))
    low, info = -length if index == "int64" else 0, np.iinfo(index)
    good = {low, low + 1, length - 1, length - 2, 0}
    tried = {length, low - 1, info.min, info.max}
    bad = {value for value in tried if info.min <= value <= info.max and not low <= value < length}
    for shape in ((60_000, 20), (3000, 300), (900_000,)):  # more than is gathered aside
        wider = np.zeros((*shape[:-1], shape[-1] + 10), index)
        for indices in (wider[..., : shape[-1]], np.zeros(shape, index)):
            out = np.zeros(shape, "int8")
            for value in good:
                indices[...] = value
                out[...] = 0
                dmlcore.gather(table, indices, out=out, num_threads=1)
                assert (out == 7).all()
            for value in bad:
                indices[...], out[...] = 1, 0
                indices[..., -3] = value
                with pytest.raises(dmlcore.IndexOutOfRangeError):
                    dmlcore.gather(table, indices, out=out, num_threads=1)
                assert not out.any()


@pytest.mark.parametrize("isa", ("avx2", "avx512", "avx512-zen5", "avx512-gathers"), indirect=True)
@pytest.mark.parametrize("dtype", ("uint8", "float16", "float32", "float64"))
@pytest.mark.parametrize("index", ("int32", "int64", "uint32", "uint64"))
@pytest.mark.parametrize(
    ("shape", "rows", "axis"),
    (
        ((64, 1024), 64, 0),  # 65,536 elements from the first position on,
        ((65, 1024), 65, 0),  # 1,024 more,
        ((64, 1024), 300, 0),
        ((3, 300), 3, 1),  # rows that share a box, the last box being a shorter one,
        ((101, 301), 101, 1),
        ((40, 700), 40, 1),  # rows with boxes of their own
        ((7, 40, 50), 7, 1),
        ((31, 9, 77), 12, 0),
        ((30_000, 20), 30_000, 1),  # short ones, more than one thread may narrow,
        ((3000, 128), 3000, 1),
        ((1800, 301), 1800, 1),
        ((9, 60_000), 9, 1),
        ((64, 1024), 600, 0),
    ),
)
def test_indices_that_become_numbers_of_elements(rng, every_thread, isa, dtype, index, shape, rows, axis):
    """Those of 16 bits, where a box reaches no more elements; each position's own, also the first and the last one's. The same
    indices as parts of wider rows."""
    table = rng.integers(0, 250, shape).astype(dtype)
    where = (rows, *shape[1:]) if axis == 0 else shape
    low = -shape[axis] if index.startswith("i") else 0
    indices = rng.integers(low, shape[axis], where).astype(index)
    indices.ravel()[[0, -1]] = shape[axis] - 1
    part = np.full((*where[:-1], where[-1] + 9), np.iinfo(index).max, index)[..., 4:-5]
    part[...] = indices
    wanted = np.take_along_axis(table, indices.astype("int64") % shape[axis], axis)
    for threads in (1, 3):
        out = np.zeros_like(wanted)
        dmlcore.gather_elements(table, indices, axis, out=out, num_threads=threads)
        assert same_bits(out, wanted)
        assert same_bits(dmlcore.gather_elements(table, indices, axis, num_threads=threads), wanted)
        out[:] = 251
        untouched = out.copy()
        dmlcore.gather_elements(table, part, axis, out=out, num_threads=threads)
        assert same_bits(out, wanted)
        out[:] = 251
        values = shape[axis], 2**31 - 1, *((low - 1,) if low else ())
        around = [place for place in range(524_288 - 3000, 524_288 + 20_000, 2500) if place < indices.size]
        for value, place in zip(itertools.cycle(values), [*rng.integers(0, indices.size, len(values)), *around]):
            broken = indices.copy()
            broken.ravel()[place] = value
            part[...] = broken
            for given in (broken, part):
                with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                    dmlcore.gather_elements(table, given, axis, out=out, num_threads=threads)
                assert caught.value.position == np.unravel_index(place, where) and same_bits(out, untouched)
        part[...] = indices


def test_stride_products_beyond_32_bits():
    """Offsets pass 2^31 elements while every size and stride fits 32 bits; the array is broadcast, not stored."""
    n = 46342
    wide = np.broadcast_to(np.arange(n, dtype=np.uint16), (1, n, n))
    corners = [[0, n - 1, n - 1], [0, 0, n - 1], [-1, -1, 0], [0, n - 1, 46341]]
    wanted = [n - 1 & 0xFFFF, n - 1 & 0xFFFF, 0, 46341]
    for dtype in (np.int32, np.uint64):
        found = dmlcore.gather_nd(wide, np.array(corners) % [1, n, n] if dtype is np.uint64 else np.array(corners, dtype))
        assert found.tolist() == wanted


@pytest.mark.skipif(not os.environ.get("DMLCORE_SLOW"), reason="takes gigabytes of address space; DMLCORE_SLOW=1 runs it")
def test_more_than_2_to_the_31_elements():
    """A sparse array of 2^31 + 100 bytes: reads and writes behind the 32-bit limit, and the search for non-zero
    elements.
    """
    n = 2**31 + 100
    big = np.zeros(n, np.uint8)
    dmlcore.scatter_nd(big, np.array([[n - 1], [2**31], [5]]), np.array([1, 2, 3], np.uint8), out=big)
    assert dmlcore.gather_nd(big, [[-1], [2**31], [5]]).tolist() == [1, 2, 3]
    assert dmlcore.nonzero_coordinates(big).ravel().tolist() == [5, 2**31, n - 1]
