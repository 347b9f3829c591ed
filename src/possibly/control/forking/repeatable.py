"""Which programs may be executed again in the process that has executed them: who leaves nothing behind.

Law: a program in the small language below keeps all that it changes in objects which die with the
execution, or in what `lasting` puts back. So a second execution in the same process begins in the same
state as the first. What a program in the wider language (`_Seen`) leaves behind is looked for after each
execution (`heap`). For any other program, and whenever in doubt, each execution gets a process of its own.

The language is Python without the ways to what outlives an execution. What a program imports does not matter,
what it uses of that does. Of modules of the standard library that keep no state (`PURE`) it may use all that
is a function, a class or a constant; of others the names in `LIBRARY`, none of which is a module or a
container, or keeps a state that calling it changes, unless `restored` puts that back; a module is named to
take one of these from it and is never handed on. Files are put back as they were (`disk`), and a process in
which one is still open at the end is not used again. Names and attributes with two underscores lead to
classes, frames and the variables of functions, and only harmless ones are allowed. There is no reflection
(`globals`, `eval`, `setattr`, `getattr` with a computed name), no finaliser. Nothing depends on where objects
lie in memory, on how deep a stack may grow, or on what the system calls a thread: no `id`, no
`RecursionError`, no `ident`. (A set of objects that are hashed by their address is gone through in another
order each time, in a process of its own too.)

What the source does not show is noticed when it happens: whoever stores an attribute into something that is
not the program's own ends the life of its process (`Memory.reaches_out`). And what nobody has thought of is
looked for: some executions are repeated in fresh processes, and all that do not follow their plan; if one is
not the same there, event for event, the search begins anew with fresh processes alone (`session.explore`).
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType

from possibly.control.forking.unseen import PARTLY, SEEN

LIBRARY: dict[str, frozenset[str]] = {
    module: frozenset(names.split())
    for module, names in {
        "__future__": "annotations",
        "abc": "ABC abstractmethod",
        "asyncio": "run sleep gather create_task wait wait_for timeout timeout_at shield as_completed "
        "TaskGroup Lock Event Condition Semaphore BoundedSemaphore Barrier Queue LifoQueue PriorityQueue "
        "QueueEmpty QueueFull CancelledError TimeoutError InvalidStateError Task Future FIRST_COMPLETED "
        "FIRST_EXCEPTION ALL_COMPLETED current_task ensure_future iscoroutine iscoroutinefunction "
        "get_running_loop",
        "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
        "collections": "ChainMap Counter OrderedDict defaultdict deque namedtuple",
        "collections.abc": "Callable Iterable Iterator Generator Mapping Sequence Hashable",
        "csv": "reader writer DictReader DictWriter QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC",
        "contextlib": "contextmanager closing suppress nullcontext ExitStack",
        "copy": "copy deepcopy",
        "dataclasses": "dataclass field replace asdict astuple fields",
        "enum": "Enum IntEnum auto unique",
        "functools": "partial wraps reduce lru_cache cache cached_property total_ordering cmp_to_key",
        "heapq": "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
        "itertools": "accumulate chain combinations count cycle islice permutations product repeat starmap "
        "takewhile dropwhile zip_longest groupby pairwise",
        "logging": "getLogger debug info warning error exception critical log DEBUG INFO WARNING WARN ERROR "
        "CRITICAL FATAL NOTSET Logger LoggerAdapter Formatter Filter LogRecord NullHandler StreamHandler "
        "basicConfig",
        "operator": "itemgetter add sub mul truediv floordiv mod neg and_ or_ xor not_ eq ne lt le gt ge "
        "contains",
        "os": "getcwd cpu_count sep linesep name getenv strerror fspath open close read write remove unlink "
        "rename replace mkdir makedirs rmdir removedirs listdir stat lstat truncate fsync link symlink "
        "readlink O_RDONLY O_WRONLY O_RDWR O_CREAT O_EXCL O_TRUNC O_APPEND",
        "pathlib": "Path PurePath PosixPath PurePosixPath",
        "queue": "Queue LifoQueue PriorityQueue SimpleQueue Empty Full",
        "random": "random uniform randint choice randrange sample shuffle choices gauss seed "
        "getrandbits Random",
        "shutil": "rmtree copy copy2 copyfile copytree move",
        "string": "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits punctuation whitespace "
        "Template",
        "sys": "argv exit maxsize stderr stdin stdout version_info",
        "tempfile": "mkdtemp gettempdir",
        "threading": "Thread Lock RLock Condition Semaphore BoundedSemaphore Event Barrier "
        "BrokenBarrierError Timer current_thread main_thread",
        "time": "sleep time time_ns monotonic monotonic_ns perf_counter perf_counter_ns",
        "typing": "Any Callable ClassVar Dict Final Generic Iterable Iterator List Literal NamedTuple "
        "Optional Protocol Sequence Tuple TypeVar Union TYPE_CHECKING",
        "uuid": "UUID uuid3 uuid4 uuid5 NAMESPACE_DNS NAMESPACE_URL",
    }.items()
}
"""Of modules with a state: names that do not change it, or change what is put back."""
PURE = frozenset(
    "base64 binascii cmath colorsys datetime difflib fractions graphlib hashlib hmac html ipaddress json "
    "math numbers os.path posixpath pprint re shlex statistics stringprep struct textwrap "
    "unicodedata urllib.parse zlib".split()
)
"""Modules that keep nothing but caches of what they compute."""
FILES = frozenset({"csv", "pathlib", "shutil", "tempfile"})
"""Modules whose names change files, or may; so may those of `os` but for these:"""
WITHOUT_FILES = frozenset("cpu_count fspath getcwd getenv linesep name path sep strerror".split())
FORBIDDEN_NAMES = frozenset(
    "MemoryError RecursionError breakpoint compile copyright credits delattr dir eval exec exit "
    "globals help id license locals memoryview quit setattr vars".split()
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
    unseen: str | None = None
    """What in it could leave something behind that nobody sees, if anything (`unseen`)."""
    has_files: bool = False
    """It may change files."""

    def holds(self) -> bool:
        """Whether nothing speaks against it, now that the imports have been done."""
        return self.reason is None and self._has_own_modules()

    def can_be_seen(self) -> bool:
        """Whether all that it leaves behind would be seen."""
        return self.unseen is None and self._has_own_modules()

    def _has_own_modules(self) -> bool:
        return all(_is_own(module, name) for module, name in self.others)


def _is_own(name: str, taken: str) -> bool:
    from possibly.control.runtime.things import is_user_module

    for part in (name.partition(".")[0], name):
        if not is_user_module(sys.modules.get(part)):
            return False
    return not taken or not isinstance(getattr(sys.modules[name], taken, None), ModuleType)


def judged(tree: ast.Module) -> Judgement:
    """Of the source as it was written."""
    found = Judgement()
    module = _Module(tree, found.others)
    found.reason = next(module.reasons(), None)
    found.unseen = next(_Seen(tree, []).reasons(), None) if found.reason else None
    found.has_files = module.has_files()
    return found


class _Module:
    forbidden_names, forbidden_attributes, harmless = FORBIDDEN_NAMES, FORBIDDEN_ATTRIBUTES, HARMLESS

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

    def has_files(self) -> bool:
        """Whether anything in it has to do with files."""
        for node in self.nodes:
            match node:
                case ast.Name(id="open"):
                    return True
                case ast.ImportFrom(module="os", names=names):
                    if any(each.name not in WITHOUT_FILES for each in names):
                        return True
                case ast.ImportFrom(module=module) if module in FILES:
                    return True
                case ast.Attribute(value=ast.Name(id=name), attr=attr) if self.modules.get(name) == "os":
                    if attr not in WITHOUT_FILES:
                        return True
        return not FILES.isdisjoint(self.modules.values())

    def _imports(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Import(names):
                for alias in names:
                    if not _is_library(alias.name):
                        self.others.append((alias.name, ""))
                    elif alias.name == "possibly":
                        yield "the import of possibly"
                    whole = alias.name if alias.asname else alias.name.partition(".")[0]
                    self.modules[alias.asname or whole] = whole
            case ast.ImportFrom(module, names, level):
                if level or module is None:
                    yield "an import from a package of its own"
                    return
                for alias in names:
                    if f"{module}.{alias.name}" in PURE | SEEN:
                        self.modules[alias.asname or alias.name] = f"{module}.{alias.name}"
                    else:
                        yield from self._imported(module, alias.name)
            case ast.ClassDef(body=body):
                if any(isinstance(each, ast.Import | ast.ImportFrom) for each in body):
                    yield "an import in a class"

    def _imported(self, module: str, name: str) -> Iterator[str]:
        if not _is_library(module):
            self.others.append((module, name))
            if name == "*" or _is_library(name):
                yield f"{name} from {module}"
        elif not self._may_use(module, name):
            yield f"{name} from {module}"

    def _reasons(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Name(name):
                yield from self._name(node, name)
            case ast.Attribute():
                yield from self._attribute(node)
            case ast.Call(ast.Name("getattr"), arguments):
                if len(arguments) < 2 or not self._is_plain_word(arguments[1]):
                    yield "getattr of a computed name"
            case ast.Call(ast.Attribute(attr="basicConfig"), keywords=given) if not self._is_to_stream(given):
                yield "a log in a file"
            case ast.FunctionDef(name="__del__"):
                yield "a finaliser"
            case ast.MatchClass(kwd_attrs=names) if any(map(self._is_forbidden, names)):
                yield "a forbidden attribute"

    def _name(self, node: ast.Name, name: str) -> Iterator[str]:
        is_own = not isinstance(node.ctx, ast.Load)  # a field or variable that is called so
        if (name in self.forbidden_names and not is_own) or self._is_inside(name):
            yield f"the name {name}"
        elif name == "getattr" and id(node) not in self.called:
            yield "getattr"
        elif name in self.modules and id(node) not in self.bases:
            yield f"the module {name}, which is handed on or replaced"

    def _attribute(self, node: ast.Attribute) -> Iterator[str]:
        if self._is_forbidden(node.attr):
            yield f"the attribute {node.attr}"
        chain = [node.attr]
        base: ast.expr = node.value
        while isinstance(base, ast.Attribute):
            chain.append(base.attr)
            base = base.value
        module = self.modules.get(base.id) if isinstance(base, ast.Name) else None
        if module is None:
            return
        if _is_library(module) and id(node) in self.bases:
            return  # what it leads to is looked at with what is taken from that
        if _is_library(module):
            yield from self._used(module, chain[::-1], isinstance(node.ctx, ast.Load))
        elif any(map(_is_library, chain)):
            yield f"a library by way of {module}"

    def _used(self, module: str, names: list[str], is_read: bool) -> Iterator[str]:
        """What is taken from a library's module; `names` may go on behind that."""
        while len(names) > 1 and f"{module}.{names[0]}" in PURE | SEEN:
            module, names = f"{module}.{names[0]}", names[1:]
        if not self._may_use(module, names[0]) or (len(names) == 1 and not self._may_store(is_read)):
            yield f"{module}.{names[0]}"

    # ---- what the language has --------------------------------------------------------------------

    def _may_use(self, module: str, name: str) -> bool:
        return _may_use(module, name)

    def _may_store(self, is_read: bool) -> bool:
        return is_read

    def _is_to_stream(self, given: list[ast.keyword]) -> bool:
        return all(each.arg in ("level", "format", "datefmt", "style", "force") for each in given)

    def _is_inside(self, name: str) -> bool:
        return _is_double(name) and name not in self.harmless

    def _is_forbidden(self, attribute: str) -> bool:
        return attribute in self.forbidden_attributes or self._is_inside(attribute)

    def _is_plain_word(self, node: ast.expr) -> bool:
        is_word = isinstance(node, ast.Constant) and isinstance(node.value, str)
        return is_word and not self._is_forbidden(node.value)  # type: ignore[attr-defined]


class _Seen(_Module):
    """The wider language, in which whatever is left behind is seen: objects may be changed in any way."""

    forbidden_names = FORBIDDEN_NAMES - {"delattr", "dir", "license", "memoryview", "setattr", "vars"}
    forbidden_attributes = (FORBIDDEN_ATTRIBUTES | {"cache_info"}) - {"register", "modules"}
    harmless = HARMLESS | {"__class__", "__qualname__", "__module__", "__annotations__", "__hash__", "__lt__"}

    def _may_use(self, module: str, name: str) -> bool:
        if module in PARTLY:
            return name in PARTLY[module]
        value = getattr(import_module(module), name, None) if module in SEEN else import_module
        return module in SEEN and not isinstance(value, ModuleType)

    def _may_store(self, is_read: bool) -> bool:
        return True

    def _is_to_stream(self, given: list[ast.keyword]) -> bool:
        return True  # who leaves a file open is seen


def _is_library(name: str) -> bool:
    """Of the standard library, or ours; what else is installed is seen when it has been imported."""
    return name.partition(".")[0] in sys.stdlib_module_names or name.partition(".")[0] == "possibly"


def _may_use(module: str, name: str) -> bool:
    if name in LIBRARY.get(module, ()):
        return True
    if module not in PURE or name.startswith("_"):
        return False
    value = getattr(import_module(module), name, None)
    return callable(value) or isinstance(value, int | float | str | bytes | tuple)


def _is_double(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
