from __future__ import annotations

from typing import Any

import pytest

from possibly.errors import FormulaError
from possibly.logic import bind as module
from possibly.logic.bind import Bound, Declaration, Vocabulary, bind, bind_property
from possibly.logic.parser import parse
from possibly.logic.printer import unparse
from possibly.logic.specification import Let, read_specification
from possibly.logic.syntax import Literal, Local, Node, Quantified, Shared
from possibly.logic.walk import nodes

KNOWN = "processes are P1, P2, Phil0, Phil1, Phil2, worker-1"
VOCABULARY = Vocabulary(
    processes=("P1", "P2", "Phil0", "Phil1", "Phil2", "worker-1"),
    locals={
        "P1": frozenset({"count", "f.y", "config"}),
        "P2": frozenset({"count", "number"}),
        "Phil0": frozenset({"eats"}),
        "Phil1": frozenset({"eats"}),
        "Phil2": frozenset({"eats"}),
        "worker-1": frozenset(),
    },
    shared=frozenset({"turn", "bank.total", "hidden", "P1.x", "G", "i"}),
    functions=frozenset({"append"}),
    labels=frozenset({"m8"}),
)


def lets(text: str) -> tuple[Let, ...]:
    return read_specification(text, "s").lets


def bound(text: str, given: str = "", language: str = "ctl") -> Bound:
    return bind(parse(text, language), VOCABULARY, lets(given))


def shown(text: str, given: str = "", language: str = "ctl") -> str:
    return unparse(bound(text, given, language).formula)


def error(text: str, given: str = "") -> str:
    with pytest.raises(FormulaError) as found:
        bound(text, given)
    return str(found.value)


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("P1.count", Local("P1", "count")),
        ("P1.f.y", Local("P1", "f.y")),
        ('P1."f.y"', Local("P1", "f.y")),
        ("turn", Shared("turn")),
        ("bank.total", Shared("bank.total")),
        ('shared("turn")', Shared("turn")),
        ('shared("P1.x")', Shared("P1.x")),
        ('count("Phil*")', Literal(3)),
        ('count("Q*")', Literal(0)),
    ],
)
def test_names(text: str, node: Any) -> None:
    assert bound(text) == Bound(node)


def test_shared_is_spelt_out_only_where_the_bare_name_means_something_else() -> None:
    assert shown('shared("turn")') == "turn"
    assert shown('shared("P1.x")') == 'shared("P1.x")'
    assert shown('shared("hidden") & hidden', "let hidden = turn == 1") == 'shared("hidden") & turn == 1'
    assert shown('exists i in "P1": shared("i") == i.count') == 'shared("i") == P1.count'


@pytest.mark.parametrize(
    ("text", "instances"),
    [
        ('forall i in "Phil*": i.eats', "Phil0.eats & Phil1.eats & Phil2.eats"),
        ('exists i in "Phil*": i.eats', "Phil0.eats | Phil1.eats | Phil2.eats"),
        ('forall i in "Phil0": i.eats', "Phil0.eats"),
        (
            'exists i, j in "Phil[01]": i.eats & j.eats',
            "Phil0.eats & Phil0.eats | Phil0.eats & Phil1.eats | "
            "Phil1.eats & Phil0.eats | Phil1.eats & Phil1.eats",
        ),
        (
            'exists i, j in "Phil*" if index(i) < index(j): i.eats & j.eats',
            "Phil0.eats & Phil1.eats | Phil0.eats & Phil2.eats | Phil1.eats & Phil2.eats",
        ),
        (
            'forall i, j in "Phil*" if index(j) == (index(i) + 1) % count("Phil*"): i.eats -> !j.eats',
            "(Phil0.eats -> !Phil1.eats) & (Phil1.eats -> !Phil2.eats) & (Phil2.eats -> !Phil0.eats)",
        ),
        ('forall i in "Phil*" if i != "Phil1": turn == i', 'turn == "Phil0" & turn == "Phil2"'),
        ('forall i in "P?": turn == index(i)', "turn == 0 & turn == 1"),
        (
            'forall i in "P?": exists j in "Phil*" if index(j) <= index(i) & i != j: j.eats & done(i)',
            "(Phil0.eats & done(P1)) & (Phil0.eats & done(P2) | Phil1.eats & done(P2))",
        ),
        ('forall i in "P?": EX[i](at(i, "m8") & transit(i, P1) == 0)',
         'EX[P1](at(P1, "m8") & transit(P1, P1) == 0) & EX[P2](at(P2, "m8") & transit(P2, P1) == 0)'),
        ('EF forall i in "P?": inside(i, append)', "EF(inside(P1, append) & inside(P2, append))"),
        ('forall i in "*" if false: i.nothing', "true"),
        ('exists i in "*" if false: i.nothing', "false"),
    ],
)  # fmt: skip
def test_quantifiers(text: str, instances: str) -> None:
    found = bound(text)
    assert unparse(found.formula) == instances
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ('forall i in "Q*": i.x', 'no process matches "Q*"'),
        ('at(P1, "m88")', "no event has the label m88 (did you mean m8?)"),
        ("inside(P1, apend)", "no event has the function apend (did you mean append?)"),
        ("term(P1, zzz)", "no event has the function zzz"),
        (
            'exists P1 in "P2": P1.count',
            "the variable P1 of a quantifier hides the process of that name",
        ),
        (
            'exists i in "P1" if i < 1: i.count',
            "in the condition of a quantifier, i < 1: cannot compare str with int",
        ),
    ],
)
def test_warnings(text: str, warning: str) -> None:
    assert bound(text).warnings == (warning,)


def test_lets_are_put_in_as_trees() -> None:
    given = "let limit = 2 + 1\nlet full = P1.count >= limit\nlet both = full & turn"
    assert shown("AG(!full | both)", given) == "AG(!(P1.count >= 2 + 1) | P1.count >= 2 + 1 & turn)"


def test_a_let_hides_a_shared_variable_with_a_warning() -> None:
    found = bound("AG(hidden & hidden)", "let hidden = turn == 1")
    assert found.warnings == (
        'let hidden hides the shared variable of that name: write shared("hidden") for it',
    )
    assert bound("turn", "let hidden = turn == 1").warnings == ()


def test_a_let_may_be_named_like_an_operator_of_another_language() -> None:
    assert shown("AG G", "let G = turn == 1") == "AG(turn == 1)"


def test_declared_classes_come_along() -> None:
    found = bound(
        "EF(dead & alive)", "let stable dead = P1.count == 9\nlet alive = turn\nlet linear other = turn"
    )
    tree = parse("P1.count == 9", "predicate")
    assert found.declared == {bind(tree, VOCABULARY).formula: Declaration("dead", "stable")}


def test_spans_of_lets_do_not_point_into_the_wrong_text() -> None:
    found = bound("AG dead", "let dead = P1.count == 9").formula
    assert [node.span for node in nodes(found)] == [(0, 7), (3, 7), None, None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("P1.cuont == 1", "1:1: no event ever sets P1.cuont (did you mean P1.count?)"),
        ("turn & P1.number", "1:8: no event ever sets P1.number (did you mean P2.number?)"),
        ("P1.turn", "1:1: no event ever sets P1.turn (did you mean turn?)"),
        ("P1.zzz", "1:1: no event ever sets P1.zzz (P1 has config, count, f.y)"),
        ('P1.config.host == "a"',
         '1:1: no event ever sets P1.config.host (write P1.config["host"] for an entry of P1.config)'),
        ('"worker-1".x', '1:1: no event ever sets "worker-1".x (worker-1 has no variables)'),
        ("tern", "1:1: no event ever sets tern (did you mean turn?)"),
        ("number", "1:1: no event ever sets number (did you mean P2.number?)"),
        ("P2", "1:1: no event ever sets P2 (P2 is a process; it has count, number)"),
        ("Phill1.eats",
         "1:1: no event ever sets Phill1.eats (did you mean Phil1.eats or Phil2.eats or Phil0.eats?)"),
        ("Qqqqq.x", f"1:1: no event ever sets Qqqqq.x (there is no process Qqqqq, {KNOWN})"),
        ("zzzzz",
         "1:1: no event ever sets zzzzz (shared variables are G, P1.x, bank.total, hidden, i, turn)"),
        ('1 == shared("trun")', "1:6: no event ever sets trun (did you mean turn?)"),
        ("transit(P1, Phil9) == 0",
         "1:13: there is no process Phil9 (did you mean Phil2 or Phil1 or Phil0?)"),
        ("done(zzz)", f"1:6: there is no process zzz ({KNOWN})"),
        ("EX[zzz] turn", f"1:4: there is no process zzz ({KNOWN})"),
        ("index(i)", "1:1: `i` is not a variable of a quantifier"),
        ('forall i in "P*": i.count',
         "1:19: no event ever sets Phil0.count (did you mean P1.count or P2.count?)"),
        ('exists i in "*" if turn == 1: i.x',
         "1:20: the condition of a quantifier speaks of something else than its"
         " variables (conditions on states belong into the body)"),
    ],
)  # fmt: skip
def test_errors(text: str, message: str) -> None:
    assert error(text) == message


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "let a = b\nlet b = turn",
            "s:1:9: `a` uses `b` before it is defined (a let may use those above it)",
        ),
        ("let a = turn & a", "s:1:16: `a` speaks of itself (a let may use those above it)"),
        ("let a =\n  turn &\n  tern", "s:3:3: no event ever sets tern (did you mean turn?)"),
    ],
)
def test_errors_in_lets_name_their_place(given: str, message: str) -> None:
    assert error("AG a", given) == message


def test_errors_in_properties_name_their_place() -> None:
    found = read_specification("let a = turn\nctl p = AG(\n  a & tern)", "s")
    with pytest.raises(FormulaError) as caught:
        bind_property(found.properties[0], VOCABULARY, found.lets)
    assert str(caught.value) == "s:3:7: no event ever sets tern (did you mean turn?)"


@pytest.mark.parametrize("name", ["box.n", "total"])
def test_a_variable_that_was_not_recorded_has_its_remedy(name: str) -> None:
    words = Vocabulary(("P1",), remedy="`possibly run --watch {} box.py` records it")
    with pytest.raises(FormulaError, match=f"possibly run --watch {name} box.py"):
        bind(parse(f"AG({name} < 2)", "ctl"), words, ())


def test_texts_of_other_languages_are_not_bound() -> None:
    found = read_specification("never p = a & b").properties[0]
    with pytest.raises(ValueError, match="never"):
        bind_property(found, VOCABULARY)


def test_lets_that_double_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_NODES", 1000)
    doubling = "let a0 = turn\n" + "".join([f"let a{i + 1} = a{i} & a{i}\n" for i in range(60)])
    assert error("AG a60", doubling).endswith("the formula grows beyond 1,000 nodes")
    assert len(list(nodes(bound("a8", doubling).formula))) == 511


def test_quantifiers_that_multiply_are_bounded() -> None:
    many = Vocabulary(tuple([f"P{i}" for i in range(200)]))
    with pytest.raises(FormulaError, match="more than 1,000,000 combinations"):
        bind(parse('AG forall i, j, k in "*": done(i) & done(j) & done(k)', "ctl"), many)


def test_lets_that_deepen_are_bounded() -> None:
    deepening = "let a0 = turn\n" + "".join([f"let a{i + 1} = {'!' * 500}a{i}\n" for i in range(10)])
    assert "more than 4,000 levels deep" in error("AG a10", deepening)
    assert bound("AG a7", deepening).formula is not None


def test_a_thousand_levels() -> None:
    text = "!(" * 1000 + "turn" + ")" * 1000
    assert shown(text) == "!" * 1000 + "turn"


@pytest.mark.parametrize(
    "text",
    [
        'forall i in "Phil*": i.eats == 1',
        'exists i in "Phil*": i.eats != "a"',
        'forall i in "P?": i.count >= 2.5',
        'forall i in "P1": i.f.y < 3',
        'forall i, j in "Phil*" if i != j: j.eats == 1',
        'forall i in "Phil*": exists j in "Phil*" if i != j: i.eats == 2',
        'EF((forall i in "Phil*": i.eats == 3) & EG(forall i in "Phil*": i.eats != 99))',
        'forall i in "Q*": i.eats == 1',
    ],
)
def test_comparisons_bound_in_one_go_are_those_bound_one_by_one(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = bound(text)

    def one_by_one(self: Any, node: Quantified, scope: Any, level: int) -> list[Node]:
        scopes = [
            {**scope, **dict(zip(node.variables, row, strict=True))} for row in self.choices(node, scope)
        ]
        return [self.bound(node.body, inner, level + 1) for inner in scopes]

    monkeypatch.setattr(module._Binder, "instances_of", one_by_one)
    slowly = bound(text)
    assert at_once == slowly
    assert [node.span for node in nodes(at_once.formula)] == [node.span for node in nodes(slowly.formula)]


def test_an_unknown_variable_of_an_instance_is_named() -> None:
    assert error('forall i in "P*": i.eats == 1') == (
        "1:19: no event ever sets P1.eats (did you mean Phil0.eats or Phil1.eats or Phil2.eats?)"
    )


def test_instances_bound_in_one_go_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_NODES", 8)
    assert "grows beyond 8 nodes" in error('forall i in "Phil*": i.eats == 1')


@pytest.mark.parametrize("text", ['AG("Box#1.n" <= 4)', 'EF(4 == "box.n")', 'AG(0 < "x" < 3)'])
def test_a_text_is_not_taken_for_a_variable(text: str) -> None:
    assert "is a text, not a variable (the variable is " in error(text)
