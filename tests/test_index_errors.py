"""An index that is out of range: the exception's facts, the first one in row-major order at any number of threads,
and an `out` that has not been touched; for every operator with indices, both doors, and every mode that the array
functions take.
"""

import pickle

import numpy as np
import pytest
from arrays import data_types, index_parameter, index_types, random_call
from layouts import WRITABLE, lay_out, plain_data
from oracle import LOOPS, OutOfRange, call, same_bits
from specs import MODES, NEWEST, OPERATORS, numpy_type, product_desc

import dmlcore

INDEXED = [op for op in OPERATORS if op.kernel.indices]
pytestmark = pytest.mark.parametrize("op", INDEXED, ids=lambda op: op.name)
THREADS = (1, 2, 7)


def drawn_call(op, rng, index_type, size=6):
    """A call with some indices, all of them used: nothing is empty."""
    while True:
        drawn = random_call(op, rng, data_types(op)[0], index_type, max_size=size, data=plain_data)
        if all(a.size for a in drawn.arrays.values()):
            return drawn


def spoil(op, drawn, position, value) -> dict:
    indices = drawn.indices.copy()
    indices[position] = value
    return drawn.arrays | {index_parameter(op): indices}


def length_at(op, drawn, position) -> int:
    """The length of the dimension that the index at a position counts along."""
    return drawn.bounds[position[-1] if "coordinate_stride" in op.kernel.fields else 0]


def bad_values(dtype: np.dtype, length: int) -> list[int]:
    """Just beyond both ends, and the extremes of the type."""
    info = np.iinfo(dtype)
    values = [length, length + 1, 2 * length, info.max] + ([-length - 1, info.min] if dtype.kind == "i" else [])
    return [v for v in dict.fromkeys(values) if info.min <= v <= info.max]


@pytest.mark.parametrize("index_type", ["INT32", "INT64", "UINT32", "UINT64"])
def test_facts(op, index_type, rng, each_way):
    if index_type not in index_types(op):
        return
    dtype = numpy_type(index_type)
    for _ in range(8):
        drawn = drawn_call(op, rng, index_type)
        for place in (0, drawn.indices.size // 2, drawn.indices.size - 1):  # the very last one too
            position = tuple(int(p) for p in np.unravel_index(place, drawn.indices.shape))
            length = length_at(op, drawn, position)
            for value in bad_values(dtype, length):
                for threads in THREADS:
                    with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                        call(op, spoil(op, drawn, position, value), drawn.options, num_threads=threads)
                    error = caught.value
                    assert (error.operator.split("1")[0], error.tensor) == (op.name.split("1")[0], op.kernel.indices)
                    assert (error.position, error.value) == (position, value)
                    assert error.valid_range == ((-length if dtype.kind == "i" else 0), length - 1)
                    assert str(value) in str(error) and index_parameter(op) in str(error)
                    assert isinstance(error, (IndexError, dmlcore.DmlcoreError))
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error) and str(again) == str(error) and again.as_dict() == error.as_dict()


def test_first_of_many(op, rng, each_way):
    """Of several bad indices the first in row-major order is told, whatever the layout and the number of threads."""
    for turn in range(30):
        drawn = drawn_call(op, rng, index_types(op)[0], size=6 if turn else 40)
        flat = drawn.indices.copy().reshape(-1)
        for place in sorted(rng.choice(flat.size, min(3, flat.size), replace=False)):
            flat[place] = 1000 + place
        indices = lay_out(flat.reshape(drawn.indices.shape), rng, WRITABLE)
        arrays = drawn.arrays | {index_parameter(op): indices}
        first = int(np.flatnonzero(flat >= 1000)[0])
        for threads in THREADS:
            with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                call(op, arrays, drawn.options, num_threads=threads)
            assert caught.value.position == np.unravel_index(first, indices.shape), threads


def test_out_is_untouched(op, rng, each_way):
    """With one bad index at the first, a middle or the very last place; in layouts, in place, and through
    descriptors.
    """
    for turn in range(20):
        drawn = drawn_call(op, rng, index_types(op)[turn % len(index_types(op))], size=6 if turn < 18 else 60)
        wanted = call(op, drawn.arrays, drawn.options)
        for place in {0, drawn.indices.size // 2, drawn.indices.size - 1}:
            position = np.unravel_index(place, drawn.indices.shape)
            arrays = spoil(op, drawn, position, np.iinfo(drawn.indices.dtype).max)
            before = {name: a.copy() for name, a in arrays.items()}
            for threads in THREADS:
                out = lay_out(np.full(wanted.shape, 77, wanted.dtype), rng, WRITABLE)
                with pytest.raises(dmlcore.IndexOutOfRangeError):
                    call(op, arrays, drawn.options, out=out, num_threads=threads)
                assert (out == 77).all(), f"{threads} threads"
                if op.kernel.source:
                    source = op.member(op.kernel.source).python
                    with pytest.raises(dmlcore.IndexOutOfRangeError):
                        call(op, arrays, drawn.options, out=arrays[source], num_threads=threads)
                assert all(same_bits(before[name], a) for name, a in arrays.items()), "an input has changed"
            if not op.violations(drawn.desc, NEWEST):
                operator = dmlcore.compile(product_desc(op, drawn.desc))
                padded = [arrays[m.python].reshape(drawn.desc[m.name].sizes) for m in op.inputs]
                out = np.full(drawn.desc[op.outputs[0].name].sizes, 77, wanted.dtype)
                with pytest.raises(dmlcore.IndexOutOfRangeError):
                    operator(*padded, out=out)
                assert (out == 77).all()


def test_modes(op, rng, each_way):
    """Every mode that the function takes, with indices good and bad, does what the loops do; raise is always among
    them.
    """
    assert "raise" in MODES[op.name]
    if op.python.function not in LOOPS:
        return
    for mode in MODES[op.name]:
        for turn in range(60):
            index_type = index_types(op)[turn % len(index_types(op))]
            drawn = drawn_call(op, rng, index_type)
            info = np.iinfo(numpy_type(index_type))
            indices = drawn.indices.copy()
            bad = rng.random(indices.shape) < 0.2
            extremes = [info.min, info.max, 7, 9, info.max - 1, info.min + 1]
            indices[bad] = rng.choice(np.array(extremes, indices.dtype), int(bad.sum()))
            arrays = drawn.arrays | {index_parameter(op): lay_out(indices, rng, WRITABLE)}
            options = drawn.options | {"mode": mode} | ({"fill_value": 5} if mode == "fill" else {})
            try:
                wanted = LOOPS[op.python.function](*arrays.values(), **options)
            except OutOfRange as error:
                with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
                    call(op, arrays, options)
                assert (caught.value.value, caught.value.valid_range[1] + 1) == error.args[1:]
            else:
                for threads in THREADS:
                    assert same_bits(call(op, arrays, options, num_threads=threads), wanted), (mode, threads)


def test_empty_dimension(op, rng, each_way):
    """No index is valid for a dimension of length 0, and the message says so; without indices there is no error."""
    for _ in range(200):
        drawn = random_call(op, rng, data_types(op)[0], index_types(op)[0])
        if 0 in drawn.bounds:
            assert not drawn.indices.size
            call(op, drawn.arrays, drawn.options)
