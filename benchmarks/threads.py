"""How dmlcore scales: `python -m benchmarks.threads [--threads 1 2 4 8 16]`, best on a machine with 16 CPUs.

It needs NumPy and dmlcore alone; with a C compiler it measures the machine's own copies and loops beside them, and with
matplotlib it draws the chart.
"""

import argparse
import gc
import tempfile
from pathlib import Path

from . import cases, machine, measure, peers, results
from .limits import Limits, decides
from .results import time_text

BIG = 64 * cases.MIB
CELLS = {
    "gather, rows of 256 bytes": cases.Cell("gather", "DRAM", "float32", (2**20, 64), (2**18,)),
    "gather_elements, last axis": cases.Cell("gather_elements", "DRAM", "float32", (16384, 2048), (16384, 2048), axis=1),
    "gather_elements, 1 MiB": cases.Cell("gather_elements", "L2", "float32", (256, 512), (256, 512), axis=1),
    "gather_nd, random elements": cases.Cell("gather_nd", "DRAM", "float32", (8192, 8192), (2**22, 2)),
    "scatter_elements, first axis": cases.Cell("scatter_elements", "DRAM", "float32", (4096, 4096), (4096, 4096)),
    "scatter_nd, rows of 128 bytes": cases.Cell("scatter_nd", "DRAM", "float32", (2**20, 32), (2**19, 1)),
    "nonzero_coordinates, 10 %": cases.Cell("nonzero_coordinates", "DRAM", "float32", (8192, 8192), density=0.1),
    "nonzero_coordinates, 1 MiB": cases.Cell("nonzero_coordinates", "L2", "float32", (512, 512), density=0.1),
}


def main() -> None:
    options = arguments()
    module, _ = peers.load(peers.PRODUCT, max(options.threads))
    found = {"machine": machine.describe(), "threads": options.threads, "trial": options.trial, "series": []}
    print(machine.sentence(found["machine"]))
    print(f"{'':34}" + "".join(f"{t:>11}" for t in options.threads) + "  threads")
    measure.overhead.seconds = measure.overhead()
    with tempfile.TemporaryDirectory() as folder:
        limits = {threads: Limits(folder, threads) for threads in options.threads}
        for title, cell in CELLS.items():
            series = one(title, cell, module, limits, options)
            found["series"].append(series)
            show(series, options.threads)
            gc.collect()
    results.write(options.output, found)
    print(f"written: {options.output.name}")
    try:
        from . import plots
    except ImportError as error:
        print(f"no chart: {error}; later, with matplotlib: python -m benchmarks.plots")
    else:
        plots.scaling(found, options.output.parent)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__.split("\n\n")[0])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--output", type=Path, default=results.SCALING)
    parser.add_argument("--trial", action="store_true", help="note in the results that the machine was busy")
    return parser.parse_args()


def one(title, cell, module, limits, options) -> dict:
    """All numbers of threads of one cell, in turns."""
    task = cases.task(cell)
    entries, numbers = [], []
    for threads in options.threads:
        call = _with_threads(module, task, threads)
        why = peers.difference(call, call.run(), task.expected)
        if why:
            raise AssertionError(f"{title}: {why} with {threads} threads")
        entries.append(measure.Entry(peers.PRODUCT, call.label, call.output, call.run))
        numbers.append(threads)
        for call in limits[threads].calls(task):
            if call.output == entries[-1].output or decides(task) == "copy":
                entries.append(measure.Entry("limit", call.label, call.output, call.run))
                numbers.append(threads)
    measure.measure(entries, options.rounds, 0.01, 60)
    ours, limit = {}, {}
    for entry, threads in zip(entries, numbers, strict=True):
        into = ours if entry.peer == peers.PRODUCT else limit
        into[str(threads)] = min(measure.rounded(entry.median), into.get(str(threads), float("inf")))
    return {"title": title, "cell": cell.name, "limit": decides(task), "seconds": ours, "limit_seconds": limit}


def _with_threads(module, task, threads: int) -> peers.Call:
    """The product's call into a preallocated output where it has one, with its own number of threads."""
    call = [c for c in peers.calls(module, task) if c.output != "new"][-1]
    run = call.run

    def limited():
        module.dmlcore.set_num_threads(threads)
        return run()

    return peers.Call(call.label, call.output, limited, call.value)


def show(series: dict, threads: list[int]) -> None:
    times = "".join(f"{time_text(series['seconds'][str(t)]):>11}" for t in threads)
    print(f"{series['title']:34}{times}")
    first = series["seconds"][str(threads[0])]
    print(f"{'':34}" + "".join(f"{first / series['seconds'][str(t)]:>10.2f}x" for t in threads))
    if series["limit_seconds"]:
        times = "".join(f"{time_text(series['limit_seconds'][str(t)]):>11}" for t in threads)
        print(f"{'  C ' + series['limit']:34}{times}")


if __name__ == "__main__":
    main()
