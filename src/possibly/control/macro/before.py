"""What must have happened before what, as far as one execution shows it (see `matching`)."""

from __future__ import annotations

from collections.abc import Collection


class Before:
    """What must have happened before what; events are numbers."""

    def __init__(self) -> None:
        self._after: list[list[int]] = []

    def __len__(self) -> int:
        return len(self._after)

    def after(self, event: int) -> list[int]:
        """The events that were said to come after this one."""
        return self._after[event]

    def event(self, *earlier: int | None) -> int:
        self._after.append([])
        for each in earlier:
            if each is not None:
                self.add(each, len(self._after) - 1)
        return len(self._after) - 1

    def add(self, first: int, second: int) -> None:
        self._after[first].append(second)

    def comes_first(self, first: int, others: Collection[int]) -> bool:
        """Whether the event must come before all the others."""
        seen, pending = {first}, [first]
        while pending:
            fresh = [each for each in self._after[pending.pop()] if each not in seen]
            seen.update(fresh)
            pending.extend(fresh)
        return all(each in seen for each in others)

    def holds(self, first: int, second: int) -> bool:
        """Whether the first event must come before the second, or is it."""
        seen, pending = {first}, [first]
        while pending:
            event = pending.pop()
            if event == second:
                return True
            fresh = [each for each in self._after[event] if each not in seen]
            seen.update(fresh)
            pending.extend(fresh)
        return False
