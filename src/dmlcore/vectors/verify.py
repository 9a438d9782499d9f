"""Compares a folder of vectors with what dmlcore computes, or with the outputs that another implementation has written.

Invalid descriptors are given to the validator, which must name exactly the rules that the manifest lists.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import DmlcoreError
from ..graph import FileError, open_npy, run_graph
from ..graph.files import read_bytes
from ..validation import check
from . import dxdispatch, onnx_nodes
from .cases import Valid, computed, difference
from .folder import LIMIT, read_invalid, read_manifest, read_valid
from .natural import members, strided

__all__ = ["Result", "verify"]


@dataclass
class Result:
    """One vector: whether it holds, and what is wrong when it does not."""

    id: str
    kind: str  # "valid" or "invalid"
    problem: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the vector holds."""
        return self.problem is None


def verify(directory, outputs=None) -> Iterator[Result]:
    """The result of every vector in a folder.

    Parameters
    ----------
    directory : path
        A folder that `write` has made.
    outputs : path, optional
        Where another implementation has written its outputs, as ``<id>.<member>.npy``; then only valid vectors are
        looked at. Without it dmlcore computes them. A vector whose output is missing or damaged does not hold.

    Raises
    ------
    FileError
        When the folder is not one of vectors, or damaged, or when there is no folder `outputs`.
    """
    manifest = read_manifest(directory)
    format = manifest["format"]
    if outputs is not None and format == "onnx":
        raise FileError(directory, "holds ONNX node tests, which ONNX's own tools compare; outputs cannot be given")
    if outputs is not None and not Path(outputs).is_dir():
        raise FileError(outputs, "is no folder; the outputs belong into one, as <id>.<member>.npy")
    for entry in manifest["valid"]:
        yield Result(entry["id"], "valid", _valid(directory, entry, format, outputs))
    for entry in manifest["invalid"] if outputs is None else ():
        yield Result(entry["id"], "invalid", _invalid(directory, entry))


def _invalid(directory, entry: dict) -> str | None:
    case = read_invalid(directory, entry)
    found = [violation.rule for violation in check(case.desc, case.level)]
    if found == case.rules and (not case.breaks or case.breaks in found):
        return None
    return f"breaks {', '.join(found) or 'no rule'}; the manifest says {', '.join(case.rules)}"


def _valid(directory, entry: dict, format: str, outputs) -> str | None:
    try:
        if format == "onnx":
            return _node_test(Path(directory) / "valid" / entry["id"])
        case = read_valid(directory, entry, format)
        if outputs is not None:
            return _theirs(case, Path(outputs))
        if format == "npz":
            return _compare(case, computed(case))
        with tempfile.TemporaryDirectory() as folder:
            run_graph(Path(directory) / "valid" / f"{case.id}.json", case.level, output_dir=folder)
            return _compare(case, _written(case, Path(folder)))
    except FileError:
        raise
    except (DmlcoreError, IndexError, ValueError) as error:
        return str(error).splitlines()[0]


def _theirs(case: Valid, folder: Path) -> str | None:
    """What is wrong with outputs that somebody else has written: everything there is to say is about them."""
    try:
        return _compare(case, _written(case, folder))
    except FileError as error:
        return str(error)


def _written(case: Valid, folder: Path) -> dict[str, np.ndarray]:
    """The outputs in files: in the descriptor's sizes, or whole buffers in a row."""
    arrays = {}
    for name, tensor in members(case.desc, "output").items():
        path = folder / dxdispatch.output_file(case.id, name)
        flat = open_npy(path).reshape(-1)
        try:
            arrays[name] = strided(flat, tensor) if flat.dtype == tensor.dtype else flat
        except (ValueError, TypeError):
            raise FileError(path, f"has {flat.size} elements, too few for Sizes {list(tensor.sizes)}") from None
    return arrays


def _compare(case: Valid, found: dict[str, np.ndarray]) -> str | None:
    problems = ((name, difference(case, name, array)) for name, array in found.items())
    return next((f"{name}: {problem}" for name, problem in problems if problem), None)


def _node_test(folder: Path) -> str | None:
    data = folder / "test_data_set_0"
    try:
        inputs = sorted(data.glob("input_*.pb"), key=lambda path: int(path.stem.split("_")[1]))
        arrays = [onnx_nodes.read_tensor(read_bytes(path, LIMIT)) for path in inputs]
        wanted = onnx_nodes.read_tensor(read_bytes(data / "output_0.pb", LIMIT))
        model = read_bytes(folder / "model.onnx", LIMIT)
        (found,) = onnx_nodes.run_model(model, arrays)
    except (FileError, onnx_nodes.OnnxMissing, DmlcoreError):
        raise
    except Exception as error:  # protocol buffers fail in ways of their own
        raise FileError(folder, f"cannot be run: {str(error).splitlines()[0][:160]}") from None
    same = found.dtype == wanted.dtype and found.shape == wanted.shape
    if same and np.ascontiguousarray(found).tobytes() == np.ascontiguousarray(wanted).tobytes():
        return None
    return (
        f"output is {found.dtype} {found.shape}, expected {wanted.dtype} {wanted.shape}"
        if not same
        else "output differs"
    )
