"""How much memory of freed results the pool may keep: what was asked for, or what the environment says, or the default."""

import os

from .arrays import as_int

__all__ = ["default_limit", "limit"]

DEFAULT = 512 << 20
VARIABLE = "DMLCORE_MEMORY_POOL_LIMIT"


def default_limit(environ=os.environ) -> int:
    """The limit before anybody calls set_memory_pool_limit."""
    text = environ.get(VARIABLE, "").strip()
    if not text:
        return DEFAULT
    if not text.isascii() or not text.isdigit():
        raise ValueError(f"{VARIABLE} is {text!r}, expected a number of bytes, 0 or more")
    return limit(int(text))


def limit(value) -> int:
    """A limit in bytes, of at most 63 bits."""
    number = as_int(value, "limit")
    if number < 0:
        raise ValueError(f"limit is {number}, expected a number of bytes, 0 or more")
    return min(number, 2**62)
