"""Makes the vectors of one operator: valid descriptors with inputs and expected outputs, invalid ones with their rules.

Expected outputs come from the operator's meaning in NumPy and are compared with what dmlcore computes; a difference
is a bug and stops everything. The same seed gives the same vectors.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from .._generated.tools import TOOLS
from ..compiled import compile
from ..descs import OperatorDesc
from ..errors import DmlcoreError
from ..graph import desc_class, find_operator
from ..levels import FeatureLevel, feature_level
from ..validation import check, minimum_feature_level
from .draw import Draw
from .invalid import breaking, wanted_rules
from .natural import complete, expected, layout, members, strided
from .shapes import combinations, random_desc
from .values import random_inputs

__all__ = ["Invalid", "Valid", "VectorError", "Vectors", "generate"]


class VectorError(DmlcoreError):
    """A vector that contradicts dmlcore, or cannot be made."""


@dataclass
class Valid:
    """A descriptor that a level accepts, inputs, and the outputs that it must give."""

    id: str
    level: FeatureLevel
    desc: OperatorDesc
    inputs: dict[str, np.ndarray]
    outputs: dict[str, np.ndarray]
    rows: dict[str, int] = field(default_factory=dict)  # of outputs with undefined rows: how many are defined

    @property
    def data_types(self) -> dict[str, str]:
        """Member -> data type."""
        return {name: tensor.data_type for name, tensor in members(self.desc, "input", "output").items()}


@dataclass
class Invalid:
    """A descriptor that a level refuses, and why."""

    id: str
    level: FeatureLevel
    desc: OperatorDesc
    breaks: str
    member: str
    rules: list[str]

    @property
    def minimum_level(self) -> FeatureLevel | None:
        """The lowest level that accepts it; None when no level does."""
        return minimum_feature_level(self.desc)


@dataclass
class Vectors:
    """All vectors of an operator, and what they cover."""

    operator: str
    seed: int
    levels: list[FeatureLevel]
    valid: list[Valid]
    invalid: list[Invalid]
    combinations: dict[
        str, list[int]
    ]  # level -> combinations of data types that valid vectors have, and that there are
    missing_rules: dict[str, list[str]]  # level -> rules for which no descriptor was found

    def rules(self) -> list[str]:
        """The rules that invalid vectors break on purpose."""
        return sorted({case.breaks for case in self.invalid})


def generate(
    operator: str, level=None, count: int | None = None, seed: int = 0, progress: Callable | None = None
) -> Vectors:
    """The vectors of an operator.

    Parameters
    ----------
    operator : str
        ``"GATHER_ND"``, ``"gather_nd"``, or an alias such as ``"SCATTER"``.
    level : FeatureLevel, str or int, optional
        ``"all"`` for every level; the newest by default.
    count : int, optional
        Valid vectors per level, besides the examples of the specification; by default one for each combination of data
        types, 8 at least.
    seed : int
        The same seed gives the same vectors.
    progress : callable, optional
        Called with the number of steps and the number done.

    Raises
    ------
    ValueError
        For an unknown operator or level, or a negative count.
    VectorError
        When dmlcore computes something else than the specification says.

    Examples
    --------
    >>> from dmlcore.vectors import generate
    >>> vectors = generate("GATHER_ND", "2.1", count=3, seed=7)
    >>> [case.id for case in vectors.valid][:2]
    ['gather_nd-2.1-0000', 'gather_nd-2.1-0001']
    """
    name = find_operator(operator)
    if name is None:
        raise ValueError(f"operator is {operator!r}, expected one of {', '.join(TOOLS)}")
    if count is not None and count < 0:
        raise ValueError(f"count is {count}, expected None or a number that is not negative")
    levels = list(FeatureLevel) if level == "all" else [feature_level(level)]
    counts = {one: _count(name, one, count) for one in levels}
    total = sum(counts.values()) + sum(len(wanted_rules(name, one)) for one in levels)
    vectors, done = Vectors(name, seed, levels, [], [], {}, {}), 0
    for one in levels:
        types = combinations(name, one)
        if types:
            vectors.combinations[_number(one)] = [min(counts[one], len(types)), len(types)]
        for case in valid_cases(name, one, counts[one], seed):
            vectors.valid.append(case)
            done += 1
            if progress:
                progress(total, done)
        missing = []
        for case in invalid_cases(name, one, seed):
            (missing if isinstance(case, str) else vectors.invalid).append(case)
            done += 1
            if progress:
                progress(total, done)
        if missing:
            vectors.missing_rules[_number(one)] = missing
    return vectors


def _number(level: FeatureLevel) -> str:
    return level.name.removeprefix("FL").replace("_", ".")


def _count(operator: str, level: FeatureLevel, count: int | None) -> int:
    there_are = len(combinations(operator, level))
    return 0 if not there_are else max(there_are, 8) if count is None else count


def valid_cases(operator: str, level: FeatureLevel, count: int, seed: int) -> Iterator[Valid]:
    """Valid vectors at a level: so many random ones, then the examples of the specification."""
    prefix = f"{operator.lower()}-{_number(level)}"
    position = list(FeatureLevel).index(level)
    order = Draw(seed, operator, level.name).shuffled(combinations(operator, level))
    for i in range(count if order else 0):
        for attempt in range(50):
            draw = Draw(seed, operator, level.name, "valid", i, attempt)
            desc = random_desc(draw, operator, level, order[i % len(order)], strides=i % 4 == 3)
            inputs = random_inputs(draw, desc)
            if inputs is not None:
                break
        else:
            raise VectorError(f"{operator} at {level.name}: no indices without duplicates were found")
        yield _case(f"{prefix}-{i:04d}", level, desc, inputs)
    for example in TOOLS[operator].examples if count else ():
        if example.data and example.level <= position:
            desc = complete(desc_class(operator).from_dict(example.desc))
            inputs = {name: _array(example.data[name], tensor) for name, tensor in members(desc, "input").items()}
            yield _case(f"{prefix}-{example.id}", level, desc, inputs)


def _array(data, tensor) -> np.ndarray:
    def value(item):
        return [value(i) for i in item] if isinstance(item, list) else float(item) if isinstance(item, str) else item

    return np.array(value(data), tensor.dtype).reshape(tensor.sizes)


def _case(id: str, level: FeatureLevel, desc: OperatorDesc, inputs: dict) -> Valid:
    outputs, rows = expected(desc, inputs)
    case = Valid(id, level, desc, inputs, outputs, rows)
    for name, found in computed(case).items():
        if difference(case, name, found):
            raise VectorError(
                f"{id}: dmlcore gives another {name} than the specification: {difference(case, name, found)}"
            )
    return case


def computed(case: Valid) -> dict[str, np.ndarray]:
    """What dmlcore makes of a vector's inputs, every tensor laid out as its descriptor says."""
    run = compile(case.desc, case.level)
    inputs = [strided(layout(case.inputs[name], t), t) for name, t in members(case.desc, "input").items()]
    tensors = members(case.desc, "output")
    outputs = tuple(strided(layout(np.zeros(t.sizes, t.dtype), t), t) for t in tensors.values())
    run(*inputs, out=outputs if len(outputs) > 1 else outputs[0])
    return dict(zip(tensors, outputs, strict=True))


def difference(case: Valid, name: str, found: np.ndarray) -> str | None:
    """How an output differs from the expected one, bit for bit where it is defined; None when it does not."""
    wanted = case.outputs[name]
    if found.dtype != wanted.dtype:
        return f"dtype {found.dtype}, expected {wanted.dtype}"
    if found.size < wanted.size:
        return f"{found.size} elements, expected {wanted.size}"
    defined = wanted.size if name not in case.rows else case.rows[name] * wanted.shape[-1]
    if not defined:
        return None
    a = np.ascontiguousarray(found).reshape(-1)[:defined].view(np.uint8).reshape(defined, -1)
    b = np.ascontiguousarray(wanted).reshape(-1)[:defined].view(np.uint8).reshape(defined, -1)
    wrong = np.flatnonzero((a != b).any(axis=1))
    if not len(wrong):
        return None
    place = tuple(int(i) for i in np.unravel_index(wrong[0], wanted.shape))
    return f"element {list(place)} is {found.reshape(-1)[wrong[0]]}, expected {wanted[place]}; {len(wrong)} differ"


def invalid_cases(operator: str, level: FeatureLevel, seed: int) -> Iterator[Invalid | str]:
    """An invalid vector for each rule at a level; the rule's name where none was found."""
    for i, rule in enumerate(wanted_rules(operator, level)):
        draw = Draw(seed, operator, level.name, "invalid", rule.id, rule.member)
        found = breaking(draw, operator, level, rule)
        if found is None:
            yield f"{rule.id} ({rule.member})"
            continue
        desc, violations = found
        assert check(desc, level) == violations
        id = f"{operator.lower()}-{_number(level)}-invalid-{i:03d}"
        yield Invalid(id, level, desc, rule.id, rule.member, [v.rule for v in violations])
