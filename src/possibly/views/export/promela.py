"""A computation as a model for SPIN: its states are the cuts, its runs the observations.

One Promela process a process of the trace executes its events in their order. `done[i]` counts them; an
event waits until the events it needs are done, and assigns its variables in the same atomic step. A joint
event is executed by the first of its processes, and the others follow with it. Integers and booleans keep
their values; any other value becomes a number of its own, listed in a comment at the head, and a variable
without a value is the number `NONE`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from possibly.order.computation import Computation
    from possibly.trace.model import Value

NONE = -2147483648
SMALLEST, LARGEST = -(2**31) + 1, 2**31 - 1


def render_promela(computation: Computation) -> str:
    """The model as Promela text; `done[i]` and the variables can be used in formulas of SPIN."""
    return _Model(computation).text()


class _Model:
    def __init__(self, computation: Computation) -> None:
        self.computation = computation
        self.trace = computation.trace
        self.names: dict[tuple[int | None, str], str] = {}
        self.codes: dict[str, int] = {}
        self.initial: dict[str, int] = {}
        for variable, value in self.trace.shared.items():
            self._declare(None, variable, self._code(value))
        for number, process in enumerate(self.trace.processes):
            for variable, value in process.init.items():
                self._declare(number, variable, self._code(value))

    def text(self) -> str:
        bodies = "".join(self._process(number) for number in range(len(self.trace.processes)))
        return "".join([*self._head(), bodies])

    def _head(self) -> Iterator[str]:
        yield "/* Written by possibly: the states are the cuts of a recorded run. */\n"
        for number, process in enumerate(self.trace.processes):
            yield f"/* p{number}: {_comment(process.name)} */\n"
        for text, code in self.codes.items():
            yield f"/* {code} stands for {_comment(text)} */\n"
        yield f"#define NONE ({NONE})\n"
        yield f"int done[{max(1, len(self.trace.processes))}];\n"
        for name, value in self.initial.items():
            yield f"int {name} = {value};\n"

    def _process(self, number: int) -> str:
        steps = "".join(f"  {self._event(event)}\n" for event in self.trace.events_of[number]) or "  skip\n"
        return f"active proctype p{number}() {{\n{steps}}}\n"

    def _event(self, event: int) -> str:
        lines = self.computation.events(event)
        process, position = self.computation.place(event)
        if event != lines[0]:
            # Executed by the first line of its joint event; here it is only waited for.
            return f"done[{process}] >= {position};"
        waits = [f"done[{process}] == {position - 1}"]
        waits += [f"done[{p}] == {k - 1}" for p, k in map(self.computation.place, lines[1:])]
        needed = {
            other for line in lines for other in self.computation.predecessors(line) if other not in lines
        }
        waits += [f"done[{p}] >= {k}" for p, k in sorted(map(self.computation.place, needed))]
        actions = [action for line in lines for action in self._actions(line)]
        return f"atomic {{ {' && '.join(waits)} -> {'; '.join(actions)} }}"

    def _actions(self, event: int) -> Iterator[str]:
        process, position = self.computation.place(event)
        for variable, value in self.trace.sets(event):
            yield f"{self._name(process, variable)} = {self._code(value)}"
        for variable, value in self.trace.writes(event):
            yield f"{self._name(None, variable)} = {self._code(value)}"
        yield f"done[{process}] = {position}"

    def _declare(self, process: int | None, variable: str, value: int) -> None:
        self.initial[self._name(process, variable)] = value

    def _name(self, process: int | None, variable: str) -> str:
        """An identifier of Promela, different for different variables."""
        key = (process, variable)
        if key not in self.names:
            prefix = "shared" if process is None else f"p{process}"
            word = re.sub(r"\W", "_", variable, flags=re.ASCII)
            name = f"{prefix}_{word}"
            self.names[key] = name if name not in self.names.values() else f"{name}_{len(self.names)}"
            self.initial.setdefault(self.names[key], NONE)
        return self.names[key]

    def _code(self, value: Value) -> int:
        if isinstance(value, (bool, int)) and SMALLEST <= value <= LARGEST:
            return int(value)
        text = json.dumps(value, sort_keys=True)
        return self.codes.setdefault(text, LARGEST - len(self.codes))


def _comment(text: str) -> str:
    """Text that cannot end the comment it stands in."""
    return text.encode("unicode_escape").decode("ascii").replace("*/", "*\\/")
