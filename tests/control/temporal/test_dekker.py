"""Every claim of section 6 of "Temporal debugging for concurrent systems", in the order of the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.control.temporal.model_system import ModelSystem
from possibly.control.temporal.stack import Outcome, TemporalStack
from possibly.models.reader import read_model

MODELS = Path(__file__).parents[3] / "examples" / "models"


def debugger(name: str) -> TemporalStack:
    path = MODELS / name
    return TemporalStack(ModelSystem(read_model(path.read_text(encoding="utf-8"), name)))


@pytest.fixture(params=["dekker.py", "dekker-misprinted.py"])
def stack(request: pytest.FixtureRequest) -> TemporalStack:
    """The claims hold with the waits as printed, too."""
    return debugger(request.param)


def names(stack: TemporalStack) -> list[str]:
    return [move.name for move in stack.steps[-1].path.moves]


def labels_of(stack: TemporalStack, formula: str, process: str) -> set[str]:
    """The nodes of a process at the ends of all finite sequences that satisfy the formula."""
    found = set()
    answer = stack.step(formula, size="each")
    while answer.outcome is Outcome.FOUND:
        found.add(stack.system.places(stack.state)[process].split(":")[0].removeprefix("at "))
        answer = stack.back()
    return found


def test_the_flow_graph_has_the_nodes_of_figure_4(stack: TemporalStack) -> None:
    assert isinstance(stack.system, ModelSystem)
    for process, letter in zip(stack.system.model.processes, "mn", strict=True):
        assert {node.name for node in process.graph.nodes} == {f"{letter}{i}" for i in range(1, 11)}


def test_p0_attempts_and_p1_does_not(stack: TemporalStack) -> None:
    assert stack.step('F(at(P0, "m2") & at(P1, "n1"))').outcome is Outcome.FOUND
    assert sorted(names(stack)) == ["P0:m1", "P0:m2", "P1:n1"], "the shortest step"
    assert stack.evaluate("c0 == 0 & c1 == 1") == (True, ())
    # "We can use a search that will step through all the states that end a sequence satisfying this."
    assert labels_of(stack, 'G at(P1, "n1")', "P0") == {"m2", "m7", "m8", "m9", "m10"}
    # "Alternatively": the critical section without progressing P1.
    assert stack.step('G at(P1, "n1") & F at(P0, "m8")').outcome is Outcome.FOUND
    assert names(stack) == ["P0:m7", "P0:m8"]


def both(stack: TemporalStack) -> None:
    stack.clear()
    assert stack.step('F(at(P0, "m2") & at(P1, "n2"))').outcome is Outcome.FOUND
    assert stack.evaluate("turn") == (0, ())


def test_both_attempt_and_p1_stands_still(stack: TemporalStack) -> None:
    both(stack)
    assert stack.step('G at(P1, "n2") & F at(P0, "m8")').outcome is Outcome.NONE
    assert labels_of(stack, 'G at(P1, "n2")', "P0") == {"m2", "m6", "m7"}, "only m6 and m7 beside where it is"


def test_p1_relinquishes(stack: TemporalStack) -> None:
    both(stack)
    assert stack.step('F at(P0, "m8")').outcome is Outcome.FOUND
    moves = names(stack)
    assert "P1:n3" in moves and moves[-1] == "P0:m8"
    assert "P0:m7" in moves[moves.index("P1:n3") :], "then P0 exits the loop"
    assert stack.evaluate("c1 == 1") == (True, ())
    # "We may also want to break this path into several smaller temporal steps."
    both(stack)
    for formula in ('F at(P1, "n3")', 'F at(P0, "m7")', 'F at(P0, "m8")'):
        assert stack.step(formula).outcome is Outcome.FOUND
    assert len(stack.steps) == 4
    stack.self_check()


def test_every_way_to_the_critical_section_passes_n3(stack: TemporalStack) -> None:
    both(stack)
    assert stack.step('!at(P1, "n3") U at(P0, "m8")').outcome is Outcome.NONE


def test_which_process_is_first(stack: TemporalStack) -> None:
    both(stack)
    assert stack.step('!at(P0, "m8") U at(P1, "n8")').outcome is Outcome.NONE
    assert stack.step('!at(P1, "n8") U at(P0, "m8")').outcome is Outcome.FOUND


def test_entering_again_before_the_other(stack: TemporalStack) -> None:
    """While P1 wants to enter, and its turn comes, P0 cannot be in twice before it from every state."""
    both(stack)
    assert stack.step('F at(P0, "m8")').outcome is Outcome.FOUND
    again = 'X(!at(P1, "n8") U (at(P0, "m9") & F at(P0, "m8") & (!at(P1, "n8") U at(P0, "m8"))))'
    assert stack.step(again).outcome is Outcome.FOUND, "as P1 has given up, P0 can be in again"


def test_mutual_exclusion_of_the_correct_program() -> None:
    stack = debugger("dekker.py")
    assert stack.step('F(at(P0, "m8") & X(!at(P0, "m9") U at(P1, "n8")))').outcome is Outcome.NONE


def test_the_misprint_shows() -> None:
    """From m2, n2 with turn = 0, P1 reaches n5 before P0 executes m10 only with the waits as printed."""
    formula = '!at(P0, "m10") U at(P1, "n5")'
    stack = debugger("dekker.py")
    both(stack)
    assert stack.step(formula).outcome is Outcome.NONE
    stack = debugger("dekker-misprinted.py")
    both(stack)
    assert stack.step(formula).outcome is Outcome.FOUND
