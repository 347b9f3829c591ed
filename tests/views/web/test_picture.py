"""The page in a real browser: every part of it, driven as a person would, with screenshots."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from possibly.trace import load
from possibly.trace.notation import trace
from tests.views.web.conftest import Shown
from tests.views.web.pages import EXAMPLES, example_page, page_of_run

Written = Callable[[str], Shown]
MUTEX = "mutex/run.jsonl", "mutex/mutex.spec"


@pytest.fixture(scope="module")
def mutex() -> str:
    return example_page(*MUTEX)


# ---- the run --------------------------------------------------------------------------------------


def test_the_run_is_drawn_with_lanes_columns_and_arrows(written: Written, mutex: str) -> None:
    shown = written(mutex)
    shown.shot("run")
    (x1, y1), (x2, y2) = shown.place("f1"), shown.place("e1")
    assert x1 < x2 and y1 > y2, "the send stands before its receive, in another lane"
    assert shown.inside("page.diagram.diagram.arrows") == {"visible": 1, "drawn": 1}
    canvas = shown.page.locator("canvas.diagram")
    assert _colours(shown) > 4, "something is painted"
    assert canvas.get_attribute("aria-label")


def _colours(shown: Shown) -> int:
    """How many different colours the diagram has."""
    found: int = shown.page.evaluate(
        """() => {
          const canvas = document.querySelector("canvas.diagram");
          const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
          const found = new Set();
          for (let at = 0; at < data.length; at += 4) found.add(data.slice(at, at + 3).join());
          return found.size;
        }"""
    )
    return found


def test_hovering_shows_place_source_line_and_changes(written: Written, mutex: str) -> None:
    shown = written(mutex)
    shown.page.mouse.move(*shown.place("f1"))
    card = shown.page.locator(".card")
    card.wait_for(state="visible")
    shown.shot("hover")
    text = card.inner_text()
    for part in ("f1", "send", "mutex.py:29", 'turn.put(enter("P2"))', "false → true", "go"):
        assert part in text
    shown.page.mouse.move(5, 5)
    card.wait_for(state="hidden")


def test_searching_finds_by_any_text_and_goes_on(written: Written, mutex: str) -> None:
    shown = written(mutex)
    shown.page.keyboard.press("/")
    shown.page.keyboard.type("mutex.py:2")
    assert shown.page.locator(".hits").inner_text() == "1 of 5"
    assert shown.inside("page.state.run.name(page.state.selected)") == "e0"
    shown.page.keyboard.press("Enter")
    assert shown.page.locator(".hits").inner_text() == "2 of 5"
    shown.shot("search")
    for text, count in (("critical", 3), ("receive", 1), ("P1", 3), ("e2", 1), ("true", 2), ("nowhere", 0)):
        shown.page.locator("input[type=search]").fill(text)
        assert len(shown.inside("page.state.hits")) == count, text


def test_filters_by_process_kind_and_variable(written: Written, mutex: str) -> None:
    shown = written(mutex)
    page = shown.page
    page.get_by_text("Processes (2)").click()
    page.locator(".check", has_text="P1").first.locator("input").uncheck()
    shown.settle()
    lanes = "page.diagram.diagram.lanes.map((lane) => lane.process)"
    assert shown.inside(lanes) == [1]
    page.locator(".check", has_text="P1").first.locator("input").check()
    page.locator(".check", has_text="send").locator("input").uncheck()
    matching = """[...Array(page.state.run.count).keys()]
      .filter((e) => page.state.matches(e)).map((e) => page.state.run.name(e))"""
    assert shown.inside(matching) == ["e0", "f0", "e1", "f2", "e2"]
    page.locator(".check", has_text="send").locator("input").check()
    page.locator(".filters select").select_option("P2.critical")
    assert shown.inside(matching) == ["f1", "f2"]
    page.get_by_text("Variables as lanes (2)").click()
    page.locator("details:last-of-type .check input").last.check()
    shown.settle()
    assert shown.inside("page.diagram.diagram.lanes.length") == 3
    shown.shot("filters")


def test_a_shared_variable_is_a_lane_of_its_own_on_demand(written: Written) -> None:
    shown = written(example_page("ringbuffer-tasks/faulty.jsonl", "ringbuffer-tasks/ringbuffer.spec"))
    page = shown.page
    lanes = "page.diagram.diagram.lanes.filter((lane) => lane.timeline).map((lane) => [lane.timeline.owner, "
    lanes += "lane.timeline.name, lane.timeline.values.map((value) => page.state.run.values[value])])"
    assert shown.inside(lanes) == []
    page.get_by_text("Variables as lanes (5)").click()
    page.locator(".check", has_text="b.last").locator("input").check()
    shown.settle()
    assert shown.inside(lanes) == [[None, "b.last", ["1"]]]
    room = "page.diagram.diagram.height >= page.diagram.diagram.contentHeight"
    assert shown.inside(room), "the lanes make room for it"
    shown.shot("shared-variable")


LOOP = "p: " + "tick#loop tock#loop " * 20 + "send(m) | q: a recv(m) " + "beat#run " * 9


def test_repeated_stretches_fold(written: Written) -> None:
    text = " ".join(word.replace("#", f"{n}#") for n, word in enumerate(LOOP.split()))
    shown = written(page_of_run(trace(text)))
    columns = "page.diagram.diagram.layout.columns"
    before = shown.inside(columns)
    shown.page.locator(".fold input").check()
    shown.settle()
    folds = shown.inside("page.diagram.diagram.layout.folds.map((fold) => [fold.process, fold.times])")
    shown.shot("folded")
    assert before > 40 and shown.inside(columns) < 10
    assert folds == [[0, 40], [1, 9]]


def test_function_bars_nest(written: Written) -> None:
    shown = written(example_page("ringbuffer-tasks/faulty.jsonl", "ringbuffer-tasks/ringbuffer.spec"))
    bars = shown.inside("page.state.run.bars().map((bar) => [page.state.run.strings[bar.name], bar.depth])")
    assert sorted(bars) == [["append", 1], ["get", 0], ["put", 0], ["remove", 1]]
    shown.shot("bars")


def test_runs_with_little_in_them(written: Written) -> None:
    for text in ("p:", "p: | q: a", "p: x%j | q: y%j | r: z", "p: a", "p: send(m) | q:"):
        shown = written(page_of_run(trace(text), "ctl ends = EF(done(p))"))
        page = shown.page
        for view in page.locator("nav button").all():
            view.click()
        page.locator("[data-view=diagram]").click()
        for key in ("n", "n", "p", "m"):
            page.keyboard.press(key)
        page.get_by_title("to the end").click()
        assert shown.cut() == shown.inside("page.state.cuts.final"), text
        page.locator(".fold input").check()
        shown.settle()


def test_joint_events_move_together(written: Written) -> None:
    shown = written(page_of_run(trace("p: a x%j b | q: y%j c")))
    page = shown.page
    assert shown.place("x")[0] == shown.place("y")[0]
    page.get_by_title("execute y").click()
    assert shown.cut() == [0, 0]
    assert "y happens together with x, and p is not there yet." in page.locator(".status").inner_text()
    page.get_by_title("execute a").click()
    page.get_by_title("execute y").click()
    assert shown.cut() == [2, 1], "both lines are executed"
    page.get_by_title("to the beginning").click()
    for _ in range(2):
        page.keyboard.press("n")
    assert shown.cut() == [2, 1], "the player steps over both"


def test_a_thousand_processes_are_lanes_of_which_few_are_drawn(written: Written) -> None:
    text = " | ".join(f"p{n}: a{n}{{x={n}}} b{n}" for n in range(1_000))
    shown = written(page_of_run(trace(text)))
    assert shown.inside("page.diagram.diagram.lanes.length") == 1_000
    shown.page.locator("canvas.diagram").hover()
    shown.page.keyboard.down("Shift")
    shown.page.mouse.wheel(0, 4_000)
    shown.page.keyboard.up("Shift")
    shown.settle()
    assert shown.inside("page.diagram.diagram.top") > 1_000
    shown.shot("many-processes")
    assert shown.inside("Math.min(...page.diagram.frames)") < 50


# ---- cuts -----------------------------------------------------------------------------------------


def test_a_handle_moves_the_cut_and_an_impossible_position_is_refused(written: Written, mutex: str) -> None:
    shown = written(mutex)
    shown.page.locator(".player select").select_option("observed")
    shown.page.get_by_title("to the beginning").click()
    assert shown.cut() == [0, 0]
    shown.drag(shown.handle("P1"), shown.place("e2")[0] + 30)
    assert shown.cut() == [1, 0], "P1 cannot receive what P2 has not sent"
    status = shown.page.locator(".status")
    assert status.inner_text() == "e1 receives go, which f1 sends: a cut with e1 contains f1."
    assert "refused" in (status.get_attribute("class") or "")
    edge = shown.inside(
        "[page.state.flash.edge].map((e) => [page.state.run.edgeFrom[e], page.state.run.edgeTo[e]])"
    )
    assert edge == [[2, 3]], "the arrow that was crossed flashes"
    shown.shot("refused")
    shown.drag(shown.handle("P2"), shown.place("f1")[0] + 30)
    shown.drag(shown.handle("P1"), shown.place("e2")[0] + 30)
    assert shown.cut() == [3, 2]
    shown.drag(shown.handle("P2"), shown.place("f0")[0] - 40)
    assert shown.cut() == [3, 2], "P2 cannot take back what P1 received"


def test_with_shift_a_handle_takes_along_what_has_to_come(written: Written, mutex: str) -> None:
    shown = written(mutex)
    shown.page.get_by_title("to the beginning").click()
    shown.page.keyboard.down("Shift")
    shown.drag(shown.handle("P1"), shown.place("e1")[0] + 30)
    shown.page.keyboard.up("Shift")
    assert shown.cut() == [2, 2]


def test_the_ruler_moves_the_whole_cut(written: Written, mutex: str) -> None:
    shown = written(mutex)
    x, _ = shown.place("f1")
    box = shown.page.locator("canvas.diagram").bounding_box()
    assert box is not None
    shown.page.mouse.click(x + 30, box["y"] + 10)
    assert shown.cut() == [1, 2]


def test_beside_the_cut_stand_the_variables_and_the_neighbouring_events(written: Written, mutex: str) -> None:
    shown = written(mutex)
    page = shown.page
    assert page.locator('[data-variable="P1.critical"]').inner_text() == "true"
    assert page.locator('[data-process="P2"] .neighbours').inner_text().split() == ["◀", "f1", "|", "f2", "▶"]
    page.get_by_title("execute f2").click()
    shown.settle()
    assert page.locator('[data-variable="P2.critical"]').inner_text() == "false"
    page.get_by_title("take back e2").click()
    page.get_by_title("take back e1").click()
    shown.settle()
    assert shown.cut() == [1, 3]
    assert page.locator('[data-variable="P1.critical"]').inner_text() == "false"


def test_an_order_plays_step_by_step_with_the_moment_marked(written: Written, mutex: str) -> None:
    shown = written(mutex)
    page = shown.page
    note = page.locator(".step-note")
    assert note.inner_text() == "step 5 of 5: e2 internal — here it is decided"
    page.get_by_title("to the beginning").click()
    seen = []
    for _ in range(5):
        page.keyboard.press("n")
        seen.append(shown.cut())
    assert seen == [[0, 1], [0, 2], [1, 2], [2, 2], [3, 2]]
    page.keyboard.press("p")
    assert shown.cut() == [2, 2]
    page.keyboard.press("m")
    assert shown.cut() == [3, 2]
    page.locator(".player select").select_option("observed")
    page.get_by_title("to the end").click()
    assert shown.cut() == [3, 3]
    page.get_by_title("to the beginning").click()
    page.locator("canvas.diagram").focus()
    page.keyboard.press("Space")
    note.filter(has_text="step 6 of 6").wait_for()
    assert shown.cut() == [3, 3]


# ---- verdicts -------------------------------------------------------------------------------------


def test_a_property_shows_both_orders_the_two_events_the_words_and_the_command(
    written: Written, mutex: str
) -> None:
    shown = written(mutex)
    page = shown.page
    shown.shot("verdict")
    assert page.locator(".property .badge").inner_text().lower() == "✗ violated"
    words = page.locator(".words").inner_text()
    assert "Nothing orders f2 (internal, mutex.py:30) before e2 (internal, mutex.py:24)" in words
    assert "possibly check run.jsonl" in words
    observed, failing = (page.locator(".orders > div").nth(at) for at in (0, 1))
    names = ".row .event"
    assert observed.locator(names).all_inner_texts() == ["e0", "f0", "f1", "e1", "f2", "e2"]
    assert failing.locator(names).all_inner_texts() == ["f0", "f1", "e0", "e1", "e2"]
    marked = [row.locator(".sign, .event").all_inner_texts() for row in observed.locator(".row.marked").all()]
    assert marked == [["A", "f2"], ["B", "e2"]]
    assert failing.locator(".row.decides .event").inner_text() == "e2"
    page.locator(".property").click()
    assert page.locator(".explained").is_hidden()


# ---- lattice and slice ----------------------------------------------------------------------------


def test_the_hasse_diagram_fills_outlines_and_draws_the_way(written: Written, mutex: str) -> None:
    shown = written(mutex)
    page = shown.page
    page.locator("[data-view=lattice]").click()
    shown.shot("lattice")
    assert page.locator(".node.cut").count() == 12
    assert page.locator(".node.cut.satisfying").count() == 1
    assert page.locator(".node.cut.inside").count() == 1
    assert page.locator(".link.path").count() == 5
    assert page.locator(".node.cut.here title").first.text_content() == "P1: 3, P2: 2"
    page.locator(".node.cut", has_text="1 1").first.click()
    assert shown.cut() == [1, 1], "a cut of the picture becomes the cut of the run"
    page.get_by_label("cuts to mark").select_option("!(P1.critical & P2.critical)")
    assert page.locator(".node.cut.satisfying").count() == 11


def test_the_slice_of_a_larger_run_is_a_graph_of_components(written: Written) -> None:
    text = "p: " + " ".join(f"a{n}{{x={n % 3}}}" for n in range(30)) + " send(m) | q: "
    text += (
        " ".join(f"b{n}{{y={n % 2}}}" for n in range(30))
        + " recv(m) | r: "
        + " ".join(f"c{n}" for n in range(30))
    )
    shown = written(page_of_run(trace(text), "ctl both = EF(p.x == 1 & q.y == 1)"))
    page = shown.page
    assert page.locator("[data-view=lattice]").count() == 0, "too many cuts to draw"
    page.locator("[data-view=slice]").click()
    shown.shot("slice")
    assert page.locator(".node.slice.component").count() > 3
    numbers = page.locator(".numbers").inner_text()
    assert re.search(r"of several events\s+\d+", numbers) and "cuts of the run" in numbers
    page.locator(".node.slice.component").first.click()
    assert sum(shown.cut()) > 1


@pytest.mark.parametrize(
    ("trace", "specification", "titles"),
    [
        (
            "ringbuffer-tasks/faulty.jsonl",
            "ringbuffer-tasks/ringbuffer.spec",
            ["State action net", "Formula tree of mutex"],
        ),
        ("paths/race.jsonl", "paths/races.spec", ["Automaton of race", "Automaton of seen"]),
        (
            "mutex/run.jsonl",
            "ltl drains = G(P1.critical -> F !P1.critical)\nexpect turns = send; receive; send",
            ["Automaton of drains", "Automaton of turns", "Order so far of turns"],
        ),
    ],
    ids=["tasks", "paths", "formulas"],
)
def test_nets_automata_and_orders_are_graphs(
    written: Written, trace: str, specification: str, titles: list[str]
) -> None:
    path = EXAMPLES / specification.split("\n")[0]
    text = path.read_text(encoding="utf-8") if path.exists() else specification
    shown = written(page_of_run(load(EXAMPLES / trace), text))
    page = shown.page
    page.locator("[data-view=graphs]").click()
    choice = page.locator("select[aria-label=graph]")
    found = choice.locator("option").all_inner_texts()
    assert found[: len(titles)] == titles
    for title in found:
        choice.select_option(title)
        assert page.locator(".node.graph").count() > 1, title
    shown.shot(f"graphs-{titles[0].replace(' ', '-').lower()}")


# ---- made with care -------------------------------------------------------------------------------


def test_everything_can_be_done_with_keys(written: Written, mutex: str) -> None:
    shown = written(mutex)
    page = shown.page
    page.get_by_title("to the beginning").click()
    page.locator("canvas.diagram").focus()
    chosen = "page.state.run.name(page.state.selected)"
    page.keyboard.press("ArrowRight")
    assert shown.inside(chosen) == "e0"
    page.keyboard.press("ArrowRight")
    assert shown.inside(chosen) == "e1"
    page.keyboard.press("ArrowDown")
    assert shown.inside(chosen) == "f2"
    page.keyboard.press("Shift+ArrowRight")
    assert shown.cut() == [0, 1]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert shown.cut() == [2, 2], "the least cut with the chosen event"
    scale = shown.inside("page.diagram.diagram.scale")
    page.keyboard.press("+")
    assert shown.inside("page.diagram.diagram.scale") > scale
    page.keyboard.press("0")
    page.keyboard.press("2")
    assert page.locator("[data-view=lattice]").get_attribute("aria-selected") == "true"
    page.keyboard.press("?")
    page.locator("dialog[open]").wait_for()
    page.keyboard.press("Escape")


def test_light_and_dark_by_the_system_and_by_hand(written: Written, mutex: str) -> None:
    shown = written(mutex)
    page = shown.page
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(paper) == "rgb(20, 23, 27)"
    shown.shot("dark")
    page.locator("button.theme").click()
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    page.keyboard.press("t")
    assert page.evaluate(paper) == "rgb(20, 23, 27)"


def test_the_page_prints_without_its_tools(written: Written, mutex: str) -> None:
    shown = written(mutex)
    shown.page.emulate_media(media="print", color_scheme="dark")
    shown.shot("print")
    assert shown.page.locator(".tools").is_hidden() and shown.page.locator(".filters").is_hidden()
    assert shown.page.locator(".words").is_visible() and shown.page.locator("canvas.diagram").is_visible()
    assert shown.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(shown.page.pdf()) > 10_000


def test_nothing_is_asked_of_any_network(written: Written, mutex: str) -> None:
    shown = written(mutex)
    for key in "123":
        shown.page.keyboard.press(key)
    assert [url for url in shown.requests if not url.startswith(("file:", "data:"))] == []
