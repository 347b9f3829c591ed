"""What was not under control in an execution: the words, the place in the user's code, and what helps."""

from __future__ import annotations

import sys

from possibly.control.runtime.places import place_of, users_line


class Noted(dict[str, str | None]):
    """Words -> what can be done about it, if that is known. The place is that at which it is noted first."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[str, str] = {}

    def __setitem__(self, what: str, remedy: str | None) -> None:
        if what not in self:
            frame = sys._getframe(1)
            self.places[what] = users_line(frame) or place_of(frame)
            super().__setitem__(what, remedy)
