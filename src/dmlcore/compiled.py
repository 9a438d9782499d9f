"""A descriptor that has been validated once and runs on arrays: DirectML's CompileOperator, on the CPU.

Binding checks arrays against the descriptor only; the rules of the operator were checked when it was compiled.
"""

from typing import Any

import numpy as np

from ._generated import operators
from .arrays import overlaps_itself
from .descs import OperatorDesc, TensorDesc
from .errors import constraint_error
from .levels import FeatureLevel
from .levels import feature_level as _feature_level
from .validation import check, violated

__all__ = ["CompiledOperator", "compile"]


def compile(desc: OperatorDesc, feature_level=None, mode: str = "raise", fill_value=0) -> "CompiledOperator":
    """Validates a descriptor and returns an operator that can be called with arrays.

    Parameters
    ----------
    desc : operator descriptor
    feature_level : FeatureLevel, str or int, optional
        The newest by default.
    mode : {"raise", "clip", "fill", "drop"}, optional
        What happens to an index that is out of range: gathers raise, clip or fill, scatters raise or drop.
    fill_value : scalar, optional
        With ``mode="fill"``.

    Returns
    -------
    CompiledOperator

    Raises
    ------
    ConstraintError
        When the descriptor breaks a rule at this level; ``.violations`` has all of them.
    ValueError
        For a level or a mode that does not exist, and for an output's strides by which elements share addresses.
    TypeError
        When ``desc`` is no operator descriptor.

    Examples
    --------
    >>> import dmlcore, numpy as np
    >>> from dmlcore import TensorDesc
    >>> desc = dmlcore.GatherElementsDesc(input=TensorDesc("FLOAT32", (2, 2)), indices=TensorDesc("INT64", (1, 2)), axis=0)
    >>> op = dmlcore.compile(desc, feature_level="3.0")
    >>> op(np.array([[1, 2], [3, 4]], np.float32), np.array([[1, 0]]))
    array([[3., 2.]], dtype=float32)
    """
    return CompiledOperator(desc, _feature_level(feature_level), mode, fill_value)


class CompiledOperator:
    """An operator made by :func:`compile`; call it with the input arrays in the order of the descriptor's members.

    Arrays have exactly the descriptor's Sizes and data type. Where the descriptor has strides, an array has those
    strides, or is a flat buffer of TotalTensorSizeInBytes. ``out`` is one array, or a tuple where there are two outputs.
    Pickles as its descriptor.
    """

    def __init__(self, desc: OperatorDesc, level: FeatureLevel, mode: str, fill_value=0):
        broken, inferred, uints = violated(desc, level)
        if broken:
            raise constraint_error(check(desc, level))
        self.desc, self.feature_level, self.mode, self.fill_value = desc, level, mode, fill_value
        accepted = operators.MODES[desc.operator]
        if mode not in accepted:
            raise ValueError(f"mode is {mode!r}, expected one of {', '.join(map(repr, accepted))}")
        self._uints = tuple(uints.values())
        self._inputs, self._outputs = [], []
        for name, keyword, kind in desc.MEMBERS:
            tensor = getattr(desc, keyword)
            if kind == "input":
                self._inputs.append((keyword, tensor))
            elif kind == "output":
                self._outputs.append((keyword, tensor or TensorDesc(*inferred[keyword])))
                _refuse_overlap(name, self._outputs[-1][1])
        self._bound_inputs = [(keyword, tensor, _plain(tensor)) for keyword, tensor in self._inputs]
        self._bound_outputs = [(keyword, tensor, _plain(tensor)) for keyword, tensor in self._outputs]
        self._run, self._all_written = operators.RUN[desc.operator], operators.WRITES_ALL[desc.operator]

    def __repr__(self) -> str:
        return f"<dmlcore.CompiledOperator {self.desc.operator} at {self.feature_level.name}, mode={self.mode!r}>"

    def __reduce__(self):
        return compile, (self.desc, self.feature_level, self.mode, self.fill_value)

    def __call__(self, *arrays: Any, out: Any = None, num_threads: int | None = None) -> Any:
        """Runs the operator.

        Parameters
        ----------
        *arrays : array_like
            One for each input, with the descriptor's Sizes and data type.
        out : numpy.ndarray or tuple of numpy.ndarray, optional
            Where to write the output, or all outputs.
        num_threads : int, optional
            How many threads at most, for this call.

        Returns
        -------
        numpy.ndarray or tuple of numpy.ndarray
            The output, which is ``out`` where that was given; the outputs where there are two.

        Raises
        ------
        TypeError
            For another number of arrays, for an array of another data type than its descriptor's, and for ``num_threads`` that
            is no integer.
        ValueError
            For another shape, other strides, another byte order, an ``out`` that is read-only, overlaps itself or shares memory
            with another; for ``num_threads`` below 1.
        IndexOutOfRangeError
            For an index that is out of range, where ``mode`` is "raise".

        Examples
        --------
        >>> import dmlcore, numpy as np
        >>> from dmlcore import TensorDesc
        >>> desc = dmlcore.GatherNDDesc(
        ...     input=TensorDesc("INT32", (2, 2)), indices=TensorDesc("INT64", (1, 2)),
        ...     input_dimension_count=2, indices_dimension_count=2)
        >>> dmlcore.compile(desc)(np.array([[1, 2], [3, 4]], np.int32), [[1, 0]])
        array([[3]], dtype=int32)
        """
        if len(arrays) != len(self._inputs):
            wanted = ", ".join(keyword for keyword, _ in self._inputs)
            raise TypeError(f"{self.desc.operator} takes {len(self._inputs)} arrays ({wanted}), {len(arrays)} given")
        views = [
            a if _fits(a, plain) else _bind(k, t, a, False) for (k, t, plain), a in zip(self._bound_inputs, arrays, strict=True)
        ]
        fresh = out is None
        if fresh:
            results = [_allocate(t, plain, self._all_written) for _, t, plain in self._bound_outputs]
            views += results
        else:
            results = out if isinstance(out, tuple) else (out,)
            if len(results) != len(self._outputs):
                wanted = ", ".join(keyword for keyword, _ in self._outputs)
                raise TypeError(f"out is {len(results)} array(s), expected {len(self._outputs)} ({wanted})")
            written = [
                a if _fits(a, plain) and a.flags.carray else _bind(k, t, a, True)
                for (k, t, plain), a in zip(self._bound_outputs, results, strict=True)
            ]
            _refuse_shared(self._outputs, written)
            views += written
        self._run(self._uints, tuple(views), self.mode, self.fill_value, fresh, num_threads)
        return tuple(results) if len(results) > 1 else results[0]


def _plain(tensor: TensorDesc) -> tuple | None:
    """Data type and Sizes of a descriptor without strides: most arrays have just those, and nothing else is to be checked."""
    return (tensor.dtype, tensor.sizes) if tensor.strides is None else None


def _fits(array, plain: tuple | None) -> bool:
    return plain is not None and type(array) is np.ndarray and array.dtype == plain[0] and array.shape == plain[1]


def _allocate(tensor: TensorDesc, plain: tuple | None, all_written: bool) -> np.ndarray:
    """A fresh array, of zeros where not all of it is going to be written; with strides, a view into a buffer as large as the
    descriptor says."""
    if plain is None:
        return _strided(np.zeros(tensor.total_tensor_size_in_bytes, np.uint8), tensor)
    return operators.empty_array(plain[1], plain[0]) if all_written else np.zeros(plain[1], plain[0])


def _strided(buffer: np.ndarray, tensor: TensorDesc) -> np.ndarray:
    strides = tuple(s * tensor.dtype.itemsize for s in tensor.strides)
    return np.ndarray(tensor.sizes, tensor.dtype, buffer, 0, strides)


def _bind(keyword: str, tensor: TensorDesc, value, writing: bool):
    """A view of the caller's array with the descriptor's sizes, or an error that names the array."""
    if writing and not isinstance(value, np.ndarray):
        raise TypeError(f"out: {keyword} is {type(value).__name__}, expected a numpy.ndarray")
    array = np.asarray(value)
    if array.dtype.newbyteorder("=") == tensor.dtype and not array.dtype.isnative:
        raise ValueError(f"{keyword} has dtype {array.dtype.str!r} in non-native byte order, expected native order")
    if writing and not array.flags.writeable:
        raise ValueError(f"out: {keyword} is read-only, expected a writable array")
    fits = array.dtype == tensor.dtype and array.shape == tensor.sizes
    flat = array.ndim == 1 and array.flags.c_contiguous and array.nbytes == tensor.total_tensor_size_in_bytes
    if tensor.strides is not None and flat and array.dtype in (tensor.dtype, np.uint8) and not fits:
        return _strided(array.view(np.uint8), tensor)
    if array.dtype != tensor.dtype:
        raise TypeError(f"{keyword} has dtype {array.dtype}, its descriptor has {tensor.data_type} ({tensor.dtype})")
    if array.shape != tensor.sizes:
        raise ValueError(f"{keyword} has shape {array.shape}, its descriptor has Sizes {tensor.sizes}")
    if tensor.strides is not None:
        wanted = tuple(s * tensor.dtype.itemsize for s in tensor.strides)
        pairs = zip(tensor.sizes, array.strides, wanted, strict=True)
        if any(size > 1 and have != want for size, have, want in pairs):
            raise ValueError(
                f"{keyword} has strides of {array.strides} bytes, its descriptor has {wanted}; or pass a flat buffer of "
                f"{tensor.total_tensor_size_in_bytes} bytes"
            )
    if writing and overlaps_itself(array):
        raise ValueError(f"out: {keyword} overlaps itself, expected an address for each element")
    return array


def _refuse_overlap(name: str, tensor: TensorDesc) -> None:
    if tensor.strides is not None and overlaps_itself(_Shape(tensor)):
        raise ValueError(f"{name} has Strides {tensor.strides} by which elements share addresses; an output cannot")


class _Shape:
    """Enough of an array for the overlap test."""

    def __init__(self, tensor: TensorDesc):
        self.itemsize, self.shape, self.size = tensor.dtype.itemsize, tensor.sizes, 1
        self.strides = tuple(s * self.itemsize for s in tensor.strides)


def _refuse_shared(descs, outputs) -> None:
    """Two outputs must not share memory: writing one would change the other."""
    for i, a in enumerate(outputs):
        for j in range(i):
            if np.may_share_memory(a, outputs[j]):
                raise ValueError(f"out: {descs[j][0]} and {descs[i][0]} share memory, expected separate arrays")
