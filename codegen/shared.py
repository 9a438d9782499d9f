"""Turns levels.yaml, dtypes.yaml and tensor.yaml into the objects that all operators share.

Also the helpers with which names of levels and data types are looked up wherever a file mentions them.
"""

from itertools import zip_longest

from .formats import DataTypesFormat, ErratumFormat, LevelsFormat, TensorFormat
from .mistakes import suggest
from .model import DataType, Erratum, Level, Source, TensorMember, TensorRule, TensorSpec
from .names import snake
from .typed import Typed
from .validate import TENSOR_RULES, TensorValue, tensor_violations
from .yamlfile import Document


def errata(formats: tuple[ErratumFormat, ...]) -> tuple[Erratum, ...]:
    return tuple(Erratum(e.where, e.says, e.but, e.so) for e in formats)


class Lookup:
    """Finds levels and data types by name, and reports the names that do not exist."""

    def __init__(self, document: Document, levels: tuple[Level, ...], data_types: dict[str, DataType]):
        self.document, self.levels, self.data_types = document, levels, data_types

    def level(self, path: tuple, name: str | None) -> Level | None:
        for level in self.levels:
            if level.name == name:
                return level
        if name is not None and self.levels:
            self.document.add(
                path, f"unknown feature level {name}; {suggest(name, [level.name for level in self.levels])}"
            )
        return None

    def data_type(self, path: tuple, name: str) -> DataType | None:
        found = self.data_types.get(name)
        if found is None and self.data_types:
            self.document.add(path, f"unknown data type {name}; {suggest(name, self.data_types)}")
        return found

    def source(self, *path) -> Source:
        return Source(self.document.path, self.document.line(path))


def link_levels(document: Document, typed: Typed) -> tuple[Level, ...]:
    file: LevelsFormat | None = typed.value
    levels: list[Level] = []
    for name, f in (file.levels if file else {}).items():
        path = ("levels", name)
        expected = f"FL{f.value >> 12}.{f.value >> 8 & 15}"
        if f.value & 0xFF or name != expected:
            document.add(path, f"{name} has the value {f.value:#x}, which is {expected}; name and value must agree")
        if levels and f.value <= levels[-1].value:
            document.add(path, f"{name} stands behind {levels[-1].name}; levels stand in ascending order")
        source = Source(document.path, document.line(path))
        levels.append(Level(name, f.value, f.directml, f.windows, f.text, f.operators, len(levels), source))
    return tuple(levels)


def link_data_types(document: Document, typed: Typed, levels: tuple[Level, ...]):
    """The data types of DirectML and the extensions, by name."""
    file: DataTypesFormat | None = typed.value
    lookup = Lookup(document, levels, {})
    data_types: dict[str, DataType] = {}
    extensions: dict[str, DataType] = {}
    for name, f in (file.data_types if file else {}).items():
        path = ("data_types", name)
        level = lookup.level((*path, "introduced"), f.introduced)
        taken = next((t for t in data_types.values() if t.value == f.value), None)
        if taken:
            document.add(
                (*path, "value"), f"{name} and {taken.name} both have the value {f.value}; each type has its own"
            )
        mask = f.zero_mask if f.zero_mask is not None else (1 << (f.bits or 0)) - 1
        _check_storage(document, path, f, mask)
        if level:
            values = (f.bits, f.numpy, f.kind, f.storage, mask, f.index, f.text, lookup.source(*path))
            data_types[name] = DataType(name, f.value, level, *values)
    for name, f in (file.extensions if file else {}).items():
        path = ("extensions", name)
        if name in data_types:
            document.add(path, f"{name} is a data type of DirectML already; an extension needs its own name")
        mask = f.zero_mask if f.zero_mask is not None else (1 << f.bits) - 1
        _check_storage(document, path, f, mask)
        values = (f.bits, f.numpy, f.kind, f.storage, mask, None, f.text, lookup.source(*path))
        extensions[name] = DataType(name, None, None, *values)
    return data_types, extensions


def _check_storage(document: Document, path: tuple, f, mask: int) -> None:
    if f.storage and f.bits and f.storage != f"u{f.bits}":
        document.add((*path, "storage"), f"storage is {f.storage} for {f.bits} bits; u{f.bits} is needed")
    if f.bits and mask >> f.bits:
        document.add((*path, "zero_mask"), f"zero_mask {mask:#x} has bits beyond the {f.bits} of the type; remove them")


def link_tensor(document: Document, typed: Typed, levels, data_types) -> TensorSpec | None:
    file: TensorFormat | None = typed.value
    if file is None:
        return None
    lookup = Lookup(document, levels, data_types)
    members = tuple(TensorMember(name, m.type, m.text) for name, m in file.members.items())
    level = lookup.level(("level",), file.level)
    rules: list[TensorRule] = []
    for i, r in enumerate(file.rules):
        path = ("rules", i)
        if r.field not in {m.name for m in members} | {"ElementCount", "Extent"}:
            document.add((*path, "field"), f"unknown member {r.field}; {suggest(r.field, [m.name for m in members])}")
        if r.id in {known.id for known in rules}:
            document.add((*path, "id"), f"the id {r.id} stands twice; every rule has its own")
        from_, before = lookup.level((*path, "from"), r.from_), lookup.level((*path, "before"), r.before)
        source = lookup.source(*path)
        rules.append(TensorRule(r.id, r.field, r.text, r.formula, from_, before, r.doors, plain(r.broken_by), source))
    for i, (given, right) in enumerate(zip_longest([r.id for r in file.rules], TENSOR_RULES)):
        if given != right and not typed.was_cut("rules"):
            document.add(("rules", i, "id"), f"rule {i + 1} is {given}; core/tensor.h computes {right} there")
            break
    spec = TensorSpec(
        file.struct, file.text, members, plain(file.base), level, tuple(rules), errata(file.errata), file.sources
    )
    if level and data_types and not document.mistakes:
        _check_broken_by(document, spec, levels, data_types)
    return spec


def plain(value):
    """Numbers where a number is written; lists become tuples."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return tuple(plain(inner) for inner in value)
    if isinstance(value, str) and value.removeprefix("-").isdecimal() and value.isascii() and len(value) < 25:
        return int(value)
    return value


def _check_broken_by(document: Document, spec: TensorSpec, levels, data_types) -> None:
    """Every rule is broken by its change alone."""
    allowed = [snake(m.name) for m in spec.members if m.name not in ("Flags", "DimensionCount")]
    cases = [(("base",), None, spec.base)]
    cases += [(("rules", i, "broken_by"), r.id, {**spec.base, **r.broken_by}) for i, r in enumerate(spec.rules)]
    for path, id, arguments in cases:
        unknown = [key for key in arguments if key not in allowed]
        if unknown:
            document.add(path, f"unknown argument {unknown[0]}; {suggest(unknown[0], allowed)}")
            continue
        try:
            broken = tensor_violations(TensorValue(**arguments), spec.level, levels, data_types)
        except TypeError:
            document.add(path, "these are not a tensor's arguments; sizes and strides are lists, the rest are numbers")
            continue
        if broken != ([id] if id else []):
            found = ", ".join(broken) or "no rule"
            wanted = f"exactly {id}" if id else "no rule"
            document.add(path, f"this breaks {found} at {spec.level.name}; it must break {wanted}")
