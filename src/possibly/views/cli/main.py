"""The command `possibly`: reads the arguments, runs one command, and turns its end into an exit status.

The statuses are part of the public interface: 2 bad usage or bad input, 1 some property is violated,
3 some property is undecided, 0 every property holds. A command returns one of them or raises; what is
raised is turned into one sentence on standard error here and nowhere else. No traceback reaches the
user: an error of possibly itself is named as such, with status 2, since 1 would claim a violation;
with POSSIBLY_TRACEBACK=1 in the environment it is raised.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from possibly.errors import PossiblyError, UsageError
from possibly.views.cli.files import error_of, kept_apart, project_file
from possibly.views.cli.messages import BAD, complain, remark

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from possibly.views.cli.settings import Settings

COMMANDS = (
    "run", "check", "slice", "explore", "replay", "confirm", "debug", "watch", "view", "import", "export",
    "linearizable", "serializable", "attach", "patterns", "suggest", "paths", "coverage", "dap", "doctor",
    "diff",
)  # fmt: skip
"""In the order of the help. Each is a module of its name, imported only when it is asked for."""
FOLDERS = {
    "recorded": (
        "check", "slice", "import", "export", "linearizable", "serializable", "patterns", "suggest", "paths",
        "diff", "coverage",
    ),
    "controlled": ("run", "explore", "replay", "confirm", "watch", "attach", "dap"),
    "debugger": ("debug",),
    "drawing": ("view",),
}  # fmt: skip
"""Where their modules are; those of the rest stand beside this one."""
PLAIN = ("check", "slice", "linearizable", "serializable")
"""Commands whose options need no `argparse` as long as the command line is plain."""
ANALYSES = ("check", "slice", "view", "import", "export", "linearizable", "serializable")
"""Commands that run no program, so that the process is theirs alone."""
COLLECT_AFTER = 100_000
"""New objects after which the interpreter then looks for garbage (usually 700): some megabytes at most."""
CONTROLLING = ("explore", "confirm", "debug", "replay")
"""Commands that execute a program again and again: in each execution sets have the same order."""
BESIDE = ("html", "write_order")
"""Options that name a file which is written beside the report."""
INTERRUPTED = 130
BROKEN_PIPE = 141
PARSERS = {"argparse", "optparse", "getopt", "unittest", "runpy", "importlib", "cmd"}
"""Modules of the standard library that read the arguments of a program, or import others that do."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit status."""
    _be_robust(sys.stdout)
    _be_robust(sys.stderr)
    try:
        words = sys.argv[1:] if argv is None else list(argv)
        if argv is None and words and words[0] in CONTROLLING:
            from possibly.hashing import settle

            settle()
        if argv is None and words and words[0] in ANALYSES:
            return _spared(words)
        return _status(words)
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


def _status(words: list[str]) -> int:
    if not words:
        sys.stdout.write(parser().format_help())
        return BAD
    arguments = arguments_of(words)
    with kept_apart(*(getattr(arguments, name, None) for name in BESIDE)):
        status: int = arguments.run(arguments)
    sys.stdout.flush()
    return status


def _spared(words: list[str]) -> int:
    """The same for a process that does nothing else, and so has little garbage.

    At the usual threshold a tenth of a short command is spent on looking for garbage among what was just
    imported, and again at its end among what ends with the process anyway.
    """
    gc.set_threshold(COLLECT_AFTER)
    status = _status(words)
    gc.freeze()
    return status


def arguments_of(words: list[str]) -> Any:
    """What the command line says, with the function to `run`; mistakes and help end the program here."""
    asked = [word for word in words[:1] if word in COMMANDS]
    project = _project() if asked else None
    found = _plainly(words, project)
    if found is None:
        names = () if words[:1] == ["--version"] else asked or COMMANDS
        found = _parsed(parser(names, project), words)
    if project is not None:
        project.complete(found)
    _tell_of_misplaced(found, words)
    return found


def _tell_of_misplaced(found: Any, words: list[str]) -> None:
    """An option of ours behind the program is the program's: unless that knows it, somebody is mistaken."""
    given = [word.partition("=")[0] for word in getattr(found, "arguments", None) or () if word[:1] == "-"]
    if not given or "--" in words:
        return
    from argparse import ArgumentParser

    declared = ArgumentParser()
    _module(words[0]).add_arguments(declared)
    name = found.program or found.module
    ours = [word for word in given if word in declared._option_string_actions]
    source = _source_of(name) if ours else None
    if not ours or (source is not None and ours[0] in source):
        return
    said = f"{ours[0]} behind {name} is given to the program; options of possibly come before it"
    if source is not None and not _may_read_arguments(source):
        raise UsageError(said, hint=f"{name} reads no arguments; -- before it says that they are meant so")
    remark(f"possibly: {said}")


def _may_read_arguments(source: str) -> bool:
    """Whether a program, or what it imports, may look at its arguments."""
    if "argv" in source:
        return True
    import ast

    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):
        return True
    modules = {each.name for node in nodes if isinstance(node, ast.Import) for each in node.names}
    modules |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return not {name.partition(".")[0] for name in modules} <= sys.stdlib_module_names - PARSERS


def _source_of(program: str) -> str | None:
    """The text of a program; None if it cannot be read."""
    try:
        with open(program, encoding="utf-8", errors="replace") as source:
            return source.read()
    except OSError:
        return None


def _parsed(reader: argparse.ArgumentParser, words: list[str]) -> Any:
    """What `argparse` reads; all that stands behind `-m MODULE` is the module's, as for Python itself."""
    end = words.index("-m") + 2 if "-m" in words else 0
    if end and getattr(reader.parse_known_args(words[:end])[0], "module", None) is not None:
        found = reader.parse_args(words[:end])
        found.arguments = words[end:]
        return found
    return reader.parse_args(words)


def _project() -> Settings | None:
    """What the project says that the current folder belongs to."""
    found = project_file()
    if found is None:
        return None
    from possibly.views.cli.settings import settings_in

    return settings_in(*found)


def _plainly(words: list[str], project: Settings | None) -> Any:
    """What a plain command line says; None if it takes `argparse` to read it."""
    if not words or words[0] not in PLAIN:
        return None
    from possibly.views.cli.arguments import plainly

    command = _module(words[0])
    found: Any = plainly(command.add_arguments, words[1:], project.configure if project else None)
    if found is not None:
        found.run = command.run
    return found


def parser(names: Sequence[str] = COMMANDS, project: Settings | None = None) -> argparse.ArgumentParser:
    """The parser of these commands: one is enough for whoever names one."""
    from possibly.views.cli.usage import parser_of

    return parser_of(map(_module, names), project.configure if project else None)


def _module(name: str) -> Any:
    folder = next((f"{folder}." for folder, names in FOLDERS.items() if name in names), "")
    return import_module(f"possibly.views.cli.{folder}{'import_' if name == 'import' else name}")


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
