"""Primitives are called by their variables: a local one is known by the line that made it until a failure.

Only then it is worth to read the source. Where one line made several, each has its own variable, or a number.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator

from possibly.trace.place import place_in

_MADE = re.compile(r"the (?P<kind>\w+) of (?P<place>.+:[0-9]+)")

_OWNERS = {"lock": ("condition", "barrier"), "condition": ("barrier",)}
"""What has a primitive of that kind for itself."""
_GIVEN = ("value", "array")
"""What has a lock that users can have as well: that is called its lock."""


def name_by_lines(labels: dict[str, str]) -> None:
    """Puts variables in place of "the lock of bank.py:14"; things stand in the order of their making."""
    by_label: dict[str, list[str]] = {}
    inner = {thing: whole for thing in labels if (whole := _whole(thing)) in labels}
    for thing, label in labels.items():
        if _MADE.fullmatch(label) and thing not in inner:
            by_label.setdefault(label, []).append(thing)
    for label, things in by_label.items():
        found = _MADE.fullmatch(label)
        assert found is not None
        taken = set(labels.values())
        names = [name for name in _assigned_at(found["place"], found["kind"]) if name not in taken]
        if len(names) != len(things):
            names = _numbered(names[0] if len(names) == 1 else f"{label} ", label, things)
        labels.update(zip(things, names, strict=True))
    for label, things in by_label.items():
        _name_parts(labels, label, [thing for thing in things if labels[thing] == label])
    labels.update({thing: labels[whole] for thing, whole in inner.items()})


def _whole(thing: str) -> str:
    """The barrier that a lock is a part of."""
    found = _PART.fullmatch(thing)
    return "" if found is None else found[1]


_PART = re.compile(r"(.+:~?barrier[0-9]+)lock")


def _name_parts(labels: dict[str, str], label: str, things: list[str]) -> None:
    """What has no name but belongs to a primitive that has one, the lock of a condition, is called so too."""
    made = _MADE.fullmatch(label)
    assert made is not None
    for owner in _OWNERS.get(made["kind"], ()):
        names = _assigned_at(made["place"], owner)
        if names and len(names) == len(things):
            labels.update(zip(things, names, strict=True))
    for owner in _GIVEN if made["kind"] == "lock" else ():
        names = [f"the lock of {name}" for name in _assigned_at(made["place"], owner)]
        if names and len(names) == len(things):
            labels.update(zip(things, names, strict=True))


def _numbered(name: str, label: str, things: list[str]) -> list[str]:
    """Several that one line of the user made; what a library makes by itself is not told apart."""
    found = _MADE.fullmatch(label)
    assert found is not None
    file, line = place_in(found["place"])
    if len(things) == 1 or found["kind"] not in linecache.getline(file, line).lower():
        return [label] * len(things)
    return [f"{name}#{number}" for number in range(1, len(things) + 1)]


def _assigned_at(place: str, kind: str) -> list[str]:
    """The variables that get a new thing of that kind on a line, from left to right."""
    file, line = place_in(place)
    linecache.checkcache(file)  # a program may be edited while we live
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return []
    statements = (node for node in ast.walk(tree) if isinstance(node, _NAMING) and node.lineno == line)
    pairs = [pair for node in statements for pair in _pairs(node)]
    return [name for target, value in pairs if _makes(value, kind) and (name := _target(target, tree))]


_NAMING = (ast.Assign, ast.AnnAssign, ast.With, ast.AsyncWith)
"""Statements that give a new thing a name."""


def _pairs(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    match node:
        case ast.With(items=items) | ast.AsyncWith(items=items):
            yield from ((item.optional_vars, item.context_expr) for item in items if item.optional_vars)
        case ast.Assign(targets=[ast.Tuple(elts=targets), *_], value=ast.Tuple(elts=values)):
            yield from zip(targets, values, strict=False)
        case ast.Assign(targets=[target, *_], value=value) | ast.AnnAssign(target=target, value=value):
            yield target, value


def _target(target: ast.expr, tree: ast.Module) -> str:
    """A variable, or an attribute of the object that a method is of: `Pool.free`."""
    match target:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
            around = [each for each in classes if each.lineno <= target.lineno <= (each.end_lineno or 0)]
            return f"{around[-1].name}.{name}" if around else ""
    return ""


def _makes(value: ast.expr | None, kind: str) -> bool:
    """Whether an expression calls something that is called as the kind is: `asyncio.Lock()`, `new_lock()`."""
    if not isinstance(value, ast.Call):
        return False
    return kind in ast.unparse(value.func).lower().replace("_", "")
