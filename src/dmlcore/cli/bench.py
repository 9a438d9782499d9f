"""`bench`: every operator beside what NumPy offers for it, on one quick workload each.

A first impression on the machine at hand; the project's benchmarks measure with more care and against more libraries.
"""

import time

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

import dmlcore

from .._generated import oracle
from .._generated.tables import OPERATORS
from .._generated.tools import TOOLS
from .output import Json, command, console, emit, progress
from .shapes import result_sizes
from .show import _complete_operator, operator_argument

__all__ = ["bench"]

COLUMNS = 64
OPERATORS_TO_MEASURE = typer.Argument(
    None, metavar="OPERATOR", help="All by default.", autocompletion=_complete_operator
)


def _put_along_axis(input, indices, updates):
    output = input.copy()
    np.put_along_axis(output, indices, updates, 0)
    return output


def _assign(input, indices, updates):
    output = input.copy()
    output[tuple(np.moveaxis(indices, -1, 0))] = updates
    return output


NUMPY = {  # how one writes it with NumPy, where the specification's own meaning is a slow loop or a worse idiom
    "GATHER": ("numpy.take", lambda input, indices: np.take(input, indices, 0)),
    "GATHER_ELEMENTS": ("numpy.take_along_axis", lambda input, indices: np.take_along_axis(input, indices, 0)),
    "SCATTER_ELEMENTS": ("numpy.put_along_axis on a copy", _put_along_axis),
    "SCATTER_ND": ("assignment to a[tuple(indices)] on a copy", _assign),
    "NONZERO_COORDINATES": ("numpy.argwhere", np.argwhere),
}


def workload(operator: str, elements: int) -> dict[str, np.ndarray] | None:
    """Inputs of about so many FLOAT32 elements; None when no shape that is tried fits the operator."""
    spec, tool, rng = OPERATORS[operator], TOOLS[operator], np.random.default_rng(0)
    rows = max(elements // COLUMNS, 1)
    names = [name for name, _, kind, _ in spec.members if kind == "input"]
    data = rng.standard_normal((rows, COLUMNS), np.float32)
    if tool.index is None:
        return {spec.parameters[names[0]]: np.where(rng.random(data.shape) < 0.1, data, 0).astype(np.float32)}
    for shape in [(rows, 1)] if tool.tuples else [(rows,), (rows, COLUMNS)]:
        shapes = {spec.parameters[name]: shape if name == tool.index else (rows, COLUMNS) for name in names}
        column = np.arange(rows).reshape(-1, *[1] * (len(shape) - 1))
        indices = rng.permuted(np.broadcast_to(column, shape), axis=0)
        arrays = {name: indices if name == spec.parameters[tool.index] else data for name in shapes}
        small = {parameter: array[:2] for parameter, array in arrays.items()}
        try:  # a small call tells whether the operator takes such shapes
            getattr(dmlcore, spec.function)(*(a % 2 if a.dtype.kind == "i" else a for a in small.values()))
        except ValueError:
            continue
        if result_sizes(operator, shapes, {}) is not None:
            return arrays
    return None


def seconds_of(call, limit: float) -> float:
    """The best of several runs within a time limit."""
    call()
    best, end = float("inf"), time.perf_counter() + limit
    while True:
        start = time.perf_counter()
        call()
        now = time.perf_counter()
        best = min(best, now - start)
        if now >= end:
            return best


@command
def bench(
    operators: list[str] = OPERATORS_TO_MEASURE,
    elements: int = typer.Option(1 << 20, "--elements", "-n", min=64, max=1 << 30, help="Elements of the input."),
    seconds: float = typer.Option(0.3, min=0, help="How long each is repeated."),
    threads: int = typer.Option(None, min=1, help="At most so many threads."),
    json_output: bool = Json,
) -> None:
    """Measure the operators quickly, beside NumPy.

    One workload each: FLOAT32 rows of 64 elements, INT64 indices in random order. The best of several runs counts.

    \b
    Example:
      dmlcore bench gather_nd scatter_nd --threads 1
    """
    names, rows = [operator_argument(name) for name in operators or TOOLS], []
    with progress("measuring") as told:
        for i, name in enumerate(names):
            told(len(names), i)
            arrays = workload(name, elements)
            if arrays is None:
                continue
            call = getattr(dmlcore, OPERATORS[name].function)
            how, other = NUMPY.get(name, ("its meaning in NumPy", getattr(oracle, TOOLS[name].oracle)))
            inputs = list(arrays.values())
            if not np.array_equal(call(*inputs), other(*inputs)):
                raise AssertionError(f"{name} differs from {how}")
            ours = seconds_of(lambda call=call, inputs=inputs: call(*inputs, num_threads=threads), seconds)
            theirs = seconds_of(lambda other=other, inputs=inputs: other(*inputs), seconds)
            size = sum(array.nbytes for array in inputs)
            rows.append({"operator": name, "input_bytes": size, "seconds": ours, "numpy": how, "numpy_seconds": theirs})
    if json_output:
        emit({"elements": elements, "threads": threads or dmlcore.get_num_threads(), "results": rows})
        return
    table = Table(
        "operator", "dmlcore", "NumPy", "times faster", "measured against", box=None, pad_edge=False, header_style="dim"
    )
    for row in rows:
        ratio = row["numpy_seconds"] / row["seconds"]
        table.add_row(
            Text(row["operator"], "bold"),
            f"{row['seconds'] * 1e3:.3f} ms",
            f"{row['numpy_seconds'] * 1e3:.3f} ms",
            Text(f"{ratio:.1f}", "green" if ratio >= 1 else "red"),
            Text(row["numpy"]),
        )
    console().print(table)
