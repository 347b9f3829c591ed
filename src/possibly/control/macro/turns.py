"""Several executions at a time: one thread has the turn, the others wait for their programs.

Law: whatever the threads share is touched only by the one that has the turn. It is given away in a call of a
`System`, which is where an execution waits, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Thread
from typing import Any

from possibly.control.macro.claims import Collective
from possibly.control.macro.model import Completion, Moment, Process
from possibly.control.macro.run import System


class Turns:
    """Who may go on."""

    def __init__(self) -> None:
        self._free = Condition()
        self.busy = 0
        """Executions that are under way."""
        self._jobs = 1
        self._errors: list[BaseException] = []

    def shared(self, system: System) -> System:
        """The system, if it need not share: else one that gives the turn away while its program runs."""
        return system if self._jobs == 1 else Sharing(system, self)

    def work(
        self, jobs: int, is_enough: Callable[[], bool], following: Callable[[], Callable[[], None] | None]
    ) -> None:
        """Does what follows, until it is enough, or nothing follows and nobody is at work."""
        self._jobs = jobs
        helpers = [Thread(target=self._help, args=(is_enough, following)) for _ in range(jobs - 1)]
        for each in helpers:
            each.start()
        try:
            self._help(is_enough, following)
        finally:
            for each in helpers:
                each.join()
        if self._errors:
            raise self._errors[0]

    def _help(
        self, is_enough: Callable[[], bool], following: Callable[[], Callable[[], None] | None]
    ) -> None:
        with self._free:
            try:
                while not self._errors and not is_enough():
                    execute = following()
                    if execute is not None:
                        self._do(execute)
                    elif not self.busy:
                        return
                    else:
                        self._free.wait()
            except BaseException as error:  # noqa: BLE001 - it is raised where all of them are waited for
                self._errors.append(error)
            finally:
                self._free.notify_all()

    def _do(self, execute: Callable[[], None]) -> None:
        self.busy += 1
        try:
            execute()
        finally:
            self.busy -= 1
            self._free.notify_all()

    @contextmanager
    def given_away(self) -> Iterator[None]:
        self._free.notify_all()  # there may be more to do than there was
        self._free.release()
        try:
            yield
        finally:
            self._free.acquire()


class Sharing:
    """A `System` of one of several executions."""

    def __init__(self, system: System, turns: Turns) -> None:
        self.system = system
        self._turns = turns

    def begin(self) -> Moment:
        with self._turns.given_away():
            return self.system.begin()

    def proceed(self, completions: list[Completion], going: list[Process]) -> Moment:
        with self._turns.given_away():
            return self.system.proceed(completions, going)

    def evaluate(self, process: Process, predicate: str, state: Collective) -> bool | str:
        with self._turns.given_away():
            return self.system.evaluate(process, predicate, state)

    @property
    def reads(self) -> Any:
        return getattr(self.system, "reads", None)

    def content(self, process: Process) -> bytes | None:
        look = getattr(self.system, "content", None)
        if look is None:
            return None
        with self._turns.given_away():
            found: bytes | None = look(process)
            return found

    def thread_of(self, process: Process) -> tuple[int, str]:
        return self.system.thread_of(process)

    def close(self) -> None:
        with self._turns.given_away():
            self.system.close()
