"""A log whose threads look at what is new before they go on: the ground of `following` and `asking`.

Law: an event is looked at by the thread that made it, before that thread goes on, wherever a probe or the
entry and exit of a function tells it; a plain read or write of a variable at the next probe of any thread,
for nothing may come between a store and its entry. Whoever looks may take its time: all other threads wait
at their next probe.
"""

from __future__ import annotations

import _thread
from typing import Any

from possibly.probes import port
from possibly.recorder.log import Log

Entry = tuple[Any, ...]


class LookingLog(Log):
    """A log that calls `look_at_new` whenever there is something new."""

    def __init__(self, folder: str, name: str, parent: str) -> None:
        self._looking = _thread.allocate_lock()
        self._looker = 0
        super().__init__(folder, name, parent)
        self.before = self.looked_before
        self.after = self.looked_after

    def look_at_new(self) -> None:
        """Takes its time over `entries`; one thread at a time."""
        raise NotImplementedError

    def looked_before(self, action: str, thing: port.Thing, detail: Any = None) -> None:
        """An action is about to be done, and what is new is looked at."""
        self.plain_before(action, thing, detail)
        self.look()

    def looked_after(self, action: str, thing: port.Thing, detail: Any = None) -> None:
        """An action was done, and what is new is looked at."""
        self.plain_after(action, thing, detail)
        self.look()

    def looked_me(self) -> int:
        """Who runs, asked before something new is told."""
        self.look()
        return port.me()

    def look(self) -> None:
        """Looks at what is new; while another thread does so, waits for it, but for the flusher."""
        me = _thread.get_ident()
        if self._looker == me:
            return
        if me != self.flusher:
            with self._looking:  # nothing interrupts between taking it and what gives it back
                self._look(me)
        elif self._looking.acquire(False):  # else who looks may want to end the recording, and waits for us
            try:
                self._look(me)
            finally:
                self._looking.release()

    def _look(self, me: int) -> None:
        self._looker = me
        try:
            if self.entries:
                self.look_at_new()
        finally:
            self._looker = 0

    def after_fork_in_child(self, name: str) -> None:
        """In the child nobody looks."""
        self._looking = _thread.allocate_lock()
        self._looker = 0
        super().after_fork_in_child(name)
