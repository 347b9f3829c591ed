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


def test_the_short_way_tells_what_the_long_one_does(tmp_path: Path) -> None:
    """A name that somebody writes where behaviour is held makes all reads go the long way."""
    short, long = executed(tmp_path), executed(tmp_path, f"{RARELY}a_name_that_is_nowhere")
    assert len(short.steps) > 50
    assert [(step.task, step.operation, step.detail) for step in short.steps] == [
        (step.task, step.operation, step.detail) for step in long.steps
    ]
