"""`verify`: outputs of others, expectations that are wrong, folders that are damaged."""

import json
import shutil

import numpy as np
import pytest

from dmlcore.vectors import generate, write


@pytest.fixture
def folder(tmp_path):
    """A small folder of vectors that a test may damage."""
    vectors = generate("GATHER", "1.0", 3, 1)
    vectors.invalid = vectors.invalid[:3]
    write(vectors, "dxdispatch", tmp_path / "v")
    return tmp_path / "v"


def test_outputs_of_others(dmlcore_cli, folder, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(folder / "expected", out)
    assert dmlcore_cli("verify", folder, "--outputs", out, "--json").json["checked"] == 3
    path = next(out.glob("*.npy"))
    array = np.load(path)
    array.reshape(-1)[-1] += 1
    np.save(path, array.reshape(-1))
    result = dmlcore_cli("verify", folder, "--outputs", out)
    assert result.status == 1 and "1 of 3 vectors do not hold" in result.out and "1 differ" in result.out
    np.save(path, array.astype(np.float64))
    assert "dtype float64" in dmlcore_cli("verify", folder, "--outputs", out).out
    path.unlink()
    result = dmlcore_cli("verify", folder, "--outputs", out)
    assert result.status == 1 and "1 of 3 vectors do not hold" in result.out and "cannot be read" in result.out
    path.write_bytes(b"\x80")
    assert "pickle" in dmlcore_cli("verify", folder, "--outputs", out).out
    np.save(path, array[:0])
    result = dmlcore_cli("verify", folder, "--outputs", out)
    assert result.status == 1 and "1 of 3 vectors do not hold" in result.out
    result = dmlcore_cli("verify", folder, "--outputs", tmp_path / "none")
    assert result.status == 3 and "is no folder" in result.err


def test_folders_without_a_manifest(dmlcore_cli, folder, tmp_path):
    """Each says what to do instead."""
    result = dmlcore_cli("verify", tmp_path / "none")
    assert result.status == 3 and "is not there" in result.err and "dmlcore vectors" in result.err
    result = dmlcore_cli("verify", tmp_path)
    assert result.status == 3 and f"name one of them: {folder}" in result.err
    result = dmlcore_cli("verify", folder / "valid")
    assert result.status == 3 and "has no manifest.json" in result.err
    assert "is a file" in dmlcore_cli("verify", folder / "manifest.json").err


def test_a_wrong_expectation_is_found(dmlcore_cli, folder):
    path = next((folder / "expected").glob("*.npy"))
    np.save(path, np.zeros_like(np.load(path)))
    assert dmlcore_cli("verify", folder).status == 1
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["invalid"][0]["rules"] = ["GATHER-nothing"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    failed = dmlcore_cli("verify", folder, "--json").json["failed"]
    assert {entry["kind"] for entry in failed} == {"valid", "invalid"} and "GATHER-nothing" in failed[-1]["problem"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda f: (f / "manifest.json").unlink(),
        lambda f: (f / "manifest.json").write_text("{}"),
        lambda f: (f / "manifest.json").write_text('{"format": "wpt", "operator": "", "valid": [], "invalid": []}'),
        lambda f: (f / "manifest.json").write_text(
            '{"format": "npz", "operator": "", "valid": [{"id": "../x"}], "invalid": []}'
        ),
        lambda f: (f / "manifest.json").write_text((f / "manifest.json").read_text().replace("LEVEL_1_0", "LEVEL_1_7")),
        lambda f: [p.write_bytes(b"") for p in (f / "valid").glob("*.npy")],
        lambda f: [p.unlink() for p in (f / "expected").glob("*.npy")],
        lambda f: [p.write_text("{}") for p in (f / "valid").glob("*.json")],
        lambda f: [p.write_text("[") for p in (f / "invalid").glob("*.json")],
    ],
)
def test_damaged_folders(dmlcore_cli, folder, damage):
    damage(folder)
    result = dmlcore_cli("verify", folder)
    assert result.status == 3 and "error: " in result.err


def test_damaged_npz(dmlcore_cli, tmp_path):
    vectors = generate("GATHER", "1.0", 1, 1)
    vectors.invalid = []
    write(vectors, "npz", tmp_path / "v")
    path = next((tmp_path / "v/valid").glob("*.npz"))
    for content in (b"", b"PK", path.read_bytes()[:-30], path.read_bytes().replace(b"\x93NUMPY", b"\x93NUMPZ")):
        path.write_bytes(content)
        result = dmlcore_cli("verify", tmp_path / "v")
        assert result.status == 3 and str(path) in result.err
