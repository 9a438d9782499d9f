"""Puts the commands together: one typer application, with completion for the usual shells.

Every command is a thin layer over dmlcore, dmlcore.graph and dmlcore.vectors; this file only lists them.
"""

import typer

from ..version import __version__
from . import bench, checks, graphs, info, running, show, vectors
from .output import STATUSES

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="DirectML's indexing operators on the CPU: read their rules, check descriptors, run them on files, make test "
    "vectors.\n\n" + STATUSES,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dmlcore {__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", help="Print the version.", is_eager=True, callback=_version),
) -> None:
    pass


for name, function in (
    ("ops", show.ops),
    ("show", show.show),
    ("check", checks.check),
    ("level", checks.level),
    ("run-graph", graphs.run_graph),
    ("vectors", vectors.vectors),
    ("verify", vectors.verify),
    ("info", info.info),
    ("bench", bench.bench),
):
    app.command(name)(function)
app.add_typer(running.run, name="run")
