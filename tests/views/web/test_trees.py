"""Trees and stacks in the page: drawn, read without colour, operated live."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from possibly.control.macro.tree import Tree as MacroTree
from possibly.errors import PossiblyError
from possibly.session.macro_steps.tree import MacroSession, checked_program
from possibly.views.cli.main import main
from possibly.views.web.document import Contents, picture_document
from possibly.views.web.live import LivePage
from possibly.views.web.macro import LiveMacroTree, picture
from possibly.views.web.models import Node, Stack, StackStep, Tree
from possibly.views.web.page import page_of
from possibly.views.web.server import serving
from tests.control.macro.simulated import Program, explored
from tests.views.web.conftest import Shown

RACE: Program = {
    "Left": [("send", "Sink")],
    "Right": [("send", "Sink")],
    "Sink": [("recv", None), ("recv", None)],
}


def page_with(*trees: Tree, stacks: tuple[Stack, ...] = ()) -> str:
    return page_of(picture_document("trees", None, None, Contents(trees=trees, stacks=stacks)))


VERDICTS = Tree(
    "Execution tree",
    ("no lost message", "drains"),
    (
        Node("0", None, "", "start", ("unknown", "unknown")),
        Node(
            "1",
            "0",
            "Buffer from Producer",
            "1",
            ("true", "unknown"),
            stopped=True,
            facts=(("at", "b.py:3"),),
        ),
        Node("2", "0", "Buffer from Consumer", "2 ✗ deadlock", ("false", "false")),
        Node("3", "1", "Consumer from Buffer", "3 end", ("true", "true")),
    ),
    notes=("The tree is false.",),
)


def test_a_tree_shows_verdicts_branches_and_breakpoints(written: Callable[[str], Shown]) -> None:
    shown = written(page_with(VERDICTS))
    page = shown.page
    shown.shot("tree")
    assert page.locator(".node.tree").count() == 4
    assert page.locator(".link-label").all_text_contents() == [
        "Buffer from Producer", "Buffer from Consumer", "Consumer from Buffer",
    ]  # fmt: skip
    signs = {
        node.get_attribute("data-id"): "".join(sign for sign in node.locator(".verdict").all_text_contents())
        for node in page.locator(".node.tree").all()
    }
    assert {number: "".join(c for c in text if c in "✓✗?") for number, text in signs.items()} == {
        "0": "??", "1": "✓?", "2": "✗✗", "3": "✓✓",
    }  # fmt: skip
    assert page.locator(".node.tree.stopped text").first.text_content() == "‖ 1"
    page.locator('.node.tree[data-id="1"]').click()
    details = page.locator(".details").inner_text()
    assert "✓ no lost message: true" in details and "b.py:3" in details
    page.locator('.node.tree[data-id="1"]').click()
    assert page.locator(".node.tree").count() == 3, "what is below is folded"


def test_a_large_tree_is_folded_at_first(written: Callable[[str], Shown]) -> None:
    nodes = [Node("0", None, "", "0")]
    nodes += [Node(str(n), str((n - 1) // 3), f"b{n}", str(n), ("true",)) for n in range(1, 2_000)]
    shown = written(page_with(Tree("large", ("c",), tuple(nodes))))
    assert 50 < shown.page.locator(".node.tree").count() < 1_200
    assert shown.page.get_by_text("below").count() > 5


def test_the_way_to_a_failure_is_open_in_a_large_tree(written: Callable[[str], Shown]) -> None:
    nodes = [Node("0", None, "", "0")]
    nodes += [Node(str(n), str((n - 1) // 3), f"b{n}", str(n), ("true",)) for n in range(1, 2_000)]
    nodes[1_234] = Node(
        "1234", str(1_233 // 3), "b", "x", ("false",), facts=(("again", "possibly replay x"),)
    )
    shown = written(page_with(Tree("large", ("c",), tuple(nodes))))
    box = shown.page.locator('.node.tree.chosen[data-id="1234"]').bounding_box()
    stage = shown.page.locator("svg.stage").bounding_box()
    assert box is not None and stage is not None
    assert stage["x"] < box["x"] < stage["x"] + stage["width"], "it is in sight"
    assert "possibly replay x" in shown.page.locator(".details").inner_text()


def test_a_stack_shows_its_steps_newest_first(written: Callable[[str], Shown]) -> None:
    steps = (StackStep("step", "F x", ("a", "b")), StackStep("statement", "next P1", ("c",)))
    shown = written(page_with(stacks=(Stack("Temporal stack", steps, (("P1.x", "1"),)),)))
    shown.shot("stack-alone")
    assert [text.split("\n")[0] for text in shown.page.locator(".frame").all_inner_texts()] == [
        "2. statement", "1. step",
    ]  # fmt: skip
    assert "P1.x" in shown.page.locator(".details").inner_text()


def test_what_ends_in_one_way_is_folded_and_failing_paths_are_listed(written: Callable[[str], Shown]) -> None:
    nodes = [Node("0", None, "", "0")]
    for part in range(4):
        nodes.append(Node(f"p{part}", "0", "b", f"part {part}"))
        ends = ["fails" if (part, n) == (2, 7) else "holds" for n in range(500)]
        nodes += [Node(f"{part}.{n}", f"p{part}", "b", f"{part}.{n}", outcome=ends[n]) for n in range(500)]
    page = written(page_with(Tree("large", (), tuple(nodes)))).page
    assert page.get_by_text("+ 500 below: 500 ✓").count() == 3
    assert page.get_by_text("+ 500 below: 499 ✓ 1 ✗").count() == 1
    page.get_by_text("failing paths: 1").click()
    page.locator("details.failing button").click()
    assert page.locator('.node.tree.chosen[data-id="2.7"]').count() == 1


# ---- macro-steps ----------------------------------------------------------------------------------


def test_the_page_of_a_tree_has_numbers_values_and_the_failing_path(
    written: Callable[[str], Shown], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Path(__file__).parents[3] / "examples" / "macro" / "threads.py"
    monkeypatch.chdir(tmp_path)
    assert main(["explore", "--macro", str(program), "lossy"]) == 1
    assert main(["view", "threads.tree.json", "-o", "tree.html"]) == 0
    page = written(Path("tree.html").read_text(encoding="utf-8")).page
    told = page.locator("body").inner_text()
    assert "Buffer got Producer#2 and not Consumer#1" in told
    assert "Producer#2 = 2" in told
    page.get_by_text("Macro-step tree").first.click()
    assert "[44] Buffer get" in " ".join(page.locator(".node.tree text").all_text_contents())


def test_a_saved_tree_is_drawn_as_the_one_in_memory(tmp_path: Path) -> None:
    tree = explored(RACE)
    tree.marks["choice"] = 0
    tree.save(tmp_path / "tree.json")
    found = picture(MacroTree.load(tmp_path / "tree.json"), "t")
    assert found == picture(tree, "t")
    assert len(found.nodes) == len(tree.nodes)
    assert len({node.branch for node in found.nodes if node.parent == "1" or node.parent == "0"}) > 1
    assert found.nodes[0].stopped and not found.nodes[1].stopped
    assert not [node for node in found.nodes if node.actions], "only a live tree has buttons"


PROGRAM = """\
from multiprocessing import Process, Queue


def send(queue, word):
    queue.put(word)


def main():
    queue = Queue()
    workers = [Process(target=send, args=(queue, word), name=word) for word in ("left", "right")]
    for worker in workers:
        worker.start()
    first, second = queue.get(), queue.get()
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    main()
"""


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveMacroTree]:
    """A real program of three processes, stopped at its first breakpoint."""
    path = tmp_path / "race.py"
    path.write_text(PROGRAM)
    session = MacroSession(checked_program((str(path),), None))
    session.goto(0)
    yield LiveMacroTree(session, "Macro-step tree")
    session.close()


def test_branches_are_taken_one_by_one_until_the_tree_is_complete(live: LiveMacroTree) -> None:
    tree = live
    for _ in range(20):
        found = [(node, arc) for node in tree.session.tree.nodes for arc in node.arcs if arc.is_open]
        if not found:
            break
        node, arc = found[0]
        branch = str(node.arcs.index(arc) + 1)
        tree.operate("step", {"node": str(node.number), "branch": branch})
    assert tree.session.tree.is_complete
    assert len(tree.session.tree.leaves) == 2, "who is received from first"


@pytest.mark.parametrize(
    ("action", "values"),
    [
        ("step", {"node": "0", "branch": "99"}),
        ("step", {"node": "-1", "branch": "0"}),
        ("goto", {"node": "77"}),
        ("dance", {"node": "0"}),
    ],
    ids=str,
)
def test_what_a_tree_cannot_do(live: LiveMacroTree, action: str, values: dict[str, str]) -> None:
    before = len(live.session.tree.nodes)
    with pytest.raises(PossiblyError):
        live.operate(action, values)
    assert len(live.session.tree.nodes) == before


def test_a_tree_is_saved_where_the_server_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / "inner").mkdir(parents=True)
    (home / "notes.json").write_text('{"mine": 1}')
    (home / "link.json").symlink_to(tmp_path / "elsewhere.json")
    monkeypatch.chdir(home)
    session = MacroSession(checked_program((__file__,), None), explored(RACE))
    live = LiveMacroTree(session, "t")
    monkeypatch.chdir(tmp_path)
    for name in ("run.tree.json", "inner/run.json", "run.tree.json", str(home / "whole.json")):
        live.operate("save", {"text": name})
        assert MacroTree.load(home / name).marks == session.tree.marks
        assert live.picture().notes[-1] == f"saved in {home.resolve() / name}"
    outside = ("../run.json", "/tmp/run.json", "inner/../../run.json", "link.json", "~/../../x.json")
    for name in ("", " ", "run.py", "notes.json", "nowhere/run.json", "inner", *outside):
        with pytest.raises(PossiblyError):
            live.operate("save", {"text": name})
    assert (home / "notes.json").read_text() == '{"mine": 1}'
    assert not (tmp_path / "elsewhere.json").exists() and not (tmp_path / "run.json").exists()


def test_a_tree_is_operated_from_the_live_page(shown: Shown, live: LiveMacroTree) -> None:
    tree = live
    with serving(LivePage("race.py", None, [tree])) as server:
        page = shown.open(server.address).page
        page.locator(".node.tree").first.click()
        page.locator("[data-action=step]").first.click()
        page.locator(".node.tree").nth(1).wait_for()
        page.locator("[data-action=depth]").click()
        page.get_by_text("open branches: 0").wait_for()
        shown.shot("macro-tree")
        assert page.locator(".node.tree").count() == len(tree.session.tree.nodes)
        page.locator('.node.tree[data-id="1"]').click()
        page.locator("[data-action=goto]").click()
        page.locator('.node.tree.here[data-id="1"]').wait_for()
        mark = page.locator("form[data-action=mark]")
        mark.locator("input").fill("here")
        mark.locator("button").click()
        page.locator(".node.tree.stopped").wait_for()
    assert tree.session.tree.marks == {"here": 1}
