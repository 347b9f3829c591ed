"""Numbers that the program only adds to and compares with constants, as its source shows.

Theory of operation. A word is what a variable or an attribute is called, wherever that is (`unseen`). If each
place of all sources in which a word stands either gives it a constant or a sum of such numbers, or compares
it with constants, then its values are whole numbers from 0 on, and nothing in the program tells apart two of
them that are both larger than every constant they, or what they flow into, are compared with: the *cut*. Sums
of larger ones are larger. So to take all of them for one is a bisimulation (data abstraction: Clarke,
Grumberg and Long, Model Checking and Abstraction, TOPLAS 1994, section 5; here by what flows where, as in the
inference of types). Two things follow:
- states that differ in this only go on alike (`values`);
- where what is read is at once made larger than the cut, and kept, it makes no difference what was read: such
  a read is no access. Of a number that is never compared with anything no access is one: a statistic that
  nobody reads (`indifferent`).

Law: as in `unseen`, this holds as long as a program gets at its variables by their names; attributes count
where methods of classes of the program's own name them of `self`, containers where a module binds a variable
once to a new list or dictionary of numbers of which only items are named, and no slices.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple

from possibly.control.joining.unseen import (
    Parents,
    bound_in,
    is_own,
    is_plain,
    is_private,
    parents_in,
    words_of,
)

NEVER = -1
"""The cut of numbers that are compared with nothing: all of them are larger."""


Mention = tuple[str, int, str]
"""File, line and word; in that line no function is called, so nobody else uses such a word there."""


class Numbers(NamedTuple):
    cuts: dict[str, int] = {}  # noqa: RUF012 - nobody changes it
    """Of each such word the largest number that it, or what it flows into, is compared with."""
    containers: frozenset[str] = frozenset()
    """Variables of modules that hold lists or dictionaries of such numbers, always the same."""
    reads: frozenset[Mention] = frozenset()
    """Where it makes no difference what is read."""
    writes: frozenset[Mention] = frozenset()
    """Where nobody ever sees what is written."""


NOTHING = Numbers()


def compared(executed: Sequence[str], codes: dict[tuple[str, str], CodeType]) -> Numbers:
    """Of the modules that a program has executed."""
    files = tuple(sorted(file for file, module in codes if module in executed))
    return _compared(files, tuple(sorted(executed))) if len(files) == len(executed) else NOTHING


@lru_cache(maxsize=4)
def _compared(files: tuple[str, ...], modules: tuple[str, ...]) -> Numbers:
    trees = {}
    for file in files:
        try:
            with open(file, "rb") as opened:
                trees[file] = ast.parse(opened.read(), file)
        except (OSError, SyntaxError, ValueError):
            return NOTHING
    return compared_in(trees, modules)


def compared_in(trees: dict[str, ast.Module], modules: Sequence[str] = ()) -> Numbers:
    """Of all sources of a program by their files, whose own modules have these names."""
    if not all(is_plain(node, modules) for tree in trees.values() for node in ast.walk(tree)):
        return NOTHING
    found = _Uses()
    for file, tree in trees.items():
        found.note(file, tree)
    return found.judged()


class _Read(NamedTuple):
    """A place where a number is read, that flows on."""

    file: str
    line: int
    word: str
    is_kept: bool
    """It flows into another word and nowhere else."""
    least: int
    """So much at least is added to it before."""


class _Uses:
    """How words are used in all sources."""

    def __init__(self) -> None:
        self._others: set[str] = set()
        """Words of which something else is done."""
        self._numbers: set[str] = set()
        self._containers: set[str] = set()
        self._bound: dict[str, int] = {}
        self._lasting: set[str] = set()
        self._cuts: dict[str, int] = {}
        self._group: dict[str, str] = {}
        """Words that flow into one another, each by one that stands for them."""
        self._reads: list[_Read] = []
        self._writes: set[Mention] = set()
        self._calling: set[tuple[str, int]] = set()
        """Lines in which functions are called."""

    def note(self, file: str, tree: ast.Module) -> None:
        parents = parents_in(tree)
        self._lasting |= set(bound_in(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                self._calling |= {(file, n) for n in range(node.lineno, (node.end_lineno or 0) + 1)}
            if isinstance(node, ast.Name | ast.Attribute):
                word = node.id if isinstance(node, ast.Name) else node.attr
                if is_private(word) or not self._is_taken(node, word, parents, file):
                    self._others.add(word)
            else:
                self._others.update(words_of(node))

    def _is_taken(self, node: ast.Name | ast.Attribute, word: str, parents: Parents, file: str) -> bool:
        """Notes what is done at one place; False if that is anything that is not allowed."""
        if isinstance(node, ast.Attribute) and not is_own(node, parents):
            return False
        parent = parents[node]
        place: ast.expr = node
        if isinstance(parent, ast.Subscript) and parent.value is node and isinstance(node, ast.Name):
            if isinstance(parent.slice, ast.Slice | ast.Tuple):
                return False
            self._containers.add(word)
            place, parent = parent, parents[parent]
        elif _is_made(node, parent):
            self._containers.add(word)
            self._bound[word] = self._bound.get(word, 0) + 1
            return True
        else:
            self._numbers.add(word)
        if isinstance(node.ctx, ast.Del) or isinstance(getattr(place, "ctx", None), ast.Del):
            return False
        if isinstance(getattr(place, "ctx", None), ast.Store):
            return is_own(node, parents) and self._is_bound(place, word, parent, file)
        return self._is_read(place, word, parents, file)

    def _is_bound(self, place: ast.expr, word: str, parent: ast.AST, file: str) -> bool:
        self._writes.add((file, place.lineno, word))
        match parent:
            case ast.Assign(targets=targets, value=value):
                return place in targets and _least(value) is not None and self._flow(word, _words(value))
            case ast.AnnAssign(target=target, value=ast.expr() as value) if target is place:
                return _least(value) is not None and self._flow(word, _words(value))
            case ast.AugAssign(target=target, op=ast.Add(), value=value) if target is place:
                least = _least(value)
                if least is None or _words(value):
                    return False
                self._reads.append(_Read(file, place.lineno, word, True, least))
                return self._flow(word, _words(value))
        return False

    def _is_read(self, place: ast.expr, word: str, parents: Parents, file: str) -> bool:
        least, node = 0, place
        while True:
            parent = parents[node]
            match parent:
                case ast.BinOp(left=left, op=ast.Add(), right=right):
                    more = _least(right if left is node else left)
                    if more is None:
                        return False
                    least += more
                case ast.IfExp(body=body, orelse=orelse) if node is body or node is orelse:
                    least += 0
                case _:
                    break
            node = parent
        into = _targets(parent, node)
        if into is not None:
            for target in into:
                self._join(target, word)
            self._reads.append(_Read(file, place.lineno, word, True, least))
            return True
        cut = _cut(parent, node, parents)
        if cut is None:
            return False
        self._cuts[word] = max(self._cuts.get(word, NEVER), cut)
        self._reads.append(_Read(file, place.lineno, word, False, 0))
        return True

    def _flow(self, word: str, others: list[str]) -> bool:
        for other in others:
            self._join(word, other)
        self._bound[word] = self._bound.get(word, 0)
        return True

    def _join(self, word: str, other: str) -> None:
        self._group[self._first(other)] = self._first(word)

    def _first(self, word: str) -> str:
        while self._group.get(word, word) != word:
            word = self._group[word]
        return word

    def judged(self) -> Numbers:
        words = self._numbers | self._containers
        lasting = {word for word in self._containers if word in self._lasting and self._bound.get(word) == 1}
        wrong = self._others | (self._numbers & self._containers) | (self._containers - lasting)
        wrong |= words - self._bound.keys()
        spoilt = {self._first(word) for word in wrong}
        most: dict[str, int] = {}
        for word in words:
            first = self._first(word)
            most[first] = max(most.get(first, NEVER), self._cuts.get(word, NEVER))
        cuts = {word: most[self._first(word)] for word in words if self._first(word) not in spoilt}
        writes = {
            each for each in self._writes if cuts.get(each[2]) == NEVER and each[:2] not in self._calling
        }
        return Numbers(cuts, frozenset(lasting & cuts.keys()), self._indifferent(cuts), frozenset(writes))

    def _indifferent(self, cuts: dict[str, int]) -> frozenset[Mention]:
        """Where each read of a word in a line is made larger than its cut."""
        found: dict[Mention, bool] = {}
        for read in self._reads:
            mention = read.file, read.line, read.word
            is_large = read.is_kept and read.word in cuts and read.least > cuts[read.word]
            found[mention] = found.get(mention, mention[:2] not in self._calling) and is_large
        return frozenset(mention for mention, is_indifferent in found.items() if is_indifferent)


def _is_made(node: ast.Name | ast.Attribute, parent: ast.AST) -> bool:
    """`NAME = [0] * N`: a new list or dictionary of numbers is given to a variable."""
    match parent:
        case ast.Assign(targets=[target], value=value) if target is node and isinstance(node, ast.Name):
            return _is_container(value)
        case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value) if target is node:
            return _is_container(value)
    return False


def _is_container(value: ast.expr) -> bool:
    match value:
        case ast.List(elts=items):
            return all(map(_is_constant, items))
        case ast.BinOp(left=ast.List(elts=items), op=ast.Mult(), right=times):
            return all(map(_is_constant, items)) and isinstance(times, ast.Constant | ast.Name | ast.BinOp)
        case ast.ListComp(elt=item, generators=[ast.comprehension(iter=ast.Call(func=ast.Name(id="range")))]):
            return _is_constant(item)
        case ast.Dict(keys=keys, values=values):
            return all(isinstance(key, ast.Constant) for key in keys) and all(map(_is_constant, values))
    return False


def _is_constant(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and type(value.value) is int and value.value >= 0


def _least(value: ast.expr) -> int | None:
    """The least number that a sum of such numbers can be; None if it is none."""
    match value:
        case ast.Constant(value=int(number)) if _is_constant(value):
            return number
        case ast.BinOp(left=left, op=ast.Add(), right=right):  # while one is read, no other lies on the stack
            one, other = _least(left), _least(right)
            is_one = not (_words(left) and _words(right))
            return one + other if one is not None and other is not None and is_one else None
        case ast.IfExp(body=left, orelse=right):
            one, other = _least(left), _least(right)
            return None if one is None or other is None else min(one, other)
        case ast.Name() | ast.Attribute(value=ast.Name()) | ast.Subscript(value=ast.Name()):
            return 0
    return None


def _words(value: ast.expr) -> list[str]:
    """The words that flow into what a sum is given to."""
    match value:
        case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
            return [*_words(left), *_words(right)]
        case ast.Name(id=word) | ast.Attribute(attr=word) | ast.Subscript(value=ast.Name(id=word)):
            return [word]
    return []


def _targets(parent: ast.AST, node: ast.AST) -> list[str] | None:
    """The words that a number is given to; None: something else is done with it."""
    match parent:
        case ast.Assign(targets=targets, value=value) if value is node:
            pass
        case ast.AnnAssign(target=target, value=value) if value is node:
            targets = [target]
        case _:
            return None
    found = [_words(target) for target in targets]
    return [word for words in found for word in words] if all(found) else None


def _cut(parent: ast.AST, node: ast.AST, parents: Parents) -> int | None:
    """The largest constant that a number is compared with there; None: something else is done with it."""
    match parent:
        case ast.Compare(left=left, ops=ops, comparators=others):
            constants = [each for each in (left, *others) if each is not node]
            if all(map(_is_constant, constants)) and all(isinstance(op, _COMPARING) for op in ops):
                return int(max(ast.literal_eval(each) for each in constants))
        case ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test) | ast.IfExp(test=test):
            return 0 if test is node else None
        case ast.UnaryOp(op=ast.Not()):
            return 0
        case ast.BoolOp():
            return _cut(parents[parent], parent, parents)
    return None


_COMPARING = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def is_of_numbers(value: Any) -> bool:
    """Whether it is a list or dictionary whose values are whole numbers from 0 on."""
    if type(value) is not list and type(value) is not dict:
        return False
    values: Iterable[Any] = value.values() if type(value) is dict else value
    return all(type(each) is int and each >= 0 for each in values)
