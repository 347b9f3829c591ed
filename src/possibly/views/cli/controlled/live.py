"""`python -m possibly.views.cli.controlled.live PROGRAM`: a recorded run that stops where a `break` says.

Here belongs the terminal of a stopped program. `possibly run` starts this module instead of the plain
recorder if a watch is to be followed while the program runs.

How everything stops. The thread that made the event is in our hands; all others wait at their next probe.
And while we wait for a command the interpreter's lock is held, so that even a thread that meets no probe
does not go on; such a thread can use the moments in which a command is executed. Other processes of the
operating system are not stopped. Ctrl-C at the prompt is a character, as no handler could run meanwhile.
"""

from __future__ import annotations

import atexit
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from possibly.logic.specification import Specification
from possibly.recorder.following import FollowedRecording
from possibly.recorder.recording import Settings
from possibly.recorder.stopped import Stopped, Task
from possibly.session.watching.paths_live import LivePaths, Told, unpacked
from possibly.views.text.words import plain, value_text

LIVE = "POSSIBLY_LIVE"
"""The variable of the environment that holds the expressions."""
CONTROL_C = b"\x03"
LONGEST = 2_000
MONITOR_KNOWS = "that is known where possibly watch runs; print NAME looks into the program itself"
HELP = """\
where [TASK]     where each task is; the whole stack of one
vars [TEXT]      the recorded variables, those with TEXT in their name
print NAME       a variable of the stopped task as it is now: print x, print self.items[0]
task TASK        look from the place of another task
events           the events that were recognised here
waits            who holds and who awaits what
continue, c      let the program go on
off              go on, and do not stop for this property again
quit, q          interrupt the program, as Ctrl-C does
kill             end the program at once; what was recorded is kept
"""


class Terminal:
    """Lines from the user's terminal, read with the interpreter's lock held."""

    def __init__(self, file: int) -> None:
        self._file = file
        try:
            import ctypes

            self._read: Callable[..., int] | None = ctypes.PyDLL(None).read
            self._buffer: Any = ctypes.create_string_buffer(LONGEST)
        except (ImportError, OSError, TypeError, AttributeError):
            self._read = None

    @staticmethod
    def of_user() -> Terminal | None:
        try:
            return Terminal(os.open("/dev/tty", os.O_RDWR | getattr(os, "O_CLOEXEC", 0)))
        except OSError:
            return None

    def write(self, text: str) -> None:
        data = text.encode(errors="replace")
        while data:
            data = data[os.write(self._file, data) :]

    def ask(self, prompt: str) -> str | None:
        """The next line; None at the end of input, "quit" for Ctrl-C."""
        import termios

        before = termios.tcgetattr(self._file)
        quiet = [*before[:6], list(before[6])]
        quiet[3] = (quiet[3] | termios.ICANON | termios.ECHO) & ~termios.ISIG
        quiet[6][termios.VEOL] = CONTROL_C
        termios.tcsetattr(self._file, termios.TCSADRAIN, quiet)
        try:
            self.write(prompt)
            found = self._line()
        finally:
            termios.tcsetattr(self._file, termios.TCSADRAIN, before)
        if CONTROL_C in found:
            return "quit"
        return found.decode(errors="replace").strip() if found else None

    def _line(self) -> bytes:
        if self._read is None:
            return os.read(self._file, LONGEST)
        count = self._read(self._file, self._buffer, LONGEST)
        return self._buffer.raw[: max(count, 0)] if count else b""


class Stopper:
    """Says what is found, and talks with the user where the program is to stop."""

    def __init__(self, terminal: Terminal | None, live: LivePaths | None = None) -> None:
        self.terminal = terminal
        self.live = live
        self.is_off: set[str] = set()
        self.is_over = False
        """The user has quit: the program ends, and nothing stops it any more."""
        self._last: tuple[str, str] | None = None

    def tell(self, told: Told, tasks: Callable[[], Tasks]) -> str:
        """How the program goes on: `continue`, or `quit` or `kill` if the user said so."""
        if told.stops:
            return self._stop(told, tasks)
        place = f" at {told.event}" if told.event else ""
        self._say(f"possibly: {plain(told.property)}{plain(place)}: {plain(told.text)}\n")
        return "continue"

    def _say(self, text: str) -> None:
        if self.terminal is not None:
            self.terminal.write(text)
        else:
            os.write(2, text.encode(errors="replace"))

    def _stop(self, told: Told, tasks: Callable[[], Tasks]) -> str:
        if self.is_over or told.property in self.is_off or self._last == (told.property, told.event):
            return "continue"  # several occurrences may end in one event
        self._last = told.property, told.event
        stop = Stop(self.live, tasks(), told, told.task)
        self._say(stop.headline())
        if self.terminal is None:
            self._say("".join(f"  {line}\n" for line in stop.where("")))
            return "continue"
        self._say("\n".join([*stop.where(""), "All tasks are stopped; help says what can be asked.", ""]))
        return self._converse(stop, told)

    def _converse(self, stop: Stop, told: Told) -> str:
        assert self.terminal is not None
        while True:
            line = self.terminal.ask("(possibly) ")
            word, _, rest = (line if line is not None else "off").partition(" ")
            if word in ("quit", "q", "kill"):
                self.is_over = True
                return "kill" if word == "kill" else "quit"
            if word == "off":
                self.is_off.add(told.property)
            if word in ("continue", "c", "off"):
                return "continue"
            self.terminal.write("".join(f"{line}\n" for line in stop.answer(word, rest.strip())))


class Tasks(Protocol):
    """The tasks of a stopped program."""

    def places(self) -> Mapping[str, list[str]]:
        """Where each task is, the innermost place first."""

    def value(self, text: str, task: str) -> str:
        """A variable as that task sees it, or what is wrong with the question."""


class Stop:
    """What can be asked of a stopped program; `live` is None where a monitor follows it."""

    def __init__(self, live: LivePaths | None, tasks: Tasks, told: Told, task: str) -> None:
        self.live = live
        self.tasks = tasks
        self.told = told
        self.task = task

    def headline(self) -> str:
        events = ", ".join(self.told.events)
        return (
            f"possibly: break of {plain(self.told.property)} at {plain(self.told.event)}: {plain(events)}\n"
        )

    def answer(self, word: str, rest: str) -> Iterator[str]:
        match word:
            case "":
                return
            case "where" | "w":
                yield from self.where(rest)
            case "vars" | "v":
                yield from self._variables(rest)
            case "print" | "p":
                yield plain(self.tasks.value(rest, self.task))
            case "task":
                yield from self._choose(rest)
            case "events":
                yield ", ".join(map(plain, self.told.events))
            case "waits":
                yield from self._waits()
            case "help" | "h" | "?":
                yield from HELP.splitlines()
            case _:
                yield f"there is no {plain(word)}; help lists what there is"

    def where(self, task: str) -> Iterator[str]:
        """A line for each task, or the whole stack of one."""
        places = self.tasks.places()
        if task and task not in places:
            yield f"no task is called {plain(task)}: {', '.join(map(plain, places))}"
        elif task:
            yield from map(plain, places[task])
        else:
            width = max(map(len, places), default=0)
            for name, stack in places.items():
                mark = ">" if name == self.task else " "
                place = plain(stack[0]) if stack else "not in the program"
                yield f"{mark} {plain(name):<{width}}  {place}"

    def _variables(self, text: str) -> Iterator[str]:
        if self.live is None:
            yield MONITOR_KNOWS
            return
        found = {name: value for name, value in self.live.variables().items() if text in name}
        for name in sorted(found):
            yield f"{plain(name)} = {value_text(found[name], 200)}"
        if not found:
            yield "nothing is recorded of such a name; print NAME looks into the program itself"

    def _choose(self, task: str) -> Iterator[str]:
        if task in self.tasks.places():
            self.task = task
            yield f"looking from {plain(task)}"
        else:
            yield from self.where(task)

    def _waits(self) -> Iterator[str]:
        if self.live is None:
            yield MONITOR_KNOWS
            return
        debugger = self.live.debugger
        for thing, holders in debugger.held.items():
            for holder in holders:
                yield plain(f"{holder} holds {thing}")
        for task, thing in debugger.awaited.items():
            yield plain(f"{task} waits for {thing}")
        yield from (f"circular: {plain(sentence)}" for sentence in debugger.cycle())
        if not debugger.held and not debugger.awaited:
            yield "nobody was told to hold or to await anything"


class _Tasks:
    """The tasks of this process."""

    def __init__(self, recording: FollowedRecording) -> None:
        self._recording = recording

    def places(self) -> Mapping[str, list[str]]:
        return {self._name(each): each.places for each in Stopped().tasks}

    def value(self, text: str, task: str) -> str:
        stopped = Stopped()
        keys = {self._name(each): each.key for each in stopped.tasks}
        return stopped.value(text, keys.get(task))

    def _name(self, task: Task) -> str:
        follower = self._recording.log.follower
        if task.number is None or follower is None:
            return task.name
        return follower.process_name(task.number)


class _Followed:
    """The program that this process is, which stops and goes on by itself."""

    recording: FollowedRecording

    def __init__(self) -> None:
        self._stopper = Stopper(Terminal.of_user())

    def follow(self, specification: Specification, order: str) -> LivePaths:
        self._stopper.live = live = LivePaths(specification, order, self._tell)
        return live

    def _tell(self, told: Told) -> None:
        how = self._stopper.tell(told, lambda: _Tasks(self.recording))
        if how == "quit":
            os.kill(os.getpid(), signal.SIGINT)
        elif how == "kill":
            self.recording.finish()
            os._exit(128 + signal.SIGKILL)


def main() -> None:
    from possibly.recorder import start

    followed = _Followed()
    live = followed.follow(*unpacked(os.environ.pop(LIVE)))
    atexit.register(live.finish)

    def make(settings: Settings) -> FollowedRecording:
        followed.recording = FollowedRecording(settings, live.line, live.lost)
        return followed.recording

    start.main(make)


if __name__ == "__main__":
    main()
