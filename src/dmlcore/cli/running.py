"""`run`: an operator on .npy files, one command per operator with the options that its array function has.

The commands are made from the generated tables. Large inputs are memory-mapped; a large output is mapped too and filled
in place, and appears under its name only when it is complete.
"""

import inspect
from pathlib import Path

import numpy as np
import typer

import dmlcore

from .._generated.operators import MODES
from .._generated.tables import OPERATORS
from .._generated.tools import TOOLS
from ..graph import FileError, find_operator, open_npy, save_npy
from ..graph.files import replacing
from .output import Json, command, console, emit, plain_array, waiting
from .shapes import result_sizes

__all__ = ["run"]

MAP_FROM = 16 << 20  # bytes of an output

HELP = {
    "mode": "What happens to an index that is out of range: {modes}.",
    "fill_value": "The number that --mode fill writes.",
    "reduction": "What an update does to the element it hits: none (it overwrites), add, mul, min or max.",
    "duplicates": "Several updates for one element: last (the last one stays) or raise.",
    "dtype": "Data type of the coordinates: uint32 or int64.",
    "batch_dims": "How many leading dimensions input and indices share.",
}
DEFAULTS = {"batch_dims": 0, "mode": "raise"}
SHOWN = {"fill_value": "0", "reduction": "none", "duplicates": "last", "dtype": "uint32"}  # what the functions do by themselves


class _Operators(typer.core.TyperGroup):
    """Finds an operator's command under every name that the operator has."""

    def get_command(self, ctx, name):
        operator = find_operator(name)
        return super().get_command(ctx, operator.lower() if operator else name)


run = typer.Typer(
    cls=_Operators,
    no_args_is_help=True,
    rich_markup_mode=None,
    short_help="Run an operator on .npy files.",
    help="Run an operator on .npy files, which numpy.save writes; `dmlcore run gather_nd --help` has the options of one.",
)


def number(text: str):
    """A number that was typed: an integer, a float, a complex number."""
    for kind in (int, float, complex):
        try:
            return kind(text)
        except ValueError:
            pass
    raise typer.BadParameter(f"{text!r} is not a number", param_hint="'--fill-value'")


def _parameters(operator: str) -> list[inspect.Parameter]:
    """The command's options: a file for each input, axes, the function's options, where the result goes."""
    spec, tool = OPERATORS[operator], TOOLS[operator]
    options = []
    for name, _, kind, text in spec.members:
        if kind == "input":
            options.append((spec.parameters[name], str, typer.Option(..., metavar="FILE.npy", help=text)))
        elif kind == "axis":
            options.append(
                (spec.parameters[name], int, typer.Option(0, help=f"{text} Negative ones count from the end."))
            )
    for name in tool.options:
        if name not in ("out", "num_threads"):
            default = DEFAULTS.get(name)
            type_ = int if isinstance(default, int) else str
            text = HELP.get(name, f"As in dmlcore.{spec.function}.").format(modes=", ".join(MODES[operator]))
            options.append((name, type_, typer.Option(default, help=text, show_default=SHOWN.get(name, True))))
    options.append(
        (
            "output",
            Path,
            typer.Option(None, "--output", "-o", metavar="FILE.npy", help="Where the result goes; printed without it."),
        )
    )
    options.append(("threads", int, typer.Option(None, min=1, help="At most so many threads.")))
    options.append(("json_output", bool, Json))
    keyword = inspect.Parameter.KEYWORD_ONLY
    return [inspect.Parameter(name, keyword, default=default, annotation=type_) for name, type_, default in options]


def _make(operator: str):
    """The function behind an operator's command."""
    spec = OPERATORS[operator]
    names = [spec.parameters[name] for name, _, kind, _ in spec.members if kind == "input"]

    def function(*, output, threads, json_output, **given):
        if output is not None and not output.parent.is_dir():
            raise FileError(output, f"cannot be written: there is no folder {output.parent}")
        arrays = {name: open_npy(given.pop(name)) for name in names}
        options = {name: value for name, value in given.items() if value is not None}
        if "fill_value" in options:
            options["fill_value"] = number(options["fill_value"])
        with waiting(f"running {operator}"):
            if output is None:
                result = getattr(dmlcore, spec.function)(*arrays.values(), **options, num_threads=threads)
            else:
                result = _to_file(operator, arrays, options, output, threads)
        facts = {"operator": operator, "output": None if output is None else str(output)}
        if json_output:
            emit({**facts, **plain_array(result, 1000 if output is None else 0)})
        elif output is None:
            console().print(np.array2string(result, separator=", "), markup=False, soft_wrap=True)
        else:
            console().print(f"{output}: {result.dtype}, shape {result.shape}", markup=False, soft_wrap=True)

    function.__signature__ = inspect.Signature(_parameters(operator))
    function.__annotations__ = {p.name: p.annotation for p in _parameters(operator)}
    function.__doc__ = (
        f"{spec.summary}\n\nArrays have their natural ranks; nothing is padded. Large files are memory-mapped. Exit "
        "status 1: an index is out of range, or the arrays break a rule; 3: a file cannot be read or written.\n\n"
        f"\b\nExample:\n  dmlcore run {operator.lower()} {' '.join(f'--{name} {name}.npy' for name in names)} -o result.npy"
    )
    return command(function)


def _to_file(operator: str, arrays: dict, options: dict, output: Path, threads: int | None) -> np.ndarray:
    """The result in a file: computed there where it is large, so that it never is in memory as a whole."""
    call, kind = getattr(dmlcore, OPERATORS[operator].function), next(iter(arrays.values())).dtype
    sizes = None
    if "out" in TOOLS[operator].options and TOOLS[operator].rows is None:
        sizes = result_sizes(operator, {name: array.shape for name, array in arrays.items()}, options)
    if sizes is None or int(np.prod(sizes, dtype=object)) * kind.itemsize < MAP_FROM:
        result = call(*arrays.values(), **options, num_threads=threads)
        save_npy(output, result)
        return result
    with replacing(output) as temporary:
        out = np.lib.format.open_memmap(temporary, "w+", kind, sizes, version=(1, 0))
        call(*arrays.values(), **options, out=np.asarray(out), num_threads=threads)
        out.flush()
    return out


for _name in TOOLS:
    run.command(_name.lower(), short_help=OPERATORS[_name].summary)(_make(_name))
