"""From a history and a model to an answer: the one sequence for the command line and for Python."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

from possibly.detection.histories.linearize import linearized
from possibly.detection.histories.models import Model, Verbs, exact, model_named
from possibly.detection.histories.search import Effort
from possibly.errors import TraceError
from possibly.trace.histories.model import History, Value
from possibly.trace.histories.read import frozen, read_history
from possibly.verdict.histories import Linearized


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a history."""

    model: str
    initial: object = ...
    """Instead of the model's own initial value."""
    max_states: int | None = 5_000_000
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class HistoryReport:
    """The history, the model by name and the answer."""

    history: History
    model: str
    answer: Linearized
    seconds: float


def check_history(history: History, question: Question) -> HistoryReport:
    """Whether the history is one of that model."""
    started = perf_counter()
    effort = Effort(question.max_states, question.timeout)
    try:
        answer = _answer(history, question, effort)
    except TraceError as error:
        error.file = error.file or history.file
        raise
    return HistoryReport(history, question.model, answer, perf_counter() - started)


def _answer(history: History, question: Question, effort: Effort) -> Linearized:
    if question.model.endswith(".py"):
        from possibly.session.histories.user_models import user_model

        model = user_model(question.model)
        return linearized(history, model, effort, model.key)
    return linearized(history, _named(question), effort)


def _named(question: Question) -> Model:
    model = model_named(question.model)
    if question.initial is ...:
        return model
    initial: Value = exact(frozen(question.initial))
    if isinstance(model.initial, frozenset):
        initial = frozenset(initial if isinstance(initial, tuple) else ())
    return Verbs(model.name, initial, model.verbs, model.keyed, model.by_argument)


def history_of(data: bytes, file: str | None = None) -> History:
    """The history in the content of a file: a foreign one, or a recorded run, perhaps compressed."""
    if _is_trace(data):
        from io import BytesIO

        from possibly.trace import load
        from possibly.trace.histories.traces import history_of_trace

        return replace(history_of_trace(load(BytesIO(data))), file=file)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TraceError("not a text in UTF-8", file=file, line=line) from None
    return read_history(text, file)


def _is_trace(data: bytes) -> bool:
    first = data[:4096].partition(b"\n")[0]
    return data.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")) or b'"possibly-trace"' in first
