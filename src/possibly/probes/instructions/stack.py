"""What lies on the interpreter's stack where something is called.

A call finds below its arguments either the function and an empty slot, or a method and the object that is its
first argument. An empty slot must not be touched. Which of the two it is can be told from the instructions
before: an abstract stack of "empty" or "filled" is carried along all ways.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from possibly.probes.instructions.assembler import Handler, Instruction, effect

FUNCTION_FIRST = sys.version_info >= (3, 13)
"""The function lies below the empty slot; before, above it."""
Stack = tuple[bool, ...]
_ENDS = frozenset("RETURN_VALUE RETURN_CONST RAISE_VARARGS RERAISE JUMP_FORWARD JUMP_BACKWARD".split()) | {
    "JUMP_BACKWARD_NO_INTERRUPT"
}
_NEUTRAL = frozenset("NOP RESUME KW_NAMES PRECALL COPY_FREE_VARS MAKE_CELL EXTENDED_ARG CACHE".split())
_ONLY_TAKING = ("POP_", "STORE_", "DELETE_", "JUMP_", "END_FOR", "FOR_ITER")
"""How instructions begin that take values from the stack and put none there, if it does not grow."""
PAIR: Stack = (False, True) if FUNCTION_FIRST else (True, False)
"""A function and its empty slot."""


def is_method(each: Instruction) -> bool:
    """Whether an attribute is loaded in order to be called."""
    if each.name == "LOAD_METHOD":
        return True
    is_attribute = each.name in ("LOAD_ATTR", "LOAD_SUPER_ATTR")
    return is_attribute and sys.version_info >= (3, 12) and bool(each.argument & 1)


def stacks(instructions: Sequence[Instruction], handlers: Sequence[Handler]) -> dict[Instruction, Stack]:
    """Before each instruction that can be reached: which slots of the stack are empty."""
    found: dict[Instruction, Stack] = {}
    arriving: dict[Instruction, Stack] = {instructions[0]: ()} if instructions else {}
    handled: dict[Instruction, list[Handler]] = {}
    for handler in handlers:
        handled.setdefault(handler.first, []).append(handler)
    for number, each in enumerate(instructions):
        now = arriving.get(each)
        if now is None:
            continue
        found[each] = now
        for handler in handled.get(each, ()):
            pushed = (False,) * (1 + handler.keeps_place)
            arriving.setdefault(handler.target, now[: handler.depth] + pushed)
        if each.target is not None:
            arriving.setdefault(each.target, _after(each, now, True))
        if each.name not in _ENDS and number + 1 < len(instructions):
            arriving.setdefault(instructions[number + 1], _after(each, now, False))
    return found


def _after(each: Instruction, now: Stack, jumps: bool) -> Stack:
    name = each.name
    if name in _NEUTRAL:
        return now[: len(now) + effect(each, jumps)] if name == "PRECALL" else now
    if name in ("PUSH_NULL", "LOAD_FAST_AND_CLEAR"):  # a variable may have no value
        return (*now, True)
    if name == "SWAP" and each.argument <= len(now):
        swapped = list(now)
        swapped[-1], swapped[-each.argument] = now[-each.argument], now[-1]
        return tuple(swapped)
    if name == "LOAD_GLOBAL" and each.argument & 1:
        return now + PAIR
    if is_method(each):
        return now[: len(now) + effect(each, jumps) - 2] + PAIR
    grows = effect(each, jumps)
    if grows > 0:
        return now + (False,) * grows
    kept = now[: len(now) + grows]
    if name.startswith(_ONLY_TAKING):
        return kept  # what lies below is as it was
    return (*kept[:-1], False) if kept else kept
