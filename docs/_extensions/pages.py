"""Makes one set of Markdown files readable both as plain files and as a site.

Anchors written as HTML keep their exact id and can be linked to. Links to files outside docs/ lead to the page that shows
the file, or become its name. Text that consists of names is kept out of the translations.
"""

import posixpath
import re
from fnmatch import fnmatchcase
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform

ROOT = Path(__file__).resolve().parents[2]
# Files outside docs/ and the pages that show them.
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "THIRD_PARTY.md": "third_party.md",
    "spec/README.md": "specification.md",
}
FENCE = re.compile(r"^ *(`{3,}|~{3,}).*?^ *\1 *$", re.S | re.M)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s:]+)\)")
CONTENTS = re.compile(r"^<!-- contents\n(.*?)\n?-->$", re.S | re.M)
SHOWS = re.compile(r"^<!-- shows (\S+) -->$", re.M)
ANCHOR = re.compile(r'\s*<a id="([^"]+)">')
# A name: a rule's id, or a word with an underscore, a digit or a capital inside, in capitals, or a type of Python's.
NAME = re.compile(
    r"\b(?:[A-Z][A-Z0-9_]+-[\w-]+|\w*[A-Za-z0-9]_\w+|[A-Za-z]+\d\w*|0x\w+|[A-Z]?[a-z]+[A-Z]\w*|[A-Z][A-Z0-9]+|int|dtype|Windows)"
    r"(?:\.\w+)*\b"
)


def source_read(app, docname, source):
    """Puts in the files that a page shows, and turns links to files into links to pages."""
    page = f"docs/{docname}.md"
    if not (ROOT / page).is_file():
        return
    text = source[0]
    for shown in SHOWS.findall(text):
        app.env.note_dependency(str(ROOT / shown))
        inside = outside_fences((ROOT / shown).read_text("utf-8"), lambda t, s=shown: relinked(t, s, page))
        text = text.replace(f"<!-- shows {shown} -->", re.sub(r"\A# .*\n", "", inside))
    text = outside_fences(text, lambda part: relinked(part, page, page))
    source[0] = CONTENTS.sub(lambda match: contents(match[1].split(), app.env, docname), text)


def contents(entries: list[str], env, docname: str) -> str:
    """A table of contents that no reader of the plain file sees; Sphinx warns of pages that stand in none."""
    folder, found = posixpath.dirname(docname), []
    for entry in entries:
        pattern = posixpath.normpath(posixpath.join(folder, entry))
        found += sorted("/" + name for name in env.found_docs if fnmatchcase(name, pattern) and name != docname)
    return "\n".join(["```{toctree}", ":hidden:", "", *dict.fromkeys(found), "```"])


def outside_fences(text: str, change) -> str:
    """The text with `change` applied to everything but fenced blocks."""
    parts, end = [], 0
    for fence in FENCE.finditer(text):
        parts += [change(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, change(text[end:])])


def relinked(text: str, written_in: str, page: str) -> str:
    """Links relative to the file they were written in become relative to the page; those that lead nowhere, their text."""

    def link(match):
        image, label, (path, hash_, anchor) = match[1], match[2], match[3].partition("#")
        if not path:
            return match[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(written_in), path))
        if image:  # charts exist once the benchmarks have run
            return match[0] if (ROOT / target).exists() or not target.startswith("benchmarks/") else ""
        if target == "README.md":
            hash_ = anchor = ""
        if target in PAGES:
            target = "docs/" + PAGES[target]
        if not target.startswith("docs/"):
            return f"`{target}`" if (ROOT / target).exists() and label == label.strip("`") else label
        return f"[{label}]({posixpath.relpath(target, posixpath.dirname(page))}{hash_}{anchor})"

    return LINK.sub(link, text)


class Anchors(SphinxTransform):
    """`<a id="X"></a>` becomes a target with exactly this id, known to links from this and other pages."""

    default_priority = 5  # before translation

    def apply(self, **kwargs):
        known = self.env.metadata[self.env.docname].setdefault("myst_slugs", {})
        own = getattr(self.document, "myst_slugs", None)
        for raw in list(self.document.findall(nodes.raw)):
            if raw.astext() == "</a>":
                raw.parent.remove(raw)
            elif match := ANCHOR.match(raw.astext()):
                target = nodes.target("", "", ids=[match[1]])
                paragraph = raw.parent if isinstance(raw.parent, nodes.TextElement) else nodes.paragraph()
                raw.replace_self(target if paragraph is raw.parent else paragraph)
                if paragraph is not target.parent:
                    paragraph += target
                for slugs in (known, own):
                    if slugs is not None:
                        slugs[match[1]] = (0, match[1], match[1])
        for paragraph in self.document.findall(nodes.paragraph):  # those that are nothing but an anchor
            if paragraph.children and all(isinstance(child, nodes.target) for child in paragraph):
                paragraph["classes"].append("anchor")
                paragraph["translatable"] = False


class Names(SphinxTransform):
    """Marks text that consists of code, rule ids, members and levels as nothing to translate."""

    default_priority = 6

    def apply(self, **kwargs):
        for node in self.document.findall(nodes.TextElement):
            if isinstance(node, nodes.Inline) or not isinstance(node, (nodes.paragraph, nodes.title, nodes.term)):
                continue
            words = "".join(t.astext() for t in node.findall(nodes.Text) if not in_code_or_link(t, node))
            if not re.search(r"[^\W\d_]", NAME.sub("", words)):
                node["translatable"] = False


def in_code_or_link(text, within) -> bool:
    """Whether the text is code, or the name of another site's file."""
    while text.parent is not within:
        text = text.parent
        if isinstance(text, nodes.literal) or text.get("refuri", "").startswith("http"):
            return True
    return False


def page_context(app, pagename, templatename, context, doctree):
    """The templates see which language is being built, spelled as in the folders' names."""
    context["built_language"] = app.config.language


def setup(app):
    app.connect("html-page-context", page_context)
    app.connect("source-read", source_read)
    app.add_transform(Anchors)
    app.add_transform(Names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
