"""The documents tell the truth: what they show is what the commands print, and their links lead somewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from possibly.detection.choose import ENGINES
from possibly.views.cli import main as door
from tests.views.console import BLOCK, ROOT, with_real_output

DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
BY_NAME = {path.name: path.read_text(encoding="utf-8") for path in DOCUMENTS}
SHOWING = [name for name, text in BY_NAME.items() if BLOCK.search(text)]


def test_readme_and_manual_show_commands() -> None:
    assert {"README.md", "manual.md"} <= set(SHOWING)


@pytest.mark.alone
@pytest.mark.parametrize("name", SHOWING)
def test_documents_show_what_the_commands_print(name: str) -> None:
    """`python -m tests.views.console FILE...` brings them up to date."""
    assert with_real_output(BY_NAME[name]) == BY_NAME[name]


@pytest.mark.parametrize(
    ("command", "shown"),
    sorted(
        {
            found
            for text in BY_NAME.values()
            for found in re.findall(
                r"^```text\n\$ possibly (explore .*?)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL
            )
        }
    ),
)
def test_what_is_shown_in_part_is_printed_in_that_order(command: str, shown: str, tmp_path: Path) -> None:
    """A line `...` stands for any others."""
    shutil.copytree(ROOT / "examples/bugs/lost-update", tmp_path / "examples/bugs/lost-update")
    done = subprocess.run(
        [sys.executable, "-m", "possibly", *command.split()],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    printed = iter(done.stdout.splitlines())
    assert not [line for line in shown.splitlines() if line.strip() != "..." and line not in printed]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files(path: Path) -> None:
    prose = re.sub(r"`[^`]*`", "", BY_NAME[path.name])
    targets = re.findall(r"\]\((?!https:)([^)#]+)", prose)
    assert all((path.parent / target).exists() for target in targets)


def test_the_python_of_the_manual_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"^```python\n(.*?)^```$", BY_NAME["manual.md"], re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        exec(block, {})  # noqa: S102 - our own manual
    assert "A failing order" in capsys.readouterr().out


def test_the_model_of_the_chapter_on_histories_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (model,) = re.findall(
        r"^```python\n(initial = .*?)^```$", BY_NAME["histories.md"], re.MULTILINE | re.DOTALL
    )
    (tmp_path / "bag.py").write_text(model, encoding="utf-8")
    calls = ('"put", "value": 1, "call": 1, "return": 2', '"take", "call": 3, "return": 4, "result": 1')
    lines = [f'{{"process": 0, "f": {call}}}\n' for call in calls]
    (tmp_path / "history.jsonl").write_text("".join(lines), encoding="utf-8")
    assert door.main(["linearizable", "history.jsonl", "--model", "bag.py"]) == 0
    assert "2 operations of 1 process\n" in capsys.readouterr().out
    (tmp_path / "history.jsonl").write_text(lines[1], encoding="utf-8")
    assert door.main(["linearizable", "history.jsonl", "--model", "bag.py"]) == 1


def test_the_manual_has_every_command_and_option() -> None:
    manual = BY_NAME["manual.md"]
    for command in door.COMMANDS:
        assert f"possibly {command}" in manual
    assert "--write-order" in options()
    assert not [option for option in options() if not re.search(rf"`[^`\n]*{option}\b", manual)]


def test_the_table_of_engines_is_that_of_the_code() -> None:
    rows = "\n".join(f"| {row.language} | `{row.name}` | {row.why} |" for row in ENGINES)
    assert rows in BY_NAME["manual.md"]


def options() -> set[str]:
    """The long options of all commands."""
    groups = [action.choices for action in door.parser()._actions if isinstance(action.choices, dict)]
    actions = [action for group in groups for command in group.values() for action in command._actions]
    return {option for action in actions for option in action.option_strings if option.startswith("--")}


def test_the_site_has_every_document_and_begins_with_the_tutorial() -> None:
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    named = re.findall(r"[a-z-]+\.md", str(site["nav"]))
    assert named[0] == "tutorial.md"
    left_out = {site["exclude_docs"]}
    assert set(named) | left_out == {path.name for path in (ROOT / "docs").glob("*.md")}
    assert len(named) == len(set(named))


def test_the_site_asks_nothing_of_a_server() -> None:
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert site["theme"]["font"] is False and {"search", "offline"} <= set(site["plugins"])
    (shim,) = site["extra"]["polyfills"]
    assert "iframe-worker" in shim and (ROOT / "docs" / shim).is_file(), "else it comes from a server"


def test_the_tutorial_has_pictures() -> None:
    pictures = re.findall(
        r"!\[[^]]+\]\((\S+\.png)\)", (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    )
    assert len(pictures) >= 2 and all((ROOT / "docs" / each).is_file() for each in pictures)


def test_the_makefile_has_the_targets_of_the_readme() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:`|    )make ([a-z]+)", BY_NAME["README.md"] + BY_NAME["CONTRIBUTING.md"]))
    assert {"demo", "test"} <= named
    assert not [target for target in named if not re.search(rf"^{target}:.*## ", makefile, re.MULTILINE)]
