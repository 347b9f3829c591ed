"""Whatever is watched, code does what it did: the same values, the same errors at the same lines."""

from __future__ import annotations

import itertools
import traceback
from typing import Any

import pytest

from possibly.probes.instructions.insert import Wanted
from possibly.probes.watching.insert import watched
from possibly.probes.watching.telling import Telling, Told
from possibly.probes.watching.watch import Watch

STATEMENTS = {
    "names": "x = 1; x += 2; y = x = [x]; del x[0]; z = x",
    "unpacking": "x, (y, *z) = 1, (2, 3, 4); [x, y] = y, x; x: int = 5",
    "items": "x = [[1], 2]; x[0][0] += 3; x[1:] = [4, 5]; x[-1 if x else 0] = 6; y = x[0][0]",
    "keys": "x = {}; x['a'] = x; del x['a']; x['b', 1] = 2; x |= {'c': 3}; y = x.pop('c'); z = dict(x)",
    "methods": "x = []; x.append(1); x.extend(i for i in x[:]); x.sort(key=lambda v: -v); y = x.index(1)",
    "spread": "x = []; y = [1]; x.append(*y); x.extend(*[y]); z = max(*x, *y, key=lambda v: v)",
    "attributes": "class A: pass\nx = A(); x.v = 1; x.v += 1; x.w = x; x.w.w.v = [x.v]; "
    "y = x.v; del x.v, x, A",
    "slots": "class A:\n    __slots__ = ('v',)\nx = A(); x.v = 1; x.v, y = 2, x.v; z = x.v; del x, A",
    "frozen": "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass A:\n    v: int = 0\n"
    "x = A(3).v\ntry:\n    A().v = 1\nexcept dataclasses.FrozenInstanceError:\n    y = 'frozen'\ndel A",
    "property": "class A:\n    n = 0\n    @property\n    def v(self): return self.n\n    @v.setter\n"
    "    def v(self, n):\n        if n < 0: raise ValueError(n)\n        self.n = n\n"
    "a = A(); a.v = 2\ntry:\n    a.v = -1\nexcept ValueError as error:\n    y = error.args\n"
    "x = a.v\ndel a, A",
    "class body": "class A:\n    v = [1]\n    x = v[0]\n    def f(self, v=x): return self.v.copy() + [v]\n"
    "y = A().f(); z = A.v; del A",
    "closure": "def f(x):\n    def g():\n        nonlocal x\n        x += [1]\n"
    "        x[0] = 2\n        return x\n"
    "    return g() is x, x\ny = f([0]); del f",
    "globals of functions": "x = []\ndef f(v):\n    global x\n    x.append(v); x = x + [v]\n"
    "    return len(x)\n"
    "y = [f(1), f(2)]; del f",
    "generator": "def f(v):\n    x = yield v\n    try:\n        v = yield x\n    finally:\n        v = None\n"
    "g = f(1); y = [next(g), g.send(2)]; g.close(); del f, g",
    "comprehensions": "v = [1, 2]; x = [v for v in v]; y = {v: x for v in x}; "
    "z = sum(v for v in x if v in y)",
    "comprehensions of a function": "def f():\n    y = [x for x in range(2)]\n    "
    "z = {x: [v for v in y] for x in y}\n"
    "    return y, z\nx = f(); del f",
    "walrus": "x = [y := 1, y]; z = [(x := i) for i in x]; y = (lambda v=1: (z := v))()",
    "loops": "for x in [1, 2]:\n    for v, y in [(x, 3)]:\n        if x: continue\nelse:\n    z = x\n"
    "while x: x -= 1",
    "with": "import contextlib\nwith contextlib.nullcontext([1]) as x, contextlib.suppress(KeyError):\n"
    "    x.append(2); {}[0]\ny = x; del contextlib",
    "except": "try:\n    [][0]\nexcept IndexError as x:\n    y = str(x)\ntry:\n    x\n"
    "except NameError:\n    z = 0",
    "match": "match {'a': [1, 2]}:\n    case {'a': [x, *y]} if y: z = x\nmatch 3:\n    case int(v): pass",
    "imports": "import os.path as x, string as y\nfrom math import pi as z\nx, y = x is not None, y.digits",
    "decorators": "import functools\n@functools.lru_cache\n@functools.wraps(print)\ndef x(): return 4\n"
    "y = x(); z = x.__name__; del x, functools",
    "coroutine": "async def f(v):\n    x = await g(v)\n    return [x async for x in h(x)]\n"
    "async def g(v): return v\n"
    "async def h(v):\n    yield v\n    v = v + 1\n    yield v\nimport asyncio\ny = asyncio.run(f(1))\n"
    "del f, g, h, asyncio",
    "arguments": "def f(v, /, x, *y, z=1, **w): return v, x, y, z, w\n"
    "y = f(1, 2, 3, z=4, k=5); x = f(*y[:2], **{'q': 1})\n"
    "del f",
    "recursion": "def f(v):\n    x = v - 1\n    return f(x) + [x] if x else []\ny = f(4); del f",
    "own container": "class A(list):\n    def append(self, v): super().append(v * 2)\nx = A(); "
    "x.append(1); x[0] += 1\n"
    "y = list(x); del x, A",
    "numbers": "x = 1 << 300; x += 1; y = 2.5; y *= x; y = y > 1; z = b'a'; z += b'b'; v = 'a'; v += 'b'",
    "calls": "x = [3, 1]; y = sorted(x); z = (lambda v, *w: [v, w])(x, *x); v = list(map(str, x)); x.sort()",
    "keys that depend": "x = [1]; x[-1 if x else 0] = 6; x[0 if not x else -1] += 1; y = x; "
    "y += [1] if x else [2]",
    "long": "x = ["
    + ", ".join(map(str, range(300)))
    + "]\nfor v in x:\n    if v > 298: x[v] = "
    + "+".join("v" * 200),
}
RAISING = {
    "index": "x = []\ny = (\n    x[\n        0])",
    "own function": "def f(x):\n    x.v = 1\n\ndef g(x):\n    try:\n        f(x)\n"
    "    finally:\n        x += 1\ng(1)",
    "name": "def f():\n    x += 1\nf()",
    "value": "x = [1]\nx.remove(\n    2)",
    "unpacking": "x = 1\nx, y = [\n 1]",
    "decorated": "def d(f): return lambda: f()\n@d\n@d\ndef f():\n    x = {}\n    return x['v']\nf()",
}
WORDS = frozenset("xyzvfg")
WATCHES = {
    "nothing": Watch(),
    "names": Watch(names=WORDS),
    "members": Watch(members=WORDS),
    "both": Watch(names=WORDS, members=WORDS, functions=WORDS, arguments=frozenset("f")),
    "scoped": Watch(members=WORDS, scoped=WORDS),
    "calls": Watch(every_call=True, names=frozenset("nobody")),
    "everything": Watch(everything=True, every_call=True),
    "unasked": Watch(shared_names=WORDS, shared_members=WORDS),
}


class Heard:
    """A site that takes what it is given, and gives back what it is to exchange."""

    def __init__(self, told: Told) -> None:
        self.told, self.count = told, 0

    def __delitem__(self, _: Any) -> None:
        self.count += 1

    def __setitem__(self, _: Any, __: Any) -> None:
        self.count += 1

    def __matmul__(self, given: Any) -> Any:
        self.count += 1
        is_owned = self.told.kind in (Telling.OWNED_CONTAINER, Telling.OWNED_MUTATOR)
        return given[1] if is_owned else given


def instrumented(source: str, watch: Watch, sharing: bool) -> tuple[Any, list[Heard]]:
    sites: list[Heard] = []

    def make(told: Told) -> Heard:
        sites.append(Heard(told))
        return sites[-1]

    wanted = Wanted(lambda *_: Heard(Told(Telling.READ, 1))) if sharing else None
    return watched(compile(source, "program.py", "exec"), watch, "__main__", make, None, wanted), sites


def execute(code: Any, variables: dict[str, Any]) -> None:
    exec(code, variables)  # noqa: S102


def values_after(code: Any) -> dict[str, str]:
    variables: dict[str, Any] = {"__name__": "__main__"}
    execute(code, variables)
    return {name: repr(value) for name, value in variables.items() if not name.startswith("__")}


def lines_of_error(code: Any) -> list[tuple[str, int | None]]:
    try:
        execute(code, {"__name__": "__main__"})
    except (AttributeError, LookupError, NameError, TypeError, ValueError) as error:
        frames = traceback.extract_tb(error.__traceback__)
        return [(type(error).__name__, 0), *((each.name, each.lineno) for each in frames[1:])]
    raise AssertionError("it should raise")


@pytest.mark.parametrize(
    ("name", "watch", "sharing"), [*itertools.product(STATEMENTS, WATCHES, (False, True))]
)
def test_values_stay_as_they_are(name: str, watch: str, sharing: bool) -> None:
    source = STATEMENTS[name]
    code, _ = instrumented(source, WATCHES[watch], sharing)
    assert values_after(code) == values_after(compile(source, "program.py", "exec"))


@pytest.mark.parametrize(("name", "watch", "sharing"), [*itertools.product(RAISING, WATCHES, (False, True))])
def test_errors_stay_at_their_lines(name: str, watch: str, sharing: bool) -> None:
    source = RAISING[name]
    code, _ = instrumented(source, WATCHES[watch], sharing)
    assert lines_of_error(code) == lines_of_error(compile(source, "program.py", "exec"))


@pytest.mark.parametrize("name", STATEMENTS)
def test_code_with_nothing_to_tell_is_the_very_same(name: str) -> None:
    code = compile(STATEMENTS[name], "program.py", "exec")
    nobody = Watch(names=frozenset({"nobody"}), members=frozenset({"nobody"}))
    assert watched(code, Watch(), "__main__", Heard) is code
    if not any(word in STATEMENTS[name] for word in "[.("):
        assert watched(code, nobody, "__main__", Heard) is code


def test_each_access_is_told_once() -> None:
    source = "x = 1\nfor i in range(5):\n    x = x + i\n    x += 1\n"
    code, sites = instrumented(source, Watch(names=frozenset("x")), False)
    execute(code, {})
    told = [(each.told.kind, each.told.line, each.count) for each in sites if each.told.variable == "x"]
    assert sorted(told) == [
        (Telling.READ, 3, 5), (Telling.READ, 4, 5), (Telling.WRITE, 1, 1), (Telling.WRITE, 3, 5),
        (Telling.WRITE, 4, 5),
    ]  # fmt: skip


def test_a_function_ends_once_whatever_ends_it() -> None:
    source = (
        "def f(v):\n    try:\n        if v == 1: return 1\n        if v == 2: raise KeyError\n"
        "        while v: v -= 1\n    except KeyError:\n        if v == 2: raise ValueError\n"
        "for i in range(5):\n    try:\n        f(i)\n    except ValueError:\n        pass\n"
    )
    code, sites = instrumented(source, Watch(functions=frozenset("f")), False)
    execute(code, {})
    counts = {each.told.kind: each.count for each in sites}
    assert counts[Telling.ENTER] == counts[Telling.EXIT] == 5
