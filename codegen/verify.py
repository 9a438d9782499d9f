"""Tries an operator's rules on its own examples, and every rule on the change that must break it.

An example that breaks a rule, a table or a shape is a mistake; so is a `broken_by` that does not break just its rule.
"""

from .model import Constraint, Example, Level, Operator
from .rules import Field, Name, walk
from .validate import TensorValue, infer, violations

CHANGES = ("Sizes", "Strides", "DataType")


def broken_desc(operator: Operator, constraint: Constraint) -> tuple[dict, Level]:
    """The example that `broken_by` changes, changed, without the outputs that it leaves open; and its level."""
    example = operator.example(constraint.broken_by_example)
    desc: dict = {
        n: v if isinstance(v, int) else TensorValue(v.data_type, v.sizes, v.strides) for n, v in example.desc.items()
    }
    for member in operator.outputs:
        if not any(key.split(".")[0] == member.name for key in constraint.broken_by):
            desc[member.name] = None
    for key in sorted(constraint.broken_by, key=lambda key: not key.endswith(".Sizes")):  # new sizes reset the strides
        value, (member, _, field) = constraint.broken_by[key], key.partition(".")
        if not field:
            desc[member] = value
            continue
        old = desc[member]
        parts = dict(data_type=old.data_type, sizes=old.sizes, strides=old.strides)
        if field == "Sizes":
            parts |= dict(sizes=value, strides=None)
        else:
            parts[{"Strides": "strides", "DataType": "data_type"}[field]] = value
        desc[member] = TensorValue(**parts)
    level = example.from_
    if constraint.from_ and constraint.from_.position > level.position:
        level = constraint.from_
    return desc, level


def verify(linker, operator: Operator) -> None:
    """Reports every example and every broken_by that the rules contradict."""
    if linker.broken or _circular(linker, operator):
        return
    document = linker.document
    for example in operator.examples:
        path = ("examples", next(i for i, e in enumerate(linker.file.examples) if e.id == example.id))
        full = infer(operator, {**example.desc, **{m.name: None for m in operator.outputs}})
        broken = violations(operator, example.desc, example.from_)
        for violation in broken:
            place = (*path, "desc", violation.member) if violation.member else (*path, "from")
            message = f"{example.id} breaks {violation.id} at {example.from_.name}; " + _right(
                operator, example, violation, full
            )
            document.add(place, message)
        lower = [level for level in operator.levels if level.position < example.from_.position]
        accepts = next((level for level in lower if not violations(operator, example.desc, level)), None)
        if accepts and not broken:
            document.add(
                (*path, "from"),
                f"{example.id} holds at {accepts.name} already; from is the lowest level: {accepts.name}",
            )
    for constraint in operator.constraints:
        i = next(i for i, c in enumerate(linker.file.constraints) if c.id == constraint.short_id)
        _verify_broken_by(linker, operator, constraint, ("constraints", i, "broken_by"))


def _right(operator: Operator, example: Example, violation, full: dict) -> str:
    """What would be right: the rule's sentence, or what its table or rule gives."""
    for c in operator.constraints:
        if c.id == violation.id:
            return f"{c.rule} ({c.text})"
    member, what = violation.member, violation.id.rsplit("-", 1)[-1]
    if violation.id.startswith("TENSOR-") or member is None:
        return "change the example, or the level that it is from"
    m, cell = operator.member(member), operator.support[member].get(example.from_.name)
    if what == "Sizes":
        tensors = {t.name: example.desc[t.name] for t in operator.inputs} | {m.name: full[m.name]}
        sizes = full[member].sizes if m.kind == "output" else None
        return (
            f"{m.texts['sizes']} gives {list(sizes)}"
            if tensors and sizes is not None
            else f"its sizes are {m.texts['sizes']}"
        )
    if what == "DataType":
        return f"its data type is {m.texts['data_type']}"
    if cell and "DataType" in violation.id:
        return f"the table allows {', '.join(cell.data_types)}"
    if cell is None:
        return "change the level that it is from"
    return (
        f"the table allows {cell.dims_min}"
        + (f" to {cell.dims_max}" if cell.dims_max > cell.dims_min else "")
        + " dimensions"
    )


def _verify_broken_by(linker, operator: Operator, constraint: Constraint, path: tuple) -> None:
    document, known = linker.document, {m.name: m for m in operator.members}
    for key, value in constraint.broken_by.items():
        member, _, field = key.partition(".")
        if linker.name((*path, key), member, list(known), "member") is None:
            return
        fields = CHANGES if known[member].is_tensor else ()
        if (field not in fields) if fields else field:
            right = " or ".join(f"{member}.{f}" for f in fields) or member
            document.add((*path, key), f"{key} cannot be changed; write {right}")
            return
        type_ = str if field == "DataType" else tuple if field else int
        if not isinstance(value, type_) or (type_ is tuple and not all(isinstance(v, int) and v >= 0 for v in value)):
            needs = {str: "the name of a data type", tuple: "a list of numbers, as [1, 2]", int: "a number"}[type_]
            document.add((*path, key), f"{key} is not {needs}; write {needs}")
            return
        if field == "DataType" and linker.data_type((*path, key), value) is None:
            return
    if constraint.broken_by_example not in {e.id for e in operator.examples}:
        if not linker.file.examples:
            document.add(path, "there is no example that it could change; write an example first")
        return
    desc, level = broken_desc(operator, constraint)
    if not constraint.active(level):
        document.add(
            path, f"the rule does not hold at {level.name}, the level of the example; name another example: ..."
        )
        return
    found = {v.id for v in violations(operator, desc, level, "array" if constraint.doors == "array" else "descriptor")}
    if found != {constraint.id}:
        example = constraint.broken_by_example
        broken = ", ".join(sorted(found)) or "no rule"
        document.add(
            path, f"this change to {example} breaks {broken} at {level.name}; it must break exactly {constraint.id}"
        )


def _circular(linker, operator: Operator) -> bool:
    """An output that is left out must follow from the inputs, the numbers and the outputs before it."""
    known, before = {m.name for m in operator.inputs}, len(linker.document.mistakes)

    def uses(expr, seen: set) -> set:
        found: set = set()

        def visit(node):
            if isinstance(node, Field):
                found.add(node.tensor)
            elif isinstance(node, Name) and node.id in operator.let and node.id not in seen:
                found.update(uses(operator.let[node.id].expr, seen | {node.id}))

        walk(expr, visit)
        return found

    for m in operator.outputs:
        for key in ("sizes", "default_sizes", "data_type"):
            expr = getattr(m, key)
            if expr is None or (key == "default_sizes" and m.sizes is not None):
                continue
            unknown = uses(expr, set()) - known
            if unknown:
                message = (
                    f"{key} of {m.name} needs {', '.join(sorted(unknown))}; it can only use inputs and earlier outputs"
                )
                linker.document.add(("members", m.name, key), message)
        known.add(m.name)
    return len(linker.document.mistakes) > before
