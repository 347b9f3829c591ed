"""A code object as a list of instructions, and back.

Law: `assembled(code, decoded(code))` is a code object that does what `code` does, with the same lines and
columns, exception handlers and stack. Instructions may be put in anywhere: jumps, handlers and places are
kept by instruction and not by offset. Where something was put in before an instruction, whoever jumped to the
instruction comes to what was put in.

The forms of jumps, tables of handlers and tables of places are those of CPython 3.11 and later
(`Objects/exception_handling_notes.txt` and `Objects/locations.md` of its source).
"""

from __future__ import annotations

import dis
import opcode
from collections.abc import Iterator, Sequence
from types import CodeType

Position = tuple[int | None, int | None, int | None, int | None]
"""Line, last line, column, last column."""

_EXTENDED: int = opcode.opmap["EXTENDED_ARG"]
_JUMPS = frozenset(opcode.hasjrel)
_BACKWARD = frozenset(number for name, number in opcode.opmap.items() if "JUMP_BACKWARD" in name)


def _caches() -> list[int]:
    """How many units each instruction keeps behind it for the interpreter's own notes."""
    known = opcode._inline_cache_entries  # type: ignore[attr-defined]
    if isinstance(known, dict):
        return [known.get(name, 0) for name in opcode.opname]
    return list(known)


CACHES = _caches()


class Instruction:
    """One instruction. Two are never the same, even if they look alike."""

    __slots__ = ("argument", "at", "code", "target")

    def __init__(self, code: int, argument: int, at: Position, target: Instruction | None = None) -> None:
        self.code = code
        self.argument = argument
        self.at = at
        self.target = target
        """Where it jumps."""

    @property
    def name(self) -> str:
        return opcode.opname[self.code]

    @property
    def size(self) -> int:
        return 1 + CACHES[self.code] + (self.argument > 255) + (self.argument > 65535)

    def __repr__(self) -> str:
        return f"{self.name} {self.argument}"


class Handler:
    """Instructions from `first` to before `end` (None: the last) go on at `target` if they raise."""

    __slots__ = ("depth", "end", "first", "keeps_place", "target")

    def __init__(
        self, first: Instruction, end: Instruction | None, target: Instruction, depth: int, keeps_place: bool
    ) -> None:
        self.first, self.end, self.target = first, end, target
        self.depth, self.keeps_place = depth, keeps_place


def decoded(code: CodeType) -> tuple[list[Instruction], list[Handler]]:
    """The instructions, and who handles what they raise."""
    found: list[Instruction] = []
    starts: dict[int, Instruction] = {}
    jumps: list[tuple[Instruction, int]] = []
    plain, positions = code.co_code, list(code.co_positions())
    unit, argument, begin, units = 0, 0, 0, len(plain) // 2
    while unit < units:
        number = plain[2 * unit]
        argument = argument << 8 | plain[2 * unit + 1]
        if number == _EXTENDED:
            unit += 1
            continue
        made = Instruction(number, argument, positions[unit])
        unit += 1 + CACHES[number]
        starts[begin] = made
        found.append(made)
        if number in _JUMPS:
            jumps.append((made, unit - argument if number in _BACKWARD else unit + argument))
        argument, begin = 0, unit
    for jump, to in jumps:
        jump.target = starts[to]
    handlers = [
        Handler(starts[first], starts.get(end), starts[to], depth, keeps)
        for first, end, to, depth, keeps in _handlers(code.co_exceptiontable)
    ]
    return found, handlers


def _handlers(table: bytes) -> Iterator[tuple[int, int, int, int, bool]]:
    numbers = _numbers(table)
    for first in numbers:
        length, target, rest = next(numbers), next(numbers), next(numbers)
        yield first, first + length, target, rest >> 1, bool(rest & 1)


def _numbers(table: bytes) -> Iterator[int]:
    value = 0
    for byte in table:
        value = value << 6 | byte & 63
        if not byte & 64:
            yield value
            value = 0


def assembled(
    code: CodeType,
    instructions: Sequence[Instruction],
    handlers: Sequence[Handler],
    entries: dict[Instruction, Instruction],
    consts: tuple[object, ...],
    deeper: int,
) -> CodeType:
    """The code object with these instructions instead of its own.

    `entries`: where to come in instead, for instructions that something was put before. `deeper`: how much
    more of the stack is used than before.
    """
    offsets = _laid_out(instructions, entries)
    units = bytearray()
    for each in instructions:
        argument = each.argument
        if argument > 255:
            if argument > 65535:
                units += bytes((_EXTENDED, argument >> 16))
            units += bytes((_EXTENDED, argument >> 8 & 255))
        units += bytes((each.code, argument & 255)) + bytes(2 * CACHES[each.code])
    end = len(units) // 2
    return code.replace(
        co_code=bytes(units),
        co_consts=consts,
        co_stacksize=code.co_stacksize + deeper,
        co_linetable=_places(instructions, code.co_firstlineno),
        co_exceptiontable=_table(handlers, entries, offsets, end),
    )


def _laid_out(
    instructions: Sequence[Instruction], entries: dict[Instruction, Instruction]
) -> dict[Instruction, int]:
    """Where each instruction begins; jumps get their distances, which may make them longer.

    That comes to an end: what is put in makes distances longer and never shorter.
    """
    offsets: dict[Instruction, int] = {}
    jumps = [each for each in instructions if each.target is not None]
    is_settled = False
    while not is_settled:
        offset = 0
        for each in instructions:
            offsets[each] = offset
            offset += each.size
        is_settled = True
        for each in jumps:
            target = each.target
            assert target is not None
            end = offsets[each] + each.size
            distance = offsets[entries.get(target, target)] - end
            before = each.size
            each.argument = max(-distance if each.code in _BACKWARD else distance, 0)
            is_settled &= each.size == before
    return offsets


def _table(
    handlers: Sequence[Handler],
    entries: dict[Instruction, Instruction],
    offsets: dict[Instruction, int],
    end: int,
) -> bytes:
    found = bytearray()
    for each in handlers:
        first = offsets[entries.get(each.first, each.first)]
        last = end if each.end is None else offsets[entries.get(each.end, each.end)]
        target = offsets[entries.get(each.target, each.target)]
        _put(found, first, 128)
        _put(found, last - first)
        _put(found, target)
        _put(found, each.depth << 1 | each.keeps_place)
    return bytes(found)


def _put(found: bytearray, value: int, mark: int = 0) -> None:
    """A number of the table of handlers: six bits a byte, the highest first; an entry begins with a mark."""
    digits = [value & 63]
    while value := value >> 6:
        digits.append(value & 63 | 64)
    digits.reverse()
    digits[0] |= mark
    found += bytes(digits)


_NOWHERE, _WITHOUT_COLUMNS, _LONG = 15, 13, 14


def _places(instructions: Sequence[Instruction], first_line: int) -> bytes:
    """The table of places: entries of up to eight units each."""
    found = bytearray()
    line = first_line
    place: Position | None = None
    units = 0
    for each in instructions:
        if each.at != place and units:
            line = _put_place(found, place, units, line)
            units = 0
        place = each.at
        units += each.size
    if units:
        _put_place(found, place, units, line)
    return bytes(found)


def _put_place(found: bytearray, place: Position | None, units: int, before: int) -> int:
    """Writes entries for so many units at one place; returns the line that the next one counts from."""
    line, last, column, last_column = place or (None, None, None, None)
    while units > 0:
        length = min(units, 8)
        units -= length
        if line is None:
            found.append(128 | _NOWHERE << 3 | length - 1)
            continue
        if last is None or column is None or last_column is None:
            found.append(128 | _WITHOUT_COLUMNS << 3 | length - 1)
            _put_signed(found, line - before)
        else:
            found.append(128 | _LONG << 3 | length - 1)
            _put_signed(found, line - before)
            _put_plain(found, last - line)
            _put_plain(found, column + 1)
            _put_plain(found, last_column + 1)
        before = line
    return before


def _put_plain(found: bytearray, value: int) -> None:
    """A number of the table of places: six bits a byte, the lowest first."""
    while value >= 64:
        found.append(value & 63 | 64)
        value >>= 6
    found.append(value)


def _put_signed(found: bytearray, value: int) -> None:
    _put_plain(found, (-value << 1 | 1) if value < 0 else value << 1)


def effect(each: Instruction, jumps: bool) -> int:
    """By how much the stack grows."""
    has_argument = each.code >= dis.HAVE_ARGUMENT
    return dis.stack_effect(each.code, each.argument if has_argument else None, jump=jumps)
