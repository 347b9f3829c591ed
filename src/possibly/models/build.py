"""Statements become flow graphs.

Here belongs which statement it is and where it leads; what it does is in `acts`. The builder keeps the
arrows that lead nowhere yet and points them at the node that comes next. A call of a helper function puts
the body in at the place of the call, so there is no recursion; arguments that are constant are put in too.
A test that is constant has no node: one of its branches is never taken.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from possibly.models.acts import (
    Action,
    asserting,
    assigning,
    choosing,
    entering,
    handing_over,
    passing,
    receiving,
    repeating,
    sending,
    testing,
    waiting,
)
from possibly.models.expressions import (
    Constant,
    Expression,
    Expressions,
    Helper,
    Meaning,
    Scope,
    Target,
    constant,
    parameters,
    refusal,
    refuse,
)
from possibly.models.flow import Exit, FlowGraph, Node
from possibly.models.slots import NOTHING, Failure, Place, Slot, Value

MOST_NODES = 20_000


@dataclass(slots=True, eq=False)
class _Anchor:
    """A place in the graph before the node that will stand there is known."""

    target: Node | _Anchor | None = None
    leaves: bool = False
    """Who comes by here leaves an atomic block."""


Arrow = Exit | _Anchor


@dataclass(slots=True)
class _Loop:
    head: _Anchor
    block: int | None
    """The atomic block that it stands in."""
    breaks: list[Arrow] = field(default_factory=list)


@dataclass(slots=True)
class _Frame:
    """The function whose body is being built."""

    name: str
    expressions: Expressions
    results: list[Target] | None
    """Where `return` puts its value; None: the caller wants none."""
    block: int | None = None
    """The atomic block in which it is called."""
    returns: list[Arrow] = field(default_factory=list)
    loops: list[_Loop] = field(default_factory=list)


class ProcessBuilder:
    """Builds the flow graph of one process; adds the slots of its local variables."""

    def __init__(
        self, process: str, scope: Scope, labels: Mapping[int, str], slots: list[Slot], file: str | None
    ) -> None:
        self.process = process
        self.outer = scope
        self.labels = labels
        self.slots = slots
        self.file = file
        self.nodes: list[Node] = []
        self.anchors: dict[int, _Anchor] = {}
        self.locals: dict[str, Place] = {}
        self.frames: list[_Frame] = []
        self.block: int | None = None

    def graph(self, tree: ast.FunctionDef, arguments: Sequence[Value]) -> FlowGraph:
        names = parameters(tree, self.file)
        if len(names) != len(arguments):
            expected = "no parameter" if not arguments else "one parameter, its number"
            refuse(f"a process like {tree.name} has {expected}", tree, self.file)
        given = {name: constant(value) for name, value in zip(names, arguments, strict=True)}
        start = Exit(None)
        self._function(tree, given, None, [start])
        for node in self.nodes:
            for leaving in node.exits:
                leaving.target = self._resolved(leaving)
        start.target = self._resolved(start)
        return FlowGraph(self.process, tuple(self.nodes), start)

    # ---- functions ------------------------------------------------------------------------------

    def _function(
        self,
        tree: ast.FunctionDef,
        given: Mapping[str, Expression],
        results: list[Target] | None,
        incoming: list[Arrow],
    ) -> list[Arrow]:
        own = self._scope(tree, given)
        active = tuple([frame.name for frame in self.frames[1:]]) + ((tree.name,) if self.frames else ())
        frame = _Frame(tree.name, Expressions(own, self.file, self.outer, active), results, self.block)
        self.frames.append(frame)
        falling = self._block(tree.body, incoming)
        if results and falling:
            refuse(f"{tree.name} may end without a value to return", tree, self.file)
        self.frames.pop()
        return [*falling, *frame.returns]

    def _scope(self, tree: ast.FunctionDef, given: Mapping[str, Expression]) -> dict[str, Meaning]:
        """The names in a function: Python's rule, a name that is assigned is local unless `global`."""
        scope: dict[str, Meaning] = dict(self.outer)
        shared = {name for part in ast.walk(tree) if isinstance(part, ast.Global) for name in part.names}
        for name in shared:
            if not isinstance(scope.get(name), Place):
                refuse(f"there is no global variable {name}", tree, self.file)
        assigned = {name: node for name, node in assigned_names(tree).items() if name not in shared}
        for name, node in assigned.items():
            if isinstance(scope.get(name), Place | Constant):
                hint = f"write `global {name}` in {tree.name}, or use another name"
                refuse(f"{name} is assigned here and global as well", node, self.file, hint)
        for name, value in given.items():
            if value.is_constant and name not in assigned:
                scope[name] = Constant(value.evaluate([]))
            else:
                assigned[name] = tree
        for name in assigned:
            scope[name] = self._local(tree.name, name)
        return scope

    def _local(self, function: str, name: str) -> Place:
        known = name if not self.frames else f"{function}.{name}"
        if known not in self.locals:
            self.locals[known] = Place(known, self.process, len(self.slots))
            self.slots.append(Slot(f"{self.process}.{known}", NOTHING))
        return self.locals[known]

    # ---- statements -----------------------------------------------------------------------------

    @property
    def frame(self) -> _Frame:
        return self.frames[-1]

    @property
    def expressions(self) -> Expressions:
        return self.frame.expressions

    def _block(self, body: Iterable[ast.stmt], incoming: list[Arrow]) -> list[Arrow]:
        for statement in body:
            incoming = self._statement(statement, incoming)
        return incoming

    def _statement(self, node: ast.stmt, incoming: list[Arrow]) -> list[Arrow]:
        match node:
            case ast.Expr(ast.Constant()) | ast.Global():
                return incoming
            case ast.Pass():
                return self._node(node, incoming, passing())
            case ast.Assign([target], value) | ast.AnnAssign(target, _, value) if value is not None:
                return self._assign(node, target, value, incoming)
            case ast.AugAssign(target, operation, value):
                changed = ast.BinOp(_loaded(target), operation, value)
                return self._assign(node, target, ast.copy_location(changed, node), incoming)
            case ast.Expr(ast.Call() as call):
                return self._call(node, call, incoming)
            case ast.If(test, body, otherwise):
                return self._if(node, test, body, otherwise, incoming)
            case ast.While(test, body, []):
                return self._while(node, test, body, incoming)
            case ast.For(ast.Name() as target, ast.Call(ast.Name("range"), bounds, []), body, []):
                return self._for(node, target, bounds, body, incoming)
            case ast.With([ast.withitem(ast.Name("atomic"), None)], body):
                return self._atomic(body, incoming)
            case ast.Assert(test):
                condition = asserting(self.expressions.compile(test), ast.unparse(test))
                return self._node(node, incoming, condition)
            case ast.Return(value):
                return self._return(node, value, incoming)
            case ast.Break() | ast.Continue():
                return self._leap(node, incoming)
        first = ast.unparse(node).splitlines()[0]
        raise refusal(f"`{first}` is no statement of model files", node, self.file)

    def _node(
        self,
        tree: ast.stmt,
        incoming: list[Arrow],
        action: Action,
        text: str | None = None,
        answers: Sequence[str] = ("",),
    ) -> list[Arrow]:
        """A new node that all the arrows lead to; the arrows out of it."""
        if len(self.nodes) >= MOST_NODES:
            refuse(f"{self.process} has more than {MOST_NODES:,} nodes", tree, self.file)
        node = Node(
            number=len(self.nodes),
            text=text if text is not None else ast.unparse(tree).splitlines()[0],
            line=tree.lineno,
            label=self._label(tree),
            is_test=len(answers) > 1,
            act=action.act,
            reads=action.reads,
            writes=action.writes,
            functions=tuple([frame.name for frame in self.frames]),
            block=self.block,
        )
        node.exits = [Exit(node, answer) for answer in answers]
        self.nodes.append(node)
        for arrow in incoming:
            arrow.target = node
        found: list[Arrow] = list(node.exits)
        return found

    def _label(self, tree: ast.stmt) -> str | None:
        inner = getattr(tree, "body", None)
        last = inner[0].lineno - 1 if inner else (tree.end_lineno or tree.lineno)
        lines = range(tree.lineno, max(last, tree.lineno) + 1)
        return next((self.labels[line] for line in lines if line in self.labels), None)

    def _assign(
        self, node: ast.stmt, target: ast.expr, value: ast.expr, incoming: list[Arrow]
    ) -> list[Arrow]:
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        targets = [self.expressions.target(part) for part in parts]
        for part, place in zip(parts, targets, strict=True):
            if place.capacity:
                refuse(f"{ast.unparse(part)} is a channel: use send and receive", part, self.file)
        match value:
            case ast.Call(ast.Name("receive"), [source], []):
                return self._node(node, incoming, receiving(targets, self._channel(source)))
            case ast.Call(ast.Name("choose"), arguments, []) if arguments:
                return self._node(node, incoming, choosing(targets, self._alternatives(arguments)))
            case ast.Call(ast.Name(name)) if self._is_body(name):
                return self._invoke(node, value, name, targets, incoming)
        return self._node(node, incoming, assigning(targets, self.expressions.compile(value)))

    def _call(self, node: ast.stmt, call: ast.Call, incoming: list[Arrow]) -> list[Arrow]:
        compiled = self.expressions.compile
        match call:
            case ast.Call(ast.Name("wait"), [condition], []):
                return self._node(node, incoming, waiting(compiled(condition)))
            case ast.Call(ast.Name("send"), [to, message], []):
                return self._node(node, incoming, sending(self._channel(to), compiled(message)))
            case ast.Call(ast.Name("receive"), [source], []):
                return self._node(node, incoming, receiving([], self._channel(source)))
            case ast.Call(ast.Name(name)) if isinstance(self.expressions.scope.get(name), Helper):
                return self._invoke(node, call, name, None, incoming)
        raise refusal(f"{ast.unparse(call.func)} is no function that can be called here", call, self.file)

    def _channel(self, node: ast.expr) -> Target:
        found = self.expressions.target(node)
        if not found.capacity:
            refuse(f"{ast.unparse(node)} is no channel", node, self.file, "make it with channel(CAPACITY)")
        return found

    def _alternatives(self, arguments: Sequence[ast.expr]) -> list[Expression]:
        """What `choose` chooses from."""
        match arguments:
            case [ast.Call(ast.Name("range"), bounds, [])]:
                return [constant(number) for number in _range(bounds, self.expressions, self.file)]
        return [self.expressions.compile(argument) for argument in arguments]

    # ---- control --------------------------------------------------------------------------------

    def _test(self, node: ast.stmt, test: ast.expr, incoming: list[Arrow]) -> tuple[list[Arrow], list[Arrow]]:
        """The arrows for yes and for no."""
        match test:
            case ast.Call(ast.Name("choose"), arguments, []) if arguments:
                alternatives = self._alternatives(arguments)
            case _:
                alternatives = [self.expressions.compile(test)]
                if alternatives[0].is_constant and not _fails(alternatives[0]):
                    yes = bool(alternatives[0].evaluate([]))
                    return (incoming if yes else []), ([] if yes else incoming)
        exits = self._node(node, incoming, testing(alternatives), ast.unparse(test), ("yes", "no"))
        return exits[:1], exits[1:]

    def _if(
        self,
        node: ast.stmt,
        test: ast.expr,
        body: list[ast.stmt],
        otherwise: list[ast.stmt],
        incoming: list[Arrow],
    ) -> list[Arrow]:
        yes, no = self._test(node, test, incoming)
        left = self._block(body, yes) if yes else []
        right = self._block(otherwise, no) if no else []
        return [*left, *right]

    def _while(
        self, node: ast.stmt, test: ast.expr, body: list[ast.stmt], incoming: list[Arrow]
    ) -> list[Arrow]:
        loop = _Loop(_Anchor(), self.block)
        self._point(incoming, loop.head)
        yes, no = self._test(node, test, [loop.head])
        if not yes:
            return no
        self.frame.loops.append(loop)
        self._point(self._block(body, yes), loop.head)
        self.frame.loops.pop()
        if loop.head.target is None and loop.head not in (*loop.breaks, *self.frame.returns):
            refuse("an endless loop in which nothing is executed", node, self.file, "write pass in it")
        return [*no, *loop.breaks]

    def _for(
        self,
        node: ast.For,
        target: ast.Name,
        bounds: Sequence[ast.expr],
        body: list[ast.stmt],
        incoming: list[Arrow],
    ) -> list[Arrow]:
        """Two nodes of one name: one enters the loop, the other goes on to the next number."""
        numbers = _range(bounds, self.expressions, self.file)
        place = self.expressions.target(target)
        (slot,) = place.slots
        if target.id in assigned_names(ast.Module(body, [])):
            refuse(f"{target.id} counts a loop and is assigned in it", node, self.file)
        text = f"for {target.id} in {ast.unparse(node.iter)}"

        entry = self._node(node, incoming, entering(slot, numbers), text, ("yes", "no"))
        loop = _Loop(_Anchor(), self.block)
        following = repeating(slot, numbers, target.id)
        repeat = self._node(node, [loop.head], following, text, ("yes", "no"))
        self.frame.loops.append(loop)
        self._point(self._block(body, [entry[0], repeat[0]]), loop.head)
        self.frame.loops.pop()
        return [entry[1], repeat[1], *loop.breaks]

    def _leap(self, node: ast.stmt, incoming: list[Arrow]) -> list[Arrow]:
        loop = self.frame.loops[-1]  # Python's own parser has seen that there is one
        if loop.block != self.block:
            _leave(incoming)
        if isinstance(node, ast.Break):
            loop.breaks += incoming
        else:
            self._point(incoming, loop.head)
        return []

    def _atomic(self, body: Sequence[ast.stmt], incoming: list[Arrow]) -> list[Arrow]:
        if self.block is not None:
            return self._block(body, incoming)
        self.block = len(self.nodes)
        leaving = self._block(body, incoming)
        self.block = None
        _leave(leaving)
        return leaving

    # ---- calls ----------------------------------------------------------------------------------

    def _is_body(self, name: str) -> bool:
        """A helper that is more than one expression."""
        found = self.expressions.scope.get(name)
        if not isinstance(found, Helper):
            return False
        body = [part for part in found.tree.body if not isinstance(part, ast.Expr | ast.Global)]
        return len(body) != 1 or not isinstance(body[0], ast.Return) or len(body) != len(found.tree.body)

    def _invoke(
        self,
        node: ast.stmt,
        call: ast.Call,
        name: str,
        results: list[Target] | None,
        incoming: list[Arrow],
    ) -> list[Arrow]:
        helper = self.expressions.scope[name]
        assert isinstance(helper, Helper)
        names = parameters(helper.tree, self.file)
        if name in [frame.name for frame in self.frames]:
            refuse(f"{name} calls itself: model files have no recursion", call, self.file)
        if len(names) != len(call.args) or call.keywords:
            refuse(f"{name} takes {len(names)} arguments by position", call, self.file)
        given = {n: self.expressions.compile(arg) for n, arg in zip(names, call.args, strict=True)}
        scope = self._scope(helper.tree, given)
        moved = {n: part for n, part in given.items() if isinstance(scope[n], Place)}
        if moved:
            slots = [place.first for name in moved if isinstance(place := scope[name], Place)]
            incoming = self._node(node, incoming, handing_over(slots, list(moved.values())))
        leaving = self._function(helper.tree, given, results, incoming)
        own = tuple([p.first for known, p in self.locals.items() if known.startswith(f"{name}.")])
        for arrow in leaving:
            if isinstance(arrow, Exit):
                arrow.clears += own
        return leaving

    def _return(self, node: ast.stmt, value: ast.expr | None, incoming: list[Arrow]) -> list[Arrow]:
        frame, results = self.frame, self.frame.results
        if results and value is None:
            refuse(f"{frame.name} is called for a value, so it returns one", node, self.file)
        if value is not None and len(self.frames) == 1:
            refuse("a process returns nothing", node, self.file)
        if results and value is not None:
            incoming = self._node(node, incoming, assigning(results, self.expressions.compile(value)))
        if frame.block != self.block:
            _leave(incoming)
        frame.returns += incoming
        return []

    # ---- arrows ---------------------------------------------------------------------------------

    def _point(self, arrows: Iterable[Arrow], anchor: _Anchor) -> None:
        for arrow in arrows:
            if isinstance(arrow, Exit):
                self.anchors[id(arrow)] = anchor
            elif arrow is not anchor:
                arrow.target = anchor

    def _resolved(self, leaving: Exit) -> Node | None:
        found: Node | _Anchor | None = leaving.target or self.anchors.get(id(leaving))
        while isinstance(found, _Anchor):
            leaving.leaves |= found.leaves
            found = found.target
        return found


def _leave(arrows: Iterable[Arrow]) -> None:
    """These lead out of an atomic block."""
    for arrow in arrows:
        arrow.leaves = True


def assigned_names(tree: ast.AST) -> dict[str, ast.AST]:
    """The names that the statements assign, each with its first place."""
    found: dict[str, ast.AST] = {}
    for part in ast.walk(tree):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found.setdefault(part.id, part)
    return found


def _loaded(target: ast.expr) -> ast.expr:
    """The same place, to be read."""
    match target:
        case ast.Name(name):
            return ast.copy_location(ast.Name(name, ast.Load()), target)
        case ast.Subscript(value, index):
            return ast.copy_location(ast.Subscript(value, index, ast.Load()), target)
    return target


def _fails(expression: Expression) -> bool:
    try:
        expression.evaluate([])
    except Failure:
        return True
    return False


def _range(bounds: Sequence[ast.expr], expressions: Expressions, file: str | None) -> range:
    values = []
    for bound in bounds:
        compiled = expressions.compile(bound)
        if not compiled.is_constant or _fails(compiled):
            refuse(f"the range of a loop is constant, and {ast.unparse(bound)} is not", bound, file)
        values.append(compiled.evaluate([]))
    if not 1 <= len(values) <= 3 or not all(isinstance(value, int) for value in values):
        refuse("range takes one to three whole numbers", bounds[0] if bounds else ast.Pass(), file)
    if len(values) == 3 and values[2] == 0:
        refuse("the step of a range is not 0", bounds[2], file)
    return range(*values)
