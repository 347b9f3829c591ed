"""An expression as a numbered tree, with all that the machine asks of it computed once.

Here belongs what depends on the expression alone: symbols (what synchronises with what), which parts can be
empty, where variables live, and whose last events anybody will ask for. A part whose end is never followed
by anything need not remember its last events; that is what keeps memory constant.

A variable (`M` of `send(M)`, `n` of `*n`) lives in the smallest body of a repetition or of an `@` that
contains all its occurrences, so each round or copy binds it afresh; else in the whole expression.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_

from possibly.logic.paths.syntax import (
    Atom,
    Choice,
    Control,
    Expression,
    Many,
    Path,
    Repeat,
    Sequence,
    Together,
    Variable,
)


class Kind:
    """What a part is; numbers, as they are compared a lot."""

    EVENT, SEQUENCE, CHOICE, TOGETHER, REPEAT, COUNT, MANY, SCOPE = range(8)


@dataclass(slots=True)
class Part:
    """A node of the tree. `left` and `right` are numbers of parts, `right` only where there are two."""

    kind: int
    left: int = -1
    right: int = -1
    symbols: int = 0
    """One bit for each symbol that stands below."""
    can_be_empty: bool = False
    shared: int = 0
    """Of `&`: the symbols of both sides."""
    remembers: bool = False
    """Whether the last events of this part precede something that may still come."""
    symbol: int = -1
    atom: int = -1
    variables: tuple[int, ...] = ()
    """Of an event: the variables of its arguments, -1 where any value will do. Of a scope: its own."""
    has_arguments: bool = False
    variable: int = -1
    """Of a counted repetition."""


@dataclass(slots=True)
class Compiled:
    """The parts, from the leaves up; the last one is the root."""

    expression: Expression
    parts: list[Part] = field(default_factory=list)
    symbols: list[Atom] = field(default_factory=list)
    """An atom for each symbol; atoms of one symbol differ in their actions only."""
    variables: list[str] = field(default_factory=list)
    counters: set[int] = field(default_factory=set)
    """The variables of `*n`."""

    @property
    def root(self) -> int:
        return len(self.parts) - 1

    @property
    def synchronises(self) -> bool:
        return any(part.shared for part in self.parts)


def compiled(expression: Expression) -> Compiled:
    """The numbered tree of an expression."""
    found = Compiled(expression)
    root = simplified(expression.root)
    compiler = _Compiler(found, root)
    compiler.scoped(root, frozenset(_variables(root)))
    _mark_remembered(found)
    return found


def occurring(expression: Compiled, symbols: Set[int]) -> Compiled:
    """The same where only these symbols ever come: what needs another one is not begun."""
    found = replace(expression, parts=[replace(part) for part in expression.parts])
    can_come: list[bool] = []
    for part in found.parts:  # from the leaves up
        can_come.append(_can_come(part, can_come, symbols))
        if not can_come[-1]:
            part.symbols = 0
        elif part.kind != Kind.EVENT:
            below = (part.left,) if part.right < 0 else (part.left, part.right)
            part.symbols = reduce(or_, [found.parts[number].symbols for number in below])
    return found


def _can_come(part: Part, below: list[bool], symbols: Set[int]) -> bool:
    match part.kind:
        case Kind.EVENT:
            return part.symbol in symbols
        case Kind.SEQUENCE | Kind.TOGETHER:
            return below[part.left] and below[part.right]
        case Kind.CHOICE:
            return below[part.left] or below[part.right]
        case Kind.SCOPE:
            return below[part.left]
    return True  # nothing of what repeats need come


def simplified(path: Path) -> Path:
    """An expression with the same runs and the same events that has fewer ways to read them.

    A count that nothing else shares counts nothing; a repetition of repetitions is one, also where they are
    alternatives, and so are copies of copies.
    """
    names = list(_variables(path))
    return _Simplified({name for name in names if names.count(name) == 1}).path(path)


class _Simplified:
    def __init__(self, alone: set[str]) -> None:
        self.alone = alone

    def path(self, path: Path) -> Path:
        match path:
            case Repeat(body, variable) if variable is None or variable in self.alone:
                return Repeat(self._without(self.path(body), Repeat))
            case Repeat(body, variable):
                return Repeat(self.path(body), variable)
            case Many(body):
                return Many(self._without(self.path(body), Many))
            case Sequence(left, right) | Choice(left, right) | Together(left, right):
                return type(path)(self.path(left), self.path(right))
        return path

    def _without(self, path: Path, kind: type[Repeat] | type[Many]) -> Path:
        """The body of a repetition without repetitions that it makes superfluous."""
        match path:
            case Choice(left, right):
                return Choice(self._without(left, kind), self._without(right, kind))
            case Repeat(body, None) if kind is Repeat:
                return body
            case Many(body) if kind is Many:
                return body
        return path


def _variables(path: Path) -> Iterator[str]:
    """Every occurrence of a variable."""
    match path:
        case Atom(Control(_, _, arguments)):
            yield from (argument.name for argument in arguments or () if isinstance(argument, Variable))
        case Atom():
            pass
        case Repeat(body, variable):
            yield from _variables(body)
            if variable is not None:
                yield variable
        case Many(body):
            yield from _variables(body)
        case Sequence(left, right) | Choice(left, right) | Together(left, right):
            yield from _variables(left)
            yield from _variables(right)


class _Compiler:
    def __init__(self, found: Compiled, root: Path) -> None:
        self.found = found
        self.symbol_numbers: dict[str, int] = {}
        self.variable_numbers: dict[str, int] = {}
        occurrences = list(_variables(root))
        self.total = {name: occurrences.count(name) for name in occurrences}

    def scoped(self, path: Path, own: frozenset[str]) -> int:
        """The part for a body that owns these variables, unless a smaller body inside does."""
        inner = frozenset(name for body in _bodies(path) for name in self._owned(body) & own)
        variables = tuple([self.variable(name) for name in sorted(own - inner)])
        part = self.part(path)
        if not variables:
            return part
        below = self.found.parts[part]
        return self.add(
            Part(
                Kind.SCOPE, part, symbols=below.symbols, can_be_empty=below.can_be_empty, variables=variables
            )
        )

    def _owned(self, body: Path) -> frozenset[str]:
        """The variables all of whose occurrences stand in this body."""
        inside = list(_variables(body))
        return frozenset(name for name in inside if inside.count(name) == self.total[name])

    def part(self, path: Path) -> int:
        match path:
            case Atom():
                return self.event(path)
            case Repeat(body, None):
                return self.above(Kind.REPEAT, self.scoped(body, self._owned(body)))
            case Repeat(body, variable):
                below = self.scoped(body, self._owned(body))
                number = self.variable(variable or "")
                self.found.counters.add(number)
                found = self.above(Kind.COUNT, below)
                self.found.parts[found].variable = number
                return found
            case Many(body):
                return self.above(Kind.MANY, self.scoped(body, self._owned(body)))
            case Sequence(left, right):
                return self.two(Kind.SEQUENCE, left, right)
            case Choice(left, right):
                return self.two(Kind.CHOICE, left, right)
            case Together(left, right):
                return self.two(Kind.TOGETHER, left, right)

    def event(self, atom: Atom) -> int:
        symbol = self.symbol_numbers.setdefault(atom.symbol, len(self.symbol_numbers))
        if symbol == len(self.found.symbols):
            self.found.symbols.append(atom)
        arguments = atom.event.arguments if isinstance(atom.event, Control) else None
        variables = [
            self.variable(argument.name) if isinstance(argument, Variable) else -1
            for argument in arguments or ()
        ]
        return self.add(
            Part(
                Kind.EVENT,
                symbol=symbol,
                symbols=1 << symbol,
                atom=atom.number,
                variables=tuple(variables),
                has_arguments=arguments is not None,
            )
        )

    def above(self, kind: int, below: int) -> int:
        return self.add(Part(kind, below, symbols=self.found.parts[below].symbols, can_be_empty=True))

    def two(self, kind: int, left: Path, right: Path) -> int:
        first, second = self.part(left), self.part(right)
        one, two = self.found.parts[first], self.found.parts[second]
        either = one.can_be_empty or two.can_be_empty
        both = one.can_be_empty and two.can_be_empty
        found = Part(kind, first, second, one.symbols | two.symbols, either if kind == Kind.CHOICE else both)
        if kind == Kind.TOGETHER:
            found.shared = one.symbols & two.symbols
        return self.add(found)

    def add(self, part: Part) -> int:
        self.found.parts.append(part)
        return len(self.found.parts) - 1

    def variable(self, name: str) -> int:
        number = self.variable_numbers.setdefault(name, len(self.variable_numbers))
        if number == len(self.found.variables):
            self.found.variables.append(name)
        return number


def _bodies(path: Path) -> Iterator[Path]:
    """The outermost bodies of repetitions and of `@`."""
    match path:
        case Repeat(body) | Many(body):
            yield body
        case Sequence(left, right) | Choice(left, right) | Together(left, right):
            yield from _bodies(left)
            yield from _bodies(right)


def _mark_remembered(found: Compiled) -> None:
    """From the root down: the left side of `;` and every repeated body is followed by something."""
    for part in reversed(found.parts):
        for number in (part.left, part.right):
            if number >= 0:
                is_followed = part.kind in (Kind.REPEAT, Kind.COUNT) or (
                    part.kind == Kind.SEQUENCE and number == part.left
                )
                found.parts[number].remembers = part.remembers or is_followed
