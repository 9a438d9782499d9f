"""Turns DirectML's names into the names that Python, C and the pages use. The one place where a casing is decided.

DirectML writes GATHER_ND, InputTensor, DML_FEATURE_LEVEL_3_0; all else is derived from those, never typed by hand.
"""

import re

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


def operator_snake(operator: str) -> str:
    """GATHER_ND1 -> gather_nd1: file names, C names, array functions."""
    return operator.lower()


def operator_pascal(operator: str) -> str:
    """GATHER_ND1 -> GatherND1: ND stays in capitals, as DirectML's own helpers write it."""
    return "".join(w if re.fullmatch(r"ND\d*", w) else w.capitalize() for w in operator.split("_"))


def desc_class(operator: str) -> str:
    """GATHER_ND -> GatherNDDesc."""
    return operator_pascal(operator) + "Desc"


def struct_name(operator: str) -> str:
    """GATHER_ND -> DML_GATHER_ND_OPERATOR_DESC."""
    return f"DML_{operator}_OPERATOR_DESC"


def enum_name(operator: str) -> str:
    """GATHER_ND -> DML_OPERATOR_GATHER_ND."""
    return f"DML_OPERATOR_{operator}"


def snake(name: str) -> str:
    """InputDimensionCount -> input_dimension_count, TotalTensorSizeInBytes -> total_tensor_size_in_bytes."""
    return "_".join(word.lower() for word in _WORD.findall(name))


def member_snake(member: str) -> str:
    """InputTensor -> input, OutputCountTensor -> output_count, Axis -> axis: parameters and keyword arguments."""
    short = member.removesuffix("Tensor")
    return snake(short or member)


def level_python(level: str) -> str:
    """FL3.0 -> FL3_0."""
    return level.replace(".", "_")


def level_dml(level: str) -> str:
    """FL3.0 -> DML_FEATURE_LEVEL_3_0."""
    return "DML_FEATURE_LEVEL_" + level.removeprefix("FL").replace(".", "_")


def level_number(level: str) -> str:
    """FL3.0 -> 3.0."""
    return level.removeprefix("FL")


def anchor(rule_id: str) -> str:
    """GATHER_ND-IndexTupleSize-range -> gather_nd-indextuplesize-range: the place on a page."""
    return rule_id.lower()


def rule_id(operator: str, short_id: str) -> str:
    """GATHER_ND, IndexTupleSize-range -> GATHER_ND-IndexTupleSize-range."""
    return f"{operator}-{short_id}"
