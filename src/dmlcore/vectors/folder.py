"""Writes vectors into a folder in one of three formats, and reads them back.

The folder's manifest.json lists everything that is in it; README.md says how to use it. Nothing that is written depends
on the time or the machine: the same vectors give the same bytes.
"""

import io
import json
import re
import zipfile
from pathlib import Path

import numpy as np

from ..descs import OperatorDesc
from ..errors import DmlcoreError
from ..graph import FileError, desc_to_json, open_npy, parse_desc, read_json
from ..graph.files import read_bytes, replacing
from ..levels import FeatureLevel, feature_level
from ..validation import minimum_feature_level
from ..version import __version__
from . import dxdispatch, onnx_nodes
from .cases import Invalid, Valid, Vectors
from .natural import members, strided
from .readme import readme

__all__ = ["FORMATS", "read_manifest", "read_valid", "write"]

FORMATS = ("dxdispatch", "onnx", "npz")
LIMIT = 1 << 30


def _text(value) -> bytes:
    text = json.dumps(value, indent=1, allow_nan=False)
    return (
        re.sub(r"\[[^\[\]{}\"]*\]", lambda match: " ".join(match[0].split()), text) + "\n"
    ).encode()  # lists in a line


def _npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.ascontiguousarray(array).reshape(array.shape), (1, 0), allow_pickle=False)
    return file.getvalue()


def _npz(arrays: dict[str, np.ndarray]) -> bytes:
    """As numpy.savez, without the time of day."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), _npy(array))
    return file.getvalue()


def _dml(level: FeatureLevel | None) -> str | None:
    return level and "DML_FEATURE_LEVEL_" + level.name.removeprefix("FL")


def files_of(vectors: Vectors, format: str) -> dict[str, bytes]:
    """Every file of the folder by its path, README.md and manifest.json included."""
    files: dict[str, bytes] = {}
    valid, invalid, skipped = [], [], []
    for case in vectors.valid:
        own = _valid_files(case, format)
        if own is None:
            skipped.append(case.id)
            continue
        files |= own
        entry = {
            "id": case.id,
            "feature_level": _dml(case.level),
            "minimum_feature_level": _dml(minimum_feature_level(case.desc)),
            **desc_to_json(case.desc),
        }
        valid.append(entry | ({"defined_rows": case.rows} if case.rows else {}))
    for case in vectors.invalid:
        value = dxdispatch.invalid_model(case) if format == "dxdispatch" else desc_to_json(case.desc)
        files[f"invalid/{case.id}.json"] = _text(value)
        entry = {"id": case.id, "feature_level": _dml(case.level), "minimum_feature_level": _dml(case.minimum_level)}
        invalid.append(
            {**entry, "breaks": case.breaks, "member": case.member, "rules": case.rules, **desc_to_json(case.desc)}
        )
    manifest = {
        "made_by": f"dmlcore {__version__}",
        "format": format,
        "operator": vectors.operator,
        "seed": vectors.seed,
        "feature_levels": [_dml(level) for level in vectors.levels],
        "data_type_combinations": vectors.combinations,
        "rules": vectors.rules(),
        "rules_without_descriptor": vectors.missing_rules,
        "skipped": skipped,
        "valid": valid,
        "invalid": invalid,
    }
    files["manifest.json"] = _text(manifest)
    files["README.md"] = readme(manifest).encode()
    return files


def _valid_files(case: Valid, format: str) -> dict[str, bytes] | None:
    if format == "onnx":
        own = onnx_nodes.node_test(case)
        return own and {f"valid/{case.id}/{name}": data for name, data in own.items()}
    if format == "npz":
        return {
            f"valid/{case.id}.npz": _npz(case.inputs | case.outputs),
            f"valid/{case.id}.json": _text(desc_to_json(case.desc)),
        }
    model, inputs = dxdispatch.valid_model(case)
    files = {f"valid/{case.id}.json": _text(model)} | {f"valid/{name}": _npy(a) for name, a in inputs.items()}
    outputs = {f"expected/{dxdispatch.output_file(case.id, name)}": _npy(a) for name, a in case.outputs.items()}
    return files | outputs


def write(vectors: Vectors, format: str, directory) -> dict[str, bytes]:
    """Writes vectors into a folder and returns what was written; the folder is made if need be, and must be empty.

    Parameters
    ----------
    vectors : Vectors
        Of :func:`generate`.
    format : {"dxdispatch", "onnx", "npz"}
    directory : path

    Raises
    ------
    FileError
        When the folder is not empty or cannot be written.
    OnnxMissing
        For ``"onnx"`` without the onnx package.
    DmlcoreError
        For ``"onnx"`` when ONNX has no such operator.
    """
    if format not in FORMATS:
        raise ValueError(f"format is {format!r}, expected one of {', '.join(FORMATS)}")
    if format == "onnx" and onnx_nodes.onnx_operator(vectors.operator) is None:
        raise DmlcoreError(f"ONNX has no operator like {vectors.operator}; choose another format: dxdispatch or npz")
    root, files = Path(directory), files_of(vectors, format)
    try:
        if root.is_dir() and any(root.iterdir()):
            raise FileError(root, "is not empty; name a new folder")
        for name, data in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as temporary:
                temporary.write_bytes(data)
    except OSError as error:
        raise FileError(root, f"cannot be written: {(error.strerror or str(error)).lower()}") from None
    return files


def read_manifest(directory) -> dict:
    """The manifest of a folder of vectors."""
    path = Path(directory) / "manifest.json"
    if not path.exists():
        raise FileError(directory, _not_a_folder_of_vectors(Path(directory)))
    manifest = read_json(path)
    needed = {"format": str, "operator": str, "valid": list, "invalid": list}
    if not isinstance(manifest, dict) or not all(isinstance(manifest.get(k), t) for k, t in needed.items()):
        raise FileError(path, "is not the manifest of a folder of vectors")
    if manifest["format"] not in FORMATS:
        raise FileError(path, f"has the format {manifest['format']!r}, expected one of {', '.join(FORMATS)}")
    for entry in (*manifest["valid"], *manifest["invalid"]):
        id = entry.get("id") if isinstance(entry, dict) else None
        if not isinstance(id, str) or not id or any(c in id for c in "/\\\0") or id.startswith("."):
            raise FileError(path, f"has an entry without a usable id: {id!r}")
    return manifest


def _not_a_folder_of_vectors(folder: Path) -> str:
    """Why there is no manifest, and where one may be."""
    if not folder.is_dir():
        return f"is {'a file' if folder.exists() else 'not there'}; expected a folder that `dmlcore vectors` has made"
    inside = sorted(path.parent.name for path in folder.glob("*/manifest.json"))
    if inside:
        return f"holds several folders of vectors; name one of them: {', '.join(str(folder / name) for name in inside)}"
    return "has no manifest.json, so it is no folder that `dmlcore vectors` has made"


def _entry(entry: dict, path) -> tuple[FeatureLevel, OperatorDesc]:
    try:
        return feature_level(entry.get("feature_level")), parse_desc(entry, path, entry["id"])
    except (ValueError, TypeError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(path, f"{entry['id']}: {error}") from None


def read_invalid(directory, entry: dict) -> Invalid:
    """An invalid vector of a manifest; the descriptor is the one in its own file."""
    path = Path(directory) / "invalid" / f"{entry['id']}.json"
    level, _ = _entry(entry, path)
    value = read_json(path)
    value = (
        next(iter(value["dispatchables"].values())) if isinstance(value, dict) and value.get("dispatchables") else value
    )
    rules = entry.get("rules")
    return Invalid(
        entry["id"], level, parse_desc(value, path), entry.get("breaks", ""), entry.get("member", ""), rules or []
    )


def read_valid(directory, entry: dict, format: str) -> Valid:
    """A valid vector of a manifest with its arrays, from the formats "dxdispatch" and "npz"."""
    root = Path(directory)
    level, desc = _entry(entry, root / "manifest.json")
    inputs, outputs = members(desc, "input"), members(desc, "output")
    if format == "npz":
        arrays = _read_npz(root / "valid" / f"{entry['id']}.npz", inputs | outputs)
    else:
        arrays = {}
        for name, tensor in inputs.items():
            path = root / "valid" / f"{entry['id']}.{name}.npy"
            arrays[name] = _fit(
                path, lambda path=path, tensor=tensor: strided(open_npy(path).reshape(-1), tensor), tensor
            )
        for name, tensor in outputs.items():
            path = root / "expected" / dxdispatch.output_file(entry["id"], name)
            arrays[name] = _fit(path, lambda path=path, tensor=tensor: open_npy(path).reshape(tensor.sizes), tensor)
    rows = entry.get("defined_rows") or {}
    return Valid(entry["id"], level, desc, {n: arrays[n] for n in inputs}, {n: arrays[n] for n in outputs}, rows)


def _fit(path, read, tensor) -> np.ndarray:
    """An array that has its descriptor's sizes and type."""
    try:
        array = read()
    except (ValueError, TypeError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(path, f"does not fit Sizes {list(tensor.sizes)} of its descriptor: {error}") from None
    if array.dtype != tensor.dtype:
        raise FileError(path, f"has dtype {array.dtype}, its descriptor has {tensor.data_type}")
    return array


def _read_npz(path: Path, tensors: dict) -> dict[str, np.ndarray]:
    arrays = {}
    try:
        with zipfile.ZipFile(io.BytesIO(read_bytes(path, LIMIT))) as archive:
            for name, tensor in tensors.items():
                with archive.open(f"{name}.npy") as file:
                    array = np.lib.format.read_array(io.BytesIO(file.read(LIMIT)), allow_pickle=False)
                arrays[name] = _fit(path, lambda array=array, tensor=tensor: array.reshape(tensor.sizes), tensor)
    except FileError:
        raise
    except Exception as error:  # a damaged archive or header fails in many ways
        raise FileError(
            path, f"cannot be loaded: {str(error).splitlines()[0] if str(error) else type(error).__name__}"
        ) from None
    return arrays
