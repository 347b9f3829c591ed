"""Sites for what is watched, put into code objects: of variables, containers, attributes and calls.

Law: a watched program does what the plain one did. What changes or reads a watched variable tells of it right
before, with nothing in between in which another thread could run. What may change a container in place is
*exchanged* right before it is used: a site gives back the same object, or one that makes the change and tells
of it in one step. Where nothing is watched, code stays as it was.

A program may have sites of both kinds, these and those of memory that tasks share (`instructions.insert`).
"""

from __future__ import annotations

import builtins
import opcode
from collections.abc import Callable
from functools import cached_property
from types import CodeType
from typing import Any

from possibly.probes.instructions.assembler import Instruction
from possibly.probes.instructions.insert import Inserter, Wanted, arguments_of, by_number, variables_of
from possibly.probes.instructions.stack import FUNCTION_FIRST, is_method
from possibly.probes.watching.labels import Labels
from possibly.probes.watching.names import (
    FUNCTION,
    GENERATING,
    Home,
    Names,
    Variable,
    homes_of,
    is_called,
    is_comprehension,
    is_definition,
    rebindable_globals,
)
from possibly.probes.watching.telling import SiteMaker, Telling, Told
from possibly.probes.watching.watch import MUTATORS, Watch
from possibly.records import dataclass

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
_MATRIX = next(
    number
    for number, (name, _) in enumerate(opcode._nb_ops)  # type: ignore[attr-defined]
    if name == "NB_MATRIX_MULTIPLY"
)
"""The operator by which something is exchanged: `site @ value`."""
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FAST", "LOAD_FAST_CHECK")
_STORES = ("STORE_GLOBAL", "STORE_NAME", "STORE_DEREF", "STORE_FAST")
_DELETES = ("DELETE_GLOBAL", "DELETE_NAME", "DELETE_DEREF", "DELETE_FAST")
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


def watched(code: CodeType, watch: Watch, module: str, make: SiteMaker, labels: Labels | None = None,
            sharing: Wanted | None = None) -> CodeType:  # fmt: skip
    """The code of a module with sites; the same object if it has nothing to tell."""
    names = Names(watch, module, rebindable_globals(code))
    watching = Watching(watch, names, make, labels or Labels(), sharing)
    return _Watcher(code, watching, {}, {}, True).result()


def watched_function(code: CodeType, watch: Watch, module: str, make: SiteMaker) -> CodeType:
    """The code of a function whose module is not at hand: all that is named may be a variable of it."""
    names = Names(watch, module, watch.words)
    return _Watcher(code, Watching(watch, names, make, Labels()), {}, {}, False).result()


def _nothing(*_: object) -> object:
    raise AssertionError("no such site is made")


_NO_SHARING = Wanted(_nothing, only_calls=True)


class _Watcher(Inserter):
    def __init__(
        self,
        code: CodeType,
        watching: Watching,
        outer: dict[str, str],
        homes: dict[str, Home],
        is_module: bool,
    ) -> None:
        super().__init__(code, watching.sharing or _NO_SHARING, outer, is_module)
        self.watching, self.watch = watching, watching.watch
        self.homes = homes_of(code, homes)
        self.is_function = bool(code.co_flags & FUNCTION)
        self.methods = {each for each in self.instructions if is_method(each)}
        """Attributes that are loaded in order to be called."""
        self.is_changed = False
        """Something was put in, here or in code that stands here."""
        self.has_scoped = False
        """The function has locals that end with it."""
        self.exchanged: dict[int, Told] = {}
        """Loads of containers that are about to be changed."""
        self.labelled: list[tuple[Instruction, int, Callable[[str | None], None]]] = []
        """Stores on lines with a label."""

    def result(self) -> CodeType:
        made = super().result()
        return made if self.is_changed else self.code

    def _inner(self, code: CodeType) -> CodeType:
        made = _Watcher(code, self.watching, self.cells, self.homes, False).result()
        self.is_changed |= made is not code
        return made

    def _put_sites(self) -> None:
        if self.watching.sharing is not None:
            super()._put_sites()
            self.is_changed = True
        if not self.is_module and not self.is_function:
            return  # the body of a class
        if not self.watch.everything:
            self._find_containers()
        for number in range(len(self.instructions)):
            self._tell(number)
        self._put_labels()
        if self.is_function:
            self._tell_begin()
        self.is_changed |= bool(self.before or self.after)

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
        swap = [self._new("SWAP", depth)] if depth > 1 else []
        return [*swap, *self._exchanged(site), *swap]

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
        if each.name in _LOADS:
            return self._variable(each)
        return self._attribute(each) if self._is_shared_member(each) else None

    # ---- containers -----------------------------------------------------------------------------

    def _find_containers(self) -> None:
        for number, each in enumerate(self.instructions):
            if each.name in ("STORE_SUBSCR", "DELETE_SUBSCR"):
                self._find_changed(number, each.name == "STORE_SUBSCR")
            elif self._changes(number, each):
                self._find_mutated(number)

    def _changes(self, number: int, each: Instruction) -> bool:
        """Whether a method is loaded in order to be called that changes its container."""
        if each in self.methods:
            return self._attribute(each) in MUTATORS
        return each.name == "LOAD_ATTR" and self._attribute(each) in MUTATORS and number in self._spread

    @cached_property
    def _spread(self) -> set[int]:
        """Loads of functions that are called with arguments spread out."""
        found = set()
        for number, each in enumerate(self.instructions):
            if each.name == "CALL_FUNCTION_EX" and self._heights[number] >= 0:
                given = 2 if each.argument & 1 else 1
                slot = self._heights[number] - given - (2 if FUNCTION_FIRST else 1)
                found.add(self._maker_of(slot, number))
        return {each for each in found if each is not None}

    def _find_changed(self, number: int, is_store: bool) -> None:
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
            site = self._site_of(_labelled(told, label))
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

    # ---- instructions ---------------------------------------------------------------------------

    def _tell(self, number: int) -> None:
        each = self.instructions[number]
        self.at = each.at
        name = each.name
        if name in _LOADS:
            self._tell_load(number, each)
        elif name in _STORES:
            self._tell_store(number, each)
        elif self._changes(number, each):
            self._tell_mutator(number, each)
        elif name == "LOAD_ATTR":
            self._tell_member(number, each)
        elif name == "STORE_ATTR":
            self._tell_member_stored(each)
        elif name in ("BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR"):
            self._tell_item(number, each)
        elif name == "BINARY_OP":
            self._tell_operator(number, each)
        elif name in ("CALL", "CALL_KW"):
            self._tell_given(number, each)
        elif name == "LOAD_BUILD_CLASS" and self.watch.follows:
            self._tell_class(number)

    def _tell_load(self, number: int, each: Instruction) -> None:
        variable = self._variable(each)
        if variable is None or not variable.shared or self._is_changed_only(number):
            return
        site = self._site_of(self._told_of(Telling.READ, variable))
        self._put_before(each, self._told(site, self._itself(site)))

    def _is_changed_only(self, number: int) -> bool:
        """Whether it is the container of what is changed, and not read as well."""
        told = self.exchanged.get(number)
        return told is not None and told.more is not True

    def _tell_store(self, number: int, each: Instruction) -> None:
        variable = self._variable(each)
        if variable is None or self._is_no_value(number, each):
            return
        if variable.function is not None:
            self.has_scoped = True
        kind = Telling.WRITE if variable.shared else Telling.SET

        def put(label: str | None) -> None:
            self.at = each.at
            site = self._site_of(_labelled(self._told_of(kind, variable), label))
            self._put_before(each, self._told(site, self._new("COPY", 2)))

        self._with_label(each, put)

    def _is_no_value(self, number: int, each: Instruction) -> bool:
        """A definition, an import, what a comprehension gives back, or the end of the name of an error."""
        if is_comprehension(self.code) or is_definition(self.instructions, number) or self._restores(number):
            return True
        before = self.instructions[number - 1] if number else None
        after = self.instructions[number + 1] if number + 1 < len(self.instructions) else None
        is_end = after is not None and after.name in _DELETES and after.argument == each.argument
        return is_end and before is not None and before.name == "LOAD_CONST"

    def _tell_member(self, number: int, each: Instruction) -> None:
        if each in self.methods or not self._is_member(self._attribute(each)) or number in self._spread:
            return
        if self._is_changed_only(number):
            return
        site = self._site_of(self._told_of(Telling.MEMBER_READ, self._attribute(each)))
        self._put_before(each, self._told(site, self._new("COPY", 2)))

    def _tell_member_stored(self, each: Instruction) -> None:
        attribute = self.code.co_names[each.argument]
        if not self._is_member(attribute):
            return

        def put(label: str | None) -> None:
            self.at = each.at
            told = _labelled(self._told_of(Telling.MEMBER_WRITE, attribute), label)
            made = self.watching.make(told)
            self.consts.append(made)
            site = len(self.consts) - 1
            self._put_before(each, self._told_both(site))
            stored = self._site_of(self._told_of(Telling.STORED, attribute, more=made))
            self.after[each] = self._told(stored, self._itself(stored)) + self.after.get(each, [])

        self._with_label(each, put)

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
        is_variable = following.name in _STORES and self._variable(following) is not None
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
            and self._heights[at + 1] == self._heights[number]
        ]
        if body is None or not calls:
            return
        end = calls[0] + 1
        while self.instructions[end].name in ("PRECALL", "CALL"):
            end += 1
        store = self.instructions[end]
        own = tuple(name for name in _given_names(body) if self._is_member(name))
        if store.name not in _STORES or not (own or end > calls[0] + 1):
            return
        words = tuple(sorted(self.watch.members | self.watch.shared_members))
        self.at = store.at
        site = self._site_of(self._told_of(Telling.CLASS, more=(words, own)))
        self._put_before(store, self._told(site, self._new("COPY", 2)))

    # ---- functions ------------------------------------------------------------------------------

    def _tell_begin(self) -> None:
        code, watch = self.code, self.watch
        if not is_called(code):
            return
        begin = self._begin()
        self.at = begin.at
        names = variables_of(code)
        scoped: list[tuple[str, int]] = []
        for number in range(arguments_of(code)):
            variable = (
                self.watching.names.of_local(code, names[number]) if self._is_local(names[number]) else None
            )
            if variable is None:
                continue
            if variable.function is not None:
                self.has_scoped = True
                scoped.append((variable.name, number))
                continue
            site = self._site_of(self._told_of(Telling.SET, variable))
            self.after.setdefault(begin, []).extend(self._told(site, self._load_parameter(number)))
        if code.co_name in watch.functions or self.has_scoped:
            self._tell_calls(begin, scoped)
        elif watch.every_call and not code.co_flags & GENERATING:
            self._count_calls(begin)

    def _is_local(self, name: str) -> bool:
        """A variable that an inner function binds again is shared."""
        home = self.homes.get(name)
        return home is None or not home.is_rebound

    def _load_parameter(self, number: int) -> Instruction:
        is_cell = variables_of(self.code)[number] in self.code.co_cellvars
        return self._new("LOAD_DEREF" if is_cell else "LOAD_FAST", number)

    def _tell_calls(self, begin: Instruction, scoped: list[tuple[str, int]]) -> None:
        """The beginning, with the parameters if they are asked for, and the end."""
        code = self.code
        told = _told_parameters(code) if code.co_name in self.watch.arguments else None
        kind = Told(Telling.ENTER, code.co_firstlineno, None, code.co_name, more=(told, tuple(scoped)))
        enter = self._site_of(kind)
        made = self.consts[enter]
        if told is None and not scoped:
            put = self._told(enter, self._itself(enter))
        else:
            loads = [self._load_parameter(number) for number in range(arguments_of(code))]
            self.deeper = max(self.deeper, len(loads) + 3)
            put = self._told(enter, *loads, self._new("BUILD_TUPLE", len(loads)))
        self.after.setdefault(begin, []).extend(put)
        self._tell_end(
            begin, self._site_of(Told(Telling.EXIT, code.co_firstlineno, None, code.co_name, more=made))
        )

    def _count_calls(self, begin: Instruction) -> None:
        line, name = self.code.co_firstlineno, self.code.co_name
        enter = self._site_of(Told(Telling.COUNTED_ENTER, line, None, name))
        self.after.setdefault(begin, []).extend(self._told(enter, self._itself(enter)))
        self._tell_end(begin, self._site_of(Told(Telling.COUNTED_EXIT, line, None, name)))

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


def _labelled(told: Told, label: str | None) -> Told:
    return told if label is None else Told(
        told.kind, told.line, told.variable, told.function, label, told.scope, told.more
    )  # fmt: skip


def _given_names(body: CodeType) -> list[str]:
    """What a class body gives values to."""
    from possibly.probes.instructions.assembler import decoded

    instructions = decoded(body)[0]
    return [
        body.co_names[each.argument]
        for number, each in enumerate(instructions)
        if each.name == "STORE_NAME" and not is_definition(instructions, number)
    ]


def _told_parameters(code: CodeType) -> tuple[int, ...]:
    """The numbers of the positional parameters that a call is told with, a spread one last and negative; the
    object that a method is called on only if it is alone."""
    found = list(range(code.co_argcount))
    if code.co_flags & 4:
        found.append(-(code.co_argcount + code.co_kwonlyargcount))
    is_method = (
        bool(found) and found[0] >= 0 and code.co_varnames[0] in ("self", "cls") and code.co_argcount > 0
    )
    return tuple(found[1:] if is_method and len(found) > 1 else found)
