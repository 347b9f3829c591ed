"""An execution travels between processes as bytes, and arrives as it was."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from possibly.control.execution import Access, Execution, Operation, Outcome, Step
from possibly.control.runtime.encode import decoded, encoded

THINGS = st.sampled_from(["x", "0.1:lock1", "a:b", "", "\n"])
OPERATIONS = st.builds(
    Operation, st.sampled_from(["read", "write", "acquire"]), THINGS,
    st.lists(st.builds(Access, THINGS, st.booleans()), max_size=2).map(tuple), st.just("p.py:1"),
    st.booleans(),
)  # fmt: skip


@st.composite
def executions(draw: st.DrawFn) -> Execution:
    operations = draw(st.lists(OPERATIONS, min_size=3, max_size=3))
    picked = st.sampled_from(operations)
    pending = st.dictionaries(st.sampled_from(["0", "0.1", "0.2"]), picked)
    steps = [
        Step("0", draw(picked), ("0", "0.1"), draw(pending), draw(st.none() | st.integers()), (("get", "x"),))
        for _ in range(draw(st.integers(0, 4)))
    ]
    return Execution(
        tuple(steps),
        draw(st.sampled_from(list(Outcome))),
        {"0": "main"},
        None,
        ("u",),
        b"out",
        draw(pending),
        {"t": "x"},
    )


@given(executions(), st.dictionaries(st.text(max_size=3), st.integers()))
def test_it_arrives_as_it_was(execution: Execution, extra: dict[str, int]) -> None:
    assert decoded(encoded(execution, extra)) == (execution, extra)
