"""The state of the whole system at a collective breakpoint, as predicates of the program see it.

    @possibly.predicate
    def no_lost_message(s):
        return s.Buffer.number == s.Producer.count - s.Consumer.count

`s.NAME` or `s["NAME"]` is a process, its attributes are its variables. A process or a variable that is not
there yet is an error, which makes the predicate false.
"""

from __future__ import annotations

from typing import Any

from possibly.control.macro.model import Seen


class MissingValueError(AttributeError):
    """There is no such process or variable at this breakpoint."""


Read = tuple[str | None, ...]
"""What is read: `value P x`, `has P`, `has P x`, `processes`, `transit P Q tag`, `at P label`, `done P`."""


class ProcessState:
    """A process: `s.Buffer.number`, `s.Buffer["number"]`, `"number" in s.Buffer`."""

    def __init__(self, name: str, state: SystemState) -> None:
        self._name = name
        self._state = state

    def __getattr__(self, variable: str) -> Any:
        return self._state._read("value", self._name, variable)

    def __getitem__(self, variable: str) -> Any:
        return getattr(self, variable)

    def __contains__(self, variable: str) -> bool:
        found: bool = self._state._read("has", self._name, variable)
        return found


class SystemState:
    """All processes, and the messages that are under way. It keeps what is read of it, for `answers`."""

    def __init__(self, processes: dict[str, Seen], transit: list[tuple[str, str, str, str | None]]) -> None:
        self._processes = processes
        self._transit = transit
        self._reads: list[Read] = []

    def __getattr__(self, process: str) -> ProcessState:
        return self[process]

    def __getitem__(self, process: str) -> ProcessState:
        if not self._read("has", process):
            raise MissingValueError(f"there is no process {process} here")
        return ProcessState(process, self)

    def __contains__(self, process: str) -> bool:
        found: bool = self._read("has", process)
        return found

    def processes(self) -> list[str]:
        found: list[str] = self._read("processes")
        return found

    def transit(self, sender: str | None = None, receiver: str | None = None, tag: str | None = None) -> int:
        """How many messages are sent and not received."""
        found: int = self._read("transit", sender, receiver, tag)
        return found

    def at(self, process: str, label: str) -> bool:
        """Whether the last operation of the process stands on a line with that label."""
        found: bool = self._read("at", process, label)
        return found

    def done(self, process: str) -> bool:
        found: bool = self._read("done", process)
        return found

    # ---- what is read -----------------------------------------------------------------------------

    def _read(self, *read: str | None) -> Any:
        self._reads.append(read)
        return self.read(read)

    def read(self, read: Read) -> Any:
        """The value of a read."""
        what, *rest = read
        reading: Any = {
            "value": self._value,
            "has": self._has,
            "processes": self._processes_there,
            "transit": self._transit_of,
            "at": self._at,
            "done": self._done,
        }[str(what)]
        return reading(*rest)

    def _value(self, process: str, variable: str) -> Any:
        seen = self._processes.get(process, Seen())
        for values in (seen.variables, seen.globals):
            if variable in values:
                return values[variable]
        raise MissingValueError(f"{process}.{variable} has no value here")

    def _has(self, process: str, variable: str | None = None) -> bool:
        seen = self._processes.get(process)
        if seen is None or variable is None:
            return seen is not None
        return variable in seen.variables or variable in seen.globals

    def _processes_there(self) -> list[str]:
        return sorted(self._processes)

    def _transit_of(self, sender: str | None, receiver: str | None, tag: str | None) -> int:
        return sum(
            sender in (None, by) and (receiver is None or to in ("", receiver)) and tag in (None, kind)
            for _, by, to, kind in self._transit
        )

    def _at(self, process: str, label: str) -> bool:
        return process in self._processes and self._processes[process].label == label

    def _done(self, process: str) -> bool:
        return process in self._processes and self._processes[process].ended
