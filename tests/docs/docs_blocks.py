"""Finds the fenced blocks of a Markdown file, and says which of them are Python and what they need to run."""

import ast
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^( *)(?:```|:::)([^\n`]*)\n(.*?)^\1(?:```|:::) *$", re.S | re.M)
IMPORT = re.compile(r"^(?:>>> |\.\.\. )?\s*(?:import|from) ([\w., ]+)", re.M)
# Packages that a reader need not have, and modules of dmlcore that need one of them.
OPTIONAL = {"torch": "torch", "onnx": "onnx", "dmlcore.onnx": "onnx", "onnxruntime": "onnxruntime", "jax": "jax"}


@dataclass(frozen=True)
class Block:
    path: Path
    line: int
    language: str
    code: str

    @property
    def place(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line}"

    def missing(self) -> str | None:
        """The package that the block needs and that is not installed."""
        words = {w for names in IMPORT.findall(self.code) for w in re.split(r"[ ,]+", names)}
        needs = (package for name, package in OPTIONAL.items() if name in words)
        return next((package for package in needs if find_spec(package) is None), None)

    def signature(self) -> tuple[str, ast.arguments] | None:
        """(name, parameters) when the block shows how something is called instead of calling it."""
        match = re.fullmatch(r"(dmlcore\.\w+)\((.*)\)\s*", self.code, re.S)
        if not match or not re.search(r"(^|[\s,])\*\s*,", match[2]):
            return None
        return match[1], ast.parse(f"def f({match[2].strip()}): ...").body[0].args


def pages() -> list[Path]:
    """README and everything that the site shows."""
    docs = ROOT / "docs"
    inside = [path for path in sorted(docs.rglob("*.md")) if "_build" not in path.parts]
    return [ROOT / "README.md", *inside]


def blocks(path: Path) -> list[Block]:
    text = path.read_text("utf-8")
    return [
        Block(path, text.count("\n", 0, match.start()) + 1, (match[2].split() or [""])[0].strip(), match[3])
        for match in FENCE.finditer(text)
    ]
