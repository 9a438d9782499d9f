"""Turns one typed operator file into an Operator: looks up every name and parses every rule.

Whatever cannot be linked is reported, and remembered as unknown, so that its consequences are not reported as well.
"""

import keyword
import re

from . import names, rules
from .blocks import check_numpy, link_kernel, link_python
from .formats import OperatorFormat
from .mistakes import suggest
from .model import Constraint, Let, Member, Operator
from .rules import BOOL, DTYPE, INT, LIST, Scope
from .shared import Lookup, errata, plain
from .support import link_support
from .typed import Typed

MAX_RULE = 400  # characters; keeps every walk over a rule shallow


class Linker(Lookup):
    """Links one operator. `broken` turns true when too much is missing to try the rules on examples."""

    def __init__(self, document, typed: Typed, levels, data_types):
        super().__init__(document, levels, data_types)
        self.file: OperatorFormat = typed.value
        self.typed = typed
        self.unknown = {c[1] for c in typed.cut if len(c) > 1 and c[0] in ("members", "let")}
        self.broken = any(typed.was_cut(key) for key in ("members", "let", "support"))
        self.tensors = frozenset(n for n, m in self.file.members.items() if m.kind in ("input", "output"))
        self.types: dict[str, str] = {n: INT for n, m in self.file.members.items() if n not in self.tensors}

    def rule(self, path: tuple, text: str | None, expected: str | None = None, scope: Scope | None = None):
        """The tree of a rule; None without a text, or after a mistake."""
        if text is None:
            return None
        try:
            if len(text) > MAX_RULE:
                raise rules.RuleError(f"longer than {MAX_RULE} characters; name parts of it in the let block")
            return rules.parse(text, scope or Scope(self.tensors, self.types), expected)
        except rules.RuleError as error:
            problem, column = str(error), error.column
        except RecursionError:
            problem, column = "too deeply nested; name parts of it in the let block", 0
        name = re.match(r"unknown (?:name|tensor) (\w+)", problem)
        if name and name[1] in self.unknown:
            self.broken = True
            return None
        if name and name[1] in self.file.let:
            problem = f"{name[1]} is used before it is defined; move it up in the let block"
        elif name and name[1] in self.file.members:
            problem = f"{name[1]} cannot be used here; only {', '.join(self.allowed(scope))} can"
        elif ";" not in problem:
            problem += f"; the rule is: {text[:80]}"
        at = self.document.columns.get(path)
        place = f"column {at + column}" if at else f"column {column + 1} of the rule"
        self.document.add(path, f"{place}: {problem}")
        self.broken = self.broken or path[0] != "constraints"
        return None

    @staticmethod
    def allowed(scope: Scope | None) -> list[str]:
        return sorted(scope.tensors | set(scope.names)) if scope else ["other members"]

    def name(self, path: tuple, name: str | None, known, what: str) -> str | None:
        """A name that must be one of `known`."""
        if name is None or name in known:
            return name
        if name not in self.unknown:
            self.document.add(path, f"unknown {what} {name}; {suggest(name, known)}")
        return None

    def link(self) -> Operator | None:
        f, document = self.file, self.document
        self.check_header()
        introduced = self.level(("introduced",), f.introduced)
        let = self.link_let()
        support, rows, whole = link_support(self, introduced)
        self.broken = self.broken or not whole
        self.check_parameters()
        members = tuple(self.link_member(name, support.get(name, {})) for name in f.members)
        constraints = self.link_constraints()
        kernel, python = link_kernel(self), link_python(self)
        check_numpy(self)
        if introduced is None or kernel is None:
            return None
        return Operator(
            f.operator, f.value, introduced, f.superseded_by, f.aliases, f.struct or names.struct_name(f.operator),
            f.summary, f.description, f.pseudocode, members, let, support, rows, constraints, kernel, python, (),
            f.numpy + "\n", f.behaviour, errata(f.errata), f.sources, self.data_types, self.levels,
            self.source("operator") if document.lines else None,
        )  # fmt: skip

    def check_header(self) -> None:
        f, document = self.file, self.document
        stem = document.path.rsplit("/", 1)[-1].removesuffix(".yaml")
        if not re.fullmatch(r"[A-Z][A-Z0-9_]{0,60}", f.operator):
            document.add(("operator",), f"{f.operator} is not an operator's name; capitals, digits and _ are needed")
        elif stem != names.operator_snake(f.operator) and not self.typed.was_cut("operator"):
            right = names.operator_snake(f.operator) + ".yaml"
            document.add(("operator",), f"the file {stem}.yaml describes {f.operator}; name the file {right}")
        for level in self.levels:
            introduced_known = f.introduced in {known.name for known in self.levels}
            if introduced_known and f.operator in level.operators and level.name != f.introduced:
                message = (
                    f"{f.operator} was introduced at {level.name}, as spec/levels.yaml says, not at {f.introduced}"
                )
                document.add(("introduced",), f"{message}; write {level.name}")
        if not any(m.kind == "input" for m in f.members.values()) and not self.broken:
            document.add(("members",), "there is no member of kind input; an operator reads at least one tensor")
        if not any(m.kind == "output" for m in f.members.values()) and not self.broken:
            document.add(("members",), "there is no member of kind output; an operator writes at least one tensor")

    def check_parameters(self) -> None:
        seen: dict[str, str] = {}
        for name, m in self.file.members.items():
            other = seen.setdefault(m.python or names.member_snake(name), name)
            if other != name:
                self.document.add(
                    ("members", name),
                    f"{name} and {other} would be one parameter in Python; add python: <another name>",
                )

    def link_let(self) -> dict[str, Let]:
        let: dict[str, Let] = {}
        for name, text in self.file.let.items():
            path = ("let", name)
            if name in self.file.members or name in rules.FUNCTIONS or name in rules.FIELDS or keyword.iskeyword(name):
                self.document.add(path, f"{name} hides a member, function, field or keyword; choose another name")
                continue
            expr = self.rule(path, text)
            if expr is None:
                self.unknown.add(name)
                continue
            if expr.type not in (INT, LIST):
                self.document.add(path, f"{name} is {expr.type}; a let name is an integer or a list")
                self.unknown.add(name)
                continue
            self.types[name] = expr.type
            let[name] = Let(name, text, expr, self.source(*path))
        return let

    def link_member(self, name: str, cells) -> Member:
        f, path = self.file.members[name], ("members", name)
        tensor = name in self.tensors
        for key in ("data_type", "sizes", "default_sizes", "index") if not tensor else ("default", "axis_of"):
            if getattr(f, key):
                self.document.add(
                    (*path, key), f"{name} is of kind {f.kind}; {key} belongs to {'numbers' if tensor else 'tensors'}"
                )
        if f.axis_of and f.kind != "axis":
            self.document.add((*path, "axis_of"), f"{name} is of kind {f.kind}; axis_of belongs to kind axis")
        inputs = frozenset(n for n in self.tensors if self.file.members[n].kind == "input")
        default = self.rule((*path, "default"), f.default, INT, Scope(inputs, {})) if not tensor else None
        sizes = self.rule((*path, "sizes"), f.sizes, LIST)
        data_type = self.rule((*path, "data_type"), f.data_type, DTYPE)
        default_sizes = self.rule((*path, "default_sizes"), f.default_sizes, LIST)
        if f.kind == "output" and not (f.sizes or f.default_sizes) and not self.typed.was_cut(*path):
            self.document.add(path, f"{name} has neither sizes nor default_sizes; give one, or it cannot be inferred")
            self.broken = True
        only = {t for cell in cells.values() for t in cell.data_types}
        default_type = only.pop() if f.kind == "output" and f.data_type is None and len(only) == 1 else None
        if f.kind == "output" and not (f.data_type or default_type) and cells and not self.typed.was_cut(*path):
            self.document.add(path, f"{name} has no data_type and its table allows several; add data_type: ...")
            self.broken = True
        axis_of = f.axis_of or ("InputTensor" if f.kind == "axis" else None)
        self.name((*path, "axis_of"), axis_of, sorted(self.tensors), "tensor")
        texts = {k: getattr(f, k) for k in ("data_type", "sizes", "default_sizes", "default") if getattr(f, k)}
        return Member(name, f.kind, f.text, f.index, data_type, default_type, sizes, default_sizes, default,
                      f.python or names.member_snake(name), axis_of, texts, self.source(*path))  # fmt: skip

    def link_constraints(self) -> tuple[Constraint, ...]:
        f, found, ids = self.file, [], {}
        implied = {f"{t}-{rule}" for t in self.tensors for rule in ("DataType-support", "DimensionCount-support")}
        implied |= {f"{t}-{rule}" for t in self.tensors for rule in ("DataType", "Sizes")} | {"FeatureLevel-support"}
        examples = [e.id for e in f.examples]
        for i, c in enumerate(f.constraints):
            path = ("constraints", i)
            if c.id in ids:
                self.document.add(
                    (*path, "id"), f"the id {c.id} stands twice (first in line {ids[c.id]}); every rule has its own"
                )
            elif c.id in implied:
                self.document.add(
                    (*path, "id"), f"the id {c.id} belongs to a rule that the tables and members imply; choose another"
                )
            ids.setdefault(c.id, self.document.line((*path, "id")))
            self.name((*path, "member"), c.member, list(f.members), "member")
            expr = self.rule((*path, "rule"), c.rule, BOOL)
            from_, before = self.level((*path, "from"), c.from_), self.level((*path, "before"), c.before)
            if from_ and before and before.position <= from_.position:
                self.document.add(
                    (*path, "before"), f"before {c.before} is not after from {c.from_}; the rule would never hold"
                )
            example = self.name((*path, "example"), c.example, examples, "example") or (examples[0] if examples else "")
            if expr is not None:
                id = names.rule_id(f.operator, c.id)
                found.append(Constraint(id, c.id, c.member, c.rule, expr, c.text, c.doors, from_, before,
                                        plain(c.broken_by), example, self.source(*path)))  # fmt: skip
        return tuple(found)
