"""What engines find and views show: the only words the two share.

Here belongs the answer as data, complete enough that every view (text, JSON, page) is a rendering of
it and needs nothing else; not how an answer is found, and no wording beyond names of things.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from possibly.records import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from possibly.verdict.paths import PathResult
    from possibly.verdict.tasks import TaskFailure

Value: TypeAlias = "Any"
Cut = Mapping[str, int]
"""How many events of each process the cut contains, all processes listed."""


class Truth(Enum):
    """The answer to a property; its value is the word of the JSON result."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"
    MATCHED = "matched"
    """A watch found what it looks for; no property is violated by that."""
    ABSENT = "absent"

    @staticmethod
    def of(holds: bool | None) -> Truth:
        """The truth of an answer that may not be known."""
        return Truth.UNKNOWN if holds is None else Truth.HOLDS if holds else Truth.VIOLATED

    @property
    def holds(self) -> bool | None:
        """True, False, or None where that is not known."""
        return {"holds": True, "violated": False}.get(self.value)

    @property
    def status(self) -> int:
        """The exit status of a command whose answer it is."""
        return {"violated": 1, "unknown": 3}.get(self.value, 0)


@dataclass(frozen=True, slots=True)
class Loop:
    """An order that can go on for ever: the state after `first` steps comes again after `second`."""

    first: int
    second: int
    passed_over: tuple[str, ...] = ()
    """The processes that could go on all the time of the loop and do not."""


@dataclass(frozen=True, slots=True)
class Witness:
    """The way to a cut: of a violation (universal properties) or of a satisfaction (existential ones)."""

    cut: Cut
    path: tuple[str, ...]
    """Event names in execution order from the initial cut, ending in `cut`."""
    tasks: Mapping[str, str] | None = None
    """For a formula of the task logic: the task of each task variable."""
    failure: TaskFailure | None = None
    """For a formula of the task logic: what is unsatisfied there."""
    loop: Loop | None = None
    """For an order that goes on for ever (`--loops`)."""


@dataclass(frozen=True, slots=True)
class Change:
    """A variable that an event changes. `before` is absent when it had no value: see `fresh`."""

    variable: str
    """As one writes it in a formula: `P1.x`, or `turn` for a shared one."""
    before: Value
    after: Value
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One event of the explained order."""

    event: str
    process: str
    kind: str
    place: str | None = None
    label: str | None = None
    function: str | None = None
    message: str | None = None
    """The message sent or received, with its other end: `m1 to P2`, `m1 from P1`."""
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class MissingOrder:
    """Two events that nothing orders: had `first` to come before `second`, this way would be closed."""

    first: Step
    second: Step
    suffices: bool | None = None
    """Adding just this order makes the property true (False: it closes only this way; None: not tried)."""


@dataclass(frozen=True, slots=True)
class Atom:
    """A part of the formula that decided, with its value at the moment that did (else at the end)."""

    text: str
    value: bool
    operands: Mapping[str, Value] = field(default_factory=dict)
    """The variables it reads, with their values there (absent if without value)."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why: the order step by step, the state it ends in, and the missing order that makes it possible."""

    summary: str
    """What the path shows, e.g. `it ends where P1.cs & P2.cs is true`."""
    steps: Sequence[Step]
    state: Mapping[str, Value]
    """Every variable that has a value at the end of the path, named as in a formula."""
    atoms: tuple[Atom, ...] = ()
    missing: MissingOrder | None = None
    moment: int | None = None
    """After how many steps of the path the property is decided, when the path goes on after that."""
    settled: int = 0
    """So many of the first steps come before all others in every order."""
    loop: Loop | None = None
    """For a path that shows what never happens: where a state comes again."""
    unending: bool = False
    """The path shows what never happens on it, so that `loop` (or its absence) says something."""


@dataclass(frozen=True, slots=True)
class Keys:
    """For `forall key`: how many values of the key there are, and which violate the formula."""

    key: str
    of: int | None
    """None: it was not counted."""
    violated: int
    values: tuple[Value, ...]
    """The first that do; the witness is that of the first."""


@dataclass(frozen=True, slots=True)
class Example:
    """An order in which a property that holds takes effect: a left side happens, its right side follows."""

    witness: Witness
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to one property on one trace."""

    name: str
    language: str
    formula: str
    truth: Truth
    predicate_class: str = "arbitrary"
    engine: str = "exhaustive"
    seconds: float = 0.0
    cuts: int = 0
    observed: bool | None = None
    """Whether the property held in the recorded order alone; None if not known."""
    assumed: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    witness: Witness | None = None
    explanation: Explanation | None = None
    example: Example | None = None
    """Of a property that holds in every order and has no witness, if it was looked for and found."""
    reason: str | None = None
    """For UNKNOWN: which limit was hit and how to raise it."""
    raced: tuple[str, ...] = ()
    """Shared variables that nothing orders the accesses to: they were taken in the order of the run."""
    noticed: tuple[str, ...] = ()
    """Shared variables of which in another order some read may see another value than it did: what the
    program does then is not known."""
    notes: tuple[str, ...] = ()
    """For `--explain`: which class each predicate has, which engine was chosen and why."""
    path: PathResult | None = None
    """For `expect`, `never` and `watch`: what was found."""
    keys: Keys | None = None
    """For `forall key`."""
    candidate: bool = False
    """It rests on an order in which some read sees another value than it did: the program may notice."""

    @property
    def holds(self) -> bool | None:
        """True, False, or None where that is not known."""
        return self.truth.holds


@dataclass(frozen=True, slots=True)
class Report:
    """All answers on one trace: one JSON document."""

    trace: str
    processes: int
    events: int
    verdicts: tuple[Verdict, ...]
    warnings: tuple[str, ...] = ()
