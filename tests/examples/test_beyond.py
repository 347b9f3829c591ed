"""What Sen's thesis names as future work (section 9.2), each shown on one of the protocols."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from possibly.detection.explicit.exhaustive import Exhaustive
from possibly.detection.limits import Budget
from possibly.logic.bind import bind
from possibly.logic.parser import parse
from possibly.order.computation import Computation, Cut, join, meet
from possibly.order.lattice import Lattice
from possibly.order.predicate import CutPredicates
from possibly.order.state import Readings
from possibly.order.vocabulary import vocabulary
from possibly.session.checking.slicing import slice_trace
from possibly.trace import load
from possibly.trace.model import Trace
from possibly.views.cli.main import main
from tests.examples.test_protocols import FOLDER
from tests.waiting import PATIENCE


def recorded(name: str, watched: list[str], words: list[str], trace: Path, program: str = "right.py") -> str:
    options = [word for each in watched for word in ("--watch", each)]
    command = [sys.executable, "-m", "possibly", "run", *options, "-o", str(trace)]
    subprocess.run([*command, str(FOLDER / name / program), *words], check=True, timeout=PATIENCE)
    return str(trace)


@pytest.fixture(scope="module")
def election(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    path = tmp_path_factory.mktemp("election") / "run.jsonl"
    return load(recorded("leader-election", ["isLeader", "done"], ["3"], path))


def closed(cuts: set[Cut]) -> set[Cut]:
    found = set(cuts)
    while more := {f(c, d) for c in found for d in found for f in (meet, join)} - found:
        found |= more
    return found


@pytest.mark.parametrize(
    "text",
    [
        "AF(P0.done & P1.done)",
        "AX(P2.done)",
        "E[!P2.isLeader U P0.done]",
        "A[!P0.done U P2.done]",
    ],
)
def test_slices_of_every_operator(text: str, election: Trace) -> None:
    """The smallest sublattice around the cuts that satisfy it, which are found one by one here."""
    lattice = Lattice(Computation(election))
    predicates = CutPredicates(lattice, Readings(lattice.computation))
    plain = Exhaustive(lattice, predicates, Budget())
    node = bind(parse(text, "ctl"), vocabulary(election)).formula
    satisfying = {lattice.unpack(cut) for cut in lattice.depth_first() if plain.at(node, cut)}
    found = slice_trace(election, text)
    assert found.slice.exact and satisfying
    assert set(found.slice.cuts()) == closed(satisfying)


def test_slices_of_a_large_election(tmp_path: Path) -> None:
    """Twenty processes: too many cuts to visit, and few of what two of them do."""
    run = load(recorded("leader-election", ["isLeader", "done"], ["20"], tmp_path / "run.jsonl"))
    found = slice_trace(run, "A[!P3.done U P4.done]")
    assert found.slice.exact and "all visited: there are few" in found.made[0]


def test_slices_are_composed(tmp_path: Path, capfd: Any) -> None:
    """The slice of a conjunction from the slices of its parts, by their edges alone."""
    path = recorded("philosophers", ["eat", "hungry"], ["3", "2"], tmp_path / "run.jsonl")
    capfd.readouterr()
    answers = []
    for words in (["Phil0.eat & Phil1.hungry"], ["Phil0.eat", "--and", "Phil1.hungry"]):
        assert main(["slice", path, *words, "--json"]) == 0
        answers.append(json.loads(capfd.readouterr().out))
    one, composed = answers
    assert not one["empty"] and composed["exact"]
    assert [one[key] for key in ("least", "greatest")] == [composed[key] for key in ("least", "greatest")]


def test_what_goes_on_for_ever(tmp_path: Path, capfd: Any) -> None:
    """Nobody starves in orders that repeat what was recorded, as long as nobody is passed over for ever."""
    path = recorded("philosophers", ["eat", "hungry"], ["2", "2"], tmp_path / "run.jsonl")
    asked = ["check", path, "--ctl", "AG(Phil0.hungry -> AF(Phil0.eat))", "--loops", "weak"]
    assert main([*asked, "--explain"]) == 0
    assert "loops were looked for in all orders" in capfd.readouterr().out


def test_a_formula_about_time(tmp_path: Path, capfd: Any) -> None:
    """How long after the first the last one knows the leader; and what the times leave of the orders."""
    trace = tmp_path / "run.jsonl"
    words = ["run", "--times", "--watch", "done", "-o", str(trace)]
    late = "AG(P0.done & P2.done -> abs(P0.time - P2.time) < {})"
    asked = [word for most in (600, 0) for word in ("--ctl", late.format(most))]
    program = str(FOLDER / "leader-election" / "right.py")
    command = [sys.executable, "-m", "possibly", *words, *asked, "--json", program, "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert [each["verdict"] for each in json.loads(done.stdout)["properties"]] == ["holds", "violated"]
    ordered = tmp_path / "ordered.jsonl"
    assert main(["export", str(trace), "--to", "jsonl", "--skew", "0.1", "-o", str(ordered)]) == 0
    cuts = [Lattice(Computation(load(each))).count_cuts() for each in (trace, ordered)]
    assert cuts[1] <= cuts[0]


def test_atomic_regions(tmp_path: Path, capfd: Any) -> None:
    """A bakery in which numbers are given out at a door: what is done there is one event."""
    program, trace, regions = tmp_path / "door.py", tmp_path / "run.jsonl", tmp_path / "regions.jsonl"
    text = (FOLDER / "bakery" / "right.py").read_text(encoding="utf-8")
    taking = "        number[me] = 1 + max(number)\n"
    assert taking in text
    text = text.replace(taking, f"        with door:\n    {taking}")
    program.write_text(text.replace("def process(", "door = threading.Lock()\n\n\ndef process(", 1))
    watched = ["--watch", "number", "--watch", "choosing", "--watch", "inCS"]
    command = [sys.executable, "-m", "possibly", "run", *watched, "-o", str(trace), str(program), "2", "1"]
    subprocess.run(command, check=True, timeout=PATIENCE)
    assert main(["export", str(trace), "--to", "jsonl", "--atomic", "door", "-o", str(regions)]) == 0
    specification = ["--spec", str(FOLDER / "bakery" / "protocol.spec")]
    assert [main(["check", str(each), *specification]) for each in (trace, regions)] == [0, 0]
    cuts = [Lattice(Computation(load(each))).count_cuts() for each in (trace, regions)]
    assert cuts[1] < cuts[0]


def test_many_runs_in_one_question_and_what_they_have_shown(tmp_path: Path, capfd: Any) -> None:
    watched = ["requested", "replied", "sent", "SRequestSent", "SReplyReceived", "processed"]
    runs = [recorded("giop", watched, ["3", "1"], tmp_path / f"right{number}.jsonl") for number in range(2)]
    runs.append(recorded("giop", watched, ["3", "1"], tmp_path / "wrong.jsonl", "wrong.py"))
    capfd.readouterr()
    specification = ["--spec", str(FOLDER / "giop" / "protocol.spec")]
    assert main(["check", *runs, *specification, "--jobs", "1"]) == 1
    summary = capfd.readouterr().out
    assert "user_reply: holds in 3" in summary and "exactly_once: holds in 2, violated in 1" in summary
    assert main(["coverage", *runs, *specification, "--json"]) == 1
    shown = json.loads(capfd.readouterr().out)
    assert sum(map(len, shown["classes"])) == 3
    (agent,) = [each for each in shown["properties"] if each["name"] == "agent_reply"]
    states = {each["state"]: each["seen"] for each in agent["states"]}
    assert states["Agent.SRequestSent & Agent.SReplyReceived"] == "never"
