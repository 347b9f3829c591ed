"""A model of the user's own: a Python file that the user names, with what an object may do.

    initial = 0                                        # any hashable value
    def step(state, name, argument, result):           # the states that may follow, [] if there are none
        if name == "read":
            return [state] if result in (state, ...) else []
        return [argument]
    def key(name, argument): return argument[0]        # optional: operations with different keys never meet
    pure = {"read"}                                    # optional: operations that never change the state

The result is `...` where nobody knows it. The file is run, since whoever names it wants that; a history
never is.
"""

from __future__ import annotations

import runpy
import traceback
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from possibly.detection.histories.models import Move, State
from possibly.errors import PossiblyError
from possibly.trace.histories.model import Operation, Outcome, Value


@dataclass(frozen=True)
class UserModel:
    """What the file defines."""

    name: str
    initial: State
    step: Callable[..., Iterable[State]]
    partition: Callable[..., Value] | None
    pure: frozenset[str]

    def move(self, operation: Operation) -> Move | None:
        if operation.outcome is Outcome.FAILED:
            return None
        is_pure = operation.name in self.pure
        if is_pure and not operation.is_known:
            return None
        return Move(self._step_of(operation), is_pure, self._mark(operation))

    def _step_of(self, operation: Operation) -> Callable[[Any], tuple[State, ...]]:
        result = operation.result if operation.is_known else ...
        given = operation.name, operation.argument, result

        def step(state: State) -> tuple[State, ...]:
            try:
                found = tuple(self.step(state, *given))
                hash(found)
            except Exception as error:  # noqa: BLE001 - whatever the user's function raises
                raise blamed(self.name, error, f"step({state!r}, {', '.join(map(repr, given))})") from None
            return found

        return step

    def key(self, operation: Operation) -> Value:
        """The part that the operation belongs to."""
        if self.partition is None:
            return operation.key
        try:
            found: Hashable = self.partition(operation.name, operation.argument)
            hash(found)
        except Exception as error:  # noqa: BLE001 - whatever the user's function raises
            raise blamed(self.name, error, "key") from None
        return found

    def _mark(self, operation: Operation) -> Hashable:
        return None if operation.is_known else (operation.name, operation.argument)


def user_model(path: str) -> UserModel:
    """The model that this file defines; it is run."""
    try:
        names = runpy.run_path(path)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the user's file raises
        raise blamed(path, error, "the model") from None
    for name in ("initial", "step"):
        if name not in names:
            raise PossiblyError(
                f"a model defines {name!r}",
                file=path,
                hint="initial and step(state, name, argument, result)",
            )
    try:
        hash(names["initial"])
        pure = frozenset(names.get("pure", ()))
    except TypeError as error:
        raise PossiblyError(f"initial and pure must be hashable: {error}", file=path) from None
    return UserModel(path, names["initial"], names["step"], names.get("key"), pure)


def blamed(path: str, error: Exception, what: str) -> PossiblyError:
    """The error with the line of the user's file that raised it, if one did."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    line = lines[-1] if lines else getattr(error, "lineno", None)
    return PossiblyError(f"{what} raised {type(error).__name__}: {error}", file=path, line=line)
