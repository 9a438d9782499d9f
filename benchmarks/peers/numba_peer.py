"""Numba: loops as a good user would write them, in parallel where there are threads, indices not checked.

Arrays are seen as (outer, axis, inner) or as (dimensions of the tuple, slice), which costs nothing unless they lie the other
way round: then it takes a copy, which is part of the call. The loops of a kind are compiled once per type. Negative indices
work, because Numba wraps them.
"""

import functools
import math

import numpy as np

from . import Call

COMPILES = 4.0
MODES = True
CHUNK = 4096  # elements of nonzero_coordinates that one thread takes at a time


def load(threads):
    global numba, _jit
    import numba

    numba.set_num_threads(threads)
    _jit = numba.njit(parallel=threads > 1, error_model="numpy", cache=True)
    return numba.__version__


_compiled = {}


def _loop(function):
    if function not in _compiled:
        _compiled[function] = _jit(function)
    return _compiled[function]


def _both(t, loop, *arrays, shape=None):
    """The loop on a new array, and on one of the caller's; `shape` is how the loop sees the output."""
    loop, shape = _loop(loop), shape or t.shape
    dtype = np.dtype(np.uint16) if t.x.dtype == np.float16 else t.x.dtype  # Numba has no float16 on CPUs; moving needs none
    copied = any(callable(a) for a in arrays)
    out = t.empty().reshape(shape).view(dtype)

    def given():
        called = (a() if callable(a) else a for a in arrays)
        return [a.view(dtype) if a.dtype == t.x.dtype else a for a in called]

    views = given()

    def run(y):
        loop(*(given() if copied else views), y)
        return y

    def value(y):
        return y.reshape(t.shape).view(t.x.dtype)

    yield Call("loop", "fresh", lambda: run(np.empty(shape, dtype)), value)
    yield Call("loop into out", "reused", lambda: run(out), value)


def _seen(array, *shape):
    """The array in another shape; a function that makes it, where that takes a copy."""
    seen = array.reshape(*shape)
    return seen if np.shares_memory(seen, array) else functools.partial(array.reshape, *shape)


def _around(shape, axis):
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])


# Reads


def gather(t):
    outer, size, inner = _around(t.x.shape, t.cell.axis)
    if t.cell.mode == "clip" and inner == 1:
        return _both(t, _clip_flat, t.x, t.i)
    if t.cell.mode == "clip":
        return _both(t, _clip, _seen(t.x, size, inner), t.i, shape=(t.i.size, inner))
    if inner == 1 and outer == 1:
        return _both(t, _flat, _seen(t.x, -1), _seen(t.i, -1), shape=(t.i.size,))
    return _both(t, _gather, _seen(t.x, outer, size, inner), _seen(t.i, -1), shape=(outer, t.i.size, inner))


def gather_elements(t):
    axis, ndim = t.cell.axis, t.x.ndim
    if ndim == 1:
        return _both(t, _flat, t.x, t.i)
    if axis == ndim - 1:
        shape = t.i.size // t.i.shape[-1], t.i.shape[-1]
        loop = _fill_last if t.cell.mode == "fill" else _elements_last
        return _both(t, loop, _seen(t.x, -1, t.x.shape[-1]), _seen(t.i, *shape), shape=shape)
    shape = _around(t.i.shape, axis)
    return _both(t, _elements_inner, _seen(t.x, *_around(t.x.shape, axis)), _seen(t.i, *shape), shape=shape)


def gather_nd(t):
    q, count = t.cell.tuple_size, math.prod(t.i.shape[:-1])
    i = _seen(t.i, count, q)
    if t.x.ndim == q:
        return _both(t, (_items1, _items2, _items3, _items4)[q - 1], t.x, i, shape=(count,))
    size = math.prod(t.x.shape[q:])
    x = _seen(t.x, *t.x.shape[:q], size)
    return _both(t, (_slices1, _slices2)[q - 1], x, i, shape=(count, size))


def _flat(x, i, y):
    for n in numba.prange(i.size):
        y[n] = x[i[n]]


def _clip_flat(x, i, y):
    for n in numba.prange(i.size):
        y[n] = x[min(max(i[n], 0), x.size - 1)]


def _clip(x, i, y):
    for n in numba.prange(i.size):
        at = min(max(i[n], 0), x.shape[0] - 1)
        for k in range(x.shape[1]):
            y[n, k] = x[at, k]


def _gather(x, i, y):
    for n in numba.prange(x.shape[0] * i.size):
        outer, at = divmod(n, i.size)
        for k in range(x.shape[2]):
            y[outer, at, k] = x[outer, i[at], k]


def _elements_last(x, i, y):
    for row in numba.prange(i.shape[0]):
        for n in range(i.shape[1]):
            y[row, n] = x[row, i[row, n]]


def _fill_last(x, i, y):
    for row in numba.prange(i.shape[0]):
        for n in range(i.shape[1]):
            at = i[row, n]
            y[row, n] = x[row, at] if -x.shape[1] <= at < x.shape[1] else 0


def _elements_inner(x, i, y):
    for n in numba.prange(i.shape[0] * i.shape[1]):
        outer, row = divmod(n, i.shape[1])
        for k in range(i.shape[2]):
            y[outer, row, k] = x[outer, i[outer, row, k], k]


def _items1(x, i, y):
    for n in numba.prange(i.shape[0]):
        y[n] = x[i[n, 0]]


def _items2(x, i, y):
    for n in numba.prange(i.shape[0]):
        y[n] = x[i[n, 0], i[n, 1]]


def _items3(x, i, y):
    for n in numba.prange(i.shape[0]):
        y[n] = x[i[n, 0], i[n, 1], i[n, 2]]


def _items4(x, i, y):
    for n in numba.prange(i.shape[0]):
        y[n] = x[i[n, 0], i[n, 1], i[n, 2], i[n, 3]]


def _slices1(x, i, y):
    for n in numba.prange(i.shape[0]):
        for k in range(x.shape[1]):
            y[n, k] = x[i[n, 0], k]


def _slices2(x, i, y):
    for n in numba.prange(i.shape[0]):
        for k in range(x.shape[2]):
            y[n, k] = x[i[n, 0], i[n, 1], k]


# Writes: into a copy; which of several equal indices wins is left open


def scatter_elements(t):
    axis, x = t.cell.axis, t.x
    if x.ndim == 1:
        return _both(t, _put_flat, x, t.i, t.u)
    if t.cell.reduction == "add":
        return _both(t, _add, x, t.i, t.u, np.int64(numba.get_num_threads()))
    if axis == x.ndim - 1:
        rows = (_seen(a, -1, a.shape[-1]) for a in (x, t.i, t.u))
        return _both(t, _put_last, *rows, shape=(x.size // x.shape[-1], x.shape[-1]))
    arrays = (_seen(a, *_around(a.shape, axis)) for a in (x, t.i, t.u))
    return _both(t, _put_inner, *arrays, shape=_around(x.shape, axis))


def scatter_nd(t):
    q, count = t.cell.tuple_size, math.prod(t.i.shape[:-1])
    i = _seen(t.i, count, q)
    if t.cell.mode == "drop":
        return _both(t, _drop, t.x, i, t.u)
    if t.x.ndim == q:
        return _both(t, (_put1, _put2, _put3)[q - 1], t.x, i, t.u)
    shape = (*t.x.shape[:q], math.prod(t.x.shape[q:]))
    return _both(t, (_put_slices1, _put_slices2)[q - 1], _seen(t.x, *shape), i, _seen(t.u, count, -1), shape=shape)


def _put_flat(x, i, u, y):
    y[:] = x
    for n in numba.prange(i.size):
        y[i[n]] = u[n]


def _drop(x, i, u, y):
    y[:] = x
    for n in numba.prange(i.shape[0]):
        at = i[n, 0]
        if -x.shape[0] <= at < x.shape[0]:
            y[at] = u[n]


def _put_last(x, i, u, y):
    for row in numba.prange(x.shape[0]):
        y[row] = x[row]
        for n in range(i.shape[1]):
            y[row, i[row, n]] = u[row, n]


def _put_inner(x, i, u, y):
    y[:] = x
    for n in numba.prange(i.shape[0] * i.shape[1]):
        outer, row = divmod(n, i.shape[1])
        for k in range(i.shape[2]):
            y[outer, i[outer, row, k], k] = u[outer, row, k]


def _add(x, i, u, parts, y):
    """Columns are shared out, so that no two threads add to the same element."""
    y[:] = x
    for part in numba.prange(parts):
        first, last = part * x.shape[1] // parts, (part + 1) * x.shape[1] // parts
        for row in range(i.shape[0]):
            for k in range(first, last):
                y[i[row, k], k] += u[row, k]


def _put1(x, i, u, y):
    y[:] = x
    for n in numba.prange(i.shape[0]):
        y[i[n, 0]] = u[n]


def _put2(x, i, u, y):
    y[:] = x
    for n in numba.prange(i.shape[0]):
        y[i[n, 0], i[n, 1]] = u[n]


def _put3(x, i, u, y):
    y[:] = x
    for n in numba.prange(i.shape[0]):
        y[i[n, 0], i[n, 1], i[n, 2]] = u[n]


def _put_slices1(x, i, u, y):
    y[:] = x
    for n in numba.prange(i.shape[0]):
        for k in range(x.shape[1]):
            y[i[n, 0], k] = u[n, k]


def _put_slices2(x, i, u, y):
    y[:] = x
    for n in numba.prange(i.shape[0]):
        for k in range(x.shape[2]):
            y[i[n, 0], i[n, 1], k] = u[n, k]


# nonzero_coordinates: count per chunk, add up, write; without a branch that depends on the data


def nonzero_coordinates(t):
    x, zero = t.x, t.x.dtype.type(0)
    wide = x.ndim > 1 and x.shape[-1] >= 16
    seen = _seen(x, -1, x.shape[-1]) if wide else _seen(x, -1)
    count, write = _loop(_count_rows if wide else _count_chunks), _loop(_write_rows if wide else _write_chunks)
    shape = np.array(x.shape)

    def run():
        rows = seen() if callable(seen) else seen
        ends = np.cumsum(count(rows, zero))
        y = np.empty((ends[-1], x.ndim), np.uint32)
        write(rows, zero, ends, shape, y)
        return y

    yield Call("loops", "fresh", run)


def _count_rows(x, zero):
    counts = np.empty(x.shape[0], np.int64)
    for row in numba.prange(x.shape[0]):
        count = 0
        for k in range(x.shape[1]):
            count += x[row, k] != zero
        counts[row] = count
    return counts


def _write_rows(x, zero, ends, shape, y):
    last = shape.size - 1
    for row in numba.prange(x.shape[0]):
        start = ends[row - 1] if row else 0
        columns = np.empty(x.shape[1], np.uint32)
        count = 0
        for k in range(x.shape[1]):
            columns[count] = k
            count += x[row, k] != zero
        at = row
        for d in range(last - 1, -1, -1):
            at, coordinate = divmod(at, shape[d])
            for n in range(count):
                y[start + n, d] = coordinate
        for n in range(count):
            y[start + n, last] = columns[n]


def _count_chunks(x, zero):
    chunks = (x.size + CHUNK - 1) // CHUNK
    counts = np.empty(chunks, np.int64)
    for chunk in numba.prange(chunks):
        count = 0
        for k in range(chunk * CHUNK, min(x.size, (chunk + 1) * CHUNK)):
            count += x[k] != zero
        counts[chunk] = count
    return counts


def _write_chunks(x, zero, ends, shape, y):
    for chunk in numba.prange(ends.size):
        start = ends[chunk - 1] if chunk else 0
        found = np.empty(CHUNK, np.int64)
        count = 0
        for k in range(chunk * CHUNK, min(x.size, (chunk + 1) * CHUNK)):
            found[count] = k
            count += x[k] != zero
        if shape.size == 1:
            for n in range(count):
                y[start + n, 0] = found[n]
        else:
            for n in range(count):
                at = found[n]
                for d in range(shape.size - 1, -1, -1):
                    y[start + n, d] = at % shape[d]
                    at //= shape[d]
