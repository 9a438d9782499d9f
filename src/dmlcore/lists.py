"""The functions of the rule language in Python, for the values that messages print; core/list.h has them in C."""


def cut(items: tuple, start, stop) -> tuple:
    """items[start:stop]; a bound is None or (value, counts from the end)."""
    first = 0 if start is None else _place(len(items), *start)
    last = len(items) if stop is None else _place(len(items), *stop)
    return items[first : max(first, last)]


def _place(length: int, value: int, from_end: bool) -> int:
    return max(0, min(length, length - value if from_end else value))


def at(items: tuple, index: int, from_end: bool) -> int:
    """One entry; 0 outside the list."""
    index = len(items) - index if from_end else index
    return items[index] if 0 <= index < len(items) else 0


def right_align(items: tuple, count: int) -> tuple:
    """Exactly `count` entries: ones in front, or the front cropped."""
    count = max(0, min(256, count))
    return (1,) * (count - len(items)) + items[max(len(items) - count, 0) :]


def product(items: tuple) -> int:
    """The product of all entries; 1 for an empty list."""
    total = 1
    for item in items:
        total *= item
    return total


def packed(sizes: tuple) -> tuple:
    """The strides of a tensor without gaps, in elements."""
    return tuple(product(sizes[d + 1 :]) for d in range(len(sizes)))


def effective_rank(items: tuple) -> int:
    """How many entries are left without the ones in front."""
    ones = 0
    while ones < len(items) and items[ones] == 1:
        ones += 1
    return len(items) - ones


def within(a: tuple, b: tuple) -> bool:
    """Every entry of a is at most the one of b."""
    return len(a) == len(b) and all(x <= y for x, y in zip(a, b, strict=True))


def repeat(item: int, count: int) -> tuple:
    """`count` times the same entry."""
    return (item,) * max(0, min(256, count))
