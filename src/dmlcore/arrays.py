"""The slow paths of the array door: what is not a plain ndarray with a native index type is converted or refused here.

The compiled code calls these functions only when its own fast tests do not decide.
"""

import operator

import numpy as np

_WIDER = {np.dtype(t): np.dtype(w) for t, w in (("i1", "i4"), ("i2", "i4"), ("u1", "u4"), ("u2", "u4"))}


def convert(value, name: str) -> np.ndarray:
    """numpy.asarray for everything that is not exactly an ndarray; masked arrays are refused, their mask would be lost."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, whose mask would be ignored; pass {name}.filled(...) or {name}.data")
    return np.asarray(value)


def byte_order_error(name: str, array: np.ndarray) -> ValueError:
    """For arrays whose bytes are in the other order."""
    return ValueError(
        f"{name} has dtype {array.dtype.str!r} in non-native byte order; expected native order: "
        f"{name}.astype({name}.dtype.newbyteorder('='))"
    )


def widen_indices(value, array: np.ndarray) -> np.ndarray:
    """8- and 16-bit integers as 32-bit ones; an empty list as integers; anything else as it is, for the validator."""
    if array.dtype in _WIDER:
        return array.astype(_WIDER[array.dtype])
    if array.size == 0 and not isinstance(value, np.ndarray) and array.dtype == np.float64:
        return array.astype(np.int64)
    return array


def overlaps_itself(array: np.ndarray) -> bool:
    """Whether two elements may share an address: dimensions, from the smallest stride up, must not reach into the next."""
    reach = array.itemsize
    for stride, size in sorted((abs(s), n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if stride < reach:
            return array.size > 0
        reach += stride * (size - 1)
    return False


def as_int(value, name: str) -> int:
    """Anything with __index__ as a plain integer."""
    try:
        return int(operator.index(value))
    except TypeError:
        raise TypeError(f"{name} is {value!r} of type {type(value).__name__}, expected an integer") from None


def thread_count(value) -> int:
    """A number of threads that a caller gave: a positive integer."""
    number = as_int(value, "num_threads")
    if number < 1:
        raise ValueError(f"num_threads is {number}, expected None or a positive integer")
    return min(number, 2**31 - 1)


def coordinate_type(dtype) -> int:
    """The NumPy type number of the dtype of coordinates."""
    dtype = np.dtype(dtype)
    if dtype not in (np.dtype(np.uint32), np.dtype(np.int64)):
        raise ValueError(f"dtype is {dtype}, expected uint32 or int64")
    return dtype.num
