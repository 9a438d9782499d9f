"""Turns the rules of an operator, written and implied, into the list of checks of its validator: each with its number, the
Cython that tells whether it fails, and the Python that tells a message why.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from . import names, spell
from .model import Operator, Spec
from .rules import Chain, Expr, Field, Logic


@dataclass(frozen=True)
class CheckView:
    number: int
    id: str
    member: str
    kind: str  # level | tensor | data-type-support | dimensions-support | constraint | data-type | sizes
    condition: str | None  # Cython: true when the check FAILS; None: the tensor rules, written in core/tensor.h
    tensor: str | None = None
    facts: str | None = None  # Python: the comparisons of the rule, for messages
    text: str | None = None
    before: int | None = None


def make_checks(op: Operator, spec: Spec, cython: spell.Cython) -> Iterable[CheckView]:
    """Every check in the order of the specification, numbered."""
    number = 0

    def check(id: str, member: str, kind: str, condition: str | None, **more) -> CheckView:
        nonlocal number
        number += 1
        return CheckView(number - 1, id, member, kind, condition, **more)

    yield check(f"{op.name}-FeatureLevel-support", "FeatureLevel", "level", f"level < {op.introduced.position}")
    for i, m in enumerate(op.tensors):
        tensor = f"c.{names.member_snake(m.name)}"
        cell = f"&{names.operator_snake(op.name)}_support[{i}][level]"
        for rule in spec.tensor.rules:
            yield check(rule.id, m.name, "tensor", None, tensor=names.member_snake(m.name))
        yield check(
            f"{op.name}-{m.name}-DataType-support",
            m.name,
            "data-type-support",
            f"level >= {op.introduced.position} and not dml_supports_type({cell}, {tensor}.data_type)",
        )
        yield check(
            f"{op.name}-{m.name}-DimensionCount-support",
            m.name,
            "dimensions-support",
            f"level >= {op.introduced.position} and not dml_supports_rank({cell}, {tensor}.rank)",
        )
    for c in op.constraints:
        when = []
        if c.doors != "both":
            when.append(f"level {'!=' if c.doors == 'descriptor' else '=='} DML_ARRAY_DOOR")
        if c.from_:
            when.append(f"level >= {c.from_.position}")
        if c.before:
            when.append(f"level < {c.before.position}")
        condition = " and ".join([*when, f"not ({cython(c.expr)})"])
        before = c.before.position if c.before else None
        yield check(c.id, c.member, "constraint", condition, facts=facts(c.expr), text=c.text, before=before)
    for m in op.tensors:
        tensor = f"c.{names.member_snake(m.name)}"
        given = f"not {tensor}.inferred and " if m.kind == "output" else ""
        for rule, what, kind in ((m.data_type, "DataType", "data-type"), (m.sizes, "Sizes", "sizes")):
            if rule is None:
                continue
            chain = Chain((Field(m.name, what), rule), ("==",))
            yield check(
                f"{op.name}-{m.name}-{what}", m.name, kind, f"{given}not ({cython(chain)})", facts=facts(chain)
            )


def facts(rule: Expr) -> str:
    """The comparisons of a rule as Python tuples (subject's text, subject, operators, operands' texts and values)."""
    chains: list[Chain] = []
    plain: list[Expr] = []

    def collect(expr: Expr) -> None:
        if isinstance(expr, Logic):
            # what precedes "or" only says when the rest applies
            for item in expr.items if expr.op == "and" else expr.items[-1:]:
                collect(item)
        elif isinstance(expr, Chain):
            chains.append(expr)
        else:
            plain.append(expr)

    collect(rule)
    rows = []
    for chain in chains:
        operands = ", ".join(f"({spell.text(o)!r}, {spell.python(o)})" for o in chain.operands)
        rows.append(f"({chain.ops!r}, ({operands}))")
    for call in plain:  # within(a, b), the one function that is a rule by itself
        operands = ", ".join(f"({spell.text(o)!r}, {spell.python(o)})" for o in call.args)
        rows.append(f"(('within',), ({operands}))")
    return "(" + ", ".join(rows) + ("," if len(rows) == 1 else "") + ")"
