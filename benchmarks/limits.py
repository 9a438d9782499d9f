"""The physical limit of a cell: a C copy of the same bytes, or the plain C loop where access is random.

limits.c is compiled when the suite starts, for this machine, into the temporary folder of the run. Without a compiler
there are no limits, and the results say so.
"""

import ctypes
import math
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np

from .cases import KIB, Task
from .peers import Call

FLAGS = ("-O3", "-march=native", "-std=gnu11", "-shared", "-fPIC")


class Limits:
    """The compiled loops, or the reason why there are none in `missing`."""

    def __init__(self, folder: str, threads: int):
        self.threads, self.missing, self.compiler, self._library = threads, "", "", None
        compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
        if not compiler:
            self.missing = "no C compiler found (gcc, cc, clang, or the one that CC names)"
            return
        library, openmp = Path(folder, "limits.so"), Path(folder, "limits-openmp.so")
        if not library.exists() and not openmp.exists():  # compiled once per folder
            error = _build(compiler, openmp, "-fopenmp") and _build(compiler, library)
            if error:
                self.missing = f"{compiler} failed: {error}"
                return
        if threads > 1 and not openmp.exists():
            self.missing = f"{compiler} has no OpenMP: limits for one thread only"
            return
        self._library = ctypes.CDLL(str(openmp if openmp.exists() else library))
        version = subprocess.run([*compiler.split(), "--version"], capture_output=True, text=True, check=False).stdout
        self.compiler = version.splitlines()[0] if version else compiler

    def calls(self, task: Task) -> list[Call]:
        """What a task is held against, fresh and reused: both copies, or the loop."""
        if self._library is None or task.cell.level == "tiny":
            return []
        return list(self._copies(task) if decides(task) == "copy" else self._loops(task))

    def _copies(self, task: Task):
        size = max(64, task.traffic // 2 // 64 * 64)
        source, target = np.ones(size, np.uint8), np.ones(size, np.uint8)
        numbers = self._numbers(size)
        for name, function in (("copy", self._library.copy), ("stream", self._library.stream)):

            def into(y, function=function):
                function(_address(y), _address(source), *numbers)
                return y

            yield Call(f"C {name}", "fresh", lambda into=into: into(np.empty(size, np.uint8)))
            yield Call(f"C {name}", "reused", lambda into=into: into(target))

    def _loops(self, task: Task):
        x, out = task.x, task.empty()
        if task.cell.reduction == "add":
            numbers = self._numbers(*task.i.shape)
            add, copy, copied = self._library.add_rows, self._library.copy, self._numbers(x.nbytes)

            def into(y):
                copy(_address(y), _address(x), *copied)
                add(_address(y), _address(task.u), _address(task.i), *numbers)
                return y

        else:
            size, at = _offsets(task)
            op = "scatter" if task.cell.op.startswith("scatter") else "gather"
            function = getattr(self._library, f"{op}_{at.dtype.name}_t")
            numbers = self._numbers(at.size, size)
            if op == "gather":

                def into(y):
                    function(_address(y), _address(x), _address(at), *numbers)
                    return y

            else:
                copy, copied = self._library.copy, self._numbers(x.nbytes)

                def into(y):
                    copy(_address(y), _address(x), *copied)
                    function(_address(y), _address(task.u), _address(at), *numbers)
                    return y

        yield Call("C loop", "fresh", lambda: into(np.empty(task.shape, x.dtype)))
        yield Call("C loop", "reused", lambda: into(out))

    def _numbers(self, *values):
        return (*(ctypes.c_int64(v) for v in values), self.threads)


def _build(compiler: str, target: Path, *more: str) -> str:
    """Compiles limits.c; the first line of what went wrong."""
    command = [*compiler.split(), *FLAGS, *more, "-o", str(target), str(Path(__file__).with_name("limits.c"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["without a word"])[0]


def _address(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _offsets(task: Task) -> tuple[int, np.ndarray]:
    """What is moved at once, in bytes, and where each piece lies, in pieces; as wide as the indices are."""
    cell, shape = task.cell, task.x.shape
    sizes = shape[: cell.tuple_size] if cell.op.endswith("_nd") else shape[cell.axis]
    i = np.where(task.i < 0, task.i + sizes, task.i).astype(np.int64)
    if cell.op.endswith("_nd"):
        size = cell.slice_bytes
        at = np.zeros(i.shape[:-1], np.int64)
        for k, n in enumerate(sizes):
            at = at * n + i[..., k]
    else:
        axis = cell.axis
        size = cell.slice_bytes if cell.op == "gather" else task.x.itemsize
        if cell.op == "gather":
            at = (np.arange(math.prod(shape[:axis]))[:, None] * shape[axis] + i.reshape(1, -1)).reshape(-1)
        else:
            others = np.indices(i.shape, sparse=True)
            at = i * math.prod(shape[axis + 1 :])
            for k, along in enumerate(others):
                if k != axis:
                    at = at + along * math.prod(shape[k + 1 :])
    narrow = cell.index in ("int32", "uint32")
    return size, np.ascontiguousarray(at.reshape(-1), np.uint32 if narrow else np.int64)


def decides(task: Task) -> str:
    """Which limit a cell is held against: the copy for large slices, views, nonzero_coordinates, and where indices may be out
    of range, which the loop does not look for; else the loop."""
    if task.i is None or not task.plain or task.cell.mode != "raise":
        return "copy"
    return "copy" if task.cell.slice_bytes >= KIB else "loop"
