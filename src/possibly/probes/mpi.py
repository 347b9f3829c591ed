"""`mpi4py`: point-to-point messages, probes and collectives of a communicator and of those made from it.

A message is known by its sender, receiver, tag and number among these, which MPI delivers in order. An
object (`send`, `isend`, ...) carries that name, so a receive knows its send however it was matched. A
buffer (`Send`, `Isend`, ...) cannot: it is counted where it arrives; several pending `Irecv` from one
sender with one tag must be waited for in the order in which they were posted. A probe learns of the next
message that its rank has not received: while an `irecv` is pending that may be an earlier one than the
probe saw, which gives less order, never too much.

A collective that makes everybody wait for everybody is one joint event; from a root it orders the root
before the others, to a root the others before it. One that does not block orders its calls before the ends
of the waits for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from possibly.probes import port
from possibly.probes.patching import Patches
from possibly.probes.processes.pipes import Carried

SENDS = ("send", "ssend", "bsend")
POSTED_SENDS = ("isend", "issend", "ibsend")
BUFFER_SENDS = ("Send", "Ssend", "Bsend", "Rsend", "Isend", "Issend", "Ibsend", "Irsend")
ALL_TO_ALL = (
    "barrier", "allgather", "alltoall", "allreduce", "Barrier", "Allgather", "Allgatherv", "Alltoall",
    "Alltoallv",
    "Allreduce", "Reduce_scatter",
)  # fmt: skip
FROM_ROOT = ("bcast", "scatter", "Bcast", "Scatter", "Scatterv")
STARTED_ALL_TO_ALL = (
    "Ibarrier", "Iallgather", "Iallgatherv", "Ialltoall", "Ialltoallv", "Iallreduce", "Ireduce_scatter",
)  # fmt: skip
STARTED_FROM_ROOT = ("Ibcast", "Iscatter", "Iscatterv")
STARTED_TO_ROOT = ("Igather", "Igatherv", "Ireduce")
TO_ROOT = ("gather", "reduce", "Gather", "Gatherv", "Reduce")


def install(patches: Patches) -> None:
    from mpi4py import MPI

    request, communicator = _request_class(MPI), _communicator_class(MPI)
    world = communicator(MPI.COMM_WORLD)
    world._possibly_name = "world"
    communicator._possibly_request = request
    communicator._possibly_message = _message_class(MPI)
    patches.put(MPI, "COMM_WORLD", world)
    patches.put(MPI, "Request", request)
    patches.put(MPI, "Intracomm", communicator)


def received(value: Any) -> Any:
    if type(value) is Carried:
        port.after("get", value.token)
        return value.value
    return value


def _message_class(mpi: Any) -> Any:
    plain = mpi.Message

    class Message(plain):  # type: ignore[misc, valid-type]
        """A message that a probe has matched."""

        _possibly_owner: Any = None

        def recv(self, status: Any = None) -> Any:
            return self._possibly_owner._received(super().recv(status))

        def irecv(self) -> Any:
            return self._possibly_owner._posted(super().irecv())

        def Recv(self, buf: Any, status: Any = None) -> None:  # noqa: N802
            status = mpi.Status() if status is None else status
            super().Recv(buf, status)
            self._possibly_owner._told_buffer(status)

    return Message


def _request_class(mpi: Any) -> Any:
    plain = mpi.Request

    class Request(plain):  # type: ignore[misc, valid-type]
        """A request whose message is told when its receiver gets it."""

        _possibly_done: Callable[[Any], None] | None = None
        _possibly_owner: Any = None
        """The communicator of a posted receive."""

        def wait(self, status: Any = None) -> Any:
            return self._received(super().wait(status))

        def test(self, status: Any = None) -> Any:
            done, value = super().test(status)
            return done, self._received(value)

        def _received(self, value: Any) -> Any:
            return received(value) if self._possibly_owner is None else self._possibly_owner._received(value)

        def Wait(self, status: Any = None) -> Any:  # noqa: N802
            status = mpi.Status() if status is None else status
            found = super().Wait(status)
            self._arrived(status)
            return found

        def Test(self, status: Any = None) -> Any:  # noqa: N802
            status = mpi.Status() if status is None else status
            found = super().Test(status)
            if found:
                self._arrived(status)
            return found

        def _arrived(self, status: Any) -> None:
            told, self._possibly_done = self._possibly_done, None
            if told is not None:
                told(status)

        @classmethod
        def waitall(cls, requests: Any, statuses: Any = None) -> Any:
            return [received(value) for value in plain.waitall(requests, statuses)]

        @classmethod
        def waitany(cls, requests: Any, status: Any = None) -> Any:
            index, value = plain.waitany(requests, status)
            return index, received(value)

        @classmethod
        def Waitall(cls, requests: Any, statuses: Any = None) -> Any:  # noqa: N802
            for each in requests:
                each.Wait()
            return True

    return Request


def _communicator_class(mpi: Any) -> Any:
    plain = mpi.Intracomm

    class Intracomm(plain):  # type: ignore[misc, valid-type]
        _possibly_name = ""
        _possibly_request: Any = None

        @property
        def _counts(self) -> dict[Any, int]:
            found: dict[Any, int] = self.__dict__.setdefault("_possibly_counts", {})
            return found

        def _count(self, key: Any) -> int:
            self._counts[key] = self._counts.get(key, 0) + 1
            return self._counts[key]

        def _name(self) -> str:
            return self.__dict__.get("_possibly_name") or type(self)._possibly_name or "comm"

        def _key(self, sender: int, receiver: int, tag: int, number: int) -> str:
            return f"mpi:{self._name()}:{sender}>{receiver}:{tag}:{number}"

        def _sent(self, value: Any, dest: int, tag: int) -> Carried:
            number = self._count(("out", dest, tag))
            token = self._key(self.Get_rank(), dest, tag, number)
            port.before("put", token)
            return Carried(token, value)

        def _received(self, value: Any) -> Any:
            if type(value) is Carried:
                pair, tag, number = value.token.rsplit(":", 3)[1:]
                key = ("in", int(pair.partition(">")[0]), int(tag))
                self._counts[key] = max(self._counts.get(key, 0), int(number))
            return received(value)

        def _posted(self, request: Any) -> Any:
            found = self._possibly_request(request)
            found._possibly_owner = self
            return found

        def recv(self, *arguments: Any, **options: Any) -> Any:
            return self._received(super().recv(*arguments, **options))

        def irecv(self, *arguments: Any, **options: Any) -> Any:
            return self._posted(super().irecv(*arguments, **options))

        def sendrecv(self, sendobj: Any, dest: int, sendtag: int = 0, *more: Any, **options: Any) -> Any:
            carried = self._sent(sendobj, dest, sendtag)
            return self._received(super().sendrecv(carried, dest, sendtag, *more, **options))

        def probe(self, source: int = -2, tag: int = -1, status: Any = None) -> Any:
            return self._probed(super().probe, source, tag, status)

        def iprobe(self, source: int = -2, tag: int = -1, status: Any = None) -> Any:
            return self._probed(super().iprobe, source, tag, status)

        def mprobe(self, source: int = -2, tag: int = -1, status: Any = None) -> Any:
            return self._matched(self._probed(super().mprobe, source, tag, status))

        def improbe(self, source: int = -2, tag: int = -1, status: Any = None) -> Any:
            return self._matched(self._probed(super().improbe, source, tag, status))

        Probe, Iprobe, Mprobe, Improbe = probe, iprobe, mprobe, improbe

        def _probed(self, plain: Any, source: int, tag: int, status: Any) -> Any:
            status = mpi.Status() if status is None else status
            source = mpi.ANY_SOURCE if source == -2 else source
            found = plain(source, mpi.ANY_TAG if tag == -1 else tag, status)
            if found:
                sender, tag = status.Get_source(), status.Get_tag()
                number = self._counts.get(("in", sender, tag), 0) + 1
                port.after("peek", self._key(sender, self.Get_rank(), tag, number))
            return found

        def _matched(self, message: Any) -> Any:
            if message is None:
                return None
            found = self._possibly_message(message)
            found._possibly_owner = self
            return found

        def Recv(self, buf: Any, source: int = -2, tag: int = -1, status: Any = None) -> None:  # noqa: N802
            status = mpi.Status() if status is None else status
            super().Recv(
                buf, mpi.ANY_SOURCE if source == -2 else source, mpi.ANY_TAG if tag == -1 else tag, status
            )
            self._told_buffer(status)

        def Irecv(self, buf: Any, source: int = -2, tag: int = -1) -> Any:  # noqa: N802
            source = mpi.ANY_SOURCE if source == -2 else source
            found = self._possibly_request(super().Irecv(buf, source, mpi.ANY_TAG if tag == -1 else tag))
            found._possibly_done = self._told_buffer
            return found

        def _told_buffer(self, status: Any) -> None:
            sender, tag = status.Get_source(), status.Get_tag()
            number = self._count(("in", sender, tag))
            port.after("get", self._key(sender, self.Get_rank(), tag, number))

        def Split(self, color: int = 0, key: int = 0) -> Any:  # noqa: N802
            return self._derived(super().Split(color, key), f"{color}")

        def Dup(self, info: Any = None) -> Any:  # noqa: N802
            return self._derived(super().Dup(info), "dup")

        def _derived(self, made: Any, word: str) -> Any:
            number = self._count("made")
            if made == mpi.COMM_NULL:
                return made
            found = Intracomm(made)
            found._possibly_name = f"{self._name()}/{number}.{word}"
            return found

    for name in SENDS + POSTED_SENDS:
        setattr(Intracomm, name, _told_send(getattr(plain, name)))
    for name in BUFFER_SENDS:
        setattr(Intracomm, name, _told_buffer_send(getattr(plain, name)))
    for names, told in (
        (ALL_TO_ALL, _all_to_all), (FROM_ROOT, _from_root), (TO_ROOT, _to_root),
        (STARTED_ALL_TO_ALL, _started_all_to_all), (STARTED_FROM_ROOT, _started_from_root),
        (STARTED_TO_ROOT, _started_to_root),
    ):  # fmt: skip
        for name in names:
            setattr(Intracomm, name, told(getattr(plain, name)))
    return Intracomm


def _told_send(plain: Any) -> Any:
    def send(self: Any, obj: Any, dest: int, tag: int = 0) -> Any:
        return plain(self, self._sent(obj, dest, tag), dest, tag)

    return send


def _told_buffer_send(plain: Any) -> Any:
    def send(self: Any, buf: Any, dest: int, tag: int = 0) -> Any:
        number = self._count(("out", dest, tag))
        port.before("put", self._key(self.Get_rank(), dest, tag, number))
        return plain(self, buf, dest, tag)

    return send


def _round(self: Any) -> str:
    return f"mpi:{self._name()}:round{self._count('round')}"


def _all_to_all(plain: Any) -> Any:
    def collective(self: Any, *arguments: Any, **options: Any) -> Any:
        port.before("arrive", _round(self), self.Get_size())
        return plain(self, *arguments, **options)

    return collective


def _from_root(plain: Any) -> Any:
    def collective(self: Any, *arguments: Any, **options: Any) -> Any:
        token, is_root = _round(self), _is_root(self, plain, arguments, options)
        if is_root:
            port.before("leave", token)
        found = plain(self, *arguments, **options)
        if not is_root:
            port.after("passed", token, 1)
        return found

    return collective


def _to_root(plain: Any) -> Any:
    def collective(self: Any, *arguments: Any, **options: Any) -> Any:
        token, is_root = _round(self), _is_root(self, plain, arguments, options)
        if not is_root:
            port.before("leave", token)
        found = plain(self, *arguments, **options)
        if is_root:
            port.after("passed", token, self.Get_size() - 1)
        return found

    return collective


def _started_all_to_all(plain: Any) -> Any:
    def collective(self: Any, *arguments: Any, **options: Any) -> Any:
        token = _round(self)
        port.before("leave", token)
        return _told_at_the_end(self, plain(self, *arguments, **options), token, self.Get_size())

    return collective


def _started_from_root(plain: Any) -> Any:
    def collective(self: Any, *arguments: Any, **options: Any) -> Any:
        token, is_root = _round(self), _is_root(self, plain, arguments, options)
        if is_root:
            port.before("leave", token)
        found = plain(self, *arguments, **options)
        return found if is_root else _told_at_the_end(self, found, token, 1)

    return collective


def _started_to_root(plain: Any) -> Any:
    def collective(self: Any, *arguments: Any, **options: Any) -> Any:
        token, is_root = _round(self), _is_root(self, plain, arguments, options)
        if not is_root:
            port.before("leave", token)
        found = plain(self, *arguments, **options)
        return _told_at_the_end(self, found, token, self.Get_size() - 1) if is_root else found

    return collective


def _told_at_the_end(self: Any, request: Any, token: str, count: int) -> Any:
    found = self._possibly_request(request)
    found._possibly_done = lambda _: port.after("passed", token, count)
    return found


_BEFORE_ROOT = {"bcast": 1, "Bcast": 1, "Ibcast": 1, "gather": 1, "reduce": 2, "Reduce": 3, "Ireduce": 3}
"""How many arguments stand before `root`; two for the others."""


def _is_root(self: Any, plain: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> bool:
    position = _BEFORE_ROOT.get(plain.__name__, 2)
    position = 1 if plain.__name__ == "scatter" else position
    root = arguments[position] if len(arguments) > position else options.get("root", 0)
    found: bool = self.Get_rank() == root
    return found
