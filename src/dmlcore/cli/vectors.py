"""`vectors` and `verify`: conformance vectors into a folder, and a folder of them against an implementation."""

from pathlib import Path

import typer
from rich.text import Text

from .._generated.tools import TOOLS
from ..vectors import FORMATS, generate, read_manifest, write
from ..vectors import verify as results_of
from .output import FAILED, OK, Json, command, console, emit, level_option, progress
from .show import _complete_operator, operator_argument

__all__ = ["vectors", "verify"]

OPERATOR_OR_ALL = typer.Argument(
    metavar="OPERATOR", help="Such as GATHER_ND; any case. `all` makes a folder for each.", autocompletion=_complete_operator
)
OUTPUT = typer.Option(..., "--output", "-o", metavar="DIR", help="A new or empty folder.")
FOLDER = typer.Argument(metavar="DIR", help="A folder that `dmlcore vectors` has made.")
OUTPUTS = typer.Option(
    None, metavar="DIR", help="Outputs that another implementation wrote; by default dmlcore computes them."
)


def _formats(incomplete: str) -> list[str]:
    return [name for name in FORMATS if name.startswith(incomplete)]


@command
def vectors(
    operator: str = OPERATOR_OR_ALL,
    output: Path = OUTPUT,
    level: str = typer.Option(None, "--level", "-l", help="Feature level, such as 2.1, or all; the newest by default."),
    count: int = typer.Option(
        None, "--count", "-n", min=0, help="Valid vectors per level; by default one for each combination of data types."
    ),
    format: str = typer.Option(
        "dxdispatch", "--format", "-f", help="dxdispatch, onnx or npz.", autocompletion=_formats
    ),
    seed: int = typer.Option(0, "--seed", "-s", help="The same seed gives the same bytes."),
    json_output: bool = Json,
) -> None:
    """Write conformance vectors of an operator, or of all.

    Valid ones come with inputs and the outputs they must give, invalid descriptors with the rules they break; every
    rule and combination of data types of the level is covered. README.md in the folder says how to use them.

    \b
    Examples:
      dmlcore vectors gather_nd -o v
      dmlcore vectors all --level all --format npz --count 10 -o v
    """
    if format not in FORMATS:
        raise typer.BadParameter(f"{format!r} is not one of {', '.join(FORMATS)}", param_hint="'--format'")
    names = list(TOOLS) if operator.lower() == "all" else [operator_argument(operator)]
    chosen = "all" if level is not None and level.lower() == "all" else level_option(level)
    reports, out = [], console()
    for name in names:
        folder = output / name.lower() if len(names) > 1 else output
        with progress(f"{name}: making vectors") as told:
            made = generate(name, chosen, count, seed, told)
            write(made, format, folder)
        manifest = read_manifest(folder)
        report = {
            "operator": name,
            "folder": str(folder),
            "format": format,
            "seed": seed,
            "valid": len(manifest["valid"]),
            "invalid": len(manifest["invalid"]),
            "skipped": len(manifest["skipped"]),
            "rules": len(manifest["rules"]),
            "rules_without_descriptor": manifest["rules_without_descriptor"],
            "data_type_combinations": made.combinations,
        }
        reports.append(report)
        if json_output:
            continue
        out.print(
            f"{folder}: {report['valid']} valid and {report['invalid']} invalid vectors of {name}",
            markup=False,
            soft_wrap=True,
        )
        if report["skipped"]:
            out.print(f"  {report['skipped']} left out: ONNX does not take their data types", markup=False)
        for at, (done, there) in made.combinations.items():
            if done < there:
                out.print(
                    f"  level {at}: {done} of {there} combinations of data types; --count {there} has all", markup=False
                )
    if json_output:
        emit({"vectors": reports})


@command
def verify(
    folder: Path = FOLDER,
    outputs: Path = OUTPUTS,
    json_output: bool = Json,
) -> int:
    """Compare a folder of vectors with an implementation.

    That is dmlcore, or with --outputs another one, which has written each output as `<id>.<member>.npy` into a folder.
    Exit status 0: all vectors hold; 1: some do not, and are listed; 3: the folder is damaged.

    \b
    Examples:
      dmlcore verify v
      dmlcore verify v --outputs out
    """
    found, out = [], console()
    manifest = read_manifest(folder)
    total = len(manifest["valid"]) + (len(manifest["invalid"]) if outputs is None else 0)
    with progress("comparing") as told:
        for i, result in enumerate(results_of(folder, outputs)):
            told(total, i + 1)
            found.append(result)
            if not result.ok and not json_output:
                out.print(Text(f"{result.id}: ", "bold red") + Text(result.problem), soft_wrap=True)
    wrong = [result for result in found if not result.ok]
    if json_output:
        emit(
            {
                "folder": str(folder),
                "checked": len(found),
                "failed": [{"id": r.id, "kind": r.kind, "problem": r.problem} for r in wrong],
            }
        )
    else:
        verdict = (
            Text(f"{len(wrong)} of {len(found)} vectors do not hold", "bold red")
            if wrong
            else Text(f"all {len(found)} vectors hold" if len(found) != 1 else "the one vector holds", "bold green")
        )
        out.print(Text(f"{folder}: ") + verdict, soft_wrap=True)
    return FAILED if wrong else OK
