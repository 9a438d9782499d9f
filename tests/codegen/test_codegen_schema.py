"""Holds the schema for editors against the files: the real ones pass, spoilt ones do not."""

import json
from pathlib import Path

import pytest
import yaml

from codegen.schema import schema, schema_text

jsonschema = pytest.importorskip("jsonschema")

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "spec").rglob("*.yaml"))


@pytest.fixture(scope="module")
def validator():
    jsonschema.Draft202012Validator.check_schema(schema())
    return jsonschema.Draft202012Validator(schema())


@pytest.mark.parametrize("name", FILES)
def test_real_files_pass(validator, name):
    errors = [f"{list(e.path)}: {e.message}" for e in validator.iter_errors(yaml.safe_load((ROOT / name).read_text("utf-8")))]
    assert errors == []


def test_text_is_stable():
    assert schema_text() == schema_text()
    assert json.loads(schema_text()) == schema()


SPOILT = {
    "unknown key": lambda f: f.update(sumary="x"),
    "missing key": lambda f: f.pop("summary"),
    "unknown kind": lambda f: f["members"]["InputTensor"].update(kind="inptu"),
    "text for a number": lambda f: f.update(value="many"),
    "list for a mapping": lambda f: f.update(members=[]),
    "unknown key of a rule": lambda f: f["constraints"][0].update(rulle="1 == 1"),
    "rule without an id": lambda f: f["constraints"][0].pop("id"),
    "dimensions": lambda f: f["support"]["FL3.0"]["InputTensor"].update(dimensions="1..8"),
    "unknown door": lambda f: f["constraints"][0].update(doors="window"),
    "example without a data type": lambda f: f["examples"][0]["desc"]["InputTensor"].pop("data_type"),
    "level": lambda f: f.update(introduced="2.1"),
    "operator": lambda f: f.update(operator="gather_nd"),
}


@pytest.mark.parametrize("name", SPOILT)
def test_spoilt_files_do_not(validator, name):
    file = yaml.safe_load((ROOT / "spec/operators/gather_nd.yaml").read_text("utf-8"))
    SPOILT[name](file)
    assert not validator.is_valid(file)


def test_not_a_specification(validator):
    assert not validator.is_valid({"name": "x"})
    assert not validator.is_valid([])
