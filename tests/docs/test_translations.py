"""The catalogues: identifiers, code and links stay as they are, and the generated pages are translated."""

import re

import pytest
from docs_blocks import ROOT

babel = pytest.importorskip("babel.messages.pofile", reason="the packages of the extra docs are missing")
LOCALES = ROOT / "docs" / "locales"
FILES = sorted(LOCALES.rglob("*.po"))
CODE = re.compile(r"`[^`]+`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
PLACE = re.compile(r"\{[a-z]\w*\}")
IDENTIFIER = re.compile(r"\b(?:[A-Z][A-Z0-9]*_[A-Z0-9_]+(?:-[\w-]+)?|[A-Z][a-z]+[A-Z][A-Za-z]+|[A-Z]+\d+)\b")


def messages(path):
    with path.open("rb") as file:
        return [message for message in babel.read_po(file) if message.id]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(LOCALES)))
def test_code_links_and_names_stay(path):
    for message in messages(path):
        if not message.string:
            continue
        assert not message.fuzzy, message.id
        for kind in (CODE, LINK):
            assert sorted(kind.findall(message.id)) == sorted(kind.findall(message.string)), message.id
        if path.name == "phrases.po":
            assert sorted(PLACE.findall(message.id)) == sorted(PLACE.findall(message.string)), message.id
        for name in set(IDENTIFIER.findall(LINK.sub("", message.id))):
            assert name.removesuffix("s") in message.string, (message.id, name)


@pytest.mark.parametrize("name", ["operators.po", "tensor.po", "levels.po"])
@pytest.mark.parametrize("language", sorted(path.parent.name for path in LOCALES.glob("*/phrases.po")))
def test_generated_pages_are_translated(language, name):
    """Sentences that are new may wait for a translator, since they are shown in English; most are never left."""
    left = [message.id for message in messages(LOCALES / language / "LC_MESSAGES" / name) if not message.string]
    assert len(left) <= len(messages(LOCALES / language / "LC_MESSAGES" / name)) / 10, left
