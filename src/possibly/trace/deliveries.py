"""Messages of a trace in the making: who sent what to whom, and who received it.

One row for each (send, receiver), ascending in the sending event. A send without receivers has one row
that waits for whoever receives it. A receiver may be a process that does not exist yet: then the row
waits for the process too.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left

from possibly.errors import TraceError
from possibly.trace.intern import Column, quoted
from possibly.trace.model import NONE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from possibly.records import NamedTuple

_AWAITED = -2
"""In `to` while building: the receiver has a name, but no number yet."""


class _Awaited(NamedTuple):
    row: int
    message: int
    line: int | None


class Deliveries:
    """The rows, and by string number of a message the event that sends it."""

    def __init__(self) -> None:
        self.send, self.receive, self.to = array("i"), array("i"), array("i")
        self.send_of = Column()
        self._broadcast: dict[int, dict[int, int]] = {}
        """By message with several receivers: process to row, as a broadcast may have thousands."""
        self._awaited: dict[str, list[_Awaited]] = {}

    def sent(self, message: int, name: str, event: int) -> None:
        if self.send_of.get(message) != NONE:
            raise TraceError(f"message {quoted(name)} is sent twice")
        self.send_of.put(message, event)

    def open_to_all(self, event: int) -> None:
        """A send that names no receiver."""
        self._add(event, NONE)

    def sent_to(
        self, names: list[str], numbers: dict[str, int], message: int, event: int, line: int | None
    ) -> None:
        """Rows for all receivers of a send; the message is NONE if it has no name."""
        if len(names) > 1 and message != NONE:
            self._broadcast[message] = {}
        for name in names:
            process = numbers.get(name, _AWAITED)
            row = self._add(event, process)
            if process == _AWAITED:
                self.awaits(name, line, row, message)
            elif message in self._broadcast:
                self._broadcast[message][process] = row

    def awaits(self, name: str, line: int | None, row: int = NONE, message: int = NONE) -> None:
        """Somebody spoke of a process that does not exist yet."""
        self._awaited.setdefault(name, []).append(_Awaited(row, message, line))

    def arrived(self, name: str, process: int) -> None:
        """A process came into being: the rows that wait for it get its number."""
        for row, message, _ in self._awaited.pop(name, ()):
            if row != NONE:
                self.to[row] = process
            if message in self._broadcast:
                self._broadcast[message][process] = row

    def received(self, message: int, name: str, process: int, process_name: str, event: int) -> None:
        send = self.send_of.get(message)
        if send == NONE:
            raise TraceError(f"message {quoted(name)} is received before it is sent")
        row = self._row_for(message, send, process)
        if row == NONE:
            receiver = quoted(process_name)
            raise TraceError(
                f"message {quoted(name)} is received by {receiver}, which its send does not name in to"
            )
        if self.receive[row] != NONE:
            raise TraceError(f"message {quoted(name)} is received a second time")
        self.receive[row] = event
        self.to[row] = process

    def unknown(self) -> tuple[str, int | None] | None:
        """A process that was spoken of but never came, and the line."""
        for name, waiting in self._awaited.items():
            return name, waiting[0].line
        return None

    def _add(self, send: int, process: int) -> int:
        self.send.append(send)
        self.receive.append(NONE)
        self.to.append(process)
        return len(self.send) - 1

    def _row_for(self, message: int, send: int, process: int) -> int:
        """The row that this receive fills in, NONE if the message is not for this process."""
        if message in self._broadcast:
            return self._broadcast[message].get(process, NONE)
        row = bisect_left(self.send, send)
        if row == len(self.send) or self.send[row] != send:
            return NONE
        is_received = self.receive[row] != NONE
        return row if is_received or self.to[row] in (NONE, process) else NONE
