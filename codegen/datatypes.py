"""Turns the data types of the specification into what compiled code knows of them, and says which of them the array
functions take for a tensor.
"""

from dataclasses import dataclass

from . import spell
from .model import Operator, Spec

STORAGES = ("u8", "u16", "u32", "u64", "u128")  # enum dml_storage in core/kernel.h
INDEXES = ("i32", "i64", "u32", "u64")  # enum dml_index


@dataclass(frozen=True)
class DataTypeView:
    """A data type by the number that the compiled code uses; the extensions follow DirectML's own."""

    name: str
    value: int
    dml: bool
    bits: int
    numpy: str | None
    storage: int
    index: int
    zero_mask: str


def data_type_views(spec: Spec) -> tuple[DataTypeView, ...]:
    """DirectML's types, then the extensions of the array functions."""
    rows = []
    for t in (*spec.data_types.values(), *spec.extensions.values()):
        mask = t.zero_mask or 0
        rows.append(
            DataTypeView(
                name=t.name,
                value=len(rows),
                dml=t.name in spec.data_types,
                bits=t.bits or 0,
                numpy=t.numpy,
                storage=STORAGES.index(t.storage) if t.storage else 0,
                index=INDEXES.index(t.index) if t.index else -1,
                zero_mask=f"UINT64_C(0x{mask & (2**64 - 1):x}), UINT64_C(0x{mask >> 64:x})",
            )
        )
    return tuple(rows)


def data_tensors(op: Operator) -> set[str]:
    """The tensors that hold elements of the moved data type: they take the extensions too."""
    data = op.kernel.data
    typed = {m.name for m in op.tensors if m.data_type is not None and spell.text(m.data_type) == f"{data}.DataType"}
    return typed | {data}


def array_types(op: Operator, member: str, spec: Spec) -> tuple[str, ...]:
    """The data types that the array function takes for a tensor."""
    types = list(op.support[member][spec.newest.name].data_types)
    types += [name for name in op.python.data_types.get(member, ()) if name not in types]
    if member in data_tensors(op):
        types += [name for name in spec.extensions if name not in types]
    return tuple(types)
