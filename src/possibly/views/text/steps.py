"""The steps of an execution in words: what each did, with values, in the user's names, and where.

A turn of an event loop's task tells several things, and so does a step that touches memory which is no
choice point: each of these is a `Told`. A value other than the one that was seen last is
shown with that one.
"""

from __future__ import annotations

import ast
import contextlib
import linecache
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from possibly.control.execution import CALLED_FROM, Execution, Step, Task
from possibly.trace.place import is_of_library, line_text, place_in
from possibly.views.text.phrases import phrase_of, phrase_of_method
from possibly.views.text.words import elided

LONGEST_VALUE = 48
USING = frozenset({"use", "acquire", "release"})
FROM_THREAD = "call from a thread"
"""What another thread has asked an event loop to do is called so."""
AWAITS = {
    "get": "waits to get from {}",
    "receive": "waits to receive from {}",
    "put": "waits to put into {}",
    "send": "waits to send into {}",
    "__anext__": "waits to receive from {}",
    "acquire": "waits for {}",
    "__aenter__": "waits for {}",
    "wait": "waits for {}",
    "join": "waits until all of {} is done",
}


class Told(NamedTuple):
    """One thing that an execution did."""

    number: int
    """Of its step, from 1."""
    task: Task
    kind: str
    thing: str
    """What it is called by the execution, not by the user."""
    text: str
    at: str
    name: str = ""
    """What the user calls it."""
    is_inside: bool = False
    """It happened within the step, and nobody could have come just before it."""
    called_from: str = ""
    """The user's line, where `at` is a library's that it called."""
    says_little: bool = False
    """Nothing has led the user to the thing, and no value is known of it."""

    @property
    def shown_at(self) -> str:
        return self.called_from or self.at

    @property
    def is_in_library(self) -> bool:
        return bool(self.called_from) or is_of_library(self.at)


def thing_name(thing: str, execution: Execution) -> str:
    """What users call a thing; of a primitive that nothing has led to, what it is."""
    name = execution.name_of(thing)
    found = _UNNAMED.fullmatch(name)
    return f"the {_KINDS.get(found[1], found[1])}" if found is not None else name


_UNNAMED = re.compile(r"[0-9.]+:([a-z]+)[0-9]+")
_KINDS = {"loop": "event loop", "database": "database in memory"}
_OF_LINE = re.compile(r"the (?P<kind>\w+) of (?P<place>.+:[0-9]+)(?: #[0-9]+)?")


def is_made_inside(name: str) -> bool:
    """Whether a primitive is called by a line of the user's that does not speak of such a thing.

    What the line calls has made it for itself; so has a shared value its lock.
    """
    found = _OF_LINE.fullmatch(name)
    if found is None:
        return name.startswith("the lock of ")
    return found is not None and found["kind"] not in source_of(found["place"]).lower()


def source_of(at: str) -> str:
    file, line = place_in(at)
    return linecache.getline(file, line).strip() if line else ""


def value_of(value: Any) -> str:
    """A value in a line: short, as it would be written."""
    is_name = isinstance(value, str) and (value.startswith("<") or "(" in value or value[:1].isupper())
    return elided(value if is_name and not value.isupper() else repr(value), LONGEST_VALUE)


def step_text(step: Step, execution: Execution) -> str:
    """A step in one line, without its place."""
    operation = step.operation
    changes = isinstance(step.detail, dict) and ("before" in step.detail or "changed" in step.detail)
    text = "changes {}" if changes else phrase_of(operation.kind, operation.thing).now
    return text.format(thing_name(operation.thing, execution)).rstrip()


def told_apart(execution: Execution) -> Execution:
    """The execution in which every task has a name of its own: `get#1`, `get#2`."""
    names = {task: name.removeprefix("__main__.") for task, name in execution.names.items()}
    count = Counter(names.values())
    found: dict[str, str] = {}
    for task, name in names.items():
        same = sum(names[other] == name for other in found)
        found[task] = f"{name}#{same + 1}" if count[name] > 1 and name else name
    return execution if found == execution.names else replace(execution, names=found)


def told_steps(execution: Execution) -> list[Told]:
    """All that an execution did, in order."""
    teller = _Teller(execution)
    return [each for number, step in enumerate(execution.steps, 1) for each in teller.told(number, step)]


@dataclass(slots=True)
class _Teller:
    execution: Execution
    seen: dict[str, str] = field(default_factory=dict)
    """What the reader saw last of each thing."""
    asleep: set[Task] = field(default_factory=set)

    def told(self, number: int, step: Step) -> Iterator[Told]:
        detail = step.detail if isinstance(step.detail, dict) else {}
        turn = detail.get("turn")
        if turn and step.operation.kind != "timer":
            yield from self._moments(number, step.task, turn, False)
            return
        kind, thing, _, at, _ = step.operation
        text = looked_for(thing_name(thing, self.execution), detail, "finds") or (
            step_text(step, self.execution) + self._value(kind, thing, detail)
        )
        yield Told(
            number, step.task, kind, thing, text, at, thing_name(thing, self.execution), False,
            detail.get(CALLED_FROM, ""),
            self._says_little(thing, detail, at)
            or (kind in USING and is_made_inside(thing_name(thing, self.execution))),
        )  # fmt: skip
        yield from self._moments(number, step.task, (*(turn or ()), *detail.get("inside", ())), True)

    def _moments(self, number: int, task: Task, moments: Any, is_inside: bool) -> Iterator[Told]:
        before = None
        for moment in moments:
            kind, thing = moment["kind"], moment["thing"]
            name = thing_name(thing, self.execution)
            text = looked_for(name, moment, "finds") or (
                self._words(task, moment) + self._value(kind, thing, moment)
            )
            at, called_from = moment["at"], moment.get(CALLED_FROM, "") if moment["at"] else ""
            if not is_of_library(at):  # what a loop does for a line of the user's is told at that line
                called_from = ""
            little = self._says_little(thing, moment, at) or (kind in USING and is_made_inside(name))
            row = Told(number, task, kind, thing, text, at, name, is_inside, called_from, little)
            if row != before and not is_only_a_reference(moment):
                yield row
            before = row

    def _says_little(self, thing: str, detail: dict[str, Any], at: str) -> bool:
        if self.execution.has_name(thing):
            return False
        has_value = any(word in detail for word in ("value", "changed", "before"))
        return not has_value or not at or is_of_library(at)

    def _words(self, task: Task, moment: dict[str, Any]) -> str:
        kind, name = moment["kind"], thing_name(moment["thing"], self.execution)
        if kind == "use":
            text = phrase_of_method(moment["method"]).now
        elif kind == "awaits":
            return self._awaits(task, moment, name)
        elif kind == "begin" and not moment["at"]:
            return "begins"
        elif "before" in moment or "changed" in moment:
            text = "changes {}"
        elif kind == "woken" and name.startswith(FROM_THREAD):
            return f"is woken by a {FROM_THREAD}"
        elif kind == "continue" and task in self.asleep:
            self.asleep.discard(task)
            text = "has slept"
        else:
            text = phrase_of(kind, moment["thing"]).now
        found = text.format(name).rstrip()
        if moment.get("group"):
            return f"{found}, which failed in its task group"
        return f"{found} at {self._line(moment['from'])}" if moment.get("from") else found

    def _line(self, at: str) -> str:
        return line_text(at, self.execution.files()) if place_in(at).line else at

    def _awaits(self, task: Task, moment: dict[str, Any], name: str) -> str:
        if moment.get("things"):
            return f"awaits {', '.join(thing_name(each, self.execution) for each in moment['things'])}"
        if moment["thing"] == "sleep()":
            self.asleep.add(task)
            return "sleeps"
        if name.startswith("_") and name.endswith(
            "()"
        ):  # a coroutine of a library that stands for the user's
            return "awaits"
        if (made := _OF_LINE.fullmatch(name)) is not None and is_of_library(made["place"]):
            return "awaits"
        return AWAITS.get(moment.get("method", ""), "awaits {}").format(name).rstrip()

    def _value(self, kind: str, thing: str, detail: dict[str, Any]) -> str:
        """The value, and what the reader saw last if it was another."""
        if "changed" in detail:
            return self._changed(thing, detail["changed"])
        if "before" in detail:
            return f", which holds {value_of(detail['before'])}"
        if "value" not in detail:
            return ""
        value = value_of(detail["value"])
        if kind not in ("read", "write"):
            return f": {value}"
        before = self.seen.get(thing)
        self.seen[thing] = value
        if before is None or before == value:
            return f": {value}"
        return f": {before} -> {value}" if kind == "write" else f": {value} ({before} before)"

    def _changed(self, thing: str, changed: dict[str, Any]) -> str:
        """What the variables hold that lead to what was changed."""
        found = ""
        for variable, held in changed.items():
            value, before = value_of(held), self.seen.get(variable)
            self.seen[variable] = value
            name = thing_name(variable, self.execution)
            lead = ": " if name == thing_name(thing, self.execution) else f", {name}: "
            found += lead + (value if before in (None, value) else f"{before} -> {value}")
        return found


def looked_for(name: str, detail: dict[str, Any], verb: str) -> str:
    """`finds no 'a' in cache`, where a step looks whether an item is there; else nothing."""
    if "there" not in detail:
        return ""
    container, key = _item_of(name)
    if not key:
        return ""
    return f"{verb} {key} in {container}" if detail["there"] else f"{verb} no {key} in {container}"


def _item_of(name: str) -> tuple[str, str]:
    """`cache` and `'a'` of `cache['a']`; the key is the longest end of the name that is a literal."""
    starts = (at for at, letter in enumerate(name) if letter == "[" and name.endswith("]"))
    for start in starts:
        key = name[start + 1 : -1]
        with contextlib.suppress(ValueError, SyntaxError):
            ast.literal_eval(key)
            return name[:start], key
    return name, ""


def is_only_a_reference(moment: dict[str, Any]) -> bool:
    """Whether a variable was read only to get at the object that it holds."""
    value = moment.get("value")
    return moment["kind"] == "read" and isinstance(value, str) and value.startswith("<")
