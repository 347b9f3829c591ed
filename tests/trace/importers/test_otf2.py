"""Archives of OTF2: written by its own library, read as processes, functions, messages and meetings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from possibly.errors import TraceError
from possibly.trace import Trace
from possibly.trace.importers.otf2 import import_otf2

otf2 = pytest.importorskip("otf2")


class Archive:
    """An archive of some ranks, an event at each call."""

    def __init__(self, archive: Any, ranks: int) -> None:
        self.definitions = archive.definitions
        system = self.definitions.system_tree_node("node")
        self.writers, locations = [], []
        for rank in range(ranks):
            group = self.definitions.location_group(f"MPI Rank {rank}", system_tree_parent=system)
            location = self.definitions.location("Master thread", group=group)
            locations.append(location)
            self.writers.append(archive.event_writer_from_location(location))
        for kind in (otf2.GroupType.COMM_LOCATIONS, otf2.GroupType.COMM_GROUP):
            everyone = self.definitions.group(
                str(kind), group_type=kind, paradigm=otf2.Paradigm.MPI, members=locations
            )
        self.world = self.definitions.comm("MPI_COMM_WORLD", group=everyone)
        self.time = 0

    def add(self, rank: int, name: str, **fields: Any) -> None:
        self.time += 1
        getattr(self.writers[rank], name)(self.time, **fields)

    def send(self, rank: int, receiver: int, tag: int = 1) -> None:
        self.add(rank, "mpi_send", receiver=receiver, communicator=self.world, msg_tag=tag, msg_length=8)

    def receive(self, rank: int, sender: int, tag: int = 1) -> None:
        self.add(rank, "mpi_recv", sender=sender, communicator=self.world, msg_tag=tag, msg_length=8)

    def all(self, operation: str, root: int = 0) -> None:
        for rank in range(len(self.writers)):
            self.add(rank, "mpi_collective_begin")
        for rank in range(len(self.writers)):
            self.add(
                rank,
                "mpi_collective_end",
                collective_op=getattr(otf2.CollectiveOp, operation),
                communicator=self.world,
                root=root,
                size_sent=8,
                size_received=8,
            )


@contextmanager
def written(folder: Path, ranks: int = 2) -> Iterator[Archive]:
    with otf2.writer.open(str(folder / "archive"), timer_resolution=1000) as archive:
        yield Archive(archive, ranks)


def read(folder: Path) -> Trace:
    [(_, trace)] = import_otf2(str(folder / "archive" / "traces.otf2"))
    return trace


def events(trace: Trace) -> list[Any]:
    return [trace.event(number) for number in range(len(trace))]


def test_functions_and_messages(tmp_path: Path) -> None:
    with written(tmp_path) as archive:
        main = archive.definitions.region("main")
        archive.add(0, "enter", region=main)
        archive.receive(1, 0)  # the clocks of ranks differ: it seems to come before its send
        archive.send(0, 1)
        archive.add(0, "leave", region=main)
    found = [(each.process, each.kind, each.fn) for each in events(read(tmp_path))]
    assert [each for each in found if each[0] == "MPI Rank 0"] == [
        ("MPI Rank 0", "enter", "main"),
        ("MPI Rank 0", "send", None),
        ("MPI Rank 0", "exit", "main"),
    ]
    assert found.index(("MPI Rank 0", "send", None)) < found.index(("MPI Rank 1", "receive", None))


def test_receives_take_messages_as_they_were_posted(tmp_path: Path) -> None:
    with written(tmp_path) as archive:
        archive.send(0, 1)
        archive.send(0, 1)
        for request in (7, 8):
            archive.add(1, "mpi_irecv_request", request_id=request)
        for request in (8, 7):
            archive.add(
                1,
                "mpi_irecv",
                sender=0,
                communicator=archive.world,
                msg_tag=1,
                msg_length=8,
                request_id=request,
            )
    found = events(read(tmp_path))
    messages = [each.msg for each in found if each.kind == "send"]
    assert [each.msg for each in found if each.kind == "receive"] == messages[::-1]


def test_a_barrier_is_a_joint_event_and_a_broadcast_is_not(tmp_path: Path) -> None:
    with written(tmp_path, 3) as archive:
        archive.all("BARRIER")
        archive.all("BCAST", root=1)
    found = events(read(tmp_path))
    assert len({each.meet for each in found if each.label == "BARRIER"}) == 1
    after = {each.process: each.after for each in found if each.label == "BCAST"}
    assert after["MPI Rank 1"] == ()
    assert all(name.startswith("MPI Rank 1:") for rank in (0, 2) for name in after[f"MPI Rank {rank}"])
    assert after["MPI Rank 0"] and after["MPI Rank 2"]


def test_what_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "traces.otf2").write_text("nothing of the kind")
    with pytest.raises(TraceError, match="no archive of OTF2"):
        import_otf2(str(tmp_path / "traces.otf2"))
