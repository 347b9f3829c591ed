"""Where a name of a source lives is where Python's own symbol table says it does."""

from __future__ import annotations

import ast
import symtable

import pytest

from possibly.probes.watching.scopes import rebindable_globals, scopes_of

SOURCES = [
    "x = 1\ndef f(a, *b, c=1, **d):\n    x = a\n    def g():\n        nonlocal x\n"
    "        global y\n        x = y = b\n    return g",
    "class A:\n    v = 1\n    def f(self, v=v): return v\n    class B:\n        w = 2",
    "def f():\n    for i in ():\n        with i as j: pass\n    try: pass\n"
    "    except KeyError as e: pass\n    import os.path as p, sys",
    "def f(x):\n    match x:\n        case [y, *z]: pass\n    return lambda w: w + y",
]  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
def test_names_of_functions_are_local_where_python_says_so(source: str) -> None:
    tables = {}
    pending = [symtable.symtable(source, "m.py", "exec")]
    while pending:
        table = pending.pop()
        tables[table.get_lineno(), table.get_name()] = table
        pending += table.get_children()
    for node, scope in scopes_of(ast.parse(source)).items():
        if not scope.is_function:
            continue
        line = getattr(node, "lineno", 0)
        table = tables[line, "lambda" if isinstance(node, ast.Lambda) else scope.name]
        for symbol in table.get_symbols():
            home = scope.where(symbol.get_name())
            if symbol.is_local() and not symbol.is_imported():
                assert home is scope
            elif symbol.is_global():
                assert home is None
            elif symbol.is_free():
                assert home is not None and home is not scope


def test_what_is_bound_again_is_known_to_its_home() -> None:
    scopes = scopes_of(ast.parse(SOURCES[0]))
    assert next(each for each in scopes.values() if each.name == "f").rebound == {"x"}


def test_globals_that_are_variables() -> None:
    tree = ast.parse("import os\nx = 1\ndef f():\n    global z\nclass A: pass\n")
    assert rebindable_globals(tree, scopes_of(tree)) == {"x", "z"}
