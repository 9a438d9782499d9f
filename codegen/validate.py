"""Turns a descriptor, given as plain Python values, into the ids of the rules that it breaks at a level.

A second implementation of the whole validator beside the generated one, and written to be read: load.py tries examples
and broken_by with it, and the tests hold the compiled validator against it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from .rules import evaluate, saturate

UINT_MAX = 2**32 - 1


@dataclass(frozen=True)
class TensorValue:
    """A DML_BUFFER_TENSOR_DESC; the properties are the fields that rules mention."""

    data_type: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    total_tensor_size_in_bytes: int | None = None  # None: computed, hence right
    guaranteed_base_offset_alignment: int = 0

    @property
    def DataType(self) -> str:
        return self.data_type

    @property
    def Sizes(self) -> tuple[int, ...]:
        return self.sizes

    @property
    def DimensionCount(self) -> int:
        return len(self.sizes)

    @property
    def Strides(self) -> tuple[int, ...]:
        return packed(self.sizes) if self.strides is None else self.strides


@dataclass(frozen=True)
class Violation:
    id: str
    member: str | None  # None: the operator itself


def packed(sizes) -> tuple[int, ...]:
    """Strides in elements of a tensor without gaps, the last dimension fastest."""
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step = saturate(step * size)
    return tuple(reversed(strides))


def product(sizes) -> int:
    total = 1
    for size in sizes:
        total = saturate(total * size)
    return total


def extent(tensor: TensorValue) -> int:
    """How many elements lie between the first and the last one, both included."""
    if tensor.strides is None:
        return product(tensor.sizes)
    return saturate(
        1 + sum(max(size - 1, 0) * stride for size, stride in zip(tensor.sizes, tensor.strides, strict=False))
    )


def minimum_bytes(tensor: TensorValue, bits: int) -> int:
    """The smallest TotalTensorSizeInBytes: whole bytes, then a multiple of four."""
    return saturate(((extent(tensor) * bits + 7) // 8 + 3) // 4 * 4)


def tensor_violations(tensor: TensorValue, level, levels, data_types) -> list[str]:
    """The rules of spec/tensor.yaml that one tensor breaks. Only a known type has a size in bytes."""
    eight = next((known.position for known in levels if known.name == "FL3.0"), 0) <= level.position
    data_type = data_types.get(tensor.data_type)
    bits = (data_type.bits or 0) if data_type else 0
    known = bits > 0
    total, alignment = tensor.total_tensor_size_in_bytes, tensor.guaranteed_base_offset_alignment
    strides = tensor.strides if tensor.strides is not None else ()
    holds = (
        known,
        1 <= tensor.DimensionCount <= (8 if eight else 5),
        0 not in tensor.sizes,
        all(0 <= size <= UINT_MAX for size in tensor.sizes),
        tensor.strides is None or len(strides) == len(tensor.sizes),
        all(0 <= stride <= UINT_MAX for stride in strides),
        product(tensor.sizes) <= UINT_MAX,
        extent(tensor) <= UINT_MAX,
        total is None or not known or total >= minimum_bytes(tensor, bits),
        alignment == 0 or (alignment > 0 and alignment & (alignment - 1) == 0 and alignment * 8 >= bits),
    )
    return [id for id, true in zip(TENSOR_RULES, holds, strict=True) if not true]


TENSOR_RULES = (
    "TENSOR-DataType-known",
    "TENSOR-DimensionCount-range",
    "TENSOR-Sizes-nonzero",
    "TENSOR-Sizes-range",
    "TENSOR-Strides-count",
    "TENSOR-Strides-range",
    "TENSOR-ElementCount-limit",
    "TENSOR-Extent-limit",
    "TENSOR-TotalTensorSizeInBytes-minimum",
    "TENSOR-GuaranteedBaseOffsetAlignment-value",
)


class Names(dict):
    """The integers and lists that rules mention: the numbers, and the `let` names, computed when first asked."""

    def __init__(self, operator, tensors: Mapping[str, TensorValue], uints: Mapping[str, int]):
        super().__init__(uints)
        self.operator, self.tensors = operator, tensors

    def __missing__(self, name: str):
        self[name] = evaluate(self.operator.let[name].expr, self.tensors, self)
        return self[name]


def infer(operator, desc: Mapping[str, object]) -> dict[str, object]:
    """Fills in what `desc` leaves out (absent or None): the defaults of uints, an axis of 0, and the outputs."""
    given = {name: value for name, value in desc.items() if value is not None}
    tensors = {m.name: given[m.name] for m in operator.tensors if m.name in given}
    uints = {}
    for m in operator.uints:
        if m.name in given:
            uints[m.name] = given[m.name]
        elif m.default is not None:
            uints[m.name] = evaluate(m.default, tensors, {})
        elif m.kind == "axis":
            uints[m.name] = 0
        else:
            raise ValueError(f"{operator.name}: {m.name} is missing and has no default")
    names = Names(operator, tensors, uints)
    for m in operator.outputs:
        if m.name not in tensors:
            sizes = evaluate(m.sizes if m.sizes is not None else m.default_sizes, tensors, names)
            data_type = evaluate(m.data_type, tensors, names) if m.data_type is not None else m.default_data_type
            tensors[m.name] = TensorValue(data_type, sizes)
    return {m.name: tensors[m.name] if m.is_tensor else uints[m.name] for m in operator.members}


def violations(operator, desc: Mapping[str, object], level, door: str = "descriptor") -> list[Violation]:
    """All rules that `desc` breaks. An output that was left out is reported only when nothing else is wrong."""
    full = infer(operator, desc)
    tensors = {m.name: full[m.name] for m in operator.tensors}
    names = Names(operator, tensors, {m.name: full[m.name] for m in operator.uints})
    found, of_inferred = [], []

    def report(id: str, member: str | None, inferred: bool = False) -> None:
        (of_inferred if inferred else found).append(Violation(id, member))

    if door == "descriptor" and level.position < operator.introduced.position:
        report(f"{operator.name}-FeatureLevel-support", None)
    for m in operator.tensors:
        inferred = desc.get(m.name) is None
        tensor, cell = tensors[m.name], operator.support[m.name].get(level.name)
        if door == "descriptor":
            for id in tensor_violations(tensor, level, operator.levels, operator.data_types):
                report(id, m.name, inferred)
        if cell is None:
            continue
        more = operator.python.data_types.get(m.name, ()) if door == "array" else ()
        if tensor.data_type not in cell.data_types + more:
            report(f"{operator.name}-{m.name}-DataType-support", m.name, inferred)
        if door == "descriptor" and not cell.dims_min <= tensor.DimensionCount <= cell.dims_max:
            report(f"{operator.name}-{m.name}-DimensionCount-support", m.name, inferred)
    for c in operator.constraints:
        if c.doors in ("both", door) and c.active(level) and not evaluate(c.expr, tensors, names):
            report(c.id, c.member)
    for m in operator.tensors:
        inferred, tensor = desc.get(m.name) is None, tensors[m.name]
        if m.data_type is not None and tensor.DataType != evaluate(m.data_type, tensors, names):
            report(f"{operator.name}-{m.name}-DataType", m.name, inferred)
        if m.sizes is not None and tuple(map(saturate, tensor.Sizes)) != evaluate(m.sizes, tensors, names):
            report(f"{operator.name}-{m.name}-Sizes", m.name, inferred)
    return found or of_inferred
