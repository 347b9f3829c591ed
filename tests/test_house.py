"""The house rules that a machine can hold: the import law, no cycles, a docstring a file, a fast start."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
PACKAGE = SOURCE / "possibly"
FILES = sorted(PACKAGE.rglob("*.py"))
TEXTS = sorted(
    path
    for pattern in (
        "*.md",
        "Makefile",
        "pyproject.toml",
        "docs/**/*",
        "src/**/*.py",
        "tests/**/*.py",
        "examples/**/*",
    )
    for path in ROOT.glob(pattern)
    if path.is_file() and path.suffix != ".pyc"
)

LAYERS = (
    ("views",),
    ("session",),
    ("detection", "control"),
    ("verdict", "recorder"),
    ("order",),
    ("logic", "trace", "models", "probes"),
    ("errors", "records", "compiled", "hashing"),
)
"""From top to bottom. A folder imports itself and what stands on a lower line."""
RANK = {folder: rank for rank, line in enumerate(LAYERS) for folder in line}
DOORS = {"possibly", "possibly.__main__"}
"""The public door and the command: above all layers, imported by none of them."""
HEAVY = ("numpy", "msgspec", "tqdm", "zstandard", "rich", "hypothesis")


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


def imports(tree: ast.AST, module: str, package: str) -> Iterator[str]:
    """Every module of ours that the tree imports, also inside functions and for types only."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "possibly")
        elif isinstance(node, ast.ImportFrom):
            base = _base(node, package)
            if base.split(".")[0] == "possibly":
                for alias in node.names:
                    deeper = f"{base}.{alias.name}"
                    yield deeper if deeper in MODULES else base


def _base(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imported_by(module: str) -> set[str]:
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    return set(imports(tree_of(path), module, package)) - {module}


def folder(module: str) -> str:
    return module.split(".")[1]


def wrong_imports(module: str) -> Iterator[str]:
    """What it imports from above, or through the public door."""
    here = folder(module)
    for other in imported_by(module):
        if other == "possibly" and here == "views":
            continue  # for the version
        if other in DOORS or not (folder(other) == here or RANK[folder(other)] > RANK[here]):
            yield f"{module} imports {other}"


def test_imports_point_downward() -> None:
    inside = [name for name in MODULES if name not in DOORS]
    assert not {folder(name) for name in inside} - RANK.keys(), "they have no place in the house"
    assert not [wrong for name in inside for wrong in wrong_imports(name)]


def test_nobody_imports_a_view() -> None:
    outside = [name for name in MODULES if name not in DOORS and folder(name) != "views"]
    assert outside
    assert not [name for name in outside for other in imported_by(name) if other.startswith("possibly.views")]


BEHIND = tuple(
    f"possibly.{name}"
    for name in (
        "detection",
        *(f"control.{part}" for part in ("runtime", "models", "loading", "forking", "endings")),
    )
)
"""What views ask `session` for."""


def test_views_ask_the_session() -> None:
    views = [name for name in MODULES if name.startswith("possibly.views")]
    assert views
    assert not [(name, other) for name in views for other in imported_by(name) if other.startswith(BEHIND)]


def test_there_is_no_import_cycle() -> None:
    graph = {module: imported_by(module) & set(MODULES) for module in MODULES}
    done: set[str] = set()
    for module in graph:
        assert not (cycle := find_cycle(graph, module, [], done)), " -> ".join(cycle)


def find_cycle(graph: dict[str, set[str]], module: str, path: list[str], done: set[str]) -> list[str]:
    if module in path:
        return [*path[path.index(module) :], module]
    if module in done:
        return []
    for other in sorted(graph[module]):
        if found := find_cycle(graph, other, [*path, module], done):
            return found
    done.add(module)
    return []


def test_a_cycle_would_be_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b"}}
    assert find_cycle(graph, "a", [], set()) == ["b", "c", "b"]


def test_lazy_and_relative_imports_are_seen() -> None:
    tree = ast.parse("def f():\n    from ..trace import model\n    import possibly.errors, json")
    found = set(imports(tree, "possibly.order.lattice", "possibly.order"))
    assert found == {"possibly.trace.model", "possibly.errors"}


def test_every_module_says_what_it_is() -> None:
    docstrings = {name: ast.get_docstring(tree_of(path)) or "" for name, path in MODULES.items()}
    assert not [name for name, docstring in docstrings.items() if len(docstring) < 30]


EXECUTING = {"eval", "exec", "compile", "__import__"}
COMPILES = "possibly.control.loading.evaluated"
"""What a program under control has executed itself is compiled as it would be without control."""


def test_nothing_is_executed_that_was_read() -> None:
    for name, path in MODULES.items():
        calls = (node.func for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call))
        names = {call.id for call in calls if isinstance(call, ast.Name)}
        assert not names & EXECUTING - ({"compile"} if name == COMPILES else set()), name


PACKAGES = sorted(path.parent for path in PACKAGE.rglob("__init__.py"))
MOST_FILES = 20
"""In one folder: more than a newcomer can hold."""


def test_a_folder_can_be_looked_over() -> None:
    assert not [path for path in PACKAGES if len(list(path.glob("*.py"))) > MOST_FILES]


def test_a_door_lists_what_is_behind_it() -> None:
    for package in PACKAGES:
        if len(package.relative_to(PACKAGE).parts) > 1:
            door = ast.get_docstring(tree_of(package / "__init__.py")) or ""
            names = {path.stem for path in package.glob("[a-z]*.py")}
            missing = {name for name in names if not re.search(rf"\b{name}\b", door)}
            assert not missing, f"the door of {package.relative_to(PACKAGE)} does not list them"


def test_a_folder_has_its_tests_in_the_folder_of_its_name() -> None:
    folders = {path.name for path in PACKAGES if path.parent == PACKAGE}
    assert folders
    assert not [name for name in folders if not list((ROOT / "tests" / name).rglob("test_*.py"))]


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Of what it does, without what it says of itself."""
    body = function.body[1:] if ast.get_docstring(function) and function.body[1:] else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def test_most_functions_are_short() -> None:
    nodes = (node for path in FILES for node in ast.walk(tree_of(path)))
    lengths = [lines_of(node) for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert sum(length < 10 for length in lengths) > len(lengths) * 2 / 3


def walked() -> list[str]:
    """The functions and types that ARCHITECTURE.md leads along."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    walks = text.partition("## Three walks")[2].partition("\n## ")[0]
    return re.findall(r"`((?:[a-z_]+\.)+[A-Za-z_]+(?:\.[a-z_]+)?)`", walks)


def test_the_walks_lead_along_what_is_there() -> None:
    assert len(walked()) > 30
    for name in walked():
        find(name)


def find(name: str) -> None:
    """Fails if there is no such function or type."""
    parts = f"possibly.{name}".split(".")
    module = next(length for length in range(len(parts), 0, -1) if ".".join(parts[:length]) in MODULES)
    scope: ast.AST = tree_of(MODULES[".".join(parts[:module])])
    for part in parts[module:]:
        scope = next(
            node
            for node in ast.iter_child_nodes(scope)
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == part
        )


def test_the_map_has_every_folder() -> None:
    door = ast.get_docstring(tree_of(PACKAGE / "__init__.py")) or ""
    assert not {path.name for path in PACKAGES if path.parent == PACKAGE and f"{path.name}/" not in door}


FOREIGN = re.compile(
    r"(?<![\w.])/(?:" + "|".join(("home", "root", "work", "Users", "opt", "mnt")) + r")/\w"
    r"|\b(?:is" + r"sue|tick" + r"et) \d"
)
"""Paths of somebody's machine, and words about how the project is worked on."""


def test_the_project_speaks_of_itself_alone() -> None:
    for path in TEXTS:
        text = path.read_text(encoding="utf-8", errors="replace")
        assert not (found := FOREIGN.search(text)), f"{found and found.group()!r} in {path.relative_to(ROOT)}"


def modules_after(code: str) -> list[str]:
    """What a fresh interpreter has imported then; this one has imported everything."""
    code += "\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment)
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_the_public_door_imports_nothing_before_it_is_used() -> None:
    loaded = modules_after("import possibly")
    assert "possibly" in loaded
    assert not [name for name in loaded if name.startswith("possibly.")]


def test_the_command_starts_without_anything_heavy() -> None:
    loaded = modules_after("from possibly.views.cli.main import parser; parser()")
    assert "possibly.views.cli.recorded.check" in loaded
    assert not [name for name in HEAVY if name in loaded]


SMALL_CHECK = """
import io, contextlib
from possibly.views.cli.main import main
with contextlib.redirect_stdout(io.StringIO()) as out:
    assert main(["check", {run!r}, "--spec", {spec!r}]) == 1
"""


def test_a_small_check_needs_nothing_heavy() -> None:
    run, spec = ROOT / "examples/mutex/run.jsonl", ROOT / "examples/mutex/mutex.spec"
    loaded = modules_after(SMALL_CHECK.format(run=str(run), spec=str(spec)))
    assert "possibly.session.checking.check" in loaded
    assert not [name for name in HEAVY if name in loaded]


FAST_CHECK = """
import os, sys
from possibly.views.cli.main import main
sys.stdout, out = open(os.devnull, "w"), sys.stdout
assert main(["check", {run!r}, "--ctl", "EF(P1.critical == 7)"]) == 1
sys.stdout = out
"""
SLOW = (
    "argparse", "gettext", "locale", "typing", "contextlib", "dataclasses", "inspect", "textwrap", "math",
    "pathlib", "random", "tempfile", "subprocess", "threading", "logging", "asyncio", "ast", "difflib",
)  # fmt: skip
"""Modules of the standard library that a check without a path to show does without, a millisecond each."""
MOST_MODULES = 80
"""Of ours, for the same, doors of folders too: each takes a tenth of a millisecond, whatever is in it."""


def test_a_check_starts_with_few_modules() -> None:
    """To answer takes a few milliseconds; the rest is imports."""
    loaded = modules_after(FAST_CHECK.format(run=str(ROOT / "examples/mutex/run.jsonl")))
    assert not [name for name in SLOW if name in loaded]
    assert len([name for name in loaded if name.split(".")[0] == "possibly"]) <= MOST_MODULES


EXPLORING = """
from possibly.views.cli.main import main
assert main(["explore", "-o", {schedule!r}, {program!r}]) == 1
"""


def test_a_plain_exploration_imports_no_language_and_no_macro_steps(tmp_path: Path) -> None:
    program = str(ROOT / "examples/bugs/lost-update/buggy.py")
    code = EXPLORING.format(program=program, schedule=str(tmp_path / "found.schedule"))
    loaded = modules_after(code)
    assert "possibly.session.exploring.explore" in loaded
    away = ("control.macro.", "session.macro_steps.", "logic.paths.", "logic.tasks.")
    assert not [name for name in loaded if name.startswith(tuple(f"possibly.{each}" for each in away))]


READERS = {"trace/place.py", "trace/model.py", "trace/names.py", "recorder/merging/merge.py"}
"""Who takes a text apart at its last colon: a place, and the name of an event. Names may have colons."""
ADDRESSES = {"session/watching/listening.py"}
"""Host and port."""


def test_places_and_names_of_events_are_read_in_one_way() -> None:
    split = {
        path.relative_to(PACKAGE).as_posix()
        for path in FILES
        if re.search(r"rpartition\(\":\"\)|rsplit\(\":\", 1\)", path.read_text(encoding="utf-8"))
    }
    assert split == READERS | ADDRESSES


def test_nothing_that_a_command_wrote_stands_beside_the_source() -> None:
    left = [*PACKAGE.rglob("*.schedule"), *ROOT.glob("*.schedule")]
    assert not left
