"""The command `possibly`: reads the arguments, runs one command, and turns its end into an exit status.

The statuses are part of the public interface: 2 bad usage or bad input, 1 some property is violated,
3 some property is undecided, 0 every property holds. A command returns one of them or raises; what is
raised is turned into one sentence on standard error here and nowhere else. No traceback reaches the
user: an error of possibly itself is named as such, with status 2, since 1 would claim a violation;
with POSSIBLY_TRACEBACK=1 in the environment it is raised.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from possibly import __version__
from possibly.errors import PossiblyError
from possibly.views.cli.files import error_of
from possibly.views.cli.messages import complain, width_of

COMMANDS = (
    "run", "check", "slice", "explore", "replay", "confirm", "debug", "watch", "view", "import", "export",
)  # fmt: skip
"""In the order of the help. Each is a module beside this one, imported only when it is asked for."""
INTERRUPTED = 130
BROKEN_PIPE = 141

EPILOG = """\
exit status:
  0  every property holds       2  bad usage or bad input
  1  some property is violated  3  some property is undecided within the limits

example:
  possibly check run.jsonl --ctl 'AG(!(P1.critical & P2.critical))'
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit status."""
    _be_robust(sys.stdout)
    _be_robust(sys.stderr)
    try:
        words = sys.argv[1:] if argv is None else list(argv)
        asked = [word for word in words[:1] if word in COMMANDS]
        arguments = parser(asked or COMMANDS).parse_args(words)
        status: int = arguments.run(arguments)
        sys.stdout.flush()
        return status
    except PossiblyError as error:
        return complain(error)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        return _after_broken_pipe()
    except OSError as error:
        return complain(error_of(error))
    except RecursionError:
        return complain(PossiblyError("the input is nested too deeply"))
    except MemoryError:
        return complain(PossiblyError("not enough memory for this input"))
    except Exception as error:  # noqa: BLE001 - the outermost door: see the head of this file
        return _own_error(error)


def parser(names: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """The parser of these commands: one is enough for whoever names one."""
    found = argparse.ArgumentParser(
        prog="possibly",
        description="Checks a recorded run of a concurrent program in every order it could have had.",
        epilog=EPILOG,
        formatter_class=_Help,
        allow_abbrev=False,
    )
    found.add_argument("--version", action="version", version=f"possibly {__version__}")
    commands = found.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in map(_module, names):
        sub = commands.add_parser(
            command.NAME,
            help=command.SUMMARY,
            description=command.DESCRIPTION,
            epilog=command.EXAMPLES,
            formatter_class=_Help,
            allow_abbrev=False,
        )
        command.add_arguments(sub)
        sub.set_defaults(run=command.run)
    return found


def _module(name: str) -> Any:
    return import_module(f"possibly.views.cli.{'import_' if name == 'import' else name}")


class _Help(argparse.RawDescriptionHelpFormatter):
    """Knows its width: argparse would import the slow `shutil` to find it, for every command."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=width_of(sys.stdout) - 2)


def _be_robust(stream: Any) -> None:
    """A character that the terminal cannot show is escaped rather than fatal."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")


def _after_broken_pipe() -> int:
    # The reader left; standard output must not be flushed again at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE


def _own_error(error: Exception) -> int:
    if os.environ.get("POSSIBLY_TRACEBACK"):
        raise error
    kind = type(error).__name__
    return complain(PossiblyError(f"an error of possibly itself, please report it: {kind}: {error}"))
