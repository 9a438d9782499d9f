"""Turns rules into values, as spec/README.md says under "Meaning", and shows that no input makes an evaluation fail."""

# ruff: noqa: E501
import random
from types import SimpleNamespace

import pytest

from codegen.rules import BOOL, DTYPE, INT, INT64_MAX, INT64_MIN, LIST, LIST_MAX, RuleError, Scope, evaluate, parse

SCOPE = Scope(frozenset({"A", "B"}), {"n": INT, "m": INT, "s": LIST})


def value(text, sizes=(2, 3, 4), strides=(12, 4, 1), n=0, m=1, s=(1, 5)):
    a = SimpleNamespace(Sizes=sizes, Strides=strides, DimensionCount=len(sizes), DataType="FLOAT32")
    b = SimpleNamespace(Sizes=(1,), Strides=(1,), DimensionCount=1, DataType="UINT32")
    return evaluate(parse(text, SCOPE), {"A": a, "B": b}, {"n": n, "m": m, "s": s})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A.Sizes[-2:]", (3, 4)),
        ("A.Sizes[-n:]", ()),  # written with a minus: from the end, also for 0
        ("A.Sizes[:-n]", (2, 3, 4)),
        ("A.Sizes[-m:]", (4,)),
        ("A.Sizes[n - 1:]", (2, 3, 4)),  # computed and negative: 0
        ("A.Sizes[:n - 1]", ()),
        ("A.Sizes[-(n - 1):]", ()),  # from the end, one beyond it
        ("A.Sizes[-9:]", (2, 3, 4)),
        ("A.Sizes[1:9]", (3, 4)),
        ("A.Sizes[2:1]", ()),
        ("A.Sizes[-3:-1][1:]", (3,)),
        ("A.Sizes[-1]", 4),
        ("A.Sizes[-n]", 0),
        ("A.Sizes[n - 1]", 0),
        ("A.Sizes[9]", 0),
        ("A.Sizes[-4]", 0),
        ("A.Sizes + [n, 7]", (2, 3, 4, 0, 7)),
        ("right_align(A.Sizes, 5)", (1, 1, 2, 3, 4)),
        ("right_align(A.Sizes, 2)", (3, 4)),
        ("right_align(A.Sizes, n - 3)", ()),
        ("right_align(A.Sizes, 0)", ()),
        ("product(A.Sizes)", 24),
        ("product([])", 1),
        ("effective_rank(A.Sizes)", 3),
        ("effective_rank([])", 0),
        ("effective_rank([1, 1])", 0),
        ("effective_rank([1, 0, 1])", 2),
        ("effective_rank([1, 1, 5, 1])", 2),
        ("within([1, 3], [2, 3])", True),
        ("within([3, 1], [2, 3])", False),
        ("within([1], [1, 1])", False),
        ("within([], [])", True),
        ("max(n, 2, m)", 2),
        ("repeat(7, 3)", (7, 7, 7)),
        ("repeat(7, n - 1)", ()),
        ("A.Sizes == [2, 3, 4]", True),
        ("A.Sizes == [2, 3]", False),
        ("[] == A.Sizes[1:1]", True),
        ("1 <= m <= A.DimensionCount", True),
        ("1 <= n <= A.DimensionCount", False),
        ("1 < 2 > 1 == 1", True),
        ("n == 1 or m == 1 and n == 0", True),
        ("A.DataType == B.DataType", False),
        ("A.DataType", "FLOAT32"),
        ("2 - 3 * 4", -10),
        ("9223372036854775807 + 1", INT64_MAX),
        ("0 - 9223372036854775807 - 9", INT64_MIN),
        ("9223372036854775807 * 9223372036854775807", INT64_MAX),
        ("(0 - 4) * 9223372036854775807", INT64_MIN),
    ],
)
def test_meaning(text, expected):
    assert value(text) == expected


def test_integers_saturate_on_the_way():
    big = (2**64 - 1, 2**32, 2**32)
    assert value("product(A.Sizes)", sizes=big) == INT64_MAX
    assert value("product(A.Sizes[1:] + [0])", sizes=big) == 0
    assert value("A.Sizes[0]", sizes=big) == INT64_MAX
    assert value("A.Sizes[9223372036854775807:]", sizes=big) == ()


def test_lists_are_limited():
    assert len(value("right_align(s, 9223372036854775807)")) == LIST_MAX
    long = (1,) * 200
    assert len(value("s + s", s=long)) == LIST_MAX


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("n + A.Size", 4, "unknown field Size"),
        ("n + C.Sizes", 4, "unknown tensor C"),
        ("1 <= q", 5, "unknown name q"),
        ("A == 1", 0, "A is a tensor; name a field of it"),
        ("n + s", 0, "cannot compute an integer + a list"),
        ("s - s", 0, "cannot compute a list - a list"),
        ("s < s", 4, "does not compare a list with a list"),
        ("n[0]", 0, "a list is needed here"),
        ("s[s]", 2, "an integer is needed here"),
        ("s[::2]", 0, "a slice has no step"),
        ("n / 2", 0, "only + - * are part"),
        ("n != 2", 0, "only < <= == >= > are part"),
        ("not n", 0, "UnaryOp is not part of the rule language"),
        ("-n", 0, "UnaryOp is not part of the rule language"),
        ("n if n else m", 0, "IfExp is not part"),
        ("'x'", 0, "is not an integer"),
        ("1.5", 0, "is not an integer"),
        ("True", 0, "is not an integer"),
        ("99999999999999999999", 0, "does not fit 64 bits"),
        ("len(s)", 0, "unknown function len"),
        ("product(s, s)", 0, "takes 1 argument(s), not 2"),
        ("product(x=s)", 0, "by position"),
        ("n and 1 == 1", 0, "n is an integer, a truth value is needed here"),
        ("n n", 2, "not an expression"),
    ],
)
def test_mistakes_have_a_column(text, column, message):
    with pytest.raises(RuleError) as error:
        parse(text, SCOPE)
    assert message in str(error.value)
    assert abs(error.value.column - column) <= 1


@pytest.mark.parametrize("wanted", [INT, LIST, BOOL, DTYPE])
def test_the_wanted_type(wanted):
    texts = {INT: "n", LIST: "s", BOOL: "n == 1", DTYPE: "A.DataType"}
    for kind, text in texts.items():
        if kind == wanted:
            assert parse(text, SCOPE, wanted).type == wanted
        else:
            with pytest.raises(RuleError, match="is needed here"):
                parse(text, SCOPE, wanted)


def random_rule(rng, kind, depth):
    deeper = depth - 1
    if kind == INT:
        if depth == 0:
            return rng.choice(["n", "m", "0", "1", "3", "A.DimensionCount", "9223372036854775807"])
        return rng.choice([
            lambda: f"({random_rule(rng, INT, deeper)} {rng.choice('+-*')} {random_rule(rng, INT, deeper)})",
            lambda: f"product({random_rule(rng, LIST, deeper)})",
            lambda: f"effective_rank({random_rule(rng, LIST, deeper)})",
            lambda: f"max({random_rule(rng, INT, deeper)}, {random_rule(rng, INT, 0)})",
            lambda: f"{random_rule(rng, LIST, deeper)}[{rng.choice(['', '-'])}{random_rule(rng, INT, deeper)}]",
        ])()  # fmt: skip
    if depth == 0:
        return rng.choice(["s", "A.Sizes", "A.Strides", "B.Sizes", "[]", "[n, 2]"])
    return rng.choice([
        lambda: f"({random_rule(rng, LIST, deeper)} + {random_rule(rng, LIST, deeper)})",
        lambda: f"right_align({random_rule(rng, LIST, deeper)}, {random_rule(rng, INT, deeper)})",
        lambda: f"{random_rule(rng, LIST, deeper)}[{rng.choice(['', '-'])}{random_rule(rng, INT, deeper)}:{rng.choice(['', '-'])}{random_rule(rng, INT, 0)}]",
    ])()  # fmt: skip


def test_every_rule_has_a_value_for_every_input():
    rng = random.Random(1)
    numbers = [0, 1, 2, 3, 8, 2**31, 2**32 - 1, 2**32, 2**63 - 1, -1, -(2**63)]
    for _ in range(3_000):
        kind = rng.choice([INT, LIST])
        text = random_rule(rng, kind, rng.randrange(4))
        sizes = tuple(rng.choice([*numbers, 2**64 - 1]) for _ in range(rng.randrange(9)))
        result = value(text, sizes, sizes[::-1], rng.choice(numbers), rng.choice(numbers), (5, 0, -1))
        if kind == INT:
            assert INT64_MIN <= result <= INT64_MAX, text
        else:
            assert len(result) <= LIST_MAX and all(INT64_MIN <= x <= INT64_MAX for x in result), text
