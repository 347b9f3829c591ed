"""Programs that wait in loops, and a judge of them that knows nothing of executions.

A program is two or three threads, each a list of instructions on a few shared things: variables, locks, a
queue, an event. The judge goes through all states (where each thread is, and what the things hold); the same
program as Python text is explored. Most loops only look, try, or take a lock and give it back, so an
execution that does not end is one that waits; it can do so for ever if from some state no end can be reached.
Where a loop changes something there may be executions that need not end, which leave open what is explored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

Held = tuple[int, ...]
"""What the things hold: values, 1 for a lock that is taken or an event that is set, items of a queue."""
State = tuple[tuple[int, ...], Held]
Done = tuple[int, int] | None
"""Where the thread goes on, and what the thing holds then; None: it has to wait."""

VARIABLES, LOCKS, QUEUE, EVENT = ("x", "y", "z"), ("a", "b"), "q", "e"
THINGS = (*VARIABLES, *LOCKS, QUEUE, EVENT)
NUMBER = {name: number for number, name in enumerate(THINGS)}


@dataclass(frozen=True)
class Instruction:
    """One visible step: what it makes of where its thread is and of what its thing holds."""

    thing: str
    step: Callable[[int], Done]


@dataclass
class Thread:
    """A thread as text and as instructions, made side by side."""

    lines: list[str] = field(default_factory=list)
    steps: list[Instruction] = field(default_factory=list)
    depth: int = 1

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    @property
    def here(self) -> int:
        return len(self.steps)

    def add(self, thing: str, step: Callable[[int], Done]) -> None:
        self.steps.append(Instruction(thing, step))

    def put_value(self, thing: str, value: int) -> None:
        after = self.here + 1
        self.add(thing, lambda held: (after, value))

    def look_for(self, thing: str, value: int, there: int, else_there: int) -> None:
        self.look(thing, lambda held: held == value, there, else_there)

    def look(self, thing: str, is_it: Callable[[int], bool], there: int, else_there: int) -> None:
        self.add(thing, lambda held: (there if is_it(held) else else_there, held))

    def take(self, lock: str) -> None:
        after = self.here + 1
        self.add(lock, lambda held: None if held else (after, 1))

    def try_to_take(self, lock: str, there: int, else_there: int) -> None:
        self.add(lock, lambda held: (else_there, held) if held else (there, 1))


def _set(thread: Thread, random: Random) -> None:
    name, value = random.choice(VARIABLES), random.randrange(2)
    thread.line(f"{name} = {value}")
    thread.put_value(name, value)


def _until(thread: Thread, random: Random) -> None:
    name, value, here = random.choice(VARIABLES), random.randrange(2), thread.here
    thread.line(f"while {name} != {value}: pass")
    thread.look(name, lambda held: held == value, here + 1, here)


def _until_any(thread: Thread, random: Random) -> None:
    """Several looks in one round."""
    here = thread.here
    looks = [(random.choice(VARIABLES), random.randrange(2)) for _ in range(random.choice((2, 2, 3)))]
    thread.line("while True:")
    for number, (name, value) in enumerate(looks):
        thread.line(f"    if {name} == {value}: break")
        following = here + (number + 1) % len(looks)
        thread.look_for(name, value, here + len(looks), following)


def _until_all(thread: Thread, random: Random) -> None:
    here = thread.here
    one, other = random.sample(VARIABLES, 2)
    values = random.randrange(2), random.randrange(2)
    thread.line(f"while {one} != {values[0]} or {other} != {values[1]}: pass")
    thread.look(one, lambda held: held == values[0], here + 1, here)
    thread.look(other, lambda held: held == values[1], here + 2, here)


def _section(thread: Thread, random: Random) -> None:
    lock = random.choice(LOCKS)
    thread.line(f"with {lock}:")
    thread.take(lock)
    thread.depth += 1
    random.choice((_set, _set, _until))(thread, random)
    thread.depth -= 1
    thread.put_value(lock, 0)


def _poll(thread: Thread, random: Random) -> None:
    """Looks under a lock, again and again."""
    lock, name, value, here = random.choice(LOCKS), random.choice(VARIABLES), random.randrange(2), thread.here
    thread.line("while True:")
    thread.line(f"    with {lock}:")
    thread.line(f"        if {name} == {value}: break")
    thread.take(lock)
    thread.look(name, lambda held: held == value, here + 3, here + 2)
    thread.add(lock, lambda held: (here, 0))
    thread.put_value(lock, 0)


def _try(thread: Thread, random: Random) -> None:
    """Tries a lock once."""
    lock, here = random.choice(LOCKS), thread.here
    name, value = random.choice(VARIABLES), random.randrange(2)
    thread.line(f"if {lock}.acquire(False):")
    thread.line(f"    {name} = {value}")
    thread.line(f"    {lock}.release()")
    thread.try_to_take(lock, here + 1, here + 3)
    thread.put_value(name, value)
    thread.put_value(lock, 0)


def _try_until(thread: Thread, random: Random) -> None:
    lock, here = random.choice(LOCKS), thread.here
    name, value = random.choice(VARIABLES), random.randrange(2)
    thread.line(f"while not {lock}.acquire(False): pass")
    thread.line(f"{name} = {value}")
    thread.line(f"{lock}.release()")
    thread.try_to_take(lock, here + 1, here)
    thread.put_value(name, value)
    thread.put_value(lock, 0)


def _while_it_can(thread: Thread, random: Random) -> None:
    """Takes a lock as long as nobody else has it."""
    lock, here = random.choice(LOCKS), thread.here
    thread.line(f"while {lock}.acquire(False): {lock}.release()")
    thread.try_to_take(lock, here + 1, here + 2)
    thread.add(lock, lambda held: (here, 0))


def _until_locked(thread: Thread, random: Random) -> None:
    lock, value, here = random.choice(LOCKS), random.randrange(2), thread.here
    thread.line(f"while {lock}.locked() != {bool(value)}: pass")
    thread.look(lock, lambda held: held == value, here + 1, here)


def _keep(thread: Thread, random: Random) -> None:
    """Takes a lock that nobody gives back."""
    lock = random.choice(LOCKS)
    thread.line(f"{lock}.acquire()")
    thread.take(lock)


def _put(thread: Thread, random: Random) -> None:
    after = thread.here + 1
    thread.line("q.put(1)")
    thread.add(QUEUE, lambda held: (after, held + 1))


def _get_until(thread: Thread, random: Random) -> None:
    here = thread.here
    for text in ("while True:", "    try:", "        q.get_nowait()", "        break"):
        thread.line(text)
    thread.line("    except queue.Empty: pass")
    thread.add(QUEUE, lambda held: (here + 1, held - 1) if held else (here, held))


def _until_empty(thread: Thread, random: Random) -> None:
    is_empty, here = random.choice((True, False)), thread.here
    thread.line(f"while q.empty() != {is_empty}: pass")
    thread.look(QUEUE, lambda held: (held == 0) == is_empty, here + 1, here)


def _event(thread: Thread, random: Random) -> None:
    value = random.randrange(2)
    thread.line("e.set()" if value else "e.clear()")
    thread.put_value(EVENT, value)


def _until_event(thread: Thread, random: Random) -> None:
    value, here = random.randrange(2), thread.here
    thread.line(f"while e.is_set() != {bool(value)}: pass")
    thread.look(EVENT, lambda held: held == value, here + 1, here)


def _wait(thread: Thread, random: Random) -> None:
    after = thread.here + 1
    thread.line("e.wait()")
    thread.add(EVENT, lambda held: (after, held) if held else None)


def _again(thread: Thread, random: Random) -> None:
    """Tells what it wants and takes it back, a few times."""
    one, other = random.sample(VARIABLES, 2)
    thread.line("for _ in range(2):")
    for text in (f"{one} = 1", f"if {other} == 0: break", f"{one} = 0"):
        thread.line("    " + text)
    after = thread.here + 6
    for _ in range(2):
        here = thread.here
        thread.put_value(one, 1)
        thread.look(other, lambda held: held == 0, after, here + 2)
        thread.put_value(one, 0)


def _give_way(thread: Thread, random: Random) -> None:
    """Takes back what it wants until the other one lets it, as in Dekker's algorithm."""
    one, other, turn = random.sample(VARIABLES, 3)
    value, here = random.randrange(2), thread.here
    thread.line(f"while {other} == 1:")
    for text in (f"{one} = 0", f"while {turn} != {value}: pass", f"{one} = 1"):
        thread.line("    " + text)
    thread.look(other, lambda held: held == 1, here + 1, here + 4)
    thread.put_value(one, 0)
    thread.look(turn, lambda held: held == value, here + 3, here + 2)
    thread.add(one, lambda held: (here, 1))


STATEMENTS = (
    *(_set, _set, _set, _until, _until_any, _until_any, _until_all, _section, _poll, _try, _try_until),
    *(
        _while_it_can,
        _until_locked,
        _keep,
        _put,
        _put,
        _get_until,
        _until_empty,
        _event,
        _until_event,
        _wait,
        _again,
    ),
    *(_give_way, _give_way),
)
HEAD = """
import queue, threading
x = y = z = 0
a, b, q, e = threading.Lock(), threading.Lock(), queue.Queue(), threading.Event()
"""
END = """
threads = [threading.Thread(target=work) for work in ({names},)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(x, y, z, a.locked(), b.locked(), q.qsize(), e.is_set())
"""


@dataclass(frozen=True)
class Program:
    threads: tuple[Thread, ...]

    @property
    def text(self) -> str:
        names = [f"work{number}" for number in range(len(self.threads))]
        parts = [HEAD]
        for name, thread in zip(names, self.threads, strict=True):
            parts += [f"def {name}():", "    global x, y, z", *thread.lines]
        return "\n".join([*parts, END.format(names=", ".join(names))])

    def next_states(self, state: State) -> Iterator[State]:
        places, held = state
        for number, thread in enumerate(self.threads):
            if places[number] < len(thread.steps):
                instruction = thread.steps[places[number]]
                which = NUMBER[instruction.thing]
                done = instruction.step(held[which])
                if done is not None:
                    there = (*places[:number], done[0], *places[number + 1 :])
                    yield there, (*held[:which], done[1], *held[which + 1 :])

    def judged(self) -> tuple[set[str], bool]:
        """What it may print, and whether it can come to where it never ends."""
        start: State = (0,) * len(self.threads), (0,) * len(THINGS)
        before: dict[State, list[State]] = {start: []}
        pending = [start]
        while pending:
            state = pending.pop()
            for following in self.next_states(state):
                if following not in before:
                    before[following] = []
                    pending.append(following)
                before[following].append(state)
        ends = [state for state in before if self._is_over(state)]
        can_end, pending = set(ends), list(ends)
        while pending:
            for earlier in before[pending.pop()]:
                if earlier not in can_end:
                    can_end.add(earlier)
                    pending.append(earlier)
        return {_printed(held) for _, held in ends}, len(can_end) < len(before)

    def _is_over(self, state: State) -> bool:
        return all(place == len(thread.steps) for place, thread in zip(state[0], self.threads, strict=True))


def _printed(held: Held) -> str:
    x, y, z, a, b, q, e = held
    return f"{x} {y} {z} {bool(a)} {bool(b)} {q} {bool(e)}"


def program(random: Random) -> Program:
    threads = []
    for _ in range(random.choice((2, 2, 2, 3))):
        thread = Thread()
        for _ in range(random.choice((1, 2, 2, 3))):
            random.choice(STATEMENTS)(thread, random)
        threads.append(thread)
    return Program(tuple(threads))
