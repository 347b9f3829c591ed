"""Collectives with a root, by messages of their own: nobody waits longer than MPI makes him wait.

In a broadcast or a scatter the root need not wait for the others, in a gather or a reduction only the root
waits. A real collective may make everybody wait, and then a send that comes after it could not be matched
with a receive that comes before it elsewhere; so these are done by sends to and from the root, with a tag of
their own. Collectives in which everybody waits for everybody are left to MPI.
"""

from __future__ import annotations

from functools import reduce as folded
from typing import Any

from possibly.control.macro.inside import gate
from possibly.control.macro.inside.mpi.under_way import keep


def install(mpi: Any, plain: Any, kind: Any) -> None:
    """Puts the rooted collectives of objects, and the broadcast of buffers, into a communicator class."""
    tag = mpi.COMM_WORLD.Get_attr(mpi.TAG_UB)

    def from_root(self: Any, word: str, root: int) -> bool:
        """Whether this rank is the root; it goes on at once, the others when the root has come."""
        is_root: bool = self.Get_rank() == root
        self._round(word, () if is_root else (self._members()[root],))
        return is_root

    def to_root(self: Any, word: str, root: int) -> bool:
        is_root: bool = self.Get_rank() == root
        self._round(word, tuple(self._members()) if is_root else ())
        return is_root

    def bcast(self: Any, obj: Any = None, root: int = 0) -> Any:
        if from_root(self, "bcast", root):
            for rank in range(self.Get_size()):
                if rank != root:
                    keep(plain.isend(self, obj, rank, tag))
        else:
            obj = plain.recv(self, None, root, tag)
        gate.here().leave()
        return obj

    def Bcast(self: Any, buf: Any, root: int = 0) -> None:  # noqa: N802
        if from_root(self, "Bcast", root):
            for rank in range(self.Get_size()):
                if rank != root:
                    keep(self._buffered(buf, rank, tag))
        else:
            plain.Recv(self, buf, root, tag)
        gate.here().leave()

    def scatter(self: Any, sendobj: Any = None, root: int = 0) -> Any:
        if from_root(self, "scatter", root):
            items = list(sendobj)
            if len(items) != self.Get_size():
                raise ValueError(f"expecting {self.Get_size()} items, got {len(items)}")
            for rank, item in enumerate(items):
                if rank != root:
                    keep(plain.isend(self, item, rank, tag))
            found = items[root]
        else:
            found = plain.recv(self, None, root, tag)
        gate.here().leave()
        return found

    def collected(self: Any, word: str, item: Any, root: int) -> list[Any] | None:
        if to_root(self, word, root):
            ranks = range(self.Get_size())
            found = [item if rank == root else plain.recv(self, None, rank, tag) for rank in ranks]
        else:
            found = None
            keep(plain.isend(self, item, root, tag))
        gate.here().leave()
        return found

    def gather(self: Any, sendobj: Any, root: int = 0) -> list[Any] | None:
        return collected(self, "gather", sendobj, root)

    def reduce(self: Any, sendobj: Any, op: Any = None, root: int = 0) -> Any:
        items = collected(self, "reduce", sendobj, root)
        return None if items is None else folded(mpi.SUM if op is None else op, items)

    for function in (bcast, Bcast, scatter, gather, reduce):
        setattr(kind, function.__name__, function)
