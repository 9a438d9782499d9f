"""The shapes of the generated tables (`_generated/tables.py`): plain named tuples."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Level(NamedTuple):
    """A feature level."""

    name: str
    value: int
    dml_name: str
    directml: str
    windows: str | None


class TensorRule(NamedTuple):
    """A rule that DirectML imposes on every tensor."""

    id: str
    field: str
    text: str
    formula: str

    def expected(self, fact, level: int) -> str:
        """What would be accepted, with the numbers of this tensor where they matter."""
        if self.field == "TotalTensorSizeInBytes":
            return f"at least {fact.minimum_size}"
        return self.formula


class Check(NamedTuple):
    """One check of an operator, in the order of the specification."""

    id: str
    member: str
    kind: str
    text: str | None = None
    before: int | None = None
    facts: Callable[[dict, dict], tuple] | None = None


class Operator(NamedTuple):
    """What is told about an operator."""

    name: str
    function: str
    page: str
    summary: str
    introduced: int
    members: tuple[tuple[str, str, str, str], ...]
    parameters: dict[str, str]
    axes: dict[str, str]
    names: Callable[[dict, dict], dict[str, Any]]
    array_types: dict[str, tuple[str, ...]]
    support: dict[str, dict[int, tuple[tuple[str, ...], int, int]]]
    checks: tuple[Check, ...]

    def is_output(self, member: str) -> bool:
        """Whether a member is an output tensor."""
        return any(name == member and kind == "output" for name, _, kind, _ in self.members)
