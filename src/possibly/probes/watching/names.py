"""Whether a name of a code object is a watched variable, and which.

A variable is shared (a global one, or one of an outer function that an inner one binds again) or a local of
its process. What the compiler says of a name (global, of a cell, local) is all that is needed: no source.
"""

from __future__ import annotations

from types import CodeType

from possibly.probes.instructions.assembler import Instruction, decoded
from possibly.probes.watching.watch import Watch
from possibly.records import dataclass

GENERATING = 0x20 | 0x200
"""Flags of generators."""
FUNCTION = 0x2
"""The flag of code whose variables have numbers."""
_BINDING = ("STORE_DEREF", "DELETE_DEREF")
_DEFINING = ("MAKE_FUNCTION", "IMPORT_NAME", "IMPORT_FROM", "SET_FUNCTION_ATTRIBUTE")


@dataclass(frozen=True, slots=True)
class Variable:
    """What a watched name means."""

    name: str
    shared: bool
    function: str | None = None
    """Of a local that is told as one of this function as well."""


@dataclass(frozen=True, slots=True)
class Home:
    """Where a variable of a function lives that other functions see."""

    function: str
    is_rebound: bool
    """By another function than its own."""


class Names:
    """What names mean in one module."""

    def __init__(self, watch: Watch, module: str, variables: frozenset[str]) -> None:
        self.watch, self.module, self.variables = watch, module, variables

    def of_global(self, name: str) -> Variable | None:
        """A global variable of the module."""
        if name not in self.variables or (name.startswith("__") and name not in self.watch.names):
            return None
        watch = self.watch
        if name in watch.names:
            return Variable(name, True)
        is_wanted = name in watch.shared_names or watch.everything
        if is_wanted or (name in watch.members and self.module != "__main__"):
            return Variable(name if self.module == "__main__" else f"{self.module}.{name}", True)
        return None

    def of_cell(self, code: CodeType, name: str, home: Home | None) -> Variable | None:
        """A variable that several functions see."""
        if home is None:
            return None
        if home.is_rebound:
            if name in self.watch.names or name in self.watch.shared_names:
                return Variable(name, True)
            return Variable(f"{home.function}.{name}", True) if self.watch.everything else None
        return self.of_local(code, name) if name in code.co_cellvars else None

    def of_local(self, code: CodeType, name: str) -> Variable | None:
        """A generator is left and entered again without a call: what it knows has no end to tell."""
        if name not in self.watch.members or is_comprehension(code):
            return None
        is_scoped = name in self.watch.scoped and is_called(code) and not code.co_flags & GENERATING
        return Variable(name, False, code.co_name if is_scoped else None)


def is_called(code: CodeType) -> bool:
    """Whether it is the body of a function with a name of its own."""
    return bool(code.co_flags & FUNCTION) and not code.co_name.startswith("<")


def is_comprehension(code: CodeType) -> bool:
    """Whether its variables are those of a comprehension."""
    return code.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


def homes_of(code: CodeType, outer: dict[str, Home]) -> dict[str, Home]:
    """Where the variables live that a code object shares with functions in it or around it."""
    rebound = {
        name
        for inner in _inner(code)
        for name in _bound_from_outside(inner)
    }  # fmt: skip
    own = {name: Home(code.co_name, name in rebound) for name in code.co_cellvars}
    return {**{name: outer[name] for name in code.co_freevars if name in outer}, **own}


def _inner(code: CodeType) -> list[CodeType]:
    return [each for each in code.co_consts if isinstance(each, CodeType)]


def _bound_from_outside(code: CodeType) -> set[str]:
    """Variables of outer functions that the code, or code in it, binds again."""
    found = {name for inner in _inner(code) for name in _bound_from_outside(inner)}
    if not is_comprehension(code) and code.co_freevars:
        first = len(code.co_varnames) + len(
            [each for each in code.co_cellvars if each not in code.co_varnames]
        )
        found |= {
            code.co_freevars[each.argument - first]
            for each in decoded(code)[0]
            if each.name in _BINDING and each.argument >= first
        }
    return found & set(code.co_freevars)


def rebindable_globals(code: CodeType) -> frozenset[str]:
    """Global names of a module that are variables rather than functions, classes and modules."""
    instructions = decoded(code)[0]
    names = (
        code.co_names[each.argument]
        for number, each in enumerate(instructions)
        if each.name == "STORE_NAME" and not is_definition(instructions, number)
    )
    return frozenset(names) | _declared(code)


def _declared(code: CodeType) -> frozenset[str]:
    found = {
        code.co_names[each.argument]
        for each in decoded(code)[0]
        if each.name in ("STORE_GLOBAL", "DELETE_GLOBAL")
    }
    return frozenset(found).union(*map(_declared, _inner(code)))


def is_definition(instructions: list[Instruction], number: int) -> bool:
    """Whether the store binds a function, a class or what is imported."""
    first = number - 1
    while (
        first >= 0
        and instructions[first].name in ("PRECALL", "CALL")
        and _calls_decorator(instructions, first)
    ):
        first -= 1
    return first >= 0 and (instructions[first].name in _DEFINING or _makes_class(instructions, first))


def _calls_decorator(instructions: list[Instruction], number: int) -> bool:
    return instructions[number].argument == 0


def _makes_class(instructions: list[Instruction], number: int) -> bool:
    """Whether the call is that of `__build_class__`: no store stands between."""
    if not instructions[number].name.startswith("CALL"):
        return False
    for each in reversed(instructions[:number]):
        if each.name == "LOAD_BUILD_CLASS":
            return True
        if each.name.startswith(("STORE_", "POP_TOP", "RETURN_")):
            return False
    return False
