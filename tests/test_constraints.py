"""Every rule of every operator, and of the buffer tensor, broken on its own: the change that the specification gives
for it makes exactly its id appear, at every level that has the rule, with a message that says what, where and what
would do.
"""

import json
import pickle

import pytest
from specs import CONSTRAINTS, OPERATORS, SPEC, example_id, product_desc, rules, tensor_desc, without_outputs

import dmlcore
from codegen.validate import TensorValue
from codegen.verify import broken_desc

DESCRIPTOR = [(op, c) for op, c in CONSTRAINTS if c.doors != "array"]


@pytest.mark.parametrize("pair", DESCRIPTOR, ids=example_id)
def test_breaks_exactly_its_rule(pair):
    op, constraint = pair
    desc, lowest = broken_desc(op, constraint)
    product = product_desc(op, desc)
    for level in op.levels[lowest.position :]:
        found = dmlcore.check(product, level.name)
        if constraint.active(level):
            assert rules(found) == [constraint.id], level.name
            tells_everything(found[0], op.name, constraint.member, level)
        else:
            assert constraint.id not in rules(found), level.name


@pytest.mark.parametrize("pair", DESCRIPTOR, ids=example_id)
def test_compile_refuses_it(pair):
    op, constraint = pair
    desc, level = broken_desc(op, constraint)
    with pytest.raises(dmlcore.ConstraintError) as caught:
        dmlcore.compile(product_desc(op, desc), level.name)
    error = caught.value
    assert (error.rule, error.operator, error.member) == (constraint.id, op.name, constraint.member)
    assert isinstance(error, (ValueError, dmlcore.DmlcoreError))
    assert [v.rule for v in error.violations] == [constraint.id]
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error) and again.as_dict() == error.as_dict()
    assert json.loads(json.dumps(error.as_dict()))["violations"][0]["rule"] == constraint.id


def tells_everything(violation, operator: str, member: str, level) -> None:
    """What a person and a program need to know of a violation."""
    assert (violation.operator, violation.member) == (operator, member)
    assert violation.feature_level == level.dml_name
    head = violation.message.splitlines()[0]
    assert head.startswith(f"{violation.rule}: ") and member in violation.message
    found = violation.found
    values = found if isinstance(found, (tuple, list)) else [found]
    assert all(str(value) in head for value in values), head
    assert (violation.expected and str(violation.expected) in violation.message) or "equal" in head, head
    assert violation.anchor.endswith(violation.rule)
    assert json.loads(json.dumps(violation.as_dict()))["rule"] == violation.rule
    assert pickle.loads(pickle.dumps(violation)) == violation and violation.rule in repr(violation)
    if violation.minimum_feature_level is not None:
        assert any(violation.minimum_feature_level == known.dml_name for known in SPEC.levels)


def as_value(base: dict) -> TensorValue:
    return TensorValue(
        base["data_type"],
        tuple(base["sizes"]),
        None if base.get("strides") is None else tuple(base["strides"]),
        base.get("total_tensor_size_in_bytes"),
        base.get("guaranteed_base_offset_alignment", 0),
    )


@pytest.mark.parametrize("rule", SPEC.tensor.rules, ids=lambda rule: rule.id)
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_tensor_rules(op, rule):
    """The changed tensor takes the place of each tensor of an example: the rule shows up, blamed on that member."""
    changed = as_value({**SPEC.tensor.base, **rule.broken_by})
    for m in op.tensors:
        desc = {**op.examples[0].desc, m.name: changed}
        for level in op.levels[op.introduced.position :]:
            if (rule.from_ and level.position < rule.from_.position) or (
                rule.before and level.position >= rule.before.position
            ):
                continue
            found = [v for v in dmlcore.check(product_desc(op, desc), level.name) if v.rule.startswith("TENSOR-")]
            named = [v for v in found if v.member == m.name]
            assert rule.id in rules(named), (m.name, level.name, rules(found))
            if level == SPEC.tensor.level:
                assert rules(named) == [rule.id]
            violation = next(v for v in named if v.rule == rule.id)
            tells_everything(violation, op.name, m.name, level)
            assert violation.anchor == f"tensor.md#{rule.id}"


def test_tensor_base_is_valid():
    base = as_value(SPEC.tensor.base)
    op = next(op for op in OPERATORS if base.data_type in op.support[op.inputs[0].name][SPEC.newest.name].data_types)
    desc = {**op.examples[0].desc, op.inputs[0].name: base}
    assert not [r for r in rules(dmlcore.check(product_desc(op, desc))) if r.startswith("TENSOR-")]
    assert tensor_desc(base).total_tensor_size_in_bytes == tensor_desc(base).minimum_size


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_all_are_reported_at_once(op):
    """A descriptor that is wrong everywhere gets all its violations, in the order of the specification, and one
    exception.
    """
    wrong = TensorValue("UNKNOWN", (0, 2**32))
    desc = {m.name: wrong if m.is_tensor else 2**32 - 1 for m in op.members}
    for level in op.levels:
        found = dmlcore.check(product_desc(op, desc), level.name)
        assert rules(found) == op.violations(desc, level)
        assert len(found) >= 3 * len(op.tensors)
    assert dmlcore.minimum_feature_level(product_desc(op, desc)) is None
    with pytest.raises(dmlcore.ConstraintError) as caught:
        dmlcore.compile(product_desc(op, desc))
    assert rules(caught.value.violations) == rules(found) and caught.value.rule == found[0].rule
    assert f"{len(found) - 1} more violations" in str(caught.value)


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_data_type_errors_are_type_errors(op):
    m = op.inputs[0]
    desc = without_outputs(op, op.examples[0].desc) | {m.name: TensorValue("INT4", op.examples[0].desc[m.name].sizes)}
    with pytest.raises(dmlcore.DataTypeConstraintError) as caught:
        dmlcore.compile(product_desc(op, desc))
    assert isinstance(caught.value, TypeError) and isinstance(caught.value, ValueError)
    assert caught.value.rule == f"{op.name}-{m.name}-DataType-support" and caught.value.found == "INT4"
    for data_type in op.support[m.name][SPEC.newest.name].data_types:
        assert data_type in str(caught.value)


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_the_level_that_would_accept_is_told(op):
    """Below the row that adds a data type, the violation names the level of that row; and that level accepts."""
    told = 0
    for m in op.inputs:
        for level in op.levels[op.introduced.position :]:
            cell = op.support[m.name][level.name]
            for later in op.levels[level.position + 1 :]:
                for data_type in set(op.support[m.name][later.name].data_types) - set(cell.data_types):
                    value = TensorValue(data_type, op.examples[0].desc[m.name].sizes)
                    desc = without_outputs(op, op.examples[0].desc) | {m.name: value}
                    rule = f"{op.name}-{m.name}-DataType-support"
                    found = next(v for v in dmlcore.check(product_desc(op, desc), level.name) if v.rule == rule)
                    minimum = next(known for known in op.levels if data_type in types_at(op, m, known))
                    assert found.minimum_feature_level == minimum.dml_name and minimum.dml_name in found.message
                    assert rule not in rules(dmlcore.check(product_desc(op, desc), minimum.name))
                    told += 1
    assert told or len({c.data_types for m in op.inputs for c in op.support[m.name].values()}) == len(op.inputs)


def types_at(op, member, level):
    cell = op.support[member.name].get(level.name)
    return cell.data_types if cell else ()
