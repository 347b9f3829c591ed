"""Claims and properties on all cuts of each path of macro-steps.

A path of the tree is one way to match messages with receives; as a partial order it stands for every
execution with that matching (`control.macro.history`). So what holds in all orders of all paths holds
whatever the speed of the processes is. A claim speaks from its first collective breakpoint on, a property
from the beginning.

The engines for traces decide. Two things they cannot be asked: predicates of the program, which are Python,
and messages that were under way when a claim began; then every cut is visited (`control.macro.cuts`).
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from pathlib import Path as File
from typing import Any

from possibly.control.macro.claims import JudgedClaim
from possibly.control.macro.cuts import Cuts, CutVerdict, judged_on_cuts, shown_by
from possibly.control.macro.history import CircularOrderError, Counts, Instant, Path
from possibly.control.macro.model import Process
from possibly.control.macro.path_trace import PathTrace, path_trace
from possibly.control.macro.run import Run
from possibly.control.macro.tree import TreeNode
from possibly.errors import PossiblyError, UsageError
from possibly.logic.bind import Vocabulary, bind
from possibly.logic.languages import FORMULAS
from possibly.logic.specification import Property, Specification, property_from_text
from possibly.logic.syntax import Local, Node, Shared, Stack, Transit
from possibly.logic.walk import nodes
from possibly.session.checking.check import Checker as TraceChecker
from possibly.session.checking.check import Options
from possibly.session.macro_steps.checker import Checker

MOST_CUTS = 1_000_000
CIRCULAR = "the order of its messages contradicts itself, which is a mistake of possibly"


class _Any(frozenset[str]):
    """What has no value on this path may have one on another."""

    def __contains__(self, name: object) -> bool:
        return True


class _AnyLocals(dict[str, frozenset[str]]):
    def get(self, key: str, default: Any = None) -> Any:
        return _Any()


def checked_properties(specification: Specification | None) -> Specification | None:
    """Those that can be asked of what a path shows."""
    for each in specification.properties if specification is not None else ():
        if each.language not in FORMULAS:
            raise UsageError(
                f"{each.name}: a {each.language} property speaks of calls of functions, and with --macro a "
                "process is seen at its messages only",
                hint="explore without --macro",
            )
        if each.formula is not None and any(isinstance(node, Stack) for node in nodes(each.formula)):
            raise UsageError(
                f"{each.name}: with --macro calls of functions are not seen", hint="explore without --macro"
            )
    return specification


class PathJudge:
    """Asked at the end of each path, while the program is still there."""

    def __init__(
        self,
        specification: Specification | None = None,
        claims: bool = True,
        checker: Checker | None = None,
    ) -> None:
        self.specification = specification or Specification()
        self.checker = checker
        """One outside, asked too."""
        self.claims = claims
        """Whether claims are judged on all cuts, or only at the breakpoints."""
        self.read: dict[tuple[Process, str], str] = {}
        """What properties read, by process (empty: of nobody), and the property that did first."""
        self.valued: set[tuple[Process, str]] = set()

    @property
    def wants_paths(self) -> bool:
        """Whether each path is asked about, apart from what the program claims."""
        return bool(self.specification.properties) or self.checker is not None

    def __call__(self, run: Run, node: TreeNode) -> None:
        self._judge(run, node)
        if self.checker is not None:
            self.checker.judge(run, node)

    def _judge(self, run: Run, node: TreeNode) -> None:
        if not (self.claims and run.claims) and not self.specification.properties:
            return
        try:
            path = run.history.path(run.board.before)
        except CircularOrderError:
            self._undecided(run, node)
            return
        if self.claims:
            for claim, verdict in zip(run.claims, node.verdicts, strict=True):
                if claim.made.process:
                    verdict["everywhere"] = _document(self._claim(claim, run, path))
        if self.specification.properties:
            node.properties = self._properties(run, path)

    def _undecided(self, run: Run, node: TreeNode) -> None:
        for verdict in node.verdicts:
            verdict["everywhere"] = _document(CutVerdict(None, why=CIRCULAR))
        node.properties = [
            _property_document(each, CutVerdict(None, why=CIRCULAR)) for each in self.specification.properties
        ]

    # ---- claims -----------------------------------------------------------------------------------

    def _claim(self, claim: JudgedClaim, run: Run, path: Path) -> CutVerdict:
        first = claim.start.cut(path)
        formula = claim.monitor.formula
        found = path_trace(path, first, run.system.thread_of, claim.made.process, self._declared(run))
        doubt = _doubt(formula, found)
        if doubt:
            return CutVerdict(None, why=doubt)
        if any(_needs_the_program(node, claim) for node in nodes(formula)):
            return judged_on_cuts(claim, path, run.system.evaluate)
        answer = self._answer(property_from_text("ltl", claim.made.text, "claim"), found)
        if answer.verdict is not False:
            return answer
        return shown_by(claim, Cuts(path, first), answer.order, run.system.evaluate)

    def _declared(self, run: Run) -> frozenset[str]:
        """The names that functions of the program's own files declare global."""
        return frozenset(name for file in run.files for name in declared_global(file))

    # ---- properties -------------------------------------------------------------------------------

    def _properties(self, run: Run, path: Path) -> list[dict[str, Any]]:
        first: Counts = {}
        home = next(iter(path.processes), "")
        found = path_trace(path, first, run.system.thread_of, home, self._declared(run))
        self._learn(found)
        return [
            _property_document(each, self._property(each, found)) for each in self.specification.properties
        ]

    def _property(self, each: Property, found: PathTrace) -> CutVerdict:
        assert each.formula is not None
        bound = bind(each.formula, _vocabulary(found), self.specification.lets, each.source).formula
        for read in filter(None, map(_read, nodes(bound))):
            self.read.setdefault(read, each.name)
        doubt = _doubt(bound, found)
        return CutVerdict(None, why=doubt) if doubt else self._answer(each, found)

    def _learn(self, found: PathTrace) -> None:
        from possibly.order.vocabulary import vocabulary

        names = vocabulary(found.trace)
        self.valued.update(("", name) for name in names.shared)
        self.valued.update((process, name) for process, known in names.locals.items() for name in known)

    def check_names(self) -> None:
        """A name that had no value on any path is a mistake in the property."""
        for (process, name), used in self.read.items():
            if (process, name) not in self.valued:
                text = f"{process}.{name}" if process else name
                known = sorted(f"{p}.{n}" if p else n for p, n in self.valued)
                near = get_close_matches(text, known, n=1)
                hint = f"did you mean {near[0]}?" if near else "names are PROCESS.VARIABLE"
                raise PossiblyError(f"{used} speaks of {text}, which never has a value", hint=hint)

    def _answer(self, asked: Property, found: PathTrace) -> CutVerdict:
        checker = TraceChecker(found.trace, Options(explain=False, max_cuts=MOST_CUTS))
        checker.names = _vocabulary(found)
        verdict = checker.verdict(asked, checker.bound(asked, self.specification))
        if verdict.holds is None:
            return CutVerdict(None, why=verdict.reason or "undecided on a path")
        names = verdict.witness.path if verdict.holds is False and verdict.witness is not None else ()
        events = [found.trace.find(name) for name in names]
        order = _merged([found.instants[event] for event in events if event is not None])
        return CutVerdict(verdict.holds, tuple(order))


def _vocabulary(found: PathTrace) -> Vocabulary:
    processes = tuple(process.name for process in found.trace.processes)
    return Vocabulary(processes, _AnyLocals(), _Any(), _Any(), _Any())


def _needs_the_program(node: Node, claim: JudgedClaim) -> bool:
    return isinstance(node, Transit) or (isinstance(node, Shared) and node.variable in claim.made.predicates)


def _read(node: Node) -> tuple[Process, str] | None:
    """The variable that a node reads; a bare name is of nobody."""
    match node:
        case Local(process, variable):
            return process, variable
        case Shared(variable):
            return "", variable
    return None


@cache
def declared_global(file: str) -> frozenset[str]:
    import ast

    if not file.endswith(".py"):
        return frozenset()
    try:
        tree = ast.parse(File(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    return frozenset(name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names)


def _doubt(formula: Node, found: PathTrace) -> str:
    """Why a formula cannot be judged: it reads what threads change unseen."""
    for node in nodes(formula):
        read = _read(node)
        if read is not None and read in found.unsure:
            return f"{read[1]} is a global variable of several threads, and seen at their messages only"
    return ""


def _merged(instants: list[Instant]) -> list[Instant]:
    """Several events in a row may be one instant."""
    return [each for number, each in enumerate(instants) if not number or instants[number - 1] is not each]


# ---- plain data -----------------------------------------------------------------------------------


def _document(found: CutVerdict) -> dict[str, Any]:
    return {
        "verdict": found.verdict,
        "order": [[each.process, _words(each), each.at] for each in found.order],
        "atoms": [list(pair) for pair in found.atoms],
        "broken": list(found.broken),
        "at_the_end": found.at_the_end,
        "why": found.why,
    }


def _words(instant: Instant) -> str:
    return f"comes to {instant.text}" if instant.kind == "comes" else instant.text


def _property_document(asked: Property, found: CutVerdict) -> dict[str, Any]:
    return {
        "name": asked.name,
        "language": asked.language,
        "formula": asked.text,
        **_document(found),
    }
