"""The compiled search against its plain twin: the same pairs, the same steps, in the same order."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from possibly.control.temporal import compiled
from possibly.control.temporal.compiled import CompiledBreadthFirst, breadth_first, kernel
from possibly.control.temporal.model_system import ModelSystem
from possibly.control.temporal.options import Options
from possibly.control.temporal.product import Product
from possibly.control.temporal.search import BreadthFirst, Search
from possibly.control.temporal.stack import TemporalStack
from possibly.control.temporal.steps import automaton_of
from possibly.models import slots
from possibly.models.reader import read_model
from tests.models.generate import random_model

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
MODELS = Path(__file__).parents[3] / "examples" / "models"

pytestmark = pytest.mark.skipif(kernel() is None, reason="the kernel is not built")

FORMULAS = [
    "F x == 2",
    "F(x == 1 & X y == 1)",
    "x == 0 U y == 1",
    "G x == 0",
    "F a[1] == 1",
    "X X true",
    "F(x > 1 & O y == 1)",
]


def twins(system: ModelSystem, text: str, options: Options) -> tuple[Search, Search]:
    formula = TemporalStack(system).bound(text)
    made = [Product(system, automaton_of(formula, options), system.model.initial) for _ in range(2)]
    return breadth_first(made[0], options), BreadthFirst(made[1], options)


def steps(search: Search, most: int = 200) -> list[tuple[tuple[int, ...], list[str]]]:
    found = []
    for path in search.paths():
        if path is not None:
            found.append((path.states, [move.name for move in path.moves]))
            if len(found) == most:
                break
    return found


@pytest.mark.parametrize("seed", range(60 * CASES))
def test_the_twins_agree(seed: int) -> None:
    random = Random(seed)
    system = ModelSystem(read_model(random_model(seed), "random.py"))
    for _ in range(3):
        options = Options(
            size=random.choice(["shortest", "each"]),
            bound=random.choice([6, 9, 12]),
            printed=random.random() < 0.5,
        )
        fast, plain = twins(system, random.choice(FORMULAS), options)
        assert isinstance(fast, CompiledBreadthFirst) == (kernel(system.model.bits) is not None)
        assert steps(fast) == steps(plain)
        assert fast.was_cut == plain.was_cut


@pytest.mark.parametrize("name", ["dekker.py", "philosophers.py", "alternating-bit.py", "bounded-buffer.py"])
def test_the_twins_visit_the_same_pairs_of_the_examples(name: str) -> None:
    system = ModelSystem(read_model((MODELS / name).read_text(encoding="utf-8"), name))
    process = system.vocabulary.processes[0]
    fast, plain = twins(system, f"F(done({process}) & X true)", Options())
    assert isinstance(fast, CompiledBreadthFirst)
    assert steps(fast) == steps(plain) == []
    assert fast.visited == plain.visited > 40


WIDE = """\
x = 0
y = 0
a = [0, 0, 0]
{more}

@process(2)
def P(i):
    global x, y
    while True:
        x = (x + 1) % 40
        if x > 1 and x % 7 == i:
            y = x * x * x * x
        a[i] = y - x
"""


@pytest.mark.parametrize("more", range(4))
@pytest.mark.parametrize("text", FORMULAS)
def test_wide_states_have_wide_keys(more: int, text: str) -> None:
    """More and more unused bits push the fields past 64 bits; the steps stay those of the plain twin."""
    names = [f"w{i}" for i in range(more)]
    body = WIDE.format(more="\n".join(f"{name} = 0" for name in names))
    for name in names:
        body += f"\n@process\ndef Q{name}():\n    global {name}\n    {name} = x * 1000 + y\n"
    system = ModelSystem(read_model(body, "wide.py"))
    fast, plain = twins(system, text, Options(size="each", bound=9))
    assert system.model.bits > 40 + 16 * more
    assert isinstance(fast, CompiledBreadthFirst) == (kernel(system.model.bits) is not None)
    assert steps(fast, 500) == steps(plain, 500)
    assert fast.visited == plain.visited


def test_more_automaton_states_than_a_key_holds_go_to_the_plain_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 62 bits there is room for four automaton states; the formula needs seven."""
    text = "y = 0\n@process\ndef P():\n    global y\n    while True:\n        y = (y + 1) % 8\n"
    monkeypatch.setattr(compiled, "READER_BITS", 0)
    system = ModelSystem(read_model(text, "wide.py"))
    monkeypatch.setattr(system.model, "bits", 62)
    monkeypatch.setattr(system.model, "_all", (1 << 62) - 1)
    fast, plain = twins(system, "X X X X X X y == 6", Options())
    assert isinstance(fast, CompiledBreadthFirst)
    assert steps(fast) == steps(plain) != []
    assert fast.visited == plain.visited


def test_an_error_of_the_model_comes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slots, "UNBOUNDED_BITS", 9)
    text = "x = 0\n@process\ndef P():\n    global x\n    while True:\n        x += 1\n"
    system = ModelSystem(read_model(text, "model.py"))
    fast, _ = twins(system, "F x < 0", Options())
    with pytest.raises(Exception, match="x takes more than"):
        steps(fast)
