"""Commands of the temporal debugger for macro-steps: the tree of collective breakpoints, by hand.

`macro PROGRAM [ARGUMENTS]` (or `macro mpi N PROGRAM`) begins; the other commands step, choose, traverse,
replay, look, hold and save: the means that "Integrating temporal assertions into a parallel debugger"
(section 2) gives the user. The session is kept with the debugger and ends with it.
"""

from __future__ import annotations

import atexit
import shlex
from collections.abc import Iterable

from possibly.control.macro.explore import Plan
from possibly.control.macro.tree import Tree
from possibly.control.macro.why import violations
from possibly.errors import UsageError
from possibly.session.debugging.macro import stand_at
from possibly.session.debugging.temporal import Debugger
from possibly.session.macro_steps.tree import MacroSession, checked_program, program_of, summary
from possibly.views.cli.debugger.commands import Command, Reply
from possibly.views.text.macro import choice_words, report, tree_lines, violation_lines
from possibly.views.text.macro_state import breakpoint_document, breakpoint_lines, process_lines

KEY = "macro"
REPLAY = "macro-goto {}"


def session_of(debugger: Debugger) -> MacroSession:
    found = debugger.kept.get(KEY) or getattr(debugger.system, "session", None)
    if not isinstance(found, MacroSession):
        raise UsageError("no program is stepped by macro-steps", hint="macro PROGRAM [ARGUMENTS]")
    return found


def begin(debugger: Debugger, session: MacroSession) -> None:
    """From now on the commands speak of this session."""
    previous = debugger.kept.get(KEY)
    if isinstance(previous, MacroSession):
        previous.close()
    debugger.kept[KEY] = session
    atexit.register(session.close)


def _macro(debugger: Debugger, rest: str) -> Reply:
    words, ranks = shlex.split(rest), None
    if words[:1] == ["mpi"]:
        if len(words) < 3 or not words[1].isdigit():
            raise UsageError("how many ranks, and which program?", hint="macro mpi 3 PROGRAM")
        ranks, words = int(words[1]), words[2:]
    begin(debugger, MacroSession(checked_program(words, ranks)))
    return _here(debugger)


def _load(debugger: Debugger, rest: str) -> Reply:
    tree = Tree.load(rest)
    begin(debugger, MacroSession(program_of(tree), tree))
    return _tree(debugger, "")


def _save(debugger: Debugger, rest: str) -> Reply:
    if not rest:
        raise UsageError("where to?", hint="macro-save FILE.tree.json")
    session_of(debugger).tree.save(rest)
    return Reply(f"saved in {rest}", {"file": rest})


def _here(debugger: Debugger) -> Reply:
    session = session_of(debugger)
    point = session.here()
    lines = list(breakpoint_lines(session.tree, session.node, point))
    return Reply("\n".join(lines), breakpoint_document(session.tree, session.node, point))


def _step(debugger: Debugger, rest: str) -> Reply:
    if rest and not rest.isdigit():
        raise UsageError(f"{rest} is no branch", hint="macro-step 2")
    session_of(debugger).step(int(rest) if rest else None)
    return _here(debugger)


def _goto(debugger: Debugger, rest: str) -> Reply:
    session = session_of(debugger)
    marks = session.tree.marks
    if not rest.isdigit() and rest not in marks:
        raise UsageError(f"there is no breakpoint {rest}", hint="macro-tree shows them")
    session.goto(int(rest) if rest.isdigit() else marks[rest])
    stand_at(debugger, session.node)
    return _here(debugger)


def _mark(debugger: Debugger, rest: str) -> Reply:
    session = session_of(debugger)
    if not rest or rest.isdigit():
        raise UsageError("a meta-breakpoint needs a name", hint="macro-mark full")
    session.mark(rest)
    return Reply(f"{rest} is breakpoint {session.node}", {"mark": rest, "breakpoint": session.node})


def _traverse(debugger: Debugger, rest: str) -> Reply:
    session = session_of(debugger)
    word, _, more = rest.partition(" ")
    if word == "towards":
        if not more:
            raise UsageError("towards which formula?", hint="macro-traverse towards F(Buffer.number == 2)")
        plan = Plan("towards", goal=more)
    else:
        strategy = word or "depth"
        if strategy not in ("depth", "breadth", "random") or (more and not more.isdigit()):
            raise UsageError(f"{rest} is no traversal", hint="depth, breadth or random, then how many")
        plan = Plan(strategy, most=int(more) if more else None)
    session.traverse(plan)
    lines = report(session.tree, REPLAY)
    return Reply("\n".join(lines), summary(session.tree), 1 if session.tree.verdict is False else 0)


def _tree(debugger: Debugger, rest: str) -> Reply:
    session = session_of(debugger)
    return Reply("\n".join(tree_lines(session.tree)), session.tree.document())


def _variables(debugger: Debugger, rest: str) -> Reply:
    session = session_of(debugger)
    seen = session.seen(rest or None)
    lines = [line for name, each in sorted(seen.items()) for line in process_lines(name, each, bool(rest))]
    return Reply("\n".join(lines), {name: each._asdict() for name, each in seen.items()})


def _hold(debugger: Debugger, rest: str) -> Reply:
    at, seen = session_of(debugger).hold(rest)
    return Reply("\n".join([f"{rest} is held before {at}", *process_lines(rest, seen)]), {"at": at})


def _line(debugger: Debugger, rest: str) -> Reply:
    found = session_of(debugger).line(rest)
    if found is None:
        return Reply(f"{rest} has come to its next operation", {"at": None})
    at, seen = found
    return Reply("\n".join([f"{rest} before {at}", *process_lines(rest, seen)]), {"at": at})


def _until(debugger: Debugger, rest: str) -> Reply:
    process, _, line = rest.rpartition(" ")
    if not process or not line.isdigit():
        raise UsageError("which process, and which line?", hint="macro-until Buffer 12")
    found = session_of(debugger).until(process, int(line))
    if found is None:
        return Reply(f"{process} has come to its next operation", {"at": None})
    return Reply(
        "\n".join([f"{process} before {found[0]}", *process_lines(process, found[1])]), {"at": found[0]}
    )


def _why(debugger: Debugger, rest: str) -> Reply:
    session = session_of(debugger)
    found = violations(session.tree)
    lines = [line for each in found for line in violation_lines(session.tree, each, REPLAY)]
    if not found:
        node = session.tree.nodes[session.node]
        lines = [f"{each['claim']} {text}" for each in node.verdicts for text in each.get("waits", ())]
    return Reply(
        "\n".join(lines) or "no claim is violated, and none waits for anything", {"count": len(found)}
    )


def _branches(debugger: Debugger) -> Iterable[str]:
    return [str(number) for number, _ in enumerate(session_of(debugger).branches(), start=1)]


def _processes(debugger: Debugger) -> Iterable[str]:
    return sorted(session_of(debugger).here().state.seen)


def _choices(debugger: Debugger, rest: str) -> Reply:
    arcs = session_of(debugger).branches()
    lines = [f"{number}: {choice_words(arc.selection)}" for number, arc in enumerate(arcs, start=1)]
    return Reply("\n".join(lines) or "the path ends here", {"choices": lines})


COMMANDS = (
    Command("macro", "macro [mpi N] PROGRAM [ARGUMENTS]", "step a program by macro-steps", _macro),
    Command("macro-load", "macro-load FILE", "a tree that was saved, with its program", _load),
    Command("macro-save", "macro-save FILE", "save the tree", _save),
    Command("macro-here", "macro-here", "this collective breakpoint", lambda d, rest: _here(d)),
    Command("macro-choices", "macro-choices", "the branches from here", _choices),
    Command("macro-step", "macro-step [BRANCH]", "one macro-step, along a branch", _step, _branches),
    Command("macro-goto", "macro-goto N|NAME", "replay to a breakpoint", _goto),
    Command("macro-mark", "macro-mark NAME", "a meta-breakpoint: a name for this breakpoint", _mark),
    Command(
        "macro-traverse",
        "macro-traverse [depth|breadth|random] [N] | towards FORMULA",
        "let the system elaborate the tree",
        _traverse,
    ),
    Command("macro-tree", "macro-tree", "the tree so far", _tree),
    Command("macro-vars", "macro-vars [PROCESS]", "variables at this breakpoint", _variables, _processes),
    Command(
        "macro-hold", "macro-hold PROCESS", "stop it after its operation, to go by line", _hold, _processes
    ),
    Command("macro-line", "macro-line PROCESS", "a held process executes one line", _line, _processes),
    Command("macro-until", "macro-until PROCESS LINE", "an ordinary breakpoint for a held process", _until),
    Command("macro-why", "macro-why", "why claims are false, or what they wait for", _why),
)
