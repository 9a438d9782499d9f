"""The pages on the command line: every command that they show is run in order, and prints what they print."""

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def same(shown: list[str], printed: list[str]) -> bool:
    """Equal but for spaces at the ends of lines; "..." stands for any lines."""
    if not shown:
        return not printed
    if shown[0] == "...":
        return any(same(shown[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and shown[0].rstrip() == printed[0].rstrip() and same(shown[1:], printed[1:])


@pytest.mark.parametrize("page", ["cli.md", "vectors.md"])
def test_commands_print_what_the_page_says(dmlcore_cli, tmp_path, monkeypatch, page):
    shutil.copytree(ROOT / "examples/dxdispatch", tmp_path / "examples/dxdispatch")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    text, commands = (ROOT / "docs" / page).read_text(), 0
    for language, block in re.findall(r"^```(python|console)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        if language == "python":
            exec(compile(block, page, "exec"), {})
            continue
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, *shown = step.splitlines()
            program, *arguments = shlex.split(line)
            assert program == "dmlcore"
            assert same(shown, dmlcore_cli(*arguments).out.splitlines()), line
            commands += 1
    assert commands >= 2 and os.getcwd() == str(tmp_path)


def test_every_command_and_status_is_on_the_page(dmlcore_cli):
    from dmlcore.cli.output import STATUSES

    text = (ROOT / "docs/cli.md").read_text()
    help_text = dmlcore_cli("--help").out
    for name in re.findall(r"^  ([a-z-]+)  +\S", help_text.split("Commands:")[1], re.MULTILINE):
        assert f"`dmlcore {name}" in text
    for status in re.findall(r"(\d+) [a-z]", STATUSES):
        assert f"| {status} |" in text
