from __future__ import annotations

import pytest

from possibly.errors import FormulaError, UsageError
from possibly.logic.specification import Specification, property_from_text, read_specification
from possibly.session.checking.check import Options, check_trace
from possibly.trace.model import Trace
from possibly.trace.notation import trace
from possibly.verdict.model import Atom, Change, Explanation, Step, Truth, Verdict

MUTEX = trace(
    """
    P(cs=false): a@"m.py:1" recv(go)@"m.py:2" b{cs=true}@"m.py:3"
    Q(cs=false): send(go>P){cs=true} c{cs=false}
    """,
    order="a Q:1 P:2 c b",
)


def verdict(run: Trace, formula: str, language: str = "ctl", **options: object) -> Verdict:
    specification = Specification(properties=(property_from_text(language, formula, "it"),))
    report = check_trace(run, specification, Options(**options))  # type: ignore[arg-type]
    return report.verdicts[0]


def explanation(run: Trace, formula: str, language: str = "ctl") -> Explanation:
    found = verdict(run, formula, language).explanation
    assert found is not None
    return found


def test_invariant_that_held_in_the_run_and_fails_in_another_order() -> None:
    found = verdict(MUTEX, "AG(!(P.cs & Q.cs))")
    assert (found.truth, found.observed, found.holds) == (Truth.VIOLATED, True, False)
    assert found.witness is not None
    assert found.witness.cut == {"P": 3, "Q": 1} and found.witness.path == ("Q:1", "a", "P:2", "b")
    assert found.explanation is not None
    assert found.explanation == Explanation(
        summary="it ends where !(P.cs & Q.cs) is false",
        steps=(
            Step("Q:1", "Q", "send", message="go to P", changes=(Change("Q.cs", False, True),)),
            Step("a", "P", "internal", place="m.py:1"),
            Step("P:2", "P", "receive", place="m.py:2", message="go from Q"),
            Step("b", "P", "internal", place="m.py:3", changes=(Change("P.cs", False, True),)),
        ),
        state={"P.cs": True, "Q.cs": True},
        atoms=(Atom("P.cs", True, {"P.cs": True}), Atom("Q.cs", True, {"Q.cs": True})),
        missing=found.explanation.missing,
        settled=3,
    )


def test_missing_order_is_the_one_that_would_have_saved_the_property() -> None:
    missing = explanation(MUTEX, "AG(!(P.cs & Q.cs))").missing
    assert missing is not None
    assert (missing.first.event, missing.second.event, missing.suffices) == ("c", "b", True)


def test_missing_order_that_closes_only_one_way() -> None:
    run = trace("P(x=0): a{x=1} b{x=0} c{x=1} d{x=0} | Q(y=0): e{y=1} f{y=0}", order="a b c d e f")
    missing = explanation(run, "AG(!(P.x == 1 & Q.y == 1))").missing
    assert missing is not None and missing.suffices is True and missing.second.event == "e"
    assert missing.first.event == "d", "the last of P's two stays inside must be over too"


def test_no_missing_order_when_the_run_itself_fails() -> None:
    found = verdict(MUTEX, "AG(!P.cs)")
    assert found.observed is False and found.explanation is not None and found.explanation.missing is None


def test_existential_property_shows_how_it_is_possible() -> None:
    found = verdict(MUTEX, "EF(P.cs & Q.cs)")
    assert (found.truth, found.observed) == (Truth.HOLDS, False)
    assert found.explanation is not None and found.explanation.summary == "it ends where P.cs & Q.cs is true"
    assert found.explanation.missing is not None and found.explanation.missing.suffices is True


@pytest.mark.parametrize(
    ("formula", "language", "summary"),
    [
        ("AF(P.cs & !Q.cs & !done(P))", "ctl", "P.cs & !Q.cs & !done(P) is never true on it"),
        ("EG(!P.cs | Q.cs | done(P))", "ctl", "!P.cs | Q.cs | done(P) is true all the way"),
        ("A[!Q.cs U P.cs]", "ctl", "it ends where !Q.cs | P.cs is false"),
        ("E[!P.cs U Q.cs]", "ctl", "it ends where Q.cs is true"),
        ("AX(Q.cs)", "ctl", "it ends where Q.cs is false"),
        ("EX[Q](Q.cs)", "ctl", "it ends where Q.cs is true"),
        ("G(!(P.cs & Q.cs))", "ltl", "this observation breaks G !(P.cs & Q.cs)"),
    ],
)
def test_summary_says_what_the_path_shows(formula: str, language: str, summary: str) -> None:
    assert explanation(MUTEX, formula, language).summary == summary


def test_linear_violation_marks_the_moment() -> None:
    found = explanation(MUTEX, "G(!(P.cs & Q.cs))", "ltl")
    assert len(found.steps) == 5 and found.moment == 4
    assert found.missing is not None and found.missing.suffices is True


def test_holding_universal_property_needs_no_witness() -> None:
    found = verdict(MUTEX, "AG(P.cs -> done(P))")
    assert found.truth is Truth.HOLDS and found.witness is None and found.explanation is None


def test_boolean_combination_shows_the_part_that_decides() -> None:
    assert verdict(MUTEX, "EF(P.cs) & AG(!P.cs)").witness == verdict(MUTEX, "AG(!P.cs)").witness
    assert verdict(MUTEX, "AG(!P.cs) | EF(P.cs)").witness == verdict(MUTEX, "EF(P.cs)").witness
    assert verdict(MUTEX, "!EF(P.cs)").witness == verdict(MUTEX, "EF(P.cs)").witness
    assert verdict(MUTEX, "EF(P.cs) & EF(Q.cs)").witness is None


def test_joint_events_are_told_together() -> None:
    run = trace("P(x=0): a%m{x=1} | Q(y=0): b%m{y=1}")
    found = verdict(run, "AG(P.x == 0)")
    assert found.witness is not None and found.witness.path == ("a", "b")
    assert found.witness.cut == {"P": 1, "Q": 1}
    assert found.explanation is not None
    assert [(step.event, step.process) for step in found.explanation.steps] == [("a, b", "P, Q")]


def test_unknown_says_which_limit_was_hit() -> None:
    run = trace(" | ".join(f"P{i}(x=0): {'_ ' * 8}" for i in range(5)))
    found = verdict(run, "AG(P0.x * P1.x == 0)", max_cuts=1000, engine="exhaustive")
    assert found.truth is Truth.UNKNOWN and found.holds is None and found.observed is True
    assert found.reason == "more than 1000 cuts to visit; raise --max-cuts"


@pytest.mark.parametrize(
    ("formula", "language", "truth"),
    [
        ("AG(P0.x * P1.x == 0)", "ctl", Truth.VIOLATED),
        ("EF(P0.x * P1.x == 1)", "ctl", Truth.HOLDS),
        ("AF(P0.x * P1.x == 2)", "ctl", Truth.VIOLATED),
        ("EG(P0.x * P1.x < 2)", "ctl", Truth.HOLDS),
        ("G(P0.x * P1.x == 0)", "ltl", Truth.VIOLATED),
        ("AG(P0.x * P1.x < 2)", "ctl", Truth.UNKNOWN),
        ("AF(P0.x * P1.x == 1)", "ctl", Truth.UNKNOWN),
    ],
)
def test_recorded_order_decides_where_engines_give_up(formula: str, language: str, truth: Truth) -> None:
    run = trace(" | ".join(f"P{i}(x=0): {'_ ' * 8} a{i}{{x=1}}" for i in range(5)))
    engine = {"ctl": "exhaustive", "ltl": "linear"}[language]
    found = verdict(run, formula, language, max_cuts=30, engine=engine)
    assert found.truth is truth
    if truth is not Truth.UNKNOWN:
        assert found.engine == "observed" and found.witness is not None and found.explanation is not None


def test_faults_are_listed_and_count_as_false() -> None:
    found = verdict(trace("P(x=0): a{x=1}"), "AG(!(1 / P.x > 0))")
    assert found.truth is Truth.VIOLATED
    assert len(found.faults) == 1 and "P.x" in found.faults[0]


def test_shared_variables_in_both_orders() -> None:
    run = trace("shared(s=0) P: a&w(s=1) | Q: b&w(s=2)", order="a b")
    assert verdict(run, "AG(s != 2 -> !done(Q))").truth is Truth.HOLDS
    with pytest.raises(FormulaError, match="not ordered in --order sync"):
        verdict(run, "AG(s != 2)", order="sync")


def test_class_of_the_property_is_that_of_its_least_specific_predicate() -> None:
    run = trace("P(x=0): a | Q(y=0): b")
    assert verdict(run, "AG(P.x == 0)").predicate_class == "local"
    assert verdict(run, "EF(P.x == 0 & Q.y == 0)").predicate_class == "conjunctive"
    assert verdict(run, "AG(P.x == 0 | Q.y == 0)").predicate_class == "disjunctive"
    assert verdict(run, "EF(P.x == 0 & AF(P.x * Q.y == 6))").predicate_class == "arbitrary"


def test_unknown_engine_and_order_are_refused() -> None:
    with pytest.raises(UsageError, match="engine 'magic' does not exist"):
        verdict(MUTEX, "AG(P.cs)", engine="magic")
    with pytest.raises(UsageError, match="unknown order"):
        verdict(MUTEX, "AG(P.cs)", order="total")


def test_wrong_declaration_is_refused() -> None:
    specification = read_specification("let stable inside = Q.cs\nctl never = AG(!inside)")
    with pytest.raises(FormulaError, match="let inside is declared stable, but is not on this trace"):
        check_trace(MUTEX, specification, Options())


def test_progress_is_told_with_the_name() -> None:
    told: list[str] = []
    run = trace(" | ".join(f"P{i}(x=0): {'_ ' * 8}" for i in range(4)))
    specification = Specification(properties=(property_from_text("ctl", "AG(P0.x * P1.x == 0)", "safe"),))
    check_trace(run, specification, Options(engine="sweep"), lambda what, done, total: told.append(what))
    assert set(told) == {"checking safe"}


def test_of_many_predicates_some_are_told() -> None:
    run = trace("p: x=1 x=2 | q: x=1")
    formula = " & ".join(f"(p.x == {number} | EF(q.x == {number}))" for number in range(70))
    notes = verdict(run, formula).notes
    assert notes[0] == "p.x == 0 is local: it reads p alone"
    assert "and 40 more predicates" in notes


@pytest.mark.parametrize("operator", ["EF", "AG", "EG", "AF"])
@pytest.mark.parametrize("sign", ["&", "|"])
def test_large_formulas_are_answered_as_by_visiting_cuts(operator: str, sign: str) -> None:
    """They are known by identity, also where the same stands twice."""
    run = trace("p: x=1 x=2 x=3 send(m) | q: x=1 x=2 recv(m) x=3")
    parts = f" {sign} ".join(f"{process}.x != {number}" for process in "pq" for number in (2, *range(10, 60)))
    for formula in (
        f"{operator}({parts})",
        f"{operator}(({parts}) & EF({parts})) | AG({parts})",
        f"!{operator}(!({parts}) | EX({parts}))",
    ):
        assert verdict(run, formula).truth == verdict(run, formula, engine="exhaustive").truth


def test_the_class_of_a_long_predicate_is_told_without_its_text() -> None:
    run = trace(" | ".join(f"P{number}(x=0): x=1" for number in range(60)))
    text = 'AG(exists i, j in "P*" if i != j: i.x == 0 & j.x <= 1 | i.x > 0)'
    specification = Specification(properties=(property_from_text("ctl", text, "it"),))
    notes = check_trace(run, specification, Options(explain=False)).verdicts[0].notes
    assert notes[0].startswith("a predicate of more than 5,000 parts is ") and len(notes[0]) < 80
