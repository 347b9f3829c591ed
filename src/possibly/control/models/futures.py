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


def _step(plain: Any, kind: str, touched: tuple[Access, ...]) -> Any:
    def told(self: Any, *given: Any, **options: Any) -> Any:
        kernel = running.kernel
        if kernel is not None and (kind in CHANGES or not port.called_by_library()):
            name = name_of(self)
            kernel.visible(kind, name, tuple(Access(f"{name}{part}", writes) for part, writes in touched))
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
