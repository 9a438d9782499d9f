"""Every Python block of README.md and docs/ runs, in the order of its page, and prints what the page says.

Sessions (```pycon) are doctests, programs (```python) are executed; both see what stood above them. A block that only shows
a signature is held against the real one. A page is left at the first block that needs a package that is not installed.
"""

import ast
import doctest
import inspect
import re

import numpy as np
import pytest
from docs_blocks import ROOT, blocks, pages

import dmlcore

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
LANGUAGES = {"python", "pycon", "py", "python3", "{code-block} python", "{doctest}"}


def with_python():
    return [path for path in pages() if any(block.language in LANGUAGES for block in blocks(path))]


@pytest.mark.parametrize("path", with_python(), ids=lambda path: str(path.relative_to(ROOT)))
def test_page(path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # pages may write files
    names, skipped, threads = {"np": np, "dmlcore": dmlcore}, None, dmlcore.get_num_threads()
    try:
        for block in blocks(path):
            if block.language not in LANGUAGES:
                continue
            if missing := block.missing():
                skipped = f"{block.place} and what follows it needs {missing}"
                break
            run(block, names)
    finally:
        dmlcore.set_num_threads(None)
    assert dmlcore.get_num_threads() == threads
    if skipped:
        pytest.skip(skipped)


def run(block, names):
    if block.code.lstrip().startswith(">>>"):
        test = doctest.DocTestParser().get_doctest(block.code, names, block.place, str(block.path), block.line)
        report = []
        runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
        runner.run(test, out=report.append, clear_globs=False)
        names.update(test.globs)
        assert not runner.failures, "".join(report)
    elif shown := block.signature():
        compare(*shown, block.place)
    else:
        exec(compile(block.code, block.place, "exec"), names)


def compare(name: str, shown: ast.arguments, place: str):
    """The parameters on the page are those of the function or class, in the same order and with the same defaults."""
    real = inspect.signature(getattr(dmlcore, name.removeprefix("dmlcore."))).parameters
    listed = [a.arg for a in [*shown.posonlyargs, *shown.args, *shown.kwonlyargs]]
    assert listed == list(real), place
    positional = zip(reversed([*shown.posonlyargs, *shown.args]), reversed(shown.defaults), strict=False)
    for argument, default in [*positional, *zip(shown.kwonlyargs, shown.kw_defaults, strict=True)]:
        if default is not None and not isinstance(default, ast.Name | ast.Attribute):
            assert real[argument.arg].default == ast.literal_eval(default), (place, argument.arg)


def test_installing_from_source_comes_first():
    """A line that installs dmlcore from an index stands behind a sentence that says from when on that works."""
    for path in pages():
        text = path.read_text("utf-8")
        for match in re.finditer(r"pip install (-U )?['\"]?dmlcore", text):
            line = text.count("\n", 0, match.start()) + 1
            assert "once published" in text[max(0, match.start() - 300) : match.start()].lower(), f"{path}:{line}"
