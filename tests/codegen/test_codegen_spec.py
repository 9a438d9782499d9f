"""Holds the loaded specification against itself: tables, examples, every broken_by, and the NumPy functions."""

# ruff: noqa: E501
import itertools
from pathlib import Path

import numpy as np
import pytest

from codegen import names
from codegen.load import load
from codegen.model import ExampleTensor
from codegen.validate import TENSOR_RULES, TensorValue, tensor_violations
from codegen.verify import broken_desc

SPEC = load(Path(__file__).resolve().parents[2])
OPERATORS = pytest.mark.parametrize("operator", SPEC.operators, ids=lambda op: op.name)


def test_levels():
    assert [level.number for level in SPEC.levels] == [
        "1.0",
        "2.0",
        "2.1",
        "3.0",
        "3.1",
        "4.0",
        "4.1",
        "5.0",
        "5.1",
        "5.2",
        "6.0",
        "6.1",
        "6.2",
        "6.3",
        "6.4",
    ]
    assert SPEC.newest.value == 0x6400
    added = [name for level in SPEC.levels for name in level.operators]
    assert len(added) == len(set(added)) == 177


def test_data_types():
    assert [t.value for t in SPEC.data_types.values()] == list(range(14))
    for t in (*SPEC.data_types.values(), *SPEC.extensions.values()):
        if t.numpy and hasattr(np, t.numpy.rstrip("_")):  # the others come with ml_dtypes
            dtype = np.dtype(t.numpy)
            assert dtype.itemsize * 8 == t.bits and t.storage == f"u{t.bits}"
            zeros = (
                np.zeros(1, dtype).view(np.uint8),
                (-np.zeros(1, dtype)).view(np.uint8) if t.kind in ("float", "complex") else None,
            )
            for zero in zeros:
                assert zero is None or int.from_bytes(zero.tobytes(), "little") & t.zero_mask == 0
            assert (t.zero_mask == (1 << t.bits) - 1) == (t.kind not in ("float", "complex"))
    assert [t.name for t in SPEC.data_types.values() if t.index] == ["UINT32", "INT32", "UINT64", "INT64"]


@OPERATORS
def test_tables_are_resolved_for_every_level(operator):
    for tensor in operator.tensors:
        cells = operator.support[tensor.name]
        assert list(cells) == [level.name for level in SPEC.levels if level.position >= operator.introduced.position]
        assert cells[operator.introduced.name].changed
        for lower, higher in itertools.pairwise(cells.values()):
            assert set(lower.data_types) <= set(higher.data_types)
            assert higher.dims_min <= lower.dims_min and lower.dims_max <= higher.dims_max
            if not higher.changed:
                assert (lower.dims_min, lower.dims_max, lower.data_types) == (
                    higher.dims_min,
                    higher.dims_max,
                    higher.data_types,
                )


@OPERATORS
def test_examples_hold_from_their_level_on(operator):
    for example in operator.examples:
        for level in SPEC.levels:
            assert (operator.violations(example.desc, level) == []) == (level.position >= example.from_.position)


@OPERATORS
def test_outputs_are_inferred_as_the_examples_have_them(operator):
    for example in operator.examples:
        given = {m.name: example.desc[m.name] for m in operator.members if m.kind != "output"}
        full = operator.infer(given)
        assert operator.violations(given, example.from_) == []
        for m in operator.outputs:
            assert full[m.name].data_type == example.desc[m.name].data_type
            if m.sizes is not None:
                assert full[m.name].sizes == example.desc[m.name].sizes


@pytest.mark.parametrize("constraint", [c for op in SPEC.operators for c in op.constraints], ids=lambda c: c.id)
def test_broken_by_breaks_exactly_its_rule(constraint):
    operator = next(op for op in SPEC.operators if constraint in op.constraints)
    desc, level = broken_desc(operator, constraint)
    door = "array" if constraint.doors == "array" else "descriptor"
    assert operator.violations(desc, level, door) == [constraint.id]
    if constraint.before:
        assert constraint.id not in operator.violations(desc, constraint.before, door)


@OPERATORS
def test_implied_rules(operator):
    example = next(e for e in operator.examples if e.id == "example-1")
    for m in operator.tensors:
        tensor = example.desc[m.name]
        changed: dict = {**example.desc, m.name: TensorValue("UNKNOWN", tensor.sizes)}
        found = operator.violations(changed, example.from_)
        assert {"TENSOR-DataType-known", f"{operator.name}-{m.name}-DataType-support"} <= set(found)
        if m.data_type is not None:
            assert f"{operator.name}-{m.name}-DataType" in found
        changed[m.name] = TensorValue(tensor.data_type, (1,) * 8 + tensor.sizes)
        found = operator.violations(changed, example.from_)
        assert {"TENSOR-DimensionCount-range", f"{operator.name}-{m.name}-DimensionCount-support"} <= set(found)
        if m.sizes is not None:
            changed[m.name] = TensorValue(tensor.data_type, (9, *tensor.sizes[1:]))
            assert f"{operator.name}-{m.name}-Sizes" in operator.violations(changed, example.from_)


@OPERATORS
def test_ids_stand_in_the_order_of_the_specification(operator):
    example = operator.examples[0]
    wrong = {n: TensorValue("UNKNOWN", ()) if isinstance(v, ExampleTensor) else 99 for n, v in example.desc.items()}
    found = operator.violations(wrong, "FL1.0")
    assert (f"{operator.name}-FeatureLevel-support" == found[0]) == (operator.introduced.name != "FL1.0")
    ids = [c.id for c in operator.constraints]
    positions = [ids.index(id) for id in found if id in ids]
    assert positions == sorted(positions)


def test_a_left_out_output_is_reported_only_alone():
    operator = SPEC.operator("GATHER_ND")
    desc = {**operator.examples[0].desc, "OutputTensor": None}
    assert operator.violations(desc, "FL3.0") == []
    assert operator.violations({**desc, "InputTensor": TensorValue("FLOAT64", (2, 2))}, "FL3.0") == [
        "GATHER_ND-InputTensor-DataType-support"
    ]
    alone = {"InputTensor": TensorValue("FLOAT32", (1, 65536, 2)), "IndicesTensor": TensorValue("UINT32", (65536, 65536, 1), (0, 1, 1)),
             "OutputTensor": None, "InputDimensionCount": 2, "IndicesDimensionCount": 3}  # fmt: skip
    assert "TENSOR-ElementCount-limit" in operator.violations(alone, "FL3.0")


@pytest.mark.parametrize("rule", SPEC.tensor.rules, ids=lambda rule: rule.id)
def test_tensor_rules(rule):
    base = TensorValue(**SPEC.tensor.base)
    assert tensor_violations(base, SPEC.tensor.level, SPEC.levels, SPEC.data_types) == []
    broken = TensorValue(**{**SPEC.tensor.base, **rule.broken_by})
    assert tensor_violations(broken, SPEC.tensor.level, SPEC.levels, SPEC.data_types) == [rule.id]


def test_tensor_rules_by_level():
    def found(level, *args, **kwargs):
        return tensor_violations(TensorValue(*args, **kwargs), SPEC.level(level), SPEC.levels, SPEC.data_types)

    assert tuple(r.id for r in SPEC.tensor.rules) == TENSOR_RULES
    assert found("FL2.1", "FLOAT32", (1,) * 6) == ["TENSOR-DimensionCount-range"] and found("FL3.0", "FLOAT32", (1,) * 6) == []
    assert found("FL6.4", "UNKNOWN", (1,)) == ["TENSOR-DataType-known"] and found("FL2.1", "INT64", (1,)) == []
    assert found("FL3.0", "UINT8", (5,), total_tensor_size_in_bytes=7) == ["TENSOR-TotalTensorSizeInBytes-minimum"]
    assert found("FL3.0", "UINT8", (5,), total_tensor_size_in_bytes=8) == []
    assert found("FL6.3", "UINT4", (9,), total_tensor_size_in_bytes=4) == ["TENSOR-TotalTensorSizeInBytes-minimum"]
    assert found("FL6.3", "UINT4", (9,), total_tensor_size_in_bytes=8) == []
    assert found("FL3.0", "FLOAT32", (2, 3), (2**40, 2**40)) == ["TENSOR-Strides-range", "TENSOR-Extent-limit"]


def array(tensor, data_types=SPEC.data_types):
    return np.array(tensor.data, dtype=data_types[tensor.data_type].numpy)


def natural(operator, example):
    """The input arrays of an example, without the ones that pad them."""
    arrays = {m.name: array(example.desc[m.name]) for m in operator.inputs}
    for name, count in (("InputTensor", "InputDimensionCount"), ("IndicesTensor", "IndicesDimensionCount")):
        if count in example.desc:
            shape = arrays[name].shape
            arrays[name] = arrays[name].reshape(shape[len(shape) - example.desc[count] :])
    if "UpdatesTensor" in arrays and operator.python.dimension_count is not None:
        tuples, data = arrays["IndicesTensor"].shape, arrays["InputTensor"].shape
        arrays["UpdatesTensor"] = arrays["UpdatesTensor"].reshape(tuples[:-1] + data[tuples[-1] :])
    return list(arrays.values()) + [example.desc[m.name] for m in operator.uints if m.kind == "axis"]


def oracle(operator):
    values = {"np": np}
    exec(operator.numpy, values)  # our own specification, in a test
    return values[names.operator_snake(operator.name)]


@OPERATORS
def test_the_numpy_function_gives_what_the_examples_print(operator):
    for example in operator.examples:
        result = example.desc[operator.python.returns or operator.outputs[-1].name]
        if result.data is None:
            continue
        options = {option: example.desc[name] for name, option in operator.python.parameters.items()}
        actual = oracle(operator)(*natural(operator, example), **options)
        if operator.python.rows:
            expected = np.array(result.data, dtype=object).reshape(result.sizes[-2:])
            count = array(example.desc[operator.python.rows]).item()
            assert len(actual) == count
            assert actual[:, -result.sizes[-1] :].tolist() == expected[:count].tolist()
            assert all(x is None for x in expected[count:].ravel())
        else:
            assert actual.tolist() == array(result).reshape(actual.shape).tolist()


def test_numpy_functions_at_the_edges():
    gather_elements, scatter_nd, nonzero, gather_nd = (
        oracle(SPEC.operator(name)) for name in ("GATHER_ELEMENTS", "SCATTER_ND", "NONZERO_COORDINATES", "GATHER_ND")
    )
    x = np.arange(12).reshape(3, 4)
    assert gather_elements(x, np.array([[-1, 0]]), -1).tolist() == [[3, 0]]
    assert gather_elements(x, np.array([[2, 1], [0, 0]], np.uint64), 0).tolist() == [[8, 5], [0, 1]]
    assert gather_elements(np.zeros((0, 3)), np.zeros((0, 3), int)).shape == (0, 3)
    assert scatter_nd(np.zeros(3), np.array([[1], [-2], [1]]), np.array([1.0, 2.0, 3.0])).tolist() == [0, 3, 0]
    assert scatter_nd(x, np.array([[2]], np.uint32), np.zeros((1, 4), int))[2].tolist() == [0] * 4
    assert scatter_nd(x, np.array([2, 3]), np.array(7))[2, 3] == 7 and x[2, 3] == 11
    assert nonzero(np.array(5)).shape == (1, 0) and nonzero(np.array(0)).shape == (0, 0)
    assert nonzero(np.array([np.nan, -0.0, 5e-324])).tolist() == [[0], [2]] and nonzero(np.zeros((0, 2))).shape == (
        0,
        2,
    )
    assert gather_nd(x, np.array([1], np.uint64)).tolist() == [4, 5, 6, 7] and gather_nd(x, np.zeros((0, 2), int)).shape == (0,)
