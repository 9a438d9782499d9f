"""Turns valid vectors into ONNX node tests: a model of one node, and its inputs and output as protocol buffers.

The ONNX operator is the one of the array function's name, its attributes are the function's parameters of the same
name; what ONNX has no type for is left out. Needs the onnx package.
"""

import numpy as np

from .._generated.tables import OPERATORS
from ..errors import DmlcoreError
from .cases import Valid
from .natural import arguments, meaning, members, natural_sizes

__all__ = ["OnnxMissing", "node_test", "onnx_operator", "read_tensor"]

OPSET, IR_VERSION = 18, 8
OTHER_NAMES = {"nonzero_coordinates": "NonZero"}  # array function -> ONNX operator, where the names differ


class OnnxMissing(DmlcoreError, ImportError):
    """The onnx package is not installed."""


def _onnx():
    try:
        import onnx
    except ImportError:
        raise OnnxMissing("ONNX node tests need the onnx package: pip install 'dmlcore[onnx]'") from None
    return onnx


def onnx_operator(operator: str):
    """The schema of the ONNX operator that an operator maps to; None when there is none."""
    onnx = _onnx()
    function = OPERATORS[operator].function
    wanted = OTHER_NAMES.get(function, function.replace("_", "")).lower()
    for schema in onnx.defs.get_all_schemas():
        if schema.domain == "" and schema.name.lower() == wanted:
            return onnx.defs.get_schema(schema.name, OPSET)
    return None


def node_test(case: Valid) -> dict[str, bytes] | None:
    """File name -> contents of a node test; None when ONNX has no such operator or takes other types."""
    onnx = _onnx()
    schema = onnx_operator(case.desc.operator)
    if schema is None:
        return None
    sizes = natural_sizes(case.desc)
    inputs = [case.inputs[name].reshape(sizes[name]) for name in members(case.desc, "input")]
    result = np.array(meaning(case.desc, case.inputs), order="C")
    if case.rows:  # coordinates: ONNX has a row for each dimension
        result = np.array(result.T, np.int64, order="C")
    parameters = list(members(case.desc, "input"))
    names = [OPERATORS[case.desc.operator].parameters[name] for name in parameters]
    for array, formal in zip(inputs, schema.inputs, strict=False):
        if f"tensor({array.dtype.name.replace('float32', 'float').replace('float64', 'double')})" not in formal.types:
            return None
    options = arguments(case.desc)
    attributes = {name: value for name, value in options.items() if name in schema.attributes}
    if any(value and name not in schema.attributes for name, value in options.items()):
        return None
    helper, arrays = onnx.helper, onnx.numpy_helper
    value_info = [_value_info(helper, n, a) for n, a in zip(names, inputs, strict=True)]
    node = helper.make_node(schema.name, names, ["output"], **attributes)
    graph = helper.make_graph([node], case.id, value_info, [_value_info(helper, "output", result)])
    model = helper.make_model(
        graph, producer_name="dmlcore", opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION
    )
    files = {"model.onnx": model.SerializeToString(deterministic=True)}
    for i, (name, array) in enumerate(zip(names, inputs, strict=True)):
        files[f"test_data_set_0/input_{i}.pb"] = arrays.from_array(array, name).SerializeToString(deterministic=True)
    files["test_data_set_0/output_0.pb"] = arrays.from_array(result, "output").SerializeToString(deterministic=True)
    return files


def _value_info(helper, name: str, array: np.ndarray):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def read_tensor(data: bytes) -> np.ndarray:
    """The array in a protocol buffer of a node test."""
    onnx = _onnx()
    return onnx.numpy_helper.to_array(onnx.TensorProto.FromString(data))


def run_model(data: bytes, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """What dmlcore makes of a node test's model."""
    from ..onnx import Backend

    model = _onnx().ModelProto.FromString(data)
    return [np.asarray(array) for array in Backend.run_model(model, inputs)]
