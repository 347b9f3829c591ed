"""Sites for what is watched, put into code objects: of variables, containers, attributes and calls.

Law: a watched program does what the plain one did. What changes or reads a watched variable tells of it right
before, with nothing in between in which another thread could run. What may change a container in place is
*exchanged* right before it is used: a site gives back the same object, or one that makes the change and tells
of it in one step. Where nothing is watched, code stays as it was.

A program may have sites of both kinds, these and those of memory that tasks share (`instructions.insert`).
"""

from __future__ import annotations

from functools import cached_property
from types import CodeType

from possibly.probes.instructions.assembler import Instruction
from possibly.probes.instructions.insert import Wanted, arguments_of, variables_of
from possibly.probes.watching.containers import Containers
from possibly.probes.watching.labels import Labels
from possibly.probes.watching.names import (
    GENERATING,
    Names,
    is_called,
    is_comprehension,
    is_definition,
    rebindable_globals,
)
from possibly.probes.watching.placing import DELETES, LOADS, STORES, Watching, labelled
from possibly.probes.watching.telling import SiteMaker, Telling, Told
from possibly.probes.watching.watch import Watch


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


class _Watcher(Containers):
    def result(self) -> CodeType:
        made = super().result()
        return made if self.is_changed else self.plain

    def _inner(self, code: CodeType) -> CodeType:
        inner = _Watcher(code, self.watching, self.cells, self.homes, False)
        inner.line = self._line_of(code)
        made = inner.result()
        self.is_changed |= made is not code
        return made

    def _line_of(self, code: CodeType) -> int:
        """Where the definition stands, below its decorators."""
        loads = (each for each in self.instructions if each.name == "LOAD_CONST")
        line = next((each.at[0] for each in loads if self.code.co_consts[each.argument] is code), None)
        return line or code.co_firstlineno

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

    # ---- instructions ---------------------------------------------------------------------------

    def _tell(self, number: int) -> None:
        each = self.instructions[number]
        self.at = each.at
        name = each.name
        if name in LOADS:
            self._tell_load(number, each)
        elif name in STORES:
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
            site = self._site_of(labelled(self._told_of(kind, variable), label))
            self._put_before(each, self._told(site, self._new("COPY", 2)))

        self._with_label(each, put)

    def _is_no_value(self, number: int, each: Instruction) -> bool:
        """A definition, an import, what a comprehension gives back, or the end of the name of an error."""
        if is_comprehension(self.code) or is_definition(self.instructions, number) or number in self._inlined:
            return True
        before = self.instructions[number - 1] if number else None
        after = self.instructions[number + 1] if number + 1 < len(self.instructions) else None
        is_end = after is not None and after.name in DELETES and after.argument == each.argument
        return is_end and before is not None and before.name == "LOAD_CONST"

    @cached_property
    def _inlined(self) -> set[int]:
        """Stores of a comprehension that stands in its function itself, with those that put back what was."""
        found: set[int] = set()
        for begin, clear in enumerate(self.instructions if self._clears else ()):
            if clear.name != "LOAD_FAST_AND_CLEAR":
                continue
            for number in range(begin, len(self.instructions)):
                each = self.instructions[number]
                if each.name == "STORE_FAST" and each.argument == clear.argument:
                    found.add(number)
                    if self._restores(number):
                        break
        return found | {number for number in range(len(self.instructions)) if self._is_put_back(number)}

    def _is_put_back(self, number: int) -> bool:
        return self.instructions[number].name == "STORE_FAST" and self._restores(number)

    def _tell_member(self, number: int, each: Instruction) -> None:
        if each in self.methods or not self._is_member(self._attribute(each)) or number in self._called:
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
            told = labelled(self._told_of(Telling.MEMBER_WRITE, attribute), label)
            made = self.watching.make(told)
            self.consts.append(made)
            site = len(self.consts) - 1
            self._put_before(each, self._told_both(site))
            stored = self._site_of(self._told_of(Telling.STORED, attribute, more=made))
            self.after[each] = self._told(stored, self._itself(stored)) + self.after.get(each, [])

        self._with_label(each, put)

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
        kind = Told(Telling.ENTER, self.line, None, code.co_name, more=(told, tuple(scoped)))
        enter = self._site_of(kind)
        made = self.consts[enter]
        if told is None and not scoped:
            put = self._told(enter, self._itself(enter))
        else:
            loads = [self._load_parameter(number) for number in range(arguments_of(code))]
            self.deeper = max(self.deeper, len(loads) + 3)
            put = self._told(enter, *loads, self._new("BUILD_TUPLE", len(loads)))
        self.after.setdefault(begin, []).extend(put)
        self._tell_end(begin, self._site_of(Told(Telling.EXIT, self.line, None, code.co_name, more=made)))

    def _count_calls(self, begin: Instruction) -> None:
        line, name = self.line, self.code.co_name
        enter = self._site_of(Told(Telling.COUNTED_ENTER, line, None, name))
        self.after.setdefault(begin, []).extend(self._told(enter, self._itself(enter)))
        self._tell_end(begin, self._site_of(Told(Telling.COUNTED_EXIT, line, None, name)))


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
