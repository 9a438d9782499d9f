"""Conformance cases of other projects, as data: recorded inputs and results, in every memory layout.

data/cases holds those that may be copied; more of them, in the same form, are run from the folder that DMLCORE_CASES
names. What needs an operator or an option that this build lacks is skipped, and the reason says so.
"""

import hashlib
import json
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from layouts import LAYOUTS
from oracle import same_bits
from specs import accepted

import dmlcore

OWN = Path(__file__).parent / "data" / "cases"
OTHER = os.environ.get("DMLCORE_CASES")
SAME_VALUES = [name for name in LAYOUTS if name != "broadcast"]
ERRORS = (ValueError, TypeError, IndexError)

# Rules of one framework alone: how such a case is run here, or why it is not.
PROFILES = {
    "core": {},
    "webnn-clamp": {"mode": "clip"},
    "baseline-duplicates-are-errors": {"duplicates": "raise"},
}


def cases(folder) -> list:
    index = json.loads(Path(folder, "index.json").read_text(encoding="utf-8"))
    return [pytest.param(folder, case, id=case["id"]) for case in index]


@cache
def loaded(folder, name):
    with np.load(Path(folder, name), allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


@cache
def weyl32(*shape) -> np.ndarray:
    n = int(np.prod(shape))
    u = (np.arange(n, dtype=np.uint64) * np.uint64(2654435761)) & np.uint64(0xFFFFFFFF)
    return ((u >> np.uint64(8)).astype(np.float32) / np.float32(2**24) - np.float32(0.5)).reshape(shape)


def array(folder, case, key) -> np.ndarray:
    if isinstance(key, dict):
        assert key["generate"] == "weyl32"
        return weyl32(*key["shape"])
    return loaded(folder, case["npz"])[key]


def missing(case, options) -> str | None:
    """What this build lacks for a case, if anything."""
    function = getattr(dmlcore, case["op"], None)
    if function is None:
        return f"there is no {case['op']}"
    if case["profile"] not in PROFILES:
        return f"a rule of another framework alone: {case['profile']}"
    for option in ("mode", "reduction", "duplicates"):
        if option in options and options[option] not in accepted(function, option):
            return f"{case['op']} takes no {option}={options[option]!r}"
    if options.get("batch_dims"):
        try:
            function(np.zeros((1, 1)), np.zeros((1, 1), np.int64), batch_dims=1)
        except ValueError as error:
            return f"{case['op']}: {error}" if "expected 0" in str(error) else None
    return None


def run(folder, case) -> None:
    options = case["attributes"] | PROFILES.get(case["profile"], {})
    reason = missing(case, options)
    if reason:
        pytest.skip(reason)
    function = getattr(dmlcore, case["op"])
    plain = [array(folder, case, key) for key in case["inputs"].values()]
    rng = np.random.default_rng(0)
    small = sum(a.size for a in plain) < 100_000
    for layout in SAME_VALUES if small else ["C"]:
        inputs = [LAYOUTS[layout](a, rng) if small else a for a in plain]
        if "expected_error" in case:
            with pytest.raises(ERRORS):
                function(*inputs, **options)
        else:
            compare(folder, case, function(*inputs, **options), layout)
        assert all(same_bits(np.ascontiguousarray(a), np.ascontiguousarray(p)) for a, p in zip(inputs, plain, strict=True)), (
            "input changed"
        )


def compare(folder, case, result, layout) -> None:
    if "expected_shape" in case:
        assert (list(result.shape), str(result.dtype)) == (case["expected_shape"], case["expected_dtype"]), layout
    if "expected_sha256" in case:
        assert hashlib.sha256(result.tobytes()).hexdigest() == case["expected_sha256"], layout
    if "expected" in case:
        wanted = array(folder, case, case["expected"])
        assert (result.shape, result.dtype) == (wanted.shape, wanted.dtype), layout
        if case["compare"]["mode"] == "exact":
            np.testing.assert_array_equal(result, wanted, layout)
        else:
            np.testing.assert_allclose(result, wanted, case["compare"]["rtol"], case["compare"]["atol"], err_msg=layout)


@pytest.mark.parametrize(("folder", "case"), cases(OWN))
def test_own(folder, case, each_way):
    run(folder, case)


if OTHER:

    @pytest.mark.parametrize(("folder", "case"), cases(OTHER))
    def test_other(folder, case):
        run(folder, case)

else:

    @pytest.mark.skip(reason="DMLCORE_CASES names no folder with further cases")
    def test_other():
        pass
