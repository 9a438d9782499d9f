"""What people read: the lines that the run prints, and the tables of docs/benchmarks.md, made from the results file.

`python -m benchmarks.report` writes everything between the marker comments of that page anew.
"""

import re
import sys
from pathlib import Path

from . import machine, results
from .results import best_peer, fraction, geometric_mean, limit, ours, pairs, speed_up, time_text

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
MARK = "<!-- {}: {} -->"


def line(record: dict, output: str) -> str:
    """One cell as the run prints it; empty where there is nothing to say."""
    us, best, bound = ours(record, output), best_peer(record, output), limit(record, output)
    if us is None:
        why = record["refused"].get("dmlcore")
        return f"  {record['cell']:66}        skipped: {why}" if why and output == "fresh" else ""
    text = f"  {record['cell']:66} {output:6} {time_text(us['seconds']):>8}"
    if best:
        ratio = speed_up(record, output)
        text += f"  {ratio:6.2f}x {'LOSES to' if ratio < 1 else 'against '} {best['peer']} {time_text(best['seconds'])}"
    if bound:
        text += f"  {fraction(record, output):.2f} of the {bound['call']}"
    return text


def summary(found: dict) -> str:
    """The figures of the whole run, for the terminal."""
    lines = []
    for threads in sorted({r["threads"] for r in found["records"]}):
        ratios = [ratio for _, _, ratio in pairs(found, threads)]
        if ratios:
            lost = sum(ratio < 1 for ratio in ratios)
            mean = f"{geometric_mean(ratios):.2f}x the fastest peer (geometric mean)"
            lines.append(f"{_count(threads)}: {mean}, behind in {lost} of {len(ratios)}")
    for record, output, ratio in sorted(pairs(found), key=lambda p: p[2]):
        if ratio < 1:
            best = best_peer(record, output)
            where = f"{record['cell']} {output}, {_count(record['threads'])}"
            lines.append(f"  {ratio:.2f}x {where}: {best['peer']} {best['call']}")
    return "\n".join(lines)


# docs/benchmarks.md


def blocks(found: dict) -> dict[str, str]:
    """The generated parts of the page by name."""
    return {
        "machine": _machine(found),
        "speedup": _chart("speedup", "Times faster than the fastest other library, one dot per cell"),
        "summary": _summary(found),
        "sizes": _chart("sizes", "Cost per item at every size"),
        "threads": _chart("threads", "Times faster with more threads"),
        "cells": _cells(found),
        "refused": _refused(found),
    }


def _chart(name: str, text: str) -> str:
    file = results.FOLDER / f"{name}.svg"
    return f"![{text}](../benchmarks/results/{file.name})" if file.is_file() else ""


def _machine(found: dict) -> str:
    here = found["machine"]
    versions = ", ".join(f"{name} {text}" for name, text in found["versions"].items() if name != "dmlcore")
    out = [
        f"{machine.sentence(here)}; {here['system']}, transparent huge pages: {here['huge_pages']}.",
        f"dmlcore {here['dmlcore']} built with {here['compiler']}, {here['isa']} loops; "
        f"limits built with {found['limits_compiler'] or 'nothing'}.",
        f"Python {here['python']}; {versions}.",
    ]
    for name, why in found["missing"].items():
        out.append(f"Without {name}: {why}.")
    if found["trial"]:
        out.append("**A trial run on a busy machine: these figures are not the published ones.**")
    return "\n".join(out)


def _summary(found: dict) -> str:
    rows = ["| | " + " | ".join(map(_count, _threads(found))) + " |", "| --- |" + " ---: |" * len(_threads(found))]
    operators = list(dict.fromkeys(r["op"] for r in found["records"]))
    for title, select in [("all cells", lambda r: True)] + [(op, lambda r, op=op: r["op"] == op) for op in operators]:
        cells = []
        for threads in _threads(found):
            ratios = [ratio for r, _, ratio in pairs(found, threads) if select(r)]
            mean = geometric_mean(ratios)
            cells.append(f"{mean:.2f}x, behind in {sum(r < 1 for r in ratios)} of {len(ratios)}" if mean else "")
        rows.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _cells(found: dict) -> str:
    out = []
    for op in dict.fromkeys(r["op"] for r in found["records"]):
        out += [f"### {op}", ""]
        out.append("| cell | threads | output | dmlcore | fastest peer | its time | times faster | of the limit |")
        out.append("| --- | ---: | --- | ---: | --- | ---: | ---: | ---: |")
        for record in (r for r in found["records"] if r["op"] == op):
            for output in results.OUTPUTS:
                us, best = ours(record, output), best_peer(record, output)
                if us is None:
                    continue
                ratio, part, bound = speed_up(record, output), fraction(record, output), limit(record, output)
                peer = f"{best['peer']} `{best['call']}` | {time_text(best['seconds'])}" if best else "none | "
                shown = f"{ratio:.2f}" if ratio and ratio >= 1 else f"**{ratio:.2f}**" if ratio else ""
                of = f"{part:.2f} {bound['call'].removeprefix('C ').replace('stream', 'copy')}" if bound else ""
                row = (_label(record), str(record["threads"]), output, time_text(us["seconds"]), peer, shown, of)
                out.append("| " + " | ".join(row) + " |")
        out.append("")
    return "\n".join(out).rstrip()


def _refused(found: dict) -> str:
    seen = {}
    for record in found["records"]:
        for name, why in record["refused"].items():
            why = re.sub(r"0x[0-9a-f]+|(/[\w.+-]+){2,}:?\d*", "...", why)
            seen.setdefault((name, why), []).append(record["cell"])
    rows = ["| library | cells | what it says |", "| --- | --- | --- |"]
    for (name, why), cells in sorted(seen.items()):
        cells = list(dict.fromkeys(cells))
        more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
        rows.append(f"| {name} | `{cells[0]}`{more} | {_escape(why)} |")
    return "\n".join(rows)


def _label(record: dict) -> str:
    return f"`{record['cell'].removeprefix(record['op'] + '-')}`" + (f" ({record['title']})" if record["title"] else "")


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("`", "'").replace("*", "\\*")


def _count(threads: int) -> str:
    return f"{threads} thread{'s'[: threads > 1]}"


def _threads(found: dict) -> list[int]:
    return sorted({r["threads"] for r in found["records"]})


def fill(page: str, parts: dict[str, str]) -> str:
    """The page with the text between `<!-- begin: name -->` and `<!-- end: name -->` replaced."""
    for name, text in parts.items():
        begin, end = MARK.format("begin", name), MARK.format("end", name)
        if begin not in page or end not in page:
            raise SystemExit(f"{PAGE.name} has no markers {begin} and {end}")
        head, rest = page.split(begin, 1)
        page = f"{head}{begin}\n{text}\n{end}{rest.split(end, 1)[1]}"
    return page


def main() -> None:
    """Writes the tables into the page."""
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else results.PUBLISHED
    PAGE.write_text(fill(PAGE.read_text(), blocks(results.read(source))))
    print(f"wrote docs/{PAGE.name}")


if __name__ == "__main__":
    main()
