"""dmlcore.onnx.Backend as ONNX's back end interface has it: models, single nodes, devices, inputs left out.

And what happens without the onnx package.
"""

import subprocess
import sys

import numpy as np
import pytest

onnx = pytest.importorskip("onnx.reference") and pytest.importorskip("onnx")

from numpy.testing import assert_array_equal  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402
from onnx_models import model  # noqa: E402

import dmlcore.onnx  # noqa: E402
from dmlcore.onnx import Backend  # noqa: E402

X, ROWS = np.arange(6, dtype=np.float32).reshape(3, 2), np.array([2, 0])


@pytest.mark.parametrize("inputs", [[X, ROWS], (X, ROWS), {"x": X, "i": ROWS}], ids=["list", "tuple", "dict"])
def test_run_model(inputs):
    made = model("Gather", X, ROWS)
    for run in (Backend.run_model, dmlcore.onnx.run_model):
        (result,) = run(made, inputs)
        assert_array_equal(result, X[ROWS])
    ready = Backend.prepare(made, "CPU:0")
    assert_array_equal(ready.run(inputs)[0], ready.run(inputs)[0])


def test_one_array_stands_for_itself():
    (result,) = Backend.run_model(model("NonZero", X), X)
    assert_array_equal(result, np.stack(np.nonzero(X)))


def test_inputs_with_stored_values_may_be_left_out():
    made = model("Gather", X, ROWS)
    made.graph.initializer.append(numpy_helper.from_array(ROWS, "i"))
    assert_array_equal(Backend.run_model(made, [X])[0], X[ROWS])
    assert_array_equal(Backend.run_model(made, [X, ROWS])[0], X[ROWS])
    assert_array_equal(Backend.run_model(made, [X, np.array([1, 1])])[0], X[[1, 1]])
    with pytest.raises(ValueError, match="3 inputs given, expected 1: x"):
        Backend.run_model(made, [X, X, X])


def test_run_node():
    node = helper.make_node("Gather", ["x", "x"], ["y"], axis=-1)
    square = np.array([[1, 0], [0, 1]])
    assert_array_equal(Backend.run_node(node, [square])[0], square[:, square])
    node = helper.make_node("Scatter", ["x", "i", "u"], ["y"])
    (result,) = Backend.run_node(node, [X, np.array([[1, 2]]), X[:1] - 9], opset_version=9)
    assert_array_equal(result, [[0, 1], [-9, 3], [4, -8]])
    with pytest.raises(onnx.checker.ValidationError):
        Backend.run_node(helper.make_node("Gather", ["x"], ["y"]), [X])


def test_other_operators_are_onnxs_own():
    node = helper.make_node("Add", ["a", "b"], ["c"])
    assert_array_equal(Backend.run_node(node, [X, X])[0], X + X)


@pytest.mark.parametrize("run", [Backend.prepare, lambda made, device: Backend.run_node(made.graph.node[0], [X, ROWS], device)])
def test_devices(run):
    assert dmlcore.onnx.supports_device("CPU") and not dmlcore.onnx.supports_device("CUDA")
    with pytest.raises(ValueError, match="device is 'CUDA:1', expected 'CPU'"):
        run(model("Gather", X, ROWS), "CUDA:1")


def test_invalid_models_are_refused():
    made = model("Gather", X, ROWS)
    made.graph.node[0].attribute.append(helper.make_attribute("axes", 1))
    with pytest.raises(onnx.checker.ValidationError, match="axes"):
        Backend.prepare(made)


def test_without_onnx_the_message_says_what_to_install():
    code = "import sys; sys.modules['onnx'] = None; import dmlcore; import dmlcore.onnx"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "ImportError: dmlcore.onnx needs the onnx package: pip install 'dmlcore[onnx]'" in done.stderr


def test_dmlcore_alone_does_not_import_onnx():
    code = "import sys, dmlcore; sys.exit('onnx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
