"""What takes the place of what in `multiprocessing`, whichever way the program starts its processes.

Pools of other libraries and programs of their own are not under control: what they do is noticed
(`runtime.outside`), and the verdict stays open.
"""

from __future__ import annotations

import struct
import sys
from functools import partial
from importlib import import_module
from multiprocessing import context
from typing import Any

from possibly.control.runtime import kernel as running
from possibly.control.runtime.calls import tell_of_callback
from possibly.control.world.processes import queues, sync, values
from possibly.control.world.processes.pooling import thread_pools
from possibly.control.world.processes.pooling.pools import Pool
from possibly.control.world.processes.popen import Popen
from possibly.probes import port
from possibly.probes.patching import Patches

MADE: dict[str, Any] = {
    "Lock": sync.Lock, "RLock": sync.RLock, "Semaphore": sync.Semaphore, "Event": sync.Event,
    "BoundedSemaphore": sync.BoundedSemaphore, "Condition": sync.Condition, "Barrier": sync.Barrier,
    "Queue": queues.Queue, "JoinableQueue": queues.JoinableQueue, "SimpleQueue": queues.SimpleQueue,
    "Pipe": queues.pipe, "Value": values.Value, "Array": values.Array, "Pool": Pool,
}  # fmt: skip


CLASSES = {
    "queues": "Queue JoinableQueue SimpleQueue",
    "synchronize": "Lock RLock Semaphore BoundedSemaphore Condition Event",
    "connection": "Pipe",
    "pool": "Pool",
}
"""Module of `multiprocessing` -> what it has of these."""
SPAWNED = "a process that a package spawns, which is not under control"
BY_PROGRAM = "processes that the program itself starts are under control"
FORK = "what a function of the program does in a multiprocessing.Process is under control"


def _is_for(frame: Any) -> bool:
    """Packages that look after processes of their own get the real things."""
    return running.kernel is not None and port.is_user_file(frame.f_code.co_filename)


def _made(plain: Any, model: Any) -> Any:
    def make(self: Any, *given: Any, **options: Any) -> Any:
        if not _is_for(sys._getframe(1)):
            return plain(self, *given, **options)
        return model(*given, **options, **({"context": self} if model is Pool else {}))

    return make


def _raw(plain: Any, model: Any) -> Any:
    def make(self: Any, *given: Any) -> Any:
        return model(*given, lock=False) if _is_for(sys._getframe(1)) else plain(self, *given)

    return make


def _function(plain: Any, model: Any) -> Any:
    """Likewise, as a function of a module rather than a method of a context."""

    def make(*given: Any, **options: Any) -> Any:
        return (model if _is_for(sys._getframe(1)) else plain)(*given, **options)

    return make


def _program(plain: Any) -> Any:
    def fork_exec(*given: Any) -> Any:
        kernel = running.kernel
        if kernel is not None and sys._getframe(2).f_code.co_name != "ensure_running":
            kernel.uncontrolled["another program, which is not under control"] = FORK
        return plain(*given)

    return fork_exec


class Manager:
    """In place of the process of a manager: what it holds is in the first process."""

    dict, list, Namespace, Value, Array = (
        values.DictProxy, values.ListProxy, values.Namespace, values.Value, values.Array,
    )  # fmt: skip
    Lock, RLock, Semaphore, Event, Condition, Barrier = (
        sync.Lock, sync.RLock, sync.Semaphore, sync.Event, sync.Condition, sync.Barrier,
    )  # fmt: skip
    Queue, JoinableQueue = queues.SimpleQueue, queues.JoinableQueue

    def shutdown(self) -> None:
        pass

    def __enter__(self) -> Manager:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def _is_by_user(frame: Any) -> bool:
    """Whether the program itself starts a process, or a pool of ours does so for it."""
    while frame is not None and "multiprocessing" in frame.f_globals.get("__name__", ""):
        frame = frame.f_back
    file = frame.f_code.co_filename if frame is not None else ""
    return port.is_user_file(file) or file.startswith(port._OWN)


def _popen(plain: Any, method: str) -> Any:
    def start(process: Any) -> Any:
        kernel = running.kernel
        if kernel is None or not _is_by_user(sys._getframe(1)):
            if kernel is not None and method != "fork":
                kernel.uncontrolled[SPAWNED] = BY_PROGRAM
            return plain(process)
        return Popen(process, method)

    return staticmethod(start)


def _on_buffer(plain: Any, size: Any, writes: bool) -> Any:
    """`struct.unpack_from` and `pack_into`, also of memory that processes share."""

    def packed(form: Any, buffer: Any, *given: Any, **options: Any) -> Any:
        if not isinstance(buffer, values.Buffer):
            tell_of_callback(plain, (form, buffer, *given))
            return plain(form, buffer, *given, **options)
        first = options.get("offset", given[0] if given else 0)
        return plain(form, buffer.raw(first, size(form), writes), *given, **options)

    return packed


def install(patches: Patches) -> None:
    base: Any = context.BaseContext
    for name, model in MADE.items():
        patches.put(base, name, _made(getattr(base, name), model))
    patches.put(base, "Manager", _made(base.Manager, Manager))
    patches.put(base, "RawValue", _raw(base.RawValue, values.Value))
    patches.put(base, "RawArray", _raw(base.RawArray, values.Array))
    for kind in (context.ForkProcess, context.SpawnProcess, context.ForkServerProcess):
        patches.put(kind, "_Popen", _popen(kind._Popen, kind._start_method))
    system: Any = import_module("_posixsubprocess")
    patches.put(system, "fork_exec", _program(system.fork_exec))
    patches.put(struct, "unpack_from", _on_buffer(struct.unpack_from, struct.calcsize, False))
    patches.put(struct, "pack_into", _on_buffer(struct.pack_into, struct.calcsize, True))
    patches.when_imported("multiprocessing.shared_memory", _install_memory)
    patches.when_imported("multiprocessing.sharedctypes", _install_values)
    for module, names in CLASSES.items():
        patches.when_imported(f"multiprocessing.{module}", partial(_install_classes, module, names))
    _reinstall(patches)


def _reinstall(patches: Patches) -> None:
    """The functions of the package are methods of its context, which were taken when it was imported."""
    package: Any = sys.modules["multiprocessing"]
    default = package.context._default_context
    for name in (*MADE, "Manager", "RawValue", "RawArray"):
        patches.put(package, name, getattr(default, name))


def _install_classes(module: str, names: str, patches: Patches) -> None:
    """The same by the names of the modules in which their classes are."""
    found: Any = sys.modules[f"multiprocessing.{module}"]
    for name in names.split():
        plain = getattr(found, name)
        wrap = _chosen if isinstance(plain, type) else _function
        patches.put(found, name, wrap(plain, MADE[name]))
    if module == "pool":
        thread_pools.install(found, patches)


def _chosen(plain: Any, model: Any) -> Any:
    """A class of which the program gets models; one that it derives from it makes the real thing."""

    class Chosen(plain):  # type: ignore[misc]
        def __new__(cls, *given: Any, **options: Any) -> Any:
            kernel = running.kernel
            if cls is Chosen and _is_for(sys._getframe(1)):
                return model(*given, **{name: each for name, each in options.items() if name != "ctx"})
            if kernel is not None and port.is_user_file(sys._getframe(1).f_code.co_filename):
                kernel.uncontrolled[f"a class of its own that is a {plain.__name__} of multiprocessing"] = (
                    "one that is no class of its own is under control"
                )
            return plain.__new__(cls)

    Chosen.__name__, Chosen.__qualname__ = plain.__name__, plain.__qualname__
    Chosen.__module__ = plain.__module__
    return Chosen


def _install_values(patches: Patches) -> None:
    """The same by the names of the module in which they are made."""
    module: Any = sys.modules["multiprocessing.sharedctypes"]
    for name, model in (("Value", values.Value), ("Array", values.Array)):
        patches.put(module, name, _function(getattr(module, name), model))
        raw = getattr(module, f"Raw{name}")
        patches.put(module, f"Raw{name}", _function(raw, partial(model, lock=False)))


def _install_memory(patches: Patches) -> None:
    module: Any = sys.modules["multiprocessing.shared_memory"]
    plain = module.SharedMemory

    class Chosen(values.SharedMemory):
        def __new__(cls, *given: Any, **options: Any) -> Any:
            if running.kernel is None:
                return plain(*given, **options)
            return super().__new__(cls)

    Chosen.__name__ = Chosen.__qualname__ = "SharedMemory"
    patches.put(module, "SharedMemory", Chosen)
