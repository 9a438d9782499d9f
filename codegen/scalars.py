"""The kinds of value that the files of spec/ hold: how each is read from text, and what the schema says of it.

A value that does not fit is refused with what would be right; typed.py adds the file and the line.
"""

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError


def _number(value):
    if isinstance(value, int):
        return value
    if not isinstance(value, str) or not re.fullmatch(r"-?[0-9]{1,20}|0x[0-9A-Fa-f]{1,32}", value):
        raise PydanticCustomError("number", "a whole number is needed, as 4 or 0x1000")
    return int(value, 0 if value.startswith("0x") else 10)


def _truth(value):
    if value not in ("true", "false", True, False):
        raise PydanticCustomError("truth", "true or false is needed")
    return value in ("true", True)


def _words(value):
    if isinstance(value, str) and not value.strip():
        raise PydanticCustomError("words", "it is empty; write it out or remove the key")
    return value.strip() if isinstance(value, str) else value


def _dimensions(value):
    match = re.fullmatch(r"([0-9]{1,3})(?: to ([0-9]{1,3}))?", value) if isinstance(value, str) else None
    if not match:
        raise PydanticCustomError("dimensions", "a count of dimensions is needed, as 4 or 1 to 8")
    low, high = int(match[1]), int(match[2] or match[1])
    if low > high:
        raise PydanticCustomError("dimensions", f"{low} to {high} is empty; the smaller count comes first")
    return low, high


def _name(value):
    if isinstance(value, str) and not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", value):
        raise PydanticCustomError("name", "a name is needed: a letter, then letters, digits and _")
    return value


def _rule_id(value):
    if isinstance(value, str) and not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)+", value):
        raise PydanticCustomError("rule_id", "an id is needed as <Subject>-<what>, as IndexTupleSize-range")
    return value


Text = Annotated[str, BeforeValidator(_words)]
Name = Annotated[str, BeforeValidator(_name)]
RuleId = Annotated[str, BeforeValidator(_rule_id)]
Rule = Annotated[str, BeforeValidator(_words), WithJsonSchema({"type": ["string", "integer"]})]
Int = Annotated[int, BeforeValidator(_number), WithJsonSchema({"type": "integer"})]
Bool = Annotated[bool, BeforeValidator(_truth), WithJsonSchema({"type": "boolean"})]
LevelName = Annotated[str, WithJsonSchema({"type": "string", "pattern": r"^FL\d+\.\d+$"})]
Dimensions = Annotated[
    tuple[int, int],
    BeforeValidator(_dimensions),
    WithJsonSchema({"type": ["integer", "string"], "pattern": r"^\d+( to \d+)?$", "minimum": 0}),
]
Anything = Annotated[object, WithJsonSchema({})]
Door = Literal["both", "descriptor", "array"]
