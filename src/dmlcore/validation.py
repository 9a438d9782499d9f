"""The validator of the descriptor door: from an operator descriptor and a feature level to violations in words.

The checks themselves are compiled (`_generated/operators.pyx`); this module asks them and explains what they say.
"""

from ._generated import operators
from .descs import OperatorDesc, TensorDesc
from .errors import TensorFact, UintFacts, Violation
from .levels import POSITION, FeatureLevel
from .levels import feature_level as _feature_level
from .lists import packed

__all__ = ["check", "minimum_feature_level"]


def check(desc: OperatorDesc, feature_level=None) -> list[Violation]:
    """Every rule that a descriptor breaks at a feature level; an empty list when it is valid.

    Parameters
    ----------
    desc : operator descriptor
        For example a ``GatherNDDesc``.
    feature_level : FeatureLevel, str or int, optional
        ``"2.1"``, ``"FL2.1"``, ``"DML_FEATURE_LEVEL_2_1"``, ``0x2100``; the newest by default.

    Returns
    -------
    list of Violation
        In the order of the specification, none hidden behind another.

    Raises
    ------
    ValueError
        For a feature level that does not exist.
    TypeError
        For something that is not a descriptor.

    Examples
    --------
    >>> import dmlcore
    >>> from dmlcore import TensorDesc
    >>> desc = dmlcore.GatherNDDesc(input=TensorDesc("FLOAT32", (1, 2, 2, 2)), indices=TensorDesc("INT64", (1, 1, 2, 2)),
    ...                             input_dimension_count=3, indices_dimension_count=2)
    >>> [violation.rule for violation in dmlcore.check(desc, "2.1")]
    ['GATHER_ND-IndicesTensor-DataType-support']
    >>> dmlcore.check(desc, "3.0")
    []
    """
    numbers, inferred, uints = violated(desc, _feature_level(feature_level))
    if not numbers:
        return []
    from .explain import explain

    tensors, members = {}, {}
    for name, keyword, kind in desc.MEMBERS:
        if kind in ("input", "output"):
            given = getattr(desc, keyword)
            tensors[name] = _fact(given if given is not None else TensorDesc(*inferred[keyword]))
        else:
            members[name] = uints[keyword]
    named = {name for name, keyword, _ in desc.MEMBERS if name in tensors and getattr(desc, keyword) is not None}
    return explain(desc.operator, numbers, tensors, UintFacts(members), POSITION[_feature_level(feature_level)], named)


def violated(desc: OperatorDesc, level: FeatureLevel):
    """Numbers of the violated checks, inferred outputs and integers: the compiled validator's answer."""
    if not isinstance(desc, OperatorDesc):
        raise TypeError(f"desc is {type(desc).__name__}, expected an operator descriptor such as GatherNDDesc")
    return operators.CHECK[desc.operator](desc, POSITION[level])


def minimum_feature_level(desc: OperatorDesc) -> FeatureLevel | None:
    """The lowest feature level that accepts a descriptor; None when no level does (ask `check` why).

    Examples
    --------
    >>> import dmlcore
    >>> from dmlcore import TensorDesc
    >>> desc = dmlcore.NonzeroCoordinatesDesc(input=TensorDesc("FLOAT32", (3,)))
    >>> dmlcore.minimum_feature_level(desc)
    <FeatureLevel.FL4_0: 16384>
    """
    for level in FeatureLevel:
        if not violated(desc, level)[0]:
            return level
    return None


def _fact(desc: TensorDesc) -> TensorFact:
    """Strides are never absent to a rule: without them a tensor is packed."""
    strides = packed(desc.sizes) if desc.strides is None else desc.strides
    return TensorFact(desc.data_type_value, None, desc.sizes, strides, desc=desc)
