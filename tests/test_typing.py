"""The stubs say what the functions are: the same parameters, the same defaults, and data types that go through."""

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dmlcore
from dmlcore._generated import operators

PACKAGE = Path(dmlcore.__file__).parent
STUBS = ast.parse((PACKAGE / "_generated" / "operators.pyi").read_text(encoding="utf-8"))
FUNCTIONS = {node.name: node for node in STUBS.body if isinstance(node, ast.FunctionDef)}
OTHER_NAMES = {t.id for node in STUBS.body if isinstance(node, ast.Assign) for t in node.targets}
OTHER_NAMES |= {node.target.id for node in STUBS.body if isinstance(node, ast.AnnAssign)}


def real_signature(name: str) -> inspect.Signature:
    """Of a compiled function, as `help` and editors see it."""
    return inspect.signature(getattr(operators, name))


def parameters_of_stub(node: ast.FunctionDef) -> list[tuple]:
    """(name, kind, default as text, or None) for each parameter; `...` is any default."""
    found, a = [], node.args
    plain = [*a.posonlyargs, *a.args]
    for arg, default in zip(plain, [None] * (len(plain) - len(a.defaults)) + a.defaults, strict=True):
        found.append((arg.arg, "positional", None if default is None else ast.unparse(default)))
    for arg, default in zip(a.kwonlyargs, a.kw_defaults, strict=True):
        found.append((arg.arg, "keyword", None if default is None else ast.unparse(default)))
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_stub_equals_signature(name):
    real = []
    for p in real_signature(name).parameters.values():
        kind = "keyword" if p.kind is p.KEYWORD_ONLY else "positional"
        real.append((p.name, kind, None if p.default is p.empty else repr(p.default)))
    stub = parameters_of_stub(FUNCTIONS[name])
    assert [(n, k, d is None) for n, k, d in stub] == [(n, k, d is None) for n, k, d in real]
    for (parameter, _, said), (_, _, default) in zip(stub, real, strict=True):
        assert said in ("...", default), parameter


def test_stubs_are_complete():
    public = [name for name in dmlcore._generated.__all__ if not isinstance(getattr(dmlcore, name), type)]
    typed = [getattr(operators, name) for name in FUNCTIONS]
    assert [name for name in public if not any(getattr(dmlcore, name) is f for f in typed)] == []
    for name in (*FUNCTIONS, *OTHER_NAMES - {"T"}):
        assert hasattr(operators, name), f"{name} stands in the stubs alone"


USER = """
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import dmlcore
from dmlcore import TensorDesc

x: NDArray[np.float32] = np.zeros((2, 3), np.float32)
i = np.array([[1], [0]])
assert_type(dmlcore.gather_nd(x, i), NDArray[np.float32])
assert_type(dmlcore.gather_nd(x, [[1], [0]], num_threads=2), NDArray[np.float32])
assert_type(dmlcore.gather_elements(x, np.zeros((1, 3), np.int64), axis=0), NDArray[np.float32])
assert_type(dmlcore.scatter_nd(x, i, x, out=x), NDArray[np.float32])
rows = dmlcore.nonzero_coordinates(x)
print(rows.shape)

tensor = TensorDesc.from_array(x, strided=True)
sizes: tuple[int, ...] = tensor.sizes
desc = dmlcore.GatherNDDesc(input=TensorDesc("FLOAT32", (2, 3)), indices=TensorDesc("INT64", (2, 1)))
violations: list[dmlcore.Violation] = dmlcore.check(desc, feature_level="2.1")
level: dmlcore.FeatureLevel | None = dmlcore.minimum_feature_level(desc)
compiled: dmlcore.CompiledOperator = dmlcore.compile(desc, feature_level="3.0", mode="raise")
assert_type(desc.output, TensorDesc | None)
assert_type(dmlcore.GatherNDDesc.from_dict(desc.to_dict()), dmlcore.GatherNDDesc)
dmlcore.set_num_threads(2)
threads: int = dmlcore.get_num_threads()
dmlcore.set_memory_pool_limit(None)
limit: int = dmlcore.get_memory_pool_limit()
try:
    compiled(x, i)
except dmlcore.ConstraintError as error:
    rule: str = error.rule
    print(rule, [violation.message for violation in error.violations], error.as_dict())
except dmlcore.IndexOutOfRangeError as error:
    print(error.position, error.value)
"""
WRONG = {
    "dmlcore.gather_nd(x)": "call-arg",
    "dmlcore.gather_nd(x, i, axis=0)": "call-arg",
    "dmlcore.gather_nd(x, i, num_threads='2')": "arg-type",
    "dmlcore.gather_nd(x, i, out=[1, 2])": "arg-type",
    "dmlcore.GatherNDDesc(input=3, indices=3)": "arg-type",
    "dmlcore.no_such_operator": "attr-defined",
}


def test_users_are_checked(tmp_path):
    """mypy --strict accepts a user's file, keeps the data types, and finds each of the mistakes in another one."""
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(USER)
    head = USER.split("assert_type(dmlcore")[0]
    (tmp_path / "wrong.py").write_text(head + "\n".join(WRONG) + "\n")
    environ = {**os.environ, "MYPYPATH": str(PACKAGE.parent)} if "site-packages" not in str(PACKAGE) else dict(os.environ)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--no-error-summary",
        "--follow-imports=silent",
        "--cache-dir",
        str(tmp_path / "cache"),
    ]
    done = subprocess.run([*command, "user.py", "wrong.py"], cwd=tmp_path, env=environ, capture_output=True, text=True)
    found = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert not [line for line in found if not line.startswith("wrong.py")], done.stdout
    first = head.count("\n") + 2
    for number, (text, code) in enumerate(WRONG.items(), first - 1):
        assert any(line.startswith(f"wrong.py:{number}:") and f"[{code}]" in line for line in found), (
            text,
            done.stdout,
        )
