"""Default names of events."""

from __future__ import annotations

import pytest

from possibly.trace.names import default_owner


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("P:1", ("P", 1)),
        ("a:b:12", ("a:b", 12)),
        (":3", ("", 3)),
        ("P:0", None),
        ("P:01", None),
        ("P:", None),
        ("P:-1", None),
        ("P:1.0", None),
        ("P: 1", None),
        ("P:\u0663", None),
        ("P:" + "9" * 5000, None),
        ("P", None),
        ("", None),
    ],
)
def test_the_form_of_a_default_name(name: str, owner: tuple[str, int] | None) -> None:
    assert default_owner(name) == owner
