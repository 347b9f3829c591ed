"""What a program may look at in its own functions, and does."""

from __future__ import annotations

from pathlib import Path

from tests.control.runtime.running import explored

HEAD = "import queue, threading, types\n"
RUN = """\
ts = [threading.Thread(target=work) for _ in range(2)]
for t in ts: t.start()
for t in ts: t.join()
"""


def test_functions_are_made_by_their_type(tmp_path: Path) -> None:
    source = HEAD + "def one(): return 1\ndef work(): assert types.FunctionType(*(one.__code__, {}))() == 1\n"
    found = explored(tmp_path, source + RUN)
    assert found.failure is None


def test_a_queue_with_a_size_of_its_own_is_decided(tmp_path: Path) -> None:
    source = (
        HEAD
        + """\
class Stack(queue.Queue):
    def _init(self, _): self.queue = []
    def _qsize(self, len=len): return len(self.queue)
    def _put(self, item): self.queue.append(item)
    def _get(self): return self.queue.pop()
stack = Stack()
def work():
    stack.put(1)
    stack.get()
"""
    )
    found = explored(tmp_path, source + RUN + "assert stack.empty()\n")
    assert found.holds and found.complete, found.open


def test_others_see_a_list_while_an_empty_function_is_called_for_it(tmp_path: Path) -> None:
    source = HEAD + "items = [2, 1]\ndef work(): items.sort(key=lambda _: None); assert items\n"
    assert explored(tmp_path, source + RUN).failure is not None
