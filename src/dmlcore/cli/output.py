"""What all commands share: consoles, JSON, exit statuses, and the one place where exceptions turn into messages.

Results go to standard output, messages and progress to standard error. With --json standard output is one JSON value,
errors included.
"""

import functools
import json
import os
import sys
import threading
from contextlib import contextmanager

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ..errors import ConstraintError, DmlcoreError, IndexOutOfRangeError
from ..graph import FileError
from ..levels import feature_level

__all__ = ["FAILED", "Json", "Level", "command", "console", "emit", "level_option", "progress", "waiting"]

OK, FAILED, USAGE, BAD_FILE, NOT_INSTALLED, NO_MEMORY, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130
STATUSES = (
    "Exit status: 0 done; 1 the answer is no (a rule is broken, an index is out of range, results differ); 2 wrong "
    "usage; 3 a file cannot be read or written; 4 a package is not installed; 5 not enough memory; 130 interrupted."
)

Json = typer.Option(False, "--json", help="Print one JSON value instead of text.")
Level = typer.Option(
    None, "--level", "-l", help="Feature level, such as 2.1 or DML_FEATURE_LEVEL_2_1; the newest by default."
)


def console() -> Console:
    """Standard output; wide enough for tables where it is no terminal."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 160
    return Console(width=width, highlight=False, soft_wrap=False)


def emit(value) -> None:
    """One JSON value on standard output."""
    typer.echo(json.dumps(value, indent=2, default=str, allow_nan=False))


def level_option(text: str | None):
    """The level that an option names."""
    try:
        return feature_level(text)
    except ValueError as error:
        raise typer.BadParameter(str(error).removeprefix("feature_level "), param_hint="'--level'") from None


def _outcome(error: BaseException) -> tuple[int, dict] | None:
    """Exit status and what to tell; None for what is a bug and deserves its traceback."""
    from ..vectors import OnnxMissing

    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, {"kind": "interrupted", "message": "interrupted"}
    if isinstance(error, (ConstraintError, IndexOutOfRangeError)):
        where = f"dispatchable {error.dispatchable!r}: " if hasattr(error, "dispatchable") else ""
        told = "\n".join(map(str, error.violations)) if isinstance(error, ConstraintError) else str(error)
        return FAILED, {**error.as_dict(), "kind": type(error).__name__, "message": where + told}
    if isinstance(error, FileError):
        return BAD_FILE, {"kind": "FileError", "message": str(error), "file": error.path}
    if isinstance(error, OnnxMissing):
        return NOT_INSTALLED, {"kind": "NotInstalled", "message": str(error)}
    if isinstance(error, MemoryError):
        return NO_MEMORY, {"kind": "MemoryError", "message": f"not enough memory: {error}".rstrip(": ")}
    if isinstance(error, DmlcoreError):
        return FAILED, {"kind": type(error).__name__, "message": str(error)}
    if isinstance(error, (ValueError, TypeError, OverflowError)):
        return USAGE, {"kind": "UsageError", "message": str(error)}
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return BAD_FILE, {"kind": "OSError", "message": f"{where}{(error.strerror or str(error)).lower()}"}
    return None


def message(text: str) -> None:
    """A line on standard error."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(f"dmlcore: {text}", markup=False)


def command(function):
    """A command whose exceptions become messages and exit statuses."""

    @functools.wraps(function)
    def run(*args, **kwargs):
        try:
            status = function(*args, **kwargs)
        except (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError):
            raise
        except BaseException as error:
            outcome = _outcome(error)
            if outcome is None:
                raise
            status, facts = outcome
            if kwargs.get("json_output"):
                emit({"error": facts})
            message(f"error: {facts['message']}")
        raise typer.Exit(status or OK)

    return run


class _Late:
    """Something that is started when a second has passed, and stopped with the block."""

    def __init__(self, shown):
        self._shown, self._lock, self._done = shown, threading.Lock(), False
        self._timer = threading.Timer(1.0, self._start)
        self._timer.daemon = True
        self._timer.start()

    def _start(self):
        with self._lock:
            if not self._done:
                self._shown.start()

    def stop(self):
        self._timer.cancel()
        with self._lock:
            self._done = True
            self._shown.stop()


def _terminal() -> Console | None:
    screen = Console(stderr=True)
    return screen if screen.is_terminal else None


@contextmanager
def waiting(text: str):
    """A spinner with the time, for what takes longer than a second and cannot say how far it is."""
    screen = _terminal()
    if screen is None:
        yield
        return
    shown = Progress(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=screen, transient=True
    )
    shown.add_task(text, total=None)
    late = _Late(shown)
    try:
        yield
    finally:
        late.stop()


@contextmanager
def progress(text: str):
    """A bar for what takes longer than a second; yields a function (total, done)."""
    screen = _terminal()
    if screen is None:
        yield lambda total, done: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    shown = Progress(*columns, console=screen, transient=True)
    task, late = shown.add_task(text, total=None), _Late(shown)
    try:
        yield lambda total, done: shown.update(task, total=total, completed=done)
    finally:
        late.stop()


def plain_array(array: np.ndarray, limit: int = 1000) -> dict:
    """An array for JSON: with its values if they are few; what JSON has no number for as text."""
    value = {"dtype": str(array.dtype), "shape": list(array.shape)}
    if array.size <= limit:
        number = array.dtype.kind in "iub" or (array.dtype.kind == "f" and bool(np.isfinite(array).all()))
        value["values"] = (
            array.tolist()
            if number
            else np.array(list(map(str, array.ravel().tolist())), object).reshape(array.shape).tolist()
        )
    return value
