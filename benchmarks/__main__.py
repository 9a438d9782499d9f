"""Runs the suite: `python -m benchmarks [--quick] [--threads 1 2] [--cells pattern] [--drawn 100] [--peers numpy torch]`.

Every number of threads gets a process of its own, because most libraries read their limits only once. The results go
to a JSON file; charts and the page are made from it.
"""

import argparse
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import peers, results
from .cases import CELLS, SIZES
from .drawn import draw

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    options = arguments()
    cells = [c for c in (draw(options.drawn, options.seed) if options.drawn else CELLS) if chosen(c, options)]
    if not cells:
        sys.exit(f"no cell matches {options.cells!r}")
    if options.list:
        print("\n".join(c.name for c in cells))
        return 0
    if options.worker:
        from . import worker

        # The series of sizes belongs to the whole suite, with one thread.
        sizes = SIZES if options.threads == [1] and not (options.quick or options.cells or options.drawn) else []
        worker.run(cells, sizes, options.peers, options.threads[0], options.quick, options.cpu, options.worker)
        return 0
    return everything(options)


def arguments() -> argparse.Namespace:
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="dmlcore beside its peers and the machine's limits"
    )
    parser.add_argument("--quick", action="store_true", help="a fifth of the cells, short turns: at most a minute")
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, cpus}), help="default: 1 and all CPUs")
    parser.add_argument("--cells", default="", help="only cells whose name contains this or matches it with * and ?")
    parser.add_argument(
        "--peers",
        nargs="*",
        default=list(peers.NAMES),
        choices=peers.NAMES,
        metavar="PEER",
        help=", ".join(peers.NAMES),
    )
    parser.add_argument("--output", type=Path, help="the results file; default: benchmarks/results/bench.json "
                        "for the whole suite, else build/bench.json")  # fmt: skip
    parser.add_argument("--drawn", type=int, default=0, metavar="COUNT", help="so many cells drawn at random instead")
    parser.add_argument("--seed", type=int, default=0, help="another seed draws other cells")
    parser.add_argument("--cpu", action="store_true", help="CPU time, not the wall clock: for one thread on a busy machine")
    parser.add_argument("--trial", action="store_true", help="note in the results that the machine was busy")
    parser.add_argument("--list", action="store_true", help="print the names of the cells and stop")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


def chosen(cell, options) -> bool:
    named = not options.cells or options.cells in cell.name or fnmatch.fnmatch(cell.name, options.cells)
    return named and (cell.quick or not options.quick or bool(options.drawn))


def everything(options) -> int:
    """One process per number of threads, then one file."""
    from . import machine
    from .report import summary

    started = time.perf_counter()
    if options.cpu and options.threads != [1]:
        sys.exit("--cpu is for one thread: add --threads 1")
    whole = not (options.quick or options.cells or options.drawn or options.cpu) and set(options.peers) == set(peers.NAMES)
    target = options.output or (results.PUBLISHED if whole else ROOT / "build" / "bench.json")
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        for threads in options.threads:
            part = Path(folder, f"{threads}.json")
            command = [sys.executable, "-m", "benchmarks", "--worker", str(part), "--threads", str(threads)]
            command += ["--cells", options.cells, *["--quick"][: options.quick], *["--cpu"][: options.cpu]]
            command += ["--drawn", str(options.drawn), "--seed", str(options.seed), "--peers", *options.peers]
            compiled = ROOT / "build" / ("numba-parallel" if threads > 1 else "numba")  # it would mix them up
            environment = os.environ | peers.environment(threads) | {"NUMBA_CACHE_DIR": str(compiled)}
            status = subprocess.run(command, env=environment, check=False).returncode
            if status:
                print(f"the process for {threads} threads ended with {status}", file=sys.stderr)
                return 1
            parts.append(json.loads(part.read_text()))
    first = parts[0]
    found = {
        "machine": machine.describe(),
        "versions": first["versions"],
        "missing": {name: why for part in parts for name, why in part["missing"].items()},
        "limits_compiler": first["limits_compiler"],
        "trial": options.trial,
        "quick": options.quick,
        "clock": "cpu" if options.cpu else "wall",
        "seconds": {str(part["threads"]): part["seconds"] for part in parts},
        "records": [record for part in parts for record in part["records"]],
        "sizes": [record for part in parts for record in part["sizes"]],
    }
    results.write(target, found)
    print(f"\n{summary(found)}")
    shown = target.resolve().relative_to(ROOT) if target.resolve().is_relative_to(ROOT) else target
    print(f"{len(found['records'])} records in {shown}, {time.perf_counter() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
