"""The graph of states: what was executed, joined where states are equal, and what is still to be tried.

Theory of operation. A place is a state; an arc is a step from one to another. Two executions that come to
equal states (`state`) come to one place. From each place so many tasks are tried that no order of dependent
steps is missed: at first one, and whenever a step below is in a race with the one that was tried, its task
too; if that cannot go on there, all that can. When nothing is left to be tried, every state in which the
program can end has been reached.

That this suffices. Let u be a run from a place to its end that begins, up to the order of independent
steps, with none of the tasks T that were tried there. Each step of T meets some step of u: else it could
still be done at the end of u. Let p be the one that meets the earliest, and e the step that it meets; all
of u before e is independent of p. So p can be done first, then u up to e; below p this run, up to
equivalence, was covered (the graph has no cycle: by induction), and the next step of e's task q in it, or
what q is about to do at its end, is in a race with p. Then q is in T, if it could go on there; else all
are, and so is the first of u. But the first step of q in u is not the first of u, up to equivalence, so it
meets an earlier one: before e. This contradicts the choice of p. (The argument is that for persistent sets
of Flanagan and Godefroid, Dynamic Partial-Order Reduction for Model Checking Software, POPL 2005, section
4, without the limit to the last race; the summaries are after Yang, Chen, Gopalakrishnan and Kirby,
Efficient Stateful Dynamic Partial Order Reduction, SPIN 2008.) There are no sleep sets: they would have to
be kept with the states.
"""

from __future__ import annotations

from collections.abc import Iterable

from possibly.control.execution import Operation, Step, Task
from possibly.control.joining.entries import Entry, Later, Move, touch_of


class Place:
    """A state."""

    __slots__ = ("above", "arcs", "enabled", "entries", "moves", "number", "pending", "state", "todo", "way")

    def __init__(self, number: int, state: bytes | None, way: tuple[Place, Task] | None) -> None:
        self.number = number
        self.state = state
        self.way = way
        """Where it was first come from."""
        self.enabled: tuple[Task, ...] = ()
        self.pending: dict[Task, Operation] = {}
        self.arcs: dict[Task, Place] = {}
        self.moves: dict[Task, Move] = {}
        self.above: list[tuple[Place, Task]] = []
        self.entries: dict[Later, list[Entry]] = {}
        self.todo: dict[Task, None] = {}
        """Tasks whose step from here is to be tried."""

    def schedule(self) -> tuple[Task, ...]:
        """Choices that lead here."""
        found: list[Task] = []
        place = self
        while place.way is not None:
            place, task = place.way
            found.append(task)
        found.reverse()
        return tuple(found)

    def tells(self, entry: Entry) -> bool:
        """Takes an entry in; False if those that are here say as much."""
        known = self.entries.setdefault(entry.later, [])
        if any(each.is_within(entry) for each in known):
            return False
        known[:] = [each for each in known if not entry.is_within(each)]
        known.append(entry)
        return True


class Graph:
    """All places that are known."""

    def __init__(self) -> None:
        self.root = Place(0, None, None)
        self.places = 1
        self.joined = 0
        """Arcs to places that were known."""
        self.arcs = 0
        self.open: dict[Place, None] = {}
        """Places from which something is to be tried."""
        self.divergence = ""
        """What an execution did otherwise than one before from the same state."""
        self._known: dict[bytes, Place] = {}
        self._news: list[tuple[Place, Entry]] = []

    def learn(
        self, steps: tuple[Step, ...], states: tuple[bytes | None, ...], pending: dict[Task, Operation]
    ) -> None:
        """Takes an execution in; `pending` is what was not done at its end."""
        place = self.root
        for number, step in enumerate(steps):
            self._meet(place, step.enabled, step.pending)
            following = steps[number + 1].pending if number + 1 < len(steps) else pending
            after = (states[number + 1] if number + 1 < len(states) else None) or None
            place = self._arc(place, step, following, after)
            gone = step.pending.keys() - following.keys() - {step.task}
            self._leave_undone(place, {task: step.pending[task] for task in gone})
        if not place.enabled:
            place.pending = pending
        self._leave_undone(place, pending)
        self._spread()

    def _leave_undone(self, place: Place, operations: dict[Task, Operation]) -> None:
        """What is pending at an end, and what the step to a place took away, may be done above it."""
        for task, operation in operations.items():
            later = Later(task, operation.kind, operation.waits, touch_of(operation))
            self._note(place, Entry(later))

    def _meet(self, place: Place, enabled: tuple[Task, ...], pending: dict[Task, Operation]) -> None:
        if not place.enabled:
            place.enabled, place.pending = enabled, pending
        elif place.enabled != enabled or place.pending != pending:
            self.divergence = self.divergence or "equal states allow different steps"

    def _arc(self, place: Place, step: Step, following: dict[Task, Operation], state: bytes | None) -> Place:
        task = step.task
        creates = frozenset(each for each in following if each not in step.pending)
        move = Move(task, touch_of(step.operation), creates, frozenset(step.shut))
        known = place.arcs.get(task)
        if known is not None:
            if place.moves[task] != move or (state and known.state and state != known.state):
                self.divergence = self.divergence or f"a step at {step.operation.at} is not the same again"
            return known
        place.todo.pop(task, None)
        if not place.todo:
            self.open.pop(place, None)
        target = self._place(place, task, state)
        place.arcs[task], place.moves[task] = target, move
        target.above.append((place, task))
        self.arcs += 1
        operation = step.pending.get(task, step.operation)
        later = Later(task, operation.kind, operation.waits, touch_of(operation, step.operation))
        self._note(place, Entry(later))
        for entries in target.entries.values():
            for entry in entries:
                self._lift(place, move, entry)
        return target

    def _place(self, place: Place, task: Task, state: bytes | None) -> Place:
        found = self._known.get(state) if state is not None else None
        if found is not None:
            self.joined += 1
            return found
        found = Place(self.places, state, (place, task))
        self.places += 1
        if state is not None:
            self._known[state] = found
        return found

    def _note(self, place: Place, entry: Entry) -> None:
        if place.tells(entry):
            self._news.append((place, entry))

    def _spread(self) -> None:
        """Tells all places above what is new, until nobody hears anything new."""
        while self._news:
            place, entry = self._news.pop()
            for above, task in place.above:
                self._lift(above, above.moves[task], entry)

    def _lift(self, place: Place, move: Move, entry: Entry) -> None:
        if entry.races(move):
            self._want(place, entry.later.task)
        self._note(place, entry.above(move))

    def _want(self, place: Place, task: Task) -> None:
        wanted: Iterable[Task] = (task,) if task in place.enabled else place.enabled
        for each in wanted:
            if each not in place.arcs and each not in place.todo:
                place.todo[each] = None
                self.open[place] = None
