"""Messages about events, in any order, to an order that respects what they report.

Here belongs the stabiliser of Modeling Concurrency in Parallel Debugging, section 4.2: a message names an
event and its predecessors and may arrive before those of its predecessors; it is held back until they are
through. Synchronisations are established from rules as functions: a first event leaves a token, a second
one that finds a token of the same key has that event as a predecessor too.

In the paper's example the predecessor that a synchronisation adds stands at the event after the second one
(`e5` after `e4` and `e2`), as if receiving had not ended before; `late` does the same. In a trace a receive
happens after its send, which is the default.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Message:
    """An event and the events right before it."""

    event: Hashable
    predecessors: tuple[Hashable, ...] = ()


Key = Callable[[Hashable], Hashable | None]
"""What an event synchronises on, None if it does not."""


@dataclass(slots=True)
class Stabiliser:
    """`feed` yields the messages that can be passed on now."""

    first: Key = lambda event: None
    second: Key = lambda event: None
    late: bool = False
    passed: set[Hashable] = field(default_factory=set)
    waiting: dict[Hashable, list[Message]] = field(default_factory=dict)
    """Messages held back, by one predecessor that is missing."""
    tokens: dict[Hashable, deque[Hashable]] = field(default_factory=dict)
    added: dict[Hashable, Hashable] = field(default_factory=dict)
    """For a second event, the first one of its synchronisation."""

    def feed(self, message: Message) -> Iterator[Message]:
        pending = [message]
        while pending:
            current = pending.pop(0)
            missing = next((other for other in current.predecessors if other not in self.passed), None)
            if missing is not None:
                self.waiting.setdefault(missing, []).append(current)
                continue
            yield self._passed(current)
            pending.extend(self.waiting.pop(current.event, ()))

    @property
    def held(self) -> int:
        """How many messages wait for their predecessors."""
        return sum(map(len, self.waiting.values()))

    def _passed(self, message: Message) -> Message:
        event, before = message.event, list(message.predecessors)
        if self.late:
            before += [self.added[other] for other in message.predecessors if other in self.added]
        key = self.second(event)
        if key is not None and self.tokens.get(key):
            self.added[event] = self.tokens[key].popleft()
            if not self.late:
                before.append(self.added[event])
        key = self.first(event)
        if key is not None:
            self.tokens.setdefault(key, deque()).append(event)
        self.passed.add(event)
        return Message(event, tuple(dict.fromkeys(before)))
