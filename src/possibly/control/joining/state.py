"""The state of a controlled execution at a choice point, as a digest: equal digests go on alike.

What is told: the variables of the user's modules, what programs can change around these (`surroundings`), and
of each task its frames, what it is about to do, what it holds, the counters that name what it makes, and what
it remembers of loops that wait (`spin`). Also what the search for races of hidden memory (`memory`) will be
asked: who knows of the last accesses to each thing that is `shared`: two tasks touch it, one of them writes
it, in whatever executions. Of how the state was reached only this is told: how many steps each task has done.
So an execution never comes back to a state, and what goes round for ever is found as ever.

Law: where anything hides its state there is no digest. That is so for programs that leave something behind
(`repeatable`), for tasks of event loops, and where anybody has slept or waited with a time-out.
"""

from __future__ import annotations

import marshal
import sys
from hashlib import blake2b
from typing import Any

from possibly.control.execution import Step
from possibly.control.forking import disk
from possibly.control.joining import surroundings
from possibly.control.joining.compared import compared
from possibly.control.joining.frames import READS, Unreadable, held_by
from possibly.control.joining.unseen import unseen
from possibly.control.joining.values import Words
from possibly.control.loading import instrumented as loading
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.memory import Memory
from possibly.control.runtime.spin import number_of
from possibly.control.runtime.task import Task

SKIPPED = frozenset({"__builtins__", "__loader__", "__spec__", "__annotations__", "__file__", "__cached__"})
SIZE = 16
CHOOSING = 1
"""How deep in atomic parts the kernel is while a choice is made, which is when states are looked at."""


class Looker:
    """Looks at the states of one execution."""

    def __init__(self, shared: frozenset[str] = frozenset()) -> None:
        """`shared`: hidden things that may race, as far as is known."""
        self.why = ""
        """Why the last state could not be read."""
        self.touched: dict[str, set[tuple[str, bool]]] = {}
        """Hidden things, and who has read (False) or written (True) them."""
        self._shared = shared
        self._counts: dict[str, int] = {}
        self._runs: dict[str, list[tuple[str, str]]] = {}
        """The last steps of each task at one line: how far it is there, if the line is done in parts."""
        self._places: dict[str, str] = {}

    def done(self, step: Step) -> None:
        task, operation = step.task, step.operation
        self._counts[task] = self._counts.get(task, 0) + 1
        if self._places.get(task) != operation.at:
            self._places[task] = operation.at
            self._runs[task] = []
        self._runs[task].append((operation.kind, operation.thing))

    def note(self) -> None:
        """Looks only who has touched which memory: this has to be done at each choice."""
        kernel, memory = running.kernel, accesses.memory
        if kernel is not None and memory is not None:
            self._note_touched(kernel, memory)

    def look(self) -> bytes | None:
        """The digest of the present state; None if it cannot be read."""
        kernel, memory = running.kernel, accesses.memory
        if kernel is None or memory is None:
            return None
        self._note_touched(kernel, memory)
        try:
            return self._digest(kernel, memory)
        except Unreadable as reason:
            self.why = str(reason)
            return None

    def _note_touched(self, kernel: Kernel, memory: Memory) -> None:
        """Of each thing the last accesses; those before were the last ones at an earlier choice."""
        tasks = kernel.all
        for key, last in memory._last.items():
            found = self.touched.setdefault(key if isinstance(key, str) else key[1], set())
            if last.task >= 0:
                found.add((tasks[last.task].name, True))
            for reader in last.readers:
                found.add((tasks[reader].name, False))

    def _digest(self, kernel: Kernel, memory: Memory) -> bytes:
        _check(kernel, memory)
        executed, codes = loading.executed, loading.codes
        files = frozenset(file for file, module in codes if module in executed)
        words = Words(kernel, memory.things, unseen(executed, codes), compared(executed, codes), files)
        for name in loading.executed:
            _say_module(words, name)
        surroundings.say(words)
        words.said += ("tasks", len(kernel.all), kernel.alone)
        for task in kernel.all:
            self._say_task(words, kernel, task)
        words.said += kernel.alike.told() if kernel.alike is not None else ()
        words.said += ("shared", *sorted(self._shared), *_knowledge(words, kernel, memory, self._shared))
        return blake2b(marshal.dumps(words.said, 2), digest_size=SIZE).digest()

    def _say_task(self, words: Words, kernel: Kernel, task: Task) -> None:
        words.said += ("task", task.name, task.label, task.daemon, task.ended)
        if task.ended or task not in kernel.tasks:  # it is over, or was not started yet
            return
        operation = task.operation
        if operation is None or task.host is not None or task.random is not None or _hides(task):
            raise Unreadable(f"what {task.name} does")
        words.said += (task.children, task.objects, task.things, task.hidden, self._counts.get(task.name, 0))
        words.said += (operation.kind, operation.thing, operation.at, operation.waits)
        words.said += [word for access in sorted(operation.footprint) for word in access]
        words.said += ("run", *[word for each in self._runs.get(task.name, ()) for word in each])
        words.all("held", task.held)
        words.said += ("sections", *task.sections)
        for held in held_by(task, kernel.current):
            words.frame(held)
        _say_trail(words, task, kernel)


def _hides(task: Task) -> bool:
    """Whether it is in the middle of something that is no frame: a model has frames of its own."""
    return any(not str(getattr(call.function, "__module__", "")).startswith(_OURS) for call in task.calls)


_OURS = "possibly."


def _check(kernel: Kernel, memory: Memory) -> None:
    """Raises if the program as a whole is none that can be read."""
    if not READS:
        raise Unreadable("frames of this interpreter")
    if kernel.has_timers or kernel.timed:
        raise Unreadable("time")
    if kernel.failure is not None or kernel.uncontrolled or kernel.quiet > CHOOSING or memory.reached_out:
        raise Unreadable("what happened")
    if disk.is_changed():
        raise Unreadable("files")
    if kernel.claims or memory.watched or memory.racy:
        raise Unreadable("what is asked")
    if not loading.judgements or not all(each.holds() for each in loading.judgements.values()):
        raise Unreadable("what the program leaves behind")


def _say_module(words: Words, name: str) -> None:
    module = sys.modules.get(name)
    if module is None:
        raise Unreadable(name)
    told = [(variable, value) for variable, value in vars(module).items() if variable not in SKIPPED]
    words.said += ("variables", name, len(told))
    for variable, value in told:
        words.said.append(variable)
        words.variable(variable, value)


def _say_trail(words: Words, task: Task, kernel: Kernel) -> None:
    """What a task remembers of where it was since it changed anything."""
    trail = task.trail
    words.said += ("trail", trail.changed is not None, len(trail.visits))
    for key, visit in trail.visits.items():
        words.said += (*key, visit.reads, visit.operations, visit.arrivals)
        words.all("held", visit.held)
        for code, at, values in visit.stack:
            words.said += (code.co_filename, code.co_firstlineno, code.co_name, at, len(values))
            for value in values:
                words.mark(value)
    words.said.append(len(trail.reads))
    for thing, number in trail.reads:
        words.said += (thing, number_of(thing, kernel) == number)
    words.said += ("met", *[word for access in trail.footprints for word in access])
    words.said += ("arrivals", *trail.arrivals)


def _knowledge(words: Words, kernel: Kernel, memory: Memory, shared: frozenset[str]) -> list[Any]:
    """Of the last hidden accesses to each thing: who knows of them, and what carries that knowledge on.

    What all tasks know can race with nothing any more. Nor need an access be told if whoever does not know
    of it does not know of another one either, which races with as much.
    """
    clocks = [(task.name, task.clock) for task in kernel.tasks]
    order = kernel._clocks
    carriers = [("written", thing, moment[0]) for thing, moment in order._written.items()]
    carriers += [("read", thing, moment[0]) for thing, moment in order._read.items()]
    found: list[Any] = []
    for thing, last in memory._last.items():
        if (thing if isinstance(thing, str) else thing[1]) not in shared:
            continue
        entries = [(False, index, count) for index, count in last.readers.items()]
        if last.task >= 0:
            entries.append((True, last.task, last.count))
        told = []
        for writes, index, count in entries:
            knowing = {name for name, clock in clocks if clock.get(index, 0) >= count}
            if len(knowing) < len(clocks):
                knowing |= {f"{how} {name}" for how, name, known in carriers if known.get(index, 0) >= count}
                told.append((writes, knowing))
        least = {(writes, *sorted(known)) for writes, known in told if not _is_implied(writes, known, told)}
        if least and (name := words.name_of(thing)) is not None:
            found.append((name, *sorted(least)))
    return ["known", *sorted(found)]


def _is_implied(writes: bool, known: set[str], told: list[tuple[bool, set[str]]]) -> bool:
    return any(
        (other < known and other_writes >= writes) or (other == known and other_writes > writes)
        for other_writes, other in told
    )
