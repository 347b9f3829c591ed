"""Requests of `mpi4py` under a controller.

A request for a receive has the name of the receive; one for a send is done when it is made. A request is
active until a wait or a test has seen it done; those that are not are passed over, as in MPI. `waitsome` and
`testsome` are asked one request at a time: which of them are found done is any set that could be.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from possibly.control.macro.inside import gate, variables
from possibly.control.macro.model import Completion, Operation

made: list[Any] = []
"""Requests of this rank, for what is left of them at its end."""


def left_open() -> str:
    """Of requests that nobody waited for; empty: there are none."""
    found = [each for each in made if each._possibly_is_active]
    places = ", ".join(dict.fromkeys(each._possibly_made for each in found))
    many = "a request is" if len(found) == 1 else f"{len(found)} requests are"
    return f"{many} never waited for: {places}" if found else ""


class Take:
    """A receive that was posted: how to take its message, and the message once it is there."""

    def __init__(self, mpi: Any, plain: Callable[..., Any], index: dict[str, int]) -> None:
        self.plain = plain
        self.index = index
        self.status = mpi.Status()
        self.value: Any = None

    def __call__(self, message: str, sender: str, tag: str | None) -> None:
        self.value = self.plain(self.index[sender], int(tag or 0), self.status)


def delivered(here: gate.Gate, completion: Completion) -> None:
    """Takes the messages that were matched with receives of this rank, in order."""
    for name, message, sender, tag in completion.deliveries:
        here.fetch.pop(name)(message, sender, tag)


def copied_status(mpi: Any, found: Any, into: Any) -> None:
    if into is not None:
        into.Set_source(found.Get_source())
        into.Set_tag(found.Get_tag())
        into.Set_elements(mpi.BYTE, found.Get_count(mpi.BYTE))


def _active(requests: Sequence[Any]) -> list[int]:
    return [number for number, each in enumerate(requests) if each._possibly_is_active]


def _wait(requests: Sequence[Any], text: str, first: bool = False, optional: bool = False) -> int | None:
    """Waits for all requests, or for one; the index of one that is done, None if that is not so."""
    active = _active(requests)
    sent = [number for number in active if requests[number]._possibly_take is None]
    waited = {requests[number]._possibly_name: number for number in active if number not in sent}
    if first and sent:
        return sent[0]
    here = gate.here()
    operation = Operation("wait", text, requests=tuple(waited), first=first, optional=optional)
    completion, _ = here.arrive(operation)
    delivered(here, completion)
    here.leave()
    if completion.nothing:
        return None
    return waited[completion.first] if first else next(iter(active), None)


def request_class(mpi: Any) -> Any:
    plain = mpi.Request

    class Request(plain):  # type: ignore[misc, valid-type]
        _possibly_name = ""
        _possibly_is_active = False
        _possibly_take: Take | None = None
        _possibly_made = ""
        _possibly_buffer: Any = None

        def _begins(self, word: str, buffer: Any = None) -> Any:
            """It is active from now on; `buffer` is that of a send, and a copy of it."""
            place = variables.place(variables.user_frame(sys._getframe(1)))
            self._possibly_is_active, self._possibly_made = True, f"{word} at {place}"
            self._possibly_buffer = buffer
            made.append(self)
            return self

        def _finished(self, status: Any = None) -> Any:
            buffer, self._possibly_buffer = self._possibly_buffer, None
            if buffer is not None and is_changed(*buffer):
                text = f"the buffer of {self._possibly_made} is written before the send is waited for"
                gate.here().tell("failed", text)
            take, self._possibly_take, self._possibly_is_active = self._possibly_take, None, False
            if take is None:
                return None
            copied_status(mpi, take.status, status)
            return take.value

        def wait(self, status: Any = None) -> Any:
            _wait([self], f"wait({self._possibly_name})")
            return self._finished(status)

        def test(self, status: Any = None) -> tuple[bool, Any]:
            text = f"test({self._possibly_name})"
            if self._possibly_take is not None and _wait([self], text, True, True) is None:
                return False, None
            return True, self._finished(status)

        @classmethod
        def waitall(cls, requests: Any, statuses: Any = None) -> list[Any]:
            _wait(requests, "waitall")
            return cls._all_finished(requests, statuses)

        @classmethod
        def testall(cls, requests: Any, statuses: Any = None) -> tuple[bool, list[Any] | None]:
            is_open = any(requests[number]._possibly_take is not None for number in _active(requests))
            if is_open and _wait(requests, "testall", optional=True) is None:
                return False, None
            return True, cls._all_finished(requests, statuses)

        @classmethod
        def _all_finished(cls, requests: Any, statuses: Any) -> list[Any]:
            return [each._finished(_at(mpi, statuses, number)) for number, each in enumerate(requests)]

        @classmethod
        def waitany(cls, requests: Any, status: Any = None) -> tuple[int, Any]:
            index = _wait(requests, "waitany", first=True) if _active(requests) else None
            return (mpi.UNDEFINED, None) if index is None else (index, requests[index]._finished(status))

        @classmethod
        def testany(cls, requests: Any, status: Any = None) -> tuple[int, bool, Any]:
            if not _active(requests):
                return mpi.UNDEFINED, True, None
            index = _wait(requests, "testany", first=True, optional=True)
            if index is None:
                return mpi.UNDEFINED, False, None
            return index, True, requests[index]._finished(status)

        @classmethod
        def waitsome(cls, requests: Any, statuses: Any = None) -> tuple[list[int] | None, list[Any] | None]:
            if not _active(requests):
                return None, None
            found = dict([cls.waitany(requests, _at(mpi, statuses, 0))])
            return cls._some(requests, statuses, found)

        @classmethod
        def testsome(cls, requests: Any, statuses: Any = None) -> tuple[list[int] | None, list[Any] | None]:
            return cls._some(requests, statuses, {}) if _active(requests) else (None, None)

        @classmethod
        def _some(cls, requests: Any, statuses: Any, found: dict[int, Any]) -> tuple[list[int], list[Any]]:
            for number in _active(requests):
                is_done, value = requests[number].test(_at(mpi, statuses, len(found)))
                if is_done:
                    found[number] = value
            return list(found), list(found.values())

        def Wait(self, status: Any = None) -> bool:  # noqa: N802
            self.wait(status)
            return True

        def Test(self, status: Any = None) -> bool:  # noqa: N802
            return self.test(status)[0]

        @classmethod
        def Waitall(cls, requests: Any, statuses: Any = None) -> bool:  # noqa: N802
            cls.waitall(requests, statuses)
            return True

        @classmethod
        def Testall(cls, requests: Any, statuses: Any = None) -> bool:  # noqa: N802
            return cls.testall(requests, statuses)[0]

        @classmethod
        def Waitany(cls, requests: Any, status: Any = None) -> int:  # noqa: N802
            return cls.waitany(requests, status)[0]

        @classmethod
        def Testany(cls, requests: Any, status: Any = None) -> tuple[int, bool]:  # noqa: N802
            return cls.testany(requests, status)[:2]

        @classmethod
        def Waitsome(cls, requests: Any, statuses: Any = None) -> list[int] | None:  # noqa: N802
            return cls.waitsome(requests, statuses)[0]

        @classmethod
        def Testsome(cls, requests: Any, statuses: Any = None) -> list[int] | None:  # noqa: N802
            return cls.testsome(requests, statuses)[0]

    for name in ("Free", "free"):
        if hasattr(plain, name):
            setattr(Request, name, _freed)
    for name in dir(plain):
        if name.lower().startswith(("cancel", "get_status")):
            setattr(Request, name, _noted(getattr(plain, name), name))
    return Request


def is_changed(buffer: Any, copy: Any) -> bool:
    """Whether a buffer, or the first item of a list that describes one, is not as it was."""
    one, two = (each[0] if isinstance(each, list | tuple) else each for each in (buffer, copy))
    try:
        return bytes(memoryview(one)) != bytes(memoryview(two))
    except (TypeError, ValueError, BufferError):
        return False


def _at(mpi: Any, statuses: Any, number: int) -> Any:
    """The status at that place of a list, which is made longer if need be."""
    if statuses is None:
        return None
    while len(statuses) <= number:
        statuses.append(mpi.Status())
    return statuses[number]


def _freed(self: Any) -> None:
    """MPI completes it by itself."""
    self._possibly_is_active = False


def _noted(plain: Any, name: str) -> Any:
    """It would ask the plain request, which knows nothing; a class method has no use for the request."""

    def noted(*arguments: Any, **options: Any) -> Any:
        gate.told(f"MPI {name} of a request")
        return plain(*arguments, **options)

    return noted
