"""Orders that are left out while a program runs: of tasks that are alike, and of accesses that mean nothing.

Theory of operation. Where the source shows that it makes no difference what is read, or that nobody ever sees
what is written (`compared`), the access is taken out of what its step touches. So it commutes with all others
to the same thing: their orders end in states that differ in nothing that the program can tell apart. To the
task itself it stays a step like any other.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from possibly.control.execution import Operation
from possibly.control.joining.alike import Alike, Shut
from possibly.control.joining.compared import Numbers, compared, is_of_numbers
from possibly.control.loading import instrumented as loading
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.places import shown
from possibly.control.runtime.task import Task


class Orders:
    """What is left out of one execution."""

    def __init__(self) -> None:
        self._alike = Alike()
        self._compared: Numbers | None = None
        self._reads: set[tuple[str, str]] = set()
        self._writes: set[tuple[str, str]] = set()
        """Places, as they are shown, and words of accesses that mean nothing."""
        self._words: dict[str, str] = {}
        """Of containers, by their names, the variables that hold them."""
        self._writing: set[str] = set()
        """Tasks that are about to write what nobody sees."""

    def arrive(self, kernel: Kernel, task: Task) -> None:
        """A task is about to do something."""
        operation = task.operation
        if operation is not None and not kernel.alone:
            task.operation = plain = self.plain(operation)
            if operation.kind == "write" and plain is not operation:
                self._writing.add(task.name)
        self._alike.arrive(kernel, task)

    def plain(self, operation: Operation) -> Operation:
        """An access without what means nothing: nobody learns anything of others by it."""
        if operation.kind != "read" and operation.kind != "write":
            return operation
        if self._compared is None:
            self._begin()
        places = self._reads if operation.kind == "read" else self._writes
        if not places or (operation.at, self._word(operation.thing)) not in places:
            return operation
        footprint = tuple([access for access in operation.footprint if access.thing != operation.thing])
        return operation._replace(footprint=footprint)

    def _begin(self) -> None:
        memory = accesses.memory
        self._compared = compared(loading.executed, loading.codes)
        if memory is None or memory.watched:
            return
        found = self._compared
        self._reads = {(f"{shown(file)}:{line}", word) for file, line, word in found.reads}
        self._writes = {(f"{shown(file)}:{line}", word) for file, line, word in found.writes}

    def _word(self, thing: str) -> str:
        """What the source calls it; empty for items of what is no container of numbers."""
        if not thing.endswith("]"):
            return thing.rpartition(".")[2]
        name = thing.partition("[")[0]
        if name not in self._words:
            self._words.update(self._containers())
            self._words.setdefault(name, "")
        return self._words[name]

    def _containers(self) -> Iterator[tuple[str, str]]:
        memory, found = accesses.memory, self._compared
        assert memory is not None and found is not None, "it has begun"
        for module in [vars(sys.modules[name]) for name in loading.executed if name in sys.modules]:
            for word in found.containers & module.keys():
                value = module[word]
                named = memory.things.known(value)
                if named is not None and is_of_numbers(value):
                    yield named.name, word

    def done(self, task: Task, operation: Operation, shut: Shut) -> tuple[Operation, Shut]:
        """The step as it is told."""
        if task.name in self._writing:  # nobody else sees it, but the task has not come back to where it was
            self._writing.remove(task.name)
            task.trail.effect()
        return self._alike.done(task, operation, shut)

    def told(self) -> list[Any]:
        """What of this matters for what comes."""
        return self._alike.told()
