"""What processes share: objects of the first process, used from everywhere.

A `Shared` object is a number. Its methods are those of the object of that number in the first process: there
they are called, elsewhere they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

from possibly.control.runtime import kernel as running
from possibly.control.world.processes import channel
from possibly.trace.place import place_in

objects: list[Any] = []
"""In the first process: what is shared, by number."""
makers: dict[str, Callable[..., Any]] = {}
"""Word -> what makes an object of the first process."""
_holder: Any = None


def begin_anew() -> None:
    """Each execution has its own."""
    global _holder
    if _holder is not running.kernel:
        _holder = running.kernel
        objects.clear()


def made(word: str, given: tuple[Any, ...]) -> int:
    """The number of a new object."""
    if channel.upward is not None:
        number: int = channel.ask("make", word, given)
        return number
    begin_anew()
    return kept(makers[word](*given))


def kept(found: Any) -> int:
    """The number of an object of the first process."""
    begin_anew()
    objects.append(found)
    return len(objects) - 1


class Shared:
    """One object, as all processes have it."""

    word = ""

    def __init__(self, *given: Any) -> None:
        self._number = made(self.word, given)

    def _call(self, method: str, *given: Any) -> Any:
        if channel.upward is not None:
            return channel.ask("call", self._number, method, given)
        return getattr(objects[self._number], method)(*given)

    def __reduce__(self) -> Any:
        return _known, (type(self), self.__dict__)


def _known(kind: type[Shared], state: dict[str, Any]) -> Shared:
    found = kind.__new__(kind)
    found.__dict__.update(state)
    return found


def apart() -> None:
    """What our own code does next for one line of the program is no round of a loop of the program."""
    if running.kernel is not None:
        running.kernel.current.trail.turn()


def at_place(place: str, state: int, function: Callable[[], Any]) -> Any:
    """Calls a function as if the line at that place did so: reports name the line that asks.

    Where the process that asks stands is a local variable there: so `spin` does not take two calls for the
    same moment of a loop unless they are.
    """
    file, line = place_in(place)
    if not line or not file:
        apart()  # nothing is known of where that is
        return function()
    return FunctionType(_code_at(file, line), {"asked": function})(state)


_called: Any = lambda state: asked()  # type: ignore[name-defined]  # noqa: E731, F821
_codes: dict[tuple[str, int], CodeType] = {}


def _code_at(file: str, line: int) -> CodeType:
    found = _codes.get((file, line))
    if found is None:
        found = _called.__code__.replace(co_filename=file, co_firstlineno=line)
        _codes[file, line] = found
    return found
