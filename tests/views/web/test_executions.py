"""The tree of a search's executions: who ran, how each ended, and the failing one run again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest

from possibly.control.execution import Execution, Operation, Outcome, Step
from possibly.errors import PossiblyError
from possibly.views.cli.drawing.pictures import executions_of
from possibly.views.cli.main import main
from possibly.views.web.executions import Executions
from possibly.views.web.explored import LiveExecutions, picture
from possibly.views.web.models import Node
from tests.views.web.conftest import Shown
from tests.views.web.test_server import served
from tests.waiting import PATIENCE

BUGS = Path(__file__).parents[3] / "examples/bugs"
CASES = 40 * int(os.environ.get("POSSIBLY_CASES", "1"))


def explored(folder: Path, program: Path, *options: str) -> Path:
    """The tree that the command writes, in an interpreter of its own."""
    path = folder / "search.json"
    words = [sys.executable, "-m", "possibly", "explore", "--tree", str(path), *options, str(program)]
    found = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
    assert found.returncode in (0, 1), found.stderr
    assert "possibly view" in found.stderr
    return path


def read(path: Path) -> Executions:
    found = executions_of(str(path))
    assert found is not None
    return found


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explored(tmp_path_factory.mktemp("failing"), BUGS / "lost-update/buggy.py")


@pytest.fixture(scope="module")
def holding(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return explored(tmp_path_factory.mktemp("holding"), BUGS / "philosophers/fixed.py")


def test_a_search_that_holds_has_an_end_an_execution(holding: Path) -> None:
    tree = read(holding)
    assert (tree.verdict, tree.complete, tree.count) == ("holds", True, 6)
    assert [tree.outcome(leaf) for leaf in tree.leaves] == ["finished"] * 6
    assert len({tree.schedule(leaf) for leaf in tree.leaves}) == 6
    found = picture(tree)
    assert {node.verdicts for node in found.nodes} == {("true",)}
    branches = [node.branch for node in found.nodes if node.branch.startswith("philosopher-")]
    assert len({branch.split()[0] for branch in branches}) == 3, "who ran"


def test_the_failing_end_says_how_to_see_it_again(failing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = picture(read(failing))
    (node,) = [node for node in found.nodes if dict(node.facts).get("again")]
    facts = dict(node.facts)
    assert (facts["outcome"], facts["message"]) == ("failed", "AssertionError: 10")
    assert node.verdicts == ("false",) and node.text == "✗ failed"
    monkeypatch.chdir(failing.parent)
    words = facts["again"].split()
    assert words[:2] == ["possibly", "replay"]
    again = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, timeout=PATIENCE)
    assert again.returncode == 1 and "AssertionError: 10" in again.stdout


def test_every_form_has_the_branches_and_the_command(failing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(failing.parent)
    assert main(["view", "search.json", "--svg", "a.svg", "--png", "a.png", "--dot", "a.dot"]) == 0
    texts = [node.text or "" for node in ElementTree.fromstring(Path("a.svg").read_text()).iter()]
    assert any(text.startswith("again: possibly replay buggy.schedule") for text in texts)
    assert any("teller-1 reads" in text for text in texts)
    dot = Path("a.dot").read_text()
    assert "again: possibly replay buggy.schedule" in dot and 'label="teller-1 reads balance: 0"' in dot
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")


def test_with_a_property_the_execution_that_violates_it_is_false(tmp_path: Path) -> None:
    formula = "AG(balance <= 10)"
    program = BUGS / "lost-update/fixed.py"
    tree = read(explored(tmp_path, program, "--watch", "balance", "--ctl", formula))
    assert tree.verdict == "violated" and tree.asked == "no execution fails, ctl1"
    assert "property" in {tree.outcome(leaf) for leaf in tree.leaves}
    assert picture(tree).nodes[0].verdicts == ("false",)


def test_with_several_workers_the_executions_are_the_same(tmp_path: Path, holding: Path) -> None:
    tree = read(explored(tmp_path, BUGS / "philosophers/fixed.py", "--jobs", "2"))
    assert (tree.verdict, tree.count, len(list(tree.leaves))) == ("holds", 6, 6)


def test_a_tree_is_written_over_nothing_but_a_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.json").write_text("{}")
    Path("program.py").write_text("print(1)\n")
    for name in ("mine.json", "program.py", "nowhere/tree.json"):
        assert main(["explore", "--tree", name, "program.py"]) == 2
        assert "give another --tree" in capsys.readouterr().err
    assert Path("mine.json").read_text() == "{}" and Path("program.py").read_text() == "print(1)\n"


# ---- any executions -------------------------------------------------------------------------------


OUTCOMES = (*[Outcome.FINISHED] * 6, Outcome.DEADLOCK, Outcome.CUT_OFF, Outcome.DIVERGED)


def generated(random: Random) -> Iterator[tuple[Execution, dict[str, str] | None]]:
    """Executions of a system whose steps depend on the choices so far alone."""
    tasks = ["0", "0.1", "0.2"][: random.randint(2, 3)]
    length = random.randint(1, 6)
    ends: dict[tuple[str, ...], Outcome] = {}
    for _ in range(random.randint(1, 12)):
        schedule = tuple(random.choice(tasks) for _ in range(length))
        steps = tuple(
            Step(task, Operation("read", f"x{hash(schedule[:n]) % 7}", (), f"a/b.py:{n}"), tuple(tasks), {})
            for n, task in enumerate(schedule)
        )
        outcome = ends.setdefault(schedule, random.choice(OUTCOMES))
        why = ("it never ends",) if outcome is Outcome.CUT_OFF and random.random() < 0.5 else ()
        bad = outcome is Outcome.DEADLOCK
        yield (
            Execution(steps, outcome, {"0.1": "T"}, uncontrolled=why),
            ({"kind": "deadlock"} if bad else None),
        )


@pytest.mark.parametrize("seed", range(CASES))
def test_a_node_is_false_if_an_execution_through_it_fails(seed: int, tmp_path: Path) -> None:
    tree = Executions(("program.py",))
    runs = list(generated(Random(seed)))
    for execution, details in runs:
        tree.seen(execution, details, 0)
    assert tree.count == len(runs)
    assert {tree.schedule(leaf) for leaf in tree.leaves} == {run.schedule for run, _ in runs}
    tree.complete, tree.verdict = True, "violated" if any(d for _, d in runs) else "holds"
    tree.save(str(tmp_path / "t.json"))
    again = read(tmp_path / "t.json")
    assert (again.steps, again.places) == (tree.steps, tree.places)
    drawn = picture(again)
    assert drawn == picture(tree)
    failing = [run.schedule for run, details in runs if details]
    kept = [
        number
        for number, place in enumerate(tree.places)
        if not number or len(place.children) != 1 or place.end is not None
    ]
    for node, place in zip(drawn.nodes, kept, strict=True):
        way = tree.schedule(place)
        is_bad = any(schedule[: len(way)] == way for schedule in failing)
        assert (node.verdicts == ("false",)) == is_bad
        end = next((run for run, _ in reversed(runs) if run.schedule == way), None)
        if end is not None and not is_bad:
            covered = end.outcome is Outcome.CUT_OFF and not end.uncontrolled and tree.verdict == "holds"
            assert node.verdicts == ("true" if end.outcome is Outcome.FINISHED or covered else "unknown",)
        below = [n for n in drawn.nodes if n.parent == node.id]
        assert len(below) != 1 or not place or tree.places[place].end, (
            "a node is drawn where something is chosen"
        )
    assert steps_of(drawn.nodes) == {run.schedule for run, _ in runs}


def steps_of(nodes: tuple[Node, ...]) -> set[tuple[str, ...]]:
    """The schedules that can be read off the picture: the facts of the branches, joined."""
    by_id = {node.id: node for node in nodes}
    found = set()
    for leaf in nodes:
        if not any(name == "outcome" for name, _ in leaf.facts):
            continue
        way: list[str] = []
        at: Node | None = leaf
        while at is not None:
            rows = [(name, text) for name, text in at.facts if text.startswith("reads")]
            names, who = [], ""
            for name, _ in rows:
                who = name or who
                names.append("0.1" if who == "T" else who)
            way = names + way
            at = by_id[at.parent] if at.parent is not None else None
        found.add(tuple(way))
    return found


def test_a_search_that_begins_anew_forgets_what_it_saw_before() -> None:
    tree = Executions(("program.py",))
    first, second = (next(generated(Random(seed)))[0] for seed in (1, 2))
    tree.seen(first, None, 0)
    tree.seen(second, None, 1)
    assert tree.count == 1
    assert [tree.schedule(leaf) for leaf in tree.leaves] == [second.schedule]


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"nodes": [[-1, -1], [5, 0]]},
        {"nodes": [[-1, -1], [0, 999]]},
        {"nodes": 3},
        {"ends": {"77": {"outcome": "finished"}}},
        {"steps": [["0"]]},
        {"program": None},
        {"ends": {"1": {"outcome": "finished"}}},
    ],
    ids=str,
)
def test_a_broken_file_is_named(failing: Path, tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "broken.json"
    path.write_text(json.dumps({**json.loads(failing.read_text()), **change}))
    with pytest.raises(PossiblyError, match="tree of executions"):
        executions_of(str(path))
    assert main(["view", str(path)]) == 2


# ---- in the page ----------------------------------------------------------------------------------


def test_the_page_draws_the_executions(
    failing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: Callable[[str], Shown]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["view", str(failing), "-o", "search.html"]) == 0
    shown = written(Path("search.html").read_text())
    page = shown.page
    shown.shot("executions")
    assert "possibly replay buggy.schedule" in page.locator(".details").inner_text(), "it is chosen at first"
    labels = [each.get_attribute("aria-label") or "" for each in page.locator(".link-label").all()]
    assert "teller-1 reads balance: 0" in labels and "MainThread starts teller-2" in labels
    assert page.locator(".node.tree.is-false").count() >= 3
    assert page.locator(".node.tree.is-true", has_text="finished").count() >= 1
    page.locator(".node.tree.is-false", has_text="failed").last.click()
    details = page.locator(".details").inner_text()
    assert "✗ no execution fails: false" in details and "teller-1" in details


def test_an_execution_is_run_again_from_a_node_of_the_live_page(holding: Path, shown: Shown) -> None:
    with served(str(holding)) as address:
        page = shown.open(address).page
        page.locator(".node.tree", has_text="step").last.click()
        page.locator("[data-action=replay]").click()
        page.get_by_text("Run again: finished, as it was met before.").wait_for()
        assert page.locator(".node.tree.here").count() == 1
        shown.shot("executions-live")


def test_a_tree_whose_program_is_elsewhere_is_not_served(
    failing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    document = json.loads(failing.read_text())
    document["program"] = document["header"]["program"] = ["nowhere.py"]
    Path("t.json").write_text(json.dumps(document))
    assert main(["view", "t.json", "--serve", "--no-browser"]) == 2
    assert "nowhere.py: the program is not here" in capsys.readouterr().err
    assert main(["view", "t.json"]) == 0


def test_what_live_executions_cannot_do(holding: Path) -> None:
    live = LiveExecutions(read(holding))
    try:
        for action, values in (
            ("dance", {}),
            ("replay", {}),
            ("replay", {"node": "99"}),
            ("replay", {"node": "x"}),
        ):
            with pytest.raises(PossiblyError):
                live.operate(action, values)
        before = len(live.tree.places)
        live.operate("replay", {"node": "0"})
        assert len(live.tree.places) == before and live.picture().current is not None
    finally:
        live.close()
