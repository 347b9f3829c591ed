"""Sequential objects as models: for every operation of a history what it does to a state.

A `Move` is an operation as the search sees it: the states that may follow a state, none if the operation
cannot have happened there. Here belong the objects that have a name on the command line; a model of the
user's own (`user_models` of the session) makes moves as well. Values are told apart exactly: true is not 1.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from possibly.errors import TraceError, UsageError
from possibly.trace.histories.model import Keyword, Map, Operation, Outcome, Value

State: TypeAlias = Hashable
Step: TypeAlias = Callable[[Any], tuple[State, ...]]

MISSING = Keyword("missing")
"""The state of a key that nobody has written."""
_BOOLEANS = {True: Keyword("true"), False: Keyword("false")}


@dataclass(frozen=True, slots=True)
class Move:
    """What one operation does."""

    step: Step
    pure: bool = False
    """It changes no state whatever the state is: where it is allowed, it may as well happen at once."""
    like: Hashable = None
    """Operations with the same mark do the same in every state; None is like no other."""
    sets: tuple[State] | None = None
    """The state after it, if it is the same after every state in which it can happen."""
    blind: bool = False
    """It also can happen in every state: what came just before it, nobody has seen."""
    hope: Callable[[Any], bool] | None = None
    """Of a pure one: False for a state from which moves that set none (see `sets`) never make it possible."""


class Model(Protocol):
    """A sequential object."""

    @property
    def name(self) -> str: ...
    @property
    def initial(self) -> State: ...
    def move(self, operation: Operation) -> Move | None:
        """What the operation does; None if it says nothing, since it is known not to have happened."""
        ...


def exact(value: Value) -> Value:
    """The value with booleans that are not numbers."""
    if isinstance(value, bool):
        return _BOOLEANS[value]
    if isinstance(value, tuple):
        return tuple(map(exact, value))
    if isinstance(value, Map):
        return Map(frozenset((exact(key), exact(each)) for key, each in value.items))
    return frozenset(map(exact, value)) if isinstance(value, frozenset) else value


Verb: TypeAlias = Callable[[Operation], Move | None]


@dataclass(frozen=True)
class Verbs:
    """A model whose operations are known by name."""

    name: str
    initial: State
    verbs: Mapping[str, Verb]
    keyed: bool = False
    """Every operation must name its key."""
    by_argument: frozenset[str] = frozenset()
    """Operations that concern nothing but their argument: if there are no others, arguments are parts."""

    def move(self, operation: Operation) -> Move | None:
        verb = self.verbs.get(plain_name(operation.name))
        if verb is None:
            names = ", ".join(sorted(self.verbs))
            raise TraceError(
                f"a {self.name} has no operation {operation.name!r}", line=operation.line or None, hint=names
            )
        if operation.outcome is Outcome.FAILED and verb is not compare_and_set:
            return None
        return verb(operation)


def plain_name(name: str) -> str:
    return name.lower().replace("-", "_")


def _changes(step: Step, *mark: Hashable) -> Move:
    return Move(step, like=mark)


def _blindly(after: State, *mark: Hashable) -> Move:
    return Move(lambda _: (after,), like=mark, sets=(after,), blind=True)


def _observes(
    is_allowed: Callable[[Any], bool], operation: Operation, hope: Callable[[Any], bool] | None = None
) -> Move | None:
    """Reads the state: says nothing as long as nobody knows what it read."""
    if not operation.is_known:
        return None
    return Move(lambda state: (state,) if is_allowed(state) else (), pure=True, hope=hope)


# ---- registers and maps -------------------------------------------------------------------------


def _read(operation: Operation) -> Move | None:
    result = exact(operation.result)
    if result is None or result == "":
        return _observes(lambda state: state == result or state is MISSING, operation)
    return _observes(lambda state: bool(state == result), operation, lambda state: _begins(state, result))


def _begins(state: State, result: Value) -> bool:
    """Whether appends may lead from the state to the result."""
    if state is None or state is MISSING or state == result:
        return True
    if isinstance(state, str):
        return isinstance(result, str) and result.startswith(state)
    return isinstance(state, tuple) and isinstance(result, tuple) and result[: len(state)] == state


def _write(operation: Operation) -> Move:
    after = exact(operation.argument)
    return _blindly(after, "write", after)


def compare_and_set(operation: Operation) -> Move | None:
    """A failure without a reason is the comparison's; one with a reason says that nothing happened."""
    argument = operation.argument
    if not isinstance(argument, tuple) or len(argument) != 2:
        raise TraceError(
            "a cas must have two values, what it expects and what it sets", line=operation.line or None
        )
    before, after = exact(argument)
    if operation.outcome is Outcome.FAILED:
        differs = Move(lambda state: (state,) if not _is_at(state, before) else (), pure=True)
        return differs if operation.error is None else None
    if operation.is_known and operation.result is False:
        return Move(lambda state: (state,) if not _is_at(state, before) else (), pure=True)
    step: Step = lambda state: (after,) if _is_at(state, before) else ()  # noqa: E731 - as all the others
    return Move(step, like=("cas", before, after), sets=(after,))


def _is_at(state: State, value: Value) -> bool:
    return state == value or (value is None and state is MISSING)


def _append(operation: Operation) -> Move:
    more = exact(operation.argument)

    def step(state: State) -> tuple[State, ...]:
        if isinstance(state, tuple):
            return ((*state, more),)
        if not isinstance(more, str):
            return ((more,),) if state is MISSING or state is None else ()
        return (state + more,) if isinstance(state, str) else (more,) if state in (MISSING, None) else ()

    return _changes(step, "append", more)


def _delete(_: Operation) -> Move:
    return _blindly(MISSING, "delete")


REGISTER: dict[str, Verb] = {
    "read": _read, "get": _read, "write": _write, "put": _write, "set": _write, "cas": compare_and_set,
    "compare_and_set": compare_and_set, "append": _append, "delete": _delete,
}  # fmt: skip

# ---- queues and stacks --------------------------------------------------------------------------


def _appended(operation: Operation) -> Move:
    item = exact(operation.argument)
    return _changes(lambda state: ((*state, item),), "put", item)


def _removed(place: int) -> Verb:
    """Removal at one end: an unknown one takes what is there, an empty answer needs an empty object."""

    def verb(operation: Operation) -> Move:
        rest = slice(1, None) if place == 0 else slice(None, -1)
        if not operation.is_known:
            return _changes(lambda state: (state[rest],) if state else (), "take")
        item = exact(operation.result)
        if item is None:
            return Move(lambda state: () if state else (state,), pure=True)
        return _changes(lambda state: (state[rest],) if state and state[place] == item else (), "take", item)

    return verb


def _peeked(place: int) -> Verb:
    def verb(operation: Operation) -> Move | None:
        item = exact(operation.result)
        return _observes(lambda state: (state[place] if state else None) == item, operation)

    return verb


def _container(put: Iterable[str], take: Iterable[str], place: int) -> dict[str, Verb]:
    found: dict[str, Verb] = dict.fromkeys(put, _appended)
    return {**found, **dict.fromkeys(take, _removed(place)), "peek": _peeked(place)}


QUEUE = _container(("enqueue", "put", "offer", "add", "send"), ("dequeue", "get", "poll", "take"), 0)
STACK = _container(("push",), ("pop",), -1)

# ---- sets ---------------------------------------------------------------------------------------


def _told(operation: Operation) -> bool | None:
    """Whether the set changed, if that is what the answer says; others repeat the argument."""
    is_answer = operation.is_known and isinstance(operation.result, bool)
    return operation.result if is_answer and not isinstance(operation.argument, bool) else None


def _added(operation: Operation) -> Move:
    item, told = exact(operation.argument), _told(operation)
    if told is False:
        return Move(lambda state: (state,) if item in state else (), pure=True)
    if told is None:
        return _changes(lambda state: (state | {item},), "add", item)
    return _changes(lambda state: () if item in state else (state | {item},), "add new", item)


def _discarded(operation: Operation) -> Move:
    item, told = exact(operation.argument), _told(operation)
    if told is False:
        return Move(lambda state: () if item in state else (state,), pure=True)
    if told is None:
        return _changes(lambda state: (state - {item},), "remove", item)
    return _changes(lambda state: (state - {item},) if item in state else (), "remove old", item)


def _contained(operation: Operation) -> Move | None:
    item = exact(operation.argument)
    return _observes(lambda state: (item in state) is operation.result, operation)


def _whole_set(operation: Operation) -> Move | None:
    items = frozenset(exact(tuple(operation.result or ())) if operation.is_known else ())
    return _observes(lambda state: bool(state == items), operation)


BY_ELEMENT: dict[str, Verb] = {
    "add": _added, "insert": _added, "remove": _discarded, "discard": _discarded, "contains": _contained,
}  # fmt: skip
SET: dict[str, Verb] = {**BY_ELEMENT, "read": _whole_set}

# ---- counters -----------------------------------------------------------------------------------


def _amount(operation: Operation, sign: int) -> int:
    amount = operation.argument if operation.argument is not None else 1
    if isinstance(amount, bool) or not isinstance(amount, int):
        raise TraceError("a counter is changed by whole numbers", line=operation.line or None)
    return sign * amount


def _added_to(sign: int) -> Verb:
    def verb(operation: Operation) -> Move:
        amount = _amount(operation, sign)
        return _changes(lambda state: (state + amount,), "add", amount)

    return verb


def _exchanged(before: bool) -> Verb:
    """Adds and answers with the number before or after."""

    def verb(operation: Operation) -> Move:
        amount = _amount(operation, 1)
        if not operation.is_known:
            return _changes(lambda state: (state + amount,), "add", amount)
        told = exact(operation.result)
        start = told if before or not isinstance(told, int) else told - amount
        return _changes(lambda state: (state + amount,) if state == start else (), "add at", amount, start)

    return verb


def _counted(operation: Operation) -> Move | None:
    result = exact(operation.result)
    return _observes(lambda state: bool(state == result), operation)


COUNTER: dict[str, Verb] = {
    "add": _added_to(1), "inc": _added_to(1), "increment": _added_to(1), "dec": _added_to(-1),
    "decrement": _added_to(-1), "sub": _added_to(-1), "read": _counted, "get": _counted,
    "get_and_add": _exchanged(True), "add_and_get": _exchanged(False),
}  # fmt: skip

MODELS: dict[str, Verbs] = {
    "register": Verbs("register", None, REGISTER),
    "kv": Verbs("kv", MISSING, REGISTER, keyed=True),
    "queue": Verbs("queue", (), QUEUE),
    "stack": Verbs("stack", (), STACK),
    "set": Verbs("set", frozenset(), SET, by_argument=frozenset(BY_ELEMENT)),
    "counter": Verbs("counter", 0, COUNTER),
}
"""By their names on the command line."""


def model_named(name: str) -> Verbs:
    if name not in MODELS:
        raise UsageError(
            f"no model is called {name!r}", hint=f"there are {', '.join(MODELS)}, or a file FILE.py"
        )
    return MODELS[name]
