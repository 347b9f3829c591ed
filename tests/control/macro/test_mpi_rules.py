"""What MPI demands of a program: room for its messages, nothing left behind, one thread."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from possibly.control.macro.explore import Explorer
from possibly.control.macro.program.controller import Controller
from possibly.control.macro.tree import Tree
from possibly.errors import PossiblyError
from possibly.views.cli.main import main
from tests.control.macro.test_real import needs_mpi

HEAD = "from mpi4py import MPI\ncomm = MPI.COMM_WORLD\nother = 1 - comm.rank\n"
pytestmark = needs_mpi


def written(tmp_path: Path, text: str) -> str:
    file = tmp_path / "program.py"
    file.write_text(HEAD + textwrap.dedent(text))
    return str(file)


def ended(tmp_path: Path, text: str, unbuffered: bool = False) -> tuple[str, str]:
    words = [written(tmp_path, text)]
    tree = Explorer(lambda: Controller(words, 2, unbuffered=unbuffered), Tree(tuple(words), 2)).explore()
    (leaf,) = tree.leaves
    return leaf.end, leaf.detail.partition(", sent at")[0].partition(" at ")[0]


def test_two_ranks_that_send_first_need_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "comm.send(1, dest=other)\ncomm.recv(source=other)\n")
    assert main(["explore", "--mpi", "2", "--buffered", "program.py"]) == 0
    assert main(["explore", "--mpi", "2", "program.py"]) == 1
    out = capsys.readouterr().out
    assert "if MPI buffers no message:\nDEADLOCK  rank0 waits in send(rank1)" in out
    assert main(["replay", "program.unbuffered.tree.json"]) == 1


def test_a_send_beside_a_receive_needs_none(tmp_path: Path) -> None:
    assert ended(tmp_path, "comm.sendrecv(1, dest=other, source=other)", unbuffered=True)[0] == "finished"


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("comm.send(1, 1); comm.send(2, 1)", "comm.recv()", "a message is never received: rank0#2 to rank1"),
        ("request = comm.isend(1, dest=1)", "comm.recv()", "rank0: a request is never waited for: isend"),
        (
            "data = bytearray(4); request = comm.Isend(data, dest=1); data[0] = 7; request.Wait()",
            "comm.Recv(bytearray(4))",
            "rank0: the buffer of Isend",
        ),
    ],
)  # fmt: skip
def test_nothing_is_left_behind(first: str, second: str, message: str, tmp_path: Path) -> None:
    text = f"if comm.rank == 0:\n    {first}\nelse:\n    {second}\n"
    assert ended(tmp_path, text) == ("failed", message)


def test_a_second_thread_of_a_rank_is_refused(tmp_path: Path) -> None:
    text = """\
        import threading
        if comm.rank == 0:
            thread = threading.Thread(target=comm.send, args=(1, 1))
            thread.start()
            thread.join()
        else:
            comm.recv()
    """
    with pytest.raises(PossiblyError, match="second thread of a rank"):
        ended(tmp_path, text)
