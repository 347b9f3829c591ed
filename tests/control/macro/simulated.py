"""Small message-passing programs as data, a system that runs them, and their matchings by brute force.

A program is a list of operations for each process: `("send", to)`, `("send", to, tag)`, `("ssend", to)`,
`("recv", source or None)`, `("recv", source or None, tag)`, `("post", source or None)` with `("wait", k)` for
the k-th post, `("test", k)`, `("testall", k, ...)`, `("waitany", k, ...)`, `("probe", source or None, tag)`,
`("iprobe", ...)`, `("barrier",)`, `("bcast", root)`; `("put", queue)`, `("put", queue, capacity)`,
`("feed", queue)` for a put that enters later, `("get", queue)`, and `("try", queue)` for a get that may find
nothing.

Brute force executes every interleaving of the definitions: MPI keeps the messages of one sender in order for
the receive that fits both; a receive posted earlier by the same process is served before a later one that
fits the same message; a queue is a list.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from possibly.control.macro.claims import Collective
from possibly.control.macro.explore import Explorer, Plan
from possibly.control.macro.model import Completion, Moment, Operation, Process, Receive, Seen
from possibly.control.macro.tree import Tree, TreeNode

Program = dict[str, list[tuple[Any, ...]]]
Matching = frozenset[tuple[str, str]]
ASKING = ("test", "testall", "waitany")


class Simulated:
    """A `System` whose processes do what the lists say."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.at = dict.fromkeys(program, 0)
        self.receives = dict.fromkeys(program, 0)
        self.barriers = dict.fromkeys(program, 0)
        self.posts: dict[str, list[str]] = {process: [] for process in program}
        self.finished: dict[str, set[str]] = {process: set() for process in program}
        """Requests that a wait or a test has seen done."""
        self.closed = False

    def begin(self) -> Moment:
        return self._moment(list(self.program), {}, tuple((p, None, ()) for p in self.program))

    def proceed(self, completions: list[Completion], going: list[Process]) -> Moment:
        done = [each.process for each in completions]
        for each in completions:
            self._finish(each)
            self.at[each.process] += 1
        return self._moment(done, {p: self._seen(p) for p in done})

    def evaluate(self, process: Process, predicate: str, state: Collective) -> bool | str:
        return "no predicates here"

    def thread_of(self, process: Process) -> tuple[int, str]:
        return list(self.program).index(process), process

    def content(self, process: Process) -> bytes:
        """All that a process holds."""
        held = (
            self.at[process],
            self.receives[process],
            self.barriers[process],
            self.posts[process],
            sorted(self.finished[process]),
        )
        return repr(held).encode()

    def close(self) -> None:
        self.closed = True

    def _finish(self, completion: Completion) -> None:
        kind, *numbers = self.program[completion.process][self.at[completion.process]]
        if kind in ("wait", "testall") and not completion.nothing:
            done = [self.posts[completion.process][number] for number in numbers]
        else:
            done = [completion.first] if completion.first else []
        self.finished[completion.process].update(done)

    def _seen(self, process: Process) -> Seen:
        return Seen(at=f"{process}:{self.at[process]}", variables={"steps": self.at[process]})

    def _moment(self, processes: list[str], breaks: dict[str, Seen], started: Any = ()) -> Moment:
        pending = {process: self._pending(process) for process in processes}
        return Moment(pending, {p: self._seen(p) for p in processes}, breaks, started)

    def _pending(self, process: str) -> Operation:
        posts: list[Receive] = []
        line = self.program[process]
        while self.at[process] < len(line) and self._is_at_once(process, *line[self.at[process]]):
            if line[self.at[process]][0] == "post":
                source, tag = _filter(line[self.at[process]])
                posts.append(self._receive(process, (f"box {process}",), source, tag))
                self.posts[process].append(posts[-1].name)
            self.at[process] += 1
        return self._operation(process)._replace(posts=tuple(posts))

    def _is_at_once(self, process: str, kind: str, *numbers: Any) -> bool:
        """A post, and asking for requests that are all finished: no operation for the controller."""
        return kind == "post" or (kind in ASKING and not self._asked(process, numbers))

    def _asked(self, process: str, numbers: tuple[int, ...]) -> tuple[str, ...]:
        names = [self.posts[process][number] for number in numbers]
        return tuple(name for name in names if name not in self.finished[process])

    def _receive(
        self, process: str, channels: tuple[str, ...], source: Any = None, tag: Any = None
    ) -> Receive:
        self.receives[process] += 1
        return Receive(f"{process}?{self.receives[process]}", process, channels, source, tag)

    def _operation(self, process: str) -> Operation:
        line = self.program[process]
        if self.at[process] == len(line):
            return Operation("end")
        kind, *rest = line[self.at[process]]
        match kind:
            case "send" | "ssend":
                tag = rest[1] if len(rest) > 1 else "0"
                sync = kind == "ssend"
                box = f"box {rest[0]}"
                return Operation("send", channel=box, to=rest[0], tag=tag, synchronous=sync, order="source")
            case "recv":
                source, tag = _filter(line[self.at[process]])
                receive = self._receive(process, (f"box {process}",), source, tag)
                return Operation("receive", receive=receive)
            case "wait":
                return Operation("wait", requests=(self.posts[process][rest[0]],))
            case "test" | "testall" | "waitany":
                asked = self._asked(process, tuple(rest))
                return Operation("wait", requests=asked, first=kind != "testall", optional=kind != "waitany")
            case "probe" | "iprobe":
                source, tag = _filter(line[self.at[process]])
                receive = self._receive(process, (f"box {process}",), source, tag)
                looking = receive._replace(peeks=True, optional=kind == "iprobe", mailbox=True)
                return Operation("receive", receive=looking)
            case "put":
                capacity = rest[1] if len(rest) > 1 else 0
                return Operation("send", channel=rest[0], capacity=capacity, order="causal")
            case "feed":
                return Operation("send", channel=rest[0], order="later")
            case "get" | "try":
                receive = self._receive(process, (rest[0],))._replace(optional=kind == "try")
                return Operation("receive", receive=receive)
        self.barriers[process] += 1
        awaited = tuple(self.program) if kind == "barrier" else tuple({rest[0]} - {process})
        return Operation("collective", channel=f"{self.barriers[process]}", members=awaited)


def _filter(line: tuple[Any, ...]) -> tuple[Any, Any]:
    return line[1] if len(line) > 1 else None, line[2] if len(line) > 2 else None


def explored(program: Program, plan: Plan | None = None) -> Tree:
    return Explorer(lambda: Simulated(program), Tree(), plan).explore()


def ways(tree: Tree) -> Iterator[list[TreeNode]]:
    """All paths to a leaf, with those through equal breakpoints."""
    pending = [[tree.nodes[0]]]
    while pending:
        way = pending.pop()
        node = way[-1] if way[-1].joins is None else tree.nodes[way[-1].joins]
        if node.is_leaf:
            yield way
        pending += [[*way, tree.nodes[arc.child]] for arc in node.arcs if arc.child is not None]


def matchings(tree: Tree) -> list[tuple[Matching, str]]:
    """Of each path: which message each receive got, and how it ended."""
    found = []
    for path in ways(tree):
        leaf = path[-1]
        pairs = [pair for node in path for pair in node.matches]
        chosen = [choice for node in path[1:] for choice in tree.arc_to(node).selection]
        asked = [
            choice for choice in chosen if choice.receive == f"{choice.process}?" and choice.kind != "enter"
        ]
        pairs += [(c.receive, "nothing") for c in chosen if c.kind == "nothing" and c not in asked]
        counts: dict[str, int] = {}
        for choice in asked:
            counts[choice.process] = counts.get(choice.process, 0) + 1
            pairs.append((f"{choice.process}!{counts[choice.process]}", choice.message or "nothing"))
        found.append((frozenset(pairs), leaf.end))
    return found


# ---- brute force --------------------------------------------------------------------------------


def all_matchings(program: Program) -> set[tuple[Matching, str]]:
    """By executing every interleaving of single actions; states that were met are not entered again."""
    found: set[tuple[Matching, str]] = set()
    seen: set[Any] = set()
    pending = [_initial(program)]
    while pending:
        state = pending.pop()
        if state in seen:
            continue
        seen.add(state)
        following = list(_successors(program, state))
        if not following:
            ended = all(at == len(program[p]) for p, at in zip(program, state[0], strict=True))
            told = [pair for pair in state[4] if pair[1] not in ("finished", "peeked")]
            pairs = frozenset((receive.rstrip("~"), message) for receive, message in told)
            found.add((pairs, "finished" if ended else "deadlock"))
        pending.extend(following)
    return found


def _initial(program: Program) -> Any:
    """(places, messages sent a process, messages under way, posted receives, matches)."""
    return tuple([0] * len(program)), tuple([0] * len(program)), (), (), ()


def _successors(program: Program, state: Any) -> Iterator[Any]:
    names = list(program)
    places, sent, messages, posted, matches = state
    at_barrier = [
        p < len(program[n]) and program[n][p][0] == "barrier" for n, p in zip(names, places, strict=True)
    ]
    if all(at_barrier):
        yield tuple(p + 1 for p in places), sent, messages, posted, matches
    for number, name in enumerate(names):
        if places[number] == len(program[name]) or at_barrier[number]:
            continue
        yield from _moved(program, names, state, number)
    yield from _matched(state)
    yield from _fed(state)


def _fed(state: Any) -> Iterator[Any]:
    """A message that was put earlier enters its queue, those of one sender in their order."""
    places, sent, messages, posted, matches = state
    outside = [m for m in messages if m[2].startswith("~")]
    for message in outside:
        if next(m for m in outside if m[1:3] == message[1:3]) is message:
            left = tuple(m for m in messages if m is not message)
            entered = (message[0], message[1], message[2][1:], message[3])
            yield places, sent, (*left, entered), posted, matches


def _moved(program: Program, names: list[str], state: Any, number: int) -> Iterator[Any]:
    places, sent, messages, posted, matches = state
    name = names[number]
    line = program[name][places[number]]
    on = tuple(p + (i == number) for i, p in enumerate(places))
    matched = {receive for receive, _ in matches}
    mine = [r for r in posted if r[0] == name]
    match line[0]:
        case "put" if len(line) > 2 and sum(m[2] == line[1] for m in messages) >= line[2]:
            return
        case "try":
            made = _posted(name, mine, line)
            head = next((m for m in messages if m[2] == line[1]), None)
            left = tuple(m for m in messages if m is not head)
            pair = (made[1], head[0] if head is not None else "nothing")
            yield on, sent, left, (*posted, made), tuple(sorted((*matches, pair)))
        case "send" | "put" | "feed":
            count = tuple(c + (i == number) for i, c in enumerate(sent))
            tag = line[2] if line[0] == "send" and len(line) > 2 else "0"
            box = {"send": f"box {line[1]}", "put": line[1], "feed": f"~{line[1]}"}[line[0]]
            yield on, count, (*messages, (f"{name}#{count[number]}", name, box, tag)), posted, matches
        case "ssend":
            # The message is offered first; its sender goes on when it has been taken.
            offered = f"{name}#{sent[number] + 1}"
            taken = {m for r, m in matches if not r.endswith("~")}
            known = {m[0] for m in messages} | taken
            if offered not in known:
                tag = line[2] if len(line) > 2 else "0"
                yield places, sent, (*messages, (offered, name, f"box {line[1]}", tag)), posted, matches
            elif offered in taken:
                yield on, tuple(c + (i == number) for i, c in enumerate(sent)), messages, posted, matches
        case "bcast":
            root = names.index(line[1])
            mine_done = _passed(program[name][: places[number]])
            if name == line[1] or _passed(program[line[1]][: places[root]]) > mine_done:
                yield on, sent, messages, posted, matches
        case "post":
            yield on, sent, messages, (*posted, _posted(name, mine, line)), matches
        case "recv" | "get":
            blocking = [r for r in mine if r[5] == places[number]]
            if not blocking:
                made = _posted(name, mine, line, places[number])
                yield places, sent, messages, (*posted, made), matches
            elif blocking[0][1] in matched:
                yield on, sent, messages, posted, matches
        case "probe" | "iprobe":
            made = _posted(name, mine, line, places[number])
            there = [m for m in messages if _can_match([*posted, made], matched, messages, made, m)]
            for message in there:
                pairs = (made[1], "peeked"), (f"{made[1]}~", message[0])
                yield on, sent, messages, (*posted, made), tuple(sorted((*matches, *pairs)))
            if not there and line[0] == "iprobe":
                pair = (made[1], "nothing")
                yield on, sent, messages, (*posted, made), tuple(sorted((*matches, pair)))
        case "wait":
            posts = [r for r in mine if r[5] is None]
            if posts[line[1]][1] in matched:
                finished = ((f"{name}|{posts[line[1]][1]}", "finished"),)
                yield on, sent, messages, posted, tuple(sorted({*matches, *finished}))
        case "test" | "testall" | "waitany":
            for told in _answers(name, line, [r[1] for r in mine if r[5] is None], set(matches)):
                yield on, sent, messages, posted, tuple(sorted((*matches, *told)))


def _answers(name: str, line: Any, posts: list[str], matches: set[tuple[str, str]]) -> Iterator[Any]:
    """What a process learns that asks for requests: which one is done; or nothing, for a message that was
    matched need not have come whole."""
    asked = [posts[k] for k in line[1:] if (f"{name}|{posts[k]}", "finished") not in matches]
    done = [each for each in asked if each in {receive for receive, _ in matches}]
    key = f"{name}!{sum(pair[0].startswith(f'{name}!') for pair in matches) + 1}"
    if not asked:
        yield ()
        return
    if line[0] != "waitany":
        yield ((key, "nothing"),)
    if line[0] != "testall":
        for each in done:
            yield (key, each), (f"{name}|{each}", "finished")
    elif len(done) == len(asked):
        yield ((key, asked[-1]), *((f"{name}|{each}", "finished") for each in asked))


def _can_match(posted: list[Any], matched: set[str], messages: Any, receive: Any, message: Any) -> bool:
    """Whether a message of a mailbox may go to that receive of those that are posted."""
    if not _fit(receive, message):
        return False
    first = next(m for m in messages if m[1] == message[1] and _fit(receive, m))
    before = posted[: posted.index(receive)]
    earlier = [r for r in before if r[0] == receive[0] and r[1] not in matched and _fit(r, message)]
    return first is message and not earlier


def _passed(line: list[tuple[Any, ...]]) -> int:
    return sum(each[0] == "bcast" for each in line)


def _posted(name: str, mine: list[Any], line: tuple[Any, ...], place: int | None = None) -> Any:
    source, tag = (None, None) if line[0] in ("get", "try") else _filter(line)
    box = line[1] if line[0] in ("get", "try") else f"box {name}"
    return name, f"{name}?{len(mine) + 1}", box, source, tag, place


def _matched(state: Any) -> Iterator[Any]:
    places, sent, messages, posted, matches = state
    matched = {receive for receive, _ in matches}
    open_ = [r for r in posted if r[1] not in matched]
    for receive in open_:
        fitting = [m for m in messages if _fit(receive, m)]
        is_queue = not receive[2].startswith("box ")
        for message in fitting[:1] if is_queue else fitting:
            first = next(m for m in fitting if m[1] == message[1])
            earlier = [r for r in open_[: open_.index(receive)] if r[0] == receive[0] and _fit(r, message)]
            if first is message and not earlier:
                left = tuple(m for m in messages if m is not message)
                yield places, sent, left, posted, tuple(sorted((*matches, (receive[1], message[0]))))


def _fit(receive: Any, message: Any) -> bool:
    return receive[2] == message[2] and receive[3] in (None, message[1]) and receive[4] in (None, message[3])


# ---- generated programs -------------------------------------------------------------------------


def random_queues(random: Random) -> Program:
    names = [f"P{i}" for i in range(random.randint(2, 3))]
    program: Program = {name: [] for name in names}
    capacity = random.choice([None, None, 1, 2])
    trying = random.random() < 0.4
    word = "feed" if capacity is None and random.random() < 0.3 else "put"
    for _ in range(random.randint(2, 5)):
        sender, receiver = random.sample(names, 2)
        queue = random.choice("QR")
        program[sender].append((word, queue) if capacity is None else ("put", queue, capacity))
        program[receiver].append(("try" if trying and random.random() < 0.5 else "get", queue))
    for line in program.values():
        if random.random() < 0.5:
            random.shuffle(line)
    return program


def random_ranks(random: Random) -> Program:
    names = [f"P{i}" for i in range(random.randint(2, 4))]
    program: Program = {name: [] for name in names}
    for _ in range(random.randint(2, 6 if len(names) < 4 else 5)):
        sender, receiver = random.sample(names, 2)
        tag = random.choice("01")
        program[sender].append((random.choice(["send", "send", "ssend"]), receiver, tag))
        source = random.choice([None, None, sender])
        wanted = random.choice([None, tag])
        if random.random() < 0.25:
            program[receiver].append(("post", source, wanted))
            count = sum(line[0] == "post" for line in program[receiver])
            program[receiver].append(("wait", count - 1))
        else:
            program[receiver].append(("recv", source, wanted))
    for line in program.values():
        if random.random() < 0.5:
            random.shuffle(line)
        _order_waits(line)
    together = random.choice([("barrier",), ("bcast", random.choice(names)), None, None])
    if together is not None:
        for line in program.values():
            line.insert(random.randint(0, len(line)), together)
    return program


def random_asking(random: Random) -> Program:
    """Ranks that post receives and ask for them, probe, and talk back."""
    program = random_ranks(random)
    for line in program.values():
        posts = [place for place, each in enumerate(line) if each[0] == "post"]
        waits = [place for place, each in enumerate(line) if each[0] == "wait"]
        if posts and random.random() < 0.8:
            numbers = random.sample(range(len(posts)), random.randint(1, len(posts)))
            kind = random.choice(["test", "test", "testall", "waitany"])
            asked = (kind, *(numbers[:1] if kind == "test" else numbers))
            line.insert(random.randint(posts[max(numbers)] + 1, waits[0]), asked)
        if random.random() < 0.4 and len(line) < 5:
            looked = random.choice(["probe", "iprobe", "iprobe"])
            line.insert(random.randint(0, len(line)), (looked, None, random.choice([None, "0", "1"])))
    return program


def _order_waits(line: list[tuple[Any, ...]]) -> None:
    """Waits come after all posts, in their order."""
    waits = [each for each in line if each[0] == "wait"]
    if waits:
        line[:] = [each for each in line if each[0] != "wait"]
        line.extend(("wait", number) for number in range(len(waits)))
