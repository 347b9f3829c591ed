"""What the variables of quantifiers stand for in one instance."""

from __future__ import annotations

from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from possibly.records import NamedTuple


class Match(NamedTuple):
    """What a quantifier's variable stands for in one instance."""

    process: str
    number: int


Scope = Mapping[str, Match]
