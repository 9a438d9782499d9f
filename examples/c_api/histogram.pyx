# cython: language_level=3, boundscheck=False, wraparound=False
"""A weighted histogram in Cython, through dmlcore's C interface: a scatter that adds, without the GIL.

>>> histogram.add(counts, bins, weights)      # float32 (n,), int64 (k,), float32 (k,)
"""

from dmlcore cimport capi
from libc.stdint cimport int64_t
from libc.string cimport memset

cdef const capi.dmlcore_api *dml = capi.dmlcore_import()
cdef capi.dmlcore_data_type float32
if dml.find_data_type(b"FLOAT32", &float32) != 0:
    raise ImportError("dmlcore lacks a data type")


def add(float[:] counts, const int64_t[:] bins, const float[:] weights):
    """counts[bins[i]] += weights[i] for every i in order; bins that do not exist are left out."""
    if bins.shape[0] != weights.shape[0]:
        raise ValueError(f"bins has {bins.shape[0]} elements and weights {weights.shape[0]}, expected as many")
    cdef capi.dml_move move
    cdef capi.dml_run run
    cdef int64_t positions = bins.shape[0], bounds = counts.shape[0]
    cdef int64_t index_stride = bins.strides[0], weight_stride = weights.strides[0], step = counts.strides[0]
    cdef int status
    if positions == 0 or bounds == 0:
        return
    memset(&move, 0, sizeof(move))
    memset(&run, 0, sizeof(run))
    move.positions = one(&positions)
    move.index_strides = one(&index_stride)
    move.stream_strides = one(&weight_stride)
    move.bounds = one(&bounds)
    move.steps = one(&step)
    move.table = <char *> &counts[0]
    move.stream = <char *> &weights[0]
    move.indices = <const char *> &bins[0]
    run.storage = float32.storage
    run.data_type = float32.value
    run.index = capi.DML_INDEX_I64
    run.mode = capi.DML_DROP
    run.reduction = capi.DML_ADD
    with nogil:
        status = dml.scatter(&move, &run)
    if status != capi.DML_OK:
        raise RuntimeError(f"dmlcore answered {status}")


cdef capi.dml_list one(const int64_t *value) noexcept:
    cdef capi.dml_list list
    list.v = value
    list.n = 1
    return list
