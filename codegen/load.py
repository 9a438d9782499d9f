"""Turns the folder spec/ into one linked, checked Spec, or into one SpecError that lists everything that is wrong.

The stages are read (yamlfile), type (typed, formats), link (shared, link, support) and try the examples (verify). Every
stage goes on with what the one before it could save.
"""

from dataclasses import replace
from pathlib import Path

from .examples import link_examples
from .formats import DataTypesFormat, LevelsFormat, OperatorFormat, TensorFormat
from .link import Linker
from .mistakes import Mistake, SpecError
from .model import Spec
from .shared import errata, link_data_types, link_levels, link_tensor
from .typed import type_document
from .verify import verify
from .yamlfile import Document, read

__all__ = ["Mistake", "SpecError", "load"]


def load(root: Path | str) -> Spec:
    """Reads `root`/spec. Raises SpecError with the mistakes of all files."""
    root = Path(root)
    documents: list[Document] = []

    def typed(name: str, format_):
        document = read(root / name, name)
        documents.append(document)
        return document, type_document(document, format_)

    levels_file, levels_typed = typed("spec/levels.yaml", LevelsFormat)
    types_file, types_typed = typed("spec/dtypes.yaml", DataTypesFormat)
    tensor_file, tensor_typed = typed("spec/tensor.yaml", TensorFormat)
    levels = link_levels(levels_file, levels_typed)
    data_types, extensions = link_data_types(types_file, types_typed, levels)
    tensor = link_tensor(tensor_file, tensor_typed, levels, data_types)

    operators = []
    folder = root / "spec" / "operators"
    files = sorted(folder.glob("*.yaml"))
    for file in sorted(folder.glob("*.yml")):
        documents[0].mistakes.append(
            Mistake(f"spec/operators/{file.name}", 1, "the name ends in .yml; .yaml is needed")
        )
    for file in files:
        document, outcome = typed(f"spec/operators/{file.name}", OperatorFormat)
        if outcome.value is None or outcome.todo or not levels or not data_types:
            continue
        linker = Linker(document, outcome, levels, data_types)
        operator = linker.link()
        examples = link_examples(linker)
        if operator:
            operator = replace(operator, examples=examples)
            verify(linker, operator)
            operators.append((document, operator))
    if not files:
        documents[0].mistakes.append(
            Mistake("spec/operators", 1, "there is no operator; python -m codegen new OP starts one")
        )
    _check_unique(operators)

    mistakes = [mistake for document in documents for mistake in document.mistakes]
    if mistakes:
        raise SpecError(mistakes)
    assert tensor is not None
    return Spec(
        levels,
        data_types,
        extensions,
        tensor,
        tuple(sorted((operator for _, operator in operators), key=lambda operator: operator.name)),
        errata(levels_typed.value.errata) + errata(types_typed.value.errata),
        tuple(dict.fromkeys(levels_typed.value.sources + types_typed.value.sources)),
    )


def _check_unique(operators: list) -> None:
    """No two operators share a name or an enum value."""
    taken: dict = {}
    for document, operator in operators:
        keys = [(("operator",), f"the operator {operator.name}"), (("value",), f"the value {operator.value}")]
        keys += [(("aliases",), f"the operator {alias}") for alias in operator.aliases]
        for path, key in keys:
            other = taken.setdefault(key, document.path)
            if other != document.path:
                document.add(path, f"{key} is taken by {other}; every operator has its own")
