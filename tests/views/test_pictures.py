"""`possibly view --svg`, `--png`, `--dot`: every picture in every form."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest

from possibly.views.cli.drawing.pictures import PICTURES as CHOICES
from possibly.views.cli.main import main
from possibly.views.export.boxes import Arrow, Box, Picture, render_dot_picture, render_svg_picture
from possibly.views.export.graphs import tree_model_picture
from possibly.views.web.models import Node, Tree
from tests.waiting import PATIENCE

EXAMPLES = Path(__file__).parents[2] / "examples"
RING = [
    str(EXAMPLES / "ringbuffer-tasks/faulty.jsonl"),
    "--spec",
    str(EXAMPLES / "ringbuffer-tasks/ringbuffer.spec"),
]
MUTEX = [str(EXAMPLES / "mutex/run.jsonl"), "--spec", str(EXAMPLES / "mutex/mutex.spec")]
RACE = [str(EXAMPLES / "paths/race.jsonl"), "--spec", str(EXAMPLES / "paths/races.spec")]
DEKKER = [str(EXAMPLES / "models/dekker.py")]
ORDER = [str(EXAMPLES / "mutex/run.jsonl"), "--expect", "send; receive; send"]
LTL = [str(EXAMPLES / "mutex/run.jsonl"), "--ltl", "G(P1.critical -> F P2.critical)"]

PICTURES = {
    "run": (MUTEX, [], "receive"),
    "run of another order": (RACE, [], "producer"),
    "net": (RING, ["--net"], "put"),
    "slices": (RING, ["--slices"], "2 3 4"),
    "formula tree": (RING, ["--tree"], "in.append"),
    "lattice": (MUTEX, ["--lattice"], "3 2"),
    "slice": (MUTEX, ["--slice", "P1.critical"], "in every cut"),
    "automaton of a path expression": (RACE, ["--automaton", "race"], "(enqueue .)"),
    "automaton of a formula": (LTL, ["--automaton", "ltl1"], "init"),
    "semantic model of a path expression": (RACE, ["--model", "race"], "enqueue"),
    "order so far": (ORDER, ["--partial", "expect1"], "send"),
    "flow graphs": (DEKKER, [], "m8: critical = 0"),
}
"""Every picture that the command draws; trees are drawn below and in `web/test_executions.py`."""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_in_every_form(name: str) -> None:
    what, options, text = PICTURES[name]
    assert main(["view", *what, *options, "--svg", "a.svg", "--png", "a.png", "--dot", "a.dot"]) in (0, 1)
    svg = ElementTree.fromstring(Path("a.svg").read_text())
    assert svg.tag == "{http://www.w3.org/2000/svg}svg"
    assert any(text in (node.text or "") for node in svg.iter()), "the picture says what it shows"
    dot = Path("a.dot").read_text()
    assert dot.startswith("digraph ") and text in dot
    assert dot.count("{") == dot.count("}")
    is_drawn_by_graphviz("a.dot")
    png = Path("a.png").read_bytes()
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    assert png.startswith(b"\x89PNG") and width > 100 and height > 100


def is_drawn_by_graphviz(path: str) -> None:
    """Where Graphviz is installed, it reads the file without a complaint."""
    if shutil.which("dot") is not None:
        found = subprocess.run(["dot", "-Tplain", path], capture_output=True, text=True, timeout=PATIENCE)
        assert (found.returncode, found.stderr) == (0, "") and "\nnode " in found.stdout


def test_the_list_of_pictures_is_whole() -> None:
    drawn = {option.removeprefix("--") for _, options, _ in PICTURES.values() for option in options[:1]}
    assert drawn == set(CHOICES), "every option that names a picture is tested"


def test_a_picture_without_a_file_is_written_beside(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", *MUTEX, "--lattice"]) == 0
    assert capsys.readouterr().out == "Picture: run.lattice.svg\n"
    assert main(["view", *MUTEX, "--lattice", "-o", "cuts.dot"]) == 0
    assert Path("cuts.dot").read_text().startswith("digraph")
    assert main(["view", *MUTEX, "--svg", "-"]) == 0
    assert "<svg" in capsys.readouterr().out


def test_of_a_model_the_page_has_the_flow_graphs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", *DEKKER]) == 0
    assert capsys.readouterr().out == "Page: dekker.html\n"
    assert "m8: critical = 0" in Path("dekker.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*MUTEX, "--net", "--lattice"], "--net and --lattice are two pictures"),
        ([*MUTEX, "--tree"], "--tree draws a property of the task logic"),
        ([*MUTEX, "--automaton", "nobody"], "no ltl property and no path expression is called 'nobody'"),
        ([*MUTEX, "--slice", "P9.x"], "P9"),
        ([*DEKKER, "--net"], "--net is a picture of a trace; this file is none"),
        ([*DEKKER, "--ctl", "EF(x == 1)"], "properties are checked on traces"),
        ([*MUTEX, "--serve", "--svg", "a.svg"], "--serve shows the live page and writes no file"),
        ([*MUTEX, "--serve", "--port", "99999"], "99999 is no port"),
        (["nowhere.jsonl", "--svg", "a.svg"], "nowhere.jsonl"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_drawn_is_said(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", *words]) == 2
    assert message in capsys.readouterr().err
    assert not list(Path().iterdir()), "nothing is written"


def saved_tree() -> str:
    from tests.control.macro.simulated import explored

    tree = explored({"A": [("send", "C")], "B": [("send", "C")], "C": [("recv", None), ("recv", "A")]})
    tree.save("tree.json")
    return "tree.json"


def test_a_saved_tree_in_every_form() -> None:
    path = saved_tree()
    assert main(["view", path]) == 0
    assert "Macro-step tree" in Path("tree.html").read_text()
    assert main(["view", path, "--svg", "a.svg", "--png", "a.png", "--dot", "a.dot"]) == 0
    svg = ElementTree.fromstring(Path("a.svg").read_text())
    texts = [node.text or "" for node in svg.iter()]
    assert any("A" in text for text in texts) and any("B" in text for text in texts), "who was received from"
    assert Path("a.dot").read_text().count("label") > 4
    is_drawn_by_graphviz("a.dot")


@pytest.mark.parametrize("seed", range(20))
def test_no_text_of_a_tree_covers_another(seed: int) -> None:
    random = Random(seed)
    words = ["takes", "the", "lock", "worker-1", "of", "a.py:12", "a-name-that-is-longer-than-a-line"]
    nodes = [Node("0", None, "", "start", ("unknown",))]
    for number in range(1, random.randint(3, 25)):
        branch = " ".join(random.choices(words, k=random.randint(0, 9)))
        parent = str(random.randrange(max(0, number - 6), number))
        facts = (("again", "possibly replay x"),) if random.random() < 0.2 else ()
        nodes.append(Node(str(number), parent, branch, f"step {number}", ("true",), facts=facts))
    svg = ElementTree.fromstring(render_svg_picture(tree_model_picture(Tree("t", ("c",), tuple(nodes)))))
    boxes = []
    for text in svg.iter("{http://www.w3.org/2000/svg}text"):
        half = len(text.text or "") * (3.0 if text.get("class") == "label" else 3.3)
        x, y = float(text.get("x", "")), float(text.get("y", ""))
        assert x - half >= 0 and x + half <= float(svg.get("width", "")), "no text is cut"
        boxes.append((x - half, x + half, y - 9, y))
    for at, (left, right, top, bottom) in enumerate(boxes):
        for other in boxes[at + 1 :]:
            assert right <= other[0] or other[1] <= left or bottom <= other[2] or other[3] <= top


def test_a_tree_is_known_by_how_it_begins() -> None:
    Path(saved_tree()).rename("run.tree")
    assert main(["view", "run.tree", "-o", "page.html"]) == 0
    assert "Macro-step tree" in Path("page.html").read_text()
    assert main(["view", "run.tree", "--svg", "a.svg"]) == 0


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "possibly-tree"}', "{"])
def test_a_broken_tree_is_named(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("tree.json").write_text(text)
    assert main(["view", "tree.json"]) == 2
    assert "tree.json" in capsys.readouterr().err


def test_a_program_that_is_no_model_is_shown_live_only(capsys: pytest.CaptureFixture[str]) -> None:
    Path("program.py").write_text("print(1)\n")
    assert main(["view", "program.py"]) == 2
    said = capsys.readouterr().err
    assert "program.py: this is no model" in said and "--serve" in said


def test_too_many_cuts_are_not_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", *RACE[:1], "--lattice"]) == 2
    assert "more than 400 cuts" in capsys.readouterr().err


def test_without_a_painter_png_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert main(["view", *MUTEX, "--png", "a.png"]) == 2
    assert "possibly[web]" in capsys.readouterr().err
    assert not Path("a.png").exists()


def test_a_hostile_name_stays_text_in_every_form() -> None:
    evil = '</text><script>alert(1)</script>"\\'
    picture = Picture(evil, {"a": Box((evil,), 0, 0), "b": Box((evil,), 1, 0, "double")})
    picture.arrows += [Arrow("a", "b", label=evil), Arrow("a", "a", label=evil)]
    svg = ElementTree.fromstring(render_svg_picture(picture))
    assert not [node for node in svg.iter() if node.tag.endswith("script")]
    assert sum(node.text == evil for node in svg.iter()) == 5
    assert render_dot_picture(picture).count('\\"') >= 5
