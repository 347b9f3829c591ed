"""A module is instrumented once if its labels have assignments, and again with marks if some have none."""

from __future__ import annotations

from pathlib import Path

from possibly.probes.watching.labels import MARK
from possibly.probes.watching.modules import Places, with_sites
from possibly.probes.watching.telling import Telling, Told
from possibly.probes.watching.watch import Watch


class Quiet:
    def __delitem__(self, _: object) -> None:
        pass


def told(folder: Path, source: str, watch: Watch) -> tuple[list[Told], list[str], bool]:
    file = folder / "program.py"
    file.write_text(source)
    sites: list[Told] = []
    marks: list[str] = []

    def site(given: Told) -> Quiet:
        sites.append(given)
        return Quiet()

    def mark(line: int, label: str) -> int:
        marks.append(f"{line}:{label}")
        return 0

    plain = compile(source, str(file), "exec")
    code = with_sites(plain, str(file), "__main__", watch, Places(site, mark))
    passed: list[int] = []
    exec(code, {MARK: passed.append})  # noqa: S102
    return sites, marks, code is plain


def test_an_assignment_has_the_label_of_its_line(tmp_path: Path) -> None:
    sites, marks, _ = told(tmp_path, "x = 1  #: a\nx = y = x  #: b\n", Watch(names=frozenset("x")))
    written = [(each.line, each.label) for each in sites if each.kind == Telling.WRITE]
    assert written == [(1, "a"), (2, "b")] and marks == []


def test_other_labels_have_marks(tmp_path: Path) -> None:
    _, marks, _ = told(
        tmp_path, "x = 1  #: a\npass  #: b\nif x:  #: c\n    pass\n", Watch(names=frozenset("x"))
    )
    assert marks == ["2:b", "3:c"]


def test_a_module_with_nothing_to_tell_is_left_alone(tmp_path: Path) -> None:
    assert told(tmp_path, "x = 1\ndef f(): return x\nf()\n", Watch())[2]
