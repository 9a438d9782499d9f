"""The operators of dmlcore.onnx under every opset: attributes and defaults, edge shapes, and what ONNX's own
implementation says. Where that one is wrong or gives up, the test says so and expects what ONNX's text defines.
"""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx.reference") and pytest.importorskip("onnx")

from numpy.testing import assert_array_equal  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402
from onnx_models import model, run  # noqa: E402

import dmlcore  # noqa: E402
from dmlcore.onnx import OPS  # noqa: E402

NEWEST = onnx.defs.onnx_opset_version()
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
I = np.array  # indices  # noqa: E741


def same(actual, expected):
    """Equal in shape, type and every element."""
    assert actual.dtype == np.asarray(expected).dtype
    assert_array_equal(actual, expected, strict=True)


def opsets(first: int, *further: int):
    """The opsets at which an operator changed, and the newest."""
    return pytest.mark.parametrize("opset", sorted({first, *further, NEWEST}))


def test_every_schema_is_known():
    """A new version of an operator in a newer onnx has to be looked at; only then is its number added here."""
    known = {
        "Gather": {1, 11, 13},
        "GatherElements": {11, 13},
        "GatherND": {11, 12, 13},
        "NonZero": {9, 13},
        "Scatter": {9, 11},
        "ScatterElements": {11, 13, 16, 18},
        "ScatterND": {11, 13, 16, 18},
    }
    found = {name: set() for name in known}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.name in found:
            found[schema.name].add(schema.since_version)
    assert found == known
    assert {operator.__name__ for operator in OPS} == set(known)


@opsets(1, 11, 13)
@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, -3])
def test_gather(opset, axis):
    attributes = {} if axis is None else {"axis": axis}
    for i in (I([1, 0]), I([[1], [0], [1]], np.int32), I(1), I([], np.int64), I([-1, -2])):
        same(run("Gather", X, i, opset=opset, **attributes), np.take(X, i, axis or 0))
        same(run("Gather", X, i, opset=opset, **attributes), run("Gather", X, i, opset=opset, ops=None, **attributes))


@opsets(11, 13)
@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, -3])
def test_gather_elements(opset, axis, rng):
    attributes = {} if axis is None else {"axis": axis}
    shape = list(X.shape)
    shape[axis or 0] = 5
    i = rng.integers(-X.shape[axis or 0], X.shape[axis or 0], shape)
    actual = run("GatherElements", X, i, opset=opset, **attributes)
    same(actual, np.take_along_axis(X, i, axis or 0))
    if (axis or 0) >= 0:  # ONNX's implementation takes no negative axis
        same(actual, run("GatherElements", X, i % X.shape[axis or 0], ops=None, opset=opset, **attributes))


def test_gather_elements_where_the_reference_gives_up(rng):
    """More than 64 places along the axis; and indices smaller than the data off the axis, which ONNX allows."""
    x = rng.random((3, 2, 100))
    i = rng.integers(-100, 100, (3, 2, 7))
    same(run("GatherElements", x, i, axis=2), np.take_along_axis(x, i, 2))
    same(run("GatherElements", X, I([[[3], [0]]]), axis=2), np.array([[[3], [4]]], np.float32))
    with pytest.raises(ValueError, match="64"):
        run("GatherElements", x, i, axis=2, ops=None)
    with pytest.raises(ValueError, match="same size"):
        run("GatherElements", X, I([[[3], [0]]]), axis=2, ops=None)


@opsets(11, 12, 13)
@pytest.mark.parametrize("indices", [[1], [[1], [-1]], [[[1, 2]], [[0, 0]]], [[1, -1, 3]], [1, 2, 3], np.zeros((0, 2), int)])
def test_gather_nd(opset, indices):
    i = I(indices)
    expected = X[tuple(np.moveaxis(i, -1, 0))]
    same(run("GatherND", X, i, opset=opset), np.asarray(expected))
    same(run("GatherND", X, i, opset=opset), run("GatherND", X, i, opset=opset, ops=None))


@opsets(12, 13)
@pytest.mark.parametrize("batch_dims", [0, 1, 2])
def test_gather_nd_batch_dims(opset, batch_dims, rng):
    i = rng.integers(-2, 2, (2, 3, 5, 1))
    actual = run("GatherND", X, i, opset=opset, batch_dims=batch_dims)
    same(actual, run("GatherND", X, i, opset=opset, batch_dims=batch_dims, ops=None))


@pytest.mark.parametrize(
    ("op", "opset"), [("Scatter", 9), ("Scatter", 10)] + [("ScatterElements", n) for n in (11, 13, 16, 18, NEWEST)]
)
@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, -3])
def test_scatter_elements(op, opset, axis, rng):
    attributes = {} if axis is None else {"axis": axis}
    at = axis or 0
    i = np.argsort(rng.random(X.shape), at)[tuple(slice(1, None) if d == at % 3 else slice(None, 2) for d in range(3))]
    u = -rng.random(i.shape).astype(np.float32)
    expected = X.copy()
    for place in np.ndindex(i.shape):
        target = list(place)
        target[at] = i[place]
        expected[tuple(target)] = u[place]
    before = X.copy()
    same(run(op, X, i, u, opset=opset, **attributes), expected)
    same(run(op, X, i - X.shape[at], u, opset=opset, **attributes), expected)
    same(X, before)


@opsets(11, 13, 16, 18)
@pytest.mark.parametrize("indices", [[1], [[1], [0]], [[[0, 2]], [[1, -3]]], [[1, -1, 3]], [1, 2, 3], np.zeros((0, 2), int)])
def test_scatter_nd(opset, indices, rng):
    i = I(indices)
    u = -rng.random(X[tuple(np.moveaxis(i, -1, 0))].shape).astype(np.float32)
    before = X.copy()
    same(run("ScatterND", X, i, u, opset=opset), run("ScatterND", X, i, u, opset=opset, ops=None))
    same(X, before)


def test_the_last_of_several_updates_stays():
    u = np.float32([1, 2, 3])
    same(run("ScatterElements", np.zeros(2, np.float32), I([1, 1, 1]), u), np.float32([0, 3]))
    same(run("ScatterND", np.zeros(2, np.float32), I([[1], [-1], [1]]), u), np.float32([0, 3]))


@opsets(9, 13)
@pytest.mark.parametrize(
    "value", [X % 2, X > 7, np.zeros((0, 3)), np.zeros(4), I(5), I(0), I([np.nan, -0.0, 1e-45], np.float32)]
)
def test_nonzero(opset, value):
    expected = np.stack(np.nonzero(value)) if value.ndim else np.empty((0, np.count_nonzero(value)), np.int64)
    same(run("NonZero", value, opset=opset), expected.astype(np.int64))
    same(run("NonZero", value, opset=opset), run("NonZero", value, opset=opset, ops=None))


def test_zero_size():
    empty = np.zeros((0, 3), np.float32)
    same(run("Gather", empty, I([2, 0]), axis=1), np.zeros((0, 2), np.float32))
    same(run("GatherElements", X[0], np.zeros((0, 4), int), axis=0), np.zeros((0, 4), np.float32))
    same(run("GatherND", empty, np.zeros((4, 0, 1), int)), np.zeros((4, 0, 3), np.float32))
    same(run("ScatterElements", X[0], np.zeros((0, 4), int), np.zeros((0, 4), np.float32)), X[0])
    same(run("ScatterND", empty, np.zeros((0, 1), int), empty), empty)


@pytest.mark.parametrize("indices", [[4], [-5], [10**12]])
def test_indices_out_of_range_are_errors(indices):
    """Also where ONNX's GatherElements would wrap around without a word."""
    i = I(indices)
    for op, arrays in {
        "Gather": (X[0], i),
        "GatherElements": (X[0], i[:, None]),
        "GatherND": (X[0], i[:, None]),
        "ScatterElements": (X[0], i[:, None], X[0, :1, :1]),
        "ScatterND": (X[0], i[:, None], X[0, :1]),
    }.items():
        with pytest.raises(dmlcore.IndexOutOfRangeError, match=str(indices[0])):
            run(op, *arrays)
    if abs(indices[0]) < 10:  # it takes minutes for a large one
        assert run("GatherElements", X[0, 0], i, axis=0, ops=None) == X[0, 0, indices[0] % 4]


def test_errors_are_dmlcores_own():
    """Not the evaluator's 'Issues with types', which hides a TypeError."""
    made = model("Gather", X, I([1]))
    with pytest.raises(dmlcore.DataTypeConstraintError, match="IndicesTensor-DataType-support"):
        ReferenceEvaluator(made, new_ops=OPS).run(None, {"x": X, "i": np.float32([1])})
    made = model("ScatterND", X, I([[1]]), X[:1])
    with pytest.raises(dmlcore.DataTypeConstraintError, match="UpdatesTensor"):
        ReferenceEvaluator(made, new_ops=OPS).run(None, {"x": X, "i": I([[1]]), "u": X[:1].astype(np.float64)})
    with pytest.raises(dmlcore.ConstraintError, match="UpdatesTensor-Sizes"):  # ONNX's implementation broadcasts
        ReferenceEvaluator(made, new_ops=OPS).run(None, {"x": X, "i": I([[1]]), "u": X[:1, :1]})
    made = model("Gather", X, I([1]), axis=1)
    with pytest.raises(dmlcore.ConstraintError, match="GATHER"):
        ReferenceEvaluator(made, new_ops=OPS).run(None, {"x": X[0, 0], "i": I([1])})


def test_attributes_of_a_function():
    """A node whose axis is the attribute of the function around it."""
    made = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["": 18, "own": 1]>
        m (float[2, 3] x, int64[1] i) => (y) { y = own.pick <at = 1> (x, i) }
        <opset_import: ["": 18], domain: "own">
        pick <at> (x, i) => (y) { y = Gather <axis: int = @at> (x, i) }""")
    result = ReferenceEvaluator(made, new_ops=OPS).run(None, {"x": X[0, :2, :3], "i": I([2])})[0]
    same(result, X[0, :2, 2:3])
