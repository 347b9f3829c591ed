"""Isolation levels: serializable, strict serializable, snapshot isolation; and what breaks them.

Serializable: the transactions could have happened one after another. Strict: also each between its call and
its return. Snapshot: each reads what was there when it began, and of two that overlap and write the same
key one fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from possibly.detection.limits import Budget, LimitReachedError
from possibly.detection.transactions.cycles import cycle_of, name_of
from possibly.detection.transactions.dependencies import RT, RW, WW, Graph, add_real_time, of_lists
from possibly.detection.transactions.registers import Polygraph, Registers
from possibly.detection.transactions.versions import Anomaly, Lists
from possibly.errors import TraceError
from possibly.trace.histories.transactions import Transaction, Verb
from possibly.verdict.transactions import Edge


class Level(Enum):
    SERIALIZABLE = "serializable"
    STRICT = "strict"
    SNAPSHOT = "snapshot"


@dataclass(frozen=True, slots=True)
class Isolation:
    """The answer. `holds` is None if it was not decided, and `reason` says why."""

    holds: bool | None
    anomalies: tuple[Anomaly, ...] = ()
    cycle: tuple[Edge, ...] = ()
    """Dependencies of which the last leads back to the first; empty if there is none to show."""
    reason: str | None = None


def isolation_of(transactions: Sequence[Transaction], level: Level, budget: Budget) -> Isolation:
    """Whether these transactions are isolated that well."""
    verbs = {act.verb for each in transactions for act in each.acts}
    if verbs >= {Verb.APPEND, Verb.WRITE}:
        raise TraceError("a history has appends or writes, not both")
    if Verb.WRITE in verbs:
        return _of_registers(Registers(transactions), level, budget)
    return _of_lists(Lists(transactions), level)


def _broken(cycle: tuple[Edge, ...], anomalies: Sequence[Anomaly] = ()) -> Isolation:
    numbers = tuple(edge.first for edge in cycle)
    told = Anomaly(name_of(cycle), f"{' -> '.join(f'T{n}' for n in (*numbers, numbers[0]))}", numbers)
    return Isolation(False, (*anomalies, told), cycle)


# ---- lists --------------------------------------------------------------------------------------


def _of_lists(lists: Lists, level: Level) -> Isolation:
    graph = of_lists(lists)
    if level is Level.STRICT:
        add_real_time(graph, lists.transactions, lists.happened)
    cycle = cycle_of(graph, snapshot=level is Level.SNAPSHOT)
    if cycle is not None:
        return _broken(cycle, lists.anomalies)
    if lists.anomalies:
        return Isolation(False, tuple(lists.anomalies))
    if level is Level.SNAPSHOT and _is_unsure(lists, graph):
        return Isolation(None, reason="several appends to a key were never read, so their order is not known")
    return Isolation(True)


def _is_unsure(lists: Lists, graph: Graph) -> bool:
    """Whether the unread appends of some key could stand in an order that breaks the snapshots."""
    for key in lists.keys.values():
        for number, first in enumerate(key.unread):
            for second in key.unread[number + 1 :]:
                graph.add(Edge(first, second, WW))
    return cycle_of(graph, snapshot=True) is not None


# ---- registers ----------------------------------------------------------------------------------


def _of_registers(registers: Registers, level: Level, budget: Budget) -> Isolation:
    if level is Level.SNAPSHOT:
        return _snapshot_of_registers(registers)
    if registers.anomalies:
        return Isolation(False, tuple(registers.anomalies))
    edges = list(registers.edges)
    count = len(registers.transactions)
    if level is Level.STRICT:
        clocked = Graph()
        add_real_time(clocked, registers.transactions, registers.happened)
        moments = min((edge.second for each in clocked.edges.values() for edge in each.values()), default=0)
        edges += [
            Edge(_node(edge.first, count), _node(edge.second, count), RT)
            for each in clocked.edges.values()
            for edge in each.values()
        ]
        count += -min(moments, 0)
    return _searched(registers, edges, count, budget)


def _node(number: int, count: int) -> int:
    """Moments of the clock stand behind the transactions."""
    return number if number >= 0 else count - 1 - number


def _searched(registers: Registers, edges: list[Edge], count: int, budget: Budget) -> Isolation:
    graph, choices = Polygraph(count, budget), list(registers.choices)
    try:
        if not all(graph.add(edge) for edge in edges) or not graph.settle(choices):
            return _forced(graph, len(registers.transactions))
        if graph.solve(choices):
            return Isolation(True)
    except LimitReachedError as error:
        return Isolation(None, reason=str(error))
    return Isolation(False, (Anomaly("no order", "no order of the writes explains all reads", ()),))


def _forced(graph: Polygraph, count: int) -> Isolation:
    """The cycle that the edges close which had to be there."""
    known = Graph()
    for edge in graph.taken:
        first, second = (each if each < count else count - 1 - each for each in (edge.first, edge.second))
        known.add(Edge(first, second, edge.kind, edge.why))
    cycle = cycle_of(known)
    assert cycle is not None, "the last edge closes one"
    return _broken(cycle)


def _snapshot_of_registers(registers: Registers) -> Isolation:
    """Only what is certain whatever the order of versions: who changed what it read came right after it."""
    graph = Graph()
    changed = {
        (each.number, act.key)
        for each in registers.transactions
        for act in each.acts
        if act.verb is Verb.WRITE and each.number in registers.happened
    }
    for edge in registers.edges:
        graph.add(edge)
    after: dict[tuple[int, object], int] = {}
    anomalies = list(registers.anomalies)
    for reader, key, writer in registers.sources():
        if (reader, key) in changed:
            graph.add(Edge(writer, reader, WW, "it changed what it had read"))
            other = after.setdefault((writer, key), reader)
            if other != reader:
                text = f"T{other} and T{reader} change the same version"
                anomalies.append(Anomaly("lost update", text, (other, reader)))
    for reader, key, writer in registers.sources():
        if (writer, key) in after:
            graph.add(Edge(reader, after[writer, key], RW, "it changed what had been read"))
    cycle = cycle_of(graph, snapshot=True)
    if cycle is not None:
        return _broken(cycle, anomalies)
    if anomalies:
        return Isolation(False, tuple(anomalies))
    return Isolation(
        None, reason="registers do not show the order of their versions; append to lists instead"
    )
