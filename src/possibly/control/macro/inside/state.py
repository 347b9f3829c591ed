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


class ProcessState:
    """A process: `s.Buffer.number`, `s.Buffer["number"]`, `"number" in s.Buffer`."""

    def __init__(self, name: str, seen: Seen) -> None:
        self._name = name
        self._seen = seen

    def __getattr__(self, variable: str) -> Any:
        for values in (self._seen.variables, self._seen.globals):
            if variable in values:
                return values[variable]
        raise MissingValueError(f"{self._name}.{variable} has no value here")

    def __getitem__(self, variable: str) -> Any:
        return getattr(self, variable)

    def __contains__(self, variable: str) -> bool:
        return variable in self._seen.variables or variable in self._seen.globals


class SystemState:
    """All processes, and the messages that are under way."""

    def __init__(self, processes: dict[str, Seen], transit: list[tuple[str, str, str, str | None]]) -> None:
        self._processes = processes
        self._transit = transit

    def __getattr__(self, process: str) -> ProcessState:
        return self[process]

    def __getitem__(self, process: str) -> ProcessState:
        if process not in self._processes:
            raise MissingValueError(f"there is no process {process} here")
        return ProcessState(process, self._processes[process])

    def __contains__(self, process: str) -> bool:
        return process in self._processes

    def processes(self) -> list[str]:
        return sorted(self._processes)

    def transit(self, sender: str | None = None, receiver: str | None = None, tag: str | None = None) -> int:
        """How many messages are sent and not received."""
        return sum(
            sender in (None, by) and (receiver is None or to in ("", receiver)) and tag in (None, kind)
            for _, by, to, kind in self._transit
        )

    def at(self, process: str, label: str) -> bool:
        """Whether the last operation of the process stands on a line with that label."""
        return process in self._processes and self._processes[process].label == label

    def done(self, process: str) -> bool:
        return process in self._processes and self._processes[process].ended
