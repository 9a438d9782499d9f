"""Turns the blocks `kernel`, `python` and `numpy` of an operator into objects: how it runs, and how Python calls it."""

import ast
import re

from . import names
from .model import Kernel, Let, PythonBlock
from .rules import INT, LIST

PLANS = {  # plan -> field -> (type, whether it must be given); core/kernel.h says what they mean
    "move": {
        "positions": (LIST, True),
        "index_strides": (LIST, True),
        "table_strides": (LIST, False),
        "stream_strides": (LIST, True),
        "bounds": (LIST, True),
        "steps": (LIST, True),
        "coordinate_stride": (INT, False),
        "slice": (LIST, False),
        "slice_table_strides": (LIST, False),
        "slice_stream_strides": (LIST, False),
    },
    "nonzero": {"sizes": (LIST, True), "strides": (LIST, True), "columns": (INT, True)},
}
OPTIONS = ("batch_dims", "mode", "fill_value", "reduction", "duplicates", "dtype", "out", "num_threads")


def link_kernel(linker) -> Kernel | None:
    """The plan and its fields; None when the plan is unknown."""
    f, tensors = linker.file.kernel, sorted(linker.tensors)
    refs = {}
    for key, words in (("T", "storage|type"), ("I", "type")):
        text = getattr(f, key)
        match = re.fullmatch(rf"({words})\((\w+)\)", text) if text else None
        if text and not match:
            linker.document.add(("kernel", key), f"{key} is {text}; {words.split('|')[0]}(<tensor>) is needed")
        refs[key] = linker.name(("kernel", key), match[2], tensors, "tensor") if match else None
    for key in ("table", "stream", "source"):
        linker.name(("kernel", key), getattr(f, key), tensors, "tensor")
    if not linker.name(("kernel", "plan"), f.plan, list(PLANS), "plan"):
        return None
    plan, fields = PLANS[f.plan], {}
    for name, text in f.fields.items():
        path = ("kernel", "fields", name)
        if linker.name(path, name, list(plan), f"field of the plan {f.plan}"):
            expr = linker.rule(path, text, plan[name][0])
            if expr is not None:
                fields[name] = Let(name, text, expr, linker.source(*path))
    for name, (_, needed) in plan.items():
        if needed and name not in f.fields:
            linker.document.add(("kernel", "fields"), f"the plan {f.plan} needs the field {name}; add {name}: ...")
    for key in ("I", "table", "stream") if f.plan == "move" else ():
        if getattr(f, key) is None:
            linker.document.add(("kernel",), f"the plan {f.plan} needs {key}; add {key}: ...")
    return Kernel(f.T, f.I, refs["T"], refs["I"], f.plan, fields, f.table, f.stream, f.source)


def link_python(linker) -> PythonBlock:
    """The array function, with its rules over natural tensors."""
    f, tensors = linker.file.python, sorted(linker.tensors)
    for i, option in enumerate(f.options):
        linker.name(("python", "options", i), option, OPTIONS, "option")
    for key in ("returns", "rows"):
        linker.name(("python", key), getattr(f, key), tensors, "tensor")
    for tensor, data_types in f.data_types.items():
        linker.name(("python", "data_types", tensor), tensor, tensors, "tensor")
        for i, data_type in enumerate(data_types):
            linker.data_type(("python", "data_types", tensor, i), data_type)
    ranks = {}
    for tensor, text in f.ranks.items():
        linker.name(("python", "ranks", tensor), tensor, tensors, "tensor")
        ranks[tensor] = linker.rule(("python", "ranks", tensor), text, INT)
    count = linker.rule(("python", "dimension_count"), f.dimension_count, INT)
    texts = {**f.ranks, **f.members, **({"dimension_count": f.dimension_count} if f.dimension_count else {})}
    members = {name: linker.rule(("python", "members", name), text, INT) for name, text in f.members.items()}
    numbers = [name for name, m in linker.file.members.items() if m.kind == "uint"]
    for key, named in (("members", f.members), ("parameters", f.parameters)):
        for name in named:
            linker.name(("python", key, name), name, numbers, "number")
    for name, option in f.parameters.items():
        linker.name(("python", "parameters", name), option, f.options, "option of this function")
    return PythonBlock(f.function, f.aliases, f.options, ranks, count, f.returns, f.rows, f.data_types, members,
                       f.parameters, f.example, texts)  # fmt: skip


def check_numpy(linker) -> None:
    """The NumPy source defines the function, with the inputs as its first arguments. It is never run here."""
    f = linker.file
    if linker.typed.was_cut("numpy") or linker.typed.was_cut("python"):
        return
    try:
        tree = ast.parse(f.numpy)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        message = f"this is not Python: {getattr(error, 'msg', 'cannot be read')}; correct it"
        linker.document.add(("numpy",), message, getattr(error, "lineno", None) or 0)
        return
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    function = names.operator_snake(f.operator)  # python.function may be shared by two operators, the oracle is not
    if function not in functions:
        linker.document.add(
            ("numpy",), f"it defines {', '.join(functions) or 'no function'}; define {function}", 1
        )
        return
    wanted = [m.python or names.member_snake(n) for n, m in f.members.items() if m.kind == "input"]
    given = [a.arg for a in functions[function].args.args]
    if given[: len(wanted)] != wanted and not linker.broken:
        message = f"{function} takes {', '.join(given)}; its first arguments are {', '.join(wanted)}"
        linker.document.add(("numpy",), message, functions[function].lineno)
