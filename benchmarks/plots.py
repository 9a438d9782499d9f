"""The charts, from the results files: `python -m benchmarks.plots` draws PNG and SVG into benchmarks/results.

speedup: every cell as a dot, for the README; cells: the same with names; sizes: cost per item at every size; threads:
scaling, if benchmarks/threads.py has left its results.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter

from . import machine, results
from .cases import LEVELS
from .peers import NAMES, PRODUCT

INK, FAINT, GRID = "#1f2933", "#7b8794", "#e4e7eb"
LEVEL_COLOURS = dict(zip(LEVELS, ("#7b8794", "#2a9d8f", "#3a6ea5", "#d1495b"), strict=True))
PEER_COLOURS = dict(zip(NAMES, ("#4c78a8", "#e45756", "#72b7b2", "#54a24b", "#b279a2", "#9d755d", "#eeca3b"), strict=True))
OURS = "#111111"
SOLID, LIMIT = {"color": "#d1495b", "linewidth": 2.2}, {"color": FAINT, "linestyle": "--"}
STYLE = {
    "font.size": 9, "axes.edgecolor": FAINT, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK,
    "ytick.color": INK, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": GRID,
    "axes.axisbelow": True,
    "svg.hashsalt": "dmlcore", "figure.facecolor": "white", "legend.frameon": False,
}  # fmt: skip
TIMES = FuncFormatter(lambda x, _: f"{x:g}x")


def speedup(found: dict, folder: Path) -> None:
    """One row per operator, one panel per number of threads, a dot per cell and output."""
    threads = sorted({r["threads"] for r in found["records"]})
    operators = list(dict.fromkeys(r["op"] for r in found["records"]))[::-1]
    figure, axes = plt.subplots(
        1, len(threads), figsize=(max(8.6, 5.2 * len(threads)), 0.55 * len(operators) + 1.5), sharey=True, squeeze=False
    )
    rng = np.random.default_rng(1)
    for axis, count in zip(axes[0], threads, strict=True):
        pairs = list(results.pairs(found, count))
        axis.axvspan(1e-3, 1, color="#fdecea", zorder=0)
        axis.axvline(1, color=INK, linewidth=1)
        for record, output, ratio in pairs:
            colour = LEVEL_COLOURS[record["level"]]
            y = operators.index(record["op"]) + rng.uniform(-0.28, 0.28)
            face = colour if output == "fresh" else "white"
            axis.plot(ratio, y, "o", markersize=5, color=colour, markerfacecolor=face, alpha=0.9)
        mean = results.geometric_mean(r for _, _, r in pairs)
        lost = sum(r < 1 for _, _, r in pairs)
        title = f"{count} thread{'s'[: count > 1]}: {mean:.2f}x in the mean, behind in {lost} of {len(pairs)}"
        axis.set_title(title, fontsize=10)
        _speed_axis(axis, [r for _, _, r in pairs])
        axis.set_yticks(range(len(operators)), operators)
        axis.grid(axis="y", visible=False)
    marks = [Line2D([], [], marker="o", linestyle="", color=c, label=level) for level, c in LEVEL_COLOURS.items()]
    marks += [Line2D([], [], marker="o", linestyle="", color=INK, label="fresh output")]
    marks += [Line2D([], [], marker="o", linestyle="", color=INK, markerfacecolor="white", label="reused output")]
    figure.legend(handles=marks, loc="lower center", ncols=len(marks), fontsize=8.5, bbox_to_anchor=(0.5, 0.055))
    figure.suptitle("How many times faster than the fastest other library, per cell", fontsize=11.5, fontweight="bold")
    _save(figure, found, folder, "speedup", bottom=0.13)


def cells(found: dict, folder: Path) -> None:
    """Every cell by name, fresh outputs (dot) and reused ones (ring), for all CPUs."""
    count = max(r["threads"] for r in found["records"])
    records = [r for r in found["records"] if r["threads"] == count and results.speed_up(r, "fresh")]
    figure, axis = plt.subplots(figsize=(9.5, 0.2 * len(records) + 1.8))
    axis.axvspan(1e-3, 1, color="#fdecea", zorder=0)
    axis.axvline(1, color=INK, linewidth=1)
    shown = []
    for y, record in enumerate(reversed(records)):
        colour = LEVEL_COLOURS[record["level"]]
        for output in ("fresh", "reused"):
            ratio = results.speed_up(record, output)
            if ratio:
                shown.append(ratio)
                face = colour if output == "fresh" else "white"
                axis.plot(ratio, y, "o", markersize=5, color=colour, markerfacecolor=face)
        best = results.best_peer(record, "fresh")["peer"]
        place = {"xycoords": ("axes fraction", "data"), "xytext": (4, 0), "textcoords": "offset points"}
        axis.annotate(best, (1, y), va="center", fontsize=6.5, color=FAINT, **place)
    axis.set_yticks(range(len(records)), [r["cell"] for r in reversed(records)], fontsize=6.5)
    axis.set_ylim(-1, len(records))
    _speed_axis(axis, shown)
    axis.set_xlabel("times faster than the fastest other library (named on the right); dot: fresh output, ring: reused output")
    axis.set_title(f"Every cell, {count} threads", fontsize=11.5, fontweight="bold")
    _save(figure, found, folder, "cells", bottom=0.02)


def sizes(found: dict, folder: Path) -> None:
    """Nanoseconds per item against the number of items, one thread: dmlcore, each peer's fastest call, the C loop."""
    operators = list(dict.fromkeys(r["op"] for r in found["sizes"]))
    if not operators:
        return
    figure, axes = plt.subplots(1, len(operators), figsize=(3.5 * len(operators), 3.9), sharey=True)
    used = set()
    for axis, op in zip(np.atleast_1d(axes), operators, strict=True):
        records = sorted((r for r in found["sizes"] if r["op"] == op), key=lambda r: r["items"])
        for name in ("limit", *NAMES, PRODUCT):
            points = [(r["items"], _fastest(r, name) / r["items"] * 1e9) for r in records if _fastest(r, name)]
            if not points:
                continue
            used.add(name)
            style = {"color": PEER_COLOURS.get(name), "linewidth": 1.2}
            if name == PRODUCT:
                style = {"color": OURS, "linewidth": 2.4, "zorder": 5}
            elif name == "limit":
                style = {"color": FAINT, "linewidth": 1.2, "linestyle": "--"}
            axis.plot(*zip(*points, strict=True), label=name, **style)
        axis.set(xscale="log", yscale="log", title=op, xlabel="indices" if op != "nonzero_coordinates" else "elements")
        axis.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    np.atleast_1d(axes)[0].set_ylabel("ns per item (fresh output, 1 thread)")
    handles = [Line2D([], [], color=OURS, linewidth=2.4, label=PRODUCT)]
    handles += [Line2D([], [], color=PEER_COLOURS[n], label=n) for n in NAMES if n in used]
    handles += [Line2D([], [], color=FAINT, linestyle="--", label="C loop or copy")] if "limit" in used else []
    figure.legend(handles=handles, loc="lower center", ncols=len(handles), fontsize=8.5, bbox_to_anchor=(0.5, 0.055))
    figure.suptitle("Cost per item from 8 items to 32 million", fontsize=11.5, fontweight="bold")
    _save(figure, found, folder, "sizes", bottom=0.13)


def scaling(found: dict, folder: Path) -> None:
    """Speed-up over one thread, dmlcore (solid) and the machine's own copy or loop (dashed)."""
    series, threads = found["series"], found["threads"]
    columns = 4
    rows = -(-len(series) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.0 * columns, 2.5 * rows + 1), sharex=True, sharey=True)
    for axis, one in zip(axes.flat, series, strict=False):
        axis.plot(threads, threads, color=GRID, linewidth=1.5)
        for key, style in (("limit_seconds", LIMIT), ("seconds", SOLID)):
            if one[key]:
                first = one[key][str(threads[0])]
                axis.plot(threads, [first / one[key][str(t)] for t in threads], marker="o", markersize=4, **style)
        axis.set_title(one["title"], fontsize=9)
        axis.set(xscale="log", yscale="log", xticks=threads, yticks=threads)
        for side in (axis.xaxis, axis.yaxis):
            side.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
            side.set_minor_formatter(NullFormatter())
    for axis in axes.flat[len(series) :]:
        axis.set_visible(False)
    figure.supxlabel("threads", y=0.09, fontsize=9)
    figure.supylabel("times faster than with one thread", fontsize=9)
    lines = ((SOLID, PRODUCT), (LIMIT, "C loop or copy"), ({"color": GRID, "linewidth": 1.5}, "ideal"))
    handles = [Line2D([], [], label=label, **style) for style, label in lines]
    figure.legend(handles=handles, loc="lower center", ncols=3, bbox_to_anchor=(0.5, 0.03))
    figure.suptitle("Scaling with threads", fontsize=11.5, fontweight="bold")
    _save(figure, found, folder, "threads", bottom=0.1)


def _fastest(record: dict, name: str) -> float | None:
    """Seconds of a peer's fastest allocating call; of the limit that the cell is held against."""
    if name == "limit":
        bound = results.limit(record, "fresh")
        return bound["seconds"] if bound else None
    return min((c["seconds"] for c in record["calls"] if c["peer"] == name and c["output"] == "fresh"), default=None)


def _speed_axis(axis, ratios: list[float]) -> None:
    low, high = min([0.7, *ratios]) * 0.9, max([2.0, *ratios]) * 1.15
    axis.set(xscale="log", xlim=(low, high))
    ticks = [t for t in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200) if low <= t <= high]
    axis.set_xticks(ticks)
    axis.xaxis.set_major_formatter(TIMES)
    axis.xaxis.set_minor_formatter(NullFormatter())


def _save(figure, found: dict, folder: Path, name: str, bottom: float) -> None:
    here = found["machine"]
    text = f"{machine.sentence(here)}; NumPy {here['numpy']}, {here['compiler']}, {here['isa']}"
    if found.get("trial"):
        text += ". TRIAL RUN ON A BUSY MACHINE"
    figure.tight_layout(rect=(0.01, bottom, 0.99, 0.99))
    figure.text(0.5, 0.012 if bottom > 0.05 else 0.004, text, ha="center", fontsize=7, color=FAINT)
    folder.mkdir(parents=True, exist_ok=True)
    for kind, more in (("png", {"dpi": 150}), ("svg", {"metadata": {"Date": None}})):
        figure.savefig(folder / f"{name}.{kind}", **more)
    plt.close(figure)
    print(f"drawn: {name}.png, {name}.svg")


plt.rcParams.update(STYLE)


def main() -> None:
    """All charts whose results are there; results file and folder may be given."""
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else results.PUBLISHED
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else results.FOLDER
    found = results.read(source)
    speedup(found, folder)
    cells(found, folder)
    sizes(found, folder)
    if results.SCALING.is_file() and folder == results.FOLDER:
        scaling(results.read(results.SCALING), folder)


if __name__ == "__main__":
    main()
