"""`mpi4py` under a controller: messages go by the real MPI, but which one a receive gets is decided outside.

A receive asks the controller and then receives from the source and with the tag that it is told. A request
for a receive is only noted when it is posted; the message is taken when the controller has matched it. Sends
never block here: a standard send is buffered, a synchronous one waits at the controller until its receive is
matched. A collective in which everybody waits for everybody ends for all its ranks together; for those with a
root see `mpi_rooted`.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from possibly.control.macro.inside import gate, mpi_rooted
from possibly.control.macro.model import Completion, Operation, Receive
from possibly.probes.mpi import ALL_TO_ALL
from possibly.probes.patching import Patches

BUFFERED, SYNCHRONOUS = ("send", "bsend", "rsend"), ("ssend",)
POSTED = ("isend", "ibsend", "issend", "irsend")
SYNCHRONISED = (
    "scan", "exscan", "Scan", "Exscan", "Scatter", "Scatterv", "Gather", "Gatherv", "Reduce",
)  # fmt: skip
"""Collectives that make everybody wait here, though MPI need not: that is noted."""
UNCONTROLLED = (
    "Ibarrier", "Ibcast", "Igather", "Iscatter", "Iallgather", "Ireduce", "Iallreduce", "Ialltoall",
    "mprobe", "improbe", "Mprobe", "Improbe", "Send_init", "Recv_init",
)  # fmt: skip


def install(patches: Patches) -> None:
    from mpi4py import MPI

    request, communicator = _request_class(MPI), _communicator_class(MPI)
    world = communicator(MPI.COMM_WORLD)
    world._possibly_name = "world"
    communicator._possibly_request = request
    patches.put(MPI, "COMM_WORLD", world)
    patches.put(MPI, "Request", request)
    patches.put(MPI, "Intracomm", communicator)


def rank_name(rank: int) -> str:
    return f"rank{rank}"


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


def _request_class(mpi: Any) -> Any:
    plain = mpi.Request

    class Request(plain):  # type: ignore[misc, valid-type]
        """A request for a receive has the name of the receive; one for a send is done."""

        _possibly_name = ""
        _possibly_take: Take | None = None

        def wait(self, status: Any = None) -> Any:
            _wait([self], f"wait({self._possibly_name})")
            return self._finished(status)

        def Wait(self, status: Any = None) -> bool:  # noqa: N802
            self.wait(status)
            return True

        def test(self, status: Any = None) -> tuple[bool, Any]:
            if self._possibly_take is None:
                return True, None
            done = _wait([self], f"test({self._possibly_name})", first=True, optional=True)
            return (True, self._finished(status)) if done is not None else (False, None)

        def Test(self, status: Any = None) -> bool:  # noqa: N802
            return self.test(status)[0]

        def _finished(self, status: Any) -> Any:
            take, self._possibly_take = self._possibly_take, None
            if take is None:
                return None
            _copy(mpi, take.status, status)
            return take.value

        @classmethod
        def waitall(cls, requests: Any, statuses: Any = None) -> Any:
            _wait(list(requests), "waitall")
            return [each._finished(None) for each in requests]

        @classmethod
        def Waitall(cls, requests: Any, statuses: Any = None) -> bool:  # noqa: N802
            cls.waitall(requests, statuses)
            return True

        @classmethod
        def waitany(cls, requests: Any, status: Any = None) -> tuple[int, Any]:
            index = _wait(list(requests), "waitany", first=True)
            if index is None:
                return mpi.UNDEFINED, None
            return index, requests[index]._finished(status)

        @classmethod
        def Waitany(cls, requests: Any, status: Any = None) -> int:  # noqa: N802
            return cls.waitany(requests, status)[0]

    for name in ("testall", "testany", "waitsome", "testsome", "Testall", "Testany", "Waitsome", "Testsome"):
        setattr(Request, name, classmethod(_refused(f"Request.{name}")))
    return Request


def _refused(name: str) -> Callable[..., Any]:
    def refused(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"{name} cannot be controlled in macro-steps")

    return refused


def _copy(mpi: Any, found: Any, into: Any) -> None:
    if into is not None:
        into.Set_source(found.Get_source())
        into.Set_tag(found.Get_tag())
        into.Set_elements(mpi.BYTE, found.Get_count(mpi.BYTE))


def _wait(requests: list[Any], text: str, first: bool = False, optional: bool = False) -> int | None:
    """Waits for all requests, or for one, whose index is the result."""
    open_ = {each._possibly_name: i for i, each in enumerate(requests) if each._possibly_take is not None}
    if first and len(open_) < len(requests):
        return next(i for i, each in enumerate(requests) if each._possibly_take is None)
    here = gate.here()
    operation = Operation("wait", text, requests=tuple(open_), first=first, optional=optional)
    completion, _ = here.arrive(operation)
    delivered(here, completion)
    here.leave()
    return open_.get(completion.first) if first else None


def _communicator_class(mpi: Any) -> Any:
    plain = mpi.Intracomm

    class Intracomm(plain):  # type: ignore[misc, valid-type]
        _possibly_name = ""
        _possibly_request: Any = None

        # ---- names --------------------------------------------------------------------------

        def _name(self) -> str:
            return self.__dict__.get("_possibly_name") or type(self)._possibly_name or "comm"

        def _members(self) -> list[str]:
            found: list[str] | None = self.__dict__.get("_possibly_members")
            if found is None:
                world = mpi.COMM_WORLD.Get_group()
                own = self.Get_group()
                ranks = own.Translate_ranks(list(range(own.Get_size())), world)
                found = self.__dict__["_possibly_members"] = [rank_name(rank) for rank in ranks]
            return found

        def _channel(self, rank: int) -> str:
            return f"{self._name()}:{self._members()[rank]}"

        def _index(self) -> dict[str, int]:
            return {name: rank for rank, name in enumerate(self._members())}

        # ---- receiving ----------------------------------------------------------------------

        def _posted(self, source: int, tag: int, **how: bool) -> Receive:
            return Receive(
                gate.here().receive_name(),
                gate.here().name,
                (self._channel(self.Get_rank()),),
                None if source == mpi.ANY_SOURCE else self._members()[source],
                None if tag == mpi.ANY_TAG else str(tag),
                mailbox=True,
                **how,
            )

        def _received(
            self, word: str, plainly: Callable[..., Any], source: int, tag: int, **how: bool
        ) -> Any:
            if source == mpi.PROC_NULL:
                return None
            here, receive = gate.here(), self._posted(source, tag, **how)
            take = here.fetch[receive.name] = Take(mpi, plainly, self._index())
            whom = "ANY_SOURCE" if receive.source is None else receive.source
            text = f"{word}({whom}{'' if receive.tag is None else f', tag={tag}'})"
            completion, _ = here.arrive(Operation("receive", text, receive=receive))
            delivered(here, completion)
            here.leave()
            return None if completion.nothing else take

        def recv(self, buf: Any = None, source: int = -2, tag: int = -1, status: Any = None) -> Any:
            source, tag = _wild(mpi, source, tag)
            base: Any = super()
            take = self._received("recv", lambda s, t, st: base.recv(buf, s, t, st), source, tag)
            return _handed(mpi, take, status)

        def Recv(self, buf: Any, source: int = -2, tag: int = -1, status: Any = None) -> None:  # noqa: N802
            source, tag = _wild(mpi, source, tag)
            base: Any = super()
            take = self._received("Recv", lambda s, t, st: base.Recv(buf, s, t, st), source, tag)
            _handed(mpi, take, status)

        def probe(self, source: int = -2, tag: int = -1, status: Any = None) -> bool:
            source, tag = _wild(mpi, source, tag)
            base: Any = super()
            looking = lambda s, t, st: base.probe(s, t, st)  # noqa: E731
            _handed(mpi, self._received("probe", looking, source, tag, peeks=True), status)
            return True

        def iprobe(self, source: int = -2, tag: int = -1, status: Any = None) -> bool:
            source, tag = _wild(mpi, source, tag)
            base: Any = super()
            looking = lambda s, t, st: base.probe(s, t, st)  # noqa: E731
            take = self._received("iprobe", looking, source, tag, peeks=True, optional=True)
            _handed(mpi, take, status)
            return take is not None

        Probe, Iprobe = probe, iprobe

        def _request(self, plainly: Callable[..., Any], source: int, tag: int) -> Any:
            here, receive = gate.here(), self._posted(*_wild(mpi, source, tag))
            here.posts.append(receive)
            found = self._possibly_request(mpi.REQUEST_NULL)
            found._possibly_name = receive.name
            found._possibly_take = here.fetch[receive.name] = Take(mpi, plainly, self._index())
            return found

        def irecv(self, buf: Any = None, source: int = -2, tag: int = -1) -> Any:
            base: Any = super()
            return self._request(lambda s, t, st: base.recv(buf, s, t, st), source, tag)

        def Irecv(self, buf: Any, source: int = -2, tag: int = -1) -> Any:  # noqa: N802
            base: Any = super()
            return self._request(lambda s, t, st: base.Recv(buf, s, t, st), source, tag)

        # ---- sending ------------------------------------------------------------------------

        def _send(
            self, word: str, plainly: Callable[[], Any], dest: int, tag: int, synchronous: bool
        ) -> None:
            if dest == mpi.PROC_NULL:
                return
            here = gate.here()
            whom = self._members()[dest]
            text = f"{word}({whom}{f', tag={tag}' if tag else ''})"
            operation = Operation(
                "send", text, channel=self._channel(dest), to=whom, tag=str(tag), synchronous=synchronous,
                order="source",
            )  # fmt: skip
            sent = plainly()  # at once, so that its receive finds it whenever that is let go on
            if sent is not None:
                self.__dict__.setdefault("_possibly_sent", []).append(sent)
            completion, _ = here.arrive(operation)
            delivered(here, completion)
            here.leave()

        def _buffered(self, buf: Any, dest: int, tag: int) -> Any:
            """The buffer may be used again at once: a copy of it is sent, and kept."""
            kept = _copied(buf)
            return super().Isend(kept, dest, tag), kept

        def sendrecv(
            self,
            sendobj: Any,
            dest: int,
            sendtag: int = 0,
            recvbuf: Any = None,
            source: int = -2,
            recvtag: int = -1,
            status: Any = None,
        ) -> Any:
            self.send(sendobj, dest, sendtag)
            return self.recv(recvbuf, source, recvtag, status)

        # ---- communicators ------------------------------------------------------------------

        def _round(self, word: str, awaited: tuple[str, ...] | None = None) -> None:
            """The next collective; it waits for those members to come, for all of them unless told."""
            counts: dict[str, int] = self.__dict__.setdefault("_possibly_rounds", {"": 0})
            counts[""] += 1
            channel = f"{self._name()}:{word}:{counts['']}"
            here = gate.here()
            members = tuple(self._members()) if awaited is None else awaited
            completion, _ = here.arrive(Operation("collective", word, channel=channel, members=members))
            delivered(here, completion)

        def Split(self, color: int = 0, key: int = 0) -> Any:  # noqa: N802
            self._round("Split")
            return self._derived(super().Split(color, key), f"{color}")

        def Dup(self, info: Any = None) -> Any:  # noqa: N802
            self._round("Dup")
            return self._derived(super().Dup(info), "dup")

        def _derived(self, made: Any, word: str) -> Any:
            gate.here().leave()
            number = self.__dict__["_possibly_rounds"][""]
            if made == mpi.COMM_NULL:
                return made
            found = Intracomm(made)
            found._possibly_name = f"{self._name()}/{number}.{word}"
            return found

    def sending(name: str) -> Any:
        def send(self: Any, obj: Any, dest: int, tag: int = 0) -> Any:
            synchronous = name.lower() in SYNCHRONOUS
            if name.lower() == "issend":
                gate.told("MPI issend: its request does not wait for the receive")
            if name[0].isupper():
                self._send(name, lambda: self._buffered(obj, dest, tag), dest, tag, synchronous)
            else:
                self._send(name, lambda: plain.isend(self, obj, dest, tag), dest, tag, synchronous)
            return self._possibly_request(mpi.REQUEST_NULL) if name.lower() in POSTED else None

        return send

    def collective(name: str) -> Any:
        plainly = getattr(plain, name)

        def together(self: Any, *arguments: Any, **options: Any) -> Any:
            if name in SYNCHRONISED:
                gate.told(f"MPI {name}: it makes everybody wait for everybody")
            self._round(name.lower())
            found = plainly(self, *arguments, **options)
            gate.here().leave()
            return found

        return together

    def uncontrolled(name: str) -> Any:
        plainly = getattr(plain, name)

        def noted(self: Any, *arguments: Any, **options: Any) -> Any:
            gate.told(f"MPI {name}")
            return plainly(self, *arguments, **options)

        return noted

    for name in (*BUFFERED, *SYNCHRONOUS, *POSTED):
        for spelling in (name, name.capitalize()):
            if hasattr(plain, spelling):
                setattr(Intracomm, spelling, sending(spelling))
    for name in (*ALL_TO_ALL, *SYNCHRONISED):
        if hasattr(plain, name):
            setattr(Intracomm, name, collective(name))
    mpi_rooted.install(mpi, plain, Intracomm)
    for name in UNCONTROLLED:
        if hasattr(plain, name):
            setattr(Intracomm, name, uncontrolled(name))
    return Intracomm


def _copied(buffer: Any) -> Any:
    """A buffer, or a list of a buffer, its count and its type."""
    if isinstance(buffer, list | tuple):
        return [_copied(buffer[0]), *buffer[1:]]
    return bytearray(buffer) if isinstance(buffer, memoryview) else copy(buffer)


def _wild(mpi: Any, source: int, tag: int) -> tuple[int, int]:
    """The defaults of mpi4py are the wildcards."""
    return (mpi.ANY_SOURCE if source == -2 else source), (mpi.ANY_TAG if tag == -1 else tag)


def _handed(mpi: Any, take: Take | None, status: Any) -> Any:
    if take is None:
        return None
    _copy(mpi, take.status, status)
    return take.value
