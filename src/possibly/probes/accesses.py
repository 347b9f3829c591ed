"""Rewriting the source of the user's own modules so that every access to memory others may see can wait.

Law: a rewritten program does what it did before, with each access preceded by a call that says what is about
to be touched, and with no other access between that call and the access itself. Attributes, items, global
variables and variables that nested functions share are accesses; so are iteration, membership, length, and
the methods that change or read a container as a whole. `x += 1` is a read and, later, a write. Local
variables that no nested function sees are not touched. Annotations and the statements of class bodies are
left alone.

Unlike `probes.source`, which lets a program run as it likes and notes what happened, this is for a listener
that decides when each access happens.
"""

from __future__ import annotations

import ast
from typing import Any

from possibly.probes import trees
from possibly.probes.scopes import Scope, rebindable_globals, scopes_of

READING = frozenset(
    "list dict set tuple frozenset sorted sum min max any all enumerate zip map filter reversed iter str "
    "repr print next deque Counter defaultdict OrderedDict bytes".split()
)
"""Builtins that read whole containers among their arguments."""
CHANGING = frozenset(
    "heappush heappop heapify heapreplace heappushpop insort insort_left insort_right shuffle".split()
)
"""Library functions that change their first argument."""
SIMPLE = READING | frozenset(
    "len isinstance issubclass type id range abs int float bool round divmod ord chr hash callable super "
    "property staticmethod classmethod object input open format hex bin oct pow slice "
    "globals locals vars dir eval exec breakpoint namedtuple".split()
)
"""Builtins whose calls need no look at run time: what they read is told at their arguments, if anything.

The last ones look at the frame that calls them, so nothing may come in between.
"""
MAKING = frozenset("list dict set deque defaultdict OrderedDict Counter bytearray array sorted".split())


def rewritten_for_control(tree: ast.Module, shown: str, module: str) -> ast.Module:
    """The tree with every access made to tell; `shown` is the file as places name it."""
    found: ast.Module = _Rewriter(tree, shown, module).visit(tree)
    return ast.fix_missing_locations(found)


class _Rewriter(ast.NodeTransformer):
    def __init__(self, tree: ast.Module, shown: str, module: str) -> None:
        self.shown = shown
        self.module = module
        self.scopes = scopes_of(tree)
        self.globals = rebindable_globals(tree, self.scopes)
        self.scope: Scope = self.scopes[tree]
        self.cells = _shared_cells(tree, self.scopes)
        self.classes: list[str] = []
        self.hidden: list[set[str]] = []
        """Targets of the comprehensions around the present place."""
        self.temporaries = 0

    def visit(self, node: ast.AST) -> Any:
        """What takes the place of an expression stands where that stood."""
        found = super().visit(node)
        if found is not node and isinstance(found, ast.expr):
            trees.locate(found, node)
        return found

    # ---- what a name means ----------------------------------------------------------------------

    def variable(self, name: str) -> str | None:
        """The thing that a name stands for here, if others may see it."""
        if name.startswith("_possibly") or any(name in names for names in self.hidden):
            return None
        if isinstance(self.scope.node, ast.ClassDef):
            return None
        home = self.scope.where(name)
        if home is None:
            if name not in self.globals:
                return None
            return name if self.module == "__main__" else f"{self.module}.{name}"
        if (id(home), name) in self.cells:
            return f"{home.name}.{name}"
        return None

    def at(self, node: ast.AST) -> ast.Constant:
        return ast.Constant(f"{self.shown}:{getattr(node, 'lineno', 1)}")

    def mangled(self, attribute: str) -> str:
        """Private names, as the compiler spells them."""
        if self.classes and attribute.startswith("__") and not attribute.endswith("__"):
            return f"_{self.classes[-1].lstrip('_')}{attribute}"
        return attribute

    def temporary(self) -> str:
        self.temporaries += 1
        return f"_possibly_t{self.temporaries}"

    # ---- scopes ---------------------------------------------------------------------------------

    def visit_Module(self, node: ast.Module) -> ast.Module:
        node.body = self._body(node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        node.bases = [self.visit(each) for each in node.bases]
        outer, self.scope = self.scope, self.scopes[node]
        self.classes.append(node.name)
        node.body = [self.visit(each) if trees.is_definition(each) else each for each in node.body]
        self.classes.pop()
        self.scope = outer
        return node

    def visit_FunctionDef(self, node: Any) -> Any:
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        node.args.defaults = [self.visit(each) for each in node.args.defaults]
        node.args.kw_defaults = [each and self.visit(each) for each in node.args.kw_defaults]
        outer, self.scope = self.scope, self.scopes[node]
        hidden, self.hidden = self.hidden, []
        node.body = self._body(node.body)
        self.scope, self.hidden = outer, hidden
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        outer, self.scope = self.scope, self.scopes[node]
        node.body = self.visit(node.body)
        self.scope = outer
        return node

    # ---- statements -----------------------------------------------------------------------------

    def _body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            made = self._statement(statement)
            for each in made:
                ast.copy_location(each, statement)
                trees.locate(each, statement)
            found += made
        return found

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Assign(targets, value):
                return self._assigned(targets, self._unpacked(targets, self.visit(value), node), node)
            case ast.AnnAssign(target, _, ast.expr() as value) if self._tells(target):
                return self._assigned([target], self.visit(value), node)
            case ast.AnnAssign(_, _, value):
                node.value = value and self.visit(value)
                return [node]
            case ast.AugAssign(target) if self._tells(target):
                return self._augmented(node)
            case ast.Delete(targets):
                return [statement for target in targets for statement in self._deleted(target, node)]
            case ast.For() | ast.AsyncFor():
                return [self._for(node)]
            case ast.With() | ast.AsyncWith():
                return [self._with(node)]
            case ast.If() | ast.While():
                node.test = self._test(node.test)
                node.body, node.orelse = self._body(node.body), self._body(node.orelse)
                return [node]
            case ast.Assert(test):
                node.test = self._test(test)
                node.msg = node.msg and self.visit(node.msg)
                return [node]
            case _ if trees.is_definition(node):
                return [self.visit(node)]
        return [self._plain(node)]

    def _plain(self, node: ast.stmt) -> ast.stmt:
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(node, name, None)
            if isinstance(inner, list):
                setattr(node, name, self._body(inner))
        for each in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            if getattr(each, "guard", None) is not None:
                each.guard = self.visit(each.guard)
            each.body = self._body(each.body)
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, name, self.visit(value))
            elif isinstance(value, list):
                setattr(node, name, [self.visit(v) if isinstance(v, ast.expr) else v for v in value])
        return node

    def _test(self, node: ast.expr) -> ast.expr:
        """A condition: a container is asked whether it is empty."""
        match node:
            case ast.Name() | ast.Attribute() | ast.Subscript():
                return trees.call("size", self.visit(node), self.at(node))
            case ast.UnaryOp(ast.Not(), operand):
                node.operand = self._test(operand)
                return node
            case ast.BoolOp(values=values):
                node.values = [self._test(each) for each in values]
                return node
        found: ast.expr = self.visit(node)
        return found

    # ---- assignments ----------------------------------------------------------------------------

    def _tells(self, target: ast.expr) -> bool:
        match target:
            case ast.Name(name):
                return self.variable(name) is not None
            case ast.Attribute() | ast.Subscript():
                return True
            case ast.Tuple(items) | ast.List(items):
                return any(map(self._tells, items))
            case ast.Starred(value):
                return self._tells(value)
        return False

    def _unpacked(self, targets: list[ast.expr], value: ast.expr, node: ast.AST) -> ast.expr:
        if any(isinstance(each, ast.Tuple | ast.List) for each in targets) and not isinstance(
            value, ast.Tuple
        ):
            return trees.call("whole", value, self.at(node))
        return value

    def _assigned(self, targets: list[ast.expr], value: ast.expr, node: ast.stmt) -> list[ast.stmt]:
        match targets:
            case [ast.Name(name)]:
                return [ast.Assign(targets, self._to_name(name, value, node))]
            case _ if not any(map(self._tells, targets)):
                return [ast.Assign(targets, value)]
        kept = self.temporary()
        found: list[ast.stmt] = [trees.assign(kept, value)]
        for target in targets:
            found += self._store(target, kept, node)
        return [*found, trees.assign(kept, ast.Constant(None))]

    def _to_name(self, name: str, value: ast.expr, node: ast.AST) -> ast.expr:
        thing = self.variable(name)
        return value if thing is None else trees.call("wrote", value, ast.Constant(thing), self.at(node))

    def _store(self, target: ast.expr, kept: str, node: ast.stmt) -> list[ast.stmt]:
        """Stores the value of a temporary name in the target."""
        match target:
            case ast.Name(name):
                return [ast.Assign([target], self._to_name(name, trees.load(kept), node))]
            case ast.Attribute(value, attribute):
                word = ast.Constant(self.mangled(attribute))
                call = trees.call("setattr", self.visit(value), word, trees.load(kept), self.at(node))
                return [ast.Expr(call)]
            case ast.Subscript(value, key):
                parts = (self.visit(value), self._index(key), trees.load(kept), self.at(node))
                return [ast.Expr(trees.call("setitem", *parts))]
        after: list[ast.stmt] = []
        changed = self._through_temporaries(target, after, node)
        return [trees.store_in(changed, kept), *after]

    def _through_temporaries(self, target: ast.expr, after: list[ast.stmt], node: ast.stmt) -> ast.expr:
        match target:
            case ast.Tuple(items) | ast.List(items):
                target.elts = [self._through_temporaries(each, after, node) for each in items]
                return target
            case ast.Starred(value):
                target.value = self._through_temporaries(value, after, node)
                return target
        if not self._tells(target):
            return target
        kept = self.temporary()
        after += self._store(target, kept, node)
        return ast.Name(kept, ast.Store())

    def _augmented(self, node: ast.AugAssign) -> list[ast.stmt]:
        """`x += e`: a read, the operation in place, and a write; what holds x is evaluated once."""
        target = node.target
        found: list[ast.stmt] = []
        kept = self.temporary()
        match target:
            case ast.Name(name):
                read: ast.expr = self.visit(ast.copy_location(ast.Name(name, ast.Load()), node))
            case ast.Attribute(value, attribute):
                owner = self.temporary()
                found.append(trees.assign(owner, self.visit(value)))
                read = trees.call(
                    "getattr", trees.load(owner), ast.Constant(self.mangled(attribute)), self.at(node)
                )
                target = ast.Attribute(trees.load(owner), attribute, ast.Store())
            case ast.Subscript(value, key):
                owner, index = self.temporary(), self.temporary()
                found += [trees.assign(owner, self.visit(value)), trees.assign(index, self._index(key))]
                read = trees.call("getitem", trees.load(owner), trees.load(index), self.at(node))
                target = ast.Subscript(trees.load(owner), trees.load(index), ast.Store())
        found.append(trees.assign(kept, read))
        found.append(ast.AugAssign(ast.Name(kept, ast.Store()), node.op, self.visit(node.value)))
        found += self._store_again(target, kept, node)
        return [*found, trees.assign(kept, ast.Constant(None))]

    def _store_again(self, target: ast.expr, kept: str, node: ast.stmt) -> list[ast.stmt]:
        match target:
            case ast.Attribute(value, attribute):
                name = ast.Constant(self.mangled(attribute))
                return [ast.Expr(trees.call("setattr", value, name, trees.load(kept), self.at(node)))]
            case ast.Subscript(value, key):
                return [ast.Expr(trees.call("setitem", value, key, trees.load(kept), self.at(node)))]
        return self._store(target, kept, node)

    def _deleted(self, target: ast.expr, node: ast.stmt) -> list[ast.stmt]:
        match target:
            case ast.Attribute(value, attribute):
                name = ast.Constant(self.mangled(attribute))
                return [ast.Expr(trees.call("delattr", self.visit(value), name, self.at(node)))]
            case ast.Subscript(value, key):
                return [ast.Expr(trees.call("delitem", self.visit(value), self._index(key), self.at(node)))]
        return [ast.Delete([target])]

    def _for(self, node: Any) -> Any:
        first: list[ast.stmt] = [ast.Expr(trees.call("turn"))]
        if isinstance(node, ast.For):
            node.iter = trees.call("iterate", self.visit(node.iter), self.at(node))
        else:
            node.iter = self.visit(node.iter)
        if self._tells(node.target):
            kept = self.temporary()
            first += self._assigned([node.target], trees.load(kept), node)
            node.target = ast.Name(kept, ast.Store())
        node.body = [*first, *self._body(node.body)]
        node.orelse = self._body(node.orelse)
        return node

    def _with(self, node: Any) -> Any:
        first: list[ast.stmt] = []
        for item in node.items:
            item.context_expr = self.visit(item.context_expr)
            if item.optional_vars is not None and self._tells(item.optional_vars):
                kept = self.temporary()
                first += self._assigned([item.optional_vars], trees.load(kept), node)
                item.optional_vars = ast.Name(kept, ast.Store())
        node.body = [*first, *self._body(node.body)]
        return node

    # ---- expressions ----------------------------------------------------------------------------

    def _index(self, key: ast.expr) -> ast.expr:
        if isinstance(key, ast.Slice):
            parts = [
                self.visit(each) if each else ast.Constant(None) for each in (key.lower, key.upper, key.step)
            ]
            return trees.call("slice", *parts)
        found: ast.expr = self.visit(key)
        return found

    def visit_Name(self, node: ast.Name) -> ast.expr:
        thing = self.variable(node.id) if isinstance(node.ctx, ast.Load) else None
        if thing is None:
            return node
        told = trees.call("read", ast.Constant(thing), self.at(node))
        return trees.call("saw", told, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if node.attr == "__dict__" and isinstance(node.ctx, ast.Load):
            return trees.call("dict_of", self.visit(node.value))
        if not isinstance(node.ctx, ast.Load) or (node.attr.startswith("__") and node.attr.endswith("__")):
            self.generic_visit(node)
            return node
        return trees.call(
            "getattr", self.visit(node.value), ast.Constant(self.mangled(node.attr)), self.at(node)
        )

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            self.generic_visit(node)
            return node
        return trees.call("getitem", self.visit(node.value), self._index(node.slice), self.at(node))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = _last_word(node.func)
        known = isinstance(node.func, ast.Attribute) or self.scope.where(name) is None
        if isinstance(node.func, ast.Name) and known and not node.keywords:
            if name == "vars" and len(node.args) == 1:
                return trees.call("dict_of", self.visit(node.args[0]))
            if name == "globals" and not node.args:
                return trees.call("dict_of_globals", node)
        node.args = [
            self._argument(each, position, name if known else "") for position, each in enumerate(node.args)
        ]
        for keyword in node.keywords:
            value = self.visit(keyword.value)
            keyword.value = value if keyword.arg is not None else trees.call("whole", value, self.at(node))
        if isinstance(node.func, ast.Attribute) and not node.func.attr.startswith("__"):
            function = node.func
            rest = (ast.Constant(self.mangled(function.attr)), self.at(function))
            node.func = trees.call("method", self.visit(function.value), *rest)
        elif not (known and name in SIMPLE):
            node.func = trees.call("callee", self.visit(node.func), self.at(node))
        if name in MAKING or name[:1].isupper() or name.lstrip("_")[:1].isupper():
            return trees.call("made", node, self.at(node))
        return node

    def _argument(self, node: ast.expr, position: int, function: str) -> ast.expr:
        if isinstance(node, ast.Starred):
            node.value = trees.call("whole", self.visit(node.value), self.at(node))
            return node
        found: ast.expr = self.visit(node)
        if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
            return found
        if function in READING:
            return trees.call("whole", found, self.at(node))
        if function == "len":
            return trees.call("size", found, self.at(node))
        if function in CHANGING and position == 0:
            return trees.call("changed", found, self.at(node))
        return found

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            told = trees.call(
                "contains", self.visit(node.left), self.visit(node.comparators[0]), self.at(node)
            )
            return told if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), told)
        if all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            self.generic_visit(node)
            return node
        node.left = self._operand(node.left)
        node.comparators = [self._operand(each) for each in node.comparators]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        node.left, node.right = self._operand(node.left), self._operand(node.right)
        return node

    def _operand(self, node: ast.expr) -> ast.expr:
        found: ast.expr = self.visit(node)
        is_value = isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
        return trees.call("whole", found, self.at(node)) if is_value else found

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        node.value = self._operand(node.value)
        if node.format_spec is not None:
            node.format_spec = self.visit(node.format_spec)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        node.test = self._test(node.test)
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    def _display(self, node: Any) -> ast.expr:
        if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            return node  # type: ignore[no-any-return]
        self.generic_visit(node)
        return trees.call("made", node, self.at(node))

    visit_List = visit_Dict = visit_Set = _display  # noqa: N815

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        if isinstance(node.ctx, ast.Load):
            node.value = trees.call("whole", self.visit(node.value), self.at(node))
        return node

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        node.value = self._to_name(node.target.id, self.visit(node.value), node)
        return node

    def _comprehension(self, node: Any) -> Any:
        first = node.generators[0]
        first.iter = trees.call("iterate", self.visit(first.iter), self.at(node))
        names = {
            part.id
            for each in node.generators
            for part in ast.walk(each.target)
            if isinstance(part, ast.Name)
        }
        self.hidden.append(names)
        for position, each in enumerate(node.generators):
            if position:
                each.iter = trees.call("iterate", self.visit(each.iter), self.at(node))
            each.ifs = [self._test(test) for test in each.ifs]
        for field in ("elt", "key", "value"):
            if hasattr(node, field):
                setattr(node, field, self.visit(getattr(node, field)))
        self.hidden.pop()
        return node

    def _made_comprehension(self, node: Any) -> Any:
        return trees.call("made", self._comprehension(node), self.at(node))

    visit_ListComp = visit_SetComp = visit_DictComp = _made_comprehension  # noqa: N815
    visit_GeneratorExp = _comprehension  # noqa: N815

    def visit_arguments(self, node: ast.arguments) -> ast.arguments:
        return node


def _last_word(function: ast.expr) -> str:
    match function:
        case ast.Name(name):
            return name
        case ast.Attribute(attr=name):
            return name
    return ""


def _shared_cells(tree: ast.Module, scopes: dict[ast.AST, Scope]) -> set[tuple[int, str]]:
    """Variables of functions that a nested function sees and that are bound more than once."""
    found = {(id(scope), name) for scope in scopes.values() for name in scope.rebound}
    bound: dict[tuple[int, str], int] = {}
    seen: set[tuple[int, str]] = set()
    for node, scope in scopes.items():
        for name, stores in _names_in(node):
            home = scope.where(name)
            if home is None or not home.is_function:
                continue
            key = (id(home), name)
            if home is not scope:
                seen.add(key)
            if stores:
                bound[key] = bound.get(key, 0) + stores
    return found | {key for key in seen if bound.get(key, 0) > 1}


def _names_in(node: ast.AST) -> list[tuple[str, int]]:
    """Names that stand in a scope itself, not in the scopes inside, and how many bindings each counts for."""
    found: list[tuple[str, int]] = []
    body = [node.body] if isinstance(node, ast.Lambda) else node.body  # type: ignore[attr-defined]
    pending: list[tuple[ast.AST, int]] = [(part, 1) for part in body]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        found += [(argument.arg, 1) for argument in ast.walk(node.args) if isinstance(argument, ast.arg)]
    while pending:
        part, weight = pending.pop()
        if isinstance(part, ast.Name):
            found.append((part.id, weight if isinstance(part.ctx, ast.Store) else 0))
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        inner = 2 if isinstance(part, ast.For | ast.While | ast.AsyncFor | ast.AugAssign) else weight
        pending += [(each, inner) for each in ast.iter_child_nodes(part)]
    return found
