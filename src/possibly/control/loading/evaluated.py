"""Code that `exec` and `eval` execute: it is instrumented as what stands in a file is.

Law: whoever calls them gets what Python gives, in the variables of the caller unless others are given. What
packages make of texts (the methods of a dataclass, the code of a template) is code like any other.
"""

from __future__ import annotations

import builtins
import marshal
import sys
from types import CodeType, FrameType
from typing import Any

from possibly.control.loading import library, packages
from possibly.control.runtime import kernel as running
from possibly.control.runtime import sites
from possibly.control.runtime.places import caller, is_instrumented
from possibly.probes import port
from possibly.probes.instructions.insert import Wanted, instrumented
from possibly.probes.patching import Patches
from possibly.probes.watching.following import followed

INHERITED = 0x1FE0000
"""Flags of `__future__`, which the code of a text has from its caller."""
DEBUGGERS = frozenset({"bdb", "pdb", "cmd", "code", "codeop"})
"""What a person types there is no step of the program."""


def install(patches: Patches) -> None:
    for name in ("exec", "eval"):
        patches.put(builtins, name, Evaluator(name, getattr(builtins, name)))


class Evaluator:
    """`exec` or `eval`."""

    possibly_tells = True

    def __init__(self, name: str, plain: Any) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = plain.__doc__
        self.__self__ = builtins
        self._plain = plain

    def __repr__(self) -> str:
        return f"<built-in function {self.__name__}>"

    def __call__(self, source: Any, globals: Any = None, locals: Any = None, /, **options: Any) -> Any:  # noqa: A002
        frame = caller()
        if locals is None:
            locals = _variables(frame) if globals is None else globals  # noqa: A001
        if globals is None:
            globals = frame.f_globals  # noqa: A001
        return self._plain(self._told(source, globals, frame), globals, locals, **options)

    def _told(self, source: Any, globals: Any, frame: FrameType) -> Any:  # noqa: A002
        if running.kernel is None or type(globals) is not dict or not _is_told_of(frame.f_code):
            return source
        code = source
        if isinstance(source, str | bytes | bytearray | memoryview):
            text = source.lstrip(" \t") if isinstance(source, str) and self.__name__ == "eval" else source
            flags = frame.f_code.co_flags & INHERITED
            code = compile(text, "<string>", self.__name__, flags, dont_inherit=True)
        if not isinstance(code, CodeType) or is_instrumented(code):
            return source
        module = globals.get("__name__", "")
        return code_of(code, module if isinstance(module, str) else "")


codes: dict[tuple[str, str, CodeType], CodeType] = {}
"""(module, file, code) -> instrumented code. What is here when a process is forked need not be made again."""
made: list[tuple[bytes, str]] = []
"""What of it the present execution had to make, as it travels: (code, module)."""
MOST = 200
"""So many are kept: a program may make ever new texts."""


def code_of(code: CodeType, module: str) -> CodeType:
    """The code, instrumented: it is executed with the variables of that module."""
    key = (module, code.co_filename, code)
    found = codes.get(key)
    if found is None:
        library.follow_for(code)
        maker = sites.site_maker("", module, True)
        found = instrumented(code, Wanted(maker, followed.names, followed.functions))
        if len(codes) < MOST:
            codes[key] = found
            made.append((marshal.dumps(code), module))
    return found


def make_again(code: bytes, module: str) -> None:
    """What an execution had to make is there for those that come."""
    code_of(marshal.loads(code), module)


def _variables(frame: FrameType) -> Any:
    """What `locals()` gives there."""
    found = frame.f_locals
    return found if sys.version_info < (3, 13) or not frame.f_code.co_flags & 2 else dict(found)


def _is_told_of(caller: CodeType) -> bool:
    """Whether what this code executes is code that others may interrupt."""
    if is_instrumented(caller) or port.is_user_file(caller.co_filename):
        return True
    root = packages.root_of_file(caller.co_filename)
    return bool(root) and root not in DEBUGGERS and caller.co_name != "namedtuple"
