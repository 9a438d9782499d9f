"""Turns the model into what command line and test vectors need at run time: examples, broken descriptors, the way from
a descriptor to natural arrays and back. Messages do without all this, so it is a generated module of its own.
"""

import math
from collections.abc import Mapping

from . import names, spell
from .model import Example, ExampleTensor, Operator, Spec
from .rules import Field
from .verify import broken_desc

TENSOR_KEYS = {
    "data_type": "DataType",
    "sizes": "Sizes",
    "strides": "Strides",
    "total_tensor_size_in_bytes": "TotalTensorSizeInBytes",
    "guaranteed_base_offset_alignment": "GuaranteedBaseOffsetAlignment",
}


def context(spec: Spec) -> dict:
    """What tools.py.j2 sees."""
    return {
        "tensor_base": tensor_members(spec.tensor.base),
        "tensor_broken": [(r.id, tensor_members(r.broken_by)) for r in spec.tensor.rules],
        "operators": [_operator(op) for op in spec.operators],
    }


def tensor_members(values: Mapping) -> dict:
    """Keyword arguments of a tensor by DirectML's names."""
    return {TENSOR_KEYS[key]: list(v) if isinstance(v, tuple) else v for key, v in values.items()}


def desc_members(desc: Mapping) -> dict:
    """A descriptor as plain dictionaries in DirectML's names; what is left open is left out."""
    members = {}
    for name, value in desc.items():
        if isinstance(value, int):
            members[name] = value
        elif value is not None:
            members[name] = {"DataType": value.data_type, "Sizes": list(value.sizes)}
            if value.strides is not None:
                members[name]["Strides"] = list(value.strides)
    return members


def _operator(op: Operator) -> dict:
    """One entry: plain values, and rules spelled as Python."""
    python = op.python
    fields = op.kernel.fields
    bounds = fields["bounds"].expr if "bounds" in fields else None
    naturals = {u.name: python.members.get(u.name) or u.default for u in op.uints}
    counted = {
        rule.tensor: uint
        for uint, rule in naturals.items()
        if isinstance(rule, Field) and rule.field == "DimensionCount"
    }
    return {
        "name": op.name,
        "aliases": op.aliases,
        "struct": op.struct,
        "description": op.description.strip(),
        "pseudocode": op.pseudocode.strip(),
        "index": next((m.name for m in op.tensors if m.index), None),
        "tuples": "coordinate_stride" in fields,
        "source": op.kernel.source,
        "returns": python.returns or op.outputs[0].name,
        "rows": python.rows,
        "options": python.options,
        "option_of": dict(python.parameters),
        "counted": counted,
        "oracle": names.operator_snake(op.name),
        "ranks": [(name, spell.python(rule)) for name, rule in python.ranks.items()],
        "naturals": [(name, spell.python(rule)) for name, rule in naturals.items() if rule is not None],
        "dimension_count": python.dimension_count and spell.python(python.dimension_count),
        "bounds": bounds and spell.python(bounds),
        "examples": [_example(e) for e in op.examples],
        "broken": [_broken(op, c) for c in op.constraints if c.doors != "array"],
        "behaviour": dict(op.behaviour),
    }


def _example(e: Example) -> tuple:
    data = {n: _plain(v.data) for n, v in e.desc.items() if isinstance(v, ExampleTensor) and v.data is not None}
    return e.id, e.from_.position, e.text, desc_members(e.desc), data


def _plain(data):
    """Values that Python can write down: inf and nan as strings."""
    if isinstance(data, list):
        return [_plain(item) for item in data]
    return str(data) if isinstance(data, float) and not math.isfinite(data) else data


def _broken(op: Operator, constraint) -> tuple:
    desc, level = broken_desc(op, constraint)
    first = constraint.from_.position if constraint.from_ else 0
    last = constraint.before.position if constraint.before else len(op.levels)
    return constraint.id, level.position, first, last, desc_members(desc)
