"""A program as the rest of possibly sees it: something to be executed under control, again and again.

Its processes are in `forks`: one in which it is compiled, and those that are forked from that.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, Protocol

from possibly.control.execution import Execution, Outcome, Scheduler, Seen
from possibly.control.forking import execution as process
from possibly.control.forking.execution import Job
from possibly.control.forking.forks import Zygote
from possibly.control.forking.lasting import Life
from possibly.control.forking.patience import TimeIsUp
from possibly.control.forking.runner import Stream
from possibly.control.loading import evaluated, packages
from possibly.control.loading import instrumented as loading
from possibly.control.loading.ahead import imported
from possibly.control.loading.beneath import beneath
from possibly.control.loading.install import install_all
from possibly.control.loading.packages import PACKAGE, Entered
from possibly.control.models import earlier, locks
from possibly.control.models.locks import LOCKS
from possibly.control.runtime.encode import decoded
from possibly.control.runtime.memory import LIBRARIES
from possibly.errors import PossiblyError
from possibly.probes.patching import Patches
from possibly.probes.watching.following import followed
from possibly.verdict.reasons import OUTSIDE, Reason

FRESH = os.environ.get("POSSIBLY_FRESH", "") not in ("", "0")
"""Every execution has a process of its own, whatever the program does."""


class Host(Protocol):
    """Runs jobs one after another and answers in the same order: a `Zygote`, or one on another machine."""

    def begin(self, job: Job, scheduler: Scheduler, fresh: bool = True) -> None: ...

    def fileno(self) -> int: ...

    def answer(self, until: float | None = None) -> tuple[Execution, dict[str, Any]]: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Knowledge:
    """What executions have shown of a program, as another process is told of it."""

    visible: frozenset[str] = frozenset()
    watching: frozenset[str] = frozenset()
    entered: frozenset[Entered] = frozenset()
    modules: tuple[str, ...] = ()
    files: frozenset[tuple[str, str]] = frozenset()
    assumed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    in_turns: tuple[str, ...] = ()
    reasons: dict[str, Reason] = field(default_factory=dict)


class ControlledProgram:
    """A program that can be executed under a scheduler, again and again (`Program` of the interface)."""

    def __init__(self, prepare: Callable[[], Callable[[], Any]], **options: Any) -> None:
        self._prepare = prepare
        self._zygote: Host | None = None
        self.elsewhere: Callable[[ControlledProgram], Host] | None = None
        """Makes what runs executions, if that is not a process of this machine."""
        self.options = options
        self.path = ""
        """The file of the program itself, if it has one."""
        self.visible: set[str] = set()
        """Families whose accesses are choice points; it only grows."""
        self._ordering: dict[str, set[str]] = {}
        """Locks that became choice points, and the families of accesses that they seem to order."""
        self.grown = False
        """The last execution found families that were hidden before: what was explored must be repeated."""
        self.repeat = False
        """The last execution cannot be learnt from: the search begins anew without it."""
        self.assumed: dict[str, None] = {}
        self.reasons: dict[str, Reason] = {}
        """Of what was not under control: where that was, and what helps."""
        self.left: dict[str, None] = {}
        """Families that race and are not among those asked for."""
        self.in_turns: dict[str, None] = {}
        """Packages that are not watched and whose code turns of event loops have run."""
        self.watching: set[str] = set()
        """Names that claims of the program speak of; it only grows."""
        self._told_of: tuple[frozenset[Any], ...] = ()
        """What the zygote that lives is prepared for."""
        self.claims: list[tuple[str, str, str, list[str]]] = []
        """What the program claimed in the last execution (`following`)."""
        self.initial: dict[str, Any] = {}
        """Values of watched variables before the last execution had a second task."""
        self._known: set[tuple[str, str]] = set()
        self.entered: set[Entered] = set()
        """Code of packages that is instrumented; it only grows."""
        self._texts: list[tuple[bytes, str]] = []
        """What executions make of texts."""
        self._modules: dict[str, None] = {}
        self._begun = 0
        """Executions that are on their way."""
        self.extra: dict[str, Any] = {}
        """What the last execution told beside its steps."""
        self._last: Execution | None = None
        """The last execution that came to its end, if its process did not begin at the beginning for it."""
        self._is_branched = False
        """That process was forked in the middle of another execution."""
        self.is_reused = False
        """The last execution was not the first in its process, or that was forked in the middle of one."""
        self.distrusted = ""
        """Why every execution has a process of its own, if some were not the same in one."""
        self._broken = 0
        """Processes of zygotes before this one that ended by an error of ours."""
        self.writes_files = False
        """Some execution has changed files: no two may run at a time."""
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
        if (self._stale or self._told_of != self._prepared_for()) and not self._begun:
            self.close()
        self._begin(self._job(), scheduler, fresh or self.is_distrusted)

    def _begin(self, job: Job, scheduler: Scheduler, fresh: bool) -> None:
        self._begun += 1
        self.zygote().begin(job, scheduler, fresh)

    def fileno(self) -> int:
        return self.zygote().fileno()

    def end(self) -> Execution:
        """The execution that was begun, when it is over."""
        self._begun -= 1
        return self.learnt(*self._answer())

    def answered(self, job: Job, scheduler: Scheduler, fresh: bool) -> tuple[Execution, dict[str, Any]]:
        """One execution for a program that is controlled elsewhere: what that one is to learn from."""
        if self._stale or self._told_of != self._prepared_for():
            self.close()
        self._begin(job, scheduler, fresh)
        self._begun -= 1
        execution, extra = self._answer()
        self.learnt(execution, extra)
        return execution, extra

    def knowledge(self) -> Knowledge:
        """What a process elsewhere needs to execute as this one does."""
        return Knowledge(
            frozenset(self.visible),
            frozenset(self.watching),
            frozenset(self.entered),
            tuple(self._modules),
            frozenset(self._known),
            tuple(self.assumed),
            tuple(self.left),
            tuple(self.in_turns),
            dict(self.reasons),
        )

    def take_over(self, known: Knowledge) -> None:
        """From now on executions are as where that is known."""
        news = [name for name in known.modules if name not in self._modules]
        self._stale |= bool(news) or not known.files <= self._known
        self._modules.update(dict.fromkeys(news))
        self._known |= known.files
        self.visible, self.watching = set(known.visible), set(known.watching)
        self.entered = set(known.entered)

    def add(self, known: Knowledge) -> None:
        """Executions elsewhere have shown this beside their steps."""
        self.assumed.update(dict.fromkeys(known.assumed))
        self.left.update(dict.fromkeys(known.left))
        self.in_turns.update(dict.fromkeys(known.in_turns))
        self.reasons.update(known.reasons)
        self._known |= known.files

    def learnt(self, execution: Execution, extra: dict[str, Any]) -> Execution:
        """The execution, after all that it told beside its steps is taken in."""
        self.extra, entered = extra, frozenset(self.entered)
        if (seen := extra.get("seen")) is not None:
            execution = replace(execution, seen=Seen(*seen))
        self.is_reused = bool(extra.get("used"))
        if not self.is_reused:
            self._last = None
        elif execution.outcome is not Outcome.CUT_OFF:  # what was cut off would not end there again
            self._last, self._is_branched = execution, bool(extra.get("branched"))
        self.writes_files = self.writes_files or bool(extra.get("wrote"))
        found = set(extra.get("racy", ())) - self.visible
        self.grown = bool(found)
        self.repeat = bool(extra.get("repeat"))
        self.visible |= found
        self._hide(extra.get("ordering", {}))
        self._enter(extra)
        self.left.update(dict.fromkeys(extra.get("left", ())))
        self.in_turns.update(dict.fromkeys(extra.get("in_turns", ())))
        self.initial = extra.get("initial", {})
        self.claims = extra.get("claims", [])
        self.assumed.update(dict.fromkeys(extra.get("assumed", ())))
        places = extra.get("places", {})
        for what, remedy in extra.get("remedies", {}).items():
            self.reasons.setdefault(what, Reason(places.get(what, ""), remedy or OUTSIDE))
        self._warm_up(extra)
        is_settled = not (self.grown or self.repeat)
        return replace(execution, visible=frozenset(self.visible), entered=entered, is_settled=is_settled)

    def _hide(self, ordering: dict[str, list[str]]) -> None:
        """Locks that were shown for what they seemed to order are hidden again if that races all the same."""
        for lock, ordered in ordering.items():
            self._ordering.setdefault(lock, set()).update(ordered)
        for lock in [lock for lock, ordered in self._ordering.items() if ordered <= self.visible]:
            del self._ordering[lock]
            self.visible.discard(lock)
            self.grown = self.repeat = True

    def agrees(self) -> bool:
        """Whether the last execution is the same in a fresh process: nothing came from those before it."""
        return not self.difference()

    def difference(self) -> str:
        """What is not the same if the last execution is repeated in a fresh process: it came from others."""
        last = self._last
        if last is None:
            return ""
        from possibly.control.schedulers.course import Course

        self._begin(self._job(is_repeatable=not self._is_branched), Course(last.schedule), fresh=True)
        self._begun -= 1
        again = self._answer()[0]
        return "" if again == last else _difference(last, again)

    def _answer(self) -> tuple[Execution, dict[str, Any]]:
        """Of the execution that was begun first; if it is not waited for, all that run are given up."""
        try:
            return self.zygote().answer(self.until)
        except (TimeIsUp, KeyboardInterrupt):
            self.close()
            raise

    @property
    def is_distrusted(self) -> bool:
        """Every execution has a process of its own."""
        return bool(self.distrusted) or FRESH

    def distrust(self, why: str) -> None:
        """From now on every execution has a process of its own."""
        self.distrusted = self.distrusted or why
        self._last = None

    @property
    def broken(self) -> int:
        """Processes that ended by an error of ours, whose executions others have made."""
        return self._broken + _broken_of(self._zygote)

    @property
    def files(self) -> list[str]:
        """The user's source files that executions have loaded."""
        return sorted({file for file, _ in self._known})

    def twin(self) -> ControlledProgram:
        """The same program for another worker; what is visible is so for both."""
        other = ControlledProgram(self._prepare, **self.options)
        other.visible, other.watching, other.elsewhere = self.visible, self.watching, self.elsewhere
        other.entered = self.entered
        return other

    def learn_from(self, twin: ControlledProgram) -> None:
        """Takes over what the last execution of a twin showed."""
        self.grown, self.repeat, self.initial = twin.grown, twin.repeat, twin.initial
        self.claims = twin.claims
        self.writes_files = self.writes_files or twin.writes_files
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

    def zygote(self) -> Host:
        if self._zygote is None:
            self._told_of = self._prepared_for()
            self._zygote = self.elsewhere(self) if self.elsewhere else Zygote(lambda: self._prepared())
        return self._zygote

    @property
    def watched(self) -> frozenset[str]:
        """Words by which specifications and claims speak of variables."""
        return frozenset(self.options.get("watched", ())) | self.watching

    @property
    def packages(self) -> frozenset[str]:
        """Packages whose code is watched: those asked for, and those in which tasks were seen to meet."""
        met = (each[len(PACKAGE) :] for each in self.visible if each.startswith(PACKAGE))
        return frozenset(self.options.get("include", ())).union(met)

    def _prepared_for(self) -> tuple[frozenset[Any], ...]:
        """What is told of, packages that are watched, what of them, and places whose locks are choices."""
        loud = frozenset(each for each in self.visible if each.startswith(LOCKS))
        return self.watched, self.packages, frozenset(self.entered), loud

    def watch(self, names: set[str]) -> None:
        """Tells of these from the next execution on."""
        self.watching |= names
        self.grown = self.repeat = True

    def order_libraries(self) -> bool:
        """From now on turns that run code which is not watched conflict; whether that is news."""
        if not self.in_turns or LIBRARIES in self.visible:
            return False
        self.visible.add(LIBRARIES)
        return True

    def _job(self, **more: Any) -> Job:
        options = {**self.options, "watched": self.watched}
        if within := self.options.get("within"):
            options["trust"] = self.options.get("trust", frozenset()) | beneath(within)
        return Job(frozenset(self.visible), **options, **more)

    def _prepared(self) -> Callable[[], Any]:
        followed.names, followed.functions = self.watched, self.options.get("functions", frozenset())
        for space in packages.watch(self.packages, self.entered):
            earlier.model(space)
        locks.loud = self._prepared_for()[-1]
        program = self._prepare()
        imported(sorted(self._modules, key=_is_ours))  # else in the order in which the program got them
        packages.instrument(loading.with_sites)
        for file, module in self._known:
            loading.code_of(file, module)
        for code, module in self._texts:
            evaluated.make_again(code, module)
        loading.executed.clear()  # what is there before the program begins stays
        return program

    def _enter(self, extra: dict[str, Any]) -> None:
        """Code of packages that tasks enter is instrumented from the next execution on.

        What a task alone enters counts once the packages are there: else it is what importing them does.
        """
        told = [*extra.get("entered", ()), *(() if extra.get("installed") else extra.get("alone", ()))]
        new = {Entered(*each) for each in told} - self.entered
        if new:
            self.entered |= new
            self.grown = self.repeat = True

    def _warm_up(self, extra: dict[str, Any]) -> None:
        """A zygote that knows what the program imports is made when that is news."""
        self._known |= {(file, module) for file, module in extra.get("files", ())}
        installed = [name for name in extra.get("installed", ()) if name not in self._modules]
        modules = [name for name in extra.get("modules", ()) if name not in self._modules]
        texts = [] if self._texts else list(extra.get("texts", ()))
        if modules or installed or texts or extra.get("compiled"):
            self._modules.update(dict.fromkeys([*modules, *installed]))
            self._texts = texts or self._texts
            self._stale = True
        if installed:  # what they make has other names when it is there before the program begins
            self.grown = self.repeat = True

    def close(self) -> None:
        if self._zygote is not None:
            self._broken += _broken_of(self._zygote)
            self._zygote.close()
            self._zygote = None
        self._stale, self._begun = False, 0

    def __enter__(self) -> ControlledProgram:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _broken_of(host: Host | None) -> int:
    return host.broken if isinstance(host, Zygote) else 0


def _difference(used: Execution, fresh: Execution) -> str:
    """Where an execution went another way than the same one in a process of its own."""
    for number, (one, other) in enumerate(zip(used.steps, fresh.steps, strict=False)):
        if one != other:
            return f"step {number + 1} at {one.operation.at or other.operation.at}"
    more = [*used.steps, *fresh.steps[len(used.steps) :]][min(len(used.steps), len(fresh.steps)) :]
    return f"the step at {more[0].operation.at}, which only one of them has" if more else "its end"


def _is_ours(module: str) -> bool:
    """Models come with what they model: one that is imported first would be asked for before it is there."""
    return module.startswith("possibly.")


def script(words: tuple[str, ...], **options: Any) -> ControlledProgram:
    """A program as it stands on a command line: a file, or -m and a module, and its arguments."""
    found = ControlledProgram(lambda: _prepared_script(words), **options)
    found.path = words[0] if words[0] != "-m" else ""
    return found


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
    imported(loading.imports[file, "__main__"])
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
