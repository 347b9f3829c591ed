"""A node is known by its label and by its line."""

from __future__ import annotations

import pytest

from possibly.models.acts import passing
from possibly.models.flow import Node

ACT = passing()


@pytest.mark.parametrize(("label", "name", "labels"), [(None, "12", ("12",)), ("m1", "m1", ("m1", "12"))])
def test_what_a_place_is_called(label: str | None, name: str, labels: tuple[str, ...]) -> None:
    node = Node(0, "x = 1", 12, label, False, *ACT)
    assert (node.name, node.labels) == (name, labels)


def test_nodes_of_one_text_are_two() -> None:
    one, other = (Node(0, "x = 1", 12, None, False, *ACT) for _ in range(2))
    assert one != other and len({one, other}) == 2
