"""What `import dmlcore` loads: NumPy and a few small modules; tables, explanations and tools wait until somebody
needs them.
"""

import ast
import sys
from pathlib import Path

from test_threads import python

import dmlcore

PACKAGE = Path(dmlcore.__file__).parent
LATER = ("_generated.tables", "_generated.oracle", "explain", "facts")
BEFORE = "import numpy, sys; before = set(sys.modules); import dmlcore; "


def imported(code: str = "") -> set[str]:
    done = python(f"{BEFORE}{code}\nprint('\\n'.join(set(sys.modules) - before))")
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_only_numpy_and_the_standard_library():
    foreign = {name.split(".")[0] for name in imported()} - {"dmlcore", "numpy"} - set(sys.stdlib_module_names)
    assert not {name for name in foreign if "cython" not in name}, foreign  # what compiled modules register themselves


def test_lazy_modules():
    """Words are loaded by the first failure, not before; a successful call and check need none of them."""
    tensors = "input=dmlcore.TensorDesc('FLOAT32', (2, 2)), indices=dmlcore.TensorDesc('INT64', (2, 1))"
    fine = imported(f"dmlcore.gather_nd(numpy.zeros(3), [[1]]); dmlcore.check(dmlcore.GatherNDDesc({tensors}))")
    assert not {f"dmlcore.{name}" for name in LATER} & fine
    failed = imported("\ntry: dmlcore.gather_nd(numpy.zeros(3), [[1.5]])\nexcept TypeError: pass")
    assert "dmlcore.explain" in failed and "dmlcore._generated.tables" in failed


def test_few_modules():
    mine = {name for name in imported() if name.startswith("dmlcore")}
    assert len(mine) < 25, sorted(mine)
    # not inspect: Cython's start-up code for the limited API loads it, and newer versions of NumPy do so anyway
    heavy = {"json", "typing_extensions", "subprocess", "importlib.metadata", "asyncio", "unittest", "pydoc"}
    assert not heavy & imported()


def test_core_imports_nothing_foreign_at_top_level():
    """Every module that import dmlcore loads, by its source: NumPy, the standard library, and the package itself."""
    for name in sorted(imported()):
        path = PACKAGE.parent / (name.replace(".", "/") + ".py")
        if not name.startswith("dmlcore") or not path.is_file():
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
            for top in (n.split(".")[0] for n in names):
                assert top in ("numpy", "dmlcore") or top in sys.stdlib_module_names, f"{name} imports {top}"


def test_public_names():
    assert sorted(set(dmlcore.__all__)) == sorted(dmlcore.__all__), "a name stands twice"
    for name in dmlcore.__all__:
        assert getattr(dmlcore, name) is not None
    for name in dmlcore._generated.__all__:
        assert getattr(dmlcore, name).__doc__


def test_package_data():
    assert (PACKAGE / "py.typed").is_file() and (PACKAGE / "_generated" / "operators.pyi").is_file()
