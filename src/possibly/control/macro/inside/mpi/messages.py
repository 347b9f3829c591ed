"""`mpi4py` under a controller: messages go by the real MPI, but which one a receive gets is decided outside.

A receive asks the controller and then receives from the source and with the tag that it is told. A request
for a receive is only noted when it is posted; the message is taken when the controller has matched it. Sends
never block here: a standard send is buffered, unless no buffering is asked for, a synchronous one waits at
the controller until its receive is matched. A collective in which everybody waits for everybody ends for all
its ranks together; for those with a root see `mpi_rooted`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from copy import copy
from typing import Any

from possibly.control.macro.inside import gate
from possibly.control.macro.inside.mpi import rooted as mpi_rooted
from possibly.control.macro.inside.mpi.requests import Take, copied_status, delivered, request_class
from possibly.control.macro.inside.mpi.under_way import is_sending, keep
from possibly.control.macro.model import Operation, Receive
from possibly.probes.mpi import ALL_TO_ALL
from possibly.probes.patching import Patches
from possibly.recorder.snapshot import snapshot

BUFFERED, SYNCHRONOUS = ("send", "bsend", "rsend"), ("ssend",)
STANDARD = ("send", "rsend")
"""Those that may wait for their receive, if MPI has no room to buffer them."""
POSTED = ("isend", "ibsend", "issend", "irsend")
SYNCHRONISED = (
    "scan", "exscan", "Scan", "Exscan", "Scatter", "Scatterv", "Gather", "Gatherv", "Reduce",
)  # fmt: skip
"""Collectives that make everybody wait here, though MPI need not: that is noted."""
WINDOWS = ("Allocate", "Allocate_shared", "Create", "Create_dynamic")
HARMLESS = (
    "Get_", "Set_", "Is_", "Compare", "Free", "Abort", "Call_errhandler", "Create_errhandler", "Disconnect",
    "Create_keyval", "Delete_attr", "Attach_buffer", "Detach_buffer", "Flush_buffer", "free", "f2py", "py2f",
    "fromhandle", "fromint", "toint",
)  # fmt: skip
"""How the methods begin that neither send nor receive. All that are not controlled and not here are noted."""


def install(patches: Patches) -> None:
    from mpi4py import MPI

    gate.is_busy = is_sending

    request, communicator = request_class(MPI), _communicator_class(MPI)
    world = communicator(MPI.COMM_WORLD)
    world._possibly_name = "world"
    communicator._possibly_request = request
    patches.put(MPI, "COMM_WORLD", world)
    patches.put(MPI, "Request", request)
    patches.put(MPI, "Intracomm", communicator)
    window = type("Win", (MPI.Win,), {name: noted(MPI.Win, name) for name in WINDOWS})
    patches.put(MPI, "Win", window)


def noted(plain: Any, name: str) -> Any:
    """A method that cannot be controlled: it does what it does, and that is told."""
    plainly = getattr(plain, name)
    is_of_the_class = getattr(plainly, "__self__", None) is plain

    def told(*arguments: Any, **options: Any) -> Any:
        gate.told(f"MPI {name}")
        return plainly(*arguments, **options)

    return staticmethod(told) if is_of_the_class else told


def of_the_rank() -> gate.Gate:
    """The gate of the running rank; its other threads would send and receive as the same rank."""
    if threading.current_thread() is not threading.main_thread():
        gate.refuse("MPI in a second thread of a rank")
    return gate.here()


def rank_name(rank: int) -> str:
    return f"rank{rank}"


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
            here = of_the_rank()
            return Receive(
                here.receive_name(),
                here.name,
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
            here, receive = of_the_rank(), self._posted(source, tag, **how)
            take = here.fetch[receive.name] = Take(mpi, plainly, self._index())
            whom = "ANY_SOURCE" if receive.source is None else receive.source
            text = f"{word}({whom}{'' if receive.tag is None else f', tag={tag}'})"
            completion, _ = here.arrive(Operation("receive", text, receive=receive))
            delivered(here, completion)
            here.leave()
            return None if completion.nothing else take

        def recv(
            self, buf: Any = None, source: int | None = None, tag: int | None = None, status: Any = None
        ) -> Any:
            source, tag = _wild(mpi, source, tag)
            base: Any = super()
            take = self._received("recv", lambda s, t, st: base.recv(buf, s, t, st), source, tag)
            return _handed(mpi, take, status)

        def Recv(  # noqa: N802
            self, buf: Any, source: int | None = None, tag: int | None = None, status: Any = None
        ) -> None:
            source, tag = _wild(mpi, source, tag)
            base: Any = super()
            take = self._received("Recv", lambda s, t, st: base.Recv(buf, s, t, st), source, tag)
            _handed(mpi, take, status)

        def probe(self, source: int | None = None, tag: int | None = None, status: Any = None) -> bool:
            source, tag = _wild(mpi, source, tag)
            base: Any = super()
            looking = lambda s, t, st: base.probe(s, t, st)  # noqa: E731
            _handed(mpi, self._received("probe", looking, source, tag, peeks=True), status)
            return True

        def iprobe(self, source: int | None = None, tag: int | None = None, status: Any = None) -> bool:
            source, tag = _wild(mpi, source, tag)
            base: Any = super()
            looking = lambda s, t, st: base.probe(s, t, st)  # noqa: E731
            take = self._received("iprobe", looking, source, tag, peeks=True, optional=True)
            _handed(mpi, take, status)
            return take is not None

        Probe, Iprobe = probe, iprobe

        def _request(self, plainly: Callable[..., Any], source: int | None, tag: int | None) -> Any:
            if source == mpi.PROC_NULL:
                return self._possibly_request(mpi.REQUEST_NULL)
            here, receive = of_the_rank(), self._posted(*_wild(mpi, source, tag))
            here.posts.append(receive)
            found = self._possibly_request(mpi.REQUEST_NULL)
            found._begins("irecv")._possibly_name = receive.name
            found._possibly_take = here.fetch[receive.name] = Take(mpi, plainly, self._index())
            return found

        def irecv(self, buf: Any = None, source: int | None = None, tag: int | None = None) -> Any:
            base: Any = super()
            return self._request(lambda s, t, st: base.recv(buf, s, t, st), source, tag)

        def Irecv(self, buf: Any, source: int | None = None, tag: int | None = None) -> Any:  # noqa: N802
            base: Any = super()
            return self._request(lambda s, t, st: base.Recv(buf, s, t, st), source, tag)

        # ---- sending ------------------------------------------------------------------------

        def _send(
            self, word: str, value: Any, plainly: Callable[[], Any], dest: int, tag: int, synchronous: bool
        ) -> None:
            if dest == mpi.PROC_NULL:
                return
            here = of_the_rank()
            whom = self._members()[dest]
            text = f"{word}({whom}{f', tag={tag}' if tag else ''})"
            operation = Operation(
                "send", text, channel=self._channel(dest), to=whom, tag=str(tag), synchronous=synchronous,
                order="source", value=(snapshot(value),),
            )  # fmt: skip
            sent = plainly()  # at once, so that its receive finds it whenever that is let go on
            if sent is not None:
                self.__dict__["_possibly_sent"] = sent
                keep(sent)
            completion, _ = here.arrive(operation)
            delivered(here, completion)
            here.leave()

        def _sent_request(self, word: str, buffer: Any) -> Any:
            """It is done, and nobody has seen that yet."""
            copy = self.__dict__["_possibly_sent"][1] if buffer is not None else None
            found = self._possibly_request(mpi.REQUEST_NULL)
            return found._begins(word, None if buffer is None else (buffer, copy))

        def _buffered(self, buf: Any, dest: int, tag: int) -> Any:
            """The buffer may be used again at once: a copy of it is sent, and kept."""
            kept = _copied(buf)
            return super().Isend(kept, dest, tag), kept

        def _beside(self, send: Callable[..., Any], *what: Any) -> None:
            """A send that goes on beside a receive waits for nobody."""
            unbuffered, gate.unbuffered = gate.unbuffered, False
            try:
                send(*what)
            finally:
                gate.unbuffered = unbuffered

        def sendrecv(
            self,
            sendobj: Any,
            dest: int,
            sendtag: int = 0,
            recvbuf: Any = None,
            source: int | None = None,
            recvtag: int | None = None,
            status: Any = None,
        ) -> Any:
            self._beside(self.send, sendobj, dest, sendtag)
            return self.recv(recvbuf, source, recvtag, status)

        def Sendrecv(  # noqa: N802
            self,
            sendbuf: Any,
            dest: int,
            sendtag: int = 0,
            recvbuf: Any = None,
            source: int | None = None,
            recvtag: int | None = None,
            status: Any = None,
        ) -> None:
            self._beside(self.Send, sendbuf, dest, sendtag)
            self.Recv(recvbuf, source, recvtag, status)

        # ---- communicators ------------------------------------------------------------------

        def _round(self, word: str, awaited: tuple[str, ...] | None = None) -> None:
            """The next collective; it waits for those members to come, for all of them unless told."""
            counts: dict[str, int] = self.__dict__.setdefault("_possibly_rounds", {"": 0})
            counts[""] += 1
            channel = f"{self._name()}:{word}:{counts['']}"
            here = of_the_rank()
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
            synchronous = name.lower() in (*SYNCHRONOUS, *(STANDARD if gate.unbuffered else ()))
            if name.lower() == "issend":
                gate.told("MPI issend: its request does not wait for the receive")
            if name[0].isupper():
                self._send(name, obj, lambda: self._buffered(obj, dest, tag), dest, tag, synchronous)
            else:
                self._send(name, obj, lambda: plain.isend(self, obj, dest, tag), dest, tag, synchronous)
            if name.lower() not in POSTED or dest == mpi.PROC_NULL:
                return self._possibly_request(mpi.REQUEST_NULL) if name.lower() in POSTED else None
            return self._sent_request(name, obj if name[0].isupper() else None)

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

    for name in (*BUFFERED, *SYNCHRONOUS, *POSTED):
        for spelling in (name, name.capitalize()):
            if hasattr(plain, spelling):
                setattr(Intracomm, spelling, sending(spelling))
    for name in (*ALL_TO_ALL, *SYNCHRONISED):
        if hasattr(plain, name):
            setattr(Intracomm, name, collective(name))
    mpi_rooted.install(mpi, plain, Intracomm)
    for name in dir(plain):
        is_left = not name.startswith(("_", *HARMLESS)) and name not in vars(Intracomm)
        if is_left and callable(getattr(plain, name)):
            setattr(Intracomm, name, noted(plain, name))
    return Intracomm


def _copied(buffer: Any) -> Any:
    """A buffer, or a list of a buffer, its count and its type."""
    if isinstance(buffer, list | tuple):
        return [_copied(buffer[0]), *buffer[1:]]
    return bytearray(buffer) if isinstance(buffer, memoryview) else copy(buffer)


def _wild(mpi: Any, source: int | None, tag: int | None) -> tuple[int, int]:
    """What is not said may be anything."""
    return mpi.ANY_SOURCE if source is None else source, mpi.ANY_TAG if tag is None else tag


def _handed(mpi: Any, take: Take | None, status: Any) -> Any:
    if take is None:
        return None
    copied_status(mpi, take.status, status)
    return take.value
