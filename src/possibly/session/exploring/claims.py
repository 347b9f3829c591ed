"""Claims of a program (`possibly.claim`), judged on each execution's partial order.

A claim is a formula of finite LTL that speaks from the state in which it is made. It is violated if some
order of the execution's steps violates it: the execution stands for all of these. So it holds only if it
holds in every order, and what the search covers is covered for claims too. A claim that was made before the
first step is checked as it stands; for one that was made later, the step in which it was made is marked
(`control.runtime.following`), and the claim is what must be true where the mark appears.

Left open: claims whose atoms are predicates in Python, which need the state of the live program (these are
judged at macro-steps), and claims with past operators that are made when several tasks run, which would look
back too far.
"""

from __future__ import annotations

from typing import Any

from possibly.control.execution import Execution
from possibly.control.forking.zygote import ControlledProgram
from possibly.errors import PossiblyError
from possibly.logic.specification import Property, Specification, property_from_text
from possibly.session.exploring.checks import Check

Claim = tuple[str, str, str, list[str]]
"""Formula, place, the mark of the step, and the predicates that the program has."""


class UnjudgedError(Exception):
    """A claim that cannot be judged, and why."""


def watch_claims(program: ControlledProgram) -> None:
    """The variables that the last execution's claims speak of are told from the next execution on."""
    from possibly.recorder.watch import watched

    wanted: set[str] = set()
    for claim in program.claims:
        try:
            found = watched(Specification(properties=(_property(claim),)))
        except (PossiblyError, UnjudgedError):
            continue
        wanted |= found.names | found.members
    if not wanted <= program.watched:
        program.watch(wanted)


def with_claims(program: ControlledProgram, plain: Check | None) -> Check:
    """Looks for what the given check finds, and for violated claims."""

    def look(execution: Execution) -> dict[str, Any] | None:
        found = plain(execution) if plain is not None else None
        if (found is not None and "undecided" not in found) or program.repeat:
            return found
        for claim in program.claims:
            details = _judged(claim, execution, program)
            if details is not None:
                if "undecided" not in details:
                    return details
                found = details
        return found

    return look


def _judged(claim: Claim, execution: Execution, program: ControlledProgram) -> dict[str, Any] | None:
    from possibly.session.checking.check import Options
    from possibly.session.exploring.checks import property_check

    formula, place, *_ = claim
    try:
        specification = Specification(properties=(_property(claim),))
        details = property_check(program, specification, Options(explain=False))(execution)
    except (PossiblyError, UnjudgedError) as error:
        told = error.message if isinstance(error, PossiblyError) else str(error)
        return {"undecided": f"the claim {formula} ({place}): {told}"}
    if details is None or "undecided" in details:
        return None if details is None else {"undecided": f"the claim {formula} ({place})"}
    return {**details, "kind": "claim", "message": f"{formula} ({place})", "place": place}


def _property(claim: Claim) -> Property:
    """The claim as a property of the whole execution."""
    from possibly.logic.syntax import Name, Temporal
    from possibly.logic.walk import nodes

    formula, _, mark, predicates = claim
    found = property_from_text("ltl", formula, "claim")
    assert found.formula is not None
    for node in nodes(found.formula):
        if isinstance(node, Name) and node.parts[-1] in predicates:
            raise UnjudgedError(f"{node.parts[-1]} is a predicate in Python, which --macro judges")
        if mark and isinstance(node, Temporal) and node.operator in PAST:
            raise UnjudgedError("it looks back, and is made when several tasks run")
    if not mark:
        return found
    return property_from_text("ltl", f"G(({mark} & !(Y {mark})) -> ({formula}))", "claim")


PAST = frozenset("YZOHS")
