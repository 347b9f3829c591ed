"""What a name of a code object means is what Python says it means."""

from __future__ import annotations

from types import CodeType

import pytest

from possibly.probes.watching.names import (
    Home,
    Names,
    Variable,
    homes_of,
    is_called,
    rebindable_globals,
)
from possibly.probes.watching.watch import Watch


def module(text: str) -> CodeType:
    return compile(text, "m.py", "exec")


def inner(code: CodeType, *names: str) -> CodeType:
    for name in names:
        code = next(each for each in code.co_consts if isinstance(each, CodeType) and each.co_name == name)
    return code


GLOBALS = {
    "x = 1": {"x"}, "x = y = 1": {"x", "y"}, "def x(): pass": set(), "class x: pass": set(),
    "import x": set(),
    "from os import path as x": set(), "@f\n@g(1)\ndef x(): pass": set(), "@f\nclass x(y): pass": set(),
    "def f():\n    global x\n    x = 1": {"x"}, "x = f(lambda: 1)": {"x"}, "x = f()": {"x"},
    "def x(): pass\nx = 1": {"x"}, "for x in y: pass": {"x"}, "class A:\n    x = 1": set(),
    "def f():\n    x = 1": set(), "with y as x: pass": {"x"}, "x = lambda: 1": set(),
}  # fmt: skip


@pytest.mark.parametrize("text", GLOBALS)
def test_globals_that_are_variables(text: str) -> None:
    assert rebindable_globals(module(text)) == GLOBALS[text]


NESTED = """
def f(x, y):
    z = [i for i in x]
    def g():
        nonlocal y
        y = x
        def h():
            nonlocal y
            y += 1
            return z
    return g
"""


def test_what_an_inner_function_binds_again_is_shared() -> None:
    code = module(NESTED)
    f = inner(code, "f")
    homes = homes_of(f, {})
    assert homes == {"x": Home("f", False), "y": Home("f", True), "z": Home("f", False)}
    assert homes_of(inner(code, "f", "g"), homes)["y"] == Home("f", True)
    assert homes_of(inner(code, "f", "g", "h"), homes_of(inner(code, "f", "g"), homes))["y"].function == "f"


def test_globals_of_the_main_module_have_no_prefix() -> None:
    watch = Watch(names=frozenset("x"), members=frozenset("xy"), shared_names=frozenset("z"))
    main, bank = (Names(watch, name, frozenset("xyzw")) for name in ("__main__", "bank"))
    assert main.of_global("x") == bank.of_global("x") == Variable("x", True)
    assert main.of_global("y") is None and bank.of_global("y") == Variable("bank.y", True)
    assert (main.of_global("z"), bank.of_global("z")) == (Variable("z", True), Variable("bank.z", True))
    assert main.of_global("w") is None and main.of_global("v") is None


def test_locals_end_with_a_function_but_not_with_a_generator() -> None:
    watch = Watch(members=frozenset("x"), scoped=frozenset("x"))
    names = Names(watch, "__main__", frozenset())
    code = module("def f(x): pass\ndef g(x): yield x\n[x for x in ()]")
    assert names.of_local(inner(code, "f"), "x") == Variable("x", False, "f")
    assert names.of_local(inner(code, "g"), "x") == Variable("x", False)
    assert names.of_local(inner(code, "f"), "y") is None
    assert is_called(inner(code, "f")) and not is_called(code)
