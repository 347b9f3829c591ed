"""A model file becomes a model.

Here belongs the top level of a model file: global variables with their initial values, functions that are
processes (`@process`, `@process(3)`) and helper functions. The text is parsed by Python's own parser and
checked; nothing of it is executed. A global that no function assigns is a constant and no part of the states.
A comment `#: name` labels the statement of its line.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from possibly.errors import PossiblyError
from possibly.models.build import ProcessBuilder, assigned_names
from possibly.models.expressions import Constant, Expressions, Helper, Meaning, parameters, refuse
from possibly.models.flow import FlowGraph
from possibly.models.model import Model
from possibly.models.slots import Failure, Place, Slot, Value

MOST_SLOTS = 4096
WORDS = "possibly.models.words"


class _Channel(NamedTuple):
    capacity: int


def is_model(text: str) -> bool:
    """Whether a Python text is meant as a model: some function of it is decorated as a process."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return WORDS in text
    return any(isinstance(part, ast.FunctionDef) and _instances_tree(part) for part in tree.body)


def read_model(text: str, file: str) -> Model:
    """The model in the text of a file."""
    tree = _parsed(text, file)
    return _Reader(tree, _labels(text), file).model()


def _parsed(text: str, file: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError as error:
        column = error.offset or None
        raise PossiblyError(f"not Python: {error.msg}", file=file, line=error.lineno, column=column) from None
    except (ValueError, RecursionError, MemoryError):
        raise PossiblyError("not Python, or nested too deeply", file=file) from None


def _labels(text: str) -> dict[int, str]:
    """The label of each line that has one."""
    found: dict[int, str] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and token.string.startswith("#:"):
                found[token.start[0]] = token.string[2:].strip()
    except (tokenize.TokenError, SyntaxError):
        pass  # the parser has read it, so only labels after a very odd place are missing
    return {line: label for line, label in found.items() if label}


def _instances_tree(tree: ast.FunctionDef) -> ast.expr | None:
    """The decorator that makes a function a process."""
    for decorator in tree.decorator_list:
        word = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(word, ast.Name) and word.id == "process":
            return decorator
    return None


class _Reader:
    def __init__(self, tree: ast.Module, labels: Mapping[int, str], file: str) -> None:
        self.tree = tree
        self.labels = labels
        self.file = file
        self.scope: dict[str, Meaning] = {}
        self.slots: list[Slot] = []
        self.assigned = _assigned_globals(tree)
        self.functions: list[tuple[ast.FunctionDef, ast.expr]] = []

    def model(self) -> Model:
        for part in self.tree.body:
            self._top(part)
        if not self.functions:
            raise PossiblyError(
                "a model has at least one process", file=self.file, hint="write @process above a function"
            )
        graphs: list[FlowGraph] = []
        local: dict[str, dict[str, Place]] = {}
        for name, tree, arguments in self._processes():
            if name in local:
                refuse(f"there are two processes {name}", tree, self.file)
            builder = ProcessBuilder(name, self.scope, self.labels, self.slots, self.file)
            graphs.append(builder.graph(tree, arguments))
            local[name] = builder.locals
        if len(self.slots) > MOST_SLOTS:
            raise PossiblyError(f"more than {MOST_SLOTS:,} variables and elements", file=self.file)
        shared = {name: place for name, place in self.scope.items() if isinstance(place, Place)}
        constants = {name: part.value for name, part in self.scope.items() if isinstance(part, Constant)}
        return Model(self.file, graphs, self.slots, shared, local, constants)

    def _top(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(ast.Constant()) | ast.ImportFrom(module="__future__" | "possibly.models.words"):
                return
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, value) if value:
                self._global(node, name, self._initial(value, self.scope))
            case ast.FunctionDef(name):
                self._declare(node, name)
                decorator = _instances_tree(node)
                if decorator is not None:
                    self.functions.append((node, decorator))
                elif node.decorator_list:
                    refuse(f"{name} has an unknown decorator", node.decorator_list[0], self.file)
                else:
                    self.scope[name] = Helper(node)
            case _:
                first = ast.unparse(node).splitlines()[0]
                hint = "global variables, @process functions and helper functions"
                refuse(f"`{first}` has no place at the top of a model file", node, self.file, hint)

    def _declare(self, node: ast.stmt, name: str) -> None:
        if name in self.scope or any(tree.name == name for tree, _ in self.functions):
            refuse(f"{name} is defined twice", node, self.file)

    def _processes(self) -> Iterator[tuple[str, ast.FunctionDef, list[Value]]]:
        for tree, decorator in self.functions:
            if not isinstance(decorator, ast.Call):
                yield tree.name, tree, []
                continue
            count = self._initial(decorator.args[0], self.scope) if len(decorator.args) == 1 else None
            if not isinstance(count, int) or not 1 <= count <= 1000:
                refuse("@process takes the number of processes, 1 to 1000", decorator, self.file)
            numbered = bool(parameters(tree, self.file))
            for number in range(count):
                yield f"{tree.name}{number}", tree, [number] if numbered else []

    # ---- global variables -----------------------------------------------------------------------

    def _global(self, node: ast.stmt, name: str, value: Value) -> None:
        self._declare(node, name)
        sizes, items = _shape(value)
        channels = [item for item in items if isinstance(item, _Channel)]
        if channels and (len(channels) < len(items) or len(set(channels)) > 1):
            refuse(f"the channels of {name} have one capacity", node, self.file)
        if not channels and name not in self.assigned:
            self.scope[name] = Constant(value)
            return
        if name in self.assigned and self.assigned[name] and not channels:
            sizes, items = (), [value]  # assigned as a whole: one value, perhaps a tuple
        capacity = channels[0].capacity if channels else 0
        self.scope[name] = Place(name, None, len(self.slots), sizes, capacity)
        if len(self.slots) + len(items) > MOST_SLOTS:
            refuse(f"more than {MOST_SLOTS:,} variables and elements", node, self.file)
        self.slots += [Slot(name, () if channels else item) for item in items]

    def _initial(self, node: ast.expr, scope: Mapping[str, Meaning]) -> Value:
        match node:
            case ast.Call(ast.Name("channel"), [capacity], []):
                size = self._initial(capacity, scope)
                if not isinstance(size, int) or not 1 <= size <= 1000:
                    refuse("a channel holds 1 to 1000 messages", node, self.file)
                return _Channel(size)
            case ast.List(items) | ast.Tuple(items):
                return tuple([self._initial(item, scope) for item in items])
            case ast.BinOp(ast.List() as left, ast.Mult(), right):
                times = self._initial(right, scope)
                if not isinstance(times, int) or not 0 <= times <= MOST_SLOTS:
                    refuse(f"an array has at most {MOST_SLOTS:,} elements", node, self.file)
                return self._initial(left, scope) * times
            case ast.ListComp(item, [ast.comprehension(ast.Name(name), iterator, [], 0)]):
                return tuple(
                    [self._initial(item, {**scope, name: Constant(i)}) for i in self._over(iterator)]
                )
        return self._value(node, scope)

    def _over(self, node: ast.expr) -> range:
        match node:
            case ast.Call(ast.Name("range"), [bound], []):
                size = self._initial(bound, self.scope)
            case _:
                size = None
        if not isinstance(size, int) or not 0 <= size <= MOST_SLOTS:
            refuse(f"an initial value ranges over range(N), N at most {MOST_SLOTS:,}", node, self.file)
        return range(size)

    def _value(self, node: ast.expr, scope: Mapping[str, Meaning]) -> Value:
        compiled = Expressions(scope, self.file).compile(node)
        if not compiled.is_constant:
            refuse("an initial value is constant", node, self.file)
        try:
            return compiled.evaluate([])
        except Failure as failure:
            refuse(str(failure), node, self.file)


def _shape(value: Value) -> tuple[tuple[int, ...], list[Value]]:
    """The sizes of a rectangular array and its elements; a scalar, or what is not rectangular, has none."""
    if isinstance(value, _Channel) or not isinstance(value, tuple) or not value:
        return (), [value]
    parts = [_shape(item) for item in value]
    if len({sizes for sizes, _ in parts}) > 1:
        return (len(value),), list(value)
    return (len(value), *parts[0][0]), [item for _, items in parts for item in items]


def _assigned_globals(tree: ast.Module) -> dict[str, bool]:
    """The globals that some function assigns: True if as a whole, False if by element only."""
    found: dict[str, bool] = {}
    for function in tree.body:
        if not isinstance(function, ast.FunctionDef):
            continue
        shared = {name for part in ast.walk(function) if isinstance(part, ast.Global) for name in part.names}
        local = set(assigned_names(function)) - shared
        for name in shared:
            found[name] = True
        for part in ast.walk(function):
            if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
                root = _root_name(part)
                if root is not None and root not in local:
                    found.setdefault(root, False)
    return found


def _root_name(node: ast.expr) -> str | None:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
