"""`threading.Thread` and what is made of it (Timer, pools, subclasses): start, end, join, and the exit.

A thread is a task that is a child of the task which starts it. `start` and `end` write the thing that has
the task's name, `join` and `is_alive` read it. A program ends when its first task and all threads that are
no daemons have ended; daemons may do whatever they can until then.
"""

from __future__ import annotations

import _thread
import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

from possibly.control.endings import failures
from possibly.control.endings.deadlock import LEFT
from possibly.control.execution import Access
from possibly.control.loading.callers import tell_of_all
from possibly.control.models import told
from possibly.control.models.locks import RLock
from possibly.control.runtime import batons
from possibly.control.runtime import kernel as running
from possibly.control.runtime.footprints import reading, writing
from possibly.control.runtime.kernel import EXIT, Kernel, Task
from possibly.probes import port
from possibly.probes.patching import Patches

Thread: Any = threading.Thread
_active: dict[int, Any] = threading._active  # type: ignore[attr-defined]


def install(patches: Patches) -> None:
    for name, wrap in (("start", _start), ("join", _join), ("is_alive", _is_alive)):
        patches.put(Thread, name, wrap(getattr(Thread, name)))
    told.install(patches)
    patches.put(Thread, "_bootstrap_inner", _bootstrap(Thread._bootstrap_inner))
    patches.put(threading, "Timer", Timer)
    patches.put(_thread, "start_new_thread", _for_users(_thread.start_new_thread, _started_alone))
    for name in ("allocate_lock", "allocate"):
        patches.put(_thread, name, _for_users(getattr(_thread, name), lambda: threading.Lock()))
    if hasattr(functools, "RLock"):  # of `cached_property`, in some versions
        patches.put(functools, "RLock", RLock)
    threading.excepthook = failures.thread_failed
    for function in (Thread.run, _look_for_work, _call):
        tell_of_all(function)


def _for_users(plain: Any, model: Any) -> Any:
    """For the program itself; libraries that use this have models of their own, or are not modelled."""

    def chosen(*given: Any, **options: Any) -> Any:
        by_user = port.is_user_file(sys._getframe(1).f_code.co_filename)
        return (model if by_user else plain)(*given, **options)

    return chosen


def _started_alone(function: Any, given: tuple[Any, ...], options: Any = None) -> int:
    """`_thread.start_new_thread`: nobody waits for such a thread."""
    thread = threading.Thread(target=function, args=given, kwargs=options or {}, daemon=True)
    thread.start()
    return thread.ident or 0


BEGUN = ("ident", "native_id")
"""The parts of a thread that tell whether it was started."""


def _begun(thread: Any) -> Task | None:
    """The task that a thread is, if it was started: somebody asks who may come before that."""
    told.touch_parts(thread, BEGUN[:1], depth=3)
    return _task_of(thread)


def _task_of(thread: Any) -> Task | None:
    found: Task | None = thread.__dict__.get("_possibly_task")
    return found


def _start(plain: Any) -> Any:
    def start(self: Any) -> None:
        kernel = running.kernel
        if kernel is not None:
            told.touch_parts(self, ("daemon",), BEGUN, 2)
        if kernel is None or self._started.is_set():
            plain(self)
            return
        task = kernel.new_task(str(self.name), bool(self.daemon))
        if kernel.current.loop and kernel.in_step:  # nothing that others do comes before in another way
            kernel.add(Access(task.name, True))
        else:
            kernel.visible("start", task.name, writing(task.name))
        self._possibly_task = task
        kernel.admit(task)
        if batons.launch is not None:
            _launch(batons.launch, self, task, kernel)
            return
        self._started.wait = _at_once  # the thread has stopped at its first operation when we go on
        kernel.run_first_part(task, lambda: plain(self))

    return start


def _at_once(timeout: float | None = None) -> bool:
    return True


def _bootstrap(plain: Any) -> Any:
    def _bootstrap_inner(self: Any) -> None:
        task = _task_of(self)
        kernel = running.kernel
        if task is None or kernel is None:
            plain(self)
            return
        _look_for_work(self)
        plain(self)
        _end(kernel, task)

    return _bootstrap_inner


def _look_for_work(thread: Any) -> Any:
    """What a thread does, which is looked for when it has begun."""
    return thread.run


def _end(kernel: Kernel, task: Task) -> None:
    kernel.visible("end", task.name, writing(task.name), "")
    kernel.opened(("join", task.name), ("exit", task.name))
    kernel.end(task)
    kernel.leave()


def _launch(launch: Any, thread: Any, task: Task, kernel: Kernel) -> None:
    """Begins a thread that has no thread of the system, with what `threading` does for one."""

    def body() -> None:
        identity = thread._ident = threading.get_ident()
        thread._started._flag = True  # nobody waits for it: whoever starts a thread goes on when that stops
        _active[identity] = thread
        try:
            _look_for_work(thread)()
        except SystemExit:
            pass
        except BaseException as error:  # noqa: BLE001 - whatever the program raises is its failure
            failures.note(failures.failure_of(error))
        del _active[identity]
        _end(kernel, task)

    kernel.run_first_part(task, lambda: launch(task, body))


def _join(plain: Any) -> Any:
    def join(self: Any, timeout: float | None = None) -> None:
        task = _begun(self)
        kernel = running.kernel
        if task is None or kernel is None:
            plain(self, timeout)
            return
        if task is kernel.current:
            raise RuntimeError("cannot join current thread")
        kernel.labels.setdefault(task.name, task.label)
        footprint = reading(task.name)
        kernel.visible(
            "join", task.name, footprint, None, lambda: task.ended, timeout, lambda: {"for": [task.name]}
        )

    return join


def _is_alive(plain: Any) -> Any:
    def is_alive(self: Any) -> bool:
        task = _begun(self)
        kernel = running.kernel
        if task is None or kernel is None:
            found: bool = plain(self)
            return found
        kernel.visible("is_alive", task.name, reading(task.name))
        return not task.ended

    return is_alive


class Timer(threading.Thread):
    """A call that happens some time after `start`, unless it is cancelled before."""

    def __init__(self, interval: float, function: Any, args: Any = None, kwargs: Any = None) -> None:
        super().__init__()
        self.interval = interval
        self.function = function
        self.args: Any = args if args is not None else []
        self.kwargs: Any = kwargs if kwargs is not None else {}
        finished: Any = threading.Event()
        finished.quiet = False
        self.finished = finished

    def cancel(self) -> None:
        self.finished.set()

    def run(self) -> None:
        kernel = running.kernel
        if kernel is not None:
            thing = self.finished.name
            flagged = lambda: self.finished._flag  # noqa: E731
            if not kernel.visible("timer", thing, reading(thing), "", flagged, max(self.interval, 0)):
                _call(self)
            self.finished.set()


def _call(timer: Any) -> None:
    timer.function(*timer.args, **timer.kwargs)


alone: Callable[[], list[Task]] = list
"""The tasks that act for processes which nobody has to wait for."""
let_go: Callable[[], None] = lambda: None  # noqa: E731
"""The first process ends: what it has of pipes and sockets it has no more."""


def exit_step(kernel: Kernel) -> None:
    """The first task has nothing left to do: the program ends when all threads but daemons have ended.

    Processes that nobody has to wait for go on without it, as far as they can.
    """
    left = [task for task in alone() if not task.ended]
    first = kernel.all[0]

    def waiting() -> list[Task]:
        return [task for task in kernel.tasks if not task.daemon and task is not first and task not in left]

    def why() -> dict[str, Any]:
        return {"for": [task.name for task in waiting()]}

    if len(kernel.tasks) > 1:
        names = tuple(
            Access(task.name, False) for task in kernel.all[1:] if not task.daemon and task not in left
        )
        ready = lambda: all(task.host is not None for task in waiting())  # noqa: E731
        kernel.visible("exit", first.name, (Access(EXIT, True), *names), "", ready, None, why)
    if any(not task.ended for task in left):
        _go_on_without(kernel, left)


def _go_on_without(kernel: Kernel, left: list[Task]) -> None:
    for task in [each for each in kernel.tasks if each.daemon and each.act is None]:
        kernel.end(task)
    let_go()
    names = tuple(Access(task.name, False) for task in left)
    kernel.visible(LEFT, kernel.all[0].name, names, "", lambda: all(task.ended for task in left))
