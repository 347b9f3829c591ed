"""Two searches at once: what is through first ends both."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.control.execution import Execution
from possibly.control.joining.both import Both
from possibly.control.joining.frames import READS
from possibly.session.exploring.exploration import Options
from possibly.session.exploring.explore import explore
from tests.control.joining.judged import results
from tests.control.joining.test_explorer import LOCKED

pytestmark = pytest.mark.skipif(not READS, reason="frames of this interpreter cannot be read")


def test_the_search_over_states_may_be_through_first(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(LOCKED)
    found = results(path, lambda: Both(alone=4))
    assert found is not None
    assert found[1].is_joined and found[1].tree.root.open
    assert len(found[0]) == 1


def test_states_that_cannot_be_read_are_given_up(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(LOCKED.replace("n = 0\n", "n = 0\nimport itertools\nhidden = itertools.count()\n", 1))
    found = results(path, lambda: Both(alone=4))
    assert found is not None
    assert found[1].joining is None and found[1].tree.is_complete


@pytest.mark.parametrize("join", ["none", "state", "all"])
def test_every_way_to_join_gives_the_same_verdict(join: str, tmp_path: Path) -> None:
    from possibly.control.forking.zygote import script

    path = tmp_path / "program.py"
    path.write_text(LOCKED.replace("print(n)", "assert n == 5"))
    with script((str(path),)) as program:
        assert explore(program, Options(join=join)).holds is True
    path.write_text(LOCKED.replace("print(n)", "assert n == 4"))
    with script((str(path),)) as program:
        assert explore(program, Options(join=join)).holds is False


PHILOSOPHERS = """\
import threading
forks = [threading.Lock() for _ in range(6)]
def dines(i):
    with forks[min(i, (i + 1) % 6)], forks[max(i, (i + 1) % 6)]: pass
threads = [threading.Thread(target=dines, args=(i,)) for i in range(6)]
for t in threads: t.start()
for t in threads: t.join()
"""


def test_the_search_by_classes_goes_on_alone_when_few_are_left(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PHILOSOPHERS)
    made: list[int] = []

    class Counted:
        """Both, with the executions they make counted."""

        def __init__(self) -> None:
            made.append(0)
            self.both = Both(alone=10)

        def plan(self) -> object:
            return self.both.plan()

        def learn(self, execution: Execution) -> None:
            made[-1] += 1
            self.both.learn(execution)

    found = results(path, Counted)
    assert found is not None and found[1].both.tree.is_complete
    assert made[-1] < 1.5 * 62  # classes; of states there are more
