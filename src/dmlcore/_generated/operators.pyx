# Generated from the folder spec/operators by `python -m codegen`; do not edit. One section for each operator: its tensors, its
# checks in the order of the specification, its size rules, its plan, and the two doors.

include "../core/door.pxi"

cdef extern from "_generated/operators.h" nogil:
    enum: DML_OP_GATHER, DML_OP_GATHER_ELEMENTS, DML_OP_GATHER_ND, DML_OP_GATHER_ND1, DML_OP_NONZERO_COORDINATES, DML_OP_SCATTER_ELEMENTS, DML_OP_SCATTER_ND

cdef extern from "_generated/support.h" nogil:
    const dml_cell gather_support[3][DML_ARRAY_DOOR + 1]
    const dml_cell gather_elements_support[3][DML_ARRAY_DOOR + 1]
    const dml_cell gather_nd_support[3][DML_ARRAY_DOOR + 1]
    const dml_cell gather_nd1_support[3][DML_ARRAY_DOOR + 1]
    const dml_cell nonzero_coordinates_support[3][DML_ARRAY_DOOR + 1]
    const dml_cell scatter_elements_support[4][DML_ARRAY_DOOR + 1]
    const dml_cell scatter_nd_support[4][DML_ARRAY_DOOR + 1]

_register("float32", 1)
_register("float16", 2)
_register("uint32 uintc", 3)
_register("uint16", 4)
_register("uint8", 5)
_register("int32 intc", 6)
_register("int16", 7)
_register("int8", 8)
_register("float64", 9)
_register("uint64 ulonglong", 10)
_register("int64 longlong", 11)
_register("bool", 14)
_register("complex64", 15)
_register("complex128", 16)
_register("bfloat16", 17)
_register("float8_e3m4", 18)
_register("float8_e4m3", 19)
_register("float8_e4m3fn", 20)
_register("float8_e4m3fnuz", 21)
_register("float8_e4m3b11fnuz", 22)
_register("float8_e5m2", 23)
_register("float8_e5m2fnuz", 24)
_register("float8_e8m0fnu", 25)


# ---- GATHER -----------------------------------------------------------------------------------------------------------

cdef struct gather_desc:
    dml_tensor input
    dml_tensor indices
    dml_tensor output
    int64_t axis
    int64_t index_dimensions


cdef struct gather_buffers:
    dml_buffer input
    dml_buffer indices
    dml_buffer output


cdef void check_gather(gather_desc *c, gather_buffers *buffers, int level, dml_violations *bad) noexcept nogil:
    cdef int64_t b[3][DML_LIST_MAX]
    cdef dml_list gathered = dml_join(dml_join(dml_until(dml_sizes(&c.input), c.axis), dml_last(dml_sizes(&c.indices), c.index_dimensions), b[0]), dml_from(dml_sizes(&c.input), dml_add(c.axis, 1)), b[1])
    if level < 0:
        dml_fail(bad, 0)  # GATHER-FeatureLevel-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.input, &buffers.input, level, 1, bad)
    if level >= 0 and not dml_supports_type(&gather_support[0][level], c.input.data_type):
        dml_fail(bad, 11)  # GATHER-InputTensor-DataType-support
    if level >= 0 and not dml_supports_rank(&gather_support[0][level], c.input.rank):
        dml_fail(bad, 12)  # GATHER-InputTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.indices, &buffers.indices, level, 13, bad)
    if level >= 0 and not dml_supports_type(&gather_support[1][level], c.indices.data_type):
        dml_fail(bad, 23)  # GATHER-IndicesTensor-DataType-support
    if level >= 0 and not dml_supports_rank(&gather_support[1][level], c.indices.rank):
        dml_fail(bad, 24)  # GATHER-IndicesTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.output, &buffers.output, level, 25, bad)
    if level >= 0 and not dml_supports_type(&gather_support[2][level], c.output.data_type):
        dml_fail(bad, 35)  # GATHER-OutputTensor-DataType-support
    if level >= 0 and not dml_supports_rank(&gather_support[2][level], c.output.rank):
        dml_fail(bad, 36)  # GATHER-OutputTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR and not (c.input.rank == c.indices.rank and c.indices.rank == c.output.rank):
        dml_fail(bad, 37)  # GATHER-same-DimensionCount
    if not (c.axis < c.input.rank):
        dml_fail(bad, 38)  # GATHER-Axis-range
    if not (c.index_dimensions <= c.indices.rank):
        dml_fail(bad, 39)  # GATHER-IndexDimensions-range
    if not (dml_effective_rank(dml_sizes(&c.indices)) <= c.index_dimensions):
        dml_fail(bad, 40)  # GATHER-IndicesTensor-leading-ones
    if not ((c.index_dimensions > c.indices.rank) or (dml_sub(dml_add(dml_effective_rank(dml_sizes(&c.input)), c.index_dimensions), 1) <= c.input.rank and dml_sub(c.index_dimensions, 1) <= c.axis)):
        dml_fail(bad, 41)  # GATHER-OutputTensor-fits
    if not c.output.inferred and not (c.output.data_type == c.input.data_type):
        dml_fail(bad, 42)  # GATHER-OutputTensor-DataType
    if not c.output.inferred and not (dml_equal(dml_sizes(&c.output), dml_right_align(gathered, c.input.rank, b[2]))):
        dml_fail(bad, 43)  # GATHER-OutputTensor-Sizes


cdef void infer_gather(gather_desc *c) noexcept nogil:
    """Types and sizes of the outputs that were not given."""
    cdef int64_t b[3][DML_LIST_MAX]
    cdef dml_list gathered = dml_join(dml_join(dml_until(dml_sizes(&c.input), c.axis), dml_last(dml_sizes(&c.indices), c.index_dimensions), b[0]), dml_from(dml_sizes(&c.input), dml_add(c.axis, 1)), b[1])
    if c.output.inferred:
        c.output.data_type = c.input.data_type
        dml_set_sizes(&c.output, dml_right_align(gathered, c.input.rank, b[2]))


cdef object run_gather(gather_desc *c, cnp.ndarray input_array, cnp.ndarray indices_array, cnp.ndarray output_array, bint fresh, Options *options):
    """Fills the plan from the specification's fields and runs it; every tensor is loaded and checked."""
    cdef dml_move move
    cdef dml_run run
    cdef cnp.ndarray target = output_array
    cdef bytes fill                     # lives as long as the run
    cdef int64_t slice_rank = dml_sub(dml_sub(c.input.rank, c.axis), 1)
    cdef int64_t b[10][DML_LIST_MAX]
    if not fresh and (overlap(output_array, input_array) or overlap(output_array, indices_array)):
        # The output shares memory with an input: the one case that takes a copy.
        output_array = allocate(&c.output, cnp.PyArray_NDIM(target), cnp.PyArray_TYPE(target))
        fresh = True
    move.positions = dml_join(dml_until(dml_sizes(&c.input), c.axis), dml_last(dml_sizes(&c.indices), c.index_dimensions), b[2])
    move.index_strides = dml_join(dml_repeat(0, c.axis, b[3]), dml_last(dml_strides(&c.indices), c.index_dimensions), b[4])
    move.table_strides = dml_join(dml_until(dml_strides(&c.input), c.axis), dml_repeat(0, c.index_dimensions, b[5]), b[6])
    move.stream_strides = dml_right_align(dml_all_but(dml_strides(&c.output), slice_rank), dml_add(c.axis, c.index_dimensions), b[7])
    move.bounds = dml_append(dml_empty(b[8]), dml_at(dml_sizes(&c.input), c.axis))
    move.steps = dml_append(dml_empty(b[9]), dml_at(dml_strides(&c.input), c.axis))
    move.slice = dml_from(dml_sizes(&c.input), dml_add(c.axis, 1))
    move.slice_table_strides = dml_from(dml_strides(&c.input), dml_add(c.axis, 1))
    move.slice_stream_strides = dml_last(dml_strides(&c.output), slice_rank)
    move.coordinate_stride = 0
    move.table = c.input.data
    move.stream = c.output.data
    move.indices = c.indices.data
    move.source = NULL
    move.copy = no_list()
    prepare(&run, c.input.data_type, c.indices.data_type, options, not fresh, fresh and is_untouched(output_array))
    if options.mode == DML_FILL:
        fill = fill_element(options, input_array)
        run.fill = <const char *> fill
    run_move(DML_OP_GATHER, &move, &run, "GATHER", "IndicesTensor", "indices", indices_array, False)
    if output_array is not target:
        cnp.PyArray_CopyInto(target, output_array)
    return target


cdef object array_gather(object input, object indices, object axis, object out, Options *options):
    cdef gather_desc c
    cdef dml_violations bad
    cdef cnp.ndarray input_array = load_data(&c.input, input, "input")
    cdef cnp.ndarray indices_array = load_indices(&c.indices, indices, "indices")
    cdef cnp.ndarray output_array = None
    # natural ranks; the descriptor's have ones in front
    cdef int64_t output_rank = dml_add(dml_sub(c.input.rank, 1), c.indices.rank)
    cdef int64_t dimension_count = dml_max(dml_max(c.input.rank, c.indices.rank), dml_add(dml_sub(c.input.rank, 1), c.indices.rank))
    check_rank(output_rank)
    c.axis = axis_from(as_index(axis, "axis"), c.input.rank, dimension_count)
    c.index_dimensions = c.indices.rank
    dml_pad(&c.input, dimension_count)
    dml_pad(&c.indices, dimension_count)
    if out is None:
        c.output.inferred = 1
        c.output.rank = 0
        infer_gather(&c)
    else:
        output_array = load_out(&c.output, out)
        dml_pad(&c.output, dimension_count - output_rank + c.output.rank)
    bad.count = 0
    check_gather(&c, NULL, DML_ARRAY_DOOR, &bad)
    if bad.count:
        raise _errors.array_error("GATHER", to_list(&bad), {
            "InputTensor": fact(&c.input, input_array, 0),
            "IndicesTensor": fact(&c.indices, indices_array, 0),
            "OutputTensor": fact(&c.output, output_array, output_rank),
        }, {"Axis": c.axis, "IndexDimensions": c.index_dimensions}, {"Axis": axis})
    if out is None:
        output_array = allocate(&c.output, output_rank, cnp.PyArray_TYPE(input_array))
    return run_gather(&c, input_array, indices_array, output_array, out is None, options)


cdef object call_gather(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *keywords):
    """gather(input, indices, axis=0, *, mode="raise", fill_value=0, out=None, num_threads=None)"""
    cdef PyObject *slots[7]
    cdef Options options
    dml_arguments(&function_gather, args, n, keywords, slots)
    read_options(&options, (<object> slots[6] if slots[6] is not NULL else None))
    if slots[3] is not NULL:
        read_mode(&options, <object> slots[3])
    if slots[4] is not NULL:
        fill_option(&options, <object> slots[4])
    return array_gather(<object> slots[0], <object> slots[1], (<object> slots[2] if slots[2] is not NULL else 0), (<object> slots[5] if slots[5] is not NULL else None), &options)


cdef dml_function function_gather
gather = new_function(&function_gather, "gather", <void *> call_gather, ('input', 'indices', 'axis', 'mode', 'fill_value', 'out', 'num_threads'), 3, 2, """\
gather(input, indices, axis=0, *, mode="raise", fill_value=0, out=None, num_threads=None)
--

Gathers whole slices of the input along one axis, one for each index.

Every element of the last IndexDimensions dimensions of IndicesTensor picks the slice of InputTensor that lies
at that coordinate of Axis. The index dimensions take the place of Axis in the output, which therefore has the
sizes of the input in front of Axis, the sizes of the indices, and the sizes of the input behind Axis.

``output[..., i, j, k, ...] = input[..., indices[i, j], k, ...]    # IndexDimensions == 2``

Parameters
----------
input : array_like
    The tensor to read from. (InputTensor; FLOAT64, FLOAT32, FLOAT16, INT64, INT32, INT16, INT8, UINT64,
    UINT32, UINT16, UINT8; and types that DirectML lacks, see tensor.md in docs)
indices : array_like of integers
    The coordinate along Axis of each slice to read. (IndicesTensor; INT64, INT32, UINT64, UINT32; narrower
    integers are converted)
axis : int, optional
    The dimension of InputTensor that the indices count along. Negative values count from the end.
mode : {'raise', 'clip', 'fill'}, optional
    What happens to an index that is out of range. ``'raise'`` (default): IndexOutOfRangeError, and nothing is
    written; ``'clip'``: the nearest valid index; ``'fill'``: ``fill_value`` takes the element's place.
fill_value : scalar, optional
    With ``mode='fill'``; the data type must be able to represent it.
out : ndarray, optional
    Array to write to; unchanged when the call raises because of its arguments.
num_threads : int, optional
    Upper bound for this call; default :func:`get_num_threads`.

Returns
-------
ndarray
    The tensor to write to, the input with its dimension Axis replaced by the index dimensions.

Raises
------
ConstraintError
    A shape or a data type breaks a rule of the operator.
IndexOutOfRangeError
    An index lies outside the dimension that it indexes.

Notes
-----
DirectML: DML_OPERATOR_GATHER, from DML_FEATURE_LEVEL_1_0.

- Negative indices: From FL3.0, with INT32 or INT64 indices, an index in [-n, -1] means index + n, n being
  InputTensor.Sizes[Axis]. Never for UINT32 or UINT64.
- Out of range: The page promises no more than that nothing fails and no memory outside InputTensor is read;
  the elements are wrong. Chromium and ONNX Runtime report that DirectML clamps the index. dmlcore raises
  IndexOutOfRangeError; mode='clip' clamps.
- Duplicates: No restriction; the indices are only read through.
- In place: No; DirectML runs this operator only with separate buffers for input and output.

Examples
--------
>>> x = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
>>> dmlcore.gather(x, [0, 1, 1, -1])
array([[1., 2.],
       [3., 4.],
       [3., 4.],
       [5., 6.]], dtype=float32)
>>> dmlcore.gather(x, 1, axis=1)
array([2., 4., 6.], dtype=float32)
""")


def run_gather_desc(tuple uints, tuple tensors, str mode, object fill_value, bint fresh, object num_threads):
    """Runs a compiled operator on arrays that fit its descriptor."""
    cdef gather_desc c
    cdef Options options
    cdef cnp.ndarray input_array, indices_array, output_array
    input_array, indices_array, output_array = tensors
    c.axis = uints[0]
    c.index_dimensions = uints[1]
    load(&c.input, input_array)
    load(&c.indices, indices_array)
    load(&c.output, output_array)
    read_options(&options, num_threads)
    read_mode(&options, mode)
    fill_option(&options, fill_value)
    run_gather(&c, input_array, indices_array, output_array, fresh, &options)


def check_gather_desc(desc, int level):
    """Numbers of the violated checks, and the descriptor's facts with its outputs inferred."""
    cdef gather_desc c
    cdef gather_buffers buffers
    cdef dml_violations bad
    load_desc(&c.input, &buffers.input, desc.input)
    load_desc(&c.indices, &buffers.indices, desc.indices)
    c.axis = desc.axis
    c.index_dimensions = desc.index_dimensions
    if desc.output is None:
        c.output.inferred = 1
        c.output.rank = 0
        default_buffer(&buffers.output)
    else:
        load_desc(&c.output, &buffers.output, desc.output)
    infer_gather(&c)
    bad.count = 0
    check_gather(&c, &buffers, level, &bad)
    return to_list(&bad), {
        "output": (c.output.data_type, to_tuple(dml_sizes(&c.output))),
    }, {"axis": c.axis, "index_dimensions": c.index_dimensions, }

# ---- GATHER_ELEMENTS --------------------------------------------------------------------------------------------------

cdef struct gather_elements_desc:
    dml_tensor input
    dml_tensor indices
    dml_tensor output
    int64_t axis


cdef struct gather_elements_buffers:
    dml_buffer input
    dml_buffer indices
    dml_buffer output


cdef void check_gather_elements(gather_elements_desc *c, gather_elements_buffers *buffers, int level, dml_violations *bad) noexcept nogil:
    if level < 2:
        dml_fail(bad, 0)  # GATHER_ELEMENTS-FeatureLevel-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.input, &buffers.input, level, 1, bad)
    if level >= 2 and not dml_supports_type(&gather_elements_support[0][level], c.input.data_type):
        dml_fail(bad, 11)  # GATHER_ELEMENTS-InputTensor-DataType-support
    if level >= 2 and not dml_supports_rank(&gather_elements_support[0][level], c.input.rank):
        dml_fail(bad, 12)  # GATHER_ELEMENTS-InputTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.indices, &buffers.indices, level, 13, bad)
    if level >= 2 and not dml_supports_type(&gather_elements_support[1][level], c.indices.data_type):
        dml_fail(bad, 23)  # GATHER_ELEMENTS-IndicesTensor-DataType-support
    if level >= 2 and not dml_supports_rank(&gather_elements_support[1][level], c.indices.rank):
        dml_fail(bad, 24)  # GATHER_ELEMENTS-IndicesTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.output, &buffers.output, level, 25, bad)
    if level >= 2 and not dml_supports_type(&gather_elements_support[2][level], c.output.data_type):
        dml_fail(bad, 35)  # GATHER_ELEMENTS-OutputTensor-DataType-support
    if level >= 2 and not dml_supports_rank(&gather_elements_support[2][level], c.output.rank):
        dml_fail(bad, 36)  # GATHER_ELEMENTS-OutputTensor-DimensionCount-support
    if not (c.input.rank == c.indices.rank and c.indices.rank == c.output.rank):
        dml_fail(bad, 37)  # GATHER_ELEMENTS-same-DimensionCount
    if not (c.axis < c.input.rank):
        dml_fail(bad, 38)  # GATHER_ELEMENTS-Axis-range
    if level != DML_ARRAY_DOOR and not (dml_equal(dml_until(dml_sizes(&c.indices), c.axis), dml_until(dml_sizes(&c.input), c.axis)) and dml_equal(dml_from(dml_sizes(&c.indices), dml_add(c.axis, 1)), dml_from(dml_sizes(&c.input), dml_add(c.axis, 1)))):
        dml_fail(bad, 39)  # GATHER_ELEMENTS-IndicesTensor-Sizes-off-axis
    if level == DML_ARRAY_DOOR and not (dml_within(dml_until(dml_sizes(&c.indices), c.axis), dml_until(dml_sizes(&c.input), c.axis)) and dml_within(dml_from(dml_sizes(&c.indices), dml_add(c.axis, 1)), dml_from(dml_sizes(&c.input), dml_add(c.axis, 1)))):
        dml_fail(bad, 40)  # GATHER_ELEMENTS-IndicesTensor-Sizes-within
    if not c.output.inferred and not (c.output.data_type == c.input.data_type):
        dml_fail(bad, 41)  # GATHER_ELEMENTS-OutputTensor-DataType
    if not c.output.inferred and not (dml_equal(dml_sizes(&c.output), dml_sizes(&c.indices))):
        dml_fail(bad, 42)  # GATHER_ELEMENTS-OutputTensor-Sizes


cdef void infer_gather_elements(gather_elements_desc *c) noexcept nogil:
    """Types and sizes of the outputs that were not given."""
    if c.output.inferred:
        c.output.data_type = c.input.data_type
        dml_set_sizes(&c.output, dml_sizes(&c.indices))


cdef object run_gather_elements(gather_elements_desc *c, cnp.ndarray input_array, cnp.ndarray indices_array, cnp.ndarray output_array, bint fresh, Options *options):
    """Fills the plan from the specification's fields and runs it; every tensor is loaded and checked."""
    cdef dml_move move
    cdef dml_run run
    cdef cnp.ndarray target = output_array
    cdef bytes fill                     # lives as long as the run
    cdef int64_t b[5][DML_LIST_MAX]
    if not fresh and (overlap(output_array, input_array) or overlap(output_array, indices_array)):
        # The output shares memory with an input: the one case that takes a copy.
        output_array = allocate(&c.output, cnp.PyArray_NDIM(target), cnp.PyArray_TYPE(target))
        fresh = True
    move.positions = dml_sizes(&c.indices)
    move.index_strides = dml_strides(&c.indices)
    move.table_strides = dml_join(dml_join(dml_until(dml_strides(&c.input), c.axis), dml_append(dml_empty(b[0]), 0), b[1]), dml_from(dml_strides(&c.input), dml_add(c.axis, 1)), b[2])
    move.stream_strides = dml_strides(&c.output)
    move.bounds = dml_append(dml_empty(b[3]), dml_at(dml_sizes(&c.input), c.axis))
    move.steps = dml_append(dml_empty(b[4]), dml_at(dml_strides(&c.input), c.axis))
    move.slice = no_list()
    move.slice_table_strides = no_list()
    move.slice_stream_strides = no_list()
    move.coordinate_stride = 0
    move.table = c.input.data
    move.stream = c.output.data
    move.indices = c.indices.data
    move.source = NULL
    move.copy = no_list()
    prepare(&run, c.input.data_type, c.indices.data_type, options, not fresh, fresh and is_untouched(output_array))
    if options.mode == DML_FILL:
        fill = fill_element(options, input_array)
        run.fill = <const char *> fill
    run_move(DML_OP_GATHER_ELEMENTS, &move, &run, "GATHER_ELEMENTS", "IndicesTensor", "indices", indices_array, False)
    if output_array is not target:
        cnp.PyArray_CopyInto(target, output_array)
    return target


cdef object array_gather_elements(object input, object indices, object axis, object out, Options *options):
    cdef gather_elements_desc c
    cdef dml_violations bad
    cdef cnp.ndarray input_array = load_data(&c.input, input, "input")
    cdef cnp.ndarray indices_array = load_indices(&c.indices, indices, "indices")
    cdef cnp.ndarray output_array = None
    # natural ranks; the descriptor's have ones in front
    c.axis = axis_from(as_index(axis, "axis"), c.input.rank, c.input.rank)
    if out is None:
        c.output.inferred = 1
        c.output.rank = 0
        infer_gather_elements(&c)
    else:
        output_array = load_out(&c.output, out)
    bad.count = 0
    check_gather_elements(&c, NULL, DML_ARRAY_DOOR, &bad)
    if bad.count:
        raise _errors.array_error("GATHER_ELEMENTS", to_list(&bad), {
            "InputTensor": fact(&c.input, input_array, 0),
            "IndicesTensor": fact(&c.indices, indices_array, 0),
            "OutputTensor": fact(&c.output, output_array, c.output.rank),
        }, {"Axis": c.axis}, {"Axis": axis})
    if out is None:
        output_array = allocate(&c.output, c.output.rank, cnp.PyArray_TYPE(input_array))
    return run_gather_elements(&c, input_array, indices_array, output_array, out is None, options)


cdef object call_gather_elements(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *keywords):
    """gather_elements(input, indices, axis=0, *, mode="raise", fill_value=0, out=None, num_threads=None)"""
    cdef PyObject *slots[7]
    cdef Options options
    dml_arguments(&function_gather_elements, args, n, keywords, slots)
    read_options(&options, (<object> slots[6] if slots[6] is not NULL else None))
    if slots[3] is not NULL:
        read_mode(&options, <object> slots[3])
    if slots[4] is not NULL:
        fill_option(&options, <object> slots[4])
    return array_gather_elements(<object> slots[0], <object> slots[1], (<object> slots[2] if slots[2] is not NULL else 0), (<object> slots[5] if slots[5] is not NULL else None), &options)


cdef dml_function function_gather_elements
gather_elements = new_function(&function_gather_elements, "gather_elements", <void *> call_gather_elements, ('input', 'indices', 'axis', 'mode', 'fill_value', 'out', 'num_threads'), 3, 2, """\
gather_elements(input, indices, axis=0, *, mode="raise", fill_value=0, out=None, num_threads=None)
--

Gathers single elements of the input along one axis, one for each index.

Every element of IndicesTensor picks one element of InputTensor. The picked element stands at the same
coordinates as the index, except along Axis, where the value of the index takes the coordinate's place. The
output has the shape of IndicesTensor, which may be longer or shorter than the input along Axis.

::

    output[i, j, k, ...] = input[indices[i, j, k, ...], j, k, ...]   # Axis == 0
    output[i, j, k, ...] = input[i, indices[i, j, k, ...], k, ...]   # Axis == 1

Parameters
----------
input : array_like
    The tensor to read from. (InputTensor; FLOAT64, FLOAT32, FLOAT16, INT64, INT32, INT16, INT8, UINT64,
    UINT32, UINT16, UINT8; and types that DirectML lacks, see tensor.md in docs)
indices : array_like of integers
    The coordinate along Axis of each element to read. (IndicesTensor; INT64, INT32, UINT64, UINT32; narrower
    integers are converted)
axis : int, optional
    The dimension of InputTensor that the indices count along. Negative values count from the end.
mode : {'raise', 'clip', 'fill'}, optional
    What happens to an index that is out of range. ``'raise'`` (default): IndexOutOfRangeError, and nothing is
    written; ``'clip'``: the nearest valid index; ``'fill'``: ``fill_value`` takes the element's place.
fill_value : scalar, optional
    With ``mode='fill'``; the data type must be able to represent it.
out : ndarray, optional
    Array to write to; unchanged when the call raises because of its arguments.
num_threads : int, optional
    Upper bound for this call; default :func:`get_num_threads`.

Returns
-------
ndarray
    The tensor to write to, one element for each index.

Raises
------
ConstraintError
    A shape or a data type breaks a rule of the operator.
IndexOutOfRangeError
    An index lies outside the dimension that it indexes.

Notes
-----
DirectML: DML_OPERATOR_GATHER_ELEMENTS, from DML_FEATURE_LEVEL_2_1.

- Negative indices: From FL3.0, with INT32 or INT64 indices, an index in [-n, -1] means index + n, n being
  InputTensor.Sizes[Axis]. Never for UINT32 or UINT64.
- Out of range: Not documented for this operator; Chromium's DirectML back end states that the shader clamps
  the index. dmlcore raises IndexOutOfRangeError.
- Duplicates: No restriction; the indices are only read through.
- In place: No; DirectML runs this operator only with separate buffers for input and output.

Examples
--------
>>> x = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], np.float32)
>>> dmlcore.gather_elements(x, [[1, 2, 0], [2, 0, 0]])
array([[4., 8., 3.],
       [7., 2., 3.]], dtype=float32)
>>> dmlcore.gather_elements(x, [[0], [-1], [1]], axis=1)
array([[1.],
       [6.],
       [8.]], dtype=float32)
""")


def run_gather_elements_desc(tuple uints, tuple tensors, str mode, object fill_value, bint fresh, object num_threads):
    """Runs a compiled operator on arrays that fit its descriptor."""
    cdef gather_elements_desc c
    cdef Options options
    cdef cnp.ndarray input_array, indices_array, output_array
    input_array, indices_array, output_array = tensors
    c.axis = uints[0]
    load(&c.input, input_array)
    load(&c.indices, indices_array)
    load(&c.output, output_array)
    read_options(&options, num_threads)
    read_mode(&options, mode)
    fill_option(&options, fill_value)
    run_gather_elements(&c, input_array, indices_array, output_array, fresh, &options)


def check_gather_elements_desc(desc, int level):
    """Numbers of the violated checks, and the descriptor's facts with its outputs inferred."""
    cdef gather_elements_desc c
    cdef gather_elements_buffers buffers
    cdef dml_violations bad
    load_desc(&c.input, &buffers.input, desc.input)
    load_desc(&c.indices, &buffers.indices, desc.indices)
    c.axis = desc.axis
    if desc.output is None:
        c.output.inferred = 1
        c.output.rank = 0
        default_buffer(&buffers.output)
    else:
        load_desc(&c.output, &buffers.output, desc.output)
    infer_gather_elements(&c)
    bad.count = 0
    check_gather_elements(&c, &buffers, level, &bad)
    return to_list(&bad), {
        "output": (c.output.data_type, to_tuple(dml_sizes(&c.output))),
    }, {"axis": c.axis, }

# ---- GATHER_ND --------------------------------------------------------------------------------------------------------

cdef struct gather_nd_desc:
    dml_tensor input
    dml_tensor indices
    dml_tensor output
    int64_t input_dimension_count
    int64_t indices_dimension_count


cdef struct gather_nd_buffers:
    dml_buffer input
    dml_buffer indices
    dml_buffer output


cdef void check_gather_nd(gather_nd_desc *c, gather_nd_buffers *buffers, int level, dml_violations *bad) noexcept nogil:
    cdef int64_t b[2][DML_LIST_MAX]
    cdef int64_t index_tuple_size = dml_at_end(dml_sizes(&c.indices), 1)
    cdef dml_list tuple_sizes = dml_cut(dml_sizes(&c.indices), c.indices_dimension_count, 1, 1, 1)
    cdef dml_list data_sizes = dml_last(dml_sizes(&c.input), c.input_dimension_count)
    cdef dml_list slice_sizes = dml_from(data_sizes, index_tuple_size)
    cdef int64_t output_rank = dml_sub(dml_add(dml_sub(c.indices_dimension_count, 1), c.input_dimension_count), index_tuple_size)
    if level < 2:
        dml_fail(bad, 0)  # GATHER_ND-FeatureLevel-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.input, &buffers.input, level, 1, bad)
    if level >= 2 and not dml_supports_type(&gather_nd_support[0][level], c.input.data_type):
        dml_fail(bad, 11)  # GATHER_ND-InputTensor-DataType-support
    if level >= 2 and not dml_supports_rank(&gather_nd_support[0][level], c.input.rank):
        dml_fail(bad, 12)  # GATHER_ND-InputTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.indices, &buffers.indices, level, 13, bad)
    if level >= 2 and not dml_supports_type(&gather_nd_support[1][level], c.indices.data_type):
        dml_fail(bad, 23)  # GATHER_ND-IndicesTensor-DataType-support
    if level >= 2 and not dml_supports_rank(&gather_nd_support[1][level], c.indices.rank):
        dml_fail(bad, 24)  # GATHER_ND-IndicesTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.output, &buffers.output, level, 25, bad)
    if level >= 2 and not dml_supports_type(&gather_nd_support[2][level], c.output.data_type):
        dml_fail(bad, 35)  # GATHER_ND-OutputTensor-DataType-support
    if level >= 2 and not dml_supports_rank(&gather_nd_support[2][level], c.output.rank):
        dml_fail(bad, 36)  # GATHER_ND-OutputTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR and not (c.input.rank == c.indices.rank and c.indices.rank == c.output.rank):
        dml_fail(bad, 37)  # GATHER_ND-same-DimensionCount
    if not (1 <= c.input_dimension_count and c.input_dimension_count <= c.input.rank):
        dml_fail(bad, 38)  # GATHER_ND-InputDimensionCount-range
    if not (1 <= c.indices_dimension_count and c.indices_dimension_count <= c.indices.rank):
        dml_fail(bad, 39)  # GATHER_ND-IndicesDimensionCount-range
    if not (1 <= index_tuple_size and index_tuple_size <= c.input_dimension_count):
        dml_fail(bad, 40)  # GATHER_ND-IndexTupleSize-range
    if not (output_rank <= c.input.rank):
        dml_fail(bad, 41)  # GATHER_ND-OutputTensor-fits
    if not (dml_effective_rank(dml_sizes(&c.input)) <= c.input_dimension_count):
        dml_fail(bad, 42)  # GATHER_ND-InputTensor-leading-ones
    if not (dml_effective_rank(dml_sizes(&c.indices)) <= c.indices_dimension_count):
        dml_fail(bad, 43)  # GATHER_ND-IndicesTensor-leading-ones
    if not c.output.inferred and not (c.output.data_type == c.input.data_type):
        dml_fail(bad, 44)  # GATHER_ND-OutputTensor-DataType
    if not c.output.inferred and not (dml_equal(dml_sizes(&c.output), dml_right_align(dml_join(tuple_sizes, slice_sizes, b[0]), c.input.rank, b[1]))):
        dml_fail(bad, 45)  # GATHER_ND-OutputTensor-Sizes


cdef void infer_gather_nd(gather_nd_desc *c) noexcept nogil:
    """Types and sizes of the outputs that were not given."""
    cdef int64_t b[2][DML_LIST_MAX]
    cdef int64_t index_tuple_size = dml_at_end(dml_sizes(&c.indices), 1)
    cdef dml_list tuple_sizes = dml_cut(dml_sizes(&c.indices), c.indices_dimension_count, 1, 1, 1)
    cdef dml_list data_sizes = dml_last(dml_sizes(&c.input), c.input_dimension_count)
    cdef dml_list slice_sizes = dml_from(data_sizes, index_tuple_size)
    if c.output.inferred:
        c.output.data_type = c.input.data_type
        dml_set_sizes(&c.output, dml_right_align(dml_join(tuple_sizes, slice_sizes, b[0]), c.input.rank, b[1]))


cdef object run_gather_nd(gather_nd_desc *c, cnp.ndarray input_array, cnp.ndarray indices_array, cnp.ndarray output_array, bint fresh, Options *options):
    """Fills the plan from the specification's fields and runs it; every tensor is loaded and checked."""
    cdef dml_move move
    cdef dml_run run
    cdef cnp.ndarray target = output_array
    cdef bytes fill                     # lives as long as the run
    cdef int64_t index_tuple_size = dml_at_end(dml_sizes(&c.indices), 1)
    cdef dml_list tuple_sizes = dml_cut(dml_sizes(&c.indices), c.indices_dimension_count, 1, 1, 1)
    cdef dml_list data_sizes = dml_last(dml_sizes(&c.input), c.input_dimension_count)
    cdef dml_list data_strides = dml_last(dml_strides(&c.input), c.input_dimension_count)
    cdef dml_list slice_sizes = dml_from(data_sizes, index_tuple_size)
    cdef int64_t output_rank = dml_sub(dml_add(dml_sub(c.indices_dimension_count, 1), c.input_dimension_count), index_tuple_size)
    if not fresh and (overlap(output_array, input_array) or overlap(output_array, indices_array)):
        # The output shares memory with an input: the one case that takes a copy.
        output_array = allocate(&c.output, cnp.PyArray_NDIM(target), cnp.PyArray_TYPE(target))
        fresh = True
    move.positions = tuple_sizes
    move.index_strides = dml_cut(dml_strides(&c.indices), c.indices_dimension_count, 1, 1, 1)
    move.coordinate_stride = dml_at_end(dml_strides(&c.indices), 1)
    move.bounds = dml_until(data_sizes, index_tuple_size)
    move.steps = dml_until(data_strides, index_tuple_size)
    move.stream_strides = dml_until(dml_last(dml_strides(&c.output), output_rank), dml_sub(c.indices_dimension_count, 1))
    move.slice = slice_sizes
    move.slice_table_strides = dml_from(data_strides, index_tuple_size)
    move.slice_stream_strides = dml_from(dml_last(dml_strides(&c.output), output_rank), dml_sub(c.indices_dimension_count, 1))
    move.table_strides = no_list()
    move.table = c.input.data
    move.stream = c.output.data
    move.indices = c.indices.data
    move.source = NULL
    move.copy = no_list()
    prepare(&run, c.input.data_type, c.indices.data_type, options, not fresh, fresh and is_untouched(output_array))
    if options.mode == DML_FILL:
        fill = fill_element(options, input_array)
        run.fill = <const char *> fill
    run_move(DML_OP_GATHER_ND, &move, &run, "GATHER_ND", "IndicesTensor", "indices", indices_array, True)
    if output_array is not target:
        cnp.PyArray_CopyInto(target, output_array)
    return target


cdef object array_gather_nd(object input, object indices, object out, Options *options):
    cdef gather_nd_desc c
    cdef dml_violations bad
    cdef cnp.ndarray input_array = load_data(&c.input, input, "input")
    cdef cnp.ndarray indices_array = load_indices(&c.indices, indices, "indices")
    cdef cnp.ndarray output_array = None
    # natural ranks; the descriptor's have ones in front
    cdef int64_t output_rank = dml_sub(dml_add(dml_sub(c.indices.rank, 1), c.input.rank), dml_at_end(dml_sizes(&c.indices), 1))
    cdef int64_t dimension_count = dml_max(dml_max(c.input.rank, c.indices.rank), dml_sub(dml_add(dml_sub(c.indices.rank, 1), c.input.rank), dml_at_end(dml_sizes(&c.indices), 1)))
    check_rank(output_rank)
    c.input_dimension_count = c.input.rank
    c.indices_dimension_count = c.indices.rank
    dml_pad(&c.input, dimension_count)
    dml_pad(&c.indices, dimension_count)
    if out is None:
        c.output.inferred = 1
        c.output.rank = 0
        infer_gather_nd(&c)
    else:
        output_array = load_out(&c.output, out)
        dml_pad(&c.output, dimension_count - output_rank + c.output.rank)
    bad.count = 0
    check_gather_nd(&c, NULL, DML_ARRAY_DOOR, &bad)
    if bad.count:
        raise _errors.array_error("GATHER_ND", to_list(&bad), {
            "InputTensor": fact(&c.input, input_array, 0),
            "IndicesTensor": fact(&c.indices, indices_array, 0),
            "OutputTensor": fact(&c.output, output_array, output_rank),
        }, {"InputDimensionCount": c.input_dimension_count, "IndicesDimensionCount": c.indices_dimension_count}, {})
    if out is None:
        output_array = allocate(&c.output, output_rank, cnp.PyArray_TYPE(input_array))
    return run_gather_nd(&c, input_array, indices_array, output_array, out is None, options)


cdef object call_gather_nd(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *keywords):
    """gather_nd(input, indices, *, batch_dims=0, mode="raise", fill_value=0, out=None, num_threads=None)"""
    cdef PyObject *slots[7]
    cdef Options options
    dml_arguments(&function_gather_nd, args, n, keywords, slots)
    read_options(&options, (<object> slots[6] if slots[6] is not NULL else None))
    if slots[3] is not NULL:
        read_mode(&options, <object> slots[3])
    if slots[4] is not NULL:
        fill_option(&options, <object> slots[4])
    if slots[2] is not NULL and as_index(<object> slots[2], "batch_dims") != 0:
        return array_gather_nd1(<object> slots[0], <object> slots[1], <object> slots[2], (<object> slots[5] if slots[5] is not NULL else None), &options)
    return array_gather_nd(<object> slots[0], <object> slots[1], (<object> slots[5] if slots[5] is not NULL else None), &options)


cdef dml_function function_gather_nd
gather_nd = new_function(&function_gather_nd, "gather_nd", <void *> call_gather_nd, ('input', 'indices', 'batch_dims', 'mode', 'fill_value', 'out', 'num_threads'), 2, 2, """\
gather_nd(input, indices, *, batch_dims=0, mode="raise", fill_value=0, out=None, num_threads=None)
--

Gathers whole subblocks of the input, chosen by tuples of coordinates.

The last dimension of IndicesTensor holds tuples of coordinates. Each tuple picks an element or, when it has
fewer coordinates than the input has counted dimensions, a whole slice of InputTensor. The output has the
shape of the array of tuples, followed by the shape of one slice.

``output[...] = input[indices[...]]``

Parameters
----------
input : array_like
    The tensor to read from. (InputTensor; FLOAT64, FLOAT32, FLOAT16, INT64, INT32, INT16, INT8, UINT64,
    UINT32, UINT16, UINT8; and types that DirectML lacks, see tensor.md in docs)
indices : array_like of integers
    Tuples of coordinates along the last dimension; the last size is the number of coordinates in a tuple.
    (IndicesTensor; INT64, INT32, UINT64, UINT32; narrower integers are converted)
batch_dims : int, optional
    Leading dimensions that input and indices share (0 by default).
mode : {'raise', 'clip', 'fill'}, optional
    What happens to an index that is out of range. ``'raise'`` (default): IndexOutOfRangeError, and nothing is
    written; ``'clip'``: the nearest valid index; ``'fill'``: ``fill_value`` takes the element's place.
fill_value : scalar, optional
    With ``mode='fill'``; the data type must be able to represent it.
out : ndarray, optional
    Array to write to; unchanged when the call raises because of its arguments.
num_threads : int, optional
    Upper bound for this call; default :func:`get_num_threads`.

Returns
-------
ndarray
    The tensor to write to, right-aligned with ones in front when it needs fewer dimensions than the input
    has.

Raises
------
ConstraintError
    A shape or a data type breaks a rule of the operator.
IndexOutOfRangeError
    An index lies outside the dimension that it indexes.

Notes
-----
DirectML: DML_OPERATOR_GATHER_ND, from DML_FEATURE_LEVEL_2_1.

- Negative indices: From FL3.0, with INT32 or INT64 indices, a coordinate in [-n, -1] means coordinate + n, n
  being the size of the dimension it indexes. Never for UINT32 or UINT64.
- Out of range: Not documented for this operator; Chromium's DirectML back end states that DirectML handles it
  without reading outside InputTensor. dmlcore raises IndexOutOfRangeError.
- Duplicates: No restriction; the indices are only read through.

Examples
--------
>>> x = np.array([[0, 1], [2, 3]], np.float32)
>>> dmlcore.gather_nd(x, [[1], [0]])                 # one coordinate a tuple: rows
array([[2., 3.],
       [0., 1.]], dtype=float32)
>>> dmlcore.gather_nd(x, [[1, 1], [0, -1]])          # two coordinates a tuple: elements
array([3., 1.], dtype=float32)
""")


def run_gather_nd_desc(tuple uints, tuple tensors, str mode, object fill_value, bint fresh, object num_threads):
    """Runs a compiled operator on arrays that fit its descriptor."""
    cdef gather_nd_desc c
    cdef Options options
    cdef cnp.ndarray input_array, indices_array, output_array
    input_array, indices_array, output_array = tensors
    c.input_dimension_count = uints[0]
    c.indices_dimension_count = uints[1]
    load(&c.input, input_array)
    load(&c.indices, indices_array)
    load(&c.output, output_array)
    read_options(&options, num_threads)
    read_mode(&options, mode)
    fill_option(&options, fill_value)
    run_gather_nd(&c, input_array, indices_array, output_array, fresh, &options)


def check_gather_nd_desc(desc, int level):
    """Numbers of the violated checks, and the descriptor's facts with its outputs inferred."""
    cdef gather_nd_desc c
    cdef gather_nd_buffers buffers
    cdef dml_violations bad
    load_desc(&c.input, &buffers.input, desc.input)
    load_desc(&c.indices, &buffers.indices, desc.indices)
    c.input_dimension_count = c.input.rank if desc.input_dimension_count is None else desc.input_dimension_count
    c.indices_dimension_count = c.indices.rank if desc.indices_dimension_count is None else desc.indices_dimension_count
    if desc.output is None:
        c.output.inferred = 1
        c.output.rank = 0
        default_buffer(&buffers.output)
    else:
        load_desc(&c.output, &buffers.output, desc.output)
    infer_gather_nd(&c)
    bad.count = 0
    check_gather_nd(&c, &buffers, level, &bad)
    return to_list(&bad), {
        "output": (c.output.data_type, to_tuple(dml_sizes(&c.output))),
    }, {"input_dimension_count": c.input_dimension_count, "indices_dimension_count": c.indices_dimension_count, }

# ---- GATHER_ND1 -------------------------------------------------------------------------------------------------------

cdef struct gather_nd1_desc:
    dml_tensor input
    dml_tensor indices
    dml_tensor output
    int64_t input_dimension_count
    int64_t indices_dimension_count
    int64_t batch_dimension_count


cdef struct gather_nd1_buffers:
    dml_buffer input
    dml_buffer indices
    dml_buffer output


cdef void check_gather_nd1(gather_nd1_desc *c, gather_nd1_buffers *buffers, int level, dml_violations *bad) noexcept nogil:
    cdef int64_t b[2][DML_LIST_MAX]
    cdef int64_t index_tuple_size = dml_at_end(dml_sizes(&c.indices), 1)
    cdef dml_list tuple_sizes = dml_cut(dml_sizes(&c.indices), c.indices_dimension_count, 1, 1, 1)
    cdef dml_list batch_sizes = dml_until(dml_last(dml_sizes(&c.indices), c.indices_dimension_count), c.batch_dimension_count)
    cdef dml_list data_sizes = dml_last(dml_sizes(&c.input), c.input_dimension_count)
    cdef dml_list slice_sizes = dml_from(data_sizes, dml_add(c.batch_dimension_count, index_tuple_size))
    cdef int64_t output_rank = dml_sub(dml_sub(dml_add(dml_sub(c.indices_dimension_count, 1), c.input_dimension_count), c.batch_dimension_count), index_tuple_size)
    if level < 3:
        dml_fail(bad, 0)  # GATHER_ND1-FeatureLevel-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.input, &buffers.input, level, 1, bad)
    if level >= 3 and not dml_supports_type(&gather_nd1_support[0][level], c.input.data_type):
        dml_fail(bad, 11)  # GATHER_ND1-InputTensor-DataType-support
    if level >= 3 and not dml_supports_rank(&gather_nd1_support[0][level], c.input.rank):
        dml_fail(bad, 12)  # GATHER_ND1-InputTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.indices, &buffers.indices, level, 13, bad)
    if level >= 3 and not dml_supports_type(&gather_nd1_support[1][level], c.indices.data_type):
        dml_fail(bad, 23)  # GATHER_ND1-IndicesTensor-DataType-support
    if level >= 3 and not dml_supports_rank(&gather_nd1_support[1][level], c.indices.rank):
        dml_fail(bad, 24)  # GATHER_ND1-IndicesTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.output, &buffers.output, level, 25, bad)
    if level >= 3 and not dml_supports_type(&gather_nd1_support[2][level], c.output.data_type):
        dml_fail(bad, 35)  # GATHER_ND1-OutputTensor-DataType-support
    if level >= 3 and not dml_supports_rank(&gather_nd1_support[2][level], c.output.rank):
        dml_fail(bad, 36)  # GATHER_ND1-OutputTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR and not (c.input.rank == c.indices.rank and c.indices.rank == c.output.rank):
        dml_fail(bad, 37)  # GATHER_ND1-same-DimensionCount
    if not (1 <= c.input_dimension_count and c.input_dimension_count <= c.input.rank):
        dml_fail(bad, 38)  # GATHER_ND1-InputDimensionCount-range
    if not (1 <= c.indices_dimension_count and c.indices_dimension_count <= c.indices.rank):
        dml_fail(bad, 39)  # GATHER_ND1-IndicesDimensionCount-range
    if not ((c.batch_dimension_count >= c.input_dimension_count) or (1 <= index_tuple_size and index_tuple_size <= dml_sub(c.input_dimension_count, c.batch_dimension_count))):
        dml_fail(bad, 40)  # GATHER_ND1-IndexTupleSize-range
    if not (output_rank <= c.input.rank):
        dml_fail(bad, 41)  # GATHER_ND1-OutputTensor-fits
    if not (dml_effective_rank(dml_sizes(&c.input)) <= c.input_dimension_count):
        dml_fail(bad, 42)  # GATHER_ND1-InputTensor-leading-ones
    if not (dml_effective_rank(dml_sizes(&c.indices)) <= c.indices_dimension_count):
        dml_fail(bad, 43)  # GATHER_ND1-IndicesTensor-leading-ones
    if not (c.batch_dimension_count < c.input_dimension_count and c.batch_dimension_count < c.indices_dimension_count):
        dml_fail(bad, 44)  # GATHER_ND1-BatchDimensionCount-range
    if not (dml_equal(batch_sizes, dml_until(data_sizes, c.batch_dimension_count))):
        dml_fail(bad, 45)  # GATHER_ND1-BatchSizes-equal
    if not c.output.inferred and not (c.output.data_type == c.input.data_type):
        dml_fail(bad, 46)  # GATHER_ND1-OutputTensor-DataType
    if not c.output.inferred and not (dml_equal(dml_sizes(&c.output), dml_right_align(dml_join(tuple_sizes, slice_sizes, b[0]), c.input.rank, b[1]))):
        dml_fail(bad, 47)  # GATHER_ND1-OutputTensor-Sizes


cdef void infer_gather_nd1(gather_nd1_desc *c) noexcept nogil:
    """Types and sizes of the outputs that were not given."""
    cdef int64_t b[2][DML_LIST_MAX]
    cdef int64_t index_tuple_size = dml_at_end(dml_sizes(&c.indices), 1)
    cdef dml_list tuple_sizes = dml_cut(dml_sizes(&c.indices), c.indices_dimension_count, 1, 1, 1)
    cdef dml_list data_sizes = dml_last(dml_sizes(&c.input), c.input_dimension_count)
    cdef dml_list slice_sizes = dml_from(data_sizes, dml_add(c.batch_dimension_count, index_tuple_size))
    if c.output.inferred:
        c.output.data_type = c.input.data_type
        dml_set_sizes(&c.output, dml_right_align(dml_join(tuple_sizes, slice_sizes, b[0]), c.input.rank, b[1]))


cdef object run_gather_nd1(gather_nd1_desc *c, cnp.ndarray input_array, cnp.ndarray indices_array, cnp.ndarray output_array, bint fresh, Options *options):
    """Fills the plan from the specification's fields and runs it; every tensor is loaded and checked."""
    cdef dml_move move
    cdef dml_run run
    cdef cnp.ndarray target = output_array
    cdef bytes fill                     # lives as long as the run
    cdef int64_t index_tuple_size = dml_at_end(dml_sizes(&c.indices), 1)
    cdef dml_list tuple_sizes = dml_cut(dml_sizes(&c.indices), c.indices_dimension_count, 1, 1, 1)
    cdef dml_list data_sizes = dml_last(dml_sizes(&c.input), c.input_dimension_count)
    cdef dml_list data_strides = dml_last(dml_strides(&c.input), c.input_dimension_count)
    cdef dml_list slice_sizes = dml_from(data_sizes, dml_add(c.batch_dimension_count, index_tuple_size))
    cdef int64_t output_rank = dml_sub(dml_sub(dml_add(dml_sub(c.indices_dimension_count, 1), c.input_dimension_count), c.batch_dimension_count), index_tuple_size)
    cdef int64_t b[2][DML_LIST_MAX]
    if not fresh and (overlap(output_array, input_array) or overlap(output_array, indices_array)):
        # The output shares memory with an input: the one case that takes a copy.
        output_array = allocate(&c.output, cnp.PyArray_NDIM(target), cnp.PyArray_TYPE(target))
        fresh = True
    move.positions = tuple_sizes
    move.index_strides = dml_cut(dml_strides(&c.indices), c.indices_dimension_count, 1, 1, 1)
    move.coordinate_stride = dml_at_end(dml_strides(&c.indices), 1)
    move.table_strides = dml_join(dml_until(data_strides, c.batch_dimension_count), dml_repeat(0, dml_sub(dml_sub(c.indices_dimension_count, 1), c.batch_dimension_count), b[0]), b[1])
    move.bounds = dml_until(dml_from(data_sizes, c.batch_dimension_count), index_tuple_size)
    move.steps = dml_until(dml_from(data_strides, c.batch_dimension_count), index_tuple_size)
    move.stream_strides = dml_until(dml_last(dml_strides(&c.output), output_rank), dml_sub(c.indices_dimension_count, 1))
    move.slice = slice_sizes
    move.slice_table_strides = dml_from(data_strides, dml_add(c.batch_dimension_count, index_tuple_size))
    move.slice_stream_strides = dml_from(dml_last(dml_strides(&c.output), output_rank), dml_sub(c.indices_dimension_count, 1))
    move.table = c.input.data
    move.stream = c.output.data
    move.indices = c.indices.data
    move.source = NULL
    move.copy = no_list()
    prepare(&run, c.input.data_type, c.indices.data_type, options, not fresh, fresh and is_untouched(output_array))
    if options.mode == DML_FILL:
        fill = fill_element(options, input_array)
        run.fill = <const char *> fill
    run_move(DML_OP_GATHER_ND1, &move, &run, "GATHER_ND1", "IndicesTensor", "indices", indices_array, True)
    if output_array is not target:
        cnp.PyArray_CopyInto(target, output_array)
    return target


cdef object array_gather_nd1(object input, object indices, object batch_dimension_count, object out, Options *options):
    cdef gather_nd1_desc c
    cdef dml_violations bad
    cdef cnp.ndarray input_array = load_data(&c.input, input, "input")
    cdef cnp.ndarray indices_array = load_indices(&c.indices, indices, "indices")
    cdef cnp.ndarray output_array = None
    c.batch_dimension_count = count_from(as_index(batch_dimension_count, "batch_dimension_count"))
    # natural ranks; the descriptor's have ones in front
    cdef int64_t output_rank = dml_sub(dml_sub(dml_add(dml_sub(c.indices.rank, 1), c.input.rank), dml_at_end(dml_sizes(&c.indices), 1)), c.batch_dimension_count)
    cdef int64_t dimension_count = dml_max(dml_max(c.input.rank, c.indices.rank), dml_sub(dml_sub(dml_add(dml_sub(c.indices.rank, 1), c.input.rank), dml_at_end(dml_sizes(&c.indices), 1)), c.batch_dimension_count))
    check_rank(output_rank)
    c.input_dimension_count = c.input.rank
    c.indices_dimension_count = c.indices.rank
    dml_pad(&c.input, dimension_count)
    dml_pad(&c.indices, dimension_count)
    if out is None:
        c.output.inferred = 1
        c.output.rank = 0
        infer_gather_nd1(&c)
    else:
        output_array = load_out(&c.output, out)
        dml_pad(&c.output, dimension_count - output_rank + c.output.rank)
    bad.count = 0
    check_gather_nd1(&c, NULL, DML_ARRAY_DOOR, &bad)
    if bad.count:
        raise _errors.array_error("GATHER_ND1", to_list(&bad), {
            "InputTensor": fact(&c.input, input_array, 0),
            "IndicesTensor": fact(&c.indices, indices_array, 0),
            "OutputTensor": fact(&c.output, output_array, output_rank),
        }, {"InputDimensionCount": c.input_dimension_count, "IndicesDimensionCount": c.indices_dimension_count, "BatchDimensionCount": c.batch_dimension_count}, {"BatchDimensionCount": batch_dimension_count})
    if out is None:
        output_array = allocate(&c.output, output_rank, cnp.PyArray_TYPE(input_array))
    return run_gather_nd1(&c, input_array, indices_array, output_array, out is None, options)


def run_gather_nd1_desc(tuple uints, tuple tensors, str mode, object fill_value, bint fresh, object num_threads):
    """Runs a compiled operator on arrays that fit its descriptor."""
    cdef gather_nd1_desc c
    cdef Options options
    cdef cnp.ndarray input_array, indices_array, output_array
    input_array, indices_array, output_array = tensors
    c.input_dimension_count = uints[0]
    c.indices_dimension_count = uints[1]
    c.batch_dimension_count = uints[2]
    load(&c.input, input_array)
    load(&c.indices, indices_array)
    load(&c.output, output_array)
    read_options(&options, num_threads)
    read_mode(&options, mode)
    fill_option(&options, fill_value)
    run_gather_nd1(&c, input_array, indices_array, output_array, fresh, &options)


def check_gather_nd1_desc(desc, int level):
    """Numbers of the violated checks, and the descriptor's facts with its outputs inferred."""
    cdef gather_nd1_desc c
    cdef gather_nd1_buffers buffers
    cdef dml_violations bad
    load_desc(&c.input, &buffers.input, desc.input)
    load_desc(&c.indices, &buffers.indices, desc.indices)
    c.input_dimension_count = c.input.rank if desc.input_dimension_count is None else desc.input_dimension_count
    c.indices_dimension_count = c.indices.rank if desc.indices_dimension_count is None else desc.indices_dimension_count
    c.batch_dimension_count = desc.batch_dimension_count
    if desc.output is None:
        c.output.inferred = 1
        c.output.rank = 0
        default_buffer(&buffers.output)
    else:
        load_desc(&c.output, &buffers.output, desc.output)
    infer_gather_nd1(&c)
    bad.count = 0
    check_gather_nd1(&c, &buffers, level, &bad)
    return to_list(&bad), {
        "output": (c.output.data_type, to_tuple(dml_sizes(&c.output))),
    }, {"input_dimension_count": c.input_dimension_count, "indices_dimension_count": c.indices_dimension_count, "batch_dimension_count": c.batch_dimension_count, }

# ---- NONZERO_COORDINATES ----------------------------------------------------------------------------------------------

cdef struct nonzero_coordinates_desc:
    dml_tensor input
    dml_tensor output_count
    dml_tensor output_coordinates


cdef struct nonzero_coordinates_buffers:
    dml_buffer input
    dml_buffer output_count
    dml_buffer output_coordinates


cdef void check_nonzero_coordinates(nonzero_coordinates_desc *c, nonzero_coordinates_buffers *buffers, int level, dml_violations *bad) noexcept nogil:
    cdef int64_t m = dml_at_end(dml_sizes(&c.output_coordinates), 2)
    cdef int64_t n = dml_at_end(dml_sizes(&c.output_coordinates), 1)
    if level < 3:
        dml_fail(bad, 0)  # NONZERO_COORDINATES-FeatureLevel-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.input, &buffers.input, level, 1, bad)
    if level >= 3 and not dml_supports_type(&nonzero_coordinates_support[0][level], c.input.data_type):
        dml_fail(bad, 11)  # NONZERO_COORDINATES-InputTensor-DataType-support
    if level >= 3 and not dml_supports_rank(&nonzero_coordinates_support[0][level], c.input.rank):
        dml_fail(bad, 12)  # NONZERO_COORDINATES-InputTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.output_count, &buffers.output_count, level, 13, bad)
    if level >= 3 and not dml_supports_type(&nonzero_coordinates_support[1][level], c.output_count.data_type):
        dml_fail(bad, 23)  # NONZERO_COORDINATES-OutputCountTensor-DataType-support
    if level >= 3 and not dml_supports_rank(&nonzero_coordinates_support[1][level], c.output_count.rank):
        dml_fail(bad, 24)  # NONZERO_COORDINATES-OutputCountTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.output_coordinates, &buffers.output_coordinates, level, 25, bad)
    if level >= 3 and not dml_supports_type(&nonzero_coordinates_support[2][level], c.output_coordinates.data_type):
        dml_fail(bad, 35)  # NONZERO_COORDINATES-OutputCoordinatesTensor-DataType-support
    if level >= 3 and not dml_supports_rank(&nonzero_coordinates_support[2][level], c.output_coordinates.rank):
        dml_fail(bad, 36)  # NONZERO_COORDINATES-OutputCoordinatesTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR and level < 5 and not (c.input.rank == c.output_count.rank and c.output_count.rank == c.output_coordinates.rank):
        dml_fail(bad, 37)  # NONZERO_COORDINATES-same-DimensionCount
    if not (dml_effective_rank(dml_sizes(&c.output_count)) == 0):
        dml_fail(bad, 38)  # NONZERO_COORDINATES-OutputCountTensor-ones
    if not (m == dml_product(dml_sizes(&c.input))):
        dml_fail(bad, 39)  # NONZERO_COORDINATES-OutputCoordinatesTensor-rows
    if not (dml_effective_rank(dml_sizes(&c.input)) <= n and n <= c.input.rank):
        dml_fail(bad, 40)  # NONZERO_COORDINATES-OutputCoordinatesTensor-columns
    if not (dml_effective_rank(dml_all_but(dml_sizes(&c.output_coordinates), 2)) == 0):
        dml_fail(bad, 41)  # NONZERO_COORDINATES-OutputCoordinatesTensor-leading-ones


cdef void infer_nonzero_coordinates(nonzero_coordinates_desc *c) noexcept nogil:
    """Types and sizes of the outputs that were not given."""
    cdef int64_t b[4][DML_LIST_MAX]
    if c.output_count.inferred:
        c.output_count.data_type = 3
        dml_set_sizes(&c.output_count, dml_right_align(dml_append(dml_empty(b[0]), 1), c.input.rank, b[1]))
    if c.output_coordinates.inferred:
        c.output_coordinates.data_type = 3
        dml_set_sizes(&c.output_coordinates, dml_right_align(dml_append(dml_append(dml_empty(b[2]), dml_product(dml_sizes(&c.input))), c.input.rank), dml_max(2, c.input.rank), b[3]))


cdef void plan_nonzero_coordinates(nonzero_coordinates_desc *c, dml_nonzero *plan, dml_run *run, Options *options) noexcept:
    cdef int64_t n = dml_at_end(dml_sizes(&c.output_coordinates), 1)
    plan.sizes = dml_sizes(&c.input)
    plan.strides = dml_strides(&c.input)
    plan.columns = n
    plan.input = c.input.data
    plan.mask[0] = dml_data_types[c.input.data_type].zero_mask[0]
    plan.mask[1] = dml_data_types[c.input.data_type].zero_mask[1]
    plan.scratch = NULL
    prepare(run, c.input.data_type, 0, options, False, False)


cdef object array_nonzero_coordinates(object input, object dtype, object out, Options *options):
    cdef nonzero_coordinates_desc c
    cdef dml_violations bad
    cdef dml_nonzero plan
    cdef dml_run run
    cdef cnp.ndarray input_array = load_data(&c.input, input, "input")
    cdef int number = coordinate_type(dtype, out)
    cdef int64_t rank = c.input.rank
    cdef cnp.npy_intp shape[2]
    cdef cnp.ndarray coordinates
    c.output_count.inferred = 1
    c.output_count.rank = 0
    c.output_coordinates.inferred = 1
    c.output_coordinates.rank = 0
    infer_nonzero_coordinates(&c)
    bad.count = 0
    check_nonzero_coordinates(&c, NULL, DML_ARRAY_DOOR, &bad)
    if bad.count:
        raise _errors.array_error("NONZERO_COORDINATES", to_list(&bad), {
            "InputTensor": fact(&c.input, input_array, 0),
            "OutputCountTensor": fact(&c.output_count, None, c.output_count.rank),
            "OutputCoordinatesTensor": fact(&c.output_coordinates, None, c.output_coordinates.rank),
        }, {}, {})
    plan_nonzero_coordinates(&c, &plan, &run, options)
    check_coordinate_range(number, plan.sizes)
    try:
        run_nonzero(&plan, &run, dml_nonzero_count)
        if out is None:
            shape[0] = plan.count
            shape[1] = rank
            coordinates = empty(2, shape, number, plan.count * rank * (4 if number == cnp.NPY_UINT32 else 8))
        else:
            coordinates = load_rows(out, number, plan.count, rank)
        plan.coordinates = cnp.PyArray_BYTES(coordinates)
        plan.coordinate_bytes = cnp.PyArray_ITEMSIZE(coordinates)
        plan.row_stride = cnp.PyArray_STRIDE(coordinates, 0)
        plan.column_stride = cnp.PyArray_STRIDE(coordinates, 1)
        plan.rows_max = plan.count
        run_nonzero(&plan, &run, dml_nonzero_write)
    finally:
        dml_nonzero_free(&plan)
    return coordinates if out is None else out[:plan.count]


cdef object call_nonzero_coordinates(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *keywords):
    """nonzero_coordinates(input, *, dtype=None, out=None, num_threads=None)"""
    cdef PyObject *slots[4]
    cdef Options options
    dml_arguments(&function_nonzero_coordinates, args, n, keywords, slots)
    read_options(&options, (<object> slots[3] if slots[3] is not NULL else None))
    return array_nonzero_coordinates(<object> slots[0], (<object> slots[1] if slots[1] is not NULL else None), (<object> slots[2] if slots[2] is not NULL else None), &options)


cdef dml_function function_nonzero_coordinates
nonzero_coordinates = new_function(&function_nonzero_coordinates, "nonzero_coordinates", <void *> call_nonzero_coordinates, ('input', 'dtype', 'out', 'num_threads'), 1, 1, """\
nonzero_coordinates(input, *, dtype=None, out=None, num_threads=None)
--

Finds the coordinates of all elements that are not zero, and how many there are.

OutputCountTensor receives the number of elements of InputTensor that are not zero. OutputCoordinatesTensor
has a row for every element of the input, the worst case; its first rows receive the coordinates of the
elements found, in ascending row-major order, and the rows behind them stay undefined. With fewer columns than
the input has dimensions a row holds the last coordinates; the dimensions that are left out have size 1.

::

    count = 0
    for each coordinate in the input, in row-major order:
        if input[coordinate] != 0:
            coordinates[count] = the last N entries of coordinate
            count += 1

Parameters
----------
input : array_like
    The tensor to search. (InputTensor; FLOAT32, FLOAT16, INT32, INT16, INT8, UINT32, UINT16, UINT8, FLOAT64,
    INT64, UINT64; and types that DirectML lacks, see tensor.md in docs)
dtype : dtype, optional
    Data type of the coordinates: uint32 (default) or int64.
out : ndarray, optional
    Array to write to, with at least as many rows as there are coordinates; the rows that are used are
    returned.
num_threads : int, optional
    Upper bound for this call; default :func:`get_num_threads`.

Returns
-------
ndarray
    The coordinates, sizes {1, ..., 1, M, N} with a row for each of the M elements of the input and a column
    for each of its last N dimensions.

Raises
------
ConstraintError
    A shape or a data type breaks a rule of the operator.

Notes
-----
DirectML: DML_OPERATOR_NONZERO_COORDINATES, from DML_FEATURE_LEVEL_3_0.

- Zero: Both 0.0 and -0.0 are zero. NaN, infinity and denormal numbers are not documented; in dmlcore none of
  them is zero.
- Order: Ascending row-major order of the logical elements, whatever the strides.
- Undefined rows: Rows behind the count are undefined and may be overwritten. dmlcore leaves them as they were
  in the caller's array, and zero in an array of its own.
- Outputs: The two outputs must not share memory, padding included.
- In place: No; DirectML runs this operator only with separate buffers for input and outputs.

Examples
--------
>>> dmlcore.nonzero_coordinates(np.array([[0, 0, 7], [1, 0, 0]]))
array([[0, 2],
       [1, 0]], dtype=uint32)
""")

def run_nonzero_coordinates_desc(tuple uints, tuple tensors, str mode, object fill_value, bint fresh, object num_threads):
    """Runs a compiled operator on arrays that fit its descriptor."""
    cdef nonzero_coordinates_desc c
    cdef Options options
    cdef dml_nonzero plan
    cdef dml_run run
    cdef cnp.ndarray input_array, output_count_array, output_coordinates_array
    input_array, output_count_array, output_coordinates_array = tensors
    load(&c.input, input_array)
    load(&c.output_count, output_count_array)
    load(&c.output_coordinates, output_coordinates_array)
    read_options(&options, num_threads)
    plan_nonzero_coordinates(&c, &plan, &run, &options)
    plan.rows_max = c.output_coordinates.sizes[c.output_coordinates.rank - 2]
    plan.row_stride = c.output_coordinates.strides[c.output_coordinates.rank - 2]
    plan.column_stride = c.output_coordinates.strides[c.output_coordinates.rank - 1]
    plan.coordinates = c.output_coordinates.data
    plan.coordinate_bytes = cnp.PyArray_ITEMSIZE(output_coordinates_array)
    try:
        run_nonzero(&plan, &run, dml_nonzero_count)
        run_nonzero(&plan, &run, dml_nonzero_write)
    finally:
        dml_nonzero_free(&plan)
    output_count_array[...] = plan.count


def check_nonzero_coordinates_desc(desc, int level):
    """Numbers of the violated checks, and the descriptor's facts with its outputs inferred."""
    cdef nonzero_coordinates_desc c
    cdef nonzero_coordinates_buffers buffers
    cdef dml_violations bad
    load_desc(&c.input, &buffers.input, desc.input)
    if desc.output_count is None:
        c.output_count.inferred = 1
        c.output_count.rank = 0
        default_buffer(&buffers.output_count)
    else:
        load_desc(&c.output_count, &buffers.output_count, desc.output_count)
    if desc.output_coordinates is None:
        c.output_coordinates.inferred = 1
        c.output_coordinates.rank = 0
        default_buffer(&buffers.output_coordinates)
    else:
        load_desc(&c.output_coordinates, &buffers.output_coordinates, desc.output_coordinates)
    infer_nonzero_coordinates(&c)
    bad.count = 0
    check_nonzero_coordinates(&c, &buffers, level, &bad)
    return to_list(&bad), {
        "output_count": (c.output_count.data_type, to_tuple(dml_sizes(&c.output_count))),
        "output_coordinates": (c.output_coordinates.data_type, to_tuple(dml_sizes(&c.output_coordinates))),
    }, {}

# ---- SCATTER_ELEMENTS -------------------------------------------------------------------------------------------------

cdef struct scatter_elements_desc:
    dml_tensor input
    dml_tensor indices
    dml_tensor updates
    dml_tensor output
    int64_t axis


cdef struct scatter_elements_buffers:
    dml_buffer input
    dml_buffer indices
    dml_buffer updates
    dml_buffer output


cdef void check_scatter_elements(scatter_elements_desc *c, scatter_elements_buffers *buffers, int level, dml_violations *bad) noexcept nogil:
    if level < 1:
        dml_fail(bad, 0)  # SCATTER_ELEMENTS-FeatureLevel-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.input, &buffers.input, level, 1, bad)
    if level >= 1 and not dml_supports_type(&scatter_elements_support[0][level], c.input.data_type):
        dml_fail(bad, 11)  # SCATTER_ELEMENTS-InputTensor-DataType-support
    if level >= 1 and not dml_supports_rank(&scatter_elements_support[0][level], c.input.rank):
        dml_fail(bad, 12)  # SCATTER_ELEMENTS-InputTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.indices, &buffers.indices, level, 13, bad)
    if level >= 1 and not dml_supports_type(&scatter_elements_support[1][level], c.indices.data_type):
        dml_fail(bad, 23)  # SCATTER_ELEMENTS-IndicesTensor-DataType-support
    if level >= 1 and not dml_supports_rank(&scatter_elements_support[1][level], c.indices.rank):
        dml_fail(bad, 24)  # SCATTER_ELEMENTS-IndicesTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.updates, &buffers.updates, level, 25, bad)
    if level >= 1 and not dml_supports_type(&scatter_elements_support[2][level], c.updates.data_type):
        dml_fail(bad, 35)  # SCATTER_ELEMENTS-UpdatesTensor-DataType-support
    if level >= 1 and not dml_supports_rank(&scatter_elements_support[2][level], c.updates.rank):
        dml_fail(bad, 36)  # SCATTER_ELEMENTS-UpdatesTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.output, &buffers.output, level, 37, bad)
    if level >= 1 and not dml_supports_type(&scatter_elements_support[3][level], c.output.data_type):
        dml_fail(bad, 47)  # SCATTER_ELEMENTS-OutputTensor-DataType-support
    if level >= 1 and not dml_supports_rank(&scatter_elements_support[3][level], c.output.rank):
        dml_fail(bad, 48)  # SCATTER_ELEMENTS-OutputTensor-DimensionCount-support
    if not (c.input.rank == c.indices.rank and c.indices.rank == c.updates.rank and c.updates.rank == c.output.rank):
        dml_fail(bad, 49)  # SCATTER_ELEMENTS-same-DimensionCount
    if not (c.axis < c.input.rank):
        dml_fail(bad, 50)  # SCATTER_ELEMENTS-Axis-range
    if level != DML_ARRAY_DOOR and not (dml_equal(dml_until(dml_sizes(&c.indices), c.axis), dml_until(dml_sizes(&c.input), c.axis)) and dml_equal(dml_from(dml_sizes(&c.indices), dml_add(c.axis, 1)), dml_from(dml_sizes(&c.input), dml_add(c.axis, 1)))):
        dml_fail(bad, 51)  # SCATTER_ELEMENTS-IndicesTensor-Sizes-off-axis
    if level == DML_ARRAY_DOOR and not (dml_within(dml_until(dml_sizes(&c.indices), c.axis), dml_until(dml_sizes(&c.input), c.axis)) and dml_within(dml_from(dml_sizes(&c.indices), dml_add(c.axis, 1)), dml_from(dml_sizes(&c.input), dml_add(c.axis, 1)))):
        dml_fail(bad, 52)  # SCATTER_ELEMENTS-IndicesTensor-Sizes-within
    if not (c.updates.data_type == c.input.data_type):
        dml_fail(bad, 53)  # SCATTER_ELEMENTS-UpdatesTensor-DataType
    if not (dml_equal(dml_sizes(&c.updates), dml_sizes(&c.indices))):
        dml_fail(bad, 54)  # SCATTER_ELEMENTS-UpdatesTensor-Sizes
    if not c.output.inferred and not (c.output.data_type == c.input.data_type):
        dml_fail(bad, 55)  # SCATTER_ELEMENTS-OutputTensor-DataType
    if not c.output.inferred and not (dml_equal(dml_sizes(&c.output), dml_sizes(&c.input))):
        dml_fail(bad, 56)  # SCATTER_ELEMENTS-OutputTensor-Sizes


cdef void infer_scatter_elements(scatter_elements_desc *c) noexcept nogil:
    """Types and sizes of the outputs that were not given."""
    if c.output.inferred:
        c.output.data_type = c.input.data_type
        dml_set_sizes(&c.output, dml_sizes(&c.input))


cdef object run_scatter_elements(scatter_elements_desc *c, cnp.ndarray input_array, cnp.ndarray indices_array, cnp.ndarray updates_array, cnp.ndarray output_array, bint fresh, Options *options):
    """Fills the plan from the specification's fields and runs it; every tensor is loaded and checked."""
    cdef dml_move move
    cdef dml_run run
    cdef cnp.ndarray target = output_array
    cdef bint in_place = not fresh and same_place(&c.input, &c.output)
    cdef int64_t b[5][DML_LIST_MAX]
    if not fresh and ((not in_place and overlap(output_array, input_array)) or overlap(output_array, indices_array) or overlap(output_array, updates_array)):
        # The output shares memory with an input: the one case that takes a copy.
        output_array = allocate(&c.output, cnp.PyArray_NDIM(target), cnp.PyArray_TYPE(target))
        fresh = True
        in_place = False
    move.positions = dml_sizes(&c.indices)
    move.index_strides = dml_strides(&c.indices)
    move.table_strides = dml_join(dml_join(dml_until(dml_strides(&c.output), c.axis), dml_append(dml_empty(b[0]), 0), b[1]), dml_from(dml_strides(&c.output), dml_add(c.axis, 1)), b[2])
    move.stream_strides = dml_strides(&c.updates)
    move.bounds = dml_append(dml_empty(b[3]), dml_at(dml_sizes(&c.output), c.axis))
    move.steps = dml_append(dml_empty(b[4]), dml_at(dml_strides(&c.output), c.axis))
    move.slice = no_list()
    move.slice_table_strides = no_list()
    move.slice_stream_strides = no_list()
    move.coordinate_stride = 0
    move.table = c.output.data
    move.stream = c.updates.data
    move.indices = c.indices.data
    move.source = NULL if in_place else c.input.data
    move.copy = dml_sizes(&c.output)
    move.copy_source_strides = dml_strides(&c.input)
    move.copy_table_strides = dml_strides(&c.output)
    prepare(&run, c.input.data_type, c.indices.data_type, options, not fresh, fresh and is_untouched(output_array))
    if options.reduction != DML_NONE:
        check_reduction(options, run.data_type, input_array)
    if options.refuse_duplicates:
        check_duplicates(&move, run.index, "SCATTER_ELEMENTS", "IndicesTensor", "indices", indices_array, False)
    run_move(DML_OP_SCATTER_ELEMENTS, &move, &run, "SCATTER_ELEMENTS", "IndicesTensor", "indices", indices_array, False)
    if output_array is not target:
        cnp.PyArray_CopyInto(target, output_array)
    return target


cdef object array_scatter_elements(object input, object indices, object updates, object axis, object out, Options *options):
    cdef scatter_elements_desc c
    cdef dml_violations bad
    cdef cnp.ndarray input_array = load_data(&c.input, input, "input")
    cdef cnp.ndarray indices_array = load_indices(&c.indices, indices, "indices")
    cdef cnp.ndarray updates_array = load_data(&c.updates, updates, "updates")
    cdef cnp.ndarray output_array = None
    # natural ranks; the descriptor's have ones in front
    c.axis = axis_from(as_index(axis, "axis"), c.input.rank, c.input.rank)
    if out is None:
        c.output.inferred = 1
        c.output.rank = 0
        infer_scatter_elements(&c)
    else:
        output_array = load_out(&c.output, out)
    bad.count = 0
    check_scatter_elements(&c, NULL, DML_ARRAY_DOOR, &bad)
    if bad.count:
        raise _errors.array_error("SCATTER_ELEMENTS", to_list(&bad), {
            "InputTensor": fact(&c.input, input_array, 0),
            "IndicesTensor": fact(&c.indices, indices_array, 0),
            "UpdatesTensor": fact(&c.updates, updates_array, 0),
            "OutputTensor": fact(&c.output, output_array, c.output.rank),
        }, {"Axis": c.axis}, {"Axis": axis})
    if out is None:
        output_array = allocate(&c.output, c.output.rank, cnp.PyArray_TYPE(input_array))
    return run_scatter_elements(&c, input_array, indices_array, updates_array, output_array, out is None, options)


cdef object call_scatter_elements(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *keywords):
    """scatter_elements(input, indices, updates, axis=0, *, reduction="none", mode="raise", duplicates="last", out=None, num_threads=None)"""
    cdef PyObject *slots[9]
    cdef Options options
    dml_arguments(&function_scatter_elements, args, n, keywords, slots)
    read_options(&options, (<object> slots[8] if slots[8] is not NULL else None))
    if slots[4] is not NULL:
        reduction_option(&options, <object> slots[4])
    if slots[5] is not NULL:
        write_mode(&options, <object> slots[5])
    if slots[6] is not NULL:
        duplicates_option(&options, <object> slots[6])
    return array_scatter_elements(<object> slots[0], <object> slots[1], <object> slots[2], (<object> slots[3] if slots[3] is not NULL else 0), (<object> slots[7] if slots[7] is not NULL else None), &options)


cdef dml_function function_scatter_elements
scatter_elements = new_function(&function_scatter_elements, "scatter_elements", <void *> call_scatter_elements, ('input', 'indices', 'updates', 'axis', 'reduction', 'mode', 'duplicates', 'out', 'num_threads'), 4, 3, """\
scatter_elements(input, indices, updates, axis=0, *, reduction="none", mode="raise", duplicates="last", out=None, num_threads=None)
--

Copies the input and overwrites single elements of it along one axis, one for each index.

OutputTensor starts as a copy of InputTensor. Every element of UpdatesTensor then overwrites the output
element at its own coordinates, except along Axis, where the value of the index takes the coordinate's place.

::

    output = input
    output[indices[i, j, k, ...], j, k, ...] = updates[i, j, k, ...]   # Axis == 0
    output[i, indices[i, j, k, ...], k, ...] = updates[i, j, k, ...]   # Axis == 1

Parameters
----------
input : array_like
    The tensor to start from. (InputTensor; FLOAT64, FLOAT32, FLOAT16, INT64, INT32, INT16, INT8, UINT64,
    UINT32, UINT16, UINT8; and types that DirectML lacks, see tensor.md in docs)
indices : array_like of integers
    The coordinate along Axis of each element to overwrite. (IndicesTensor; INT64, INT32, UINT64, UINT32;
    narrower integers are converted)
updates : array_like
    The new values, one for each index. (UpdatesTensor; FLOAT64, FLOAT32, FLOAT16, INT64, INT32, INT16, INT8,
    UINT64, UINT32, UINT16, UINT8; and types that DirectML lacks, see tensor.md in docs)
axis : int, optional
    The dimension of InputTensor that the indices count along. Negative values count from the end.
reduction : {'none', 'add', 'mul', 'min', 'max'}, optional
    How an update meets what is there. ``'none'`` (default): it overwrites. The others combine the two, update
    by update in row-major order: integers wrap around, NaN stays NaN, float16 is rounded at each step.
mode : {'raise', 'drop'}, optional
    What happens to an index that is out of range. ``'raise'`` (default): IndexOutOfRangeError, and nothing is
    written; ``'drop'``: that update is skipped.
duplicates : {'last', 'raise'}, optional
    Updates for one place: ``'last'`` (default): the last one in row-major order stays (or all are combined,
    with a reduction); ``'raise'``: DuplicateIndexError, and nothing is written.
out : ndarray, optional
    Array to write to; unchanged when the call raises because of its arguments.
num_threads : int, optional
    Upper bound for this call; default :func:`get_num_threads`.

Returns
-------
ndarray
    The tensor to write to.

Raises
------
ConstraintError
    A shape or a data type breaks a rule of the operator.
IndexOutOfRangeError
    An index lies outside the dimension that it indexes.

Notes
-----
DirectML: DML_OPERATOR_SCATTER_ELEMENTS, from DML_FEATURE_LEVEL_2_0.

- Negative indices: From FL3.0, with INT32 or INT64 indices, an index in [-n, -1] means index + n, n being
  InputTensor.Sizes[Axis]. Never for UINT32 or UINT64.
- Out of range: Not documented; DirectML only promises never to write past TotalTensorSizeInBytes of the
  output. dmlcore raises IndexOutOfRangeError and writes nothing.
- Duplicates: DirectML calls indices that name the same place invalid and does not say which update stays. In
  dmlcore the last one in row-major order stays, at any number of threads.
- In place: No; DirectML runs this operator only with separate buffers for input and output. In dmlcore out
  may be the input itself.

Examples
--------
>>> x = np.zeros((3, 3), np.float32)
>>> u = np.array([[10, 11, 12], [20, 21, 22]], np.float32)
>>> dmlcore.scatter_elements(x, [[1, 0, 2], [0, 2, 1]], u)
array([[20., 11.,  0.],
       [10.,  0., 22.],
       [ 0., 21., 12.]], dtype=float32)
""")


def run_scatter_elements_desc(tuple uints, tuple tensors, str mode, object fill_value, bint fresh, object num_threads):
    """Runs a compiled operator on arrays that fit its descriptor."""
    cdef scatter_elements_desc c
    cdef Options options
    cdef cnp.ndarray input_array, indices_array, updates_array, output_array
    input_array, indices_array, updates_array, output_array = tensors
    c.axis = uints[0]
    load(&c.input, input_array)
    load(&c.indices, indices_array)
    load(&c.updates, updates_array)
    load(&c.output, output_array)
    read_options(&options, num_threads)
    write_mode(&options, mode)
    fill_option(&options, fill_value)
    run_scatter_elements(&c, input_array, indices_array, updates_array, output_array, fresh, &options)


def check_scatter_elements_desc(desc, int level):
    """Numbers of the violated checks, and the descriptor's facts with its outputs inferred."""
    cdef scatter_elements_desc c
    cdef scatter_elements_buffers buffers
    cdef dml_violations bad
    load_desc(&c.input, &buffers.input, desc.input)
    load_desc(&c.indices, &buffers.indices, desc.indices)
    load_desc(&c.updates, &buffers.updates, desc.updates)
    c.axis = desc.axis
    if desc.output is None:
        c.output.inferred = 1
        c.output.rank = 0
        default_buffer(&buffers.output)
    else:
        load_desc(&c.output, &buffers.output, desc.output)
    infer_scatter_elements(&c)
    bad.count = 0
    check_scatter_elements(&c, &buffers, level, &bad)
    return to_list(&bad), {
        "output": (c.output.data_type, to_tuple(dml_sizes(&c.output))),
    }, {"axis": c.axis, }

# ---- SCATTER_ND -------------------------------------------------------------------------------------------------------

cdef struct scatter_nd_desc:
    dml_tensor input
    dml_tensor indices
    dml_tensor updates
    dml_tensor output
    int64_t input_dimension_count
    int64_t indices_dimension_count


cdef struct scatter_nd_buffers:
    dml_buffer input
    dml_buffer indices
    dml_buffer updates
    dml_buffer output


cdef void check_scatter_nd(scatter_nd_desc *c, scatter_nd_buffers *buffers, int level, dml_violations *bad) noexcept nogil:
    cdef int64_t b[2][DML_LIST_MAX]
    cdef int64_t index_tuple_size = dml_at_end(dml_sizes(&c.indices), 1)
    cdef dml_list tuple_sizes = dml_cut(dml_sizes(&c.indices), c.indices_dimension_count, 1, 1, 1)
    cdef dml_list data_sizes = dml_last(dml_sizes(&c.input), c.input_dimension_count)
    cdef dml_list slice_sizes = dml_from(data_sizes, index_tuple_size)
    cdef int64_t updates_rank = dml_sub(dml_add(dml_sub(c.indices_dimension_count, 1), c.input_dimension_count), index_tuple_size)
    if level < 2:
        dml_fail(bad, 0)  # SCATTER_ND-FeatureLevel-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.input, &buffers.input, level, 1, bad)
    if level >= 2 and not dml_supports_type(&scatter_nd_support[0][level], c.input.data_type):
        dml_fail(bad, 11)  # SCATTER_ND-InputTensor-DataType-support
    if level >= 2 and not dml_supports_rank(&scatter_nd_support[0][level], c.input.rank):
        dml_fail(bad, 12)  # SCATTER_ND-InputTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.indices, &buffers.indices, level, 13, bad)
    if level >= 2 and not dml_supports_type(&scatter_nd_support[1][level], c.indices.data_type):
        dml_fail(bad, 23)  # SCATTER_ND-IndicesTensor-DataType-support
    if level >= 2 and not dml_supports_rank(&scatter_nd_support[1][level], c.indices.rank):
        dml_fail(bad, 24)  # SCATTER_ND-IndicesTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.updates, &buffers.updates, level, 25, bad)
    if level >= 2 and not dml_supports_type(&scatter_nd_support[2][level], c.updates.data_type):
        dml_fail(bad, 35)  # SCATTER_ND-UpdatesTensor-DataType-support
    if level >= 2 and not dml_supports_rank(&scatter_nd_support[2][level], c.updates.rank):
        dml_fail(bad, 36)  # SCATTER_ND-UpdatesTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR:
        dml_check_buffer(&c.output, &buffers.output, level, 37, bad)
    if level >= 2 and not dml_supports_type(&scatter_nd_support[3][level], c.output.data_type):
        dml_fail(bad, 47)  # SCATTER_ND-OutputTensor-DataType-support
    if level >= 2 and not dml_supports_rank(&scatter_nd_support[3][level], c.output.rank):
        dml_fail(bad, 48)  # SCATTER_ND-OutputTensor-DimensionCount-support
    if level != DML_ARRAY_DOOR and not (c.input.rank == c.indices.rank and c.indices.rank == c.updates.rank and c.updates.rank == c.output.rank):
        dml_fail(bad, 49)  # SCATTER_ND-same-DimensionCount
    if not (1 <= c.input_dimension_count and c.input_dimension_count <= c.input.rank):
        dml_fail(bad, 50)  # SCATTER_ND-InputDimensionCount-range
    if not (1 <= c.indices_dimension_count and c.indices_dimension_count <= c.indices.rank):
        dml_fail(bad, 51)  # SCATTER_ND-IndicesDimensionCount-range
    if not (1 <= index_tuple_size and index_tuple_size <= c.input_dimension_count):
        dml_fail(bad, 52)  # SCATTER_ND-IndexTupleSize-range
    if not (updates_rank <= c.input.rank):
        dml_fail(bad, 53)  # SCATTER_ND-UpdatesTensor-fits
    if not (dml_effective_rank(dml_sizes(&c.input)) <= c.input_dimension_count):
        dml_fail(bad, 54)  # SCATTER_ND-InputTensor-leading-ones
    if not (dml_effective_rank(dml_sizes(&c.indices)) <= c.indices_dimension_count):
        dml_fail(bad, 55)  # SCATTER_ND-IndicesTensor-leading-ones
    if not (c.updates.data_type == c.input.data_type):
        dml_fail(bad, 56)  # SCATTER_ND-UpdatesTensor-DataType
    if not (dml_equal(dml_sizes(&c.updates), dml_right_align(dml_join(tuple_sizes, slice_sizes, b[0]), c.input.rank, b[1]))):
        dml_fail(bad, 57)  # SCATTER_ND-UpdatesTensor-Sizes
    if not c.output.inferred and not (c.output.data_type == c.input.data_type):
        dml_fail(bad, 58)  # SCATTER_ND-OutputTensor-DataType
    if not c.output.inferred and not (dml_equal(dml_sizes(&c.output), dml_sizes(&c.input))):
        dml_fail(bad, 59)  # SCATTER_ND-OutputTensor-Sizes


cdef void infer_scatter_nd(scatter_nd_desc *c) noexcept nogil:
    """Types and sizes of the outputs that were not given."""
    if c.output.inferred:
        c.output.data_type = c.input.data_type
        dml_set_sizes(&c.output, dml_sizes(&c.input))


cdef object run_scatter_nd(scatter_nd_desc *c, cnp.ndarray input_array, cnp.ndarray indices_array, cnp.ndarray updates_array, cnp.ndarray output_array, bint fresh, Options *options):
    """Fills the plan from the specification's fields and runs it; every tensor is loaded and checked."""
    cdef dml_move move
    cdef dml_run run
    cdef cnp.ndarray target = output_array
    cdef bint in_place = not fresh and same_place(&c.input, &c.output)
    cdef int64_t index_tuple_size = dml_at_end(dml_sizes(&c.indices), 1)
    cdef dml_list tuple_sizes = dml_cut(dml_sizes(&c.indices), c.indices_dimension_count, 1, 1, 1)
    cdef dml_list data_sizes = dml_last(dml_sizes(&c.input), c.input_dimension_count)
    cdef dml_list data_strides = dml_last(dml_strides(&c.output), c.input_dimension_count)
    cdef dml_list slice_sizes = dml_from(data_sizes, index_tuple_size)
    cdef int64_t updates_rank = dml_sub(dml_add(dml_sub(c.indices_dimension_count, 1), c.input_dimension_count), index_tuple_size)
    if not fresh and ((not in_place and overlap(output_array, input_array)) or overlap(output_array, indices_array) or overlap(output_array, updates_array)):
        # The output shares memory with an input: the one case that takes a copy.
        output_array = allocate(&c.output, cnp.PyArray_NDIM(target), cnp.PyArray_TYPE(target))
        fresh = True
        in_place = False
    move.positions = tuple_sizes
    move.index_strides = dml_cut(dml_strides(&c.indices), c.indices_dimension_count, 1, 1, 1)
    move.coordinate_stride = dml_at_end(dml_strides(&c.indices), 1)
    move.bounds = dml_until(data_sizes, index_tuple_size)
    move.steps = dml_until(data_strides, index_tuple_size)
    move.stream_strides = dml_until(dml_last(dml_strides(&c.updates), updates_rank), dml_sub(c.indices_dimension_count, 1))
    move.slice = slice_sizes
    move.slice_table_strides = dml_from(data_strides, index_tuple_size)
    move.slice_stream_strides = dml_from(dml_last(dml_strides(&c.updates), updates_rank), dml_sub(c.indices_dimension_count, 1))
    move.table_strides = no_list()
    move.table = c.output.data
    move.stream = c.updates.data
    move.indices = c.indices.data
    move.source = NULL if in_place else c.input.data
    move.copy = dml_sizes(&c.output)
    move.copy_source_strides = dml_strides(&c.input)
    move.copy_table_strides = dml_strides(&c.output)
    prepare(&run, c.input.data_type, c.indices.data_type, options, not fresh, fresh and is_untouched(output_array))
    if options.reduction != DML_NONE:
        check_reduction(options, run.data_type, input_array)
    if options.refuse_duplicates:
        check_duplicates(&move, run.index, "SCATTER_ND", "IndicesTensor", "indices", indices_array, True)
    run_move(DML_OP_SCATTER_ND, &move, &run, "SCATTER_ND", "IndicesTensor", "indices", indices_array, True)
    if output_array is not target:
        cnp.PyArray_CopyInto(target, output_array)
    return target


cdef object array_scatter_nd(object input, object indices, object updates, object out, Options *options):
    cdef scatter_nd_desc c
    cdef dml_violations bad
    cdef cnp.ndarray input_array = load_data(&c.input, input, "input")
    cdef cnp.ndarray indices_array = load_indices(&c.indices, indices, "indices")
    cdef cnp.ndarray updates_array = load_data(&c.updates, updates, "updates")
    cdef cnp.ndarray output_array = None
    # natural ranks; the descriptor's have ones in front
    cdef int64_t updates_rank = dml_sub(dml_add(dml_sub(c.indices.rank, 1), c.input.rank), dml_at_end(dml_sizes(&c.indices), 1))
    cdef int64_t output_rank = c.input.rank
    cdef int64_t dimension_count = dml_max(dml_max(c.input.rank, c.indices.rank), dml_sub(dml_add(dml_sub(c.indices.rank, 1), c.input.rank), dml_at_end(dml_sizes(&c.indices), 1)))
    check_rank(output_rank)
    c.input_dimension_count = c.input.rank
    c.indices_dimension_count = c.indices.rank
    dml_pad(&c.input, dimension_count)
    dml_pad(&c.indices, dimension_count)
    dml_pad(&c.updates, dimension_count - updates_rank + c.updates.rank)
    if out is None:
        c.output.inferred = 1
        c.output.rank = 0
        infer_scatter_nd(&c)
    else:
        output_array = load_out(&c.output, out)
        dml_pad(&c.output, dimension_count - output_rank + c.output.rank)
    bad.count = 0
    check_scatter_nd(&c, NULL, DML_ARRAY_DOOR, &bad)
    if bad.count:
        raise _errors.array_error("SCATTER_ND", to_list(&bad), {
            "InputTensor": fact(&c.input, input_array, 0),
            "IndicesTensor": fact(&c.indices, indices_array, 0),
            "UpdatesTensor": fact(&c.updates, updates_array, 0),
            "OutputTensor": fact(&c.output, output_array, output_rank),
        }, {"InputDimensionCount": c.input_dimension_count, "IndicesDimensionCount": c.indices_dimension_count}, {})
    if out is None:
        output_array = allocate(&c.output, output_rank, cnp.PyArray_TYPE(input_array))
    return run_scatter_nd(&c, input_array, indices_array, updates_array, output_array, out is None, options)


cdef object call_scatter_nd(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *keywords):
    """scatter_nd(input, indices, updates, *, reduction="none", mode="raise", duplicates="last", out=None, num_threads=None)"""
    cdef PyObject *slots[8]
    cdef Options options
    dml_arguments(&function_scatter_nd, args, n, keywords, slots)
    read_options(&options, (<object> slots[7] if slots[7] is not NULL else None))
    if slots[3] is not NULL:
        reduction_option(&options, <object> slots[3])
    if slots[4] is not NULL:
        write_mode(&options, <object> slots[4])
    if slots[5] is not NULL:
        duplicates_option(&options, <object> slots[5])
    return array_scatter_nd(<object> slots[0], <object> slots[1], <object> slots[2], (<object> slots[6] if slots[6] is not NULL else None), &options)


cdef dml_function function_scatter_nd
scatter_nd = new_function(&function_scatter_nd, "scatter_nd", <void *> call_scatter_nd, ('input', 'indices', 'updates', 'reduction', 'mode', 'duplicates', 'out', 'num_threads'), 3, 3, """\
scatter_nd(input, indices, updates, *, reduction="none", mode="raise", duplicates="last", out=None, num_threads=None)
--

Copies the input and overwrites whole subblocks of it, chosen by tuples of coordinates.

OutputTensor starts as a copy of InputTensor. The last dimension of IndicesTensor holds tuples of coordinates;
each tuple names an element or, when it has fewer coordinates than the input has counted dimensions, a whole
slice, which the matching slice of UpdatesTensor then replaces. UpdatesTensor has the shape of the array of
tuples, followed by the shape of one slice.

::

    output = input
    output[indices[...]] = updates[...]

Parameters
----------
input : array_like
    The tensor to start from. (InputTensor; FLOAT64, FLOAT32, FLOAT16, INT64, INT32, INT16, INT8, UINT64,
    UINT32, UINT16, UINT8; and types that DirectML lacks, see tensor.md in docs)
indices : array_like of integers
    Tuples of coordinates along the last dimension; the last size is the number of coordinates in a tuple.
    (IndicesTensor; INT64, INT32, UINT64, UINT32; narrower integers are converted)
updates : array_like
    The new values, right-aligned with ones in front when they need fewer dimensions than the input has.
    (UpdatesTensor; FLOAT64, FLOAT32, FLOAT16, INT64, INT32, INT16, INT8, UINT64, UINT32, UINT16, UINT8; and
    types that DirectML lacks, see tensor.md in docs)
reduction : {'none', 'add', 'mul', 'min', 'max'}, optional
    How an update meets what is there. ``'none'`` (default): it overwrites. The others combine the two, update
    by update in row-major order: integers wrap around, NaN stays NaN, float16 is rounded at each step.
mode : {'raise', 'drop'}, optional
    What happens to an index that is out of range. ``'raise'`` (default): IndexOutOfRangeError, and nothing is
    written; ``'drop'``: that update is skipped.
duplicates : {'last', 'raise'}, optional
    Updates for one place: ``'last'`` (default): the last one in row-major order stays (or all are combined,
    with a reduction); ``'raise'``: DuplicateIndexError, and nothing is written.
out : ndarray, optional
    Array to write to; unchanged when the call raises because of its arguments.
num_threads : int, optional
    Upper bound for this call; default :func:`get_num_threads`.

Returns
-------
ndarray
    The tensor to write to.

Raises
------
ConstraintError
    A shape or a data type breaks a rule of the operator.
IndexOutOfRangeError
    An index lies outside the dimension that it indexes.

Notes
-----
DirectML: DML_OPERATOR_SCATTER_ND, from DML_FEATURE_LEVEL_2_1.

- Negative indices: From FL3.0, with INT32 or INT64 indices, a coordinate in [-n, -1] means coordinate + n, n
  being the size of the dimension it indexes. Never for UINT32 or UINT64.
- Out of range: Not documented; DirectML only promises never to write past TotalTensorSizeInBytes of the
  output. dmlcore raises IndexOutOfRangeError and writes nothing.
- Duplicates: DirectML calls tuples that name the same place invalid and does not say which update stays. In
  dmlcore the last one in row-major order stays, at any number of threads.
- In place: No; DirectML runs this operator only with separate buffers for input and output. In dmlcore out
  may be the input itself.

Examples
--------
>>> x = np.array([1, 2, 3, 4, 5, 6, 7, 8], np.float32)
>>> u = np.array([9, 10, 11, 12], np.float32)
>>> dmlcore.scatter_nd(x, [[4], [3], [1], [7]], u)
array([ 1., 11.,  3., 10.,  9.,  6.,  7., 12.], dtype=float32)
""")


def run_scatter_nd_desc(tuple uints, tuple tensors, str mode, object fill_value, bint fresh, object num_threads):
    """Runs a compiled operator on arrays that fit its descriptor."""
    cdef scatter_nd_desc c
    cdef Options options
    cdef cnp.ndarray input_array, indices_array, updates_array, output_array
    input_array, indices_array, updates_array, output_array = tensors
    c.input_dimension_count = uints[0]
    c.indices_dimension_count = uints[1]
    load(&c.input, input_array)
    load(&c.indices, indices_array)
    load(&c.updates, updates_array)
    load(&c.output, output_array)
    read_options(&options, num_threads)
    write_mode(&options, mode)
    fill_option(&options, fill_value)
    run_scatter_nd(&c, input_array, indices_array, updates_array, output_array, fresh, &options)


def check_scatter_nd_desc(desc, int level):
    """Numbers of the violated checks, and the descriptor's facts with its outputs inferred."""
    cdef scatter_nd_desc c
    cdef scatter_nd_buffers buffers
    cdef dml_violations bad
    load_desc(&c.input, &buffers.input, desc.input)
    load_desc(&c.indices, &buffers.indices, desc.indices)
    load_desc(&c.updates, &buffers.updates, desc.updates)
    c.input_dimension_count = c.input.rank if desc.input_dimension_count is None else desc.input_dimension_count
    c.indices_dimension_count = c.indices.rank if desc.indices_dimension_count is None else desc.indices_dimension_count
    if desc.output is None:
        c.output.inferred = 1
        c.output.rank = 0
        default_buffer(&buffers.output)
    else:
        load_desc(&c.output, &buffers.output, desc.output)
    infer_scatter_nd(&c)
    bad.count = 0
    check_scatter_nd(&c, &buffers, level, &bad)
    return to_list(&bad), {
        "output": (c.output.data_type, to_tuple(dml_sizes(&c.output))),
    }, {"input_dimension_count": c.input_dimension_count, "indices_dimension_count": c.indices_dimension_count, }


# ---- the tables that the Python side looks operators up in --------------------------------------------------------

CHECK = {
    "GATHER": check_gather_desc,
    "GATHER_ELEMENTS": check_gather_elements_desc,
    "GATHER_ND": check_gather_nd_desc,
    "GATHER_ND1": check_gather_nd1_desc,
    "NONZERO_COORDINATES": check_nonzero_coordinates_desc,
    "SCATTER_ELEMENTS": check_scatter_elements_desc,
    "SCATTER_ND": check_scatter_nd_desc,
}

RUN = {
    "GATHER": run_gather_desc,
    "GATHER_ELEMENTS": run_gather_elements_desc,
    "GATHER_ND": run_gather_nd_desc,
    "GATHER_ND1": run_gather_nd1_desc,
    "NONZERO_COORDINATES": run_nonzero_coordinates_desc,
    "SCATTER_ELEMENTS": run_scatter_elements_desc,
    "SCATTER_ND": run_scatter_nd_desc,
}

# Whether a run writes every element of its outputs.
WRITES_ALL = {
    "GATHER": True,
    "GATHER_ELEMENTS": True,
    "GATHER_ND": True,
    "GATHER_ND1": True,
    "NONZERO_COORDINATES": False,
    "SCATTER_ELEMENTS": True,
    "SCATTER_ND": True,
}

# What compile() may be told about indices that are out of range.
MODES = {
    "GATHER": tuple(READ_MODES),
    "GATHER_ELEMENTS": tuple(READ_MODES),
    "GATHER_ND": tuple(READ_MODES),
    "GATHER_ND1": tuple(READ_MODES),
    "NONZERO_COORDINATES": ("raise",),
    "SCATTER_ELEMENTS": tuple(WRITE_MODES),
    "SCATTER_ND": tuple(WRITE_MODES),
}
