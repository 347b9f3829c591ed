"""Sites, put before the instructions that touch something, and after calls.

Law: an instrumented code object does what the plain one did. Before an instruction that touches something
others may see, the values that it is given are shown to a *site*, an object among the constants: by
`del site[value]`, or by `site[key] = value` where there are two. Neither leaves anything on the stack, both
are a single instruction in every version of the interpreter, and a site that is compiled hears of it without
a call of a Python function. Between the site and the instruction nothing else happens.

Methods are loaded as bound methods, so that what is called always lies at the same place of the stack.
"""

from __future__ import annotations

import opcode
import sys
from collections.abc import Callable
from functools import cached_property
from types import CodeType
from typing import Any

from possibly.probes.instructions import table
from possibly.probes.instructions.assembler import Handler, Instruction, Position, assembled, decoded
from possibly.probes.instructions.stack import FUNCTION_FIRST, is_method, stacks
from possibly.probes.instructions.table import Kind

NUMBERS = opcode.opmap
GENERATING = 0x20 | 0x200
"""Flags of generators."""
AWAITING = 0x80
"""The flag of coroutines."""
WRAPPING = 0x200
"""The flag of generators that await: what they yield is wrapped."""
_WHERE = 3
"""The bits of RESUME that say where it stands: 0 a function begins, 1 after `yield`; 3.13 has another bit."""
FUNCTION = 0x2
"""The flag of code whose variables have numbers."""

OPTIONS = 0x8
"""The flag of functions that take any keyword arguments."""
_HIDING = frozenset({"__class__", "locals", "exec", "eval", "vars"})
"""What the body of a class may name that has a variable called like that cell."""
IN_MODULE, IN_BODY = "in a module", "in the body of a class"
"""Where code looks for a name first."""
OURS = "_possibly_"
"""How names begin that marks of labels use: no variables of the program."""

TELLING = frozenset({OURS + "mark"})
"""Functions of that kind which touch nothing of the program's."""

Maker = Callable[[Kind, str, int, Any], object]
"""(kind, name, line, what else is known of it) -> the site"""


class Wanted:
    """What is to be told."""

    __slots__ = ("functions", "make", "names", "only_calls")

    def __init__(
        self,
        make: Maker,
        names: frozenset[str] = frozenset(),
        functions: frozenset[str] = frozenset(),
        only_calls: bool = False,
    ) -> None:
        self.make = make
        self.names = names
        """Local variables that are followed."""
        self.functions = functions
        """Functions whose beginning and end are told."""
        self.only_calls = only_calls
        """Nothing but what is called matters: for functions of libraries that call what they were given."""


def instrumented(code: CodeType, wanted: Wanted, is_module: bool = True) -> CodeType:
    """The code with sites, and so all code that stands in it. `is_module`: its variables are global."""
    return Inserter(code, wanted, {}, is_module).result()


class Inserter:
    """Puts sites into one code object; `before` and `after` hold what goes where."""

    def __init__(self, code: CodeType, wanted: Wanted, outer: dict[str, str], is_module: bool) -> None:
        self.code, self.wanted, self.is_module = code, wanted, is_module
        self.instructions, self.handlers = decoded(code)
        self.cells = {name: outer.get(name, name) for name in code.co_freevars}
        self.cells |= {name: f"{code.co_name}.{name}" for name in code.co_cellvars}
        self.consts: list[Any] = list(code.co_consts)
        self.before: dict[Instruction, list[Instruction]] = {}
        self.after: dict[Instruction, list[Instruction]] = {}
        self.deeper = 4
        self.at: Position = (None, None, None, None)

    # ---- the whole ------------------------------------------------------------------------------

    def result(self) -> CodeType:
        for number, const in enumerate(self.consts):
            if isinstance(const, CodeType):
                self.consts[number] = self._inner(const)
        self._put_sites()
        return self._put_together()

    def _inner(self, code: CodeType) -> CodeType:
        """Code that stands in this one, with sites of its own."""
        return Inserter(code, self.wanted, self.cells, False).result()

    def _put_sites(self) -> None:
        if not self.wanted.only_calls:
            for number in range(len(self.instructions)):
                self._look_at(number)
        self._look_at_calls()
        if self.code.co_name in self.wanted.functions and not self.code.co_flags & GENERATING:
            self._follow_calls()

    def _put_together(self) -> CodeType:
        found: list[Instruction] = []
        entries: dict[Instruction, Instruction] = {}
        for each in self.instructions:
            put = self.before.get(each)
            if put:
                entries[each] = put[0]
                found += put
            found.append(each)
            found += self.after.get(each, ())
        return assembled(self.code, found, self.handlers, entries, tuple(self.consts), self.deeper)

    # ---- what is put in -------------------------------------------------------------------------

    def _new(self, name: str, argument: int = 0) -> Instruction:
        return Instruction(NUMBERS[name], argument, self.at)

    def _site(self, kind: Kind, name: str = "", more: Any = None) -> int:
        self.consts.append(self.wanted.make(kind, name, self.at[0] or self.code.co_firstlineno, more))
        return len(self.consts) - 1

    def _told(self, site: int, *values: Instruction) -> list[Instruction]:
        """`del site[value]`"""
        return [self._new("LOAD_CONST", site), *values, self._new("DELETE_SUBSCR")]

    def _told_both(self, site: int) -> list[Instruction]:
        """`site[top] = second`"""
        copied = [self._new("COPY", 2), self._new("LOAD_CONST", site), self._new("COPY", 3)]
        return [*copied, self._new("STORE_SUBSCR")]

    def _told_several(self, site: int, depths: list[int]) -> list[Instruction]:
        """`del site[(...)]` of values that lie so deep before anything is put there."""
        copied = [self._new("COPY", depth + 1 + number) for number, depth in enumerate(depths)]
        self.deeper = max(self.deeper, len(depths) + 3)
        return self._told(site, *copied, self._new("BUILD_TUPLE", len(depths)))

    def _told_result(self, site: int) -> list[Instruction]:
        """`site[site] = top`"""
        return [self._new("COPY", 1), self._itself(site), self._itself(site), self._new("STORE_SUBSCR")]

    def _itself(self, site: int) -> Instruction:
        return self._new("LOAD_CONST", site)

    # ---- instructions ---------------------------------------------------------------------------

    def _look_at(self, number: int) -> None:
        each = self.instructions[number]
        name = each.name
        self.at = each.at
        made = self._before(number, each, name)
        if made:
            self.before.setdefault(each, []).extend(made)
        if is_method(each):
            self._load_bound(each)
        if name in table.MAKING:
            site = self._site(Kind.MADE)
            self.after[each] = self._told(site, self._new("COPY", 2))
        elif self._may_make(number, each):
            self.after[each] = self._told_result(self._site(Kind.RESULT))
        elif self.wanted.names and name.startswith(("STORE_FAST", "STORE_DEREF")):
            stored = enumerate(_stored(each))
            self._follow_locals(each, [name for place, name in stored if not self._restores(number, place)])
        elif name == "RESUME" and each.argument & _WHERE < 2 and self.code.co_flags & FUNCTION:
            site = self._site(Kind.ENTRY, self.code.co_name)
            self.after[each] = self._told(site, self._itself(site))
            if not each.argument and self.code.co_flags & OPTIONS:
                self._name_options(each)
            if self.wanted.names and not each.argument:
                self._follow_locals(each, list(range(arguments_of(self.code))))

    def _name_options(self, each: Instruction) -> None:
        """`**options`: a dictionary that was made for this call."""
        number = arguments_of(self.code) - 1
        is_cell = variables_of(self.code)[number] in self.code.co_cellvars
        load = self._new("LOAD_DEREF" if is_cell else "LOAD_FAST", number)
        self.after[each] += self._told(self._site(Kind.MADE), load)

    def _may_make(self, number: int, each: Instruction) -> bool:
        """Whether the result may be a new container: of an operator, or a slice."""
        if each.name == "BINARY_OP":
            return each.argument in table.MAKING_BY_OPERATOR
        if each.name == "BINARY_SUBSCR":
            return number > 0 and self.instructions[number - 1].name == "BUILD_SLICE"
        return each.name in table.COPYING

    def _before(self, number: int, each: Instruction, name: str) -> list[Instruction]:
        if name in table.GLOBALS or (name in table.OF_NAMESPACE and (self.is_module or self._is_body)):
            return self._of_global(each, name)
        if name in table.CELLS:
            return self._of_cell(each, name)
        if name in table.TOP:
            return self._of_top(number, each, name)
        if name in table.SECOND:
            return self._told(self._site(table.SECOND[name], name), self._new("COPY", 3))
        if name in table.FOURTH:
            return self._told(self._site(table.FOURTH[name]), self._new("COPY", 5))
        if name in table.PAIR:
            attribute = self.code.co_names[each.argument] if name == "STORE_ATTR" else ""
            return self._told_both(self._site(table.PAIR[name], attribute, each.argument))
        if name in table.SEVERAL:
            return self._of_several(each, name)
        if name in table.FORMATS:
            depth = 3 if each.argument & 4 else 2
            return self._told(self._site(Kind.FORMAT), self._new("COPY", depth))
        if name in table.GIVING_BACK:
            return self._of_given_back(number)
        if name in table.RAISING:
            depth = each.argument  # none: what is being handled is raised again
            return self._told(self._site(Kind.RAISE), self._new("COPY", depth + 1)) if depth else []
        if name in table.IMPORTING:
            site = self._site(Kind.IMPORT, self.code.co_names[each.argument])
            return self._told(site, self._itself(site))
        if name in table.BUILTINS:
            site = self._site(Kind.BUILTIN, table.BUILTINS[name])
            return self._told(site, self._itself(site))
        if name in table.FORGETTING:
            site = self._site(Kind.FORGET, self.code.co_varnames[each.argument])
            return self._told(site, self._itself(site))
        if name not in table.KNOWN:
            site = self._site(Kind.UNKNOWN, name)
            return self._told(site, self._itself(site))
        return []

    def _of_given_back(self, number: int) -> list[Instruction]:
        """What leaves a function or a generator; the site itself if that is plain. Nobody in C awaits."""
        before = self.instructions[number - 1].name if number else ""
        after = self.instructions[number + 1] if number + 1 < len(self.instructions) else None
        is_awaited = after is not None and after.name == "RESUME" and after.argument & _WHERE > 1
        if is_awaited or not self.code.co_flags & FUNCTION or self.code.co_flags & AWAITING:
            return []
        site = self._site(Kind.GIVE_BACK)
        is_constant = before == "LOAD_CONST" or self.instructions[number].name == "RETURN_CONST"
        is_plain = is_constant or before in table.PLAIN_RESULT or bool(self.code.co_flags & WRAPPING)
        return self._told(site, self._itself(site) if is_plain else self._new("COPY", 2))

    def _of_global(self, each: Instruction, name: str) -> list[Instruction]:
        if self._global_name(each).startswith(OURS):
            return []
        kind = table.GLOBALS.get(name) or table.OF_NAMESPACE.get(name) or Kind.READ_GLOBAL
        site = self._site(kind, self._global_name(each), self._space(name))
        if kind == Kind.WRITE_GLOBAL:
            return self._told(site, self._new("COPY", 2))
        return self._told(site, self._itself(site))

    def _space(self, name: str) -> str:
        """Where a name is looked for first; nowhere but among the global ones if this is empty."""
        if not name.endswith("_NAME"):
            return ""
        return IN_BODY if self._is_body else IN_MODULE

    @cached_property
    def _is_body(self) -> bool:
        """The body of a class whose variables can be looked at and stay as they are.

        To look at them puts the cell `__class__`, which is empty, in the place of a variable of that name.
        """
        code = self.code
        is_apart = not self.is_module and not code.co_flags & FUNCTION
        return is_apart and not ("__class__" in code.co_cellvars and _HIDING.intersection(code.co_names))

    def _is_ours(self, each: Instruction) -> bool:
        """Whether it loads something of the recorder's, which is no variable of the program."""
        return each.name in ("LOAD_GLOBAL", "LOAD_NAME") and self._global_name(each).startswith(OURS)

    def _global_name(self, each: Instruction) -> str:
        number = each.argument >> 1 if each.name == "LOAD_GLOBAL" else each.argument
        return self.code.co_names[number]

    def _of_cell(self, each: Instruction, name: str) -> list[Instruction]:
        variable = variables_of(self.code)[each.argument]
        if variable in ("__class__", "__classdict__"):
            return []
        site = self._site(table.CELLS[name], self.cells.get(variable, variable))
        cell = self._new("LOAD_FAST" if sys.version_info >= (3, 13) else "LOAD_CLOSURE", each.argument)
        if name == "STORE_DEREF":
            return [self._new("COPY", 1), self._itself(site), cell, self._new("STORE_SUBSCR")]
        return self._told(site, cell)

    def _of_top(self, number: int, each: Instruction, name: str) -> list[Instruction]:
        kind = table.TOP[name]
        before = self.instructions[number - 1] if number else None
        if kind == Kind.TRUTH and before and (before.name in table.PLAIN_RESULT or self._is_ours(before)):
            return []
        return self._told(self._site(kind, self._attribute(each)), self._new("COPY", 2))

    def _attribute(self, each: Instruction) -> str:
        if each.name == "LOAD_ATTR" and sys.version_info >= (3, 12):
            return self.code.co_names[each.argument >> 1]
        if each.name in ("LOAD_ATTR", "LOAD_METHOD", "DELETE_ATTR", "IMPORT_FROM", "STORE_GLOBAL"):
            return self.code.co_names[each.argument]
        return ""

    def _of_several(self, each: Instruction, name: str) -> list[Instruction]:
        kind, count = table.SEVERAL[name]
        attribute = self.code.co_names[each.argument >> 2] if kind == Kind.SUPER else ""
        depths = [count - number for number in range(count)]
        return self._told_several(self._site(kind, attribute, each.argument), depths)

    def _load_bound(self, each: Instruction) -> None:
        """The attribute as a bound method, with the empty slot where a call wants it."""
        if each.name == "LOAD_METHOD":
            each.code = NUMBERS["LOAD_ATTR"]
        else:
            each.argument &= ~1
        put = [self._new("PUSH_NULL")]
        self.after[each] = put if FUNCTION_FIRST else [*put, self._new("SWAP", 2)]

    # ---- calls ----------------------------------------------------------------------------------

    def _look_at_calls(self) -> None:
        known: list[tuple[bool, ...] | None] = []
        heights: list[int] = []
        for number, each in enumerate(self.instructions):
            if each.name not in table.CALLS:
                continue
            known = known or by_number(self.code)
            heights = heights or [-1 if stack is None else len(stack) for stack in known]
            first = self._first_of_call(number)
            stack = known[first]
            if stack is not None and not self._only_tells(each, first, heights):
                self.at = each.at
                made = self._call(each, first, stack)
                self.before.setdefault(self.instructions[first], []).extend(made)

    def _only_tells(self, each: Instruction, first: int, heights: list[int]) -> bool:
        """Whether the function that is called is one of the recorder's which touches nothing.

        It was loaded last of all that began with as much on the stack as the call leaves below its result.
        """
        if each.name != "CALL":
            return False
        below = heights[first] - each.argument - 2
        lower = (number for number in reversed(range(first)) if heights[number] == below)
        number = next(lower, None)  # none: it was loaded together with what lies below
        loaded = self.instructions[number or 0]
        return loaded.name == "LOAD_GLOBAL" and self._global_name(loaded) in TELLING

    def _first_of_call(self, number: int) -> int:
        """Where a call begins: with the instructions that prepare it."""
        while number and self.instructions[number - 1].name in ("PRECALL", "KW_NAMES"):
            number -= 1
        return number

    def _call(self, each: Instruction, first: int, stack: tuple[bool, ...]) -> list[Instruction]:
        if each.name == "CALL_FUNCTION_EX":
            site = self._site(Kind.CALL_SPREAD)
            given = 2 if each.argument & 1 else 1
            function = given + 2 if FUNCTION_FIRST else given + 1
            depths = [function, *range(given, 0, -1)]
        else:
            above = 1 if each.name == "CALL_KW" else 0
            site = self._site(Kind.CALL, "", self._keywords(each, first))
            depths = _depths(each.argument, above, stack)
        self.after[each] = self._told_result(site)
        return self._told_several(site, depths)

    def _keywords(self, each: Instruction, first: int) -> tuple[str, ...]:
        """The names of the last arguments. Where they lie on the stack, the constant before tells them."""
        place = self.instructions[first]
        if place.name == "KW_NAMES":
            return tuple(self.code.co_consts[place.argument])
        if each.name == "CALL_KW" and first and self.instructions[first - 1].name == "LOAD_CONST":
            return tuple(self.code.co_consts[self.instructions[first - 1].argument])
        return ()

    # ---- what a specification speaks of ---------------------------------------------------------

    def _restores(self, number: int, place: int = 0) -> bool:
        """Whether a variable gets back what it was before a comprehension, which may be nothing: what lies so
        deep below the top of the stack."""
        stack = self._stacks[number] if self._clears else None
        return stack is not None and len(stack) > place and stack[-1 - place]

    @cached_property
    def _stacks(self) -> list[tuple[bool, ...] | None]:
        return by_number(self.code)

    @cached_property
    def _clears(self) -> bool:
        return any(each.name == "LOAD_FAST_AND_CLEAR" for each in self.instructions)

    def _follow_locals(self, each: Instruction, numbers: list[int]) -> None:
        for number in numbers:
            name = variables_of(self.code)[number]
            if name in self.wanted.names:
                site = self._site(Kind.LOCAL, name)
                is_cell = name in self.code.co_cellvars or name in self.code.co_freevars
                load = self._new("LOAD_DEREF" if is_cell else "LOAD_FAST", number)
                self.after.setdefault(each, []).extend(self._told(site, load))

    def _follow_calls(self) -> None:
        """Tells of the beginning, of each return, and of an exception that nobody here handles."""
        begin = self._begin()
        self.at = begin.at
        enter, leave = self._site(Kind.ENTER, self.code.co_name), self._site(Kind.LEAVE, self.code.co_name)
        self.after.setdefault(begin, [])[:0] = self._told(enter, self._itself(enter))
        self._tell_end(begin, leave)

    def _begin(self) -> Instruction:
        """Where the function begins, its arguments in place."""
        return next(each for each in self.instructions if each.name == "RESUME")

    def _tell_end(self, begin: Instruction, leave: int) -> None:
        """Tells of each return, and of an exception that nobody here handles."""
        for each in self.instructions:
            if each.name in ("RETURN_VALUE", "RETURN_CONST"):
                self.at = each.at
                self.before.setdefault(each, []).extend(self._told(leave, self._itself(leave)))
        self.at = begin.at
        self._handle_rest(begin, self._told(leave, self._itself(leave)))

    def _handle_rest(self, begin: Instruction, told: list[Instruction]) -> None:
        """Puts a handler at the end, for all that no other handles."""
        order = {each: number for number, each in enumerate(self.instructions)}
        covered = [False] * len(self.instructions)
        for handler in self.handlers:
            last = len(covered) if handler.end is None else order[handler.end]
            covered[order[handler.first] : last] = [True] * (last - order[handler.first])
        added: list[Handler] = []
        own = [*told, self._new("RERAISE", 0)]
        for number in range(order[begin] + 1, len(covered)):
            if covered[number]:
                continue
            each = self.instructions[number]
            following = self.instructions[number + 1] if number + 1 < len(covered) else own[0]
            if added and added[-1].end is each:
                added[-1].end = following
            else:
                added.append(Handler(each, following, own[0], 0, False))
        self.instructions += own
        order |= {each: len(order) + number for number, each in enumerate(own)}
        self.handlers = sorted([*self.handlers, *added], key=lambda handler: order[handler.first])


def by_number(code: CodeType) -> list[tuple[bool, ...] | None]:
    """The stack before each instruction of the plain code, by its number; None: it cannot be reached."""
    instructions, handlers = decoded(code)
    found = stacks(instructions, handlers)
    return [found.get(each) for each in instructions]


def _depths(count: int, above: int, stack: tuple[bool, ...]) -> list[int]:
    """How deep the function and its arguments lie."""
    slot = count + above + (1 if FUNCTION_FIRST else 2)
    is_empty = len(stack) >= slot and stack[-slot]
    arguments = list(range(count + above, above, -1))
    if not is_empty:
        return [count + above + 2, count + above + 1, *arguments]
    return [count + above + (2 if FUNCTION_FIRST else 1), *arguments]


def variables_of(code: CodeType) -> tuple[str, ...]:
    """The names of numbered variables: local ones, those of nested functions, those of enclosing ones."""
    own = code.co_varnames
    return own + tuple(name for name in code.co_cellvars if name not in own) + code.co_freevars


def arguments_of(code: CodeType) -> int:
    """How many of the variables are arguments: the first ones."""
    spread = bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return code.co_argcount + code.co_kwonlyargcount + spread


def _stored(each: Instruction) -> list[int]:
    match each.name:
        case "STORE_FAST" | "STORE_DEREF":
            return [each.argument]
        case "STORE_FAST_LOAD_FAST":
            return [each.argument >> 4]
        case "STORE_FAST_STORE_FAST":
            return [each.argument >> 4, each.argument & 15]
    return []
