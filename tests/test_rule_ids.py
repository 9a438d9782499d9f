"""Rule ids are permanent: unique, well formed, and none ever published disappears without a changelog entry."""

import re
from pathlib import Path

import pytest
from specs import OPERATORS, SPEC

from dmlcore._generated import tables

PUBLISHED = Path(__file__).parent / "data" / "rule_ids.txt"


def all_ids() -> list[str]:
    """What the compiled checks can report, from the run-time tables."""
    ids = [check.id for op in tables.OPERATORS.values() for check in op.checks if check.kind != "tensor"]
    return ids + list(tables.TENSOR_RULES)


def test_unique():
    assert len(all_ids()) == len(set(all_ids()))


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_complete(op):
    """The run-time tables have the implied rules and the constraints, in the order of the specification."""
    checks = tables.OPERATORS[op.name].checks
    ids = [check.id for check in checks if check.kind != "tensor"]
    wanted = [f"{op.name}-FeatureLevel-support"]
    wanted += [f"{op.name}-{m.name}-{what}-support" for m in op.tensors for what in ("DataType", "DimensionCount")]
    wanted += [constraint.id for constraint in op.constraints]
    for m in op.tensors:
        wanted += [f"{op.name}-{m.name}-DataType"] * (m.data_type is not None)
        wanted += [f"{op.name}-{m.name}-Sizes"] * (m.sizes is not None)
    assert ids == wanted
    for m in op.tensors:
        tensor = [check.id for check in checks if check.kind == "tensor" and check.member == m.name]
        assert tensor == [rule.id for rule in SPEC.tensor.rules]


def test_form():
    names = {op.name for op in OPERATORS} | {"TENSOR"}
    for id in all_ids():
        assert re.fullmatch(r"[A-Z0-9_]+(-[A-Za-z0-9]+)+", id) and id.split("-")[0] in names, id


def test_published_ids_stay():
    """The file lists what releases had; an operator that is newer adds its ids when it is released."""
    published = PUBLISHED.read_text().split()
    missing = set(published) - set(all_ids())
    assert published and not missing, f"renamed or removed: {sorted(missing)}"


@pytest.mark.parametrize("constraint", [c for op in OPERATORS for c in op.constraints], ids=lambda c: c.id)
def test_every_rule_has_a_sentence(constraint):
    assert constraint.text.endswith(".") and constraint.rule.strip()
