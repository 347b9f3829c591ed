"""The text report, word for word."""

from __future__ import annotations

import pytest

from possibly.records import replace
from possibly.verdict.model import Atom, Change, Explanation, MissingOrder, Step, Truth, Verdict
from possibly.views.text.report import Layout, missing_text, render, shown_steps
from tests.views.samples import EXPLANATION, HOLDS, STEPS, UNKNOWN, VIOLATED, explained, report_of

VIOLATED_TEXT = """\
run.jsonl: 2 processes, 5 events

VIOLATED  mutex  ctl AG(!(P1.cs & P2.cs))
  The recorded order satisfies it; another order of the same events does not.

  A failing order: it ends where P1.cs & P2.cs is true.
    1  P1  P1:1  send m1 to P2       peer.py:3
    2  P1  P1:2  internal [enter]    peer.py:4   P1.cs: false -> true
    3  P2  P2:1  receive m1 from P1  peer.py:9
  > 4  P2  P2:2  internal [enter]    peer.py:10  P2.cs: false -> true
  State at the end: P1.cs = true, P2.cs = true, turn = 0
  Decided by: P1.cs is true
              P2.cs is true
  Nothing orders P1:3 (internal, peer.py:6) before P2:2 (internal [enter], peer.py:10): if P1:3 had
  to come first, the property would hold.
"""


def body(verdict: Verdict, layout: Layout | None = None) -> list[str]:
    """The lines of one verdict."""
    return render(report_of(verdict), layout).splitlines()[2:]


def test_a_violation_in_full() -> None:
    assert render(report_of(VIOLATED)) == VIOLATED_TEXT


def test_the_last_line_of_a_violation_shows_it_again() -> None:
    layout = Layout(again=lambda verdict: f"possibly check run.jsonl --only {verdict.name}")
    assert body(VIOLATED, layout)[-1] == "  Show it again: possibly check run.jsonl --only mutex"
    assert not any("again" in line for line in body(HOLDS, layout))


def test_what_holds() -> None:
    assert body(HOLDS) == ["HOLDS     safe  ltl G(turn == 0)", "  The recorded order satisfies it too."]


def test_what_is_unknown_says_which_limit_was_hit() -> None:
    assert body(UNKNOWN) == [
        "UNKNOWN   slow  ctl AF(P1.cs)",
        "  The recorded order satisfies it.",
        "  Undecided: 1,000 cuts were visited; raise --max-cuts.",
    ]
    assert "raise --max-cuts or --timeout" in body(replace(UNKNOWN, reason=None))[-1]


@pytest.mark.parametrize(
    ("truth", "observed", "expected"),
    [
        (
            Truth.HOLDS,
            False,
            "The recorded order does not satisfy it; another order of the same events does.",
        ),
        (Truth.VIOLATED, False, "The recorded order violates it already."),
        (Truth.UNKNOWN, False, "The recorded order violates it."),
    ],
)
def test_the_recorded_order(truth: Truth, observed: bool, expected: str) -> None:
    assert body(replace(HOLDS, truth=truth, observed=observed))[1] == f"  {expected}"


def test_nothing_is_said_of_the_recorded_order_when_it_is_not_known() -> None:
    assert body(replace(HOLDS, observed=None)) == ["HOLDS     safe  ltl G(turn == 0)"]


def test_several_properties_stand_apart_and_warnings_come_first() -> None:
    text = render(report_of(HOLDS, replace(HOLDS, name="other"), warnings=("a let hides turn",)))
    assert text.startswith("run.jsonl: 2 processes, 5 events\nwarning: a let hides turn\n\nHOLDS     safe")
    assert "\n\nHOLDS     other" in text


def test_faults_and_declared_classes_are_named() -> None:
    faults = tuple(f"P{n}.x / 0: division by zero" for n in range(7))
    lines = body(replace(HOLDS, faults=faults, assumed=("dead is stable",)))
    assert lines[2] == "  Assumed: dead is stable."
    assert lines[3] == "  Counted as false: P0.x / 0: division by zero"
    assert lines[-1] == "  ... and 2 more faults."


@pytest.mark.parametrize(
    ("truth", "suffices", "end"),
    [
        (Truth.VIOLATED, True, "if a had to come first, the property would hold."),
        (Truth.VIOLATED, False, "would be impossible, though another one would violate it as well."),
        (Truth.VIOLATED, None, "if a had to come first, this order would be impossible."),
        (Truth.HOLDS, True, "if a had to come first, the property would not hold."),
        (Truth.HOLDS, False, "would be impossible, though another one would satisfy it as well."),
        (Truth.HOLDS, None, "if a had to come first, this order would be impossible."),
    ],
)
def test_the_missing_order_in_words(truth: Truth, suffices: bool | None, end: str) -> None:
    first, second = Step("a", "P", "release", "bank.py:12"), Step("b", "Q", "acquire")
    text = missing_text(MissingOrder(first, second, suffices), truth)
    assert text.startswith("Nothing orders a (release, bank.py:12) before b (acquire): ")
    assert text.endswith(end)


def test_the_deciding_moment_is_marked_where_it_is() -> None:
    lines = body(explained(replace(EXPLANATION, moment=2)))
    assert [line[:5] for line in lines[4:8]] == ["    1", "  > 2", "    3", "    4"]
    lines = body(explained(replace(EXPLANATION, moment=0)))
    assert lines[4] == "  > it is decided before the first step"
    assert not any(line.startswith("  > 4") for line in lines)


def test_a_violation_in_the_initial_state_needs_no_step() -> None:
    lines = body(
        explained(
            Explanation("it ends where x > 0 is false", (), {"x": 0}, (Atom("x > 0", False, {"x": 0}),))
        )
    )
    assert lines[2:] == [
        "",
        "  A failing order, before any event: it ends where x > 0 is false.",
        "  State at the end: x = 0",
        "  Decided by: x > 0 is false  (x = 0)",
    ]


def long_explanation(count: int, moment: int | None = None) -> Explanation:
    steps = tuple(
        Step(f"P:{n}", "P", "internal", changes=(Change("P.n", n - 1, n),)) for n in range(1, count + 1)
    )
    return Explanation("it is long", steps, {f"v{n}": n for n in range(40)}, moment=moment)


def test_a_long_order_is_elided_in_the_middle_with_a_count() -> None:
    lines = body(explained(long_explanation(1000, moment=500)))
    assert "    ... 486 steps left out, --full shows all ..." in lines
    assert "  >  500  P  P:500   internal  P.n: 499 -> 500" in lines
    assert "    1000  P  P:1000  internal  P.n: 999 -> 1000" in lines
    assert sum("left out" in line for line in lines) == 2
    assert any(line.endswith("and 16 more") for line in lines)


def test_full_leaves_nothing_out() -> None:
    lines = body(explained(long_explanation(1000)), Layout(full=True))
    assert sum(" internal " in line for line in lines) == 1000
    assert not any("left out" in line or "more" in line for line in lines)
    assert any("v39 = 39" in line for line in lines)


def test_a_single_step_is_never_left_out_alone() -> None:
    assert list(shown_steps(36, 36)) == list(range(36))
    assert len(shown_steps(37, 37)) == 30
    assert list(shown_steps(37, 1))[:11] == [*range(10), 17]


def test_a_formula_of_a_thousand_operators_is_elided() -> None:
    formula = " & ".join(["x == 1"] * 1000)
    assert len(body(replace(HOLDS, formula=formula))[0]) < 330
    assert formula in body(replace(HOLDS, formula=formula), Layout(full=True))[0]


def test_notes_say_how_it_was_decided() -> None:
    verdict = replace(VIOLATED, explanation=None, notes=("P1.cs is local.", "So exhaustive was chosen."))
    assert body(verdict, Layout(notes=True))[-3:] == [
        "  Class conjunctive, engine exhaustive, 7 cuts in 0.010 s.",
        "  P1.cs is local.",
        "  So exhaustive was chosen.",
    ]


def test_source_lines_stand_beside_their_place() -> None:
    layout = Layout(quote=lambda place: "self.critical = True" if place == "peer.py:4" else None)
    assert body(VIOLATED, layout)[5] == (
        "    2  P1  P1:2  internal [enter]    peer.py:4   self.critical = True  P1.cs: false -> true"
    )


def test_colours_change_no_column() -> None:
    import re

    coloured = render(report_of(VIOLATED, HOLDS, UNKNOWN), Layout(colour=True))
    assert "\x1b[31;1mVIOLATED\x1b[0m" in coloured
    assert "\x1b[32;1mHOLDS   \x1b[0m" in coloured
    assert "\x1b[33;1mUNKNOWN \x1b[0m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == render(report_of(VIOLATED, HOLDS, UNKNOWN))


def test_a_hostile_trace_cannot_play_with_the_terminal() -> None:
    evil = "\x1b]0;owned\x07\u202e\n"
    step = Step(evil, evil, evil, evil, evil, evil, evil, (Change(evil, evil, evil),))
    explanation = Explanation(
        evil, (step,), {evil: evil}, (Atom(evil, True, {evil: evil}),), MissingOrder(step, step)
    )
    verdict = Verdict(
        evil,
        "ctl",
        evil,
        Truth.VIOLATED,
        explanation=explanation,
        faults=(evil,),
        assumed=(evil,),
        notes=(evil,),
    )
    report = replace(report_of(verdict, warnings=(evil,)), trace=evil)
    text = render(report, Layout(notes=True, quote=lambda _: evil, again=lambda _: evil))
    assert all(line.isprintable() for line in text.splitlines())


def test_steps_of_the_sample_are_those_of_its_witness() -> None:
    assert VIOLATED.witness is not None
    assert VIOLATED.witness.path == tuple(step.event for step in STEPS)


def test_deciding_values_are_shown_wherever_the_moment_is() -> None:
    assert "  Decided by: P1.cs is true" in body(explained(replace(EXPLANATION, moment=4)))
    assert "  Decided by: P1.cs is true" in body(explained(replace(EXPLANATION, moment=2)))


def test_an_order_that_satisfies_is_called_so() -> None:
    lines = body(explained(EXPLANATION, truth=Truth.HOLDS, observed=False))
    assert lines[3] == "  An order that satisfies it: it ends where P1.cs & P2.cs is true."
    assert lines[-1] == "  to come first, the property would not hold."
