"""Makes the project's root importable (codegen is never installed), and gives the tests their fixtures."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


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
