"""The specification as linked, checked, read-only objects: what every view and template of the generator works with.

load.load builds them. Rules are trees of rules.py beside their text; levels, data types and members are the objects or
the names that the YAML mentions, known to exist.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .basics import DataType, Erratum, Level, Source, TensorMember, TensorRule, TensorSpec
from .rules import Expr
from .validate import TensorValue, infer, violations

__all__ = [
    "Cell", "Constraint", "DataType", "Erratum", "Example", "ExampleTensor", "Kernel", "Let", "Level", "Member",
    "Operator", "PythonBlock", "Source", "Spec", "TensorMember", "TensorRule", "TensorSpec",
]  # fmt: skip


@dataclass(frozen=True)
class Member:
    name: str
    kind: str  # input, output, uint, axis
    text: str
    index: bool
    data_type: Expr | None
    default_data_type: str | None  # of an output without a rule: the only one that its table allows
    sizes: Expr | None
    default_sizes: Expr | None
    default: Expr | None
    python: str
    axis_of: str | None
    texts: Mapping[str, str]  # the text of each rule, by its key
    source: Source = field(compare=False)

    @property
    def is_tensor(self) -> bool:
        return self.kind in ("input", "output")


@dataclass(frozen=True)
class Let:
    """A named rule: of the `let` block, or a field of the kernel's plan."""

    name: str
    text: str
    expr: Expr
    source: Source = field(compare=False)


@dataclass(frozen=True)
class Cell:
    dims_min: int
    dims_max: int
    data_types: tuple[str, ...]
    changed: bool  # written in the YAML at this very level


@dataclass(frozen=True)
class Constraint:
    id: str
    short_id: str
    member: str
    rule: str
    expr: Expr
    text: str
    doors: str  # both, descriptor, array
    from_: Level | None
    before: Level | None
    broken_by: Mapping[str, object]
    broken_by_example: str
    source: Source = field(compare=False)

    def active(self, level: Level) -> bool:
        after_from = self.from_ is None or level.position >= self.from_.position
        return after_from and (self.before is None or level.position < self.before.position)


@dataclass(frozen=True)
class Kernel:
    T: str  # 'storage(InputTensor)'
    I: str | None  # noqa: E741 - the name in the loops
    data: str  # the tensor that T names
    indices: str | None  # the tensor that I names
    plan: str  # 'move', 'nonzero'
    fields: Mapping[str, Let]
    table: str | None
    stream: str | None
    source: str | None


@dataclass(frozen=True)
class PythonBlock:
    function: str
    aliases: tuple[str, ...]
    options: tuple[str, ...]
    ranks: Mapping[str, Expr]
    dimension_count: Expr | None
    returns: str | None
    rows: str | None
    data_types: Mapping[str, tuple[str, ...]]
    members: Mapping[str, Expr]  # numbers that natural shapes give, where no default does
    parameters: Mapping[str, str]  # numbers that are options of the function: member -> option
    example: str | None  # a doctest
    texts: Mapping[str, str]  # the text of each rule: by tensor, by number, and dimension_count


@dataclass(frozen=True)
class ExampleTensor(TensorValue):
    data: list | None = None  # nested; None inside marks a value that is undefined


@dataclass(frozen=True)
class Example:
    id: str
    from_: Level
    text: str
    note: str | None
    errata: str | None
    desc: Mapping[str, "ExampleTensor | int"]
    source: Source = field(compare=False)


@dataclass(frozen=True)
class Operator:
    name: str
    value: int
    introduced: Level
    superseded_by: str | None
    aliases: tuple[str, ...]
    struct: str
    summary: str
    description: str
    pseudocode: str
    members: tuple[Member, ...]
    let: Mapping[str, Let]
    support: Mapping[str, Mapping[str, Cell]]  # tensor -> level name -> cell, for every level from `introduced` on
    support_rows: tuple[Level, ...]
    constraints: tuple[Constraint, ...]
    kernel: Kernel
    python: PythonBlock
    examples: tuple[Example, ...]
    numpy: str
    behaviour: Mapping[str, str]
    errata: tuple[Erratum, ...]
    sources: tuple[str, ...]
    data_types: Mapping[str, DataType] = field(repr=False, compare=False)
    levels: tuple[Level, ...] = field(repr=False, compare=False)
    source: Source = field(compare=False)

    def of_kind(self, *kinds: str) -> tuple[Member, ...]:
        return tuple(m for m in self.members if m.kind in kinds)

    @property
    def tensors(self) -> tuple[Member, ...]:
        return self.of_kind("input", "output")

    @property
    def inputs(self) -> tuple[Member, ...]:
        return self.of_kind("input")

    @property
    def outputs(self) -> tuple[Member, ...]:
        return self.of_kind("output")

    @property
    def uints(self) -> tuple[Member, ...]:
        return self.of_kind("uint", "axis")

    def member(self, name: str) -> Member:
        return next(m for m in self.members if m.name == name)

    def example(self, id: str) -> Example:
        return next(e for e in self.examples if e.id == id)

    def infer(self, desc: Mapping[str, object]) -> dict[str, object]:
        """The desc with defaults, and with the outputs that it leaves out."""
        return infer(self, desc)

    def violations(self, desc: Mapping[str, object], level: "Level | str", door: str = "descriptor") -> list[str]:
        """The ids of all rules that `desc` breaks at `level`, in the order of the specification."""
        if isinstance(level, str):
            level = next(known for known in self.levels if known.name == level)
        return [v.id for v in violations(self, desc, level, door)]


@dataclass(frozen=True)
class Spec:
    levels: tuple[Level, ...]
    data_types: Mapping[str, DataType]
    extensions: Mapping[str, DataType]  # further types of the array functions
    tensor: TensorSpec
    operators: tuple[Operator, ...]
    errata: tuple[Erratum, ...]  # of levels and data types
    sources: tuple[str, ...]

    @property
    def newest(self) -> Level:
        return self.levels[-1]

    def level(self, name: str) -> Level:
        return next(level for level in self.levels if level.name == name)

    def operator(self, name: str) -> Operator:
        return next(operator for operator in self.operators if operator.name == name)
