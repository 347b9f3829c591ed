"""The command line as `argparse` knows it: every command with its options, the help, the errors of usage.

It is imported for help, for whatever is no plain command line (see `arguments`), and for commands that run
a program: `argparse` takes as long to start as a small check takes to answer.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from typing import Any

from possibly import __version__
from possibly.views.cli.messages import width_of

SHELLS = ("bash", "zsh", "fish")
EPILOG = """\
exit status:
  0  every property holds       2  bad usage or bad input
  1  some property is violated  3  some property is undecided within the limits

example:
  possibly check run.jsonl --ctl 'AG(!(P1.critical & P2.critical))'
"""


def parser_of(
    modules: Iterable[Any], configure: Callable[[Any], None] | None = None
) -> argparse.ArgumentParser:
    """The parser of these commands; `configure` may change the defaults of each."""
    found = argparse.ArgumentParser(
        prog="possibly",
        description="Checks a recorded run of a concurrent program in every order it could have had.",
        epilog=EPILOG,
        formatter_class=_Help,
        allow_abbrev=False,
    )
    found.add_argument("--version", action="version", version=f"possibly {__version__}")
    told = "print what a shell evaluates to complete, and end"
    silent: Any = {"action": _Told, "default": argparse.SUPPRESS}
    found.add_argument("--completion", choices=SHELLS, help=told, **silent)
    found.add_argument("--man", nargs=0, help="print a page for man, and end", **silent)
    commands = found.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in modules:
        sub = commands.add_parser(
            command.NAME,
            help=command.SUMMARY,
            description=command.DESCRIPTION,
            epilog=command.EXAMPLES,
            formatter_class=_Help,
            allow_abbrev=False,
        )
        command.add_arguments(sub)
        if configure is not None:
            configure(sub)
        sub.set_defaults(run=command.run)
    return found


class _Told(argparse.Action):
    """Prints what is known of all commands, and ends."""

    def __call__(self, parser: argparse.ArgumentParser, *given: Any) -> None:
        from possibly.views.cli.completion import commands_of, man_page, script

        (_, value, option), commands = given, commands_of(parser)
        if option == "--man":
            sys.stdout.write(man_page(parser.description or "", parser.epilog or "", commands))
        else:
            sys.stdout.write(script(value, commands))
        parser.exit()


class _Help(argparse.RawDescriptionHelpFormatter):
    """Knows its width: argparse would import the slow `shutil` to find it, for every command."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=width_of(sys.stdout) - 2)
