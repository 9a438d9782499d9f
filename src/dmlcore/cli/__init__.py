"""The command `dmlcore`: operators and rules to read, descriptors to check, files to run, vectors to make.

Needs typer and rich (the extra `cli`); without them it says what to install.
"""

import sys

__all__ = ["main"]

NOT_INSTALLED = 4


def main() -> None:
    """The entry point of the command line; ends the program with one of the statuses that `dmlcore --help` lists."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        print(f"dmlcore: the command line needs {error.name}: pip install 'dmlcore[cli]'", file=sys.stderr)
        sys.exit(NOT_INSTALLED)
    from .app import app

    app(prog_name="dmlcore")
