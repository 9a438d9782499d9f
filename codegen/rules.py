"""The rule language: turns the text of a rule into a typed tree, and evaluates such a tree on Python values.

A rule is an expression in a closed subset of Python's syntax, in DirectML's own words. Parsing reports the first mistake
with its column and says what would be right. Evaluation is total: no input makes it fail (spec/README.md, "Meaning").
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

INT, LIST, BOOL, DTYPE = "an integer", "a list", "a truth value", "a data type"

FIELDS = {"Sizes": LIST, "Strides": LIST, "DimensionCount": INT, "DataType": DTYPE}
FUNCTIONS = {  # name -> (argument types, result type); None: any number of integers
    "product": ((LIST,), INT),
    "right_align": ((LIST, INT), LIST),
    "effective_rank": ((LIST,), INT),
    "within": ((LIST, LIST), BOOL),
    "repeat": ((INT, INT), LIST),
    "max": (None, INT),
}

INT64_MAX, INT64_MIN = 2**63 - 1, -(2**63)
LIST_MAX = 256  # DML_LIST_MAX in core/list.h


class RuleError(ValueError):
    """A rule that cannot be read; `column` counts from 0 within the rule's text."""

    def __init__(self, message: str, column: int = 0):
        super().__init__(message)
        self.column = column


@dataclass(frozen=True)
class Int:
    value: int
    type = INT


@dataclass(frozen=True)
class Name:
    """A uint member or a name of the `let` block."""

    id: str
    type: str


@dataclass(frozen=True)
class Field:
    tensor: str
    field: str

    @property
    def type(self) -> str:
        return FIELDS[self.field]


@dataclass(frozen=True)
class Binary:
    """+ - * of integers, or + of lists."""

    op: str
    left: "Expr"
    right: "Expr"
    type: str


@dataclass(frozen=True)
class Chain:
    """a <= b <= c: every neighbouring pair is compared."""

    operands: tuple["Expr", ...]
    ops: tuple[str, ...]
    type = BOOL


@dataclass(frozen=True)
class Logic:
    op: str  # "and" | "or"
    items: tuple["Expr", ...]
    type = BOOL


@dataclass(frozen=True)
class Bound:
    """A bound of a slice or an index; written with a leading minus it counts from the end."""

    value: "Expr"
    from_end: bool


@dataclass(frozen=True)
class Slice:
    base: "Expr"
    start: Bound | None
    stop: Bound | None
    type = LIST


@dataclass(frozen=True)
class Index:
    base: "Expr"
    at: Bound
    type = INT


@dataclass(frozen=True)
class ListOf:
    items: tuple["Expr", ...]
    type = LIST


@dataclass(frozen=True)
class Call:
    function: str
    args: tuple["Expr", ...]

    @property
    def type(self) -> str:
        return FUNCTIONS[self.function][1]


Expr = Int | Name | Field | Binary | Chain | Logic | Slice | Index | ListOf | Call


@dataclass(frozen=True)
class Scope:
    """What a rule may mention: the tensors, and the integers and lists by name with their types."""

    tensors: frozenset[str]
    names: Mapping[str, str]


def parse(text: str, scope: Scope, expected: str | None = None) -> Expr:
    """Reads one rule. `expected` is the type it must have (INT, LIST, BOOL or DTYPE)."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise RuleError(f"not an expression: {error.msg}", max((error.offset or 1) - 1, 0)) from None
    except (RecursionError, MemoryError, ValueError):
        raise RuleError("too deeply nested or not text") from None
    expr = _Parser(scope).read(tree)
    if expected and expr.type != expected:
        raise RuleError(f"this is {expr.type}, {expected} is needed here")
    return expr


class _Parser:
    def __init__(self, scope: Scope):
        self.scope = scope

    def read(self, node: ast.expr) -> Expr:
        method = getattr(self, "read_" + type(node).__name__, None)
        if method is None:
            raise RuleError(
                f"{type(node).__name__} is not part of the rule language (integers, names, tensor fields, + - *, "
                "comparisons, and/or, slices, [a, b], " + ", ".join(FUNCTIONS) + ")",
                node.col_offset,
            )
        return method(node)

    def typed(self, node: ast.expr, wanted: str) -> Expr:
        expr = self.read(node)
        if expr.type != wanted:
            raise RuleError(f"{ast.unparse(node)} is {expr.type}, {wanted} is needed here", node.col_offset)
        return expr

    def read_Constant(self, node: ast.Constant) -> Expr:
        if type(node.value) is not int:
            raise RuleError(f"{node.value!r} is not an integer", node.col_offset)
        if node.value > INT64_MAX:
            raise RuleError(f"{node.value} does not fit 64 bits", node.col_offset)
        return Int(node.value)

    def read_Name(self, node: ast.Name) -> Expr:
        if node.id in self.scope.names:
            return Name(node.id, self.scope.names[node.id])
        if node.id in self.scope.tensors:
            raise RuleError(f"{node.id} is a tensor; name a field of it: {', '.join(FIELDS)}", node.col_offset)
        raise RuleError(f"unknown name {node.id}{self.suggest(node.id, self.scope.names)}", node.col_offset)

    def read_Attribute(self, node: ast.Attribute) -> Expr:
        if not isinstance(node.value, ast.Name):
            raise RuleError("only tensors have fields", node.col_offset)
        if node.value.id not in self.scope.tensors:
            raise RuleError(
                f"unknown tensor {node.value.id}{self.suggest(node.value.id, self.scope.tensors)}", node.col_offset
            )
        if node.attr not in FIELDS:
            raise RuleError(f"unknown field {node.attr}; a tensor has {', '.join(FIELDS)}", node.col_offset)
        return Field(node.value.id, node.attr)

    def read_BinOp(self, node: ast.BinOp) -> Expr:
        op = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}.get(type(node.op))
        if op is None:
            raise RuleError("only + - * are part of the rule language", node.col_offset)
        left, right = self.read(node.left), self.read(node.right)
        if left.type == right.type == INT:
            return Binary(op, left, right, INT)
        if op == "+" and left.type == right.type == LIST:
            return Binary(op, left, right, LIST)
        raise RuleError(f"cannot compute {left.type} {op} {right.type}", node.col_offset)

    def read_Compare(self, node: ast.Compare) -> Expr:
        ops = []
        operands = [self.read(node.left)]
        for op, right in zip(node.ops, node.comparators, strict=True):
            text = {ast.LtE: "<=", ast.Lt: "<", ast.GtE: ">=", ast.Gt: ">", ast.Eq: "=="}.get(type(op))
            if text is None:
                raise RuleError("only < <= == >= > are part of the rule language", node.col_offset)
            left, value = operands[-1], self.read(right)
            if left.type != value.type:
                raise RuleError(f"{left.type} is compared with {value.type}", right.col_offset)
            if left.type == BOOL or (left.type != INT and text != "=="):
                raise RuleError(f"{text} does not compare {left.type} with {value.type}", right.col_offset)
            ops.append(text)
            operands.append(value)
        return Chain(tuple(operands), tuple(ops))

    def read_BoolOp(self, node: ast.BoolOp) -> Expr:
        items = tuple(self.typed(value, BOOL) for value in node.values)
        return Logic("and" if isinstance(node.op, ast.And) else "or", items)

    def read_List(self, node: ast.List) -> Expr:
        return ListOf(tuple(self.typed(item, INT) for item in node.elts))

    def read_Subscript(self, node: ast.Subscript) -> Expr:
        base = self.typed(node.value, LIST)
        if isinstance(node.slice, ast.Slice):
            if node.slice.step is not None:
                raise RuleError("a slice has no step", node.col_offset)
            return Slice(base, self.bound(node.slice.lower), self.bound(node.slice.upper))
        return Index(base, self.bound(node.slice))

    def bound(self, node: ast.expr | None) -> Bound | None:
        if node is None:
            return None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return Bound(self.typed(node.operand, INT), True)
        return Bound(self.typed(node, INT), False)

    def read_Call(self, node: ast.Call) -> Expr:
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        if name not in FUNCTIONS:
            raise RuleError(f"unknown function {name}; there are {', '.join(FUNCTIONS)}", node.col_offset)
        if node.keywords:
            raise RuleError("arguments are given by position", node.col_offset)
        wanted = FUNCTIONS[name][0]
        if wanted is None:
            if len(node.args) < 2:
                raise RuleError(f"{name} takes two or more integers", node.col_offset)
            wanted = (INT,) * len(node.args)
        if len(wanted) != len(node.args):
            raise RuleError(f"{name} takes {len(wanted)} argument(s), not {len(node.args)}", node.col_offset)
        return Call(name, tuple(self.typed(arg, kind) for arg, kind in zip(node.args, wanted, strict=True)))

    @staticmethod
    def suggest(name: str, known) -> str:
        import difflib

        close = difflib.get_close_matches(name, list(known), 1)
        return f"; did you mean {close[0]}?" if close else f"; known are {', '.join(sorted(known))}"


def walk(expr: Expr, visit: Callable[[Expr], None]) -> None:
    """Calls `visit` on every node of the tree, the root first."""
    visit(expr)
    for child in children(expr):
        walk(child, visit)


def children(expr: Expr) -> tuple[Expr, ...]:
    match expr:
        case Binary():
            return (expr.left, expr.right)
        case Chain():
            return expr.operands
        case Logic() | ListOf():
            return expr.items
        case Slice():
            return (expr.base, *(b.value for b in (expr.start, expr.stop) if b))
        case Index():
            return (expr.base, expr.at.value)
        case Call():
            return expr.args
    return ()


class Tensor(Protocol):
    """What evaluation reads of a tensor."""

    Sizes: tuple[int, ...]
    Strides: tuple[int, ...]
    DimensionCount: int
    DataType: str


def saturate(value: int) -> int:
    return max(INT64_MIN, min(INT64_MAX, value))


def evaluate(expr: Expr, tensors: Mapping[str, Tensor], names: Mapping[str, object]):
    """The value of a rule: int, tuple, bool, or the name of a data type."""

    def value(node):
        return evaluate(node, tensors, names)

    match expr:
        case Int():
            return expr.value
        case Name():
            return names[expr.id]
        case Field():
            field = getattr(tensors[expr.tensor], expr.field)
            return tuple(saturate(x) for x in field) if expr.type == LIST else field
        case Binary(op=op):
            left, right = value(expr.left), value(expr.right)
            if expr.type == LIST:
                return (left + right)[:LIST_MAX]
            return saturate(left + right if op == "+" else left - right if op == "-" else left * right)
        case Chain():
            values = [value(o) for o in expr.operands]
            return all(_compare(a, op, b) for a, op, b in zip(values, expr.ops, values[1:], strict=False))
        case Logic(op="and"):
            return all([value(i) for i in expr.items])
        case Logic():
            return any([value(i) for i in expr.items])
        case Slice():
            base = value(expr.base)
            start = _position(expr.start, len(base), value) if expr.start else 0
            stop = _position(expr.stop, len(base), value) if expr.stop else len(base)
            return base[start:stop] if start < stop else ()
        case Index():
            base, at = value(expr.base), value(expr.at.value)
            at = len(base) - at if expr.at.from_end else at
            return base[at] if 0 <= at < len(base) else 0
        case ListOf():
            return tuple(value(i) for i in expr.items)
        case Call(function="max"):
            return max(value(a) for a in expr.args)
        case Call(function="product"):
            total = 1
            for size in value(expr.args[0]):
                total = saturate(total * size)
            return total
        case Call(function="effective_rank"):
            sizes = value(expr.args[0])
            ones = next((i for i, size in enumerate(sizes) if size != 1), len(sizes))
            return len(sizes) - ones
        case Call(function="within"):
            left, right = (value(a) for a in expr.args)
            return len(left) == len(right) and all(a <= b for a, b in zip(left, right, strict=True))
        case Call(function="repeat"):
            item, count = (value(a) for a in expr.args)
            return (item,) * max(0, min(LIST_MAX, count))
        case Call(function="right_align"):
            items, count = (value(a) for a in expr.args)
            count = max(0, min(LIST_MAX, count))
            return (1,) * (count - len(items)) + items[max(len(items) - count, 0) :]
    raise TypeError(f"not a rule: {expr!r}")


def _position(bound: Bound, length: int, value) -> int:
    at = value(bound.value)
    return max(0, min(length, length - at if bound.from_end else at))


def _compare(a, op: str, b) -> bool:
    match op:
        case "==":
            return a == b
        case "<=":
            return a <= b
        case "<":
            return a < b
        case ">=":
            return a >= b
    return a > b
