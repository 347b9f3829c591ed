"""Expressions of model files: a checked syntax tree becomes a closure over the values of the slots.

Here belongs the meaning of expressions. Names are resolved before anything runs: to a constant (a global
that no function assigns, a process's own number), or to a place of the state. Numbers are whole numbers of
at most `MOST_BITS` bits. What has no meaning raises `Failure`, which makes the process fail there; what is no
expression of the language is an error that names line and column.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from possibly.errors import PossiblyError
from possibly.models.operations import (
    BINARY,
    COMPARISONS,
    FUNCTIONS,
    MOST_BITS,
    UNARY,
    index_within,
    item,
    known,
    nested,
    reading,
)
from possibly.models.slots import Evaluate, Failure, Place, Value, Values


class Constant(NamedTuple):
    """What a name stands for when it never changes."""

    value: Value


class Helper(NamedTuple):
    """A function that other functions call."""

    tree: ast.FunctionDef


Meaning = Place | Constant | Helper
Scope = Mapping[str, Meaning]


class Expression(NamedTuple):
    evaluate: Evaluate
    reads: frozenset[int]

    @property
    def is_constant(self) -> bool:
        return not self.reads


class Target(NamedTuple):
    """A place that is assigned: the slots it may be, and which of them it is in a state."""

    slots: range
    offset: Expression
    capacity: int = 0

    @property
    def reads(self) -> frozenset[int]:
        return self.offset.reads

    def slot(self, values: Values) -> int:
        found: int = self.slots[self.offset.evaluate(values)]
        return found


def refuse(message: str, node: ast.AST, file: str | None, hint: str | None = None) -> NoReturn:
    raise refusal(message, node, file, hint)


def refusal(message: str, node: ast.AST, file: str | None, hint: str | None = None) -> PossiblyError:
    """An error that points at a place of the model file."""
    line, column = getattr(node, "lineno", None), getattr(node, "col_offset", None)
    return PossiblyError(
        message, file=file, line=line, column=None if column is None else column + 1, hint=hint
    )


def constant(value: Value) -> Expression:
    return Expression(lambda values: value, frozenset())


class Expressions:
    """Compiles the expressions of one scope."""

    def __init__(
        self, scope: Scope, file: str | None, outer: Scope | None = None, active: tuple[str, ...] = ()
    ) -> None:
        self.scope = scope
        self.file = file
        self.outer = scope if outer is None else outer
        """The global names: all that the body of a helper sees beside its own."""
        self.active = active
        """Helper functions whose bodies are being put in: none may call itself."""

    def compile(self, node: ast.expr) -> Expression:
        found = self._compile(node)
        if not found.is_constant:
            return found
        try:
            return constant(found.evaluate([]))
        except Failure:
            return found  # it fails when it is executed, if ever

    def _compile(self, node: ast.expr) -> Expression:
        match node:
            case ast.Constant(value) if value is None or isinstance(value, bool | int | str):
                if isinstance(value, int) and value.bit_length() > MOST_BITS:
                    refuse(f"a number of more than {MOST_BITS} bits", node, self.file)
                return constant(value)
            case ast.Name() | ast.Subscript():
                return self._read(node)
            case ast.UnaryOp(op, operand):
                return self._apply(self._table(UNARY, op, node), [operand])
            case ast.BinOp(left, op, right):
                return self._apply(self._table(BINARY, op, node), [left, right])
            case ast.BoolOp(op, operands):
                return self._connective(isinstance(op, ast.And), operands)
            case ast.Compare(left, operators, others):
                return self._comparison(node, [left, *others], operators)
            case ast.IfExp(test, body, otherwise):
                return self._conditional(test, body, otherwise)
            case ast.Tuple(items) | ast.List(items):
                return self._apply(lambda *values: tuple(values), items)
            case ast.Call():
                return self._call(node)
        refuse(f"{ast.unparse(node)} is no expression of model files", node, self.file)

    def _table(self, table: Mapping[type, Any], operation: ast.AST, node: ast.expr) -> Any:
        if type(operation) not in table:
            refuse(f"the operator of {ast.unparse(node)} is not part of model files", node, self.file)
        return table[type(operation)]

    def _apply(self, function: Callable[..., Value], operands: Sequence[ast.expr]) -> Expression:
        parts = [self.compile(operand) for operand in operands]
        reads = frozenset[int]().union(*[part.reads for part in parts])
        evaluates = [part.evaluate for part in parts]
        if len(evaluates) == 2:
            left, right = evaluates
            return Expression(lambda values: function(left(values), right(values)), reads)
        return Expression(lambda values: function(*[part(values) for part in evaluates]), reads)

    def _connective(self, conjunction: bool, operands: Sequence[ast.expr]) -> Expression:
        """As in Python the value is that of the operand that decides."""
        parts = [self.compile(operand) for operand in operands]
        first, *rest = [part.evaluate for part in parts]

        def evaluate(values: Values) -> Value:
            value = first(values)
            for part in rest:
                if bool(value) != conjunction:
                    return value
                value = part(values)
            return value

        return Expression(evaluate, frozenset[int]().union(*[part.reads for part in parts]))

    def _comparison(
        self, node: ast.Compare, operands: Sequence[ast.expr], operators: Sequence[ast.cmpop]
    ) -> Expression:
        parts = [self.compile(operand) for operand in operands]
        functions = [self._table(COMPARISONS, op, node) for op in operators]
        first, rest = parts[0].evaluate, list(zip(functions, [p.evaluate for p in parts[1:]], strict=True))

        def evaluate(values: Values) -> bool:
            left = first(values)
            for compare, part in rest:
                right = part(values)
                if not compare(left, right):
                    return False
                left = right
            return True

        return Expression(evaluate, frozenset[int]().union(*[part.reads for part in parts]))

    def _conditional(self, test: ast.expr, body: ast.expr, otherwise: ast.expr) -> Expression:
        condition, yes, no = self.compile(test), self.compile(body), self.compile(otherwise)

        def evaluate(values: Values) -> Value:
            return yes.evaluate(values) if condition.evaluate(values) else no.evaluate(values)

        return Expression(evaluate, condition.reads | yes.reads | no.reads)

    # ---- calls ----------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Expression:
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        if node.keywords:
            refuse("arguments are given by position in model files", node, self.file)
        if name == "len" and len(node.args) == 1 and (size := self._size(node.args[0])) is not None:
            return constant(size)
        if name in FUNCTIONS:
            return self._apply(FUNCTIONS[name], node.args)
        meaning = self.scope.get(name)
        if isinstance(meaning, Helper):
            return self._inlined(node, name, meaning.tree)
        hint = None
        if name in ("receive", "choose"):
            hint = f"write it as a statement of its own: x = {ast.unparse(node)}"
        refuse(f"{name} cannot be called in an expression", node, self.file, hint)

    def _size(self, node: ast.expr) -> int | None:
        """How many elements an array has, which never changes."""
        root, depth = _root(node)
        meaning = self.scope.get(root.id) if isinstance(root, ast.Name) else None
        return meaning.sizes[depth] if isinstance(meaning, Place) and depth < len(meaning.sizes) else None

    def _inlined(self, node: ast.Call, name: str, tree: ast.FunctionDef) -> Expression:
        """A helper that is one expression, with its arguments put in."""
        body = [part for part in tree.body if not _is_docstring(part)]
        if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
            hint = f"call it in a statement of its own: x = {ast.unparse(node)}"
            refuse(f"{name} is more than one expression, so it is called by itself", node, self.file, hint)
        if name in self.active:
            refuse(f"{name} calls itself: model files have no recursion", node, self.file)
        names = parameters(tree, self.file)
        if len(names) != len(node.args):
            refuse(f"{name} takes {len(names)} arguments, not {len(node.args)}", node, self.file)
        arguments = dict(zip(names, [self.compile(argument) for argument in node.args], strict=True))
        inner = _Inner(self.outer, self.file, self.outer, (*self.active, name))
        inner.arguments = arguments
        return inner.compile(body[0].value)

    # ---- places ---------------------------------------------------------------------------------

    def _read(self, node: ast.Name | ast.Subscript) -> Expression:
        root, depth = _root(node)
        meaning = self.meaning(root) if isinstance(root, ast.Name) else None
        if not isinstance(meaning, Place) or depth > len(meaning.sizes):
            return self._read_value(node, meaning)
        if depth < len(meaning.sizes):
            return self._read_whole(node, meaning)
        target = self.target(node)
        if len(target.slots) == 1 and target.offset.is_constant:
            return Expression(reading(target.slots[0], meaning.name), frozenset(target.slots))

        def evaluate(values: Values) -> Value:
            return known(values[target.slot(values)], meaning.name)

        return Expression(evaluate, frozenset(target.slots) | target.offset.reads)

    def _read_value(self, node: ast.Name | ast.Subscript, meaning: Meaning | None) -> Expression:
        if isinstance(node, ast.Subscript):
            return self._apply(item, [node.value, node.slice])
        if isinstance(meaning, Constant):
            return constant(meaning.value)
        refuse(f"{node.id} is a function, not a value", node, self.file)

    def _read_whole(self, node: ast.expr, place: Place) -> Expression:
        if not isinstance(node, ast.Name):
            refuse(f"{ast.unparse(node)} is a part of an array: give all its indices", node, self.file)

        def evaluate(values: Values) -> Value:
            return nested([known(values[slot], place.name) for slot in place.slots], place.sizes)

        return Expression(evaluate, frozenset(place.slots))

    def target(self, node: ast.expr) -> Target:
        """The place that an expression names: a scalar, an element or a channel."""
        indices: list[ast.expr] = []
        while isinstance(node, ast.Subscript):
            indices.insert(0, node.slice)
            node = node.value
        if not isinstance(node, ast.Name):
            refuse(f"{ast.unparse(node)} is no variable", node, self.file)
        place = self.meaning(node)
        if not isinstance(place, Place):
            refuse(f"{node.id} is no variable that can be assigned", node, self.file)
        if len(indices) > len(place.sizes):
            refuse(f"{place.name} has no such element to assign", node, self.file)
        if len(indices) < len(place.sizes):
            refuse(f"{place.name} is an array: assign its elements", node, self.file)
        return self._element(place, indices)

    def _element(self, place: Place, indices: Sequence[ast.expr]) -> Target:
        parts = [self.compile(index) for index in indices]
        sizes, name = place.sizes, place.name

        def offset(values: Values) -> int:
            found = 0
            for part, size in zip(parts, sizes, strict=True):
                found = found * size + index_within(part.evaluate(values), size, name)
            return found

        reads = frozenset[int]().union(*[part.reads for part in parts])
        if not reads:
            try:
                slot = place.slots[offset([])]
            except Failure:
                return Target(place.slots, Expression(offset, reads), place.capacity)
            return Target(range(slot, slot + 1), constant(0), place.capacity)
        return Target(place.slots, Expression(offset, reads), place.capacity)

    def meaning(self, node: ast.Name) -> Meaning:
        found = self.scope.get(node.id)
        if found is None:
            import difflib

            near = difflib.get_close_matches(node.id, list(self.scope), n=1)
            hint = f"did you mean {near[0]}?" if near else "a variable is global or assigned in its function"
            refuse(f"{node.id} is not defined", node, self.file, hint)
        return found


class _Inner(Expressions):
    """Expressions of a helper with its arguments, themselves expressions, in place of its parameters."""

    arguments: Mapping[str, Expression] = {}

    def _read(self, node: ast.Name | ast.Subscript) -> Expression:
        root, _ = _root(node)
        if isinstance(root, ast.Name) and root.id in self.arguments:
            if node is root:
                return self.arguments[root.id]
            assert isinstance(node, ast.Subscript)
            return self._apply(item, [node.value, node.slice])
        return super()._read(node)


def parameters(tree: ast.FunctionDef, file: str | None) -> list[str]:
    arguments = tree.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
        refuse("functions of model files have plain parameters only", tree, file)
    return [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _root(node: ast.expr) -> tuple[ast.expr, int]:
    """What is subscripted, and how often."""
    depth = 0
    while isinstance(node, ast.Subscript):
        node, depth = node.value, depth + 1
    return node, depth
