"""The command line: turns spec/ into the generated files, or says what is stale, wrong or to be known.

Every mistake of the specification ends a command with exit code 1 and a list, never with a traceback.
"""

import difflib
import sys
from pathlib import Path

try:
    import click
    import jinja2  # noqa: F401 - what the commands need, asked for once
    import pydantic  # noqa: F401
    import yaml  # noqa: F401
except ImportError as error:
    sys.exit(
        f"The code generator needs {error.name}. Run `make regenerate`, which brings its packages along, or install them: "
        "python -m pip install -e '.[codegen]'"
    )

from .load import SpecError, load
from .mistakes import suggest
from .model import Spec

ROOT = Path(__file__).resolve().parent.parent
AREAS = ("src/dmlcore/_generated", "docs/operators", "docs")  # where a generated file that nothing renders any more is removed
PAGES = "docs/"
COMMAND = "python -m codegen"


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.pass_context
def cli(context: click.Context) -> None:
    """Generates everything that derives from the files in spec/.

    Without a command it does what `write` does.
    """
    if context.invoked_subcommand is None:
        context.invoke(write)


@cli.command()
def write() -> None:
    """Write all generated files that are not up to date."""
    _write(render(ROOT), AREAS)


@cli.command()
def docs() -> None:
    """Write the generated pages of the documentation alone."""
    _write({path: text for path, text in render(ROOT).items() if path.startswith(PAGES)}, ("docs/operators", "docs"))


@cli.command()
def check() -> None:
    """Show what is not up to date, as a diff; exit with 1 if anything is."""
    files = render(ROOT)
    changes = stale(ROOT, files)
    for path, (old, new) in changes.items():
        before, after = (text.splitlines(keepends=True) if text is not None else [] for text in (old, new))
        name_old, name_new = (path if text is not None else "/dev/null" for text in (old, new))
        for line in difflib.unified_diff(before, after, name_old, name_new):
            click.echo(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n", nl=False)
    if changes:
        click.echo(f"{len(changes)} generated file(s) are not up to date: {', '.join(changes)}", err=True)
        click.echo(f"Run: {COMMAND}", err=True)
        sys.exit(1)
    click.echo(f"{len(files)} generated files are up to date.")


@cli.command()
@click.argument("operator", required=False)
@click.option("--level", "-l", help="Only what holds at this feature level: 3.0, FL3.0 or DML_FEATURE_LEVEL_3_0.")
def show(operator: str | None, level: str | None) -> None:
    """Print an operator's members, tables, rules and examples; without OPERATOR, the list of operators."""
    from .show import show, show_all

    spec = load(ROOT)
    if operator is None:
        click.echo(show_all(spec))
        return
    known = {name: op for op in spec.operators for name in (op.name, *op.aliases)}
    found = known.get(operator.upper().removeprefix("DML_OPERATOR_"))
    if found is None:
        raise click.BadParameter(
            f"unknown operator {operator}; {suggest(operator.upper(), known)}", param_hint="OPERATOR"
        )
    click.echo(show(spec, found, find_level(spec, level) if level else None))


@cli.command()
@click.argument("operator")
def new(operator: str) -> None:
    """Start the two files of a new operator: its specification and its kernel."""
    from .formats import LevelsFormat
    from .scaffold import write_new
    from .shared import link_levels
    from .typed import type_document
    from .yamlfile import read

    name = operator.upper().removeprefix("DML_OPERATOR_")
    if not name.replace("_", "").isalnum() or not name.isascii() or not name[0].isalpha():
        raise click.BadParameter(f"{operator} is not an operator's name, as GATHER_ND is", param_hint="OPERATOR")
    document = read(ROOT / "spec/levels.yaml", "spec/levels.yaml")
    levels = link_levels(document, type_document(document, LevelsFormat))
    introduced = next((level.name for level in levels if name in level.operators), None)
    try:
        paths = write_new(ROOT, name, introduced)
    except FileExistsError as error:
        raise click.ClickException(str(error)) from None
    for path in paths:
        click.echo(f"new      {path}")
    if introduced is None:
        click.echo(f"{name} is no operator that spec/levels.yaml knows; fill in `introduced` by hand.")
    click.echo(f"Fill in every TODO; `{COMMAND}` lists those that are left. spec/README.md explains the format.")


def render(root: Path) -> dict[str, str]:
    """All generated files of the specification in `root`."""
    from .outputs import render_all

    return render_all(load(root))


def stale(
    root: Path, files: dict[str, str], areas: tuple[str, ...] = AREAS
) -> dict[str, tuple[str | None, str | None]]:
    """What differs from `files`: path -> (text on disk, text as it should be); None where there is no file."""
    changes: dict[str, tuple[str | None, str | None]] = {}
    for path, text in sorted(files.items()):
        file = root / path
        old = file.read_bytes() if file.is_file() else None
        if old is None or old.replace(b"\r\n", b"\n") != text.encode():
            changes[path] = (None if old is None else old.decode(errors="replace"), text)
    for area in areas:
        for file in sorted((root / area).glob("*")):
            path = file.relative_to(root).as_posix()
            if path not in files and file.is_file() and is_generated(file):
                changes[path] = (file.read_text(encoding="utf-8", errors="replace"), None)
    return changes


def is_generated(file: Path) -> bool:
    """Whether a file says of itself that it comes from here; others (a compiler's output) are left alone."""
    with file.open("rb") as stream:
        head = stream.read(400)
    return f"by `{COMMAND}`; do not edit".encode() in head


def _write(files: dict[str, str], areas: tuple[str, ...]) -> None:
    changes = stale(ROOT, files, areas)
    for path, (_, text) in changes.items():
        file = ROOT / path
        if text is None:
            file.unlink()
            click.echo(f"deleted  {path}")
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        click.echo(f"written  {path}")
    click.echo(f"{len(files)} generated files, {len(changes)} changed.")


def find_level(spec: Spec, text: str):
    """A level by any of its spellings."""
    for level in spec.levels:
        if text in (level.name, level.number, level.python_name, level.dml_name, f"{level.value:#x}"):
            return level
    numbers = [level.number for level in spec.levels]
    raise click.BadParameter(f"unknown feature level {text}; {suggest(text, numbers)}", param_hint="--level")


def main() -> None:
    try:
        cli(prog_name=COMMAND)
    except SpecError as error:
        click.echo(str(error), err=True)
        count = len(error.mistakes)
        click.echo(f"{count} mistake{'s' if count > 1 else ''} in the specification; nothing was written.", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
