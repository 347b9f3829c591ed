"""Tables that give every distinct string and every distinct value a small number.

Here belongs what may stand in a trace as a string or a value, and when two values are the same one.
Values are told apart by type, so 1, 1.0 and true are three values, and so are 0.0 and -0.0; lists and
objects are the same value if their JSON text with sorted keys is. A value that JSON cannot carry (not a
number, infinite, half a surrogate pair, nested deeper than `DEPTH`) is refused: whatever enters a trace
can be written, read back and shown. Errors raised here carry no place; the builder adds it.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable
from json.decoder import JSONDecodeError, JSONDecoder

from possibly.errors import TraceError
from possibly.trace.model import NONE, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

DEPTH = 200
"""Lists and objects may be nested that deep, far below every recursion limit."""


def _no_constant(name: str) -> NoReturn:
    raise TraceError(f"{name} is not a JSON value")


DECODER = JSONDecoder(parse_constant=_no_constant)
SCAN: Callable[[str, int], tuple[Any, int]] = vars(DECODER)["scan_once"]


def decoded(text: str) -> Any:
    """What a JSON text says, or a TraceError that says why not."""
    try:
        return DECODER.decode(text)
    except JSONDecodeError as error:
        what = error.msg[0].lower() + error.msg[1:].removesuffix(" at").removesuffix(" starting")
        raise TraceError(f"broken JSON, {what}", column=error.colno) from None
    except RecursionError:
        raise TraceError("a value is nested too deeply") from None
    except ValueError:
        # What remains is the limit on the digits of an integer, which guards against quadratic time.
        raise TraceError("an integer has too many digits") from None


class Column:
    """Integers by index, NONE where none was put; padded only when used, so that unused costs nothing."""

    __slots__ = ("numbers",)

    def __init__(self) -> None:
        self.numbers = array("i")

    def put(self, index: int, number: int) -> None:
        gap = index - len(self.numbers)
        if gap < 0:
            self.numbers[index] = number
            return
        if gap:
            self.numbers.frombytes(b"\xff" * (gap * self.numbers.itemsize))
        self.numbers.append(number)

    def get(self, index: int) -> int:
        return self.numbers[index] if index < len(self.numbers) else NONE

    def padded(self, length: int) -> array[int] | None:
        """The whole column, or None if nobody used it."""
        if not self.numbers:
            return None
        self.numbers.frombytes(b"\xff" * ((length - len(self.numbers)) * self.numbers.itemsize))
        return self.numbers


class Strings:
    """The string table. `numbers` is read directly in hot loops; only `new` adds to it."""

    __slots__ = ("numbers", "texts")

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.texts: list[str] = []

    def number(self, text: str) -> int:
        found = self.numbers.get(text)
        return self.new(text) if found is None else found

    def catch_up(self) -> None:
        """Takes over texts that the compiled reader appended."""
        first = len(self.numbers)
        if first < len(self.texts):
            self.numbers.update(zip(self.texts[first:], range(first, len(self.texts)), strict=True))

    def new(self, text: str) -> int:
        check_text(text)
        number = self.numbers[text] = len(self.texts)
        self.texts.append(text)
        return number


class Values:
    """The value table. `plain` maps the type of a hashable value to its own table, for hot loops."""

    __slots__ = ("_others", "plain", "values")

    def __init__(self) -> None:
        self.values: list[Value] = []
        self.plain: dict[type, dict[Any, int]] = {int: {}, str: {}, bool: {}, type(None): {}}
        self._others: dict[str, int] = {}

    def number(self, value: Value) -> int:
        table = self.plain.get(type(value))
        found = None if table is None else table.get(value)
        return self.new(value) if found is None else found

    def new(self, value: Value) -> int:
        """The number of a value that no plain table holds yet."""
        table = self.plain.get(type(value))
        if table is not None:
            if type(value) is str:
                check_text(value)
            table[value] = len(self.values)
            self.values.append(value)
            return len(self.values) - 1
        key = canonical(value)
        found = self._others.get(key)
        if found is None:
            found = self._others[key] = len(self.values)
            # A private copy: whoever handed the list over may change it later.
            self.values.append(value if type(value) is float else json.loads(json.dumps(value)))
        return found


def canonical(value: Value) -> str:
    """The text by which equal values are known; refuses what no trace may hold."""
    check_value(value)
    return json.dumps(value, sort_keys=True)


def check_text(text: str) -> None:
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError:
        raise TraceError(f"the string {text!a} has half a surrogate pair") from None


_SIMPLE = frozenset((int, bool, type(None)))
"""Types of which every value is fine."""


def check_value(value: Value) -> None:
    """Walks without recursion, level by level, so that no depth can hurt."""
    if type(value) is list and _SIMPLE.issuperset(map(type, value)):
        return
    level: list[Value] = [value]
    for _ in range(DEPTH + 1):
        level = [part for outer in level for part in _parts(outer)]
        if not level:
            return
    raise TraceError(f"a value is nested more than {DEPTH} levels deep")


def _parts(value: Value) -> Iterable[Value]:
    kind = type(value)
    if kind is list:
        return value  # type: ignore[no-any-return]
    if kind is dict:
        for key in value:
            if type(key) is not str:
                raise TraceError(f"an object has the key {shown(key)}, expected a string")
            check_text(key)
        return value.values()  # type: ignore[no-any-return]
    if kind is str:
        check_text(value)
    elif kind is float:
        if value - value != 0.0:
            raise TraceError("a number is not finite or too large")
    elif kind is not int and kind is not bool and value is not None:
        raise TraceError(f"{shown(value)} is not a JSON value")
    return ()


def shown(value: object) -> str:
    """A value as a message shows it: its kind and the beginning of its text."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {_cut(repr(value) if not _is_huge(value) else 'of many digits')}"
        case str():
            return f"the string {quoted(value)}"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return f"a Python {type(value).__name__}"


def quoted(text: str) -> str:
    """A name as a message shows it."""
    return _cut(json.dumps(text, ensure_ascii=False))


def _is_huge(value: float) -> bool:
    return isinstance(value, int) and value.bit_length() > 2000


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
