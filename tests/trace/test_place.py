"""A place is a file and a line, whatever the file is called."""

from __future__ import annotations

import pytest

from possibly.trace.place import Place, place_in

PLACES = {
    "file.py:12": Place("file.py", 12),
    "C:\\odd:name.py:7": Place("C:\\odd:name.py", 7),
    "file.py": Place("file.py", 0),
    "odd:name.py": Place("odd:name.py", 0),
    "file.py:²": Place("file.py:²", 0),
    "": Place("", 0),
    "file.py:" + "9" * 5_000: Place("file.py:" + "9" * 5_000, 0),
}


@pytest.mark.parametrize("text", PLACES, ids=range(len(PLACES)))
def test_the_line_is_what_comes_last(text: str) -> None:
    assert place_in(text) == PLACES[text]
