"""Lists that transactions append to: each read shows all versions that came before, in their order.

"Elle: inferring isolation anomalies from experimental observations" (Kingsbury and Alvaro), sections 4 and
5. The longest read of a key gives the order of its versions, all other reads are prefixes of it. Elements
that nobody has read come after it. Elements are told apart by their values, so nobody may append the same
value twice to a key.

Here belong also anomalies that need no cycle: reads of what a failed transaction wrote, of a state in the
middle of a transaction, of what nobody wrote, and transactions that do not see what they did themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from possibly.detection.histories.models import exact
from possibly.errors import TraceError
from possibly.trace.histories.model import Outcome, Value, shown
from possibly.trace.histories.transactions import Transaction, Verb


@dataclass(frozen=True, slots=True)
class Anomaly:
    """Something that no order of transactions explains."""

    name: str
    text: str
    transactions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """What a transaction saw of a key from outside: the list as it was before its own appends."""

    transaction: int
    elements: tuple[Value, ...]


@dataclass(slots=True)
class Key:
    """All that is known of one key."""

    order: tuple[Value, ...] = ()
    """Its elements, in the order of the versions, as far as somebody has read them."""
    writer: dict[Value, int] = field(default_factory=dict)
    unread: list[int] = field(default_factory=list)
    """Transactions that happened and appended something that nobody has read."""
    reads: list[Read] = field(default_factory=list)


class Lists:
    """The keys of a history of appends, and the anomalies of single transactions."""

    def __init__(self, transactions: Sequence[Transaction]) -> None:
        self.transactions = transactions
        self.keys: dict[Value, Key] = {}
        self.anomalies: list[Anomaly] = []
        self._appended: dict[Value, dict[Value, tuple[int, bool]]] = {}
        """For each key and element: who appended it, and whether it was its last to that key."""
        for each in transactions:
            self._note_appends(each)
        for each in transactions:
            if each.outcome is Outcome.OK:
                self._note_reads(each)
        for key in self.keys:
            self._order(key)
        self.happened = self._who_happened()
        self._note_unread()

    def _key(self, key: Value) -> Key:
        return self.keys.setdefault(key, Key())

    def _note_appends(self, transaction: Transaction) -> None:
        acts = [(exact(act.key), exact(act.value)) for act in transaction.acts if act.verb is Verb.APPEND]
        last = dict(acts)
        for key, element in acts:
            appended = self._appended.setdefault(key, {})
            self._key(key)
            if element in appended:
                raise TraceError(
                    f"{shown(element)} is appended twice to key {shown(key)}",
                    line=transaction.operation.line or None,
                    hint="versions are told apart by their elements, so each may be appended once",
                )
            appended[element] = transaction.number, last[key] == element

    def _note_reads(self, transaction: Transaction) -> None:
        own: dict[Value, tuple[Value, ...]] = {}
        known: dict[Value, tuple[Value, ...]] = {}
        for act in transaction.acts:
            key = exact(act.key)
            if act.verb is Verb.APPEND:
                own[key] = (*own.get(key, ()), exact(act.value))
                continue
            seen = exact(act.value) if act.value is not None else ()
            outside = self._outside(transaction, key, seen, own.get(key, ()))
            if outside is None:
                continue
            if known.setdefault(key, outside) != outside:
                self._tell("internal", transaction, f"reads key {shown(key)} twice, and differently")
            self._key(key).reads.append(Read(transaction.number, outside))

    def _outside(
        self, transaction: Transaction, key: Value, seen: Value, own: tuple[Value, ...]
    ) -> tuple[Value, ...] | None:
        """What was read without the transaction's own appends; None if that cannot be."""
        if not isinstance(seen, tuple):
            self._tell("garbage", transaction, f"reads {shown(seen)} from key {shown(key)}, which is no list")
            return None
        if own and seen[-len(own) :] != own:
            self._tell("internal", transaction, f"does not see its own appends to key {shown(key)}")
            return None
        outside = seen[: len(seen) - len(own)]
        if any(
            self._appended.get(key, {}).get(element, (-1,))[0] == transaction.number for element in outside
        ):
            self._tell("internal", transaction, f"sees its own later appends to key {shown(key)}")
            return None
        return outside

    def _tell(self, name: str, transaction: Transaction, text: str, *others: int) -> None:
        numbers = (transaction.number, *others)
        self.anomalies.append(Anomaly(name, f"T{transaction.number} {text}", numbers))

    def _order(self, key: Value) -> None:
        found = self.keys[key]
        longest = max(found.reads, key=lambda read: len(read.elements), default=Read(-1, ()))
        found.order = longest.elements
        for read in found.reads:
            if found.order[: len(read.elements)] != read.elements:
                self._tell(
                    "incompatible order",
                    self.transactions[read.transaction],
                    f"reads {shown(read.elements)} from key {shown(key)}, and T{longest.transaction} "
                    f"{shown(longest.elements)}",
                    longest.transaction,
                )
            self._look_at_elements(key, read)

    def _look_at_elements(self, key: Value, read: Read) -> None:
        reader = self.transactions[read.transaction]
        appended = self._appended.get(key, {})
        if len(set(read.elements)) < len(read.elements):
            self._tell("duplicate", reader, f"reads an element twice from key {shown(key)}")
        for element in read.elements:
            if element not in appended:
                self._tell(
                    "garbage", reader, f"reads {shown(element)} from key {shown(key)}: nobody wrote it"
                )
            elif self.transactions[appended[element][0]].outcome is Outcome.FAILED:
                writer = appended[element][0]
                text = f"reads {shown(element)} from key {shown(key)}, written by T{writer}, which failed"
                self._tell("G1a", reader, text, writer)
        if read.elements and read.elements[-1] in appended and not appended[read.elements[-1]][1]:
            writer = appended[read.elements[-1]][0]
            text = f"reads a state of key {shown(key)} from the middle of T{writer}"
            self._tell("G1b", reader, text, writer)

    def _who_happened(self) -> frozenset[int]:
        """Transactions that are known to have happened: by their return, or by what others have read."""
        read = {
            self._appended[key][element][0]
            for key, found in self.keys.items()
            for element in found.order
            if element in self._appended.get(key, {})
        }
        return frozenset(read | {each.number for each in self.transactions if each.outcome is Outcome.OK})

    def _note_unread(self) -> None:
        for key, appended in self._appended.items():
            found = self.keys[key]
            found.writer = {element: writer for element, (writer, _) in appended.items()}
            ordered = set(found.order)
            writers = (writer for element, writer in found.writer.items() if element not in ordered)
            found.unread = sorted({writer for writer in writers if writer in self.happened})
