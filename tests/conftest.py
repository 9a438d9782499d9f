"""Makes the project's root importable (codegen is never installed), and gives the tests their fixtures."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="run all combinations of the tests that are marked one_in(n)")


def pytest_collection_modifyitems(config, items):
    """Of the combinations of parameters of a test marked `one_in(n)` one in n is run, unless `--all` is given: those whose
    values' numbers add up to a multiple of n, as in a Latin square. No value is left out if the others' are n at least.
    """
    numbers = {}  # of each parameter's values, in the order in which they come
    kept, left_out = [], []
    for item in items:
        mark, total = item.get_closest_marker("one_in"), 0
        for name, value in item.callspec.params.items() if mark else ():
            values = numbers.setdefault((item.function, name), {})
            total += values.setdefault(repr(value), len(values))
        (left_out if mark and total % mark.args[0] else kept).append(item)
    if not config.getoption("--all"):
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


@pytest.fixture
def rng(request) -> np.random.Generator:
    """Random numbers that depend on the name of the test alone, so that a failure comes back."""
    return np.random.default_rng(list(request.node.name.encode()))


@pytest.fixture
def every_thread():
    """Even the smallest run uses all threads that it is given."""
    from dmlcore._generated.operators import _set_grain

    _set_grain(1)
    yield
    _set_grain(0)


@pytest.fixture(params=(0, 1, 1 << 60), ids=("few-at-once", "by-threads", "planned"))
def each_way(request):
    """As the product chooses, which is without a plan for few positions; with one for all threads, and for a single one."""
    from dmlcore._generated.operators import _set_grain

    _set_grain(request.param)
    yield
    _set_grain(0)


@pytest.fixture
def isa(request):
    """Calls with an instruction set of the caller's choice; skipped where the machine lacks it."""
    import dmlcore
    from dmlcore._generated.operators import _select_isa

    if request.param not in dmlcore.build_info()["isa_available"]:
        pytest.skip(f"this machine has no {request.param}")
    _select_isa(request.param)
    yield request.param
    _select_isa(os.environ.get("DMLCORE_ISA") or None)
