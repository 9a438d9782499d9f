"""Turns the numbers of failed checks into Violations with words. Imported only when there is something to explain.

The facts (ids, texts, tables, the comparisons of each rule) are rendered from the specifications into `_generated/tables.py`.
"""

import operator

from . import lists
from ._generated import tables
from .errors import Violation


def explain(name: str, checks, tensors: dict, uints: dict, level: int | None, given: set) -> list[Violation]:
    """All violations in the order of the specification.

    `tensors` maps members to TensorFacts, `uints` to integers; `level` is a position in the list of levels, None for the
    array functions. What an inferred output itself looks like is reported only when nothing else is: it follows from the
    rest. A rule of the operator is never held back.
    """
    spec = tables.OPERATORS[name]

    def follows(check) -> bool:
        return check.kind != "constraint" and check.member not in given and spec.is_output(check.member)

    blamed = [number for number in checks if not follows(spec.checks[number])]
    return [_explain(spec, number, tensors, uints, level) for number in blamed or checks]


def _explain(spec, number: int, tensors, uints, level) -> Violation:
    check = spec.checks[number]
    what, expected, lowest, found = _WORDS[check.kind](spec, check, tensors, uints, level)
    if check.member not in what and check.member in tensors:
        what = f"{_name(spec, check.member, level)}: {what}"
    lines = [f"{check.id}: {what}"]
    if lowest is not None and level is not None and lowest.position > level:
        lines.append(f"  Supported from {lowest.dml_name}{': ' + lowest.note if lowest.note else ''}.")
    text = tables.text_of(spec, check)
    if text:
        lines.append(f"  {text}")
    return Violation(
        rule=check.id,
        operator=spec.name,
        member=check.member,
        found=found,
        expected=expected,
        feature_level=tables.LEVELS[-1 if level is None else level].dml_name,
        minimum_feature_level=None if lowest is None else lowest.dml_name,
        anchor=f"{'tensor' if check.kind == 'tensor' else spec.page}.md#{check.id}",
        message="\n".join(lines),
    )


class _Lowest:
    """The lowest level that accepts a value, with what it accepts."""

    def __init__(self, position: int, note: str = ""):
        self.position, self.note = position, note
        self.dml_name = tables.LEVELS[position].dml_name


def _name(spec, member: str, level) -> str:
    """The member, with its parameter's name in front where an array function was called."""
    parameter = spec.parameters.get(member)
    return f"{parameter} ({member})" if level is None and parameter else member


def _type_name(fact) -> str:
    name = tables.DATA_TYPES.get(fact.DataType, "UNKNOWN")
    if fact.dtype is not None and name == "UNKNOWN":
        return str(fact.dtype)
    return name


def _level(spec, check, tensors, uints, level):
    lowest = _Lowest(spec.introduced)
    at = tables.LEVELS[level].dml_name
    return f"{spec.name} does not exist at {at}.", f"{lowest.dml_name} or higher", lowest, at


def _data_type_support(spec, check, tensors, uints, level):
    fact = tensors[check.member]
    found, cells = _type_name(fact), spec.support[check.member]
    if level is None:
        types = ", ".join(spec.array_types[check.member])
        return f"{_name(spec, check.member, level)} has data type {found}, supported are {types}.", types, None, found
    types = ", ".join(cells[level][0]) if level in cells else "none"
    lowest = next((_Lowest(p, ", ".join(c[0])) for p, c in cells.items() if found in c[0]), None)
    what = f"{check.member}.DataType is {found}, which {tables.LEVELS[level].dml_name} does not support ({types})."
    return what, types, lowest, found


def _dimensions_support(spec, check, tensors, uints, level):
    fact, cells = tensors[check.member], spec.support[check.member]
    found = fact.DimensionCount

    def words(cell):
        return f"{cell[1]}" if cell[1] == cell[2] else f"{cell[1]} to {cell[2]}"

    expected = words(cells[level]) if level in cells else "none"
    lowest = next((_Lowest(p, words(c)) for p, c in cells.items() if c[1] <= found <= c[2]), None)
    at = tables.LEVELS[level].dml_name
    return f"{check.member}.DimensionCount is {found}, which {at} does not support ({expected}).", expected, lowest, found


def _tensor(spec, check, tensors, uints, level):
    rule = tables.TENSOR_RULES[check.id]
    found = _type_name(tensors[check.member]) if rule.field == "DataType" else getattr(tensors[check.member], rule.field)
    lowest = None
    if rule.id == "TENSOR-DimensionCount-range" and 1 <= found <= 8:
        lowest = _Lowest(tables.EIGHT_DIMENSIONS_LEVEL)
    expected = rule.expected(tensors[check.member], level)
    return f"{check.member}.{rule.field} is {_show(found)}, expected {expected}.", expected, lowest, found


def _rule(spec, check, tensors, uints, level):
    """A constraint, or the size or type rule of an output: the first comparison in it that does not hold."""
    comparisons = check.facts(tensors, spec.names(tensors, uints))
    lowest = None
    if check.before is not None:
        lowest = _Lowest(check.before)
    for ops, operands in comparisons:
        if not all(_holds(a, op, b) for (_, a), op, (_, b) in zip(operands, ops, operands[1:], strict=False)):
            what, expected = _comparison(spec, check, tensors, uints, ops, operands, level)
            return what, expected, lowest, _found(check, tensors, uints, operands)
    raise AssertionError(f"{check.id} holds after all")  # the compiled check and its Python spelling disagree


_COMPARE = {"==": operator.eq, "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}


def _holds(a, op: str, b) -> bool:
    if op == "within":
        return lists.within(a, b)
    return _COMPARE[op](a, b)


def _subject(operands) -> int:
    """Which operand a comparison is about: the middle of a range, else the first."""
    return 1 if len(operands) == 3 and operands[0][0].isdigit() else 0


def _found(check, tensors, uints, operands):
    if len(operands) > 2 and not operands[0][0].isdigit():
        return tuple(_value(value, text, tensors, check.member) for text, value in operands)
    text, value = operands[_subject(operands)]
    value = uints.given.get(text, value)
    return _value(value, text, tensors, check.member)


def _value(value, text: str, tensors, member: str):
    """A value as the caller sees it: data types by name, sizes without the ones that padding put in front."""
    if text.endswith(".DataType"):
        return _type_name(tensors[text.split(".")[0]])
    if isinstance(value, tuple):
        hidden = tensors[member].hidden if member in tensors else 0
        return value[hidden:] if hidden and text.startswith((f"{member}.", "right_align(")) else value
    return value


def _comparison(spec, check, tensors, uints, ops, operands, level):
    """The sentence and the expectation."""
    if len(operands) > 2 and not operands[0][0].isdigit():  # a == b == c
        named = ((_operand(spec, text, level), _value(v, text, tensors, check.member)) for text, v in operands)
        values = ", ".join(f"{text} is {_show(value)}" for text, value in named)
        return f"{values}; they must be equal.", "equal values"
    subject = _subject(operands)
    text, value = operands[subject]
    value = uints.given.get(text, value)
    shown = _show(_value(value, text, tensors, check.member))
    words = []
    for i, (other, limit) in enumerate(operands):
        if i == subject:
            continue
        sign = ops[i] if i < subject else ops[i - 1]
        if i < subject:
            sign = {"<=": ">=", "<": ">", ">=": "<=", ">": "<"}.get(sign, sign)
        limit = _show(_value(limit, other, tensors, check.member))
        sign = {"==": "", "within": "at most "}.get(sign, sign + " ")
        if isinstance(value, int) and value < 0 and sign == "< ":
            words.append(">= 0")
        words.append(f"{sign}{limit}" + (f" ({_operand(spec, other, level)})" if other != limit else ""))
    expected = " and ".join(words)
    if level is None and text in spec.axes:
        tensor = tensors[spec.axes[text]]
        rank = tensor.DimensionCount - tensor.hidden
        expected = f"{-rank} to {rank - 1}" if rank else f"a dimension, but {_name(spec, spec.axes[text], level)} has none"
    return f"{_operand(spec, text, level)} is {shown}, expected {expected}.", expected


def _operand(spec, text: str, level) -> str:
    """A member or a field of it, with the parameter's name where an array function was called."""
    member, dot, field = text.partition(".")
    return f"{_name(spec, member, level)}{dot}{field}"


def _show(value) -> str:
    if isinstance(value, tuple):
        return "{" + ", ".join(map(str, value)) + "}"
    return str(value)


_WORDS = {
    "level": _level,
    "tensor": _tensor,
    "data-type-support": _data_type_support,
    "dimensions-support": _dimensions_support,
    "constraint": _rule,
    "data-type": _rule,
    "sizes": _rule,
}
