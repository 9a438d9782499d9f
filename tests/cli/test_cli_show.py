"""`ops`, `show`, `info`, `bench` and the help: what there is, told from the specifications, as text and as JSON."""

import shlex

import numpy as np
import pytest

import dmlcore
from dmlcore._generated.tables import LEVELS, OPERATORS
from dmlcore._generated.tools import TOOLS

COMMANDS = ("ops", "show", "check", "level", "run", "run-graph", "vectors", "verify", "info", "bench")


def test_help_lists_commands_and_statuses(dmlcore_cli):
    text = dmlcore_cli("--help").out
    assert all(name in text for name in COMMANDS)
    assert "Exit status" in text and "130" in text and "--install-completion" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command(dmlcore_cli, name):
    result = dmlcore_cli(name, "-h")
    assert result.status == 0 and "Usage: dmlcore" in result.out
    if name != "run":
        assert "--json" in result.out


@pytest.mark.parametrize("operator", TOOLS)
def test_help_of_each_operator(dmlcore_cli, operator):
    text = dmlcore_cli("run", operator, "--help").out
    for parameter in OPERATORS[operator].parameters.values():
        assert parameter == "out" or f"--{parameter.replace('_', '-')}" in text
    for option in TOOLS[operator].options:
        assert option in ("out", "num_threads") or f"--{option.replace('_', '-')}" in text


def shown(text: str) -> list[list[str]]:
    """The command lines among the examples of a help text, without the program's name."""
    return [shlex.split(line)[1:] for line in text.splitlines() if line.startswith("    dmlcore ")]


def test_examples_of_the_help_run(dmlcore_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [line for name in ("run-graph", "show", "bench") for line in shown(dmlcore_cli(name, "-h").out)]
    lines += [line for line in shown(dmlcore_cli("verify", "-h").out) if "--outputs" not in line]
    assert {line[0] for line in lines} == {"vectors", "run-graph", "show", "bench", "verify"}
    for line in lines:
        quick = ["-n", "64", "--seconds", "0"] if line[0] == "bench" else []
        result = dmlcore_cli(*line, *quick)
        assert result.status == 0, (line, result.err)
    np.save("input.npy", np.eye(3, dtype=np.float32))
    np.save("indices.npy", np.array([[1, 0], [2, 2]]))
    np.save("updates.npy", np.array([5, 6], np.float32))
    for operator in ("gather_nd", "scatter_nd", "nonzero_coordinates"):
        (line,) = shown(dmlcore_cli("run", operator, "-h").out)
        assert dmlcore_cli(*line).status == 0 and (tmp_path / "result.npy").stat().st_size


def test_help_of_vectors_names_all(dmlcore_cli):
    text = dmlcore_cli("vectors", "-h").out
    assert "`all`" in text and len(shown(text)) == 2


def test_the_descriptor_in_the_help_of_check(dmlcore_cli):
    text = dmlcore_cli("check", "-h").out
    desc = text[text.index('{"type": "DML_OPERATOR_GATHER"') : text.index("\n\nArguments")]
    result = dmlcore_cli("check", "-", stdin=desc)
    assert result.status == 0 and "valid" in result.out


def test_short_helps_are_whole(dmlcore_cli):
    assert "..." not in dmlcore_cli("-h").out.split("Commands:")[1]
    assert "..." not in dmlcore_cli("run", "-h").out.split("Commands:")[1]


def test_version(dmlcore_cli):
    assert dmlcore_cli("--version").out == f"dmlcore {dmlcore.__version__}\n"


def test_ops(dmlcore_cli):
    text = dmlcore_cli("ops").out
    assert all(name in text for name in TOOLS) and "6.4" in text
    told = dmlcore_cli("ops", "--json").json["operators"]
    assert [o["operator"] for o in told] == list(TOOLS)
    for one in told:
        spec = OPERATORS[one["operator"]]
        assert one["feature_levels"] == [level.dml_name for level in LEVELS[spec.introduced :]]
        assert one["changes"][0] == one["introduced"] and hasattr(dmlcore, one["desc"]) and hasattr(dmlcore, one["function"])


@pytest.mark.parametrize("operator", TOOLS)
def test_show_tells_everything(dmlcore_cli, operator):
    text = dmlcore_cli("show", operator.lower()).out
    spec, tool = OPERATORS[operator], TOOLS[operator]
    for member, *_ in spec.members:
        assert member in text
    for broken in tool.broken:
        assert (broken.rule in text) == (broken.last == len(LEVELS)), broken.rule
    assert all(example.id in text for example in tool.examples)
    value = dmlcore_cli("show", operator, "--json").json
    assert {rule["id"] for rule in value["rules"]} >= {b.rule for b in tool.broken if b.last == len(LEVELS)}
    assert all(rule["text"] for rule in value["rules"])
    assert [e["id"] for e in value["examples"]] == [e.id for e in tool.examples]


@pytest.mark.parametrize("operator", TOOLS)
@pytest.mark.parametrize("position", range(len(LEVELS)))
def test_show_at_a_level(dmlcore_cli, operator, position):
    level = LEVELS[position]
    result = dmlcore_cli("show", operator, "--level", level.dml_name, "--json", "--no-examples")
    if position < OPERATORS[operator].introduced:
        assert result.status == 2 and "does not exist" in result.err.replace("\n", " ")
        return
    value = result.json
    assert value["examples"] == [] and {row["feature_level"] for row in value["support"]} == {level.dml_name}
    for row in value["support"]:
        assert tuple(row["data_types"]) == OPERATORS[operator].support[row["tensor"]][position][0]
    active = {b.rule for b in TOOLS[operator].broken if b.first <= position < b.last}
    assert active == {rule["id"] for rule in value["rules"]} & {b.rule for b in TOOLS[operator].broken}


@pytest.mark.parametrize("name", ["SCATTER", "scatter", "DML_OPERATOR_SCATTER", "scatter-elements"])
def test_every_name_of_an_operator(dmlcore_cli, name):
    assert "DML_OPERATOR_SCATTER_ELEMENTS, also SCATTER" in dmlcore_cli("show", name).out
    assert "--updates" in dmlcore_cli("run", name, "-h").out


@pytest.mark.parametrize(
    "arguments", [("show", "GATHERND"), ("show", "GATHER", "-l", "7.7"), ("bench", "nothing"), ("run", "nothing")]
)
def test_unknown_names(dmlcore_cli, arguments):
    result = dmlcore_cli(*arguments)
    assert result.status == 2 and arguments[-1] in result.err


def test_info(dmlcore_cli):
    assert dmlcore.__version__ in dmlcore_cli("info").out
    value = dmlcore_cli("info", "--json").json
    assert value["isa"] in value["isa_available"] and value["operators"] == list(TOOLS)


def test_bench(dmlcore_cli):
    value = dmlcore_cli("bench", "--json", "-n", 6400, "--seconds", 0).json
    assert [row["operator"] for row in value["results"]] == list(TOOLS)
    assert all(row["seconds"] > 0 and row["numpy_seconds"] > 0 for row in value["results"])
    text = dmlcore_cli("bench", "gather", "-n", 640, "--seconds", 0, "--threads", 1).out
    assert "GATHER" in text and "numpy.take" in text
