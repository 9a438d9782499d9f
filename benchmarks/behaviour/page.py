"""docs/comparison.md from the results: a table for each operator, and what can only be read or was asked earlier."""

from . import documented
from .engines import OPERATORS
from .probes import BAD, DTYPES, INDICES

ENGINES = ("dmlcore", "numpy", "torch", "onnxruntime", "numba", "jax")
TITLES = {"numpy": "NumPy", "torch": "PyTorch", "onnxruntime": "ONNX Runtime", "numba": "numba loop", "jax": "JAX"}
CALLS = {
    "gather": "`np.take`, `torch.index_select`, `Gather`, `jnp.take`",
    "gather_elements": "`np.take_along_axis`, `torch.gather`, `GatherElements`, `jnp.take_along_axis`",
    "gather_nd": "`x[tuple]` in NumPy, PyTorch and JAX, `GatherND`",
    "scatter_elements": "`np.put_along_axis`, `torch.scatter`, `ScatterElements`, `jnp.put_along_axis`",
    "scatter_nd": "`x[tuple] = u`, `torch.index_put`, `ScatterND`, `x.at[tuple].set(u)`",
    "nonzero_coordinates": "`np.argwhere`, `torch.nonzero`, `NonZero`, `jnp.argwhere`",
}


def render(results: dict) -> str:
    """The page."""
    parts = [_head(results)]
    for operator in OPERATORS:
        parts.append(f"## {operator}\n\nAsked of {CALLS[operator]}.\n\n{_operator(results, operator)}")
    parts += [_modes(results), documented.BATCH, documented.EARLIER, documented.ONNX]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _head(results) -> str:
    versions = ", ".join(f"{TITLES.get(n, n)} {results[n]['version']}" for n in ENGINES if n in results)
    source = "benchmarks/results/behaviour.json"
    platforms = ", ".join(sorted({r["platform"] for r in results.values()}))
    return f"""<!-- Generated from {source} by `python -m benchmarks.behaviour`; do not edit. -->

# What the engines do

Types, negative and bad indices, and repeated targets, as each engine answers when it is asked. Measured with
{versions} ({platforms}), each on the CPU and with its defaults; every question went to a process of its own,
since some answers are a crash. DirectML's rows say what its documentation says at the newest feature level.
`python -m benchmarks.behaviour` asks anew whichever engines are installed and writes this page; `--page-only` only
writes it.

How to read the tables:

- *Data types* and *index types* are those with the right answer, out of {", ".join(DTYPES)},
  and of {", ".join(INDICES)}.
  *Narrowed* is JAX's default of 32 bits.
- *One past the end* is index n, *far out* ten million, *below -n* is -n-1, and then 2<sup>64</sup>-1 in uint64.
- *Repeated* is a million updates of 16 or 1000 places, sixty times over, with two threads: what was seen, which is
  not always what is promised.
- A *numba loop* is what one writes by hand, parallel and without checks of bounds."""


def _operator(results, operator) -> str:
    if operator == "nonzero_coordinates":
        rows = [["", "data types", "float32 below 1.2e-38"]]
        rows.append([_title("dmlcore", results), *_nonzero(results.get("dmlcore"))])
        rows.append(["DirectML", documented.types(operator, "InputTensor"), "not documented"])
        rows += [[_title(name, results), *_nonzero(results[name])] for name in ENGINES[1:] if name in results]
        return table(rows)
    scatter = operator.startswith("scatter")
    rows = [["", "data types", "index types", "negative", *BAD, "2<sup>64</sup>-1", *["repeated"] * scatter]]
    for name in ENGINES:
        if name in results:
            rows.append([_title(name, results), *_answers(results[name]["operators"][operator], scatter)])
    rows.insert(2, ["DirectML", *documented.directml(operator)])
    return table(rows)


def _title(name, results) -> str:
    return TITLES.get(name, f"**{name}**")


def _nonzero(result):
    answers = result["operators"]["nonzero_coordinates"]
    return _types(answers["dtypes"], DTYPES), answers["subnormal"]


def _answers(answers, scatter) -> list[str]:
    unsigned = answers["unsigned maximum"] if answers["indices"]["uint64"] != "refused" else "refused"
    cells = [_types(answers["dtypes"], DTYPES), _types(answers["indices"], INDICES), answers["negative"]]
    cells += [answers[name] for name in BAD] + [unsigned]
    return [short(cell) for cell in cells] + ([answers["duplicates"]] if scatter else [])


def short(cell: str) -> str:
    """Without the names of errors, which differ for no reason that matters here."""
    return (
        "raises" + cell[cell.index(",") :]
        if cell.startswith("raises") and "," in cell
        else cell.split(" ")[0]
        if cell.startswith("raises")
        else cell
    )


def _types(answers: dict, every) -> str:
    """The types with the right answer, or those with another one and what it is, whichever is shorter."""
    groups = {
        kind: [name for name in every if answers.get(name) == kind]
        for kind in ("refused", "narrowed", "converted", "wrong")
    }
    right = [name for name in every if answers.get(name) == "right"]
    others = [f"{', '.join(names)} ({kind})" for kind, names in groups.items() if names]
    if 2 * len(right) < len(every) and groups["refused"]:
        return "; ".join([", ".join(right) or "none", *others[1:]])
    return "; ".join(["all but " + "; ".join(others)]) if others else "all"


def _modes(results) -> str:
    """What an operator can be told to do with a bad index, beside what the engines do and can be told."""
    rows = [
        [
            "",
            "dmlcore's `mode=`, at index n",
            "DirectML",
            *[TITLES[n] for n in ("numpy", "onnxruntime", "torch", "jax")],
        ]
    ]
    for operator in OPERATORS[:-1]:
        own = results["dmlcore"]["operators"][operator]["modes"]
        words = {mode: "fill_value" if (mode, what) == ("fill", "zeros") else short(what) for mode, what in own.items()}
        cells = [
            operator,
            "; ".join(f"`{mode}`: {what}" for mode, what in words.items()),
            documented.OUT_OF_RANGE[operator],
        ]
        for name in ("numpy", "onnxruntime", "torch", "jax"):
            answer = short(results[name]["operators"][operator]["one past the end"]) if name in results else "not asked"
            option = documented.OPTIONS.get((name, operator))
            cells.append(answer + (f"; {option}" if option else ""))
        rows.append(cells)
    return f"## Choosing what a bad index does\n\n{documented.MODES}\n\n{table(rows)}"


def table(rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "| " + " | ".join("---" for _ in rows[0]) + " |")
    return "\n".join(lines)
