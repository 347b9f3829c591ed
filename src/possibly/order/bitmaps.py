"""One bit a local state: where a predicate on one process holds, in as little memory as it takes.

Here belongs the bitmap as a value. It is made from the course of a variable (`trace.index`) by `packed`, and
reads like bytes with one item a state (`states[3]`, `states.find(0, 5)`), so that engines need not care
which of the two they are given; `Bits.of` turns either into the compact form. Bits stand in bytes, the
first state in the lowest bit of the first, padded with zeros to whole words of 64 bits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from possibly.order.compiled import kernels
from possibly.trace.index import NONE, Course

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol
else:
    Protocol = object

_WORD = 64
_SOME = re.compile(rb"[^\x00]")
_NOT_ALL = re.compile(rb"[^\xff]")
_BLOCK = 512
_FALSE, _TRUE = bytes(_BLOCK), b"\xff" * _BLOCK
_DIGITS = b"01" + bytes(254)


class States(Protocol):
    """Truth by local state: bytes with one item a state, or `Bits`."""

    def __len__(self) -> int: ...
    def __getitem__(self, state: int, /) -> int: ...
    def find(self, truth: int, start: int = ..., end: int = ..., /) -> int: ...
    def rfind(self, truth: int, start: int = ..., end: int = ..., /) -> int: ...


class Bits:
    """Truth by local state, a bit each."""

    __slots__ = ("_length", "data")

    def __init__(self, data: bytes, length: int) -> None:
        self.data = data
        """Whole words; zero from bit `length` on."""
        self._length = length

    @classmethod
    def of(cls, states: States) -> Bits:
        if isinstance(states, Bits):
            return states
        return cls.from_truths(
            states if isinstance(states, bytes) else bytes(map(states.__getitem__, range(len(states))))
        )

    @classmethod
    def from_truths(cls, truths: bytes) -> Bits:
        """From one byte a state, 0 or 1."""
        return cls(_joined(truths), len(truths))

    def __len__(self) -> int:
        return self._length

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Bits):
            return self._length == other._length and self.data == other.data
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self.data, self._length))

    def __repr__(self) -> str:
        return f"Bits({''.join(map(str, self))})"

    def __iter__(self) -> Iterator[int]:
        return iter(self.truths())

    def truths(self) -> bytes:
        """One byte a state."""
        value = int.from_bytes(self.data, "little") | 1 << self._length
        return bin(value)[:2:-1].encode().translate(_TRUTHS)

    def __getitem__(self, state: int) -> int:
        if not 0 <= state < self._length:
            raise IndexError(state)
        return self.data[state >> 3] >> (state & 7) & 1

    def any(self) -> bool:
        return _SOME.search(self.data) is not None

    def find(self, truth: int, start: int = 0, end: int | None = None, /) -> int:
        """The first state from `start` on, and before `end`, with that truth; -1 if there is none."""
        end = self._length if end is None else min(end, self._length)
        if start >= end:
            return -1
        here = self.data[start >> 3] ^ (0 if truth else 0xFF)
        here = here >> (start & 7) << (start & 7)
        at = start >> 3
        if not here:
            found = (_SOME if truth else _NOT_ALL).search(self.data, at + 1)
            if found is None:
                return -1
            at = found.start()
            here = self.data[at] ^ (0 if truth else 0xFF)
        state = at * 8 + (here & -here).bit_length() - 1
        return state if state < end else -1

    def rfind(self, truth: int, start: int = 0, end: int | None = None, /) -> int:
        """The last state before `end`, and from `start` on, with that truth; -1 if there is none."""
        end = self._length if end is None else min(end, self._length)
        if start >= end:
            return -1
        last = end - 1
        here = (self.data[last >> 3] ^ (0 if truth else 0xFF)) & (2 << (last & 7)) - 1
        at, others = last >> 3, _FALSE if truth else _TRUE
        while not here:
            block = self.data[max(0, at - _BLOCK) : at]
            # To compare whole blocks is much faster than to strip them.
            rest = 0 if block == others[: len(block)] else len(block.rstrip(others[:1]))
            at = at - len(block) + rest - 1
            if rest:
                here = self.data[at] ^ (0 if truth else 0xFF)
            elif at < 0:
                return -1
            else:
                at += 1
        state = at * 8 + here.bit_length() - 1
        return state if state >= start else -1

    def negated(self) -> Bits:
        every = (1 << self._length) - 1
        value = every & ~int.from_bytes(self.data, "little")
        return Bits(value.to_bytes(len(self.data), "little"), self._length)

    def both(self, other: Bits) -> Bits:
        value = int.from_bytes(self.data, "little") & int.from_bytes(other.data, "little")
        return Bits(value.to_bytes(len(self.data), "little"), self._length)

    def shifted(self) -> Bits:
        """Each state has the truth of the next one, the last is false."""
        value = int.from_bytes(self.data, "little") >> 1
        return Bits(value.to_bytes(len(self.data), "little"), self._length)


_TRUTHS = bytes(48) + b"\0\1" + bytes(206)


def _joined(truths: bytes) -> bytes:
    """Bytes of 0 and 1 as bits, in whole words."""
    size = max(1, (len(truths) + _WORD - 1) // _WORD) * 8
    if not truths:
        return bytes(size)
    return int(truths[::-1].translate(_DIGITS), 2).to_bytes(size, "little")


# ---- from courses -----------------------------------------------------------------------------------------

UNKNOWN = 2
"""In a table of truths by value number: not evaluated yet."""


def packed(
    course: Course, length: int, truth: bytearray, first: bool, evaluate: Callable[[int], bool]
) -> Bits:
    """The truth along a course of a predicate of its value.

    `truth` is its table by value number, in which `evaluate` fills what is asked for the first time; `first`
    is the truth of the value that the variable has before it is set.
    """
    kernel = kernels()
    make = _pack if kernel is None else kernel.pack
    data, unknown = make(course.position, course.number, length, truth, first)
    if unknown:
        for number in unknown:
            truth[number] = evaluate(number)
        data, _ = make(course.position, course.number, length, truth, first)
    return Bits(data, length + 1)


def _pack(position: Any, number: Any, length: int, truth: bytearray, first: bool) -> tuple[bytes, list[int]]:
    """The plain twin of the kernel."""
    numbers = set(number) - {NONE} if number.itemsize > 1 else _rare(bytes(number), truth)
    if any(not 0 <= found < len(truth) for found in numbers):
        raise IndexError("a value number is out of range")
    unknown = [found for found in sorted(numbers) if truth[found] == UNKNOWN]
    for found in unknown:
        truth[found] = 0
    if position is None:
        if number.itemsize == 1:
            table = (bytes(truth[:128]) + bytes(127 - len(truth[:127]) + 128))[:255] + bytes([first])
            return _joined(bytes([first]) + bytes(number).translate(table)), unknown
        known = {found: truth[found] for found in numbers} | {NONE: first}
        return _joined(bytes([first, *map(known.__getitem__, number)])), unknown
    parts, at, now = [], 0, int(first)
    for place, found in zip(position, number, strict=True):
        if not at <= place <= length:
            raise IndexError("a position is out of range")
        parts.append(bytes([now]) * (place - at))
        at, now = place, truth[found]
    parts.append(bytes([now]) * (length + 1 - at))
    return _joined(b"".join(parts)), unknown


_ALL_BYTES = bytes(range(256))


def _rare(numbers: bytes, truth: bytearray) -> set[int]:
    """The value numbers among these whose truth is not known, or that do not exist."""
    known = bytes(number for number in range(min(len(truth), 128)) if truth[number] != UNKNOWN)
    return {found - 256 if found > 127 else found for found in set(numbers.translate(None, known + b"\xff"))}
