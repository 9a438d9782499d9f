"""The specification as the tests see it, and the way from its descriptors to the product's.

Everything that is parametrised comes from here: a new operator, level or data type is covered once its YAML exists.
"""

import contextlib
import re
from pathlib import Path

import numpy as np

import dmlcore
from codegen import load
from codegen.validate import TensorValue

with contextlib.suppress(ImportError):
    import ml_dtypes  # noqa: F401  where it is installed, its types are tested too

ROOT = Path(__file__).resolve().parents[1]
SPEC = load.load(ROOT)
OPERATORS = SPEC.operators
NEWEST = SPEC.newest
TYPES = {**SPEC.data_types, **SPEC.extensions}
DESC_CLASSES = {cls.operator: cls for cls in dmlcore.OperatorDesc.__subclasses__()}


def numpy_type(data_type: str) -> np.dtype | None:
    """The dtype of a data type; None where NumPy, or a package that is not installed, has it."""
    try:
        return np.dtype(TYPES[data_type].numpy) if TYPES[data_type].numpy else None
    except TypeError:
        return None


DATA_TYPE_OF = {numpy_type(name): name for name in TYPES if numpy_type(name) is not None}


def example_id(pair) -> str:
    """The test id of (operator, example or constraint)."""
    return f"{pair[0].name}-{getattr(pair[1], 'short_id', pair[1].id)}"


EXAMPLES = [(op, example) for op in OPERATORS for example in op.examples]
CONSTRAINTS = [(op, constraint) for op in OPERATORS for constraint in op.constraints]


def tensor_desc(value: TensorValue) -> dmlcore.TensorDesc:
    """A tensor of the specification as the product's TensorDesc."""
    return dmlcore.TensorDesc(
        value.data_type,
        value.sizes,
        value.strides,
        value.total_tensor_size_in_bytes,
        value.guaranteed_base_offset_alignment,
    )


def product_desc(op, desc: dict) -> dmlcore.OperatorDesc:
    """A desc by DirectML's names as the product's descriptor; what is None is left out."""
    cls, values = DESC_CLASSES[op.name], {}
    for name, keyword, _ in cls.MEMBERS:
        value = desc.get(name)
        if value is not None:
            values[keyword] = value if isinstance(value, int) else tensor_desc(value)
    return cls(**values)


def without_outputs(op, desc: dict) -> dict:
    """The desc with its outputs left to inference."""
    return {name: value for name, value in desc.items() if op.member(name).kind != "output"}


def rules(violations) -> list[str]:
    """The ids of the product's violations."""
    return [violation.rule for violation in violations]


def example_array(tensor) -> tuple[np.ndarray, np.ndarray]:
    """(values, which of them are defined) of a tensor in an example."""

    def fill(data, undefined):
        if isinstance(data, list):
            return [fill(item, undefined) for item in data]
        return undefined(data)

    values = np.array(fill(tensor.data, lambda x: 0 if x is None else x), numpy_type(tensor.data_type))
    defined = np.array(fill(tensor.data, lambda x: x is not None), bool)
    return values.reshape(tensor.sizes), defined.reshape(tensor.sizes)


def accepted(function, option: str) -> list:
    """The values that an array function accepts for an option, as its error message lists them."""
    arrays = [np.zeros((1, 1), np.float32), np.zeros((1, 1), np.int64), np.zeros((1, 1), np.float32)]
    try:
        function(*arrays[: count_inputs(function)], **{option: "no such value"})
    except ValueError as error:
        return re.findall(r"'([a-z]+)'", str(error).split("expected", 1)[1])
    except TypeError:
        return []  # no such option
    raise AssertionError(f"{function} accepts any {option}")


def count_inputs(function) -> int:
    """How many arrays an array function takes."""
    op = next(op for op in OPERATORS if getattr(dmlcore, op.python.function) is function)
    return len(op.inputs)


MODES = {op.name: accepted(getattr(dmlcore, op.python.function), "mode") or ["raise"] for op in OPERATORS}
REDUCTIONS = {op.name: accepted(getattr(dmlcore, op.python.function), "reduction") or ["none"] for op in OPERATORS}
