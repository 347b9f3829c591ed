"""The temporal stack behind the live page: what it shows, its buttons, and a search that is stopped."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from possibly.errors import PossiblyError
from possibly.session.debugging.temporal import Opening, opened
from possibly.views.web.debugging import LiveStack
from possibly.views.web.models import Stack

EXAMPLES = Path(__file__).parents[3] / "examples"
DEKKER = EXAMPLES / "models/dekker.py"
RUN = EXAMPLES / "mutex/run.jsonl"


def on_model(**options: object) -> LiveStack:
    debugger = opened(Opening(str(DEKKER), DEKKER.read_text(encoding="utf-8")))
    return LiveStack(debugger, **options)  # type: ignore[arg-type]


def on_run() -> LiveStack:
    return LiveStack(opened(Opening(str(RUN), "")))


def buttons(stack: LiveStack) -> list[str]:
    return [action.label for action in stack.picture().actions]


def facts(picture: Stack) -> dict[str, str]:
    return dict(picture.state)


def test_at_first_there_are_only_steps_to_make() -> None:
    stack = on_model()
    assert buttons(stack) == ["step", "next P0", "next P1"]
    assert stack.picture().steps == ()


def test_a_step_by_a_formula_is_put_on_the_stack() -> None:
    stack = on_model()
    stack.operate("step", {"text": 'F at(P0, "m8"); min'})
    (step,) = stack.picture().steps
    assert step.text == 'F at(P0, "m8")'
    assert [state.split()[0] for state in step.states] == ["P0:m1", "P0:m2", "P0:m7", "P0:m8"]
    assert ("options", "min") in step.facts
    assert facts(stack.picture())["c0"] == "0"
    assert buttons(stack)[-4:] == ["back", "pop", "clear", "arbitrarily long?"]
    marked = [shape.name for graph in stack.graphs()[:1] for shape in graph.shapes if shape.marked]
    assert len(marked) == 1, "the flow graph shows where the process is"


def test_one_statement_of_a_process_and_back_again() -> None:
    stack = on_run()
    assert stack.cut() == [0, 0]
    stack.operate("next", {"process": "P2"})
    stack.operate("next", {"process": "P2"})
    assert stack.cut() == [0, 2]
    stack.operate("pop", {})
    assert stack.cut() == [0, 1]
    stack.operate("clear", {})
    assert stack.cut() == [0, 0] and stack.picture().steps == ()


def test_that_there_is_no_such_step_is_said_once() -> None:
    stack = on_run()
    stack.operate("step", {"text": "G(P1.critical)"})
    assert "There is no such step from here." in stack.picture().notes
    stack.operate("next", {"process": "P1"})
    assert "There is no such step from here." not in stack.picture().notes


def test_a_long_search_is_stopped_and_can_be_continued() -> None:
    ticks = count()
    stack = on_model(clock=lambda: next(ticks) * 1_000.0)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("search", "compiled"):
            patch.setattr(f"possibly.control.temporal.{name}.PAUSE_EVERY", 1)
        stack.operate("step", {"text": 'F (at(P0, "m8") & at(P1, "n8"))'})
    assert "continue" in buttons(stack)
    assert stack.picture().steps == ()
    stack._clock = lambda: 0.0
    stack.operate("continue", {})
    assert "continue" not in buttons(stack)
    assert "There is no such step from here." in stack.picture().notes, "Dekker's algorithm is right"


@pytest.mark.parametrize(
    ("action", "values"),
    [
        ("step", {"text": ""}),
        ("step", {"text": "F("}),
        ("step", {"text": "F at(P0, 1); sideways"}),
        ("next", {"process": "nobody"}),
        ("back", {}),
        ("pop", {}),
        ("continue", {}),
        ("dance", {}),
    ],
    ids=str,
)
def test_what_cannot_be_done_leaves_the_stack_as_it_is(action: str, values: dict[str, str]) -> None:
    stack = on_model()
    with pytest.raises(PossiblyError):
        stack.operate(action, values)
    assert stack.picture().steps == ()


def test_a_step_tells_what_changes_and_has_its_automaton() -> None:
    stack = on_model()
    stack.operate("step", {"text": 'F at(P0, "m8"); min'})
    (step,) = stack.picture().steps
    assert "[c0: 1 -> 0]" in step.states[1]
    assert [graph.title for graph in stack.graphs()][2:] == [
        'Automaton of F at(P0, "m8")',
        "Temporal stack as a figure",
    ]


def test_why_there_is_none_and_whether_steps_can_be_arbitrarily_long() -> None:
    stack = on_model()
    stack.operate("step", {"text": 'G at(P1, "n2") & F at(P0, "m8")'})
    assert "why not" in buttons(stack)
    stack.operate("why", {})
    assert "already fails from here" in " ".join(stack.picture().notes)
    stack.operate("step", {"text": 'F at(P0, "m8")'})
    assert buttons(stack)[-1] == "arbitrarily long?"
    stack.operate("cycle", {})
    assert "yes: a cycle of" in " ".join(stack.picture().notes)


def test_a_live_program_is_drawn_from_its_source() -> None:
    program = EXAMPLES / "bugs" / "lost-update" / "buggy.py"
    stack = LiveStack(opened(Opening(str(program), program.read_text(encoding="utf-8"))))
    stack.operate("next", {"process": "MainThread"})
    graphs = {graph.title: graph for graph in stack.graphs()}
    (marked,) = [shape.lines[0] for shape in graphs["teller-1 in deposit"].shapes if shape.marked]
    assert marked.endswith("balance += amount")
    stack.debugger.system.close()  # type: ignore[attr-defined]
