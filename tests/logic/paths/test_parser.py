"""The grammar of path expressions: trees, precedence, and errors that point at the place."""

from __future__ import annotations

from random import Random

import pytest

from possibly.errors import FormulaError
from possibly.logic.paths.classes import SUBCLASSES
from possibly.logic.paths.parser import parse_path
from possibly.logic.paths.rules import parse_rule
from possibly.logic.paths.syntax import (
    Atom,
    Choice,
    Constant,
    Control,
    Data,
    Expression,
    Perform,
    Repeat,
    Sequence,
    Together,
    Variable,
    path_text,
)
from possibly.logic.source import Source
from possibly.logic.specification import read_specification
from possibly.logic.tasks.parser import parse_tasks
from tests.logic.paths.languages import random_path
from tests.logic.paths.test_machine import expression_of


def read(text: str) -> Expression:
    return parse_path(Source(text, "f.spec", 3, 5))


def tree(text: str) -> str:
    return path_text(read(text).root)


def test_precedence() -> None:
    a, b, c, d = (Atom(Control(name)) for name in "abcd")
    assert read("a;b & c + d*").root == Choice(Together(Sequence(a, b), c), Repeat(d))
    assert read("a + b; c & d").root == Choice(a, Together(Sequence(b, c), d))


def test_every_tree_is_read_from_its_own_text() -> None:
    random = Random(2)
    for _ in range(300):
        found = expression_of(random_path(random, random.choice(SUBCLASSES), 3))
        again = read(path_text(found.root)).root
        assert path_text(again) == path_text(found.root)


def test_control_events() -> None:
    events = [atom.event for atom in read('f; f.enter; m.g.exit; LOCK(X).exit; send("t", _, 3); w()').atoms]
    assert events == [
        Control("f"), Control("f", "enter"), Control("m.g", "exit"),
        Control("LOCK", "exit", (Variable("X"),)),
        Control("send", "", (Constant("t"), None, Constant(3))), Control("w"),
    ]  # fmt: skip


def test_data_and_conditional_events() -> None:
    atoms = read("[x == x' + 1]; [x]; [x']; READ [lock == 1]; [y > 0] [x == 1]").atoms
    assert [atom.event.access for atom in atoms if isinstance(atom.event, Data)] == [
        None,
        "read",
        "write",
        None,
    ]
    assert [atom.text for atom in atoms] == [
        "[x == x' + 1]", "[x]", "[x']", "READ [lock == 1]", "[y > 0] [x == 1]",
    ]  # fmt: skip


def test_distinct_events_have_symbols_of_their_own() -> None:
    first, second, third = read("s & s^ & s^").atoms
    assert first.symbol == "s"
    assert len({first.symbol, second.symbol, third.symbol}) == 3


def test_derived_operators() -> None:
    assert tree("permutation(a, b)") == "a; b + b; a"
    assert tree("partial(a, b)") == "a; b + b; a + a & b"
    assert tree("total(a, b, c)") == "a & b & c"


def test_the_last_action_belongs_to_the_occurrence() -> None:
    found = read("enqueue & dequeue { print(s); break }")
    assert [each.function for each in found.action if isinstance(each, Perform)] == ["print", "break"]
    assert found.action_from == 1
    assert read("a { hold($1.pid, X) } + b; c { break }").action_from == 2
    assert read("(a + b) { break }").action_from == 1


SPECIFICATION = """
event put = enqueue; notify
event two = put; put
never race = two & get
sync semaphore(S): V(S).exit; P(S).exit { sync_event($1, $2); }
"""


def test_actions_of_their_own_in_a_sequence() -> None:
    found = read("{ n = 0 }; a; { m = 1 }; b*; { if (n = 0) break; print(n) }")
    assert [type(each).__name__ for each in found.statements()] == [
        "Assign", "When", "Perform", "Perform", "Assign",
    ]  # fmt: skip
    assert path_text(found.root) == "a; b*" and len(found.start) == 1 and len(found.action) == 2
    assert found.atoms[0].action and not found.atoms[1].action
    assert found.assigned == {"n", "m"}


def test_the_papers_write_a_single_equals_sign() -> None:
    assert read("[X = 0]") == read("[X == 0]")
    assert read("[X = X' + 1]").root == read("[X == X' + 1]").root
    assert tree("[x=-1]") == "[x == -1]" and read("[X ≤ 1]").root == read("[X <= 1]").root
    assert parse_tasks("p:(in.f) if t1 = t2") == parse_tasks("p:(in.f) if t1 == t2")
    assert parse_tasks("t:(x = 3)") == parse_tasks("t:(x == 3)")


def test_compound_events_are_put_in() -> None:
    found = read_specification(SPECIFICATION)
    definitions = {each.name: each for each in found.definitions}
    expression = parse_path(found.properties[0].source, definitions)
    assert path_text(expression.root) == "(enqueue; notify); enqueue; notify & get"
    assert [atom.event.name for atom in parse_rule(found.syncs[0].source).expression.atoms
            if isinstance(atom.event, Control)] == ["V", "P"]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;", "f.spec:3:7: expected an event or `(`, found the end of the expression"),
        ("a b", "f.spec:3:7: expected an operator or the end of the expression, found `b`"),
        ("(a; b", "f.spec:3:5: this ( is never closed (a ) is missing)"),
        ("a | b", "f.spec:3:7: unexpected character '|' (write + for a choice)"),
        ("a; [x == ", "f.spec:3:8: this [ is never closed (a ] is missing)"),
        ("a; [x =", "f.spec:3:8: this [ is never closed (a ] is missing)"),
        ("[x := 1]", "f.spec:3:8: `:=` is not an operator (formulas assign nothing; write `==` to compare)"),
        ("[]", "f.spec:3:6: the condition is empty"),
        ("[done(P)]", "f.spec:3:6: a condition speaks of variables only"),
        ("a {}", "f.spec:3:8: the action is empty"),
        ("(a;b) {break}; c", "f.spec:3:11: an action belongs to an event (write it after an event, or at the "
         "end of the whole expression)"),
        ("a {print($3)}", "f.spec:3:5: $3 speaks of an event that the expression does not have"),
        ("(a*)*n", "f.spec:3:10: what *n repeats can be empty (write *)"),
        ("partial(a, b, c)", "f.spec:3:5: partial takes two expressions"),
        ("f(X).start", "f.spec:3:9: expected .enter or .exit"),
        ("  ", "f.spec:3:5: the expression is empty"),
        (";".join(["a"] * 301), "f.spec:3:5: the expression has more than 300 events"),
        ("(" * 100 + "a" + ")" * 100, "f.spec:3:65: more than 60 brackets inside each other"),
    ],
)  # fmt: skip
def test_errors(text: str, message: str) -> None:
    with pytest.raises(FormulaError) as error:
        read(text)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("event a = b; c\nevent b = a\nnever x = a", "s:2:11: `a` is defined by itself: a -> b -> a"),
        ("event a =", "s:1:9: expected a formula after `=`"),
        ("event a = b\nevent a = c", "s:2:7: `a` is defined a second time (the first stands in line 1)"),
        ("never x = a &\n  (b; )", "s:2:7: expected an event or `(`, found `)`"),
        ("sync P(S): a; b; c", "s:1:11: a synchronisation is two events in sequence "
         "(for instance release(S); acquire(S))"),
    ],
)  # fmt: skip
def test_errors_in_a_specification(text: str, message: str) -> None:
    with pytest.raises(FormulaError) as error:
        read_specification(text, "s")
    assert str(error.value) == message


def test_the_rule_of_section_3_1_as_it_is_printed() -> None:
    """`SYNC(M): send(M); receive(M) { sync_event($1, $2); }` is the same as a `sync` line with that name."""
    text = "SYNC(M): send(M); receive(M) { sync_event($1, $2); }"
    printed, own = (read_specification(line).syncs[0] for line in (text, f"sync {text}"))
    assert printed.text == own.text
    assert parse_rule(printed.source).expression == parse_rule(own.source).expression
    with pytest.raises(FormulaError):
        read_specification("SYNC(M): send(M)")
