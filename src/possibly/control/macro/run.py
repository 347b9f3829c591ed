"""One execution of a program, macro-step by macro-step, along choices that somebody makes.

Here belongs how a `System` (something whose processes stop at their operations) is driven from one
collective breakpoint to the next, and how claims are judged there. An execution is repeated by making the
same choices from the start; no state of the program is stored. `digest` tells whether a breakpoint is the
same as in another execution.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from possibly.control.macro.choices import Space, Users
from possibly.control.macro.claims import Collective, JudgedClaim, Status, judged
from possibly.control.macro.history import History, Start
from possibly.control.macro.matching import Arrival, Board
from possibly.control.macro.model import (
    Choice,
    Completion,
    MadeClaim,
    Moment,
    Operation,
    Process,
    Seen,
    Selection,
)

MOST_STEPS = 100_000
"""Macro-steps of a path, after which it is given up."""
MOST_IDLE = 200
"""Macro-steps in a row in which processes only find nothing, after which a path is given up; if they are in
the same state each time they go in circles."""


WIDEST = 60
"""Letters of a message's value."""


class System(Protocol):
    """A program that can be stepped. Its processes have all stopped whenever a method returns."""

    def begin(self) -> Moment: ...

    def proceed(self, completions: list[Completion], going: list[Process]) -> Moment:
        """These operations complete, and these processes go on from operations that are no communication."""
        ...

    def evaluate(self, process: Process, predicate: str, state: Collective) -> bool | str:
        """The truth of a predicate of the program, or why it has none."""
        ...

    def thread_of(self, process: Process) -> tuple[int, str]:
        """Its interpreter, and which thread of that runs it: they share global variables."""
        ...

    def close(self) -> None: ...


class Done(NamedTuple):
    """An operation that completed in a macro-step."""

    process: Process
    text: str
    at: str
    messages: tuple[str, ...] = ()
    """The messages it received."""
    sends: tuple[str, ...] = ()
    """The messages that its process sent with it, or since the operation before."""


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A collective breakpoint: what a macro-step led to."""

    number: int
    """Macro-steps from the start."""
    selection: Selection
    """The choices of the macro-step."""
    done: tuple[Done, ...]
    matches: tuple[tuple[str, str], ...]
    """The receives that got a message in the macro-step, each with the message."""
    state: Collective
    verdicts: tuple[Status, ...]
    space: Space | None
    """What there is to choose for the next macro-step; None: it follows by itself, or this is an end."""
    end: str
    """How the path ends here: `finished`, `deadlock`, `failed`, `livelock`; `limit`: it was given up, and
    nobody knows how it ends; `repeated`: everything below was, or will be, seen on another path, or cannot
    be. Empty: it goes on."""
    detail: str = ""
    """Of the end: who waits for what, or which error."""
    pending: tuple[tuple[Process, str, str], ...] = ()
    """What each process does next: (process, operation, place)."""
    impossible: frozenset[Selection] = frozenset()
    """Ways on that an event loop cannot go."""
    carried: tuple[tuple[str, str], ...] = ()
    """The messages that were sent since the breakpoint before, each with its value as a short text."""

    @property
    def digest(self) -> str:
        """Of what the program did and of what the claims saw; other values may differ, such as the time."""
        seen = {p: [s.at, s.ended] for p, s in sorted(self.state.seen.items())}
        transit = len(self.state.transit)  # which ones they are is told by what was done on the way
        asked = [[each.claim, each.verdict, each.asked] for each in self.verdicts]
        done = [each[:4] for each in self.done]
        parts = [seen, transit, done, self.matches, self.pending, asked, self.end]
        text = json.dumps(parts, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


class DivergedError(Exception):
    """A choice that was made before is not there: something outside our control decided."""


class Run:
    """An execution that is going on. `begin`, then `step` until the breakpoint has an `end`."""

    def __init__(
        self, system: System, users: Users, goals: tuple[MadeClaim, ...] = (), steps: int = MOST_STEPS
    ) -> None:
        self.system = system
        self.steps = steps
        self.board = Board(users)
        self.history = History()
        self.claims: list[JudgedClaim] = []
        self._fresh: list[MadeClaim] = list(goals)
        self._waiting: dict[Process, Seen] = {}
        self._number = 0
        self._logged = 0
        self._idle = 0
        self._states_when_idle: list[dict[Process, Seen]] = []
        self._asleep: frozenset[Choice] = frozenset()
        self._failures: list[tuple[Process, str]] = []
        self._sent: dict[Process, list[str]] = {}
        """What a process has sent since its last operation that is done."""
        self._carried: list[tuple[str, str]] = []
        self.uncontrolled: dict[str, None] = {}
        self.assumed: dict[str, None] = {}
        self.files: dict[str, None] = {}

    def begin(self) -> Breakpoint:
        """Runs every process to its first operation: the root, before the first macro-step."""
        self._take(self.system.begin())
        self._settle()
        return self._breakpoint((), (), {})

    def step(self, selection: Selection = (), asleep: frozenset[Choice] = frozenset()) -> Breakpoint:
        """One macro-step. `asleep` is what need not be chosen below (see `Branch`)."""
        self._asleep = asleep
        start = Start(self.history.positions())
        if selection:
            self._check(selection)
            if not self.board.loops_allow(selection):
                return self._impossible(selection)
            self.board.choose(selection)
        operations = dict(self.board.pending)
        completions = self.board.complete()
        for each in completions:
            self.history.completed(each, self.board)
        idle = bool(completions) and all(each.nothing for each in completions)
        self._idle = self._idle + 1 if idle else 0
        self._states_when_idle = self._states_when_idle if idle else []
        sent = {each.process: tuple(self._sent.pop(each.process, ())) for each in completions}
        moment = self.system.proceed(completions, [])
        self._take(moment)
        self._number += 1
        fresh, self._fresh = self._fresh, list(moment.claims)
        self._begin_claims([claim for claim in fresh if claim not in moment.claims], start)
        self._settle()
        return self._breakpoint(selection, _done(completions, operations, sent), moment.breaks)

    def finish(self) -> Breakpoint:
        """The last macro-step: all processes have ended or wait for ever; they are seen as they are then."""
        self._number += 1
        fresh, self._fresh = self._fresh, []
        self._begin_claims(fresh, Start(self.history.positions()))
        return self._breakpoint((), (), {}, last=True)

    def _impossible(self, selection: Selection) -> Breakpoint:
        """No event loop does that: the path is given up, as one that was seen elsewhere."""
        state = Collective(dict(self._waiting), tuple(self.board.transit()))
        return Breakpoint(self._number, selection, (), (), state, (), None, "repeated")

    def _check(self, selection: Selection) -> None:
        there = set(self.board.choices())
        missing = [choice for choice in selection if choice not in there]
        if missing:
            raise DivergedError(f"{missing[0]} is not possible this time")

    def _take(self, moment: Moment) -> None:
        for child, parent, touched in moment.started:
            self.board.start(child, parent, touched)
        self.board.daemons.update(moment.daemons)
        self.history.seen(moment.breaks)
        for process, operation in sorted(moment.pending.items()):
            arrival = self.board.arrive(process, operation)
            self.history.arrived(process, operation, arrival, moment.waiting.get(process))
            self._note_sent(process, arrival)
        self._waiting.update(moment.waiting)
        self._failures += moment.failures
        self.uncontrolled.update(dict.fromkeys(moment.uncontrolled))
        self.assumed.update(dict.fromkeys(moment.assumed))
        self.files.update(dict.fromkeys(moment.files))
        known = [claim for claim in moment.claims if claim not in self._fresh]
        self._fresh += known

    def _note_sent(self, process: Process, arrival: Arrival) -> None:
        found = [message for _, message in arrival.sends]
        found += [arrival.message] if arrival.message is not None else []
        self._sent.setdefault(process, []).extend(message.name for message in found)
        self._carried += [(message.name, short(message.value[0])) for message in found if message.value]

    @property
    def is_turning(self) -> bool:
        """Processes have just found nothing, perhaps not for the first time."""
        return self._idle > 0 or bool(self._failures)

    @property
    def unsaid(self) -> Hashable:
        """Messages that the next breakpoint will tell of, where their senders' operations are done."""
        return tuple([(process, *names) for process, names in sorted(self._sent.items()) if names])

    def _settle(self) -> None:
        while going := self.board.go_on():
            for process in going:
                self.history.went_on(process)
            self._take(self.system.proceed([], going))

    def _begin_claims(self, fresh: list[MadeClaim], start: Start) -> None:
        """A claim that several processes make at one place is one claim."""
        for made in fresh:
            if not any(_is_same(made, each) for each in self.claims):
                self.claims.append(judged(made, tuple(sorted(self._waiting)), start))

    # ---- breakpoints ----------------------------------------------------------------------------

    def _breakpoint(
        self, selection: Selection, done: tuple[Done, ...], breaks: dict[Process, Seen], last: bool = False
    ) -> Breakpoint:
        state = Collective({**self._waiting, **breaks}, tuple(self.board.transit()))
        for claim in self.claims:
            if claim.start.processes is None:
                claim.start.processes = frozenset(state.seen)
        if self._idle:
            self._states_when_idle.append(dict(state.seen))
        verdicts = tuple([claim.judge(state, self.system.evaluate) for claim in self.claims])
        space, end, detail = self._next(last)
        if end:
            self.uncontrolled.update(dict.fromkeys(self.board.touches.unordered()))
        self.uncontrolled.update(self.board.uncontrolled)
        pending = tuple([(p, o.text, o.at) for p, o in sorted(self.board.pending.items())])
        matches = tuple([(receive, message.name) for receive, message in self.board.log[self._logged :]])
        self._logged = len(self.board.log)
        if end and end != "repeated" and not self.board.loops_allow():
            end = "repeated"
        impossible = self._impossible_ways(space) if space is not None else frozenset[Selection]()
        carried, self._carried = tuple(self._carried), []
        return Breakpoint(
            self._number, selection, done, matches, state, verdicts, space, end, detail, pending, impossible,
            carried,
        )  # fmt: skip

    def _impossible_ways(self, space: Space) -> frozenset[Selection]:
        if not self.board.loops:
            return frozenset()
        ways = [branch.selection for branch in space.branches(self.board.users)]
        return frozenset(way for way in ways if not self.board.loops_allow(way))

    def _next(self, last: bool) -> tuple[Space | None, str, str]:
        """What there is to choose, or how the path ends. The last breakpoint comes after that end."""
        if self._failures:
            process, error = self._failures[0]
            return None, "failed" if last else "", f"{process}: {error}"
        if self._is_given_up:
            return None, *(self._given_up() if last else ("", ""))
        if self.board.can_complete() and not last:
            return None, "", ""
        space = self.board.space(self._asleep)
        if space.groups and not self._has_finished:
            all_asleep = not space.branches(self.board.users)
            return (None, "repeated", "") if all_asleep else (space, "", "")
        if self.board.only_daemons:
            return None, *(self._finished() if last else ("", ""))
        return None, "deadlock" if last else "", waits(self.board)

    def _finished(self) -> tuple[str, str]:
        left = self.board.unreceived()
        if not left:
            return "finished", ""
        first = f"{left[0].name} to {left[0].to}" + (f", sent at {left[0].at}" if left[0].at else "")
        many = "a message is" if len(left) == 1 else f"{len(left)} messages are"
        return "failed", f"{many} never received: {first}"

    @property
    def _is_given_up(self) -> bool:
        return self._number >= self.steps or self._idle >= MOST_IDLE

    def _given_up(self) -> tuple[str, str]:
        if self._idle < MOST_IDLE:
            return "limit", f"more than {self.steps:,} macro-steps (--steps)"
        if all(state == self._states_when_idle[0] for state in self._states_when_idle):
            return "livelock", "it goes on without end"
        return "limit", f"processes found nothing {MOST_IDLE} times in a row"

    @property
    def is_over(self) -> bool:
        """Nothing can go on any more: `finish` is next."""
        if self._failures or self._is_given_up:
            return True
        return self._has_finished or not (self.board.can_complete() or self.board.choices())

    @property
    def _has_finished(self) -> bool:
        """All have ended, or only such are left as nobody waits for, and these look in vain for messages."""
        return self.board.all_ended or (self._idle > 0 and self.board.only_daemons)


def short(value: object) -> str:
    """A value of a message on a line."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def _done(
    completions: list[Completion],
    operations: dict[Process, Operation],
    sent: dict[Process, tuple[str, ...]],
) -> tuple[Done, ...]:
    found = []
    for each in completions:
        operation = operations[each.process]
        messages = tuple([message for _, message, _, _ in each.deliveries])
        found.append(Done(each.process, operation.text, operation.at, messages, sent[each.process]))
    return tuple(found)


def _is_same(made: MadeClaim, other: JudgedClaim) -> bool:
    """Made at the same place by another process, or again by the same one with nothing learnt since."""
    if (made.text, made.at) != (other.made.text, other.made.at):
        return False
    return made.process != other.made.process or other.state == 0


def waits(board: Board) -> str:
    """Who waits for what, for the report of a deadlock."""
    stuck = [(p, o) for p, o in sorted(board.pending.items()) if p not in board.ended]
    return "; ".join(f"{p} waits in {o.text}" + (f" at {o.at}" if o.at else "") for p, o in stuck)
