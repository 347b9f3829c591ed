"""Models against Python itself, and their own invariants."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from possibly.errors import PossiblyError
from possibly.models import slots
from possibly.models.model import Model
from possibly.models.reader import read_model
from possibly.models.slots import NOTHING
from tests.models.generate import random_model
from tests.models.reference import Reference

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "models").glob("*.py"))


def reachable(model: Model, most: int = 100_000) -> set[int]:
    seen, pending = {model.initial}, [model.initial]
    while pending and len(seen) < most:
        for _, state in model.successors(pending.pop()):
            if state not in seen:
                seen.add(state)
                pending.append(state)
    return seen


def shared(model: Model, state: int) -> dict[str, object]:
    found = {name: model.variable(None, name).value(state) for name in model.shared}
    assert NOTHING not in found.values()
    return found


@pytest.mark.parametrize("seed", range(120 * CASES))
def test_a_model_does_what_python_does(seed: int) -> None:
    """Three random schedules of a random model, compared after every step: values, and who can go on."""
    text = random_model(seed)
    model = read_model(text, "random.py")
    for schedule in range(3):
        random = Random(schedule)
        reference, state = Reference(text), model.initial
        for _ in range(25):
            enabled = {transition.process for transition, _ in model.successors(state)}
            assert enabled == reference.enabled(), text
            if not enabled:
                break
            process = random.choice(sorted(enabled))
            reference.step(process)
            ((transition, state),) = [(t, s) for t, s in model.successors(state) if t.process == process]
            assert (transition.failure is not None) == (process in reference.failed), text
            if transition.failure is not None:
                break  # a block that fails inside has done a part in Python
            assert shared(model, state) == reference.shared(list(model.shared)), text
            model.self_check(state)


def test_the_comparison_sees_a_difference() -> None:
    text = "x = 0\n\n@process\ndef P():\n    global x\n    x = 1\n    x = 2\n"
    reference = Reference(text)
    reference.step("P")
    assert reference.shared(["x"]) == {"x": 1} and reference.enabled() == {"P"}
    reference.step("P")
    assert reference.shared(["x"]) == {"x": 2} and not reference.enabled()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_names_of_transitions_differ_in_every_state(path: Path) -> None:
    model = read_model(path.read_text(encoding="utf-8"), path.name)
    for state in reachable(model):
        model.self_check(state)
        names = [transition.name for transition, _ in model.successors(state)]
        assert len(names) == len(set(names))
        assert model.successors(state) == model.successors(state)


def counted(text: str) -> int:
    return len(reachable(read_model(text, "model.py")))


def test_states_counted_by_hand() -> None:
    """Two independent counters of three steps each: 4 times 4 places."""
    text = "@process(2)\ndef P(i):\n    for k in range(2):\n        pass\n"
    # enter, pass, again, pass, again and out: each process has 6 places.
    assert counted(text) == 36


def test_an_atomic_block_is_one_transition() -> None:
    block = "    with atomic:\n        x += 1\n        x += 1\n        x += 1\n"
    text = f"x = 0\n@process(2)\ndef P(i):\n    global x\n{block}"
    model = read_model(text, "model.py")
    states = reachable(model)
    assert len(states) == 4
    assert {shared(model, state)["x"] for state in states} == {0, 3, 6}


def test_a_choice_has_a_transition_for_each_value() -> None:
    model = read_model("x = 9\n@process\ndef P():\n    global x\n    x = choose(range(3))\n", "model.py")
    following = model.successors(model.initial)
    assert [t.name for t, _ in following] == ["P:5", "P:5#1", "P:5#2"]
    assert [shared(model, state)["x"] for _, state in following] == [0, 1, 2]


def test_channels_hold_and_block() -> None:
    text = (
        "c = channel(1)\ngot = 0\n\n@process\ndef S():\n    send(c, 1)\n    send(c, 2)\n\n"
        "@process\ndef R():\n    global got\n    while True:\n        got = receive(c)\n"
    )
    model = read_model(text, "model.py")
    ((_, one),) = model.successors(model.initial)
    assert shared(model, one) == {"c": [1], "got": 0}
    ((transition, two),) = model.successors(one)
    assert transition.process == "R" and shared(model, two) == {"c": [], "got": 1}


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("x = a[x + 2]", "a[2] is outside: a has 2 elements"),
        ("x = 1 // x", "division by zero"),
        ("assert x == 1", "x == 1 does not hold"),
        ("x = a[0] < 'no'", "cannot compare 0 with 'no'"),
        ("x, y = 3", "cannot unpack 3 into 2 variables"),
        ("x = z", "z has no value yet"),
    ],
)
def test_what_cannot_be_executed_makes_the_process_fail(statement: str, why: str) -> None:
    text = (
        "x = 0\ny = 0\na = [0, 0]\n\n@process\ndef P():\n    global x, y\n    a[0] = 0\n"
        f"    {statement}\n    if x == 77:\n        z = 1\n        x = z\n"
    )
    model = read_model(text, "model.py")
    ((_, one),) = model.successors(model.initial)
    ((transition, two),) = model.successors(one)
    assert transition.failure == why
    assert model.successors(two) == []


def test_a_variable_with_too_many_values_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "UNBOUNDED_BITS", 9)
    model = read_model(
        "x = 0\n@process\ndef P():\n    global x\n    while True:\n        x += 1\n", "model.py"
    )
    with pytest.raises(PossiblyError, match="x takes more than 512 values .*bound it"):
        reachable(model)


def test_locals_of_a_helper_are_gone_when_it_returns() -> None:
    text = (
        "x = 0\n\ndef f(n):\n    m = n + 1\n    m = m + x\n    return m\n\n"
        "@process\ndef P():\n    global x\n    x = 1\n    x = f(x)\n    pass\n"
    )
    model = read_model(text, "model.py")
    assert set(model.locals["P"]) == {"f.n", "f.m"}
    state = model.initial
    for _ in range(5):
        ((_, state),) = model.successors(state)
    assert shared(model, state)["x"] == 3
    assert model.variable("P", "f.m").value(state) is NOTHING


def test_few_values_need_few_bits() -> None:
    model = read_model(
        "x = 0\n@process\ndef P():\n    global x\n    while True:\n        x = (x + 1) % 8\n", "m.py"
    )
    assert model.slots[0].mask == 7


LOOPS = {
    "for ever": "while True:\n        with atomic:\n            x = 1 - x",
    "on": "while True:\n        with atomic:\n            x = 1 - x\n            continue",
    "out": "for i in range(3):\n        with atomic:\n            x = 1\n            break",
}


@pytest.mark.parametrize("body", LOOPS.values(), ids=LOOPS)
def test_an_atomic_block_that_is_the_body_of_a_loop_is_left_each_time(body: str) -> None:
    head = "from possibly.models.words import atomic, process\nx = 0\n@process\ndef P():\n    global x\n"
    text = f"{head}    {body}"
    model = read_model(text, "loop.py")
    seen, pending = {model.initial}, [model.initial]
    while pending:
        for move, after in model.successors(pending.pop()):
            assert move.failure is None
            if after not in seen:
                seen.add(after)
                pending.append(after)
    assert 2 <= len(seen) <= 12
