"""What the interpreter tells of itself (its audit events), to whoever wants to hear of some of them.

Each frame that anybody looks at is an event, and we look at many: so who hears is chosen in C where that was
built (`_events.c`), and in Python otherwise.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from possibly.compiled import built

Heard = Callable[[str, tuple[Any, ...]], None]
_events: Any = built("possibly.control.forking._events")


def listen(names: frozenset[str], function: Heard) -> None:
    """From now on the function is told of events of these names, or of all: it passes over others.

    That cannot be taken back.
    """
    if _events is not None:
        _events.listen(tuple(sorted(names)), function)
    else:
        sys.addaudithook(function)
