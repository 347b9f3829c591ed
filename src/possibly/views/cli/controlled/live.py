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
import linecache
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any

from possibly.errors import PossiblyError
from possibly.probes import port
from possibly.recorder.following import FollowedRecording
from possibly.recorder.log import shown_path
from possibly.recorder.recording import Settings
from possibly.session.watching.paths_live import LivePaths, Told, unpacked
from possibly.views.text.words import plain, value_text

LIVE = "POSSIBLY_LIVE"
"""The variable of the environment that holds the expressions."""
CONTROL_C = b"\x03"
LONGEST = 2_000
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
    """Says what is found, and stops the program where it is asked to."""

    recording: FollowedRecording
    live: LivePaths

    def __init__(self, terminal: Terminal | None) -> None:
        self.terminal = terminal
        self.is_off: set[str] = set()
        self.is_over = False
        """The user has quit: the program ends, and nothing stops it any more."""
        self._last: tuple[str, str] | None = None

    def tell(self, told: Told) -> None:
        if told.stops:
            self._stop(told)
        else:
            place = f" at {told.event}" if told.event else ""
            self._say(f"possibly: {plain(told.property)}{plain(place)}: {plain(told.text)}\n")

    def _say(self, text: str) -> None:
        if self.terminal is not None:
            self.terminal.write(text)
        else:
            os.write(2, text.encode(errors="replace"))

    def _stop(self, told: Told) -> None:
        if self.is_over or told.property in self.is_off or self._last == (told.property, told.event):
            return  # several occurrences may end in one event
        self._last = told.property, told.event
        stop = Stop(self.live, _Tasks(self.recording), told, told.task)
        self._say(stop.headline())
        if self.terminal is None:
            self._say("".join(f"  {line}\n" for line in stop.where("")))
            return
        self._say("\n".join([*stop.where(""), "All tasks are stopped; help says what can be asked.", ""]))
        self._converse(stop, told)

    def _converse(self, stop: Stop, told: Told) -> None:
        assert self.terminal is not None
        while True:
            line = self.terminal.ask("(possibly) ")
            word, _, rest = (line if line is not None else "off").partition(" ")
            if word in ("quit", "q"):
                self.is_over = True
                os.kill(os.getpid(), signal.SIGINT)
                return
            if word == "kill":
                self.recording.finish()
                os._exit(128 + signal.SIGKILL)
            if word == "off":
                self.is_off.add(told.property)
            if word in ("continue", "c", "off"):
                return
            self.terminal.write("".join(f"{line}\n" for line in stop.answer(word, rest.strip())))


class Stop:
    """What can be asked of a stopped program."""

    def __init__(self, live: LivePaths, tasks: _Tasks, told: Told, task: str) -> None:
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
                yield self._printed(rest)
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
        frames = self.tasks.frames()
        if task and task not in frames:
            yield f"no task is called {plain(task)}: {', '.join(map(plain, frames))}"
        elif task:
            yield from (_place_text(frame) for frame in frames[task])
        else:
            width = max(map(len, frames), default=0)
            for name, stack in frames.items():
                mark = ">" if name == self.task else " "
                place = _place_text(stack[0]) if stack else "not in the program"
                yield f"{mark} {plain(name):<{width}}  {place}"

    def _variables(self, text: str) -> Iterator[str]:
        found = {name: value for name, value in self.live.variables().items() if text in name}
        for name in sorted(found):
            yield f"{plain(name)} = {value_text(found[name], 200)}"
        if not found:
            yield "nothing is recorded of such a name; print NAME looks into the program itself"

    def _choose(self, task: str) -> Iterator[str]:
        if task in self.tasks.frames():
            self.task = task
            yield f"looking from {plain(task)}"
        else:
            yield from self.where(task)

    def _printed(self, text: str) -> str:
        try:
            return plain(f"{text} = {looked_up(text, self.tasks.frames().get(self.task, []))!r}")
        except PossiblyError as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 - the program's own code runs in a property
            return plain(f"{text}: {type(error).__name__}: {error}")

    def _waits(self) -> Iterator[str]:
        debugger = self.live.debugger
        for thing, holders in debugger.held.items():
            for holder in holders:
                yield plain(f"{holder} holds {thing}")
        for task, thing in debugger.awaited.items():
            yield plain(f"{task} waits for {thing}")
        yield from (f"circular: {plain(sentence)}" for sentence in debugger.cycle())
        if not debugger.held and not debugger.awaited:
            yield "nobody was told to hold or to await anything"


# ---- where tasks are --------------------------------------------------------------------------------


class _Tasks:
    """The threads and tasks of event loops of this process, with their frames, the innermost first."""

    def __init__(self, recording: FollowedRecording) -> None:
        self._recording = recording

    def frames(self) -> Mapping[str, list[FrameType]]:
        found: dict[str, list[FrameType]] = {}
        threads, _ = port.process_tables()
        for thread, frame in sys._current_frames().items():
            stack = list(_stack(frame))
            loop = next((f.f_locals.get("self") for f in stack if f.f_code.co_name == "run_forever"), None)
            if loop is not None:
                found.update(_of_loop(loop))
            if thread in threads:
                found[self._name(threads[thread])] = [each for each in stack if _is_program(each)]
        return found

    def _name(self, number: int) -> str:
        follower = self._recording.log.follower
        return f"process-{number}" if follower is None else follower.process_name(number)


def _of_loop(loop: Any) -> Iterator[tuple[str, list[FrameType]]]:
    import asyncio

    for task in sorted(asyncio.all_tasks(loop), key=lambda task: task.get_name()):
        stack: list[FrameType] = []
        inner: Any = task.get_coro()
        while inner is not None and getattr(inner, "cr_frame", None) is not None:
            stack.insert(0, inner.cr_frame)
            inner = inner.cr_await
        yield task.get_name(), [each for each in stack if _is_program(each)]


def _stack(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_program(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    return not file.startswith("<frozen") and port.is_user_file(file)


def _place_text(frame: FrameType) -> str:
    file, line = frame.f_code.co_filename, frame.f_lineno
    quoted = linecache.getline(file, line).strip()
    return plain(f"{shown_path(file)}:{line} in {frame.f_code.co_name}    {quoted}")


_PART = re.compile(r"\.([^\W\d]\w*)|\[(-?\d+)\]|\[(?:'([^']*)'|\"([^\"]*)\")\]")


def looked_up(text: str, stack: list[FrameType]) -> object:
    """`x`, `self.items[0]`, `table["a"]` as the innermost function of the task sees it; nothing is called."""
    first = re.match(r"[^\W\d]\w*", text)
    if first is None:
        raise PossiblyError("print takes a variable, its attributes and items: print self.items[0]")
    value = _variable(first.group(), stack)
    at = first.end()
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            raise PossiblyError(f"{text[at:]!r} is neither an attribute nor an item")
        attribute, number, *names = part.groups()
        if attribute is not None:
            value = getattr(value, attribute)
        else:
            key: Any = int(number) if number is not None else names[0] or names[1] or ""
            value = value[key]  # type: ignore[index]
        at = part.end()
    return value


def _variable(name: str, stack: list[FrameType]) -> object:
    for frame in stack:
        if name in frame.f_locals:
            return frame.f_locals[name]
    for frame in stack[:1]:
        if name in frame.f_globals:
            return frame.f_globals[name]
    raise PossiblyError(f"no variable is called {name} there; task TASK looks from another place")


def main() -> None:
    from possibly.recorder import start

    specification, order = unpacked(os.environ.pop(LIVE))
    stopper = Stopper(Terminal.of_user())
    stopper.live = LivePaths(specification, order, stopper.tell)
    atexit.register(stopper.live.finish)

    def make(settings: Settings) -> FollowedRecording:
        stopper.recording = FollowedRecording(settings, stopper.live.line, stopper.live.lost)
        return stopper.recording

    start.main(make)


if __name__ == "__main__":
    main()
