"""A collective breakpoint as text and as data: who is where, with what, and what the claims say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from possibly.control.macro.model import Seen
from possibly.control.macro.run import Breakpoint, short
from possibly.control.macro.tree import Tree
from possibly.views.text.macro import VERDICTS, choice_words
from possibly.views.text.words import plain, value_text


def breakpoint_lines(tree: Tree, number: int, point: Breakpoint) -> Iterator[str]:
    """Everything about the place, the claims and what is possible next."""
    node = tree.nodes[number]
    yield f"breakpoint {number}, macro-step {node.depth}" + (f": {node.end}" if node.end else "")
    if node.detail:
        yield plain(f"  {node.detail}")
    for process, seen in sorted(point.state.seen.items()):
        yield from process_lines(process, seen)
    for message in point.state.transit:
        carried = f" = {short(message.value[0])}" if message.value else ""
        to = f"{carried} to {message.to}" if message.to else f"{carried} in {message.channel}"
        yield plain(f"  under way: {message.name}{to}" + (f" (sent at {message.at})" if message.at else ""))
    for each in node.verdicts:
        yield plain(f"  {VERDICTS[each['verdict']]}: {each['claim']}")
        for text in each.get("waits", ()):
            yield plain(f"      {text}")
        for text, value in each.get("atoms", ()):
            yield plain(f"      since {text} is {VERDICTS[value]} here")
    for index, arc in enumerate(node.arcs, start=1):
        where = f" -> breakpoint {arc.child}" if arc.child is not None else ""
        yield plain(
            f"  step {index}: {choice_words(arc.selection)}{where}"
            + (" (seen elsewhere)" if arc.repeated else "")
        )


def process_lines(process: str, seen: Seen, with_globals: bool = False) -> Iterator[str]:
    place = f" in {seen.function}" if seen.function not in ("", "<module>") else ""
    at = f" at {seen.at}" if seen.at else ""
    yield plain(f"  {process}" + (" has ended" if seen.ended else f"{at}{place}"))
    values = {**(seen.globals if with_globals or not seen.variables else {}), **seen.variables}
    for name, value in values.items():
        yield plain(f"      {name} = {value_text(value)}")


def breakpoint_document(tree: Tree, number: int, point: Breakpoint) -> dict[str, Any]:
    node = tree.nodes[number]
    return {
        "breakpoint": number,
        "macro_step": node.depth,
        "end": node.end,
        "detail": node.detail,
        "processes": {
            process: {
                "at": seen.at,
                "label": seen.label,
                "function": seen.function,
                "ended": seen.ended,
                "variables": seen.variables,
                "globals": seen.globals,
            }
            for process, seen in sorted(point.state.seen.items())
        },
        "transit": [[m.name, m.sender, m.to or None, m.channel] for m in point.state.transit],
        "verdicts": node.verdicts,
        "branches": [
            {"label": choice_words(arc.selection), "child": arc.child, "repeated": arc.repeated}
            for arc in node.arcs
        ],
    }
