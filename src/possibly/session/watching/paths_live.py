"""Path expressions along with a program that runs: lines in, what is to be said and where to stop out.

Here belongs what `expect`, `never` and `watch` have to tell at once, no terminal and no program. Actions of
all watches work on one debugger: what one expression holds, another one may wait for (Modeling Concurrency
in Parallel Debugging, section 5.2).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from possibly.detection.paths.online import Misfit, Occurred, PathMonitor
from possibly.detection.paths.perform import Debugger, Function, Performer, check_actions
from possibly.errors import TraceError
from possibly.logic.languages import PATHS
from possibly.logic.paths.compiled import compiled
from possibly.logic.paths.machine import Machine, TooMuchError
from possibly.logic.paths.parser import parse_path
from possibly.logic.paths.rules import parse_rule
from possibly.logic.paths.syntax import Expression, Perform
from possibly.logic.source import Source
from possibly.logic.specification import Definition, Property, Specification, Sync
from possibly.order.growing.computation import Growing
from possibly.trace.model import Value

STOPPING = ("break", "error", "check_deadlock")
"""Statements at which a program may stop."""


@dataclass(frozen=True, slots=True)
class Told:
    """Something to say at once; `stops` if the program is to stop there."""

    property: str
    text: str
    event: str
    events: tuple[str, ...] = ()
    """The occurrence."""
    task: str = ""
    """The process of the event."""
    stops: bool = False


Teller = Callable[[Told], None]


class LivePaths:
    """All path expressions of a specification on one growing run."""

    def __init__(
        self,
        specification: Specification,
        order: str,
        tell: Teller,
        functions: Mapping[str, Function] | None = None,
        growing: Growing | None = None,
    ) -> None:
        self.tell = tell
        self.debugger = Debugger(functions=functions or {})
        self.growing = growing or Growing((), {}, order, remember=False)
        """That of a monitor has processes that nobody spawned, and is fed by it."""
        self.unfollowed: dict[str, str] = {}
        """Properties of which not everything is told while the program runs, and why."""
        self.monitors: dict[str, PathMonitor] = {}
        self._forgetful: set[str] = set()
        definitions = {each.name: each for each in specification.definitions}
        rules = [parse_rule(sync.source, definitions) for sync in specification.syncs]
        for found in path_properties(specification):
            expression = parse_path(found.source, definitions)
            check_actions(expression, found.source, self.debugger.functions)
            follower = _Follower(self, found, expression)
            machine = Machine(compiled(expression), tells=follower.acts)
            monitor = PathMonitor(
                self.growing, found.language, machine, rules, follower.found, are_all_spawned=growing is None
            )
            follower.monitor = self.monitors[found.name] = monitor
            follower.performer = Performer(expression, monitor, self.debugger)
            if follower.acts:
                follower.begin()

    def line(self, fields: Mapping[str, Any]) -> None:
        """The next event of the run."""
        try:
            self.growing.arrive(fields)
        except (TraceError, TooMuchError) as error:
            self.lost(str(error))
        self.look()

    def look(self) -> None:
        """Says what has been forgotten since."""
        for name, monitor in self.monitors.items():
            if monitor.growth.has_forgotten and name not in self._forgetful:
                self._forgetful.add(name)
                reason = "too many beginnings, of which the oldest are forgotten"
                self.tell(Told(name, f"{reason} here, not in the check after the run", ""))
                self.unfollowed.setdefault(name, reason)

    def lost(self, reason: str) -> None:
        """No property can be followed any more: says so once, and which ones."""
        fresh = [name for name in self.monitors if name not in self.unfollowed or name in self._forgetful]
        self._forgetful.clear()
        if fresh:
            self.tell(Told(", ".join(fresh), f"not followed from here on: {reason}", ""))
        self.unfollowed.update(dict.fromkeys(fresh, reason))

    def finish(self) -> None:
        """The run is over: what was not followed to its end is said again, as silence is no answer."""
        for name, reason in self.unfollowed.items():
            text = f"was not followed to the end of the run ({reason}): a break may have been passed over"
            self.tell(Told(name, text, ""))

    def variables(self) -> Mapping[str, Value]:
        """All variables that the run gave a value so far, and those of the debugger."""
        found: dict[str, Value] = {}
        for monitor in list(self.monitors.values())[:1]:
            for (process, name), value in monitor.state.values.items():
                found[name if process is None else f"{process}.{name}"] = value
        return {**found, **self.debugger.variables}


class _Follower:
    """One property, with what it told so far."""

    performer: Performer
    monitor: PathMonitor

    def __init__(self, live: LivePaths, found: Property, expression: Expression) -> None:
        self.live = live
        self.property = found
        self.acts = found.language == "watch" and expression.has_actions

    def found(self, found: Occurred | Misfit) -> None:
        if isinstance(found, Misfit):
            self._misfit(found)
        elif self.acts:
            self._act(found)
        elif found.is_complete:
            self._tell(found.event, f"occurs: {{{', '.join(self._names(found.events))}}}", found.events)

    def begin(self) -> None:
        """The action before the first event."""
        self.performer.begin()
        said, self.live.debugger.output[:] = list(self.live.debugger.output), []
        for each in said:
            self.live.tell(Told(self.property.name, each.text, ""))

    def _act(self, found: Occurred) -> None:
        debugger = self.live.debugger
        self.performer.recognised(found.event, found.atoms, found.played)
        if found.is_complete:
            self.performer.completed(found.event, found.played)
        said, debugger.output[:] = list(debugger.output), []
        stops, debugger.breaks[:] = bool(debugger.breaks), []
        for each in said:
            if not each.is_break:
                self._tell(found.event, each.text, found.events)
        if stops:
            self._tell(found.event, "break", found.events, stops=True)

    def _misfit(self, found: Misfit) -> None:
        expected = [
            f"{each.symbol}{' after ' + ' and '.join(self._names(each.after)) if each.after else ''}"
            for each in found.expected
        ]
        text = f"does not fit here; expected: {', '.join(expected) or 'no further event'}"
        self._tell(found.event, text, found.predecessors)

    def _names(self, events: tuple[int, ...]) -> list[str]:
        return [str(self.monitor.fact(event, "name")) for event in events]

    def _tell(self, event: int, text: str, events: tuple[int, ...], stops: bool = False) -> None:
        (name,) = self._names((event,))
        task = str(self.monitor.fact(event, "process"))
        self.live.tell(Told(self.property.name, text, name, tuple(self._names(events)), task, stops))


def path_properties(specification: Specification) -> list[Property]:
    return [found for found in specification.properties if found.language in PATHS]


def has_break(specification: Specification) -> bool:
    """Whether a watch may stop the program: by a `break`, or where a deadlock closes."""
    definitions = {each.name: each for each in specification.definitions}
    for found in path_properties(specification):
        expression = parse_path(found.source, definitions)
        if found.language == "watch" and any(
            isinstance(each, Perform) and each.function in STOPPING for each in expression.statements()
        ):
            return True
    return False


# ---- a specification as a text, for another process -------------------------------------------------


def packed(specification: Specification, order: str) -> str:
    """What `unpacked` makes the path expressions of."""
    return json.dumps(
        {
            "order": order,
            "properties": [
                [each.name, each.language, each.text, each.file, each.line, each.column]
                for each in path_properties(specification)
            ],
            "syncs": [[each.text, each.file, each.line, each.column] for each in specification.syncs],
            "definitions": [
                [each.name, each.source.text, each.source.file, each.source.line, each.source.column]
                for each in specification.definitions
            ],
        }
    )


def unpacked(text: str) -> tuple[Specification, str]:
    """The specification and the order."""
    fields = json.loads(text)
    properties = [
        Property(name, language, formula, None, file, line, column)
        for name, language, formula, file, line, column in fields["properties"]
    ]
    syncs = [Sync(*parts) for parts in fields["syncs"]]
    definitions = [Definition(name, Source(*parts)) for name, *parts in fields["definitions"]]
    return Specification((), tuple(properties), tuple(syncs), tuple(definitions)), fields["order"]
