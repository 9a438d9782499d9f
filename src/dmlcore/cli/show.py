"""`ops` and `show`: what the specifications say of operators, as tables to read or as JSON.

Everything comes from the generated tables; nothing here knows an operator by name.
"""

import typer
from rich.table import Table
from rich.text import Text

from .._generated.tables import LEVELS, OPERATORS, TENSOR_RULES
from .._generated.tools import TOOLS
from ..graph import desc_class, find_operator
from ..levels import POSITION
from ..vectors.natural import complete, tensor_facts
from .output import Json, Level, command, console, emit, level_option

__all__ = ["operator_argument", "ops", "show"]


def number(position: int) -> str:
    """2.1 for the position of FL2_1."""
    return LEVELS[position].name.removeprefix("FL").replace("_", ".")


def _complete_operator(incomplete: str) -> list[str]:
    return [name for name in TOOLS if name.startswith(incomplete.upper())]


OPERATOR = typer.Argument(metavar="OPERATOR", help="Such as GATHER_ND; any case.", autocompletion=_complete_operator)


def operator_argument(text: str) -> str:
    """The operator that an argument names."""
    name = find_operator(text)
    if name is None:
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(TOOLS)}", param_hint="'OPERATOR'")
    return name


def _changes(operator: str) -> list[int]:
    """The positions of the levels at which an operator's tables change."""
    spec, rows = OPERATORS[operator], []
    for position in range(spec.introduced, len(LEVELS)):
        cells = [support.get(position) for support in spec.support.values()]
        if not rows or cells != rows[-1][1]:
            rows.append((position, cells))
    return [position for position, _ in rows]


@command
def ops(json_output: bool = Json) -> None:
    """List the operators and the feature levels that have them.

    '+' marks a level that introduces an operator or adds data types or dimensions to it, '-' one that has it unchanged.
    """
    if json_output:
        emit({"operators": [_summary(name) for name in OPERATORS]})
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("operator", no_wrap=True)
    for level in LEVELS:
        table.add_column(number(POSITION_OF[level.name]), justify="center", no_wrap=True)
    table.add_column("function", no_wrap=True)
    for name, spec in OPERATORS.items():
        changes = _changes(name)
        marks = ["" if p < spec.introduced else "+" if p in changes else "-" for p in range(len(LEVELS))]
        table.add_row(Text(name, "bold"), *(Text(m, "green" if m == "+" else "dim") for m in marks), spec.function)
    console().print(table)


POSITION_OF = {level.name: i for i, level in enumerate(LEVELS)}


def _summary(name: str) -> dict:
    spec, tool = OPERATORS[name], TOOLS[name]
    return {
        "operator": name,
        "aliases": list(tool.aliases),
        "function": spec.function,
        "desc": desc_class(name).__name__,
        "summary": spec.summary,
        "introduced": LEVELS[spec.introduced].dml_name,
        "feature_levels": [level.dml_name for level in LEVELS[spec.introduced :]],
        "changes": [LEVELS[p].dml_name for p in _changes(name)],
    }


def _rules(name: str, position: int) -> list[dict]:
    """The rules at a level, those of every tensor told once."""
    spec, tool = OPERATORS[name], TOOLS[name]
    broken = {b.rule: b for b in tool.broken}
    facts, numbers = tensor_facts(complete(desc_class(name).from_dict(tool.examples[0].desc)))
    rules, seen = [], set()
    for check in spec.checks:
        if check.kind == "tensor":
            if check.id not in seen:
                rule = TENSOR_RULES[check.id]
                rules.append({"id": check.id, "member": "every tensor", "text": rule.text, "rule": rule.formula})
        elif check.kind in ("sizes", "data-type"):
            (_, ((left, _), (right, _))), *_ = check.facts(facts, spec.names(facts, numbers))
            rules.append(
                {"id": check.id, "member": check.member, "text": f"{left} is {right}.", "rule": f"{left} == {right}"}
            )
        elif (
            check.kind == "constraint"
            and check.id in broken
            and broken[check.id].first <= position < broken[check.id].last
        ):
            rules.append({"id": check.id, "member": check.member, "text": check.text, "rule": None})
        seen.add(check.id)
    return sorted(rules, key=lambda rule: rule["member"] == "every tensor")


def _dimensions(cell) -> str:
    return f"{cell[1]}" if cell[1] == cell[2] else f"{cell[1]} to {cell[2]}"


def _support(name: str, positions: list[int]) -> list[dict]:
    rows = []
    for position in positions:
        for tensor, cells in OPERATORS[name].support.items():
            types, low, high = cells[position]
            rows.append(
                {
                    "feature_level": LEVELS[position].dml_name,
                    "tensor": tensor,
                    "data_types": list(types),
                    "dimensions": [low, high],
                }
            )
    return rows


@command
def show(
    operator: str = OPERATOR,
    level: str = Level,
    examples: bool = typer.Option(True, help="Show the examples too."),
    json_output: bool = Json,
) -> None:
    """Show an operator: members, tables, rules, examples.

    With --level what holds at that level; without, every level that changes the tables, and the rules of the newest.

    \b
    Examples:
      dmlcore show gather_nd --level 2.1
      dmlcore show SCATTER_ND --no-examples --json
    """
    name, chosen = operator_argument(operator), level_option(level)
    spec, tool, position = OPERATORS[name], TOOLS[name], POSITION[chosen]
    if position < spec.introduced:
        raise typer.BadParameter(
            f"{name} does not exist at {LEVELS[position].dml_name}; it came with {LEVELS[spec.introduced].dml_name}",
            param_hint="'--level'",
        )
    positions = _changes(name) if level is None else [position]
    shown = [e for e in tool.examples if e.level <= position] if examples else []
    rules = _rules(name, position)
    if json_output:
        emit(
            {
                **_summary(name),
                "struct": tool.struct,
                "description": tool.description,
                "pseudocode": tool.pseudocode,
                "members": [{"name": m, "keyword": k, "kind": kind, "text": text} for m, k, kind, text in spec.members],
                "support": _support(name, positions),
                "rules": rules,
                "behaviour": tool.behaviour,
                "examples": [
                    {
                        "id": e.id,
                        "feature_level": LEVELS[e.level].dml_name,
                        "text": e.text,
                        "desc": e.desc,
                        "data": e.data,
                    }
                    for e in shown
                ],
            }
        )
        return
    _print(name, positions, rules, shown)


def _print(name: str, positions: list[int], rules: list[dict], examples) -> None:
    spec, tool, out = OPERATORS[name], TOOLS[name], console()

    def heading(text: str) -> None:
        out.print()
        out.print(Text(text, "bold cyan"))

    also = f", also {', '.join(tool.aliases)}" if tool.aliases else ""
    out.print(Text(f"DML_OPERATOR_{name}{also}", "bold"))
    python = f"dmlcore.{desc_class(name).__name__}, dmlcore.{spec.function}()"
    out.print(f"{tool.struct}, from {LEVELS[spec.introduced].dml_name}; {python}")
    heading("Meaning")
    out.print(" ".join(tool.description.split()), markup=False)
    out.print()
    for line in tool.pseudocode.splitlines():
        out.print(Text(f"    {line}", "green"))
    heading("Members")
    table = Table(box=None, pad_edge=False, show_header=False)
    for member, _, kind, text in spec.members:
        table.add_row(Text(member, "bold"), Text(kind, "dim"), Text(text))
    out.print(table)
    heading("Data types and dimensions")
    table = Table("level", "tensor", "dimensions", "data types", box=None, pad_edge=False, header_style="dim")
    for position in positions:
        for i, (tensor, cells) in enumerate(spec.support.items()):
            cell = cells[position]
            table.add_row("" if i else number(position), tensor, _dimensions(cell), ", ".join(cell[0]))
    out.print(table)
    heading("Rules")
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True, style="yellow")
    table.add_column()
    for rule in rules:
        table.add_row(Text(rule["id"]), Text(rule["text"] or ""))
    out.print(table)
    heading("Behaviour")
    table = Table(box=None, pad_edge=False, show_header=False)
    for topic, text in tool.behaviour.items():
        table.add_row(Text(topic.replace("_", " "), "bold"), Text(text))
    out.print(table)
    for example in examples:
        heading(f"{example.id}, from {LEVELS[example.level].dml_name}")
        out.print(example.text, markup=False)
        table = Table(box=None, pad_edge=False, show_header=False)
        for member, value in example.desc.items():
            told = f"{value['DataType']} {value['Sizes']}" if isinstance(value, dict) else str(value)
            data = Text(_compact(example.data[member]), "dim") if member in example.data else ""
            table.add_row(Text(member, "bold"), Text(told), data)
        out.print(table)


def _compact(data) -> str:
    if isinstance(data, list):
        return "[" + ", ".join(map(_compact, data)) + "]"
    return "_" if data is None else str(data)
