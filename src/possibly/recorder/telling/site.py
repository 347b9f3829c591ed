"""One place of the program's that tells of something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from possibly.probes.watching.telling import Told

Entry = tuple[Any, ...]


if TYPE_CHECKING:
    from possibly.recorder.telling.sites import Sites


class Site:
    """One place of the program's."""

    __slots__ = ("number", "sites", "switch", "told")

    def __init__(self, sites: Sites, number: int, told: Told) -> None:
        self.sites, self.number, self.told = sites, number, told
        self.switch = sites.switch_of(told.variable)
        """Of the variable, where that is told as long as it is not too much."""

    @property
    def is_bare(self) -> bool:
        """Whether nothing but the place is told."""
        return True

    @property
    def is_off(self) -> bool:
        """Whether nothing is told any more."""
        return self.sites.is_quiet or (self.switch >= 0 and not self.sites.log.live[self.switch])

    def _append(self, entry: Entry) -> None:
        entries = self.sites.log.entries
        entries += (entry,)


def plain_of(site: Any) -> Any:
    """The plain twin of a site that may be compiled."""
    return getattr(site, "plain", site)
