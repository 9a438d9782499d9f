"""`check` and `level`: every form of a descriptor, every rule of the specifications, all that is no descriptor."""

import json

import pytest

import dmlcore
from dmlcore._generated.tables import LEVELS
from dmlcore._generated.tools import TOOLS
from dmlcore.graph import desc_to_json, parse_desc

BROKEN = [(operator, broken) for operator, tool in TOOLS.items() for broken in tool.broken]
EXAMPLES = [(operator, example) for operator, tool in TOOLS.items() for example in tool.examples]


def desc_of(path):
    return json.loads(path.read_text())


def test_valid(dmlcore_cli, write, desc):
    result = dmlcore_cli("check", write("d.json", desc()))
    assert result.status == 0 and "GATHER_ND at DML_FEATURE_LEVEL_6_4: valid" in result.out
    assert dmlcore_cli("check", write("d.json", desc()), "--json").json["results"][0]["valid"] is True


def test_every_violation_is_told(dmlcore_cli, write, desc):
    path = write(
        "d.json",
        desc(OutputTensor=None, IndicesDimensionCount=9, IndicesTensor={"DataType": "FLOAT32", "Sizes": [1, 1, 1, 4]}),
    )
    result = dmlcore_cli("check", path, "--level", "2.1")
    assert result.status == 1 and result.out.count("\n  GATHER_ND-") >= 3
    assert "GATHER_ND-IndicesTensor-DataType-support" in result.out and "IndicesDimensionCount is 9" in result.out
    told = dmlcore_cli("check", path, "-l", "FL2.1", "--json")
    assert told.status == 1 and told.json["results"][0]["feature_level"] == "DML_FEATURE_LEVEL_2_1"
    rules = [v["rule"] for v in told.json["results"][0]["violations"]]
    assert rules == [v.rule for v in dmlcore.check(parse_desc(desc_of(path), path), "2.1")] and len(rules) >= 3


@pytest.mark.parametrize("pair", BROKEN, ids=lambda pair: pair[1].rule)
def test_every_rule(dmlcore_cli, write, pair):
    operator, broken = pair
    path = write("d.json", {"type": operator, "desc": broken.desc})
    result = dmlcore_cli("check", path, "--level", LEVELS[broken.level].dml_name, "--json")
    (told,) = result.json["results"]
    assert result.status == 1 and [v["rule"] for v in told["violations"]] == [broken.rule]


@pytest.mark.parametrize("pair", EXAMPLES, ids=lambda pair: f"{pair[0]}-{pair[1].id}")
def test_level_of_every_example(dmlcore_cli, write, pair):
    operator, example = pair
    path = write("d.json", {"type": f"DML_OPERATOR_{operator}", "desc": example.desc})
    value = dmlcore_cli("level", path, "--json").json
    assert value["results"][0]["minimum_feature_level"] == LEVELS[example.level].dml_name
    assert LEVELS[example.level].dml_name in dmlcore_cli("level", path).out


def test_no_level(dmlcore_cli, write, desc):
    result = dmlcore_cli("level", write("d.json", desc(InputDimensionCount=9)))
    assert result.status == 1 and "no level accepts it" in result.out and "GATHER_ND-InputDimensionCount-range" in result.out


def test_forms_of_a_file(dmlcore_cli, write, desc):
    full = desc(
        InputTensor={
            "Type": "DML_TENSOR_TYPE_BUFFER",
            "Desc": {
                "DataType": "DML_TENSOR_DATA_TYPE_FLOAT32",
                "Flags": ["DML_TENSOR_FLAG_NONE"],
                "DimensionCount": 4,
                "Sizes": [1, 2, 2, 2],
                "Strides": [8, 4, 2, 1],
                "TotalTensorSizeInBytes": 32,
            },
        }
    )
    bare = {"type": "gather_nd", **desc()["desc"]}
    capitals = {"Type": "GATHER_ND", "Desc": desc(OutputTensor=None)["desc"]}
    model = {"resources": {}, "dispatchables": {"a": desc(), "b": full}, "commands": []}
    files = [write("1.json", full), write("2.json", bare), write("3.json", [capitals, bare]), write("4.json", model)]
    value = dmlcore_cli("check", *files, "--json")
    assert value.status == 0 and [r["name"] for r in value.json["results"]] == [None, None, "[0]", "[1]", "a", "b"]
    text = '// comment\n{"type": "GATHER_ND", /* "desc": 1, */ "desc": ' + str(bare).replace("'", '"')[:-1] + ",},}"
    assert dmlcore_cli("check", "-", stdin=text.replace('"type": "gather_nd", ', "", 1)).status == 0


HOSTILE = {
    "empty": ("", "empty"),
    "no JSON": ("{", "line 1"),
    "second line": ('{"type":\n oops}', "line 2"),
    "not text": (b"\xff\xfe\x00", "not UTF-8"),
    "twice": ('{"type": "GATHER", "type": "GATHER", "desc": {}}', "twice"),
    "NaN": ('{"type": "GATHER", "desc": {"Axis": NaN}}', "NaN"),
    "deep": ("[" * 100000, "levels deep"),
    "many digits": ('{"type": "GATHER", "desc": {"Axis": ' + "9" * 5000 + "}}", "digits"),
    "a number": ("5", "expected an object"),
    "no type": ("{}", '"type"'),
    "empty list": ("[]", "no descriptor"),
    "unknown operator": ({"type": "DML_OPERATOR_GEMM", "desc": {}}, "DML_OPERATOR_GEMM is not one of"),
    "desc is a list": ({"type": "GATHER", "desc": []}, "expected an object"),
    "tensor is a number": ({"type": "GATHER", "desc": {"InputTensor": 3}}, "InputTensor is the number 3"),
    "no indices": ({"type": "GATHER", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [1]}}}, "IndicesTensor"),
    "comments only": ("// {}", "not JSON"),
}


@pytest.mark.parametrize("command", ["check", "level"])
@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_descriptor(dmlcore_cli, write, command, name):
    content, problem = HOSTILE[name]
    path = write("d.json", content)
    result = dmlcore_cli(command, path)
    assert result.status == 3 and result.out == "" and problem in result.err and str(path) in result.err
    assert result.err.count("\n") == 1
    assert problem in dmlcore_cli(command, path, "--json").json["results"][0]["error"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"InputTensor": {"DataType": "FLOAT99", "Sizes": [1]}}, "FLOAT99"),
        ({"InputTensor": {"DataType": 3, "Sizes": [1]}}, "DataType is the number 3"),
        ({"InputTensor": {"DataType": "FLOAT32", "Sizes": 3}}, "Sizes is the number 3"),
        ({"InputTensor": {"DataType": "FLOAT32", "Sizes": [1.5]}}, "expected a list of integers"),
        ({"InputTensor": {"DataType": "FLOAT32", "Sizes": [True]}}, "expected a list of integers"),
        ({"InputTensor": {"DataType": "FLOAT32", "Sizes": [1], "DimensionCount": 2}}, "DimensionCount is 2"),
        ({"InputTensor": {"DataType": "FLOAT32", "Sizes": [1], "Flags": "SECRET"}}, "Flags is 'SECRET'"),
        ({"InputTensor": {"DataType": "FLOAT32", "Sizes": [1], "Size": 1}}, "no member Size"),
        ({"InputTensor": {"Sizes": [1]}}, "DataType"),
        ({"InputTensor": {"DataType": "FLOAT32", "Sizes": [1], "TotalTensorSizeInBytes": -4}}, "-4"),
        ({"InputTensor": {"DataType": "FLOAT32", "Sizes": [1], "TotalTensorSizeInBytes": "4"}}, "is text"),
        ({"InputDimensionCount": -1}, "-1"),
        ({"InputDimensionCount": 1 << 40}, "expected 0 to 4294967295"),
        ({"InputDimensionCount": True}, "truth value"),
        ({"Axis": 1}, "no member Axis"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_members_that_cannot_be(dmlcore_cli, write, desc, changes, problem):
    result = dmlcore_cli("check", write("d.json", desc(**changes)))
    assert result.status == 3 and problem in result.err and "GATHER_ND" in result.err


def test_a_bad_file_hides_no_other(dmlcore_cli, write, desc, tmp_path):
    good, broken = write("good.json", desc()), write("broken.json", desc(InputDimensionCount=0))
    result = dmlcore_cli("check", tmp_path / "none.json", broken, good)
    assert result.status == 3 and "none.json: cannot be read: no such file" in result.err
    assert "broken.json" in result.out and "good.json" in result.out
    assert dmlcore_cli("check", tmp_path).status == 3


def test_usage(dmlcore_cli, write, desc):
    assert dmlcore_cli("check").status == 2
    result = dmlcore_cli("check", write("d.json", desc()), "--level", "9.9")
    assert result.status == 2 and "'9.9', expected one of" in result.err


def test_parsed_descriptors_are_the_same():
    """A descriptor survives the way through JSON, whatever its strides, sizes in bytes and alignment."""
    tensor = dmlcore.TensorDesc("INT8", (2, 3), (4, 1), 12, 4)
    one = dmlcore.GatherElementsDesc(input=tensor, indices=dmlcore.TensorDesc("UINT32", (2, 3)), axis=1)
    assert parse_desc(desc_to_json(one), "d.json") == one
    for operator, broken in BROKEN:
        one = parse_desc({"type": operator, "desc": broken.desc}, "d.json")
        assert parse_desc(desc_to_json(one), "d.json") == one
