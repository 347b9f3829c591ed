"""All that an interpreter holds while all of its threads wait at their operations, as a digest.

Law: interpreters of one program whose digests are equal go on alike, whatever they are told from then on (see
`remembered`). What is told: the variables of the user's own modules, what programs can change around these,
the frames of each thread with the values on their stacks, how much each thread has sent and received, by
which the next messages are named, items in queues, and who knows of what was touched, which the search for
shared memory is asked about later. Where anything hides its state, or may have left something outside the
interpreter, there is no digest.

The words are those of `control.joining`, which says them of executions under its own scheduler.
"""

from __future__ import annotations

import marshal
import os
import sys
import threading
from hashlib import blake2b
from types import FrameType
from typing import Any

from possibly.control.joining import frames, surroundings
from possibly.control.joining.frames import READS, Held, Unreadable
from possibly.control.joining.values import THREAD, Words
from possibly.control.macro.inside import clocks, gate, queues, threads
from possibly.control.macro.inside.elsewhere import is_plain
from possibly.control.macro.inside.gate import Gate
from possibly.control.macro.inside.variables import is_user
from possibly.control.macro.program.wire import VARIABLE
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.things import Things
from possibly.probes import port

SIZE = 16
SKIPPED = frozenset({"__builtins__", "__loader__", "__spec__", "__annotations__", "__file__", "__cached__"})


_QUEUE = frozenset(
    "maxsize queue mutex not_empty not_full all_tasks_done unfinished_tasks is_shutdown _channel".split()
)
"""The attributes that every queue has."""


class _Words(Words):
    """Queues and threads of the program are known by their names here."""

    def _say_other(self, value: Any, cls: type) -> None:
        channel = getattr(value, "__dict__", {}).get("_possibly_channel")
        if channel is not None and cls.__module__ == "queue":
            self.said += ("queue", channel, value.maxsize, value.unfinished_tasks)
            self._say_more(value, _QUEUE)
        elif cls.__module__ == queues.__name__ and cls.__name__ == "SimpleQueue":
            self.said += ("queue", value._channel)
            self._say_more(value, _QUEUE)
        elif isinstance(value, threading.Thread):
            self._say_thread(value, cls)
        elif hasattr(cls, "_possibly_request"):
            self.said += ("communicator", value._name(), *value._members())
            self._say_more(value, frozenset())
        elif cls.__module__ == "numpy":
            self._say_numbers(value)
        else:
            super()._say_other(value, cls)

    def _say_numbers(self, value: Any) -> None:
        """Of numpy; what shows a part of something else is not told."""
        kind = getattr(value, "dtype", None)
        if kind is None or kind.hasobject or getattr(value, "base", None) is not None:
            raise Unreadable("what numpy keeps")
        self.said += ("numbers", type(value).__name__, kind.str, repr(value.shape), repr(value.strides))
        self.said.append(value.tobytes())

    def _say_thread(self, value: Any, cls: type) -> None:
        if cls not in (threading.Thread, type(threading.main_thread())):
            raise Unreadable("a kind of thread")
        told = vars(value)
        self.said += ("thread", value._name, value._daemonic, told.get("_possibly_name"))
        self.said += (told.get("_possibly_joined"), bool(told.get("_is_stopped")))
        self.all("runs", (told.get("_target"), told.get("_args"), told.get("_kwargs")))
        self._say_more(value, THREAD | {"run"})

    def _say_more(self, value: Any, usual: frozenset[str]) -> None:
        """The attributes that the program has given to what is a library's."""
        told = [(name, each) for name, each in vars(value).items() if name not in usual]
        self.attributes([(name, each) for name, each in told if not name.startswith("_possibly")])


def digest() -> bytes | None:
    try:
        return _digest()
    except (Unreadable, RecursionError):
        return None


def _digest() -> bytes:
    _check()
    memory = accesses.memory
    words: Any = _Words(running.kernel, memory.things if memory is not None else Things())  # type: ignore[arg-type]
    _say_modules(words)
    words.said += (repr(threading._counter.__self__), *sys.argv)  # type: ignore[attr-defined]
    surroundings.say_loggers(words)
    around = sorted(pair for pair in os.environ.items() if pair[0] != VARIABLE)
    words.said += ("here", os.getcwd(), *(word for pair in around for word in pair))
    for each in sorted(gate.gates.items(), key=lambda pair: pair[1].name):
        _say_thread(words, *each)
    words.say(sorted(threading.enumerate(), key=lambda thread: thread.name))
    words.said.append("items")
    words.say(queues._items)
    words.say(gate._made)
    words.say(threads._names)
    _say_knowledge(words, memory)
    return blake2b(marshal.dumps(words.said, 2), digest_size=SIZE).digest()


def _check() -> None:
    """Raises if there is anything about that is not told."""
    if not READS:
        raise Unreadable("frames of this interpreter")
    if gate.is_busy() or gate.find() is not None:
        raise Unreadable("what a library does")
    requests = sys.modules.get("possibly.control.macro.inside.mpi.requests")
    if requests is not None and any(each._possibly_is_active for each in requests.made):
        raise Unreadable("requests")
    active = set(sys._current_frames())
    if active - set(gate.gates):
        raise Unreadable("threads of a library")


def _say_modules(words: Any) -> None:
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name != "__main__" and not (isinstance(file, str) and port.is_user_file(file)):
            continue
        if name.startswith("possibly."):
            continue
        if not isinstance(file, str) or not is_plain(file):
            raise Unreadable(f"what {name} may keep elsewhere")
        told = [(variable, value) for variable, value in vars(module).items() if variable not in SKIPPED]
        words.said += ("variables", name, len(told))
        for variable, value in told:
            words.said.append(variable)
            words.variable(variable, value)


def _say_thread(words: Any, identity: int, here: Gate) -> None:
    if here.posts or here.claims or here._sent or here._held:
        raise Unreadable(f"what {here.name} is at")
    words.said += ("process", here.name, here.sends, here.receives, here._at)
    words.say(here.kept)
    words.said += ("spaces", *sorted(here.spaces), "touched", *sorted(map(str, here.touched.items())))
    words.said += ("fetches", *here.fetch, "armed", here._armed is not None)
    frame = sys._current_frames().get(identity)
    if frame is None:
        raise Unreadable(f"the thread {here.name}")
    for held in _held_by(frame):
        words.frame(held)


def _held_by(frame: FrameType) -> list[Held]:
    """The frames of the program on a thread, the innermost first; none if the thread has come to its end."""
    callee: FrameType | None = None
    current: FrameType | None = frame
    while current is not None and current.f_code.co_filename.startswith(gate.CONTROL):
        if current.f_code.co_name == "stop_here":
            return []
        callee, current = current, current.f_back
    found = []
    while current is not None and is_user(current):
        found.append(frames._held(current, callee))
        callee, current = current, current.f_back
    if not found or current is None or not _is_begin(current):
        raise Unreadable("what a thread is at")
    return found


def _is_begin(frame: FrameType) -> bool:
    """What calls the function of a thread, or executes the program."""
    code = frame.f_code
    is_thread = code.co_filename == threading.__file__ and code.co_name == "run"
    return is_thread or code.co_filename.startswith("<frozen importlib")


def _say_knowledge(words: Any, memory: Any) -> None:
    """Of what was touched last: who knows of it, and which messages tell it on."""
    if memory is None:
        return
    known = {here.name: here.known.clock for here in gate.gates.values()}
    carriers = [*queues._items, *(name for name in clocks._published if " " in name)]
    known.update({f"after {name}": clocks._published[name] for name in carriers})
    words.said += ("told", *sorted(memory.told))
    found = []
    for place in {*memory.writers, *memory.readers}:
        thing = place if isinstance(place, str) else words.name_of(place)
        if thing is None:
            continue
        touches = [(False, *pair) for pair in memory.readers.get(place, {}).items()]
        if place in memory.writers:
            touches.append((True, *memory.writers[place]))
        for writes, index, count in touches:
            knowing = sorted(name for name, clock in known.items() if clock.get(index, 0) >= count)
            found.append((thing, writes, clocks.names.get(index, str(index)), *knowing))
    for each in sorted(found):
        words.said += each
