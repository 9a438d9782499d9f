"""Scratch memory that ends where memory does: no loop stores behind what it has asked for, not even bytes that it leaves as
they are. A process of its own, whose malloc is fenced_malloc.c, moves by indices that are brought together, turned, narrowed
and kept."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMPILER = shutil.which(os.environ.get("CC", "cc"))
PROGRAM = """
import ctypes
import numpy as np
import dmlcore

malloc = ctypes.CDLL(None)
fenced_from = ctypes.c_size_t.in_dll(malloc, "fenced_from")
rng = np.random.default_rng(0)

def fenced(function, *arrays, **options):
    fenced_from.value = 4096
    result = function(*arrays, **options)
    fenced_from.value = 2**63
    return result

for index in ("int32", "int64"):
    for columns in (*range(2, 21), 33, 100):
        for rows in (5000 // columns + 1, 30_000 // columns + 3):
            for shape in ((rows, columns), (columns, rows)):
                table, indices = rng.random(shape, np.float32), rng.integers(0, shape[1], shape).astype(index)
                wanted = np.take_along_axis(table, indices.astype(np.int64), 1)
                wider = np.empty((shape[0], shape[1] + 3), index)
                wider[:, :-3] = indices
                for given in (np.asfortranarray(indices), wider[:, :-3]):
                    out = np.empty_like(table)
                    fenced(dmlcore.gather_elements, table, given, axis=1, out=out)
                    assert (out == wanted).all()
                    assert (fenced(dmlcore.gather_elements, table, given, axis=1) == wanted).all()
                    fenced(dmlcore.scatter_elements, table, given, table, axis=1, out=out)
for q in (1, 2, 3, 5):
    table = rng.random((6,) * q, np.float32)
    indices = rng.integers(0, 6, (9001, q))
    for given in (indices, np.asfortranarray(indices), np.repeat(indices, 2, 1)[:, ::2]):
        out = np.empty(9001, np.float32)
        fenced(dmlcore.gather_nd, table, given, out=out)
        assert (out == table[tuple(indices.T)]).all()
for density in (0.01, 0.5, 1):
    marks = rng.random((300, 301)) < density
    assert (fenced(dmlcore.nonzero_coordinates, marks) == np.argwhere(marks)).all()
print("fenced:", ctypes.c_int.in_dll(malloc, "fenced").value)
"""


@pytest.mark.skipif(COMPILER is None or platform.libc_ver()[0] != "glibc", reason="needs a C compiler and the GNU C library")
def test_nothing_is_stored_behind_scratch_memory(tmp_path):
    library = tmp_path / "fenced_malloc.so"
    source = Path(__file__).with_name("fenced_malloc.c")
    done = subprocess.run([COMPILER, "-O1", "-shared", "-fPIC", source, "-o", library], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    environment = {**os.environ, "LD_PRELOAD": str(library), "DMLCORE_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout.split()[-1]) > 500
