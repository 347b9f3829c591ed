"""Executions that go round for ever: starvation, and the livelock of tasks that give way to each other.

Law: if the same steps were done twice in a row, reading and writing the same values, and every task that did
them is where it was before, with the same local variables and locks, then they can be done again for ever.
Such a round is fair (strongly) if whoever did nothing in it could never go on in it. In a fair round

- a task that waits, whether it stands still or comes back each time without having changed anything, is
  starved, if others do change something: they go on for ever and it never does;
- if everybody who changes something also tries something in vain, all give way for ever: a livelock;
- else the program is one that need not end. That is no fault, but there is no end to explore; nor is there
  in a round that is not fair.

The test errs on one side only: whatever is not surely a round is explored further, up to the limit of steps.
"""

from __future__ import annotations

from collections import Counter
from types import CodeType
from typing import TYPE_CHECKING, Any

from possibly.control.execution import ENDLESS, SPIN, Outcome, Step
from possibly.control.runtime import memory as accesses
from possibly.control.runtime.spin import is_hidden, is_same, unwatched
from possibly.control.runtime.things import label_of

if TYPE_CHECKING:
    from possibly.control.runtime.kernel import Kernel, Task

FIRST, LONGEST = 96, 1_500
"""A round is looked for when an execution has so many steps; twice its length is at most the other number."""
WAITING = frozenset({"acquire", "release", "sleep", "timeout", "read", "wait", "wake", "await", "try", SPIN})
"""Steps that change nothing for others, unless they write memory."""
KNOWN = WAITING | frozenset("write notify set clear is_set locked take give put get assign".split())
VAIN = frozenset({"try", "timeout"})
PAIRS = {"take": "give", "give": "take", "put": "get", "get": "put"}
"""In a round there are as many of the one as of the other."""
PLAIN = frozenset({int, bool, float, type(None)})


def look(kernel: Kernel) -> None:
    """Ends the execution if it goes round."""
    number = len(kernel.steps)
    if number < FIRST:
        return
    length = _length(kernel.steps[-LONGEST:])
    if not length:
        return
    latest = kernel.steps[-length:]
    doing = [task for task in kernel.tasks if any(step.task == task.name for step in latest)]
    if not _is_round(kernel, latest, doing):
        return
    if _is_repeated():
        kernel.finish(Outcome.CUT_OFF, None)
    for task in doing:
        hidden = _hidden_on(task)
        if hidden is not None:
            kernel.look_inside(hidden)
            return
    if _is_fair(kernel, latest, doing):
        _tell(kernel, latest, doing)
    _cut_off(kernel, doing)


def _is_repeated() -> bool:
    """Whether this is executed once more, with more to see."""
    memory = accesses.memory
    return memory is not None and not memory.racy.keys().isdisjoint(memory.overflowed)


def _length(steps: list[Step]) -> int:
    """How many steps were done twice in a row at the end; 0 for none."""
    marks = [_mark(step) for step in reversed(steps)]
    for length in range(2, len(marks) // 2 + 1):
        if marks[length] == marks[0] and marks[:length] == marks[length : 2 * length]:
            return length
    return 0


def _mark(step: Step) -> tuple[Any, ...]:
    operation = step.operation
    return step.task, operation.kind, operation.thing, operation.at, _value(step.detail)


def _value(detail: Any) -> Any:
    return repr(detail.get("value")) if isinstance(detail, dict) else None


def _is_round(kernel: Kernel, latest: list[Step], doing: list[Task]) -> bool:
    names = {task.name for task in doing}
    if any(step.task not in names or step.operation.kind not in KNOWN for step in latest):
        return False
    if any(_writes_memory(step) and not _is_plain(step.detail) for step in latest):
        return False
    kinds = Counter((step.operation.kind, step.operation.thing) for step in latest)
    if any(kinds[PAIRS[kind], thing] != count for (kind, thing), count in kinds.items() if kind in PAIRS):
        return False
    counts = Counter(step.task for step in latest)
    return all(_is_back(task, counts[task.name]) for task in doing) and _is_hidden_alike(kernel, len(latest))


def _writes_memory(step: Step) -> bool:
    return step.operation.kind == "write"


def _is_plain(detail: Any) -> bool:
    return isinstance(detail, dict) and "value" in detail and type(detail["value"]) in PLAIN


def _is_back(task: Task, steps: int) -> bool:
    """The task is where it was so many steps ago."""
    history = task.trail.history
    for back in range(1, steps + 1):
        if len(history) < back + steps:
            return False
        now, then = history[-back], history[-back - steps]
        if now[2] != then[2]:
            return False
        if now[0] is not None and then[0] is not None:
            return now[1] == then[1] and is_same(now[0], then[0]) and not is_hidden(now[0])
    return False


def _hidden_on(task: Task) -> CodeType | None:
    """Code of a package that the task is in, and which is not watched."""
    stacks = (stack for stack, _, _ in reversed(task.trail.history) if stack is not None)
    return unwatched(next(stacks, []))


def _is_hidden_alike(kernel: Kernel, length: int) -> bool:
    """What was done to memory inside the steps of the last two rounds is the same."""
    memory, end = accesses.memory, len(kernel.steps)
    if memory is None or (end - memory.unlogged) // length <= 1:
        return False
    rounds: list[list[Any]] = [[], []]
    for each in reversed(memory.log):
        which = (end - each.step) // length
        if which > 1:
            break
        if each.operation.footprint[0].writes and not _is_plain(each.detail):
            return False
        offset = (end - each.step) % length
        rounds[which].append((offset, each.task, each.operation.thing, each.family, _value(each.detail)))
    return rounds[0] == rounds[1]


def _is_fair(kernel: Kernel, latest: list[Step], doing: list[Task]) -> bool:
    others = [task for task in kernel.tasks if task not in doing and task.operation is not None]
    return not any(task.name in step.enabled for task in others for step in latest)


def _tell(kernel: Kernel, latest: list[Step], doing: list[Task]) -> None:
    writers = _hidden_writers(kernel, len(latest))
    changing = [task for task in doing if _changes(task, latest, writers)]
    waiting = [task for task in kernel.tasks if task not in changing and _counts(task)]
    kernel.settle_labels()
    if changing and waiting:
        kernel.finish(Outcome.LIVELOCK, _failure("starvation", kernel, waiting, changing, latest))
    in_vain = {step.task for step in latest if step.operation.kind in VAIN}
    if changing and all(task.name in in_vain for task in changing):
        kernel.finish(Outcome.LIVELOCK, _failure("livelock", kernel, changing, changing, latest))


def _cut_off(kernel: Kernel, doing: list[Task]) -> None:
    names = " and ".join(task.label for task in doing)
    kernel.uncontrolled[f"{ENDLESS}: {names} can go on for ever"] = "let it end after some rounds"
    kernel.finish(Outcome.CUT_OFF, None)


def _changes(task: Task, latest: list[Step], writers: set[str]) -> bool:
    kinds = {step.operation.kind for step in latest if step.task == task.name}
    return not kinds <= WAITING or not kinds.isdisjoint(VAIN) or task.name in writers


def _hidden_writers(kernel: Kernel, length: int) -> set[str]:
    """Who changed memory inside the steps of the last round: what locks protect, or what is its own."""
    log = accesses.memory.log if accesses.memory is not None else []
    since = len(kernel.steps) - length
    return {each.task for each in log if each.step > since and each.operation.footprint[0].writes}


def _counts(task: Task) -> bool:
    """A task that waits for others to end is not what is kept from going on."""
    operation = task.operation
    return not task.daemon and operation is not None and operation.kind not in ("join", "join any", "exit")


def _failure(
    kind: str, kernel: Kernel, stuck: list[Task], going: list[Task], latest: list[Step]
) -> dict[str, Any]:
    rows = [_row(task, kernel, latest) for task in stuck]
    told = "; ".join(row["text"] for row in rows)
    if kind == "starvation":
        told += f", while {' and '.join(task.label for task in going)} can go on for ever"
    first = stuck[0]
    return {
        "kind": kind,
        "message": told,
        "task": first.name,
        "place": rows[0]["at"],
        "waiting": [],
        "cycle": [],
        "round": [step.task for step in latest],
    }


def _row(task: Task, kernel: Kernel, latest: list[Step]) -> dict[str, Any]:
    operation = task.operation
    assert operation is not None
    mine = [step.operation for step in latest if step.task == task.name]
    read = [each.thing for each in mine if each.kind in ("read", SPIN, "try")] or [operation.thing]
    things = list(dict.fromkeys(label_of(thing, kernel.labels) or thing for thing in read))
    verb = "comes back to" if mine else f"waits in {operation.kind} on"
    place = f" ({operation.at})" if operation.at else ""
    return {"at": operation.at, "text": f"{task.label} {verb} {', '.join(things)}{place}"}
