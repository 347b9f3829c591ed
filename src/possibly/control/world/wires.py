"""One direction of a connection: what is sent on it arrives, item by item, in steps of their own.

Law: an item arrives some time after it was sent, after the item before it, and whenever else it may. Sending
writes the item, arriving writes it too and whatever belongs to the receiving end; the next item reads it. So
arrivals on different connections depend on each other only if what they cause does. Nothing gets lost or is
cut; several items that have arrived before anybody looks are read together, as from a real stream.
"""

from __future__ import annotations

from asyncio import events
from collections.abc import Callable
from typing import Any

from possibly.control.execution import Access, Operation
from possibly.control.runtime import kernel as running
from possibly.control.runtime.coroutines import state_of
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.locks import name_for

Item = bytes | None
"""Data, or None for the end of it."""
LONGEST = 60
"""Letters of an item that are shown."""


def _shown(what: Item | str) -> str:
    if what is None:
        return "the end"
    text = what if isinstance(what, str) else what[: 2 * LONGEST].decode("utf-8", "backslashreplace")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


class Wire:
    """From one end of a connection to the other."""

    def __init__(self, loop: Any, label: str) -> None:
        self.loop = loop
        """That of the receiver."""
        self.name = name_for("wire")
        self.label = label
        self.is_paused = False
        self._sent = 0
        self._arrived = 0
        kernel = running.kernel
        if kernel is not None:
            kernel.labels[self.name] = label

    def item(self, number: int) -> str:
        return f"{self.name}#{number}"

    def send(self, what: Item | str, receive: Callable[[], None]) -> None:
        """Something is on its way; `receive` is called when it arrives."""
        kernel = running.kernel
        if kernel is None or kernel.ending:
            return
        number = self._sent
        self._sent += 1
        kernel.add(Access(self.item(number), True))
        self._start(kernel, number, what, receive)

    def touch(self) -> None:
        """The running turn looks at the receiving end, or changes it."""
        kernel = running.kernel
        if kernel is not None and kernel.in_step:
            kernel.add(Access(self.end, True))

    @property
    def end(self) -> str:
        return f"{self.name}.end"

    def _start(self, kernel: Kernel, number: int, what: Item | str, receive: Callable[[], None]) -> None:
        state = state_of(self.loop, kernel)
        mine = kernel.new_task(self.label)
        mine.host, mine.loop, mine.daemon = state.host, state.name, True
        kernel.admit(mine)
        kernel.add(Access(mine.name, True))

        def arrive() -> None:
            self._arrived += 1
            for access in footprint:
                kernel.add(access)
            kernel.opened(("arrive", self.item(number)))
            kernel.note({"kind": "arrive", "thing": self.name, "at": "", "value": _shown(what)})
            receive()

        before = (Access(self.item(number - 1), False),) if number else ()
        footprint = (Access(self.item(number), True), Access(self.end, True), *before)
        state.handles[mine] = events.Handle(arrive, (), self.loop, None)
        touched = (Access(state.name, True), Access(mine.name, True), *footprint)
        mine.operation = Operation("arrive", self.name, touched, "")
        mine.ready = lambda: state.can_go() and not self.is_paused and self._arrived == number
