"""Spells a rule in another language: as a C expression for the Cython validator, as Python for the texts of messages,
and as text for pages.

C and Python spellings call the functions of core/list.h and dmlcore/lists.py, which have the same names and meaning; so a
rule's own text is never pasted into code.
"""

from collections.abc import Mapping

from .rules import LIST, Binary, Bound, Call, Chain, Expr, Field, Index, Int, ListOf, Logic, Name, Slice

_ARITHMETIC = {"+": "dml_add", "-": "dml_sub", "*": "dml_mul"}


class Cython:
    """Spells rules for one generated function; `buffers` counts the list buffers that it has to declare."""

    def __init__(self, tensors: Mapping[str, str], names: Mapping[str, str]):
        self.tensors, self.names = tensors, names
        self.buffers = 0

    def buffer(self) -> str:
        self.buffers += 1
        return f"b[{self.buffers - 1}]"

    def __call__(self, expr: Expr) -> str:
        match expr:
            case Int():
                return str(expr.value)
            case Name():
                return self.names[expr.id]
            case Field():
                tensor = self.tensors[expr.tensor]
                return {
                    "Sizes": f"dml_sizes(&{tensor})",
                    "Strides": f"dml_strides(&{tensor})",
                    "DimensionCount": f"{tensor}.rank",
                    "DataType": f"{tensor}.data_type",
                }[expr.field]
            case Binary() if expr.type == LIST:
                return f"dml_join({self(expr.left)}, {self(expr.right)}, {self.buffer()})"
            case Binary():
                return f"{_ARITHMETIC[expr.op]}({self(expr.left)}, {self(expr.right)})"
            case Chain():
                pairs = zip(expr.operands, expr.ops, expr.operands[1:], strict=False)
                return " and ".join(self.compare(a, op, b) for a, op, b in pairs)
            case Logic(op="and"):
                return " and ".join(f"({self(i)})" if isinstance(i, Logic) else self(i) for i in expr.items)
            case Logic():
                return " or ".join(f"({self(i)})" for i in expr.items)
            case Slice():
                return self.slice(expr)
            case Index():
                function = "dml_at_end" if expr.at.from_end else "dml_at"
                return f"{function}({self(expr.base)}, {self(expr.at.value)})"
            case ListOf():
                text = f"dml_empty({self.buffer()})"
                for item in expr.items:
                    text = f"dml_append({text}, {self(item)})"
                return text
            case Call(function="max"):
                text = self(expr.args[0])
                for arg in expr.args[1:]:
                    text = f"dml_max({text}, {self(arg)})"
                return text
            case Call():
                args = [self(arg) for arg in expr.args]
                if expr.function in ("right_align", "repeat"):
                    args.append(self.buffer())
                return f"dml_{expr.function}({', '.join(args)})"
        raise TypeError(f"not a rule: {expr!r}")

    def compare(self, a: Expr, op: str, b: Expr) -> str:
        if a.type == LIST:
            return f"dml_equal({self(a)}, {self(b)})"
        return f"{self(a)} {op} {self(b)}"

    def slice(self, expr: Slice) -> str:
        base, start, stop = self(expr.base), expr.start, expr.stop
        if start and stop:
            return f"dml_cut({base}, {self.bound(start)}, {self.bound(stop)})"
        if start:
            return f"{'dml_last' if start.from_end else 'dml_from'}({base}, {self(start.value)})"
        if stop:
            return f"{'dml_all_but' if stop.from_end else 'dml_until'}({base}, {self(stop.value)})"
        return base

    def bound(self, bound: Bound) -> str:
        return f"{self(bound.value)}, {int(bound.from_end)}"


def python(expr: Expr) -> str:
    """Python over `t` (tensors by DirectML name) and `n` (integers and lists by name), with dmlcore.lists in scope."""
    match expr:
        case Int():
            return str(expr.value)
        case Name():
            return f"n[{expr.id!r}]"
        case Field():
            return f"t[{expr.tensor!r}].{expr.field}"
        case Binary():
            return f"({python(expr.left)} {expr.op} {python(expr.right)})"
        case Slice():
            bounds = [
                "None" if b is None else f"({python(b.value)}, {b.from_end})" for b in (expr.start, expr.stop)
            ]
            return f"cut({python(expr.base)}, {', '.join(bounds)})"
        case Index():
            return f"at({python(expr.base)}, {python(expr.at.value)}, {expr.at.from_end})"
        case ListOf():
            return "(" + "".join(python(i) + ", " for i in expr.items) + ")"
        case Call():
            return f"{expr.function}({', '.join(python(a) for a in expr.args)})"
    raise TypeError(f"not a value: {expr!r}")


_PRECEDENCE = {"or": 1, "and": 2, "compare": 3, "+": 4, "-": 4, "*": 5}


def text(expr: Expr) -> str:
    """The rule in its own language, with normal spacing: what pages and messages show."""
    return _text(expr, 0)


def _text(expr: Expr, outer: int) -> str:
    match expr:
        case Int():
            return str(expr.value)
        case Name():
            return expr.id
        case Field():
            return f"{expr.tensor}.{expr.field}"
        case Binary(op=op):
            own = _PRECEDENCE[op]
            spelled = f"{_text(expr.left, own)} {op} {_text(expr.right, own + 1)}"
        case Chain():
            own = _PRECEDENCE["compare"]
            spelled = _text(expr.operands[0], own + 1)
            for op, operand in zip(expr.ops, expr.operands[1:], strict=True):
                spelled += f" {op} {_text(operand, own + 1)}"
        case Logic(op=op):
            own = _PRECEDENCE[op]
            spelled = f" {op} ".join(_text(i, own + 1) for i in expr.items)
        case Slice():
            bounds = (("-" * b.from_end + _text(b.value, 6 * b.from_end)) if b else "" for b in (expr.start, expr.stop))
            return f"{_text(expr.base, 6)}[{':'.join(bounds)}]"
        case Index():
            return f"{_text(expr.base, 6)}[{'-' * expr.at.from_end}{_text(expr.at.value, 6 * expr.at.from_end)}]"
        case ListOf():
            return f"[{', '.join(_text(i, 0) for i in expr.items)}]"
        case Call():
            return f"{expr.function}({', '.join(_text(a, 0) for a in expr.args)})"
    return f"({spelled})" if own < outer else spelled
