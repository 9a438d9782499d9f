"""DirectML's descriptors as Python objects: TensorDesc, and the base of the generated operator descriptors.

They hold what they are given and compute what DirectML lets a caller leave out; whether a descriptor is valid is the
validator's business (`validation.py`), so that every violation can be reported together.
"""

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from ._generated.enums import DATA_TYPES, NUMPY_TYPES
from .lists import product

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike, DTypeLike

__all__ = ["OperatorDesc", "TensorDesc"]

_UINT_MAX, _UINT64_MAX = 2**32 - 1, 2**64 - 1
_NAMES = {value: name for name, (value, _) in DATA_TYPES.items()}
_TYPE_OF_NUMPY = {np.dtype(name): data_type for data_type, name in NUMPY_TYPES.items()}


def _unsigned(value, name: str, limit: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r} of type {type(value).__name__}, expected an integer") from None
    if not 0 <= number <= limit:
        raise ValueError(f"{name} is {number}, expected 0 to {limit}")
    return number


def _integers(values, name: str) -> tuple[int, ...]:
    """Any integers: whether they fit a UINT is a rule of its own, which `check` reports."""
    try:
        return tuple(operator.index(v) for v in values)
    except TypeError:
        raise TypeError(f"{name} is {values!r}, expected a sequence of integers") from None


class _Frozen:
    """Comparable, hashable, picklable, unchangeable; the subclasses name their fields in __slots__."""

    __slots__ = ()

    def __setattr__(self, name, value=None):
        raise AttributeError(f"{type(self).__name__} cannot be changed; make a new one")

    __delattr__ = __setattr__

    def _fields(self) -> dict:
        return {name: getattr(self, name) for name in self.__slots__}

    def __eq__(self, other):
        return self._fields() == other._fields() if type(self) is type(other) else NotImplemented

    def __hash__(self):
        return hash((type(self), *self._fields().values()))

    def __repr__(self):
        fields = ", ".join(f"{k}={v!r}" for k, v in self._fields().items() if v is not None)
        return f"{type(self).__name__}({fields})"

    def __reduce__(self):
        return _rebuild, (type(self), self._fields())


def _rebuild(cls, fields):
    return cls(**fields)


class TensorDesc(_Frozen):
    """A DML_BUFFER_TENSOR_DESC.

    Parameters
    ----------
    data_type : str
        DirectML's name, ``"FLOAT32"``; a NumPy dtype or a value of DML_TENSOR_DATA_TYPE is translated.
    sizes : sequence of int
    strides : sequence of int, optional
        In elements; 0 broadcasts. None means packed.
    total_tensor_size_in_bytes : int, optional
        Computed (64 bit, rounded up to 4) when None.
    guaranteed_base_offset_alignment : int, optional

    Examples
    --------
    >>> import dmlcore
    >>> t = dmlcore.TensorDesc("FLOAT16", (2, 3))
    >>> t.total_tensor_size_in_bytes
    12
    >>> t.to_dict()["Sizes"]
    [2, 3]
    """

    __slots__ = (
        "data_type",
        "sizes",
        "strides",
        "total_tensor_size_in_bytes",
        "guaranteed_base_offset_alignment",
    )
    data_type: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...] | None
    total_tensor_size_in_bytes: int
    guaranteed_base_offset_alignment: int

    def __init__(
        self,
        data_type: "str | int | DTypeLike",
        sizes: Iterable[SupportsIndex],
        strides: Iterable[SupportsIndex] | None = None,
        total_tensor_size_in_bytes: SupportsIndex | None = None,
        guaranteed_base_offset_alignment: SupportsIndex = 0,
    ) -> None:
        put = object.__setattr__
        put(self, "data_type", _data_type(data_type))
        put(self, "sizes", _integers(sizes, "sizes"))
        put(self, "strides", None if strides is None else _integers(strides, "strides"))
        total = total_tensor_size_in_bytes
        total = min(self.minimum_size, _UINT64_MAX) if total is None else total
        put(self, "total_tensor_size_in_bytes", _unsigned(total, "total_tensor_size_in_bytes", _UINT64_MAX))
        alignment = _unsigned(guaranteed_base_offset_alignment, "guaranteed_base_offset_alignment", _UINT_MAX)
        put(self, "guaranteed_base_offset_alignment", alignment)

    @property
    def data_type_value(self) -> int:
        """The value of DML_TENSOR_DATA_TYPE."""
        return DATA_TYPES[self.data_type][0]

    @property
    def minimum_size(self) -> int:
        """The smallest TotalTensorSizeInBytes that DirectML accepts."""
        bits = DATA_TYPES[self.data_type][1]
        if self.strides is None:
            elements = product(self.sizes)
        else:
            steps = zip(self.sizes, self.strides, strict=False)
            elements = 1 + sum(max(size - 1, 0) * stride for size, stride in steps)
        return max(0, -(-(elements * bits) // 32) * 4)

    @property
    def dtype(self) -> np.dtype | None:
        """The NumPy dtype of the elements; None where NumPy has none."""
        name = NUMPY_TYPES.get(self.data_type)
        return None if name is None else np.dtype(name)

    @classmethod
    def from_array(cls, array: "ArrayLike", *, strided: bool = False) -> "TensorDesc":
        """Describes an array; with ``strided=True`` its strides too (in elements).

        >>> import dmlcore, numpy as np
        >>> dmlcore.TensorDesc.from_array(np.zeros((2, 3), np.float32)).data_type
        'FLOAT32'
        """
        array = np.asarray(array)
        strides = None
        if strided:
            if any(s < 0 or s % array.itemsize for s in array.strides):
                raise ValueError(f"strides {array.strides} bytes cannot be told in elements of {array.itemsize} bytes")
            strides = tuple(s // array.itemsize for s in array.strides)
        return cls(array.dtype, array.shape, strides)

    def to_dict(self) -> dict[str, Any]:
        """The members by DirectML's names."""
        return {
            "DataType": self.data_type,
            "Sizes": list(self.sizes),
            "Strides": None if self.strides is None else list(self.strides),
            "TotalTensorSizeInBytes": self.total_tensor_size_in_bytes,
            "GuaranteedBaseOffsetAlignment": self.guaranteed_base_offset_alignment,
        }

    @classmethod
    def from_dict(cls, members: dict[str, Any]) -> "TensorDesc":
        """The inverse of :meth:`to_dict`; members beyond DataType and Sizes may be missing."""
        known = ("DataType", "Sizes", "Strides", "TotalTensorSizeInBytes", "GuaranteedBaseOffsetAlignment")
        _require(members, known, known[:2], "a tensor")
        data_type = str(members["DataType"]).removeprefix("DML_TENSOR_DATA_TYPE_")
        rest = (members.get(name) for name in known[1:4])
        return cls(data_type, *rest, members.get(known[4]) or 0)


def _data_type(value) -> str:
    if isinstance(value, str) and value in DATA_TYPES:
        return value
    if type(value) is int and value in _NAMES:
        return _NAMES[value]
    try:
        dtype = np.dtype(value)
    except TypeError:
        dtype = None
    if dtype in _TYPE_OF_NUMPY:
        return _TYPE_OF_NUMPY[dtype]
    raise ValueError(f"data_type is {value!r}, expected one of {', '.join(DATA_TYPES)}")


def _require(members, known, needed, what: str) -> None:
    if not isinstance(members, dict):
        raise TypeError(f"{what} is {type(members).__name__}, expected a dictionary of DirectML's members")
    for name in members:
        if name not in known:
            raise ValueError(f"{what} has no member {name}; it has {', '.join(known)}")
    for name in needed:
        if name not in members:
            raise ValueError(f"{what} needs the member {name}")


class OperatorDesc(_Frozen):
    """Base of the operator descriptors, which are generated from the specifications.

    Keyword arguments are DirectML's members in snake_case without ``Tensor``. Outputs may be left out: their sizes and
    types then follow from the rules of the operator.
    """

    __slots__ = ()
    operator: str
    MEMBERS: tuple[tuple[str, str, str], ...]  # DirectML's name, keyword, kind

    def _set(self, **values):
        for name, keyword, kind in self.MEMBERS:
            value = values[keyword]
            if kind in ("input", "output"):
                if not (isinstance(value, TensorDesc) or (value is None and kind == "output")):
                    raise TypeError(f"{keyword} ({name}) is {type(value).__name__}, expected a TensorDesc")
            elif value is not None:
                value = _unsigned(value, f"{keyword} ({name})", _UINT_MAX)
            object.__setattr__(self, keyword, value)

    def infer(self) -> "Self":
        """The same descriptor with the outputs filled in that were left out, as the operator's rules give them.

        >>> import dmlcore
        >>> from dmlcore import TensorDesc
        >>> desc = dmlcore.GatherElementsDesc(input=TensorDesc("FLOAT32", (2, 3)), indices=TensorDesc("INT64", (5, 3)), axis=0)
        >>> desc.infer().output.sizes
        (5, 3)
        """
        from .levels import NEWEST
        from .validation import violated

        _, inferred, _ = violated(self, NEWEST)
        values: dict[str, Any] = {keyword: getattr(self, keyword) for _, keyword, _ in self.MEMBERS}
        for _, keyword, kind in self.MEMBERS:
            if kind == "output" and values[keyword] is None:
                values[keyword] = TensorDesc(*inferred[keyword])
        return type(self)(**values)

    def to_dict(self) -> dict[str, Any]:
        """The members by DirectML's names; what was left out is left out here too."""
        members = {}
        for name, keyword, _ in self.MEMBERS:
            value = getattr(self, keyword)
            if value is not None:
                members[name] = value.to_dict() if isinstance(value, TensorDesc) else value
        return members

    @classmethod
    def from_dict(cls, members: dict[str, Any]) -> "Self":
        """The inverse of :meth:`to_dict`."""
        known = tuple(name for name, _, _ in cls.MEMBERS)
        needed = [name for name, _, kind in cls.MEMBERS if kind == "input"]
        _require(members, known, needed, cls.__name__)
        values = {}
        for name, keyword, kind in cls.MEMBERS:
            if members.get(name) is not None:
                value = members[name]
                values[keyword] = TensorDesc.from_dict(value) if kind in ("input", "output") else value
        return cls(**values)
