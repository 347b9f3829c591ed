"""The verdict on a run that is still going on, current after every event.

Here belongs what a formula is worth on the run so far, and whether that can still change.

Theory of operation. The cuts of the run so far, and the steps between them, stay what they are when it
grows, and so does the truth of a predicate at each (`done` excepted, which is refused). So a way to a cut
is not lost:

    EF(p)   true is final: the cut stays. False is not: a cut may come
    AG(p)   false is final, true is not: it is EF of the opposite
    EG(p)   p a conjunction of predicates on one chain each: false is final, as every observation of every
            longer run passes each state of each chain; true is not
    AF(p)   p a disjunction of such predicates: true is final, false is not: it is EG of the opposite

EX, AX, until, AF of conjunctions and EG of disjunctions are in `online_parts`, AG(p -> AF q) in
`online_response`; EF and AG inside each other
in `online_nested`. All values are exact after every event; what has no such form is refused.

EF searches by `online_search`, one rising for each alternative of p; each edge is read at most once, so an
event costs amortised O(1) and O(1) for each of its edges, times the number of alternatives. Once the answer
is final nothing is followed any more. Memory: what lies beyond the least cut that the predicate still
allows (what lies inside it is dropped), and nothing after the answer. Which answers are final for every
other formula of branching time is told by `online_final`.
"""

from __future__ import annotations

from collections.abc import Sequence

from possibly.detection.online.compiled import CompiledPossibly, kernels
from possibly.detection.online.final import is_conjunctive
from possibly.detection.online.follow import Following, LocalTruth, refuse_unordered
from possibly.detection.online.nested import Nested
from possibly.detection.online.parts import Definitely, Next, Until, is_conjunction_of_locals
from possibly.detection.online.response import Response, response_of
from possibly.detection.online.search import Rising
from possibly.detection.online.standing import ByStep, Moment, Part, Standing
from possibly.detection.online.terms import Alternative, ChannelTerm, LocalTerm, SharedTerm, alternatives
from possibly.errors import FormulaError
from possibly.logic.bind import Vocabulary
from possibly.logic.predicates.functions import MISSING, Predicate, compile_predicate, is_state
from possibly.logic.printer import unparse
from possibly.logic.syntax import And, Iff, Implies, Leaf, Local, Node, Not, Or, Shared, Temporal, Transit
from possibly.order.growing.batches import Batch
from possibly.order.growing.computation import Growing
from possibly.order.growing.lines import Step
from possibly.records import replace
from possibly.trace.model import Value


class Monitor:
    """Follows one bound ctl formula, as far as it has an on-line form; an error says if it has none."""

    def __init__(self, growing: Growing, formula: Node) -> None:
        self.formula = formula
        self._part = _part(growing, formula)
        self._settled: Standing | None = None
        growing.follow_batches(self)

    @property
    def wants_steps(self) -> bool:
        return self._settled is None and self._part.wants_steps

    def take(self, step: Step) -> None:
        if self._settled is None:
            self._part.take(step)

    def take_batch(self, batch: Batch) -> None:
        if self._settled is None:
            self._part.take_batch(batch)

    @property
    def standing(self) -> Standing:
        if self._settled is not None:
            return self._settled
        found = self._part.standing
        if found.is_final:
            self._settled = found
        return found

    @property
    def faults(self) -> tuple[str, ...]:
        """What could not be evaluated so far, and counted as false."""
        return self._part.faults

    @property
    def size(self) -> int:
        """How many entries are kept; nothing is once the answer is final."""
        return 0 if self._settled is not None else self._part.size

    @property
    def is_restless(self) -> bool:
        """Whether its answer goes to and fro as long as the run goes on."""
        return isinstance(self._part, Response)

    def stop(self) -> None:
        """Follow no more, and keep nothing: the answer stays what it is."""
        self._settled = self.standing
        self._part = Stopped(self._settled, self._part.faults)


def open_vocabulary(growing: Growing) -> Vocabulary:
    """The names that a formula may use before the run: the header's processes, and any variable."""
    return Vocabulary(
        processes=growing.processes,
        locals=dict.fromkeys(growing.processes, _ANYTHING),
        shared=_Plain(growing.shared),
        functions=_ANYTHING,
        labels=_ANYTHING,
    )


class _Anything(frozenset[str]):
    """Which names will be set is not known before the run."""

    def __contains__(self, name: object) -> bool:
        return True


class _Plain(frozenset[str]):
    """A dotted name is more likely a process that is not in the header than a shared variable."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or "." not in str(name)


_ANYTHING = _Anything()


def _part(growing: Growing, formula: Node) -> Part:
    if is_state(formula):
        return _AtFirst(growing, formula)
    match formula:
        case Not(operand):
            return _Opposite(_part(growing, operand))
        case And(operands):
            return _Any([_part(growing, part) for part in operands], decides=False)
        case Or(operands):
            return _Any([_part(growing, part) for part in operands], decides=True)
        case Implies(left, right):
            return _Any([_Opposite(_part(growing, left)), _part(growing, right)], decides=True)
        case Iff(left, right):
            return _Same([_part(growing, left), _part(growing, right)])
        case Temporal(operator, operands):
            return _temporal(growing, operator, operands, formula)
    raise _refused(formula)


def _temporal(growing: Growing, operator: str, operands: tuple[Node, ...], formula: Temporal) -> Part:
    if not all(map(is_state, operands)):
        return _nested(growing, operator, operands[0], formula)
    first = operands[0]
    match operator:
        case "EF":
            return _possibly(growing, first)
        case "AG":
            return _Opposite(_possibly(growing, Not(first)))
        case "EG":
            return _throughout(growing, first)
        case "AF":
            return _Opposite(_throughout(growing, Not(first)))
        case "EX":
            return Next(growing, first, formula.process)
        case "AX":
            return _Opposite(Next(growing, Not(first)))
        case "EU":
            return Until(growing, first, operands[1])
        case "AU":
            # It fails iff q can be avoided, or something fails both before q ever comes.
            other = Not(operands[1])
            avoided = Until(growing, other, And((Not(first), other)))
            return _Opposite(_Any([_throughout(growing, other), avoided], decides=True))
    raise _refused(formula)


def _possibly(growing: Growing, predicate: Node) -> Part:
    """EF: in the compiled core if that knows all terms."""
    found = alternatives(predicate)
    kernel = kernels()
    if kernel is not None and all(isinstance(term, LocalTerm) for part in found for term in part):
        return CompiledPossibly(growing, found, kernel)
    return Possibly(growing, predicate)


def _throughout(growing: Growing, predicate: Node) -> Part:
    """EG: of a conjunction chain by chain, of a disjunction as the opposite of AF of a conjunction."""
    if not is_conjunctive(predicate) and is_conjunction_of_locals(alternatives(Not(predicate))):
        return _Opposite(Definitely(growing, Not(predicate)))
    return Throughout(growing, predicate)


def _nested(growing: Growing, operator: str, operand: Node, formula: Node) -> Part:
    match operator, operand:
        case "EF", Or(parts):
            return _Any([_part(growing, Temporal("EF", (part,))) for part in parts], decides=True)
        case "AG", And(parts):
            return _Any([_part(growing, Temporal("AG", (part,))) for part in parts], decides=False)
        case ("EF", Temporal("EF")) | ("AG", Temporal("AG")):
            return _part(growing, operand)
        case "EF", _:
            return Nested(growing, operand)
        case "AG", _ if (response := response_of(growing, operand)) is not None:
            return response
        case "AG", _:
            return _Opposite(Nested(growing, Not(operand)))
    raise _refused(formula)


def _refused(formula: Node) -> FormulaError:
    return FormulaError(
        f"{unparse(formula)} cannot be followed on-line",
        hint="temporal operators of state predicates can, EF and AG inside EF and AG, and their combinations",
    )


# ---- EF and EG --------------------------------------------------------------------------------------


class Possibly(ByStep):
    """EF(p): the first moment at which a cut with p exists, and the least such cut.

    It does not follow the computation by itself: whoever holds it tells it each step.
    """

    def __init__(self, growing: Growing, predicate: Node) -> None:
        self._growing = growing
        self._followed: list[tuple[Following, Rising]] = []
        self._faults: dict[str, None] = {}
        self.moment: Moment | None = None
        for alternative in alternatives(predicate):
            following = Following(growing, alternative)
            rising = following.ground.rising()
            rising.settle()
            self._followed.append((following, rising))
        self._look(None)

    def take(self, step: Step) -> None:
        if self.moment is None:
            for following, _ in self._followed:
                following.take(step)
                following.ground.woken.clear()
            self._look(step)

    def _look(self, step: Step | None) -> None:
        cuts = [rising.now for _, rising in self._followed if rising.is_settled]
        if cuts:
            cut = dict(zip(self._growing.processes, min(cuts, key=sum), strict=False))
            self.moment = Moment(cut, step[-1].name if step else None, self._growing.taken)
            self._faults.update(dict.fromkeys(self.faults))
            self._followed.clear()

    @property
    def standing(self) -> Standing:
        return Standing(self.moment is not None, self.moment is not None, self.moment)

    @property
    def faults(self) -> tuple[str, ...]:
        found = (fault for following, _ in self._followed for fault in following.faults)
        return tuple(dict.fromkeys([*self._faults, *found]))

    @property
    def size(self) -> int:
        """How many entries are kept, for tests and figures."""
        return sum(following.ground.size for following, _ in self._followed)


class Stopped(ByStep):
    """What is left of a part that follows no more."""

    size = 0

    def __init__(self, standing: Standing, faults: tuple[str, ...]) -> None:
        self.standing, self.faults = standing, faults

    def take(self, step: Step) -> None:
        """Nothing is followed."""


class Throughout:
    """EG(p) of a conjunction: true until one chain shows a state where its part is false."""

    size = 0

    @property
    def wants_steps(self) -> bool:
        return bool(self._shared)

    def __init__(self, growing: Growing, predicate: Node) -> None:
        self._growing = growing
        self.moment: Moment | None = None
        self._locals: dict[int, list[LocalTruth]] = {}
        self._shared: list[tuple[str, Predicate]] = []
        found = alternatives(predicate)
        if len(found) > 1 or any(isinstance(term, ChannelTerm) for part in found for term in part):
            raise FormulaError(
                f"EG({unparse(predicate)}) cannot be followed on-line",
                hint="EG of conjunctions of predicates on one process or shared variable each can, and of"
                " disjunctions of predicates on one process each; AF of their negations",
            )
        if not found:
            self._fail(None, 0)
        for alternative in found:
            self._prepare(alternative)

    def _prepare(self, alternative: Alternative) -> None:
        for term in alternative:
            match term:
                case LocalTerm(process, node):
                    truth, number = LocalTruth(self._growing, process, node), self._growing.number(process)
                    self._locals.setdefault(number, []).append(truth)
                    self._growing.watched.add(number, truth.variables)
                    if not truth.now:
                        self._fail(None, 0)
                case SharedTerm(variable, node):
                    refuse_unordered(self._growing, variable)
                    predicate = compile_predicate(node)
                    self._shared.append((variable, predicate))
                    if not predicate.evaluate([self._growing.shared.get(variable, MISSING)]):
                        self._fail(None, 0)

    def take(self, step: Step) -> None:
        if self.moment is not None:
            return
        truths = [truth.after(line) for line in step for truth in self._locals.get(line.process, ())]
        for variable, predicate in self._shared:
            # Two writes of one step are never seen apart: only the last one counts.
            written = [line.fields["write"] for line in step if variable in line.fields.get("write", ())]
            truths += [predicate.evaluate([last[variable]]) for last in written[-1:]]
        if not all(truths):
            self._fail(step[-1].name, self._growing.taken)

    def take_batch(self, batch: Batch) -> None:
        for number, process, fields in batch.relevant if self.moment is None else ():
            truths = [truth.after_fields(fields) for truth in self._locals.get(process, ())]
            if not all(truths):
                self._fail(batch.name(number), batch.before + number + 1)
                return

    def _fail(self, event: str | None, events: int) -> None:
        if self.moment is None:
            self.moment = Moment(None, event, events)

    @property
    def standing(self) -> Standing:
        return Standing(self.moment is None, self.moment is not None, self.moment)

    @property
    def faults(self) -> tuple[str, ...]:
        predicates = [truth.predicate for truths in self._locals.values() for truth in truths]
        predicates += [predicate for _, predicate in self._shared]
        return tuple(dict.fromkeys(fault for predicate in predicates for fault in predicate.faults))


# ---- Boolean combinations ---------------------------------------------------------------------------


class _AtFirst:
    """A state predicate: its truth at the initial cut, which no event changes."""

    def __init__(self, growing: Growing, predicate: Node) -> None:
        alternatives(predicate)  # refuses what would change with the events to come
        compiled = compile_predicate(predicate)
        values = [_initial(growing, leaf) for leaf in compiled.leaves]
        moment = Moment(dict.fromkeys(growing.processes, 0), None, 0)
        self.standing = Standing(compiled.evaluate(values), True, moment)
        self.faults = tuple(compiled.faults)

    wants_steps = False
    size = 0

    def take(self, step: Step) -> None:
        """Nothing changes."""

    def take_batch(self, batch: Batch) -> None:
        """Nothing changes."""


def _initial(growing: Growing, leaf: Leaf) -> Value:
    match leaf:
        case Local(process, variable):
            return growing.initial.get(process, {}).get(variable, MISSING)
        case Shared(variable):
            return growing.shared.get(variable, MISSING)
        case Transit():
            return 0
    return False


class _Opposite:
    def __init__(self, part: Part) -> None:
        self._part = part

    @property
    def wants_steps(self) -> bool:
        return self._part.wants_steps

    @property
    def size(self) -> int:
        return self._part.size

    def take(self, step: Step) -> None:
        self._part.take(step)

    def take_batch(self, batch: Batch) -> None:
        self._part.take_batch(batch)

    @property
    def standing(self) -> Standing:
        return replace(self._part.standing, value=not self._part.standing.value)

    @property
    def faults(self) -> tuple[str, ...]:
        return self._part.faults


class _Several:
    """Parts that all follow the run, those with a final answer excepted."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts

    @property
    def wants_steps(self) -> bool:
        return any(part.wants_steps for part in self._parts)

    @property
    def size(self) -> int:
        return sum(part.size for part in self._parts)

    def take(self, step: Step) -> None:
        for part in self._parts:
            part.take(step)

    def take_batch(self, batch: Batch) -> None:
        for part in self._parts:
            part.take_batch(batch)

    @property
    def faults(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(fault for part in self._parts for fault in part.faults))


class _Any(_Several):
    """A disjunction (`decides` is true: one true part makes it true) or a conjunction (false)."""

    def __init__(self, parts: Sequence[Part], *, decides: bool) -> None:
        super().__init__(parts)
        self._decides = decides

    @property
    def standing(self) -> Standing:
        standings = [part.standing for part in self._parts]
        deciding = [found for found in standings if found.value == self._decides]
        if not deciding:
            return Standing(not self._decides, all(found.is_final for found in standings))
        return max(deciding, key=_earliest)


def _earliest(standing: Standing) -> tuple[bool, int]:
    """Final before provisional, then the first to be so."""
    return standing.is_final, 0 if standing.moment is None else -standing.moment.events


class _Same(_Several):
    @property
    def standing(self) -> Standing:
        first, second = (part.standing for part in self._parts)
        return Standing(first.value == second.value, first.is_final and second.is_final)
