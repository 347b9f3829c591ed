"""Macro-steps as a user meets them: the command, its status and its JSON, the replay, a debugging session."""

from __future__ import annotations

import importlib.util
import json
import os
import textwrap
from pathlib import Path

import pytest

from possibly.control.macro.explore import Plan
from possibly.errors import PossiblyError, UsageError
from possibly.session.debugging.macro import opened_macro
from possibly.session.debugging.temporal import Opening, opened
from possibly.session.macro_steps.tree import MacroSession, checked_program, explore
from possibly.views.cli.debugger.commands import execute
from possibly.views.cli.main import main
from possibly.views.web.macro import LiveMacroTree

ROOT = Path(__file__).parents[3]
THREADS = str(ROOT / "examples" / "macro" / "threads.py")


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def program(text: str) -> str:
    Path("program.py").write_text(textwrap.dedent(text))
    return "program.py"


def test_a_violated_claim_gives_status_1_and_the_command_that_replays_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explore", "--macro", THREADS, "lossy"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("VIOLATED  G(no_lost_message) & G(!empty -> F empty)")
    assert "no_lost_message is false (G no_lost_message)" in out
    assert "Buffer got Producer#2 and not Consumer#1; the other way it holds" in out
    command = next(line for line in out.splitlines() if "replay: " in line).partition("replay: possibly ")[2]
    assert main(command.split()) == 1
    again = capsys.readouterr().out
    assert "since no_lost_message is false here" in again
    assert again.endswith("the same state as before\n")


def test_json_is_one_document_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--macro", "--json", THREADS, "right", "1", "1"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["verdict"], document["complete"], document["leaves"]) == ("holds", True, 2)
    assert document["properties"][0]["verdict"] == "holds"
    assert main(["replay", "--json", document["tree"], "--breakpoint", "2"]) == 0
    replayed = json.loads(capsys.readouterr().out)
    assert replayed["same"] is True
    assert replayed["processes"]["Buffer"]["variables"]["items"] == []


def test_a_tree_that_is_not_finished_is_undecided_and_gone_on_with(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["explore", "--macro", "--tree", "t.tree.json"]
    assert main([*arguments, "--executions", "1", THREADS]) == 3
    assert "UNDECIDED" in capsys.readouterr().out
    assert main([*arguments, THREADS]) == 0
    assert "4 paths; the whole tree" in capsys.readouterr().out
    assert main([*arguments, THREADS, "stuck"]) == 2
    assert "the tree of another program" in capsys.readouterr().err


def test_going_towards_a_formula(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--macro", "--towards", "F(Buffer.requests == 1)", THREADS]) == 3
    assert "towards F(Buffer.requests == 1): true at breakpoint" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("G(Buffer.x >", "program.py:2:"),
        ("G(main.nmber == 1)", "did you mean main.number?"),
    ],
)
def test_a_bad_claim_is_told_with_its_place_or_the_near_name(
    claim: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = program(f"""\
        import possibly, queue
        possibly.claim({claim!r})
        number = 1
        queue.Queue().put(number)
    """)
    assert main(["explore", "--macro", file]) == 2
    assert message in capsys.readouterr().err


def test_a_predicate_that_fails_counts_as_false_and_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    file = program("""\
        import possibly, queue
        @possibly.predicate
        def odd(s):
            return s.main.number % 0
        possibly.claim("G(!odd)")
        number = 1
        queue.Queue().put(number)
    """)
    assert main(["explore", "--macro", file]) == 0
    assert "odd: ZeroDivisionError" in capsys.readouterr().err


def test_what_is_not_controlled_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    file = program("""\
        import queue
        line = queue.PriorityQueue()
        line.put(1)
        assert line.get() == 1
    """)
    assert main(["explore", "--macro", file]) == 0
    assert "not controlled: PriorityQueue orders its items by itself" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["explore", "--macro"], "no program to run"),
        (["explore", "--macro", "missing.py"], "missing.py: no such file"),
        (["explore", "--macro", "--mpi", "0", THREADS], "at least one rank"),
        (["replay", "missing.tree.json"], "missing.tree.json"),
    ],
)
def test_bad_usage_is_one_sentence(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    err = capsys.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1


# ---- by hand --------------------------------------------------------------------------------------


def test_a_session_steps_chooses_marks_replays_looks_holds_and_saves() -> None:
    debugger = opened(Opening(str(ROOT / "examples" / "mutex" / "run.jsonl"), ""))

    def say(line: str) -> str:
        return execute(debugger, line).text

    assert "breakpoint 0, macro-step 0" in say(f"macro {THREADS} lossy")
    assert "breakpoint 1, macro-step 1" in say("macro-step")
    say("macro-step")
    say("macro-step")
    assert say("macro-choices").splitlines() == [
        "1: Buffer?1 <- Consumer#1",
        "2: Buffer?1 <- Producer#1",
    ]
    with pytest.raises(UsageError, match="there is a choice here"):
        say("macro-step")
    assert "items = [1]" in say("macro-step 2")
    assert say("macro-mark full") == "full is breakpoint 4"
    assert "Buffer is held before" in say("macro-hold Buffer")
    assert "has come to its next operation" in say("macro-until Buffer 1")
    assert "G(no_lost_message)" in say("macro-here")
    assert "waits for F empty" in say("macro-why")
    done = execute(debugger, "macro-traverse depth")
    assert done.status == 1
    assert "breakpoint 4," in say("macro-goto full")
    assert "items = [1]" in say("macro-vars Buffer")
    assert "[4]" in say("macro-tree")
    say("macro-save kept.tree.json")
    assert "full" in say("macro-load kept.tree.json")
    with pytest.raises(UsageError, match="there is no process Bufer"):
        say("macro-vars Bufer")
    debugger.kept["macro"].close()


def test_a_held_process_goes_on_by_line() -> None:
    file = program("""\
        import queue
        line = queue.Queue()
        line.put(1)
        a = 1
        b = 2
        line.get()
    """)
    session = MacroSession(checked_program([file], None))
    session.step()
    at, seen = session.hold("main")
    assert at.endswith("program.py:4")
    assert "a" not in seen.globals
    found = session.line("main")
    assert found is not None
    assert found[0].endswith("program.py:5")
    assert found[1].globals["a"] == 1
    last = session.until("main", 6)
    assert last is not None
    assert last[1].globals["b"] == 2
    assert session.line("main") is None
    session.close()


def test_the_page_draws_the_tree_and_its_buttons_work() -> None:
    session = MacroSession(checked_program([THREADS, "right", "1", "1"], None))
    live = LiveMacroTree(session, "buffer")
    session.goto(0)
    live.operate("depth", {})
    drawn = live.picture()
    assert drawn.claims == ("G(no_lost_message) & G(!empty -> F empty)",)
    assert drawn.nodes[0].parent is None
    assert {node.verdicts for node in drawn.nodes if not session.tree.nodes[int(node.id)].arcs} == {("true",)}
    live.operate("mark", {"node": "2", "name": "here"})
    live.operate("goto", {"node": "2"})
    assert live.picture().current == "2"
    assert live.picture().nodes[2].stopped
    choosing = next(n for n in session.tree.nodes if sum(arc.child is not None for arc in n.arcs) > 1)
    branch = max(number for number, arc in enumerate(choosing.arcs) if arc.child is not None)
    live.operate("step", {"node": str(choosing.number), "branch": str(branch + 1)})
    assert live.picture().current == str(choosing.arcs[branch].child)
    with pytest.raises(PossiblyError):
        live.operate("goto", {"node": "1000"})
    session.close()


def test_a_process_goes_on_by_line_in_the_page() -> None:
    session = MacroSession(checked_program([THREADS, "right", "1", "1"], None))
    live = LiveMacroTree(session, "buffer")
    live.operate("depth", {})
    node = next(n for n in session.tree.nodes if [each["process"] for each in n.done] == ["Buffer"])
    live.operate("goto", {"node": str(node.number)})
    live.operate("hold", {"process": "Buffer"})
    assert "Buffer is held before" in live.note and "items = " in live.note
    held = live.note
    live.operate("line", {"process": "Buffer"})
    assert "Buffer is held before" in live.note and live.note != held
    live.operate("until", {"process and line": "Buffer 1"})
    assert live.note == "Buffer has come to its next operation"
    with pytest.raises(UsageError, match="which process, and which line"):
        live.operate("until", {"process and line": "Buffer"})
    session.close()


def test_explore_yields_the_tree() -> None:
    tree, _ = explore(checked_program([THREADS, "right", "1", "1"], None), Plan())
    assert tree.verdict is True


def test_a_debugging_session_begins_at_the_first_breakpoint(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["debug", "--macro", "--command", "macro-here", THREADS]) == 0
    assert "breakpoint 0, macro-step 0" in capsys.readouterr().out


@pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not there")
def test_ranks_are_debugged_too(capsys: pytest.CaptureFixture[str]) -> None:
    ranks = str(ROOT / "examples" / "macro" / "ranks.py")
    assert main(["debug", "--mpi", "3", "--command", "macro-here", "--command", "macro-step", ranks]) == 0
    said = capsys.readouterr().out
    assert "breakpoint 0, macro-step 0" in said
    assert "breakpoint 1, macro-step 1" in said
    assert "rank2 at" in said


def test_the_temporal_debugger_steps_over_collective_breakpoints(capsys: pytest.CaptureFixture[str]) -> None:
    script = ["--command", "step F len(Buffer.items) == 1", "--command", "macro-save kept.tree.json"]
    assert main(["debug", "--macro", THREADS, "lossy", *script]) == 0
    out = capsys.readouterr().out
    assert "step 1: 4 transitions" in out
    assert "Buffer?1 <- Producer#1" in out
    again = ["--command", "step F done(Producer)", "--command", "macro-tree"]
    Path("kept.tree.json").rename("kept.json")  # whatever it is called, and wherever it is opened
    Path("elsewhere").mkdir()
    os.chdir("elsewhere")
    assert main(["debug", "../kept.json", *again]) == 0
    assert "[0] start" in capsys.readouterr().out


def test_steps_begin_where_a_breakpoint_was_gone_to() -> None:
    debugger = opened_macro([THREADS, "lossy"], None)

    def say(line: str) -> str:
        return execute(debugger, line).text

    say("macro-traverse depth 2")
    assert "under way: Consumer#1 = null in inbox" in say("macro-goto 3")
    assert say("step F(len(Buffer.items) == 1)").startswith("step 2: ")
    assert debugger.stack.path[3] == 3
    assert say("stack").splitlines()[1] == "1  goto 3: 3 transitions"
    say("save kept.session")
    say("load kept.session")
    assert debugger.stack.path[3] == 3
    say("pop")
    assert say("back") == "no other step (0 pairs); the step is removed"
    debugger.system.session.close()  # type: ignore[attr-defined]
