"""Random valid descriptors: sizes, numbers and strides that a level accepts, for any operator and combination of types.

Sizes that a rule gives are computed by that rule; the rest is drawn and kept when the validator has nothing to say.
"""

from itertools import product

from .._generated.tables import DATA_TYPES, OPERATORS
from .._generated.tools import TOOLS
from ..descs import OperatorDesc, TensorDesc
from ..graph import desc_class
from ..validation import check
from .draw import Draw
from .natural import complete, fact, free_tensors, index_bounds, natural_sizes

__all__ = ["combinations", "random_desc"]

TRIES = 5000


def combinations(operator: str, level) -> list[dict[str, str]]:
    """Every combination of data types of the free inputs that a level supports."""
    support, position = OPERATORS[operator].support, list(type(level)).index(level)
    names = free_tensors(operator)
    cells = [support[name].get(position, ((), 0, 0))[0] for name in names]
    return [dict(zip(names, types, strict=True)) for types in product(*cells)]


def random_desc(draw: Draw, operator: str, level, types: dict[str, str], strides: bool = False) -> OperatorDesc:
    """A complete descriptor that a level accepts."""
    for attempt in range(TRIES):
        desc = _candidate(draw, operator, level, types)
        if desc is None or check(desc, level):
            continue
        desc = complete(desc)
        if not _has_room(desc):
            continue
        if strides and attempt % 2 == 0:
            other = _with_strides(draw, desc)
            desc = desc if check(other, level) else other
        return desc
    raise RuntimeError(f"no valid descriptor of {operator} at {level.name} was found in {TRIES} tries")


def _candidate(draw: Draw, operator: str, level, types: dict[str, str]) -> OperatorDesc | None:
    table, tool = OPERATORS[operator], TOOLS[operator]
    position = list(type(level)).index(level)
    ruled = {(c.member, c.kind): c for c in table.checks if c.kind in ("sizes", "data-type")}
    inputs = [name for name, _, kind, _ in table.members if kind == "input"]
    ranges = [table.support[name][position][1:] for name in inputs]
    low, high = max(r[0] for r in ranges), min(r[1] for r in ranges)
    rank = draw.between(low, min(high, max(low, 5))) if draw.chance(0.9) else draw.between(low, high)
    numbers = {
        name: draw.below(rank) if kind == "axis" else draw.between(0, rank)
        for name, _, kind, _ in table.members
        if kind in ("axis", "uint")
    }
    tensors: dict[str, TensorDesc] = {}
    for name in inputs:
        if (name, "sizes") in ruled:
            facts = {k: fact(v) for k, v in tensors.items()} | {name: fact(TensorDesc("UINT8", (1,)))}
            names = table.names(facts | {k: facts[name] for k, *_ in table.members if k not in facts}, numbers)
            sizes = ruled[name, "sizes"].facts(facts, names)[0][1][1][1]
            data_type = types.get(name) or DATA_TYPES[ruled[name, "data-type"].facts(facts, names)[0][1][1][1]]
        else:
            counted = numbers[tool.counted[name]] if name in tool.counted else draw.between(1, rank)
            sizes = _sizes(draw, rank, counted, list(tensors.values()))
            data_type = types[name]
        if any(size < 1 for size in sizes) or len(sizes) > 8:
            return None
        tensors[name] = TensorDesc(data_type, sizes)
    keywords = {name: keyword for name, keyword, _, _ in table.members}
    return desc_class(operator)(**{keywords[name]: value for name, value in (tensors | numbers).items()})


def _sizes(draw: Draw, rank: int, counted: int, others: list[TensorDesc]) -> tuple[int, ...]:
    """Small sizes with ones in front; often those of a tensor before it, with one of them changed."""
    if others and len(others[0].sizes) == rank and draw.chance(0.5):
        sizes = list(others[0].sizes)
        sizes[draw.below(rank)] = draw.between(1, 5)
        if draw.chance(0.3):
            sizes[-1] = draw.between(1, 3)
    else:
        largest = 5 if counted <= 4 else 3
        sizes = [draw.between(1, largest) for _ in range(rank)]
    return tuple([1] * (rank - counted) + sizes[rank - counted :] if counted < rank else sizes)


def _has_room(desc: OperatorDesc) -> bool:
    """Not too large to be read by a person, and for scatters enough places for all updates."""
    tool = TOOLS[desc.operator]
    sizes = natural_sizes(desc)
    elements = {name: _count(s) for name, s in sizes.items()}
    if max(elements.values()) > 600:
        return False
    if tool.source is None or tool.index is None:
        return True
    positions = sizes[tool.index][:-1] if tool.tuples else sizes[tool.index]
    places = _count(index_bounds(desc)) if tool.tuples else elements[tool.source]
    if not tool.tuples:  # an index moves along one dimension: lanes that are longer than it have no place
        return all(a <= b for a, b in zip(positions, sizes[tool.source], strict=True))
    return _count(positions) <= places


def _count(sizes) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


def _with_strides(draw: Draw, desc: OperatorDesc) -> OperatorDesc:
    """The descriptor with one or more tensors in another order in memory, with gaps, or (inputs) repeated."""
    tool, values = TOOLS[desc.operator], {}
    for name, keyword, kind in desc.MEMBERS:
        values[keyword] = tensor = getattr(desc, keyword)
        if kind not in ("input", "output") or not draw.chance(0.6):
            continue
        step, strides = draw.pick((1, 1, 2)), [0] * len(tensor.sizes)
        for d in draw.shuffled(range(len(tensor.sizes))):
            strides[d] = step
            step *= tensor.sizes[d] + draw.pick((0, 0, 0, 1))
        if kind == "input" and draw.chance(0.3) and (tool.source is None or name != tool.index):
            strides[draw.below(len(strides))] = 0
        values[keyword] = TensorDesc(tensor.data_type, tensor.sizes, strides)
    return type(desc)(**values)
