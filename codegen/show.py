"""Turns an operator of the specification into text for a terminal: members, tables, rules, examples."""

import textwrap

from .model import Example, ExampleTensor, Level, Operator, Spec

WIDTH = 110


def show_all(spec: Spec) -> str:
    """One line for each operator."""
    names = max(len(op.name) for op in spec.operators)
    return "\n".join(f"{op.name:<{names}}  {op.introduced.name}  {op.summary}" for op in spec.operators)


def show(spec: Spec, operator: Operator, level: Level | None = None) -> str:
    """Everything about an operator; with a level, the tables and rules of that level alone."""
    parts = [f"{operator.name} ({operator.value}), from {operator.introduced.dml_name}", *wrap(operator.summary, 2)]
    if operator.aliases:
        parts.append(f"  also called {', '.join(operator.aliases)}")
    if operator.superseded_by:
        parts.append(f"  superseded by {operator.superseded_by}")
    parts += ["", *wrap(operator.description, 2), "", *indent(operator.pseudocode.strip(), 4)]
    parts += _members(operator)
    parts += _tables(operator, level)
    parts += _rules(operator, level)
    parts += ["", f"Examples{f' that hold at {level.name}' if level else ''}"]
    for example in operator.examples:
        if level is None or example.from_.position <= level.position:
            parts += _example(example)
    parts += ["", "Behaviour"]
    for name, text in operator.behaviour.items():
        parts += [f"  {name.replace('_', ' ')}", *wrap(text, 4)]
    parts += ["", "NumPy", *indent(operator.numpy.rstrip(), 2)]
    if operator.errata:
        parts += ["", "Errata of Microsoft's page"]
    for e in operator.errata:
        parts += [f"  {e.where}", *wrap(f"says: {e.says}", 4), *wrap(f"but:  {e.but}", 4), *wrap(f"so:   {e.so}", 4)]
    return "\n".join(parts)


def wrap(text: str, by: int) -> list[str]:
    space = " " * by
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=space,
        subsequent_indent=space + ("      " if text[:3] in ("say", "but", "so:") else ""),
    )


def indent(text: str, by: int) -> list[str]:
    return [" " * by + line if line else "" for line in text.splitlines()]


def _members(operator: Operator) -> list[str]:
    lines = ["", "Members"]
    for m in operator.members:
        lines += [f"  {m.name} ({m.kind})", *wrap(m.text, 4)]
        for key, text in m.texts.items():
            lines.append(f"    {key.replace('_', ' ')}: {text}")
    if operator.let:
        lines += ["", "Where"]
        lines += [f"  {let.name} = {let.text}" for let in operator.let.values()]
    return lines


def _tables(operator: Operator, level: Level | None) -> list[str]:
    """The newest level first, as DirectML's pages have it; with a level, the row that holds there."""
    lines: list[str] = []
    rows = operator.support_rows
    if level:
        rows = tuple(row for row in rows if row.position <= level.position)[-1:]
        if not rows:
            since = operator.introduced.dml_name
            return ["", f"{operator.name} does not exist at {level.dml_name}; it was introduced at {since}."]
    width = max(len(m.name) for m in operator.tensors)
    for row in reversed(rows):
        lines += ["", f"{level.dml_name if level else row.dml_name + ' and above'}"]
        for m in operator.tensors:
            cell = operator.support[m.name][row.name]
            dimensions = f"{cell.dims_min}" if cell.dims_min == cell.dims_max else f"{cell.dims_min} to {cell.dims_max}"
            lines.append(f"  {m.name:<{width}}  {dimensions:<7}  {', '.join(cell.data_types)}")
    return lines


def _rules(operator: Operator, level: Level | None) -> list[str]:
    lines = ["", "Rules"]
    for c in operator.constraints:
        if level and not c.active(level):
            continue
        notes = [f"only {c.doors} calls"] if c.doors != "both" else []
        notes += [f"from {c.from_.name}"] if c.from_ else []
        notes += [f"before {c.before.name}"] if c.before else []
        lines += [f"  {c.id}{' (' + ', '.join(notes) + ')' if notes else ''}", f"    {c.rule}", *wrap(c.text, 4)]
    for m in operator.tensors:
        if m.data_type is not None:
            lines += [f"  {operator.name}-{m.name}-DataType", f"    {m.name}.DataType == {m.texts['data_type']}"]
        if m.sizes is not None:
            lines += [f"  {operator.name}-{m.name}-Sizes", f"    {m.name}.Sizes == {m.texts['sizes']}"]
    return lines


def _example(example: Example) -> list[str]:
    lines = [f"  {example.id} (from {example.from_.name})", *wrap(example.text, 4)]
    for name, value in example.desc.items():
        if isinstance(value, ExampleTensor):
            data = f" = {_data(value.data)}" if value.data is not None else ""
            lines += textwrap.wrap(f"{name}: {value.data_type} {{{', '.join(map(str, value.sizes))}}}{data}", WIDTH,
                                   initial_indent="    ", subsequent_indent="      ")  # fmt: skip
        else:
            lines.append(f"    {name}: {value}")
    return lines


def _data(data) -> str:
    if isinstance(data, list):
        return "[" + ", ".join(_data(item) for item in data) + "]"
    return "_" if data is None else str(data)
