"""A program as the rest of possibly sees it: something to be executed under control, again and again.

Its processes are in `forks`: one in which it is compiled, and those that are forked from that.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from possibly.control.execution import Execution, Outcome, Scheduler
from possibly.control.runtime import loading, process
from possibly.control.runtime.encode import decoded
from possibly.control.runtime.forks import Stream, Zygote
from possibly.control.runtime.install import install_all
from possibly.control.runtime.lasting import Life
from possibly.control.runtime.patience import TimeIsUp
from possibly.control.runtime.process import Job
from possibly.errors import PossiblyError
from possibly.probes.following import followed
from possibly.probes.patching import Patches
from possibly.verdict.reasons import OUTSIDE, Reason

FRESH = os.environ.get("POSSIBLY_FRESH", "") not in ("", "0")
"""Every execution has a process of its own, whatever the program does."""


class ControlledProgram:
    """A program that can be executed under a scheduler, again and again (`Program` of the interface)."""

    def __init__(self, prepare: Callable[[], Callable[[], Any]], **options: Any) -> None:
        self._prepare = prepare
        self._zygote: Zygote | None = None
        self.options = options
        self.visible: set[str] = set()
        """Families whose accesses are choice points; it only grows."""
        self.grown = False
        """The last execution found families that were hidden before: what was explored must be repeated."""
        self.repeat = False
        """The last execution cannot be learnt from: the search begins anew without it."""
        self.assumed: dict[str, None] = {}
        self.reasons: dict[str, Reason] = {}
        """Of what was not under control: where that was, and what helps."""
        self.left: dict[str, None] = {}
        """Families that race and are not among those asked for."""
        self.watching: set[str] = set()
        """Names that claims of the program speak of; it only grows."""
        self._told_of: frozenset[str] = frozenset()
        """What the zygote that lives tells of."""
        self.claims: list[tuple[str, str, str, list[str]]] = []
        """What the program claimed in the last execution (`following`)."""
        self.initial: dict[str, Any] = {}
        """Values of watched variables before the last execution had a second task."""
        self._known: set[tuple[str, str]] = set()
        self._modules: dict[str, None] = {}
        self._begun = 0
        """Executions that are on their way."""
        self._last: Execution | None = None
        """The last execution, if it was not the first in its process."""
        self._distrusted = False
        self._stale = False
        """The zygote does not know all that the program imports."""
        self.until: float | None = None
        """When the time that the user gave is over, by the clock of this process."""

    def execute(self, scheduler: Scheduler) -> Execution:
        """One execution, in a process of its own."""
        self.begin(scheduler, fresh=True)
        return self.end()

    def begin(self, scheduler: Scheduler, fresh: bool = False) -> None:
        """Lets an execution run; several can be on their way at a time, and end in the same order."""
        if (self._stale or self._told_of != self.watched) and not self._begun:
            self.close()
        self._begin(self._job(), scheduler, fresh or self._distrusted or FRESH)

    def _begin(self, job: Job, scheduler: Scheduler, fresh: bool) -> None:
        self._begun += 1
        self.zygote().begin(job, scheduler, fresh)

    def fileno(self) -> int:
        return self.zygote().fileno()

    def end(self) -> Execution:
        """The execution that was begun, when it is over."""
        self._begun -= 1
        execution, extra = self._answer()
        self._last = execution if extra.get("used") else None
        found = set(extra.get("racy", ())) - self.visible
        self.grown = bool(found)
        self.repeat = bool(extra.get("repeat"))
        self.visible |= found
        self.left.update(dict.fromkeys(extra.get("left", ())))
        self.initial = extra.get("initial", {})
        self.claims = extra.get("claims", [])
        self.assumed.update(dict.fromkeys(extra.get("assumed", ())))
        places = extra.get("places", {})
        for what, remedy in extra.get("remedies", {}).items():
            self.reasons.setdefault(what, Reason(places.get(what, ""), remedy or OUTSIDE))
        self._warm_up(extra)
        return execution

    def agrees(self) -> bool:
        """Whether the last execution is the same in a fresh process: nothing came from those before it."""
        last = self._last
        if last is None:
            return True
        from possibly.control.schedulers.course import Course

        self._begin(self._job(is_repeatable=True), Course(last.schedule), fresh=True)
        self._begun -= 1
        return self._answer()[0] == last

    def _answer(self) -> tuple[Execution, dict[str, Any]]:
        """Of the execution that was begun first; if it is not waited for, all that run are given up."""
        try:
            return self.zygote().answer(self.until)
        except (TimeIsUp, KeyboardInterrupt):
            self.close()
            raise

    @property
    def is_reused(self) -> bool:
        """The last execution was not the first in its process."""
        return self._last is not None

    def distrust(self) -> None:
        """From now on every execution has a process of its own."""
        self._distrusted = True
        self._last = None

    @property
    def files(self) -> list[str]:
        """The user's source files that executions have loaded."""
        return sorted({file for file, _ in self._known})

    def twin(self) -> ControlledProgram:
        """The same program for another worker; what is visible is so for both."""
        other = ControlledProgram(self._prepare, **self.options)
        other.visible, other.watching = self.visible, self.watching
        return other

    def learn_from(self, twin: ControlledProgram) -> None:
        """Takes over what the last execution of a twin showed."""
        self.grown, self.repeat, self.initial = twin.grown, twin.repeat, twin.initial
        self.claims = twin.claims
        self.assumed.update(twin.assumed)
        self.reasons.update(twin.reasons)
        self.left.update(twin.left)

    def debug(self, scheduler: Scheduler, at_failure: bool = False) -> Execution:
        """One execution under the line debugger, with the terminal for itself.

        It stops at the first line, or only where an exception is not caught.
        """
        results, out = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                job = self._job(debug=True, at_failure=at_failure)
                process.run(job, scheduler, self._prepared(), Stream(out), Life())
            finally:
                os._exit(0)
        os.close(out)
        with os.fdopen(results, "rb") as stream:
            data = stream.read()
        os.waitpid(child, 0)
        if not data:
            return Execution((), Outcome.CUT_OFF, uncontrolled=("the debugger was left",))
        return decoded(data)[0]

    def zygote(self) -> Zygote:
        if self._zygote is None:
            self._told_of = self.watched
            self._zygote = Zygote(lambda: self._prepared())
        return self._zygote

    @property
    def watched(self) -> frozenset[str]:
        """Words by which specifications and claims speak of variables."""
        return frozenset(self.options.get("watched", ())) | self.watching

    def watch(self, names: set[str]) -> None:
        """Tells of these from the next execution on."""
        self.watching |= names
        self.grown = self.repeat = True

    def _job(self, **more: Any) -> Job:
        options = {**self.options, "watched": self.watched}
        return Job(frozenset(self.visible), **options, **more)

    def _prepared(self) -> Callable[[], Any]:
        followed.names, followed.functions = self.watched, self.options.get("functions", frozenset())
        program = self._prepare()
        for name in sorted(self._modules, key=_is_ours):  # else in the order in which the program got them
            try:
                import_module(name)
            except Exception:  # noqa: BLE001 - the program meets it as well, and may catch it
                pass
        for file, module in self._known:
            loading.code_of(file, module)
        return program

    def _warm_up(self, extra: dict[str, Any]) -> None:
        """A zygote that knows what the program imports is made when that is news."""
        self._known |= {(file, module) for file, module in extra.get("files", ())}
        modules = [name for name in extra.get("modules", ()) if name not in self._modules]
        if modules or extra.get("compiled"):
            self._modules.update(dict.fromkeys(modules))
            self._stale = True

    def close(self) -> None:
        if self._zygote is not None:
            self._zygote.close()
            self._zygote = None
        self._stale, self._begun = False, 0

    def __enter__(self) -> ControlledProgram:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_ours(module: str) -> bool:
    """Models come with what they model: one that is imported first would be asked for before it is there."""
    return module.startswith("possibly.")


def script(words: tuple[str, ...], **options: Any) -> ControlledProgram:
    """A program as it stands on a command line: a file, or -m and a module, and its arguments."""
    return ControlledProgram(lambda: _prepared_script(words), **options)


def _prepared_script(words: tuple[str, ...]) -> Callable[[], Any]:
    patches = Patches()
    install_all(patches)
    sys.meta_path.insert(0, loading.Finder(patches))
    file, arguments, package = _located(words)

    def program() -> None:
        sys.argv = [file, *arguments]
        loader = loading.Main("__main__", file)
        module = ModuleType("__main__")
        module.__dict__.update(
            __builtins__=sys.modules["builtins"],
            __file__=file,
            __annotations__={},
            __package__=package,
            __loader__=loader,
        )
        sys.modules["__main__"] = module
        loader.exec_module(module)

    loading.code_of(file, "__main__")
    return program


def _located(words: tuple[str, ...]) -> tuple[str, list[str], str | None]:
    if words[0] == "-m":
        import importlib.util

        sys.path[0] = os.getcwd()
        spec = importlib.util.find_spec(words[1])
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{words[1]}.__main__")
        if spec is None or spec.origin is None:
            raise PossiblyError(f"no module named {words[1]}")
        return spec.origin, list(words[2:]), spec.parent
    path = os.path.abspath(words[0])
    if os.path.isdir(path):
        sys.path[0] = path
        return os.path.join(path, "__main__.py"), list(words[1:]), None
    sys.path[0] = os.path.dirname(path)
    return path, list(words[1:]), None
