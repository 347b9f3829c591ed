"""Words for things: names, values, steps and lists as one safe line of text.

Here belongs what the text report, the page and the exports share: how a value, a change or an event is
written. Everything a trace says is data: `plain` escapes what a terminal might obey (control
characters, direction marks, line separators), and every other function here yields plain text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from possibly.verdict.model import Change, Step

LONGEST_VALUE = 60
UNPRINTABLE_VALUE = "(a value too deep to print)"


def plain(text: str) -> str:
    """The text with everything that is not printable written as an escape such as `\\x1b`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def elided(text: str, longest: int) -> str:
    """The text, or its two ends around `…` when it is longer than `longest` characters."""
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 3
    return text[: longest - 1 - tail] + "…" + text[len(text) - tail :]


def value_text(value: Any, longest: int = LONGEST_VALUE) -> str:
    """A value as a formula would write it: `1`, `"open"`, `true`, `null`, `[1, 2]`."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (RecursionError, TypeError, ValueError):
        return UNPRINTABLE_VALUE
    return elided(plain(text), longest)


def change_text(change: Change) -> str:
    """`P1.x: 0 -> 1`, or `P1.x = 1` where it had no value before."""
    name = plain(change.variable)
    if change.fresh:
        return f"{name} = {value_text(change.after)}"
    return f"{name}: {value_text(change.before)} -> {value_text(change.after)}"


def changes_text(step: Step) -> str:
    return ", ".join(map(change_text, step.changes))


def action_text(step: Step) -> str:
    """What an event does, without its variables: `send m1 to P2`, `enter f`, `internal [m8]`."""
    label = f"[{step.label}]" if step.label else None
    return plain(" ".join(filter(None, (step.kind, step.function, step.message, label))))


def event_text(step: Step) -> str:
    """An event inside a sentence: `P2:3 (release, bank.py:12)`."""
    facts = ", ".join(filter(None, (action_text(step), plain(step.place or ""))))
    return f"{plain(step.event)} ({facts})"


def state_texts(state: Mapping[str, Any]) -> list[str]:
    """`P1.x = 1` for each variable, in the order of the mapping."""
    return [f"{plain(name)} = {value_text(value)}" for name, value in state.items()]


def count_text(number: int, noun: str) -> str:
    """`1 event`, `2 events`, `2 processes`."""
    plural = noun + ("es" if noun.endswith("s") else "s")
    return f"{number:,} {noun if number == 1 else plural}"


def filled(parts: Iterable[str], width: int, indent: str = "", separator: str = ", ") -> list[str]:
    """The parts joined by the separator, broken between parts so that lines fit the width."""
    lines: list[str] = []
    longest = width - len(separator.rstrip())
    for part in parts:
        if lines and len(lines[-1]) + len(separator) + len(part) <= longest:
            lines[-1] += separator + part
        else:
            if lines:
                lines[-1] += separator.rstrip()
            lines.append(indent + part)
    return lines
