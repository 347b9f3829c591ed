"""A history of transactions: each operation `txn` is a list of reads, writes and appends of keys.

    [[:append 5 1] [:r 6 nil]]  called,  [[:append 5 1] [:r 6 [1 2]]]  returned

Reads have their values once the transaction is known to have happened. An append adds to a list, a write
(`:w`) sets a register; one history has one of the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from possibly.errors import TraceError
from possibly.trace.histories.model import History, Keyword, Operation, Outcome, Value


class Verb(Enum):
    READ = "r"
    WRITE = "w"
    APPEND = "append"


VERBS = {"r": Verb.READ, "read": Verb.READ, "w": Verb.WRITE, "write": Verb.WRITE, "append": Verb.APPEND}


@dataclass(frozen=True, slots=True)
class Act:
    """One read, write or append of a transaction."""

    verb: Verb
    key: Value
    value: Value
    """What was read, written or appended; of a read whose result nobody knows None."""


@dataclass(frozen=True, slots=True)
class Transaction:
    """Acts in their order, as the operation of a history."""

    number: int
    acts: tuple[Act, ...]
    operation: Operation

    @property
    def outcome(self) -> Outcome:
        """What is known of it."""
        return self.operation.outcome


def transactions_of(history: History) -> list[Transaction]:
    """The transactions of a history, in the order of their calls."""
    return [_transaction(number, each, history.file) for number, each in enumerate(history)]


def _transaction(number: int, operation: Operation, file: str | None) -> Transaction:
    told = operation.result if operation.outcome is Outcome.OK else operation.argument
    if not isinstance(told, tuple):
        raise _error(operation, file, f"{operation.name} is no list of reads and writes")
    return Transaction(number, tuple(_act(each, operation, file) for each in told), operation)


def _act(told: Value, operation: Operation, file: str | None) -> Act:
    if not isinstance(told, tuple) or len(told) != 3:
        raise _error(operation, file, "an act of a transaction is [verb key value]")
    word = told[0].name if isinstance(told[0], Keyword) else told[0]
    if not isinstance(word, str) or word not in VERBS:
        raise _error(operation, file, f"a transaction has no act {word!r}: r, w or append")
    return Act(VERBS[word], told[1], told[2])


def _error(operation: Operation, file: str | None, message: str) -> TraceError:
    return TraceError(message, file=file, line=operation.line or None, hint="[[:append 5 1] [:r 6 [1 2]]]")
