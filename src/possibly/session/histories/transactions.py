"""From a history of transactions and an isolation level to an answer."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from possibly.detection.limits import Budget
from possibly.detection.transactions.isolation import Isolation, Level, isolation_of
from possibly.errors import TraceError
from possibly.trace.histories.model import History
from possibly.trace.histories.transactions import Transaction, transactions_of

LEVELS = tuple(level.value for level in Level)


@dataclass(frozen=True, slots=True)
class TransactionReport:
    """The transactions, the level that was asked for and the answer."""

    transactions: tuple[Transaction, ...]
    level: str
    answer: Isolation
    seconds: float


def check_transactions(history: History, level: str, timeout: float | None = None) -> TransactionReport:
    """Whether the transactions of the history are isolated that well."""
    started = perf_counter()
    transactions = transactions_of(history)
    try:
        answer = isolation_of(transactions, Level(level), Budget(timeout=timeout))
    except TraceError as error:
        error.file = error.file or history.file
        raise
    return TransactionReport(tuple(transactions), level, answer, perf_counter() - started)
