"""Random numbers that are the same everywhere: from a seed and a few words, in any version of Python and NumPy.

Everything is made from random.Random.random(), the one method whose numbers Python promises never to change.
"""

import random

import numpy as np

FLOATS = (0.0, -0.0, float("inf"), float("-inf"))


class Draw:
    """A stream of random choices."""

    def __init__(self, seed: int, *words):
        self._random = random.Random(":".join(map(str, (seed, *words)))).random

    def below(self, n: int) -> int:
        """An integer from 0 to n - 1."""
        return int(self._random() * n)

    def between(self, low: int, high: int) -> int:
        """An integer from low to high, both included."""
        return low + self.below(high - low + 1)

    def pick(self, items):
        """One of several."""
        return items[self.below(len(items))]

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._random() < probability

    def shuffled(self, items) -> list:
        """All items in another order."""
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
        return items

    def values(self, sizes, dtype: np.dtype, zeros: float = 0.05) -> np.ndarray:
        """Elements of a type: integers over their whole range, floats that every format holds exactly, some zeros.

        No NaN and no denormal numbers: what a device does to their bits is not documented.
        """
        count = int(np.prod(sizes, dtype=np.int64))
        if dtype.kind == "f":
            flat = [self.pick(FLOATS) if self.chance(zeros) else self.between(-4000, 4000) / 4 for _ in range(count)]
        else:
            low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
            near = (low, high, 0, 0)
            flat = [self.pick(near) if self.chance(zeros) else self._wide(low, high) for _ in range(count)]
        return np.array(flat, dtype).reshape(sizes)

    def _wide(self, low: int, high: int) -> int:
        """An integer of up to 64 bits; random() alone has 53."""
        wide = self.below(1 << 32) << 32 | self.below(1 << 32)
        return low + wide % (high - low + 1)
