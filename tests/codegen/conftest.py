"""Gives the tests a copy of spec/ that they can spoil, and the mistakes that loading it then reports."""

import shutil
import sys
from pathlib import Path

import pytest

pytest.importorskip("pydantic")
pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the generator is never installed

from codegen.load import SpecError, load  # noqa: E402


class Copy:
    """A copy of the specification in a folder of its own."""

    def __init__(self, root: Path):
        self.root = root
        shutil.copytree(ROOT / "spec", root / "spec")

    def text(self, name: str) -> str:
        return (self.root / "spec" / name).read_text(encoding="utf-8")

    def write(self, name: str, text: str) -> None:
        (self.root / "spec" / name).write_text(text, encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> int:
        """Replaces `old`, which stands there once. Returns the line where it began."""
        text = self.text(name)
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}"
        self.write(name, text.replace(old, new))
        return text[: text.index(old)].count("\n") + 1

    def mistakes(self) -> list:
        try:
            load(self.root)
        except SpecError as error:
            return list(error.mistakes)
        return []


@pytest.fixture
def copy(tmp_path) -> Copy:
    return Copy(tmp_path)


@pytest.fixture(scope="session")
def spec():
    return load(ROOT)
