"""One module per library. Each has `load(threads)`, which imports it, limits its threads and gives its version, and one
function per operator that yields `Call`s: what a user of that library would write, allocating or into a given array.

Arrays are handed over in the library's own type before the clock runs, except that what it cannot take (index types,
strides) is converted inside the call, as its user would have to. A call that is refused is reported, not hidden. A library
whose first calls compile for long says for how many seconds, at most: `COMPILES`; one whose threads keep looking for work
after a call for how many: `LINGERS`. One whose calls are told what becomes of indices out of range says so: `MODES`.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

PRODUCT = "dmlcore"
NAMES = ("numpy", "torch", "onnxruntime", "numba", "jax", "openvino", "tensorflow")
_MODULES = {name: f"{__name__}.{name}_peer" for name in NAMES} | {PRODUCT: f"{__name__}.product"}


@dataclass
class Call:
    """One way of computing a cell. `output` is one of results.OUTPUTS; `value` makes a NumPy array of what `run` gives."""

    label: str
    output: str
    run: Callable
    value: Callable = np.asarray
    seconds: float = 0.0  # that the first call took, once there was one


class Refused(Exception):
    """The library has no such operator, or it does not take such arrays; the text says which."""


def environment(threads: int) -> dict[str, str]:
    """The variables that limit the libraries, to be set before any of them is imported."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "DMLCORE_NUM_THREADS")
    names += ("NPROC", "TF_NUM_INTRAOP_THREADS")
    eigen = "" if threads > 1 else "--xla_cpu_multi_thread_eigen=false"
    quiet = {
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "JAX_PLATFORMS": "cpu",
        "TF_ENABLE_ONEDNN_OPTS": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }
    return {name: str(threads) for name in names} | {"TF_NUM_INTEROP_THREADS": "1", "XLA_FLAGS": eigen} | quiet


def load(name: str, threads: int):
    """Imports a peer: its module and its version, or None and why not."""
    try:
        module = importlib.import_module(_MODULES[name])
        return module, module.load(threads)
    except ImportError as error:
        return None, f"not installed: {error}"


def calls(module, task) -> list[Call]:
    """What the peer offers for this task; raises Refused."""
    offer = getattr(module, task.cell.op, None)
    if offer is None:
        raise Refused("has no such operator")
    if task.cell.mode != "raise" and not getattr(module, "MODES", False):
        raise Refused("does not say what becomes of indices out of range")
    return list(offer(task))


def difference(call: Call, outcome, expected: np.ndarray) -> str:
    """What is wrong with the outcome of a call, if anything; coordinates, (count, ndim), may come as a tuple of columns."""
    value = call.value(outcome)
    columns = value if isinstance(value, tuple) else None
    shape = (len(columns[0]), len(columns)) if columns else value.shape
    if shape != expected.shape:
        return f"wrong shape {shape}"
    same = all(map(np.array_equal, columns, expected.T)) if columns else np.array_equal(value, expected)
    return "" if same else "wrong values"
