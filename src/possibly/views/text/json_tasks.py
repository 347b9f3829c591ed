"""What a witness of a task formula says beside its way, as keys of the JSON document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from possibly.verdict.tasks import StateFact, TaskFailure, TaskPart

Shown = Callable[[Any], Any]
"""A value as strict JSON."""


def failure_document(failure: TaskFailure, shown: Shown) -> dict[str, Any]:
    """Counts are null where the failing slices were not counted."""
    return {
        "failing": failure.failing,
        "slices": failure.slices,
        "all_slices": failure.all_slices,
        "parts": [_part(part, shown) for part in failure.parts],
        "states": [_state(state, shown) for state in failure.states],
        "subnet": list(failure.subnet),
    }


def _part(part: TaskPart, shown: Shown) -> dict[str, Any]:
    return {"text": part.text, "value": part.value, "reads": _sets(part.reads, shown)}


def _state(state: StateFact, shown: Shown) -> dict[str, Any]:
    values = _sets(state.values, shown)
    return {"task": state.task, "count": state.count, "stack": state.stack, "values": values}


def _sets(values: Any, shown: Shown) -> dict[str, Any]:
    return {name: [shown(value) for value in each] for name, each in values.items()}
