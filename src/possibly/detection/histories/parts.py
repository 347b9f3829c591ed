"""A history taken apart: a history is linearizable exactly if each part is, where parts do not meet.

Operations on different keys of a map meet nowhere (P-compositionality: "Faster linearizability checking via
P-compositionality", Horn and Kroening, section 3). So do operations on different elements of a set as long as
none reads the whole of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace

from possibly.detection.histories.models import Model, Verbs, exact, plain_name
from possibly.errors import TraceError
from possibly.trace.histories.model import History, Operation, Outcome, Value

Parts = dict[Value, list[Operation]]


def parts_of(history: History, model: Model, key: Callable[[Operation], Value] | None = None) -> Parts:
    """The operations of each part, by its key."""
    operations: Iterable[Operation] = history.operations
    if key is not None:
        return _grouped(history.operations, key)
    if isinstance(model, Verbs):
        if model.keyed or _names_keys(history):
            operations = [_keyed(each) for each in operations]
        if model.by_argument and all(plain_name(each.name) in model.by_argument for each in operations):
            return _grouped(operations, lambda each: (exact(each.key), exact(each.argument)))
    return _grouped(operations, lambda each: exact(each.key))


def _grouped(operations: Iterable[Operation], key: Callable[[Operation], Value]) -> Parts:
    found: Parts = defaultdict(list)
    for operation in operations:
        found[key(operation)].append(operation)
    return dict(found)


READS = {"read", "get", "dequeue", "pop", "poll", "take", "peek"}


def _names_keys(history: History) -> bool:
    """Whether every call carries `[key value]`, also those that have no value to carry."""
    if not all(_is_pair(each.argument) and each.key is None for each in history):
        return False
    return any(plain_name(each.name) in READS for each in history)


def _is_pair(value: Value) -> bool:
    return isinstance(value, tuple) and len(value) == 2


def _keyed(operation: Operation) -> Operation:
    """With its key apart from its value."""
    if operation.key is not None:
        return operation
    if not _is_pair(operation.argument):
        raise TraceError(
            f"{operation.name} names no key",
            line=operation.line or None,
            hint="give :key, or a value [key value]; one object without keys is a register",
        )
    key, argument = operation.argument
    result = operation.result
    if operation.outcome is Outcome.OK and _is_pair(result) and result[0] == key:
        result = result[1]
    return replace(operation, key=key, argument=argument, result=result)
