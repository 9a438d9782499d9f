# Where results get their memory: small ones from NumPy alone, large ones through the memory pool of pool.c, which takes it
# from NumPy's allocator too. Included by door.pxi.

cdef extern from "core/pool.h" nogil:
    enum: DML_POOL_FROM
    ctypedef struct dml_pool_source:
        void *context
        void *(*malloc)(void *, size_t)
        void (*free)(void *, void *, size_t)
    void dml_pool_init(dml_pool_source, int64_t)
    void *dml_pool_malloc(void *, size_t)
    void *dml_pool_calloc(void *, size_t, size_t)
    void *dml_pool_realloc(void *, void *, size_t)
    void dml_pool_free(void *, void *, size_t)
    bint dml_pool_in_use(const void *)
    void dml_pool_set_limit(int64_t)
    int64_t dml_pool_limit()
    int64_t dml_pool_kept()

cdef extern from *:
    """
    static PyDataMem_Handler dml_pool_handler = {
        "dmlcore", 1, {NULL, dml_pool_malloc, dml_pool_calloc, dml_pool_realloc, dml_pool_free}};
    """
    cnp.PyDataMem_Handler dml_pool_handler
    PyObject *PyDataMem_DefaultHandler
    PyObject *PyArray_HANDLER(cnp.ndarray)

cdef object pool_handler = PyCapsule_New(&dml_pool_handler, "mem_handler", NULL)


cdef int start_pool() except -1:
    cdef cnp.PyDataMem_Handler *handler = <cnp.PyDataMem_Handler *> PyCapsule_GetPointer(<object> PyDataMem_DefaultHandler, "mem_handler")
    cdef dml_pool_source source
    source.context = handler.allocator.ctx
    source.malloc = handler.allocator.malloc
    source.free = handler.allocator.free
    dml_pool_init(source, _memory.default_limit())
    return 0


cdef cnp.ndarray empty(int rank, const cnp.npy_intp *sizes, int number, int64_t bytes):
    """A C-contiguous array; from the pool if it is large, and nobody has told NumPy to take memory from elsewhere."""
    cdef object before
    if bytes < DML_POOL_FROM:
        return cnp.PyArray_EMPTY(rank, <cnp.npy_intp *> sizes, number, 0)
    before = cnp.PyDataMem_GetHandler()
    if <PyObject *> before != PyDataMem_DefaultHandler:
        return cnp.PyArray_EMPTY(rank, <cnp.npy_intp *> sizes, number, 0)
    cnp.PyDataMem_SetHandler(pool_handler)
    try:
        return cnp.PyArray_EMPTY(rank, <cnp.npy_intp *> sizes, number, 0)
    finally:
        cnp.PyDataMem_SetHandler(before)


def empty_array(tuple shape, dtype):
    """The same for the Python side: an array whose every element is going to be written."""
    cdef cnp.npy_intp sizes[DML_RANK_MAX]
    cdef int64_t count = 1, d
    if len(shape) > DML_RANK_MAX:
        raise ValueError(f"the array would have {len(shape)} dimensions, NumPy has at most {DML_RANK_MAX}")
    for d in range(len(shape)):
        sizes[d] = shape[d]
        count = dml_mul(count, sizes[d])
    return empty(<int> len(shape), sizes, dtype.num, dml_mul(count, dtype.itemsize))


cdef bint is_untouched(cnp.ndarray array) noexcept:
    """Whether the pages of a new array are not in use yet."""
    return PyArray_HANDLER(array) != <PyObject *> pool_handler or not dml_pool_in_use(cnp.PyArray_DATA(array))


cdef int check_rank(int64_t rank) except -1:
    if rank > DML_RANK_MAX:
        raise ValueError(f"the result would have {rank} dimensions, NumPy has at most {DML_RANK_MAX}")
    return 0


cdef cnp.ndarray allocate(dml_tensor *t, int64_t rank, int number):
    """A new C-contiguous array for an inferred output: its last `rank` sizes. Fills in data and strides of `t`."""
    cdef cnp.ndarray array
    cdef int64_t item = dml_data_types[t.data_type].bits // 8, count, d, first = t.rank - rank
    check_rank(rank)
    count = dml_product(dml_sizes(t))
    if count > (<int64_t> 1 << 62):
        raise ValueError("the result would have more than 2**62 elements")
    array = empty(<int> rank, <cnp.npy_intp *> t.sizes + first, number, dml_mul(count, item))
    t.data = cnp.PyArray_BYTES(array)
    for d in range(t.rank - 1, -1, -1):
        t.strides[d] = item
        item *= t.sizes[d]
    return array


def set_memory_pool_limit(limit):
    """Sets how much memory of freed results may be kept for the next ones, for the whole process.

    Results of 1 MiB and more that are freed are kept, because memory that is new to the process costs as much as filling
    it does. Nothing is kept that would make all large results, with those kept, take more than the limit together. On
    Linux and macOS what is kept beyond 128 MiB is marked as free for the system to take.

    Parameters
    ----------
    limit : int or None
        Bytes; 0 keeps nothing. None returns to the default: DMLCORE_MEMORY_POOL_LIMIT, or 512 MiB.

    Raises
    ------
    ValueError
        For a negative number.

    Examples
    --------
    >>> import dmlcore
    >>> dmlcore.set_memory_pool_limit(0)
    >>> dmlcore.get_memory_pool_limit()
    0
    >>> dmlcore.set_memory_pool_limit(None)
    """
    dml_pool_set_limit(_memory.default_limit() if limit is None else _memory.limit(limit))


def get_memory_pool_limit():
    """How many bytes all large results may take together, with the memory that is kept for the next ones.

    Examples
    --------
    >>> import dmlcore
    >>> dmlcore.get_memory_pool_limit() >= 0
    True
    """
    return dml_pool_limit()


def _pool_kept():
    """For tests: how many bytes are kept."""
    return dml_pool_kept()
