"""Turns the support tables as written, a row per level that changes something, into a cell for every level.

A level inherits from the one below it, cell by cell: what a row does not mention stays as it was.
"""

from .mistakes import suggest
from .model import Cell, Level


def link_support(linker, introduced: Level | None) -> tuple[dict[str, dict[str, Cell]], tuple[Level, ...], bool]:
    """The cells by tensor and level name, the levels written in the YAML, and whether nothing is missing."""
    file, document = linker.file, linker.document
    before = len(document.mistakes)
    rows: dict[str, dict] = {}
    previous: Level | None = None
    for name, row in file.support.items():
        level = linker.level(("support", name), name)
        for tensor in row:
            linker.name(("support", name, tensor), tensor, sorted(linker.tensors), "tensor")
        if level is None:
            continue
        if introduced and previous is None and level is not introduced:
            document.add(
                ("support", name), f"the first row is {name}; it must be {introduced.name}, the level of introduction"
            )
        if previous and level.position <= previous.position:
            document.add(("support", name), f"{name} stands behind {previous.name}; rows stand in ascending order")
        rows[name], previous = row, level
    support: dict[str, dict[str, Cell]] = {}
    for tensor in file.members:
        if tensor in linker.tensors:
            support[tensor] = _cells(linker, tensor, rows, introduced)
    levels = tuple(level for level in linker.levels if level.name in rows)
    return support, levels, len(document.mistakes) == before


def _cells(linker, tensor: str, rows: dict, introduced: Level | None) -> dict[str, Cell]:
    document = linker.document
    dimensions, data_types, cells = None, None, {}
    for level in linker.levels:
        written = rows.get(level.name, {}).get(tensor)
        path = ("support", level.name, tensor)
        if written is not None:
            if written.dimensions is not None:
                _superset(
                    document, (*path, "dimensions"), "dimension count", _counts(dimensions), _counts(written.dimensions)
                )
                dimensions = written.dimensions
            if written.data_types is not None:
                known = []
                for i, name in enumerate(written.data_types):
                    place = (*path, "data_types", i)
                    found = linker.data_type(place, name)
                    if found and (found.bits is None or found.introduced.position > level.position):
                        document.add(place, f"{name} does not exist at {level.name}; remove it from this row")
                    if name in known:
                        document.add(place, f"{name} stands twice in this cell; remove one")
                    known.append(name)
                _superset(document, (*path, "data_types"), "data type", data_types, tuple(known))
                data_types = tuple(known)
        if introduced is None or level.position < introduced.position:
            continue
        if dimensions is None or data_types is None:
            lacks = "dimensions" if dimensions is None else "data_types"
            if level is introduced:
                row = ("support", level.name)
                document.add(
                    path if path in document.lines else row,
                    f"{tensor} has no {lacks} at {level.name}; add {lacks}: ...",
                )
            continue
        cells[level.name] = Cell(*dimensions, data_types, written is not None)
    return cells


def _counts(dimensions) -> tuple | None:
    return None if dimensions is None else tuple(range(dimensions[0], dimensions[1] + 1))


def _superset(document, path: tuple, what: str, old: tuple | None, new: tuple) -> None:
    """Levels only add: what one level accepts, all later ones accept."""
    lost = [str(item) for item in old or () if item not in new]
    if lost:
        message = f"this drops the {what} {', '.join(lost)}, which the level below accepts; levels only add"
        if what == "data type":
            added = [item for item in new if old and item not in old]
            close = [suggest(item, lost) for item in added if suggest(item, lost).startswith("did")]
            message += f" ({close[0]})" if close else ""
        document.add(path, message)
