"""A recording: the log, the probes and the import hook of one process of the operating system, started and
ended.

There is at most one at a time in a process. Its settings travel to other processes of the run as a text in
the environment (`VARIABLE`).
"""

from __future__ import annotations

import builtins
import itertools
import json
import os
import sys
from collections.abc import Mapping
from types import CodeType, ModuleType
from typing import Any

from possibly.compiled import built
from possibly.errors import UsageError
from possibly.probes import exits, port
from possibly.probes.install import install_all
from possibly.probes.patching import Patches
from possibly.probes.processes import cells
from possibly.probes.watching import imports
from possibly.probes.watching.modules import Places, with_sites
from possibly.probes.watching.watch import Watch
from possibly.recorder.log import Log, compiled, shown_path
from possibly.recorder.snapshot import snapshot
from possibly.recorder.switching import Switches
from possibly.recorder.telling.sites import Sites
from possibly.records import dataclass, replace

VARIABLE = "POSSIBLY_RECORDING"
WORDS = ("names", "members", "functions", "arguments", "scoped", "shared_names", "shared_members")
"""The fields of a `Watch` that are sets of words."""
FLAGS = ("everything", "every_call", "shared", "most_calls")
"""Its other fields."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What to record and where the logs go."""

    folder: str
    watch: Watch = Watch()
    name: str = ""
    """Of the process; empty for the one that the user started."""
    parent: str = ""
    spawn: str = ""
    """The token of the event that started this process."""
    ask: str = ""
    """The socket of whoever is asked after each event whether this process may go on, if it is."""
    times: bool = False
    """Whether events tell when they happened."""

    def text(self) -> str:
        """As it travels to other processes."""
        watch: dict[str, Any] = {word: sorted(getattr(self.watch, word)) for word in WORDS}
        watch |= {name: getattr(self.watch, name) for name in FLAGS}
        places = {name: getattr(self, name) for name in ("folder", "name", "parent", "spawn", "ask")}
        return json.dumps({**places, "times": self.times, "watch": watch})

    @staticmethod
    def of(text: str) -> Settings:
        """The settings that such a text tells."""
        fields = json.loads(text)
        watch = fields.pop("watch")
        words: dict[str, Any] = {word: frozenset(watch[word]) for word in WORDS}
        return Settings(watch=Watch(**words, **{name: watch[name] for name in FLAGS}), **fields)


class Recording:
    """Started by `start`, ended by `stop` or with the process."""

    def __init__(self, settings: Settings, log: Log | None = None) -> None:
        self.settings = settings
        self.log = log or _log(settings)
        self.log.limit_calls(settings.watch.most_calls)
        if self.log.unasked:
            self.log.sifted = Switches(self.log, settings.watch.most_calls).sifted
        self.patches = Patches()
        self.sites = Sites(self.log)
        self._sharing = self._new_sharing()
        self.finder = imports.Finder(self.patches, self.with_sites)
        self._tokens = itertools.count(1)

    def _new_sharing(self) -> Any:
        """What puts the sites of memory that tasks share into code, if that is to be told."""
        if not self.settings.watch.shared:
            return None
        from possibly.recorder.sharing.written import Sharing, kernel

        sharing = Sharing(self.log, self.settings.watch, kernel())
        sharing.install(self.patches)
        return sharing

    def with_sites(self, code: CodeType, file: str, module: str) -> CodeType:
        """The code of a module of the program with all that it is to tell."""
        shown = shown_path(file)
        sharing = self._sharing
        places = Places(self.sites.maker(shown), self.sites.marks(shown))
        return with_sites(
            code, file, module, self.settings.watch, places, lambda: sharing and sharing.wanted(file)
        )

    def start(self) -> None:
        """From now on this process is recorded."""
        global current
        if current is not None:
            raise UsageError("a recording is running already in this process")
        if not getattr(sys, "_is_gil_enabled", lambda: True)():
            raise UsageError("recording needs the interpreter's lock", hint="run it with PYTHON_GIL=1")
        current = self
        os.environ[VARIABLE] = replace(self.settings, name="", parent=self.log.key, spawn="").text()
        port.listen(self.log)
        port.thorough = self.settings.watch.everything
        self._connect_exits()
        for name, value in self.sites.builtins().items():
            setattr(builtins, name, value)
        install_all(self.patches)
        imports.put_first(self.finder)
        self.log.start()
        exits.spawned_by = self.settings.spawn
        if self.settings.spawn:
            port.after("start", self.settings.spawn)

    def _connect_exits(self) -> None:
        exits.at_exit = self.finish
        exits.flush = self.log.flush
        exits.before_fork = self.log.before_fork
        exits.after_fork_in_parent = self.log.after_fork_in_parent
        exits.after_fork_in_child = self.log.after_fork_in_child
        exits.starter = self.starter
        exits.settings_for = self.settings_for
        port.token = self.token
        cells.folder = self.settings.folder

    def starter(self, name: str, spawn: str) -> Starter:
        """What starts a recording in a process of that name."""
        return Starter(self.settings_for(name, spawn)[1])

    def settings_for(self, name: str, spawn: str) -> tuple[str, str]:
        """The variable of the environment, and its value for another process of the run."""
        return VARIABLE, replace(self.settings, name=name, parent=self.log.key, spawn=spawn).text()

    def token(self) -> str:
        """A name for an event of this process that no other event has."""
        return f"{self.log.key}:{next(self._tokens)}"

    def own(
        self, kind: str, key: str | int | None, label: str | None, variables: Mapping[str, object]
    ) -> None:
        """An event that the program itself reports."""
        fields: dict[str, Any] = {
            "kind": kind,
            "set": {name: snapshot(value) for name, value in variables.items()},
        }
        if label is not None:
            fields["label"] = label
        self.log.own({name: value for name, value in fields.items() if value}, key)

    def finish(self) -> None:
        """The process ends: what is left is written."""
        self.log.finish()

    def stop(self, is_in_use: bool = False) -> None:
        """Leaves the interpreter as it was; `is_in_use`: code with sites still runs."""
        global current
        current = None
        os.environ.pop(VARIABLE, None)
        imports.take_away(self.finder)
        self.patches.undo()
        port.listen(port.QUIET)
        self.log.close()
        self.sites.silence()
        is_in_use = is_in_use or bool(imports.instrumented_modules)
        for name in () if is_in_use else self.sites.builtins():
            if hasattr(builtins, name):
                delattr(builtins, name)


def _log(settings: Settings) -> Log:
    if not settings.ask:
        kernel = None if settings.times else _kernel(settings.watch)
        places = settings.folder, settings.name, settings.parent
        return Log(*places, kernel, settings.watch.unasked, settings.times)
    from possibly.recorder.asking import AskingLog

    return AskingLog(settings.folder, settings.name, settings.parent, settings.ask)


def _kernel(watch: Watch) -> ModuleType | None:
    """The compiled twin of the log; where shadow memory was not compiled, both are plain."""
    if watch.shared and built("possibly.recorder.sharing._shadow") is None:
        return None
    return compiled()


class Starter:
    """Starts a recording in the process in which it is unpickled."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __reduce__(self) -> tuple[Any, ...]:
        return start_here, (self._text,)


def start_here(text: str) -> bool:
    """Whether a recording was started: there may be one already."""
    is_first = current is None
    if is_first:
        settings = Settings.of(text)
        recording = Recording(settings if settings.name else replace(settings, name=_own_name()))
        recording.start()
        from possibly.probes.processes import start as processes

        processes.load_main_with(recording.finder)
    return is_first


def _own_name() -> str:
    """What this process of the operating system is called by `multiprocessing`."""
    from multiprocessing import current_process

    return current_process().name


current: Recording | None = None
