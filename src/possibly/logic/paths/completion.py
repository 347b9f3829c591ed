"""Whether what was begun can still be completed: an event can wait for a partner that never comes.

Here belongs the question alone; values and order are left open. It is answered in two steps. *Counts*: how
often may each synchronising event still come, on either side of an `&`? Where the two have no number in
common, as in `d & (d & a)@` after a second a, nothing completes the run; this is the state equation of a net,
as intervals. *Search*: the readings that may follow are tried, as far as their size allows. Where that is not
enough the answer is yes: the run is then refused later, never wrongly.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from possibly.logic.paths.compiled import Compiled, Kind, Part
from possibly.logic.paths.forms import Form, Reading
from possibly.logic.paths.readings import Taker

SEARCHED = 400
"""Readings that are tried to find out whether a run can still be completed."""
SEARCHED_WITH_COUNTS = 20
"""The same where readings carry counts, so that hardly ever two are equal."""
SEARCHED_COPIES = 4_000
"""Copies of an `@` in all these readings together: where copies begin without end, each reading is larger."""
WITHOUT_END = 1 << 40


class Counts(NamedTuple):
    """How often each symbol that synchronises may come: at least, at most."""

    least: tuple[int, ...]
    most: tuple[int, ...]

    def __add__(self, other: object) -> Counts:
        assert isinstance(other, Counts)
        return Counts(
            tuple([one + two for one, two in zip(self.least, other.least, strict=True)]),
            tuple([one + two for one, two in zip(self.most, other.most, strict=True)]),
        )

    def repeated(self) -> Counts:
        """Of something that comes any number of times."""
        return Counts((0,) * len(self.least), tuple([WITHOUT_END if most else 0 for most in self.most]))


class Completion:
    """Answers for the readings of one expression. `blind` is a reading without slots and values."""

    def __init__(self, expression: Compiled, blind: Callable[[Reading], Reading]) -> None:
        self.parts = expression.parts
        self.look: Callable[[], None] | None = None
        """Called for each reading that is tried; it may raise what ends the work."""
        self._symbols = range(len(expression.symbols))
        self._blind = blind
        self._searched = SEARCHED_WITH_COUNTS if expression.counters else SEARCHED
        self._known: dict[Reading, bool] = {}
        shared = 0
        for part in self.parts:
            shared |= part.shared
        self._synchronising = [symbol for symbol in self._symbols if shared >> symbol & 1]
        self._none = Counts((0,) * len(self._synchronising), (0,) * len(self._synchronising))
        self._counts: list[Counts | None] = []
        for part in self.parts:
            self._counts.append(self._of_part(part))

    def forget(self) -> None:
        self._known.clear()

    def is_possible(self, reading: Reading) -> bool:
        """Whether some further events may complete the run."""
        return self.of_reading(reading) is not None and self._is_possible(reading)

    def _is_possible(self, reading: Reading) -> bool:
        match reading:
            case (Form.DONE, _):
                return True
            case (Form.AFTER, inner, part):
                return self._is_possible(inner) and self._is_possible((Form.TODO, part, ()))
            case (Form.ROUND, inner, _) | (Form.COUNTED, inner, _, _) | (Form.BOUND, _, inner, _):
                return self._is_possible(inner)
            case (Form.COPIES, _, _, copies):
                return all(map(self._is_possible, copies))
            case (Form.BOTH, part, left, right) if not self.parts[part].shared:
                return self._is_possible(left) and self._is_possible(right)
        start = self._blind(reading)
        if start not in self._known:
            self._search(start)
        return self._known[start]

    # ---- search ---------------------------------------------------------------------------------

    def _search(self, start: Reading) -> None:
        taker = Taker(self.parts, [0], None)
        seen, pending, answer, copies = {start}, deque([start]), False, 0
        while pending and not answer:
            reading = pending.popleft()
            if self.look is not None:
                self.look()
            copies += _copies(reading)
            is_enough = len(seen) > self._searched or copies > SEARCHED_COPIES
            if is_enough or self._known.get(reading) or taker.ends(reading, {}):
                answer = True
                break
            for symbol in self._symbols:
                for step in taker.steps(reading, symbol, {}):
                    following = self._blind(step.reading)
                    if following not in seen and self.of_reading(following) is not None:
                        seen.add(following)
                        pending.append(following)
        if not answer:
            self._known.update(dict.fromkeys(seen, False))
        self._known[start] = answer

    # ---- counts ---------------------------------------------------------------------------------

    def _of_part(self, part: Part) -> Counts | None:
        """What a part that has not begun still needs; None if nothing completes it."""
        match part.kind:
            case Kind.EVENT:
                own = tuple([int(symbol == part.symbol) for symbol in self._synchronising])
                return Counts(own, own)
            case Kind.SEQUENCE:
                return _sum(self._counts[part.left], self._counts[part.right])
            case Kind.CHOICE:
                return _either(self._counts[part.left], self._counts[part.right])
            case Kind.TOGETHER:
                return self._together(part, self._counts[part.left], self._counts[part.right])
            case Kind.REPEAT | Kind.COUNT | Kind.MANY:
                return self._repeated(part.left)
        return self._counts[part.left]

    def of_reading(self, reading: Reading) -> Counts | None:
        """What is still to come; None if nothing completes it."""
        match reading:
            case (Form.TODO, part, _):
                return self._counts[part]
            case (Form.DONE, _):
                return self._none
            case (Form.AFTER, inner, part):
                return _sum(self.of_reading(inner), self._counts[part])
            case (Form.ROUND, inner, number) | (Form.COUNTED, inner, number, _):
                return _sum(self.of_reading(inner), self._repeated(self.parts[number].left))
            case (Form.BOTH, number, left, right):
                return self._together(self.parts[number], self.of_reading(left), self.of_reading(right))
            case (Form.COPIES, number, _, copies):
                found: Counts | None = self._repeated(self.parts[number].left)
                for copy in copies:
                    found = _sum(found, self.of_reading(copy))
                return found
        return self.of_reading(reading[2])

    def _repeated(self, body: int) -> Counts:
        counts = self._counts[body]
        return self._none if counts is None else counts.repeated()

    def _together(self, part: Part, one: Counts | None, two: Counts | None) -> Counts | None:
        if one is None or two is None:
            return None
        total = one + two
        least, most = list(total.least), list(total.most)
        for place, symbol in enumerate(self._synchronising):
            if part.shared >> symbol & 1:
                least[place] = max(one.least[place], two.least[place])
                most[place] = min(one.most[place], two.most[place])
                if least[place] > most[place]:
                    return None
        return Counts(tuple(least), tuple(most))


def _sum(one: Counts | None, two: Counts | None) -> Counts | None:
    return None if one is None or two is None else one + two


def _either(one: Counts | None, two: Counts | None) -> Counts | None:
    if one is None or two is None:
        return two if one is None else one
    return Counts(tuple(map(min, one.least, two.least)), tuple(map(max, one.most, two.most)))


def _copies(reading: Reading) -> int:
    """How many copies of `@` a reading has."""
    match reading:
        case (Form.AFTER | Form.ROUND, inner, _) | (Form.COUNTED, inner, _, _) | (Form.BOUND, _, inner, _):
            return _copies(inner)
        case (Form.BOTH, _, left, right):
            return _copies(left) + _copies(right)
        case (Form.COPIES, _, _, copies):
            return len(copies) + sum(map(_copies, copies))
    return 0
