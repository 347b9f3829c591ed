"""Python code of installed packages and of the standard library, watched where it runs beside other tasks.

Law: code that runs while there is another task is instrumented like the program's own (`entries`). Only what
is MODELLED, and what is ATOMIC by the reason given there, is never watched unless the user includes it by
name; a package that the user trusts is not either, and each of its calls is then one step, nor is one that he
excludes, which leaves the verdict open if tasks meet there.

A package is known by its first name. Of a package that is watched, those functions are instrumented, in
place, that executions were seen to enter: most of a large package is never needed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

from possibly.control.runtime.places import forget, is_instrumented, shown
from possibly.probes import port
from possibly.probes.existing import existing
from possibly.probes.stated import stated

PACKAGE = "package: "
"""Begins the family that stands for the code of a package."""
STANDARD = frozenset({*sys.stdlib_module_names, "possibly"}) - {"__main__", "antigravity", "this", "idlelib"}
"""Packages that can be imported without anybody noticing."""
MODELLED = frozenset(
    "possibly threading _thread queue _queue asyncio concurrent time contextvars signal selectors "
    "socket select ssl multiprocessing subprocess datetime _pydatetime _strptime uvloop greenlet trio "
    "outcome sniffio _pytest pytest pluggy hypothesis coverage xdist execnet pydevd debugpy".split()
)
"""What stands in their place is ours, or decides nothing that the program can see."""
LENT = frozenset({"weakref", "_weakrefset"})
"""Modules that the models, and what is modelled, use as well: what they do there decides nothing either."""
BOOKKEEPERS = MODELLED | {"anyio", "functools"}
"""Whose weak containers only hold what each task has of its own, or what whoever comes second finds again."""
OF_TRIO = frozenset({"attr", "attrs", "sortedcontainers"})
"""Packages on which trio stands: in the turns of its tasks they are its own (`world.trios.things`)."""
ATOMIC = {
    "language": (
        "builtins importlib _frozen_importlib _frozen_importlib_external zipimport site runpy abc "
        "_abc _py_abc enum types typing typing_extensions functools operator inspect dis opcode ast "
        "token tokenize keyword codecs encodings io _io os posixpath ntpath genericpath stat "
        "_collections_abc __future__ _sitebuiltins sysconfig annotationlib reprlib "
        "_colorize",
        "they make classes and functions, or look at what they are given and keep nothing",
    ),
    "caches": (
        "re sre_compile sre_parse sre_constants _sre linecache traceback fnmatch locale",
        "whoever comes second computes the same again",
    ),
}
"""Modules whose calls are each one step, and why that changes nothing that a program does."""
STEADY = {
    "copyreg": "_slotnames",
    "tempfile": "_RandomNameSequence _get_candidate_names _candidate_tempdir_list _get_default_tempdir "
    "_gettempdir gettempdir",
    "urllib": "_splittype _splithost _splituser _splitport",
}
"""Functions of packages that are watched whose calls are one step: each name is new, and whoever comes second
to what is made once makes the same."""
LOADING = frozenset({"importlib", "_frozen_importlib", "_frozen_importlib_external", "runpy"})
"""They call the program as a whole."""
NEVER = MODELLED | {name for names, _ in ATOMIC.values() for name in names.split()}
watched: set[str] = set()
"""Packages whose code is instrumented."""


class Entered(NamedTuple):
    """Code of a package that a task has entered."""

    file: str
    name: str
    line: int


def portable(entered: tuple[str, str, int]) -> tuple[str, str, int]:
    """The same with its file as it is called below the folders of `sys.path`."""
    file, name, line = entered
    folders = [folder for folder in sys.path if folder and file.startswith(folder + os.sep)]
    return file[max(map(len, folders)) + 1 if folders else 0 :], name, line


def found_again(file: str, name: str, line: int) -> Entered | None:
    """What was called so here or elsewhere, if its file is here."""
    if file.startswith("<"):
        return Entered(file, name, line)
    there = (os.path.join(folder, file) for folder in sys.path if folder)
    return next((Entered(each, name, line) for each in there if os.path.isfile(each)), None)


wanted: set[Entered] = set()
"""What is instrumented of these packages, if it can be."""
alone: dict[int, CodeType] = {}
"""What was entered by the only task there was: its objects are known by their names if it is watched too."""
_roots: dict[str, str] = {}
_atomic: dict[str, bool] = {}


def is_watched(module: str) -> bool:
    return bool(watched) and module.partition(".")[0] in watched


def root_of_file(file: str) -> str:
    """The package that a file belongs to; empty for the program's own, and for what is never watched."""
    found = _roots.get(file)
    if found is None:
        found = _roots[file] = _root(file)
    return found


def _root(file: str) -> str:
    if file.startswith("<frozen "):
        name = file[len("<frozen ") : -1]
    elif file.startswith(("<", port._OWN)):
        return ""
    else:
        name = port.module_path(file)
    root = name.partition(".")[0]
    return "" if root in NEVER and root not in watched else root


def is_lent(frame: FrameType | None) -> bool:
    """Whether it is a model, or something modelled, that calls what is LENT, in whose code the frame is."""
    while frame is not None and _first_name(frame.f_code.co_filename) in LENT:
        frame = frame.f_back
    return frame is None or is_bookkeeping(frame.f_code)


def is_bookkeeping(code: CodeType) -> bool:
    """Whether what it calls is its own affair. Calls are told of code that calls what the program gave it."""
    return _first_name(code.co_filename) in BOOKKEEPERS and not is_instrumented(code)


def is_aside(frame: FrameType | None) -> bool:
    """Whether it is for a package of which nobody asks when what it keeps weakly goes.

    Also where its code is watched, and so is that of the weak containers that it has.
    """
    while frame is not None and _first_name(frame.f_code.co_filename) in LENT | {"possibly"}:
        frame = frame.f_back
    return frame is not None and _first_name(frame.f_code.co_filename) in BOOKKEEPERS - MODELLED


def is_modelled(file: str) -> bool:
    return _first_name(file) in MODELLED


def _first_name(file: str) -> str:
    found = _first_names.get(file)
    if found is None:
        name = "possibly" if file.startswith(port._OWN) else port.module_path(file)
        found = _first_names[file] = name.partition(".")[0]
    return found


_first_names: dict[str, str] = {}


def is_atomic(file: str) -> bool:
    """Whether calls of code of this file are each one step, so that nobody sees how far they are."""
    found = _atomic.get(file)
    if found is None:
        name = file[len("<frozen ") : -1] if file.startswith("<frozen ") else port.module_path(file)
        root = name.partition(".")[0]
        found = _atomic[file] = root in NEVER - MODELLED - LOADING and root not in watched
    return found


def is_dull(code: CodeType, root: str) -> bool:
    """Code of a package whose calls are each one step."""
    return is_of_tuples(code) or code.co_qualname.partition(".")[0] in STEADY.get(root, "").split()


def root_of(function: Any) -> str:
    """The package of a function in Python that is not instrumented; empty if it has none that is watched."""
    code = stated(stated(function, "__func__") or function, "__code__")
    if not isinstance(code, CodeType) or is_instrumented(code):  # the type of functions has a `__code__` too
        return ""
    return root_of_file(code.co_filename)


def entered(code: CodeType) -> Entered:
    return Entered(code.co_filename, code.co_qualname, code.co_firstlineno)


def watch(roots: Iterable[str], codes: Iterable[Entered]) -> list[dict[str, Any]]:
    """From now on what is made in these packages is like the program's own; `instrument` does the rest.

    Returns the variables of their modules that are there already.
    """
    watched.update(set(roots) - {"possibly"})
    wanted.update(codes)
    _roots.clear()
    _atomic.clear()
    found = []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if is_watched(name) and isinstance(file, str):
            adopt(file)
            found.append(vars(module))
    return found


def instrument(with_sites: Callable[[CodeType, str, str, bool], CodeType]) -> None:
    """Gives the functions of watched packages that are wanted, and those around them, instrumented code."""
    files = {each.file for each in wanted}
    made: dict[tuple[CodeType, str], CodeType] = {}
    for function in existing(FunctionType):
        plain = function.__code__
        if plain.co_filename not in files or is_instrumented(plain) or not _is_wanted(plain):
            continue
        adopt(plain.co_filename)
        module = str(function.__globals__.get("__name__", ""))
        if (plain, module) not in made:
            made[plain, module] = with_sites(plain, shown(plain.co_filename), module, False)
        function.__code__ = made[plain, module]


def _is_wanted(code: CodeType) -> bool:
    root = root_of_file(code.co_filename)
    if not root or is_dull(code, root):
        return False
    return entered(code) in wanted or any(
        _is_wanted(each) for each in code.co_consts if isinstance(each, CodeType)
    )


def is_of_tuples(code: CodeType) -> bool:
    """A method of named tuples: it changes nothing, and ours have the same."""
    return code.co_qualname.startswith("namedtuple.<locals>.")


def adopt(file: str) -> None:
    """The file counts as the program's own."""
    port.adopt(file)
    forget(file)
