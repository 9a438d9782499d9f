"""Turns whatever names a feature level into a member of FeatureLevel."""

from ._generated.enums import FeatureLevel

NEWEST = max(FeatureLevel)
POSITION = {level: position for position, level in enumerate(FeatureLevel)}

_BY_NAME = {}
for _level in FeatureLevel:
    _number = _level.name.removeprefix("FL")
    for _name in (_number, _number.replace("_", "."), f"FL{_number}", f"FL{_number.replace('_', '.')}"):
        _BY_NAME[_name] = _level
    _BY_NAME[f"DML_FEATURE_LEVEL_{_number}"] = _level


def feature_level(level) -> FeatureLevel:
    """A FeatureLevel from "2.1", "FL2.1", "DML_FEATURE_LEVEL_2_1", 0x2100 or a FeatureLevel; None is the newest."""
    if level is None:
        return NEWEST
    if isinstance(level, FeatureLevel):
        return level
    try:
        return _BY_NAME[level.strip()] if isinstance(level, str) else FeatureLevel(level)
    except (KeyError, ValueError):
        known = ", ".join(f"{member.name.removeprefix('FL').replace('_', '.')}" for member in FeatureLevel)
        raise ValueError(f"feature_level is {level!r}, expected one of {known}") from None
