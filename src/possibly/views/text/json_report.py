"""The report for a program: one JSON document a trace.

The keys are part of the public interface and stand in the order of the manual; a key is only ever
added. The text is ASCII, so that it survives any terminal and any pipe.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from possibly.verdict.model import Atom, Change, Explanation, MissingOrder, Report, Step, Verdict, Witness
from possibly.views.text.words import UNPRINTABLE_VALUE

DEEPEST_VALUE = 200
LONG = 10_000
"""Items of a list that are put into words at a time."""


def render_json(report: Report, notes: bool = False) -> str:
    """The document on one line, without the newline; `notes` say how each property was decided."""
    return "".join(json_pieces(report, notes))


def json_pieces(report: Report, notes: bool = False) -> Iterator[str]:
    """The same bit by bit: the path of a long run is as long as the run."""
    return _pieces(document(report, notes))


def _pieces(value: Any) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for number, (key, each) in enumerate(value.items()):
            yield f"{', ' if number else '{'}{json.dumps(key)}: "
            yield from _pieces(each)
        yield "}"
    elif isinstance(value, list) and len(value) > LONG:
        for first in range(0, len(value), LONG):
            some = json.dumps(value[first : first + LONG], allow_nan=False)
            yield (", " if first else "[") + some[1:-1]
        yield "]"
    elif isinstance(value, list) and value:
        for number, each in enumerate(value):
            yield ", " if number else "["
            yield from _pieces(each)
        yield "]"
    else:
        yield json.dumps(value, allow_nan=False)


def document(report: Report, notes: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = {
        "trace": report.trace,
        "processes": report.processes,
        "events": report.events,
        "properties": [_property(verdict, notes) for verdict in report.verdicts],
    }
    if report.warnings:
        found["warnings"] = list(report.warnings)
    return found


def _property(verdict: Verdict, notes: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": verdict.name,
        "language": verdict.language,
        "formula": verdict.formula,
        "verdict": verdict.truth.value,
        "class": verdict.predicate_class,
        "engine": verdict.engine,
        "seconds": round(verdict.seconds, 6),
        "cuts": verdict.cuts,
        "observed": verdict.observed,
        **({"candidate": True} if verdict.candidate else {}),
        "assumed": list(verdict.assumed),
        "faults": list(verdict.faults),
        "witness": _witness(verdict.witness),
    }
    if verdict.path is not None:
        from possibly.views.text.json_paths import path_document

        found.update(path_document(verdict.language, verdict.path))
    if verdict.keys is not None:
        keys = verdict.keys
        found["keys"] = {
            "key": keys.key,
            "of": keys.of,
            "violated": keys.violated,
            "values": list(keys.values),
        }
    if verdict.reason is not None:
        found["reason"] = verdict.reason
    if verdict.explanation is not None:
        found["explanation"] = _explanation(verdict.explanation)
    if verdict.example is not None:
        explanation = _explanation(verdict.example.explanation)
        found["example"] = {**(_witness(verdict.example.witness) or {}), "explanation": explanation}
    if verdict.raced:
        found["raced"] = list(verdict.raced)
    if verdict.noticed:
        found["noticed"] = list(verdict.noticed)
    if notes:
        found["notes"] = list(verdict.notes)
    return found


def _witness(witness: Witness | None) -> dict[str, Any] | None:
    if witness is None:
        return None
    found: dict[str, Any] = {"cut": dict(witness.cut), "path": list(witness.path)}
    if witness.tasks is not None:
        found["tasks"] = dict(witness.tasks)
    if witness.loop is not None:
        loop = witness.loop
        found["loop"] = {"from": loop.first, "to": loop.second, "passed_over": list(loop.passed_over)}
    if witness.failure is not None:
        from possibly.views.text.json_tasks import failure_document

        found.update(failure_document(witness.failure, _value))
    return found


def _explanation(explanation: Explanation) -> dict[str, Any]:
    return {
        "summary": explanation.summary,
        "steps": [_step(step) for step in explanation.steps],
        "moment": explanation.moment,
        "state": {name: _value(value) for name, value in explanation.state.items()},
        "atoms": [_atom(atom) for atom in explanation.atoms],
        "missing": _missing(explanation.missing),
    }


def _step(step: Step) -> dict[str, Any]:
    facts = {
        "event": step.event,
        "process": step.process,
        "kind": step.kind,
        "at": step.place,
        "label": step.label,
        "fn": step.function,
        "message": step.message,
        "changes": [_change(change) for change in step.changes],
    }
    return {key: fact for key, fact in facts.items() if fact is not None}


def _change(change: Change) -> dict[str, Any]:
    before = {} if change.fresh else {"before": _value(change.before)}
    return {"variable": change.variable, **before, "after": _value(change.after)}


def _atom(atom: Atom) -> dict[str, Any]:
    operands = {name: _value(value) for name, value in atom.operands.items()}
    return {"text": atom.text, "value": atom.value, "operands": operands}


def _missing(missing: MissingOrder | None) -> dict[str, Any] | None:
    if missing is None:
        return None
    return {"first": _step(missing.first), "second": _step(missing.second), "suffices": missing.suffices}


def _value(value: Any, depth: int = 0) -> Any:
    """The value as strict JSON: what JSON cannot say (infinities, endless nesting) becomes a string."""
    if depth > DEEPEST_VALUE:
        return UNPRINTABLE_VALUE
    match value:
        case float() if not math.isfinite(value):
            return str(value)
        case list() | tuple():
            return [_value(item, depth + 1) for item in value]
        case dict():
            return {str(key): _value(item, depth + 1) for key, item in value.items()}
        case _:
            return value
