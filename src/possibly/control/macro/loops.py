"""Whether an event loop can do what a path says: code between two suspensions is one piece.

A matching of messages that threads could do need not be one that tasks of an event loop can: a put into a
queue with room and a get from one with items do not suspend, and nobody else runs until a task does. So a
path is kept only if some order of the loop's tasks, each run until it suspends, does all that was seen on it.

Law: it is that of `explore` (`control.models.loops.events`). The tasks that one piece starts, or wakes by its
puts and gets, go on in that order, as asyncio promises; else any task that is ready may be next. A get from
an empty queue and a put into a full one wait in line, and are woken in that order, one for each item or
place; they look again then. What else a task waits for is known by what came before it went on:
`Operation.after`. Of several that something else than a queue wakes at once any may be next.

The search is by depth, states that were met are not entered again. What is not known yet (the end of a path
that goes on, a get without its message) is taken to be as it need be, so a path is refused only for good.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from possibly.control.macro.model import (
    Channel,
    MessageName,
    Operation,
    Process,
    ReceiveName,
    Started,
    Turn,
)

MOST_STATES = 50_000
READY, WAITING, WOKEN, STOPPED = range(4)
NOBODY = -1


class Act(NamedTuple):
    """A put or a get of a task; without a channel, that it begins and does neither in its first turn."""

    is_put: bool
    name: str
    """Of the message that is put, or of the receive."""
    channel: Channel
    capacity: int
    suspended: bool
    """Before it the task waited for something else, or began."""
    after: tuple[tuple[Process, int], ...]
    """Tasks, and how many acts of each had come before it went on."""
    turn: Turn | None = None
    started: Started | None = None


class _State(NamedTuple):
    """Of a loop, between two pieces of its tasks."""

    places: tuple[int, ...]
    modes: tuple[int, ...]
    items: tuple[tuple[MessageName, ...], ...]
    getters: tuple[tuple[int, ...], ...]
    putters: tuple[tuple[int, ...], ...]
    behind: tuple[int, ...]
    """Whom each task stands behind; NOBODY: it may be next."""


class Loop:
    """The acts of the tasks of one event loop, as far as a path has shown them."""

    def __init__(self) -> None:
        self.lines: dict[Process, list[Act]] = {}

    def did(self, process: Process, operation: Operation, name: str) -> None:
        channel = operation.channel or (operation.receive.channels[0] if operation.receive else "")
        act = Act(
            operation.kind == "send", name, channel, operation.capacity, operation.suspended, operation.after,
            operation.turn, operation.started,
        )  # fmt: skip
        if process not in self.lines:
            self.lines[process] = []
            if act.started is not None and act.turn is not None and act.turn.number:
                first = Turn(act.turn.task, 0)
                self.lines[process].append(Act(False, "", "", 0, True, (), first, act.started))
                act = act._replace(started=None)
        self.lines[process].append(act)

    @property
    def channels(self) -> set[Channel]:
        return {act.channel for line in self.lines.values() for act in line if act.channel}

    def can(self, matched: Mapping[ReceiveName, MessageName]) -> bool | None:
        """Whether some order of the tasks matches these receives so; None: too many were looked at."""
        return _Search(self.lines, matched).found()


class _Run:
    """A piece of a task: what it makes of a state."""

    def __init__(self, search: _Search, state: _State, task: int) -> None:
        self.search = search
        self.task = task
        self.places, self.modes = list(state.places), list(state.modes)
        self.items = [list(each) for each in state.items]
        self.getters = [list(each) for each in state.getters]
        self.putters = [list(each) for each in state.putters]
        self.behind = [NOBODY if each == task else each for each in state.behind]
        self.last = NOBODY
        """Of those that this piece has started or woken."""

    def result(self) -> _State | None:
        """The state in which the task suspends; None: it does something else than was seen."""
        line, is_first, is_woken = self.search.lines[self.task], True, self.modes[self.task] == WOKEN
        while self.places[self.task] < len(line):
            act = line[self.places[self.task]]
            if act.suspended and not is_first:
                self.modes[self.task] = READY
                return self._state()
            if is_first and not is_woken:
                self._starts(act.turn)
            is_first = False
            done = self._done(act)
            if done is None:
                return None
            if not done:
                self.modes[self.task] = WAITING
                return self._state()
            self._starts(act.turn)
        self.modes[self.task] = STOPPED
        return self._state()

    def _done(self, act: Act) -> bool | None:
        """Whether it is done, or waits; None: it does something else than was seen."""
        if not act.channel:
            self.places[self.task] += 1
            return True
        return self._put(act) if act.is_put else self._get(act)

    def _put(self, act: Act) -> bool:
        channel = self.search.channels[act.channel]
        if act.capacity and len(self.items[channel]) >= act.capacity:
            self.putters[channel].append(self.task)
            return False
        self.items[channel].append(act.name)
        self._wake(self.getters[channel])
        self.places[self.task] += 1
        return True

    def _get(self, act: Act) -> bool | None:
        channel = self.search.channels[act.channel]
        if not self.items[channel]:
            self.getters[channel].append(self.task)
            return False
        item, wanted = self.items[channel][0], self.search.matched.get(act.name)
        if item != wanted and (wanted is not None or item in self.search.taken):
            return None
        del self.items[channel][0]
        self._wake(self.putters[channel])
        self.places[self.task] += 1
        return True

    def _wake(self, line: list[int]) -> None:
        if line:
            self.modes[line[0]] = WOKEN
            self._stand_behind(line.pop(0))

    def _starts(self, turn: Turn | None) -> None:
        """The tasks that it starts after what it has done so far."""
        acts = self.places[self.task] - self.search.silent[self.task]
        for task in self.search.starts.get((turn, acts), ()):
            self._stand_behind(task)

    def _stand_behind(self, task: int) -> None:
        self.behind[task], self.last = self.last, task

    def _state(self) -> _State:
        return _State(
            tuple(self.places),
            tuple(self.modes),
            tuple(map(tuple, self.items)),
            tuple(map(tuple, self.getters)),
            tuple(map(tuple, self.putters)),
            tuple(self.behind),
        )


class _Search:
    def __init__(
        self, lines: Mapping[Process, list[Act]], matched: Mapping[ReceiveName, MessageName]
    ) -> None:
        self.tasks = {process: number for number, process in enumerate(lines)}
        self.lines = list(lines.values())
        names = sorted({act.channel for line in self.lines for act in line})
        self.channels = {name: number for number, name in enumerate(names)}
        self.matched = matched
        self.taken = set(matched.values())
        self.silent = [int(bool(line) and not line[0].channel) for line in self.lines]
        """How many of its acts are none: 1 if a task does nothing in its first turn."""
        self.starts = self._starts()
        self.firsts = {
            (act.turn, place - self.silent[task]): (task, place)
            for task, line in enumerate(self.lines)
            for place, act in enumerate(line)
            if act.suspended and act.turn is not None
        }
        """The task that begins a turn after so many puts and gets, and which of its acts that is."""

    def _starts(self) -> dict[tuple[Turn | None, int], list[int]]:
        """The tasks that a turn starts after so many puts and gets, in order."""
        found: dict[tuple[Turn | None, int], list[tuple[int, int]]] = {}
        for task, line in enumerate(self.lines):
            started = line[0].started if line else None
            if started is not None:
                found.setdefault((started.by, started.acts), []).append((started.place, task))
        return {key: [task for _, task in sorted(each)] for key, each in found.items()}

    def _in_line(self) -> tuple[int, ...]:
        """Those that are started one after the other with nothing in between."""
        behind = [NOBODY] * len(self.lines)
        for each in self.starts.values():
            for before, task in pairwise(each):
                behind[task] = before
        return tuple(behind)

    def found(self) -> bool | None:
        nothing = tuple(() for _ in self.channels)
        first = _State(
            (0,) * len(self.lines), (READY,) * len(self.lines), nothing, nothing, nothing, self._in_line()
        )
        seen, pending = {first}, [first]
        while pending:
            state = pending.pop()
            if self._is_all(state):
                return True
            if len(seen) > MOST_STATES:
                return None
            for task in reversed(range(len(self.lines))):
                after = _Run(self, state, task).result() if self._may_run(state, task) else None
                if after is not None and after not in seen:
                    seen.add(after)
                    pending.append(after)
        return False

    def _may_run(self, state: _State, task: int) -> bool:
        if state.behind[task] != NOBODY:
            return False
        if state.modes[task] == WOKEN:
            return True
        if state.modes[task] != READY or not self.lines[task]:
            return False
        act = self.lines[task][state.places[task]]
        if act.started is not None and not self._has_begun(state, act.started):
            return False
        return all(self._has_done(state, who, count) for who, count in act.after if who in self.tasks)

    def _has_done(self, state: _State, who: Process, count: int) -> bool:
        task = self.tasks[who]
        return state.places[task] >= count + self.silent[task]

    def _has_begun(self, state: _State, started: Started) -> bool:
        """Whether the turn that starts a task has begun, as far as its puts and gets show it."""
        if (started.by, started.acts) not in self.firsts:
            return True
        by, place = self.firsts[started.by, started.acts]
        return state.places[by] > place or (state.places[by] == place and state.modes[by] != READY)

    def _is_all(self, state: _State) -> bool:
        """Everything was done; who waits in the end does so for what nobody has seen yet."""
        for task, line in enumerate(self.lines):
            left = line[state.places[task] :]
            if not left:
                continue
            is_open = len(left) == 1 and (left[0].is_put or left[0].name not in self.matched)
            if not is_open or state.modes[task] == READY:
                return False
        return True
