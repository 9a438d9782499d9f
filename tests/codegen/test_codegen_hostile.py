"""Turns files that mean harm, or are not specifications at all, into a short, quick SpecError."""

# ruff: noqa: E501
import time

import pytest

ND = "operators/gather_nd.yaml"

BOMB = "a: &a [x, x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(20))

FILES = {
    "alias bomb": (BOMB, "is an anchor; write the value again"),
    "alias": ("a: *b\n", "is an alias; write the value again"),
    "deep flow": ("a: " + "[" * 20_000 + "]" * 20_000, "nested more than 40 deep"),
    "deep mappings": ("a: " + "{a: " * 20_000 + "1" + "}" * 20_000, "nested more than 40 deep"),
    "deep blocks": ("\n".join("  " * i + "a:" for i in range(600)), "nested more than 40 deep"),
    "dashes": ("- " * 20_000 + "1", "nested more than 40 deep"),
    "10 MB": ("a: " + "x" * 10_000_000, "larger than 1,000,000 bytes"),
    "many values": ("a: [" + "1," * 400_000 + "]", "more than 20,000 values"),
    "tag": ("operator: !!python/object/apply:os.system ['exit 1']\n", "is a tag; write the plain value"),
    "tagged text": ("operator: !!int 3\n", "is a tag"),
    "tag on the file": ("!x\noperator: A\n", "is a tag"),
    "empty": ("", "the file is empty"),
    "a comment": ("# nothing\n", "the file is empty"),
    "a list": ("- a\n- b\n", "the file holds a list; a mapping"),
    "a text": ("hello\n", 'the file holds the text "hello"'),
    "two documents": ("operator: A\n---\noperator: B\n", "a second document starts here"),
    "a key that is a list": ("[a, b]: c\n", "a list or a mapping stands where a key is needed"),
    "merge": ("<<: {operator: A}\n", "unknown key <<"),
    "unclosed": ("operator: 'A\n", "not YAML"),
    "tab": ("members:\n\tInputTensor: x\n", "not YAML"),
    "control characters": ("operator: \x01\n", "not YAML"),
}


@pytest.mark.parametrize("name", FILES)
def test_hostile_file(copy, name):
    text, message = FILES[name]
    copy.write(ND, text)
    start = time.perf_counter()
    found = copy.mistakes()
    assert time.perf_counter() - start < 1
    assert message in "\n".join(map(str, found))
    assert {m.path for m in found} == {f"spec/{ND}"}


@pytest.mark.parametrize("data", [b"operator: \xff\n", b"\x00" * 100, "operator: GÄTHER\n".encode("utf-16"), bytes(range(256))])
def test_bytes_that_are_not_text(copy, data):
    (copy.root / "spec" / ND).write_bytes(data)
    assert copy.mistakes()


@pytest.mark.parametrize(
    "rule",
    ["(" * 150 + "1" + ")" * 150 + " == 1", "+".join("1" * 190) + " == 1", "[" * 190 + "1" + "]" * 190, "-" * 300 + "1 == 1", "1 == " + "9" * 300,
     "InputTensor.__class__ == 1", "(lambda: 1)() == 1", "[x for x in y] == []", "1 if 1 else 2", "f'{1}'", "1 == 1.0", "x := 1", "not 1 == 1",
     "InputTensor.Sizes[::2] == []", "product(*InputTensor.Sizes) == 1", "max() == 1", "product(s=[1]) == 1", "\N{GREEK SMALL LETTER ALPHA} == 1", "1 ==", ""],
)  # fmt: skip
def test_hostile_rule(copy, rule):
    """Reported in its line, unless it is harmless after all."""
    line = copy.edit(ND, "rule: OutputRank <= InputTensor.DimensionCount", f"rule: '{rule.replace(chr(39), chr(39) * 2)}'")
    found = copy.mistakes()
    if found != []:
        assert line in {m.line for m in found} or "broken_by" in str(found) or "breaks" in str(found)


def test_every_file_cut_short(copy):
    """A file that ends anywhere gives mistakes in it, never anything else."""
    text = copy.text(ND)
    for end in range(0, len(text) - 400, 797):
        copy.write(ND, text[:end])
        assert {m.path for m in copy.mistakes()} == {f"spec/{ND}"}


def test_every_line_left_out(copy):
    """Likewise without any one line; most lines are needed."""
    lines = copy.text(ND).splitlines(keepends=True)
    for i in range(0, len(lines), 9):
        copy.write(ND, "".join(lines[:i] + lines[i + 1 :]))
        assert all(m.path in (f"spec/{ND}", "spec/operators/scatter_nd.yaml") for m in copy.mistakes())
