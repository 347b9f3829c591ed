"""What a property asks that its trace cannot answer, because it was not recorded or was cut off.

Law: such a property is unknown, whatever the events that are there say; the reason names the command that
records what is missing. A trace that says nothing of its recording is taken as it is, but for values of which
a part was not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from possibly.logic.predicates.values import has_cut
from possibly.logic.specification import Property
from possibly.logic.syntax import Call, Local, Node, Shared, Stack
from possibly.logic.tasks.formulas import Point, Says, parts
from possibly.recorder.edges import ACTIONS
from possibly.trace.model import Trace
from possibly.trace.recorded import Recorded, recorded_of
from possibly.verdict.model import Truth, Verdict


class Unrecorded:
    """Asked for each property of one trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._recorded = recorded_of(trace.header)
        self._cut: frozenset[tuple[str, str]] | None = None

    @property
    def has_cut(self) -> bool:
        """Whether some value was too large to be kept."""
        return bool(self._cut_variables())

    def verdict(self, found: Property, formula: Node, strangers: Iterable[str] = ()) -> Verdict | None:
        """Unknown with its reason; None if the trace tells all that the property asks."""
        reason = self.reason(formula, strangers)
        if reason is None:
            return None
        return Verdict(found.name, found.language, found.text, Truth.UNKNOWN, engine="none", reason=reason)

    def reason(self, formula: Node, strangers: Iterable[str] = ()) -> str | None:
        """`strangers`: names of a path expression that no event bears."""
        recorded = self._recorded
        if recorded is None:
            return next(self._cut_off(formula), None)
        read = [node for node in _all(formula) if isinstance(node, Stack | Point | Shared)]
        asked = {node.function for node in read if isinstance(node, Stack | Point)}
        asked |= set(strangers) - _KINDS
        for reasons in (
            self._calls(recorded, asked),
            self._values(recorded, {node.variable for node in read if isinstance(node, Shared)}),
            self._cut_off(formula),
        ):
            for reason in reasons:
                return reason
        return None

    def _calls(self, recorded: Recorded, asked: set[str]) -> Iterator[str]:
        missing = sorted(asked - recorded.functions)
        if not missing:
            return
        why = (
            "were not kept, there were too many" if set(missing) <= recorded.left_out else "were not recorded"
        )
        options = [word for name in missing for word in ("--calls", name)]
        yield f"calls of {', '.join(missing)} {why}; {_remedy(recorded, options)} records them"

    def _values(self, recorded: Recorded, read: set[str]) -> Iterator[str]:
        unseen, ordering = sorted(read & recorded.unseen), sorted(read & recorded.for_order)
        if unseen and not recorded.accesses:
            yield f"{', '.join(unseen)} had values that were not recorded: {_UNSEEN}"
        told = "only its parts" if unseen else "only what orders the run"
        if missing := unseen or ordering:
            options = [word for name in missing for word in ("--watch", name)]
            yield (
                f"not every value of {', '.join(missing)} was recorded, {told}; "
                f"{_remedy(recorded, options)} records them"
            )

    def _cut_off(self, formula: Node) -> Iterator[str]:
        cut = self._cut_variables()
        if not cut:
            return
        calls = (node for node in _all(formula) if isinstance(node, Call))
        lengths = {id(node.arguments[0]) for node in calls if node.function == "len"}
        for node in _all(formula):
            match node:
                case Local(process, variable) if (process, variable) in cut and id(node) not in lengths:
                    yield f"{process}.{variable} has values that were too large to be kept; {_SMALLER}"
                case Shared(variable) if ("", variable) in cut and id(node) not in lengths:
                    yield f"{variable} has values that were too large to be kept; {_SMALLER}"

    def _cut_variables(self) -> frozenset[tuple[str, str]]:
        """(process, variable), with no process for a shared one, of which some value was cut off."""
        if self._cut is None:
            self._cut = frozenset(_cut_variables(self._trace))
        return self._cut


_KINDS = {action.kind for action in ACTIONS.values()}
"""Events that are recorded in any case."""
_UNSEEN = (
    "they came by another name, from generated code or from a function in C; `possibly explore` "
    "with this property sees them all"
)
_SMALLER = (
    "only their lengths are known, so ask for len(...), or record a smaller value of your own "
    "with possibly.event(name=value)"
)


def _remedy(recorded: Recorded, options: list[str]) -> str:
    return f"`{recorded.again(*options)}`"


def _all(formula: Node) -> Iterator[Node]:
    """The nodes of a formula in any language."""
    pending = [formula]
    while pending:
        node = pending.pop()
        yield node
        pending += [node.formula] if isinstance(node, Says) else parts(node)


def _cut_variables(trace: Trace) -> Iterator[tuple[str, str]]:
    cut = {number for number, value in enumerate(trace.values) if has_cut(value)}
    for process in trace.processes:
        yield from ((process.name, name) for name, value in process.init.items() if has_cut(value))
    yield from (("", name) for name, value in trace.shared.items() if has_cut(value))
    if not cut:
        return
    for event in range(len(trace)):
        name = trace.processes[trace.process[event]].name
        yield from ((name, variable) for variable, value in trace.sets(event) if has_cut(value))
        yield from (("", variable) for variable, value in trace.writes(event) if has_cut(value))
