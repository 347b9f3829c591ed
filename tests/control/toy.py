"""Abstract programs of several tasks, executed in this process: what the choosing half is tested on.

A task is a generator that yields its visible operations, tuples whose first item is the kind, and gets back
what they return. A failed `assert` or any other exception ends its task; the others go on. The footprints
keep the law of `control.execution`.

| operation | meaning |
| --- | --- |
| `("read", x)`, `("write", x, v)`, `("add", x, v)` | a variable, 0 at first; `add` returns the old value |
| `("acquire", l)`, `("release", l)`, `("try", l)` | a lock; `try` returns whether it got it |
| `("down", s)`, `("up", s)` | a semaphore |
| `("put", q, v)`, `("get", q)`, `("poll", q)` | a queue, perhaps bounded; `poll` gives None if it is empty |
| `("wait", c, l)` `("notify", c)` `("notify_all", c)` | a condition; to wait is `wait`, `wake`, `acquire` |
| `("set", e)`, `("await", e)` | an event |
| `("start", body)`, `("join", task)` | a task; `start` returns its name |
| `("spin", x, y, ...)` | waits until one is written after the task read it, and reads them all |
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

from possibly.control.causality import canonical, events
from possibly.control.execution import Access, Choice, Execution, Operation, Outcome, Scheduler, Step, Task

NOT_WAITING = {"try": "acquire", "poll": "get"}
"""Operations that never wait, and the kind of those that do the same and may wait."""

Body = Callable[[], Generator[tuple[Any, ...], Any, None]]


@dataclass
class Toy:
    """A `Program`: the body of its first task, or of several, and what its resources start with."""

    main: Body | None = None
    semaphores: dict[str, int] = field(default_factory=dict)
    capacity: dict[str, int] = field(default_factory=dict)
    check: Callable[[World], None] | None = None
    """Looks at the final state; an AssertionError there is a failure."""
    in_line: frozenset[str] = frozenset()
    """Queues whose items are things of their own: a `put` and a `get` of different items are independent."""
    limit: int = 10_000
    at_once: tuple[Body, ...] = ()
    """Tasks that are there from the beginning; nobody joins them, so their ends are no steps."""
    shut: bool = True
    """Whether steps say what they found closed."""

    def execute(self, scheduler: Scheduler) -> Execution:
        return World(self).run(scheduler)


@dataclass
class World:
    program: Toy
    memory: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    seen: dict[tuple[Task, str], int] = field(default_factory=dict)
    owner: dict[str, Task | None] = field(default_factory=dict)
    count: dict[str, int] = field(default_factory=dict)
    items: dict[str, list[Any]] = field(default_factory=dict)
    waiting: dict[str, list[Task]] = field(default_factory=dict)
    notified: set[tuple[str, Task]] = field(default_factory=set)
    flags: set[str] = field(default_factory=set)
    ended: set[Task] = field(default_factory=set)
    live: dict[Task, Generator[tuple[Any, ...], Any, None]] = field(default_factory=dict)
    wanted: dict[Task, tuple[Any, ...]] = field(default_factory=dict)
    children: dict[Task, int] = field(default_factory=dict)
    failures: list[dict[str, Any]] = field(default_factory=list)
    after: dict[Task, list[tuple[Any, ...]]] = field(default_factory=dict)
    number: int = 0
    """Steps that have begun."""
    puts: dict[str, int] = field(default_factory=dict)
    gets: dict[str, int] = field(default_factory=dict)

    def run(self, scheduler: Scheduler) -> Execution:
        self.count = dict(self.program.semaphores)
        if self.program.main is not None:
            self.birth("0", self.program.main)
        for number, body in enumerate(self.program.at_once):
            self.birth(f"0.{number + 1}", body)
        steps: list[Step] = []
        cut = False
        while True:
            pending = {task: self.operation(task) for task in sorted(self.wanted)}
            enabled = tuple(task for task in pending if self.possible(task))
            if not enabled:
                break
            previous = steps[-1].task if steps else None
            choice = Choice(len(steps), previous, enabled, pending)
            task = scheduler.choose(choice) if len(steps) < self.program.limit else None
            if task is None:
                cut = True
                break
            assert task in enabled
            step = self.step(task, enabled, pending)
            steps.append(step)
            scheduler.done(step)
        outcome = self.outcome(cut, pending)
        failure = self.failures[0] if self.failures else None
        uncontrolled = ("too long",) if cut and len(steps) >= self.program.limit else ()
        return Execution(tuple(steps), outcome, failure=failure, pending=pending, uncontrolled=uncontrolled)

    def outcome(self, cut: bool, pending: dict[Task, Operation]) -> Outcome:
        if cut:
            return Outcome.CUT_OFF
        if not pending and self.program.check is not None:
            try:
                self.program.check(self)
            except AssertionError as error:
                self.failures.append({"kind": "check", "message": str(error)})
        if self.failures:
            return Outcome.FAILED
        if any(operation.kind == "spin" for operation in pending.values()):
            return Outcome.LIVELOCK
        return Outcome.DEADLOCK if pending else Outcome.FINISHED

    def birth(self, task: Task, body: Body) -> None:
        self.live[task] = body()
        self.advance(task, None)

    def advance(self, task: Task, value: Any) -> None:
        """Runs the task alone up to its next visible operation."""
        if self.after.get(task):
            self.wanted[task] = self.after[task].pop(0)
            return
        try:
            self.wanted[task] = self.live[task].send(value)
        except StopIteration:
            self.finish(task)
        except AssertionError as error:
            self.failures.append({"kind": "assertion", "task": task, "place": task, "message": str(error)})
            self.failures[-1]["step"] = self.number
            self.finish(task)

    def finish(self, task: Task) -> None:
        if self.program.main is None and task.count(".") == 1:
            self.wanted.pop(task, None)
        else:
            self.wanted[task] = ("end", task)

    def operation(self, task: Task) -> Operation:
        wanted = self.wanted[task]
        accesses = tuple(Access(thing, writes) for thing, writes in self.footprint(task, wanted))
        kind, waits = NOT_WAITING.get(wanted[0], wanted[0]), wanted[0] not in NOT_WAITING
        thing = wanted[1] if isinstance(wanted[1], str) else ""
        return Operation(kind, thing, accesses, f"toy.py, {wanted[0]} {thing}" if thing else "", waits)

    def footprint(self, task: Task, wanted: tuple[Any, ...]) -> list[tuple[str, bool]]:
        match wanted:
            case ("read", x):
                return [(x, False)]
            case ("spin", *xs):
                return [(x, False) for x in xs]
            case ("wait", c, lock):
                return [(c, True), (lock, True), (f"{c}!{task}", True)]
            case ("wake", c):
                return [(f"{c}!{task}", True)]
            case ("notify" | "notify_all", c):
                return [(c, True), *((f"{c}!{waiter}", True) for waiter in self.waiting.get(c, []))]
            case ("join", other):
                return [(other, False)]
            case ("await", e):
                return [(e, False)]
            case ("start", _):
                return []
            case ("put", q, _) if q in self.program.in_line:
                return [(f"{q}.tail", True), (f"{q}#{self.puts.get(q, 0)}", True)]
            case ("get" | "poll", q) if q in self.program.in_line:
                return [(f"{q}.head", True), (f"{q}#{self.gets.get(q, 0)}", False)]
            case (_, thing, *_):
                return [(thing, True)]
        raise ValueError(wanted)

    def possible(self, task: Task) -> bool:
        match self.wanted[task]:
            case ("acquire", lock):
                return self.owner.get(lock) is None
            case ("down", s):
                return self.count.get(s, 0) > 0
            case ("get", q):
                return bool(self.items.get(q))
            case ("put", q, _):
                return len(self.items.get(q, [])) < self.program.capacity.get(q, 1 << 30)
            case ("wake", c):
                return (c, task) in self.notified
            case ("await", e):
                return e in self.flags
            case ("join", other):
                return other in self.ended
            case ("spin", *xs):
                return any(self.versions.get(x, 0) != self.seen.get((task, x), 0) for x in xs)
        return True

    def closed(self, wanted: tuple[Any, ...]) -> list[tuple[str, str]]:
        """What other tasks could not do with the things of this operation before it."""
        match wanted:
            case ("release", lock) | ("wait", _, lock):
                return [("acquire", lock)]
            case ("try", lock) if self.owner.get(lock) is not None:
                return [("acquire", lock)]
            case ("up" | "down", s) if self.count.get(s, 0) == 0:
                return [("down", s)]
            case ("put", q, _) if q in self.program.in_line:
                return [("get", f"{q}#{self.puts.get(q, 0)}")]
            case ("get" | "poll", q) if q in self.program.in_line:
                return [] if self.items.get(q) else [("get", f"{q}#{self.gets.get(q, 0)}")]
            case ("put" | "get" | "poll", q, *_):
                full = len(self.items.get(q, [])) >= self.program.capacity.get(q, 1 << 30)
                return ([("put", q)] if full else []) + ([] if self.items.get(q) else [("get", q)])
            case ("notify" | "notify_all", c):
                return [("wake", f"{c}!{waiter}") for waiter in self.waiting.get(c, [])]
            case ("set", e) if e not in self.flags:
                return [("await", e)]
            case ("end", task):
                return [("join", task)]
        return []

    def step(self, task: Task, enabled: tuple[Task, ...], pending: dict[Task, Operation]) -> Step:
        self.number += 1
        wanted = self.wanted[task]
        shut = tuple(self.closed(wanted)) if self.program.shut else ()
        operation = pending[task]
        value, footprint = self.do(task, wanted)
        if footprint is not None:
            operation = operation._replace(footprint=tuple(Access(*access) for access in footprint))
        if wanted[0] == "end":
            del self.wanted[task]
        else:
            self.advance(task, value)
        return Step(task, operation, enabled, pending, None, shut)

    def touch(self, x: str) -> None:
        self.versions[x] = self.versions.get(x, 0) + 1

    def do(self, task: Task, wanted: tuple[Any, ...]) -> tuple[Any, list[tuple[str, bool]] | None]:
        """The effect, what it returns, and the footprint where it differs from the pending one."""
        match wanted:
            case ("read", x):
                self.seen[task, x] = self.versions.get(x, 0)
                return self.memory.get(x, 0), None
            case ("spin", *xs):
                for x in xs:
                    self.seen[task, x] = self.versions.get(x, 0)
                return tuple(self.memory.get(x, 0) for x in xs), None
            case ("write", x, value):
                self.memory[x] = value
                self.touch(x)
            case ("add", x, value):
                old = self.memory.get(x, 0)
                self.memory[x] = old + value
                self.touch(x)
                return old, None
            case ("acquire", lock):
                self.owner[lock] = task
            case ("release", lock):
                self.owner[lock] = None
            case ("try", lock):
                if self.owner.get(lock) is not None:
                    return False, [(lock, False)]
                self.owner[lock] = task
                return True, None
            case ("down", s):
                self.count[s] -= 1
            case ("up", s):
                self.count[s] = self.count.get(s, 0) + 1
            case ("put", q, value):
                self.puts[q] = self.puts.get(q, 0) + 1
                self.items.setdefault(q, []).append(value)
            case ("get", q):
                self.gets[q] = self.gets.get(q, 0) + 1
                return self.items[q].pop(0), None
            case ("poll", q):
                if not self.items.get(q):
                    return None, [(thing, False) for thing, _ in self.footprint(task, wanted)]
                self.gets[q] = self.gets.get(q, 0) + 1
                return self.items[q].pop(0), None
            case ("wait", c, lock):
                self.owner[lock] = None
                self.waiting.setdefault(c, []).append(task)
                self.after[task] = [("wake", c), ("acquire", lock)]
            case ("wake", c):
                self.notified.discard((c, task))
            case ("notify", c):
                waiters = self.waiting.get(c, [])
                if waiters:
                    chosen = waiters.pop(0)
                    self.notified.add((c, chosen))
                    return None, [(c, True), (f"{c}!{chosen}", True)]
                return None, [(c, False)]
            case ("notify_all", c):
                waiters = self.waiting.pop(c, [])
                self.notified.update((c, waiter) for waiter in waiters)
                return None, [(c, bool(waiters)), *((f"{c}!{waiter}", True) for waiter in waiters)]
            case ("set", e):
                self.flags.add(e)
            case ("start", body):
                self.children[task] = self.children.get(task, 0) + 1
                child = f"{task}.{self.children[task]}"
                self.birth(child, body)
                return child, None
            case ("end", _):
                self.ended.add(task)
        return None, None


@dataclass
class Script:
    """Follows given choices, then the first enabled task."""

    choices: tuple[Task, ...] = ()

    def choose(self, choice: Choice) -> Task | None:
        return self.choices[choice.number] if choice.number < len(self.choices) else choice.enabled[0]

    def done(self, step: Step) -> None: ...


def interleavings(program: Toy) -> Iterator[Execution]:
    """Every execution, by brute force: the definition that reductions are compared with."""
    stack: list[tuple[Task, ...]] = [()]
    while stack:
        prefix = stack.pop()
        execution = program.execute(Script(prefix))
        yield execution
        for number in range(len(prefix), len(execution.steps)):
            before = execution.schedule[:number]
            stack += [(*before, task) for task in execution.steps[number].enabled[1:]]


def classes(program: Toy, most: int) -> dict[frozenset[tuple[object, ...]], Execution] | None:
    """One execution of each Mazurkiewicz trace, by brute force; None if there are too many executions."""
    found: dict[frozenset[tuple[object, ...]], Execution] = {}
    for number, execution in enumerate(interleavings(program)):
        if number >= most:
            return None
        found[canonical(execution)] = execution
    return found


def classes_by_prefixes(program: Toy, most: int) -> dict[frozenset[tuple[object, ...]], Execution] | None:
    """The same for larger programs: of the equivalent beginnings of executions only one is gone on with."""
    found: dict[frozenset[tuple[object, ...]], Execution] = {}
    seen: set[int] = set()
    stack: list[tuple[Task, ...]] = [()]
    while stack:
        prefix = stack.pop()
        execution = program.execute(Script(prefix))
        steps, begun = execution.steps, 0
        if not prefix and steps:
            stack += [(task,) for task in steps[0].enabled[1:]]
        for number, event in enumerate(events(steps)):
            begun ^= hash(event)
            if number < len(prefix) - 1:
                continue
            if begun in seen:
                break
            seen.add(begun)
            if number + 1 < len(steps):
                before = execution.schedule[: number + 1]
                stack += [(*before, task) for task in steps[number + 1].enabled[1:]]
        else:
            found[canonical(execution)] = execution
        if len(seen) > most:
            return None
    return found


def parallel(*bodies: Body, join: bool = False) -> Body:
    """A first task that starts the others, and perhaps waits for them."""

    def main() -> Generator[tuple[Any, ...], Any, None]:
        names = []
        for body in bodies:
            name = yield ("start", body)
            names += [name]
        if join:
            for name in names:
                yield ("join", name)

    return main
