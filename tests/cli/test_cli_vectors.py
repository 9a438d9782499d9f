"""`vectors` and `verify`: what is made covers everything, is the same each time, and survives the way through files.

Valid vectors are computed once more by code that is independent of dmlcore: NumPy's own loader, ONNX's evaluator.
"""

import itertools
import json

import numpy as np
import pytest

import dmlcore
from dmlcore._generated.tables import LEVELS, OPERATORS
from dmlcore._generated.tools import TOOLS
from dmlcore.graph import FileError, parse_desc
from dmlcore.levels import FeatureLevel
from dmlcore.vectors import FORMATS, generate, read_manifest, verify, write
from dmlcore.vectors.cases import valid_cases
from dmlcore.vectors.draw import Draw
from dmlcore.vectors.folder import files_of
from dmlcore.vectors.invalid import breaking, wanted_rules
from dmlcore.vectors.natural import free_tensors, members
from dmlcore.vectors.shapes import combinations

NEWEST = LEVELS[-1].dml_name


@pytest.fixture(scope="session")
def made():
    """The vectors of an operator at the newest level, made once."""
    known = {}

    def make(operator: str):
        if operator not in known:
            known[operator] = generate(operator, seed=5)
        return known[operator]

    return make


@pytest.mark.parametrize("operator", TOOLS)
def test_everything_is_covered(made, operator):
    vectors = made(operator)
    free = free_tensors(operator)
    cells = [OPERATORS[operator].support[name][len(LEVELS) - 1][0] for name in free]
    pairs = {tuple(case.data_types[name] for name in free) for case in vectors.valid}
    assert pairs >= set(itertools.product(*cells)) and vectors.missing_rules == {}
    wanted = {(rule.id, rule.member) for rule in wanted_rules(operator, FeatureLevel.FL6_4)}
    assert wanted == {(case.breaks, case.member) for case in vectors.invalid}
    assert {b.rule for b in TOOLS[operator].broken if b.last == len(LEVELS)} <= {rule for rule, _ in wanted}
    assert any(t.strides for case in vectors.valid for t in members(case.desc, "input", "output").values())
    if TOOLS[operator].index:
        signed = [case.inputs[TOOLS[operator].index] for case in vectors.valid]
        assert any((a < 0).any() for a in signed if a.dtype.kind == "i")


@pytest.mark.parametrize("operator", TOOLS)
def test_every_level(operator):
    """Two valid vectors and a few rules at each level: accepted there, refused there, for exactly what is written."""
    for position, level in enumerate(FeatureLevel):
        cases = list(valid_cases(operator, level, 2, 9))
        assert bool(cases) == (position >= OPERATORS[operator].introduced) == bool(combinations(operator, level))
        for case in cases:
            assert dmlcore.check(case.desc, level) == []
        rules = wanted_rules(operator, level)
        for rule in rules[position % 17 :: 17] or rules[:1]:
            desc, violations = breaking(Draw(9, operator, position), operator, level, rule)
            assert dmlcore.check(desc, level) == violations
            assert (rule.id, rule.member) in {(violation.rule, violation.member) for violation in violations}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("operator", TOOLS)
def test_round_trip(dmlcore_cli, made, tmp_path, operator, format):
    pytest.importorskip("onnx") if format == "onnx" else None
    vectors, folder = made(operator), tmp_path / "v"
    files = write(vectors, format, folder)
    assert {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()} == files
    manifest = read_manifest(folder)
    assert len(manifest["valid"]) + len(manifest["skipped"]) == len(vectors.valid)
    if format != "onnx":
        assert manifest["skipped"] == []
    results = list(verify(folder))
    assert [r.problem for r in results if not r.ok] == [] and len(results) == len(manifest["valid"]) + len(vectors.invalid)
    for case, entry in zip(vectors.invalid, manifest["invalid"], strict=True):
        assert parse_desc(entry, "manifest") == case.desc and entry["breaks"] in entry["rules"]
    assert f"DML_OPERATOR_{operator}" in files["README.md"].decode() and "verify" in files["README.md"].decode()


def test_the_same_seed_gives_the_same_bytes(made):
    for operator in ("GATHER_ND", "NONZERO_COORDINATES"):
        again = generate(operator, seed=5)
        for format in ("dxdispatch", "npz"):
            assert files_of(again, format) == files_of(made(operator), format)
    pytest.importorskip("onnx")
    assert files_of(again, "onnx") == files_of(made(operator), "onnx")
    one, two = (next(valid_cases("GATHER", FeatureLevel.FL6_4, 1, seed)) for seed in (1, 2))
    assert one.inputs["InputTensor"].tobytes() != two.inputs["InputTensor"].tobytes()


def test_npz_is_for_everyone(made, tmp_path):
    vectors = made("SCATTER_ELEMENTS")
    write(vectors, "npz", tmp_path / "v")
    for case in vectors.valid[:10]:
        with np.load(tmp_path / "v/valid" / f"{case.id}.npz") as arrays:
            assert set(arrays) == {*case.inputs, *case.outputs}
            for name in arrays:
                assert np.array_equal(arrays[name], (case.inputs | case.outputs)[name])


def test_node_tests_hold_in_onnx(made, tmp_path):
    """ONNX's reference evaluator, which is not dmlcore, agrees with the expected outputs."""
    onnx = pytest.importorskip("onnx")
    from onnx.reference import ReferenceEvaluator

    for operator in TOOLS:
        write(made(operator), "onnx", tmp_path / operator)
        entries, checked = read_manifest(tmp_path / operator)["valid"], 0
        for entry in entries[::5]:
            folder = tmp_path / operator / "valid" / entry["id"]
            model = onnx.load(folder / "model.onnx")
            onnx.checker.check_model(model, full_check=True)
            read = [onnx.numpy_helper.to_array(onnx.load_tensor(p)) for p in sorted(folder.glob("test_data_set_0/*.pb"))]
            *inputs, wanted = read
            names = [value.name for value in model.graph.input]
            try:
                (found,) = ReferenceEvaluator(model).run(None, dict(zip(names, inputs, strict=True)))
            except Exception:  # the evaluator has gaps of its own: GatherElements with shapes that differ off the axis
                continue
            assert np.asarray(found).tobytes() == wanted.tobytes(), entry["id"]
            checked += 1
        assert checked >= len(entries[::5]) // 2


def test_command(dmlcore_cli, tmp_path):
    folder = tmp_path / "v"
    result = dmlcore_cli("vectors", "gather_nd", "-l", "2.1", "-n", 3, "-s", 4, "-o", folder)
    assert (
        result.status == 0
        and "4 valid and 45 invalid vectors of GATHER_ND" in result.out
        and "3 of 8 combinations" in result.out
    )
    assert "all 49 vectors hold" in dmlcore_cli("verify", folder).out
    assert dmlcore_cli("verify", folder, "--json").json == {"folder": str(folder), "checked": 49, "failed": []}
    again = dmlcore_cli("vectors", "GATHER_ND", "-o", folder)
    assert again.status == 3 and "is not empty" in again.err
    value = dmlcore_cli("vectors", "SCATTER", "-l", "1.0", "-f", "npz", "-o", tmp_path / "w", "--json").json["vectors"][0]
    assert (value["operator"], value["valid"], value["invalid"]) == ("SCATTER_ELEMENTS", 0, 1)
    model = folder / "valid/gather_nd-2.1-0000.json"
    assert dmlcore_cli("run-graph", model, "-o", tmp_path, "-l", "2.1").status == 0
    broken = json.loads((folder / "manifest.json").read_text())["invalid"][-1]
    checked = dmlcore_cli("check", folder / "invalid" / f"{broken['id']}.json", "-l", "2.1", "--json")
    assert checked.status == 1 and [v["rule"] for v in checked.json["results"][0]["violations"]] == broken["rules"]


def test_all_operators_and_levels(dmlcore_cli, tmp_path):
    result = dmlcore_cli("vectors", "all", "-l", "1.0", "-n", 1, "-o", tmp_path / "v")
    assert result.status == 0 and sorted(p.name for p in (tmp_path / "v").iterdir()) == sorted(n.lower() for n in TOOLS)
    value = dmlcore_cli("vectors", "nonzero_coordinates", "-l", "all", "-n", 0, "-o", tmp_path / "w", "--json").json["vectors"][
        0
    ]
    assert value["rules_without_descriptor"] == {} and value["valid"] == 0
    levels = {entry["feature_level"] for entry in read_manifest(tmp_path / "w")["invalid"]}
    assert levels == {level.dml_name for level in LEVELS}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("GATHERND", "-o", "v"), "GATHERND"),
        (("GATHER",), "--output"),
        (("GATHER", "-o", "v", "-f", "wpt"), "'wpt' is not one of"),
        (("GATHER", "-o", "v", "-l", "0.1"), "0.1"),
        (("GATHER", "-o", "v", "-n", "-1"), "--count"),
        (("GATHER", "-o", "v", "-s", "x"), "--seed"),
    ],
    ids=str,
)
def test_usage(dmlcore_cli, tmp_path, monkeypatch, arguments, problem):
    monkeypatch.chdir(tmp_path)
    result = dmlcore_cli("vectors", *arguments)
    assert result.status == 2 and problem in result.err and not (tmp_path / "v").exists()


def test_onnx_has_to_be_there(dmlcore_cli, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "onnx", None)
    result = dmlcore_cli("vectors", "GATHER", "-n", 1, "-l", "1.0", "-f", "onnx", "-o", tmp_path / "v")
    assert result.status == 4 and "pip install 'dmlcore[onnx]'" in result.err and not (tmp_path / "v").exists()


def test_from_python(tmp_path):
    for bad in ({"operator": "NOTHING"}, {"operator": "GATHER", "count": -1}, {"operator": "GATHER", "level": "0.5"}):
        with pytest.raises(ValueError):
            generate(**bad)
    vectors = generate("GATHER", "1.0", 0)
    assert vectors.valid == [] and vectors.rules()
    with pytest.raises(ValueError, match="expected one of dxdispatch, onnx, npz"):
        write(vectors, "wpt", tmp_path / "v")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError):
        write(vectors, "npz", tmp_path / "file")
    steps = []
    generate("GATHER", "1.0", 1, progress=lambda total, done: steps.append((total, done)))
    assert steps[-1][1] <= steps[-1][0] and NEWEST.endswith("6_4")
