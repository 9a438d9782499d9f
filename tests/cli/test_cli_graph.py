"""`run-graph`: every form that DxDispatch's JSON allows for the operators here, and every mistake in it."""

import json

import dmlcore
import numpy as np
import pytest
from dmlcore.graph import FileError, load_graph, run_graph

ROOT = __import__("pathlib").Path(__file__).resolve().parents[2]
CONSTANT = {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 4, "value": 0}}


@pytest.fixture
def model(desc):
    """A model that works: change parts of it by path, as in model(**{"resources.input": {...}})."""

    def make(**changes):
        value = {
            "resources": {
                "input": {"initialValuesDataType": "FLOAT32", "initialValues": list(range(8))},
                "indices": {"initialValuesDataType": "INT64", "initialValues": [0, 0, -1, 1]},
                "output": dict(CONSTANT),
            },
            "dispatchables": {"pick": desc()},
            "commands": [
                {"type": "dispatch", "dispatchable": "pick",
                 "bindings": {"InputTensor": "input", "IndicesTensor": "indices", "OutputTensor": "output"}},
                {"type": "print", "resource": "output"},
            ],
        }  # fmt: skip
        for path, change in changes.items():
            place, *keys = value, *path.split(".")
            for key in keys[:-1]:
                place = place[int(key) if isinstance(place, list) else key]
            place[int(keys[-1]) if isinstance(place, list) else keys[-1]] = change
        return value

    return make


def values_of(dmlcore_cli, write, value, *options) -> list:
    result = dmlcore_cli("run-graph", write("model.json", value), "--json", *options)
    assert result.status == 0, result.err
    return [event["values"] for event in result.json["events"] if event["command"] == "print"][-1]


def test_example(dmlcore_cli, tmp_path):
    result = dmlcore_cli("run-graph", ROOT / "examples/dxdispatch/gather_nd.json", "-o", tmp_path)
    assert result.status == 0 and "Resource 'output': 0, 1, 6, 7\n" in result.out
    assert np.load(tmp_path / "gather_nd_output.npy").tolist() == [[0, 1], [6, 7]]


@pytest.mark.parametrize(("resource", "wanted"), [
    ({"initialValuesDataType": "FLOAT16", "initialValues": [65504, "nan", "-INF", 0.1]}, [65504, "nan", "-inf", 0.0999755859375]),
    ({"initialValuesDataType": "DML_TENSOR_DATA_TYPE_UINT8", "initialValues": {"valueCount": 3, "value": 255}}, [255] * 3),
    ({"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 4, "valueStart": 1, "valueDelta": 2.5}}, [1, 3.5, 6, 8.5]),
    ({"initialValuesDataType": "UINT8", "initialValues": {"valueCount": 3, "valueStart": 250, "valueDelta": 5}}, [250, 255, 4]),
    ({"initialValuesDataType": "INT64", "initialValues": {"valueCount": 3, "valueStart": -5, "valueDelta": -1}}, [-5, -6, -7]),
    ({"initialValuesDataType": "UINT64", "initialValues": [2**64 - 1]}, [2**64 - 1]),
    ({"initialValues": {"sourcePath": "sub/x.npy"}}, [1, 2, 3]),
    ({"initialValues": {"sourcePath": "sub/x.npy"}, "initialValuesDataType": "INT16"}, [1, 2, 3]),
    ({"initialValues": {"sourcePath": "sub/x.dat"}, "initialValuesDataType": "UINT16"}, [513, 1027]),
    ({"initialValues": [{"type": "UINT32", "value": 6}, {"name": "n", "type": "FLOAT16", "value": 1}], "initialValuesDataType": "UNKNOWN",
      "sizeInBytes": 256}, [6, 0, 0, 0, 0, 60]),
    ({"initialValuesDataType": "INT8", "initialValues": [1, 2], "sizeInBytes": 9, "initialValuesOffsetInBytes": 1}, [0, 1]),
], ids=lambda value: json.dumps(value)[:60])  # fmt: skip
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


@pytest.mark.parametrize("binding", [
    {"name": "input", "elementOffset": 2}, ["input2"], [{"name": "input2"}], {"name": "raw", "elementOffset": 8, "elementSizeInBytes": 1},
    {"name": "raw", "elementOffset": 2, "elementStride": 4},
], ids=json.dumps)  # fmt: skip
def test_bindings(dmlcore_cli, write, model, binding):
    raw = np.arange(-2, 8, dtype=np.float32)
    value = model(**{
        "resources.input": {"initialValuesDataType": "FLOAT32", "initialValues": raw.tolist()},
        "resources.input2": {"initialValuesDataType": "FLOAT32", "initialValues": list(range(8))},
        "resources.raw": {"initialValuesDataType": "UINT8", "initialValues": list(raw.tobytes())},
        "commands.0.bindings.InputTensor": binding,
    })  # fmt: skip
    assert values_of(dmlcore_cli, write, value) == [0, 1, 6, 7]


def test_strides_and_two_outputs(dmlcore_cli, write):
    tensor = {"DataType": "INT8", "Sizes": [2, 2], "Strides": [1, 2]}
    value = {
        "resources": {
            "x": {"initialValuesDataType": "INT8", "initialValues": [0, 5, 0, 7]},
            "count": {"initialValuesDataType": "UINT32", "initialValues": [9]},
            "where": {"initialValuesDataType": "UINT32", "initialValues": {"valueCount": 8, "value": 9}},
        },
        "dispatchables": {"nonzero": {"type": "NONZERO_COORDINATES", "desc": {
            "InputTensor": tensor, "OutputCountTensor": {"DataType": "UINT32", "Sizes": [1]},
            "OutputCoordinatesTensor": {"DataType": "UINT32", "Sizes": [4, 2]}}}},
        "commands": [
            {"type": "dispatch", "dispatchable": "nonzero", "bindings": {
                "InputTensor": "x", "OutputCountTensor": "count", "OutputCoordinatesTensor": "where"}},
            {"type": "print", "resource": "count"}, {"type": "print", "resource": "where"},
        ],
    }  # fmt: skip
    events = dmlcore_cli("run-graph", write("m.json", value), "--json").json["events"]
    assert events[1]["values"] == [2] and events[2]["values"] == [1, 0, 1, 1, 9, 9, 9, 9]


def test_write_file(dmlcore_cli, write, model, tmp_path):
    targets = [
        {"targetPath": "a.npy"}, {"targetPath": "deep/er/b.npy", "dimensions": [2, 2]}, {"targetPath": "c.bin"},
        {"targetPath": "d.npy", "dimensions": [3]},
    ]  # fmt: skip
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
    assert dmlcore_cli("run-graph", path, "-o", out, "--allow-outside").status == 0 and (tmp_path / "x.npy").exists()


BAD = [
    ({"resources": []}, '"resources" is missing'),
    ({"commands": {}}, '"commands" is missing or not a list'),
    ({"resources.x": 5}, "resource 'x': expected an object"),
    ({"resources.x": {}}, '"initialValues" is missing'),
    ({"resources.x": {"initialValues": [1]}}, "with data type UNKNOWN"),
    ({"resources.x": {"initialValues": {"valueCount": 1, "value": 1}}}, '"initialValuesDataType" is missing'),
    ({"resources.x": {**CONSTANT, "initialValuesDataType": "FLOAT8"}}, "'FLOAT8' is not one of"),
    ({"resources.x": {**CONSTANT, "initialValuesDataType": "INT4"}}, "'INT4' is not one of"),
    ({"resources.x": {**CONSTANT, "initialValues": []}}, "is empty"),
    ({"resources.x": {**CONSTANT, "initialValues": {"valueCount": 0, "value": 1}}}, "is empty"),
    ({"resources.x": {**CONSTANT, "initialValues": {"valueCount": -1, "value": 1}}}, "valueCount is -1"),
    ({"resources.x": {**CONSTANT, "initialValues": {"valueCount": 1 << 50, "value": 1}}}, "the limit"),
    ({"resources.x": {**CONSTANT, "initialValues": {"valueCount": 1 << 50, "valueStart": 1, "valueDelta": 1}}}, "the limit"),
    ({"resources.x": {**CONSTANT, "sizeInBytes": 1 << 50}}, "the limit"),
    ({"resources.x": {**CONSTANT, "sizeInBytes": 15}}, "sizeInBytes is 15"),
    ({"resources.x": {**CONSTANT, "initialValues": ["many"]}}, "'many' is not a number"),
    ({"resources.x": {**CONSTANT, "initialValues": [[1]]}}, "[1] is not a number"),
    ({"resources.x": {"initialValuesDataType": "UINT8", "initialValues": [256]}}, "256 is not an integer from 0 to 255"),
    ({"resources.x": {"initialValuesDataType": "INT8", "initialValues": [1.5]}}, "1.5 is not an integer"),
    ({"resources.x": {**CONSTANT, "initialValues": {"sourcePath": "none.npy"}}}, "none.npy: cannot be read"),
    ({"resources.x": {"initialValues": {"sourcePath": "none.dat"}}}, "does not tell"),
    ({"resources.x": {"initialValues": {"sourcePath": 7}}}, "sourcePath is 7"),
    ({"resources.x": {**CONSTANT, "initialValues": {"sourcePath": "cat.JPG"}}}, "images are not read"),
    ({"resources.x": {"initialValues": "deferred"}}, "deferred"),
    ({"resources.x": {"type": "texture", **CONSTANT}}, "texture"),
    ({"dispatchables.x": {"type": "hlsl", "sourcePath": "a.hlsl"}}, "of type hlsl"),
    ({"dispatchables.x": {"type": "DML_OPERATOR_GEMM", "desc": {}}}, "DML_OPERATOR_GEMM is not one of"),
    ({"dispatchables.x": 5}, "expected an object"),
    ({"commands.0": 5}, "commands[0]"),
    ({"commands.0": {"type": "fly"}}, "type is 'fly'"),
    ({"commands.0": {}}, "type is None"),
    ({"commands.0.dispatchable": "nobody"}, "dispatchable is 'nobody', expected a dispatchable: pick"),
    ({"commands.0.bindings": None}, '"bindings" is missing'),
    ({"commands.0.bindings.Axis": "input"}, "has no tensor Axis"),
    ({"commands.0.bindings": {"InputTensor": "input"}}, "nothing is bound to IndicesTensor"),
    ({"commands.0.bindings.InputTensor": "nobody"}, "name is 'nobody'"),
    ({"commands.0.bindings.InputTensor": ["input", "input"]}, "takes one resource"),
    ({"commands.0.bindings.InputTensor": 5}, "InputTensor is 5"),
    ({"commands.0.bindings.InputTensor": "output"}, "needs 32 bytes, output has 16"),
    ({"commands.0.bindings.InputTensor": {"name": "input", "elementOffset": 1}}, "has 28 from byte 4 on"),
    ({"commands.0.bindings.InputTensor": {"name": "input", "elementOffset": -1}}, "not negative"),
    ({"commands.1.resource": "nobody"}, "resource is 'nobody'"),
    ({"commands.1": {"type": "writeFile", "resource": "output"}}, "targetPath is None"),
    ({"commands.1": {"type": "writeFile", "resource": "output", "targetPath": "a.png"}}, "images are not written"),
    ({"commands.1": {"type": "writeFile", "resource": "output", "targetPath": "a.npy", "dimensions": [5]}}, "the resource has 4"),
    ({"commands.1": {"type": "writeFile", "resource": "output", "targetPath": "a.npy", "dimensions": [-4]}}, "expected a list"),
]


@pytest.mark.parametrize(("changes", "problem"), BAD, ids=[problem for _, problem in BAD])
def test_mistakes(dmlcore_cli, write, model, tmp_path, changes, problem):
    path = write("m.json", model(**changes))
    result = dmlcore_cli("run-graph", path, "-o", tmp_path)
    assert result.status == 3 and problem in result.err and str(path) in result.err and result.err.count("\n") == 1
    assert problem in dmlcore_cli("run-graph", path, "-o", tmp_path, "--json").json["error"]["message"]


def test_rules_and_levels(dmlcore_cli, write, model):
    path = write("m.json", model())
    result = dmlcore_cli("run-graph", path, "--level", "2.1")
    assert result.status == 1 and "dispatchable 'pick'" in result.err and "GATHER_ND-IndicesTensor-DataType-support" in result.err
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
    with pytest.raises(FileError, match="none.json"):
        load_graph(tmp_path / "none.json")
