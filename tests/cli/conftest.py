"""Runs the command line in the same process, and makes the files that its tests need."""

import json

import numpy as np
import pytest

pytest.importorskip("typer", reason="the command line needs the extra cli")

from typer.testing import CliRunner

from dmlcore.cli.app import app


class Outcome:
    """What a command left behind: exit status, texts, and the JSON value if it printed one."""

    def __init__(self, result):
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        self.status, self.out, self.err = result.exit_code, result.stdout, result.stderr
        assert "Traceback" not in self.out + self.err

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def dmlcore_cli():
    """Calls the command line: dmlcore_cli("check", path) -> Outcome."""

    def call(*arguments, stdin=None) -> Outcome:
        no_terminal = {"COLUMNS": None}  # where tests run side by side there may be one
        return Outcome(CliRunner().invoke(app, [str(a) for a in arguments], input=stdin, prog_name="dmlcore", env=no_terminal))

    return call


@pytest.fixture
def write(tmp_path):
    """Writes a file of the test: arrays as .npy, bytes and text as they are, everything else as JSON."""

    def make(name: str, value):
        path = tmp_path / name
        if isinstance(value, np.ndarray):
            np.save(path, value)
        elif isinstance(value, bytes):
            path.write_bytes(value)
        else:
            path.write_text(value if isinstance(value, str) else json.dumps(value))
        return path

    return make


def gather_nd_desc(**changes) -> dict:
    """A descriptor that every level from 3.0 on accepts, in DxDispatch's form."""
    desc = {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 2, 2]},
        "IndicesTensor": {"DataType": "INT64", "Sizes": [1, 1, 2, 2]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]},
        "InputDimensionCount": 3,
        "IndicesDimensionCount": 2,
    }
    return {"type": "DML_OPERATOR_GATHER_ND", "desc": {k: v for k, v in (desc | changes).items() if v is not None}}


@pytest.fixture
def desc():
    """gather_nd_desc, for tests that change it."""
    return gather_nd_desc


@pytest.fixture
def model(desc):
    """A model that works: change parts of it by path, as in model(**{"resources.input": {...}})."""

    def make(**changes):
        value = {
            "resources": {
                "input": {"initialValuesDataType": "FLOAT32", "initialValues": list(range(8))},
                "indices": {"initialValuesDataType": "INT64", "initialValues": [0, 0, -1, 1]},
                "output": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 4, "value": 0}},
            },
            "dispatchables": {"pick": desc()},
            "commands": [
                {
                    "type": "dispatch",
                    "dispatchable": "pick",
                    "bindings": {"InputTensor": "input", "IndicesTensor": "indices", "OutputTensor": "output"},
                },
                {"type": "print", "resource": "output"},
            ],
        }
        for path, change in changes.items():
            place, *keys = value, *path.split(".")
            for key in keys[:-1]:
                place = place[int(key) if isinstance(place, list) else key]
            place[int(keys[-1]) if isinstance(place, list) else keys[-1]] = change
        return value

    return make
