"""The sites of what is watched: each appends its entry to the log, right before what it tells of happens.

Law: between an entry and the instruction that it tells of no other thread runs. So an entry is appended by an
operator and not by a call, after which the interpreter might look for other threads, and it is the last thing
that a site does. What takes longer, like the copy of a container, is done before.

Sites of which there are many are compiled (`_tell.c`); these here are their plain twins, and all others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from possibly.probes.watching.labels import MARK as MARKING
from possibly.probes.watching.telling import SiteMaker, Telling, Told
from possibly.recorder.entries import (
    MARK,
)
from possibly.recorder.telling import calls, containers, values
from possibly.recorder.telling.site import Site, Voice


class Sites(Voice):
    """Makes the sites of one log."""

    def maker(self, file: str) -> SiteMaker:
        """Makes the sites of a file."""

        def make(told: Told) -> Site:
            number = self.log.site(file, told.line, told.label, told.variable, told.function)
            site = KINDS[told.kind](self, number, told)
            return site if self.log.tape is None else self._compiled(site)

        return make

    def _compiled(self, site: Site) -> Any:
        """Its compiled twin, if there is one."""
        known: dict[Any, Any] = self.access.holding.holders
        if isinstance(site, values.Stored):
            known = site.pending
        elif not _has_twin(site):
            return site
        kind, variable = int(site.told.kind), site.told.variable or ""
        return self.log.tape.site(kind, site.number, site, site.switch, self.log.live, variable, known)

    def silence(self) -> None:
        """The recording is over."""
        self.is_quiet = True
        if self.log.tape is not None:
            self.log.tape.silence()

    def marks(self, file: str) -> Callable[[int, str], int]:
        """The sites of labels that stand alone."""
        return lambda line, label: self.log.site(file, line, label)

    def mark(self, site: int) -> None:
        """A label is passed."""
        if not self.is_quiet:
            self.log.note((MARK, self.me(), site))
            self.look()

    def builtins(self) -> dict[str, Any]:
        """What the source of a label calls."""
        return {MARKING: self.mark}


KINDS: dict[Telling, type[Site]] = {
    Telling.READ: values.Read,
    Telling.WRITE: values.Write,
    Telling.MEMBER_READ: values.MemberRead,
    Telling.MEMBER_WRITE: values.MemberWrite,
    Telling.STORED: values.Stored,
    Telling.SET: values.Set,
    Telling.ENTER: calls.Enter,
    Telling.EXIT: calls.Exit,
    Telling.COUNTED_ENTER: calls.CountedEnter,
    Telling.COUNTED_EXIT: calls.CountedExit,
    Telling.ITEM_READ: values.ItemRead,
    Telling.ITEM_WRITE: values.ItemWrite,
    Telling.ITEM_DELETE: values.ItemDelete,
    Telling.CONTAINER: containers.Container,
    Telling.OWNED_CONTAINER: containers.OwnedContainer,
    Telling.OPERAND: containers.Operand,
    Telling.MUTATOR: containers.Mutator,
    Telling.OWNED_MUTATOR: containers.OwnedMutator,
    Telling.FUNCTION: containers.Function,
    Telling.CLASS: containers.Class,
    Telling.ITEM_MUTATOR: containers.ItemMutator,
}
"""The plain site of each kind."""
_EXCHANGED = frozenset({Telling.CONTAINER, Telling.MUTATOR, Telling.OPERAND})
"""Where nothing is known of the variable, most containers are held by none: the compiled twin sees that."""
_COMPILED = _EXCHANGED | {
    Telling.READ, Telling.WRITE, Telling.MEMBER_READ, Telling.MEMBER_WRITE, Telling.STORED, Telling.SET,
    Telling.ENTER, Telling.EXIT, Telling.COUNTED_ENTER, Telling.COUNTED_EXIT,
}  # fmt: skip


def _has_twin(site: Site) -> bool:
    kind = site.told.kind
    if kind in _EXCHANGED:
        return site.told.variable is None
    return kind in _COMPILED and site.is_bare
