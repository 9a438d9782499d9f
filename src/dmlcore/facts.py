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


class Example(NamedTuple):
    """An example of an operator: a valid descriptor, by DirectML's names, and perhaps the values of its tensors."""

    id: str
    level: int  # the lowest that accepts it
    text: str
    desc: dict[str, Any]
    data: dict[str, list]  # nested lists; None is a value that is undefined


class Broken(NamedTuple):
    """A descriptor that breaks one rule; what it leaves out is inferred."""

    rule: str
    level: int  # the lowest at which it breaks nothing else
    first: int  # the levels that have the rule: first <= level < last
    last: int
    desc: dict[str, Any]


class Tool(NamedTuple):
    """What command line and test vectors know of an operator beside its rules."""

    name: str
    aliases: tuple[str, ...]
    struct: str
    description: str
    pseudocode: str
    index: str | None  # the tensor of indices
    tuples: bool  # whether its last dimension holds tuples of coordinates
    source: str | None  # what the output starts as a copy of: the operator scatters
    returns: str  # the output that the array function returns
    rows: str | None  # the output that says how many rows of it are defined
    options: tuple[str, ...]
    option_of: dict[str, str]  # integer member -> option of the array function
    counted: dict[str, str]  # tensor -> the integer member that says how many of its dimensions count
    oracle: str
    ranks: dict[str, Callable[[dict, dict], int]]  # natural ranks that do not follow from `counted`
    naturals: dict[str, Callable[[dict, dict], int]]  # integer members that natural arrays give
    dimension_count: Callable[[dict, dict], int] | None  # of the descriptor that pads natural arrays
    bounds: Callable[[dict, dict], tuple] | None  # the lengths that the coordinates of a tuple index
    examples: tuple[Example, ...]
    broken: tuple[Broken, ...]
    behaviour: dict[str, str]
