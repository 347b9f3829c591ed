"""`--format`: text for a person, JSON for a program, and what CI servers and code hosts read.

`--json` is `--format json`. In the other formats all answers of a command are one document, printed at its
end; `Answers` collects them.
"""

from __future__ import annotations

import sys

from possibly.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable
    from typing import Any

    from possibly.verdict.model import Truth
    from possibly.views.formats.findings import Findings

FORMATS = ("text", "json", "github", "junit", "sarif")
_HELP = "text (default), json, github (annotations of a workflow), junit (XML) or sarif"


def add_format_arguments(group: Any, json_help: str) -> None:
    group.add_argument("--format", choices=FORMATS, help=_HELP)
    group.add_argument("--json", action="store_true", help=f"{json_help}: --format json")


class Answers:
    """The format that was asked for, and the answers that are to be printed in it."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        chosen: str | None = arguments.format
        if arguments.json and chosen not in (None, "json"):
            raise UsageError(f"--json and --format {chosen} at once", hint="leave one of them out")
        self.format = "json" if arguments.json else chosen or "text"
        arguments.json = self.format == "json"
        self._found: list[Findings] = []

    @property
    def is_text(self) -> bool:
        return self.format == "text"

    @property
    def are_collected(self) -> bool:
        """One document for all answers, in a format of `views.formats`."""
        return self.format not in ("text", "json")

    def add(self, found: Findings) -> None:
        self._found.append(found)

    def failed(self, subject: str, error: object) -> None:
        """Something could not be looked at."""
        if self.are_collected:
            from possibly.views.formats.findings import Findings

            self.add(Findings(subject, error=str(error)))

    def show(self) -> None:
        if self.are_collected:
            from possibly.views.formats.render import rendered

            sys.stdout.write(rendered(self._found, self.format))
            sys.stdout.flush()


def told(
    arguments: argparse.Namespace,
    truth: Truth,
    lines: Callable[[], Iterable[str]],
    document: Callable[[], dict[str, Any]],
    findings: Callable[[str], Iterable[Findings]],
) -> int:
    """Tells the answer about one program in the form that was asked for; the exit status."""
    answers = Answers(arguments)
    if answers.are_collected:
        for each in findings("\n".join(lines())):
            answers.add(each)
        answers.show()
    elif answers.is_text:
        print("\n".join(lines()), flush=True)
    else:
        import json

        print(json.dumps(document(), ensure_ascii=False), flush=True)
    return truth.status
