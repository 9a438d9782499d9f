# Generated from the folder spec/operators by `python -m codegen`; do not edit.
"""The operator descriptors: DirectML's structures, one class each."""

from dmlcore.descs import OperatorDesc, TensorDesc

__all__ = [
    "GatherDesc",
    "GatherElementsDesc",
    "GatherNDDesc",
    "GatherND1Desc",
    "NonzeroCoordinatesDesc",
    "ScatterElementsDesc",
    "ScatterNDDesc",
    "ScatterDesc",
]


class GatherDesc(OperatorDesc):
    """DML_GATHER_OPERATOR_DESC: Gathers whole slices of the input along one axis, one for each index.

    Parameters
    ----------
    input : TensorDesc
        InputTensor. The tensor to read from.
    indices : TensorDesc
        IndicesTensor. The coordinate along Axis of each slice to read.
    output : TensorDesc, optional
        OutputTensor. The tensor to write to, the input with its dimension Axis replaced by the index dimensions. Inferred when left out.
    axis : int
        Axis. The dimension of InputTensor that the indices count along.
    index_dimensions : int
        IndexDimensions. How many trailing dimensions of IndicesTensor count; the sizes in front of them are 1. 0 stands for a single index that leaves no dimension behind.

    Notes
    -----
    DirectML: DML_GATHER_OPERATOR_DESC, from DML_FEATURE_LEVEL_1_0.

    Examples
    --------
    >>> import dmlcore
    >>> from dmlcore import TensorDesc
    >>> desc = dmlcore.GatherDesc(input=TensorDesc("FLOAT32", (4,)), indices=TensorDesc("UINT32", (5,)), axis=0, index_dimensions=1)
    >>> dmlcore.check(desc)
    []
    """

    operator = "GATHER"
    MEMBERS = (
        ("InputTensor", "input", "input"),
        ("IndicesTensor", "indices", "input"),
        ("OutputTensor", "output", "output"),
        ("Axis", "axis", "axis"),
        ("IndexDimensions", "index_dimensions", "uint"),
    )
    __slots__ = ("input", "indices", "output", "axis", "index_dimensions")
    input: TensorDesc
    indices: TensorDesc
    output: TensorDesc | None
    axis: int
    index_dimensions: int

    def __init__(
        self,
        *,
        input: TensorDesc,
        indices: TensorDesc,
        output: TensorDesc | None = None,
        axis: int,
        index_dimensions: int,
    ) -> None:
        self._set(
            input=input,
            indices=indices,
            output=output,
            axis=axis,
            index_dimensions=index_dimensions,
        )


class GatherElementsDesc(OperatorDesc):
    """DML_GATHER_ELEMENTS_OPERATOR_DESC: Gathers single elements of the input along one axis, one for each index.

    Parameters
    ----------
    input : TensorDesc
        InputTensor. The tensor to read from.
    indices : TensorDesc
        IndicesTensor. The coordinate along Axis of each element to read.
    output : TensorDesc, optional
        OutputTensor. The tensor to write to, one element for each index. Inferred when left out.
    axis : int
        Axis. The dimension of InputTensor that the indices count along.

    Notes
    -----
    DirectML: DML_GATHER_ELEMENTS_OPERATOR_DESC, from DML_FEATURE_LEVEL_2_1.

    Examples
    --------
    >>> import dmlcore
    >>> from dmlcore import TensorDesc
    >>> desc = dmlcore.GatherElementsDesc(input=TensorDesc("FLOAT32", (3, 3)), indices=TensorDesc("UINT32", (2, 3)), axis=0)
    >>> dmlcore.check(desc)
    []
    """

    operator = "GATHER_ELEMENTS"
    MEMBERS = (
        ("InputTensor", "input", "input"),
        ("IndicesTensor", "indices", "input"),
        ("OutputTensor", "output", "output"),
        ("Axis", "axis", "axis"),
    )
    __slots__ = ("input", "indices", "output", "axis")
    input: TensorDesc
    indices: TensorDesc
    output: TensorDesc | None
    axis: int

    def __init__(
        self,
        *,
        input: TensorDesc,
        indices: TensorDesc,
        output: TensorDesc | None = None,
        axis: int,
    ) -> None:
        self._set(
            input=input,
            indices=indices,
            output=output,
            axis=axis,
        )


class GatherNDDesc(OperatorDesc):
    """DML_GATHER_ND_OPERATOR_DESC: Gathers whole subblocks of the input, chosen by tuples of coordinates.

    Parameters
    ----------
    input : TensorDesc
        InputTensor. The tensor to read from.
    indices : TensorDesc
        IndicesTensor. Tuples of coordinates along the last dimension; the last size is the number of coordinates in a tuple.
    output : TensorDesc, optional
        OutputTensor. The tensor to write to, right-aligned with ones in front when it needs fewer dimensions than the input has. Inferred when left out.
    input_dimension_count : int, optional
        InputDimensionCount. How many trailing dimensions of InputTensor count; the sizes in front of them are 1. Default: InputTensor.DimensionCount.
    indices_dimension_count : int, optional
        IndicesDimensionCount. How many trailing dimensions of IndicesTensor count, the tuple dimension included. Default: IndicesTensor.DimensionCount.

    Notes
    -----
    DirectML: DML_GATHER_ND_OPERATOR_DESC, from DML_FEATURE_LEVEL_2_1.

    Examples
    --------
    >>> import dmlcore
    >>> from dmlcore import TensorDesc
    >>> desc = dmlcore.GatherNDDesc(input=TensorDesc("FLOAT32", (2, 2)), indices=TensorDesc("UINT32", (2, 1)), input_dimension_count=2, indices_dimension_count=2)
    >>> dmlcore.check(desc)
    []
    """

    operator = "GATHER_ND"
    MEMBERS = (
        ("InputTensor", "input", "input"),
        ("IndicesTensor", "indices", "input"),
        ("OutputTensor", "output", "output"),
        ("InputDimensionCount", "input_dimension_count", "uint"),
        ("IndicesDimensionCount", "indices_dimension_count", "uint"),
    )
    __slots__ = ("input", "indices", "output", "input_dimension_count", "indices_dimension_count")
    input: TensorDesc
    indices: TensorDesc
    output: TensorDesc | None
    input_dimension_count: int | None
    indices_dimension_count: int | None

    def __init__(
        self,
        *,
        input: TensorDesc,
        indices: TensorDesc,
        output: TensorDesc | None = None,
        input_dimension_count: int | None = None,
        indices_dimension_count: int | None = None,
    ) -> None:
        self._set(
            input=input,
            indices=indices,
            output=output,
            input_dimension_count=input_dimension_count,
            indices_dimension_count=indices_dimension_count,
        )


class GatherND1Desc(OperatorDesc):
    """DML_GATHER_ND1_OPERATOR_DESC: Gathers whole subblocks of the input, chosen by tuples of coordinates, batch by batch.

    Parameters
    ----------
    input : TensorDesc
        InputTensor. The tensor to read from.
    indices : TensorDesc
        IndicesTensor. Tuples of coordinates along the last dimension; the last size is the number of coordinates in a tuple.
    output : TensorDesc, optional
        OutputTensor. The tensor to write to, right-aligned with ones in front when it needs fewer dimensions than the input has. Inferred when left out.
    input_dimension_count : int, optional
        InputDimensionCount. How many trailing dimensions of InputTensor count; the sizes in front of them are 1. Default: InputTensor.DimensionCount.
    indices_dimension_count : int, optional
        IndicesDimensionCount. How many trailing dimensions of IndicesTensor count, the tuple dimension included. Default: IndicesTensor.DimensionCount.
    batch_dimension_count : int
        BatchDimensionCount. How many of the counted dimensions, from the first, InputTensor and IndicesTensor share.

    Notes
    -----
    DirectML: DML_GATHER_ND1_OPERATOR_DESC, from DML_FEATURE_LEVEL_3_0.

    Examples
    --------
    >>> import dmlcore
    >>> from dmlcore import TensorDesc
    >>> desc = dmlcore.GatherND1Desc(input=TensorDesc("FLOAT32", (2, 2)), indices=TensorDesc("UINT32", (2, 1)), input_dimension_count=2, indices_dimension_count=2, batch_dimension_count=0)
    >>> dmlcore.check(desc)
    []
    """

    operator = "GATHER_ND1"
    MEMBERS = (
        ("InputTensor", "input", "input"),
        ("IndicesTensor", "indices", "input"),
        ("OutputTensor", "output", "output"),
        ("InputDimensionCount", "input_dimension_count", "uint"),
        ("IndicesDimensionCount", "indices_dimension_count", "uint"),
        ("BatchDimensionCount", "batch_dimension_count", "uint"),
    )
    __slots__ = ("input", "indices", "output", "input_dimension_count", "indices_dimension_count", "batch_dimension_count")
    input: TensorDesc
    indices: TensorDesc
    output: TensorDesc | None
    input_dimension_count: int | None
    indices_dimension_count: int | None
    batch_dimension_count: int

    def __init__(
        self,
        *,
        input: TensorDesc,
        indices: TensorDesc,
        output: TensorDesc | None = None,
        input_dimension_count: int | None = None,
        indices_dimension_count: int | None = None,
        batch_dimension_count: int,
    ) -> None:
        self._set(
            input=input,
            indices=indices,
            output=output,
            input_dimension_count=input_dimension_count,
            indices_dimension_count=indices_dimension_count,
            batch_dimension_count=batch_dimension_count,
        )


class NonzeroCoordinatesDesc(OperatorDesc):
    """DML_NONZERO_COORDINATES_OPERATOR_DESC: Finds the coordinates of all elements that are not zero, and how many there are.

    Parameters
    ----------
    input : TensorDesc
        InputTensor. The tensor to search.
    output_count : TensorDesc, optional
        OutputCountTensor. A single element, the number of elements that are not zero. Inferred when left out.
    output_coordinates : TensorDesc, optional
        OutputCoordinatesTensor. The coordinates, sizes {1, ..., 1, M, N} with a row for each of the M elements of the input and a column for each of its last N dimensions. Inferred when left out.

    Notes
    -----
    DirectML: DML_NONZERO_COORDINATES_OPERATOR_DESC, from DML_FEATURE_LEVEL_3_0.

    Examples
    --------
    >>> import dmlcore
    >>> from dmlcore import TensorDesc
    >>> desc = dmlcore.NonzeroCoordinatesDesc(input=TensorDesc("FLOAT32", (1, 1, 2, 4)))
    >>> dmlcore.check(desc)
    []
    """

    operator = "NONZERO_COORDINATES"
    MEMBERS = (
        ("InputTensor", "input", "input"),
        ("OutputCountTensor", "output_count", "output"),
        ("OutputCoordinatesTensor", "output_coordinates", "output"),
    )
    __slots__ = ("input", "output_count", "output_coordinates")
    input: TensorDesc
    output_count: TensorDesc | None
    output_coordinates: TensorDesc | None

    def __init__(
        self,
        *,
        input: TensorDesc,
        output_count: TensorDesc | None = None,
        output_coordinates: TensorDesc | None = None,
    ) -> None:
        self._set(
            input=input,
            output_count=output_count,
            output_coordinates=output_coordinates,
        )


class ScatterElementsDesc(OperatorDesc):
    """DML_SCATTER_OPERATOR_DESC: Copies the input and overwrites single elements of it along one axis, one for each index.

    Parameters
    ----------
    input : TensorDesc
        InputTensor. The tensor to start from.
    indices : TensorDesc
        IndicesTensor. The coordinate along Axis of each element to overwrite.
    updates : TensorDesc
        UpdatesTensor. The new values, one for each index.
    output : TensorDesc, optional
        OutputTensor. The tensor to write to. Inferred when left out.
    axis : int
        Axis. The dimension of InputTensor that the indices count along.

    Notes
    -----
    DirectML: DML_SCATTER_OPERATOR_DESC, from DML_FEATURE_LEVEL_2_0.

    Examples
    --------
    >>> import dmlcore
    >>> from dmlcore import TensorDesc
    >>> desc = dmlcore.ScatterElementsDesc(input=TensorDesc("FLOAT32", (5,)), indices=TensorDesc("UINT32", (4,)), updates=TensorDesc("FLOAT32", (4,)), axis=0)
    >>> dmlcore.check(desc)
    []
    """

    operator = "SCATTER_ELEMENTS"
    MEMBERS = (
        ("InputTensor", "input", "input"),
        ("IndicesTensor", "indices", "input"),
        ("UpdatesTensor", "updates", "input"),
        ("OutputTensor", "output", "output"),
        ("Axis", "axis", "axis"),
    )
    __slots__ = ("input", "indices", "updates", "output", "axis")
    input: TensorDesc
    indices: TensorDesc
    updates: TensorDesc
    output: TensorDesc | None
    axis: int

    def __init__(
        self,
        *,
        input: TensorDesc,
        indices: TensorDesc,
        updates: TensorDesc,
        output: TensorDesc | None = None,
        axis: int,
    ) -> None:
        self._set(
            input=input,
            indices=indices,
            updates=updates,
            output=output,
            axis=axis,
        )


class ScatterNDDesc(OperatorDesc):
    """DML_SCATTER_ND_OPERATOR_DESC: Copies the input and overwrites whole subblocks of it, chosen by tuples of coordinates.

    Parameters
    ----------
    input : TensorDesc
        InputTensor. The tensor to start from.
    indices : TensorDesc
        IndicesTensor. Tuples of coordinates along the last dimension; the last size is the number of coordinates in a tuple.
    updates : TensorDesc
        UpdatesTensor. The new values, right-aligned with ones in front when they need fewer dimensions than the input has.
    output : TensorDesc, optional
        OutputTensor. The tensor to write to. Inferred when left out.
    input_dimension_count : int, optional
        InputDimensionCount. How many trailing dimensions of InputTensor count; the sizes in front of them are 1. Default: InputTensor.DimensionCount.
    indices_dimension_count : int, optional
        IndicesDimensionCount. How many trailing dimensions of IndicesTensor count, the tuple dimension included. Default: IndicesTensor.DimensionCount.

    Notes
    -----
    DirectML: DML_SCATTER_ND_OPERATOR_DESC, from DML_FEATURE_LEVEL_2_1.

    Examples
    --------
    >>> import dmlcore
    >>> from dmlcore import TensorDesc
    >>> desc = dmlcore.ScatterNDDesc(input=TensorDesc("FLOAT32", (1, 8)), indices=TensorDesc("UINT32", (4, 1)), updates=TensorDesc("FLOAT32", (1, 4)), input_dimension_count=1, indices_dimension_count=2)
    >>> dmlcore.check(desc)
    []
    """

    operator = "SCATTER_ND"
    MEMBERS = (
        ("InputTensor", "input", "input"),
        ("IndicesTensor", "indices", "input"),
        ("UpdatesTensor", "updates", "input"),
        ("OutputTensor", "output", "output"),
        ("InputDimensionCount", "input_dimension_count", "uint"),
        ("IndicesDimensionCount", "indices_dimension_count", "uint"),
    )
    __slots__ = ("input", "indices", "updates", "output", "input_dimension_count", "indices_dimension_count")
    input: TensorDesc
    indices: TensorDesc
    updates: TensorDesc
    output: TensorDesc | None
    input_dimension_count: int | None
    indices_dimension_count: int | None

    def __init__(
        self,
        *,
        input: TensorDesc,
        indices: TensorDesc,
        updates: TensorDesc,
        output: TensorDesc | None = None,
        input_dimension_count: int | None = None,
        indices_dimension_count: int | None = None,
    ) -> None:
        self._set(
            input=input,
            indices=indices,
            updates=updates,
            output=output,
            input_dimension_count=input_dimension_count,
            indices_dimension_count=indices_dimension_count,
        )


# DirectML has two names for these
ScatterDesc = ScatterElementsDesc
