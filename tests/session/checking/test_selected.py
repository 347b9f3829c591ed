"""Properties checked on a part of a Parquet file: the answer is that of the whole run."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.explicit.linear import Linear
from possibly.detection.limits import Budget
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.logic.specification import read_specification
from possibly.order.computation import Computation
from possibly.order.knowledge import learnt_by_event
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.session.checking import selected
from possibly.session.checking.check import Options, check_trace
from possibly.session.checking.selected import answered, part_for
from possibly.trace.model import Trace
from possibly.trace.notation import trace
from possibly.verdict.model import Truth
from tests.detection.test_definition import Case
from tests.sampling import sampled

pytest.importorskip("duckdb")
from possibly.trace.parquet.read import outline, read_parquet, words_of
from possibly.trace.parquet.write import write_parquet
from possibly.views.cli.main import main

CTL = ["EF", "AF", "EG", "AG", "EU", "AU"]
LTL = ["F", "G", "O", "H", "U", "R", "W", "S"]


def kept(run: Trace, folder: Path) -> str:
    path = str(folder / "run.parquet")
    write_parquet(run, path, learnt_by_event(Computation(run)))
    return path


def is_true_on(run: Trace, text: str, language: str) -> bool:
    """By the plain engine, which visits every cut."""
    formula = bind(parse(text, language), vocabulary(run)).formula
    lattice = Lattice(Computation(run))
    predicates = CutPredicates(lattice, Readings(lattice.computation))
    if language == "ltl":
        return bool(Linear(lattice, predicates, formula, Budget()).decide().value)
    return bool(Exhaustive(lattice, predicates, Budget()).at(formula, lattice.initial))


@pytest.mark.parametrize("language", ["ctl", "ltl"])
@pytest.mark.parametrize("batch", range(3))
def test_the_part_that_is_read_has_the_answer_of_the_whole(
    batch: int, language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against the definition on the whole run: joint events, messages, names, shared variables and all."""
    monkeypatch.setattr(selected, "LONG", -1)
    parts = 0
    for seed in range(batch * 1_000_000, batch * 1_000_000 + sampled(20)):
        case = Case(seed, CTL if language == "ctl" else LTL, language, depth=2, events=8)
        path, text = kept(case.trace, tmp_path), case.formula.text
        words = words_of([text])
        part = part_for(read_specification(f"{language} p = {text}"), outline(path, words))
        if part is None:
            continue
        parts += 1
        read = read_parquet(path, words, part)
        assert {read.processes[p].name for p in read.process} <= part.processes
        if language == "ctl":
            expected = case.reference.satisfies(frozenset(), case.formula)
        else:
            expected = is_true_on(case.trace, text, language)
        assert is_true_on(read, text, language) == expected, case.describe()
    assert parts


RELAY = "p: x=1 send(m) x=2 | q: recv(m) send(n) | r: recv(n) x=1 | s: x=5 x=6"


def test_order_goes_through_processes_that_are_not_read(tmp_path: Path) -> None:
    run = trace(RELAY)
    path = kept(run, tmp_path)
    specification = read_specification("ctl after = AG(r.x == 1 -> p.x >= 1)")
    found = answered(path, specification, Options())
    assert found is not None and len(found.trace) == 5  # of p and r
    (verdict,) = found.report.verdicts
    assert verdict.truth is Truth.HOLDS and found.report.events == len(run)
    assert verdict.notes[-1] == "of the file: 5 of 9 events were read, those of 2 of 4 processes"


@pytest.mark.parametrize(
    "text",
    [
        "ctl broken = AG(r.x != 1)",  # an order is shown
        "ctl one = EF(r.x == 1)",
        "ctl step = AX(p.x == 1)",  # it counts steps
        "ctl empty = AG(transit() < 3)",  # of everybody
        "expect proto = a; b",
        "ctl all = AG(p.x < 9 & q.x < 9 & r.x < 9 & s.x < 9)",
    ],
)
def test_the_whole_is_read_where_a_part_does_not_tell(text: str, tmp_path: Path) -> None:
    path = kept(trace(RELAY), tmp_path)
    assert answered(path, read_specification(text), Options()) is None


def test_messages_between_processes_that_are_read(tmp_path: Path) -> None:
    run = trace("p: send(m) send(k) x=1 | q: recv(m) x=1 | r: recv(k) x=1")
    path = kept(run, tmp_path)
    found = answered(path, read_specification("ctl few = AG(transit(p, q) <= 1)"), Options())
    assert found is not None and [found.trace.event(e).msg for e in range(5)].count("m") == 2
    assert all(found.trace.event(e).msg != "k" for e in range(5))
    assert found.report.verdicts[0].truth is Truth.HOLDS


def test_verdicts_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Written and asked by commands: the report of the part beside that of the whole."""
    run, rows = tmp_path / "run.jsonl", tmp_path / "run.parquet"
    random = Random(5)
    lines = [json.dumps({"format": "possibly-trace", "version": 1, "processes": []})]
    lines += [
        json.dumps({"p": f"P{random.randrange(6)}", "set": {"x": random.randrange(4)}}) for _ in range(300)
    ]
    run.write_text("\n".join(lines))
    assert main(["export", str(run), "--to", "parquet", "-o", str(rows)]) == 0
    for formula, status in (("AG(!(P1.x > 3 & P2.x > 3))", 0), ("AG(P1.x < 3)", 1)):
        reports = []
        for path in (run, rows):
            assert main(["check", str(path), "--ctl", formula, "--json"]) == status
            report = json.loads(capsys.readouterr().out)
            for each in report["properties"]:
                for key in ("seconds", "cuts"):
                    del each[key]
            del report["trace"]
            reports.append(report)
        assert reports[0] == reports[1]


def test_a_file_without_order_is_read_whole(tmp_path: Path) -> None:
    """As another version or tool wrote it, or with more order than is kept."""
    run = trace(RELAY)
    path = str(tmp_path / "run.parquet")
    write_parquet(run, path)
    specification = read_specification("ctl after = AG(r.x == 1 -> p.x >= 1)")
    assert answered(path, specification, Options()) is None
    assert main(["check", path, "--ctl", "AG(r.x == 1 -> p.x >= 1)"]) == 0
    assert check_trace(run, specification, Options()).verdicts[0].truth is Truth.HOLDS
