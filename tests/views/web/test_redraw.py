"""A redrawing of the live page takes nothing away: typed texts, focus, places, what is pressed just then.

Answers are held back here until the person has gone on, so that every redrawing comes at the worst moment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from possibly.views.cli.drawing.serve import live_page
from possibly.views.cli.main import parser
from possibly.views.web.live import LivePage
from possibly.views.web.models import Action, Node, Tree
from possibly.views.web.server import Server, serving
from tests.views.web.conftest import Shown

EXAMPLES = Path(__file__).parents[3] / "examples"
MUTEX = [str(EXAMPLES / "mutex/run.jsonl"), "--spec", str(EXAMPLES / "mutex/mutex.spec")]


class Held:
    """A server whose answers wait until they are let go."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.gate = Event()
        self._ask = server.page.ask
        server.page.ask = self.ask  # type: ignore[method-assign]

    def ask(self, what: str, body: Mapping[str, Any]) -> dict[str, Any]:
        self.asked.append((what, body))
        assert self.gate.wait(60)
        return self._ask(what, body)

    def let_go(self) -> None:
        self.gate.set()


@pytest.fixture
def held() -> Iterator[Held]:
    with serving(live_page(parser().parse_args(["view", *MUTEX]))) as server:
        found = Held(server)
        yield found
        found.let_go()


def idle(shown: Shown) -> None:
    """Nothing is asked any more, and everything is drawn."""
    shown.page.locator('.app[aria-busy="false"]').wait_for()
    shown.settle()


def test_what_is_typed_while_an_answer_comes_stays(held: Held, shown: Shown) -> None:
    page = shown.open(held.server.address).page
    page.locator("[data-view=stack-0]").click()
    page.locator("[data-action=next]", has_text="next P2").click()
    field = page.locator("form[data-action=step] input")
    field.fill("F(P1.critical & P2.critical)")
    field.evaluate("(element) => element.setSelectionRange(2, 5)")
    field.evaluate("(element) => (window.before = element)")
    assert page.locator(".app").get_attribute("aria-busy") == "true"
    held.let_go()
    page.locator(".frame").wait_for()
    idle(shown)
    assert field.evaluate("(element) => element !== window.before"), "the page was drawn anew"
    assert field.input_value() == "F(P1.critical & P2.critical)"
    assert field.evaluate("(e) => [e === document.activeElement, e.selectionStart, e.selectionEnd]") == [
        True, 2, 5,
    ]  # fmt: skip
    page.locator("form[data-action=step] button").click()
    page.locator(".frame").nth(1).wait_for()
    assert held.asked[-1][1]["values"]["text"] == "F(P1.critical & P2.critical)"
    assert shown.cut() == [3, 2]


def test_a_button_is_not_replaced_while_it_is_pressed(held: Held, shown: Shown) -> None:
    page = shown.open(held.server.address).page
    page.locator("[data-view=stack-0]").click()
    with page.expect_response("**/api/operate"):
        page.locator("[data-action=next]", has_text="next P2").click()
        shown.settle()
        box = page.locator("[data-action=next]", has_text="next P1").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 5, box["y"] + 5)
        page.mouse.down()
        held.let_go()
    shown.settle()
    assert page.locator(".frame").count() == 0, "the answer is there, and waits"
    page.mouse.up()
    page.locator(".frame").nth(1).wait_for()
    assert [body["values"]["process"] for _, body in held.asked] == ["P2", "P1"]


def test_while_an_order_plays_a_button_can_be_pressed(held: Held, shown: Shown) -> None:
    page = shown.open(held.server.address).page
    page.get_by_title("to the beginning").click()
    shown.settle()
    box = page.get_by_title("execute f0").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    shown.inside("void page.state.goto(1)")
    shown.settle()
    page.mouse.up()
    assert shown.cut() == [0, 2], "the step of the order, and then the one that was pressed"


def test_what_is_pressed_meanwhile_is_done_in_its_order(held: Held, shown: Shown) -> None:
    page = shown.open(held.server.address).page
    page.locator("[data-view=stack-0]").click()
    for name in ("P2", "P2", "P1"):
        page.locator("[data-action=next]", has_text=f"next {name}").click()
    held.let_go()
    page.locator(".frame").nth(2).wait_for()
    idle(shown)
    assert [body["values"]["process"] for _, body in held.asked] == ["P2", "P2", "P1"]
    assert shown.cut() == [1, 2]


LOOK = """(() => {
  const { state, diagram } = page;
  const { scale, left, top } = diagram.diagram;
  const { cut, selected, property, step, filter, folded } = state;
  return [cut, selected, property, step, [...filter.kinds], folded, scale, left, top];
})()"""


def test_the_run_is_looked_at_as_before(held: Held, shown: Shown) -> None:
    held.let_go()
    page = shown.open(held.server.address).page
    page.locator(".check", has_text="send").locator("input").uncheck()
    page.get_by_text("Processes (2)").click()
    page.get_by_title("execute f2").click()
    page.locator("input[type=search]").fill("e1")
    page.locator("canvas.diagram").focus()
    for key in ("+", "+", "ArrowLeft"):
        page.keyboard.press(key)
    shown.settle()
    before = shown.inside(LOOK)
    page.get_by_label("language").select_option("slice")
    page.get_by_label("formula", exact=True).fill("P2.critical")
    page.get_by_role("button", name="check", exact=True).click()
    page.locator("[data-view=slice][aria-selected=true]").wait_for()
    idle(shown)
    page.locator("[data-view=diagram]").click()
    shown.settle()
    assert shown.inside(LOOK) == before
    assert page.locator(".check", has_text="send").locator("input").is_checked() is False
    assert page.locator("details", has_text="Processes (2)").get_attribute("open") is not None
    assert page.locator("input[type=search]").input_value() == "e1"
    assert page.locator(".hits").inner_text() == "1 of 1"


def test_what_cannot_be_done_stays_to_be_read(held: Held, shown: Shown) -> None:
    held.let_go()
    page = shown.open(held.server.address).page
    page.locator("[data-view=stack-0]").click()
    field = page.locator("form[data-action=step] input")
    field.fill("F(nobody.x == 1)")
    field.press("Enter")
    trouble = page.get_by_role("alert")
    trouble.wait_for()
    shown.shot("trouble")
    assert "nobody" in trouble.inner_text()
    assert field.input_value() == "F(nobody.x == 1)"
    page.locator("[data-view=diagram]").click()
    page.get_by_title("to the beginning").click()
    assert trouble.is_visible(), "other news does not hide it"
    page.get_by_title("close the message").click()
    assert trouble.is_hidden()
    page.locator("[data-view=stack-0]").click()
    field.press("Enter")
    trouble.wait_for()
    field.fill("F(P1.critical)")
    field.press("Enter")
    page.locator(".frame").wait_for()
    assert trouble.is_hidden(), "what succeeds ends the trouble"
    shown.complaints[:] = [said for said in shown.complaints if "400" not in said]


def test_a_server_that_has_gone_is_told(held: Held, shown: Shown) -> None:
    page = shown.open(held.server.address).page
    page.locator("[data-view=stack-0]").click()
    page.context.set_offline(True)
    page.locator("[data-action=next]").first.click()
    trouble = page.get_by_role("alert")
    trouble.wait_for()
    assert "The server does not answer." in trouble.inner_text()
    shown.complaints[:] = [said for said in shown.complaints if "ERR_INTERNET_DISCONNECTED" not in said]


class Growing:
    """A tree that grows below whichever node is asked to."""

    def __init__(self) -> None:
        self.nodes = [Node("0", None, "", "0")]
        self.nodes += [Node(str(n), "0", f"branch {n}", str(n)) for n in range(1, 30)]
        self.named: list[tuple[str, str]] = []

    def picture(self) -> Tree:
        actions = (Action("grow", "grow"), Action("name", "name", "name"))
        nodes = tuple(
            Node(n.id, n.parent, n.branch, n.text, facts=tuple(("fact", str(k)) for k in range(60)),
                 actions=actions)
            for n in self.nodes
        )  # fmt: skip
        return Tree("growing", (), nodes, "0", actions=(Action("grow", "grow all"),))

    def operate(self, action: str, values: Mapping[str, str]) -> None:
        if action == "name":
            self.named.append((values["node"], values["text"]))
        else:
            parent, number = values.get("node", "0"), str(len(self.nodes))
            self.nodes.append(Node(number, parent, f"branch {number}", number))


def test_a_tree_keeps_its_choice_its_folds_its_place_and_its_fields(shown: Shown) -> None:
    tree = Growing()
    with serving(LivePage("growing", None, [tree])) as server:
        held = Held(server)
        page = shown.open(server.address).page
        page.locator('.node.tree[data-id="15"]').click()
        page.locator(".details [data-action=grow]").click()
        held.let_go()
        page.locator('.node.tree[data-id="30"]').wait_for()
        idle(shown)
        page.locator('.node.tree[data-id="15"]').click()
        page.locator('.node.tree[data-id="30"]').wait_for(state="detached")
        page.locator("svg.stage").hover(position={"x": 30, "y": 200})
        page.mouse.wheel(0, -240)
        shown.settle()
        place = page.locator("svg.stage > g").get_attribute("transform")
        held.gate.clear()
        page.locator(".bar [data-action=grow]").click()
        name = page.locator("form[data-action=name] input")
        name.fill("half a na")
        page.locator(".details").evaluate("(element) => (element.scrollTop = 400)")
        held.let_go()
        page.get_by_text("32 nodes.").wait_for()
        idle(shown)
        assert page.locator(".node.tree.chosen").get_attribute("data-id") == "15"
        assert page.locator('.node.tree[data-id="30"]').count() == 0, "it is still folded"
        assert page.locator("svg.stage > g").get_attribute("transform") == place
        assert page.locator(".details").evaluate("(element) => element.scrollTop") == 400
        name.press_sequentially("me")
        name.press("Enter")
        idle(shown)
        assert tree.named == [("15", "half a name")]
