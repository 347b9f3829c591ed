"""The truth of a predicate on one process: batch by batch as line by line."""

from __future__ import annotations

from random import Random

import pytest

from possibly.detection.online.follow import LONGEST_KNOWN, LocalTruth
from possibly.detection.online.monitor import open_vocabulary
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.order.growing.computation import Growing

VALUES = (0, 1, 2, True, False, 1.0, 0.0, "1", "", "long" * LONGEST_KNOWN, None, [1], [0], {"a": 1}, -(2**80))


@pytest.mark.parametrize("text", ["P.x == 1", "P.x < 1", "!(P.x > 0)", "P.x", "len(P.x) > 1", "P.x[0] == 1"])
def test_values_that_came_before_have_the_same_truth(text: str) -> None:
    """Also those that are equal to others of another type."""
    growing = Growing([("P", {"x": 0})])
    node = bind(parse(text, "ctl"), open_vocabulary(growing)).formula
    batched, plain = (LocalTruth(growing, "P", node) for _ in range(2))
    random = Random(text)
    assigned = [(number, random.choice(VALUES)) for number in range(3_000)]
    expected = []
    for number, value in assigned:
        before = plain.now
        if plain.after_fields({"set": {"x": value}}) != before:
            expected.append((number, plain.now))
    assert list(batched.changes(assigned)) == expected
    assert expected
    assert batched.predicate.faults == plain.predicate.faults
