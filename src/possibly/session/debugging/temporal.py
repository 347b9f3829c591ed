"""The temporal debugger as every view runs it: what can be opened, what a state shows, sessions in files.

Here belongs how a file becomes a `TemporalStack`. What can be opened is a table: an `Opener` says by a
file's name and text whether it is for it, and opens it as a `System` (`control.temporal.system`). A new
kind of system is a file here with a tuple `OPENERS`, named in `openers`.

A saved session is a JSON document: the formulas with their options, and the transitions of each step by
name. Loading it regenerates the states by those names; the search of a step is begun anew only if it is
backtracked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import Any

from possibly.control.temporal.options import Options
from possibly.control.temporal.stack import TemporalStack
from possibly.control.temporal.system import State, System
from possibly.errors import PossiblyError
from possibly.logic.predicates.functions import MISSING
from possibly.logic.specification import Let
from possibly.logic.syntax import Local, Shared

FORMAT = "possibly-debug"
VERSION = 1


@dataclass(frozen=True, slots=True)
class Opening:
    """What is to be opened."""

    path: str
    head: str
    """The text of the file, or its beginning; empty for a compressed one."""
    order: str = "causal"
    arguments: tuple[str, ...] = ()
    """For a live program."""
    watched: tuple[str, ...] = ()
    """Variables of a live program to be seen although no tasks race for them."""


@dataclass(frozen=True, slots=True)
class Opener:
    kind: str
    """In words: `model`, `trace`."""
    is_for: Callable[[Opening], bool]
    open: Callable[[Opening], System]
    follows: bool = False
    """Variables that formulas turn out to speak of can be followed: it is opened again then."""


@dataclass(slots=True)
class Debugger:
    """A session: the stack, where its system came from, and what commands want to keep."""

    path: str
    stack: TemporalStack
    kind: str
    kept: dict[str, Any] = field(default_factory=dict)
    """For commands that others add: whatever they need between two calls, by their name."""
    again: Callable[[tuple[str, ...]], TemporalStack] | None = None
    """Opens the system once more so that these variables are followed."""
    followed: tuple[str, ...] = ()

    @property
    def system(self) -> System:
        return self.stack.system


def opened(opening: Opening, lets: Sequence[Let] = ()) -> Debugger:
    """The session on a model, a trace or whatever else some opener is for."""
    for opener in openers():
        if opener.is_for(opening):
            found = Debugger(opening.path, TemporalStack(opener.open(opening), lets=lets), opener.kind)
            found.again = partial(_again, opener, opening, lets) if opener.follows else None
            return found
    raise PossiblyError(
        "neither a trace nor a model",
        file=opening.path,
        hint="a trace ends in .jsonl, a model has a function with @process",
    )


def _again(
    opener: Opener, opening: Opening, lets: Sequence[Let], variables: tuple[str, ...]
) -> TemporalStack:
    return TemporalStack(opener.open(replace(opening, watched=opening.watched + variables)), lets=lets)


def follow(debugger: Debugger, variable: str) -> bool:
    """Whether the variable is followed from now on, which it was not; the stack is empty then."""
    before = debugger.stack
    if debugger.again is None or variable in debugger.followed or not _is_written(debugger.path, variable):
        return False
    debugger.followed += (variable,)
    stack = debugger.again(debugger.followed)
    is_known = variable in stack.system.vocabulary.shared
    ended: Any = before.system if is_known else stack.system
    if is_known:
        debugger.stack, stack.watch = stack, before.watch
    ended.close()
    return is_known


def _is_written(program: str, variable: str) -> bool:
    """Whether the program's own files have a variable of that name."""
    from possibly.probes.watching.candidates import words_of_program

    return variable.rpartition(".")[2] in words_of_program((program,))


def openers() -> Iterator[Opener]:
    for module in ("live", "macro"):
        yield from import_module(f"possibly.session.debugging.{module}").OPENERS
    yield Opener("trace", lambda opening: _is_trace(opening.path), _opened_trace)
    yield Opener("model", _is_model, _opened_model)


def _is_trace(path: str) -> bool:
    return any(path.endswith(suffix) for suffix in (".jsonl", ".jsonl.gz", ".jsonl.zst", ".columns"))


def _opened_trace(opening: Opening) -> System:
    from pathlib import Path

    from possibly.control.temporal.lattice_system import LatticeSystem
    from possibly.order.computation import Computation
    from possibly.trace import load

    return LatticeSystem(Computation(load(Path(opening.path)), opening.order))


def _is_model(opening: Opening) -> bool:
    from possibly.models.reader import is_model

    return opening.path.endswith(".py") and is_model(opening.head)


def _opened_model(opening: Opening) -> System:
    from possibly.control.temporal.model_system import ModelSystem
    from possibly.models.reader import read_model

    return ModelSystem(read_model(opening.head, opening.path))


# ---- what a state shows -------------------------------------------------------------------------


def variables(system: System, state: State) -> dict[str, Any]:
    """Every variable that has a value at the state: shared ones first, then those of each process."""
    found: dict[str, Any] = {}
    for name in sorted(system.vocabulary.shared):
        found[name] = system.reading(Shared(name)).value(state)
    for process in system.vocabulary.processes:
        for name in sorted(system.vocabulary.locals.get(process, ())):
            found[f"{process}.{name}"] = system.reading(Local(process, name)).value(state)
    return {name: value for name, value in found.items() if value is not MISSING}


def standing(system: System, state: State) -> dict[str, str]:
    """Where in the source each process of a live program stands; nothing of other systems."""
    place = getattr(system, "place", None)
    if place is None:
        return {}
    found = {process: place(state, process) for process in system.vocabulary.processes}
    ended = {process for process, words in system.places(state).items() if words == "ended"}
    return {process: at for process, at in found.items() if at and process not in ended}


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The variables, or elements of lists, whose values differ, each with both; MISSING where it has none."""
    found: dict[str, tuple[Any, Any]] = {}
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name, MISSING), after.get(name, MISSING)
        if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
            found |= changes(_elements(name, old), _elements(name, new))
        elif _differ(old, new):
            found[name] = old, new
    return found


def _elements(name: str, items: Sequence[Any]) -> dict[str, Any]:
    return {f"{name}[{number}]": item for number, item in enumerate(items)}


def _differ(old: Any, new: Any) -> bool:
    return type(old) is not type(new) or old != new


# ---- sessions in files --------------------------------------------------------------------------


def saved(debugger: Debugger) -> str:
    """The session as the text of a file."""
    steps = [
        {
            "formula": step.text,
            "options": list(step.options.words()),
            "transitions": [move.name for move in step.path.moves],
            "found": step.found,
        }
        for step in debugger.stack.steps
    ]
    document = {"format": FORMAT, "version": VERSION, "system": debugger.path, "steps": steps}
    return json.dumps(document, indent=1) + "\n"


def schedule_of(debugger: Debugger) -> str:
    """The way to the current state as the text of a schedule, which `possibly replay` takes."""
    found = getattr(debugger.system, "schedule", None)
    if found is None:
        raise PossiblyError(f"a {debugger.kind} has no schedule", hint="only a live program has one")
    text: str = found(debugger.stack.state)
    return text


def restore(debugger: Debugger, text: str, file: str) -> None:
    """Puts the steps of a saved session on the stack, in place of what is there; all of them or none."""
    steps = list(_read(text, file))
    before = list(debugger.stack.steps)
    debugger.stack.clear()
    try:
        for formula, options, names, found in steps:
            debugger.stack.push_recorded(formula, options, names, found)
    except PossiblyError as error:
        debugger.stack.steps = before
        raise PossiblyError(f"the session does not fit {debugger.path}: {error.message}", file=file) from None


def _read(text: str, file: str) -> Iterator[tuple[str, Options, list[str], int]]:
    try:
        document = json.loads(text)
        if document["format"] != FORMAT or document["version"] != VERSION:
            raise PossiblyError(f"not a saved session of version {VERSION}", file=file)
        for step in document["steps"]:
            names = [str(name) for name in step["transitions"]]
            yield str(step["formula"]), parse_options(map(str, step["options"])), names, int(step["found"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise PossiblyError("not a saved session", file=file) from None


OPTION_WORDS = (
    "shortest",
    "each",
    "min",
    "max",
    "all",
    "new-ends",
    "new-paths",
    "memoryless",
    "tableau",
    "bound",
)


def parse_options(words: Iterator[str] | Sequence[str]) -> Options:
    """Options as a command writes them."""
    chosen: dict[str, Any] = {}
    rest = iter(words)
    flags = {"all": "all_paths", "new-ends": "new_ends", "new-paths": "new_sequences"}
    for word in rest:
        if word in ("shortest", "each", "min", "max"):
            chosen["size"] = word
        elif word == "bound":
            number = next(rest, "")
            if not number.isdecimal():
                raise PossiblyError("bound is followed by a number of states")
            chosen["bound"] = int(number)
        elif word in OPTION_WORDS:
            chosen[{**flags, "tableau": "printed"}.get(word, word)] = True
        else:
            raise PossiblyError(f"{word} is no option of step", hint=" ".join(OPTION_WORDS))
    return Options(**chosen)
