"""What `possibly attach` runs inside another process: it looks at frames and objects, and writes down what
it finds.

It imports nothing of possibly, calls no code of the program, and changes nothing. `ANSWER`, the file to
write, is put in front of it. What a thread waits for is read off its innermost frame: inside `threading`
and `queue` the object is a local variable; a `with lock:` or `lock.acquire()` of the program names it in
the source, and the name is looked up. Who holds a lock is known if its owner is recorded in it (RLock), or
if a thread is inside a `with` of it: another one, or the one that asks for it by a `with` again. A future of
a pool of threads is the business of the thread that computes it, or of all that take from its queue.
"""

from __future__ import annotations

import ast
import dis
import gc
import json
import linecache
import os
import sys
import threading
from typing import Any

ANSWER: str = globals().get("ANSWER", "")
LOCKS = (type(threading.Lock()), type(threading.RLock()))
DEEPEST = 20
ENTERING = ("BEFORE_WITH", "BEFORE_ASYNC_WITH")
AWAITING = ("acquire", "wait", "get", "put", "join")
LIBRARY = os.path.dirname(threading.__file__)


def looked_up(node: Any, frame: Any) -> Any:
    """The object that a name, or attributes of it, mean in a frame; no property and no __getattr__ is run."""
    if isinstance(node, ast.Name):
        places = (frame.f_locals, frame.f_globals)
        return next((place[node.id] for place in places if node.id in place), None)
    if isinstance(node, ast.Attribute):
        owner = looked_up(node.value, frame)
        found = getattr(owner, "__dict__", {}) if owner is not None else {}
        return found.get(node.attr)
    return None


def tree_of(frame: Any) -> Any:
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    try:
        return ast.parse("".join(lines))
    except SyntaxError:
        return ast.Module([], [])


def spot_of(frame: Any) -> Any:
    """The part of the source that the frame is at: (line, column) of its beginning and of its end."""
    line, end_line, column, end_column = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    if None in (line, end_line, column, end_column):
        return (frame.f_lineno, -1), (frame.f_lineno, -1)
    return (line, column), (end_line, end_column)


def span_of(first: Any, last: Any) -> Any:
    return (first.lineno, first.col_offset), (last.end_lineno, last.end_col_offset)


def item_at(node: Any, frame: Any) -> Any:
    """Which item of a `with` statement the frame is entering just now, if any.

    Up to Python 3.11 the instruction stands for the whole statement, and those before it are counted.
    """
    spot = spot_of(frame)
    for number, item in enumerate(node.items):
        if span_of(item.context_expr, item.context_expr) == spot:
            return number
    if span_of(node, node) != spot:
        return None
    code, positions = frame.f_code.co_code, list(frame.f_code.co_positions())
    here = positions[frame.f_lasti // 2]
    before = range(0, frame.f_lasti, 2)
    number = sum(dis.opname[code[at]] in ENTERING and positions[at // 2] == here for at in before)
    return number if dis.opname[code[frame.f_lasti]] in ENTERING and number < len(node.items) else None


def held_in(frame: Any) -> Any:
    """Objects of the `with` statements that the frame is inside of, or of which it has got that far."""
    found = []
    start, end = spot_of(frame)
    for node in ast.walk(tree_of(frame)):
        if isinstance(node, (ast.With, ast.AsyncWith)):
            first, last = span_of(node.body[0], node.body[-1])
            entering = item_at(node, frame)
            inside = len(node.items) if first <= start and end <= last else 0
            count = inside if entering is None else entering
            found += [looked_up(item.context_expr, frame) for item in node.items[:count]]
    return [each for each in found if each is not None]


def wanted_in(frame: Any) -> Any:
    """The lock that the frame asks for just now: `with lock:` or `lock.acquire()`."""
    spot = spot_of(frame)
    for node in ast.walk(tree_of(frame)):
        asked: list[tuple[Any, Any]] = []
        if isinstance(node, (ast.With, ast.AsyncWith)):
            entering = item_at(node, frame)
            if entering is not None:
                asked = [(None, node.items[entering].context_expr)]
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "acquire"
        ):
            asked = [(node, node.func.value)]
        for whole, named in asked:
            is_here = whole is None or span_of(whole, whole) == spot
            thing = looked_up(named, frame) if is_here else None
            if isinstance(thing, LOCKS):
                return thing, ast.unparse(named)
    return None, None


def is_limited(frame: Any) -> Any:
    """Whether it waits for some time only, so that nobody need let it go on."""
    limit = frame.f_locals.get("timeout")
    return isinstance(limit, (int, float)) and limit >= 0


def waiting(frame: Any) -> Any:
    """What a thread waits for, as a text, and the object: from its innermost frames."""
    here = frame
    for _ in range(DEEPEST):
        if here is None or not here.f_code.co_filename.startswith(LIBRARY):
            break
        thing, function = here.f_locals.get("self"), here.f_code.co_name
        if isinstance(thing, threading.Thread) and function in ("join", "_wait_for_tstate_lock"):
            return f"the end of {thing.name}", None if is_limited(here) else thing
        if type(thing).__module__ == "queue" and function in ("get", "put", "join"):
            return f"{function} of a {type(thing).__name__}", thing
        if isinstance(thing, threading.Event) and function == "wait":
            return "an Event to be set", thing
        if isinstance(thing, (threading.Barrier, threading.Semaphore)) and function in ("wait", "acquire"):
            return f"a {type(thing).__name__}", thing
        if type(thing).__name__ == "Future" and function == "result":
            return "the result of a Future", None if is_limited(here) else thing
        if isinstance(thing, threading.Condition) and function == "wait":
            outer = here.f_back.f_locals.get("self") if here.f_back is not None else None
            if not here.f_back or not here.f_back.f_code.co_filename.startswith(LIBRARY) or outer is None:
                return "a Condition to be notified", thing
        here = here.f_back
    if here is not None and not frame.f_code.co_filename.startswith(LIBRARY):
        lock, text = wanted_in(here)
        if lock is not None:
            return f"lock {text}", lock
    return None, None


def places(frame: Any) -> Any:
    found: list[str] = []
    while frame is not None and len(found) < 3:
        if not frame.f_code.co_filename.startswith((LIBRARY, "<")):
            found.append(f"{frame.f_code.co_filename}:{frame.f_lineno}")
        frame = frame.f_back
    return found


def asks_by_with(frame: Any) -> Any:
    """Whether the frame is entering a `with`; who releases a lock inside its `with` acquires it otherwise."""
    nodes = [node for node in ast.walk(tree_of(frame)) if isinstance(node, (ast.With, ast.AsyncWith))]
    return any(item_at(node, frame) is not None for node in nodes)


def queues_of(future: Any) -> Any:
    """The queues of pools in which the work for a future waits."""
    holders = gc.get_referrers(future)
    holders += [each for holder in holders if isinstance(holder, dict) for each in gc.get_referrers(holder)]
    found = [
        each for item in holders if type(item).__name__ == "_WorkItem" for each in gc.get_referrers(item)
    ]
    return found + [each for inner in found if isinstance(inner, list) for each in gc.get_referrers(inner)]


def working_on(future: Any, frames: Any, names: Any) -> Any:
    """The thread of a pool that computes the future, or those that may take it from their queue."""
    queues, found = queues_of(future), []
    for ident, frame in frames.items():
        while frame is not None:
            thing, function = frame.f_locals.get("self"), frame.f_code.co_name
            if type(thing).__name__ == "_WorkItem" and function == "run" and thing.future is future:
                return [names[ident]]
            taken_from = frame.f_locals.get("work_queue") if function == "_worker" else None
            if taken_from is not None and any(each is taken_from for each in queues):
                found.append(names[ident])
            frame = frame.f_back
    return found


def holders_of(thing: Any, me: Any, frames: Any, names: Any) -> Any:
    if isinstance(thing, threading.Thread):
        return [thing.name]
    if type(thing).__name__ == "Future":
        return working_on(thing, frames, names)
    owner = repr(thing).partition("owner=")[2].partition(" ")[0] if isinstance(thing, LOCKS) else ""
    if owner.isdigit() and int(owner) in names:
        return [names[int(owner)]]
    found = []
    for ident, frame in frames.items():
        if ident == me and not asks_by_with(frame):
            continue
        while frame is not None and isinstance(thing, LOCKS):
            if any(each is thing for each in held_in(frame)):
                found.append(names.get(ident, str(ident)))
                break
            frame = frame.f_back
    return found


def threads() -> Any:
    names = {each.ident: each.name for each in threading.enumerate()}
    frames: dict[int, Any] = {
        ident: frame for ident, frame in sys._current_frames().items() if ident in names
    }
    for ident, frame in frames.items():
        while frame is not None and frame.f_code.co_filename in ("possibly-attach", "<string>"):
            frame = frame.f_back
        frames[ident] = frame
    for ident, frame in frames.items():
        text, thing = waiting(frame)
        holders = holders_of(thing, ident, frames, names) if thing is not None else []
        yield {
            "name": names[ident], "kind": "thread", "where": places(frame), "waits_for": text,
            "holders": holders,
        }  # fmt: skip


def awaiting(task: Any) -> Any:
    """The frames of a task that waits, the innermost first."""
    found: list[Any] = []
    coroutine: Any = task.get_coro()
    while getattr(coroutine, "cr_frame", None) is not None and len(found) < DEEPEST:
        found.insert(0, coroutine.cr_frame)
        coroutine = coroutine.cr_await
    return found


def awaited(task: Any, frames: Any) -> Any:
    """What a task waits for, as a text, and the object."""
    waiter: Any = getattr(task, "_fut_waiter", None)
    if waiter is None:
        return None, None
    if hasattr(waiter, "get_coro"):
        return f"the end of {waiter.get_name()}", waiter
    for frame in frames:
        thing, function = frame.f_locals.get("self"), frame.f_code.co_name
        if type(thing).__module__ in ("asyncio.locks", "asyncio.queues") and function in AWAITING:
            return f"{function} of a {type(thing).__name__}", thing
    children = getattr(waiter, "_children", None)
    names = [each.get_name() for each in children or () if hasattr(each, "get_name") and not each.done()]
    return (f"the end of {', '.join(names)}", waiter) if names else ("a future", None)


def freed_by(thing: Any, task: Any, frames: Any) -> Any:
    """The tasks that a task waits for: one, those gathered, or whoever is inside a `with` of the lock."""
    if hasattr(thing, "get_coro"):
        return [thing.get_name()]
    children = getattr(thing, "_children", ())
    if children:
        return [each.get_name() for each in children if hasattr(each, "get_name") and not each.done()]
    return [
        other.get_name()
        for other, inside in frames.items()
        if other is not task and any(each is thing for frame in inside for each in held_in(frame))
    ]


def tasks() -> Any:
    module = sys.modules.get("asyncio.tasks")
    if module is None:
        return
    known = list(getattr(module, "_scheduled_tasks", ())) or list(getattr(module, "_all_tasks", ()))
    frames = {task: awaiting(task) for task in known if not task.done()}
    for task, inside in frames.items():
        text, thing = awaited(task, inside)
        own = [frame for frame in inside if not frame.f_code.co_filename.startswith((LIBRARY, "<"))]
        yield {
            "name": task.get_name(), "kind": "task", "waits_for": text,
            "where": [f"{frame.f_code.co_filename}:{frame.f_lineno}" for frame in own[:3]],
            "holders": [] if thing is None else freed_by(thing, task, frames),
        }  # fmt: skip


def main() -> None:
    found = {"waiters": [*threads(), *tasks()]}
    with open(ANSWER + ".part", "w", encoding="utf-8") as file:
        json.dump(found, file)
    os.replace(ANSWER + ".part", ANSWER)


if ANSWER:
    main()
