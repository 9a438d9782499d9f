"""Keeps the translations in step with the pages: `python docs/translations.py update` writes new messages into the catalogues
docs/locales/<language>/LC_MESSAGES/*.po, and fills those that it can compose; `count` says how many are translated.

Most sentences of a generated page are a frame with a few words in it ("Accepted from {level}."). The frames and the
sentences of the specification stand once, in docs/locales/<language>/phrases.po: {name} stands for words that stay as they
are, {text} for words that are translated in turn. So a new operator's page is translated in part before anybody looks at it.
"""

import re
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from babel.messages.pofile import read_po, write_po

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_extensions"))
from pages import NAME  # noqa: E402

LOCALES = HERE / "locales"
TEMPLATES = HERE / "_build" / "gettext"
LANGUAGES = sorted(path.name for path in LOCALES.iterdir() if (path / "phrases.po").is_file())
# Everything that the specification generates, and the titles around it. Of the other pages only titles are worth
# composing; they get a catalogue as well, so that translators find their messages.
CATALOGUES = ["operators", "tensor", "levels", "index", "tutorial", "how-to", "reference", "measurements", "project"]

# What may stand for {text}, {text1}, {number}, and any other {name}.
KINDS = {"text": ".+", "number": r"\d+", "": "(?:(?![.;:] ).)+?"}


class Phrases:
    """The frames and sentences of one language, and what can be said with them."""

    def __init__(self, path: Path):
        self.known = {m.id: m.string for m in read(path) if m.id and m.string and not m.fuzzy}
        self.frames = [(frame(source), source, target) for source, target in self.known.items() if "{" in source]
        self.say = lru_cache(maxsize=None)(self._say)

    def _say(self, message: str) -> str | None:
        """The translation; None if a part of it is missing."""
        if message in self.known:
            return self.known[message]
        if not re.search(r"[^\W\d_]", NAME.sub("", message)):
            return message
        for pattern, _, target in self.frames:
            match = pattern.fullmatch(message)
            words = {k: self.say(v) if k.startswith("text") else v for k, v in match.groupdict().items()} if match else {}
            if match and None not in words.values():
                return re.sub(r"\{(\w+)\}", lambda m, w=words: w.get(m[1], m[0]), target)
        return None


def frame(source: str) -> re.Pattern:
    """`Accepted from {level}.` as a pattern. Braces in code are no names."""
    parts = re.split(r"\{([a-z]\w*)\}", source)
    pattern = re.escape(parts[0])
    for name, after in zip(parts[1::2], parts[2::2], strict=True):
        kind = next((kind for word, kind in KINDS.items() if name.startswith(word)), KINDS[""])
        pattern += f"(?P<{name}>{kind})" + re.escape(after)
    return re.compile(pattern, re.S)


def read(path: Path):
    with path.open("rb") as file:
        return read_po(file)


def templates() -> dict[str, list[str]]:
    """Catalogue -> messages, as the pages have them now."""
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "gettext", "-d", TEMPLATES.parent / "doctrees" / "gettext"]
    subprocess.run([*command, HERE, TEMPLATES], check=True)
    return {path.stem: [m.id for m in read(path) if m.id] for path in sorted(TEMPLATES.glob("*.pot"))}


def update() -> None:
    templates()
    wanted = TEMPLATES.parent / "gettext-wanted"
    wanted.mkdir(exist_ok=True)
    for name in CATALOGUES:
        (wanted / f"{name}.pot").write_bytes((TEMPLATES / f"{name}.pot").read_bytes())
    languages = [word for language in LANGUAGES for word in ("-l", language)]
    command = ["update", "-p", wanted, "-d", LOCALES, "--no-obsolete", *languages]
    subprocess.run([sys.executable, "-m", "sphinx_intl", *command], check=True)
    for language in LANGUAGES:
        phrases = Phrases(LOCALES / language / "phrases.po")
        for name in CATALOGUES:
            fill(LOCALES / language / "LC_MESSAGES" / f"{name}.po", phrases)


def fill(path: Path, phrases: Phrases) -> None:
    """Messages that the phrases can say are said anew; others keep what a translator wrote."""
    catalogue = read(path)
    for message in catalogue:
        if message.id and (said := phrases.say(message.id)):
            message.string = said
            message.flags.discard("fuzzy")
    lines = []
    with (path.with_suffix(".tmp")).open("wb") as file:
        write_po(file, catalogue, width=120, omit_header=True, ignore_obsolete=True)
    text = path.with_suffix(".tmp").read_text("utf-8")
    path.with_suffix(".tmp").unlink()
    language = path.parent.parent.name
    lines = [
        'msgid ""',
        'msgstr ""',
        f'"Language: {language}\\n"',
        '"MIME-Version: 1.0\\n"',
        '"Content-Type: text/plain; charset=utf-8\\n"',
        '"Content-Transfer-Encoding: 8bit\\n"',
        "",
        "",
    ]
    path.write_text("\n".join(lines) + text, "utf-8")


def count(messages: dict[str, list[str]] | None = None) -> dict[str, dict[str, tuple[int, int]]]:
    """language -> catalogue -> (translated, of how many)."""
    counts = {}
    for language in LANGUAGES:
        counts[language] = {}
        for name, ids in (messages or templates()).items():
            path = LOCALES / language / "LC_MESSAGES" / f"{name}.po"
            done = {m.id for m in read(path) if m.id and m.string and not m.fuzzy} if path.is_file() else set()
            counts[language][name] = sum(i in done for i in ids), len(ids)
    return counts


def report() -> None:
    counts = count()
    print(f"{'translated messages':22}" + "".join(f"{language:>14}" for language in counts))
    for name in next(iter(counts.values())):
        cells = (f"{done} of {all_}" for done, all_ in (counts[language][name] for language in counts))
        print(f"  {name:20}" + "".join(f"{cell:>14}" for cell in cells))
    missing = {language: sum(a - d for d, a in rows.values()) for language, rows in counts.items()}
    print(f"  {'shown in English':20}" + "".join(f"{number:>14}" for number in missing.values()))


if __name__ == "__main__":
    commands = {"update": update, "count": report}
    if len(sys.argv) != 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]]()
