"""`run`: every operator on files, against its meaning in NumPy; options, errors, and outputs that are mapped."""

import numpy as np
import pytest

import dmlcore
from dmlcore._generated.tables import OPERATORS
from dmlcore._generated.tools import TOOLS
from dmlcore.cli import running
from dmlcore.cli.shapes import result_sizes
from dmlcore.levels import NEWEST
from dmlcore.vectors.cases import valid_cases
from dmlcore.vectors.natural import arguments, meaning, members, natural_sizes


def natural_cases(operator: str, count: int):
    """(files by parameter, options, result) of valid vectors, at natural ranks."""
    for case in valid_cases(operator, NEWEST, count, 1):
        sizes, names = natural_sizes(case.desc), OPERATORS[operator].parameters
        arrays = {names[name]: case.inputs[name].reshape(sizes[name]) for name in members(case.desc, "input")}
        yield arrays, arguments(case.desc), meaning(case.desc, case.inputs)


def command_line(operator, write, arrays, options):
    line = ["run", operator]
    for name, array in arrays.items():
        line += [f"--{name}", write(f"{name}.npy", array)]
    for name, value in options.items():
        line += [f"--{name.replace('_', '-')}", value]
    return line


@pytest.mark.parametrize("operator", TOOLS)
def test_files_in_and_out(dmlcore_cli, write, tmp_path, monkeypatch, operator):
    monkeypatch.setattr(running, "MAP_FROM", 64)  # both ways to write
    for arrays, options, wanted in natural_cases(operator, 6):
        line = command_line(operator, write, arrays, options)
        result = dmlcore_cli(*line, "-o", tmp_path / "out.npy")
        assert result.status == 0, result.err
        found = np.load(tmp_path / "out.npy")
        assert found.dtype == wanted.dtype and found.shape == wanted.shape and found.tobytes() == np.array(wanted).tobytes()
        assert str(wanted.shape) in result.out
        value = dmlcore_cli(*line, "--json").json
        assert value["shape"] == list(wanted.shape) and value["dtype"] == str(wanted.dtype)
        if wanted.dtype.kind in "iu":
            assert value["values"] == wanted.tolist()
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".npy"]


@pytest.mark.parametrize("operator", TOOLS)
def test_sizes_are_known_before(operator):
    """The shape that a mapped output is made with is the shape of the result."""
    for arrays, options, wanted in natural_cases(operator, 20):
        sizes = result_sizes(operator, {name: a.shape for name, a in arrays.items()}, options)
        if TOOLS[operator].rows is None:
            assert sizes == np.shape(wanted)
    for odd in ((), (0,), (1,) * 9):
        result_sizes(operator, {name: odd for name in arrays}, {})  # the function itself tells what is wrong with these


def test_printed_without_output(dmlcore_cli, write):
    x, i = write("x.npy", np.arange(6, dtype=np.int32).reshape(2, 3)), write("i.npy", np.array([-1, 0]))
    assert dmlcore_cli("run", "gather", "--input", x, "--indices", i, "--axis", -1).out == "[[2, 0],\n [5, 3]]\n"
    many = write("many.npy", np.zeros(5000, np.int64))
    assert "values" not in dmlcore_cli("run", "gather", "--input", x, "--indices", many, "--json").json
    nan = write("nan.npy", np.array([np.nan, np.inf, 1], np.float32))
    value = dmlcore_cli("run", "gather", "--input", nan, "--indices", write("j.npy", np.arange(3)), "--json").json
    assert value["values"] == ["nan", "inf", "1.0"]


def test_options(dmlcore_cli, write):
    x, i = write("x.npy", np.arange(4, dtype=np.float32)), write("i.npy", np.array([[9], [1]]))
    nd = ("run", "gather_nd", "--input", x, "--indices", i, "--json")
    assert dmlcore_cli(*nd, "--mode", "clip").json["values"] == [3, 1]
    assert dmlcore_cli(*nd, "--mode", "fill", "--fill-value", "-2.5", "--threads", 1).json["values"] == [-2.5, 1]
    u, k = write("u.npy", np.array([5, 6], np.float32)), write("k.npy", np.array([[1], [1]]))
    scatter = ("run", "scatter_nd", "--input", x, "--indices", k, "--updates", u, "--json")
    assert dmlcore_cli(*scatter).json["values"] == [0, 6, 2, 3]
    assert dmlcore_cli(*scatter, "--reduction", "add").json["values"] == [0, 12, 2, 3]
    assert dmlcore_cli(*scatter, "--duplicates", "raise").status != 0
    assert dmlcore_cli("run", "nonzero_coordinates", "--input", x, "--dtype", "int64", "--json").json["dtype"] == "int64"
    bits = write("b.npy", np.zeros((2, 3, 4), np.uint8)), write("c.npy", np.ones((2, 1), np.int32))
    assert dmlcore_cli("run", "gather_nd1", "--input", bits[0], "--indices", bits[1], "--batch-dims", 1, "--json").json[
        "shape"
    ] == [2, 4]


@pytest.mark.parametrize(
    ("options", "status", "problem"),
    [
        (("--mode", "wrap"), 2, "mode is 'wrap', expected one of"),
        (("--fill-value", "many"), 2, "'many' is not a number"),
        (("--mode", "fill", "--fill-value", "300"), 2, "300"),
        (("--batch-dims", "x"), 2, "batch-dims"),
        (("--threads", "0"), 2, "threads"),
        (("--nothing",), 2, "--nothing"),
        (("--batch-dims", "1"), 1, "GATHER_ND1-"),
        (("--mode", "raise"), 1, "indices[0, 0] (IndicesTensor) is 9"),
    ],
    ids=str,
)
def test_wrong_options(dmlcore_cli, write, options, status, problem):
    x, i = write("x.npy", np.arange(4, dtype=np.uint8)), write("i.npy", np.array([[9], [1]]))
    result = dmlcore_cli("run", "gather_nd", "--input", x, "--indices", i, *options)
    assert result.status == status and problem in result.err and result.out == ""


def test_errors_as_json(dmlcore_cli, write):
    x, i = write("x.npy", np.arange(4)), write("i.npy", np.array([[9]]))
    error = dmlcore_cli("run", "gather_nd", "--input", x, "--indices", i, "--json").json["error"]
    assert error["kind"] == "IndexOutOfRangeError" and error["value"] == 9 and error["position"] == [0, 0]
    f = write("f.npy", np.array([[0.5]]))
    error = dmlcore_cli("run", "gather_nd", "--input", x, "--indices", f, "--json").json["error"]
    assert error["kind"] == "DataTypeConstraintError" and error["rule"] == "GATHER_ND-IndicesTensor-DataType-support"


def test_a_failed_run_leaves_the_output_as_it_was(dmlcore_cli, write, tmp_path, monkeypatch):
    out, before = write("out.npy", b"before"), b"before"
    x, i = write("x.npy", np.arange(4)), write("i.npy", np.array([[9]]))
    for map_from in (1, 1 << 30):
        monkeypatch.setattr(running, "MAP_FROM", map_from)
        assert dmlcore_cli("run", "gather_nd", "--input", x, "--indices", i, "-o", out).status == 1
        assert out.read_bytes() == before and sorted(p.name for p in tmp_path.iterdir()) == [
            "i.npy",
            "out.npy",
            "x.npy",
        ]
    assert dmlcore_cli("run", "gather_nd", "--input", x, "--indices", i, "-o", tmp_path / "none" / "o.npy").status == 3


def test_the_output_is_no_folder(dmlcore_cli, write, tmp_path):
    x, i = write("x.npy", np.arange(4)), write("i.npy", np.array([[1]]))
    result = dmlcore_cli("run", "gather_nd", "--input", x, "--indices", i, "-o", tmp_path)
    assert result.status == 3 and "it is a folder; name a file" in result.err


def test_every_broken_rule_is_told(dmlcore_cli, write):
    x, i = write("x.npy", np.array(["a"])), write("i.npy", np.array([[0.5]]))
    result = dmlcore_cli("run", "gather_nd", "--input", x, "--indices", i)
    assert result.status == 1 and ".violations" not in result.err
    assert "GATHER_ND-InputTensor-DataType-support" in result.err and "GATHER_ND-IndicesTensor-DataType-support" in result.err


def test_the_output_may_be_an_input(dmlcore_cli, write, monkeypatch):
    monkeypatch.setattr(running, "MAP_FROM", 1)
    x, i, u = write("x.npy", np.arange(4)), write("i.npy", np.array([[1]])), write("u.npy", np.array([9]))
    assert dmlcore_cli("run", "scatter_nd", "--input", x, "--indices", i, "--updates", u, "-o", x).status == 0
    assert np.load(x).tolist() == [0, 9, 2, 3]


def test_large_files(dmlcore_cli, write, tmp_path):
    array = np.random.default_rng(0).integers(0, 99, (1 << 14, 1 << 9), np.int32)
    rows = np.random.default_rng(1).permutation(1 << 14)
    line = (
        "run",
        "gather",
        "--input",
        write("x.npy", array),
        "--indices",
        write("i.npy", rows),
        "-o",
        tmp_path / "o.npy",
    )
    assert array.nbytes >= running.MAP_FROM and dmlcore_cli(*line).status == 0
    assert np.array_equal(np.load(tmp_path / "o.npy"), dmlcore.gather(array, rows))
