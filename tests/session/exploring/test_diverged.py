"""Where an execution parts from an earlier one, the user's task, line and package are named."""

from __future__ import annotations

from possibly.control.execution import Execution, Operation, Outcome, Step
from possibly.session.exploring.diverged import diverged, in_words, remedy_for
from possibly.verdict.reasons import SAME_AGAIN

NAMES = {"0": "MainThread", "0.2": "handler#1"}


def parted(at: str, called_from: str = "", waits: Operation | None = None) -> tuple[str, str, str]:
    detail = {"called_from": called_from} if called_from else None
    steps = (Step("0", Operation("read", "x", (), at), ("0",), {}, detail),)
    pending = {"0": Operation("exit", "_:exit", ())} | ({} if waits is None else {"0.2": waits})
    execution = Execution(steps, Outcome.CUT_OFF, NAMES, pending=pending, things={"0:lock1": "lock"})
    told, reason = diverged(execution, ("0", "0.2"))
    return told.partition(": ")[2], reason.where, reason.remedy


def test_the_task_the_line_and_what_it_waits_for() -> None:
    told, where, remedy = parted(__file__ + ":3", waits=Operation("acquire", "0:lock1", (), "b.py:7"))
    assert told == (
        f"in step 2, after {__file__}:3, handler#1 went on before and cannot now: it waits for lock at b.py:7"
    )
    assert (where, remedy) == (__file__ + ":3", SAME_AGAIN)


def test_a_task_that_is_gone() -> None:
    assert parted("")[0] == "in step 2, handler#1 went on before and cannot now: it is not there any more"


def test_the_step_at_which_two_executions_part() -> None:
    def executed(*things: str) -> Execution:
        steps = [Step("0.2", Operation("read", each, (), f"a.py:{each}"), ("0.2",), {}) for each in things]
        return Execution(tuple(steps), Outcome.CUT_OFF, NAMES)

    same, other = executed("1", "2", "3"), executed("1", "9")
    told = diverged(other, ("0.2",) * 3, [same])[0]
    assert told.endswith(
        "; they part in step 2: handler#1 did read 2 (a.py:2) before, and now read 9 (a.py:9)"
    )
    assert "they part" not in diverged(executed("1", "2"), ("0.2",) * 3, [same])[0]


def test_where_no_task_is_known() -> None:
    told, reason = diverged(Execution((), Outcome.CUT_OFF), ())
    assert told == "something outside control decides: step 1 is another one than before"
    assert reason.remedy == SAME_AGAIN


def test_inside_a_package_that_is_named_with_the_line_that_called_it() -> None:
    told, where, remedy = parted("aiohttp/client.py:600", __file__ + ":9", Operation("await", "0.2", ()))
    assert told == f"in step 2, after {__file__}:9, handler#1 went on before and cannot now"
    assert (where, remedy) == (__file__ + ":9", remedy_for("aiohttp")) and "--trust aiohttp " in remedy


def test_tasks_in_the_words_of_a_tree() -> None:
    assert in_words("in step 3, task 0.2 went on", NAMES) == "in step 3, handler#1 went on"
    assert in_words("in step 3, task 0.21 went on", NAMES) == "in step 3, task 0.21 went on"
