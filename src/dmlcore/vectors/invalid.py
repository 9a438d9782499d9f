"""Descriptors that break a chosen rule, if possible that one alone: for every rule of an operator at a level.

The changes come from the specification (`broken_by`) or are small changes to valid descriptors; the validator says what
each of them breaks, and the one that breaks least is kept.
"""

from collections.abc import Iterator

from .._generated.enums import DATA_TYPES
from .._generated.operators import CHECK
from .._generated.tables import OPERATORS, Check
from .._generated.tools import TENSOR_BASE, TENSOR_BROKEN, TOOLS
from ..descs import OperatorDesc, TensorDesc
from ..graph import desc_class
from ..validation import check
from .draw import Draw
from .natural import complete
from .shapes import combinations, random_desc

__all__ = ["breaking", "wanted_rules"]

TRIES = 300  # valid descriptors to change
PATIENCE = 80  # changed descriptors without progress, once there is one that breaks the rule


def wanted_rules(operator: str, level) -> list[Check]:
    """The rules that a descriptor can break at a level; below the operator's first level that is a single one."""
    table = OPERATORS[operator]
    position = list(type(level)).index(level)
    if position < table.introduced:
        return [c for c in table.checks if c.kind == "level"]
    known = {b.rule for b in TOOLS[operator].broken if b.first <= position < b.last}
    return [c for c in table.checks if c.kind != "level" and (c.kind != "constraint" or c.id in known)]


def breaking(draw: Draw, operator: str, level, rule: Check) -> tuple[OperatorDesc, list] | None:
    """(descriptor, its violations): one that breaks the rule, as few others as possible; None when none was found."""
    best, since, position = None, 0, list(type(level)).index(level)
    checks = OPERATORS[operator].checks
    for desc in _candidates(draw, operator, level, rule):
        since += 1
        if best is not None and since > PATIENCE:
            break
        for whole in _wholes(desc):
            broken = [checks[number] for number in CHECK[operator](whole, position)[0]]
            if rule not in broken:
                continue
            if best is None or len(broken) < best[1]:
                best, since = (whole, len(broken)), 0
        if best is not None and best[1] == 1:
            break
    return best and (best[0], check(best[0], level))


def _wholes(desc: OperatorDesc) -> Iterator[OperatorDesc]:
    """With the outputs that it has, and with all outputs inferred anew."""
    yield complete(desc)
    bare = {keyword: None if kind == "output" else getattr(desc, keyword) for _, keyword, kind in desc.MEMBERS}
    yield complete(type(desc)(**bare))


def _candidates(draw: Draw, operator: str, level, rule: Check) -> Iterator[OperatorDesc]:
    """Descriptors that may break the rule."""
    cls, levels = desc_class(operator), list(type(level))
    if rule.kind == "level":
        first = levels[OPERATORS[operator].introduced]
        yield random_desc(draw, operator, first, draw.pick(combinations(operator, first)))
        return
    for broken in TOOLS[operator].broken:
        if broken.rule == rule.id:
            yield cls.from_dict(broken.desc)
    change = _CHANGES[rule.kind]
    for _ in range(TRIES):
        desc = random_desc(draw, operator, level, draw.pick(combinations(operator, level)))
        yield from change(draw, desc, rule)


def _replaced(desc: OperatorDesc, changes: dict) -> OperatorDesc:
    values = {keyword: changes.get(name, getattr(desc, keyword)) for name, keyword, _ in desc.MEMBERS}
    return type(desc)(**values)


def _keyword(desc: OperatorDesc, member: str):
    return getattr(desc, next(keyword for name, keyword, _ in desc.MEMBERS if name == member))


def _tensors(desc: OperatorDesc) -> dict[str, TensorDesc]:
    return {name: getattr(desc, keyword) for name, keyword, kind in desc.MEMBERS if kind in ("input", "output")}


def _tensor_rule(draw: Draw, desc: OperatorDesc, rule: Check) -> Iterator[OperatorDesc]:
    """The tensor's own fields changed as the specification says, and the specification's tensor in its place."""
    old, broken = _keyword(desc, rule.member), TENSOR_BROKEN[rule.id]
    fields = {"DataType": old.data_type, "Sizes": old.sizes}
    if "TotalTensorSizeInBytes" in broken and old.minimum_size > 4:
        yield _replaced(
            desc, {rule.member: TensorDesc.from_dict({**fields, "TotalTensorSizeInBytes": old.minimum_size - 4})}
        )
    for base in (fields, {**TENSOR_BASE, "DataType": old.data_type}, TENSOR_BASE):
        yield _replaced(desc, {rule.member: TensorDesc.from_dict({**base, **broken})})
    sizes, strides = broken.get("Sizes"), broken.get("Strides")
    rank = len(old.sizes)
    if sizes and strides:  # the same numbers behind ones up to the rank that the level asks for
        ones = (1,) * max(rank - len(sizes), 0)
        yield _replaced(
            desc, {rule.member: TensorDesc(old.data_type, ones + tuple(sizes), (0,) * len(ones) + tuple(strides))}
        )
    elif sizes:
        padded = ((1,) * max(rank - len(sizes), 0) + tuple(sizes))[-max(rank, len(sizes)) :]
        yield _replaced(desc, {rule.member: TensorDesc(old.data_type, padded)})
    d = draw.below(rank)
    if rule.id == "TENSOR-Sizes-nonzero":
        yield _replaced(desc, {rule.member: TensorDesc(old.data_type, (*old.sizes[:d], 0, *old.sizes[d + 1 :]))})
    if strides and any(s >= 1 << 32 for s in strides) and old.sizes[d] == 1:
        far = tuple(max(strides) if i == d else 0 for i in range(rank))
        yield _replaced(desc, {rule.member: TensorDesc(old.data_type, old.sizes, far)})


def _types(draw: Draw, desc: OperatorDesc, rule: Check) -> Iterator[OperatorDesc]:
    """Another data type for the member, alone and together with the tensors that share it."""
    old = _keyword(desc, rule.member)
    for data_type in draw.shuffled(DATA_TYPES):
        changed = {n: t for n, t in _tensors(desc).items() if n == rule.member or t.data_type == old.data_type}
        yield _replaced(desc, {rule.member: TensorDesc(data_type, old.sizes)})
        yield _replaced(desc, {n: TensorDesc(data_type, t.sizes) for n, t in changed.items()})


def _ranks(draw: Draw, desc: OperatorDesc, rule: Check) -> Iterator[OperatorDesc]:
    """More ones in front, or fewer, of the member and of all tensors, axes moved along."""
    kinds = {name: kind for name, _, kind in desc.MEMBERS}
    for more in (-3, -2, -1, 1, 2, 3, 4):
        for names in ([rule.member], [n for n in _tensors(desc)]):
            changes = {}
            for name, value in ((n, _keyword(desc, n)) for n in names):
                ones = next((i for i, n in enumerate(value.sizes) if n != 1), len(value.sizes))
                if -more > ones:
                    break
                changes[name] = TensorDesc(
                    value.data_type, (1,) * more + value.sizes if more > 0 else value.sizes[-more:]
                )
            else:
                if len(names) > 1:
                    axes = {n: _keyword(desc, n) + more for n, kind in kinds.items() if kind == "axis"}
                    changes |= {n: a for n, a in axes.items() if a >= 0}
                yield _replaced(desc, changes)


def _sizes(draw: Draw, desc: OperatorDesc, rule: Check) -> Iterator[OperatorDesc]:
    """One size of the member changed."""
    old = _keyword(desc, rule.member)
    for d in draw.shuffled(range(len(old.sizes))):
        for size in (old.sizes[d] + 1, old.sizes[d] + 2):
            yield _replaced(desc, {rule.member: TensorDesc(old.data_type, (*old.sizes[:d], size, *old.sizes[d + 1 :]))})


def _anything(draw: Draw, desc: OperatorDesc, rule: Check) -> Iterator[OperatorDesc]:
    """One or two members changed: numbers, a size, the number of dimensions."""
    for count in (1, 1, 2):
        changes = {}
        for name, keyword, kind in draw.shuffled(desc.MEMBERS)[:count]:
            value = getattr(desc, keyword)
            if kind in ("axis", "uint"):
                changes[name] = draw.below(9)
            elif draw.chance(0.25):
                sizes = (1, *value.sizes) if draw.chance(0.5) or len(value.sizes) == 1 else value.sizes[1:]
                changes[name] = TensorDesc(value.data_type, sizes)
            else:
                d = draw.below(len(value.sizes))
                changes[name] = TensorDesc(
                    value.data_type, (*value.sizes[:d], draw.between(1, 5), *value.sizes[d + 1 :])
                )
        yield _replaced(desc, changes)


_CHANGES = {
    "tensor": _tensor_rule,
    "data-type-support": _types,
    "dimensions-support": _ranks,
    "data-type": _types,
    "sizes": _sizes,
    "constraint": _anything,
}
