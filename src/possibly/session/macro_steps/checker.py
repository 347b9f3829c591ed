"""A checker outside: at the end of each path it is told what happened, and says what it thinks of that.

Law: the lines are those of docs/protocol.md. What is told is the path as a partial order, every instant with
what its process is seen with, so a checker may judge all of its orders. What it does not say in time, or does
not say well, leaves the answer open with that as the reason; only its own words make a property false.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from possibly.control.macro.history import CircularOrderError, Instant, Path
from possibly.control.macro.program.lines import VERSION
from possibly.control.macro.run import Run
from possibly.control.macro.tree import TreeNode
from possibly.errors import PossiblyError

PATIENCE = 60.0
"""Seconds for an answer."""


class Checker:
    """A connection to one."""

    def __init__(self, address: str, program: Sequence[str]) -> None:
        self.address = address
        self._end = _connected(address)
        self._end.settimeout(PATIENCE)
        self._lines = self._end.makefile("rw", encoding="utf-8", newline="\n")
        self._paths = 0
        self._tell({"hello": "possibly", "protocol": VERSION, "program": list(program)})

    def judge(self, run: Run, node: TreeNode) -> None:
        """Adds what it says to the properties of a leaf."""
        self._paths += 1
        verdict, why = self._asked(run, node)
        node.properties.append(
            {
                "name": "checker",
                "language": "checker",
                "formula": self.address,
                "verdict": verdict,
                "order": [],
                "atoms": [],
                "broken": [],
                "at_the_end": True,
                "why": why,
            }
        )

    def _asked(self, run: Run, node: TreeNode) -> tuple[bool | None, str]:
        try:
            path = run.history.path(run.board.before)
            self._tell({"path": self._paths, "end": node.end, "detail": node.detail, "events": _events(path)})
            answer = json.loads(self._lines.readline() or "null")
            verdict, why = answer["verdict"], str(answer.get("why", ""))
        except CircularOrderError:
            return None, "the order of its messages contradicts itself, which is a mistake of possibly"
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            return None, f"the checker at {self.address} gave no answer: {error!r}"
        if verdict not in (True, False, None):
            return None, f"the checker at {self.address} said {verdict!r}"
        return verdict, why or ("the checker does not know" if verdict is None else "")

    def _tell(self, line: dict[str, Any]) -> None:
        self._lines.write(json.dumps(line, default=str) + "\n")
        self._lines.flush()

    def close(self) -> None:
        self._lines.close()
        self._end.close()


def _connected(address: str) -> socket.socket:
    """`HOST:PORT`, or the path of a local socket."""
    try:
        place = urlsplit(f"//{address}")
        if place.hostname and place.port:
            return socket.create_connection((place.hostname, place.port), timeout=PATIENCE)
        found = socket.socket(socket.AF_UNIX)
        try:
            found.connect(address)
        except OSError:
            found.close()
            raise
        return found
    except OSError as error:
        hint = "start the checker first; its address is HOST:PORT, or the path of a local socket"
        raise PossiblyError(
            f"no checker answers at {address}: {error.strerror or error}", hint=hint
        ) from None


def _events(path: Path) -> list[dict[str, Any]]:
    return [_event(instant, list(causes)) for instant, causes in zip(path.instants, path.causes, strict=True)]


def _event(instant: Instant, causes: list[int]) -> dict[str, Any]:
    seen = instant.seen
    return {
        "process": instant.process,
        "kind": instant.kind,
        "text": instant.text,
        "at": instant.at,
        "after": causes,
        "sends": [message.name for message in instant.sends],
        "receives": list(instant.takes),
        "variables": None if seen is None else {**seen.globals, **seen.variables},
    }
