from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibly.errors import FormulaError
from possibly.logic.depth import MAX_DEPTH
from possibly.logic.parser import Parser, parse
from possibly.logic.source import Source
from possibly.logic.syntax import (
    And,
    Arithmetic,
    At,
    Call,
    Compare,
    Count,
    Done,
    Index,
    Items,
    Literal,
    Name,
    Node,
    Quantified,
    Shared,
    Stack,
    Subscript,
    Temporal,
    Transit,
)
from possibly.logic.walk import nodes


def error(text: str, language: str) -> FormulaError:
    with pytest.raises(FormulaError) as found:
        parse(text, language)
    return found.value


SAME = [
    # Each row: a text, and the same with all its brackets.
    ("predicate", "a ** b ** c", "a ** (b ** c)"),
    ("predicate", "-a ** b", "-(a ** b)"),
    ("predicate", "a ** -b", "a ** (-b)"),
    ("predicate", "-a * b", "(-a) * b"),
    ("predicate", "a + b * c", "a + (b * c)"),
    ("predicate", "a - b - c", "(a - b) - c"),
    ("predicate", "a / b // c % d", "((a / b) // c) % d"),
    ("predicate", "a + b < c - d", "(a + b) < (c - d)"),
    ("predicate", "not a in b", "not (a in b)"),
    ("predicate", "!a == b", "!(a == b)"),
    ("predicate", "!a & b", "(!a) & b"),
    ("predicate", "a | b & c", "a | (b & c)"),
    ("predicate", "a -> b | c", "a -> (b | c)"),
    ("predicate", "a -> b -> c", "a -> (b -> c)"),
    ("predicate", "a <-> b -> c", "a <-> (b -> c)"),
    ("predicate", "a <-> b <-> c", "(a <-> b) <-> c"),
    ("predicate", "x < 1 & y > 2", "(x < 1) & (y > 2)"),
    ("predicate", "a[0] ** b[1][2]", "(a[0]) ** ((b[1])[2])"),
    ("ctl", "EF a & b", "(EF a) & b"),
    ("ctl", "AG x == 1", "AG (x == 1)"),
    ("ctl", "! EF AG a", "!(EF (AG a))"),
    ("ctl", "EX[P1] a & b", "(EX[P1](a)) & b"),
    ("ctl", "E[a & b U c | d]", "E[(a & b) U (c | d)]"),
    ("ltl", "F a U b", "(F a) U b"),
    ("ltl", "a U b U c", "a U (b U c)"),
    ("ltl", "a U b R c W d S e", "a U (b R (c W (d S e)))"),
    ("ltl", "a & b U c", "a & (b U c)"),
    ("ltl", "a U x == 1", "a U (x == 1)"),
    ("ltl", "! a U b", "(!a) U b"),
    ("ltl", 'forall i in "P*": i.x U y & z', '(forall i in "P*": ((i.x U y) & z))'),
    ("ltl", 'a & ! exists i in "P*": i.x | y', 'a & (!(exists i in "P*": (i.x | y)))'),
]


@pytest.mark.parametrize(("language", "text", "bracketed"), SAME)
def test_precedence(language: str, text: str, bracketed: str) -> None:
    assert parse(text, language) == parse(bracketed, language)


@pytest.mark.parametrize(
    ("symbols", "words"),
    [
        ("!a & b | c -> d <-> e", "not a and b or c implies d iff e"),
        ("true & false | null", "True and False or None"),
        ("x in (1, 2)", "x in [1, 2,]"),
        ("x == 'a\\n\\u00e9'", 'x == "a\\x0a\\U000000e9"'),
        ("x == '\\ud83d\\ude00'", 'x == "😀"'),
        ('transit(P1, P2, "t")', 'transit("P1", P2, t)'),
        ("inside(P1, m.f)", 'inside(P1, "m.f")'),
        ("shared(N.x)", 'shared("N.x")'),
        (".5e1 < 1E3", "0.5e1 < 1e+3"),
    ],
)
def test_two_spellings(symbols: str, words: str) -> None:
    assert parse(symbols, "predicate") == parse(words, "predicate")


def name(text: str) -> Name:
    return Name(tuple(text.split(".")))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("P1.x", name("P1.x")),
        ('"worker-1".x', Name(("worker-1", "x"))),
        ('P1."odd name"', Name(("P1", "odd name"))),
        ("P1.class", name("P1.class")),
        ("lambda.x", name("lambda.x")),
        ("not.in.and", name("not.in.and")),
        ("true.x", name("true.x")),
        ("len", name("len")),
        ("F", name("F")),
        ("if", name("if")),
        ("1.5", Literal(1.5)),
        ("1e3", Literal(1000.0)),
        ("()", Items(())),
        ("(1,)", Items((Literal(1),))),
        ("[1, 'a', null]", Items((Literal(1), Literal("a"), Literal(None)))),
        ("x['k'][0]", Subscript(Subscript(name("x"), Literal("k")), Literal(0))),
        ("-1", Arithmetic("-", (Literal(1),))),
        ("a < b <= c", Compare((name("a"), name("b"), name("c")), ("<", "<="))),
        ("a not in b", Compare((name("a"), name("b")), ("not in",))),
        ("a & b and c & d", And((name("a"), name("b"), name("c"), name("d")))),
        ("max(a, 1)", Call("max", (name("a"), Literal(1)))),
        ("transit()", Transit()),
        ("transit(P1, P2)", Transit(name("P1"), name("P2"))),
        ("at(P1, 'm8')", At(name("P1"), "m8")),
        ("start(P1, f)", Stack("start", name("P1"), "f")),
        ("term('a b', 'm.f')", Stack("term", Name(("a b",)), "m.f")),
        ("done(P1)", Done(name("P1"))),
        ('shared("F")', Shared("F")),
        ("index(i)", Index("i")),
        ('count("P*")', Count("P*")),
        (
            'exists i, j in "P*" if i != j: x',
            Quantified("exists", ("i", "j"), "P*", Compare((name("i"), name("j")), ("!=",)), name("x")),
        ),
    ],
)
def test_trees(text: str, tree: Node) -> None:
    assert parse(text, "predicate") == tree


def test_only_the_letters_of_the_language_are_reserved() -> None:
    assert parse("F == 1", "ctl") == parse("F == 1", "predicate")
    assert parse("AG == 1", "ltl") == parse("AG == 1", "predicate")
    assert parse("P1.F & F.x", "ltl") == parse("P1.F & F.x", "predicate")
    assert parse("F shared('F')", "ltl") == Temporal("F", (Shared("F"),))


def test_temporal_trees() -> None:
    p, q = name("p"), name("q")
    assert parse("A[p U q]", "ctl") == Temporal("AU", (p, q))
    assert parse("EX[P1](p)", "ctl") == Temporal("EX", (p,), name("P1"))
    assert parse('EX["a b"] p', "ctl") == Temporal("EX", (p,), Name(("a b",)))
    assert parse("EX p", "ctl") == Temporal("EX", (p,))
    assert parse("p S q", "ltl") == Temporal("S", (p, q))


def test_spans_are_columns_of_the_text() -> None:
    tree = parse("AG(P1.x == 1 -> EF turn)", "ctl")
    assert isinstance(tree, Temporal)
    assert tree.span == (0, 24)
    assert [child.span for child in tree.operands] == [(3, 23)]


OPERATOR = "expected an operator or the end of the formula, found"
VALUE = "expected a value or a formula, found"
BRACKETS = "it binds looser than comparisons and arithmetic; put brackets around it"

MISTAKES = [
    ("ctl", "x = 1", 3, "`=` is not an operator (write `==` to compare)"),
    ("ctl", "a && b", 3, "`&&` is not an operator (write `&` or `and`)"),
    ("ctl", "a || b", 3, "`||` is not an operator (write `|` or `or`)"),
    ("ctl", "~a", 1, "`~` is not an operator (write `!` or `not`)"),
    (
        "ctl",
        "a ^ b",
        3,
        "`^` is not an operator (there are no bitwise operators; write `**` for a power, `!(p <-> q)` for"
        " exclusive or)",
    ),
    ("ctl", "a => b", 3, "`=>` is not an operator (write `->` for implication, `>=` for a comparison)"),
    ("ctl", "a <=> b", 3, "`<=>` is not an operator (write `<->`)"),
    ("ctl", "a <> b", 3, "`<>` is not an operator (write `!=`)"),
    ("ctl", "{1}", 1, "`{` is not an operator (there are no dictionaries or sets in formulas)"),
    (
        "ctl",
        "E(p U q)",
        2,
        'expected `[` after E, found `(` (write E[p U q], or shared("E") for a variable of that name)',
    ),
    ("ctl", "E[p]", 4, "expected `U`, found `]` (write E[p U q])"),
    ("ctl", "E[p U q", 2, "this [ is never closed (a ] is missing)"),
    ("ctl", "E[p", 2, "this [ is never closed (a ] is missing)"),
    (
        "ctl",
        "p U q",
        3,
        f"{OPERATOR} `U` (in ctl an until needs a path quantifier: write E[p U q] or A[p U q])",
    ),
    ("ctl", "G(p)", 1, "unknown function `G` (`G` is an operator of ltl; in ctl write AG or EG)"),
    ("ctl", "G p", 3, f"{OPERATOR} `p` (`G` is an operator of ltl; in ctl write AG or EG)"),
    ("ctl", "p W q", 3, f"{OPERATOR} `W` (`W` is an operator of ltl, not of ctl)"),
    ("ltl", "AG p", 4, f"{OPERATOR} `p` (`AG` is an operator of ctl; in ltl write G)"),
    (
        "ltl",
        "EF p",
        4,
        f"{OPERATOR} `p` (`EF` is an operator of ctl, not of ltl, whose formulas speak of every path alike)",
    ),
    (
        "ltl",
        "F == 1",
        3,
        f'{VALUE} `==` (`F` is an operator of ltl; write shared("F") for a variable of that name)',
    ),
    (
        "ltl",
        "U",
        1,
        f'{VALUE} `U` (`U` is an operator of ltl; write shared("U") for a variable of that name)',
    ),
    (
        "predicate",
        "AG p",
        4,
        f"{OPERATOR} `p` (`AG` is an operator of ctl; a state predicate has no temporal operators)",
    ),
    ("predicate", "P1.x.append(1)", 12, "expected an operator, found `(` (attributes cannot be called)"),
    (
        "predicate",
        "lambda x: 1",
        8,
        f"{OPERATOR} `x` (there are no functions to define; name a predicate with `let`)",
    ),
    (
        "predicate",
        "[x for x in y]",
        4,
        "expected `,` or `]` to close the [ before, found `for`"
        ' (there are no comprehensions; write `forall i in "P*": ...` to range over processes)',
    ),
    (
        "predicate",
        "f'x'",
        1,
        "a string cannot have the prefix `f` (formatted, raw and byte strings do not exist here)",
    ),
    (
        "predicate",
        "a if b else c",
        3,
        f"{OPERATOR} `if` (there is no conditional expression; write (p & q) | (!p & r))",
    ),
    ("predicate", "a is b", 3, f"{OPERATOR} `is` (write `==` to compare)"),
    ("predicate", "(a", 1, "this ( is never closed (a ) is missing)"),
    ("predicate", "a)", 2, "this ) closes nothing"),
    ("predicate", "(a]", 3, "expected an operator or `)` to close the ( before, found `]`"),
    ("predicate", "x[1:2]", 4, "expected `]`, found `:` (there are no slices of lists)"),
    (
        "predicate",
        "x[0].y",
        5,
        'expected an operator, found `.` (values have no attributes; write x["key"] for an entry)',
    ),
    (
        "predicate",
        "foo(1)",
        1,
        "unknown function `foo` (known are len abs sum any all min max"
        " defined transit at start inside term done shared index count)",
    ),
    ("predicate", "len(a, b)", 1, "len takes one value, found 2"),
    ("predicate", "max()", 1, "max takes one value or more, found 0"),
    ("predicate", "", 1, "the formula is empty"),
    ("predicate", "  ", 1, "the formula is empty"),
    ("predicate", "a &", 4, f"{VALUE} the end of the formula"),
    ("predicate", "a & | b", 5, f"{VALUE} `|`"),
    ("predicate", "a b", 3, f"{OPERATOR} `b`"),
    ("predicate", "a 1", 3, f"{OPERATOR} number 1"),
    ("predicate", "a 'b'", 3, f"{OPERATOR} string 'b'"),
    ("predicate", "P1.", 4, "expected a name after the dot, found the end of the formula"),
    (
        "predicate",
        "1 + !a",
        5,
        "expected a value, found `!`"
        " (`!` binds looser than comparisons and arithmetic; put brackets around it)",
    ),
    ("predicate", "1 == not a", 6, f"{VALUE} `not` ({BRACKETS})"),
    ("ctl", "1 + EF a", 5, f"{VALUE} `EF` ({BRACKETS})"),
    (
        "ctl",
        "(EF x) == 1",
        2,
        "the temporal operator EF cannot stand inside a value"
        " (temporal formulas are joined by ! & | -> <-> only)",
    ),
    (
        "ltl",
        'exists i in "*" if (F x): y',
        21,
        "the temporal operator F cannot stand inside a value"
        " (temporal formulas are joined by ! & | -> <-> only)",
    ),
    ("predicate", "forall x y", 10, 'expected `in`, found `y` (write forall i in "P*": ...)'),
    (
        "predicate",
        "forall i in P: x",
        13,
        'expected a pattern of process names in quotes, such as "P*", found `P`',
    ),
    ("predicate", 'forall i in "P" x', 17, "expected `:` or `if`, found `x`"),
    ("predicate", 'forall i in "P" if a b', 22, "expected `:`, found `b`"),
    ("predicate", 'forall i, i in "P": x', 1, "a variable stands twice in this quantifier"),
    ("predicate", "forall 1", 8, "expected the name of a variable, found number 1"),
    ("predicate", "transit(P1)", 11, "expected `,`, found `)`"),
    ("predicate", "transit(P1, P2; x)", 15, "`;` is not an operator (a formula is one expression)"),
    ("predicate", "transit(1, P2)", 9, "expected the name of a process, found number 1"),
    ("predicate", "at(P1, 3)", 8, "expected a label, found number 3"),
    ("predicate", "inside(P1, 3)", 12, "expected a function, found number 3"),
    ("predicate", "done(P1, P2)", 8, "expected `)` to close the ( before, found `,`"),
    ("predicate", "shared(1)", 8, "expected the name of a shared variable, found number 1"),
    ("predicate", "count(P)", 7, 'expected a pattern of process names in quotes, such as "P*", found `P`'),
]


@pytest.mark.parametrize(("language", "text", "column", "message"), MISTAKES)
def test_mistakes(language: str, text: str, column: int, message: str) -> None:
    found = error(text, language)
    assert str(found) == f"1:{column}: {message}"
    assert (found.line, found.column) == (1, column)


def test_errors_name_the_place_in_the_file() -> None:
    with pytest.raises(FormulaError) as found:
        text = "a &\n  b c"
        parse(text, "ctl", Source(text, "bank.spec", 7, 12))
    assert str(found.value) == f"bank.spec:8:5: {OPERATOR} `c`"
    assert found.value.text == "  b c"


@pytest.mark.parametrize(
    "text",
    [
        "!" * 1000 + "x",
        "(" * 1000 + "x" + ")" * 1000,
        "x & (" * 1000 + "y" + ")" * 1000,
        "!(" * 1000 + "x" + ")" * 1000,
        "x -> " * 1000 + "y",
        "x" + " + x" * 1000,
        "x" + " & x" * 5000,
        "-" * 1000 + "x",
        "x ** " * 1000 + "y",
        "x" + "[0]" * 1000,
        "x[" * 1000 + "0" + "]" * 1000,
        "len(" * 1000 + "x" + ")" * 1000,
        "EX " * 1000 + "x",
        "EX[P1](" * 1000 + "x" + ")" * 1000,
        "E[x U " * 1000 + "y" + "]" * 1000,
        'forall i in "*": ' * 1000 + "x",
    ],
)
def test_a_thousand_operators(text: str) -> None:
    one, two = parse(text, "ctl"), parse(text, "ctl")
    assert one == two
    assert hash(one) == hash(two)
    assert one != parse(text.replace("x", "z"), "ctl")


@pytest.mark.parametrize(
    "text",
    ["(" * 5000 + "x" + ")" * 5000, "!" * 5000 + "x", "x" + "+x" * 5000, "x ** " * 5000 + "x", "[" * 5000],
)
def test_deeper_than_the_bound(text: str) -> None:
    assert error(text, "ctl").message == f"the formula is nested more than {MAX_DEPTH:,} levels deep"


SOUP = st.lists(
    st.sampled_from(
        '( ) [ ] , . : ! & | -> <-> - + * ** / == < in not U EF EX E A F G x P1 "s" 1 2.5 true forall i'
        " transit at done shared index count len max if \\n".split()
    ),
    max_size=12,
)


@pytest.mark.parametrize("language", ["predicate", "ctl", "ltl"])
@given(words=SOUP)
def test_any_words_give_a_tree_or_an_error_with_a_place(language: str, words: list[str]) -> None:
    try:
        parse(" ".join(words), language)
    except FormulaError as found:
        assert found.column is not None
        assert found.message[0] not in "(:"


@given(
    st.lists(
        st.sampled_from(
            [
                "P1",
                "not",
                "E",
                ".",
                ".",
                "x",
                "true",
                "==",
                "<",
                "in",
                "3",
                "2.5",
                "'a'",
                "&",
                "|",
                "->",
                "(",
                ")",
            ]
        ),
        max_size=14,
    ),
    st.sampled_from(["P1.x == 3", "EF(P1.x == 3)", "!P1.x != 2.5 & P2.y < 1", "EG(a.b >= 1 -> c.d == 2)"]),
)
def test_plain_comparisons_are_read_as_all_others(words: list[str], beginning: str) -> None:
    text = " ".join([beginning, *words])
    assert _read(text) == _read(text, slowly=True)


def _read(text: str, slowly: bool = False) -> object:
    """The tree with all its places, or the error."""
    with pytest.MonkeyPatch.context() as patch:
        if slowly:
            patch.setattr(Parser, "plain_comparison", lambda self: None)
        try:
            tree = parse(text, "ctl")
        except FormulaError as error:
            return str(error)
        return tree, [node.span for node in nodes(tree)]
