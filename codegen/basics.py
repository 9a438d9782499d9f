"""The part of the model that all operators share: levels, data types, and the description of a tensor."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from . import names


@dataclass(frozen=True)
class Source:
    path: str
    line: int


@dataclass(frozen=True)
class Erratum:
    where: str
    says: str
    but: str
    so: str


@dataclass(frozen=True)
class Level:
    name: str  # 'FL3.0'
    value: int  # 0x3000
    directml: str  # '1.4.0'
    windows: str | None
    text: str
    operators: tuple[str, ...]  # added to DirectML at this level
    position: int
    source: Source = field(compare=False)

    @property
    def python_name(self) -> str:
        return names.level_python(self.name)

    @property
    def dml_name(self) -> str:
        return names.level_dml(self.name)

    @property
    def number(self) -> str:
        return names.level_number(self.name)


@dataclass(frozen=True)
class DataType:
    name: str
    value: int | None  # None: an extension of the array functions
    introduced: Level | None
    bits: int | None
    numpy: str | None
    kind: str | None  # float, int, uint; extensions also bool, complex
    storage: str | None
    zero_mask: int
    index: str | None
    text: str | None
    source: Source = field(compare=False)


@dataclass(frozen=True)
class TensorMember:
    name: str
    type: str
    text: str

    @property
    def python(self) -> str:
        return names.snake(self.name)


@dataclass(frozen=True)
class TensorRule:
    id: str
    field: str
    text: str
    formula: str
    from_: Level | None
    before: Level | None
    doors: str
    broken_by: Mapping[str, object]
    source: Source = field(compare=False)


@dataclass(frozen=True)
class TensorSpec:
    struct: str
    text: str
    members: tuple[TensorMember, ...]
    base: Mapping[str, object]  # keyword arguments of a valid TensorDesc; every broken_by changes it
    level: Level  # the level of base and of the broken_by
    rules: tuple[TensorRule, ...]
    errata: tuple[Erratum, ...]
    sources: tuple[str, ...]
