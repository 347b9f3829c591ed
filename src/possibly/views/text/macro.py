"""The tree of macro-steps as text: what is violated and why, the path, the tree itself.

Pure functions of a tree. Everything that comes from the program is made safe for a terminal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from possibly.control.macro.model import Choice
from possibly.control.macro.tree import Tree, TreeNode
from possibly.control.macro.why import Violation, violations
from possibly.session.macro_steps.tree import claims_of, node_words, properties_of, summary
from possibly.verdict.model import Truth
from possibly.views.text.words import count_text, plain

if TYPE_CHECKING:
    from possibly.session.macro_steps.answer import FailingPath

SHOWN = 15
"""Macro-steps at each end of a long path."""
VERDICTS = {True: "true", False: "false", None: "unknown"}


def report(tree: Tree, replay: str, full: bool = False) -> Iterator[str]:
    """The answer about a program: `replay` is the command that replays a breakpoint, with {} for it."""
    found = violations(tree)
    for violation in found:
        yield from violation_lines(tree, violation, replay, full)
    if not found:
        yield from _claims(tree)
    yield from limits(tree)
    if full:
        yield from tree_lines(tree)
    yield summary_line(tree)


def summary_line(tree: Tree) -> str:
    """How much was looked at."""
    counts = summary(tree)
    words = [
        count_text(counts["executions"], "execution"),
        count_text(counts["breakpoints"], "breakpoint"),
        count_text(counts["paths"], "path"),
    ]
    if counts["joined"]:
        words[1] += f" ({counts['joined']:,} equal to others)"
    perhaps = f", perhaps {counts['estimate']:,} paths in all" if counts["paths"] else ""
    left = f"open branches: {counts['open']}{perhaps}" if counts["open"] else "not the whole tree"
    whole = "the whole tree" if counts["complete"] else left
    return f"{', '.join(words)}; {whole}"


def _claims(tree: Tree) -> Iterator[str]:
    word = {True: "HOLDS", None: "UNDECIDED", False: "VIOLATED"}[tree.verdict]
    claims = claims_of(tree)
    for claim, at in claims:
        yield plain(f"{word}  {claim}  ({at})")
    if not claims and not properties_of(tree):
        yield f"{word}  no claim is made; no path fails"
    for found in properties_of(tree):
        yield plain(f"{word}  {found['name']} = {found['formula']}")
    if tree.verdict:
        for each in tree.assumed:
            yield f"  provided that {each}"


def limits(tree: Tree) -> Iterator[str]:
    """What was outside our control: with any of it nothing is proved."""
    for each in tree.uncontrolled:
        yield plain(f"not controlled: {each}")
    for each in tree.diverged:
        yield plain(f"not repeatable: {each}")
    for each in tree.undecided:
        yield plain(f"undecided: {each}")


def violation_lines(tree: Tree, found: Violation, replay: str, full: bool = False) -> Iterator[str]:
    if found.language:
        yield plain(f"VIOLATED  {found.at} = {found.claim}")
    elif found.claim:
        yield plain(f"VIOLATED  {found.claim}  ({found.at})")
    else:
        yield plain(f"{found.end.upper()}  {found.detail}")
    if found.claim and not found.order and not found.language:
        step = tree.nodes[found.node].depth
        yield f"  false at breakpoint {found.node}, macro-step {step}: {_because(found)}"
    if found.language == "checker":
        yield plain(f"  on the path to breakpoint {found.leaf}: {found.said or 'it does not say why'}")
    if found.language not in ("", "checker") or found.order:
        yield from order_lines(tree, found, full)
    else:
        yield "  the way there:"
        yield from path_lines(tree.path(found.node)[1:], full)
    if found.difference is not None:
        yield "  the order that makes the difference:"
        yield plain(f"    {difference_words(tree, found)}")
        if cure := cure_words(tree, found):
            yield plain(f"  cure (order of arrival): {cure}")
    elif found.end == "deadlock" and (known := deadlock_cure(tree.nodes[found.leaf])):
        yield plain(f"  cure ({known[0]}): {known[1]}")
    yield plain(f"  replay: {replay.format(found.node)}")


def order_lines(tree: Tree, found: Violation, full: bool) -> Iterator[str]:
    """An order of the operations of a path that no sequence of breakpoints shows."""
    because = _because(found) if found.atoms or found.broken else "false"
    yield f"  on the path to breakpoint {found.leaf}, where its processes are not in step: {because}"
    yield "  in this order:" if found.order else "  at its beginning"
    hidden = len(found.order) - 2 * SHOWN if not full else 0
    for index, (process, text, at) in enumerate(found.order):
        if index == SHOWN and hidden > 1:
            yield f"         ... {hidden} operations ..."
        if hidden <= 1 or not SHOWN <= index < SHOWN + hidden:
            yield plain(f"    {index + 1:>3}  {process} {text}" + (f" at {at}" if at else ""))


def path_lines(path: list[TreeNode], full: bool) -> Iterator[str]:
    """The macro-steps of a path; of a long one the two ends."""
    hidden = len(path) - 2 * SHOWN if not full else 0
    for index, node in enumerate(path):
        if index == SHOWN and hidden > 1:
            yield f"         ... {hidden} macro-steps ..."
        if hidden <= 1 or not SHOWN <= index < SHOWN + hidden:
            yield plain(f"    {node.depth:>3}  [{node.number}] {node_words(node)}")


def _because(found: Violation) -> str:
    if found.only_at_the_end:
        return plain(f"the path ends and {' and '.join(found.broken)} is not fulfilled")
    atoms = ", ".join(f"{text} is {'true' if value else 'false'}" for text, value in found.atoms)
    broken = f" ({' and '.join(found.broken)})" if found.broken else ""
    return plain((atoms or "nothing can fulfil it any more") + broken)


def difference_words(tree: Tree, found: Violation) -> str:
    """`at breakpoint 17 rank1 received rank0#3 and not rank2#1; with that, all is well (leaf 31)`."""
    difference = found.difference
    assert difference is not None
    chosen, other = difference.chosen, difference.other
    if chosen.receive == other.receive and "nothing" not in (chosen.kind, other.kind):
        words = f"{chosen.process} got {chosen.message} and not {other.message}"
    else:
        words = f"{chosen} and not {other}"
    return (
        f"at breakpoint {difference.node} {words}; the other way it holds (breakpoint {difference.holds_at})"
    )


def cure_words(tree: Tree, found: Violation) -> str:
    """Where one receive could get either message: it has to know which, or not to care."""
    difference = found.difference
    assert difference is not None
    chosen, other = difference.chosen, difference.other
    if chosen.receive != other.receive or not chosen.message or not other.message:
        return ""
    got = next((each for each in _received(tree, found) if chosen.message in each["messages"]), None)
    if got is None:
        return ""
    where = f" at {got['at']}" if got["at"] else ""
    another = (
        "name the sender there" if "ANY_SOURCE" in got["text"] else "give each sender a channel of its own"
    )
    return (
        f"what {chosen.process} gets{where} comes in the order of arrival: number what is sent, or {another}"
    )


SENDS = frozenset({"send", "ssend", "bsend", "rsend", "put"})
RECEIVES = frozenset({"recv", "mrecv", "get"})


def deadlock_cure(leaf: TreeNode) -> tuple[str, str] | None:
    """What would help where every path ends with nobody going on: by what each waits in."""
    words = [text.partition("(")[0].lower() for _, text, _ in leaf.pending]
    names = " and ".join(process for process, _, _ in leaf.pending)
    if not words:
        return None
    if len(words) > 1 and SENDS.issuperset(words):
        return "all send first", f"{names} send before they receive: let one receive first, or use sendrecv"
    if len(words) > 1 and RECEIVES.issuperset(words):
        return "all receive first", f"{names} wait for a message before they send one: let one send first"
    ranked = sorted(zip(words, leaf.pending, strict=True), key=lambda each: each[0] in RECEIVES | SENDS)
    word, (process, text, at) = ranked[0]
    where = f" at {at}" if at else ""
    if word in RECEIVES:
        return "missing message", f"nobody is left who sends what {process} waits for in {text}{where}"
    if word in SENDS:
        return "missing receive", f"nobody is left who receives what {process} sends in {text}{where}"
    return "not all take part", f"every process has to come to {text}{where}, in the same order"


def _received(tree: Tree, found: Violation) -> Iterator[dict[str, Any]]:
    """The operations on the way from the choice that makes the difference."""
    difference = found.difference
    assert difference is not None
    path = tree.path(found.leaf)
    begins = next(index for index, node in enumerate(path) if node.number == difference.node)
    return (each for node in path[begins:] for each in node.done)


def tree_lines(tree: Tree) -> Iterator[str]:
    """The tree, a line a breakpoint; where there is no choice the lines do not move to the right."""
    if not tree.nodes:
        return
    pending: list[tuple[int, int, str]] = [(0, 0, "")]
    while pending:
        number, indent, label = pending.pop()
        node = tree.nodes[number]
        yield plain("  " * indent + _node_line(tree, node, label))
        inner = indent + (1 if len(node.arcs) > 1 else 0)
        for arc in reversed(node.arcs):
            name = ", ".join(map(str, arc.selection))
            if arc.child is not None:
                pending.append((arc.child, inner, name))
        for arc in node.arcs:
            if arc.is_open:
                yield plain("  " * inner + f"[ ] {choice_words(arc.selection)}  (not taken yet)")


def _node_line(tree: Tree, node: TreeNode, label: str) -> str:
    verdicts = " ".join(VERDICTS[each["verdict"]] for each in node.verdicts)
    marks = [name for name, number in tree.marks.items() if number == node.number]
    same = f"(goes on as [{node.joins}])" if node.joins is not None else ""
    parts = [f"[{node.number}]", f"{label}:" if label else "", node_words(node), verdicts, same, *marks]
    return " ".join(part for part in parts if part)


def choice_words(choices: tuple[Choice, ...]) -> str:
    return ", ".join(map(str, choices)) or "the next macro-step"


def shown_path(failure: FailingPath) -> dict[str, Any]:
    """What whoever asks for the verdict alone wants to know of a failure."""
    tree, found = failure.tree, failure.violation
    path = tree.path(found.node)[1:]
    decides = []
    if found.difference is not None:
        first, then = (
            {"task": each.process, "place": "", "what": str(each)}
            for each in (found.difference.chosen, found.difference.other)
        )
        decides = [{"breakpoint": found.difference.node, "first": first, "then": then}]
    return {
        "kind": failure.kind,
        "message": failure.message,
        "schedule": [str(choice) for node in path for choice in tree.arc_to(node).selection],
        "steps": list(_steps(path, found)),
        "decides": decides,
    }


def _steps(path: list[TreeNode], found: Violation) -> Iterator[dict[str, Any]]:
    if found.order:
        yield from ({"task": p, "place": at, "what": text, "values": {}} for p, text, at in found.order)
        return
    for node in path:
        for each in node.done:
            got = f" <- {', '.join(each['messages'])}" if each["messages"] else ""
            what = f"{each['text']}{got}"
            yield {"task": each["process"], "place": each["at"], "what": what, "values": {}}


def tree_document(tree: Tree, file: str, replay: str) -> dict[str, Any]:
    """What a tree says beside its answer, for --json."""
    found = violations(tree)
    broken = {(each.claim, each.at) for each in found}
    otherwise = Truth.of(tree.verdict is True or None).value
    properties = [
        {
            "name": claim,
            "language": "claim",
            "formula": claim,
            "at": at,
            "verdict": "violated" if (claim, at) in broken else otherwise,
        }
        for claim, at in claims_of(tree)
    ]
    properties += [
        {**each, "verdict": "violated" if (each["formula"], each["name"]) in broken else otherwise}
        for each in properties_of(tree)
    ]
    counts = summary(tree)
    return {
        "tree": file,
        "breakpoints": counts["breakpoints"],
        "leaves": counts["leaves"],
        "joined": counts["joined"],
        "paths": counts["paths"],
        "branches": counts["open"],
        "estimate": counts["estimate"],
        "properties": properties,
        "uncontrolled": tree.uncontrolled,
        "undecided": tree.undecided,
        "diverged": tree.diverged,
        "violations": [_violation_document(tree, each, replay) for each in found],
    }


def _violation_document(tree: Tree, found: Violation, replay: str) -> dict[str, Any]:
    difference = found.difference
    return {
        "claim": found.claim or None,
        "at": found.at or None,
        "breakpoint": found.node,
        "macro_step": tree.nodes[found.node].depth,
        "end": found.end,
        "detail": found.detail,
        "atoms": dict(found.atoms),
        "broken": list(found.broken),
        "language": found.language or None,
        "order": [dict(zip(("process", "operation", "at"), one, strict=True)) for one in found.order],
        "path": [node.number for node in tree.path(found.node)],
        "difference": None
        if difference is None
        else {
            "breakpoint": difference.node,
            "chosen": list(difference.chosen),
            "other": list(difference.other),
            "holds_at": difference.holds_at,
        },
        "replay": replay.format(found.node),
    }
