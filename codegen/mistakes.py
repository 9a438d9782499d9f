"""Collects what is wrong in the specification, so that all mistakes of all files are reported together.

A mistake is one line, `file:line: what is wrong; what would be right`. SpecError carries them all, sorted by place.
"""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Mistake:
    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


class SpecError(Exception):
    """The specification has mistakes; `mistakes` holds every one of them."""

    def __init__(self, mistakes: Iterable[Mistake]):
        self.mistakes = tuple(sorted(set(mistakes)))
        super().__init__("\n".join(map(str, self.mistakes)))


def _common(a: str, b: str) -> int:
    """How many characters two names have in common at the start."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def suggest(name: str, known: Iterable[str]) -> str:
    """What would be right instead of an unknown name: the closest known one, or the list."""
    known = list(known)
    close = difflib.get_close_matches(name, known, 5, 0.6) or [k for k in known if k.lower() == name.lower()]
    best = max(close, key=lambda k: _common(k, name), default=None)  # FL2.2: FL2.1 rather than FL6.2
    return f"did you mean {best}?" if best else f"known are {', '.join(known) or 'none'}"
