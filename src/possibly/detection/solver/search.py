"""Clauses and linear constraints handed to OR-Tools' CP-SAT.

Here belongs the only place that knows that library (the optional extra `solver`), imported when it is first
needed: the import takes about a second. The problem itself is plain data: literals are numbers, a negative
one is the negation, 1 is true. One worker gives the same answer to the same problem each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from possibly.detection.limits import MissingExtraError
from possibly.detection.sums.flow import EXTRA

TRUE = 1
Assignment = Sequence[bool]
"""The value of each variable, by number; number 0 is not used."""


@dataclass(frozen=True, slots=True)
class Linear:
    """If the literal is true, the sum of factors times literals lies between the bounds."""

    given: int
    terms: tuple[tuple[int, int], ...]
    """(factor, literal)."""
    least: int | None
    most: int | None


@dataclass(slots=True)
class Problem:
    """Constraints on boolean variables, and what to make small."""

    variables: int = TRUE
    clauses: list[tuple[int, ...]] = field(default_factory=list)
    linear: list[Linear] = field(default_factory=list)
    cost: list[tuple[int, int]] = field(default_factory=list)
    """(factor, literal): the sum that the shortest answer makes least."""


class UndecidedError(Exception):
    """Not decided in the time given."""


def solved(problem: Problem, seconds: float, least: bool, workers: int) -> Assignment | None:
    """An assignment, of least cost if asked for and if there is time; None if there is none.

    Raises UndecidedError if none was found in time. No workers: as many as there are cores.
    """
    cp_model = _library()
    model, literals = _model(cp_model, problem)
    if least:
        factors, variables = zip(*problem.cost, strict=True) if problem.cost else ((), ())
        model.minimize(cp_model.LinearExpr.weighted_sum([literals(v) for v in variables], list(factors)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = workers
    if seconds != float("inf"):
        solver.parameters.max_time_in_seconds = max(0.0, seconds)
    status = _run(solver, model)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return [False, *(bool(solver.value(literals(v))) for v in range(1, problem.variables + 1))]
    if status == cp_model.INFEASIBLE:
        return None
    assert status == cp_model.UNKNOWN, f"the solver says {solver.status_name(status)}"
    raise UndecidedError


def _run(solver: Any, model: Any) -> Any:
    """Solve in a thread, so that Ctrl-C reaches us: the library would take it for "stop and go on"."""
    solver.parameters.catch_sigint_signal = False
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(solver.solve, model)
        try:
            return running.result()
        except KeyboardInterrupt:
            solver.stop_search()
            raise


def _model(cp_model: Any, problem: Problem) -> tuple[Any, Any]:
    model = cp_model.CpModel()
    variables = [None, *(model.new_bool_var("") for _ in range(problem.variables))]

    def literal(number: int) -> Any:
        return variables[number] if number > 0 else ~variables[-number]

    model.add_bool_and([literal(TRUE)])
    for clause in problem.clauses:
        model.add_bool_or([literal(number) for number in clause])
    for row in problem.linear:
        total = cp_model.LinearExpr.weighted_sum(
            [literal(number) for _, number in row.terms], [factor for factor, _ in row.terms]
        )
        for bound, make in ((row.least, total.__ge__), (row.most, total.__le__)):
            if bound is not None:
                model.add(make(bound)).only_enforce_if(literal(row.given))
    return model, literal


def _library() -> Any:
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        raise MissingExtraError(EXTRA) from None
    return cp_model
