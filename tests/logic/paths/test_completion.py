"""What can still be completed: counts refuse nothing that has an end, and a search does not grow for ever."""

from __future__ import annotations

import os
from collections import deque
from random import Random

import pytest

from possibly.logic.paths import completion
from possibly.logic.paths.compiled import Compiled, compiled
from possibly.logic.paths.completion import Completion
from possibly.logic.paths.forms import Form, Reading
from possibly.logic.paths.machine import Machine
from possibly.logic.paths.parser import parse_path
from possibly.logic.paths.readings import Taker
from possibly.logic.paths.run import Run
from possibly.logic.paths.syntax import path_text
from possibly.logic.source import Source
from tests.logic.paths.languages import random_path
from tests.logic.paths.test_machine import expression_of

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))


def following(tree: Compiled, most: int) -> dict[Reading, set[Reading]]:
    """Readings without slots and values, from the start on, each with those that an event makes of it."""
    machine, taker = Machine(tree, tells=True), Taker(tree.parts, [0], None)
    start: Reading = (Form.TODO, tree.root, ())
    found: dict[Reading, set[Reading]] = {}
    pending = deque([start])
    while pending and len(found) < most:
        reading = pending.popleft()
        if reading in found:
            continue
        steps = [step for symbol in range(len(tree.symbols)) for step in taker.steps(reading, symbol, {})]
        found[reading] = {machine.renamed(step.reading, {}) for step in steps}
        pending.extend(found[reading])
    return found


def ending(tree: Compiled, graph: dict[Reading, set[Reading]]) -> set[Reading]:
    """Those from which a way inside the graph leads to an end."""
    taker = Taker(tree.parts, [0], None)
    found = {reading for reading in graph if taker.ends(reading, {})}
    while more := {reading for reading, after in graph.items() if after & found} - found:
        found |= more
    return found


def test_whatever_has_an_end_is_possible() -> None:
    random = Random("counts")
    refused = compared = 0
    while compared < 60 * CASES:
        tree = compiled(expression_of(random_path(random, "extended", 3, "ab")))
        if not tree.synchronises:
            continue
        compared += 1
        asked = Completion(tree, lambda reading: reading)
        graph = following(tree, 60)
        for reading in ending(tree, graph):
            assert asked.of_reading(reading) is not None, (path_text(tree.expression.root), reading)
            assert asked.is_possible(reading), (path_text(tree.expression.root), reading)
        refused += sum(asked.of_reading(reading) is None for reading in graph)
    assert refused


@pytest.mark.parametrize(
    ("text", "run", "at"),
    [
        ("d & (d & a)@", "aa", 1),
        ("d & (d; a)@", "dd", 1),
        ("(a; b) & (b; a)", "a", 0),
        ("(a; a) & (a@; b)", "aaa", 2),
        ("b & ((a & b) + (b & a)@)", "aa", 1),
    ],
)
def test_a_partner_that_never_comes_is_known_at_once(text: str, run: str, at: int) -> None:
    machine = Machine(compiled(parse_path(Source(text))))
    names = [atom.text for atom in machine.expression.symbols]
    fed = Run(machine)
    last: tuple[int, ...] = ()
    for event, name in enumerate(run):
        assert fed.feed(event, (names.index(name),), last) == (event < at), event
        last = (event,) if text.startswith("(") else ()


def test_copies_without_end_are_searched_by_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in the way is an order, of which counts know nothing, while x may begin without end."""
    sizes: list[int] = []
    counted = completion._copies

    def noted(reading: Reading) -> int:
        sizes.append(counted(reading))
        return sizes[-1]

    monkeypatch.setattr(completion, "_copies", noted)
    run = Run(Machine(compiled(parse_path(Source("(x; y)@ & (a; b) & (b; a)")))))
    assert run.feed(0, (0,))
    assert completion.SEARCHED_COPIES < sum(sizes) < completion.SEARCHED_COPIES + 2 * len(sizes)
