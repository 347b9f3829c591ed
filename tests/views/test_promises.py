"""What the documents name is there: commands, options, files, modules, names, settings, sections, extras."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Iterator

import possibly
from possibly.views.cli import main as door
from possibly.views.cli.settings import KEYS
from possibly.views.testing.options import ROWS, TestOptions
from tests.views.console import ROOT
from tests.views.test_documents import options

SOURCE = ROOT / "src/possibly"
TEXTS = {
    path: path.read_text(encoding="utf-8")
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "benchmarks/README.md")
    if path.name != "CHANGELOG.md"
}
SPAN = re.compile(r"`([^`\n]+)`")
BLOCK = re.compile(r"^```[a-z]*\n(.*?)^```$|^((?:    .*\n)+)", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^(?:[\w.-]+/)*(?:[\w-]+\.(?:py|c|md|spec|jsonl|log|edn|yaml|toml)|[\w.-]+/)$")
OF_OTHERS = {"--all", "--pdb", "--its", "--own", "--version", "--completion", "--man"}
"""Options of the tests, of pytest, of a program that is only an example, and of no command."""
MADE_UP = re.compile(
    r"(program|bank|shop|service|run|test_bank|test_NAME|history|OUT-\d|failing|timed)\.|pyproject.toml"
)
"""Names that stand for files of the reader, or that a command writes."""


def code() -> Iterator[str]:
    """Everything that is written as code: spans, and blocks line by line."""
    for text in TEXTS.values():
        for found in BLOCK.findall(text):
            yield from "".join(found).splitlines()
        yield from SPAN.findall(BLOCK.sub("", text))


def named(pattern: str) -> set[str]:
    return {name for each in code() for name in re.findall(pattern, each)}


def test_commands() -> None:
    assert named(r"^(?:\$ )?possibly ([a-z]+)\b") <= {*door.COMMANDS, "schedule"}


def test_options() -> None:
    of_tests = set(re.findall(r"--possibly-[a-z]+", (ROOT / "docs/pytest.md").read_text(encoding="utf-8")))
    lines = [each for each in code() if not re.match(r"(\$ )?(pip|duckdb|dask|nc)\b", each)]
    told = {option for each in lines for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", each)}
    assert not told - options() - of_tests - OF_OTHERS


def test_files() -> None:
    """By the end of their path: a chapter says in which folder it is."""
    folders = ("src", "examples", "benchmarks", "fuzz", "docs", "tests")
    there = {f"/{path.relative_to(ROOT)}" for folder in folders for path in (ROOT / folder).rglob("*")}
    ends = {end for path in there | {f"/{path.name}" for path in ROOT.iterdir()} for end in ends_of(path)}
    told = {each.rstrip("/") for each in SPAN.findall("\n".join(TEXTS.values())) if FILE.match(each)}
    assert not {each for each in told - ends if not MADE_UP.match(each)}


def ends_of(path: str) -> Iterator[str]:
    """The ends of a path; of one in the tests only the whole: its folders are called as those of src."""
    parts = path.strip("/").split("/")
    for first in range(1 if parts[0] == "tests" else len(parts)):
        yield "/".join(parts[first:])


def test_modules_that_are_run() -> None:
    for each in named(r"python -m ((?:benchmarks|tests|possibly)[\w.]*)"):
        path = each.replace(".", "/")
        assert any((ROOT / base / name).exists() for base in ("", "src") for name in (path, path + ".py")), (
            each
        )


def test_names_of_python() -> None:
    beyond = {"command", "spec", "schedule", "sarif"}
    told = named(r"\bpossibly\.([a-z]\w*)") - beyond
    assert not {each for each in told if not hasattr(possibly, each) and not (SOURCE / each).is_dir()}


def test_settings() -> None:
    sources = "".join(each.read_text(encoding="utf-8") for each in (*SOURCE.rglob("*.py"), ROOT / "setup.py"))
    told = {name for text in TEXTS.values() for name in re.findall(r"\bPOSSIBLY_[A-Z]+", text)}
    assert {"POSSIBLY_KERNELS", "POSSIBLY_TOKEN"} <= told
    assert not {each for each in told if f'"{each}"' not in sources}


def test_sections() -> None:
    for path, text in TEXTS.items():
        for name, section in re.findall(r"\]\(([\w/.-]*)#([\w-]+)\)", text):
            titles = re.findall(
                r"^#+ (.*)$", TEXTS[(path.parent / name).resolve()] if name else text, re.MULTILINE
            )
            assert section in {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    told = {name for text in TEXTS.values() for name in re.findall(r"possibly\[(\w+)\]", text)}
    assert {"fast", "cluster"} <= told <= set(project["optional-dependencies"])


def test_the_options_of_tests() -> None:
    text = TEXTS[ROOT / "docs/pytest.md"]
    for name, marker, _, _ in ROWS:
        assert f"| `{marker}` | `--possibly-{name}` | `possibly_{name}` |" in text
    fields = {field.name for field in dataclasses.fields(TestOptions)}
    first = {
        name
        for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    }
    assert first == fields


def test_the_keys_of_a_project() -> None:
    told = TEXTS[ROOT / "docs/ci.md"].partition("A key is the name of an option: ")[2].partition(". ")[0]
    assert set(re.findall(r"`(\w+)`", told)) == set(KEYS)


def test_the_types_of_the_folders() -> None:
    """ARCHITECTURE.md says which folder owns which types, and what is in it."""
    rows = re.findall(r"^\| `(\w+)/` \| (.*?) \| (.*?) \|$", TEXTS[ROOT / "ARCHITECTURE.md"], re.MULTILINE)
    assert len(rows) == 11
    for folder, what, types in rows:
        sources = "".join(path.read_text(encoding="utf-8") for path in (SOURCE / folder).rglob("*.py"))
        for name in re.findall(r"`(\w+)`", types):
            assert re.search(rf"^(?:class|def) {name}\b|^{name} = ", sources, re.MULTILINE), (folder, name)
        assert all((SOURCE / folder / each).is_dir() for each in re.findall(r"`([a-z_]+)/`", what)), folder


def test_what_is_measured() -> None:
    told = set(re.findall(r"`(\w+)\.py`", TEXTS[ROOT / "benchmarks/README.md"]))
    assert told == {path.stem for path in (ROOT / "benchmarks").glob("*.py")} - {"__init__"}
    assert (
        f"{len(list((ROOT / 'benchmarks/wrong').glob('*.py')))} wrong programs"
        in TEXTS[ROOT / "benchmarks/README.md"]
    )


def test_the_sizes_of_examples() -> None:
    bugs = list((ROOT / "examples/bugs").glob("*/buggy.py"))
    assert len(bugs) == 17 and "Seventeen bugs" in TEXTS[ROOT / "docs/gallery.md"]
    assert all(len(path.read_text(encoding="utf-8").splitlines()) < 40 for path in bugs)


def test_every_example_of_a_wrong_program_has_its_right_one() -> None:
    told = re.findall(r"^\| `(examples/\S+)` \|", TEXTS[ROOT / "docs/recording.md"], re.MULTILINE)
    assert len(told) == 6
    for folder in told:
        assert {"wrong.py", "right.py", "run.jsonl"} <= {path.name for path in (ROOT / folder).iterdir()}
