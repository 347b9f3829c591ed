"""The temporal stack: steps, backtracking, what is kept, what a stopped search leaves."""

from __future__ import annotations

from random import Random

import pytest

from possibly.control.temporal.lattice_system import LatticeSystem
from possibly.control.temporal.options import Options
from possibly.control.temporal.stack import Outcome, TemporalStack
from possibly.control.temporal.system import NoSuchTransitionError, followed
from possibly.control.temporal.why import why
from possibly.errors import FormulaError, UsageError
from possibly.logic.ltl import tableau
from possibly.logic.printer import unparse
from possibly.order.computation import Computation
from possibly.trace.notation import trace as trace_of
from tests.control.temporal.systems import GraphSystem, random_system
from tests.control.temporal.test_dekker import debugger
from tests.control.temporal.test_search import diamonds


def test_steps_join_and_share_a_state() -> None:
    stack = debugger("dekker.py")
    stack.step('F at(P0, "m2")')
    stack.step('F at(P1, "n2")')
    first, second = stack.steps
    assert first.path.states[-1] == second.path.states[0]
    assert len(stack.path) == len(first.path.states) + len(second.path.states) - 1
    assert len(stack.moves) == len(stack.path) - 1


def test_backtracking_resumes_where_the_search_stopped() -> None:
    """Whatever is done and undone meanwhile, the ways come in the same order."""
    formula = "F a"
    plain = TemporalStack(diamonds(3))
    ways = []
    answer = plain.step(formula, all_paths=True)
    while answer.outcome is Outcome.FOUND:
        ways.append(plain.path)
        answer = plain.back()
    assert len(ways) == 8
    disturbed = TemporalStack(diamonds(3))
    disturbed.step(formula, all_paths=True)
    for way in ways:
        assert disturbed.path == way
        disturbed.step("true")
        disturbed.step("F a")
        disturbed.back()
        disturbed.pop()
        answer = disturbed.back()
    assert answer.outcome is Outcome.NONE and not disturbed.steps


def test_a_step_that_cannot_be_found_again_is_removed() -> None:
    stack = TemporalStack(GraphSystem({0: [1]}, ["", "a"]))
    stack.step("F a")
    assert stack.back().outcome is Outcome.NONE
    assert stack.steps == [] and stack.state == 0


def test_a_stopped_search_leaves_the_stack_as_it_was_and_can_be_resumed() -> None:
    stack = TemporalStack(diamonds(2000))
    stack.step("true")
    stack.watch = lambda visited: False
    before = list(stack.steps)
    answer = stack.step("F a", size="min")
    assert answer.outcome is Outcome.STOPPED and stack.steps == before
    stops = 1
    while (answer := stack.resume()).outcome is Outcome.STOPPED:
        stops += 1
        assert stack.steps == before
    assert stops > 3 and answer.outcome is Outcome.FOUND
    assert len(stack.path) == 4001
    with pytest.raises(UsageError, match="no search was stopped"):
        stack.resume()


def test_a_stopped_backtrack_keeps_the_step() -> None:
    stack = TemporalStack(diamonds(2000))
    stack.step("F a", size="min", all_paths=True)
    kept = stack.path
    stack.watch = lambda visited: False
    outcomes = [stack.back().outcome]
    while outcomes[-1] is Outcome.STOPPED:
        assert stack.path == kept
        outcomes.append(stack.back().outcome)
    assert outcomes[-1] is Outcome.FOUND and stack.path != kept


def test_next_executes_one_statement_and_backtracks_to_its_alternatives() -> None:
    stack = debugger("two-phase-commit.py")
    stack.next("Participant0")
    assert stack.evaluate("Participant0.vote") == (True, ())
    stack.back()
    assert stack.evaluate("Participant0.vote") == (False, ())
    assert stack.back().outcome is Outcome.NONE and not stack.steps
    assert stack.next("Coordinator").outcome is Outcome.FOUND
    with pytest.raises(UsageError, match="there is no process Nobody"):
        stack.next("Nobody")


def test_a_wrong_formula_changes_nothing() -> None:
    stack = debugger("dekker.py")
    stack.step('F at(P0, "m2")')
    before = list(stack.steps)
    for formula in ("F(", "F nothing", "AG turn == 0", "transit() == 0"):
        with pytest.raises(FormulaError):
            stack.step(formula)
    assert stack.steps == before


@pytest.mark.parametrize("seed", range(30))
def test_random_commands_keep_the_invariant(seed: int) -> None:
    random = Random(seed)
    stack = TemporalStack(random_system(seed))
    for _ in range(40):
        match random.choice(["step", "step", "back", "pop", "next", "clear"]):
            case "step":
                size = random.choice(["shortest", "each", "min", "max"])
                stack.step(random.choice(["F a", "X b", "G !a", "a U b", "true"]), size=size, bound=6)
            case "back" if stack.steps:
                stack.back()
            case "pop" if stack.steps:
                stack.pop()
            case "next":
                stack.next("P")
            case "clear" if random.random() < 0.1:
                stack.clear()
        stack.self_check()


def test_a_recorded_step_can_be_backtracked() -> None:
    """As after a session was loaded: the search is begun anew and skips what it had found."""
    stack = TemporalStack(diamonds(2))
    options = Options(all_paths=True)
    stack.step("F a", options)
    stack.back()
    third = TemporalStack(diamonds(2))
    third.push_recorded("F a", options, [move.name for move in stack.moves], stack.steps[0].found)
    assert third.path == stack.path
    stack.back()
    third.back()
    assert third.path == stack.path


def test_states_are_regenerated_from_names() -> None:
    system = diamonds(2)
    moves, states = followed(system, 0, ["0>2", "2>3"])
    assert states == [0, 2, 3] and [move.name for move in moves] == ["0>2", "2>3"]
    with pytest.raises(NoSuchTransitionError, match="no transition 9>9"):
        followed(system, 0, ["9>9"])


def test_the_lattice_of_a_trace_is_stepped_through() -> None:
    trace = trace_of("P1: a{x=1} send(m>P2) | P2: b{y=1} recv(m)")
    stack = TemporalStack(LatticeSystem(Computation(trace)))
    assert stack.step("F(P1.x == 1 & P2.y == 1)").outcome is Outcome.FOUND
    assert len(stack.moves) == 2
    assert stack.step("F(transit(P1, P2) == 1)").outcome is Outcome.FOUND
    assert stack.step("F stuck").outcome is Outcome.FOUND, "the final cut has no successor"
    assert stack.evaluate("done(P1) & done(P2)") == (True, ())


def test_why_leaves_out_what_does_not_matter() -> None:
    system = GraphSystem({0: [1], 1: [2]}, ["a", "", "b"])
    stack = TemporalStack(system)
    assert stack.step("F b & G a & X true").outcome is Outcome.NONE
    assert stack.failed is not None
    found = why(system, 0, *stack.failed)
    # G a alone is satisfied by one state; with X true it is not.
    assert unparse(found.core) == "G a & X true"
    assert [unparse(atom) for atom in found.needed] == ["a"]


def test_why_shows_an_until_that_comes_too_late() -> None:
    stack = debugger("dekker.py")
    stack.step('F(at(P0, "m2") & at(P1, "n2"))')
    stack.step('(turn == 0 | turn == 1) & (!at(P0, "m8") U at(P1, "n8"))')
    assert stack.failed is not None
    found = why(stack.system, stack.state, *stack.failed)
    assert unparse(found.core) == '!at(P0, "m8") U at(P1, "n8")'


@pytest.mark.parametrize("bad", [{"size": "huge"}, {"bound": 0}, {"size": "max", "memoryless": True}])
def test_options_that_make_no_sense_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Options(**bad)  # type: ignore[arg-type]


def test_a_search_that_breaks_off_does_not_look_exhausted(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error, or a second Ctrl-C, ends a generator for good: the next `back` begins the search anew."""
    stack = TemporalStack(diamonds(3))
    stack.step("F a", size="min", all_paths=True)
    kept = stack.path

    def broken(state: int) -> list[object]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(stack.system, "successors", broken)
        with pytest.raises(KeyboardInterrupt):
            stack.back()
        with pytest.raises(KeyboardInterrupt):
            stack.step("X a")
    assert stack.path == kept
    with pytest.raises(UsageError, match="no search was stopped"):
        stack.resume()
    assert stack.back().outcome is Outcome.FOUND
    assert stack.path != kept and stack.steps[0].found == 2


def test_an_automaton_that_is_too_large_is_an_error_of_the_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tableau, "MOST_NODES", 1000)
    stack = TemporalStack(diamonds(2))
    formula = " & ".join(f"G({'X ' * i}a -> F {'X ' * i}b)" for i in range(1, 25))
    with pytest.raises(FormulaError, match="the automaton of the formula is too large"):
        stack.step(formula, printed=True)
    assert not stack.steps
