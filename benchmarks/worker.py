"""One process of the suite: all peers with one number of threads, cell after cell. Started by `python -m benchmarks`,
which sets the environment that limits the libraries before any of them is imported.
"""

import gc
import json
import sys
import tempfile
import time

from . import cases, measure, peers
from .limits import Limits, decides
from .report import line
from .results import OUTPUTS, Record

SECONDS = 260  # for the cells of one process of the whole suite: a slower machine gets fewer turns
SHARE = 0.15  # of them is for turns; the rest goes to making data, compiling, checking answers and calls that take long


def run(cells: list, sizes: list, names: list[str], threads: int, quick: bool, cpu: bool, target: str) -> None:
    """Measures the cells, and the series of sizes, and leaves the records in the file `target`."""
    started = time.perf_counter()
    rounds, turn, most = (3, 0.004, 0.5) if quick else (4, 0.008, 0.6)
    modules, versions, missing = {}, {}, {}
    measure.cpu_clock = cpu
    for name in (peers.PRODUCT, *names):
        module, text = peers.load(name, threads)
        if module is None:
            missing[name] = text
        else:
            modules[name], versions[name] = module, text
    if peers.PRODUCT in missing:
        sys.exit(f"dmlcore cannot be imported: {missing[peers.PRODUCT]}")
    gc.freeze()  # the libraries' own objects, millions: not looked through after every cell
    measure.overhead.seconds = measure.overhead()
    records = []
    with tempfile.TemporaryDirectory() as folder:
        limits = Limits(folder, threads)
        if limits.missing:
            missing["C limits"] = limits.missing
        beside = ", ".join(f"{name} {version}" for name, version in versions.items() if name != peers.PRODUCT)
        say(f"\n{threads} thread{'s'[: threads > 1]}: {beside}")
        for name, why in missing.items():
            say(f"  without {name}: {why}")
        for done, cell in enumerate(cells):
            left = (SECONDS - (time.perf_counter() - started)) / (len(cells) - done)
            seconds = min(most, max(0.25, SHARE * left))
            record = one(cell, modules, limits, threads, rounds, turn, seconds)
            records.append(record)
            for output in OUTPUTS:
                text = line(record, output)
                if text:
                    say(text)
            gc.collect()
        if sizes:
            say("  cost per item at every size:")
        series = [one(cell, modules, limits, threads, 3, 0.004, 0.2) for cell in sizes]
        for record in series:
            text = line(record, "fresh")
            if text:
                say(text)
    out = {
        "threads": threads,
        "versions": versions,
        "missing": missing,
        "limits_compiler": limits.compiler,
        "seconds": round(time.perf_counter() - started),
        "records": records,
        "sizes": series,
    }
    with open(target, "w") as file:
        json.dump(out, file)


def one(cell, modules, limits, threads, rounds, turn, seconds) -> Record:
    """Checks every call of a cell against the right answer, then measures those that gave it."""
    task = cases.task(cell)
    entries, refused = [], {}
    for name, module in modules.items():
        try:
            offers = peers.calls(module, task)
        except Exception as error:  # whatever a library raises is its answer
            refused[name] = first_line(error)
            continue
        for call in offers:
            why = wrong(call, task)
            if why:
                refused.setdefault(name, f"{call.label}: {why}")
            else:
                checked = max(0.0, call.seconds - getattr(module, "COMPILES", measure.FIRST))
                lingers = getattr(module, "LINGERS", 0.0) if threads > 1 else 0.0
                entries.append(measure.Entry(name, call.label, call.output, call.run, checked=checked, lingers=lingers))
    for call in limits.calls(task):
        if call.label == "C loop" and wrong(call, task):
            raise AssertionError(f"{cell.name}: the C loop is wrong")
        entries.append(measure.Entry("limit", call.label, call.output, call.run))
    measure.measure(entries, rounds, turn, seconds)
    return {
        "cell": cell.name,
        "title": cell.title,
        "op": cell.op,
        "level": cell.level,
        "dtype": cell.dtype,
        "index": "" if cell.op == "nonzero_coordinates" else cell.index,
        "layout": cell.layout,
        "threads": threads,
        "traffic": task.traffic,
        "items": task.x.size if task.i is None else task.i.size // cell.tuple_size,
        "limit": decides(task),
        "calls": [entry.as_dict() for entry in entries if entry.turns],
        "refused": refused,
    }


def wrong(call, task) -> str:
    """Why the call cannot be measured; empty if its answer is right. Notes in the call how long it took."""
    try:
        start = time.perf_counter()
        outcome = call.run()
        call.seconds = time.perf_counter() - start
        return peers.difference(call, outcome, task.expected)
    except Exception as error:  # as above
        return first_line(error)


def first_line(error: Exception) -> str:
    """What a library says, short enough for a table."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 140 else text[:137] + "..."


def say(text: str) -> None:
    print(text, flush=True)
