"""Fills the inputs of a valid descriptor with values, so that what the operator makes of them is documented.

Indices are in range, negative ones where the type allows them; scatters never write an element twice, which DirectML
leaves undefined.
"""

import numpy as np

from .._generated import oracle
from .._generated.tools import TOOLS
from ..descs import OperatorDesc
from .draw import Draw
from .natural import arguments, index_bounds, members, natural_sizes

__all__ = ["random_inputs"]

ROUNDS = 200


def random_inputs(draw: Draw, desc: OperatorDesc) -> dict[str, np.ndarray] | None:
    """An array for each input, in the descriptor's sizes; None when no indices without duplicates were found."""
    tool, arrays = TOOLS[desc.operator], {}
    for name, tensor in members(desc, "input").items():
        repeated = tuple(1 if s == 0 else n for n, s in zip(tensor.sizes, tensor.strides or tensor.sizes, strict=True))
        if name == tool.index:
            arrays[name] = np.broadcast_to(_indices(draw, desc, repeated, tensor.dtype), tensor.sizes).copy()
        else:
            zeros = 0.5 if tool.rows else 0.05
            arrays[name] = np.broadcast_to(draw.values(repeated, tensor.dtype, zeros), tensor.sizes).copy()
    if tool.source is not None and not _without_duplicates(draw, desc, arrays):
        return None
    return arrays


def _indices(draw: Draw, desc: OperatorDesc, sizes, dtype: np.dtype) -> np.ndarray:
    bounds = index_bounds(desc)
    if not TOOLS[desc.operator].tuples or sizes[-1] != len(bounds):  # one coordinate, or one that is repeated
        bounds = (min(bounds),)
    values = np.empty(sizes, dtype)
    for position in np.ndindex(*sizes):
        values[position] = _index(draw, bounds[position[-1] if len(bounds) > 1 else 0], dtype)
    return values


def _index(draw: Draw, bound: int, dtype: np.dtype) -> int:
    negative = dtype.kind == "i" and draw.chance(0.3)
    return draw.between(-bound, -1) if negative else draw.below(bound)


def _without_duplicates(draw: Draw, desc: OperatorDesc, arrays: dict[str, np.ndarray]) -> bool:
    """Draws indices anew until every update has a place of its own.

    The oracle itself tells who lost: it scatters a number for each update, and those that are gone were overwritten.
    """
    tool, sizes = TOOLS[desc.operator], natural_sizes(desc)
    names = list(members(desc, "input"))
    updates = next(name for name in names if name not in (tool.source, tool.index))
    bounds = index_bounds(desc)
    indices = arrays[tool.index].reshape(sizes[tool.index])
    numbers = np.arange(int(np.prod(sizes[updates], dtype=np.int64))).reshape(sizes[updates])
    start = np.full(sizes[tool.source], -1)
    inputs = {tool.source: start, updates: numbers, tool.index: indices}
    places = indices.shape[:-1] if tool.tuples else indices.shape
    for _ in range(ROUNDS):
        left = getattr(oracle, tool.oracle)(*(inputs[name] for name in names), **arguments(desc))
        lost = ~np.isin(numbers, left)
        if not lost.any():
            arrays[tool.index] = indices.reshape(arrays[tool.index].shape)
            return True
        for position in np.argwhere(lost.reshape(*places, -1).any(axis=-1)):
            position = tuple(position)
            if tool.tuples:
                indices[position] = [_index(draw, bound, indices.dtype) for bound in bounds]
            else:
                indices[position] = _index(draw, bounds[0], indices.dtype)
    return False
