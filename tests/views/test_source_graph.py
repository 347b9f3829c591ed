"""Flow graphs of live programs: every statement once, the ways between them, and where a task stands."""

from __future__ import annotations

import textwrap

import pytest

from possibly.views.export.source_graph import source_graphs

SOURCE = textwrap.dedent("""\
    def work(box):
        while True:
            item = box.get()
            if item is None:
                break
            try:
                use(
                    item,
                )
            except ValueError:
                continue
            finally:
                done()
        return box

    work(queue)
""")


def ways(line: int) -> tuple[str, set[tuple[str, str, str]], list[str]]:
    (graph,) = source_graphs({"t": f"p.py:{line}"}, {"p.py": SOURCE})
    names = {shape.name: shape.lines[0].partition(":")[0] for shape in graph.shapes}
    arcs = {(names[arc.first], arc.text, names[arc.second]) for arc in graph.arcs}
    return graph.title, arcs, [names[shape.name] for shape in graph.shapes if shape.marked]


def test_loops_branches_and_handlers() -> None:
    title, arcs, marked = ways(3)
    assert (title, marked) == ("t in work", ["3"])
    assert arcs == {
        ("begin", "", "2"), ("2", "true", "3"), ("3", "", "4"), ("4", "true", "5"), ("4", "false", "6"),
        ("6", "", "7"), ("7", "", "13"), ("6", "raises", "10"), ("10", "", "11"), ("11", "", "2"),
        ("13", "", "2"), ("5", "", "14"), ("14", "", "end"),
    }  # fmt: skip


@pytest.mark.parametrize(("line", "marked"), [(8, "7"), (4, "4"), (5, "5"), (10, "10"), (2, "2")])
def test_the_innermost_statement_is_marked(line: int, marked: str) -> None:
    assert ways(line)[2] == [marked]


def test_a_module_is_a_flow_too_and_what_cannot_be_read_has_none() -> None:
    assert ways(16)[0] == "t in the module"
    assert source_graphs({"t": "gone.py:3"}, {}) == []
    assert source_graphs({"t": "p.py:1"}, {"p.py": "no Python ("}) == []
