"""Faults as a search: what may go wrong in the world around a program, at any moment, so many times at most.

Law: a fault that may come is a task of the world with one step. It writes what it breaks, and the count of
faults, so that both orders of it and of each step that would notice are explored; it is enabled as long as
what it would break is there and the count allows one more. A search with up to so many faults begins with
none (`session.explore`), so that the first failing schedule has the fewest.

- `network`: a connection is refused, is reset at one of its ends, is half closed (an end gets no more, though
  the other has not ended), or what is sent on it takes a minute
- `crash`: a process that the program has started is killed
- `cancel`: a task of an event loop is cancelled, but for the first one
- `signal`: a signal that the program handles comes from outside (`signals`)
- `disk`: there is no room for what is written (`disks`)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from possibly.control.execution import Access, Operation
from possibly.control.runtime.kernel import Kernel, Task

NETWORK, CRASH, CANCEL, SIGNAL, DISK = KINDS = ("network", "crash", "cancel", "signal", "disk")
COUNT = "_:faults"
OUTAGE = 60.0
"""Seconds for which a connection does not bring what is sent on it."""


def may_come(kernel: Kernel, kind: str) -> bool:
    """Whether faults of this kind are looked for; how many have come says only when they can."""
    return kind in kernel.faults and kernel.faults_most > 0 and not kernel.ending


def possible(
    kernel: Kernel,
    label: str,
    broken: tuple[Access, ...],
    act: Callable[[], None],
    is_there: Callable[[], bool],
    loop: Any = None,
) -> Task:
    """A fault that may come from now on, as long as what it breaks is there; to a loop if one is given."""
    touched = (Access(COUNT, True), *broken)

    def happens() -> None:
        kernel.faults_left -= 1
        for access in touched:
            kernel.add(access)
        kernel.note({"kind": "fault", "thing": COUNT, "at": ""})
        act()

    def ready() -> bool:
        return kernel.faults_left > 0 and is_there()

    kernel.assumed[assumption(kernel)] = None
    operation = Operation("fault", broken[0].thing, touched, "")
    if loop is None:
        return kernel.happen(label, operation, happens, ready)
    from possibly.control.world.happenings import hosted  # programs without event loops do not wait for it

    return hosted(kernel, loop, label, operation, happens, ready)


def assumption(kernel: Kernel) -> str:
    """What a verdict rests on if faults were looked for."""
    most = kernel.faults_most
    return (
        f"at most {most} fault{'s' * (most != 1)} ({', '.join(sorted(kernel.faults))}; --faults, --at-most)"
    )


# ---- tasks of event loops -----------------------------------------------------------------------


def threaten_task(kernel: Kernel, owner: Any, mine: Task, host: Task) -> None:
    """A task of an event loop may be cancelled from outside, unless it is the first, the program's own."""
    if mine.ancestry[:-1] == host.ancestry or getattr(owner, "_possibly_threatened", False):
        return
    owner._possibly_threatened = True
    broken = (Access(mine.name, True),)
    label = f"cancellation of {mine.label}"
    possible(kernel, label, broken, owner.cancel, lambda: not mine.ended, owner.get_loop())


# ---- connections --------------------------------------------------------------------------------


def threaten_connection(kernel: Kernel, number: int, client: Any, server: Any) -> None:
    """Either end may find it reset, as the other does later, or at its end, which nobody tells the other."""
    for end, whose in ((client, "client"), (server, "server")):
        broken, loop = end.fragile, end.receives_in
        label = f"reset of connection {number} at the {whose}"
        possible(kernel, label, broken[:1], end.reset, end.can_break, loop)
        label = f"half-close of connection {number} at the {whose}"
        possible(kernel, label, broken, end.half_close, end.can_end, loop)


def threaten_listener(kernel: Kernel, listener: Any) -> None:
    """A connection may be refused, though somebody listens."""

    def refuse() -> None:
        listener.refuses = True

    broken = (Access(listener.door, True), Access(listener.name, False))
    possible(kernel, f"no connection to {listener.address}", broken, refuse, lambda: not listener.refuses)
