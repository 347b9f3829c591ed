"""Attributes of plain objects are told of in a short way: it tells what the long one does."""

from __future__ import annotations

from pathlib import Path

from possibly.control.execution import Execution
from possibly.control.forking.zygote import script
from possibly.control.runtime.memory import EVERYTHING, RARELY
from possibly.control.schedulers.course import Course

SOURCE = """
import abc, dataclasses, enum, json, threading

class Base:
    shared = 1
    def method(self): return self.own
class Plain(Base):
    def __init__(self): self.own = 0
class Slotted:
    __slots__ = ("own", "__dict__")
    def __init__(self): self.own, self.other = 0, 0
class Asked:
    def __init__(self): self._own = 0
    @property
    def own(self): return self._own
class Found:
    def __init__(self): self.real = 0
    def __getattr__(self, name): return self.real
class Abstract(abc.ABC):
    def __init__(self): self.own = 0
@dataclasses.dataclass
class Data:
    own: int = 0
class Colour(enum.Enum):
    RED = 1
class Failure(Exception):
    def __init__(self): self.own = 0
class Listed(list):
    def __init__(self): self.own = 0
class Worker(threading.Thread):
    own = 0
class Replaced:
    def __init__(self): self.call = len

plain, slotted, asked, found, abstract = Plain(), Slotted(), Asked(), Found(), Abstract()
data, failure, listed, worker, replaced = Data(), Failure(), Listed(), Worker(), Replaced()
encoder = json.JSONEncoder()

def work():
    plain.method(); plain.own; plain.shared; Plain.shared; Plain.method
    slotted.own; slotted.other; asked.own; found.real; found.missing; abstract.own; data.own
    Colour.RED.value; Colour.RED; failure.own; failure.args; listed.own; worker.own; worker.name
    replaced.call([1]); encoder.skipkeys; encoder.encode; json.JSONEncoder.item_separator
    getattr(plain, "nothing", None); hasattr(plain, "own"); plain.__dict__; plain.__class__
    plain.own = 2; Base.shared = 2; data.own = 3; slotted.own = 1

threads = [threading.Thread(target=work, name=name) for name in "ab"]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def executed(folder: Path, *families: str) -> Execution:
    path = folder / "program.py"
    path.write_text(SOURCE)
    with script((str(path),)) as program:
        program.visible.update({EVERYTHING, *families})
        return program.execute(Course(()))


def told(execution: Execution) -> list[object]:
    return [(step.task, step.operation, step.detail) for step in execution.steps]


def test_the_short_way_tells_what_the_long_one_does(tmp_path: Path) -> None:
    """Something unusual that somebody writes makes all reads go the long way, another name does not."""
    long = executed(tmp_path, f"{RARELY}what has no name")
    assert len(long.steps) > 50
    assert told(executed(tmp_path)) == told(long)
    assert told(executed(tmp_path, f"{RARELY}a_name_that_is_nowhere")) == told(long)


def test_a_name_that_somebody_writes_goes_the_long_way(tmp_path: Path) -> None:
    found, usual = executed(tmp_path, f"{RARELY}method"), executed(tmp_path)
    things = [
        {access.thing for step in each.steps for access in step.operation.footprint}
        for each in (found, usual)
    ]
    assert any(thing.endswith(".method") for thing in things[0] - things[1])
