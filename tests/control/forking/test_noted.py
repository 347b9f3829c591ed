"""What is not under control is noted once, with the place at which it was noted first."""

from __future__ import annotations

import sys

from possibly.control.forking.noted import Noted
from possibly.control.runtime.places import place_of


def test_the_first_place_and_remedy_stay() -> None:
    noted = Noted()
    noted["a socket"] = "a stand-in"
    first = place_of(sys._getframe())
    noted["a socket"] = None
    assert noted == {"a socket": "a stand-in"}
    assert list(noted.places) == ["a socket"]
    assert noted.places["a socket"].rpartition(":")[0] == first.rpartition(":")[0]
