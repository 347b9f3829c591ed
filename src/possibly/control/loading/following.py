"""What a specification speaks of beside shared memory: local variables, calls of functions, and claims.

Instrumented code tells of those names only that are asked for (`probes.following`). Each assignment to
such a local variable, each entry into such a function and each way out of it is a step that depends on
nothing: it adds no schedule to be explored. In a turn of an event loop's task, which is one step, each is a
moment of that step.

A claim speaks from the state in which it is made: it marks the step that runs then, so that whoever has the
execution's partial order can find that state in every order of its steps. What is claimed before the first
step speaks from the beginning; from then on the first task is watched even if it is the only one.

A process that the program has started has no steps of its own: what happens there is told to whom has the
scheduler (`elsewhere`), and is a step of the task that stands for the process there (`happen`).
"""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any

from possibly.control.runtime import kernel as running
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.places import place_of
from possibly.probes import claiming
from possibly.recorder.snapshot import snapshot

elsewhere: Callable[..., None] | None = None
"""Tells the process that has the scheduler, in all others."""


def local(name: str, value: Any, at: str) -> None:
    """A local variable of the running task has this value now."""
    kernel = running.kernel
    if kernel is None or kernel.quiet:
        return
    shown = snapshot(value)
    if elsewhere is not None:
        elsewhere("assign", name, at, shown)
    elif _is_turn(kernel):
        moment = {"kind": "assign", "thing": name, "at": at, "value": shown, "set": {name: shown}}
        kernel.note(moment, True)
    else:
        happen(kernel, "assign", name, at, shown)


def enter(name: str, at: str) -> None:
    _called("enter", name, at)


def leave(name: str, at: str) -> None:
    _called("leave", name, at)


def _called(kind: str, name: str, at: str) -> None:
    kernel = running.kernel
    if kernel is None or kernel.quiet or kernel.ending:
        return
    if elsewhere is not None:
        elsewhere(kind, name, at, None)
    elif _is_turn(kernel):
        kernel.note({"kind": kind, "thing": name, "at": at, "fn": name}, True)
    else:
        happen(kernel, kind, name, at, None)


def happen(kernel: Kernel, kind: str, name: str, at: str, shown: Any) -> None:
    """An assignment, entry or exit as a step of the running task."""
    kernel.visible(kind, name, (), at)
    if kind == "assign":
        kernel.tell({"value": shown, "set": {name: shown}})
    else:
        kernel.mark("fn", name)


def _is_turn(kernel: Kernel) -> bool:
    return kernel.current.host is not None and not kernel.is_mixed


def heard(formula: str, frame: FrameType) -> None:
    """The program claims something."""
    kernel = running.kernel
    if kernel is None or kernel.ending:
        return
    names = sorted(claiming.predicates)
    if elsewhere is not None:
        elsewhere("claim", formula, place_of(frame), names)
    else:
        claim(kernel, formula, place_of(frame), names)


def heard_of(kernel: Kernel, kind: str, *told: Any) -> None:
    """What another process tells of itself."""
    if kind == "claim":
        claim(kernel, *told)
    else:
        happen(kernel, kind, *told)


def claim(kernel: Kernel, formula: str, place: str, predicates: list[str]) -> None:
    """The running task claims something, from the state that it is in."""
    variable = ""
    if kernel.in_step or kernel.steps:
        variable = f"claim_{kernel.current.name.replace('.', '_')}_{len(kernel.claims)}"
        kernel.mark("claims", [*kernel.marks.get("claims", ()), variable])
    kernel.alone = False
    kernel.claims.append((formula, place, variable, predicates))
