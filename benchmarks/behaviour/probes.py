"""Asks one engine about one operator; `python -m benchmarks.behaviour.probes ENGINE OPERATOR PROBE` prints JSON.

A process of its own for each, because some of the answers are a crash. Data are 4 rows of 5; indices count rows.
"""

import json
import sys
import warnings

import numpy as np

from . import engines

N = 4
DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "bfloat16",
    "complex64",
    "complex128",
]
INDICES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
BAD = {"one past the end": N, "far out": 10_000_000, "below -n": -N - 1}


def dtype(name: str) -> np.dtype:
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def data(kind: str = "float32") -> np.ndarray:
    """No zero but in bool, and no value twice where the type has room."""
    values = np.arange(1, 5 * N + 1).reshape(N, 5)
    return (values % 3 != 0) if kind == "bool" else values.astype(dtype(kind))


def arguments(operator: str, rows, kind: str = "float32", index: str = "int64"):
    """(input, indices, updates if any) that read or write these rows."""
    x = data(kind)
    i = np.asarray(rows).astype(index)
    if operator == "gather":
        return x, i
    shaped = np.repeat(i[:, None], 5, 1) if operator.endswith("elements") else i[:, None]
    updates = (-data(kind) if kind[0] in "ifb" and kind != "bool" else data(kind))[: len(i)]
    return (x, shaped) if operator.startswith("gather") else (x, shaped, updates)


def expected(operator: str, rows, kind: str = "float32"):
    """What NumPy's own indexing says of good rows."""
    if operator.startswith("gather"):
        return data(kind)[rows]
    x, _, updates = arguments(operator, rows, kind)
    x[rows] = updates
    return x


def matches(actual, wanted) -> bool:
    return actual.dtype == wanted.dtype and np.array_equal(actual, wanted)


def attempt(function, *arrays) -> tuple:
    """(result, None) or (None, the error's type)."""
    try:
        return function(*arrays), None
    except Exception as error:
        return None, type(error).__name__


def answer(function, arrays, wanted) -> str:
    """ "right", "refused", "narrowed" or "wrong"."""
    result, error = attempt(function, *arrays)
    if error:
        return "refused"
    if result.dtype != wanted.dtype:
        return "narrowed" if result.dtype.itemsize < wanted.dtype.itemsize else "converted"
    return "right" if np.array_equal(result, wanted) else "wrong"


def probe_dtypes(operator, function):
    if operator == "nonzero_coordinates":
        found = {}
        for kind in DTYPES:
            x = data(kind)
            x[1:3, ::2] = 0
            result, error = attempt(function, x)
            right = error is None and np.array_equal(np.asarray(result, np.int64), np.argwhere(x))
            found[kind] = "refused" if error else "right" if right else "wrong"
        return found
    return {k: answer(function, arguments(operator, [2, 0], k), expected(operator, [2, 0], k)) for k in DTYPES}


def probe_indices(operator, function):
    return {k: answer(function, arguments(operator, [2, 0], index=k), expected(operator, [2, 0])) for k in INDICES}


def probe_negative(operator, function):
    return answer(function, arguments(operator, [-1, -N]), expected(operator, [-1, -N]))


def probe_unsigned_maximum(operator, function):
    """2**64 - 1 in uint64: out of range, unless it is taken for -1."""
    arrays = arguments(operator, [0, 2], index="uint64")
    arrays[1][1] = 2**64 - 1
    result, error = attempt(function, *arrays)
    if error:
        return f"raises {error}"
    return (
        "taken for -1" if matches(result, expected(operator, [0, -1])) else outcome(operator, arrays, result, 2**64 - 1)
    )


def probe_bad(operator, function, row: int, index: str = "int64"):
    arrays = arguments(operator, [0, row], index=index)
    kept = [a.copy() for a in arrays]
    result, error = attempt(function, *arrays)
    if error:
        changed = any(not np.array_equal(a, b) for a, b in zip(arrays, kept, strict=True))
        return f"raises {error}" + (", after writing" if changed else "")
    return outcome(operator, arrays, result, row)


def outcome(operator, arrays, result, row: int) -> str:
    """A result in one word or two."""
    if operator.startswith("scatter"):
        target = arrays[0].copy()
        target[0] = arrays[2][0]
        words = {"dropped": target}
        for name, place in (("clamps", min(max(row, 0), N - 1)), ("wraps around", row % N)):
            words[name] = target.copy()
            words[name][place] = arrays[2][1]
        return next((name for name, wanted in words.items() if np.array_equal(result, wanted)), "writes elsewhere")
    got = np.asarray(result)[1]
    if np.isnan(got).all():
        return "NaN"
    if not got.any():
        return "zeros"
    for name, place in (("clamps", min(max(row, 0), N - 1)), ("wraps around", row % N)):
        if np.array_equal(got, arrays[0][place]):
            return name
    return "reads another row" if any(np.array_equal(got, row) for row in arrays[0]) else "reads other memory"


def probe_duplicates(operator, function):
    """A million updates of few places, again and again until an answer differs."""
    seen, right = set(), True
    for trial in range(60):
        rows = 16 if trial % 2 else 1000
        places = np.random.default_rng(rows).integers(0, rows, 1 << 20)
        u, x = np.arange(len(places), dtype=np.float32), np.zeros(rows, np.float32)
        last = x.copy()
        last[places] = u
        if operator == "scatter_elements":
            x, u, last = x[:, None], u[:, None], last[:, None]
        result = function(x, places[:, None], u)
        right &= np.array_equal(result, last)
        seen.add((rows, result.tobytes()))
        if len(seen) > 2:
            return "varies between runs"
    return "the last stays" if right else "the same each time, not the last"


def probe_subnormal(operator, function):
    x = data()
    x[1, 1] = 1e-45
    return "found" if len(function(x)) == x.size else "taken for zero"


def probe_modes(operator, function):
    """dmlcore's own: which modes an operator has, and what each makes of a row that is one past the end."""
    found = {}
    for mode in ("raise", "clip", "fill", "drop"):
        arrays = arguments(operator, [0, N])
        try:
            found[mode] = outcome(operator, arrays, function(*arrays, mode=mode), N)
        except IndexError as error:
            found[mode] = f"raises {type(error).__name__}"
        except ValueError:
            continue
    return found


def probes(engine: str, operator: str) -> list[str]:
    """The probes that make sense."""
    if operator == "nonzero_coordinates":
        return ["dtypes", "subnormal"]
    names = ["dtypes", "indices", "negative", *BAD, "unsigned maximum"]
    return names + ["duplicates"] * operator.startswith("scatter") + ["modes"] * (engine == "dmlcore")


def main() -> None:
    engine, operator, name = sys.argv[1:]
    warnings.simplefilter("ignore")
    function = engines.operators(engine)[operator]
    if name in BAD:
        result = probe_bad(operator, function, BAD[name])
    else:
        result = globals()[f"probe_{name.replace(' ', '_')}"](operator, function)
    print("ANSWER " + json.dumps(result))


if __name__ == "__main__":
    main()
