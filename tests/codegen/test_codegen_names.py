"""Turns DirectML's names into Python's, C's and the pages'."""

# ruff: noqa: E501
import pytest

from codegen import names


@pytest.mark.parametrize(
    ("operator", "desc", "function"),
    [
        ("GATHER", "GatherDesc", "gather"),
        ("GATHER_ELEMENTS", "GatherElementsDesc", "gather_elements"),
        ("GATHER_ND", "GatherNDDesc", "gather_nd"),
        ("GATHER_ND1", "GatherND1Desc", "gather_nd1"),
        ("SCATTER_ELEMENTS", "ScatterElementsDesc", "scatter_elements"),
        ("SCATTER_ND", "ScatterNDDesc", "scatter_nd"),
        ("NONZERO_COORDINATES", "NonzeroCoordinatesDesc", "nonzero_coordinates"),
    ],
)
def test_operators(operator, desc, function):
    assert names.desc_class(operator) == desc
    assert names.operator_snake(operator) == function
    assert names.struct_name(operator) == f"DML_{operator}_OPERATOR_DESC"
    assert names.enum_name(operator) == f"DML_OPERATOR_{operator}"


@pytest.mark.parametrize(
    ("member", "python"),
    [
        ("InputTensor", "input"),
        ("IndicesTensor", "indices"),
        ("UpdatesTensor", "updates"),
        ("OutputTensor", "output"),
        ("OutputCountTensor", "output_count"),
        ("OutputCoordinatesTensor", "output_coordinates"),
        ("Axis", "axis"),
        ("IndexDimensions", "index_dimensions"),
        ("InputDimensionCount", "input_dimension_count"),
        ("IndicesDimensionCount", "indices_dimension_count"),
        ("BatchDimensionCount", "batch_dimension_count"),
        ("ATensor", "a"),
        ("Tensor", "tensor"),
    ],
)
def test_members(member, python):
    assert names.member_snake(member) == python


def test_fields_of_a_tensor(spec):
    assert [m.python for m in spec.tensor.members] == [
        "data_type", "flags", "dimension_count", "sizes", "strides", "total_tensor_size_in_bytes", "guaranteed_base_offset_alignment",
    ]  # fmt: skip


def test_levels(spec):
    level = spec.level("FL3.0")
    assert (level.python_name, level.dml_name, level.number, level.value) == (
        "FL3_0",
        "DML_FEATURE_LEVEL_3_0",
        "3.0",
        0x3000,
    )


def test_rules():
    assert names.rule_id("GATHER_ND", "IndexTupleSize-range") == "GATHER_ND-IndexTupleSize-range"
    assert names.anchor("GATHER_ND-IndexTupleSize-range") == "gather_nd-indextuplesize-range"
