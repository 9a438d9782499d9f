"""Every data type through dmlcore.onnx, beside ONNX's own implementation; and the types that are handed to it."""

import numpy as np
import pytest

pytest.importorskip("onnx.reference")

import ml_dtypes
from numpy.testing import assert_array_equal
from onnx_models import run


def same(actual, expected):
    """Equal in shape, type and every element."""
    assert_array_equal(actual, expected, strict=True)


I = np.array  # indices  # noqa: E741
KINDS = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


@pytest.mark.parametrize("dtype", [*map(np.dtype, KINDS), np.dtype(ml_dtypes.bfloat16)], ids=str)
def test_every_type(dtype):
    x, u = (np.arange(6) % 3).reshape(2, 3).astype(dtype), np.ones((1, 3), dtype)
    for op, arrays in {
        "Gather": (x, I([1, 0])),
        "GatherElements": (x, I([[1, 0, 1]])),
        "GatherND": (x, I([[1, 0], [0, -1]])),
        "ScatterElements": (x, I([[1, 0, 1]]), u),
        "ScatterND": (x, I([[1]]), u),
        "NonZero": (x,),
    }.items():
        if op != "NonZero" or dtype.name != "bfloat16":  # ONNX's NonZero has it from opset 13
            same(run(op, *arrays), run(op, *arrays, ops=None))


@pytest.mark.parametrize("kind", ["int4", "uint4"])
def test_small_types_go_to_the_reference(kind):
    x = np.arange(4).astype(getattr(ml_dtypes, kind))
    same(run("Gather", x, I([2, 0]), opset=25), x[[2, 0]])


def test_strings_go_to_the_reference():
    x = np.array([["a", "", "c"], ["d", "e", ""]], object)
    same(run("Gather", x, I([1])), x[[1]])
    same(run("GatherElements", x, I([[1, 0, 1]])), np.array([["d", "", ""]], object))
    same(run("GatherND", x, I([[1, 0]])), np.array(["d"], object))
    same(
        run("ScatterND", x, I([[1]]), np.array([["f", "g", "h"]], object)),
        np.array([["a", "", "c"], ["f", "g", "h"]], object),
    )
    same(run("NonZero", x), np.stack(np.nonzero(x)))
    long = run("ScatterElements", np.array(["a", "b"]), I([1]), np.array(["long"]))
    assert long.tolist() == ["a", "long"]  # ONNX's implementation cuts it to "l"
