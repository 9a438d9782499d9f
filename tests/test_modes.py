"""Reductions, fill values and the options' wrong values: whatever a function says that it accepts is computed as
plain loops compute it, exactly, in every data type and at any number of threads; anything else is refused with the
list of what is accepted.
"""

import warnings

import numpy as np
import pytest
from arrays import data_types, index_types, random_call
from oracle import LOOPS, call, from_spec, same_bits, same_values
from specs import MODES, OPERATORS, REDUCTIONS, TYPES, numpy_type

import dmlcore

REDUCING = [(op, r) for op in OPERATORS if "reduction" in op.python.options for r in REDUCTIONS[op.name]]


@pytest.mark.parametrize("pair", REDUCING, ids=lambda pair: f"{pair[0].name}-{pair[1]}")
def test_reductions(pair, rng, every_thread):
    """Repeated targets are combined in row-major order, each step rounded to the data type; NaN goes through."""
    op, reduction = pair
    if op.python.function not in LOOPS:
        return
    for data_type in data_types(op):
        for index_type in index_types(op):
            for _ in range(3):
                drawn = random_call(op, rng, data_type, index_type, max_rank=3)
                options = drawn.options | {"reduction": reduction}
                wanted = LOOPS[op.python.function](*drawn.arrays.values(), **options)
                if refused(op, drawn, options, data_type):
                    continue
                for threads in (1, 4):
                    found = call(op, drawn.arrays, options, num_threads=threads)
                    assert same_values(found, wanted), (data_type, index_type, threads)
                source = next(iter(drawn.arrays))
                out = drawn.arrays[source].copy()
                call(op, drawn.arrays | {source: out}, options, out=out)
                assert same_values(out, wanted), f"in place: {data_type}"


def refused(op, drawn, options, data_type) -> bool:
    """Types that DirectML does not have may be refused where arithmetic has no meaning for them, by name; no others."""
    if TYPES[data_type].value is not None or options["reduction"] == "none":
        return False
    try:
        call(op, drawn.arrays, options)
    except TypeError as error:
        assert "reduction" in str(error) and str(numpy_type(data_type)) in str(error)
        return True
    return False


@pytest.mark.parametrize("pair", REDUCING, ids=lambda pair: f"{pair[0].name}-{pair[1]}")
def test_one_hot_target(pair, every_thread):
    """All updates meet in one place, more of them than one block of indices holds: still in order, still exact."""
    op, reduction = pair
    rng = np.random.default_rng(1)
    drawn = random_call(op, rng, "FLOAT32", index_types(op)[0], max_rank=1, max_size=1)
    if op.python.function not in LOOPS or drawn.arrays["indices"].ndim > 2:
        return
    for dtype in ("float16", "float32", "int8"):
        updates = rng.integers(-3, 4, 5000).astype(dtype)
        indices = np.zeros((5000, 1) if "coordinate_stride" in op.kernel.fields else 5000, np.int64)
        arrays = dict(zip(drawn.arrays, (np.ones(1, dtype), indices, updates), strict=True))
        wanted = LOOPS[op.python.function](*arrays.values(), reduction=reduction)
        for threads in (1, 2, 5):
            assert same_values(call(op, arrays, {"reduction": reduction}, num_threads=threads), wanted)


OPTIONS = [(op, option) for op in OPERATORS for option in ("mode", "reduction") if option in op.python.options]


@pytest.mark.parametrize("pair", OPTIONS, ids=lambda pair: f"{pair[0].name}-{pair[1]}")
@pytest.mark.parametrize("value", ["wrap", "RAISE", "", "sum", None, 1, b"raise"])
def test_wrong_values_list_what_is_accepted(pair, value, rng):
    op, option = pair
    drawn = random_call(op, rng, "FLOAT32", index_types(op)[0])
    with pytest.raises((ValueError, TypeError)) as caught:
        call(op, drawn.arrays, drawn.options | {option: value})
    for name in (MODES if option == "mode" else REDUCTIONS)[op.name]:
        assert repr(name) in str(caught.value)
    assert option in str(caught.value) and repr(value) in str(caught.value)


@pytest.mark.parametrize("op", [op for op in OPERATORS if "batch_dims" in op.python.options], ids=lambda op: op.name)
@pytest.mark.parametrize("value", [-1, 99, 2**70, 1.5, "1", None])
def test_wrong_batch_dims(op, value):
    with pytest.raises((ValueError, TypeError)) as caught:
        getattr(dmlcore, op.python.function)(np.zeros((2, 2), np.float32), np.zeros((2, 1), np.int64), batch_dims=value)
    assert "atch" in str(caught.value)


@pytest.mark.parametrize("op", [op for op in OPERATORS if "fill" in MODES[op.name]], ids=lambda op: op.name)
def test_fill_values(op):
    """The fill value is kept exactly; one that the data type cannot represent is refused before anything is written."""
    function = getattr(dmlcore, op.python.function)
    shape = (1, 1) if "coordinate_stride" in op.kernel.fields else (1,)
    indices = np.full(shape, 9)
    for data_type in data_types(op):
        dtype = numpy_type(data_type)
        good = {"b": [True, False], "f": [0, -0.0, 1.5, np.inf, np.nan], "c": [1 + 2j, 5, np.nan], "V": [1.0]}.get(dtype.kind)
        if not good:
            limits = np.iinfo(dtype)
            good = [limits.min, limits.max, *(v for v in (3, -1, 999999, 1000000) if limits.min <= v <= limits.max)]
        for value in good:
            with warnings.catch_warnings(action="error"):
                found = function(np.zeros(3, dtype), indices, mode="fill", fill_value=value)
            assert same_values(found, np.full(1, value, dtype)) or same_values(found.reshape(1), np.full(1, value, dtype))
        bad = [1j, "x", None] + ([1.5, np.nan, np.iinfo(dtype).max + 1, np.iinfo(dtype).min - 1] if dtype.kind in "iu" else [])
        bad += [1e300, -(10**60)] if dtype.kind == "f" and dtype.itemsize < 8 else []
        for value in bad if dtype.kind not in "cV" else ["x", None]:
            out = np.zeros(1, dtype)
            with pytest.raises((ValueError, TypeError, OverflowError)) as caught:
                function(np.zeros(3, dtype), indices, mode="fill", fill_value=value, out=out)
            assert same_bits(out, np.zeros(1, dtype)) and "fill_value" in str(caught.value), (dtype, value)


BATCHED = [op for op in OPERATORS if op.python.parameters]


@pytest.mark.parametrize("op", BATCHED, ids=lambda op: op.name)
def test_batches_mean_one_call_for_each(op, rng, each_way):
    """With batch dimensions the result is that of a call for every batch, stacked."""
    for _ in range(100):
        drawn = random_call(op, rng, "INT32", "INT64", max_rank=4)
        batch = drawn.options.get("batch_dims", 0)
        input, indices = drawn.arrays.values()
        wanted = np.asarray(from_spec(op)(input, indices, **drawn.options))
        parts = np.empty(wanted.shape, wanted.dtype)
        for at in np.ndindex(wanted.shape[:batch]):
            parts[at] = getattr(dmlcore, op.python.function)(input[at], indices[at])
        assert np.array_equal(parts, call(op, drawn.arrays, drawn.options))
