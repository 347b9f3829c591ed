"""Pictures of the task logic: what they show, that they are safe, and the commands that draw them."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from possibly.errors import UsageError
from possibly.logic.tasks.parser import parse_tasks
from possibly.logic.tasks.tree import formula_tree, negated
from possibly.order.lattice import Lattice
from possibly.order.nets.net import Net
from possibly.trace import load
from possibly.trace.notation import trace
from possibly.views.cli.main import main
from possibly.views.export.boxes import Arrow, render_dot_picture, render_svg_picture
from possibly.views.export.net import net_picture, slice_picture, tree_picture

EXAMPLES = Path(__file__).parents[3] / "examples/ringbuffer-tasks"
FIGURE_8 = "t1:(term.append) implies ( t2:(b.data[1]==21) until t3:(start.remove) )"


def texts(svg: str) -> list[str]:
    return [e.text or "" for e in ElementTree.fromstring(svg).iter() if e.tag.endswith("}text")]


def test_the_net_of_figure_6() -> None:
    net = Net(load(EXAMPLES / "faulty.jsonl"))
    picture = net_picture(net)
    put = net.tasks.index("25")
    assert picture.boxes[f"s{put}_1"].lines[:3] == ("pc=/START.put", "N={200}", "b.data[1]={0}")
    assert picture.boxes[f"s{put}_5"].lines == ("pc=/IN.put/TERM.append", "b.data[1]={21}")
    assert "b.first={0, 1}" in picture.boxes[f"s{put}_4"].lines
    waiting, inserting = net.trace.find("g2"), net.trace.find("p4")
    assert Arrow(f"a{inserting}", f"a{waiting}", "order") in picture.arrows
    shown = texts(render_svg_picture(picture))
    assert {"task 25", "p4: ringbuffer.py:27", "pc=/IN.put/START.append"} <= set(shown)
    for box in picture.boxes.values():
        assert set(box.lines) <= set(shown)


def test_a_joint_action_spreads_over_its_tasks() -> None:
    picture = net_picture(Net(trace('P: a%m@"x.py:1" | Q: _ | R: b%m')))
    assert picture.boxes["a0"].lines == ("a: x.py:1", "b")
    assert (picture.boxes["a0"].column, picture.boxes["a0"].columns) == (0, 3)


def test_the_slice_graph_of_figure_7() -> None:
    lattice = Lattice(Net(trace("P: a | Q: b")).computation)
    picture = slice_picture(lattice, [lattice.final])
    assert sorted(box.lines[0] for box in picture.boxes.values()) == ["0 0", "0 1", "1 0", "1 1"]
    assert len(picture.arrows) == 4 and picture.boxes[f"c{lattice.final}"].marked
    assert "color=red" in render_dot_picture(picture)


def test_the_formula_tree_of_figure_8() -> None:
    picture = tree_picture(formula_tree(negated(parse_tasks(FIGURE_8))))
    rows = [(box.row, box.lines[0]) for box in picture.boxes.values()]
    assert [row for row, _ in rows] == [0, 1, 1, 2, 2]
    assert rows[1][1] == "s-node(t1:(term.append))" and rows[4][1] == "s-node(t3:(start.remove))"
    assert len(picture.arrows) == 4


def test_names_of_a_trace_are_only_text() -> None:
    picture = net_picture(Net(trace('"</text><script>": enter("\\"]; evil")')))
    svg, dot = render_svg_picture(picture), render_dot_picture(picture)
    assert "<script>" not in svg and "task </text><script>" in texts(svg)
    assert '\\"]; evil' in dot


def test_of_what_is_too_large_the_part_around_the_failure_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    net = Net(trace("P: " + "_ " * 30 + "| Q: " + "_ " * 30))
    lattice = Lattice(net.computation)
    failing = lattice.pack((12, 17))
    picture = slice_picture(lattice, [failing])
    assert len(picture.boxes) == 120 and picture.boxes[f"c{failing}"].marked
    assert {arrow.second for arrow in picture.arrows} <= picture.boxes.keys()
    counts = [tuple(map(int, box.lines[0].split())) for box in picture.boxes.values()]
    assert all(abs(p - 12) + abs(q - 17) < 9 for p, q in counts)
    lines = ['{"format":"possibly-trace","version":1,"processes":[{"name":"P","init":{"x":0}}]}']
    lines += [f'{{"p":"P","set":{{"x":{number}}}}}' for number in range(600)]
    (tmp_path / "long.jsonl").write_text("\n".join(lines) + "\n")
    assert main(["view", "long.jsonl", "--net", "--tl", "t:(x < 599)", "-o", "net.dot"]) == 0
    assert (tmp_path / "net.dot").read_text().count("P:600") == 1


def test_what_is_too_large_is_refused() -> None:
    net = Net(trace("P: " + "_ " * 30 + "| Q: " + "_ " * 30))
    with pytest.raises(UsageError, match="more than 400 slices"):
        slice_picture(Lattice(net.computation))
    with pytest.raises(UsageError, match="more than 500 actions"):
        net_picture(Net(trace("P: " + "_ " * 600)))


def test_the_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run, spec = str(EXAMPLES / "faulty.jsonl"), str(EXAMPLES / "ringbuffer.spec")
    assert main(["view", run, "--net"]) == 0
    assert capsys.readouterr().out == "Picture: faulty.net.svg\n"
    whole = (tmp_path / "faulty.net.svg").read_text()
    assert main(["view", run, "--net", "--spec", spec, "--only", "exclusive"]) == 0
    part = (tmp_path / "faulty.net.svg").read_text()
    assert len(texts(part)) < len(texts(whole)) and part.count("state marked") == 2
    assert main(["view", run, "--slices", "-o", "slices.dot", "--spec", spec, "--only", "exclusive"]) == 0
    assert (tmp_path / "slices.dot").read_text().count("color=red") == 1
    assert main(["view", run, "--tree", "--tl", FIGURE_8]) == 0
    assert "s-node(t3:(start.remove))" in texts((tmp_path / "faulty.tree.svg").read_text())
    assert main(["view", run, "--tree"]) == 2
    assert main(["view", run, "--tree", "--net"]) == 2
