"""The results file: reading, writing, and the few figures that everybody wants of a record."""

import json
import math
from pathlib import Path
from typing import Any

from .peers import PRODUCT

Record = dict[str, Any]
FOLDER = Path(__file__).resolve().parent / "results"
PUBLISHED = FOLDER / "bench.json"
SCALING = FOLDER / "threads.json"


def read(path: Path) -> dict:
    """A results file, or a sentence for people who have none."""
    if not path.is_file():
        raise SystemExit(f"{path.name} is missing; `python -m benchmarks` makes it")
    return json.loads(path.read_text())


def write(path: Path, results: dict) -> None:
    """Readable, and with one call per line, so that two runs can be compared with diff."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(results, indent=1)
    path.write_text(text + "\n")


OUTPUTS = ("fresh", "new", "reused")  # "new": without the memory pool; shown, and counts nowhere


def ours(record: Record, output: str) -> dict | None:
    """The product's call."""
    return next((c for c in record["calls"] if c["peer"] == PRODUCT and c["output"] == output), None)


def best_peer(record: Record, output: str) -> dict | None:
    """The fastest call of any peer; for a reused output, allocating ones count as well."""
    others = [c for c in record["calls"] if c["peer"] not in (PRODUCT, "limit") and c["output"] in ("fresh", output)]
    return min(others, key=lambda c: c["seconds"], default=None)


def limit(record: Record, output: str) -> dict | None:
    """What this cell is held against; of two copies the faster."""
    wanted = {"copy": ("C copy", "C stream"), "loop": ("C loop",)}[record["limit"]]
    output = "fresh" if output == "new" else output  # the limit's own fresh outputs come from NumPy's allocator
    calls = [c for c in record["calls"] if c["peer"] == "limit" and c["call"] in wanted and c["output"] == output]
    return min(calls, key=lambda c: c["seconds"], default=None)


def speed_up(record: Record, output: str) -> float | None:
    """How many times faster than the fastest peer; below 1 we lose."""
    us, best = ours(record, output), best_peer(record, output)
    return best["seconds"] / us["seconds"] if us and best else None


def fraction(record: Record, output: str) -> float | None:
    """The limit's time over ours."""
    us, bound = ours(record, output), limit(record, output)
    return bound["seconds"] / us["seconds"] if us and bound else None


def pairs(results: dict, threads: int | None = None, level: str | None = None):
    """(record, output, speed-up) of everything that has one."""
    for record in results["records"]:
        if threads in (None, record["threads"]) and level in (None, record["level"]):
            for output in ("fresh", "reused"):
                ratio = speed_up(record, output)
                if ratio:
                    yield record, output, ratio


def geometric_mean(values) -> float | None:
    """None of nothing."""
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def time_text(seconds: float) -> str:
    """Three digits and a unit."""
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:#.3g} {unit}".replace(". ", " ")
    return f"{seconds * 1e9:.0f} ns"
