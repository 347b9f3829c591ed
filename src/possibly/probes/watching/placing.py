"""Where sites for what is watched are put, and what is known of the stack and of names there.

Law: a slot of the stack was filled by the last instruction before that left it on top, unless ways meet
there: then nothing is said of it.
"""

from __future__ import annotations

import opcode
from collections.abc import Callable
from functools import cached_property
from types import CodeType
from typing import Any

from possibly.probes.instructions.assembler import Instruction, assembled, decoded
from possibly.probes.instructions.insert import NUMBERS, Inserter, Wanted, by_number, variables_of
from possibly.probes.instructions.stack import is_method
from possibly.probes.watching.labels import Labels
from possibly.probes.watching.names import (
    FUNCTION,
    Home,
    Names,
    Variable,
    homes_of,
)
from possibly.probes.watching.telling import SiteMaker, Telling, Told
from possibly.probes.watching.watch import Watch
from possibly.records import dataclass

_MATRIX = next(
    number
    for number, (name, _) in enumerate(opcode._nb_ops)  # type: ignore[attr-defined]
    if name == "NB_MATRIX_MULTIPLY"
)
"""The operator by which something is exchanged: `site @ value`."""
LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FAST", "LOAD_FAST_CHECK")
STORES = ("STORE_GLOBAL", "STORE_NAME", "STORE_DEREF", "STORE_FAST")
DELETES = ("DELETE_GLOBAL", "DELETE_NAME", "DELETE_DEREF", "DELETE_FAST")
_TAKING = ("POP_", "STORE_", "DELETE_", "JUMP_", "PRECALL", "KW_NAMES", "NOP", "CACHE")


@dataclass(frozen=True, slots=True)
class Watching:
    """What is told of one module."""

    watch: Watch
    names: Names
    make: SiteMaker
    labels: Labels
    sharing: Wanted | None = None
    """Sites for the memory that tasks share, if those are wanted as well."""


def _nothing(*_: object) -> object:
    raise AssertionError("no such site is made")


_NO_SHARING = Wanted(_nothing, only_calls=True)


_PAIRS = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}
"""Instructions that newer interpreters make of two, and those two."""


def unpaired(code: CodeType) -> CodeType:
    """The code with two instructions wherever the interpreter has made one of them."""
    instructions, handlers = decoded(code)
    if not any(each.name in _PAIRS for each in instructions):
        return code
    found: list[Instruction] = []
    for each in instructions:
        found.append(each)
        if each.name in _PAIRS:
            first, second = _PAIRS[each.name]
            found.append(Instruction(NUMBERS[second], each.argument & 15, each.at))
            each.code, each.argument = NUMBERS[first], each.argument >> 4
    return assembled(code, found, handlers, {}, code.co_consts, 0)


class Placing(Inserter):
    """Puts sites for what is watched into one code object."""

    def __init__(
        self,
        code: CodeType,
        watching: Watching,
        outer: dict[str, str],
        homes: dict[str, Home],
        is_module: bool,
    ) -> None:
        super().__init__(unpaired(code), watching.sharing or _NO_SHARING, outer, is_module)
        self.plain = code
        self.watching, self.watch = watching, watching.watch
        self.homes = homes_of(code, homes)
        self.is_function = bool(code.co_flags & FUNCTION)
        self.methods = {each for each in self.instructions if is_method(each)}
        """Attributes that are loaded in order to be called."""
        self.line = code.co_firstlineno
        """Where the definition stands."""
        self.is_changed = False
        """Something was put in, here or in code that stands here."""
        self.has_scoped = False
        """The function has locals that end with it."""
        self.exchanged: dict[int, Told] = {}
        """Loads of containers that are about to be changed."""
        self.labelled: list[tuple[Instruction, int, Callable[[str | None], None]]] = []
        """Stores on lines with a label."""

    # ---- sites ----------------------------------------------------------------------------------

    def _site_of(self, told: Told) -> int:
        self.consts.append(self.watching.make(told))
        return len(self.consts) - 1

    def _told_of(self, kind: Telling, variable: Variable | str | None = None, **more: Any) -> Told:
        line = self.at[0] or self.code.co_firstlineno
        if isinstance(variable, Variable):
            scope = int(Telling.WRITE if variable.shared else Telling.SET)
            return Told(kind, line, variable.name, variable.function, scope=scope, **more)
        return Told(kind, line, variable, **more)

    def _put_before(self, each: Instruction, made: list[Instruction]) -> None:
        self.before.setdefault(each, []).extend(made)

    def _put_right_after(self, each: Instruction, made: list[Instruction]) -> None:
        """Before what makes a bound method fit for a call."""
        self.after[each] = made + self.after.get(each, [])

    def _exchanged(self, site: int) -> list[Instruction]:
        """`top = site @ top`"""
        return [self._itself(site), self._new("SWAP", 2), self._new("BINARY_OP", _MATRIX)]

    def _exchanged_below(self, site: int, depth: int) -> list[Instruction]:
        """The same of what lies so deep."""
        return [self._new("SWAP", depth), *self._exchanged(site), self._new("SWAP", depth)]

    # ---- names ----------------------------------------------------------------------------------

    def _variable(self, each: Instruction) -> Variable | None:
        """What is loaded, stored or deleted, if it is a watched variable."""
        names = self.watching.names
        kind = each.name.partition("_")[2]
        if kind == "GLOBAL" or kind == "NAME":
            return names.of_global(self._global_name(each))
        name = variables_of(self.code)[each.argument]
        if kind in ("DEREF", "CLASSDEREF"):
            return names.of_cell(self.code, name, self.homes.get(name))
        return names.of_local(self.code, name) if self.is_function else None

    def _is_shared_member(self, each: Instruction) -> bool:
        return (
            each.name == "LOAD_ATTR" and each not in self.methods and self._is_member(self._attribute(each))
        )

    def _is_member(self, attribute: str) -> bool:
        return self.watch.is_member(attribute)

    # ---- the stack ------------------------------------------------------------------------------

    @cached_property
    def _heights(self) -> list[int]:
        """How much lies on the stack before each instruction; -1: it cannot be reached."""
        return [-1 if stack is None else len(stack) for stack in by_number(self.code)]

    @cached_property
    def _jumped_to(self) -> set[Instruction]:
        return {each.target for each in self.instructions if each.target is not None}

    def _maker_of(self, slot: int, number: int) -> int | None:
        """The instruction before this one that puts there what lies in a slot; None if that depends."""
        heights = self._heights
        for at in range(number - 1, -1, -1):
            each = self.instructions[at]
            is_top = at + 1 < len(heights) and heights[at + 1] == slot + 1 and heights[at] >= 0
            if is_top and not each.name.startswith(_TAKING):
                is_meeting = self.instructions[at + 1] in self._jumped_to
                return None if is_meeting or each.name in ("SWAP", "COPY") else at
            if heights[at] < slot and heights[at] >= 0:
                return None
        return None

    def _container(self, number: int | None) -> Variable | str | None:
        """What a container is known by that is loaded there."""
        if number is None:
            return None
        each = self.instructions[number]
        if each.name in LOADS:
            return self._variable(each)
        return self._attribute(each) if self._is_shared_member(each) else None

    # ---- labels ---------------------------------------------------------------------------------

    def _with_label(self, each: Instruction, put: Callable[[str | None], None]) -> None:
        """Puts a store's site at once, or when it is known which of its line gets the label."""
        line = self.watching.labels.line_of(each.at[0])
        if line is None:
            put(None)
        else:
            self.labelled.append((each, line, put))

    def _put_labels(self) -> None:
        """The last store of a statement gets the label, wherever the compiler has written it twice."""
        last = {line: each.at for each, line, _ in self.labelled}
        for each, line, put in self.labelled:
            put(self.watching.labels.claimed(line) if each.at == last[line] else None)


def labelled(told: Told, label: str | None) -> Told:
    return told if label is None else Told(
        told.kind, told.line, told.variable, told.function, label, told.scope, told.more
    )  # fmt: skip
