"""Which programs may be executed again in the process that has executed them: who leaves nothing behind.

Law: a program in the small language below keeps all that it changes in objects which die with the execution,
or in what `lasting` puts back. So a second execution in the same process begins in the same state as the
first. For any other program, and whenever in doubt, each execution gets a process of its own.

The language is Python without the ways to what outlives an execution. Of libraries there are only the names
in `LIBRARY`, none of which is a module, a container, or keeps a state that calling it changes; a module is
named to take one of these from it and is never handed on. Names and attributes with two underscores lead to
classes, frames and the variables of functions, and only harmless ones are allowed. There is no reflection
(`globals`, `eval`, `setattr`, `getattr` with a computed name), no file, no finaliser. Nothing depends on
where objects lie in memory, on how deep a stack may grow, or on what the system calls a thread: no `id`, no
`hash`, no sets except of constants, no `RecursionError`, no `ident`.

What the source does not show is noticed when it happens: whoever stores an attribute into something that is
not the program's own ends the life of its process (`Memory.reaches_out`).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType

LIBRARY: dict[str, frozenset[str]] = {
    module: frozenset(names.split())
    for module, names in {
        "__future__": "annotations",
        "abc": "ABC abstractmethod",
        "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
        "collections": "ChainMap Counter OrderedDict defaultdict deque namedtuple",
        "collections.abc": "Callable Iterable Iterator Generator Mapping Sequence Hashable",
        "contextlib": "contextmanager closing suppress nullcontext ExitStack",
        "copy": "copy deepcopy",
        "dataclasses": "dataclass field replace asdict astuple fields",
        "enum": "Enum IntEnum auto unique",
        "functools": "partial wraps reduce lru_cache cache cached_property total_ordering cmp_to_key",
        "heapq": "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
        "itertools": "accumulate chain combinations count cycle islice permutations product repeat starmap "
        "takewhile dropwhile zip_longest groupby pairwise",
        "json": "dumps loads JSONDecodeError",
        "math": "ceil floor sqrt gcd inf isclose pi prod log exp fsum",
        "queue": "Queue LifoQueue PriorityQueue SimpleQueue Empty Full",
        "random": "random uniform randint choice randrange sample shuffle choices gauss seed "
        "getrandbits Random",
        "statistics": "mean median stdev",
        "string": "ascii_letters ascii_lowercase ascii_uppercase digits",
        "sys": "argv exit maxsize stderr stdin stdout version_info",
        "threading": "Thread Lock RLock Condition Semaphore BoundedSemaphore Event Barrier "
        "BrokenBarrierError Timer current_thread main_thread",
        "time": "sleep time time_ns monotonic monotonic_ns perf_counter perf_counter_ns",
        "typing": "Any Callable ClassVar Dict Final Generic Iterable Iterator List Literal NamedTuple "
        "Optional Protocol Sequence Tuple TypeVar Union TYPE_CHECKING",
    }.items()
}
FORBIDDEN_NAMES = frozenset(
    "MemoryError RecursionError breakpoint compile copyright credits delattr dir eval exec exit frozenset "
    "globals hash help id license locals memoryview open quit set setattr vars".split()
)
HARMLESS = frozenset(
    "__name__ __file__ __doc__ __init__ __new__ __enter__ __exit__ __len__ __iter__ __next__ __call__ __eq__ "
    "__slots__ __match_args__ __version__ __author__ __all__ __repr__ __str__".split()
)
"""Names with two underscores that lead nowhere."""
FORBIDDEN_ATTRIBUTES = frozenset(
    "register gi_frame gi_code cr_frame cr_code ag_frame ag_code tb_frame f_back f_globals f_builtins "
    "f_locals modules ident native_id".split()
)


@dataclass(slots=True)
class Judgement:
    """What a module of the user means for its program."""

    reason: str | None = None
    """Why the program needs a process for each execution, if it does."""
    others: list[tuple[str, str]] = field(default_factory=list)
    """Modules that have to be the user's own too, and names taken from them, which must not be modules."""

    def holds(self) -> bool:
        """Whether nothing speaks against it, now that the imports have been done."""
        return self.reason is None and all(_is_own(module, name) for module, name in self.others)


def _is_own(name: str, taken: str) -> bool:
    from possibly.control.runtime.things import is_user_module

    for part in (name.partition(".")[0], name):
        if not is_user_module(sys.modules.get(part)):
            return False
    return not taken or not isinstance(getattr(sys.modules[name], taken, None), ModuleType)


def judged(tree: ast.Module) -> Judgement:
    """Of the source as it was written."""
    found = Judgement()
    found.reason = next(_Module(tree, found.others).reasons(), None)
    return found


def stores_plainly(tree: ast.Module) -> bool:
    """Whether rewritten source still stores an attribute without telling."""
    plain = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return any(not isinstance(node.ctx, ast.Load) for node in plain)


class _Module:
    def __init__(self, tree: ast.Module, others: list[tuple[str, str]]) -> None:
        self.nodes = list(ast.walk(tree))
        self.others = others
        self.modules: dict[str, str] = {}
        """Name -> the module that it stands for."""
        taken_from = (node.value for node in self.nodes if isinstance(node, ast.Attribute))
        self.bases = {id(node) for node in taken_from}
        self.called = {id(node.func) for node in self.nodes if isinstance(node, ast.Call)}

    def reasons(self) -> Iterator[str]:
        for node in self.nodes:
            yield from self._imports(node)
        for node in self.nodes:
            for reason in self._reasons(node):
                yield f"{reason}, line {getattr(node, 'lineno', 0)}"

    def _imports(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Import(names):
                for alias in names:
                    yield from self._imported(alias.name)
                    self.modules[alias.asname or alias.name.partition(".")[0]] = alias.name
                    if _is_library(alias.name) and "." in alias.name and alias.asname is None:
                        yield f"the import of {alias.name}"
            case ast.ImportFrom(module, names, level):
                if level or module is None:
                    yield "an import from a package of its own"
                    return
                for alias in names:
                    yield from self._imported(module, alias.name)
            case ast.ClassDef(body=body):
                if any(isinstance(each, ast.Import | ast.ImportFrom) for each in body):
                    yield "an import in a class"

    def _imported(self, module: str, name: str = "") -> Iterator[str]:
        if not _is_library(module):
            self.others.append((module, name))
            if name in LIBRARY or name == "*":
                yield f"{name} from {module}"
        elif module not in LIBRARY or (name and name not in LIBRARY[module]):
            yield f"the import of {module}{'.' if name else ''}{name}"

    def _reasons(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Name(name):
                yield from self._name(node, name)
            case ast.Attribute():
                yield from self._attribute(node)
            case ast.Call(ast.Name("getattr"), arguments):
                if len(arguments) < 2 or not _is_plain_word(arguments[1]):
                    yield "getattr of a computed name"
            case ast.Set(elements) if not all(isinstance(each, ast.Constant) for each in elements):
                yield "a set"
            case ast.SetComp():
                yield "a set"
            case ast.FunctionDef(name="__del__") | ast.AsyncFunctionDef():
                yield "a finaliser or a coroutine"
            case ast.MatchClass(kwd_attrs=names) if any(map(_is_forbidden, names)):
                yield "a forbidden attribute"

    def _name(self, node: ast.Name, name: str) -> Iterator[str]:
        if name in FORBIDDEN_NAMES or (_is_double(name) and name not in HARMLESS):
            yield f"the name {name}"
        elif name == "getattr" and id(node) not in self.called:
            yield "getattr"
        elif name in self.modules and id(node) not in self.bases:
            yield f"the module {name}, which is handed on or replaced"

    def _attribute(self, node: ast.Attribute) -> Iterator[str]:
        if _is_forbidden(node.attr):
            yield f"the attribute {node.attr}"
        chain = [node.attr]
        base: ast.expr = node.value
        while isinstance(base, ast.Attribute):
            chain.append(base.attr)
            base = base.value
        module = self.modules.get(base.id) if isinstance(base, ast.Name) else None
        if module is None:
            return
        if _is_library(module):
            if chain[-1] not in LIBRARY[module] or (len(chain) == 1 and not isinstance(node.ctx, ast.Load)):
                yield f"{module}.{chain[-1]}"
        elif any(name in LIBRARY for name in chain):
            yield f"a library by way of {module}"


def _is_library(name: str) -> bool:
    """Of the standard library, or ours; what else is installed is seen when it has been imported."""
    return name.partition(".")[0] in sys.stdlib_module_names or name.partition(".")[0] == "possibly"


def _is_double(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _is_forbidden(attribute: str) -> bool:
    return attribute in FORBIDDEN_ATTRIBUTES or (_is_double(attribute) and attribute not in HARMLESS)


def _is_plain_word(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and not _is_forbidden(node.value)
