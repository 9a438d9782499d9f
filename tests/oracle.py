"""What the operators mean, a second time and in plain loops, independent of the product and of the specification's
NumPy.

One function for each array function of DirectML's family; an operator that is not here is tested against the
specification's oracle alone. Indices are resolved one by one, in row-major order, with all modes and reductions.
"""

import numpy as np

import dmlcore
from dmlcore._generated import oracle as meanings


class OutOfRange(Exception):
    """The first bad index: (position, value, length of the dimension)."""


SKIP = object()


def resolve(value, length: int, mode: str, position):
    """The place that an index names; SKIP where the mode says that there is none."""
    value = int(value)  # an unsigned value stays what it is
    if -length <= value < length:
        return value % length
    if mode == "raise":
        raise OutOfRange(position, value, length)
    if mode == "clip":
        return 0 if value < 0 else length - 1
    return SKIP


def _tuple(row, lengths, mode, position):
    places = [resolve(v, n, mode, (*position, k)) for k, (v, n) in enumerate(zip(row, lengths, strict=True))]
    return SKIP if SKIP in places else tuple(places)


def _combine(output, place, update, reduction):
    with np.errstate(all="ignore"):
        if reduction == "none":
            output[place] = update
        elif output.dtype == bool:
            both = {"add": np.logical_or, "mul": np.logical_and, "min": np.logical_and, "max": np.logical_or}
            output[place] = both[reduction](output[place], update)
        else:
            both = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}
            output[place] = both[reduction](output[place], update, dtype=output.dtype)


def _filled(fill_value, like):
    return np.asarray(fill_value).astype(like.dtype)


def gather(input, indices, axis=0, mode="raise", fill_value=0):
    """ONNX Gather."""
    axis %= input.ndim
    output = np.empty(input.shape[:axis] + indices.shape + input.shape[axis + 1 :], input.dtype)
    for position in np.ndindex(indices.shape):
        place = resolve(indices[position], input.shape[axis], mode, position)
        front = (slice(None),) * axis
        output[(*front, *position)] = _filled(fill_value, input) if place is SKIP else input[(*front, place)]
    return output


def gather_elements(input, indices, axis=0, mode="raise", fill_value=0):
    """ONNX GatherElements, indices possibly smaller than the input off the axis."""
    axis %= input.ndim
    output = np.empty(indices.shape, input.dtype)
    for position in np.ndindex(indices.shape):
        place = resolve(indices[position], input.shape[axis], mode, position)
        where = (*position[:axis], place, *position[axis + 1 :])
        output[position] = _filled(fill_value, input) if place is SKIP else input[where]
    return output


def gather_nd(input, indices, batch_dims=0, mode="raise", fill_value=0):
    """ONNX GatherND."""
    width = indices.shape[-1]
    lengths = input.shape[batch_dims : batch_dims + width]
    output = np.empty(indices.shape[:-1] + input.shape[batch_dims + width :], input.dtype)
    for position in np.ndindex(indices.shape[:-1]):
        place = _tuple(indices[position], lengths, mode, position)
        output[position] = _filled(fill_value, input) if place is SKIP else input[position[:batch_dims] + place]
    return output


def scatter_elements(input, indices, updates, axis=0, reduction="none", mode="raise"):
    """ONNX ScatterElements; the last of several updates stays."""
    axis %= input.ndim
    output = input.copy()
    for position in np.ndindex(indices.shape):
        place = resolve(indices[position], input.shape[axis], mode, position)
        if place is not SKIP:
            _combine(output, (*position[:axis], place, *position[axis + 1 :]), updates[position], reduction)
    return output


def scatter_nd(input, indices, updates, reduction="none", mode="raise"):
    """ONNX ScatterND; the last of several updates stays."""
    output = input.copy()
    for position in np.ndindex(indices.shape[:-1]):
        place = _tuple(indices[position], input.shape[: indices.shape[-1]], mode, position)
        if place is not SKIP:
            _combine(output, place, updates[position], reduction)
    return output


def nonzero_coordinates(input):
    """Coordinates of all that is not zero, in row-major order; every NaN is not zero."""
    with np.errstate(invalid="ignore"):
        found = [position for position in np.ndindex(input.shape) if input[position] != 0]
    return np.array(found, np.uint32).reshape(len(found), input.ndim)


LOOPS = {f.__name__: f for f in (gather, gather_elements, gather_nd, scatter_elements, scatter_nd, nonzero_coordinates)}


def from_spec(op):
    """The function that the operator's specification gives as its meaning."""
    return getattr(meanings, op.name.lower())


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal shape, dtype and bytes: NaN payloads and signs of zeros count."""
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def same_values(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal shape, dtype and values: one NaN is as good as another (what reductions promise)."""
    with np.errstate(invalid="ignore"):
        return a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind in "fcV")


def call(op, arrays: dict, options: dict, **more):
    """The array function of an operator on arrays by parameter."""
    return getattr(dmlcore, op.python.function)(*arrays.values(), **options, **more)
