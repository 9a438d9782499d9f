"""Models of one node: built for an opset, checked by ONNX, run by its evaluator with or without dmlcore."""

import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from dmlcore.onnx import OPS

NAMES = {"Scatter": "x i u", "ScatterElements": "x i u", "ScatterND": "x i u", "NonZero": "x"}


def model(op: str, *arrays, opset: int | None = None, **attributes) -> onnx.ModelProto:
    """A model with a single node whose inputs have the types and shapes of these arrays."""
    names = NAMES.get(op, "x i").split()[: len(arrays)]
    kinds = [onnx.TensorProto.STRING if a.dtype.kind in "OU" else helper.np_dtype_to_tensor_dtype(a.dtype) for a in arrays]
    inputs = [helper.make_tensor_value_info(n, k, a.shape) for n, k, a in zip(names, kinds, arrays, strict=True)]
    kind = onnx.TensorProto.INT64 if op == "NonZero" else kinds[0]
    output = helper.make_tensor_value_info("y", kind, [None] * _rank(op, *arrays, batch_dims=attributes.get("batch_dims", 0)))
    graph = helper.make_graph([helper.make_node(op, names, ["y"], **attributes)], "one", inputs, [output])
    opset = opset or onnx.defs.onnx_opset_version()
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    onnx.checker.check_model(made)
    return made


def _rank(op, x, i=None, u=None, batch_dims=0) -> int:
    if op == "GatherND":
        return i.ndim - 1 + x.ndim - batch_dims - i.shape[-1]
    return {"Gather": lambda: x.ndim + i.ndim - 1, "GatherElements": lambda: i.ndim, "NonZero": lambda: 2}.get(
        op, lambda: x.ndim
    )()


def run(op: str, *arrays, ops=OPS, opset: int | None = None, **attributes):
    """The output of the one node; with ``ops=None`` of ONNX's own implementation."""
    made = model(op, *arrays, opset=opset, **attributes)
    feeds = {value.name: array for value, array in zip(made.graph.input, arrays, strict=True)}
    return ReferenceEvaluator(made, new_ops=ops).run(None, feeds)[0]
