"""What changes what, asked of plain Python: for every method and attribute of objects that are made in C.

An object is made anew, looked at in every way (its attributes, methods without arguments, operators), then
one thing is done to it (each of its methods, each attribute stored, each operator that changes), and it is
looked at again. Whatever is seen to differ is a fact: this changes that. Nothing is known here of what
`possibly` thinks of these types.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from possibly.control.execution import Access, Outcome
from possibly.control.forking.zygote import script
from possibly.control.runtime.memory import EVERYTHING
from possibly.control.runtime.touched.lives import LIVES
from tests.control.runtime.running import Stay

ARGUMENTS = (
    "", "1", "'a'", "b'a'", "None", "[1]", "(1, 2)", "{'a': 1}", "'a', 1", "1, 2", "b'ab', 1", "0, 'a'",
    "len",
    "(max, (2,), {}, None)", "bytearray(3)", "b'<a>'", "ValueError()", "ValueError, 1",
)  # fmt: skip
"""What methods are tried with, the first that is accepted; 'o' stands for the object itself."""
OPERATORS = (
    "len(o)", "bool(o)", "str(o)", "list(o)", "o[0]", "o['a']", "1 in o", "o == o", "hash(o)", "o()",
    "bytes(o)", "iter(o)", "o + o", "vars(o)", "dir(o)", "format(o)", "o(1)",
)  # fmt: skip
CHANGES = (
    "o[0] = 1", "o[0] = b'z'", "o['a'] = 5", "del o[0]", "del o['a']", "next(o)", "o += o", "o |= o",
    "o *= 2", "o()", "list(o)", "o(1)", "o + o",
)  # fmt: skip
VALUES = ("1", "'b'", "None", "len", "b'b'", "True", "('b',)", "KeyError(2)")
SKIPPED = frozenset(
    "__class__ __init_subclass__ __subclasshook__ __new__ __getattribute__ __setattr__ __delattr__ __dir__ "
    "__class_getitem__ __reduce__ __reduce_ex__ __sizeof__ __hash__ __doc__ __module__ __getattr__ __del__ "
    "__dict__ __weakref__ __flags__ __slotnames__".split()
)
LONGEST = 1
"""Seconds after which a call counts as one that does not return."""


class Fact(NamedTuple):
    """Plain Python says: after `change`, the expression `reads` gives something else."""

    setup: str
    change: str
    reads: str


def facts(setup: str) -> list[Fact]:
    """All that can be found of the object `o` which the text makes, in a process apart."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        with open(os.devnull, "w") as nothing, open(writing, "wb") as told:
            os.dup2(nothing.fileno(), 2)
            told.write(pickle.dumps([tuple(each) for each in _facts(setup)]))
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as heard:
        found = [Fact(*each) for each in pickle.loads(heard.read())]
    os.waitpid(child, 0)
    return found


def _facts(setup: str) -> Iterator[Fact]:
    ways = []
    for way in _ways(setup):
        if _is_steady(setup, way):
            ways.append(way)
        elif _changes_itself(setup, way):
            yield Fact(setup, way, way)
    for change in _changes(setup):
        for way in ways:
            if _differs(setup, change, way):
                yield Fact(setup, change, way)


def _made(setup: str) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "audited"}
    exec(setup, space)  # noqa: S102 - a text of the tests
    return space


def _members(setup: str) -> list[str]:
    kind = type(_made(setup)["o"])
    return [name for name in sorted(dir(kind)) if name not in SKIPPED]


def _ways(setup: str) -> list[str]:
    """Expressions that look at the object."""
    kind = type(_made(setup)["o"])
    names = _members(setup)
    calls = [f"o.{name}()" for name in names if callable(getattr(kind, name, None))]
    plain = [f"o.{name}" for name in names if not callable(getattr(kind, name, None))]
    return [*plain, *calls, *OPERATORS]


def _changes(setup: str) -> Iterator[str]:
    """Statements that are accepted and may change the object."""
    kind = type(_made(setup)["o"])
    for name in _members(setup):
        if callable(getattr(kind, name, None)):
            tried: Any = (f"o.{name}({given})" for given in ARGUMENTS)
        else:
            tried = (f"o.{name} = {value}" for value in VALUES)
        yield from _accepted(setup, tried)
    for each in CHANGES:
        yield from _accepted(setup, iter((each,)))


def _accepted(setup: str, tried: Iterator[str]) -> Iterator[str]:
    for change in tried:
        space = _made(setup)
        if _done(change, space) is None:
            yield change
            return


def _done(text: str, space: dict[str, Any], mode: str = "exec") -> str | None:
    """What went wrong, or None."""
    return _seen(text, space, mode)[1]


def _seen(text: str, space: dict[str, Any], mode: str = "eval") -> tuple[str, str | None]:
    """What an expression gives, as a text, and what it raises."""
    try:
        with _limited(), contextlib.redirect_stdout(io.StringIO()):
            code = compile(text, "<audit>", mode)
            return _text(eval(code, space)), None  # noqa: S307 - a text of the tests
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is what was seen
        return "", type(error).__name__


def _text(value: Any) -> str:
    """Without addresses, which say nothing."""
    return re.sub("0x[0-9a-f]+", "", repr(value))


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _is_steady(setup: str, way: str) -> bool:
    """Whether to look does not change what is seen."""
    space = _made(setup)
    first = _seen(way, space)
    return first == _seen(way, space) == _seen(way, _made(setup)) and first[1] != "TimeoutError"


def _changes_itself(setup: str, way: str) -> bool:
    """Whether who looks second sees something else, always the same."""
    space, again = _made(setup), _made(setup)
    first = _seen(way, space)
    return first != _seen(way, space) and first == _seen(way, again) and first[1] != "TimeoutError"


def _differs(setup: str, change: str, way: str) -> bool:
    space = _made(setup)
    changed, before = space["o"], _seen(way, space)
    _done(change, space)
    return space["o"] is changed and _seen(way, space) != before


# ---- what `possibly` says ------------------------------------------------------------------------


def program_of(found: list[Fact]) -> tuple[str, list[tuple[int, int]]]:
    """A program whose thread looks at each object and then changes it; the lines that do one and the other.

    Each of these reads `mark` first: what follows belongs to it, wherever that stands.
    """
    lines, places = ["import threading", "mark = 0"], []
    for number, fact in enumerate(found):
        lines += [
            f"def make{number}():",
            *_indented(fact.setup),
            "    return locals()",
            f"s{number} = make{number}()",
        ]
    lines.append("def work():")
    for number, fact in enumerate(found):
        lines += [
            f"    o = s{number}['o']",
            "    try:",
            f"        mark; repr({fact.reads})",
            "    except BaseException: pass",
        ]
        lines += ["    try:", f"        mark; {fact.change}", "    except BaseException: pass"]
        places.append((len(lines) - 4, len(lines) - 1))
    lines += ["thread = threading.Thread(target=work)", "thread.start()", "thread.join()"]
    return "\n".join(lines) + "\n", places


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in text.split("\n")]


def missed(found: list[Fact], path: Path) -> list[Fact]:
    """The facts of which one execution under control does not tell: the look and the change do not meet."""
    source, places = program_of(found)
    path.write_text(source)
    touched = _touched(path)
    return [
        fact for fact, (look, change) in zip(found, places, strict=True) if not _meet(touched, look, change)
    ]


def _meet(touched: dict[int, set[Access]], look: int, change: int) -> bool:
    """Whether they touch one thing, which one of them writes."""
    there = touched.get(change, set())
    return any(
        each.thing == other.thing and (each.writes or other.writes)
        for each in touched.get(look, ())
        for other in there
    )


def _touched(path: Path) -> dict[int, set[Access]]:
    """Of each line, what it touches where everything is a choice point."""
    found: dict[int, set[Access]] = {}
    with script((str(path),)) as program:
        program.visible = {EVERYTHING, LIVES}
        execution = program.execute(Stay())
        for _ in range(MOST):
            if not program.grown:
                break
            execution = program.execute(Stay())
        assert execution.outcome is Outcome.FINISHED, execution.failure
        line = 0
        for step in execution.steps:
            if step.operation.thing == "mark":
                line = int(step.operation.at.rpartition(":")[2])
            elif step.operation.thing not in OWN:
                found.setdefault(line, set()).update(step.operation.footprint)
    return found


OWN = frozenset({"thread"})
MOST = 8
"""So often what is seen to matter may grow."""
