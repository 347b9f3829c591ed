"""A run that is watched while it goes on: headers and lines in, verdicts out, current after every line.

Here belongs what a growing run is worth, no sockets and no words for the user.

Theory of operation. The properties are bound once the headers are there. One that has an on-line form is
followed event by event (`detection.online`), and its verdict is exact after each. Every other one is
checked again on the run so far, whenever somebody has time (`check_again`), and is called so far until
then. What is taken in is kept in a temporary file, up to `keep` lines (`session.kept_lines`), so that the
verdicts at the end are those of `possibly check`, with their paths; beyond that the properties that are
followed go on without it, and the others are unknown.

Lines may come many at once (`arrive_many`). A verdict that becomes final is told with the event that made it
so; one that changes and changes back within lines that came at once is told as of their end.

Law: a verdict is called final only if no line that may still arrive changes it. What is taken in is at any
time a beginning of the run, whatever was refused, so a final verdict outlives errors; all others are
unknown once a line was refused. A property that counts or quantifies over processes is never final before
the end, as a process may still come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from possibly.detection.limits import LimitReachedError
from possibly.detection.linear_time.as_branching import as_branching
from possibly.detection.online.final import is_final
from possibly.detection.online.keyed import KeyedMonitor
from possibly.detection.online.monitor import Monitor, open_vocabulary
from possibly.detection.online.standing import Moment
from possibly.detection.online.tasks import TaskMonitor
from possibly.errors import FormulaError, PossiblyError, TraceError
from possibly.logic.bind import Bound, bind_property
from possibly.logic.languages import FORMULAS
from possibly.logic.paths.machine import TooMuchError
from possibly.logic.specification import Property, Specification
from possibly.logic.syntax import Count, Index, Keyed, Node, Quantified
from possibly.logic.tasks.bind import bind_tasks
from possibly.logic.walk import nodes
from possibly.order.growing.computation import Growing
from possibly.records import replace
from possibly.session.checking.check import Checker, Options
from possibly.session.checking.keyed import chain_keys, followed_keys
from possibly.session.watching.kept_lines import KeptLines
from possibly.session.watching.paths_live import LivePaths, Teller, Told, path_properties
from possibly.trace.build import TraceBuilder
from possibly.trace.intern import check_value, quoted
from possibly.trace.jsonl import FORMAT, VERSION
from possibly.trace.model import Trace
from possibly.trace.turns import TURN
from possibly.verdict.model import Report, Truth, Verdict

KEEP, WAITING = 1_000_000, 100_000
"""Lines of a run that are kept for its end, and lines that may wait for others at once."""

ENTRIES = 2_000_000
"""What one property may keep, and how many given names are remembered once the lines are not kept."""
LOOK = 1 << 16
"""Events after which somebody looks how much is kept."""

INTERRUPTED = "tasks of an event loop are not interrupted, which only a check of the run so far respects"
FOLLOWED = "online"
"""The engine's name in the results of properties that were followed and not checked again."""


@dataclass(frozen=True, slots=True)
class Change:
    """A property whose verdict on the run so far is another one than before."""

    found: Property
    truth: Truth
    is_final: bool
    events: int
    moment: Moment | None = None
    """When it became final, and the cut that shows it, where known."""


@dataclass(slots=True)
class _Watched:
    """One property, with what is known of it so far."""

    found: Property
    monitor: Monitor | KeyedMonitor | TaskMonitor | None = None
    why_not: str | None = None
    """Why it is not followed event by event."""
    is_outgrown: bool = False
    """It was followed until it kept too much, or until the run told of an event loop."""
    is_open: bool = False
    """It counts or quantifies over processes."""
    truth: Truth = Truth.UNKNOWN
    is_final: bool = False
    moment: Moment | None = None
    told: tuple[Truth, bool] | None = None


class WatchedRun:
    """Takes headers, then lines. `changes` tells what is new since it was asked last."""

    def __init__(
        self,
        specification: Specification,
        options: Options,
        *,
        keep: int = KEEP,
        waiting: int = WAITING,
        name: str = "watched run",
        entries: int = ENTRIES,
        look: int = LOOK,
        follows_paths: bool = True,
    ) -> None:
        self.specification = specification
        self.options = options
        self.name = name
        self.errors: list[PossiblyError] = []
        self._most_waiting, self._most_entries = waiting, entries
        self._look_every, self._look_at = look, look
        self._processes: dict[str, dict[str, Any]] = {}
        self._shared: dict[str, Any] = {}
        self._growing: Growing | None = None
        self._arrived = 0
        self._has_turns = False
        self._kept = KeptLines(keep)
        self._watched = [_Watched(found) for found in specification.properties]
        self._checked_at = 0
        self.tellers: list[Teller] = []
        """Whoever wants to hear at once what path expressions have to say."""
        self._follows_paths = follows_paths and bool(path_properties(specification))
        self._paths: LivePaths | None = None
        self._cost = 0.0
        self._checked_when = 0.0

    # ---- checkpoints ----------------------------------------------------------------------------

    _SAVED = ("errors", "_processes", "_shared", "_growing", "_arrived", "_has_turns", "_kept", "_watched")

    def state(self) -> dict[str, Any]:
        """All that is known, as long as no lines are kept."""
        return {name: getattr(self, name) for name in self._SAVED}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on where another run of the same properties stood."""
        for name in self._SAVED:
            setattr(self, name, state[name])

    # ---- headers --------------------------------------------------------------------------------

    def declare(self, process: str) -> None:
        """A process that the properties name, though no header does."""
        self._processes.setdefault(process, {"name": process})

    def header(self, fields: Mapping[str, Any]) -> None:
        """One of the headers, or one that comes later; an error if it contradicts what is known."""
        own = {key: value for key, value in fields.items() if key in ("processes", "shared")}
        TraceBuilder().header_fields(own, None)
        for process in own.get("processes", ()):
            self._check_process(process)
        for variable, value in own.get("shared", {}).items():
            self._check_shared(variable, value)
        for process in own.get("processes", ()) if self._growing is not None else ():
            self._not_of_tasks(process["name"])
        self._processes |= {process["name"]: process for process in own.get("processes", ())}
        self._shared |= own.get("shared", {})

    def _check_process(self, process: Mapping[str, Any]) -> None:
        name, known = process["name"], self._processes.get(process["name"])
        if known is not None and known.get("init", {}) == process.get("init", {}):
            return
        has_begun = self._growing is not None and name in self._growing.processes
        if has_begun or (known is not None and known.get("init")):
            raise TraceError(f"process {quoted(name)} is known already, with other initial values")

    def _check_shared(self, variable: str, value: Any) -> None:
        if variable in self._shared and self._shared[variable] != value:
            raise TraceError(f"shared variable {variable} has another initial value already")
        if variable not in self._shared and self._growing is not None:
            raise TraceError(
                f"shared variable {variable} has its initial value after the first event",
                hint="--connections N waits for the headers of N connections",
            )

    def _not_of_tasks(self, late: str) -> None:
        """A task of a header has a local state from the beginning, whoever was looked at by then."""
        for watched in self._watched:
            if isinstance(watched.monitor, TaskMonitor) and late not in self._processes:
                watched.monitor.stop()
                watched.monitor, watched.why_not = None, f"process {quoted(late)} was announced later"

    @property
    def has_begun(self) -> bool:
        return self._growing is not None

    def begin(self) -> None:
        """The headers are there: the properties are bound, and events may come."""
        assert self._growing is None
        processes = [(name, process.get("init", {})) for name, process in self._processes.items()]
        growing = Growing(processes, self._shared, self.options.order, remember=self._kept.is_whole)
        growing.follow_batches(self._kept)
        self._growing = growing
        if self._follows_paths:
            self._paths = LivePaths(self.specification, self.options.order, self._tell, growing=growing)
        for watched in self._watched:
            self._bind(watched, growing)

    def _bind(self, watched: _Watched, growing: Growing) -> None:
        found = watched.found
        if isinstance(found.formula, Keyed):
            self._bind_keys(watched, found.formula, growing)
            return
        if self._paths is not None and found.name in self._paths.monitors:
            return
        if found.language == "tl" and found.formula is not None:
            self._bind_tasks(watched, found.formula, growing)
            return
        if found.language not in FORMULAS or found.formula is None:
            watched.why_not = f"properties of {found.language} have no on-line form"
            return
        lets = (let.formula for let in self.specification.lets)
        watched.is_open = any(_is_open(node) for node in (found.formula, *lets))
        try:
            formula: Node | None = bind_property(
                found, open_vocabulary(growing), self.specification.lets
            ).formula
            if found.language == "ltl" and formula is not None:
                formula = as_branching(formula)
            if formula is None:
                watched.why_not = "the formula says nothing that branching time can say as well"
                return
            watched.monitor = Monitor(growing, formula)
        except FormulaError as error:
            watched.why_not = error.message
        self._look(watched)

    def _bind_tasks(self, watched: _Watched, formula: Node, growing: Growing) -> None:
        lets = self.specification.lets
        try:
            bound = bind_tasks(formula, open_vocabulary(growing), lets, watched.found.source)
            watched.monitor = TaskMonitor(growing, bound.formula)
        except FormulaError as error:
            watched.why_not = error.message
        self._look(watched)

    def _bind_keys(self, watched: _Watched, keyed: Keyed, growing: Growing) -> None:
        try:
            keys = chain_keys(watched.found, keyed, open_vocabulary(growing), self.specification.lets)
        except FormulaError as error:
            watched.why_not = error.message
            return
        if keys is None:
            watched.why_not = "for each key only what is about one process and has no next is followed"
            return
        watched.monitor = KeyedMonitor(growing, keys)
        self._look(watched)

    def not_followed(self) -> Iterator[tuple[Property, str]]:
        """Properties that are checked now and then, with the reason."""
        for watched in self._watched:
            if watched.monitor is None and watched.why_not is not None:
                yield watched.found, watched.why_not

    # ---- lines ----------------------------------------------------------------------------------

    @property
    def events(self) -> int:
        return 0 if self._growing is None else self._growing.taken

    @property
    def processes(self) -> int:
        return len(self._growing.processes if self._growing is not None else self._processes)

    @property
    def is_kept(self) -> bool:
        """Whether all lines so far are kept."""
        return self._kept.is_whole

    def waiting(self) -> list[tuple[str, str]]:
        """The lines that wait, each with what it waits for."""
        return [] if self._growing is None else self._growing.waiting()

    def arrive(self, fields: Mapping[str, Any], line: int | None = None) -> None:
        """A line of an event; an error leaves it out."""
        assert self._growing is not None, "the headers come first"
        check_value(dict(fields))
        self._check_newcomer(fields.get("p"), line)
        self._look_for_turns((fields,))
        try:
            self._growing.arrive(fields, line)
        except (TooMuchError, LimitReachedError) as error:
            assert self._paths is not None
            self._paths.lost(str(error))
        self._arrived += 1
        if self._arrived - self._growing.taken > self._most_waiting:
            first, what = next(iter(self._growing.waiting()))
            raise TraceError(
                f"more than {self._most_waiting:,} lines wait for others, {quoted(first)} for {what}",
                line=line,
                hint="--max-waiting N allows more",
            )
        self._look_at_all()

    def arrive_many(self, lines: list[Any], texts: Sequence[bytes], first: int) -> int:
        """How many lines from the first on could be taken in at once, with their texts; nothing is refused.

        The next one is for `arrive`."""
        assert self._growing is not None, "the headers come first"
        self._kept.texts = texts
        self._look_for_turns(lines[first:])
        count = self._growing.arrive_many(lines, first)
        self._arrived += count
        if count:
            self._look_at_all()
        return count

    def _look_for_turns(self, lines: Sequence[Any]) -> None:
        """Whoever follows every order of the events does so no more once the run tells of an event loop."""
        if self._has_turns or not any(type(line) is dict and line.get("kind") == TURN for line in lines):
            return
        self._has_turns = True
        for watched in self._watched:
            if isinstance(watched.monitor, Monitor | TaskMonitor) and not watched.is_final:
                watched.monitor.stop()
                watched.monitor, watched.is_outgrown, watched.why_not = None, True, INTERRUPTED

    def _tell(self, told: Told) -> None:
        for tell in self.tellers:
            tell(told)

    def _look_at_all(self) -> None:
        if self._paths is not None:
            self._paths.look()
        if self._growing is not None and self._growing.remember and not self._kept.is_whole:
            self._growing.forget()
        for watched in self._watched:
            if watched.monitor is not None and not watched.is_final:
                self._look(watched)
        if self.events >= self._look_at:
            self._look_at = self.events + self._look_every
            self._stay_small()

    def _stay_small(self) -> None:
        """Who keeps too much is followed no more; old names are forgotten with the lines."""
        assert self._growing is not None
        if not self._growing.remember:
            self._growing.forget_names(self._most_entries)
        for watched in self._watched:
            if watched.monitor is not None and watched.monitor.size > self._most_entries:
                watched.monitor.stop()
                watched.monitor, watched.is_outgrown = None, True
                most = f"{self._most_entries:,} entries"
                watched.why_not = f"after {self.events:,} events it needs more than {most} to be followed"

    def _check_newcomer(self, name: Any, line: int | None) -> None:
        assert self._growing is not None
        if type(name) is not str or name in self._processes:
            return
        if any(variable.startswith(f"{name}.") for variable in self._shared):
            raise TraceError(
                f"process {quoted(name)} is not in a header, but a shared variable begins with its name",
                line=line,
            )
        if name not in self._growing.processes:
            for watched in self._watched:
                if watched.is_open and watched.monitor is not None:
                    watched.monitor = None
                    watched.why_not = f"it may mean process {quoted(name)} too, which no header names"

    def _look(self, watched: _Watched) -> None:
        if isinstance(watched.monitor, TaskMonitor) and watched.monitor.lost is not None:
            watched.why_not = watched.monitor.lost
            watched.monitor = None
        if watched.monitor is None:
            return
        standing = watched.monitor.standing
        watched.truth = _truth(standing.value)
        watched.is_final = standing.is_final and not watched.is_open
        watched.moment = standing.moment

    def changes(self) -> Iterator[Change]:
        """What is new since this was asked last, by when it became so."""
        found: list[Change] = []
        for watched in self._watched:
            now = watched.truth, watched.is_final
            if watched.told == now or (watched.told is None and watched.truth is Truth.UNKNOWN):
                continue
            if watched.told is not None and watched.monitor is not None and watched.monitor.is_restless:
                continue  # every question would be told, and every answer
            watched.told = now
            is_dated = watched.is_final and watched.moment is not None
            events = watched.moment.events if is_dated and watched.moment else self.events
            found.append(Change(watched.found, *now, events, watched.moment))
        yield from sorted(found, key=lambda change: change.events)

    @property
    def is_settled(self) -> bool:
        """Whether every verdict is final."""
        return all(watched.is_final for watched in self._watched)

    # ---- checking again -------------------------------------------------------------------------

    def check_again(self, now: float, *, share: float = 0.1) -> bool:
        """Check what is not followed on the run so far, if that takes at most this share of the time.

        Whether it was done."""
        told = self._paths.monitors if self._paths is not None else ()
        due = [
            watched
            for watched in self._watched
            if watched.monitor is None and not watched.is_final and watched.found.name not in told
        ]
        if not due or not self._kept.is_whole or self.events == self._checked_at:
            return False
        if now - self._checked_when < self._cost / share:
            return False
        started = perf_counter()
        self._checked_at = self.events
        trace = self.trace()
        for watched in due:
            self._check(watched, trace)
        self._cost, self._checked_when = perf_counter() - started, now
        return True

    def _check(self, watched: _Watched, trace: Trace) -> None:
        options = replace(self.options, explain=False)
        try:
            checker = Checker(trace, options)
            bound = checker.bound(watched.found, self.specification)
            verdict = checker.verdict(watched.found, bound)
        except FormulaError:
            return  # a name that nobody has set yet
        watched.truth = verdict.truth
        watched.is_final = not watched.is_open and _stays(watched.found, bound, verdict)

    def trace(self, *, is_whole: bool = False) -> Trace:
        """The run so far. Receivers that have not shown up yet are there, unless it is the whole run."""
        assert self._growing is not None
        processes = list(self._processes.values())
        if not is_whole:
            processes += [{"name": name} for name in self._growing.spoken_of if name not in self._processes]
        header = {"format": FORMAT, "version": VERSION, "processes": processes, "shared": self._shared}
        return self._kept.trace(self.name, header)

    # ---- the end --------------------------------------------------------------------------------

    def report(self, *, is_whole: bool) -> Report:
        """The verdicts. `is_whole`: the run is over; otherwise it was cut off here."""
        if self._paths is not None:
            self._paths.finish()
        if is_whole and self._growing is not None:
            try:
                self._growing.finish()
            except TraceError as error:
                self.errors.append(error)
        if not self._kept.is_whole or self._growing is None:
            verdicts = tuple(self._followed_verdict(watched) for watched in self._watched)
            return Report(self.name, self.processes, self.events, verdicts)
        trace = self.trace(is_whole=is_whole and not self.errors)
        checker = Checker(trace, self.options)
        warnings: dict[str, None] = {}
        verdicts = tuple(self._verdict(watched, checker, is_whole, warnings) for watched in self._watched)
        return Report(self.name, len(trace.processes), len(trace), verdicts, tuple(warnings))

    def _verdict(
        self, watched: _Watched, checker: Checker, is_whole: bool, warnings: dict[str, None]
    ) -> Verdict:
        if self.errors and not watched.is_final:
            return self._followed_verdict(watched)
        try:
            bound = checker.bound(watched.found, self.specification)
        except FormulaError:
            if is_whole and not self.errors:
                raise
            return self._followed_verdict(watched)
        warnings.update(dict.fromkeys(bound.warnings))
        verdict = checker.verdict(watched.found, bound)
        where = "this run" if is_whole else "this run so far"
        warnings.update(dict.fromkeys(checker.vacuous(bound, verdict, where)))
        return verdict

    def _followed_verdict(self, watched: _Watched) -> Verdict:
        """What is known without the run: that of the engine that followed it, or nothing."""
        truth, reason = watched.truth, None
        if self.errors and not watched.is_final:
            truth, reason = Truth.UNKNOWN, "a line was refused, so the run is not known as a whole"
        elif watched.monitor is None:
            truth, reason = Truth.UNKNOWN, self._unknown_reason(watched)
        return Verdict(
            name=watched.found.name,
            language=watched.found.language,
            formula=watched.found.text,
            truth=truth,
            engine=FOLLOWED,
            faults=watched.monitor.faults if watched.monitor is not None else (),
            reason=reason,
            keys=followed_keys(watched.found, watched.monitor) if truth is Truth.VIOLATED else None,
        )

    def _unknown_reason(self, watched: _Watched) -> str:
        if self._growing is None:
            return "the run did not begin"
        if watched.is_outgrown and watched.why_not is not None:
            return watched.why_not
        if self._paths is not None and watched.found.name in self._paths.monitors:
            return f"what occurred was told; a verdict needs all lines, and --keep is {self._kept.most:,}"
        if not self._kept.is_whole:
            return f"it is not followed event by event, and --keep is {self._kept.most:,} lines"
        return f"it is not followed event by event: {watched.why_not}"

    def moments(self) -> dict[str, tuple[bool, Moment | None]]:
        """By property: whether its verdict was final before the end, and since when."""
        return {watched.found.name: (watched.is_final, watched.moment) for watched in self._watched}

    def close(self) -> None:
        self._kept.close()


def _is_open(formula: Node) -> bool:
    return any(isinstance(node, Quantified | Index | Count) for node in nodes(formula))


def _truth(value: bool) -> Truth:
    return Truth.HOLDS if value else Truth.VIOLATED


def _stays(found: Property, bound: Bound, verdict: Verdict) -> bool:
    if found.language != "ctl" or verdict.holds is None or bound.declared:
        return False
    if isinstance(found.formula, Keyed) and verdict.holds:
        return False  # another key may come
    return is_final(bound.formula, verdict.holds)


def header_checked(fields: Mapping[str, Any]) -> None:
    """An error if this is no header that we can read."""
    if fields.get("format") != FORMAT:
        raise TraceError(f'the first line must be a header, with "format": "{FORMAT}"')
    version = fields.get("version")
    if type(version) is not int or version < 1:
        raise TraceError('"version" must be a positive integer')
    if version > VERSION:
        raise TraceError(f"version {version} is newer than {VERSION}", hint="upgrade possibly")
