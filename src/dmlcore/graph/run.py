"""Runs a DxDispatch model: resources become buffers, dispatchables compiled operators, commands run in order.

What DxDispatch does on a GPU happens here on the CPU, with one addition: a descriptor is validated at a feature level,
and everything that a model may get wrong is an error that names the place.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..compiled import CompiledOperator, compile
from ..errors import ConstraintError
from .descs import parse_desc
from .files import FileError, replacing, save_npy
from .jsontext import read_json
from .resources import IMAGES, Buffer, Resources

__all__ = ["Graph", "load_graph", "run_graph"]

MEMORY_LIMIT = 8 << 30


@dataclass
class Event:
    """What a command did: dispatched an operator, printed a resource, wrote a file."""

    command: str
    name: str
    text: str
    values: np.ndarray | None = None
    path: Path | None = None

    def as_dict(self) -> dict:
        """For JSON: values that JSON has no number for are strings, as DxDispatch reads them."""
        event = {"command": self.command, "name": self.name}
        if self.values is not None:
            flat = self.values.ravel().tolist()
            finite = self.values.dtype.kind != "f" or np.isfinite(self.values).all()
            event["values"] = flat if finite else [v if np.isfinite(v) else str(v) for v in flat]
        if self.path is not None:
            event["path"] = str(self.path)
        return event


@dataclass
class Graph:
    """A model that was read and validated; `run` executes its commands, any number of times."""

    path: str
    resources: dict[str, Buffer]
    operators: dict[str, CompiledOperator]
    commands: list[dict]

    def run(self, output_dir=".", *, allow_outside: bool = False, num_threads=None) -> Iterator[Event]:
        """Executes the commands one by one and yields what each did."""
        for i, command in enumerate(self.commands):
            kind = command.get("type", "").lower() if isinstance(command.get("type"), str) else command.get("type")
            step = {"dispatch": self._dispatch, "print": self._print, "writefile": self._write}.get(kind)
            if step is None:
                raise self._error(i, f"type is {command.get('type')!r}, expected dispatch, print or writeFile")
            try:
                yield step(command, output_dir=Path(output_dir), allow_outside=allow_outside, num_threads=num_threads)
            except (FileError, IndexError):
                raise
            except (KeyError, TypeError, ValueError, MemoryError) as error:
                raise self._error(i, str(error.args[0] if error.args else error)) from None

    def _error(self, i: int, problem: str) -> FileError:
        return FileError(self.path, f"commands[{i}]: {problem}")

    def _named(self, command: dict, key: str, known: dict, what: str):
        name = command.get(key)
        if not isinstance(name, str) or name not in known:
            raise KeyError(f"{key} is {name!r}, expected a {what}: {', '.join(known) or 'there is none'}")
        return name, known[name]

    def _dispatch(self, command: dict, *, num_threads, **_) -> Event:
        name, op = self._named(command, "dispatchable", self.operators, "dispatchable")
        bindings = command.get("bindings")
        if not isinstance(bindings, dict):
            raise TypeError('"bindings" is missing; it maps each tensor of the operator to a resource')
        tensors = {member: keyword for member, keyword, kind in op.desc.MEMBERS if kind in ("input", "output")}
        for member in bindings:
            if member not in tensors:
                raise ValueError(f"bindings: {op.desc.operator} has no tensor {member}; it has {', '.join(tensors)}")
        views, described = {}, dict(op._inputs + op._outputs)
        for member, keyword in tensors.items():
            if member not in bindings:
                raise ValueError(f"bindings: nothing is bound to {member}")
            views[keyword] = self._view(member, bindings[member], described[keyword])
        kinds = {keyword: kind for _, keyword, kind in op.desc.MEMBERS}
        inputs = [view for keyword, view in views.items() if kinds[keyword] == "input"]
        outputs = tuple(view for keyword, view in views.items() if kinds[keyword] == "output")
        op(*inputs, out=outputs if len(outputs) > 1 else outputs[0], num_threads=num_threads)
        return Event("dispatch", name, f"Dispatch '{name}': {op.desc.operator}")

    def _view(self, member: str, binding, tensor) -> np.ndarray:
        """The part of a resource that a binding names, as the array that the descriptor describes."""
        if isinstance(binding, list):
            if len(binding) != 1:
                raise ValueError(f"bindings: {member} takes one resource, {len(binding)} are given")
            binding = binding[0]
        binding = {"name": binding} if isinstance(binding, str) else binding
        if not isinstance(binding, dict):
            raise TypeError(f"bindings: {member} is {binding!r}, expected the name of a resource")
        name, buffer = self._named(binding, "name", self.resources, "resource")
        offset = binding.get("elementOffset", 0)
        size = binding.get("elementSizeInBytes", binding.get("elementStride", 0)) or buffer.dtype.itemsize
        if any(type(n) is not int or n < 0 for n in (offset, size)):
            raise ValueError(
                f"bindings: {member}: elementOffset and elementSizeInBytes are integers that are not negative"
            )
        total, first = tensor.total_tensor_size_in_bytes, offset * size
        if first + total > len(buffer.data):
            left = max(len(buffer.data) - first, 0)
            raise ValueError(f"bindings: {member} needs {total} bytes, {name} has {left} from byte {first} on")
        data = buffer.data[first : first + total]
        strides = tensor.strides and tuple(s * tensor.dtype.itemsize for s in tensor.strides)
        return np.ndarray(tensor.sizes, tensor.dtype, data, strides=strides)

    def _print(self, command: dict, **_) -> Event:
        name, buffer = self._named(command, "resource", self.resources, "resource")
        values = buffer.values()
        shown = (f"{v:g}" for v in values.tolist()) if values.dtype.kind == "f" else map(str, values.tolist())
        return Event("print", name, f"Resource '{name}': {', '.join(shown)}", values.copy())

    def _write(self, command: dict, *, output_dir: Path, allow_outside: bool, **_) -> Event:
        name, buffer = self._named(command, "resource", self.resources, "resource")
        target = command.get("targetPath")
        if not isinstance(target, str) or not target or "\0" in target:
            raise ValueError(f"targetPath is {target!r}, expected the name of a file")
        path = output_dir / target.replace("\\", "/")
        if not allow_outside and not path.resolve().is_relative_to(output_dir.resolve()):
            raise ValueError(
                f"targetPath {target!r} lies outside the output folder {output_dir}; if that is meant, allow it: "
                "--allow-outside, in Python allow_outside=True"
            )
        if path.suffix.lower() in IMAGES:
            raise ValueError(f"targetPath is {target!r}: images are not written here, only .npy and raw bytes")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(path, f"its folder cannot be made: {(error.strerror or '').lower()}") from None
        if path.suffix.lower() != ".npy":
            with replacing(path) as temporary:
                temporary.write_bytes(buffer.data.tobytes())
        else:
            save_npy(path, _shaped(buffer, command.get("dimensions")))
        return Event("writeFile", name, f"Resource '{name}' written to '{path}'", path=path)


def _shaped(buffer: Buffer, dimensions) -> np.ndarray:
    """The elements of a buffer in the dimensions that a command gives; without any, all of them in a row."""
    values = buffer.values(padding=True)
    if not dimensions:
        return values
    if not isinstance(dimensions, list) or any(type(n) is not int or n < 0 for n in dimensions):
        raise ValueError(f"dimensions is {dimensions!r}, expected a list of integers")
    count = 1
    for n in dimensions:
        count *= n
    if count > len(values):
        raise ValueError(f"dimensions {dimensions} are {count} elements, the resource has {len(values)}")
    return values[:count].reshape(dimensions)


def load_graph(
    path, feature_level=None, *, input_dir=None, mode: str = "raise", memory_limit: int = MEMORY_LIMIT
) -> Graph:
    """Reads a DxDispatch model and compiles its operators.

    Parameters
    ----------
    path : path of a JSON file
    feature_level : FeatureLevel, str or int, optional
        What descriptors are validated at; the newest by default.
    input_dir : path, optional
        Where files are that resources name; the folder of the model by default.
    mode : str
        What happens to an index that is out of range; as in :func:`dmlcore.compile`.
    memory_limit : int
        Bytes that all resources together may have.

    Raises
    ------
    FileError
        When the model, or a file that it names, is not what it should be.
    ConstraintError
        When a descriptor breaks rules; ``.dispatchable`` names it.
    """
    value = read_json(path)
    parts = {"resources": dict, "dispatchables": dict, "commands": list}
    for part, kind in parts.items():
        if not isinstance(value, dict) or not isinstance(value.get(part), kind):
            what = "an object" if kind is dict else "a list"
            raise FileError(path, f'is no DxDispatch model: "{part}" is missing or not {what}')
    operators = {name: _compile(name, item, path, feature_level, mode) for name, item in value["dispatchables"].items()}
    for i, command in enumerate(value["commands"]):
        if not isinstance(command, dict):
            raise FileError(path, f'commands[{i}]: expected an object with "type"')
    reader = Resources(path, Path(input_dir) if input_dir else Path(path).parent, memory_limit)
    resources = {name: reader.read(name, item) for name, item in value["resources"].items()}
    return Graph(str(path), resources, operators, value["commands"])


def _compile(name: str, item, path, feature_level, mode: str) -> CompiledOperator:
    type_ = item.get("type") if isinstance(item, dict) else None
    if isinstance(type_, str) and type_.lower() in ("hlsl", "onnx", "dmlserializedgraph"):
        raise FileError(path, f"dispatchable {name!r} is of type {type_}; only DirectML operators run here")
    desc = parse_desc(item, path, f"dispatchable {name!r}")
    try:
        return compile(desc, feature_level, mode)
    except ConstraintError as error:
        error.dispatchable = name
        raise
    except ValueError as error:  # strides by which an output overlaps itself; a mode that the operator does not have
        if str(error).startswith("mode "):
            raise
        raise FileError(path, f"dispatchable {name!r}: {error}") from None


def run_graph(
    path, feature_level=None, *, output_dir=".", allow_outside=False, num_threads=None, **load
) -> list[Event]:
    """Reads a DxDispatch model and executes all of its commands; see :func:`load_graph`.

    Returns
    -------
    list of Event
        In the order of the commands; ``print`` has the values, ``writeFile`` the path.
    """
    graph = load_graph(path, feature_level, **load)
    return list(graph.run(output_dir, allow_outside=allow_outside, num_threads=num_threads))
