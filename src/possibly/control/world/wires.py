"""One direction of a connection: what is sent on it arrives, item by item, in steps of their own.

Law: an item arrives some time after it was sent, after the item before it, and whenever else it may. Sending
writes the item, arriving writes it too and whatever belongs to the receiving end; the next item reads it. So
arrivals on different connections depend on each other only if what they cause does. Nothing gets lost;
several items that have arrived before anybody looks are read together, as from a real stream.

With `--split` an item of data may also arrive in two parts, or as one with the next. Each way is a task of
its own; the one that is taken takes the others away.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from possibly.control.execution import Access, Operation
from possibly.control.models.locks import name_for
from possibly.control.runtime import kernel as running
from possibly.control.runtime.kernel import Kernel, Task
from possibly.control.world import faults
from possibly.control.world.happenings import hosted, withdraw

Item = bytes | None
"""Data, or None for the end of it."""
Receive = Callable[[Any], None]
"""Is called with an item when it arrives."""
LONGEST = 60
"""Letters of an item that are shown."""
EVERYWHERE = 8
"""Data of so many bytes may be cut anywhere."""
SPLIT = "what is sent arrives whole, cut once or as one with the next (--split)"


def _shown(what: Item | str) -> str:
    if what is None:
        return "the end"
    text = what if isinstance(what, str) else what[: 2 * LONGEST].decode("utf-8", "backslashreplace")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


class Way(NamedTuple):
    """One of the ways in which an item may arrive."""

    label: str
    what: Item | str
    """What arrives in this way."""
    items: int
    """So many items arrive by that; none: only a part of one."""
    rest: bytes
    """What is left on its way."""


def cuts(data: bytes) -> list[int]:
    """Where data may be cut: anywhere if it is short, else at its ends, in the middle, around a line end."""
    size = len(data)
    if size <= EVERYWHERE:
        return list(range(1, size))
    line = data.find(b"\n")
    wanted = (1, line, line + 1, size // 2, size - 1)
    return sorted({each for each in wanted if 0 < each < size})


class Wire:
    """From one end of a connection to the other."""

    def __init__(self, loop: Any, label: str) -> None:
        self.loop = loop
        """That of the receiver; None if threads receive."""
        self.name = name_for("wire")
        self.label = label
        self.is_paused = False
        self.is_secret = False
        """What is sent is encrypted, in another way each time."""
        self._sent = 0
        self._arrived = 0
        self._under_way: dict[int, tuple[Item | str, list[Task]]] = {}
        """What has not arrived, with the tasks that are the ways in which it may."""
        kernel = running.kernel
        if kernel is not None:
            kernel.labels[self.name] = label

    def _shown(self, what: Item | str) -> str:
        return "encrypted data" if self.is_secret and isinstance(what, bytes) else _shown(what)

    def item(self, number: int) -> str:
        return f"{self.name}#{number}"

    def send(self, what: Item | str, receive: Receive) -> None:
        """Something is on its way; `receive` is called with it when it arrives."""
        kernel = running.kernel
        if kernel is None or kernel.ending:
            return
        number = self._sent
        self._sent += 1
        kernel.add(Access(self.item(number), True))
        self._under_way[number] = what, []
        self._start(kernel, number, Way(self.label, what, 1, b""), receive)
        if kernel.split and isinstance(what, bytes):
            self._split(kernel, number, what, receive)
        if kernel.faults:
            self._threaten(kernel, number, what, receive)

    def touch(self) -> None:
        """The running turn looks at the receiving end, or changes it."""
        kernel = running.kernel
        if kernel is not None and kernel.in_step:
            kernel.add(Access(self.end, True))

    @property
    def end(self) -> str:
        return f"{self.name}.end"

    def _split(self, kernel: Kernel, number: int, what: bytes, receive: Receive) -> None:
        """The other ways in which data may arrive."""
        kernel.assumed[SPLIT] = None
        for access in self._before(number):  # whether that is still on its way
            kernel.add(access)
        for cut in cuts(what):
            way = Way(f"{self.label}, cut after {cut} bytes", what[:cut], 0, what[cut:])
            self._start(kernel, number, way, receive)
        before = self._under_way.get(number - 1, (None, []))[0]
        if isinstance(before, bytes):
            way = Way(f"{self.label}, as one with the next", before + what, 2, b"")
            self._start(kernel, number - 1, way, receive)

    def _threaten(self, kernel: Kernel, number: int, what: Item | str, receive: Receive) -> None:
        """What is on its way may take a minute, and all that follows with it."""
        if not faults.may_come(kernel, faults.NETWORK):
            return

        def delay() -> None:
            self._take(kernel, number, Way("", what, 0, b""))
            self._under_way[number] = what, []
            self._start(kernel, number, Way(self.label, what, 1, b""), receive, faults.OUTAGE)

        broken = (Access(self.item(number), True), *self._before(number))
        label = f"outage of {self.label}"
        fault = faults.possible(kernel, label, broken, delay, lambda: self._arrived == number, self.loop)
        self._under_way[number][1].append(fault)

    def _before(self, number: int) -> tuple[Access, ...]:
        return (Access(self.item(number - 1), False),) if number else ()

    def _start(
        self, kernel: Kernel, number: int, way: Way, receive: Receive, takes: float | None = None
    ) -> None:
        ways = self._under_way[number][1]
        things = [self.item(number + each) for each in range(max(way.items, 1))]
        whole = tuple(Access(each, True) for each in things)
        footprint = (*whole, Access(self.end, True), *self._before(number))

        def arrive() -> None:
            is_only_way = sum(_arrives(each) for each in ways) == 1
            self._take(kernel, number, way)
            for access in footprint:
                kernel.add(access)
            if is_only_way:
                kernel.opened(*(("arrive", thing) for thing in things))
            kernel.note({"kind": "arrive", "thing": self.name, "at": "", "value": self._shown(way.what)})
            if way.rest:
                self._under_way[number] = way.rest, []
                self._start(kernel, number, Way(self.label, way.rest, 1, b""), receive)
            receive(way.what)

        def is_next() -> bool:
            return not self.is_paused and self._arrived == number

        operation = Operation("arrive", self.name, footprint, "")
        if self.loop is None:
            task = kernel.happen(way.label, operation, arrive, is_next)
        else:
            task = hosted(kernel, self.loop, way.label, operation, arrive, is_next)
        if takes is not None:
            task.wakes_at = kernel.current.time + takes
            kernel.has_timers = True
        ways.append(task)

    def _take(self, kernel: Kernel, number: int, way: Way) -> None:
        """An item arrives in one way: the others are not there any more."""
        for each in range(number, number + max(way.items, 1)):
            for task in self._under_way.pop(each)[1]:
                if task is not kernel.current and not task.ended:
                    withdraw(kernel, self.loop, task)
        self._arrived += way.items


Waiter = tuple[Any, Any]
"""An event loop, and the future that it waits for."""


def wake(waiters: list[Waiter]) -> None:
    """Tells loops some time later that what they wait for is there."""
    for loop, future in waiters:
        Wire(loop, "news of a socket").send("it is ready", partial(_resolve, future))
    waiters.clear()


def _resolve(future: Any, _: Any) -> None:
    if not future.done():
        future.set_result(None)


def _arrives(task: Task) -> bool:
    return task.operation is not None and task.operation.kind == "arrive"
