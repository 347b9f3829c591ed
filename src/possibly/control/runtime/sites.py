"""Sites: what instrumented code shows its values to, before it touches them (see `probes.instructions`).

A site knows its kind, its name and its place. It tells `variables`, `attributes`, `items` or `calls` what is
about to be touched, which stop the task here if that is a choice point. Compiled, a site costs a check or two
where nothing is shared. To look at a value can run code of the program (a proxy that asks for another object,
a class with its own idea of `isinstance`): what that touches is not told, since without us it does not run.
"""

from __future__ import annotations

import builtins
import io
import sys
import types
from collections import deque
from functools import partial
from typing import Any

from possibly.control.loading.following import enter, leave, local
from possibly.control.loading.packages import LENT, is_lent, root_of
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.attributes import delete_attribute, raise_again, read_attribute, write_attribute
from possibly.control.runtime.calls import called, import_named, returned, show, tells_of_itself
from possibly.control.runtime.contents import PLAIN_KEYS
from possibly.control.runtime.items import (
    DEEPEST,
    SIMPLE_ITERATORS,
    advance,
    changed,
    contains,
    deep,
    delete_item,
    does_itself,
    is_followed,
    is_namespace,
    is_unshared,
    is_weak,
    item,
    iterate,
    method_of,
    parts_of,
    read_item,
    size,
    tell_of_dictionary,
    using_parts,
    whole,
    write_item,
)
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.memory import Memory
from possibly.control.runtime.places import caller, place_of
from possibly.control.runtime.task import Call
from possibly.control.runtime.things import (
    CONTAINERS,
    INSTANCE,
    OPAQUE,
    SIMPLE_TYPES,
    class_has,
    dictionary_of,
    is_user_class,
)
from possibly.control.runtime.touched.hashed import SETS, note_order
from possibly.control.runtime.touched.members import held_by, reading_parts, special_parts
from possibly.control.runtime.touched.parts import asking_parts, touch_all
from possibly.control.runtime.touched.unwatched import (
    checking_parts,
    counting_parts,
    digits_parts,
    number_parts,
)
from possibly.control.runtime.variables import (
    content,
    delete_cell,
    delete_global,
    made,
    read_cell,
    read_global,
    touch_cells,
    write_cell,
    write_global,
)
from possibly.probes.instructions.insert import IN_BODY, Maker
from possibly.probes.instructions.table import Kind

READ_GLOBAL = int(Kind.READ_GLOBAL)
WRITE_GLOBAL = int(Kind.WRITE_GLOBAL)
DELETE_GLOBAL = int(Kind.DELETE_GLOBAL)
READ_CELL = int(Kind.READ_CELL)
WRITE_CELL = int(Kind.WRITE_CELL)
READ_ATTRIBUTE = int(Kind.READ_ATTRIBUTE)
WRITE_ATTRIBUTE = int(Kind.WRITE_ATTRIBUTE)
READ_ITEM = int(Kind.READ_ITEM)
DELETE_ITEM = int(Kind.DELETE_ITEM)
BINARY = int(Kind.BINARY)
COMPARE = int(Kind.COMPARE)
CONTAINS = int(Kind.CONTAINS)
CALL = int(Kind.CALL)
CALL_SPREAD = int(Kind.CALL_SPREAD)
TRUTH = int(Kind.TRUTH)
ADVANCE = int(Kind.ADVANCE)
ENTRY = int(Kind.ENTRY)
RESULT = int(Kind.RESULT)
GIVE_BACK = int(Kind.GIVE_BACK)
OF_NAMES = frozenset({READ_GLOBAL, WRITE_GLOBAL, DELETE_GLOBAL})
MEASURE = -1
"""No instruction: see `callers.measure`."""
NUMBERS = frozenset({int, float, str, bool, bytes, type(None), complex})
"""Types whose values only lead to others of these."""
HOLDING_ITEMS = frozenset({list, tuple, dict, set, frozenset, deque})
"""What is never equal to such a value, and is not looked into to find out."""
BY_HASH = frozenset({dict, set, frozenset, type({}.keys()), str, bytes})
"""What of these holds a plain key is found without a look at the others."""
IN_PLACE = 13
"""Binary operators from this number on change their left side."""


class Site:
    """One place of the program at which something is touched."""

    possibly_site = True

    def __init__(
        self, kind: int, name: str, at: str, module: str, more: Any, is_evaluated: bool = False
    ) -> None:
        self.kind = kind
        self.word = name
        self.name = name if module == "__main__" or not module else f"{module}.{name}"
        self.at = at
        self.more = more
        self.is_evaluated = is_evaluated
        """In code that `exec` or `eval` executes: its variables are in whatever it was given."""
        self.is_body = kind in OF_NAMES and more == IN_BODY
        """A variable of the body of a class: in whatever its metaclass has prepared."""
        self.is_lent = module in LENT
        """In code that what is modelled uses too."""
        self.space: dict[str, Any] = {}
        self.owner: Kernel | None = None
        """The execution that `space` belongs to."""

    def __delitem__(self, value: Any) -> None:
        kernel = running.kernel
        if kernel is None or kernel.ending:
            return
        task = kernel.current
        if self.kind == GIVE_BACK and not self._is_given(value, kernel):
            return
        if task.looks or (self.is_lent and is_lent(caller())):
            return
        task.looks = True
        task.shown += 1
        try:
            self._show(value, kernel)
        finally:
            kernel.current.looks = False

    def __setitem__(self, key: Any, value: Any) -> None:
        kernel = running.kernel
        if kernel is None or kernel.ending:
            if self.kind == MEASURE:
                self._measure(value)
            return
        if self.kind == RESULT and (type(value) in SIMPLE_TYPES or kernel.quiet):
            return
        task = kernel.current
        if task.looks or (self.is_lent and is_lent(caller())):
            return
        task.looks = True
        task.shown += 1
        try:
            self._show_both(key, value, kernel)
        finally:
            kernel.current.looks = False

    def _show(self, value: Any, kernel: Kernel) -> None:
        memory = accesses.memory
        if memory is not None and memory.specials:
            self._read_specials(value if type(value) is tuple else (value,))
        if memory is not None and memory.lives.has_ends:
            memory.passes(kernel, self._mark("before"), self.at)
        kind = self.kind
        if kind == READ_ATTRIBUTE:
            self._read_attribute(value, kernel)
            if memory is not None and memory.lives.may_keep:
                memory.lives.keep((kernel, memory), held_by(value, self.word))
        elif kind == CALL:
            self._call(value[0], value[1:], self.more)
        elif kind == READ_GLOBAL:
            if self.is_evaluated or self.is_body:
                self._evaluated(READ_GLOBAL, None, kernel)
                return
            if self.owner is not kernel:
                self._find_space(kernel)
            read_global(self.name, self.word, self.space, self.at)
            if memory is not None and memory.lives.may_keep:
                memory.lives.keep((kernel, memory), self.space.get(self.word))
        elif kind == TRUTH:
            if type(value) not in NUMBERS:
                size(value, self.at)
        elif kind == ADVANCE:
            if memory is not None and not is_unshared(value, memory):
                self._advance(value)
        elif kind == READ_CELL:
            read_cell(self.word, value, self.at)
            if memory is not None and memory.lives.may_keep:
                memory.lives.keep((kernel, memory), content(value))
        elif kind == ENTRY:
            if self.word == "__del__" and memory is not None:
                memory.lives.finish((kernel, memory), self.at)
            if kernel.running().calls:
                self._called_back(kernel)
        elif kind == GIVE_BACK:
            self._given_back(value, kernel)
            if memory is not None and memory.lives.has_ends:
                memory.lives.end_locals((kernel, memory), self.at, kernel.current.shown)
        else:
            self._seldom(value, kernel)

    def _show_both(self, key: Any, value: Any, kernel: Kernel) -> None:
        memory = accesses.memory
        if memory is not None and memory.specials:
            self._read_specials((key, value))
        kind = self.kind
        if memory is not None and memory.lives.has_ends and kind not in (CALL, CALL_SPREAD):
            memory.passes(kernel, self._mark("before"), self.at)
        if kind in (CALL, CALL_SPREAD):
            self._returned(value, kernel)
            if memory is not None and memory.lives.has_ends:
                memory.passes(kernel, self._mark("after"), self.at)
        elif kind == RESULT:
            self._resulted(value)
        elif kind == READ_ITEM:
            if type(value) not in SIMPLE_TYPES or is_followed(value):
                parts = read_item(value, key, self.at)
                if parts or type(key) not in PLAIN_KEYS:
                    self._push(None, (), parts or self._looked_through(key, value, False))
                if memory is not None and memory.lives.may_keep:
                    memory.lives.keep((kernel, memory), item(value, key))
        elif kind == BINARY:
            if type(value) not in NUMBERS or type(key) not in NUMBERS:
                self._binary(value, key)
        elif kind == COMPARE:
            if not (type(value) in NUMBERS and type(key) in HOLDING_ITEMS | NUMBERS) and not (
                type(key) in NUMBERS and type(value) in HOLDING_ITEMS
            ):
                self._compare(value, key)
        elif kind == WRITE_ATTRIBUTE:
            if type(key) is types.CellType:
                touch_cells(True, self.at)
                return
            write_attribute(key, self.word, value, self.at)
        elif kind == WRITE_CELL:
            write_cell(self.word, key, value, self.at)
        elif kind == CONTAINS:
            self._contains(key, value)
        elif kind == DELETE_ITEM:
            delete_item(value, key, self.at)
        else:
            whole(value, self.at)  # the keys of a pattern

    def _mark(self, when: str) -> str:
        """The same in every execution, and seldom that of another site."""
        return f"{when} {self.kind} {self.word} {self.at}"

    def _measure(self, value: Any) -> None:
        self._measure_there(value)

    def _measure_there(self, value: Any) -> None:
        """As far from the program as where it is asked whether a value is new."""
        _learn(value)

    def _read_specials(self, values: tuple[Any, ...]) -> None:
        """Somebody replaces methods that instructions look for: what is shown here may have them."""
        now = accesses.active()
        if now is not None and not now[0].alone and not now[0].quiet:
            touch_all(now, [part for each in values for part in special_parts(each, now, self.at)], self.at)

    # ---- one of each kind -----------------------------------------------------------------------

    def _find_space(self, kernel: Kernel) -> None:
        self.space, self.owner = caller().f_globals, kernel

    def _evaluated(self, kind: int, new: Any, kernel: Kernel) -> None:
        """A variable of code that `exec` or `eval` executes, or of the body of a class: an item of a
        dictionary, else a global one, else a built-in one."""
        frame: Any = caller()
        space: Any = frame.f_globals
        is_apart = self.more and not frame.f_code.co_flags & 2 and frame.f_locals is not space
        if is_apart:
            own = frame.f_locals
            if not self.is_body or _is_given(own):
                self._of_item(kind, own, new)
            if kind != READ_GLOBAL or self.word in own:
                return
        module = sys.modules.get(space.get("__name__", "")) if type(space) is dict else None
        if module is not None and module.__dict__ is space:
            self._global(kind, space, new)
            return
        self._of_item(kind, space, new)
        if kind == READ_GLOBAL and self.word not in space:
            if frame.f_builtins is builtins.__dict__:
                read_attribute(builtins, self.word, self.at)
            else:
                read_item(frame.f_builtins, self.word, self.at)

    def _of_item(self, kind: int, space: Any, new: Any) -> None:
        if kind == READ_GLOBAL:
            read_item(space, self.word, self.at)
        elif kind == WRITE_GLOBAL:
            write_item(space, self.word, new, self.at)
        else:
            delete_item(space, self.word, self.at)

    def _global(self, kind: int, space: dict[str, Any], new: Any) -> None:
        if kind == READ_GLOBAL:
            read_global(self.name, self.word, space, self.at)
        elif kind == WRITE_GLOBAL:
            write_global(self.name, self.word, space, new, self.at)
        else:
            delete_global(self.name, self.word, space, self.at)

    def _read_attribute(self, value: Any, kernel: Kernel) -> None:
        if self.word == "__dict__":
            tell_of_dictionary(value, dictionary_of(value))
            return
        if type(value) is types.FunctionType:
            if self.word == "__globals__":
                _tell_of_globals(value.__globals__)
                return
            if self.word == "__kwdefaults__" and accesses.memory is not None:
                accesses.memory.write_rarely(kernel, self.word)
        if type(value) is types.CellType:
            touch_cells(False, self.at)
            return
        if type(value) is partial and self.word == "keywords" and accesses.memory is not None:
            accesses.memory.write_rarely(kernel, self.word)
        if kernel.quiet:
            return
        read_attribute(value, self.word, self.at)

    def _advance(self, value: Any) -> None:
        parts = advance(value, self.at)
        if parts or type(value) is types.GeneratorType:
            self._push(None, (value,), parts)

    def _looked_through(self, key: Any, value: Any, writes: bool) -> list[Any]:
        """What is in use as long as a key of the program's own class is looked for, by its own code."""
        now = accesses.active()
        if now is None or now[0].alone or (not (is_slice := type(key) is slice) and not is_followed(key)):
            return []
        if does_itself(value, "__setitem__" if writes else "__getitem__"):
            return []
        return parts_of(value, now, self.at, DEEPEST, writes or is_slice)

    def _in_the_middle(self, key: Any, value: Any, new: Any) -> None:
        """Whoever looks for a key of the program's own class is in the middle of its code for a while."""
        if type(key) not in PLAIN_KEYS:
            parts = self._looked_through(key, value, True)
            self._push(None, (), parts + self._used_up(new) if type(key) is slice else parts)

    def _binary(self, left: Any, right: Any) -> None:
        in_place = self.more >= IN_PLACE
        self._compute((left, right))
        changed(left, self.at) if in_place else whole(left, self.at)
        if type(right) in NUMBERS:
            return
        if type(left) is str:
            self._format(right)
            return
        self._begin()
        whole(right, self.at)
        if in_place and (parts := self._used_up(right)):
            now = accesses.active()
            assert now is not None
            self._push(None, (right,), parts + parts_of(left, now, self.at, DEEPEST, True))

    def _compute(self, values: tuple[Any, ...]) -> None:
        """Arithmetic of numbers reads settings that somebody may change."""
        now = accesses.active()
        if now is not None and now[1].rare and not now[0].alone:
            touch_all(now, number_parts(values, now, self.at), self.at)

    def _format(self, value: Any) -> None:
        """A text is made of it, perhaps by code of the program in the middle."""
        self._compute((value,))
        if type(value) is int:
            self._write_digits()
        deep(value, self.at)
        now = accesses.active()
        if now is not None and not now[0].alone and type(value) not in NUMBERS and is_followed(value):
            show(value, now)
            self._push(None, (value,), parts_of(value, now, self.at))
        elif type(value) not in NUMBERS:
            self._begin()

    def _write_digits(self) -> None:
        now = accesses.active()
        if now is not None and now[1].rare and not now[0].alone:
            touch_all(now, digits_parts(now), self.at)

    def _used_up(self, value: Any) -> list[Any]:
        """What something in C is in the middle of while it goes through this, by code of the program."""
        now = accesses.active()
        if now is None or now[0].alone or type(value) in SIMPLE_TYPES or type(value) in CONTAINERS:
            return []
        return using_parts(value, now, self.at) if class_has(type(value), "__iter__") else []

    def _compare(self, left: Any, right: Any) -> None:
        now = accesses.active()
        if now is None or now[0].alone:
            return
        parts = parts_of(left, now, self.at) + parts_of(right, now, self.at)
        if is_weak(type(left)) and is_weak(type(right)):
            parts += asking_parts(left, now, self.at) + asking_parts(right, now, self.at)
        if parts:
            touch_all(now, parts, self.at)
            self._push(None, (left, right), parts)
        else:
            self._begin()

    def _contains(self, value: Any, item: Any) -> None:
        if type(value) in NUMBERS and type(item) in NUMBERS:
            return
        if type(value) in NUMBERS:
            whole(item, self.at)
            return
        contains(item, value, self.at)
        now = accesses.active()
        is_found_at_once = type(item) in PLAIN_KEYS and type(value) in BY_HASH
        if now is not None and not now[0].alone and not is_found_at_once:
            self._push(None, (value,), parts_of(value, now, self.at))

    def _seldom(self, value: Any, kernel: Kernel) -> None:
        at = self.at
        match self.kind:
            case Kind.WRITE_GLOBAL | Kind.DELETE_GLOBAL:
                if self.is_evaluated or self.is_body:
                    self._evaluated(self.kind, value, kernel)
                else:
                    self._find_space(kernel)
                    self._global(self.kind, self.space, value)
            case Kind.DELETE_CELL:
                delete_cell(self.word, value, at)
            case Kind.DELETE_ATTRIBUTE:
                delete_attribute(value, self.word, at)
            case Kind.WRITE_ITEM:
                new, container, key = value
                write_item(container, key, new, at)
                self._in_the_middle(key, container, new)
            case Kind.READ_SLICE:
                whole(value[0], at)
            case Kind.WRITE_SLICE:
                whole(value[0], at)
                changed(value[1], at)
            case Kind.MADE:
                made(value, at)
            case Kind.CALL_SPREAD:
                self._spread(value, at)
            case _:
                self._rest(value, kernel)

    def _rest(self, value: Any, kernel: Kernel) -> None:
        at = self.at
        match self.kind:
            case Kind.ITERATE:
                iterate(value, at)
            case Kind.USE | Kind.UNPACK:
                self._compute((value,))
                if type(value) in SETS:
                    note_order(value, kernel)
                whole(value, at)
                self._push_iterator(value)
            case Kind.FORMAT:
                self._format(value)
            case Kind.MATCH_CLASS:
                self._match_class(value)
            case Kind.SUPER:
                read_attribute(value[2], self.word, at)
            case Kind.ENTER_CONTEXT:
                self._enter_context(value)
            case Kind.EXIT_CONTEXT:
                self._call(value, (), ())
            case Kind.RAISE:
                raise_again(value, at)
            case Kind.IMPORT:
                read_attribute(builtins, "__import__", at)
                import_named(self.word, at)
            case Kind.BUILTIN:
                read_attribute(builtins, self.word, at)
            case Kind.COUNTS:
                self._count(value)
            case Kind.FIND | Kind.FORGET:
                pass  # where somebody replaces such methods, or looks who lives, that was told of already
            case Kind.LOCAL:
                local(self.word, value, at)
            case Kind.ENTER:
                enter(self.word, at)
            case Kind.LEAVE:
                leave(self.word, at)
            case _:
                what = f"the instruction {self.word} of this interpreter, which is not known"
                kernel.uncontrolled[what] = None

    def _match_class(self, value: Any) -> None:
        """`case cls(...)`: the attributes by which the class is matched, and what these are."""
        subject, cls, names = value
        now = accesses.active()
        if now is None or now[0].alone or type(subject) in SIMPLE_TYPES:
            return
        parts = reading_parts(cls, "__match_args__", now, self.at) + checking_parts(
            subject, cls, now, self.at
        )
        if self.more:
            names = (*(getattr(cls, "__match_args__", ()))[: self.more], *names)
        for name in names:
            parts += reading_parts(subject, name, now, self.at) if type(name) is str else []
        touch_all(now, parts, self.at)
        self._push(None, (subject,), parts)

    def _count(self, value: Any) -> None:
        """Whether it counts as a sequence or a mapping."""
        now = accesses.active()
        if now is not None and not now[0].alone:
            touch_all(now, counting_parts(value), self.at)

    def _enter_context(self, value: Any) -> None:
        memory = accesses.memory
        is_file = isinstance(value, io.IOBase)  # which only looks whether it is closed
        if memory is not None and not is_file and memory.things.kind(value) == OPAQUE:
            changed(value, self.at)
        function = method_of(type(value), "__enter__")
        if type(function) is types.FunctionType:
            self._call(types.MethodType(function, value), (), ())

    # ---- calls ----------------------------------------------------------------------------------

    def _spread(self, value: Any, at: str) -> None:
        """`f(*arguments, **options)`"""
        whole(value[1], at)
        if len(value) > 2:
            whole(value[2], at)
        spread = value[1] if type(value[1]) in (tuple, list) else ()
        options = value[2] if len(value) > 2 and type(value[2]) is dict else {}
        more = None if type(value[1]) in PLAIN else self._used_up(value[1])
        self._call(value[0], (*spread, *options.values()), tuple(options), more)

    def _call(
        self,
        function: Any,
        given: tuple[Any, ...],
        names: tuple[str, ...],
        more: list[Any] | None = None,
    ) -> None:
        """`more`: what is touched while the arguments are gone through, if something in C does that."""
        if tells_of_itself(function):
            self._forget_calls() if more is None else self._push(None, (), more)
            memory = accesses.memory
            if memory is None or not memory.has_remade:
                return
        at = self.at or place_of(sys._getframe())
        parts, lasting = called(function, given, names, at)
        if parts:
            now = accesses.active()
            if now is not None:
                touch_all(now, parts, at, lambda: called(function, given, names, at)[0])
                root = root_of(function)
                if root:
                    now[1].hand(now[0], root, [(part.family, part.thing) for part in parts])
        kernel = running.kernel
        if kernel is not None and kernel.threaten is not None:
            kernel.threaten(kernel, function, given, names, at)
        if lasting is not None:
            self._push(function, given, lasting + (more or []))

    def _called_back(self, kernel: Kernel) -> None:
        """Code of the program begins: if something in C calls it, others may run in the middle of that."""
        call = _begun_by(kernel.running().calls, caller().f_back)
        if call is not None and call.parts:
            self._touch_call(call.parts, kernel)

    def _touch_call(self, parts: list[Any], kernel: Kernel) -> None:
        """What something in C is in the middle of is looked at now; which may end calls."""
        now = accesses.active()
        if now is not None and not now[0].alone:
            seen = [part for part in parts if now[1]._is_visible(kernel, part.family, part.thing)]
            touch_all(now, seen, self.at)
            for part in parts:
                if part not in seen:
                    now[1].hide(kernel, part.family, part.footprint, part.key)

    def _is_given(self, value: Any, kernel: Kernel) -> bool:
        """Whether it matters that a function gives this back, or that its variables end."""
        memory = accesses.memory
        if memory is not None and memory.lives.has_ends:
            return True
        return bool(kernel.current.calls)

    def _given_back(self, value: Any, kernel: Kernel) -> None:
        """Something in C that called this goes on: others may run before it does."""
        calls, behind = kernel.running().calls, caller().f_back
        reader = None if value is self else _reader(calls, behind)
        if reader is not None and type(value) not in NUMBERS:
            self._hand_over(value, reader)
        call = _begun_by(calls, behind)
        parts = call.parts if call is not None else []
        if reader is not None and reader is not call:
            parts = parts + reader.parts
        if parts:
            self._touch_call(parts, kernel)

    def _hand_over(self, value: Any, call: Call) -> None:
        """What code of the program gives to something in C that called it: that may read it from now on."""
        now = accesses.active()
        if now is None or now[0].alone or not is_followed(value):
            return
        parts = using_parts(value, now, self.at) if class_has(type(value), "__next__") else []
        parts = parts or parts_of(value, now, self.at)
        call.parts = [*call.parts, *(each for each in parts if each not in call.parts)]

    def _push(self, function: Any, given: tuple[Any, ...], parts: list[Any]) -> None:
        """Something in C begins, which may call back into the program."""
        kernel = running.kernel
        if kernel is None:
            return
        frame = caller()
        calls = kernel.running().calls
        while calls and calls[-1].frame == id(frame):
            calls.pop()  # a frame is in the middle of one instruction at a time
        calls.append(Call(self, frame, function, () if function is None else given, parts))

    def _begin(self) -> None:
        """An operator begins, which may call code of the program, and more than once: that is no loop."""
        kernel = running.kernel
        if kernel is not None and not kernel.alone:
            self._push(BEGUN, (), [])

    def _forget_calls(self) -> None:
        """What this frame was in the middle of is over."""
        kernel = running.kernel
        calls = kernel.running().calls if kernel is not None else []
        if calls:
            frame = id(caller())
            while calls and calls[-1].frame == frame:
                calls.pop()

    def _push_iterator(self, value: Any) -> None:
        if type(value) not in PLAIN and class_has(type(value), "__iter__"):
            self._push(None, (value,), self._used_up(value))

    def _resulted(self, value: Any) -> None:
        """An operator has made something, perhaps."""
        if type(value) in CONTAINERS and _is_fresh(value):
            made(value, self.at)

    def _returned(self, value: Any, kernel: Kernel) -> None:
        memory = accesses.memory
        calls = kernel.running().calls
        if not calls or calls[-1].site is not self:
            if type(value) is types.GeneratorType or (
                memory is not None and memory.lives.may_drop and _is_new(value, memory)
            ):
                made(value, self.at)
            self._keep(value, kernel)
            return
        call = calls.pop()
        if call.function is not None:
            if type(value) not in SIMPLE_TYPES and _is_fresh(value):
                made(value, self.at)
                _name_inside(value, self.at)
            given, call.given = call.given, ()
            returned(call.function, given, value, self.at)
        self._keep(value, kernel)

    def _keep(self, value: Any, kernel: Kernel) -> None:
        """What a call returns may end as soon as it is not used any more: others may go on before."""
        memory = accesses.memory
        if memory is not None and memory.lives.has_ends and type(value) not in NUMBERS:
            memory.lives.keep((kernel, memory), value)
            if kernel.current.keeps is not None:
                memory.lives.keep_no_more((kernel, memory), self.at)


def _is_given(space: Any) -> bool:
    """Whether others may have the dictionary in which the body of a class keeps its variables."""
    now = accesses.active()
    if now is None or now[0].alone:
        return False
    return is_user_class(type(space)) if type(space) is not dict else now[1].things.known(space) is not None


def _begun_by(calls: list[Call], frame: Any) -> Call | None:
    """What something in C is in the middle of that this frame has called."""
    return calls[-1] if frame is not None and calls and calls[-1].frame == id(frame) else None


def _reader(calls: list[Call], frame: Any) -> Call | None:
    """The call of something in C that gets what is given to this frame, by generators that hand it on."""
    for call in reversed(calls):
        if frame is None or call.frame != id(frame) or call.code is not frame.f_code:
            return None
        if call.site.kind != ADVANCE:
            return call if call.function not in HANDING_ON else None
        if call.site.word != "SEND":
            return None  # a loop of the program
        frame = frame.f_back
    return None


PLAIN = SIMPLE_TYPES | SIMPLE_ITERATORS | frozenset(CONTAINERS)
BEGUN = object()
"""Stands for an operator of which nothing is told."""
HANDING_ON = (next, iter, getattr, BEGUN)
"""Functions that do not look at what they are given."""


def _is_new(value: Any, memory: Memory) -> bool:
    """Whether it is an object of the program's that has no name, and that nobody else has."""
    things = memory.things
    return things.kind(value) == INSTANCE and things.known(value) is None and _is_fresh(value)


class _Fresh:
    """With how many references a site sees an object that nobody else has: measured once."""

    def __init__(self) -> None:
        self.references = 0


_fresh = _Fresh()


def _references(value: Any) -> int:
    return sys.getrefcount(value)


def _name_inside(value: Any, at: str) -> None:
    """What a call made may hold more that it made: of these nobody else knows either."""
    pending = [value]
    count = 0
    while pending and count < MOST_INSIDE:
        for each, references in _inside(pending.pop()):
            if references <= HELD_ONCE:
                made(each, at)
                pending.append(each)
                count += 1


def _inside(value: Any) -> list[tuple[Any, int]]:
    """The lists and dictionaries in a value, and how many references there are to each, as is seen here."""
    kind = type(value)
    held: list[Any] = list(value.values()) if kind is dict else list(value) if kind in HOLDING_MORE else []
    return [(each, sys.getrefcount(each)) for each in held if type(each) is dict or type(each) is list]


HOLDING_MORE = frozenset({list, tuple})
HELD_ONCE = _inside([[]])[0][1]
"""References to what only one container holds."""
MOST_INSIDE = 2_000
"""So many containers inside what a call has made are named."""


def _is_fresh(value: Any) -> bool:
    """Nobody else has the object: it was just made, or given away by whoever had it."""
    return _references(value) <= _fresh.references


def _learn(value: Any) -> bool:
    _fresh.references = _references(value)
    return True


def _tell_of_globals(found: dict[str, Any]) -> None:
    module = sys.modules.get(found.get("__name__", ""))
    if module is not None and module.__dict__ is found:
        is_namespace(found, module)


def site_maker(shown: str, module: str, is_evaluated: bool = False) -> Maker:
    """Makes the sites of a module of the program; `shown` is its file as places name it."""

    def make(kind: Kind, name: str, line: int, more: Any) -> Site:
        return Site(int(kind), name, f"{shown}:{line}" if shown else "", module, more, is_evaluated)

    return make
