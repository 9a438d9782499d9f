# What both doors share: from Python objects to dml_tensor, from a filled plan to a finished run, from a failure to the
# exception that explains it. Included by the generated operators.pyx; nothing in here knows an operator.

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from libc.stdint cimport INT64_MAX, INT64_MIN, UINT64_MAX, int16_t, int32_t, int64_t, uint64_t, uintptr_t
from libc.string cimport memcpy

import os as _os

import numpy as _np

import dmlcore.arrays as _arrays
import dmlcore.errors as _errors
import dmlcore.memory as _memory
import dmlcore.threads as _threads

cnp.import_array()

cdef extern from "core/list.h" nogil:
    enum: DML_RANK_MAX, DML_LIST_MAX
    ctypedef struct dml_list:
        const int64_t *v
        int64_t n
    int64_t dml_add(int64_t, int64_t)
    int64_t dml_sub(int64_t, int64_t)
    int64_t dml_mul(int64_t, int64_t)
    int64_t dml_max(int64_t, int64_t)
    dml_list dml_from(dml_list, int64_t)
    dml_list dml_last(dml_list, int64_t)
    dml_list dml_until(dml_list, int64_t)
    dml_list dml_all_but(dml_list, int64_t)
    dml_list dml_cut(dml_list, int64_t, int, int64_t, int)
    int64_t dml_at(dml_list, int64_t)
    int64_t dml_at_end(dml_list, int64_t)
    bint dml_equal(dml_list, dml_list)
    bint dml_within(dml_list, dml_list)
    int64_t dml_product(dml_list)
    int64_t dml_effective_rank(dml_list)
    dml_list dml_empty(int64_t *)
    dml_list dml_append(dml_list, int64_t)
    dml_list dml_join(dml_list, dml_list, int64_t *)
    dml_list dml_repeat(int64_t, int64_t, int64_t *)
    dml_list dml_right_align(dml_list, int64_t, int64_t *)

cdef extern from "_generated/operators.h" nogil:
    enum: DML_NUMBERS

cdef extern from "_generated/support.h" nogil:
    enum: DML_CHECKS_MAX, DML_ARRAY_DOOR, DML_DATA_TYPES
    ctypedef struct dml_cell:
        pass
    ctypedef struct dml_data_type:
        int bits, storage, index
        uint64_t zero_mask[2]
    const dml_data_type dml_data_types[]

cdef extern from "core/tensor.h" nogil:
    ctypedef struct dml_tensor:
        char *data
        int data_type
        int inferred
        int64_t rank
        int64_t sizes[64]
        int64_t strides[64]
    ctypedef struct dml_buffer:
        int has_strides
        int64_t stride_count
        int64_t strides[64]
        int64_t total_size
        int64_t alignment
    ctypedef struct dml_violations:
        int count
        int16_t checks[1]
    dml_list dml_sizes(const dml_tensor *)
    dml_list dml_strides(const dml_tensor *)
    void dml_pad(dml_tensor *, int64_t)
    void dml_set_sizes(dml_tensor *, dml_list)
    void dml_fail(dml_violations *, int)
    bint dml_supports_type(const dml_cell *, int)
    bint dml_supports_rank(const dml_cell *, int64_t)
    void dml_check_buffer(const dml_tensor *, const dml_buffer *, int, int, dml_violations *)
    bint dml_overlaps_itself(const dml_tensor *, int64_t)

cdef extern from "core/kernel.h" nogil:
    enum: DML_INDEX_I32, DML_INDEX_I64, DML_INDEX_U32, DML_INDEX_U64
    enum: DML_OK, DML_OUT_OF_RANGE, DML_NO_MEMORY, DML_INTERRUPTED
    enum: DML_RAISE, DML_CLIP, DML_FILL, DML_DROP
    enum: DML_NONE, DML_ADD, DML_MUL, DML_MIN, DML_MAX
    ctypedef struct dml_run:
        int storage, index, data_type, mode, reduction, check_first, threads, untouched
        int (*poll)() noexcept nogil
        const void *fill
        int64_t bad_position, bad_coordinate, bad_value, bad_bound
    ctypedef struct dml_move:
        dml_list positions, index_strides, table_strides, stream_strides, bounds, steps
        int64_t coordinate_stride
        dml_list slice, slice_table_strides, slice_stream_strides
        char *table
        char *stream
        const char *indices
        const char *source
        dml_list copy, copy_source_strides, copy_table_strides
    ctypedef struct dml_nonzero:
        dml_list sizes, strides
        const char *input
        uint64_t mask[2]
        int64_t columns
        char *coordinates
        int64_t row_stride, column_stride
        int coordinate_bytes
        int64_t rows_max, count
        void *scratch
    bint dml_move_few(int op, const dml_move *, const dml_run *)
    bint dml_move_is_small(const dml_move *)
    int dml_move_run(int op, const dml_move *, dml_run *)
    int dml_are_distinct(const dml_move *, int index, int (*poll)() noexcept nogil) nogil
    int dml_name_places(const dml_move *, int index, int64_t *, int (*poll)() noexcept nogil) nogil
    int dml_nonzero_count(dml_nonzero *, dml_run *)
    int dml_nonzero_write(dml_nonzero *, dml_run *)
    void dml_nonzero_free(dml_nonzero *)

cdef extern from "core/dispatch.h" nogil:
    int dml_isa_select(const char *name)
    const char *dml_isa_name()
    const char *dml_isa_available(int i)

cdef extern from "core/parallel.h" nogil:
    void dml_threads_init()
    void dml_set_grain(int64_t)

cdef extern from "capi.h":
    const char *DMLCORE_CAPSULE
    ctypedef struct dmlcore_api:
        int (*get_num_threads)() noexcept nogil
    dmlcore_api dmlcore_functions

cdef extern from "core/arguments.h":
    ctypedef struct dml_function:
        pass
    int dml_arguments(const dml_function *, PyObject *const *, Py_ssize_t, PyObject *, PyObject **) except -1
    object dml_new_function(dml_function *, const char *, void *, tuple, int, int, const char *)

cdef extern from "Python.h":
    bint PyLong_CheckExact(object)
    int64_t PyLong_AsLongLongAndOverflow(object, int *) except? -1
    int check_signals "PyErr_CheckSignals" () noexcept

cdef extern from *:
    """
    /* Hands on an exception that is set already, as PyErr_CheckSignals left it. */
    static int dml_raised(void) { return -1; }

    #define DML_TEXT(x) #x
    #define DML_NUMBER(x) DML_TEXT(x)
    #if defined(__clang__)
    #define DML_COMPILER "clang " __clang_version__
    #elif defined(__GNUC__)
    #define DML_COMPILER "gcc " __VERSION__
    #elif defined(_MSC_VER)
    #define DML_COMPILER "msvc " DML_NUMBER(_MSC_VER)
    #else
    #define DML_COMPILER "unknown"
    #endif
    #ifdef _OPENMP
    #define DML_OPENMP _OPENMP
    #else
    #define DML_OPENMP 0
    #endif
    """
    int dml_raised() except -1
    const char *DML_COMPILER
    int DML_OPENMP

cdef enum:
    KEEP_GIL = 16384        # elements that are looked for in less time than giving the GIL away and getting it back takes

cdef int threads_wanted = 1     # set_num_threads, or default_threads
cdef bint always_planned = False    # _set_grain
cdef int type_codes[256]        # NumPy type number -> DML_TENSOR_DATA_TYPE (0 where there is none)


cdef int default_threads() except -1:
    """What threads.py found; a serial build uses one, but tells of a wrong setting as well."""
    cdef int found = _threads.default_threads()
    return found if DML_OPENMP else 1


cdef int poll() noexcept nogil:
    with gil:
        return check_signals()


_texts = []                     # names and docstrings of the functions, which C points to


cdef object new_function(dml_function *function, str name, void *implementation, tuple names, int positional, int required,
                         str doc):
    cdef bytes c_name = name.encode(), c_doc = doc.encode()
    _texts.extend((c_name, c_doc))
    return dml_new_function(function, c_name, implementation, names, positional, required, c_doc)


# ---- arrays in ----------------------------------------------------------------------------------------------------

_user_types = {}                # names of types that other packages add to NumPy (ml_dtypes) -> code


def _register(str names, int code):
    """Tells which data type NumPy's types of these names are, called once per data type at import."""
    for name in names.split():
        try:
            number = _np.dtype(name).num
        except TypeError:
            number = 256
        if number < 256:
            type_codes[number] = code
        else:
            _user_types[name] = code


cdef cnp.ndarray as_array(object value, str name):
    """A plain ndarray in native byte order; everything else is converted once or refused by name."""
    cdef cnp.ndarray array
    if cnp.PyArray_CheckExact(value):
        array = <cnp.ndarray> value
    else:
        array = _arrays.convert(value, name)
    if not cnp.PyArray_ISNOTSWAPPED(array):
        raise _arrays.byte_order_error(name, array)
    return array


cdef int load(dml_tensor *t, cnp.ndarray array) except -1:
    cdef int number = cnp.PyArray_TYPE(array)
    cdef int rank = cnp.PyArray_NDIM(array)
    cdef cnp.npy_intp *sizes = cnp.PyArray_DIMS(array)
    cdef cnp.npy_intp *strides = cnp.PyArray_STRIDES(array)
    cdef int d
    t.data = cnp.PyArray_BYTES(array)
    if 0 <= number < 256:
        t.data_type = type_codes[number]
    else:
        t.data_type = _user_types.get((<object> array).dtype.name, 0)
    t.inferred = 0
    t.rank = rank
    for d in range(rank):
        t.sizes[d] = sizes[d]
        t.strides[d] = strides[d]
    return 0


cdef cnp.ndarray load_data(dml_tensor *t, object value, str name):
    cdef cnp.ndarray array = as_array(value, name)
    load(t, array)
    return array


cdef cnp.ndarray load_indices(dml_tensor *t, object value, str name):
    """Like load_data; integers narrower than DirectML's index types are widened."""
    cdef cnp.ndarray array = as_array(value, name)
    load(t, array)
    if dml_data_types[t.data_type].index < 0:
        array = _arrays.widen_indices(value, array)
        load(t, array)
    return array


cdef cnp.ndarray load_out(dml_tensor *t, object value):
    if not cnp.PyArray_Check(value):
        raise TypeError(f"out is {type(value).__name__}, expected a numpy.ndarray to write to")
    if not cnp.PyArray_CheckExact(value):
        _arrays.refuse_mask(value, "out")
    cdef cnp.ndarray array = value
    if not cnp.PyArray_ISWRITEABLE(array):
        raise ValueError("out is read-only, expected a writable array")
    if not cnp.PyArray_ISNOTSWAPPED(array):
        raise _arrays.byte_order_error("out", array)
    load(t, array)
    if not is_c_contiguous(t, cnp.PyArray_ITEMSIZE(array)) and dml_overlaps_itself(t, cnp.PyArray_ITEMSIZE(array)):
        raise ValueError("out overlaps itself: several of its elements share one address, expected an address for each")
    return array


cdef bint is_c_contiguous(dml_tensor *t, int64_t item) noexcept:
    cdef int64_t d
    for d in range(t.rank - 1, -1, -1):
        if t.sizes[d] != 1 and t.strides[d] != item:
            return False
        item = dml_mul(item, t.sizes[d])
    return True


cdef void byte_range(cnp.ndarray array, uintptr_t *first, uintptr_t *end) noexcept:
    """The bytes between the lowest and the highest element."""
    cdef int d
    cdef uintptr_t low = <uintptr_t> cnp.PyArray_BYTES(array), high = low
    first[0] = end[0] = low
    if cnp.PyArray_SIZE(array) == 0:
        return
    for d in range(cnp.PyArray_NDIM(array)):
        if cnp.PyArray_STRIDE(array, d) < 0:
            low += (cnp.PyArray_DIM(array, d) - 1) * cnp.PyArray_STRIDE(array, d)
        else:
            high += (cnp.PyArray_DIM(array, d) - 1) * cnp.PyArray_STRIDE(array, d)
    first[0] = low
    end[0] = high + cnp.PyArray_ITEMSIZE(array)


cdef bint overlap(cnp.ndarray a, cnp.ndarray b) noexcept:
    cdef uintptr_t a_first, a_end, b_first, b_end
    byte_range(a, &a_first, &a_end)
    byte_range(b, &b_first, &b_end)
    return a_first < b_end and b_first < a_end


cdef bint same_place(dml_tensor *a, dml_tensor *b) noexcept:
    """The same elements at the same addresses: a scatter runs in place. Sizes are equal already."""
    cdef int64_t d
    if a.data != b.data:
        return False
    for d in range(a.rank):
        if a.sizes[d] > 1 and a.strides[d] != b.strides[d]:
            return False
    return True


cdef int64_t as_index(object value, str name) except? -1:
    """A Python integer, saturated to 63 bits."""
    cdef int overflow
    cdef int64_t number
    if not PyLong_CheckExact(value):
        value = _arrays.as_int(value, name)
    number = PyLong_AsLongLongAndOverflow(value, &overflow)
    return number if overflow == 0 else (INT64_MIN if overflow < 0 else INT64_MAX)


include "memory.pxi"

# ---- descriptors in -----------------------------------------------------------------------------------------------

cdef int load_desc(dml_tensor *t, dml_buffer *b, object desc) except -1:
    """A TensorDesc; more than DML_RANK_MAX dimensions are cut off, eight is the limit anyway."""
    cdef int64_t d
    sizes, strides = desc.sizes, desc.strides
    t.data = NULL
    t.data_type = desc.data_type_value
    t.inferred = 0
    t.rank = min(len(sizes), DML_RANK_MAX)
    for d in range(t.rank):
        t.sizes[d] = as_index(sizes[d], "sizes")
        t.strides[d] = 0
    b.has_strides = strides is not None
    b.stride_count = min(len(strides), DML_RANK_MAX) if strides is not None else 0
    for d in range(b.stride_count):
        b.strides[d] = as_index(strides[d], "strides")
    b.total_size = as_index(desc.total_tensor_size_in_bytes, "total_tensor_size_in_bytes")
    b.alignment = as_index(desc.guaranteed_base_offset_alignment, "guaranteed_base_offset_alignment")
    return 0


cdef void default_buffer(dml_buffer *b) noexcept:
    """An inferred output: packed, as large as it needs to be."""
    b.has_strides = 0
    b.stride_count = 0
    b.total_size = INT64_MAX
    b.alignment = 0


cdef list to_list(dml_violations *bad):
    cdef int i
    return [bad.checks[i] for i in range(bad.count)]


cdef object fact(dml_tensor *t, object array, int64_t natural_rank):
    """What a message needs to know of a tensor."""
    cdef int64_t hidden = t.rank - (natural_rank if array is None else cnp.PyArray_NDIM(array))
    return _errors.TensorFact(t.data_type, None if array is None else array.dtype, to_tuple(dml_sizes(t)),
                              to_tuple(dml_strides(t)), hidden if hidden > 0 else 0)


cdef object to_tuple(dml_list values):
    cdef int64_t i
    return tuple([values.v[i] for i in range(values.n)])


# ---- running ------------------------------------------------------------------------------------------------------

cdef struct Options:
    int threads             # upper bound
    int mode                # enum dml_mode
    int reduction           # enum dml_reduction
    bint refuse_duplicates
    PyObject *fill          # the fill value that was given, borrowed; NULL: 0

READ_MODES = {"raise": DML_RAISE, "clip": DML_CLIP, "fill": DML_FILL}
WRITE_MODES = {"raise": DML_RAISE, "drop": DML_DROP}
REDUCTIONS = {"none": DML_NONE, "add": DML_ADD, "mul": DML_MUL, "min": DML_MIN, "max": DML_MAX}
REDUCTION_NAMES = {value: name for name, value in REDUCTIONS.items()}
DUPLICATES = {"last": False, "raise": True}


cdef int read_options(Options *options, object num_threads) except -1:
    options.threads = threads_wanted if num_threads is None else _arrays.thread_count(num_threads)
    options.mode = DML_RAISE
    options.reduction = DML_NONE
    options.refuse_duplicates = False
    options.fill = NULL
    return 0


cdef int choice(object value, str name, dict accepted) except -1:
    try:
        return accepted[value]
    except (KeyError, TypeError):
        raise ValueError(f"{name} is {value!r}, expected one of {', '.join(map(repr, accepted))}") from None


cdef int read_mode(Options *options, object mode) except -1:
    options.mode = choice(mode, "mode", READ_MODES)
    return 0


cdef int write_mode(Options *options, object mode) except -1:
    options.mode = choice(mode, "mode", WRITE_MODES)
    return 0


cdef int fill_option(Options *options, object value) except -1:
    options.fill = <PyObject *> value
    return 0


cdef int reduction_option(Options *options, object reduction) except -1:
    options.reduction = choice(reduction, "reduction", REDUCTIONS)
    return 0


cdef int duplicates_option(Options *options, object duplicates) except -1:
    options.refuse_duplicates = choice(duplicates, "duplicates", DUPLICATES)
    return 0


cdef bytes fill_element(Options *options, cnp.ndarray data):
    """The bytes of one element for mode='fill'; the data type must be able to hold the value."""
    value = <object> options.fill if options.fill is not NULL else 0
    # the most frequent ones here, as looking at a value takes a microsecond there
    cdef int numpy_type = cnp.PyArray_TYPE(data)
    cdef bint small = type(value) is int and -1000000 < value < 1000000
    cdef double number
    cdef float single
    cdef int64_t whole
    cdef int32_t half
    if small or type(value) is float:
        number = value
        single = <float> number
        if numpy_type == cnp.NPY_FLOAT64:
            return (<char *> &number)[:sizeof(number)]
        if numpy_type == cnp.NPY_FLOAT32 and (number - number != 0 or single - single == 0):   # no number became infinite
            return (<char *> &single)[:sizeof(single)]
    if small:
        whole = half = value
        if numpy_type == cnp.NPY_INT64:
            return (<char *> &whole)[:sizeof(whole)]
        if numpy_type == cnp.NPY_INT32:
            return (<char *> &half)[:sizeof(half)]
    return _arrays.element(value, (<object> data).dtype)


cdef int check_reduction(Options *options, int data_type, cnp.ndarray data) except -1:
    """Arithmetic is defined for DirectML's numeric types; the extensions can only be moved."""
    if not (0 < data_type < DML_NUMBERS):
        raise TypeError(f"reduction is {REDUCTION_NAMES[options.reduction]!r}, which is not defined for data type "
                        f"{(<object> data).dtype}; expected reduction='none', or an integer or floating point type of 8 to 64 bits")
    return 0


cdef int check_duplicates(dml_move *move, int index, str operator, str tensor, str parameter, cnp.ndarray indices,
                          bint tuples) except -1:
    """duplicates='raise': no two positions may name one place of the table; if two do, all places are sorted to find the first."""
    cdef cnp.npy_intp positions = dml_product(move.positions)
    cdef int status
    if positions < KEEP_GIL:
        status = dml_are_distinct(move, index, &poll)
    else:
        with nogil:
            status = dml_are_distinct(move, index, &poll)
    if status == 1:
        return 0
    cdef cnp.ndarray places = cnp.PyArray_EMPTY(1, &positions, cnp.NPY_INT64, 0)
    cdef int64_t *named = <int64_t *> cnp.PyArray_DATA(places)
    if status == 0:
        with nogil:
            status = dml_name_places(move, index, named, &poll)
    if status < 0:
        dml_raised()
    pair = _arrays.first_duplicate(places)
    if pair is not None:
        raise _errors.duplicate_error(operator, tensor, parameter, (<object> indices).shape, pair, tuples)
    return 0


cdef int64_t axis_from(int64_t axis, int64_t rank, int64_t dimension_count) noexcept:
    """An axis of the array door: negative ones count from the end, and padding in front shifts them all."""
    if axis < 0:
        axis += rank
    return INT64_MAX if axis < 0 else dml_add(axis, dimension_count - rank)


cdef int64_t count_from(int64_t count) noexcept:
    """A UINT member of the array door: a negative number becomes one that no rule accepts."""
    return INT64_MAX if count < 0 else count


cdef dml_list no_list() noexcept:
    cdef dml_list none
    none.v = NULL
    none.n = 0
    return none


cdef void prepare(dml_run *run, int data_type, int index_type, Options *options, bint check_first, bint untouched) noexcept:
    run.data_type = data_type
    run.storage = dml_data_types[data_type].storage
    run.index = dml_data_types[index_type].index
    run.mode = options.mode
    run.reduction = options.reduction
    run.check_first = check_first
    run.untouched = untouched
    run.threads = options.threads if DML_OPENMP else 1
    run.poll = NULL
    run.fill = NULL


cdef int run_move(int op, dml_move *move, dml_run *run, str operator, str tensor, str parameter, cnp.ndarray indices,
                  bint tuples) except -1:
    """Runs a plan; small ones with the GIL held and on one thread."""
    cdef int status
    cdef int64_t nothing = 0, sizes[DML_RANK_MAX], strides[DML_RANK_MAX]   # another thread may give the indices others
    cdef dml_move only_check
    cdef int d
    if not always_planned and dml_move_few(op, move, run):
        return 0
    if cnp.PyArray_SIZE(indices) > 0 and dml_product(move.positions) == 0:
        # An empty dimension that the indices do not count along: nothing is moved, the indices are checked all the same.
        only_check = move[0]
        for d in range(cnp.PyArray_NDIM(indices) - tuples):
            sizes[d] = cnp.PyArray_DIM(indices, d)
            strides[d] = cnp.PyArray_STRIDE(indices, d)
        only_check.positions.v = sizes
        only_check.index_strides.v = strides
        only_check.positions.n = only_check.index_strides.n = cnp.PyArray_NDIM(indices) - tuples
        only_check.table_strides = only_check.stream_strides = no_list()
        only_check.slice.v = &nothing
        only_check.slice.n = 1
        move = &only_check
    if dml_move_is_small(move):
        run.threads = 1
        status = dml_move_run(op, move, run)
    else:
        run.poll = &poll
        with nogil:
            status = dml_move_run(op, move, run)
    if status == DML_OK:
        return 0
    if status == DML_OUT_OF_RANGE:
        value = <object> run.bad_value
        if run.index == DML_INDEX_U64:
            value = <object> <uint64_t> run.bad_value
        signed = run.index == DML_INDEX_I32 or run.index == DML_INDEX_I64
        raise _errors.index_error(operator, tensor, parameter, (<object> indices).shape, run.bad_position,
                                  run.bad_coordinate if tuples else None, value, run.bad_bound, signed)
    return raise_status(status)


cdef int raise_status(int status) except -1:
    if status == DML_NO_MEMORY:
        raise MemoryError("not enough memory for the scratch space of this operator")
    return dml_raised()


# ---- coordinates --------------------------------------------------------------------------------------------------

ctypedef int (*nonzero_step)(dml_nonzero *, dml_run *) noexcept nogil


cdef int run_nonzero(dml_nonzero *plan, dml_run *run, nonzero_step step) except -1:
    cdef int status
    if dml_product(plan.sizes) < KEEP_GIL:
        run.threads = 1
        status = step(plan, run)
    else:
        run.poll = &poll
        with nogil:
            status = step(plan, run)
    return 0 if status == DML_OK else raise_status(status)


cdef int coordinate_type(object dtype, object out) except -1:
    """The NumPy type number of the coordinates; None is that of out, or uint32."""
    return cnp.NPY_UINT32 if dtype is None and out is None else _arrays.coordinate_type(dtype, out)


cdef cnp.ndarray load_rows(object out, int number, int64_t count, int64_t rank):
    """The caller's array, in whose first rows coordinates are going to be written."""
    cdef dml_tensor t
    cdef cnp.ndarray array = load_out(&t, out)
    if cnp.PyArray_TYPE(array) != number:
        raise TypeError(f"out has dtype {out.dtype}, expected {cnp.PyArray_DescrFromType(number)}")
    if t.rank != 2 or t.sizes[1] != rank or t.sizes[0] < count:
        raise ValueError(f"out has shape {out.shape}, expected {count} rows or more of {rank} columns")
    return array


cdef int check_coordinate_range(int number, dml_list sizes) except -1:
    cdef int64_t i
    if number == cnp.NPY_UINT32:
        for i in range(sizes.n):
            if sizes.v[i] > <int64_t> 1 << 32:
                raise ValueError(f"input has a dimension of {sizes.v[i]}, whose coordinates do not fit uint32; pass dtype=numpy.int64")
    return 0


# ---- settings -----------------------------------------------------------------------------------------------------

def set_num_threads(num_threads):
    """Sets how many threads operators use at most, for the whole process.

    Parameters
    ----------
    num_threads : int or None
        A positive integer; None returns to the default (environment variables, affinity mask, cgroup quota).

    Raises
    ------
    ValueError
        For zero or a negative number.

    Examples
    --------
    >>> import dmlcore
    >>> before = dmlcore.get_num_threads()
    >>> dmlcore.set_num_threads(1)
    >>> dmlcore.get_num_threads()
    1
    >>> dmlcore.set_num_threads(before)
    """
    global threads_wanted
    threads_wanted = default_threads() if num_threads is None else _arrays.thread_count(num_threads)


def get_num_threads():
    """How many threads operators use at most.

    Examples
    --------
    >>> import dmlcore
    >>> dmlcore.get_num_threads() >= 1
    True
    """
    return threads_wanted


def build_info():
    """What was built and what was chosen at import: compiler, OpenMP, instruction set, threads.

    Returns
    -------
    dict
        ``version``, ``compiler``, ``openmp`` (its date, or None for a serial build), ``isa``, ``isa_available``,
        ``threads``.

    Examples
    --------
    >>> import dmlcore
    >>> sorted(dmlcore.build_info())
    ['compiler', 'isa', 'isa_available', 'openmp', 'threads', 'version']
    """
    from dmlcore.version import __version__

    cdef int i = 0
    available = []
    while dml_isa_available(i) is not NULL:
        available.append(dml_isa_available(i).decode())
        i += 1
    return {
        "version": __version__,
        "compiler": DML_COMPILER.decode(),
        "openmp": DML_OPENMP or None,
        "isa": dml_isa_name().decode(),
        "isa_available": available,
        "threads": threads_wanted,
    }


def _select_isa(name):
    """Chooses the instruction set; None is the fastest that the machine has. DMLCORE_ISA names one at import."""
    cdef bytes text = b"" if name is None else name.encode()
    cdef const char *wanted = text
    if name is None:
        wanted = NULL
    if dml_isa_select(wanted) < 0:
        raise ImportError(f"DMLCORE_ISA is {name!r}, expected one of {', '.join(build_info()['isa_available'])}")


def _set_grain(int64_t nanoseconds):
    """For tests: from how much predicted work on threads are used; 1 is always, 0 the measured default. Only with the default
    do the functions move few positions without a plan."""
    global always_planned
    always_planned = nanoseconds > 0
    dml_set_grain(nanoseconds)


# ---- for C and Cython ---------------------------------------------------------------------------------------------

cdef int threads_for_c() noexcept nogil:
    return threads_wanted


dmlcore_functions.get_num_threads = &threads_for_c
_C_API = PyCapsule_New(&dmlcore_functions, DMLCORE_CAPSULE, NULL)

dml_threads_init()
start_pool()
threads_wanted = default_threads()
_select_isa(_os.environ.get("DMLCORE_ISA") or None)
