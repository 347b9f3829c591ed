"""A schedule is read back as it was written, whatever things and places are called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from possibly.errors import PossiblyError
from possibly.trace.schedule import FIRST_LINE, Schedule, ScheduledStep, parsed_schedule, schedule_text

TASKS = st.sampled_from(["0", "0.1", "0.1.12"])
KINDS = st.sampled_from(["", "read", "acquire"])
THINGS = st.text("ab:#@[]|'.\"", max_size=6).map(str.strip).filter(lambda text: text != "@")
FILES = st.text("ab .:|@\\\n\ré", max_size=6).map(lambda text: f"x{text}.py:3")
TEXTS = st.text("ab :|@#=", max_size=6).map(lambda text: " ".join(text.split()))
STEPS = st.builds(ScheduledStep, TASKS, st.just(""), KINDS, THINGS, FILES, TEXTS)
HEADERS = st.dictionaries(
    st.sampled_from(["program", "seed", "remark"]), st.integers() | st.lists(st.text(max_size=4), max_size=2)
)


@given(st.lists(STEPS, max_size=5), HEADERS)
def test_what_is_written_is_read_back(steps: list[ScheduledStep], header: dict[str, object]) -> None:
    schedule = Schedule(tuple(steps), header)
    found = parsed_schedule(schedule_text(schedule))
    assert found.header == header and found.choices == schedule.choices
    assert [each.at for each in found.steps] == [each.at for each in steps]


def test_names_of_tasks_and_comments() -> None:
    text = f"{FIRST_LINE}\nseed: 1\n\n# a remark\n0.1 teller one\n"
    text += "  read balance @ bank.py:10 | balance + 1\n\n  *\n"
    found = parsed_schedule(text)
    first = ScheduledStep("0.1", "teller one", "read", "balance", "bank.py:10", "balance + 1")
    assert found.steps == (first, ScheduledStep("0.1", "teller one"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1), ("possibly schedule 2\n", 1), (f"{FIRST_LINE}\nseed 1\n", 2), (f"{FIRST_LINE}\nseed: [\n",
        2),
        (f"{FIRST_LINE}\n\n  read x\n", 3), (f"{FIRST_LINE}\n\nteller\n  read x\n", 3),
    ],
)  # fmt: skip
def test_what_is_no_schedule_names_its_line(text: str, line: int) -> None:
    with pytest.raises(PossiblyError) as error:
        parsed_schedule(text, "s")
    assert (error.value.file, error.value.line) == ("s", line)
