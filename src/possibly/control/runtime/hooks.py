"""The builtins `_possibly_...` that rewritten source calls while it is controlled (see `probes.accesses`).

Each does what the expression it stands for did, after telling `memory` what is touched. An item of a list or
a dictionary is a thing of its own; so is the structure of a container (its length, its keys), which every
access to an item reads and every change of shape writes. Reading a whole container reads all its items.
"""

from __future__ import annotations

import builtins
import operator
import sys
import types
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from possibly.control.execution import Access
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime import primitives
from possibly.control.runtime.kernel import Kernel
from possibly.control.runtime.memory import NOTHING, WIDEST, Memory
from possibly.control.runtime.things import CLASS, CONTAINER, INSTANCE, MODULE, Named
from possibly.probes import port
from possibly.recorder.snapshot import snapshot

MUTATORS = frozenset(
    "append appendleft extend extendleft insert remove pop popleft popitem clear sort reverse rotate update "
    "setdefault add discard difference_update intersection_update symmetric_difference_update subtract "
    "move_to_end".split()
)
READERS = frozenset("items keys values copy index count most_common elements union intersection".split())
BY_KEY = frozenset({"get", "__getitem__", "__contains__"})
PLAIN_KEYS = frozenset({int, str, bool, float, bytes, type(None)})
VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
Found = tuple[Kernel, Memory, Named]


_dicts: dict[int, tuple[dict[str, Any], Any]] = {}
"""Dictionaries that are the attributes of an object or the variables of a module, by identity, and whose."""


def dict_of(value: Any) -> Any:
    """`value.__dict__`, `vars(value)`: its items are attributes by another name."""
    found = value.__dict__
    if type(found) is dict and accesses.active() is not None:
        _dicts[id(found)] = (found, value)
    return found


def dict_of_globals(found: dict[str, Any]) -> dict[str, Any]:
    """`globals()`"""
    module = sys.modules.get(found.get("__name__", ""))
    if module is not None and accesses.active() is not None:
        _dicts[id(found)] = (found, module)
    return found


def _touch_attribute(owner: Any, name: str, writes: bool, at: str) -> None:
    found = _holder(owner, name, at)
    if found is not None:
        inner, thing, footprint = _member(found, name, writes)
        _touch(inner, thing, footprint, at)


def _container(value: Any, at: str) -> Found | None:
    now = accesses.active()
    if now is None or now[1].things.kind(value) != CONTAINER:
        return None
    if id(value) in _dicts:  # whatever is done to all attributes at once counts as a change of each
        for name in list(value):
            _touch_attribute(_dicts[id(value)][1], name, True, at)
        return None
    kernel, memory = now
    named = memory.things.named(value, kernel, at)
    return None if kernel.alone or kernel.quiet else (kernel, memory, named)


def _key(value: Any, key: Any) -> str | None:
    """How an item is called, or None for one that has no stable name."""
    if type(key) in PLAIN_KEYS:
        if type(key) is int and key < 0 and not isinstance(value, dict):
            key += len(value)
        return repr(key)
    if type(key) is tuple and all(type(part) in PLAIN_KEYS for part in key):
        return repr(key)
    return None


def _tell_whole(value: Any, found: Found) -> None:
    """A container that is watched as a variable: what it holds now."""
    kernel, memory, named = found
    label = kernel.labels.get(named.name, "")
    if label in memory.watched:
        memory.whole(kernel, named.name, snapshot(value))


def _touch(found: Found, thing: str, footprint: tuple[Access, ...], at: str) -> int:
    kernel, memory, named = found
    key = None if named.exact else id(named.value)
    return memory.access(kernel, named.family, thing, footprint, at, key)


def _shape(named: Named, writes: bool) -> tuple[Access, ...]:
    return (Access(f"{named.name}[]", writes),)


def _all(value: Any, named: Named) -> tuple[Access, ...]:
    """Everything in a container is read. A very large one counts as changed, which meets every access."""
    if isinstance(value, set):
        return _shape(named, False)
    if len(value) > WIDEST:
        return _shape(named, True)
    keys = value if isinstance(value, dict) else range(len(value))
    items = [Access(f"{named.name}[{key}]", False) for key in (_key(value, key) for key in keys) if key]
    return (*_shape(named, False), *items)


def _item(value: Any, named: Named, key: Any, writes: bool) -> tuple[str, tuple[Access, ...]]:
    text = _key(value, key) if not isinstance(value, set) else None
    if text is None:
        return f"{named.name}[]", _shape(named, True) if writes else _all(value, named)
    thing = f"{named.name}[{text}]"
    grows = writes and isinstance(value, dict) and not dict.__contains__(value, key)
    return thing, (Access(thing, writes), *_shape(named, grows))


# ---- items --------------------------------------------------------------------------------------


def getitem(value: Any, key: Any, at: str) -> Any:
    if id(value) in _dicts and type(key) is str:
        _touch_attribute(_dicts[id(value)][1], key, False, at)
        return value[key]
    found = _container(value, at)
    if found is None:
        return value[key]
    mode = _touch(found, *_item(value, found[2], key, False), at)
    result = value[key]
    if mode:
        found[1].saw(found[0], mode, result)
    return result


def setitem(value: Any, key: Any, new: Any, at: str) -> None:
    if id(value) in _dicts and type(key) is str:
        _touch_attribute(_dicts[id(value)][1], key, True, at)
        value[key] = new
        return
    found = _container(value, at)
    if found is None:
        value[key] = new
        return
    mode = _touch(found, *_item(value, found[2], key, True), at)
    value[key] = new
    if mode:
        found[1].saw(found[0], mode, new)
    if found[1].watched:
        _tell_whole(value, found)


def delitem(value: Any, key: Any, at: str) -> None:
    found = _container(value, at)
    if found is not None:
        _touch(found, f"{found[2].name}[]", _shape(found[2], True), at)
    del value[key]


def whole(value: Any, at: str) -> Any:
    """A container that is about to be read as a whole."""
    if isinstance(value, VIEWS):
        whole(getattr(value, "mapping", None), at)
        return value
    for field in getattr(type(value), "__dataclass_fields__", ()):  # read by methods that nobody wrote
        getattribute(value, field, at)
    found = _container(value, at)
    if found is not None:
        _touch(found, f"{found[2].name}[]", _all(value, found[2]), at)
    return value


def changed(value: Any, at: str) -> Any:
    """A container that is about to be changed by a function of a library."""
    found = _container(value, at)
    if found is not None:
        _touch(found, f"{found[2].name}[]", _shape(found[2], True), at)
    return value


def size(value: Any, at: str) -> Any:
    """A container whose length or emptiness is about to be asked for."""
    found = _container(value, at)
    if found is not None:
        _touch(found, f"{found[2].name}[]", _shape(found[2], False), at)
    return value


def contains(item: Any, value: Any, at: str) -> bool:
    found = _container(value, at)
    if found is not None:
        if isinstance(value, dict):
            _touch(found, *_item(value, found[2], item, False), at)
        else:
            _touch(found, f"{found[2].name}[]", _all(value, found[2]), at)
    return item in value


def iterate(value: Any, at: str) -> Any:
    """What a `for` goes over: each round reads the container again."""
    base: Any = getattr(value, "mapping", None) if isinstance(value, VIEWS) else value
    return value if _container(base, at) is None else _rounds(iter(value), base, at)


def _rounds(plain: Iterator[Any], base: Any, at: str) -> Iterator[Any]:
    while True:
        whole(base, at)
        try:
            item = next(plain)
        except StopIteration:
            return
        yield item


# ---- attributes ---------------------------------------------------------------------------------


def _holder(value: Any, name: str, at: str) -> Found | None:
    """Whose attribute it is, if that is memory rather than a method or a property."""
    now = accesses.active()
    if now is None:
        return None
    kernel, memory = now
    kind = memory.things.kind(value)
    if kind == INSTANCE:
        if not _is_memory(type(value), name):
            return None
    elif kind not in (CLASS, MODULE) or isinstance(
        getattr(value, name, None), types.FunctionType | types.ModuleType | type
    ):
        return None
    named = memory.things.named(value, kernel, at)
    return None if kernel.alone or kernel.quiet else (kernel, memory, named)


_members: dict[tuple[type, str], bool] = {}


def _is_memory(cls: type, name: str) -> bool:
    found = _members.get((cls, name))
    if found is None:
        inherited = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
        slot = isinstance(inherited, types.MemberDescriptorType)
        found = _members[cls, name] = slot or not hasattr(type(inherited), "__get__")
    return found


def _member(found: Found, name: str, writes: bool) -> tuple[Found, str, tuple[Access, ...]]:
    kernel, memory, named = found
    if isinstance(named.value, types.ModuleType):
        thing = family = global_name(named.name, name)
        exact = Named(thing, family, named.value, True)
        return (kernel, memory, exact), thing, (Access(thing, writes),)
    thing = f"{named.name}.{name}"
    family = f"{named.family}.{name}"
    if thing not in kernel.labels:
        kernel.labels[thing] = f"{kernel.labels.get(named.name) or named.shown or named.family}.{name}"
    return (kernel, memory, named._replace(family=family)), thing, (Access(thing, writes),)


def global_name(module: str, name: str) -> str:
    return name if module == "__main__" else f"{module}.{name}"


def getattribute(value: Any, name: str, at: str) -> Any:
    found = _holder(value, name, at)
    if found is None:
        return getattr(value, name)
    inner, thing, footprint = _member(found, name, False)
    mode = _touch(inner, thing, footprint, at)
    result = getattr(value, name)
    if mode:
        found[1].saw(found[0], mode, result)
    return result


def setattribute(value: Any, name: str, new: Any, at: str) -> None:
    now = accesses.active()
    if now is None:
        setattr(value, name, new)
        return
    kernel, memory = now
    is_new = memory.things.kind(value) == INSTANCE and memory.things.known(value) is None
    if is_new and not getattr(value, "__dict__", True):
        memory.things.made(value, kernel, at)
    known = memory.things.known(value)
    holder = known.shown if known is not None and known.shown else type(value).__name__
    _call_it(new, f"{holder}.{name}", now, at)
    if known is not None and type(new).__module__ == primitives.__name__ and hasattr(new, "name"):
        kernel.owners[new.name] = (known.name, name)
    found = _holder(value, name, at)
    if found is None:
        setattr(value, name, new)
        return
    inner, thing, footprint = _member(found, name, True)
    mode = _touch(inner, thing, footprint, at)
    setattr(value, name, new)
    if mode:
        memory.saw(kernel, mode, new)


def delattribute(value: Any, name: str, at: str) -> None:
    found = _holder(value, name, at)
    if found is not None:
        inner, thing, footprint = _member(found, name, True)
        _touch(inner, thing, footprint, at)
    delattr(value, name)


def method(value: Any, name: str, at: str) -> Any:
    """`value.name` that is about to be called; what changes or reads a container is told at the call."""
    now = accesses.active()
    if now is None or now[1].things.kind(value) != CONTAINER:
        return callee(getattribute(value, name, at), at)
    bound = getattr(value, name)
    if name in MUTATORS:
        return _after(changed, value, bound, at)
    if name in READERS:
        return _after(whole, value, bound, at)
    if name in BY_KEY:
        return _by_key(value, bound, at)
    return bound


def _after(tell: Callable[[Any, str], Any], value: Any, bound: Any, at: str) -> Any:
    def call(*given: Any, **options: Any) -> Any:
        tell(value, at)
        result = bound(*given, **options)
        found = _container(value, at) if tell is changed else None
        if found is not None and found[1].watched:
            _tell_whole(value, found)
        return result

    return call


def _by_key(value: Any, bound: Any, at: str) -> Any:
    def call(key: Any, *rest: Any) -> Any:
        found = _container(value, at)
        if found is not None:
            _touch(found, *_item(value, found[2], key, False), at)
        return bound(key, *rest)

    return call


# ---- calls ------------------------------------------------------------------------------------------


def callee(function: Any, at: str) -> Any:
    """What is about to be called. The user's own code tells of itself; for other code we tell beforehand.

    A container that is handed to a function of a library counts as read, and as changed unless the function
    is known to read only.
    """
    kind = type(function)
    plain = function.__func__ if kind is types.MethodType else function
    if type(plain) is types.FunctionType and _is_own(plain):
        return function
    owner = getattr(function, "__self__", None) if kind is types.BuiltinFunctionType else None
    if owner is not None and type(owner) is not types.ModuleType:
        now = accesses.active()
        if now is not None and now[1].things.kind(owner) == CONTAINER:
            return method(owner, function.__name__, at)
    if getattr(function, "__name__", "") in LOOKING_AT_ITS_CALLER:
        return function
    special = _SPECIAL.get(id(function))
    if special is not None:
        return partial(_specially, special, at)
    module = (getattr(plain, "__module__", None) or type(owner).__module__).partition(".")[0]
    if isinstance(function, type) or module in HARMLESS:
        return function
    return _after_arguments(function, module in ONLY_READING, at)


_own: dict[types.CodeType, bool] = {}


def _is_own(function: Any) -> bool:
    code = function.__code__
    found = _own.get(code)
    if found is None:
        found = _own[code] = port.is_user_file(code.co_filename)
    return found


HARMLESS = frozenset(
    "threading _thread queue _queue asyncio _asyncio concurrent time contextlib possibly logging "
    "multiprocessing unittest pytest typing abc gc warnings signal sys os atexit weakref".split()
)
"""Modules whose functions hand containers on, or do not look into them."""
ONLY_READING = frozenset(
    "builtins json _json pickle _pickle copy math statistics itertools functools _functools operator "
    "_operator re string pprint struct hashlib textwrap fnmatch decimal fractions datetime csv io reprlib "
    "dataclasses collections".split()
)


LOOKING_AT_ITS_CALLER = frozenset(
    "globals locals vars dir eval exec super breakpoint namedtuple NamedTuple TypeVar NewType make_dataclass "
    "warn getLogger currentframe _getframe stack".split()
)
"""Functions that look at the frame that calls them: that must stay the user's own."""


def _after_arguments(function: Any, reads_only: bool, at: str) -> Any:
    tell = whole if reads_only else changed

    def call(*given: Any, **options: Any) -> Any:
        for value in (*given, *options.values()):
            tell(value, at)
        if not reads_only:
            turn()  # it may keep state that we do not see
        return function(*given, **options)

    return call


def _specially(what: Callable[..., Any], at: str, *given: Any) -> Any:
    return what(*given, at)


def _getattr(value: Any, name: str, *rest: Any) -> Any:
    *default, at = rest
    try:
        return getattribute(value, name, at)
    except AttributeError:
        if default:
            return default[0]
        raise


def _hasattr(value: Any, name: str, at: str) -> bool:
    try:
        getattribute(value, name, at)
    except AttributeError:
        return False
    return True


def _in(value: Any, item: Any, at: str) -> bool:
    return contains(item, value, at)


# ---- variables ----------------------------------------------------------------------------------


def read(name: str, at: str) -> int:
    """A global variable, or one of an enclosing function, is about to be read; returns what `saw` needs."""
    now = accesses.active()
    if now is None:
        return NOTHING
    return now[1].access(now[0], name, name, (Access(name, False),), at)


def saw(mode: int, value: Any) -> Any:
    if mode:
        now = accesses.active()
        if now is not None:
            now[1].saw(now[0], mode, value)
    return value


def wrote(value: Any, name: str, at: str) -> Any:
    """The variable is about to get this value."""
    now = accesses.active()
    if now is not None:
        _call_it(value, name, now, at, True)
        mode = now[1].access(now[0], name, name, (Access(name, True),), at)
        if mode:
            now[1].saw(now[0], mode, value)
    return value


def made(value: Any, at: str) -> Any:
    """An object that the running task has just made."""
    now = accesses.active()
    if now is not None and now[1].things.kind(value) in (CONTAINER, INSTANCE):
        now[1].things.made(value, now[0], at)
    return value


def turn() -> None:
    """A round of a `for` loop."""
    kernel = running.kernel
    if kernel is not None:
        kernel.current.trail.effect()


def _call_it(value: Any, name: str, now: tuple[Kernel, Memory], at: str, is_global: bool = False) -> None:
    """A primitive or a container that gets into a variable is called after it."""
    kernel, memory = now
    kind = type(value)
    if kind.__module__ == primitives.__name__ and hasattr(value, "name"):
        if kernel.labels.get(value.name, "the ").startswith("the "):
            kernel.labels[value.name] = name
        return
    state = getattr(value, "__dict__", {}).get("_state") if hasattr(kind, "task_done") else None
    if state is not None:
        kernel.labels[state.name] = name
        return
    of = memory.things.kind(value)
    if of == CONTAINER or (of == INSTANCE and is_global):
        known = memory.things.made(value, kernel, at)
        kernel.labels.setdefault(known.name, name)


NAMES = {
    "getitem": getitem, "setitem": setitem, "delitem": delitem, "whole": whole, "changed": changed,
    "size": size, "contains": contains, "iterate": iterate, "getattr": getattribute,
    "setattr": setattribute, "delattr": delattribute, "method": method, "read": read, "saw": saw,
    "wrote": wrote, "made": made, "callee": callee,
    "dict_of": dict_of, "dict_of_globals": dict_of_globals, "turn": turn, "slice": slice,
}  # fmt: skip


_SPECIAL: dict[int, Callable[..., Any]] = {
    id(getattr): _getattr, id(setattr): setattribute, id(delattr): delattribute, id(hasattr): _hasattr,
    id(operator.getitem): getitem, id(operator.setitem): setitem, id(operator.delitem): delitem,
    id(operator.contains): _in,
}  # fmt: skip
"""Functions that do what an expression does, by their identity."""


def put() -> None:
    for name, value in NAMES.items():
        setattr(builtins, f"_possibly_{name}", value)
