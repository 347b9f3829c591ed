"""How this process hashes texts: the order of a set of texts, which another process may have otherwise.

An interpreter hashes texts by a number that it draws when it starts, unless PYTHONHASHSEED says which, and
does not tell. So that a command gives the same answer again, and a schedule the same execution, a command
that controls a program starts its interpreter once more, with the number that is wanted, unless the
environment has said one. What the program sees of its environment is as it was.
"""

from __future__ import annotations

import os
import sys

GIVEN = "PYTHONHASHSEED"
CHOSEN = "POSSIBLY_HASHSEED"
"""In the environment of an interpreter that was started once more: what its seed was before, if anything."""
USUAL = 0
LARGEST = 4_294_967_295


def _taken() -> int | None:
    given = os.environ.get(GIVEN, "")
    if CHOSEN in os.environ:
        before = os.environ.pop(CHOSEN)
        del os.environ[GIVEN]
        if before:
            os.environ[GIVEN] = before
    return int(given) if given.isdecimal() and not sys.flags.ignore_environment else None


known = _taken()
"""The seed of this process; None: the interpreter has drawn one."""


def settle(seed: int = USUAL) -> None:
    """Goes on in an interpreter whose seed is known; where there is none to start, this one goes on."""
    if known is None:
        _start_again(seed)


def be(seed: int) -> None:
    """Goes on in an interpreter that has this seed; where there is none to start, this one goes on."""
    if known != seed:
        _start_again(seed)


def _start_again(seed: int) -> None:
    if not sys.executable or not is_command() or sys.flags.ignore_environment:
        return
    sys.stdout.flush()
    sys.stderr.flush()
    environment = os.environ | {GIVEN: str(seed), CHOSEN: os.environ.get(GIVEN, "")}
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)


def is_command() -> bool:
    """Whether this process is the command `possibly` and nothing else, so that nothing happens twice."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        return bool(spec.name == "possibly.__main__")
    return os.path.basename(getattr(main, "__file__", "")) == "possibly"
