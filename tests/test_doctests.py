"""Every example in a public docstring runs and prints what it says."""

import doctest

import numpy as np
import pytest

import dmlcore

NAMES = [name for name in dmlcore.__all__ if getattr(getattr(dmlcore, name), "__doc__", None) and name != "errors"]


def collected(name: str) -> list[doctest.DocTest]:
    """The docstring of a public object, and of the methods that a class defines."""
    thing = getattr(dmlcore, name)
    texts = {name: thing.__doc__}
    if isinstance(thing, type):
        texts |= {f"{name}.{n}": getattr(v, "__doc__", None) for n, v in vars(thing).items() if n == "__call__" or n[0] != "_"}
    parser = doctest.DocTestParser()
    names = {"dmlcore": dmlcore, "np": np}
    found = [parser.get_doctest(text, dict(names), n, name, 0) for n, text in texts.items() if isinstance(text, str)]
    return [test for test in found if test.examples]


@pytest.mark.parametrize("name", NAMES)
def test_docstring(name):
    before = dmlcore.get_num_threads()
    runner, report = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE), []
    for test in collected(name):
        runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)
    assert dmlcore.get_num_threads() == before


@pytest.mark.parametrize("name", dmlcore._generated.__all__)
def test_operators_show_how_they_are_used(name):
    """Functions and descriptors say what they take and give an example."""
    text = getattr(dmlcore, name).__doc__
    assert collected(name) and "Parameters\n" in text
    assert name.endswith("Desc") or "Returns\n" in text
