"""Random data, and memory layouts: the same values, shape and dtype elsewhere in memory.

Only the broadcast layout changes the values that it is given. And zeros that begin somewhere in a cache line.
"""

import math
from contextlib import contextmanager

import numpy as np


def random_data(rng, dtype: np.dtype, shape) -> np.ndarray:
    """Any bytes at all: every NaN payload, infinities, denormals; and zeros of both signs."""
    count = int(np.prod(shape, dtype=object))
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    data = np.frombuffer(rng.bytes(count * dtype.itemsize), dtype).copy()
    if count:
        data[rng.random(count) < 0.3] = np.zeros((), dtype)
        if dtype.kind == "f":
            data[rng.random(count) < 0.1] = -0.0
            data[rng.random(count) < 0.1] = np.nan
    return data.reshape(shape)


def plain_data(rng, dtype: np.dtype, shape) -> np.ndarray:
    """Small whole numbers."""
    return rng.integers(0, 2 if dtype == np.bool_ else 100, shape).astype(dtype)


# ---- layouts: the same dtype and shape elsewhere in memory --------------------------------------------------------


def _transposed(a, rng):
    order = rng.permutation(a.ndim)
    stored = np.empty([a.shape[d] for d in order], a.dtype)
    view = stored.transpose(np.argsort(order))
    view[...] = a
    return view


def _reversed(a, rng):
    flip = (*(slice(None, None, -1 if rng.random() < 0.7 else 1) for _ in a.shape), ...)
    stored = np.empty(a.shape, a.dtype)
    stored[flip] = a
    return stored[flip]


def _sliced(a, rng):
    steps = [int(s) for s in rng.integers(1, 4, a.ndim)]
    starts = [int(s) for s in rng.integers(0, 3, a.ndim)]
    big = np.zeros([o + n * s for o, n, s in zip(starts, a.shape, steps, strict=True)], a.dtype)
    view = big[(*(slice(o, o + n * s, s) for o, n, s in zip(starts, a.shape, steps, strict=True)), ...)]
    view[...] = a
    return view


def _unaligned(a, rng):
    view = np.empty(a.nbytes + 1, np.uint8)[1:].view(a.dtype).reshape(a.shape)
    view[...] = a
    return view


def _read_only(a, rng):
    a = np.array(a)
    a.flags.writeable = False
    return a


def _broadcast(a, rng):
    keep = (*(slice(0, 1) if rng.random() < 0.5 else slice(None) for _ in a.shape), ...)
    return np.broadcast_to(np.array(a[keep]), a.shape)


WRITABLE = {
    "C": lambda a, rng: np.array(a, order="C"),
    "Fortran": lambda a, rng: np.array(a, order="F"),
    "transposed": _transposed,
    "reversed": _reversed,
    "sliced": _sliced,
    "unaligned": _unaligned,
}
LAYOUTS = {**WRITABLE, "read-only": _read_only, "broadcast": _broadcast}  # broadcast changes the values


def lay_out(a: np.ndarray, rng, layouts=LAYOUTS) -> np.ndarray:
    """The array in a layout that is drawn."""
    return layouts[list(layouts)[rng.integers(len(layouts))]](a, rng)


def reordered(array, order):
    """The same numbers; in memory the dimensions are in the given order."""
    return np.ascontiguousarray(array.transpose(order)).transpose(np.argsort(order))


@contextmanager
def at_offset(shape, dtype, offset):
    """Zeros that begin `offset` bytes after a cache line does; what lies around them is looked at afterwards."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.full(size + 256, 255, "uint8")
    begin = -memory.ctypes.data % 64 + 64 + offset
    array = np.ndarray(shape, dtype, memory, begin)
    array[...] = 0
    yield array
    assert (memory[:begin] == 255).all() and (memory[begin + size :] == 255).all()
