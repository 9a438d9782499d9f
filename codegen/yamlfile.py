"""Turns a YAML file into dictionaries, lists and strings, and remembers the line of every one of them.

Scalars stay text (2_1, 3.0 and NO mean what they say); the formats type them later. The file may be somebody else's, so
its size, depth and number of nodes are capped, and tags, anchors and aliases are refused before anything is built.
"""

from dataclasses import dataclass, field
from pathlib import Path

import yaml

from .mistakes import Mistake

MAX_BYTES, MAX_DEPTH, MAX_NODES = 1_000_000, 40, 20_000
TOO_DEEP = f"nested more than {MAX_DEPTH} deep; a specification needs about 12"
_PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # only its events are used: nothing is constructed

Path_ = tuple[str | int, ...]


@dataclass
class Document:
    """The contents of one file. `lines` and `columns` count from 1; a path is the keys and positions leading there."""

    path: str
    data: object = None
    lines: dict[Path_, int] = field(default_factory=dict)
    columns: dict[Path_, int] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)

    def line(self, path: Path_) -> int:
        """The line of a node, or of the nearest one around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def add(self, path: Path_, message: str, below: int = 0) -> None:
        """Reports a mistake at a node, or `below` lines further down in a text block."""
        self.mistakes.append(Mistake(self.path, self.line(path) + below, message))


class _Refused(Exception):
    def __init__(self, line: int, message: str):
        self.line, self.message = line, message


def read(file: Path, name: str) -> Document:
    """Reads `file`; what is wrong with it is in the document's `mistakes`, where `data` may be None."""
    document = Document(name)
    try:
        if file.stat().st_size > MAX_BYTES:
            raise _Refused(1, f"the file is larger than {MAX_BYTES:,} bytes; a specification has about 10,000")
        text = file.read_bytes().decode("utf-8")
        _Builder(document).build(text)
    except _Refused as refused:
        document.mistakes.append(Mistake(name, refused.line, refused.message))
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        document.mistakes.append(Mistake(name, line, "this is not UTF-8; save the file as UTF-8"))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be read"
        context = getattr(error, "context", None)
        message = f"not YAML: {problem}" + (f" {context}" if context else "") + "; correct the syntax"
        if "nesting depth" in problem:  # the parser of PyYAML 6.0.4 and later refuses what is far too deep by itself
            message = TOO_DEEP
        document.mistakes.append(Mistake(name, mark.line + 1 if mark else 1, message))
    except OSError as error:
        document.mistakes.append(Mistake(name, 1, f"cannot be read: {error.strerror}; the file is needed"))
    return document


class _Builder:
    """Builds the tree from the parser's events, without recursion, so that no depth can exhaust the stack."""

    def __init__(self, document: Document):
        self.document = document
        self.stack: list[dict] = []  # open collections: {"value", "path", "key", "skip"}
        self.nodes = 0

    def build(self, text: str) -> None:
        parser = _PARSER(text)
        try:
            while parser.check_event():
                self.event(parser.get_event())
        finally:
            parser.dispose()
        if self.document.data is None and not self.document.mistakes:
            raise _Refused(1, "the file is empty; spec/README.md says what belongs into it")

    def event(self, event) -> None:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.DocumentStartEvent) and self.document.data is not None:
            raise _Refused(line, "a second document starts here; one file holds one document")
        if isinstance(event, yaml.AliasEvent):
            raise _Refused(line, f"*{event.anchor} is an alias; write the value again")
        if not isinstance(event, yaml.NodeEvent):
            if isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                self.stack.pop()
            return
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise _Refused(line, f"the file has more than {MAX_NODES:,} values; a specification has about 1,000")
        if event.anchor is not None:
            raise _Refused(line, f"&{event.anchor} is an anchor; write the value again where it is needed")
        if event.tag is not None:
            raise _Refused(line, f"{event.tag} is a tag; write the plain value, its type follows from its key")
        if isinstance(event, yaml.ScalarEvent):
            self.scalar(event, line)
            return
        value = {} if isinstance(event, yaml.MappingStartEvent) else []
        path = self.place(value, line, None, "a list or a mapping")
        self.stack.append({"value": value, "path": path, "key": None})
        if len(self.stack) > MAX_DEPTH:
            raise _Refused(line, TOO_DEEP)

    def scalar(self, event, line: int) -> None:
        top = self.stack[-1] if self.stack else None
        if top and isinstance(top["value"], dict) and top["key"] is None:
            key = event.value
            path = (*top["path"], key)
            if key in top["value"] or path in self.document.lines:
                first = self.document.lines[path]
                message = f"the key {key} stands twice (first in line {first}); remove or rename one"
                self.document.mistakes.append(Mistake(self.document.path, line, message))
                path = (*top["path"], f"{key} (again, line {line})")
            else:
                self.document.lines[path] = line
            top["key"] = path
            return
        one_line = event.start_mark.line == event.end_mark.line and event.style not in ("|", ">")
        column = event.start_mark.column + (2 if event.style in ("'", '"') else 1)
        self.place(event.value, line, column if one_line else None, event.value)

    def place(self, value, line: int, column: int | None, shown: str) -> Path_:
        """Puts a value where it belongs; returns its path."""
        document = self.document
        if not self.stack:
            document.data, path = value, ()
            document.lines[path] = line
            return path
        top = self.stack[-1]
        if isinstance(top["value"], list):
            path = (*top["path"], len(top["value"]))
            top["value"].append(value)
            document.lines[path] = line
        elif top["key"] is None:
            raise _Refused(line, f"{shown} stands where a key is needed; keys are plain words")
        else:
            path, top["key"] = top["key"], None
            if path in document.lines:  # else the key stands twice, and the first value stays
                top["value"][path[-1]] = value
                if isinstance(value, str):
                    document.lines[path] = line
        if column is not None:
            document.columns[path] = column
        return path
