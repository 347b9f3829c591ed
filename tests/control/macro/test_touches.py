"""Two processes that use one file without an order between them are told, unless both only read."""

from __future__ import annotations

import pytest

from possibly.control.macro.before import Before
from possibly.control.macro.touches import Touches


def told(path: str, writes: tuple[bool, bool], ordered: bool, who: tuple[str, str] = ("P", "Q")) -> list[str]:
    before = Before()
    a, b = before.event(), before.event()
    c, d = before.event(), before.event()
    before.add(a, b)
    before.add(c, d)
    if ordered:
        before.add(b, c)
    touches = Touches(before)
    touches.add(who[0], a, b, ((path, writes[0]),))
    touches.add(who[1], c, d, ((path, writes[1]),))
    return list(touches.unordered())


@pytest.mark.parametrize("writes", [(True, False), (False, True), (True, True)])
def test_a_write_beside_another_use_is_told_once(writes: tuple[bool, bool]) -> None:
    assert told("f", writes, ordered=False) == ["the file f, which P and Q use"]
    assert told("f", writes, ordered=True) == []
    assert told("f", writes, ordered=False, who=("P", "P")) == []


def test_reads_disturb_nobody() -> None:
    assert told("f", (False, False), ordered=False) == []


def test_names_that_are_added_to_one_folder_disturb_who_looks_at_it() -> None:
    assert told("folder/*", (True, True), ordered=False) == []
    assert told("folder/*", (True, False), ordered=False) != []
