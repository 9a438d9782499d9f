"""Types a file's contents with the classes of formats.py, and says in words what does not fit.

What does not fit is cut out and the rest is typed again, so that one slip does not hide the mistakes after it; `cut`
says where, so that the later checks stay silent about the consequences.
"""

import re
import types
import typing

from pydantic import BaseModel, TypeAdapter, ValidationError

from .mistakes import suggest
from .yamlfile import Document

TODO = "TODO"  # what `python -m codegen new` leaves to be filled in starts with it

EXPECTED = {
    "string_type": "text",
    "dict_type": "a mapping (key: value)",
    "model_type": "a mapping (key: value)",
    "model_attributes_type": "a mapping (key: value)",
    "tuple_type": "a list",
    "list_type": "a list",
    "int_type": "a whole number",
}


class Typed:
    """The outcome: `value` is None when too little is left of the file to go on."""

    def __init__(self):
        self.value: typing.Any = None
        self.cut: set[tuple] = set()
        self.todo: set[tuple] = set()

    def was_cut(self, *path) -> bool:
        """Whether something at `path`, or inside it, was cut out."""
        return any(c[: len(path)] == path for c in self.cut)


def type_document(document: Document, model: type[BaseModel]) -> Typed:
    """Types a whole file; its mistakes go into the document."""
    data = document.data
    typed = Typed()
    if data is None:
        return typed
    if not isinstance(data, dict):
        document.add((), f"the file holds {describe(data)}; a mapping (key: value) is needed")
        return typed
    _find_todo(document, data, (), typed)
    for attempt in range(8):
        try:
            typed.value = model.model_validate(data)
            return typed
        except ValidationError as error:
            problems = error.errors(include_url=False)
        targets = {}
        for problem in problems:
            path = _real_path(data, problem["loc"])
            if attempt == 0 and path not in typed.todo:
                document.add(path, message(problem, path, model))
            typed.cut.add(path)
            targets[_target(path, problem["type"])] = problem["type"]
        for path in sorted(targets, key=lambda p: [(isinstance(s, int), s) for s in p], reverse=True):
            typed.cut.add(path)
            if not _cut(document, path, targets[path], model):
                return typed
    return typed


def type_part(document: Document, path: tuple, value, type_) -> typing.Any:
    """Types one value inside a file; None, after a mistake, when it does not fit."""
    try:
        return TypeAdapter(type_).validate_python(value)
    except ValidationError as error:
        for problem in error.errors(include_url=False):
            document.add((*path, *problem["loc"]), message(problem, (*path, *problem["loc"]), type_, len(path)))
        return None


def message(problem: dict, path: tuple, model, skip: int = 0) -> str:
    """What is wrong; what would be right."""
    kind, key = problem["type"], path[-1] if path else "the file"
    where = f"in {'.'.join(map(str, path[:-1]))}" if path[:-1] else "in the file"
    if kind == "extra_forbidden":
        allowed = _allowed(model, path[skip:-1])
        return f"unknown key {key} {where}; {_hint(str(key), allowed)}"
    if kind == "missing":
        return f"the key {key} is missing {where}; add {key}: ..."
    key = _shown(path)
    if kind == "literal_error":
        options = [option.strip("'") for option in problem["ctx"]["expected"].replace(" or ", ", ").split(", ")]
        if isinstance(problem["input"], str):
            return f"{key} is {problem['input']}; one of {', '.join(options)} is needed"
        return f"{key} is {describe(problem['input'])}; one of {', '.join(options)} is needed"
    if kind in EXPECTED:
        return f"{key} is {describe(problem['input'])}; {EXPECTED[kind]} is needed"
    return f"{key} is {describe(problem['input'])}; {problem['msg']}"


def _shown(path: tuple) -> str:
    """A node in words: its key, or its number in the list."""
    if not path:
        return "the file"
    return f"item {path[-1] + 1} of {'.'.join(map(str, path[:-1]))}" if isinstance(path[-1], int) else str(path[-1])


def describe(value) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    text = str(value)
    return f'the text "{text if len(text) <= 60 else text[:57] + "..."}"'


def _hint(key: str, allowed: list[str]) -> str:
    hint = suggest(key, allowed)
    return hint if hint.startswith("did") else f"allowed keys are {', '.join(allowed)}"


def _allowed(model, path: tuple) -> list[str]:
    """The keys of the mapping at `path`."""
    for step in path:
        fields = _fields(model)
        model = fields[step] if fields is not None and step in fields else _element(model)
    return list(_fields(model) or ())


def _fields(type_) -> dict | None:
    model = _unwrap(type_)
    if isinstance(model, type) and issubclass(model, BaseModel):
        return {f.alias or name: f.annotation for name, f in model.model_fields.items()}
    return None


def _element(type_):
    arguments = typing.get_args(_unwrap(type_))
    if not arguments:
        return None
    return arguments[1] if typing.get_origin(_unwrap(type_)) is dict else arguments[0]


def _unwrap(type_):
    """The plain type behind Annotated and `| None`."""
    if typing.get_origin(type_) is typing.Annotated:
        return _unwrap(typing.get_args(type_)[0])
    if typing.get_origin(type_) in (types.UnionType, typing.Union):
        return _unwrap(next(a for a in typing.get_args(type_) if a is not type(None)))
    return type_


def _real_path(data, loc: tuple) -> tuple:
    """pydantic's place of a mistake, without the marks that it adds for keys and unions."""
    path = []
    for step in loc:
        if (isinstance(data, dict) and step in data) or (
            isinstance(data, list) and isinstance(step, int) and step < len(data)
        ):
            data = data[step]
        elif step == "[key]" or not isinstance(data, (dict, list)):
            continue
        path.append(step)
    return tuple(path)


def _target(path: tuple, kind: str) -> tuple:
    """What has to go so that the rest fits: a required key that is missing takes its mapping along."""
    return path[:-1] if kind == "missing" and len(path) > 1 else path


def _cut(document: Document, path: tuple, kind: str, model) -> bool:
    """Removes what stands at `path`; False when the file cannot do without it."""
    data = document.data
    if len(path) == 1 and not (kind == "extra_forbidden" or _has_default(model, path[0])):
        empty = {dict: {}, tuple: [], str: "-", int: "0"}.get(_origin(_fields(model)[path[0]]))
        if empty is not None:
            data[path[0]] = empty
        return empty is not None
    if not path:
        return False
    for step in path[:-1]:
        data = data[step] if isinstance(data, list) or step in data else {}
    if isinstance(data, dict):
        data.pop(path[-1], None)
        return True
    del data[path[-1]]
    at = len(path) - 1  # the items behind it move up, and so do their lines
    for lines in (document.lines, document.columns):
        moved = {}
        for place, line in lines.items():
            if place[:at] == path[:at] and len(place) > at and place[at] >= path[at]:
                if place[at] > path[at]:
                    moved[(*place[:at], place[at] - 1, *place[at + 1 :])] = line
            else:
                moved[place] = line
        lines.clear()
        lines.update(moved)
    return True


def _has_default(model, key: str) -> bool:
    return any((f.alias or name) == key and not f.is_required() for name, f in model.model_fields.items())


def _origin(type_):
    plain = _unwrap(type_)
    return typing.get_origin(plain) or plain


def _find_todo(document: Document, value, path: tuple, typed: Typed) -> None:
    """What a scaffold left open is one mistake each."""
    open_ = re.search(rf"\b{TODO}\b:? ?([^\"\n]*)", value) if isinstance(value, str) else None
    if open_:
        document.add(path, f"{_shown(path)} is still to be filled in; write {open_[1] or 'a value'}")
        typed.todo.add(path)
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        _find_todo(document, inner, (*path, key), typed)
