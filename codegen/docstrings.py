"""Turns an operator's specification into the docstring of its array function: meaning, shapes, dtypes, errors, an example
that runs, and the source.
"""

import textwrap

from . import datatypes, names

WIDTH = 110

_RAISE = "``'raise'`` (default): IndexOutOfRangeError, and nothing is written"
_OPTIONS = {
    "batch_dims": ("batch_dims : int, optional", "Leading dimensions that input and indices share (0 by default)."),
    "mode": {
        "GATHER": (
            "mode : {'raise', 'clip', 'fill'}, optional",
            f"What happens to an index that is out of range. {_RAISE}; ``'clip'``: the nearest valid index; ``'fill'``: "
            "``fill_value`` takes the element's place.",
        ),
        "SCATTER": (
            "mode : {'raise', 'drop'}, optional",
            f"What happens to an index that is out of range. {_RAISE}; ``'drop'``: that update is skipped.",
        ),
    },
    "fill_value": ("fill_value : scalar, optional", "With ``mode='fill'``; the data type must be able to represent it."),
    "reduction": (
        "reduction : {'none', 'add', 'mul', 'min', 'max'}, optional",
        "How an update meets what is there. ``'none'`` (default): it overwrites. The others combine the two, update by "
        "update in row-major order: integers wrap around, NaN stays NaN, float16 is rounded at each step.",
    ),
    "duplicates": (
        "duplicates : {'last', 'raise'}, optional",
        "Updates for one place: ``'last'`` (default): the last one in row-major order stays (or all are combined, with a "
        "reduction); ``'raise'``: DuplicateIndexError, and nothing is written.",
    ),
    "dtype": ("dtype : dtype, optional", "Data type of the coordinates: uint32 (default) or int64."),
    "out": ("out : ndarray, optional", "Array to write to; unchanged when the call raises because of its arguments."),
    "num_threads": ("num_threads : int, optional", "Upper bound for this call; default :func:`get_num_threads`."),
}
_ROWS = "Array to write to, with at least as many rows as there are coordinates; the rows that are used are returned."


def option(op, name: str) -> tuple[str, str]:
    """The heading and the text of an option of an operator's array function."""
    text = _OPTIONS[name]
    if isinstance(text, dict):
        return text[op.kind]
    return (text[0], _ROWS) if name == "out" and op.is_nonzero else text


def docstring(op) -> str:
    """The text between the quotes, without the indentation of its function."""
    model = op.model
    lines = [model.summary, "", *_wrap(model.description), "", *_pseudocode(model.pseudocode), "", "Parameters", "----------"]
    for t in op.inputs:
        types = _types(model, t)
        kind = "array_like of integers" if t.index else "array_like"
        lines += [f"{t.parameter} : {kind}", *_indent(f"{_text(model, t.name)} ({t.name}; {types})")]
    for u in op.axes:
        lines += [f"{u.parameter} : int, optional", *_indent(f"{_text(model, u.name)} Negative values count from the end.")]
    for name in op.options:
        head, text = option(op, name)
        lines += [head, *_indent(text)]
    result = next(m for m in model.members if m.name == op.result.name)
    lines += ["", "Returns", "-------", "ndarray", *_indent(result.text)]
    lines += ["", "Raises", "------", "ConstraintError", *_indent("A shape or a data type breaks a rule of the operator.")]
    if op.index:
        lines += ["IndexOutOfRangeError", *_indent("An index lies outside the dimension that it indexes.")]
    lines += ["", "Notes", "-----", *_wrap(f"DirectML: {names.enum_name(model.name)}, from {model.introduced.dml_name}.")]
    lines += [""] * bool(model.behaviour)
    for topic, text in model.behaviour.items():
        told = f"{topic.replace('_', ' ').capitalize()}: {' '.join(text.split())}"
        lines += textwrap.wrap(told, WIDTH, initial_indent="- ", subsequent_indent="  ")
    if model.python.example:
        lines += ["", "Examples", "--------", *model.python.example.strip().splitlines()]
    return "\n".join(lines)


def _pseudocode(text: str) -> list[str]:
    lines = text.strip().splitlines()
    return [f"``{lines[0]}``"] if len(lines) == 1 else ["::", "", *("    " + line for line in lines)]


def _text(model, member: str) -> str:
    return next(m for m in model.members if m.name == member).text


def _types(model, tensor) -> str:
    cell = list(model.support[tensor.name].values())[-1]
    types = [*cell.data_types, *model.python.data_types.get(tensor.name, ())]
    if tensor.index:
        return ", ".join(types) + "; narrower integers are converted"
    more = "; and types that DirectML lacks, see tensor.md in docs" if tensor.name in datatypes.data_tensors(model) else ""
    return ", ".join(types) + more


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), WIDTH)


def _indent(text: str) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), WIDTH, initial_indent="    ", subsequent_indent="    ")
