"""`check` and `level`: descriptors in JSON files against the rules of a feature level, or of all of them.

A file holds one descriptor, a list, or a DxDispatch model; every violation of every descriptor is told.
"""

import typer
from rich.text import Text

from .._generated.tables import LEVELS
from ..graph import FileError, parse_descs, read_json
from ..levels import NEWEST, POSITION, FeatureLevel
from ..validation import check as violations_of
from ..validation import minimum_feature_level
from .output import BAD_FILE, FAILED, OK, Json, Level, command, console, emit, level_option, message

__all__ = ["check", "level"]

FILES = typer.Argument(
    metavar="FILE",
    help='JSON: {"type": "DML_OPERATOR_...", "desc": {...}}, a list of those, or a DxDispatch model; - is standard '
    "input.",
)


def _read(files: list[str]):
    """(label, descriptor or error) of everything in the files; one bad file does not hide the others."""
    for file in files:
        try:
            for name, desc in parse_descs(read_json(file), file):
                yield f"{file}: {name}" if name else file, file, name, desc
        except FileError as error:
            yield file, file, "", error


@command
def check(files: list[str] = FILES, level: str = Level, json_output: bool = Json) -> int:
    """Check descriptors against the rules of a feature level.

    Prints every rule that a descriptor breaks, none hidden behind another. Exit status 0: all are valid; 1: a rule is
    broken; 3: a file cannot be read.

    \b
    A file, for example (outputs may be left out, they follow from the rest):
      {"type": "DML_OPERATOR_GATHER",
       "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [8, 4]},
                "IndicesTensor": {"DataType": "INT64", "Sizes": [1, 3]},
                "Axis": 0, "IndexDimensions": 1}}
    """
    at, status, results, out = level_option(level), OK, [], console()
    for label, file, name, desc in _read(files):
        if isinstance(desc, FileError):
            status = BAD_FILE
            results.append({"file": file, "error": str(desc)})
            message(f"error: {desc}")
            continue
        found = violations_of(desc, at)
        status = max(status, FAILED if found else OK)
        results.append(
            {
                "file": file,
                "name": name or None,
                "operator": desc.operator,
                "feature_level": _dml(at),
                "valid": not found,
                "violations": [v.as_dict() for v in found],
            }
        )
        if json_output:
            continue
        broken = f"{len(found)} rule{'s' * (len(found) > 1)} broken"
        verdict = Text(broken, "bold red") if found else Text("valid", "bold green")
        out.print(Text(f"{label}: {desc.operator} at {_dml(at)}: ") + verdict, soft_wrap=True)
        for violation in found:
            out.print(Text(_indented(violation.message)), soft_wrap=True)
    if json_output:
        emit({"results": results})
    return status


@command
def level(files: list[str] = FILES, json_output: bool = Json) -> int:
    """Tell the lowest feature level that accepts a descriptor.

    The files are those of `dmlcore check`, whose help has an example. Exit status 0: there is a level for each
    descriptor; 1: no level accepts one of them, and the rules it breaks at the newest are printed; 3: a file cannot be
    read.
    """
    status, results, out = OK, [], console()
    for label, file, name, desc in _read(files):
        if isinstance(desc, FileError):
            status = BAD_FILE
            results.append({"file": file, "error": str(desc)})
            message(f"error: {desc}")
            continue
        lowest = minimum_feature_level(desc)
        found = [] if lowest is not None else violations_of(desc, NEWEST)
        status = max(status, OK if lowest is not None else FAILED)
        results.append(
            {
                "file": file,
                "name": name or None,
                "operator": desc.operator,
                "minimum_feature_level": None if lowest is None else _dml(lowest),
                "violations": [v.as_dict() for v in found],
            }
        )
        if json_output:
            continue
        if lowest is None:
            out.print(Text(f"{label}: {desc.operator}: ") + Text("no level accepts it", "bold red"), soft_wrap=True)
            for violation in found:
                out.print(Text(_indented(violation.message)), soft_wrap=True)
        else:
            facts = LEVELS[POSITION[lowest]]
            where = f" (DirectML {facts.directml}{', ' + facts.windows if facts.windows else ''})"
            out.print(
                Text(f"{label}: {desc.operator}: ") + Text(_dml(lowest), "bold green") + Text(where), soft_wrap=True
            )
    if json_output:
        emit({"results": results})
    return status


def _dml(one: FeatureLevel) -> str:
    return LEVELS[POSITION[one]].dml_name


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
