"""Functions of libraries that what is modelled calls for the program are seen like calls in its source.

`threading` and pools use weak containers themselves, which decides nothing: but not where the program has
given them a method of its own one to call.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.control.runtime.running import explored

HEAD = "import threading, queue, weakref\nclass C: pass\nc = C(); closed = []\n"
FINALIZER = HEAD + "f = weakref.finalize(c, closed.append, 1)\n"
WEAKLY = HEAD + "d = weakref.WeakValueDictionary(a=c)\n"
ASKS = "if f.alive:\n    assert f.detach() is not None\nt.join()\n"
LOOKS = "if 'a' in d: d['a']\nt.join()\n"
WRONG = {
    "a finalizer that another function calls": f"{FINALIZER}t = threading.Thread(target=lambda: f())\n"
    f"t.start()\n{ASKS}",
    "a finalizer as target": f"{FINALIZER}t = threading.Thread(target=f)\nt.start()\n{ASKS}",
    "a method of a weak dictionary as target": f"{WEAKLY}t = threading.Thread(target=d.pop, args='a')\n"
    f"t.start()\n{LOOKS}",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_a_thread_is_given_to_call_is_seen(name: str, tmp_path: Path) -> None:
    assert explored(tmp_path, WRONG[name]).holds is False


def test_a_finalizer_is_called_once_whoever_comes_first(tmp_path: Path) -> None:
    both = "both = [threading.Thread(target=f) for _ in 'ab']\n"
    both += "for t in both: t.start()\nfor t in both: t.join()\n"
    found = explored(tmp_path, f"{FINALIZER}{both}assert closed == [1]\n")
    assert found.complete, found.open


def test_a_put_that_waits_is_not_taken_to_go_on_when_there_is_more_room(tmp_path: Path) -> None:
    waiting = "q = queue.Queue(1); q.put(1)\nt = threading.Thread(target=q.put, args=(2,))\nt.start()\n"
    found = explored(tmp_path, f"{HEAD}{waiting}q.maxsize = 2\nt.join()\n")
    assert not found.complete
    assert any("maxsize" in each for each in found.open)
