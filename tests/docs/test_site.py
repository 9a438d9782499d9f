"""The site that `make docs` has built: links and anchors lead somewhere, every rule has its anchor, every language its pages.

Without a built site these tests are skipped; `make docs-check` builds it first.
"""

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from docs_blocks import pages
from specs import ROOT, SPEC

import dmlcore
from codegen import pages as generated

SITE = ROOT / "docs" / "_build" / "html"
LANGUAGES = ["en", *sorted(path.parent.name for path in (ROOT / "docs/locales").glob("*/phrases.po"))]


def state() -> str | None:
    """Why the site cannot be tested."""
    built = [top(language) / "searchindex.js" for language in LANGUAGES]
    if not all(path.is_file() for path in built):
        return "there is no site; run: make docs"
    if min(path.stat().st_mtime for path in built) < max(path.stat().st_mtime for path in pages()[1:]):
        return "the site is older than its pages; run: make docs"
    return None


def top(language: str) -> Path:
    return SITE if language == "en" else SITE / language


pytestmark = pytest.mark.skipif(state() is not None, reason=str(state()))


class Page(HTMLParser):
    """What a page links to, and the ids and text that it has."""

    def __init__(self, path: Path):
        super().__init__()
        self.links, self.ids, self.text, self.language = [], [], [], None
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "html":
            self.language = values.get("lang")
        self.links += [values[name] for name in ("href", "src") if values.get(name) and tag != "form"]
        self.ids += [values["id"]] if values.get("id") else []

    def handle_data(self, data):
        self.text.append(data)


@cache
def page(path: Path) -> Page:
    return Page(path)


def html(language: str) -> list[Path]:
    """The pages of one language; the English ones do not count those below them."""
    others = {top(other) for other in LANGUAGES if other != language} - {SITE}
    inside = (path for path in sorted(top(language).rglob("*.html")) if "_static" not in path.parts)
    return [path for path in inside if not any(other in path.parents for other in others)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_links(language):
    """Every internal link leads to a file, and to an id that it has."""
    broken = []
    for path in html(language):
        for link in page(path).links:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                broken.append(f"{path.relative_to(SITE)}: {link}")
            elif url.fragment and target.suffix == ".html" and unquote(url.fragment) not in page(target).ids:
                broken.append(f"{path.relative_to(SITE)}: {link} (no such id)")
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_fetched_from_elsewhere(language):
    """Scripts, styles and pictures come with the site, so that it works without a network."""
    for path in html(language):
        text = path.read_text("utf-8")
        assert not re.search(r'<(script|img|iframe)[^>]+src="(https?:)?//', text), path
        assert not re.search(r'<link[^>]+rel="(stylesheet|preload)"[^>]+href="(https?:)?//', text), path


@pytest.mark.parametrize("language", LANGUAGES)
def test_ids_occur_once(language):
    for path in html(language):
        ids = page(path).ids
        twice = {name for name in ids if ids.count(name) > 1}
        assert not twice, (path, twice)


def rules():
    """(page, rule id) of every rule that an error can name."""
    for op in SPEC.operators:
        values = generated.operator_page(op, SPEC)
        for rule in (*values["constraints"], *values["implied"]):
            yield f"operators/{values['snake']}", rule.id
    for rule in generated.tensor_rules(SPEC):
        yield "tensor", rule.id


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_rule_has_its_anchor(language):
    """In the spelling of the rule, in every language."""
    missing = [f"{name}#{rule}" for name, rule in rules() if rule not in page(top(language) / f"{name}.html").ids]
    assert not missing, missing


def test_errors_point_to_their_rule():
    """The anchor of an error is the page's path in docs/ and an id that the built page has."""
    with pytest.raises(dmlcore.ConstraintError) as caught:
        dmlcore.gather_nd([[1, 2]], [[0, 0, 0]])
    name, rule = caught.value.anchor.split("#")
    assert (ROOT / "docs" / name).is_file()
    assert rule == caught.value.rule and rule in page(SITE / Path(name).with_suffix(".html")).ids


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page_is_there(language):
    for path in pages()[1:]:
        name = path.relative_to(ROOT / "docs").with_suffix(".html")
        assert (top(language) / name).is_file(), name
    spelled = page(top(language) / "index.html").language
    assert spelled and spelled.replace("-", "_") == language


@pytest.mark.parametrize("language", LANGUAGES)
def test_search_index(language):
    """Operators and what they do are found."""
    text = (top(language) / "searchindex.js").read_text("utf-8")
    for word in ("gather_nd", {"en": "subblock", "es": "subbloqu", "pt_BR": "entrad", "zh_TW": r"\u5207\u7247"}[language]):
        assert word in text
