"""Renders everything that is generated: from a specification to a dictionary of file names and texts.

This is the one list of outputs. Rendering is done in memory and is a function of the specification alone: no dates, no
machine, no order that could change.
"""

import hashlib
from pathlib import Path

import jinja2

from . import datatypes, names, pages, tools, views
from .model import Spec

ROOT = Path(__file__).resolve().parent.parent
GENERATED = "src/dmlcore/_generated"

_PLAIN = {  # output in _generated -> template
    "operators.pyx": "operators.pyx.j2",
    "operators.pyi": "operators.pyi.j2",
    "operators.h": "operators.h.j2",
    "support.h": "support.h.j2",
    "loops.inc": "loops.inc.j2",
    "tables.py": "tables.py.j2",
    "enums.py": "enums.py.j2",
    "descs.py": "descs.py.j2",
    "oracle.py": "oracle.py.j2",
    "__init__.py": "package.py.j2",
}


def render_all(spec: Spec) -> dict[str, str]:
    """Every generated file: path from the root of the project -> text."""
    files = {f"{GENERATED}/{name}": render(template, context(spec)) for name, template in _PLAIN.items()}
    files[f"{GENERATED}/tools.py"] = render("tools.py.j2", tools.context(spec))
    from . import schema
    files["spec/schema.json"] = schema.schema_text()
    files |= pages.render_pages(spec)
    files[f"{GENERATED}/SOURCES.sha256"] = checksums(files)
    return files


def context(spec: Spec) -> dict:
    """What the templates see."""
    operators = [views.view(op, spec) for op in spec.operators]
    types = datatypes.data_type_views(spec)
    functions = sorted({op.model.python.function for op in operators})
    aliases = {alias: op for op in operators for alias in op.model.aliases}
    desc_aliases = [(names.desc_class(alias), op.desc_class) for alias, op in sorted(aliases.items())]
    function_aliases = [(alias, op.snake) for op in operators for alias in op.model.python.aliases]
    exported = sorted(
        [*functions, *(op.desc_class for op in operators), *(a for a, _ in desc_aliases), *(a for a, _ in function_aliases)]
    )
    storage_of = {t.name: t.storage for t in (*spec.data_types.values(), *spec.extensions.values())}
    return {
        "spec": spec,
        "operators": operators,
        "functions": functions,
        "exported": exported,
        "desc_aliases": desc_aliases,
        "function_aliases": function_aliases,
        "levels": spec.levels,
        "data_types": types,
        "numpy_types": [(numpy_names(t.numpy), t.value) for t in types if t.numpy],
        "numbers": numbers(types),
        "storages": [(s, [n for n, of in storage_of.items() if of == s] or ["none"]) for s in datatypes.STORAGES],
        "tensor_rules": ["DML_" + "_".join(map(names.snake, r.id.split("-"))).upper() for r in spec.tensor.rules],
        "checks_max": max(len(op.checks) for op in operators),
        "eight_dimensions_level": spec.level("FL3.0"),
    }


def numbers(types) -> list[datatypes.DataTypeView]:
    """DirectML's types with arithmetic; the compiled code counts them from 1 on."""
    found = [t for t in types if t.dml and t.numpy]
    assert [t.value for t in found] == list(range(1, len(found) + 1))
    return found


def numpy_names(dtype: str) -> str:
    """NumPy has two type numbers for one integer width where C has two such types; both are registered."""
    return {"int64": "int64 longlong", "uint64": "uint64 ulonglong", "int32": "int32 intc", "uint32": "uint32 uintc"}.get(
        dtype, dtype
    )


def environment() -> jinja2.Environment:
    """Strict: an unknown name is an error; blocks leave no trace in the text."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    env.filters["prefix"] = lambda text, start: start + text
    env.filters["suffix"] = lambda text, end: text + end
    env.filters["pyrepr"] = repr
    return env


def render(template: str, values: dict) -> str:
    return environment().get_template(template).render(values)


def checksums(files: dict[str, str]) -> str:
    """What a build compares (setup.py): the specifications that were read, and the generated files that it needs."""
    lines = {}
    for path in sorted((ROOT / "spec").rglob("*.yaml")):
        lines[path.relative_to(ROOT).as_posix()] = digest(path.read_bytes())
    for name, text in files.items():
        if name.startswith(GENERATED):
            lines[name] = digest(text.encode())
    return "".join(f"{value}  {name}\n" for name, value in sorted(lines.items()))


def digest(data: bytes) -> str:
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()
