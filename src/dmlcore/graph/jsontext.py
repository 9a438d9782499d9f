"""Turns JSON text as DxDispatch accepts it, with comments and trailing commas, into Python values.

Stricter than the json module where silence would hide a mistake: keys that stand twice, NaN, and values nested too
deep are errors, each with the file and, where there is one, the line.
"""

import json
import re

from .files import FileError, read_bytes

__all__ = ["read_json"]

SIZE_LIMIT = 256 << 20
DEPTH_LIMIT = 64
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[\]}])', re.DOTALL)


def read_json(path):
    """The value in a JSON file; "-" is standard input."""
    if str(path) == "-":
        import sys

        return parse_json(sys.stdin.read(), "standard input")
    data = read_bytes(path, SIZE_LIMIT)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FileError(path, "is not JSON: not UTF-8 text") from None
    return parse_json(text, path)


def parse_json(text: str, path):
    """The value of JSON text; `path` is for messages."""
    if not text.strip():
        raise FileError(path, "is empty, expected JSON")
    _check_depth(text, path)
    plain = _TOKEN.sub(_blank, text)
    try:
        return json.loads(plain, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        problem = error.msg[:1].lower() + error.msg[1:]
        raise FileError(path, f"is not JSON: line {error.lineno}, column {error.colno}: {problem}") from None
    except (ValueError, RecursionError) as error:  # our own, and integers with thousands of digits
        raise FileError(path, f"is not JSON that can be used: {str(error).splitlines()[0][:160]}") from None


def _blank(match: re.Match) -> str:
    """Strings stay; comments and commas before a bracket turn into spaces, so that positions stay."""
    token = match[0]
    return token if token[0] == '"' else re.sub(r"[^\n]", " ", token)


def _check_depth(text: str, path) -> None:
    depth = 0
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', text, re.DOTALL):
        token = match[0]
        depth += (token in "[{") - (token in "]}")
        if depth > DEPTH_LIMIT:
            raise FileError(path, f"is nested more than {DEPTH_LIMIT} levels deep")


def _unique(pairs):
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice!r} stands twice in one object")
    return members


def _no_constant(name: str):
    raise ValueError(f'{name} is not JSON; write it as a string, "{name}"')
