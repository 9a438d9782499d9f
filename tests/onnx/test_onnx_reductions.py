"""The reductions of ScatterElements and ScatterND, opset 16 (add, mul) and 18 (min, max), against NumPy's ufunc.at.

ONNX's own implementation is right but for NaN: its ScatterElements keeps or drops one by its place (Python's min and
max), its ScatterND propagates it, as NumPy and dmlcore do in both.
"""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx.reference") and pytest.importorskip("onnx")

import ml_dtypes  # noqa: E402  comes with onnx
from numpy.testing import assert_array_equal  # noqa: E402
from onnx_models import run  # noqa: E402

UFUNC = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}
OPSETS = [("add", 16), ("mul", 16)] + [(name, 18) for name in UFUNC]
NUMERIC = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


def scatter_elements(x, i, u, axis, ufunc):
    """NumPy's answer: the updates one after the other, in row-major order."""
    result = x.copy()
    for place in np.ndindex(i.shape):
        target = list(place)
        target[axis] = i[place]
        ufunc.at(result, tuple(np.array([t]) for t in target), u[place])
    return result


def scatter_nd(x, i, u, ufunc):
    result = x.copy()
    ufunc.at(result, tuple(np.moveaxis(i, -1, 0)), u)
    return result


@pytest.mark.parametrize("dtype", NUMERIC)
@pytest.mark.parametrize(("reduction", "opset"), OPSETS)
def test_reductions(reduction, opset, dtype, rng):
    x = rng.integers(0, 9, (4, 5)).astype(dtype)
    u = rng.integers(0, 9, (3, 5)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        x, u = x + x.dtype.type(0.5), u - u.dtype.type(2.25)
    for axis in (0, -1):
        i = rng.integers(-x.shape[axis], x.shape[axis], u.shape)
        actual = run("ScatterElements", x, i, u, opset=opset, axis=axis, reduction=reduction)
        assert_array_equal(actual, scatter_elements(x, i, u, axis, UFUNC[reduction]), strict=True)
        if x.dtype.kind == "f":  # ONNX's own computes in Python, with warnings for whole numbers that overflow
            assert_array_equal(actual, run("ScatterElements", x, i, u, ops=None, opset=opset, axis=axis, reduction=reduction))
    i = rng.integers(-4, 4, (3, 1))
    actual = run("ScatterND", x, i, u, opset=opset, reduction=reduction)
    assert_array_equal(actual, scatter_nd(x, i, u, UFUNC[reduction]), strict=True)
    assert_array_equal(actual, run("ScatterND", x, i, u, ops=None, opset=opset, reduction=reduction))


@pytest.mark.parametrize("op", ["ScatterElements", "ScatterND"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("reduction", UFUNC)
def test_nan(op, dtype, reduction):
    """A NaN in the data or in an update stays, whichever of the two comes first."""
    x, u = np.array([1, np.nan, 3, 4], dtype), np.array([np.nan, 1, 2, 3], dtype)
    i = np.array([0, 1, 2, 0])
    result = run(op, x, i if op == "ScatterElements" else i[:, None], u, reduction=reduction)
    assert_array_equal(np.isnan(result), [True, True, False, False])
    assert_array_equal(result[2:], [UFUNC[reduction](x[2], u[2]), 4], strict=False)


def test_float16_rounds_at_each_step():
    """2048 + 1 is 2048 in float16, so any number of ones leaves 2048 where it is."""
    x, i, u = np.float16([2048]), np.zeros(100, int), np.ones(100, np.float16)
    assert run("ScatterElements", x, i, u, reduction="add") == 2048
    assert run("ScatterND", x, i[:, None], u, reduction="add") == 2048


@pytest.mark.parametrize("kind", ["bool", "complex64", "bfloat16"])
def test_types_without_reductions_go_to_the_reference(kind):
    dtype = np.dtype(getattr(ml_dtypes, kind, kind))
    x, i, u = np.zeros(3, dtype), np.array([1, 1]), np.ones(2, dtype)
    assert run("ScatterElements", x, i, u, reduction="add").tolist() == np.array([0, 2, 0], dtype).tolist()
    assert run("ScatterND", x, i[:, None], u, reduction="add").tolist() == np.array([0, 2, 0], dtype).tolist()


def test_none_by_name():
    x, u = np.zeros(3, np.float32), np.ones(1, np.float32)
    assert run("ScatterElements", x, np.array([1]), u, reduction="none").tolist() == [0, 1, 0]
    assert run("ScatterND", x, np.array([[1]]), u, reduction="none").tolist() == [0, 1, 0]


def test_wrong_names_are_refused():
    x, u = np.zeros(3, np.float32), np.ones(1, np.float32)
    for op, i in (("ScatterElements", [1]), ("ScatterND", [[1]])):
        with pytest.raises(ValueError, match="reduction is 'mean', expected"):
            run(op, x, np.array(i), u, reduction="mean")


def test_the_data_stays_as_it_is():
    x = np.zeros(3, np.float32)
    run("ScatterElements", x, np.array([1, 1]), np.ones(2, np.float32), reduction="add")
    run("ScatterND", x, np.array([[1], [1]]), np.ones(2, np.float32), reduction="add")
    assert not x.any()
