"""The grammar of the task logic: what it reads, what it writes, and where its errors point."""

from __future__ import annotations

import pytest

from possibly.errors import FormulaError
from possibly.logic.bind import Vocabulary
from possibly.logic.specification import property_from_text, read_specification
from possibly.logic.syntax import And, Implies, Name, Not, Or, Temporal
from possibly.logic.tasks.bind import bind_tasks
from possibly.logic.tasks.formulas import (
    Condition,
    ForTask,
    Point,
    Provided,
    Says,
    free_variables,
    task_text,
    variables_in_order,
)
from possibly.logic.tasks.parser import parse_tasks

NAMES = Vocabulary(
    ("P1", "P2"),
    {"P1": frozenset({"x", "f.y"}), "P2": frozenset({"x"})},
    frozenset({"b.first", "b.last", "N", "b.data[1]"}),
    frozenset({"append"}),
)


def says(tvar: str, name: str) -> Says:
    return Says(tvar, Name((name,)))


def test_the_formulas_of_the_paper() -> None:
    mutex = parse_tasks("not( t1:(in.append) and t2:(in.append)) if t1 != t2")
    both = And((Says("t1", Point("in", "append")), Says("t2", Point("in", "append"))))
    assert mutex == Provided(Not(both), Condition("t1", "!=", "t2", False))
    figure8 = parse_tasks("t1:(term.append) implies ( t2:(b.data[1]==21) until t3:(start.remove) )")
    assert isinstance(figure8, Implies)
    assert isinstance(figure8.right, Temporal) and figure8.right.operator == "until"
    assert variables_in_order(figure8) == ("t1", "t2", "t3")


@pytest.mark.parametrize(
    ("loose", "bracketed"),
    [
        ("t:(p) and t:(q) or t:(r)", "(t:(p) and t:(q)) or t:(r)"),
        ("t:(p) implies t:(q) implies t:(r)", "t:(p) implies (t:(q) implies t:(r))"),
        ("t:(p) until t:(q) until t:(r)", "t:(p) until (t:(q) until t:(r))"),
        ("not t:(p) until t:(q)", "(not t:(p)) until t:(q)"),
        ("t:(p) until t:(q) and t:(r)", "(t:(p) until t:(q)) and t:(r)"),
        ("next sometime always not t:(p)", "next (sometime (always (not t:(p))))"),
        ("t:(p) or t:(q) if t == u", "(t:(p) or t:(q)) if t == u"),
        ("! t:(p) & t:(q) | t:(r) -> t:(s)", "not t:(p) and t:(q) or t:(r) implies t:(s)"),
        ("t:(p) if t == u if t != v", "(t:(p) if t == u) if t != v"),
    ],
)
def test_precedence(loose: str, bracketed: str) -> None:
    assert parse_tasks(loose) == parse_tasks(bracketed)


def test_connectives_inside_a_task_are_local_ones() -> None:
    assert parse_tasks("t:(p and q)") == Says("t", And((Name(("p",)), Name(("q",)))))
    assert parse_tasks("t:(p) and t:(q)") == And((says("t", "p"), says("t", "q")))
    assert parse_tasks("t:(not p or q)") == Says("t", Or((Not(Name(("p",))), Name(("q",)))))


def test_quantifiers_and_conditions() -> None:
    found = parse_tasks("forall t1 (exists t2 (t1:(p) if t1 == caller(t2)))")
    inner = Provided(says("t1", "p"), Condition("t1", "==", "t2", True))
    assert found == ForTask("forall", "t1", ForTask("exists", "t2", inner))
    assert free_variables(found) == frozenset()
    assert free_variables(parse_tasks("t1:(p) if t2 != t3")) == {"t1", "t2", "t3"}


@pytest.mark.parametrize(
    "text",
    [
        "not (t1:(in.append) and t2:(in.append)) if t1 != t2",
        "t1:(not (b.first == 1 or x) and in.f) before t2:(not term.g)",
        "forall t (exists u (next t:(x) until u:(y) or (t:(x) implies u:(y)) and t:(z) if t == caller(u)))",
        "not not (t:(x) until u:(y))",
        't:(in."<lambda>" and len(x) in [1, 2])',
    ],
)
def test_printing_and_reading_again(text: str) -> None:
    tree = parse_tasks(text)
    assert task_text(tree) == text
    assert parse_tasks(task_text(tree)) == tree


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: the formula is empty"),
        ("t1:(in.append", "1:4: this ( is never closed (a ) is missing)"),
        ("(t:(x) and t:(y)", "1:1: this ( is never closed (a ) is missing)"),
        ("t:(x))", "1:6: this ) closes nothing"),
        ("t1:x", "1:4: expected `(`, found `x` (what a task must satisfy stands in brackets: t:(in.f))"),
        ("x == 1", "1:1: expected `t:(...)`, a bracket, `not`, a temporal operator or a quantifier, found `x`"
         " (a predicate needs its task: write t:(...))"),
        ("not (t:(x) if t == u)", "1:6: `if` cannot stand inside an operator"
         " (it stands around a whole expression)"),
        ("always forall t (t:(x))", "1:8: `forall` cannot stand inside an operator"
         " (it stands around a whole expression)"),
        ("t:(x == (y and z))", "1:10: a predicate contains no connective"
         " (connectives join predicates: t:(p and q))"),
        ("t:(x) if t < u", "1:12: expected `==` or `!=`, found `<` (write p if t1 != t2)"),
        ("t:(x) if t != caller(u)", "1:12: only `== caller(t)` can be asked"),
        ("t:(transit() == 0)", "1:4: `transit` is no property of a local state"),
        ("t:(inside(P, f))", "1:4: inside t:(...) the task is known: write in.f"),
        ("t:(len(in.f) == 1)", "1:8: in.f cannot stand inside a value"),
        ("forall t t:(x)", "1:10: expected `(`, found `t` (write forall t (p))"),
        ("t:(x) <-> t:(y)", "1:7: expected an operator or the end of the formula, found `<->`"
         " (write (p implies q) and (q implies p))"),
        ('t:(forall i in "P*": x)', "1:4: `forall` cannot stand inside t:(...) (it stands around t:(...))"),
        ("t:(x) if", "1:9: expected a task variable, found the end of the formula (such as t1)"),
    ],
)  # fmt: skip
def test_errors_point_at_the_place(text: str, message: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse_tasks(text)
    assert str(caught.value) == message


def test_deep_formulas_are_read_or_refused() -> None:
    parse_tasks("not " * 3000 + "t:(x)")
    with pytest.raises(FormulaError, match="nested more than"):
        parse_tasks("(" * 10_000 + "t:(x)" + ")" * 10_000)


def test_errors_in_a_specification_name_file_line_and_column() -> None:
    with pytest.raises(FormulaError, match=r"^s\.spec:3:8: expected `\(`"):
        read_specification("# two tasks\ntl mutex = t1:(in.f) and\n    t2:in.f", "s.spec")
    with pytest.raises(FormulaError, match="^--tl:1:4"):
        property_from_text("tl", "t1:x", "tl1")


# ---- names --------------------------------------------------------------------------------------


def bound(text: str, spec: str = "") -> str:
    return task_text(bind_tasks(parse_tasks(text), NAMES, read_specification(spec).lets).formula)


def test_known_names_are_written_as_they_were() -> None:
    text = 't:((b.last - b.first) % N <= 1 and b.data[1] == 21 and x > 0 and f.y == shared("N"))'
    assert bound(text) == text


def test_unknown_variables_are_errors_with_near_names() -> None:
    with pytest.raises(FormulaError, match=r"1:4: no event ever sets b\.lst \(did you mean b\.last"):
        bind_tasks(parse_tasks("t:(b.lst == 1)"), NAMES)
    with pytest.raises(FormulaError, match=r"no event ever sets x \("):
        bind_tasks(parse_tasks('t:(shared("x") == 1)'), NAMES)


def test_unknown_functions_are_warnings() -> None:
    found = bind_tasks(parse_tasks("t:(in.apend)"), NAMES)
    assert found.warnings == ("no event has the function apend (did you mean append?)",)


def test_lets_are_put_in() -> None:
    assert bound("t:(small)", "let limit = 3\nlet small = b.last < limit\n") == "t:(b.last < 3)"
    with pytest.raises(FormulaError, match="`limit` is not defined above"):
        bound("t:(full)", "let full = b.last == limit\nlet limit = 3\n")
