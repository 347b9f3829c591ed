"""An operation of a history is a list of reads, writes and appends, or an error that names its line."""

from __future__ import annotations

from typing import Any

import pytest

from possibly.errors import TraceError
from possibly.trace.histories.model import History, Keyword, Operation, Outcome
from possibly.trace.histories.transactions import Act, Verb, transactions_of


def history(argument: Any, result: Any, outcome: Outcome = Outcome.OK) -> History:
    return History((Operation("1", "txn", argument, result, outcome, 0, 1, line=7),), 2, "history.edn")


def test_what_was_read_counts_once_it_is_known() -> None:
    called, returned = (
        ((Keyword("r"), "x", None), ("append", "y", 1)),
        ((Keyword("r"), "x", (1, 2)), ("append", "y", 1)),
    )
    (found,) = transactions_of(history(called, returned))
    assert found.acts == (Act(Verb.READ, "x", (1, 2)), Act(Verb.APPEND, "y", 1))
    (found,) = transactions_of(history(called, None, Outcome.UNKNOWN))
    assert found.acts[0] == Act(Verb.READ, "x", None) and found.outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    "told", [5, None, ((1, 2),), (("drop", "x", 1),), (("r", "x", None, 1),), ((5, "x", 1),)]
)
def test_what_is_no_transaction_is_an_error(told: Any) -> None:
    with pytest.raises(TraceError) as error:
        transactions_of(history(told, told))
    assert (error.value.file, error.value.line) == ("history.edn", 7)
