# The loops for Cython, without Python objects: `from dmlcore cimport capi`, then `capi.dmlcore_import()` once, which raises
# ImportError when the installed dmlcore does not fit. include/dmlcore.h and core/kernel.h describe everything;
# compile with dmlcore.get_include() in include_dirs.

from libc.stdint cimport int64_t, uint64_t

cdef extern from "dmlcore.h" nogil:
    enum: DML_RANK_MAX
    enum: DML_STORAGE_U8, DML_STORAGE_U16, DML_STORAGE_U32, DML_STORAGE_U64, DML_STORAGE_U128
    enum: DML_INDEX_I32, DML_INDEX_I64, DML_INDEX_U32, DML_INDEX_U64
    enum: DML_OK, DML_OUT_OF_RANGE, DML_NO_MEMORY, DML_INTERRUPTED, DMLCORE_INVALID
    enum: DML_RAISE, DML_CLIP, DML_FILL, DML_DROP
    enum: DML_NONE, DML_ADD, DML_MUL, DML_MIN, DML_MAX
    enum: DMLCORE_API_MAJOR, DMLCORE_API_MINOR

    ctypedef struct dml_list:
        const int64_t *v
        int64_t n

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

    ctypedef struct dmlcore_data_type:
        int value, bits, storage, index
        uint64_t zero_mask[2]

    ctypedef struct dmlcore_api:
        int major, minor
        int (*find_data_type)(const char *name, dmlcore_data_type *answer) noexcept nogil
        int (*gather)(const dml_move *move, dml_run *run) noexcept nogil
        int (*scatter)(const dml_move *move, dml_run *run) noexcept nogil
        int (*nonzero_count)(dml_nonzero *nonzero, dml_run *run) noexcept nogil
        int (*nonzero_write)(dml_nonzero *nonzero, dml_run *run) noexcept nogil
        void (*nonzero_free)(dml_nonzero *nonzero) noexcept nogil
        int (*get_num_threads)() noexcept nogil
        const char *(*isa_name)() noexcept nogil

cdef extern from "dmlcore.h":
    const dmlcore_api *dmlcore_import() except NULL
