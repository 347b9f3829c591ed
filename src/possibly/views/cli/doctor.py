"""`possibly doctor`: what is there, what is missing, what that costs, and how to get it.

Exit status 0 if everything that is needed is there, whatever may be missing beside that; else 1.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from possibly import __version__

NAME = "doctor"
SUMMARY = "say what is installed, what is missing, and what that costs"
DESCRIPTION = "Says which optional parts are there, what the missing ones cost, and how to get them."
EXAMPLES = """\
examples:
  possibly doctor
  possibly doctor --json
exit status:
  0  all that is needed is there    1  something that is needed is missing
"""
PACKAGE = Path(__file__).parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@dataclass(frozen=True, slots=True)
class Part:
    """Something that possibly can use."""

    name: str
    is_there: bool
    detail: str
    costs: str
    """What is lost or slower without it."""
    remedy: str
    is_needed: bool = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> int:
    found = list(parts())
    if arguments.json:
        python = f"{platform.python_implementation()} {platform.python_version()}"
        document = {"possibly": __version__, "python": python, "parts": [asdict(part) for part in found]}
        print(json.dumps(document))
    else:
        for line in lines(found):
            print(line)
    return 1 if any(part.is_needed and not part.is_there for part in found) else 0


def lines(found: list[Part]) -> Iterator[str]:
    yield (
        f"possibly {__version__}, {platform.python_implementation()} {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    )
    width = max(len(part.name) for part in found)
    for part in found:
        yield f"  {'yes' if part.is_there else 'no ':<3}  {part.name:<{width}}  {part.detail}".rstrip()
        if not part.is_there:
            yield f"       {'':<{width}}  without: {part.costs}"
            yield f"       {'':<{width}}  to get it: {part.remedy}"
    missing = sum(not part.is_there for part in found)
    yield "everything is there" if not missing else f"{missing} of {len(found)} parts are missing"


def parts() -> Iterator[Part]:
    yield from (_needed(name) for name in ("msgspec", "zstandard", "tqdm"))
    yield _kernels()
    yield _natives()
    yield _module("greenlet", "greenlet", "fast", "executions of small programs take several times as long")
    yield _module("solver", "ortools", "solver", "predicates of no class are searched cut by cut")
    yield _mpi()
    yield _module("PNG", "resvg_py", "web", "pictures are SVG, not PNG")
    yield _module("completion in debug", "prompt_toolkit", "debug", "possibly debug has a plain prompt")
    yield _program("Chromium", BROWSERS, "the tests of the page are skipped", "make browser")
    yield _program("SPIN", ("spin",), "exported models are not run", "the package spin of your system")
    yield _program("Graphviz", ("dot",), "DOT files are not drawn", "the package graphviz of your system")


def _needed(name: str) -> Part:
    there = find_spec(name) is not None
    return Part(name, there, "", "nothing works", f"pip install {name}", is_needed=True)


def _module(title: str, name: str, extra: str, costs: str) -> Part:
    there = find_spec(name) is not None
    return Part(title, there, name if there else "", costs, f"pip install 'possibly[{extra}]'")


def _program(title: str, names: tuple[str, ...], costs: str, remedy: str) -> Part:
    found = next((path for name in names if (path := shutil.which(name))), None)
    return Part(title, found is not None, found or "", costs, remedy)


def _kernels() -> Part:
    """C files beside their plain twins: a wheel may come without the sources, so both are counted."""
    built = {_stem(path) for path in PACKAGE.rglob("_*.so")}
    known = {path.relative_to(PACKAGE).with_suffix("").as_posix() for path in PACKAGE.rglob("_*.c")} | built
    there = bool(built) and built >= known and os.environ.get("POSSIBLY_KERNELS") != "off"
    detail = f"{len(built)} of {len(known)} built"
    return Part("kernels", there, detail, "long runs take several times as long", _compile())


def _natives() -> Part:
    built = [path for path in (PACKAGE / "control").rglob("*.so") if not path.name.startswith("_")]
    there = bool(built) and os.environ.get("POSSIBLY_KERNELS") != "off"
    detail = f"{len(built)} modules" if built else ""
    return Part("native modules", there, detail, "an exploration takes twice as long", _compile())


def _stem(path: Path) -> str:
    return (path.parent / path.name.partition(".")[0]).relative_to(PACKAGE).as_posix()


def _compile() -> str:
    if os.environ.get("POSSIBLY_KERNELS") == "off":
        return "unset POSSIBLY_KERNELS"
    has_compiler = any(shutil.which(name) for name in ("cc", "gcc", "clang"))
    return "make compile" if has_compiler else "a C compiler, then make compile"


def _mpi() -> Part:
    beside = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    launcher = beside if os.path.exists(beside) else shutil.which("mpiexec")
    there = find_spec("mpi4py") is not None and launcher is not None
    costs, remedy = "no --mpi: programs of several ranks", "pip install 'possibly[mpi]'"
    return Part("MPI", there, launcher or "", costs, remedy)
