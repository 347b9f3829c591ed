"""Expressions, rewritten so that every access to memory others may see can wait (see `accesses` for the law).

What a name means, too: which names are variables that others may see.
"""

from __future__ import annotations

import ast
from typing import Any

from possibly.probes import trees
from possibly.probes.scopes import Scope, rebindable_globals, scopes_of

READING = frozenset("list dict set tuple frozenset next deque Counter defaultdict OrderedDict bytes".split())
"""Builtins that read whole containers among their arguments."""
LOOKING_THROUGH = frozenset("sorted sum min max any all str repr print".split())
"""Builtins that look into what these hold, too."""
LAZY = frozenset("zip map filter enumerate".split())
"""Builtins that read their arguments when what they give is used."""
CHANGING = frozenset(
    "heappush heappop heapify heapreplace heappushpop insort insort_left insort_right shuffle".split()
)
"""Library functions that change their first argument."""
SORTING = frozenset("sorted min max sort insort insort_left insort_right bisect nlargest nsmallest".split())
"""Functions that call their argument `key` for one item after another."""
SIMPLE = (
    READING
    | LOOKING_THROUGH
    | frozenset(
        "len isinstance issubclass type id range abs int float bool round divmod ord chr hash callable super "
        "property staticmethod classmethod object format hex bin oct pow slice "
        "globals locals vars dir eval exec breakpoint namedtuple".split()
    )
)
"""Builtins whose calls need no look at run time: what they read is told at their arguments, if anything.

The last ones look at the frame that calls them, so nothing may come in between.
"""
OF_CONTAINERS = frozenset("__getitem__ __setitem__ __delitem__ __contains__ __len__ __iter__".split())
"""Special methods that are handed on as values, as keys of a sort for instance."""
MAKING = frozenset("list dict set deque defaultdict OrderedDict Counter bytearray array sorted".split())


class Expressions(ast.NodeTransformer):
    """Rewrites expressions; statements are another matter (`accesses`)."""

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
        home = self.scope.where(name)
        if isinstance(self.scope.node, ast.ClassDef) and (home is not None or name not in self.scope.outer):
            return None
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

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        outer, self.scope = self.scope, self.scopes[node]
        node.body = self.visit(node.body)
        self.scope = outer
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

    def _to_name(self, name: str, value: ast.expr, node: ast.AST) -> ast.expr:
        thing = self.variable(name)
        return value if thing is None else trees.call("wrote", value, ast.Constant(thing), self.at(node))

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
        is_special = (
            node.attr.startswith("__") and node.attr.endswith("__") and node.attr not in OF_CONTAINERS
        )
        if not isinstance(node.ctx, ast.Load) or is_special:
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
        if isinstance(node.func, ast.Name) and known and name in ("exec", "eval") and node.args:
            node.args = [trees.call("code", self.visit(node.args[0])), *map(self.visit, node.args[1:])]
            return node
        if isinstance(node.func, ast.Name) and known and name in LAZY:
            given = [self._argument(each, position, "") for position, each in enumerate(node.args)]
            node.args = [trees.load(name), self.at(node), *given]
            node.func = trees.load("_possibly_lazily")
            for keyword in node.keywords:
                keyword.value = self.visit(keyword.value)
            return node
        node.args = [
            self._argument(each, position, name if known else "") for position, each in enumerate(node.args)
        ]
        for keyword in node.keywords:
            value = self.visit(keyword.value)
            keyword.value = value if keyword.arg is not None else trees.call("whole", value, self.at(node))
            if keyword.arg == "key" and name in SORTING:
                keyword.value = trees.call("keyed", value)
            if known and name == "print" and keyword.arg == "file":
                keyword.value = trees.call("changed", value, self.at(node))
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
        if function in LOOKING_THROUGH:
            return trees.call("deep", found, self.at(node))
        if function in ("len", "bool"):
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
        return trees.call("deep", found, self.at(node)) if is_value else found

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        *first, last = node.values
        node.values = [*map(self._test, first), self.visit(last)]
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        node.operand = self._test(node.operand) if isinstance(node.op, ast.Not) else self.visit(node.operand)
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.expr:
        node.value = trees.call("whole", self.visit(node.value), self.at(node))
        return node

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
