"""Turns the examples of an operator into objects: tensors with values that their data types can hold."""

import math
import re
import struct

from .formats import ExampleTensorFormat
from .model import Example, ExampleTensor
from .scalars import Int
from .typed import describe, type_part

PACK = {16: "<e", 32: "<f", 64: "<d"}


def link_examples(linker) -> tuple[Example, ...]:
    """The examples as objects; what is malformed in them is reported, and the rest goes on."""
    examples, ids = [], {}
    for i, e in enumerate(linker.file.examples):
        path, before = ("examples", i), len(linker.document.mistakes)
        if e.id in ids:
            linker.document.add(
                (*path, "id"), f"the id {e.id} stands twice (first in line {ids[e.id]}); every example has its own"
            )
        ids.setdefault(e.id, linker.document.line((*path, "id")))
        level = linker.level((*path, "from"), e.from_)
        desc = {}
        for name, value in e.desc.items():
            place = (*path, "desc", name)
            if linker.name(place, name, list(linker.file.members), "member") is None:
                continue
            desc[name] = (
                _tensor(linker, place, value)
                if name in linker.tensors
                else type_part(linker.document, place, value, Int)
            )
        for name in linker.file.members:
            if name not in desc:
                linker.document.add((*path, "desc"), f"{name} is missing in {e.id}; examples name every member")
        filled = {n: v.data is not None for n, v in desc.items() if isinstance(v, ExampleTensor)}
        if len(set(filled.values())) > 1:
            bare = next(n for n, f in filled.items() if not f)
            linker.document.add(
                (*path, "desc", bare), f"{bare} has no data, other tensors have; give data to all or to none"
            )
        if level and len(linker.document.mistakes) == before:
            examples.append(Example(e.id, level, e.text, e.note, e.errata, desc, linker.source(*path)))
    return tuple(examples)


def _tensor(linker, path: tuple, value) -> ExampleTensor | None:
    document = linker.document
    f = type_part(document, path, value, ExampleTensorFormat)
    if f is None:
        return None
    data_type = linker.data_type((*path, "data_type"), f.data_type)
    data = f.data
    if data is not None and data_type:
        shape = _shape(data)
        if shape != f.sizes:
            shown = f"has the shape {list(shape)}" if shape is not None else "is ragged"
            document.add((*path, "data"), f"data {shown}; sizes says {list(f.sizes)}")
            return None
        data = _values(document, (*path, "data"), data, data_type)
    return ExampleTensor(f.data_type, f.sizes, f.strides, data=data)


def _shape(data) -> tuple | None:
    if not isinstance(data, list):
        return ()
    shapes = {_shape(item) for item in data}
    if len(shapes) > 1 or None in shapes:
        return None
    return (len(data), *(shapes.pop() if shapes else ()))


def _values(document, path: tuple, data, data_type):
    if isinstance(data, list):
        return [_values(document, (*path, i), item, data_type) for i, item in enumerate(data)]
    if data == "_":
        return None
    value = number(data, data_type)
    if value is None:
        what = {"float": "a number", "int": "a whole number", "uint": "a whole number, not negative,"}
        wanted = f"{what.get(data_type.kind, 'a number')} that fits {data_type.bits} bits is needed, or _ for undefined"
        document.add(path, f"{describe(data)} is not a value of {data_type.name}; {wanted}")
    return value


def number(text, data_type) -> int | float | None:
    """The value of a written number; None when the data type cannot hold it. Floats may round, not to 0 or infinity."""
    if not isinstance(text, str) or data_type.bits is None or not data_type.kind:
        return None
    whole = re.fullmatch(r"-?[0-9]{1,40}", text)
    if data_type.kind != "float":
        low = -(1 << data_type.bits - 1) if data_type.kind == "int" else 0
        return int(text) if whole and low <= int(text) < low + (1 << data_type.bits) else None
    if not re.fullmatch(r"-?([0-9]{1,40}(\.[0-9]{1,40})?(e[-+]?[0-9]{1,3})?|inf)|nan", text):
        return None
    value = float(text)
    try:
        stored = struct.unpack(PACK[data_type.bits], struct.pack(PACK[data_type.bits], value))[0]
    except (OverflowError, KeyError):
        return None
    if math.isinf(stored) != ("inf" in text) or (stored == 0 and value != 0):
        return None
    return int(text) if whole and text != "-0" else value
