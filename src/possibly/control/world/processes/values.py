"""Memory that processes share: values, arrays, blocks, and what a manager holds.

A value or array with a lock is touched under that lock; one without, and each byte of a block, is a thing of
its own. A block is real memory that forked processes inherit: one that a forked process creates cannot be had
by others, which is said. What a manager holds is kept by the first process, and each call is one step.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Callable
from typing import Any

from possibly.control.execution import Access
from possibly.control.models.locks import label, name_for
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.footprints import touching
from possibly.control.runtime.memory import VISIBLE
from possibly.control.runtime.places import place_of
from possibly.control.world.processes import channel
from possibly.control.world.processes.shared import Shared, apart, makers
from possibly.control.world.processes.sync import Lock, RLock

CODES = {
    "c": ctypes.c_char, "b": ctypes.c_byte, "B": ctypes.c_ubyte, "h": ctypes.c_short, "H": ctypes.c_ushort,
    "i": ctypes.c_int, "I": ctypes.c_uint, "l": ctypes.c_long, "L": ctypes.c_ulong, "q": ctypes.c_longlong,
    "Q": ctypes.c_ulonglong, "f": ctypes.c_float, "d": ctypes.c_double, "u": ctypes.c_wchar,
}  # fmt: skip
KILLS = "_:kills"
"""The family that is visible where processes are killed: then each of their accesses is a step."""
LARGE = 64
"""More bytes than these are touched as a whole."""


class Cell:
    """In the first process: a value of C. Each use is an access to memory, as to a variable of a program."""

    def __init__(self, kind: Any, given: tuple[Any, ...]) -> None:
        made: Any = CODES.get(kind, kind) if isinstance(kind, str) else kind
        self.value = made(*given)
        self.name = name_for("value")
        label(self.name, "value")

    def _touch(self, writes: bool, found: Callable[[], Any]) -> None:
        if (now := accesses.active()) is None:
            return
        at = place_of(sys._getframe())
        if now[0].current.always and (KILLS in now[1].visible or "crash" in now[0].faults):
            kind, mode = "write" if writes else "read", VISIBLE
            now[0].visible(kind, self.name, touching(self.name, writes), at)
        else:
            mode = now[1].access(now[0], self.name, self.name, touching(self.name, writes), at)
        now[1].saw(now[0], mode, found())

    def get(self, field: str) -> Any:
        self._touch(False, lambda: getattr(self.value, field))
        return getattr(self.value, field)

    def set(self, field: str, new: Any) -> None:
        self._touch(True, lambda: new)
        setattr(self.value, field, new)

    def item(self, index: Any) -> Any:
        self._touch(False, lambda: self.value[index])
        return self.value[index]

    def set_item(self, index: Any, new: Any) -> None:
        self._touch(True, lambda: new)
        self.value[index] = new

    def length(self) -> int:
        return len(self.value)


def _array(kind: Any, size_or_items: Any) -> Cell:
    made: Any = CODES.get(kind, kind) if isinstance(kind, str) else kind
    items = () if isinstance(size_or_items, int) else tuple(size_or_items)
    count = size_or_items if isinstance(size_or_items, int) else len(items)
    return Cell(made * count, items)


makers.update({"value": Cell, "array": _array})


class _Locked(Shared):
    _lock: Any = None

    def _settle(self, lock: Any) -> None:
        if lock is True or lock is None:
            self._lock = RLock()
        elif lock is not False:
            self._lock = lock

    def _under(self, method: str, *given: Any) -> Any:
        if self._lock is None:
            return self._call(method, *given)
        with self._lock:
            return self._call(method, *given)

    def get_lock(self) -> Any:
        return self._lock

    def get_obj(self) -> Any:
        """The same, without its lock."""
        bare = type(self).__new__(type(self))
        bare.__dict__.update({name: each for name, each in self.__dict__.items() if name != "_lock"})
        return bare

    def acquire(self, *given: Any) -> bool:
        found: bool = self._lock.acquire(*given)
        return found

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> Any:
        return self._lock.__enter__()

    def __exit__(self, *given: Any) -> None:
        self._lock.__exit__(*given)


class Value(_Locked):
    word = "value"

    def __new__(cls, typecode_or_type: Any = None, *given: Any, **options: Any) -> Any:
        is_record = cls is Value and hasattr(typecode_or_type, "_fields_")
        return super().__new__(Record if is_record else cls)

    def __init__(self, typecode_or_type: Any, *given: Any, lock: Any = True, ctx: Any = None) -> None:
        self._settle(lock)
        super().__init__(typecode_or_type, given)

    @property
    def value(self) -> Any:
        return self._under("get", "value")

    @value.setter
    def value(self, new: Any) -> None:
        self._under("set", "value", new)


class Record(Value):
    """A structure of C: its fields are attributes."""

    _fields: Any = frozenset()

    def __init__(self, kind: Any, *given: Any, **options: Any) -> None:
        super().__init__(kind, *given, **options)
        self._fields = frozenset(each[0] for each in kind._fields_)

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__
        return found("_under")("get", name) if name in found("_fields") else found(name)

    def __setattr__(self, name: str, new: Any) -> None:
        if name in self._fields:
            self._under("set", name, new)
        else:
            super().__setattr__(name, new)


class Array(_Locked):
    word = "array"

    def __init__(
        self, typecode_or_type: Any, size_or_initializer: Any, *, lock: Any = True, ctx: Any = None
    ) -> None:
        given = size_or_initializer
        self._settle(lock)
        super().__init__(typecode_or_type, given if isinstance(given, int) else list(given))

    def __len__(self) -> int:
        found: int = self._call("length")
        return found

    def __getitem__(self, index: Any) -> Any:
        return self._under("item", index)

    def __setitem__(self, index: Any, new: Any) -> None:
        self._under(
            "set_item", index, list(new) if isinstance(index, slice) and not isinstance(new, bytes) else new
        )

    def __iter__(self) -> Any:
        return iter([self._next(index) for index in range(len(self))])

    def _next(self, index: int) -> Any:
        apart()
        return self[index]

    @property
    def value(self) -> Any:
        return self._under("get", "value")

    @value.setter
    def value(self, new: Any) -> None:
        self._under("set", "value", new)


# ---- blocks -----------------------------------------------------------------------------------------

_mapped: dict[str, mmap.mmap] = {}
"""What this process has inherited or made."""
_seen_by: Any = None
STRANGE = "a block of shared memory that a forked process creates, which others cannot have"
UNSEEN = "shared memory that numpy uses, whose accesses are not seen"


class Names:
    """In the first process: which blocks there are."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}
        self.name = name_for("blocks")

    def create(self, name: str | None, size: int) -> str:
        self._touch(True)
        found = name or f"psm_{len(self.sizes) + 1:08x}"
        if found in self.sizes:
            raise FileExistsError(17, "File exists", f"/{found}")
        self.sizes[found] = size
        return found

    def find(self, name: str) -> int:
        self._touch(False)
        if name not in self.sizes:
            raise FileNotFoundError(2, "No such file or directory", f"/{name}")
        return self.sizes[name]

    def unlink(self, name: str) -> None:
        self._touch(True)
        if name not in self.sizes:
            raise FileNotFoundError(2, "No such file or directory", f"/{name}")
        del self.sizes[name]

    def _touch(self, writes: bool) -> None:
        kernel = running.kernel
        if kernel is not None:
            kernel.visible("write" if writes else "read", self.name, touching(self.name, writes))


class _Names(Shared):
    word = "blocks"


makers["blocks"] = Names
_names: _Names | None = None


def _registry() -> _Names:
    global _names, _seen_by
    if channel.upward is None and _seen_by is not running.kernel:
        _seen_by, _names = running.kernel, None
        _mapped.clear()
    if _names is None:
        _names = _Names()
    return _names


class SharedMemory:
    """In place of `multiprocessing.shared_memory.SharedMemory`."""

    def __init__(self, name: str | None = None, create: bool = False, size: int = 0, **_: Any) -> None:
        if create and size <= 0:
            raise ValueError("'size' must be a positive number different from zero")
        if not create and name is None:
            raise ValueError("'name' can only be None if create is True")
        if create:
            self.name: str = _registry()._call("create", name, size)
            _mapped[self.name] = mmap.mmap(-1, size)
            if channel.upward is not None and running.kernel is not None:
                running.kernel.uncontrolled[STRANGE] = "create it before the process is started"
        else:
            self.name = str(name).lstrip("/")
            size = _registry()._call("find", self.name)
            if self.name not in _mapped:
                _mapped[self.name] = mmap.mmap(-1, size)
        self.size = size
        self._memory: memoryview | None = memoryview(_mapped[self.name])

    @property
    def buf(self) -> Any:
        if self._memory is None:
            return None
        kernel = running.kernel
        if "numpy" in sys.modules and kernel is not None:
            kernel.uncontrolled[UNSEEN] = "explore with multiprocessing.Array, or without numpy"
            return self._memory
        return Buffer(self.name, self._memory, 0)

    def close(self) -> None:
        self._memory = None

    def unlink(self) -> None:
        _registry()._call("unlink", self.name)

    def __reduce__(self) -> Any:
        return type(self), (self.name, False, self.size)


class Buffer:
    """A part of a block: every use of it is an operation."""

    def __init__(self, name: str, memory: memoryview, begin: int) -> None:
        self._name, self._memory, self._begin = name, memory, begin

    def touch(self, first: int, count: int, writes: bool) -> None:
        name = f"block {self._name}"
        if count > LARGE:
            things: tuple[tuple[str, bool], ...] = ((name, writes), (f"{name}[]", writes))
        else:
            offset = self._begin + first
            things = ((name, False), *((f"{name}[{offset + each}]", writes) for each in range(count)))
        if channel.upward is not None:
            channel.ask("touch", f"{name}[{self._begin + first}]", things)
        elif running.kernel is not None:
            footprint = tuple(Access(*each) for each in things)
            kind = "write" if writes else "read"
            running.kernel.visible(kind, f"{name}[{self._begin + first}]", footprint)

    def _range(self, index: slice) -> tuple[int, int]:
        first, last, _ = index.indices(len(self._memory))
        return first, max(last - first, 0)

    def __len__(self) -> int:
        return len(self._memory)

    nbytes = property(__len__)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            first, _ = self._range(index)
            return Buffer(self._name, self._memory[index], self._begin + first)
        place = range(len(self._memory))[index]
        self.touch(place, 1, False)
        return self._memory[place]

    def __setitem__(self, index: Any, new: Any) -> None:
        if isinstance(index, slice):
            self.touch(*self._range(index), True)
            self._memory[index] = bytes(new)
            return
        place = range(len(self._memory))[index]
        self.touch(place, 1, True)
        self._memory[place] = new

    def __bytes__(self) -> bytes:
        self.touch(0, len(self), False)
        return bytes(self._memory)

    def tobytes(self) -> bytes:
        return bytes(self)

    def __eq__(self, other: object) -> bool:
        return bytes(self) == (bytes(other) if isinstance(other, Buffer) else other)

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Any:
        return (self[index] for index in range(len(self)))

    def release(self) -> None:
        pass

    def raw(self, first: int, count: int, writes: bool) -> memoryview:
        """The memory itself, after it was told that so much of it is touched."""
        self.touch(first, count, writes)
        return self._memory


# ---- managers ---------------------------------------------------------------------------------------

READING = frozenset("__getitem__ __len__ __contains__ get keys values items copy count index".split())


class Held:
    """In the first process: what a manager holds."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.name = name_for("held")
        label(self.name, "object of a manager")

    def do(self, method: str, *given: Any) -> Any:
        kernel = running.kernel
        if kernel is not None:
            # A call of C may ask for several things: each is a kind of its own, else it looks like a round.
            kernel.visible(method.strip("_"), self.name, touching(self.name, method not in READING))
        found = getattr(self.value, method)(*given)
        return list(found) if method in ("keys", "values", "items") else found

    def get(self, field: str) -> Any:
        return self.do("__getattribute__", field)

    def set(self, field: str, new: Any) -> None:
        self.do("__setattr__", field, new)


makers["held"] = Held


class _Proxy(Shared):
    word = "held"

    def _do(self, method: str, *given: Any) -> Any:
        return self._call("do", method, *given)

    def __getitem__(self, index: Any) -> Any:
        return self._do("__getitem__", index)

    def __setitem__(self, index: Any, new: Any) -> None:
        self._do("__setitem__", index, new)

    def __delitem__(self, index: Any) -> None:
        self._do("__delitem__", index)

    def __len__(self) -> int:
        found: int = self._do("__len__")
        return found

    def __contains__(self, item: Any) -> bool:
        found: bool = self._do("__contains__", item)
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *given: self._do(name, *given)


class ListProxy(_Proxy):
    def __init__(self, items: Any = ()) -> None:
        super().__init__(list(items))

    def __iter__(self) -> Any:
        return iter(self._do("copy"))

    def __iadd__(self, items: Any) -> ListProxy:
        self._do("extend", list(items))
        return self

    def __str__(self) -> str:
        return str(self._do("copy"))


class DictProxy(_Proxy):
    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(dict(*given, **options))

    def __iter__(self) -> Any:
        return iter(self._do("keys"))

    def __str__(self) -> str:
        return str(self._do("copy"))


class _Fields:
    pass


class Namespace(Shared):
    word = "held"

    def __init__(self, **options: Any) -> None:
        super().__init__(_Fields())
        for name, value in options.items():
            setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._call("get", name)

    def __setattr__(self, name: str, new: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, new)
        else:
            self._call("set", name, new)


__all__ = ["Array", "Buffer", "DictProxy", "ListProxy", "Lock", "Namespace", "SharedMemory", "Value"]
