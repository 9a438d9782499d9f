"""What the README, the pages and the examples show is true: blocks run, programs run, links lead somewhere."""

import doctest
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "spec/README.md", ROOT / "examples/data/README.md"])
PROGRAMS = sorted(p for p in (ROOT / "examples").glob("*.py") if p.name != "demo.py")
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def run_sessions(page: Path, names: dict) -> int:
    text = "\n".join(blocks(page, "pycon"))
    test = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), 0)
    failures = []
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    runner.run(test, out=failures.append)
    assert not failures, "".join(failures)
    return runner.tries


def test_readme_sessions():
    assert run_sessions(README, {}) > 12


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent.name == "operators"], ids=lambda p: p.stem)
def test_page_sessions_and_descriptors(page):
    import dmlcore

    run_sessions(page, {})
    for code in blocks(page, "python"):
        if re.match(r"dmlcore\.\w+Desc\(\n", code) and ": TensorDesc" not in code:
            assert dmlcore.check(eval(code, {"dmlcore": dmlcore})) == []  # the example's descriptor, from our own page


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_examples_run(program, tmp_path):
    import dmlcore

    environment = {**os.environ, "PYTHONPATH": str(Path(dmlcore.__file__).resolve().parents[1])}
    done = subprocess.run([sys.executable, str(program)], cwd=tmp_path, env=environment, capture_output=True, text=True)
    missing = re.search(r"No module named '(\w+)|pip install ([\w-]+)", done.stderr)
    if missing and missing[1] != "dmlcore":
        pytest.skip(f"the example needs {missing[1] or missing[2]}")
    assert done.returncode == 0, done.stderr
    assert done.stdout


def demo():
    spec = importlib.util.spec_from_file_location("demo", ROOT / "examples/demo.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_demo_recorded_tensors(monkeypatch, capsys):
    module = demo()
    monkeypatch.setattr(module, "medians", lambda calls: [1.0] * len(calls))  # the results matter here, not the times
    assert module.recorded_models()
    assert capsys.readouterr().out.count("as recorded") == 5


def test_demo_photograph(monkeypatch, tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="needs the demo extra")
    image = pytest.importorskip("PIL.Image")
    module = demo()
    monkeypatch.setattr(module, "OUTPUT", tmp_path / "output")
    monkeypatch.setattr(module, "HERE", tmp_path / "examples")
    module.photograph()
    picture = np.asarray(image.open(tmp_path / "output/sunrise.png"))
    before, after = picture[:, :512], picture[:, -512:]
    mask = module.backdrop(before)
    assert np.array_equal(before[~mask], after[~mask]) and (before[mask] != after[mask]).any(axis=-1).mean() > 0.95
    assert "60697 pixels" in capsys.readouterr().out


def test_demo_feature_level(capsys):
    demo().feature_level()
    text = capsys.readouterr().out
    assert "GATHER_ND-IndicesTensor-DataType-support" in text and "FL3_0" in text


def anchors(page: Path) -> set[str]:
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)"', text))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file), target


def test_every_rule_has_its_anchor():
    """Errors name `operators/<op>.md#<id>` or `tensor.md#<id>`; the place exists for each rule that can be reported."""
    from dmlcore._generated import tables

    for operator in tables.OPERATORS.values():
        page, tensor = ROOT / "docs" / f"{operator.page}.md", ROOT / "docs/tensor.md"
        known = {"page": anchors(page), "tensor": anchors(tensor)}
        for check in operator.checks:
            assert check.id in known["tensor" if check.kind == "tensor" else "page"], check.id


@pytest.mark.skipif(os.name != "posix", reason="a Makefile")
def test_make_help_names_real_targets():
    text = (ROOT / "Makefile").read_text()
    targets = {name for line in re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE) for name in line.split()}
    shown = set(re.findall(r"'make ([\w-]+)", text.split("\ndemo:")[0]))
    assert {"demo", "test", "regenerate", "check", "clean"} <= shown <= targets
