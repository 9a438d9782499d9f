"""Turns the specification into the pages of the documentation that state facts: one for each operator, their index, the
tensor rules and the feature levels.

Here is decided what a page says; the templates page*.md.j2 put it in order. Anchors are the rules' ids as written, since
error messages name them.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from . import datatypes, docstrings, names, views
from .model import Cell, Constraint, Example, ExampleTensor, Level, Operator, Spec

WIDTH = 100
TYPES = {"input": "const DML_TENSOR_DESC*", "output": "const DML_TENSOR_DESC*", "uint": "UINT", "axis": "UINT"}
DOORS = {"both": "array functions and descriptors", "descriptor": "descriptors only", "array": "array functions only"}


@dataclass(frozen=True)
class RulePage:
    """A rule as a page shows it."""

    id: str
    formula: str
    text: str
    about: str
    levels: str
    doors: str
    broken_by: str | None = None


@dataclass(frozen=True)
class SupportPage:
    """The support table of a range of levels: rows of tensor, kind, dimensions and data types."""

    title: str
    first: Level
    rows: tuple[tuple[str, str, str, str], ...]
    news: tuple[str, ...]


@dataclass(frozen=True)
class ExamplePage:
    id: str
    anchor: str
    level: Level
    text: str
    notes: tuple[str, ...]
    listing: str
    code: str


@dataclass(frozen=True)
class ParameterPage:
    name: str
    type: str
    text: str


def render_pages(spec: Spec) -> dict[str, str]:
    """path -> text of every generated page."""
    from .outputs import render  # outputs.py lists this module's pages among its own

    files = {}
    for op in spec.operators:
        values = operator_page(op, spec)
        files[f"docs/operators/{names.operator_snake(op.name)}.md"] = _clean(render("page.md.j2", values))
    shared = {"spec": spec, "link": link, "rows": {op.name: changes(op) for op in spec.operators}, "names": names}
    files["docs/operators/index.md"] = _clean(render("page_index.md.j2", shared))
    files["docs/levels.md"] = _clean(render("page_levels.md.j2", {**shared, "news": level_news(spec)}))
    tensor = {**shared, "tensor": spec.tensor, "rules": tuple(tensor_rules(spec)), "types": datatypes.data_type_views(spec)}
    files["docs/tensor.md"] = _clean(render("page_tensor.md.j2", tensor))
    return files


def operator_page(op: Operator, spec: Spec) -> dict:
    """What page.md.j2 sees."""
    view = views.view(op, spec)
    return {
        "op": op,
        "view": view,
        "snake": names.operator_snake(op.name),
        "enum": names.enum_name(op.name),
        "newest": spec.newest,
        "types": TYPES,
        "lets": tuple(lets(op)),
        "constraints": tuple(rule(c, op) for c in op.constraints),
        "implied": tuple(implied(op, spec)),
        "support": tuple(support(op, spec)),
        "availability": tuple(availability(op, spec)),
        "examples": tuple(example(e, op, view) for e in op.examples),
        "parameters": tuple(parameters(view)),
        "successor": next((o for o in spec.operators if o.name == op.superseded_by), None),
        "link": link,
        "title": title,
        "numpy_names": numpy_names(op, spec, view),
    }


def lets(op: Operator) -> Iterable:
    """The named parts of rules that constraints, sizes or types mention, directly or through each other."""
    words = set(re.findall(r"\w+", " ".join([*(c.rule for c in op.constraints), *_member_rules(op)])))
    kept = []
    for let in reversed(op.let.values()):
        if let.name in words:
            kept.append(let)
            words |= set(re.findall(r"\w+", let.text))
    return reversed(kept)


def _member_rules(op: Operator) -> Iterable[str]:
    return (text for m in op.members for text in m.texts.values())


def rule(c: Constraint, op: Operator) -> RulePage:
    broken = ", ".join(f"`{path}` = `{_braces(value)}`" for path, value in c.broken_by.items())
    return RulePage(
        id=c.id,
        formula=c.rule,
        text=c.text,
        about=c.member,
        levels=levels(c.from_, c.before),
        doors=DOORS[c.doors],
        broken_by=f"{c.broken_by_example} with {broken}" if broken else None,
    )


def implied(op: Operator, spec: Spec) -> Iterable[RulePage]:
    """The rules that follow from the tables and from the members' own rules; their ids are as permanent as the others."""
    both, descriptor = DOORS["both"], DOORS["descriptor"]

    def row(short_id: str, about: str, text: str, doors: str, valid: str = "all") -> RulePage:
        return RulePage(f"{op.name}-{short_id}", "", text, about, valid, doors)

    text = f"The feature level is `{op.introduced.dml_name}` or higher."
    yield row("FeatureLevel-support", "FeatureLevel", text, descriptor)
    for m in op.tensors:
        extra = " (array functions: in the newest one, or an extension)" if m.name in datatypes.data_tensors(op) else ""
        text = f"`{m.name}.DataType` stands in the level's [table](#tensor-support){extra}."
        yield row(f"{m.name}-DataType-support", m.name, text, both)
        text = f"`{m.name}.DimensionCount` stands in the level's [table](#tensor-support)."
        yield row(f"{m.name}-DimensionCount-support", m.name, text, descriptor)
    for m in op.tensors:
        for key, field in (("data_type", "DataType"), ("sizes", "Sizes")):
            if key in m.texts:
                yield row(f"{m.name}-{field}", m.name, f"`{m.name}.{field} == {m.texts[key]}`", both)


def tensor_rules(spec: Spec) -> Iterable[RulePage]:
    for r in spec.tensor.rules:
        values = ", ".join(f"`{key}` = `{_braces(value)}`" for key, value in r.broken_by.items())
        yield RulePage(r.id, r.formula, r.text, r.field, levels(r.from_, r.before), DOORS[r.doors], values)


def support(op: Operator, spec: Spec) -> Iterable[SupportPage]:
    """The newest table first, as DirectML's pages have them."""
    rows = op.support_rows
    ends = [spec.levels[row.position - 1] for row in rows[1:]] + [None]
    kinds = {m.name: {"input": "Input", "output": "Output"}[m.kind] for m in op.tensors}
    for i in reversed(range(len(rows))):
        row, end = rows[i], ends[i]
        title_ = f"{row.dml_name} and above" if end is None else row.dml_name
        if end is not None and end is not row:
            title_ = f"{row.dml_name} to {end.dml_name}"
        cells = {m.name: op.support[m.name][row.name] for m in op.tensors}
        before = {m.name: op.support[m.name][rows[i - 1].name] for m in op.tensors} if i else None
        table = tuple((name, kinds[name], dimensions(cell), ", ".join(cell.data_types)) for name, cell in cells.items())
        yield SupportPage(title_, row, table, tuple(_news(cells, before)) if before else ())


def _news(cells: Mapping[str, Cell], before: Mapping[str, Cell]) -> Iterable[str]:
    """What a table accepts that the one below it did not; tensors with the same news share a line."""
    by_news: dict[str, list[str]] = {}
    for name, cell in cells.items():
        old, parts = before[name], []
        if (cell.dims_min, cell.dims_max) != (old.dims_min, old.dims_max):
            parts.append(f"{dimensions(cell)} dimensions (before: {dimensions(old)})")
        if added := [t for t in cell.data_types if t not in old.data_types]:
            parts.append(", ".join(added))
        if parts:
            by_news.setdefault("; ".join(parts), []).append(name)
    for news, members in by_news.items():
        yield f"{', '.join(members)}: {news}"


def availability(op: Operator, spec: Spec) -> Iterable[tuple[Level, str]]:
    """(level, what holds there) for every feature level."""
    current = None
    for level in spec.levels:
        if level in op.support_rows:
            what = "introduced" if level is op.introduced else "wider tables"
            current = level
        else:
            what = f"as at {current.dml_name}" if current else "not available"
        started = [c.short_id for c in op.constraints if c.from_ is level and level is not op.introduced]
        ended = [c.short_id for c in op.constraints if c.before is level]
        what += "".join(f"; {id} begins to hold" for id in started) + "".join(f"; {id} no longer holds" for id in ended)
        yield level, what


def changes(op: Operator) -> str:
    """The levels at which an operator's tables change."""
    return ", ".join(level.number for level in op.support_rows)


def level_news(spec: Spec) -> dict[str, str]:
    """What each level brings for the operators of this library."""
    ours = {op.name for op in spec.operators}
    news = {}
    for level in spec.levels:
        new = [f"[{name}](operators/{names.operator_snake(name)}.md) arrives" for name in level.operators if name in ours]
        wider = [
            f"[{op.name}](operators/{names.operator_snake(op.name)}.md) accepts more"
            for op in spec.operators
            if level in op.support_rows and level is not op.introduced
        ]
        news[level.name] = "; ".join(new + wider)
    return news


def example(e: Example, op: Operator, view) -> ExamplePage:
    errata = (f"Differs from Microsoft's page: {e.errata}",) if e.errata else ()
    return ExamplePage(
        id=e.id,
        anchor=f"{op.name}-{e.id}",
        level=e.from_,
        text=e.text,
        notes=(*errata, *((e.note,) if e.note else ())),
        listing="\n\n".join(_listing(e)),
        code=_code(e, view),
    )


def _listing(e: Example) -> Iterable[str]:
    numbers = [f"{name}: {value}" for name, value in e.desc.items() if not isinstance(value, ExampleTensor)]
    if numbers:
        yield "\n".join(numbers)
    for name, value in e.desc.items():
        if isinstance(value, ExampleTensor):
            strides = f", Strides: {_braces(value.strides)}" if value.strides is not None else ""
            head = f"{name}: (Sizes: {_braces(value.sizes)}, DataType: {value.data_type}{strides})"
            yield head if value.data is None else "\n".join([head, *("    " + line for line in _data(value.data))])


def _data(data) -> list[str]:
    """Nested brackets over as many lines as the page's width asks for, rows kept whole."""
    line = _inline(data)
    if len(line) <= WIDTH - 10 or not any(isinstance(item, list) for item in data):
        return [line]
    lines = []
    for item in data:
        block = _data(item)
        block[-1] += ","
        lines += [" " + text for text in block]
    lines[0] = "[" + lines[0][1:]
    lines[-1] = lines[-1].removesuffix(",") + "]"
    return lines


def _inline(data) -> str:
    if isinstance(data, list):
        return "[" + ", ".join(_inline(item) for item in data) + "]"
    return "_" if data is None else str(data)


def _code(e: Example, view) -> str:
    """The descriptor as a Python call, outputs left out where the sizes follow."""
    lines = [f"dmlcore.{view.desc_class}("]
    for p in view.desc_parameters:
        value = e.desc.get(p.name)
        if isinstance(value, ExampleTensor):
            strides = f", strides={tuple(value.strides)}" if value.strides is not None else ""
            lines.append(f'    {p.keyword}=dmlcore.TensorDesc("{value.data_type}", {tuple(value.sizes)}{strides}),')
        elif value is not None:
            lines.append(f"    {p.keyword}={value},")
    return "\n".join([*lines, ")"])


def parameters(view) -> Iterable[ParameterPage]:
    """The array function's parameters in the order of its signature."""
    for t in view.inputs:
        member = view.model.member(t.name)
        kind = "array_like of integers" if t.index else "array_like"
        yield ParameterPage(t.parameter, kind, f"{t.name}. {member.text}")
    for u in view.axes:
        text = f"{u.name}. {view.model.member(u.name).text} Negative values count from the end."
        yield ParameterPage(u.parameter, "int, default 0", text)
    for option in view.options:
        head, text = docstrings.option(view, option)
        default = views.OPTION_DEFAULTS[option].replace('"', "'")
        kind = head.split(":", 1)[1].strip().removesuffix("optional").strip(" ,")
        yield ParameterPage(option, f"{kind}{', ' if kind else ''}default {default}", _markdown(text))


def numpy_names(op: Operator, spec: Spec, view) -> tuple[tuple[str, str], ...]:
    """The NumPy dtypes that the array function takes, by parameter; extensions are named where they are few."""
    rows = []
    for t in view.inputs:
        known = list(dict.fromkeys(datatypes.array_types(op, t.name, spec)))
        text = ", ".join(f"`{spec.data_types[name].numpy}`" for name in known if name in spec.data_types)
        if t.index:
            text += "; narrower integers are converted"
        elif any(name in spec.extensions for name in known):
            text += "; and, beyond DirectML, [more](../tensor.md#data-types)"
        rows.append((t.parameter, text))
    return tuple(rows)


def dimensions(cell: Cell) -> str:
    return str(cell.dims_min) if cell.dims_min == cell.dims_max else f"{cell.dims_min} to {cell.dims_max}"


def levels(from_: Level | None, before: Level | None) -> str:
    if from_ and before:
        return f"from {from_.dml_name}, before {before.dml_name}"
    if from_:
        return f"from {from_.dml_name}"
    return f"before {before.dml_name}" if before else "all levels"


def title(key: str) -> str:
    """negative_indices -> Negative indices."""
    return key.replace("_", " ").capitalize()


def link(source: str) -> str:
    """owner/repository@commit:path as a link; other sources as they are."""
    match = re.fullmatch(r"([\w.-]+/[\w.-]+)@([0-9a-f]{7,40}):([^ ]+)(.*)", source)
    if not match:
        return source
    repository, commit, path, more = match.groups()
    return f"[{repository}: {path.rsplit('/', 1)[-1]}](https://github.com/{repository}/blob/{commit}/{path}){more}"


def _markdown(text: str) -> str:
    """The little reStructuredText of docstrings as Markdown."""
    return re.sub(r":\w+:`([^`]+)`", r"`\1`", text).replace("``", "`")


def _braces(value) -> str:
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(_braces(v) for v in value) + "}"
    return str(value)


def _clean(text: str) -> str:
    """No more than one empty line in a row outside code, none at the end."""
    return re.sub(r"\n{3,}", "\n\n", text).rstrip("\n") + "\n"
