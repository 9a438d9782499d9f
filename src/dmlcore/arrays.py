"""The slow paths of the array door: what is not a plain ndarray with a native index type is converted or refused here.

The compiled code calls these functions only when its own fast tests do not decide.
"""

import operator

import numpy as np

from .threads import MOST

_WIDER = {np.dtype(t): np.dtype(w) for t, w in (("i1", "i4"), ("i2", "i4"), ("u1", "u4"), ("u2", "u4"))}


def convert(value, name: str) -> np.ndarray:
    """numpy.asarray for everything that is not exactly an ndarray; masked arrays are refused, their mask would be lost.

    Objects with `__array__` or `__dlpack__` (tensors of torch and JAX on the CPU) are read where they are.
    """
    refuse_mask(value, name)
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def refuse_mask(value, name: str) -> None:
    """Raises TypeError for a masked array."""
    if isinstance(value, np.ma.MaskedArray):
        other = "" if name == "out" else f"{name}.filled(...) or "
        raise TypeError(f"{name} is a masked array, whose mask would be ignored; pass {other}{name}.data")


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
    return min(number, MOST)


def coordinate_type(dtype, out) -> int:
    """The NumPy type number of the dtype of coordinates: the one that was asked for, else that of out."""
    dtype = np.dtype(dtype) if dtype is not None else getattr(out, "dtype", np.dtype(np.uint32))
    if dtype not in (np.dtype(np.uint32), np.dtype(np.int64)):
        raise ValueError(f"dtype is {dtype}, expected uint32 or int64")
    return dtype.num


def _is_usual(value, kind: str) -> bool:
    """NaN, -1, 0 and so on, which every type of that kind has, or has something near."""
    if kind == "f":
        return type(value) in (int, float) and (value != value or (-1000 < value < 1000 and value == int(value)))
    return kind in "iu" and type(value) is int and 0 <= value < 128


def element(value, dtype: np.dtype) -> bytes:
    """The bytes of one element of value `value`; a value that the data type cannot represent is refused.

    Floating point types round, but do not turn a number into infinity; the others take exactly what they can hold.
    """
    if _is_usual(value, dtype.kind):
        return dtype.type(value).tobytes()
    error = ValueError(f"fill_value is {value!r}, expected a single value that {dtype} can represent")
    given = np.asarray(value)
    if given.ndim or given.dtype.kind not in "biufcV" or (given.dtype.kind == "c" and dtype.kind != "c"):
        raise error
    try:
        with np.errstate(all="ignore"):
            converted = given.astype(dtype)
            back = converted if dtype.kind == "c" else converted.astype(given.dtype)
    except (TypeError, ValueError, OverflowError):
        raise error from None
    if dtype.kind in "biu":
        fits = given.dtype.kind in "biuf" and int(converted) == value if np.isfinite(given) else False
    else:
        fits = bool(np.isfinite(back) | ~np.isfinite(given)) and (np.isnan(back) == np.isnan(given))
    if not fits:
        raise error
    return converted.tobytes()


def first_duplicate(places: np.ndarray) -> tuple[int, int] | None:
    """The first position, in row-major order, that names a place again, and the position that named it before."""
    order = np.argsort(places, kind="stable")
    again = np.flatnonzero(places[order[1:]] == places[order[:-1]])
    if not again.size:
        return None
    at = again[np.argmin(order[again + 1])]
    return int(order[at]), int(order[at + 1])
