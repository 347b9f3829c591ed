"""The temporal stack in the live page: step by a formula, one statement of a process, back, pop.

A session is that of `possibly debug` (`session.debug`); here belongs only how it is shown and which buttons
it has. A search that takes long is stopped after `PATIENCE` seconds and can be continued.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any

from possibly.control.temporal.stack import Answer, Outcome, Step
from possibly.errors import UsageError
from possibly.session.debugging.temporal import Debugger, changes, parse_options, variables
from possibly.views.cli.debugger.commands import change_text, execute
from possibly.views.text.words import count_text, value_text
from possibly.views.web.models import Action, Fact, Stack, StackStep

if TYPE_CHECKING:
    from possibly.control.temporal.system import State
    from possibly.views.export.arcs import Graph

PATIENCE = 5.0
MOST_PROCESSES = 24
MOST_CHANGES = 500
"""Transitions of a step that are told with what they change."""
ASKED = ("why", "cycle")
NONE = {
    Outcome.NONE: "There is no such step from here.",
    Outcome.CUT: "There is none within the bound; a longer one may exist.",
    Outcome.STOPPED: "The search was stopped; continue goes on with it.",
}


class LiveStack:
    """A debugging session behind a stack of the page."""

    def __init__(self, debugger: Debugger, clock: Callable[[], float] = monotonic) -> None:
        self.debugger = debugger
        self.note: str | None = None
        self.is_open = False
        """A search was stopped and can be continued."""
        self._clock = clock
        self._until = 0.0
        debugger.stack.watch = lambda visited: self._clock() < self._until

    # ---- showing --------------------------------------------------------------------------------

    def picture(self) -> Stack:
        stack, system = self.debugger.stack, self.debugger.system
        notes = [self.note] if self.note is not None else []
        return Stack(
            title="Temporal stack",
            steps=tuple(self._step(step) for step in stack.steps),
            state=tuple(self._facts(stack.state)),
            notes=(f"{count_text(len(stack.path), 'state')} from the initial one of {system.name}.", *notes),
            actions=tuple(self._actions()),
        )

    def cut(self) -> list[int] | None:
        """Of a run: the cut at which the stack stands."""
        from possibly.control.temporal.lattice_system import LatticeSystem

        system = self.debugger.system
        if not isinstance(system, LatticeSystem):
            return None
        return list(system.lattice.unpack(self.debugger.stack.state))

    def graphs(self) -> list[Graph]:
        """Flow graphs, the node at which each process is marked; the automaton; the stack as a figure."""
        from possibly.logic.ltl.tableau import Tableau
        from possibly.views.export.automaton import automaton_graph
        from possibly.views.export.source_graph import graphs_here
        from possibly.views.export.stack import stack_graph

        stack = self.debugger.stack
        found = graphs_here(self.debugger)
        last = self._last_formula()
        if last is not None and last.formula is not None:
            found.append(automaton_graph(Tableau(last.formula), f"Automaton of {last.text}"))
        return [*found, stack_graph(stack, "Temporal stack as a figure")]

    def _last_formula(self) -> Step | None:
        return next((step for step in reversed(self.debugger.stack.steps) if step.formula is not None), None)

    def _step(self, step: Step) -> StackStep:
        states = list(self._moves(step))
        options = " ".join(step.options.words())
        facts: list[Fact] = [("statements", str(len(step.path.moves))), ("found as number", str(step.found))]
        facts += [("options", options)] if options else []
        return StackStep(
            "step" if step.formula is not None else "statement", step.text, tuple(states), tuple(facts)
        )

    def _moves(self, step: Step) -> Iterator[str]:
        """What each transition does, and what it changes."""
        system, moves, states = self.debugger.system, step.path.moves, step.path.states
        before: Mapping[str, Any] = variables(system, states[0]) if len(moves) <= MOST_CHANGES else {}
        for move, state in zip(moves, states[1:], strict=True):
            after = variables(system, state) if len(moves) <= MOST_CHANGES else {}
            changed = ", ".join(change_text(name, *pair) for name, pair in changes(before, after).items())
            yield "  ".join(filter(None, (move.name, move.text, changed and f"[{changed}]")))
            before = after

    def _facts(self, state: State) -> Iterator[Fact]:
        system = self.debugger.system
        for process, place in system.places(state).items():
            yield f"at {process}", place
        for name, value in variables(system, state).items():
            yield name, value_text(value)

    def _actions(self) -> Iterator[Action]:
        yield Action("step", "step", asks="formula of LTL, e.g. F(x == 1)")
        stack, processes = self.debugger.stack, self.debugger.system.vocabulary.processes
        enabled = {p for move, _ in self.debugger.system.successors(stack.state) for p in move.processes}
        for process in [each for each in processes if each in enabled][:MOST_PROCESSES]:
            yield Action("next", f"next {process}", arguments={"process": process})
        if self.is_open:
            yield Action("continue", "continue")
        if stack.steps:
            yield Action("back", "back")
            yield Action("pop", "pop")
            yield Action("clear", "clear")
        if stack.failed is not None:
            yield Action("why", "why not")
        if stack.steps and stack.steps[-1].formula is not None:
            yield Action("cycle", "arbitrarily long?")

    # ---- operating ------------------------------------------------------------------------------

    def operate(self, action: str, values: Mapping[str, str]) -> None:
        stack = self.debugger.stack
        self._until = self._clock() + PATIENCE
        answer: Answer | None = None
        if action in ASKED:
            self.note = self._said(action)
            return
        match action:
            case "step":
                formula, options = _split(values.get("text", ""))
                answer = stack.step(formula, parse_options(options))
            case "next":
                answer = stack.next(values.get("process", ""))
            case "back":
                answer = stack.back()
            case "continue":
                answer = stack.resume()
            case "pop":
                stack.pop()
            case "clear":
                stack.clear()
            case _:
                raise UsageError(f"a stack cannot {action}")
        self.note = None if answer is None else NONE.get(answer.outcome)
        self.is_open = answer is not None and answer.outcome is Outcome.STOPPED

    def _said(self, command: str) -> str:
        """What a command of a session says that leaves the stack as it is."""
        try:
            return " ".join(line.strip() for line in execute(self.debugger, command).text.splitlines())
        except KeyboardInterrupt:
            return "That takes too long here."


def _split(text: str) -> tuple[str, list[str]]:
    """The formula, and options after a semicolon: `F(x == 1); min bound 20`."""
    formula, _, options = text.partition(";")
    if not formula.strip():
        raise UsageError("a step needs a formula", hint="for instance F(x == 1)")
    return formula.strip(), options.split()
