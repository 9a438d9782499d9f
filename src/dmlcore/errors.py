"""The exceptions of dmlcore, and the Violation that says which rule is broken, where, and what would be accepted.

Checks are fast; words are made only after one has failed, by `explain.py`, which is imported at that moment.
"""

from typing import Any

__all__ = [
    "ConstraintError",
    "DataTypeConstraintError",
    "DmlcoreError",
    "DuplicateIndexError",
    "IndexOutOfRangeError",
    "Violation",
]


class DmlcoreError(Exception):
    """Base class of the errors that dmlcore defines."""


class Violation:
    """One broken rule.

    Attributes
    ----------
    rule : str
        Permanent id of the rule, for example ``GATHER_ND-IndexTupleSize-range``.
    operator, member : str
        Where: DirectML's names.
    found
        The offending value.
    expected : str
        What would be accepted.
    feature_level : str
        The level that was asked for, ``DML_FEATURE_LEVEL_2_1``.
    minimum_feature_level : str or None
        The lowest level that accepts the value; None when no level does.
    anchor : str
        Where the documentation explains the rule.
    message : str
        All of it as text.
    """

    FIELDS = (
        "rule",
        "operator",
        "member",
        "found",
        "expected",
        "feature_level",
        "minimum_feature_level",
        "anchor",
        "message",
    )
    __slots__ = FIELDS
    rule: str
    operator: str
    member: str
    found: Any
    expected: str
    feature_level: str
    minimum_feature_level: str | None
    anchor: str
    message: str

    def __init__(self, **facts):
        for name in self.FIELDS:
            setattr(self, name, facts[name])

    def as_dict(self) -> dict[str, Any]:
        """The attributes as a dictionary that `json.dumps` accepts."""
        return {name: _plain(getattr(self, name)) for name in self.FIELDS}

    def __str__(self) -> str:
        return self.message

    def __repr__(self) -> str:
        return f"Violation(rule={self.rule!r}, member={self.member!r}, found={self.found!r}, expected={self.expected!r})"

    def __eq__(self, other) -> bool:
        return isinstance(other, Violation) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash((self.rule, self.member, self.message))

    def __reduce__(self):
        return _violation, ({name: getattr(self, name) for name in self.FIELDS},)


def _violation(facts: dict) -> Violation:
    return Violation(**facts)


def _plain(value):
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    return value if value is None or isinstance(value, (int, float, str, bool)) else str(value)


class ConstraintError(DmlcoreError, ValueError):
    """A descriptor or a call breaks a rule of its operator.

    Carries the attributes of the first :class:`Violation` in the order of the specification (``rule``, ``operator``,
    ``member``, ``found``, ``expected``, ``feature_level``, ``minimum_feature_level``, ``anchor``), and all of them in
    ``violations``.
    """

    violations: tuple[Violation, ...]
    rule: str
    operator: str
    member: str
    found: Any
    expected: str
    feature_level: str
    minimum_feature_level: str | None
    anchor: str

    def __init__(self, violations):
        self.violations = tuple(violations)
        first = self.violations[0]
        more = len(self.violations) - 1
        note = f"\n  And {more} more violation{'s' * (more > 1)}: see .violations." if more else ""
        super().__init__(first.message + note)
        for name in Violation.FIELDS:
            setattr(self, name, getattr(first, name))

    def as_dict(self) -> dict[str, Any]:
        """The first violation as a dictionary, and all of them under ``violations``."""
        return {**self.violations[0].as_dict(), "violations": [v.as_dict() for v in self.violations]}

    def __reduce__(self):
        return type(self), (self.violations,)


class DataTypeConstraintError(ConstraintError, TypeError):
    """A ConstraintError about a data type; also a TypeError."""


class IndexOutOfRangeError(DmlcoreError, IndexError):
    """An index value lies outside the dimension that it indexes.

    Attributes
    ----------
    operator, tensor : str
        DirectML's names, ``GATHER_ND`` and ``IndicesTensor``.
    position : tuple of int
        Where in the index array, as given by the caller; the first one in row-major order.
    value : int
        The index found there.
    valid_range : tuple of int
        Smallest and largest index that would be accepted; (0, -1) when the dimension is empty.
    """

    operator: str
    tensor: str
    parameter: str
    position: tuple[int, ...]
    value: int
    valid_range: tuple[int, int]

    def __init__(self, operator, tensor, parameter, position, value, valid_range):
        self.operator, self.tensor, self.parameter = operator, tensor, parameter
        self.position, self.value, self.valid_range = position, value, valid_range
        low, high = valid_range
        accepted = f"accepted are {low} to {high}" if low <= high else "no index is accepted"
        super().__init__(
            f"{operator}: {parameter}{list(position)} ({tensor}) is {value}, which is out of range for a dimension of "
            f"length {high + 1}; {accepted}"
        )

    def as_dict(self) -> dict[str, Any]:
        """The attributes as a dictionary that `json.dumps` accepts."""
        names = ("operator", "tensor", "parameter", "position", "value", "valid_range")
        return {name: _plain(getattr(self, name)) for name in names}

    def __reduce__(self):
        return type(self), (
            self.operator,
            self.tensor,
            self.parameter,
            self.position,
            self.value,
            self.valid_range,
        )


class DuplicateIndexError(DmlcoreError, ValueError):
    """Two updates name one place, and the caller asked for ``duplicates="raise"``.

    Attributes
    ----------
    operator, tensor : str
        DirectML's names, ``SCATTER_ND`` and ``IndicesTensor``.
    first, second : tuple of int
        Where in the index array the place is named, and where it is named again; of tuples, where the tuple stands.
    """

    operator: str
    tensor: str
    parameter: str
    first: tuple[int, ...]
    second: tuple[int, ...]

    def __init__(self, operator, tensor, parameter, first, second):
        self.operator, self.tensor, self.parameter = operator, tensor, parameter
        self.first, self.second = first, second
        super().__init__(
            f"{operator}: {parameter}{list(second)} ({tensor}) names the same place as {parameter}{list(first)}; expected "
            "a place at most once with duplicates='raise'"
        )

    def as_dict(self) -> dict[str, Any]:
        """The attributes as a dictionary that `json.dumps` accepts."""
        names = ("operator", "tensor", "parameter", "first", "second")
        return {name: _plain(getattr(self, name)) for name in names}

    def __reduce__(self):
        return type(self), (self.operator, self.tensor, self.parameter, self.first, self.second)


def constraint_error(violations) -> ConstraintError:
    """The exception for these violations, typed by the first one."""
    about_type = "-DataType" in violations[0].rule
    return (DataTypeConstraintError if about_type else ConstraintError)(violations)


class UintFacts(dict):
    """The integer members by name: as the checks saw them, and in `given` as the caller wrote them (a negative axis)."""

    def __init__(self, values: dict, given: dict | None = None):
        super().__init__(values)
        self.given = given or {}


class TensorFact:
    """What the compiled code knows of a tensor when a check has failed: input of `explain.py`."""

    def __init__(self, data_type, dtype, sizes, strides, hidden=0, desc=None):
        self.DataType, self.dtype = data_type, dtype
        self.Sizes, self.Strides, self.DimensionCount = sizes, strides, len(sizes)
        self.hidden = hidden  # ones in front that the caller did not write
        if desc is not None:
            self.TotalTensorSizeInBytes = desc.total_tensor_size_in_bytes
            self.GuaranteedBaseOffsetAlignment = desc.guaranteed_base_offset_alignment
            self.minimum_size = desc.minimum_size


def array_error(operator: str, checks: list, tensors: dict, uints: dict, written: dict) -> ConstraintError:
    """The exception for a call of an array function; `checks` are numbers in the operator's list."""
    from .explain import explain

    given = {name for name, fact in tensors.items() if fact.dtype is not None}
    return constraint_error(explain(operator, checks, tensors, UintFacts(uints, written), None, given))


def _place(shape, position: int, tuples: bool) -> list[int]:
    """Where in the index array the position of that row-major number stands, without the coordinate of a tuple. The number
    may count through the array several times, once for each coordinate in front of GATHER's axis."""
    place = []
    for size in reversed(shape[:-1] if tuples else shape):
        place.insert(0, position % size)
        position //= size
    return place


def index_error(operator, tensor, parameter, shape, position, coordinate, value, bound, signed):
    """The exception for a bad index; `coordinate` is its number in a tuple, or None. A negative position: it is gone."""
    if position < 0:
        return IndexError(
            f"{operator}: {parameter} ({tensor}) was changed during the call: an index was out of range and is in range now"
        )
    place = _place(shape, position, coordinate is not None)
    place += [] if coordinate is None else [coordinate]
    return IndexOutOfRangeError(
        operator, tensor, parameter, tuple(place), value, (-bound if signed and bound else 0, bound - 1)
    )


def duplicate_error(operator, tensor, parameter, shape, pair, tuples):
    """The exception for two updates of one place; `pair` numbers the earlier and the later one."""
    first, second = (tuple(_place(shape, number, tuples)) for number in pair)
    return DuplicateIndexError(operator, tensor, parameter, first, second)
