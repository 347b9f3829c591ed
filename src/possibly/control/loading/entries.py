"""Which packages tasks enter: the beginning of every function that is not instrumented is heard of.

Law: code that runs while there is another task is instrumented, whoever wrote it. Where a task enters code of
a package that is not, that package is watched from then on, and the search begins anew
(`memory.Memory.enter`). Only what is modelled, and what `packages.ATOMIC` names with its reason, is left.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from possibly.compiled import built
from possibly.control.loading import packages
from possibly.control.runtime import kernel as running
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.places import is_instrumented
from possibly.probes import port

if TYPE_CHECKING:
    from possibly.control.runtime.kernel import Kernel
    from possibly.control.runtime.memory import Memory

_entries: Any = built("possibly.control.loading._entries")


def listen() -> None:
    """From now on, in every thread of this process, an execution begins."""
    forget()
    if _entries is not None:
        _entries.begin(entered)
    else:
        threading.setprofile(_profiled)
        sys.setprofile(_profiled)


OTHERS, OURS, BOOKKEEPERS, LENT = range(4)
"""Kinds of code; other packages have the numbers that follow. Of these and LENT alone one hears again, but
not where OURS calls them, nor of LENT where BOOKKEEPERS do (`_is_ours`; the compiled form knows it too)."""
_packages: dict[str, int] = {}


def entered(code: CodeType) -> int:
    """Code begins or goes on; the answer is its kind."""
    root = packages.root_of_file(code.co_filename)
    if not root or is_instrumented(code) or packages.is_dull(code, root):
        return _kind_of_untold(code)
    kernel, memory = running.kernel, accesses.memory
    if kernel is None or memory is None or kernel.ending or kernel.quiet or kernel.current.looks:
        pass  # nothing of it is the program's, or all of it is one step that was told
    elif len(kernel.tasks) < 2:
        packages.alone[id(code)] = code
    elif _latest == (id(memory), len(kernel.steps), id(kernel.current), root):
        kernel.current.trail.turn()
    elif not _is_ours(sys._getframe(), root) and not _is_of_a_step(sys._getframe(1)):
        memory.enter(kernel, root, code)
        _note(kernel, memory, root)
    return LENT if root in packages.LENT else _packages.setdefault(root, LENT + 1 + len(_packages))


_latest: tuple[int, int, int, str] = (0, 0, 0, "")
"""In which execution, step and task a package was entered last, if that says all: a turn of an event loop is
one step, and which packages it runs is all that matters of it."""


def forget() -> None:
    """Another execution begins."""
    global _latest
    _latest = (0, 0, 0, "")


def _note(kernel: Kernel, memory: Memory, root: str) -> None:
    global _latest
    says_all = root not in sys.stdlib_module_names and root not in packages.OF_TRIO
    if says_all and kernel.current.host is not None and not kernel.is_mixed:
        _latest = id(memory), len(kernel.steps), id(kernel.current), root


def _kind_of_untold(code: CodeType) -> int:
    if code.co_filename.startswith(port._OWN):
        return OURS
    return BOOKKEEPERS if packages.is_bookkeeping(code) else OTHERS


def _is_ours(frame: FrameType | None, root: str) -> bool:
    """Whether it is possibly itself that calls the package."""
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    if root in packages.LENT:
        return packages.is_lent(frame)
    while frame is not None and packages.root_of_file(frame.f_code.co_filename) == root:
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(port._OWN)


def _is_of_a_step(frame: FrameType | None) -> bool:
    """Whether code whose calls are one step calls the package, as importing asks who finds a module."""
    while frame is not None:
        known = _callers.get(id(code := frame.f_code))
        means = _as_caller(code) if known is None else known[1]
        if means != ANY:
            return means == STEP
        frame = frame.f_back
    return False


ANY, TELLING, STEP = range(3)
"""What a caller means for what it calls: nothing, that it is told of, that it is a part of one step."""
_callers: dict[int, tuple[CodeType, int]] = {}
"""Number of code that has called something -> the code, which is kept for the number, and what it means."""


def _as_caller(code: CodeType) -> int:
    if is_instrumented(code):
        means = TELLING
    else:
        root = packages.root_of_file(code.co_filename)
        means = STEP if (root and packages.is_dull(code, root)) or _asks_finders(code) else ANY
    _callers[id(code)] = code, means
    return means


def _asks_finders(code: CodeType) -> bool:
    return code.co_name == "_find_spec" and code.co_filename.startswith("<frozen importlib")


_dull: set[CodeType] = set()


def _profiled(frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
    if event == "call" and (code := frame.f_code) not in _dull and entered(code) < LENT:
        _dull.add(code)
    return None
