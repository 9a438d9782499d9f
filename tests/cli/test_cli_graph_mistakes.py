"""`run-graph`: what can be wrong with a DxDispatch model, each told in one line with its place."""

import pytest

CONSTANT = {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 4, "value": 0}}

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
    (
        {"resources.x": {**CONSTANT, "initialValues": {"valueCount": 1 << 50, "valueStart": 1, "valueDelta": 1}}},
        "the limit",
    ),
    ({"resources.x": {**CONSTANT, "sizeInBytes": 1 << 50}}, "the limit"),
    ({"resources.x": {**CONSTANT, "sizeInBytes": 15}}, "sizeInBytes is 15"),
    ({"resources.x": {**CONSTANT, "initialValues": ["many"]}}, "'many' is not a number"),
    ({"resources.x": {**CONSTANT, "initialValues": [[1]]}}, "[1] is not a number"),
    (
        {"resources.x": {"initialValuesDataType": "UINT8", "initialValues": [256]}},
        "256 is not an integer from 0 to 255",
    ),
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
    (
        {"commands.1": {"type": "writeFile", "resource": "output", "targetPath": "a.npy", "dimensions": [5]}},
        "the resource has 4",
    ),
    (
        {"commands.1": {"type": "writeFile", "resource": "output", "targetPath": "a.npy", "dimensions": [-4]}},
        "expected a list",
    ),
]


@pytest.mark.parametrize(("changes", "problem"), BAD, ids=[problem for _, problem in BAD])
def test_mistakes(dmlcore_cli, write, model, tmp_path, changes, problem):
    path = write("m.json", model(**changes))
    result = dmlcore_cli("run-graph", path, "-o", tmp_path)
    assert result.status == 3 and problem in result.err and str(path) in result.err and result.err.count("\n") == 1
    assert problem in dmlcore_cli("run-graph", path, "-o", tmp_path, "--json").json["error"]["message"]
