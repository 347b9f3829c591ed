"""Isolation of transactions as text and as JSON: the anomaly, and why each comes before the next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from possibly.session.histories.transactions import TransactionReport
from possibly.trace.histories.model import shown
from possibly.trace.histories.transactions import Act, Transaction, Verb
from possibly.verdict.model import Truth
from possibly.verdict.transactions import Edge
from possibly.views.text.histories import jsonable
from possibly.views.text.words import elided, plain

ADJECTIVES = {
    "serializable": "serializable",
    "strict": "strict serializable",
    "snapshot": "snapshot isolated",
}
MOST = 10
"""Anomalies that are told."""
LONGEST = 100


def lines_of(report: TransactionReport, path: str) -> Iterator[str]:
    """The report for a reader."""
    answer, word = report.answer, ADJECTIVES[report.level]
    said = {True: word, False: f"NOT {word.upper()}", None: "undecided"}[answer.holds]
    yield plain(f"{said}  {path}: {len(report.transactions):,} transactions")
    if answer.reason is not None:
        yield f"  {answer.reason}"
    for anomaly in answer.anomalies[:MOST]:
        yield plain(f"  {anomaly.name}: {anomaly.text}")
    if len(answer.anomalies) > MOST:
        yield f"  and {len(answer.anomalies) - MOST:,} more"
    if answer.cycle:
        yield ""
        for edge in answer.cycle:
            yield plain(f"  {_transaction(report.transactions[edge.first])}")
        yield ""
        for edge in answer.cycle:
            why = f": {edge.why}" if edge.why else ""
            yield plain(f"  T{edge.first} comes before T{edge.second} ({edge.kind}){why}")


def _transaction(transaction: Transaction) -> str:
    acts = ", ".join(map(_act, transaction.acts))
    line = f"  line {transaction.operation.line}" if transaction.operation.line else ""
    return elided(f"T{transaction.number}  {acts}", LONGEST) + line


def _act(act: Act) -> str:
    if act.verb is Verb.READ:
        return f"read {shown(act.key)} -> {shown(act.value)}"
    word = "append to" if act.verb is Verb.APPEND else "write"
    return f"{word} {shown(act.key)}: {shown(act.value)}"


def document(report: TransactionReport, path: str) -> dict[str, Any]:
    """The report for a program."""
    answer = report.answer
    return {
        "history": path,
        "level": report.level,
        "transactions": len(report.transactions),
        "verdict": Truth.of(answer.holds).value,
        "reason": answer.reason,
        "seconds": round(report.seconds, 6),
        "anomalies": [
            {"name": each.name, "text": each.text, "transactions": list(each.transactions)}
            for each in answer.anomalies
        ],
        "cycle": [_edge(edge, report) for edge in answer.cycle],
    }


def _edge(edge: Edge, report: TransactionReport) -> dict[str, Any]:
    first = report.transactions[edge.first]
    return {
        "first": edge.first,
        "second": edge.second,
        "kind": edge.kind,
        "why": edge.why,
        "line": first.operation.line,
        "acts": [[act.verb.value, jsonable(act.key), jsonable(act.value)] for act in first.acts],
    }
