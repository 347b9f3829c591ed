"""Registers that transactions read and write: the order of versions is not seen, so it is searched for.

"The serializability of concurrent database updates" (Papadimitriou), polygraphs. Each value is written once
to a key, so a read shows who wrote it. Any other transaction that wrote the key came before that one or
after the read: a choice. Choices of which one side would close a cycle are made first; of the others one
side is tried after the other. The question is NP-hard.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from possibly.detection.histories.models import exact
from possibly.detection.limits import Budget
from possibly.detection.transactions.dependencies import RW, WR, WW
from possibly.detection.transactions.versions import Anomaly
from possibly.errors import TraceError
from possibly.trace.histories.model import Outcome, Value, shown
from possibly.trace.histories.transactions import Transaction, Verb
from possibly.verdict.transactions import Edge


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the two edges is there."""

    first: Edge
    second: Edge


class Registers:
    """What is known of a history of writes: edges, choices, and anomalies of single transactions."""

    def __init__(self, transactions: Sequence[Transaction]) -> None:
        self.transactions = transactions
        self.anomalies: list[Anomaly] = []
        self.edges: list[Edge] = []
        self.choices: list[Choice] = []
        self._written: dict[Value, dict[Value, tuple[int, bool]]] = {}
        """For each key and value: who wrote it, and whether it was its last to that key."""
        self._reads: list[tuple[int, Value, Value]] = []
        """Reads from outside: transaction, key, value."""
        for each in transactions:
            self._note_writes(each)
        for each in transactions:
            if each.outcome is Outcome.OK:
                self._note_reads(each)
        self.happened = self._who_happened()
        self._writers = self._last_writers()
        for read in self._reads:
            self._depend(*read)

    def _note_writes(self, transaction: Transaction) -> None:
        acts = [(exact(act.key), exact(act.value)) for act in transaction.acts if act.verb is Verb.WRITE]
        last = dict(acts)
        for key, value in acts:
            written = self._written.setdefault(key, {})
            if value is None or (value in written and written[value][0] != transaction.number):
                raise TraceError(
                    f"{shown(value)} is written twice to key {shown(key)}",
                    line=transaction.operation.line or None,
                    hint="versions are told apart by their values, so each is written once, and nil never",
                )
            written[value] = transaction.number, last[key] == value

    def _note_reads(self, transaction: Transaction) -> None:
        own: dict[Value, Value] = {}
        for act in transaction.acts:
            key, value = exact(act.key), exact(act.value)
            if act.verb is Verb.WRITE:
                own[key] = value
            elif key in own:
                if own[key] != value:
                    text = f"reads {shown(value)} from key {shown(key)} and has written {shown(own[key])}"
                    self._tell("internal", transaction, text)
            else:
                self._reads.append((transaction.number, key, value))

    def _tell(self, name: str, transaction: Transaction, text: str, *others: int) -> None:
        told = Anomaly(name, f"T{transaction.number} {text}", (transaction.number, *others))
        self.anomalies.append(told)

    def _who_happened(self) -> frozenset[int]:
        done = {each.number for each in self.transactions if each.outcome is Outcome.OK}
        read = {self._written.get(key, {}).get(value, (-1,))[0] for _, key, value in self._reads}
        return frozenset(done | read - {-1})

    def _last_writers(self) -> dict[Value, list[int]]:
        return {
            key: sorted({writer for writer, _ in written.values() if writer in self.happened})
            for key, written in self._written.items()
        }

    def _depend(self, reader: int, key: Value, value: Value) -> None:
        about, others = f"key {shown(key)}", self._writers.get(key, [])
        if value is None:
            for other in others:
                self._add(Edge(reader, other, RW, f"it wrote {about}, which had been read unwritten"))
            return
        writer, is_last = self._written.get(key, {}).get(value, (None, True))
        told = self.transactions[reader]
        if writer is None:
            self._tell("garbage", told, f"reads {shown(value)} from {about}: nobody wrote it")
            return
        if self.transactions[writer].outcome is Outcome.FAILED:
            text = f"reads {shown(value)} from {about}, which T{writer} wrote, and T{writer} failed"
            self._tell("G1a", told, text, writer)
        if writer == reader:
            self._tell("internal", told, f"reads from {about} what it writes later")
            return
        if not is_last:
            self._tell("G1b", told, f"reads a value of {about} from the middle of T{writer}", writer)
        self._add(Edge(writer, reader, WR, f"it read {shown(value)} from {about}"))
        for other in others:
            if other not in (writer, reader):
                before = Edge(other, writer, WW, f"it wrote {about} later")
                after = Edge(reader, other, RW, f"it wrote {about} later than that was read")
                self.choices.append(Choice(before, after))

    def sources(self) -> Iterator[tuple[int, Value, int]]:
        """Reads with the transactions that wrote what they read."""
        for reader, key, value in self._reads:
            writer = self._written.get(key, {}).get(value, (None, True))[0]
            if writer is not None and writer != reader:
                yield reader, key, writer

    def _add(self, edge: Edge) -> None:
        if edge.first != edge.second:
            self.edges.append(edge)


class Polygraph:
    """Edges that are there, with what they reach; choices are decided until one is left or nothing fits."""

    def __init__(self, count: int, budget: Budget) -> None:
        self._reach = [0] * count
        self._budget = budget
        self.taken: list[Edge] = []

    def copy(self) -> Polygraph:
        found = Polygraph(0, self._budget)
        found._reach = list(self._reach)
        found.taken = list(self.taken)
        return found

    def reaches(self, first: int, second: int) -> bool:
        return first == second or bool(self._reach[first] >> second & 1)

    def add(self, edge: Edge) -> bool:
        """False if it closes a cycle, with the edges taken so far."""
        self.taken.append(edge)
        if self.reaches(edge.second, edge.first):
            return False
        if not self.reaches(edge.first, edge.second):
            gained = self._reach[edge.second] | 1 << edge.second
            bit = 1 << edge.first
            for node, reach in enumerate(self._reach):
                if node == edge.first or reach & bit:
                    self._reach[node] |= gained
        return True

    def settle(self, choices: list[Choice]) -> bool:
        """Makes all choices that are forced; those that are left stay in the list."""
        is_new = True
        while is_new:
            is_new = False
            left = []
            for choice in choices:
                self._budget.visit()
                first, second = choice.first, choice.second
                if self.reaches(first.first, first.second) or self.reaches(second.first, second.second):
                    continue
                one, other = (self.reaches(each.second, each.first) for each in (first, second))
                if not one and not other:
                    left.append(choice)
                    continue
                is_new = True
                if not self.add(second if one else first):
                    return False
            choices[:] = left
        return True

    def solve(self, choices: list[Choice]) -> bool:
        """Whether all choices can be made without a cycle."""
        todo: list[tuple[Polygraph, list[Choice], Edge | None]] = [(self, choices, None)]
        while todo:
            graph, left, edge = todo.pop()
            if (edge is not None and not graph.add(edge)) or not graph.settle(left):
                continue
            if not left:
                return True
            choice = left.pop()
            todo.append((graph.copy(), list(left), choice.second))
            todo.append((graph, left, choice.first))
        return False
