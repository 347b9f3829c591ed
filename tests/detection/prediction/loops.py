"""Random programs of tasks on one event loop: a run of them as a trace, and the judge: every order.

A loop has a line of tasks that are ready, and takes the first. A task runs until it yields (it goes to the
end of the line), sleeps (it may come back whenever it likes) or has to wait for a lock, which is handed on in
the order of those who wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace

Step = tuple[str, str]
Programs = tuple[tuple[Step, ...], ...]
Pattern = frozenset[tuple[str, str, frozenset[str]]]
YIELD, SLEEP = ("yield", ""), ("sleep", "")


def random_programs(random: Random, locks: str = "AB") -> Programs:
    return tuple(_program(random, locks) for _ in range(random.randint(2, 3)))


def _program(random: Random, locks: str) -> tuple[Step, ...]:
    found: list[Step] = []
    held: list[str] = []
    for _ in range(random.randint(2, 6)):
        free = [lock for lock in locks if lock not in held]
        choice = random.random()
        if choice < 0.45 and free:
            held.append(random.choice(free))
            found.append(("acquire", held[-1]))
        elif choice < 0.6 and held:
            found.append(("release", held.pop()))
        else:
            found.append(random.choice((YIELD, SLEEP)))
    return (*found, *(("release", lock) for lock in reversed(held)))


class Loop(NamedTuple):
    """Between two turns."""

    done: tuple[int, ...]
    ready: tuple[int, ...]
    asleep: frozenset[int]
    waiting: tuple[tuple[str, int], ...] = ()
    held: tuple[tuple[str, int], ...] = ()
    handed: frozenset[tuple[str, int]] = frozenset()
    """Locks that are free for the one who was woken."""


def start(programs: Programs) -> Loop:
    return Loop((0,) * len(programs), tuple(range(len(programs))), frozenset())


def following(programs: Programs, now: Loop) -> Iterator[tuple[int | None, Loop, list[Step]]]:
    """A sleep that ends, or the next turn: its task, the loop after it, and what it did."""
    for task in sorted(now.asleep):
        yield None, now._replace(ready=(*now.ready, task), asleep=now.asleep - {task}), []
    if now.ready:
        yield now.ready[0], *_turn(programs, now)


def _turn(programs: Programs, now: Loop) -> tuple[Loop, list[Step]]:
    task, *ready = now.ready
    done, asleep = list(now.done), now.asleep
    waiting, held, handed = list(now.waiting), dict(now.held), set(now.handed)
    told: list[Step] = []
    while done[task] < len(programs[task]):
        kind, lock = step = programs[task][done[task]]
        is_taken = lock in held or any(each == lock for each, _ in (*waiting, *handed))
        if kind == "acquire" and is_taken and (lock, task) not in handed:
            waiting.append((lock, task))
            break
        done[task] += 1
        told.append(step)
        if kind == "acquire":
            handed.discard((lock, task))
            held[lock] = task
        elif kind == "release":
            del held[lock]
            first = next((pair for pair in waiting if pair[0] == lock), None)
            if first is not None:
                waiting.remove(first)
                handed.add(first)
                ready.append(first[1])
        elif kind == "yield":
            ready.append(task)
            break
        else:
            asleep |= {task}
            break
    after = Loop(
        tuple(done), tuple(ready), asleep, tuple(waiting), tuple(sorted(held.items())), frozenset(handed)
    )
    return after, told


class _Recorder:
    """Tells turns as a recording does."""

    def __init__(self, tasks: int) -> None:
        self.builder = TraceBuilder()
        self.builder.header(processes=[("main", {}), *((f"T{task}", {}) for task in range(tasks))])
        for _ in range(tasks):
            self.builder.add("main", kind="spawn")
        self._counts = [0] * tasks
        self._released: dict[str, str] = {}
        self._woken: dict[int, str] = {}
        self._yielded: set[int] = set()

    def turn(self, task: int, now: Loop, after: Loop, told: list[Step]) -> None:
        if not self._counts[task]:
            self._add(task, {"kind": "start", "after": [f"main:{task + 1}"]})
        yielded = {"yielded": True} if task in self._yielded else {}
        self._add(task, {"kind": "turn", "tag": "Loop", **yielded})
        if task in self._woken:
            self._add(task, {"kind": "result", "after": [self._woken.pop(task)]})
        for kind, lock in told:
            if kind == "acquire":
                self._acquire(task, lock, (lock, task) in now.handed)
            elif kind == "release":
                self._released[lock] = self._add(task, {"kind": kind, "tag": lock})
        for _, other in after.handed - now.handed:
            self._woken[other] = self._add(task, {"kind": "resolve"})
        (self._yielded.add if task in after.ready else self._yielded.discard)(task)

    def _acquire(self, task: int, lock: str, has_waited: bool) -> None:
        earlier = self._released.get(lock, f"T{task}:")
        order = {} if earlier.startswith(f"T{task}:") else {"after": [earlier]}
        self._add(task, {"kind": "acquire", "tag": lock, **order} | ({"waited": True} if has_waited else {}))

    def _add(self, task: int, fields: dict[str, object]) -> str:
        self.builder.add_fields({"p": f"T{task}", **fields})
        self._counts[task] += 1
        return f"T{task}:{self._counts[task]}"


def run(random: Random, programs: Programs) -> Trace | None:
    """A run to the end as a recording tells it; None if it gets stuck."""
    recorder, now = _Recorder(len(programs)), start(programs)
    while now.ready or now.asleep:
        task, after, told = random.choice(list(following(programs, now)))
        if task is not None:
            recorder.turn(task, now, after, told)
        now = after
    return recorder.builder.finish() if list(now.done) == [len(each) for each in programs] else None


def deadlocks(programs: Programs) -> set[Pattern]:
    """Every set of tasks that wait for each other, in any order that the loop allows."""
    found: set[Pattern] = set()
    stack, known = [start(programs)], {start(programs)}
    while stack:
        now = stack.pop()
        found.update(_cycles(now))
        for _, after, _ in following(programs, now):
            if after not in known:
                known.add(after)
                stack.append(after)
    return found


def _cycles(now: Loop) -> Iterator[Pattern]:
    wants, holder = {task: lock for lock, task in now.waiting}, dict(now.held)
    for first in wants:
        cycle, task = [first], holder.get(wants[first])
        while task is not None and task in wants and task not in cycle:
            cycle.append(task)
            task = holder.get(wants[task])
        if task == first:
            yield frozenset(
                (f"T{each}", wants[each], frozenset(lock for lock, owner in now.held if owner == each))
                for each in cycle
            )
