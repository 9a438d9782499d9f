"""The C core without Python, compiled here and run: without OpenMP (`make aarch64` does the same for another machine), and with
it and alignment checked. gcc is several times as quick with -Og as with -O0, which keeps all that is inlined in memory."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "dmlcore"
CHECKED = ["-fopenmp", "-fsanitize=alignment", "-fno-sanitize-recover=all"]
COMPILER = shutil.which(os.environ.get("CC", "cc"))


@pytest.mark.skipif(COMPILER is None or os.name == "nt", reason="needs a C compiler that takes gcc's options")
@pytest.mark.parametrize("options", ([], CHECKED), ids=("serial", "threads"))
def test_builds(tmp_path, options):
    (tmp_path / "empty.c").write_text("int main(void) { return 0; }\n")
    empty = [COMPILER, *options, tmp_path / "empty.c", "-o", tmp_path / "empty"]
    if options and subprocess.run(empty, capture_output=True).returncode:
        pytest.skip("the compiler does not have: " + " ".join(options))
    sources = [PACKAGE / "capi.c", *sorted(PACKAGE.glob("core/*.c")), *sorted(PACKAGE.glob("isa/*.c"))]
    program = tmp_path / "core_smoke"
    flags = ["-std=c11", "-Og", "-Wall", "-Wextra", "-Wno-type-limits", "-Werror", "-I", PACKAGE, *options]
    command = [COMPILER, *flags, ROOT / "tests" / "packaging" / "core_smoke.c", *sources, "-o", program]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "baseline: all as expected" in done.stdout
