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


def suggest(name: str, known: Iterable[str]) -> str:
    """What would be right instead of an unknown name: the closest known one, or the list."""
    known = list(known)
    close = difflib.get_close_matches(name, known, 1, 0.6) or [k for k in known if k.lower() == name.lower()]
    return f"did you mean {close[0]}?" if close else f"known are {', '.join(known) or 'none'}"
