"""`run-graph`: every form that DxDispatch's JSON allows for the operators here, and every mistake in it."""

import json

import numpy as np
import pytest

import dmlcore
from dmlcore.graph import FileError, load_graph, run_graph

ROOT = __import__("pathlib").Path(__file__).resolve().parents[2]


def values_of(dmlcore_cli, write, value, *options) -> list:
    result = dmlcore_cli("run-graph", write("model.json", value), "--json", *options)
    assert result.status == 0, result.err
    return [event["values"] for event in result.json["events"] if event["command"] == "print"][-1]


def test_example(dmlcore_cli, tmp_path):
    result = dmlcore_cli("run-graph", ROOT / "examples/dxdispatch/gather_nd.json", "-o", tmp_path)
    assert result.status == 0 and "Resource 'output': 0, 1, 6, 7\n" in result.out
    assert np.load(tmp_path / "gather_nd_output.npy").tolist() == [[0, 1], [6, 7]]


@pytest.mark.parametrize(
    ("resource", "wanted"),
    [
        (
            {"initialValuesDataType": "FLOAT16", "initialValues": [65504, "nan", "-INF", 0.1]},
            [65504, "nan", "-inf", 0.0999755859375],
        ),
        (
            {"initialValuesDataType": "DML_TENSOR_DATA_TYPE_UINT8", "initialValues": {"valueCount": 3, "value": 255}},
            [255] * 3,
        ),
        (
            {
                "initialValuesDataType": "FLOAT32",
                "initialValues": {"valueCount": 4, "valueStart": 1, "valueDelta": 2.5},
            },
            [1, 3.5, 6, 8.5],
        ),
        (
            {"initialValuesDataType": "UINT8", "initialValues": {"valueCount": 3, "valueStart": 250, "valueDelta": 5}},
            [250, 255, 4],
        ),
        (
            {"initialValuesDataType": "INT64", "initialValues": {"valueCount": 3, "valueStart": -5, "valueDelta": -1}},
            [-5, -6, -7],
        ),
        ({"initialValuesDataType": "UINT64", "initialValues": [2**64 - 1]}, [2**64 - 1]),
        ({"initialValues": {"sourcePath": "sub/x.npy"}}, [1, 2, 3]),
        ({"initialValues": {"sourcePath": "sub/x.npy"}, "initialValuesDataType": "INT16"}, [1, 2, 3]),
        ({"initialValues": {"sourcePath": "sub/x.dat"}, "initialValuesDataType": "UINT16"}, [513, 1027]),
        (
            {
                "initialValues": [{"type": "UINT32", "value": 6}, {"name": "n", "type": "FLOAT16", "value": 1}],
                "initialValuesDataType": "UNKNOWN",
                "sizeInBytes": 256,
            },
            [6, 0, 0, 0, 0, 60],
        ),
        (
            {
                "initialValuesDataType": "INT8",
                "initialValues": [1, 2],
                "sizeInBytes": 9,
                "initialValuesOffsetInBytes": 1,
            },
            [0, 1],
        ),
    ],
    ids=lambda value: json.dumps(value)[:60],
)
def test_initial_values(dmlcore_cli, write, model, tmp_path, resource, wanted):
    (tmp_path / "sub").mkdir()
    write("sub/x.npy", np.array([[1, 2, 3]], np.int16))
    write("sub/x.dat", bytes([1, 2, 3, 4]))
    commands = [{"type": "print", "resource": "x"}]
    assert values_of(dmlcore_cli, write, model(**{"resources.x": resource, "commands": commands})) == wanted


def test_print_looks_like_dxdispatch(dmlcore_cli, write, model):
    x = {"initialValuesDataType": "FLOAT32", "initialValues": [1, 0.1, 1e10, "nan", "-inf", -0.0, 1234567]}
    value = model(**{"resources.x": x, "commands": [{"type": "PRINT", "resource": "x", "verbose": False}]})
    assert dmlcore_cli("run-graph", write("m.json", value)).out == "Resource 'x': 1, 0.1, 1e+10, nan, -inf, -0, 1.23457e+06\n"


@pytest.mark.parametrize(
    "binding",
    [
        {"name": "input", "elementOffset": 2},
        ["input2"],
        [{"name": "input2"}],
        {"name": "raw", "elementOffset": 8, "elementSizeInBytes": 1},
        {"name": "raw", "elementOffset": 2, "elementStride": 4},
    ],
    ids=json.dumps,
)
def test_bindings(dmlcore_cli, write, model, binding):
    raw = np.arange(-2, 8, dtype=np.float32)
    value = model(
        **{
            "resources.input": {"initialValuesDataType": "FLOAT32", "initialValues": raw.tolist()},
            "resources.input2": {"initialValuesDataType": "FLOAT32", "initialValues": list(range(8))},
            "resources.raw": {"initialValuesDataType": "UINT8", "initialValues": list(raw.tobytes())},
            "commands.0.bindings.InputTensor": binding,
        }
    )
    assert values_of(dmlcore_cli, write, value) == [0, 1, 6, 7]


def test_strides_and_two_outputs(dmlcore_cli, write):
    tensor = {"DataType": "INT8", "Sizes": [2, 2], "Strides": [1, 2]}
    value = {
        "resources": {
            "x": {"initialValuesDataType": "INT8", "initialValues": [0, 5, 0, 7]},
            "count": {"initialValuesDataType": "UINT32", "initialValues": [9]},
            "where": {"initialValuesDataType": "UINT32", "initialValues": {"valueCount": 8, "value": 9}},
        },
        "dispatchables": {
            "nonzero": {
                "type": "NONZERO_COORDINATES",
                "desc": {
                    "InputTensor": tensor,
                    "OutputCountTensor": {"DataType": "UINT32", "Sizes": [1]},
                    "OutputCoordinatesTensor": {"DataType": "UINT32", "Sizes": [4, 2]},
                },
            }
        },
        "commands": [
            {
                "type": "dispatch",
                "dispatchable": "nonzero",
                "bindings": {"InputTensor": "x", "OutputCountTensor": "count", "OutputCoordinatesTensor": "where"},
            },
            {"type": "print", "resource": "count"},
            {"type": "print", "resource": "where"},
        ],
    }
    events = dmlcore_cli("run-graph", write("m.json", value), "--json").json["events"]
    assert events[1]["values"] == [2] and events[2]["values"] == [1, 0, 1, 1, 9, 9, 9, 9]


def test_write_file(dmlcore_cli, write, model, tmp_path):
    targets = [
        {"targetPath": "a.npy"},
        {"targetPath": "deep/er/b.npy", "dimensions": [2, 2]},
        {"targetPath": "c.bin"},
        {"targetPath": "d.npy", "dimensions": [3]},
    ]
    commands = model()["commands"] + [{"type": "writeFile", "resource": "output", **target} for target in targets]
    out = tmp_path / "out"
    out.mkdir()
    result = dmlcore_cli("run-graph", write("m.json", model(commands=commands)), "--output-path", out, "--json")
    assert [event["command"] for event in result.json["events"]] == ["dispatch", "print"] + ["writeFile"] * 4
    assert np.load(out / "a.npy").tolist() == [0, 1, 6, 7] and np.load(out / "deep/er/b.npy").shape == (2, 2)
    assert (out / "c.bin").read_bytes() == np.array([0, 1, 6, 7], np.float32).tobytes() and np.load(out / "d.npy").shape == (3,)


@pytest.mark.parametrize("target", ["../x.npy", "a/../../x.npy", "..\\x.npy", "ABSOLUTE"])
def test_nothing_is_written_outside(dmlcore_cli, write, model, tmp_path, target):
    target = str(tmp_path / "x.npy") if target == "ABSOLUTE" else target
    out = tmp_path / "out"
    out.mkdir()
    path = write("m.json", model(commands=[{"type": "writeFile", "resource": "input", "targetPath": target}]))
    result = dmlcore_cli("run-graph", path, "-o", out)
    assert result.status == 3 and "outside" in result.err and not (tmp_path / "x.npy").exists()
    assert "--allow-outside" in result.err
    assert dmlcore_cli("run-graph", path, "-o", out, "--allow-outside").status == 0 and (tmp_path / "x.npy").exists()


def test_rules_and_levels(dmlcore_cli, write, model):
    path = write("m.json", model())
    result = dmlcore_cli("run-graph", path, "--level", "2.1")
    assert (
        result.status == 1 and "dispatchable 'pick'" in result.err and "GATHER_ND-IndicesTensor-DataType-support" in result.err
    )
    error = dmlcore_cli("run-graph", path, "--level", "2.1", "--json").json["error"]
    assert error["rule"] == "GATHER_ND-IndicesTensor-DataType-support" and error["kind"] == "DataTypeConstraintError"
    assert dmlcore_cli("run-graph", path, "--level", "1.5").status == 2


def test_indices_out_of_range(dmlcore_cli, write, model):
    value = model(**{"resources.indices.initialValues": [0, 0, 5, 1]})
    result = dmlcore_cli("run-graph", write("m.json", value))
    assert result.status == 1 and "is 5, which is out of range" in result.err
    assert values_of(dmlcore_cli, write, value, "--mode", "clip", "--threads", 1) == [0, 1, 6, 7]
    assert dmlcore_cli("run-graph", write("m.json", value), "--mode", "wrap").status == 2


def test_memory_limit_and_paths(dmlcore_cli, write, model, tmp_path):
    path = write("m.json", model())
    assert "the limit" in dmlcore_cli("run-graph", path, "--memory-limit", "0.00000001").err
    (tmp_path / "data").mkdir()
    write("data/x.npy", np.arange(8, dtype=np.float32))
    value = model(**{"resources.input": {"initialValues": {"sourcePath": "x.npy"}}})
    assert values_of(dmlcore_cli, write, value, "--input-path", tmp_path / "data") == [0, 1, 6, 7]


def test_from_python(write, model, tmp_path):
    path = write("m.json", model())
    assert run_graph(path)[-1].values.tolist() == [0, 1, 6, 7]
    graph = load_graph(path, "3.0")
    assert graph.operators["pick"].feature_level is dmlcore.FeatureLevel.FL3_0
    assert [event.command for event in graph.run()] == ["dispatch", "print"]
    with pytest.raises(FileError, match=r"none\.json"):
        load_graph(tmp_path / "none.json")
