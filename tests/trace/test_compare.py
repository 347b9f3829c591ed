"""Two traces tell the same run or not."""

from __future__ import annotations

import io

import pytest

from possibly.trace import notation, read_trace, same_run, write_lines

TEXT = "shared(t=0) p(x=0): a send(m) {y=1} | q: recv(m) b#l"


def test_numbering_does_not_matter() -> None:
    one = notation.trace(TEXT)
    assert same_run(one, read_trace(io.BytesIO("\n".join(write_lines(one)).encode())))


@pytest.mark.parametrize(
    "other",
    [
        TEXT.replace("t=0", "t=1"),
        TEXT.replace("x=0", "x=0.0"),
        TEXT.replace("y=1", "y=true"),
        TEXT.replace("#l", ""),
        TEXT.replace(" b", " c"),
        TEXT.replace("recv(m) ", ""),
        TEXT.replace("send(m)", "send(m>q)") + " c",
    ],
)
def test_every_fact_matters(other: str) -> None:
    assert not same_run(notation.trace(TEXT), notation.trace(other))
