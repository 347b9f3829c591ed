"""`concurrent.futures.Future`: every method that looks at or changes a future is one step on it.

The future's own condition is quiet; a wait is a step that is enabled when the future is done, so the plain
code behind it never waits. `wait` and `as_completed` are over when enough futures are done.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from possibly.control.execution import Access
from possibly.control.models.primitives import label, name_for
from possibly.control.runtime import kernel as running
from possibly.control.runtime.kernel import Kernel, Task
from possibly.probes import port
from possibly.probes.patching import Patches

DONE = ("CANCELLED", "CANCELLED_AND_NOTIFIED", "FINISHED")
OUTCOME, RUNNING, CALLBACKS = "", ".running", ".callbacks"
"""What a future is to others: what has come of it, whether somebody works on it, and who wants to be told."""
CHANGES = {
    "set_result": (Access(OUTCOME, True),),
    "set_exception": (Access(OUTCOME, True),),
    "cancel": (Access(OUTCOME, True), Access(RUNNING, True)),
    "set_running_or_notify_cancel": (Access(OUTCOME, False), Access(RUNNING, True)),
    "add_done_callback": (Access(OUTCOME, False), Access(CALLBACKS, True)),
}
LOOKS = {
    "done": (Access(OUTCOME, False),),
    "cancelled": (Access(OUTCOME, False),),
    "running": (Access(OUTCOME, False), Access(RUNNING, False)),
}


def install(patches: Patches) -> None:
    from concurrent import futures
    from concurrent.futures import _base

    kind: Any = _base.Future
    patches.put(kind, "__init__", _named(kind.__init__))
    for name, touched in (CHANGES | LOOKS).items():
        patches.put(kind, name, _step(getattr(kind, name), name, touched))
    for name in ("result", "exception"):
        patches.put(kind, name, _waiting(getattr(kind, name), name))
    for module in (_base, futures):
        patches.put(module, "wait", _wait(module.wait))
        patches.put(module, "as_completed", _as_completed(module.as_completed))


def name_of(future: Any) -> str:
    found: str | None = future.__dict__.get("_possibly_name")
    if found is None:
        found = future._possibly_name = name_for("future")
        label(found, "future", 3)
    return found


def _named(plain: Any) -> Any:
    """A future has its name from the task that makes it, whoever uses it first."""

    def __init__(self: Any) -> None:  # noqa: N807
        plain(self)
        if running.kernel is not None:
            name_of(self)

    return __init__


def is_done(future: Any) -> bool:
    return future._state in DONE


def is_of_turn(kernel: Kernel) -> bool:
    """Whether a turn of an event loop runs: what commutes with all that others can do belongs to its step."""
    return bool(kernel.current.loop) and kernel.in_step


def touch(kernel: Kernel, footprint: tuple[Access, ...]) -> None:
    for each in footprint:
        kernel.add(each)


def _is_no_choice(future: Any, kind: str) -> bool:
    """Whether others could do nothing just before that makes a difference.

    What has come of a future stays so. A call that a loop has handed to a thread may be over before the loop
    asks to be told: that is as if it were over just afterwards, for what the loop is told comes to it later.
    """
    if kind == "add_done_callback":
        return running.kernel is not None and running.kernel.current in _handing_over
    return is_done(future) and kind in READS


READS = frozenset({"result", "exception", "done", "cancelled"})
_handing_over: list[Task] = []
"""Whose turns are in the middle of that."""


def _hands_over(plain: Any) -> Any:
    """`run_in_executor`, which has a call executed and asks to be told of its end."""

    def run_in_executor(self: Any, *given: Any) -> Any:
        kernel = running.kernel
        if kernel is None:
            return plain(self, *given)
        current = kernel.current
        _handing_over.append(current)
        try:
            return plain(self, *given)
        finally:
            _handing_over.remove(current)

    return run_in_executor


def install_in_loop(patches: Patches, loop: Any) -> None:
    patches.put(loop, "run_in_executor", _hands_over(loop.run_in_executor))


def _step(plain: Any, kind: str, touched: tuple[Access, ...]) -> Any:
    def told(self: Any, *given: Any, **options: Any) -> Any:
        kernel = running.kernel
        if kernel is not None and (kind in CHANGES or not port.called_by_library()):
            name = name_of(self)
            footprint = tuple(Access(f"{name}{part}", writes) for part, writes in touched)
            if is_of_turn(kernel) and _is_no_choice(self, kind):
                touch(kernel, footprint)
                return plain(self, *given, **options)
            kernel.visible(kind, name, footprint)
            if kind in ("set_result", "set_exception", "cancel") and not is_done(self):
                kernel.opened(("result", name))
        return plain(self, *given, **options)

    told.__name__ = plain.__name__
    return told


def _waiting(plain: Any, kind: str) -> Any:
    def told(self: Any, timeout: float | None = None) -> Any:
        kernel = running.kernel
        if kernel is None:
            return plain(self, timeout)
        name = name_of(self)
        if is_of_turn(kernel) and _is_no_choice(self, kind):
            touch(kernel, (Access(name, False),))
        else:
            kernel.visible("result", name, (Access(name, False),), None, lambda: is_done(self), timeout)
        return plain(self, 0)

    told.__name__ = plain.__name__
    return told


def _enough(futures: list[Any], when: str) -> bool:
    done = [future for future in futures if is_done(future)]
    if len(done) == len(futures) or (done and when == "FIRST_COMPLETED"):
        return True
    return when == "FIRST_EXCEPTION" and any(f._state == "FINISHED" and f._exception for f in done)


def _wait(plain: Any) -> Any:
    def wait(fs: Any, timeout: float | None = None, return_when: str = "ALL_COMPLETED") -> Any:
        kernel = running.kernel
        futures = list(fs)
        if kernel is None or not futures:
            return plain(futures, timeout, return_when)
        _until(futures, timeout, return_when)
        return plain(futures, 0, return_when)

    return wait


def _until(futures: list[Any], timeout: float | None, when: str) -> bool:
    kernel = running.kernel
    assert kernel is not None
    footprint = tuple(Access(name_of(future), False) for future in futures)
    thing = footprint[0].thing
    return kernel.visible("wait for futures", thing, footprint, None, lambda: _enough(futures, when), timeout)


def _as_completed(plain: Any) -> Any:
    def as_completed(fs: Any, timeout: float | None = None) -> Iterator[Any]:
        if running.kernel is None:
            yield from plain(fs, timeout)
            return
        left = list(dict.fromkeys(fs))
        while left:
            if not _until(left, timeout, "FIRST_COMPLETED"):
                raise TimeoutError(f"{len(left)} futures unfinished")
            for future in [each for each in left if is_done(each)]:
                left.remove(future)
                yield future

    return as_completed
