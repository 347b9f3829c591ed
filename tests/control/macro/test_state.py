"""What claims and predicates read at a collective breakpoint."""

from __future__ import annotations

import pytest

from possibly.control.macro.claims import Collective, judged
from possibly.control.macro.inside.state import MissingValueError, SystemState
from possibly.control.macro.model import MadeClaim, Message, Seen

BUFFER = Seen("buffer.py:3", "m2", "buffer", {"number": 2}, {"CAPACITY": 4})
PRODUCER = Seen("producer.py:9", "", "producer", {"count": 2}, {}, ended=True)


def message(sender: str, to: str, tag: str | None) -> Message:
    return Message(f"{sender}#1", sender, "box", tag, 1, 0, "source", False, to)


STATE = Collective(
    {"Buffer": BUFFER, "Producer": PRODUCER},
    (message("Producer", "Buffer", "item"), message("Buffer", "", None)),
)
SYSTEM = SystemState(dict(STATE.seen), [(m.name, m.sender, m.to, m.tag) for m in STATE.transit])


def test_predicates_see_variables_of_every_process() -> None:
    assert SYSTEM.Buffer.number == 2
    assert SYSTEM["Buffer"]["CAPACITY"] == 4
    assert "Buffer" in SYSTEM
    assert "number" in SYSTEM.Buffer
    assert SYSTEM.processes() == ["Buffer", "Producer"]


def test_predicates_see_labels_ends_and_messages() -> None:
    assert SYSTEM.at("Buffer", "m2")
    assert not SYSTEM.at("Producer", "m2")
    assert SYSTEM.done("Producer")
    assert not SYSTEM.done("Buffer")
    assert SYSTEM.transit() == 2
    assert SYSTEM.transit("Producer") == 1
    assert SYSTEM.transit("Producer", "Buffer", "item") == 1
    assert SYSTEM.transit("Producer", "Consumer") == 0


@pytest.mark.parametrize("name", ["Consumer", "Buffer.size"])
def test_what_is_not_there_is_an_error_that_says_so(name: str) -> None:
    process, _, variable = name.partition(".")
    with pytest.raises(MissingValueError):
        getattr(SYSTEM[process], variable)


def verdict(claim: str) -> bool | None:
    made = MadeClaim("Buffer", claim, "program.py:1", ("full",))
    found = judged(made, ("Buffer", "Producer"))
    return found.judge(STATE, lambda process, predicate, state: predicate == "full").verdict


@pytest.mark.parametrize(
    "atom",
    [
        "Buffer.number == 2",
        "Buffer.number == Producer.count",
        "CAPACITY == 4",
        'at(Buffer, "m2")',
        "done(Producer)",
        "transit() == 2",
        "transit(Producer, Buffer) == 1",
        'transit(Producer, Buffer, "item") == 1',
        "full",
        'exists i in "*": i.number == 2',
        "!(Consumer.number == 2)",
    ],
)
def test_the_atoms_of_a_claim(atom: str) -> None:
    assert verdict(f"F({atom})") is True
    assert verdict(f"G(!({atom}))") is False


def test_a_predicate_that_cannot_be_evaluated_is_false_and_noted() -> None:
    found = judged(MadeClaim("Buffer", "G(!odd)", "program.py:1", ("odd",)), ("Buffer",))
    assert found.judge(STATE, lambda *_: "TypeError: no").verdict is None
    assert found.faults == {"odd: TypeError: no"}


def test_a_name_without_a_value_is_noted() -> None:
    found = judged(MadeClaim("Buffer", "G(Buffer.size == 1)", "program.py:1"), ("Buffer",))
    assert found.judge(STATE, lambda *_: False).verdict is False
    assert (found.missing, found.valued) == ({"Buffer.size"}, set())
