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
from possibly.probes.access_expressions import Expressions
from possibly.probes.following import followed
from possibly.probes.scopes import arguments_of


def rewritten_for_control(tree: ast.Module, shown: str, module: str) -> ast.Module:
    """The tree with every access made to tell; `shown` is the file as places name it."""
    found: ast.Module = _Rewriter(tree, shown, module).visit(tree)
    return ast.fix_missing_locations(found)


class _Rewriter(Expressions):
    """Rewrites scopes and statements."""

    # ---- scopes ---------------------------------------------------------------------------------

    def visit_Module(self, node: ast.Module) -> ast.Module:  # noqa: N802
        node.body = self._body(node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:  # noqa: N802
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        node.bases = [self.visit(each) for each in node.bases]
        outer, self.scope = self.scope, self.scopes[node]
        self.classes.append(node.name)
        node.body = [part for each in node.body for part in self._in_class(each)]
        self.classes.pop()
        self.scope = outer
        return node

    def _in_class(self, node: ast.stmt) -> list[ast.stmt]:
        """A statement of a class body: nothing new may be bound there."""
        match node:
            case ast.Assign(targets) if all(isinstance(each, ast.Name) for each in targets):
                node.value = self.visit(node.value)
                if len(targets) == 1 and isinstance(targets[0], ast.Name):
                    node.value = self._to_name(targets[0].id, node.value, node)
                return [node]
            case ast.AnnAssign(_, _, ast.expr() as value):
                node.value = self.visit(value)
                return [node]
            case ast.Assign() | ast.AugAssign() | ast.For() | ast.With():
                return [node]
        return self._body([node])

    def visit_FunctionDef(self, node: Any) -> Any:  # noqa: N802
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        node.args.defaults = [self.visit(each) for each in node.args.defaults]
        node.args.kw_defaults = [each and self.visit(each) for each in node.args.kw_defaults]
        outer, self.scope = self.scope, self.scopes[node]
        hidden, self.hidden = self.hidden, []
        node.body = self._followed(node, self._body(node.body))
        self.scope, self.hidden = outer, hidden
        return node

    def _followed(self, node: Any, body: list[ast.stmt]) -> list[ast.stmt]:
        """The body of a function, with its arguments and its call told if a specification speaks of them."""
        names = [each.arg for each in arguments_of(node.args)]
        body = [*self._locals(names, node), *body]
        is_plain = not isinstance(node, ast.Lambda) and not self.scope.is_generator
        if not is_plain or node.name not in followed.functions:
            return body
        word = ast.Constant(node.name)
        ends = ast.Expr(trees.call("leave", word, self.at(node)))
        found: list[ast.stmt] = [
            ast.Expr(trees.call("enter", word, self.at(node))),
            ast.Try(body, [], [], [ends]),
        ]
        for each in found:
            ast.copy_location(each, node)
            trees.locate(each, node)
        return found

    def _locals(self, names: list[str], node: ast.AST) -> list[ast.stmt]:
        """Tells what these local variables are now."""
        found: list[ast.stmt] = []
        for name in names if self.scope.is_function else ():
            if name in followed.names and self.scope.where(name) is self.scope:
                call = trees.call("local", ast.Constant(name), trees.load(name), self.at(node))
                statement = ast.copy_location(ast.Expr(call), node)
                trees.locate(statement, node)
                found.append(statement)
        return found

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    # ---- statements -----------------------------------------------------------------------------

    def _body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            bound = _bound_by(statement) if followed.names else []
            made = self._statement(statement)
            if bound:
                made = [*made, *self._locals(bound, statement)]
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
            case ast.AugAssign(ast.Name(name)):
                node.value = self.visit(node.value)
                return [ast.Expr(trees.call("changed", trees.load(name), self.at(node))), node]
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
            case ast.Match(subject):
                looked = trees.call("deep", self.visit(subject), self.at(node), ast.Constant(True))
                found = self._plain(node)
                assert isinstance(found, ast.Match)
                found.subject = looked
                return [found]
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
        found.append(ast.Expr(trees.call("changed", trees.load(kept), self.at(node))))
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
            case ast.Name(name) if self.variable(name) is not None:
                told = self._to_name(name, ast.Constant(None), node)
                return [ast.Expr(told), ast.Delete([target])]
        return [ast.Delete([target])]

    def _for(self, node: Any) -> Any:
        first: list[ast.stmt] = [ast.Expr(trees.call("turn"))]
        names = [each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)]
        if isinstance(node, ast.For):
            node.iter = trees.call("iterate", self.visit(node.iter), self.at(node))
        else:
            node.iter = self.visit(node.iter)
        if self._tells(node.target):
            kept = self.temporary()
            first += self._assigned([node.target], trees.load(kept), node)
            node.target = ast.Name(kept, ast.Store())
        node.body = [*first, *self._locals(names, node), *self._body(node.body)]
        node.orelse = self._body(node.orelse)
        return node

    def _with(self, node: Any) -> Any:
        first: list[ast.stmt] = []
        for item in node.items:
            item.context_expr = self.visit(item.context_expr)
            if isinstance(node, ast.With):
                item.context_expr = trees.call("managed", item.context_expr, self.at(node))
            if item.optional_vars is not None and self._tells(item.optional_vars):
                kept = self.temporary()
                first += self._assigned([item.optional_vars], trees.load(kept), node)
                item.optional_vars = ast.Name(kept, ast.Store())
        node.body = [*first, *self._body(node.body)]
        return node


def _bound_by(node: ast.stmt) -> list[str]:
    """The names that an assignment binds."""
    match node:
        case ast.Assign(targets):
            places: list[ast.expr] = list(targets)
        case ast.AugAssign(target) | ast.AnnAssign(target, _, ast.expr()):
            places = [target]
        case _:
            return []
    found = [each for place in places for each in ast.walk(place) if isinstance(each, ast.Name)]
    return [each.id for each in found if isinstance(each.ctx, ast.Store)]
