"""ONNX's own backend tests of the indexing operators, through dmlcore.onnx.Backend: all that the installed onnx has.

They are found by what a model contains, subgraphs included, and not by name; none is left out.
"""

import warnings
from collections import Counter
from pathlib import Path

import pytest

onnx = pytest.importorskip("onnx.reference") and pytest.importorskip("onnx")

from onnx import numpy_helper  # noqa: E402
from onnx.backend.test.loader import load_model_tests  # noqa: E402
from onnx.backend.test.runner import Runner  # noqa: E402

from dmlcore.onnx import OPS, Backend  # noqa: E402

NAMES = {operator.__name__ for operator in OPS}
# Fewer than these would mean that a newer onnx keeps its cases elsewhere, and that tests have vanished unseen.
LEAST = {
    "Gather": 10,
    "GatherElements": 20,
    "GatherND": 3,
    "NonZero": 1,
    "Scatter": 2,
    "ScatterElements": 7,
    "ScatterND": 5,
}


def operators(graph) -> set[str]:
    """The indexing operators in a graph and in the graphs within it."""
    found = {node.op_type for node in graph.node} & NAMES
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                found |= operators(attribute.g)
    return found


def collect() -> list:
    """(case, model, its operators) of every official test with one of our operators in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ONNX's makers of cases overflow on purpose
        cases = list(load_model_tests(kind="node"))
    for kind in ("simple", "pytorch-converted", "pytorch-operator"):
        cases += load_model_tests(kind=kind)
    models = ((case, case.model or onnx.load(Path(case.model_dir, "model.onnx"))) for case in cases)
    return [(case, model, found) for case, model in models if (found := operators(model.graph))]


def data_sets(case):
    """(inputs, expected outputs) of a case, from memory or from its folder."""
    if case.data_sets is not None:
        for arrays in case.data_sets:
            yield tuple([_array(a) for a in some] for some in arrays)
        return
    for folder in sorted(Path(case.model_dir).glob("test_data_set_*")):
        yield tuple(
            [_array(onnx.load_tensor(folder / f"{kind}_{i}.pb")) for i in range(len(list(folder.glob(f"{kind}_*.pb"))))]
            for kind in ("input", "output")
        )


def _array(value):
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


CASES = collect()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # ONNX's softmax, of rows that are masked out
@pytest.mark.parametrize(("case", "model"), [pytest.param(c, m, id=c.name) for c, m, _ in CASES])
def test_official(case, model):
    ready, ran = Backend.prepare(model), 0
    for inputs, expected in data_sets(case):
        Runner.assert_similar_outputs(expected, ready.run(inputs), case.rtol, case.atol)
        ran += 1
    assert ran


def test_every_operator_has_official_tests():
    counts = Counter(name for _, _, found in CASES for name in found)
    assert {name: counts[name] for name in NAMES if counts[name] < LEAST[name]} == {}
