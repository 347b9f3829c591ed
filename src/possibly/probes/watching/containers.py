"""Sites for containers that change in place: items, methods, operators, arguments of functions in C, classes.

A container that a watched variable is read for, only to be changed, is exchanged where it is loaded; any
other that may be held by a watched variable is exchanged right before it is changed.
"""

from __future__ import annotations

import builtins
import opcode
from functools import cached_property
from types import CodeType

from possibly.probes.instructions import table
from possibly.probes.instructions.assembler import Instruction, decoded
from possibly.probes.instructions.stack import FUNCTION_FIRST, is_method
from possibly.probes.watching.names import (
    Variable,
    is_definition,
)
from possibly.probes.watching.placing import STORES, Placing, labelled
from possibly.probes.watching.telling import Telling, Told
from possibly.probes.watching.watch import MUTATORS

IN_PLACE = {
    name: f"i{name[3:].lower()}" if name != "NB_MULTIPLY" else "imul"
    for name in ("NB_ADD", "NB_MULTIPLY", "NB_SUBTRACT", "NB_OR", "NB_AND", "NB_XOR")
} | {"NB_SUBTRACT": "isub"}
"""Operators that change a container, and the functions of `operator` that stand for them."""
_OPERATORS: dict[int, str] = {
    number: IN_PLACE[name.replace("INPLACE_", "")]
    for number, (name, _) in enumerate(opcode._nb_ops)  # type: ignore[attr-defined]
    if name.startswith("NB_INPLACE") and name.replace("INPLACE_", "") in IN_PLACE
}
_COUNTING = ("iadd", "isub")


class Containers(Placing):
    """Puts sites for containers into one code object."""

    # ---- containers -----------------------------------------------------------------------------

    def _find_containers(self) -> None:
        for number, each in enumerate(self.instructions):
            if each.name in ("STORE_SUBSCR", "DELETE_SUBSCR"):
                self._find_changed(number)
            elif self._changes(number, each):
                self._find_mutated(number)

    def _changes(self, number: int, each: Instruction) -> bool:
        """Whether a method is loaded in order to be called that changes its container."""
        if each in self.methods:
            return self._attribute(each) in MUTATORS
        return each.name == "LOAD_ATTR" and self._attribute(each) in MUTATORS and number in self._called

    @cached_property
    def _called(self) -> set[int]:
        """Loads of functions that are called right away, by another way than as methods."""
        found = set()
        for number, each in enumerate(self.instructions):
            first = self._first_of_call(number)
            height = self._heights[first]
            if each.name not in table.CALLS or height < 0:
                continue
            if each.name == "CALL_FUNCTION_EX":
                given = 2 if each.argument & 1 else 1
            else:
                given = each.argument + (1 if each.name == "CALL_KW" else 0)
            found.add(self._maker_of(height - given - (2 if FUNCTION_FIRST else 1), first))
        return {each for each in found if each is not None}

    def _find_changed(self, number: int) -> None:
        """An item is stored or deleted: where its container was loaded."""
        height = self._heights[number]
        if height < 0:
            return
        before = self.instructions[max(number - 2, 0) : number]
        is_augmented = [each.name for each in before] == ["SWAP", "SWAP"]
        slot = height - 3 if is_augmented else height - 2
        loaded = self._maker_of(slot, number - 2 if is_augmented else number)
        variable = self._container(loaded)
        if loaded is None or variable is None:
            return
        kind = Telling.OWNED_CONTAINER if isinstance(variable, str) else Telling.CONTAINER
        self._exchange_load(loaded, kind, variable, is_read=is_augmented)
        self._changed_items.add(number)

    @cached_property
    def _changed_items(self) -> set[int]:
        """Changes of items whose container was exchanged where it was loaded."""
        return set()

    def _exchange_load(self, loaded: int, kind: Telling, variable: Variable | str, is_read: bool) -> None:
        each = self.instructions[loaded]
        self.at = each.at
        told = self._told_of(kind, variable, more=is_read)
        self.exchanged[loaded] = told
        if isinstance(variable, str):
            self._put_before(each, [self._new("COPY", 1)])

        def put(label: str | None) -> None:
            self.at = each.at
            site = self._site_of(labelled(told, label))
            pair = [self._new("BUILD_TUPLE", 2)] if isinstance(variable, str) else []
            self._put_right_after(each, [*pair, *self._exchanged(site)])

        self._with_label(each, put)

    def _find_mutated(self, number: int) -> None:
        """A method that changes its container: what is known of that."""
        variable = self._container(number - 1 if number else None)
        each = self.instructions[number]
        if variable is None or each in self._jumped_to:
            return
        loaded = self.instructions[number - 1]
        kind = Telling.OWNED_MUTATOR if isinstance(variable, str) else Telling.MUTATOR
        self.at = each.at
        self.exchanged[number - 1] = self._told_of(kind, variable)
        if isinstance(variable, str):
            self._put_before(loaded, [self._new("COPY", 1)])
        self._mutators[number] = self._told_of(kind, variable)

    @cached_property
    def _mutators(self) -> dict[int, Told]:
        """Loads of methods that change a container of which more is known."""
        return {}

    def _tell_mutator(self, number: int, each: Instruction) -> None:
        told = self._mutators.get(number)
        if told is None and not (self.watch.follows or self.watch.everything):
            return
        kind = Telling.ITEM_MUTATOR if self.watch.everything else Telling.MUTATOR
        told = told or self._told_of(kind)
        site = self._site_of(told)
        self._make_bound(each)
        pair = [self._new("BUILD_TUPLE", 2)] if told.kind == Telling.OWNED_MUTATOR else []
        self._put_right_after(each, [*pair, *self._exchanged(site)])

    def _make_bound(self, each: Instruction) -> None:
        if is_method(each):
            self._load_bound(each)

    # ---- items ----------------------------------------------------------------------------------

    def _tell_item(self, number: int, each: Instruction) -> None:
        if self.watch.everything:
            self._tell_own_item(number, each)
        elif self.watch.follows and each.name != "BINARY_SUBSCR" and number not in self._changed_items:
            site = self._site_of(self._told_of(Telling.CONTAINER))
            self._put_before(each, self._exchanged_below(site, 2))

    def _tell_own_item(self, number: int, each: Instruction) -> None:
        """Where every item is a variable."""
        if each.name == "BINARY_SUBSCR":
            is_slice = number > 0 and self.instructions[number - 1].name == "BUILD_SLICE"
            if not is_slice:
                self._put_before(each, self._told_both(self._site_of(self._told_of(Telling.ITEM_READ))))
        elif each.name == "STORE_SUBSCR":
            site = self._site_of(self._told_of(Telling.ITEM_WRITE))
            self._put_before(each, self._told_several(site, [3, 2, 1]))
        else:
            self._put_before(each, self._told_both(self._site_of(self._told_of(Telling.ITEM_DELETE))))

    def _tell_operator(self, number: int, each: Instruction) -> None:
        """`e += v` where `e` may be another name of a container that a watched variable holds."""
        word = _OPERATORS.get(each.argument)
        if word is None or not self.watch.follows or self._counts(number, word):
            return
        following = self.instructions[number + 1]
        if following.name == "SWAP":
            following = self.instructions[number + 2]
        is_member = following.name == "STORE_ATTR" and self._is_member(self.code.co_names[following.argument])
        is_variable = following.name in STORES and self._variable(following) is not None
        if is_member or is_variable or following.name == "SWAP":
            return
        site = self._site_of(self._told_of(Telling.OPERAND))
        self._put_before(each, self._exchanged_below(site, 2))

    def _counts(self, number: int, word: str) -> bool:
        """A number added to something that is no number is an error."""
        before = self.instructions[number - 1]
        is_number = before.name == "LOAD_CONST" and type(self.code.co_consts[before.argument]) in (int, float)
        return is_number and word in _COUNTING

    # ---- calls ----------------------------------------------------------------------------------

    def _tell_given(self, number: int, each: Instruction) -> None:
        """A call that gets a watched variable: a function in C may change what it holds."""
        first = self._first_of_call(number)
        if self.watch.everything or not self._holds_shared or self._heights[first] < 0:
            return
        below = self._heights[first] - each.argument - (1 if each.name == "CALL_KW" else 0)
        named = len(self._keywords(each, first))
        makers = (self._maker_of(below + place, first) for place in range(each.argument - named))
        if not any(self._is_shared(maker) for maker in makers):
            return
        function = self._maker_of(below - (2 if FUNCTION_FIRST else 1), first)
        function = self._maker_of(below - 1, first) if function is None else function
        if function is not None:
            self._exchange_function(function)

    @cached_property
    def _holds_shared(self) -> bool:
        """Whether some watched variable is read here at all."""
        return any(self._is_shared(number) for number in range(len(self.instructions)))

    def _is_shared(self, number: int | None) -> bool:
        """Whether what is loaded there is a watched variable that others see."""
        found = self._container(number)
        return found.shared if isinstance(found, Variable) else found is not None

    def _exchange_function(self, number: int) -> None:
        each = self.instructions[number]
        if self._changes(number, each) or number in self.exchanged:
            return
        is_global = each.name in ("LOAD_GLOBAL", "LOAD_NAME")
        if is_global and hasattr(builtins, self._global_name(each)):
            return  # none of these changes a container that it gets
        self._make_bound(each)
        if each.name == "LOAD_GLOBAL" and each.argument & 1:
            each.argument &= ~1
            put = [self._new("PUSH_NULL")]
            self.after[each] = (put if FUNCTION_FIRST else [*put, self._new("SWAP", 2)]) + self.after.get(
                each, []
            )
        site = self._site_of(self._told_of(Telling.FUNCTION))
        self._put_right_after(each, self._exchanged(site))

    def _tell_class(self, number: int) -> None:
        """Values that objects have from their class, or from code that a decorator makes."""
        body = next(
            (
                self.code.co_consts[each.argument]
                for each in self.instructions[number:]
                if each.name == "LOAD_CONST" and isinstance(self.code.co_consts[each.argument], CodeType)
            ),
            None,
        )
        calls = [
            at
            for at in range(number + 1, len(self.instructions))
            if self.instructions[at].name.startswith("CALL")
            and at + 1 < len(self._heights)
            and self._heights[at + 1] == self._heights[number] + FUNCTION_FIRST
        ]
        if body is None or not calls:
            return
        end = calls[0] + 1
        while self.instructions[end].name in ("PRECALL", "CALL"):
            end += 1
        store = self.instructions[end]
        own = tuple(name for name in _given_names(body) if self._is_member(name))
        if store.name not in STORES or not (own or end > calls[0] + 1):
            return
        words = tuple(sorted(self.watch.members | self.watch.shared_members))
        self.at = store.at
        site = self._site_of(self._told_of(Telling.CLASS, more=(words, own)))
        self._put_before(store, self._told(site, self._new("COPY", 2)))


def _given_names(body: CodeType) -> list[str]:
    """What a class body gives values to."""
    instructions = decoded(body)[0]
    return [
        body.co_names[each.argument]
        for number, each in enumerate(instructions)
        if each.name == "STORE_NAME" and not is_definition(instructions, number)
    ]
