"""`run-graph`: a DxDispatch model, executed on the CPU.

Prints what the model prints and writes what it writes, below the output folder only unless more is allowed.
"""

import typer

from ..graph import load_graph
from .output import Json, Level, command, console, emit, level_option, waiting

__all__ = ["run_graph"]


@command
def run_graph(
    model: str = typer.Argument(metavar="MODEL", help="A DxDispatch model, JSON."),
    level: str = Level,
    input_path: str = typer.Option(None, help="Where files are that resources name; the model's folder by default."),
    output_path: str = typer.Option(".", "--output-path", "-o", help="Where writeFile writes."),
    mode: str = typer.Option(
        "raise", help="What happens to an index that is out of range: raise; clip or fill (0) for gathers, drop for scatters."
    ),
    threads: int = typer.Option(None, min=1, help="At most so many threads."),
    memory_limit: float = typer.Option(8, min=0, help="GiB that all resources together may have."),
    allow_outside: bool = typer.Option(False, "--allow-outside", help="Let writeFile write outside the output folder."),
    json_output: bool = Json,
) -> None:
    """Run a DxDispatch model on the CPU.

    Resources (lists, constants, sequences, .npy and raw files), dispatchables that are operators of dmlcore, and the
    commands dispatch, print and writeFile are executed; descriptors are validated at the feature level first.

    \b
    Examples (the first one makes models to try):
      dmlcore vectors gather_nd --level 2.1 -o v
      dmlcore run-graph v/valid/gather_nd-2.1-0000.json -o out
    """
    graph = load_graph(
        model, level_option(level), input_dir=input_path, mode=mode, memory_limit=int(memory_limit * (1 << 30))
    )
    events, out = [], console()
    with waiting(f"running {model}"):
        for event in graph.run(output_path, allow_outside=allow_outside, num_threads=threads):
            events.append(event.as_dict())
            if not json_output:
                out.print(event.text, markup=False, soft_wrap=True)
    if json_output:
        emit({"model": model, "events": events})
