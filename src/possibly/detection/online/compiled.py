"""EF of predicates on one process each, followed in the compiled core: many lines at once.

Here belongs the seam between a batch of lines and `_rising.c`, the twin of `online.Possibly`. Python looks at
lines that set a variable of the predicate, and evaluates; the core looks at every edge, and says at which
line the least cut was found, so the moment is exact however many lines come at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from possibly.compiled import built
from possibly.detection.online.follow import LocalTruth
from possibly.detection.online.standing import Moment, Standing
from possibly.detection.online.terms import Alternative, LocalTerm
from possibly.errors import UsageError
from possibly.logic.printer import unparse
from possibly.logic.syntax import And, Node
from possibly.order.computation import Cut
from possibly.order.growing.batches import Batch
from possibly.order.growing.computation import Growing
from possibly.order.growing.lines import Step


def kernels() -> ModuleType | None:
    """The compiled search, if it was built."""
    return built("possibly.detection.online._rising")


Change = tuple[int, int, bool]
"""The number of a line in its batch, its process, and whether the predicate is true there after it."""

_Part = tuple[dict[int, str], Any]
"""An alternative: by process the text of its predicate, and the search."""


class CompiledPossibly:
    """EF(p), p given as its alternatives of terms on one process each."""

    wants_steps = False

    def __init__(self, growing: Growing, found: Sequence[Alternative], kernel: ModuleType) -> None:
        self._growing = growing
        self._truths: dict[int, dict[str, LocalTruth]] = {}
        """By process and text of the predicate: alternatives share them."""
        self._faults: tuple[str, ...] = ()
        self._parts = [self._part(nodes, kernel) for nodes in map(_by_process, found)]
        self.moment: Moment | None = None
        self._look(None, growing.taken)

    def _part(self, nodes: dict[str, Node], kernel: ModuleType) -> _Part:
        texts, bound = {}, {}
        for process, node in nodes.items():
            number, text = self._growing.number(process), unparse(node)
            known = self._truths.setdefault(number, {})
            if text not in known:
                known[text] = LocalTruth(self._growing, process, node)
                self._growing.watched.add(number, known[text].variables)
            texts[number], bound[number] = text, known[text].now
        return texts, kernel.Rising(len(self._growing.processes), bound)

    # ---- lines ----------------------------------------------------------------------------------

    def take(self, step: Step) -> None:
        if self.moment is not None:
            return
        for line in step:
            for truth in self._truths.get(line.process, {}).values():
                truth.after(line)
        for texts, rising in self._parts:
            rising.step([(*line[1:4], self._truth(texts, line.process)) for line in step])
        self._look(step[-1].name, self._growing.taken)

    def _truth(self, texts: Mapping[int, str], process: int) -> bool | None:
        return self._truths[process][texts[process]].now if process in texts else None

    def take_batch(self, batch: Batch) -> None:
        if self.moment is not None:
            return
        changes = self._changes(batch)
        columns = batch.process, batch.position, batch.start, batch.needs
        settled: list[int] = []
        for texts, rising in self._parts:
            own = [change for read in texts.items() for change in changes.get(read, ())]
            own.sort()
            settled.append(rising.run(*columns, own))
        found = [at for at in settled if at >= 0]
        if found:
            # Alternatives that were settled later in the batch were not known at that moment.
            first = min(found)
            self._parts = [part for part, at in zip(self._parts, settled, strict=True) if at == first]
            self._look(batch.name(first), batch.before + first + 1)

    def _changes(self, batch: Batch) -> dict[tuple[int, str], list[Change]]:
        """When the truths change; those about one variable see that variable alone, others every line."""
        found: dict[tuple[int, str], list[Change]] = {}
        several: dict[int, list[tuple[str, LocalTruth]]] = {}
        for process, truths in self._truths.items():
            for text, truth in truths.items():
                if truth.variables is None or len(truth.variables) != 1:
                    several.setdefault(process, []).append((text, truth))
                    continue
                (variable,) = truth.variables
                changes = truth.changes(batch.assigned(process, variable))
                found[process, text] = [(number, process, now) for number, now in changes]
        for number, process, fields in batch.relevant if several else ():
            for text, truth in several.get(process, ()):
                before = truth.now
                if truth.after_fields(fields) != before:
                    found.setdefault((process, text), []).append((number, process, truth.now))
        return found

    # ---- the answer -----------------------------------------------------------------------------

    def _look(self, event: str | None, events: int) -> None:
        cuts = [rising.cut for _, rising in self._parts if rising.is_settled]
        if cuts:
            self.moment = Moment(self._named(min(cuts, key=sum)), event, events)
            self._faults = self.faults
            self._parts.clear()

    def _named(self, cut: Cut) -> dict[str, int]:
        count = len(self._growing.processes)
        return dict(zip(self._growing.processes, (*cut, *[0] * (count - len(cut))), strict=False))

    @property
    def standing(self) -> Standing:
        return Standing(self.moment is not None, self.moment is not None, self.moment)

    @property
    def faults(self) -> tuple[str, ...]:
        predicates = [truth.predicate for truths in self._truths.values() for truth in truths.values()]
        found = dict.fromkeys(fault for predicate in predicates for fault in predicate.faults)
        return self._faults or tuple(found)

    def __getstate__(self) -> dict[str, Any]:
        parts = [(texts, rising.state()) for texts, rising in self._parts]
        return {**vars(self), "_parts": parts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        kernel = kernels()
        if kernel is None:
            raise UsageError("the state was saved by the compiled core, which is not here")
        self._parts = [(texts, _restored(kernel, lanes)) for texts, lanes in state["_parts"]]

    @property
    def size(self) -> int:
        """How many entries are kept, for bounds, tests and figures."""
        return sum(rising.size for _, rising in self._parts)


def _restored(kernel: ModuleType, lanes: list[Any]) -> Any:
    found = kernel.Rising(len(lanes), {})
    found.restore(lanes)
    return found


def _by_process(alternative: Alternative) -> dict[str, Node]:
    nodes: dict[str, list[Node]] = {}
    for term in alternative:
        assert isinstance(term, LocalTerm), "others are not compiled"
        nodes.setdefault(term.process, []).append(term.node)
    return {process: parts[0] if len(parts) == 1 else And(tuple(parts)) for process, parts in nodes.items()}
