"""Descriptors as Python objects: equality, hashing, pickling, dictionaries, sizes in bytes, and arguments that cannot
be.

Whether a descriptor is valid is a question for other tests; an invalid one is an object like any other.
"""

import copy
import json
import pickle

import numpy as np
import pytest
from specs import EXAMPLES, NEWEST, OPERATORS, SPEC, example_id, numpy_type, product_desc, without_outputs

import dmlcore
from dmlcore import TensorDesc

examples = pytest.mark.parametrize("pair", EXAMPLES, ids=example_id)
operators = pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
TENSOR = TensorDesc("FLOAT32", (2, 3), (6, 2), 64, 16)


@examples
def test_operator_descs_as_values(pair):
    op, example = pair
    desc = product_desc(op, example.desc)
    for same in (product_desc(op, example.desc), pickle.loads(pickle.dumps(desc)), copy.deepcopy(desc)):
        assert same == desc and hash(same) == hash(desc) and repr(same) == repr(desc) and type(same) is type(desc)
    assert type(desc).from_dict(json.loads(json.dumps(desc.to_dict()))) == desc
    assert set(desc.to_dict()) == {m.name for m in op.members}
    other = product_desc(op, without_outputs(op, example.desc))
    assert other != desc and len({desc, other}) == 2
    assert type(other).from_dict(other.to_dict()) == other
    for name in ("input", "operator", "anything"):
        with pytest.raises(AttributeError):
            setattr(desc, name, 1)


@operators
def test_wrong_members(op):
    desc = product_desc(op, op.examples[0].desc)
    good = desc.to_dict()
    cls = type(desc)
    with pytest.raises(ValueError, match="NoSuchTensor"):
        cls.from_dict(good | {"NoSuchTensor": {}})
    for m in op.inputs:
        with pytest.raises(ValueError, match=m.name):
            cls.from_dict({name: value for name, value in good.items() if name != m.name})
        with pytest.raises(ValueError, match="Colour"):
            cls.from_dict(good | {m.name: good[m.name] | {"Colour": 1}})
        with pytest.raises(TypeError, match=m.name):
            cls(**{k: getattr(desc, k) for _, k, _ in cls.MEMBERS} | {m.python: (2, 3)})
    for m in op.uints:
        for wrong, error in ((-1, ValueError), (2**32, ValueError), ("1", TypeError), (1.5, TypeError)):
            with pytest.raises(error, match=m.name):
                cls(**{k: getattr(desc, k) for _, k, _ in cls.MEMBERS} | {m.python: wrong})
    with pytest.raises(TypeError):
        cls.from_dict([1])
    with pytest.raises(TypeError):
        cls(nothing=1)


def test_what_is_no_descriptor():
    for function in (dmlcore.check, dmlcore.minimum_feature_level, dmlcore.compile):
        with pytest.raises(TypeError, match="int"):
            function(3)


@operators
def test_feature_levels_by_every_name(op):
    desc = product_desc(op, op.examples[0].desc)
    for level in SPEC.levels:
        wanted = dmlcore.check(desc, level.name)
        for name in (level.number, level.python_name, level.dml_name, level.value, dmlcore.FeatureLevel(level.value)):
            assert dmlcore.check(desc, name) == wanted
    assert dmlcore.check(desc) == dmlcore.check(desc, NEWEST.name)
    for wrong in ("2.7", "FL", 0x1234, "", 3.0, b"3.0"):
        with pytest.raises(ValueError, match="expected one of"):
            dmlcore.check(desc, wrong)


# ---- tensors ------------------------------------------------------------------------------------------------------


def test_tensor_as_value():
    for same in (TensorDesc("FLOAT32", [2, 3], [6, 2], 64, 16), pickle.loads(pickle.dumps(TENSOR)), copy.copy(TENSOR)):
        assert same == TENSOR and hash(same) == hash(TENSOR)
    assert TensorDesc.from_dict(json.loads(json.dumps(TENSOR.to_dict()))) == TENSOR
    for other in (("FLOAT16", (2, 3)), ("FLOAT32", (3, 2)), ("FLOAT32", (2, 3), (3, 1))):
        assert TensorDesc(*other) != TENSOR
    assert eval(repr(TENSOR), {"TensorDesc": TensorDesc}) == TENSOR
    assert TENSOR != 3 and TENSOR != (2, 3)
    with pytest.raises(AttributeError):
        TENSOR.sizes = (1,)
    with pytest.raises(AttributeError):
        del TENSOR.sizes


@pytest.mark.parametrize("data_type", [t for t in SPEC.data_types.values() if t.bits], ids=lambda t: t.name)
def test_total_size(data_type):
    """The bytes up to the last element, rounded up to four; 64 bits, without wrapping."""
    for sizes, strides in (
        ((3,), None),
        ((5, 7), None),
        ((5, 7), (1, 5)),
        ((5, 7), (0, 0)),
        ((2, 3, 4), (100, 0, 7)),
        ((1,), (9,)),
    ):
        packed = int(np.prod(sizes)) if strides is None else 1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
        wanted = -(-packed * data_type.bits // 32) * 4
        assert TensorDesc(data_type.name, sizes, strides).total_tensor_size_in_bytes == wanted
    huge = TensorDesc(data_type.name, (2**32 - 1, 2**20))
    assert huge.total_tensor_size_in_bytes == -(-(2**32 - 1) * 2**20 * data_type.bits // 32) * 4
    assert TensorDesc(data_type.name, (2**63, 2**63)).total_tensor_size_in_bytes == 2**64 - 1
    if numpy_type(data_type.name) is not None:
        dtype = numpy_type(data_type.name)
        assert TensorDesc(dtype, (2,)).data_type == TensorDesc(data_type.value, (2,)).data_type == data_type.name
        assert TensorDesc(data_type.name, (2,)).dtype == dtype


def test_from_array():
    a = np.zeros((4, 6), np.int16)
    assert TensorDesc.from_array(a) == TensorDesc("INT16", (4, 6))
    assert TensorDesc.from_array(a[::2, ::3], strided=True) == TensorDesc("INT16", (2, 2), (12, 3))
    assert TensorDesc.from_array(np.broadcast_to(a[0], (3, 6)), strided=True).strides == (0, 1)
    with pytest.raises(ValueError, match="strides"):
        TensorDesc.from_array(a[::-1], strided=True)
    for wrong in (np.zeros(2, "U3"), np.zeros(2, complex)):
        with pytest.raises(ValueError, match="data_type"):
            TensorDesc.from_array(wrong)


@pytest.mark.parametrize(
    ("arguments", "error", "word"),
    [
        (("FLOAT31", (2,)), ValueError, "FLOAT32"),
        ((99, (2,)), ValueError, "FLOAT32"),
        (("FLOAT32", 3), TypeError, "sizes"),
        (("FLOAT32", (2.5,)), TypeError, "sizes"),
        (("FLOAT32", (2,), ("a",)), TypeError, "strides"),
        (("FLOAT32", (2,), None, -1), ValueError, "total_tensor_size_in_bytes"),
        (("FLOAT32", (2,), None, 2**64), ValueError, "total_tensor_size_in_bytes"),
        (("FLOAT32", (2,), None, None, 2**32), ValueError, "guaranteed_base_offset_alignment"),
    ],
)
def test_wrong_tensor_arguments(arguments, error, word):
    with pytest.raises(error, match=word):
        TensorDesc(*arguments)


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_infer_fills_in_what_was_left_out(op):
    """The outputs of an example, taken away, come back with the sizes and the type of the specification's own rules."""
    for example in op.examples:
        left_out = product_desc(op, without_outputs(op, example.desc))
        full = left_out.infer()
        for member in op.outputs:
            keyword = next(k for name, k, _ in left_out.MEMBERS if name == member.name)
            expected = op.infer(without_outputs(op, example.desc))[member.name]
            assert getattr(left_out, keyword) is None
            assert getattr(full, keyword) == TensorDesc(expected.data_type, expected.sizes)
        assert dmlcore.check(full) == [] and full.infer() == full
