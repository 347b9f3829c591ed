"""Random small traces and formulas, as texts with a meaning of their own.

Each atom carries a Python function of the state beside its text, so that tests can evaluate it without any
of the code under test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import eq, ge, lt, ne
from random import Random
from typing import Any

from possibly.trace.build import TraceBuilder
from possibly.trace.model import Trace


@dataclass(frozen=True)
class World:
    """The facts of a cut as the definitions give them."""

    local: dict[tuple[str, str], Any]
    shared: dict[str, Any]
    transit: dict[tuple[str, str], int]
    tokens: dict[tuple[str, str], int]
    """The messages in transit that carry the tag."""
    done: dict[str, bool]


Meaning = Callable[[World], bool]


def random_trace(random: Random, events: int = 7, joint: bool = True, shared: bool = True) -> Trace:
    """Up to four processes; messages, `after` edges, joint events, local and shared variables."""
    names = [f"P{i}" for i in range(1, random.randint(1, 4) + 1)]
    builder = TraceBuilder()
    inits = [(name, {"x": random.randint(0, 2)} if random.random() < 0.8 else {}) for name in names]
    builder.header(processes=inits, shared={"s": 0} if shared else {})
    pending: list[tuple[str, str | None]] = []
    count = 0
    while count < events:
        fields: dict[str, Any] = {}
        if random.random() < 0.6:
            fields["set"] = {
                "x": random.choice([0, 1, 2, 2, 1, "a"]) if random.random() < 0.2 else random.randint(0, 2)
            }
        if shared and random.random() < 0.25:
            fields["write"] = {"s": random.randint(0, 2)}
        if shared and random.random() < 0.15:
            fields["read"] = ["s"]
        if count and random.random() < 0.1:
            fields["after"] = [f"E{random.randrange(count)}"]
        if joint and len(names) > 1 and random.random() < 0.12:
            group = random.sample(names, random.randint(2, len(names)))
            meet = f"M{count}"
            for name in group:
                builder.add(name, id=f"E{count}", meet=meet, **fields)
                fields.pop("after", None)
                count += 1
            continue
        name = random.choice(names)
        receivable = [message for message in pending if message[1] in (None, name)]
        if receivable and random.random() < 0.6:
            message = random.choice(receivable)
            pending.remove(message)
            builder.add(name, id=f"E{count}", kind="receive", msg=message[0], **fields)
        elif random.random() < 0.35:
            receivers = [random.choice([*names, ""])]
            if len(names) > 1 and random.random() < 0.2:
                receivers = random.sample(names, 2)
            fields |= {
                "to": receivers if receivers != [""] else None,
                "tag": random.choice([None, None, "token"]),
            }
            builder.add(name, id=f"E{count}", kind="send", msg=f"m{count}", **fields)
            pending += [(f"m{count}", receiver or None) for receiver in receivers]
        else:
            builder.add(name, id=f"E{count}", **fields)
        count += 1
    return builder.finish()


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {"==": eq, "!=": ne, "<": lt, ">=": ge}


def _compare(left: Any, operator: str, right: Any) -> bool:
    if left is None or right is None:
        return False
    try:
        return bool(OPERATORS[operator](left, right))
    except TypeError:
        return False


def random_atom(random: Random, trace: Trace) -> tuple[str, Meaning]:
    """A predicate that the trace can evaluate, with its meaning."""
    names = [process.name for process in trace.processes]
    known = [
        process.name
        for process in trace.processes
        if "x" in process.init
        or any("x" in trace.event(e).set for e in trace.events_of[trace.process_number[process.name]])
    ]
    kinds = ["done", "channel", "total", "tagged"]
    if known:
        kinds += ["local"] * 5
    if len(known) > 1:
        kinds += ["pair", "sum"]
    if trace.shared:
        kinds += ["shared"]
    operator = random.choice(["==", "!=", "<", ">="])
    constant = random.randint(0, 3)
    match random.choice(kinds):
        case "local":
            name = random.choice(known)
            return f"{name}.x {operator} {constant}", lambda w: _compare(
                w.local.get((name, "x")), operator, constant
            )
        case "pair":
            p, q = random.sample(known, 2)
            return f"{p}.x {operator} {q}.x", lambda w: _compare(
                w.local.get((p, "x")), operator, w.local.get((q, "x"))
            )
        case "sum":
            p, q = random.sample(known, 2)

            def total(w: World) -> Any:
                a, b = w.local.get((p, "x")), w.local.get((q, "x"))
                return a + b if isinstance(a, int) and isinstance(b, int) else None

            def strings(w: World) -> bool:
                a, b = w.local.get((p, "x")), w.local.get((q, "x"))
                if isinstance(a, str) and isinstance(b, str):
                    return _compare(a + b, operator, constant)
                return _compare(total(w), operator, constant)

            return f"{p}.x + {q}.x {operator} {constant}", strings
        case "shared":
            return f"s {operator} {constant}", lambda w: _compare(w.shared.get("s"), operator, constant)
        case "channel":
            p, q = random.choice(names), random.choice(names)
            return f"transit({p}, {q}) {operator} {constant % 2}", lambda w: _compare(
                w.transit.get((p, q), 0), operator, constant % 2
            )
        case "total":
            return f"transit() {operator} {constant % 3}", lambda w: _compare(
                sum(w.transit.values()), operator, constant % 3
            )
        case "tagged":
            p, q = random.choice(names), random.choice(names)
            return f'transit({p}, {q}, "token") {operator} {constant % 2}', lambda w: _compare(
                w.tokens.get((p, q), 0), operator, constant % 2
            )
        case _:
            name = random.choice(names)
            return f"done({name})", lambda w: w.done[name]


@dataclass(frozen=True)
class Formula:
    """A generated formula: an operator with operands, or an atom with its meaning."""

    operator: str
    operands: tuple[Formula, ...] = ()
    text_of_atom: str = ""
    meaning: Meaning | None = None
    process: str | None = None

    @property
    def text(self) -> str:
        inner = [f"({operand.text})" for operand in self.operands]
        match self.operator:
            case "atom":
                return self.text_of_atom
            case "EU" | "AU":
                return f"{self.operator[0]}[{inner[0]} U {inner[1]}]"
            case "EX" if self.process is not None:
                return f"EX[{self.process}]{inner[0]}"
            case _ if len(inner) == 1:
                return f"{self.operator} {inner[0]}"
            case _:
                return f"{inner[0]} {self.operator} {inner[1]}"


CTL = ["EF", "AF", "EG", "AG", "EX", "AX", "EX[]", "EU", "AU"]
LTL = ["X", "N", "F", "G", "Y", "Z", "O", "H", "U", "R", "W", "S"]
BINARY = {"EU", "AU", "U", "R", "W", "S", "&", "|", "->", "<->"}


def random_formula(random: Random, trace: Trace, operators: list[str], depth: int) -> Formula:
    if depth == 0 or random.random() < 0.1:
        text, meaning = random_atom(random, trace)
        return Formula("atom", text_of_atom=text, meaning=meaning)
    operator = random.choice([*operators, *operators, "!", "&", "|", "->", "<->"])
    process = None
    if operator == "EX[]":
        operator, process = "EX", random.choice(trace.processes).name
    count = 2 if operator in BINARY else 1
    operands = tuple(random_formula(random, trace, operators, depth - 1) for _ in range(count))
    return Formula(operator, operands, process=process)
