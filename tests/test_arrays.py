"""What the array functions promise about their arguments: every kind of array and index that NumPy users bring,
natural ranks, empty arrays, and inputs that nobody changes.
"""

import contextlib
import warnings

import numpy as np
import pytest
from arrays import data_types, describe, index_parameter, index_types, members_of_options, random_call
from oracle import call, from_spec, same_bits
from specs import DATA_TYPE_OF, NEWEST, OPERATORS, numpy_type, rules

import dmlcore
from codegen.validate import TensorValue

INDEXED = [op for op in OPERATORS if op.kernel.indices]
all_operators = pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
indexed = pytest.mark.parametrize("op", INDEXED, ids=lambda op: op.name)


def drawn_call(op, rng, data_type="INT32", index_type="INT64", **sizes):
    """A call without empty arrays."""
    while True:
        drawn = random_call(op, rng, data_type, index_type if op.kernel.indices else None, **sizes)
        if all(a.size for a in drawn.arrays.values()):
            return drawn


@all_operators
def test_random_arguments(op, rng):
    """Shapes, types and axes at random, mostly wrong: exactly the rules that the Python validator finds."""
    accepted = refused = 0
    for _ in range(2000):
        drawn = random_call(op, rng, "INT32", index_types(op)[0])
        arrays, options = dict(drawn.arrays), dict(drawn.options)
        for _ in range(rng.integers(0, 3)):
            name = list(arrays)[rng.integers(len(arrays))]
            shape = list(arrays[name].shape)
            how = rng.integers(4)
            if how == 0 and shape:
                shape[rng.integers(len(shape))] = int(rng.integers(0, 5))
            elif how == 1:
                shape = shape[1:] if rng.random() < 0.5 else [*shape, int(rng.integers(1, 4))]
            dtype = rng.choice(["float32", "int64", "int32", "uint64", "bool"]) if how == 2 else arrays[name].dtype
            arrays[name] = np.zeros(shape, dtype)
            for option in options if how == 3 else ():
                options[option] = int(rng.integers(-6, 7)) if option == "axis" else int(rng.integers(0, 5))
        kinds = {m.python: m for m in op.inputs}
        if any(a.dtype == bool for a in arrays.values()):
            continue  # the rules know DirectML's types alone
        if any(options[option] == 0 for option in members_of_options(op)):
            continue  # another operator's rules apply: the array function chooses by this option
        natural = {kinds[n].name: TensorValue(DATA_TYPE_OF[a.dtype], a.shape) for n, a in arrays.items()}
        wanted = op.violations(describe(op, natural, options), NEWEST, "array")
        if wanted:
            with pytest.raises(dmlcore.ConstraintError) as caught:
                call(op, arrays, options)
            found = rules(caught.value.violations)
            assert [id.split("-", 1)[1] for id in found] == [id.split("-", 1)[1] for id in wanted], (natural, options)
            refused += 1
            named = [f"{m.python} ({m.name})" for m in op.members]
            named += [f"{option} ({member})" for option, member in members_of_options(op).items()]
            assert any(name in str(caught.value) for name in named) and caught.value.found is not None
        else:
            with contextlib.suppress(dmlcore.IndexOutOfRangeError):  # zeros into an empty dimension
                call(op, arrays, options)
            accepted += 1
    assert accepted > 100 and (refused > 100 or not op.kernel.indices)


@indexed
def test_negative_indices_and_axes(op, rng, each_way):
    """-1 is the last one for signed indices; axes count from the end too."""
    for _ in range(40):
        drawn = drawn_call(op, rng)
        limits = np.array(drawn.bounds if "coordinate_stride" in op.kernel.fields else drawn.bounds[:1])
        other = np.where(drawn.indices < 0, drawn.indices + limits, drawn.indices - limits)
        wanted = call(op, drawn.arrays, drawn.options)
        assert same_bits(call(op, drawn.arrays | {index_parameter(op): other}, drawn.options), wanted)
        if "axis" in drawn.options:
            rank = drawn.arrays["input"].ndim
            axis = drawn.options["axis"]
            assert same_bits(call(op, drawn.arrays, {"axis": axis - rank if axis >= 0 else axis + rank}), wanted)
            assert same_bits(call(op, drawn.arrays | {"axis": axis}, {}), wanted), "by position"


@indexed
@pytest.mark.parametrize("dtype", ["uint64", "uint32", "uint16", "uint8"])
def test_unsigned_is_never_negative(op, dtype, rng, each_way):
    drawn = drawn_call(op, rng)
    indices = np.full(drawn.indices.shape, np.iinfo(dtype).max, dtype)
    with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
        call(op, drawn.arrays | {index_parameter(op): indices}, drawn.options)
    assert caught.value.value == np.iinfo(dtype).max and caught.value.valid_range[0] == 0


@all_operators
def test_lists_and_scalars(op, rng):
    """Array-likes are what numpy.asarray makes of them."""
    for _ in range(20):
        drawn = drawn_call(op, rng, "INT64")
        lists = {name: a.tolist() for name, a in drawn.arrays.items()}
        assert same_bits(call(op, lists, drawn.options), call(op, drawn.arrays, drawn.options))


@all_operators
def test_subclasses_and_protocols(op, rng):
    class Wrapped:
        def __init__(self, array):
            self.array = array

        def __array__(self, dtype=None, copy=None):
            return self.array

    class Sub(np.ndarray):
        pass

    drawn = drawn_call(op, rng)
    wanted = call(op, drawn.arrays, drawn.options)
    for wrap in (Wrapped, memoryview, lambda a: a.view(Sub)):
        result = call(op, {n: wrap(np.ascontiguousarray(a)) for n, a in drawn.arrays.items()}, drawn.options)
        assert type(result) is np.ndarray and same_bits(result, wanted)


@indexed
def test_no_indices_at_all(op):
    """An empty list counts as integers, and selects nothing."""
    function = getattr(dmlcore, op.python.function)
    empty = np.zeros((0, 1)).tolist() if "coordinate_stride" in op.kernel.fields else []
    arrays = [np.arange(3.0), np.zeros((0, 1), np.int64) if "coordinate_stride" in op.kernel.fields else empty]
    arrays += [np.zeros(0)] * (len(op.inputs) - 2)
    result = function(*arrays)
    assert same_bits(result, np.asarray(from_spec(op)(*[np.asarray(a, np.int64 if a is arrays[1] else None) for a in arrays])))


@indexed
@pytest.mark.parametrize("dtype", ["bool", "float32", "float64", "complex64", "datetime64[s]", "S3", "O"])
def test_indices_are_integers(op, dtype, rng):
    drawn = drawn_call(op, rng)
    wrong = np.zeros(drawn.indices.shape, dtype)
    with pytest.raises(TypeError) as caught:
        call(op, drawn.arrays | {index_parameter(op): wrong}, drawn.options)
    assert index_parameter(op) in str(caught.value)
    if dtype != "O":
        assert isinstance(caught.value, dmlcore.DataTypeConstraintError) and "INT64" in str(caught.value)


@all_operators
@pytest.mark.parametrize("dtype", ["datetime64[s]", "timedelta64[s]", "S3", "U2", "O", "longdouble", "i4,f8"])
def test_data_types_that_cannot_be_had(op, dtype, rng):
    drawn = drawn_call(op, rng)
    name = op.member(op.kernel.data).python
    with pytest.raises((TypeError, ValueError)) as caught:
        call(op, drawn.arrays | {name: np.zeros(drawn.arrays[name].shape, dtype)}, drawn.options)
    assert name in str(caught.value)


@all_operators
def test_masked_arrays_and_byte_order(op, rng):
    drawn = drawn_call(op, rng)
    for name, array in drawn.arrays.items():
        with pytest.raises(TypeError, match=rf"\b{name}\b.*mask"):
            call(op, drawn.arrays | {name: np.ma.masked_array(array)}, drawn.options)
        swapped = array.astype(array.dtype.newbyteorder())
        with pytest.raises(ValueError, match=rf"\b{name}\b.*byte order"):
            call(op, drawn.arrays | {name: swapped}, drawn.options)


@all_operators
def test_empty_and_zero_dimensional(op, rng, each_way):
    """Sizes of 0 and no dimensions at all, wherever the rules allow them."""
    empty = scalars = 0
    for _ in range(1500):
        drawn = random_call(op, rng, "FLOAT32", index_types(op)[0], max_rank=3, max_size=2)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", DeprecationWarning)  # older NumPy warns instead of raising
                wanted = np.asarray(from_spec(op)(*drawn.arrays.values(), **drawn.options))
        except (IndexError, DeprecationWarning):
            continue  # an index into a dimension of length 0 that nothing reads
        if any(a.size == 0 or a.ndim == 0 for a in (*drawn.arrays.values(), wanted)):
            assert same_bits(call(op, drawn.arrays, drawn.options), wanted)
            empty += any(a.size == 0 for a in drawn.arrays.values())
            scalars += any(a.ndim == 0 for a in (*drawn.arrays.values(), wanted))
    assert empty and (scalars or "axis" in drawn.options)


@all_operators
def test_many_dimensions(op, rng, each_way):
    """Up to NumPy's 64, as sizes of 1 join their neighbours."""
    for extra in (5, 30, 60):
        drawn = drawn_call(op, rng, max_rank=2)
        data = [m.python for m in op.inputs]
        if "axis" in drawn.options or not op.kernel.indices or op.python.parameters:
            continue
        arrays = dict(drawn.arrays)
        for name in data:
            if name != index_parameter(op):
                arrays[name] = arrays[name].reshape(arrays[name].shape + (1,) * extra)
        wanted = call(op, drawn.arrays, drawn.options)
        result = call(op, arrays, drawn.options)
        assert result.ndim == wanted.ndim + extra and same_bits(result.reshape(wanted.shape), wanted)
    if not op.kernel.indices:
        deep = np.ones((1,) * 62 + (2, 2), np.uint8)
        assert call(op, {"input": deep}, {}).shape == (4, 64)


def test_too_many_dimensions():
    """A result that NumPy cannot have is refused as such; the axis is right."""
    deep = np.arange(6.0).reshape((1,) * 62 + (2, 3))
    for axis in (63, -1, 0):
        for out in (None, np.zeros(1)):
            with pytest.raises(ValueError, match="the result would have 65 dimensions, NumPy has at most 64"):
                dmlcore.gather(deep, [[0, 0]], axis=axis, out=out)
    assert dmlcore.gather(deep, [0, 1], axis=63).shape == (1,) * 62 + (2, 2)
    with pytest.raises(ValueError, match="65 dimensions"):
        dmlcore.gather_nd(deep, np.zeros((1, 1, 1), int))


@all_operators
def test_every_data_type_is_kept(op, rng, each_way):
    for data_type in data_types(op):
        drawn = drawn_call(op, rng, data_type)
        result = call(op, drawn.arrays, drawn.options)
        assert result.dtype == (np.uint32 if op.python.rows else numpy_type(data_type))


def test_indices_are_checked_where_an_empty_dimension_leaves_nothing_to_move():
    nothing = np.zeros((0, 3), np.float32)
    with pytest.raises(dmlcore.IndexOutOfRangeError) as caught:
        dmlcore.gather(nothing, [[1, 2], [2, -4]], axis=1)
    assert (caught.value.position, caught.value.value, caught.value.valid_range) == ((1, 1), -4, (-3, 2))
    assert dmlcore.gather(nothing, [[1, -3]], axis=1).shape == (0, 1, 2)
    assert dmlcore.gather(nothing, [9], axis=1, mode="clip").shape == (0, 1)
