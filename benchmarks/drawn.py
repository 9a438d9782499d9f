"""Cells drawn at random, for what the author of the suite's table did not think of: `python -m benchmarks --drawn 100`.

The same seed draws the same cells. Sizes are spread evenly over their orders of magnitude, and every dimension but one
is a power of two half of the time; what users do more often is drawn more often.
"""

import math
import random

import numpy as np

from .cases import MIB, Cell

OPERATORS = {
    "gather": 2, "gather_elements": 3, "gather_nd": 3, "scatter_elements": 2, "scatter_nd": 2, "nonzero_coordinates": 1,
}  # fmt: skip
DTYPES = {"float32": 4, "float64": 1, "float16": 1, "uint8": 1, "int64": 1}
INDICES = {"int64": 3, "int32": 2, "uint32": 1}
RANKS = {"_elements": (1, 1, 2, 2, 2, 3), "": (1, 2, 2, 2, 3, 3, 4)}
LAYOUTS = {"C": 7, "T": 1, "step": 1, "F": 1, "part": 1, "column": 1}
PATTERNS = {"random": 8, "negative": 2, "range": 1, "sorted": 1}
DENSITIES = (0.01, 0.1, 0.5, 0.9, 1.0)
LARGEST = 12 * MIB  # elements of an input, and of the indices
LONGEST_COLUMN = 256 * 1024  # indices: 64 times as much memory
LARGEST_OUTPUT = 64 * MIB  # bytes


def draw(count: int, seed: int) -> list[Cell]:
    """So many different cells."""
    rng, cells = random.Random(seed), {}
    while len(cells) < count:
        cell = _cell(rng)
        if cell:
            cells[cell.name] = cell
    return list(cells.values())


def _cell(rng: random.Random) -> Cell | None:
    """One cell; None where its output would be too large."""
    op, dtype, index = _one(rng, OPERATORS), _one(rng, DTYPES), _one(rng, INDICES)
    shape = _shape(rng, rng.choice(RANKS["_elements" if op.endswith("_elements") else ""]))
    layout = _one(rng, LAYOUTS) if len(shape) > 1 else "C"
    if op == "nonzero_coordinates":
        layout = layout if layout in ("T", "step") else "C"
        return Cell(op, "drawn", dtype, shape, density=rng.choice(DENSITIES), layout=layout)
    axis, most = rng.randrange(len(shape)), 2 if op.startswith("gather") else 1
    if op.endswith("_nd"):
        axis, size = 0, rng.randint(1, len(shape))
        item = np.dtype(dtype).itemsize * math.prod(shape[size:])
        places = LARGEST if op == "gather_nd" else math.prod(shape[:size])
        indices = (_spread(rng, 1, min(places, 2 * MIB, max(1, LARGEST_OUTPUT // item))), size)
    else:
        steps = _spread(rng, 1, max(1, most * shape[axis]))
        indices = (steps,) if op == "gather" else (*shape[:axis], steps, *shape[axis + 1 :])
        outputs = math.prod(shape) // shape[axis] * steps
        if outputs * np.dtype(dtype).itemsize > LARGEST_OUTPUT or math.prod(indices) > LARGEST:
            return None
    if layout == "column" and math.prod(indices) > LONGEST_COLUMN:
        layout = "part"
    pattern = _one(rng, PATTERNS)
    if (pattern == "negative" and index == "uint32") or (pattern in ("range", "sorted") and op.endswith("_nd")):
        pattern = "random"
    return Cell(op, "drawn", dtype, shape, indices, index, axis, layout, pattern)


def _one(rng: random.Random, weights: dict) -> str:
    return rng.choices(list(weights), list(weights.values()))[0]


def _spread(rng: random.Random, low: int, high: int) -> int:
    """As often between 10 and 100 as between 100 and 1000."""
    return min(high, int(math.exp(rng.uniform(math.log(low), math.log(high + 1)))))


def _shape(rng: random.Random, rank: int) -> tuple:
    left = _spread(rng, 16, LARGEST)
    sizes = []
    for _ in range(rank - 1):
        size = _spread(rng, 1, left)
        sizes.append(rng.choice((size, 1 << size.bit_length() - 1)))
        left = max(1, left // sizes[-1])
    sizes.append(left)
    rng.shuffle(sizes)
    return tuple(sizes)
