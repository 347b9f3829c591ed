"""Task formulas judged module by module, where the compositional property allows it.

Here belongs how a run falls into modules, and which of them a formula has to be asked about. A module is a
set of tasks that nothing orders with the others. Which formulas may be judged so says `logic.tasks.modules`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from possibly.detection.limits import Budget
from possibly.logic.bind import Vocabulary
from possibly.logic.specification import Property
from possibly.logic.syntax import Node
from possibly.logic.tasks.modules import Fragment, fragment_of, is_about_one_task, variables_read
from possibly.order.computation import Computation
from possibly.records import replace
from possibly.session.checking.tasks import TaskChecker
from possibly.trace.edit import part_of
from possibly.trace.model import Trace
from possibly.verdict.model import Truth, Verdict

Module = frozenset[str]


class ModularChecker:
    """Answers task formulas on one trace, on its modules where that tells."""

    def __init__(self, whole: TaskChecker, names: Vocabulary) -> None:
        self.whole = whole
        self.names = names
        self._parts: dict[Module, TaskChecker] = {}

    @cached_property
    def modules(self) -> tuple[Module, ...]:
        return modules_of(self.whole.net.computation)

    def verdict(self, found: Property, formula: Node, budget: Budget) -> Verdict:
        asked = self._asked(formula)
        if isinstance(asked, str):
            return _noted(self.whole.verdict(found, formula, budget), f"not judged by modules: {asked}")
        verdict = self._worst([self._part(module).verdict(found, formula, budget) for module in asked])
        if verdict.truth is Truth.VIOLATED and fragment_of(formula) is Fragment.SATISFIED:
            return _noted(
                self.whole.verdict(found, formula, budget),
                "not judged by modules: another task may be the one that exists",
            )
        tasks = sum(map(len, asked))
        note = f"judged by {len(asked)} of {len(self.modules)} modules, {tasks} tasks: nothing orders modules"
        return _noted(self._lifted(verdict), note)

    def _asked(self, formula: Node) -> Sequence[Module] | str:
        """The modules to ask, or why the whole net has to be."""
        read = set(variables_read(formula))
        if len(self.modules) < 2:
            return "all tasks are one module"
        if read & self.names.shared:
            return f"the shared variable {min(read & self.names.shared)} is read"
        concerned = [module for module in self.modules if self._has_some(module, read)]
        if fragment_of(formula) is not Fragment.NOTHING and len(concerned) == 1:
            return concerned
        if is_about_one_task(formula):
            return self.modules
        if fragment_of(formula) is Fragment.NOTHING:
            return "time, functions, callers, t1 != t2 or what exists may need tasks of other modules"
        return "its variables are those of several modules"

    def _has_some(self, module: Module, variables: Iterable[str]) -> bool:
        known = frozenset[str]().union(*(self.names.locals.get(task, frozenset()) for task in module))
        return any(_is_same(name, other) for name in variables for other in known)

    def _part(self, module: Module) -> TaskChecker:
        if module not in self._parts:
            part = part_of(self.whole.trace, module)
            self._parts[module] = TaskChecker(part, self.whole.engine, self.whole.explain)
        return self._parts[module]

    @staticmethod
    def _worst(verdicts: Sequence[Verdict]) -> Verdict:
        ranking = (Truth.VIOLATED, Truth.UNKNOWN, Truth.HOLDS)
        found = min(verdicts, key=lambda verdict: ranking.index(verdict.truth))
        seconds, cuts = sum(each.seconds for each in verdicts), sum(each.cuts for each in verdicts)
        truths = {each.observed for each in verdicts}
        observed = False if False in truths else None if None in truths else True
        return replace(found, seconds=seconds, cuts=cuts, observed=observed)

    def _lifted(self, verdict: Verdict) -> Verdict:
        """The witness as a cut of the whole run: nothing of the other modules has happened there."""
        if verdict.witness is None:
            return verdict
        others = {process.name: 0 for process in self.whole.trace.processes}
        return replace(verdict, witness=replace(verdict.witness, cut=others | dict(verdict.witness.cut)))


def _noted(verdict: Verdict, note: str) -> Verdict:
    return replace(verdict, notes=(note, *verdict.notes))


def _is_same(name: str, other: str) -> bool:
    """Whether one may be the other: a local of a function has a long and a short name."""
    return name == other or name.endswith(f".{other}") or other.endswith(f".{name}")


def modules_of(computation: Computation) -> tuple[Module, ...]:
    """The tasks by what they are ordered with, directly or through others."""
    trace: Trace = computation.trace
    leader = list(range(len(trace.processes)))

    def find(task: int) -> int:
        while leader[task] != task:
            leader[task] = task = leader[leader[task]]
        return task

    numbers = trace.process_number
    pairs = [(number, numbers.get(p.parent or "", number)) for number, p in enumerate(trace.processes)]
    for event in range(len(trace)):
        together = (*computation.predecessors(event), computation.step(event))
        pairs.extend((trace.process[event], trace.process[other]) for other in together)
    for one, other in pairs:
        leader[find(one)] = find(other)
    found: dict[int, list[str]] = {}
    for number, process in enumerate(trace.processes):
        found.setdefault(find(number), []).append(process.name)
    return tuple(map(frozenset, found.values()))
