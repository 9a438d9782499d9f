"""CONTRIBUTING.md's two recipes, followed to the letter in a copy of the tree."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TREE = ("spec", "codegen", "src", "docs", "tests", "setup.py", "pyproject.toml", "README.md", "LICENSE")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd", "*.egg-info", ".*_cache")
BLOCKS = dict(
    (path, text)
    for path, text in re.findall(r"^```\w+ (\S+)\n(.*?)^```$", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL | re.MULTILINE)
)
LEVELS, NONZERO = "spec/levels.yaml", "spec/operators/nonzero_coordinates.yaml"
OPERATOR, KERNEL = "spec/operators/take_rows.yaml", "src/dmlcore/kernels/take_rows.h"

pytest.importorskip("jinja2", reason="needs the packages of the codegen extra")


def copy(folder: Path) -> Path:
    for name in TREE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=LEFT_OUT)
        else:
            shutil.copy2(source, folder / name)
    run(folder, "-m", "codegen")  # whatever is on disk: start from files that are up to date
    return folder


def run(folder: Path, *command: str) -> str:
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTEST_ADDOPTS", "DMLCORE_CASES")}
    environment |= {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def changed(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def by_hand(paths: set[str]) -> set[str]:
    """Without what the generator writes."""
    generated = ("src/dmlcore/_generated/", "docs/operators/", "docs/levels.md", "docs/tensor.md", "spec/schema.json")
    return {path for path in paths if not path.startswith(generated)}


def add_level(folder: Path) -> None:
    """A new last level, and a new last row of a support table."""
    for path, follows in ((LEVELS, "errata:"), (NONZERO, "constraints:")):
        file = folder / path
        text = file.read_text()
        assert text.count(f"\n\n{follows}\n") == 1
        file.write_text(text.replace(f"\n\n{follows}\n", f"\n{BLOCKS[path]}\n{follows}\n"))


def add_operator(folder: Path) -> None:
    for path in (OPERATOR, KERNEL):
        (folder / path).write_text(BLOCKS[path])


def test_the_recipes_are_there():
    assert set(BLOCKS) == {LEVELS, NONZERO, OPERATOR, KERNEL}


def test_a_level(tmp_path):
    folder = copy(tmp_path)
    before = contents(folder)
    add_level(folder)
    run(folder, "-m", "codegen")
    after = contents(folder)
    assert by_hand(changed(before, after)) == {LEVELS, NONZERO}
    assert not {p for p in changed(before, after) if p.endswith((".c", ".h", ".inc")) and "support.h" not in p}
    assert b"FL9_9 = 0x9900" in after["src/dmlcore/_generated/enums.py"]
    assert b"DML_FEATURE_LEVEL_9_9 and above" in after["docs/operators/nonzero_coordinates.md"]
    assert b"DML_FEATURE_LEVEL_9_9" in after["docs/levels.md"]
    shown = run(folder, "-m", "codegen", "show", "NONZERO_COORDINATES", "--level", "9.9")
    assert "FLOAT64" in shown


def test_an_operator(tmp_path):
    folder = copy(tmp_path)
    add_level(folder)
    run(folder, "-m", "codegen")
    before = contents(folder)
    add_operator(folder)
    run(folder, "-m", "codegen")
    after = contents(folder)
    assert by_hand(changed(before, after)) == {OPERATOR, KERNEL}
    assert "docs/operators/take_rows.md" in after
    for name in ("operators.pyx", "operators.pyi", "operators.h", "support.h", "loops.inc", "tables.py", "descs.py"):
        assert b"take_rows" in after[f"src/dmlcore/_generated/{name}"].lower(), name
    untouched = {p for p in before if p.startswith("docs/operators/") and not p.endswith("index.md")}
    assert not untouched & changed(before, after)


def test_new_starts_the_same_files(tmp_path):
    folder = copy(tmp_path)
    add_level(folder)
    before = contents(folder)
    run(folder, "-m", "codegen", "new", "TAKE_ROWS")
    assert changed(before, contents(folder)) == {OPERATOR, KERNEL}


def test_the_operator_runs(tmp_path):
    """Everything that is generated works for a newcomer at once. Built with little optimisation, to save time."""
    pytest.importorskip("Cython", reason="needs what the build needs")
    if not shutil.which("cc") and not shutil.which("gcc"):
        pytest.skip("needs a C compiler")
    folder = copy(tmp_path)
    add_level(folder)
    add_operator(folder)
    run(folder, "-m", "codegen")
    setup = folder / "setup.py"
    setup.write_text(setup.read_text().replace('"-O3"', '"-O1"'))
    run(folder, "setup.py", "--quiet", "build_ext", "--inplace")
    session = """if True:
        import dmlcore, numpy as np
        from dmlcore import TensorDesc
        x = np.arange(6, dtype=np.float32).reshape(3, 2)
        assert dmlcore.take_rows(x, [[2, -1, 0]]).tolist() == [[4, 5], [4, 5], [0, 1]]
        desc = dmlcore.TakeRowsDesc(input=TensorDesc("FLOAT32", (3, 2)), indices=TensorDesc("INT64", (1, 3)))
        assert dmlcore.minimum_feature_level(desc) is dmlcore.FeatureLevel.FL9_9
        assert [v.rule for v in dmlcore.check(desc, "6.4")] == ["TAKE_ROWS-FeatureLevel-support"]
        assert dmlcore.compile(desc)(x, np.array([[1, 0, 1]])).tolist() == [[2, 3], [0, 1], [2, 3]]
        i = np.zeros((1, 1 << 14), np.int64)  # so many make a plan
        assert dmlcore.take_rows(x, i).shape == (1 << 14, 2)
        i[0, 12000] = 3  # changed in place: what the first call knew about these indices must not be trusted
        try:
            dmlcore.take_rows(x, i)
        except dmlcore.IndexOutOfRangeError as error:
            assert "12000" in str(error), error
        else:
            raise AssertionError("an index that is out of range was used")
        wide = dmlcore.NonzeroCoordinatesDesc(input=TensorDesc("INT64", (2, 3)))
        assert dmlcore.minimum_feature_level(wide) is dmlcore.FeatureLevel.FL9_9
        print("fine")
    """
    assert run(folder, "-c", session) == "fine\n"
    passed = run(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_examples.py", "-k", "TAKE_ROWS")
    assert re.search(r"^\d+ passed", passed, re.MULTILINE)


@pytest.mark.parametrize("name", ["gather", "scatter_nd"])
def test_every_operator_is_two_files(tmp_path, name):
    """Taking one out changes generated files alone, and putting it back brings back every byte."""
    folder = copy(tmp_path)
    before = contents(folder)
    files = (f"spec/operators/{name}.yaml", f"src/dmlcore/kernels/{name}.h")
    for path in files:
        (folder / path).unlink()
    run(folder, "-m", "codegen")
    without = contents(folder)
    assert by_hand(changed(before, without)) == set(files)
    assert f"docs/operators/{name}.md" not in without
    for path in files:
        (folder / path).write_bytes(before[path])
    run(folder, "-m", "codegen")
    assert contents(folder) == before
