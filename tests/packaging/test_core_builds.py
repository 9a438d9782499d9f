"""The C core without Python and without OpenMP, compiled here and run; `make aarch64` does the same for another machine."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "dmlcore"
COMPILER = shutil.which(os.environ.get("CC", "cc"))


@pytest.mark.skipif(COMPILER is None or os.name == "nt", reason="needs a C compiler that takes gcc's options")
def test_serial_build(tmp_path):
    sources = [PACKAGE / "capi.c", *sorted(PACKAGE.glob("core/*.c")), *sorted(PACKAGE.glob("isa/*.c"))]
    program = tmp_path / "core_smoke"
    flags = ["-std=c11", "-O0", "-Wall", "-Wextra", "-Wno-type-limits", "-Werror", "-I", PACKAGE]
    command = [COMPILER, *flags, ROOT / "tests" / "packaging" / "core_smoke.c", *sources, "-o", program]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "baseline: all as expected" in done.stdout
