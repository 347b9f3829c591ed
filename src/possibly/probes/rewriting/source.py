"""Rewriting the source of the user's own modules, so that what is watched tells of itself.

Law: a rewritten program does what it did before, line for line; what is not watched is not touched. A watched
access and its entry in the log are neighbours in the bytecode without a call or a jump back between them,
so no
other thread runs in between (see `recorder.log`): for `x = v` with x shared

    _possibly_v = v
    _possibly_s = snapshot of _possibly_v
    x = _possibly_v
    _possibly_log((WRITE, _possibly_p, 17, _possibly_s))

and for a read the expression `(x, _possibly_log((READ, _possibly_p, 18)))[0]`; in a function what stays the
same of an entry is put together once, where it begins. The names `_possibly_log`, `_possibly_snap`, ... are
builtins while a program is recorded; `_possibly_p` is the running process, set where a function begins. Class
bodies, annotations and `del` are left alone.

A label is a comment `#: m2` at the end of a line. It goes to the event of a watched assignment on that line,
else to an event of its own: after a simple statement, or when the condition of an `if` or `while` has been
evaluated.
"""

from __future__ import annotations

import ast
import builtins
import io
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, TypeVar

from possibly.probes.rewriting import trees
from possibly.probes.rewriting.scopes import (
    Scope,
    arguments_of,
    rebindable_globals,
    scopes_of,
)
from possibly.probes.rewriting.switches import Switches
from possibly.records import dataclass

READ, WRITE, MEMBER_READ, MEMBER_WRITE, SET, ENTER, EXIT, MARK = range(1, 9)
ITEM_READ, ITEM_WRITE = 9, 10

MUTATORS = frozenset(
    "append appendleft extend extendleft insert remove pop popleft popitem clear sort reverse rotate update "
    "setdefault add discard intersection_update difference_update symmetric_difference_update".split()
)
IN_PLACE = {
    ast.Add: "iadd", ast.Mult: "imul", ast.Sub: "isub", ast.BitOr: "ior", ast.BitAnd: "iand",
    ast.BitXor: "ixor",
}  # fmt: skip
"""Operators that change a container, and the functions that stand for them."""

TEMPORARY = tuple(f"_possibly_{letter}" for letter in "vsoacikr")
"""Names that rewritten statements use: a module has them from the beginning, for it may look at its own."""

_Node = TypeVar("_Node", bound=ast.AST)

SiteMaker = Callable[[int, str | None, str | None, str | None], int]
"""(line, label, variable, function) -> the number of that site."""


@dataclass(frozen=True, slots=True)
class Watch:
    """What is to be recorded beside synchronisation."""

    names: frozenset[str] = frozenset()
    """Shared variables by their bare name."""
    members: frozenset[str] = frozenset()
    """The last word of dotted names: attributes, locals of a process, globals of a module."""
    functions: frozenset[str] = frozenset()
    everything: bool = False
    """Every access that another thread could see."""
    arguments: frozenset[str] = frozenset()
    """Functions whose calls are told with their arguments."""
    scoped: frozenset[str] = frozenset()
    """Locals that are told as those of their function, `f.x`, too, and the calls of that."""
    every_call: bool = False
    """Calls of all functions that are no generators, as far as `most_calls` goes."""
    shared: bool = False
    """Accesses that conflict and are not ordered: by sites before the instructions, not by source."""
    most_calls: int = 0
    """Of a function that was called more often nothing is kept, unless it is named; 0: of none. The same for
    lines that touch a variable which nobody named."""
    shared_names: frozenset[str] = frozenset()
    """Globals that tasks may share (`candidates`), told as long as that is not too much."""
    shared_members: frozenset[str] = frozenset()
    """Attributes of that kind."""

    @property
    def follows(self) -> bool:
        """Whether containers are followed that a watched variable holds, by whatever name they change."""
        return bool(self.names or self.members or self.unasked) and not self.everything

    @property
    def unasked(self) -> tuple[str, ...]:
        """Words that are told as long as that is not too much: the place of each is that of its switch."""
        return tuple(sorted(self.shared_names | self.shared_members))

    def is_empty(self) -> bool:
        named = self.names or self.members or self.functions or self.unasked
        return not (named or self.everything or self.every_call)


def labels_of(source: str) -> dict[int, str]:
    """Line numbers with their labels."""
    if "#:" not in source:
        return {}
    found = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and (match := _LABEL.match(token.string)):
            found[token.start[0]] = match[1]
    return found


_LABEL = re.compile(r"#:\s*([\w.-]+)")


def rewritten(tree: ast.Module, source: str, module: str, watch: Watch, site: SiteMaker) -> ast.Module | None:
    """The tree with all that is watched made to tell, or None if there is nothing of the kind in it."""
    labels = labels_of(source)
    if not labels and not _speaks_of(tree, watch):
        return None
    rewriter = _Rewriter(tree, module, watch, labels, site)
    found: ast.Module = rewriter.visit(tree)
    return ast.fix_missing_locations(found) if rewriter.touched or rewriter.counted else None


def _speaks_of(tree: ast.Module, watch: Watch) -> bool:
    if watch.everything or watch.every_call or watch.follows:
        return True
    words = watch.names | watch.members | watch.functions
    return any(
        getattr(node, "id", None) in words
        or getattr(node, "attr", None) in words
        or getattr(node, "name", None) in words
        or getattr(node, "arg", None) in words
        for node in ast.walk(tree)
    )


_DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(slots=True)
class _Variable:
    name: str
    shared: bool
    function: str | None = None
    """Of a local that is told as one of this function as well."""


class _Rewriter(ast.NodeTransformer):
    def __init__(
        self, tree: ast.Module, module: str, watch: Watch, labels: dict[int, str], site: SiteMaker
    ) -> None:
        self.module = module
        self.watch = watch
        self.members = watch.members | watch.shared_members
        self.switches = Switches(watch.unasked)
        self.off: frozenset[str] = frozenset()
        """Words that are not watched in what is being rewritten."""
        self.labels = labels
        self.new_site = site
        self.scopes = scopes_of(tree)
        self.globals = rebindable_globals(tree, self.scopes)
        self.scope: Scope = self.scopes[tree]
        self.in_comprehension = 0
        self.prepared: dict[str, ast.expr] = {}
        """Entries of the function at hand that are made where it begins."""
        self.touched = False
        self.told_words: set[str | None] = set()
        """Variables that the function at hand tells of; None: something else."""
        self.has_scoped = False
        """The function at hand has locals that end with it."""
        self.counted = False
        """Something is told that asks itself who runs."""

    # ---- what is watched ------------------------------------------------------------------------

    def variable(self, name: str) -> _Variable | None:
        """What a name means here, if it is watched."""
        if isinstance(self.scope.node, ast.ClassDef) or name.startswith("_possibly") or name in self.off:
            return None
        home = self.scope.where(name)
        if home is None:
            return self._global(name)
        if name in home.rebound:
            if name in self.watch.names or name in self.watch.shared_names:
                return _Variable(name, True)
            return _Variable(f"{home.name}.{name}", True) if self.watch.everything else None
        if home is self.scope and name in self.watch.members:
            return self._local(name)
        return None

    def _local(self, name: str) -> _Variable:
        """A generator is left and entered again without a call, so what it knows has no end to tell."""
        scope = self.scope
        if name not in self.watch.scoped or scope.is_generator or not isinstance(scope.node, _DEFINED):
            return _Variable(name, False)
        self.has_scoped = True
        return _Variable(name, False, scope.name)

    def _global(self, name: str) -> _Variable | None:
        if name not in self.globals:
            return None
        if name in self.watch.names:
            return _Variable(name, True)
        is_wanted = name in self.watch.shared_names or self.watch.everything
        if is_wanted or (name in self.watch.members and self.module != "__main__"):
            return _Variable(name if self.module == "__main__" else f"{self.module}.{name}", True)
        return None

    def is_member(self, attribute: str) -> bool:
        if attribute.startswith("__") or attribute in self.off:
            return False
        return attribute in self.members or self.watch.everything

    def site(
        self, node: ast.AST, variable: str | None = None, label: str | None = None, fn: str | None = None
    ) -> ast.Constant:
        self.touched = True
        self.told_words.add(variable if label is None and fn is None else None)
        return ast.Constant(self.new_site(getattr(node, "lineno", 1), label, variable, fn))

    def who_runs(self) -> ast.expr:
        """The process that runs; nobody asks where nothing of what is told here is told any more."""
        words = [each for each in self.told_words if each is not None]
        test = self.switches.any_of(words) if len(words) == len(self.told_words) else None
        called = trees.call("me")
        return called if test is None else ast.IfExp(test, called, ast.Constant(0))

    def quiet_site(self, node: ast.AST, fn: str | None = None) -> ast.Constant:
        """The site of something that asks itself who runs, if there is anything to tell."""
        self.counted = True
        return ast.Constant(self.new_site(getattr(node, "lineno", 1), None, None, fn))

    # ---- scopes ---------------------------------------------------------------------------------

    def visit_Module(self, node: ast.Module) -> ast.Module:
        node.body = self._body(node.body)
        if self.touched or self.counted:
            first = [trees.assign("_possibly_p", trees.call("me"))] if self.touched else []
            near = node.body[0] if node.body else node
            trees.insert(node.body, [*first, trees.nothing_in(TEMPORARY)], near)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.decorator_list = self._decorators(node.decorator_list)
        node.bases = [self.visit(each) for each in node.bases]
        outer, self.scope = self.scope, self.scopes[node]
        node.body = [self.visit(each) if trees.is_definition(each) else each for each in node.body]
        self.scope = outer
        return node

    def _decorators(self, decorators: list[ast.expr]) -> list[ast.expr]:
        """The line of the first one is that of the definition, by which its code is known."""
        return [ast.copy_location(self.visit(each), each) for each in decorators]

    def visit_FunctionDef(self, node: Any) -> Any:
        node.decorator_list = self._decorators(node.decorator_list)
        node.args.defaults = [self.visit(each) for each in node.args.defaults]
        node.args.kw_defaults = [each and self.visit(each) for each in node.args.kw_defaults]
        outer, self.scope = self.scope, self.scopes[node]
        before, self.touched = self.touched, False
        inside, self.in_comprehension = self.in_comprehension, 0
        prepared, self.prepared = self.prepared, {}
        scoped, self.has_scoped = self.has_scoped, False
        words, self.told_words = self.told_words, set()
        body = self._body(node.body)
        given = self._told_locals(node)
        if node.name in self.watch.functions or self.has_scoped:
            body = self._told_calls(node, body, given)
        elif self.watch.every_call and not self.scope.is_generator:
            body = self._counted_calls(node, body)
        first = self._set_arguments(node)
        if self.touched:
            made = [trees.assign(name, entry) for name, entry in self.prepared.items()]
            trees.insert(body, [trees.assign("_possibly_p", self.who_runs()), *made, *first], node)
        node.body = body
        self.prepared, self.has_scoped, self.told_words = prepared, scoped, words
        self.scope, self.in_comprehension = outer, inside
        self.touched = self.touched or before
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def _set_arguments(self, node: Any) -> list[ast.stmt]:
        found = []
        for argument in arguments_of(node.args):
            variable = self.variable(argument.arg)
            if variable is not None and not variable.shared and variable.function is None:
                found += self._set(ast.Name(argument.arg, ast.Load()), variable, node)
        return found

    def _told_locals(self, node: Any) -> list[ast.expr]:
        """Pairs of name and value: the arguments that are locals of the function, set by its call."""
        found: list[ast.expr] = []
        for argument in arguments_of(node.args):
            variable = self.variable(argument.arg)
            if variable is not None and variable.function is not None:
                value = trees.call("snap", trees.load(argument.arg))
                found.append(ast.Tuple([ast.Constant(variable.name), value], ast.Load()))
        return found

    def _told_calls(self, node: Any, body: list[ast.stmt], given: list[ast.expr]) -> list[ast.stmt]:
        """Enter and exit around the body; the docstring stays first. `given` are locals set by the call."""
        first = [body.pop(0)] if ast.get_docstring(node, clean=False) is not None else []
        site = self.site(node, fn=node.name)
        told: list[ast.expr] = []
        if node.name in self.watch.arguments:
            first.append(trees.assign("_possibly_given", trees.call("args", *_told_arguments(node.args))))
            told = [trees.load("_possibly_given")]
        tried = ast.Try(body or [ast.Pass()], [], [], [trees.tell(EXIT, trees.me(), site, *told)])
        if given:
            told = [told[0] if told else ast.Constant(None), ast.Tuple(given, ast.Load())]
        return [*first, trees.tell(ENTER, trees.me(), site, *told), tried]

    def _counted_calls(self, node: Any, body: list[ast.stmt]) -> list[ast.stmt]:
        """The same, told as long as there are not too many."""
        first = [body.pop(0)] if ast.get_docstring(node, clean=False) is not None else []
        site = self.quiet_site(node, fn=node.name)
        tried = ast.Try(body or [ast.Pass()], [], [], [ast.Expr(trees.call("leave", site))])
        return [*first, ast.Expr(trees.call("enter", site)), tried]

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        outer, self.scope = self.scope, self.scopes[node]
        before, self.touched = self.touched, False
        inside, self.in_comprehension = self.in_comprehension, 0
        node.body = self.visit(node.body)
        if self.touched:
            process = ast.NamedExpr(ast.Name("_possibly_p", ast.Store()), trees.call("me"))
            node.body = trees.pick([process, node.body], 1)
        self.scope, self.in_comprehension = outer, inside
        self.touched = self.touched or before
        return node

    # ---- statements -----------------------------------------------------------------------------

    def _body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            found += self._statement(statement)
        return found

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        before, self.touched = self.touched, False
        label = self.labels.get(node.lineno if trees.is_compound(node) else (node.end_lineno or node.lineno))
        words = frozenset() if label else self._words_stored_by(node)
        test = self.switches.any_of(words)
        plain = None if test is None else self._copied(node)
        made = self._rewritten(node, label)
        if test is not None and plain is not None:
            with self._switched_off(words):
                made = [ast.If(test, made, self._rewritten(plain, None))]
        if self.touched and self.scope.is_generator:
            made.insert(0, trees.assign("_possibly_p", trees.call("me")))  # another thread may go on with it
        self.touched = self.touched or before
        for each in made:
            ast.copy_location(each, node)
            trees.locate(each, node)
        return made

    def _words_stored_by(self, node: ast.stmt) -> frozenset[str]:
        """The watched words that a simple statement changes, where words can be switched off."""
        targets = trees.targets_of(node) if self.switches else ()
        return frozenset(word for each in targets for word in self._words_of(each))

    @contextmanager
    def _switched_off(self, words: Iterable[str]) -> Iterator[None]:
        """What is rewritten meanwhile does not tell of them."""
        before = self.off
        self.off = before | frozenset(words)
        yield
        self.off = before

    def _words_of(self, target: ast.expr) -> Iterator[str]:
        """The watched words among what is stored."""
        match target:
            case ast.Tuple(items) | ast.List(items):
                for each in items:
                    yield from self._words_of(each)
            case ast.Starred(value):
                yield from self._words_of(value)
            case ast.Subscript(value):
                yield from self._words_of(value)
            case ast.Name(name) if self.variable(name) is not None:
                yield name
            case ast.Attribute(attr=attribute) if self.is_member(attribute):
                yield attribute

    def _copied(self, node: _Node) -> _Node:
        """The same again: to be rewritten in another way."""
        copy = deepcopy(node)
        for one, other in zip(ast.walk(node), ast.walk(copy), strict=True):
            if one in self.scopes:
                self.scopes[other] = self.scopes[one]
        return copy

    def _rewritten(self, node: ast.stmt, label: str | None) -> list[ast.stmt]:
        match node:
            case ast.Assign(targets, value) if any(self._is_watched_target(each) for each in targets):
                return self._assigned(node, targets, self.visit(value), label)
            case ast.AnnAssign(target, _, ast.expr() as value) if self._is_watched_target(target):
                return self._assigned(node, [target], self.visit(value), label)
            case ast.AugAssign(target) if self._is_watched_target(target):
                return self._augmented(node, label)
            case ast.AugAssign() if self.watch.follows and _may_change_in_place(node):
                return self._in_place(node)
            case ast.Delete(targets) if any(self._is_followed_item(each) for each in targets):
                return [statement for each in targets for statement in self._deleted(each, node)]
            case ast.For() | ast.AsyncFor() | ast.With() | ast.AsyncWith():
                return self._binding(node, label)
            case ast.If() | ast.While():
                node.test = self.visit(node.test)
                if label is not None:
                    node.test = trees.pick(
                        [
                            node.test,
                            trees.log_call(MARK, trees.me(), self.site(node, None, label)),
                        ],
                        0,
                    )
                node.body, node.orelse = self._body(node.body), self._body(node.orelse)
                return [node]
            case ast.ClassDef() if self.watch.follows and not isinstance(self.scope.node, ast.ClassDef):
                return [self.visit(node), *self._class_made(node)]
            case _ if trees.is_definition(node):
                return [self.visit(node)]
        return self._plain(node, label)

    def _class_made(self, node: ast.ClassDef) -> list[ast.stmt]:
        """Values that objects have from their class, or from code that a decorator makes."""
        own = [each for each in _names_of(node.body) if each in self.members]
        if not own and not node.decorator_list:
            return []
        named = (trees.words(each) for each in (sorted(self.members), own))
        return [ast.Expr(trees.call("class", trees.load(node.name), *named, self.quiet_site(node)))]

    def _plain(self, node: ast.stmt, label: str | None) -> list[ast.stmt]:
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(node, name, None)
            if isinstance(inner, list):
                setattr(node, name, self._body(inner))
        for each in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            each.body = self._body(each.body)
        for name, value in ast.iter_fields(node):
            if name == "annotation":
                continue
            if isinstance(value, ast.expr):
                setattr(node, name, self.visit(value))
            elif isinstance(value, list):
                setattr(node, name, [self.visit(v) if isinstance(v, ast.expr) else v for v in value])
        if label is None or trees.is_compound(node):
            return [node]
        mark = trees.tell(MARK, trees.me(), self.site(node, None, label))
        ends = isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue)
        return [mark, node] if ends else [node, mark]

    def _binding(self, node: Any, label: str | None) -> list[ast.stmt]:
        """`for` and `with`: watched targets are assigned where the body begins."""
        after: list[ast.stmt] = []
        if isinstance(node, ast.For | ast.AsyncFor):
            node.iter = self.visit(node.iter)
            node.target, after = self._through_temporaries(node.target, node, label)
            node.orelse = self._body(node.orelse)
        else:
            for item in node.items:
                item.context_expr = self.visit(item.context_expr)
                if item.optional_vars is not None:
                    item.optional_vars, more = self._through_temporaries(item.optional_vars, node, None)
                    after += more
        if label is not None and not after:
            after = [trees.tell(MARK, trees.me(), self.site(node, None, label))]
        node.body = [*after, *self._body(node.body)]
        return [node]

    # ---- assignments ----------------------------------------------------------------------------

    def _is_watched_target(self, target: ast.expr) -> bool:
        match target:
            case ast.Name(name):
                return self.variable(name) is not None
            case ast.Attribute(attr=attribute):
                return self.is_member(attribute)
            case ast.Subscript():
                return self._is_followed_item(target)
            case ast.Tuple(items) | ast.List(items):
                return any(map(self._is_watched_target, items))
            case ast.Starred(value):
                return self._is_watched_target(value)
        return False

    def _is_followed_item(self, target: ast.expr) -> bool:
        is_followed = self.watch.everything or self.watch.follows
        return isinstance(target, ast.Subscript) and (
            is_followed or self._container(target.value) is not None
        )

    def _container(self, node: ast.expr) -> _Variable | str | None:
        """What a container is known by: a watched variable, or a watched attribute."""
        if self.watch.everything:
            return None  # then each item is a variable of its own
        match node:
            case ast.Name(name):
                return self.variable(name)
            case ast.Attribute(attr=attribute) if attribute in self.members and attribute not in self.off:
                return attribute
        return None

    def _assigned(
        self, node: ast.stmt, targets: list[ast.expr], value: ast.expr, label: str | None
    ) -> list[ast.stmt]:
        found = _taken(value)
        for position, target in enumerate(targets):
            last = position == len(targets) - 1
            found += self._store(target, node, label if last else None)
        return [*found, trees.assign("_possibly_v", ast.Constant(None))]

    def _store(self, target: ast.expr, node: ast.stmt, label: str | None) -> list[ast.stmt]:
        """Stores `_possibly_v` in the target and tells of it."""
        match target:
            case ast.Name(name) if (variable := self.variable(name)) is not None:
                return self._store_name(target, variable, node, label)
            case ast.Attribute(value, attribute) if self.is_member(attribute):
                owner = trees.assign("_possibly_o", self.visit(value))
                target.value = trees.load("_possibly_o")
                site = self.site(node, attribute, label)
                told = trees.log(
                    MEMBER_WRITE, trees.me(), site, trees.load("_possibly_o"), trees.load("_possibly_s")
                )
                clear = trees.assign("_possibly_o", ast.Constant(None))
                kept = trees.snap("_possibly_v", site, trees.load("_possibly_o"))
                return [owner, kept, trees.store_in(target, "_possibly_v"), told, clear]
            case ast.Subscript() if self._is_watched_target(target):
                return self._store_item(target, node, label)
            case ast.Tuple() | ast.List():
                changed, after = self._through_temporaries(target, node, label)
                return [trees.store_in(changed, "_possibly_v"), *after]
        return [trees.store_in(self.visit(target), "_possibly_v")]

    def _store_name(
        self, target: ast.Name, variable: _Variable, node: ast.stmt, label: str | None
    ) -> list[ast.stmt]:
        store = trees.store_in(ast.Name(target.id, ast.Store()), "_possibly_v")
        if not variable.shared:
            return [store, *self._set(trees.load("_possibly_v"), variable, node, label)]
        site = self.site(node, variable.name, label)
        value = trees.load("_possibly_s")
        if self._is_steady() and not self.switches.has(variable.name):
            entry = ast.Tuple([ast.Constant(WRITE), trees.me(), site], ast.Load())
            told = trees.call("log", ast.Tuple([self._prepared("w", site, entry), value], ast.Load()))
        else:
            told = trees.log_call(WRITE, trees.me(), site, value)
        return [trees.snap("_possibly_v", site), store, ast.Expr(told)]

    def _set(
        self, value: ast.expr, variable: _Variable, node: ast.AST, label: str | None = None
    ) -> list[ast.stmt]:
        site = self.site(node, variable.name, label, variable.function)
        return [trees.log(SET, trees.me(), site, trees.call("snap", value))]

    def _store_item(self, target: ast.Subscript, node: ast.stmt, label: str | None) -> list[ast.stmt]:
        value = trees.load("_possibly_v")
        if self._container(target.value) is None and self.watch.follows:
            return self._held_item("stored", target, node, value)
        return [ast.Expr(self._item_call("stored", target, node, label, value))]

    def _held_item(
        self, word: str, target: ast.Subscript, node: ast.stmt, *value: ast.expr
    ) -> list[ast.stmt]:
        """Whether a watched variable holds the container is known only in the run; else all is as it was."""
        owner, key = trees.load("_possibly_c"), trees.load("_possibly_k")
        item = ast.Subscript(owner, key, target.ctx)
        plain: ast.stmt = ast.Assign([item], value[0]) if value else ast.Delete([item])
        told = trees.call(f"held_{word}", owner, key, *value, self.quiet_site(node))
        return [
            trees.assign("_possibly_c", self.visit(target.value)),
            trees.assign("_possibly_k", trees.key(self.visit(target.slice))),
            ast.If(trees.call("holds", owner), [ast.Expr(told)], [plain]),
            trees.assign("_possibly_c", ast.Constant(None)),
        ]

    def _item_call(
        self, word: str, target: ast.Subscript, node: ast.AST, label: str | None, *value: ast.expr
    ) -> ast.expr:
        """What stores or deletes an item of a container."""
        container = self._container(target.value)
        key = trees.key(self.visit(target.slice))
        if isinstance(container, str) and isinstance(target.value, ast.Attribute):
            owner = self.visit(target.value.value)
            site = self.site(node, container, label)
            return trees.call(f"{word}_in", owner, ast.Constant(container), key, *value, site, trees.me())
        base = target.value if isinstance(container, _Variable) else self.visit(target.value)
        return self._change(word, [base, key, *value], node, container, label)

    def _change(
        self,
        word: str,
        given: list[ast.expr],
        node: ast.AST,
        container: _Variable | str | None,
        label: str | None = None,
    ) -> ast.expr:
        """What changes a container; whether a watched variable holds it may be known only in the run."""
        site = self.site(node, _known_as(container), label, _function_of(container))
        return trees.call(word, *given, site, trees.me(), _scope_word(container))

    def _deleted(self, target: ast.expr, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(target, ast.Subscript) and self._is_followed_item(target):
            if self._container(target.value) is None and self.watch.follows:
                return self._held_item("deleted", target, node)
            return [ast.Expr(self._item_call("deleted", target, node, None))]
        return [ast.Delete([self.visit(target)])]

    def _in_place(self, node: ast.AugAssign) -> list[ast.stmt]:
        """`e += v` where `e` may be another name of a container that a watched variable holds."""
        target, found = node.target, list[ast.stmt]()
        if isinstance(target, ast.Attribute):
            found.append(trees.assign("_possibly_a", self.visit(target.value)))
            target = ast.Attribute(trees.load("_possibly_a"), target.attr, ast.Store())
            read: ast.expr = ast.Attribute(trees.load("_possibly_a"), target.attr, ast.Load())
        else:
            assert isinstance(target, ast.Name)
            read = trees.load(target.id)
        word, operand = ast.Constant(IN_PLACE[type(node.op)]), self.visit(node.value)
        changed = trees.call("in_place", read, word, operand, self.quiet_site(node))
        plain = ast.AugAssign(target, node.op, operand)
        return [*found, ast.If(trees.call("holds", read), [ast.Assign([target], changed)], [plain])]

    def _through_temporaries(
        self, target: ast.expr, node: ast.stmt, label: str | None
    ) -> tuple[ast.expr, list[ast.stmt]]:
        """The target with its watched parts replaced by temporary names, and the stores from those."""
        after: list[ast.stmt] = []

        def changed(part: ast.expr) -> ast.expr:
            match part:
                case ast.Tuple(items) | ast.List(items):
                    part.elts = [changed(each) for each in items]
                    return part
                case ast.Starred(value):
                    part.value = changed(value)
                    return part
            if not self._is_watched_target(part):
                return self.visit(part)  # type: ignore[no-any-return]
            name = f"_possibly_t{len(after)}"
            after.append(trees.assign("_possibly_v", trees.load(name)))
            after.extend(self._store(part, node, label))
            return ast.Name(name, ast.Store())

        return changed(target), after

    def _augmented(self, node: ast.AugAssign, label: str | None) -> list[ast.stmt]:
        """`x += e` is a read, the operation in place, and a write, as it always was."""
        target = node.target
        found: list[ast.stmt] = []
        match target:
            case ast.Name(name):
                read: ast.expr = self.visit(ast.copy_location(ast.Name(name, ast.Load()), node))
            case ast.Attribute(value, attribute):
                found.append(trees.assign("_possibly_a", self.visit(value)))
                read = self._member(trees.load("_possibly_a"), attribute, node)
                target.value = trees.load("_possibly_a")
            case ast.Subscript(value, key):
                read = self._augmented_item(target, value, key, found)
        found += _taken(read)
        found.append(ast.AugAssign(ast.Name("_possibly_v", ast.Store()), node.op, self.visit(node.value)))
        found += self._store(target, node, label)
        return [*found, trees.assign("_possibly_v", ast.Constant(None))]

    def _augmented_item(
        self, target: ast.Subscript, value: ast.expr, key: ast.expr, found: list[ast.stmt]
    ) -> ast.expr:
        """Reads the item that will be stored again; container and key are evaluated once."""
        container = self._container(value)
        found.append(trees.assign("_possibly_i", trees.key(self.visit(key))))
        target.slice = trees.load("_possibly_i")
        if isinstance(value, ast.Name) and isinstance(container, _Variable):
            again = ast.Subscript(ast.Name(value.id, ast.Load()), trees.load("_possibly_i"), ast.Load())
            return self.visit(ast.copy_location(again, target))  # type: ignore[no-any-return]
        if isinstance(container, str) and isinstance(value, ast.Attribute):
            found.append(trees.assign("_possibly_a", self.visit(value.value)))
            target.value = ast.Attribute(trees.load("_possibly_a"), container, ast.Load())
            member = self._member(trees.load("_possibly_a"), container, target)
            return ast.Subscript(member, trees.load("_possibly_i"), ast.Load())
        found.append(trees.assign("_possibly_a", self.visit(value)))
        target.value = trees.load("_possibly_a")
        if self.watch.follows:
            return ast.Subscript(trees.load("_possibly_a"), trees.load("_possibly_i"), ast.Load())
        return trees.call(
            "item",
            trees.load("_possibly_a"),
            trees.load("_possibly_i"),
            self.site(target),
            trees.me(),
        )

    # ---- expressions ----------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            return node
        variable = self.variable(node.id)
        if variable is None or not variable.shared:
            return node
        return self._read(node, variable, node)

    def _read(self, expression: ast.expr, variable: _Variable, node: ast.AST) -> ast.expr:
        site = self.site(node, variable.name)
        entry: ast.expr = ast.Tuple([ast.Constant(READ), trees.me(), site], ast.Load())
        if self._is_steady() and not self.switches.has(variable.name):
            entry = self._prepared("r", site, entry)
        return self.switches.told(expression, trees.call("log", entry), variable.name)

    def _is_steady(self) -> bool:
        """Whether the process stays the same while the code runs."""
        return (
            self.scope.is_function and not self.scope.is_generator and isinstance(self.scope.node, _DEFINED)
        )

    def _prepared(self, letter: str, site: ast.Constant, entry: ast.expr) -> ast.expr:
        """The entry, made where the function begins."""
        name = f"_possibly_{letter}{site.value!r}"
        self.prepared.setdefault(name, entry)
        return trees.load(name)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if not isinstance(node.ctx, ast.Load) or not self.is_member(node.attr):
            self.generic_visit(node)
            return node
        if isinstance(node.value, ast.Name) and self.variable(node.value.id) is None:
            return self._member(node.value, node.attr, node)
        owner = self.visit(node.value)
        if self.in_comprehension:
            return trees.call(
                "member",
                owner,
                ast.Constant(node.attr),
                self.site(node, node.attr),
                trees.me(),
            )
        return self._member(ast.NamedExpr(ast.Name("_possibly_r", ast.Store()), owner), node.attr, node)

    def _member(self, owner: ast.expr, attribute: str, node: ast.AST) -> ast.expr:
        """Owner is a name, or gives itself the name `_possibly_r`."""
        again = trees.load(owner.id if isinstance(owner, ast.Name) else "_possibly_r")
        told = trees.log_call(MEMBER_READ, trees.me(), self.site(node, attribute), again)
        return self.switches.told(ast.Attribute(owner, attribute, ast.Load()), told, attribute)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """The item is fetched and the read of its container told at once."""
        if not isinstance(node.ctx, ast.Load):
            self.generic_visit(node)
            return node
        container = self._container(node.value)
        if isinstance(container, _Variable) and container.shared and not self.watch.everything:
            node.slice = self.visit(node.slice)
            return self._read(node, container, node)
        self.generic_visit(node)
        if self.watch.everything and not isinstance(node.slice, ast.Slice):
            return trees.call("item", node.value, node.slice, self.site(node), trees.me())
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        is_given = any(self._is_shared(each) for each in node.args) and not _is_builtin(node.func)
        if not isinstance(node.func, ast.Attribute):
            self.generic_visit(node)
            return self._given(node) if is_given else node
        function = node.func
        container = self._container(function.value)
        is_followed = self.watch.everything or (self.watch.follows and not self.in_comprehension)
        if function.attr not in MUTATORS or (container is None and not is_followed):
            function.value = self.visit(function.value)
            node.func = self._given(node).func if is_given else function
        else:
            node.func = self._mutator(function, container)
        node.args = [self.visit(each) for each in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return node

    def _mutator(self, function: ast.Attribute, container: _Variable | str | None) -> ast.expr:
        """The method, made to tell that it changed its container."""
        word = _known_as(container)
        test = None if word is None else self.switches.any_of([word])
        if test is None or word is None:
            return self._telling_mutator(function, container)
        plain = self._copied(function)
        told = self._telling_mutator(function, container)
        with self._switched_off([word.rpartition(".")[2]]):
            return ast.IfExp(test, told, self._telling_mutator(plain, None))

    def _telling_mutator(self, function: ast.Attribute, container: _Variable | str | None) -> ast.expr:
        method = ast.Constant(function.attr)
        if isinstance(container, str) and isinstance(function.value, ast.Attribute):
            owner, site = self.visit(function.value.value), self.site(function, container)
            return trees.call("mutator_in", owner, ast.Constant(container), method, site, trees.me())
        base = function.value if isinstance(container, _Variable) else self.visit(function.value)
        if container is not None or self.watch.everything:
            return self._change("mutator", [base, method], function, container)
        held = trees.call("holds", ast.NamedExpr(ast.Name("_possibly_c", ast.Store()), base))
        told = trees.call("held_mutator", trees.load("_possibly_c"), method, self.quiet_site(function))
        return ast.IfExp(held, told, ast.Attribute(trees.load("_possibly_c"), function.attr, ast.Load()))

    def _is_shared(self, node: ast.expr) -> bool:
        """Whether it is a watched variable that others see."""
        match self._container(node):
            case _Variable(shared=shared):
                return shared
            case found:
                return found is not None

    def _given(self, node: ast.Call) -> ast.Call:
        """A call that gets a watched variable: a function in C may change what it holds."""
        node.func = trees.call("given", node.func, self.quiet_site(node))
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        node.value = self.visit(node.value)
        variable = self.variable(node.target.id)
        if variable is None or self.in_comprehension:
            return node
        op = WRITE if variable.shared else SET
        return trees.call(
            "seen",
            node,
            ast.Constant(op),
            self.site(node, variable.name, None, variable.function),
            trees.me(),
        )

    def _comprehension(self, node: Any) -> Any:
        self.in_comprehension += 1
        self.generic_visit(node)
        self.in_comprehension -= 1
        return node

    visit_ListComp = visit_SetComp = _comprehension  # noqa: N815
    visit_DictComp = visit_GeneratorExp = _comprehension  # noqa: N815


def _names_of(body: list[ast.stmt]) -> Iterator[str]:
    """What a class body gives values to."""
    for statement in body:
        match statement:
            case ast.Assign(targets):
                yield from (each.id for each in targets if isinstance(each, ast.Name))
            case ast.AnnAssign(ast.Name(name)):
                yield name


def _may_change_in_place(node: ast.AugAssign) -> bool:
    """A number added to something that is no number is an error."""
    is_number = isinstance(node.value, ast.Constant) and type(node.value.value) in (int, float)
    is_count = is_number and isinstance(node.op, ast.Add | ast.Sub)
    return type(node.op) in IN_PLACE and not is_count and isinstance(node.target, ast.Name | ast.Attribute)


def _is_builtin(function: ast.expr) -> bool:
    """None of these changes a container that it gets."""
    return isinstance(function, ast.Name) and hasattr(builtins, function.id)


def _taken(value: ast.expr) -> list[ast.stmt]:
    """`_possibly_v` gets the value; what a read tells about itself follows in a statement of its own."""
    match value:
        case ast.Subscript(ast.Tuple([read, ast.Call(ast.Name("_possibly_log")) as told]), ast.Constant(0)):
            return [trees.assign("_possibly_v", read), ast.Expr(told)]
    return [trees.assign("_possibly_v", value)]


def _told_arguments(given: ast.arguments) -> list[ast.expr]:
    """The positional parameters of a call; the object that a method is called on only if it is alone."""
    found: list[ast.expr] = [ast.Name(each.arg, ast.Load()) for each in (*given.posonlyargs, *given.args)]
    if given.vararg is not None:
        found.append(ast.Starred(ast.Name(given.vararg.arg, ast.Load()), ast.Load()))
    is_method = isinstance(found[0], ast.Name) and found[0].id in ("self", "cls") if found else False
    return found[1:] if is_method and len(found) > 1 else found


def _known_as(container: _Variable | str | None) -> str | None:
    return container.name if isinstance(container, _Variable) else container


def _function_of(container: _Variable | str | None) -> str | None:
    return container.function if isinstance(container, _Variable) else None


def _scope_word(container: _Variable | str | None) -> ast.Constant:
    match container:
        case _Variable(shared=True):
            return ast.Constant(WRITE)
        case _Variable():
            return ast.Constant(SET)
        case str():
            return ast.Constant(MEMBER_WRITE)
    return ast.Constant(ITEM_WRITE)
