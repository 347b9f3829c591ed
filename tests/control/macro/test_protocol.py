"""Others take part: programs in C by the profiling interface of MPI, lines of JSON, a checker outside."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from possibly.control.macro.model import Completion
from possibly.control.macro.program.lines import Lines
from possibly.errors import ControlError
from possibly.views.cli.main import main
from tests.control.macro.test_real import needs_mpi, program

EXAMPLE = Path(__file__).parents[3] / "examples" / "ranks-in-c"
COMPILER = os.path.join(os.path.dirname(sys.executable), "mpicc")
needs_compiler = pytest.mark.skipif(
    not os.path.exists(COMPILER) or shutil.which("cc") is None, reason="there is no C compiler for MPI"
)
STAR = """\
    import queue, threading
    box = queue.Queue()
    def send(n):
        box.put(n)
    def collect():
        got = []
        for _ in range(2):
            got.append(box.get())
    for name, run, given in (("a", send, (1,)), ("b", send, (2,)), ("c", collect, ())):
        threading.Thread(target=run, args=given, name=name).start()
"""


# ---- lines --------------------------------------------------------------------------------------


def told(lines: Lines, *given: dict[str, Any]) -> list[Any]:
    buffer = bytearray(b"".join(json.dumps(each).encode() + b"\n" for each in given))
    return [lines.read(buffer) for _ in given]


HELLO = {"hello": "rank1", "pid": 7, "protocol": 1}


def test_a_line_becomes_what_a_python_process_says() -> None:
    receive = {"kind": "receive", "text": "Recv", "at": "a.c:3", "channel": "world:rank1", "tag": "4"}
    at = {"at": receive, "seen": {"variables": {"n": 2}}, "claims": ["G(rank1.n < 3)"]}
    hello, arrived, after = told(Lines(), HELLO, at, {"break": {"at": "a.c:4", "variables": {"n": 3}}})
    assert hello == ("hello", "rank1", 7)
    word, operation, seen, claims, payload = arrived
    assert (word, operation.kind, operation.at, payload) == ("at", "receive", "a.c:3", None)
    found = operation.receive
    assert (found.name, found.channels, found.source, found.tag) == ("rank1?1", ("world:rank1",), None, "4")
    assert found.mailbox and not found.optional
    assert (seen.at, seen.variables, claims[0].text) == ("a.c:3", {"n": 2}, "G(rank1.n < 3)")
    assert after[1].variables == {"n": 3}


def test_half_a_line_waits_for_the_rest() -> None:
    lines, buffer = Lines(), bytearray(b'{"hello": "rank1", ')
    assert lines.read(buffer) is None
    buffer += b'"pid": 1, "protocol": 1}\n{"fai'
    assert lines.read(buffer) == ("hello", "rank1", 1)
    assert lines.read(buffer) is None and bytes(buffer) == b'{"fai'


@pytest.mark.parametrize(
    "line",
    [
        b"no json", b"[]", b"{}", b'{"hello": "x", "pid": 1, "protocol": 2}', b'{"at": {"kind": "dance"}}',
        b'{"at": 3}', b'{"at": {"kind": "send", "order": "none"}}', b'{"hello": "x"}',
    ],
)  # fmt: skip
def test_a_line_that_is_none_is_told(line: bytes) -> None:
    with pytest.raises(ControlError):
        Lines().read(bytearray(line + b"\n"))


def test_what_a_program_is_told() -> None:
    lines = Lines()
    got = Completion("rank1", (("rank1?1", "rank0#2", "rank0", "4"),))
    assert json.loads(lines.written(("go", got, [], False))) == {
        "go": {"message": "rank0#2", "from": "rank0", "tag": "4"}
    }
    assert json.loads(lines.written(("go", Completion("rank1"), [], False))) == {"go": {}}
    assert json.loads(lines.written(("go", Completion("rank1", nothing=True), [], False))) == {
        "go": {"nothing": True}
    }
    assert lines.written(("state", {}, [])) == lines.written(("evaluate", "empty")) == b""
    assert lines.read(bytearray()) == ("value", "a program that is not Python has no predicates", [])


# ---- ranks in C ---------------------------------------------------------------------------------


def compiled(tmp_path: Path, source: Path) -> str:
    command = [COMPILER, "-Wall", "-Wextra", "-Werror", "-I", str(EXAMPLE), str(source)]
    subprocess.run([*command, str(EXAMPLE / "possibly_mpi.c"), "-o", str(tmp_path / "made")], check=True)
    return str(tmp_path / "made")


@needs_mpi
@needs_compiler
def test_ranks_in_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = compiled(tmp_path, EXAMPLE / "pipeline.c")
    monkeypatch.chdir(tmp_path)
    assert main(["explore", "--mpi", "3", "--buffered", made]) == 1
    report = capsys.readouterr().out
    assert report.startswith("VIOLATED  G(rank0.wrong == 0) & F(rank0.heard == 2)")
    assert "rank0 got rank2#2 and not rank1#2; the other way it holds" in report
    assert main(["explore", "--mpi", "3", "--buffered", "--jobs", "2", made, "right"]) == 0
    assert "2 paths; the whole tree" in capsys.readouterr().out
    document = json.loads((tmp_path / "made.tree.json").read_text())
    assert list(document["sources"]) == [made]


PLAIN = """\
#include <mpi.h>
#include <stdlib.h>
int main(int count, char **words) {
    int rank, n = 1, sum = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Reduce(&n, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&n, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (sum != 2) abort();
    if (count > 1) {
        int other = 1 - rank;
        MPI_Send(&rank, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
        MPI_Recv(&n, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
}
"""


@needs_mpi
@needs_compiler
def test_an_unchanged_program_in_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plain.c").write_text(PLAIN)
    made = compiled(tmp_path, tmp_path / "plain.c")
    monkeypatch.chdir(tmp_path)
    assert main(["explore", "--mpi", "2", made]) == 0
    assert main(["explore", "--mpi", "2", "--unbuffered", made, "both send first"]) == 1
    assert "DEADLOCK  rank0 waits in Send(rank1); rank1 waits in Send(rank0)" in capsys.readouterr().out


# ---- a checker outside --------------------------------------------------------------------------


@contextmanager
def checker(*answers: str) -> Iterator[tuple[str, list[Any]]]:
    """Gives these answers, the last one again and again; its address, and what it was told."""
    told: list[Any] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            end, _ = server.accept()
            with end, end.makefile("rw", encoding="utf-8") as lines:
                told.append(json.loads(lines.readline()))
                for line in lines:
                    lines.write(answers[min(len(told), len(answers)) - 1] + "\n")
                    told.append(json.loads(line))
                    lines.flush()

        serving = threading.Thread(target=serve, daemon=True)
        serving.start()
        yield f"127.0.0.1:{server.getsockname()[1]}", told
        serving.join(10)


@pytest.mark.parametrize(
    ("answers", "status", "words"),
    [
        (['{"verdict": true}'], 0, "HOLDS  checker = "),
        (['{"verdict": true}', '{"verdict": false, "why": "b first"}'], 1, "breakpoint 7: b first"),
        (['{"verdict": null}'], 3, "undecided: checker: the checker does not know"),
        (['{"verdict": 7}'], 3, "said 7"),
        (["gibberish"], 3, "gave no answer"),
    ],
)
def test_a_checker_outside_is_asked_about_each_path(
    answers: list[str], status: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = program(tmp_path, STAR)[0]
    with checker(*answers) as (address, told):
        tree = str(tmp_path / "star.tree.json")
        assert main(["explore", "--macro", "--tree", tree, "--checker", address, written]) == status
    assert words in capsys.readouterr().out
    assert told[0] == {"hello": "possibly", "protocol": 1, "program": [written]}
    paths = told[1:]
    assert [each["path"] for each in paths] == [1, 2] and {each["end"] for each in paths} == {"finished"}
    got = [[e["receives"][0] for e in each["events"] if e["receives"]] for each in paths]
    assert got == [["a#1", "b#1"], ["b#1", "a#1"]]
    for each in paths:
        sent = {name: n for n, event in enumerate(each["events"]) for name in event["sends"]}
        taking = next(event for event in each["events"] if event["receives"])
        assert all(cause < n for n, event in enumerate(each["events"]) for cause in event["after"])
        assert set(sent) == {"a#1", "b#1"} and taking["process"] == "c"


def test_no_checker_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = program(tmp_path, STAR)[0]
    assert main(["explore", "--macro", "--checker", str(tmp_path / "nobody"), written]) == 2
    assert "no checker answers at" in capsys.readouterr().err
    assert main(["explore", "--checker", "127.0.0.1:1", written]) == 2
    assert "--checker is for macro-steps" in capsys.readouterr().err
