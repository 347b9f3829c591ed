"""Properties of a run, mined from the patterns: those that are true in it, or even in all of its orders.

Candidates come from what the run has: boolean variables and variables of few values, functions that were
called, messages, and groups of processes whose names differ in a number. Each is a line of a specification
file, read and checked as any other; nothing is believed that was not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice, permutations
from time import monotonic
from typing import Any

from possibly.errors import PossiblyError
from possibly.logic.printer import unparse
from possibly.logic.specification import Specification, read_specification
from possibly.logic.syntax import Local, Shared
from possibly.session.checking.check import Checker, Options
from possibly.trace.model import Trace
from possibly.verdict.model import Truth

CUTS = 20_000
"""That the check of a candidate may visit."""
FEW = 3
"""Values that a variable may have to be spoken of value by value."""
MOST_ATOMS = 24
MOST_CANDIDATES = 600


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A line for a specification file."""

    line: str
    formula: str
    everywhere: bool
    """It holds in every order of the run; else only in the recorded one."""


@dataclass(frozen=True, slots=True)
class Atom:
    """A predicate that is true at some time, and whom it is about."""

    text: str
    process: str | None


def suggestions(trace: Trace, seconds: float, most: int) -> list[Suggestion]:
    """The best candidates that are true, those that hold in every order first."""
    checker = Checker(trace, Options(max_cuts=CUTS, timeout=max(seconds / 10, 0.1), explain=False))
    end, found = monotonic() + seconds, list[Suggestion]()
    for line in islice(dict.fromkeys(candidates(trace)), MOST_CANDIDATES):
        if monotonic() > end or sum(each.everywhere for each in found) >= most:
            break
        suggestion = _checked(line, checker)
        if suggestion is not None:
            found.append(suggestion)
    everywhere = [each for each in found if each.everywhere]
    return everywhere[:most] + [each for each in found if not each.everywhere][:most]


def _checked(line: str, checker: Checker) -> Suggestion | None:
    try:
        specification: Specification = read_specification(line)
        (found,) = specification.properties
        verdict = checker.verdict(found, checker.bound(found, specification))
    except PossiblyError:
        return None  # what the run has cannot be said so: a name that is none, types that do not go together
    if verdict.faults or (verdict.truth is not Truth.HOLDS and verdict.observed is not True):
        return None
    if verdict.truth is Truth.UNKNOWN:
        return None
    return Suggestion(line, verdict.formula, verdict.truth is Truth.HOLDS)


# ---- candidates ---------------------------------------------------------------------------------


def candidates(trace: Trace) -> Iterator[str]:
    """Lines of a specification file, the most telling first."""
    atoms = list(islice(_atoms(trace), MOST_ATOMS))
    yield from _of_groups(trace)
    yield from _of_messages(trace)
    yield from _of_pairs(atoms)
    for atom in atoms:
        yield f"pattern exactly_once({atom.text})"
    for atom in atoms:
        yield f"pattern quiescence({atom.text})"
        yield f"pattern quiescence(!({atom.text}))"


def _of_groups(trace: Trace) -> Iterator[str]:
    names = [process.name for process in trace.processes]
    known = groups(names)
    for group, mine in {**known, **({} if '"*"' in known else {'"*"': names})}.items():
        yield from _of_group(trace, group, set(mine))


def _of_group(trace: Trace, group: str, members: set[str]) -> Iterator[str]:
    called = _called(trace, members)
    for function in called:
        yield f"pattern mutex(inside({group}, {function}))"
    for variable in _flags(trace, members):
        yield f"pattern mutex({group}.{variable})"
        yield f"pattern leadership({group}.{variable})"
    for function in called:
        yield from (f"pattern at_most({n}, inside({group}, {function}))" for n in (2, 3) if n < len(members))


def groups(names: Sequence[str]) -> dict[str, list[str]]:
    """Processes whose names differ in a number at their end, by a quoted pattern that fits just these."""
    found: dict[str, list[str]] = {}
    for name in names:
        stem = re.sub(r"\d+$", "", name)
        if stem and stem != name and '"' not in stem and not re.search(r"[\[*?\\]", stem):
            found.setdefault(stem, []).append(name)
    return {
        f'"{stem}*"': mine
        for stem, mine in found.items()
        if len(mine) > 1 and mine == [name for name in names if fnmatchcase(name, f"{stem}*")]
    }


def _called(trace: Trace, members: set[str]) -> list[str]:
    """Functions that at least two of these have entered."""
    callers: dict[str, set[str]] = {}
    for number in range(len(trace)):
        event = trace.event(number)
        if event.kind == "enter" and event.fn and event.process in members:
            callers.setdefault(event.fn, set()).add(event.process)
    return [name for name, mine in callers.items() if len(mine) > 1 and re.fullmatch(r"[\w.]+", name)]


def _flags(trace: Trace, members: set[str]) -> list[str]:
    """Variables that are true or false in each of these."""
    values = {key: found for key, found in _values(trace).items() if key[0] in members}
    names = dict.fromkeys(name for _, name in values)
    return [
        name
        for name in names
        if re.fullmatch(r"[^\W\d]\w*", name)
        and all(_is_flag(values.get((member, name), [])) for member in members)
    ]


def _of_messages(trace: Trace) -> Iterator[str]:
    sent = [n for n in range(len(trace)) if trace.strings[trace.kind[n]] == "send"]
    if not sent:
        return
    yield "pattern no_lost_message()"
    for bound in (1, 2, 4, 8, 16):
        if bound < len(sent):
            yield f"pattern in_flight({bound})"


def _of_pairs(atoms: Sequence[Atom]) -> Iterator[str]:
    pairs = [(a, b) for a, b in permutations(atoms, 2) if a.process != b.process]
    for a, b in pairs:
        yield f"pattern response({a.text}, {b.text})"
        yield f"pattern precedence({a.text}, {b.text})"
    for a, b in pairs:
        if a.text < b.text:
            yield f"pattern absence({a.text} & {b.text})"


def _atoms(trace: Trace) -> Iterator[Atom]:
    for (process, name), values in _values(trace).items():
        variable = unparse(Shared(name) if process is None else Local(process, name))
        if _is_flag(values):
            yield Atom(variable, process)
        elif len(values) <= FEW and all(isinstance(each, int | str) for each in values):
            yield from (Atom(f"{variable} == {_literal(value)}", process) for value in values[1:])


def _values(trace: Trace) -> dict[tuple[str | None, str], list[Any]]:
    """For each variable the different values that it had, in the order in which they came."""
    found: dict[tuple[str | None, str], list[Any]] = {}

    def note(process: str | None, values: Any) -> None:
        for name, value in values.items():
            mine = found.setdefault((process, name), [])
            if len(mine) <= FEW and not any(type(each) is type(value) and each == value for each in mine):
                mine.append(value)

    note(None, trace.shared)
    for process in trace.processes:
        note(process.name, process.init)
    for number in range(len(trace)):
        event = trace.event(number)
        note(event.process, event.set)
        note(None, event.write)
    return found


def _is_flag(values: Sequence[Any]) -> bool:
    return True in values and all(isinstance(each, bool) for each in values)


def _literal(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
