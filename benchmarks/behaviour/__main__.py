"""Asks the engines, then writes the results (benchmarks/results/behaviour.json) and the page (docs/comparison.md)."""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

from . import engines, page
from .probes import probes

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks/results/behaviour.json"
PAGE = ROOT / "docs/comparison.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.behaviour", description=__doc__)
    parser.add_argument("--engines", nargs="*", metavar="NAME", help="only these; default: all that are installed")
    parser.add_argument(
        "--probes", nargs="*", metavar="NAME", help="only these, such as 'far out'; the other answers stay"
    )
    parser.add_argument("--page-only", action="store_true", help="write the page from the results that there are")
    options = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if not options.page_only:
        for name in options.engines if options.engines is not None else engines.installed():
            print(f"probing {name}", file=sys.stderr)
            results[name] = measure(name, options.probes, results.get(name))
            RESULTS.parent.mkdir(exist_ok=True)
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    PAGE.write_text(page.render(results))


def measure(name: str, only: list[str] | None, before: dict | None) -> dict:
    """Version, platform, and the answers: {operator: {probe: answer}}."""
    answers = before["operators"] if only and before else {operator: {} for operator in engines.OPERATORS}
    for operator in engines.OPERATORS:
        for probe in probes(name, operator):
            if not only or probe in only:
                answers[operator][probe] = ask(name, operator, probe)
    return {
        "version": engines.version(name),
        "platform": f"{platform.system()} {platform.machine()}",
        "operators": answers,
    }


def ask(engine: str, operator: str, probe: str):
    """The answer of a process of its own; its end, if that was one by a signal."""
    command = [sys.executable, "-m", "benchmarks.behaviour.probes", engine, operator, probe]
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2", "JAX_PLATFORMS": "cpu"}
    environment["BEHAVIOUR_SERIAL"] = "1" if probe in ("dtypes", "indices") else ""
    try:
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return "hangs"
    if done.returncode < 0:
        return f"crashes ({signal.Signals(-done.returncode).name})"
    lines = [line for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
    if not lines:
        raise RuntimeError(f"{engine} {operator} {probe}: {done.stderr[-2000:]}")
    return json.loads(lines[-1].removeprefix("ANSWER "))


if __name__ == "__main__":
    main()
