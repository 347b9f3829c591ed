"""Limits on cuts, time and memory: what passes them is unknown and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.detection.limits import Budget, LimitReachedError, half_of_memory, resident
from possibly.detection.slices.extension import extension
from possibly.logic.specification import read_specification
from possibly.order.computation import Computation
from possibly.order.lattice import Lattice
from possibly.session.checking.check import Options, check_trace
from possibly.trace.build import TraceBuilder
from possibly.views.cli.main import main
from tests.detection.test_projected import client_server


def test_memory_is_looked_at_with_the_clock() -> None:
    budget = Budget(max_memory=1 << 20)
    with pytest.raises(LimitReachedError, match="needs more than 1 MB of memory; raise --max-memory"):
        budget.visit()


def test_room_is_asked_for_before_it_is_taken() -> None:
    half = half_of_memory()
    assert half is not None and half > resident() > 1 << 20
    budget = Budget(max_memory=half)
    budget.room_for(0)
    with pytest.raises(LimitReachedError):
        budget.room_for(half)
    assert budget.part(5).max_memory == half


def test_parts_are_bounded_by_what_they_add() -> None:
    part = Budget(visited=10).part(None)
    part.bound_to(3)
    part.visit(3)
    with pytest.raises(LimitReachedError):
        part.visit()
    assert part.stopped_at_bound


@pytest.mark.parametrize("formula", ["AG(C1.try -> A[C1.try U C1.cs])", "AF(C1.cs & C2.cs)", "EF(C1.cs)"])
@pytest.mark.parametrize("options", [Options(timeout=0.0), Options(max_memory=1)])
def test_every_engine_keeps_the_limits(formula: str, options: Options) -> None:
    verdict = check_trace(client_server(350), read_specification(f"ctl it = {formula}"), options).verdicts[0]
    assert verdict.holds is None or verdict.engine == "observed"
    assert verdict.reason or any("--timeout" in note or "--max-memory" in note for note in verdict.notes)


def test_a_long_path_is_stopped_on_the_way() -> None:
    builder = TraceBuilder()
    for _ in range(20_000):
        builder.add("P")
    lattice = Lattice(Computation(builder.finish()))
    looks: list[None] = []

    def stop() -> None:
        looks.append(None)
        if len(looks) > 1:
            raise LimitReachedError("enough")

    with pytest.raises(LimitReachedError):
        extension(lattice, lattice.computation.initial, lattice.computation.final, None, stop)


TEXT = '{"format": "possibly-trace", "version": 1}\n{"p": "P", "set": {"x": 1}}\n'


@pytest.mark.parametrize(("size", "status"), [("1K", 3), ("none", 0), ("8T", 0)])
def test_the_option_takes_sizes(
    size: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.jsonl").write_text(TEXT)
    words = ["check", str(tmp_path / "run.jsonl"), "--ctl", "AG(!(P.x == 2))", "--max-memory", size]
    assert main(words) == status
    assert (status == 3) == ("raise --max-memory" in capsys.readouterr().out)


@pytest.mark.parametrize("size", ["0", "much", "-1G"])
def test_what_is_no_size_is_refused(size: str, tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_text(TEXT)
    with pytest.raises(SystemExit) as stopped:
        main(["check", str(tmp_path / "run.jsonl"), "--ctl", "AG(P.x == 2)", f"--max-memory={size}"])
    assert stopped.value.code == 2
