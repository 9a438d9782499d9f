"""Turns descriptors in DxDispatch's JSON form into OperatorDescs, and back.

Accepted are abbreviated and full names of types, tensors with and without their Type and Desc wrapper, and members
with and without `desc` around them. What cannot be a descriptor at all is a FileError; one that breaks rules is none.
"""

from functools import cache

from .._generated import descs as generated
from .._generated.tools import TOOLS
from ..descs import OperatorDesc, TensorDesc
from .files import FileError

__all__ = ["desc_class", "desc_to_json", "find_operator", "parse_desc", "parse_descs"]

OPERATOR_PREFIX, TYPE_PREFIX = "DML_OPERATOR_", "DML_TENSOR_DATA_TYPE_"
TENSOR_MEMBERS = ("DataType", "Sizes", "Strides", "TotalTensorSizeInBytes", "GuaranteedBaseOffsetAlignment")
IGNORED = {  # members of tensors that say nothing here: what they may be
    "Type": ("DML_TENSOR_TYPE_BUFFER", "BUFFER"),
    "Flags": ("DML_TENSOR_FLAG_NONE", "NONE", "DML_TENSOR_FLAG_OWNED_BY_DML", "OWNED_BY_DML"),
}


@cache
def _names() -> dict[str, str]:
    return {name: op for op, tool in TOOLS.items() for name in (op, *tool.aliases)}


@cache
def _classes() -> dict[str, type[OperatorDesc]]:
    values = [getattr(generated, name) for name in generated.__all__]
    return {cls.operator: cls for cls in values}


def find_operator(name: str) -> str | None:
    """The operator of a name (GATHER_ND, gather-nd, DML_OPERATOR_GATHER_ND, SCATTER); None if there is none."""
    return _names().get(name.strip().upper().replace("-", "_").removeprefix(OPERATOR_PREFIX))


def operator_names() -> list[str]:
    """Every operator, in the order of the specifications."""
    return list(TOOLS)


def desc_class(operator: str) -> type[OperatorDesc]:
    """The descriptor class of an operator."""
    return _classes()[operator]


def parse_descs(value, path) -> list[tuple[str, OperatorDesc]]:
    """(name, descriptor) of all that a JSON value describes: one descriptor, a list, or a whole DxDispatch model."""
    if isinstance(value, dict) and isinstance(value.get("dispatchables"), dict):
        items = list(value["dispatchables"].items())
    elif isinstance(value, list):
        items = [(f"[{i}]", item) for i, item in enumerate(value)]
    else:
        items = [("", value)]
    if not items:
        raise FileError(path, "holds no descriptor")
    return [(name, parse_desc(item, path, name)) for name, item in items]


def parse_desc(value, path, name: str = "") -> OperatorDesc:
    """One descriptor: ``{"type": "DML_OPERATOR_...", "desc": {...}}``, or the members with "type" among them."""
    where = f"{name}: " if name else ""
    if not isinstance(value, dict):
        raise FileError(path, f'{where}expected an object with "type" and "desc", found {_kind(value)}')
    type_ = value.get("type", value.get("Type"))
    if not isinstance(type_, str):
        raise FileError(
            path, f'{where}"type" is missing; write "type": "{OPERATOR_PREFIX}{next(iter(TOOLS))}" beside "desc"'
        )
    operator = find_operator(type_)
    if operator is None:
        raise FileError(path, f"{where}{type_} is not one of the operators here: {', '.join(TOOLS)}")
    members = value.get("desc", value.get("Desc"))
    if members is None:
        members = {k: v for k, v in value.items() if k not in ("type", "Type")}
    cls = desc_class(operator)
    if not isinstance(members, dict):
        raise FileError(path, f'{where}"desc" is {_kind(members)}, expected an object')
    try:
        kinds = {member: kind for member, _, kind in cls.MEMBERS}
        tensors = {
            m: _tensor(v, m) for m, v in members.items() if kinds.get(m) in ("input", "output") and v is not None
        }
        numbers = {m: _number(v, m) for m, v in members.items() if kinds.get(m) not in ("input", "output", None)}
        unknown = {m: v for m, v in members.items() if m not in kinds}
        return cls.from_dict({**numbers, **tensors, **unknown})
    except (TypeError, ValueError, OverflowError) as error:
        raise FileError(path, f"{where}{operator}: {str(error).splitlines()[0]}") from None


def _tensor(value, name: str) -> dict:
    if not isinstance(value, dict):
        raise ValueError(f"{name} is {_kind(value)}, expected an object with DataType and Sizes")
    if isinstance(value.get("Desc"), dict):
        value = {**value["Desc"], **({"Type": value["Type"]} if "Type" in value else {})}
    for member, accepted in IGNORED.items():
        given = value.get(member, accepted[0])
        if any(item not in accepted for item in (given if isinstance(given, list) else [given])):
            raise ValueError(f"{name}.{member} is {given!r}, expected {accepted[0]}")
    members = {k: v for k, v in value.items() if k not in (*IGNORED, "DimensionCount")}
    for list_name in ("Sizes", "Strides"):
        items = members.get(list_name)
        if items is not None and (not isinstance(items, list) or any(type(i) is not int for i in items)):
            raise ValueError(f"{name}.{list_name} is {_kind(items)}, expected a list of integers")
    if not members.get("Strides"):
        members.pop("Strides", None)
    if "Sizes" in members and value.get("DimensionCount", len(members["Sizes"])) != len(members["Sizes"]):
        count = value["DimensionCount"]
        raise ValueError(f"{name}.DimensionCount is {count!r}, but Sizes has {len(members['Sizes'])} entries")
    for number in TENSOR_MEMBERS[3:]:
        if members.get(number) is not None:
            _number(members[number], f"{name}.{number}")
    if not members.get("TotalTensorSizeInBytes"):
        members.pop("TotalTensorSizeInBytes", None)
    data_type = members.get("DataType")
    if "DataType" in members and not isinstance(data_type, str):
        raise ValueError(f"{name}.DataType is {_kind(data_type)}, expected a name such as FLOAT32")
    try:
        TensorDesc.from_dict(members)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from None
    return members


def _number(value, name: str) -> int:
    if value is not None and type(value) is not int:
        raise ValueError(f"{name} is {_kind(value)}, expected an integer")
    return value


def _kind(value) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), f"the number {value}")


def desc_to_json(desc: OperatorDesc) -> dict:
    """A descriptor in DxDispatch's form, without what DxDispatch infers."""
    members = {}
    for name, value in desc.to_dict().items():
        if isinstance(value, dict):
            tensor = TensorDesc.from_dict(value)
            value = {"DataType": value["DataType"], "Sizes": value["Sizes"]}
            if tensor.strides is not None:
                value["Strides"] = list(tensor.strides)
            if tensor.total_tensor_size_in_bytes != tensor.minimum_size:
                value["TotalTensorSizeInBytes"] = tensor.total_tensor_size_in_bytes
            if tensor.guaranteed_base_offset_alignment:
                value["GuaranteedBaseOffsetAlignment"] = tensor.guaranteed_base_offset_alignment
        members[name] = value
    return {"type": operator_type(desc.operator), "desc": members}


def operator_type(operator: str) -> str:
    """The value of DML_OPERATOR_TYPE that bears the structure's name: SCATTER_ELEMENTS is DML_OPERATOR_SCATTER."""
    return OPERATOR_PREFIX + TOOLS[operator].struct.removeprefix("DML_").removesuffix("_OPERATOR_DESC")
