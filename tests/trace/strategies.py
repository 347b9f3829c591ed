"""Generated traces that use every field of the format, with odd names and odd values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from possibly.trace import Trace, TraceBuilder

ODD = [
    "class",
    "a b",
    'say "x"',
    "ümlaut",
    "line\nbreak",
    "P:2",
    "tab\t",
    "\u2028",
    "😀",
    "\x00",
    "'",
    "True",
]
names = st.sampled_from(["P", "Q", "R", *ODD])
texts = st.one_of(names, st.text(st.characters(exclude_categories=["Cs"]), max_size=5))
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(2**70),
    st.sampled_from([0, 0.0, -0.0, 1, 1.0, True, False]),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
assignments = st.dictionaries(texts, values, max_size=3)


def optional(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


@st.composite
def traces(draw: st.DrawFn, max_events: int = 12) -> Trace:
    builder = TraceBuilder("made.jsonl")
    declared = draw(st.lists(names, unique=True, min_size=1, max_size=4))
    builder.header(
        [(name, draw(assignments)) for name in declared],
        draw(assignments),
        {"made by": draw(values)} if draw(st.booleans()) else {},
    )
    run = _Run(draw, builder, declared)
    for _ in range(draw(st.integers(0, max_events))):
        run.step()
    return builder.finish()


class _Run:
    """Draws one possible event after the other."""

    def __init__(self, draw: st.DrawFn, builder: TraceBuilder, declared: list[str]) -> None:
        self.draw = draw
        self.builder = builder
        self.processes = list(declared)
        self.count = 0
        self.ids: list[str] = []
        self.pending: list[tuple[str, str | None]] = []
        self.stacks: dict[str, list[str]] = {}

    def step(self) -> None:
        process = self.draw(st.sampled_from(self.processes) | names)
        fields: dict[str, Any] = {"kind": "internal"}
        if process not in self.processes:
            self.processes.append(process)
            fields["parent"] = self.draw(optional(texts))
        self.count += 1
        self._communicate(process, fields)
        self._describe(process, fields)
        self.builder.add(process, **{key: value for key, value in fields.items() if value is not None})
        if "id" in fields:
            self.ids.append(fields["id"])

    def _communicate(self, process: str, fields: dict[str, Any]) -> None:
        kind = self.draw(
            st.sampled_from(["internal", "send", "receive", "enter", "exit", "acquire", "odd kind"])
        )
        match kind:
            case "send":
                receivers = self.draw(st.lists(st.sampled_from(self.processes), unique=True, max_size=3))
                message = f"m {self.count}"
                fields |= {"kind": kind, "msg": message, "tag": self.draw(optional(texts))}
                if receivers:
                    fields["to"] = receivers
                    self.pending += [(message, receiver) for receiver in receivers]
                else:
                    self.pending.append((message, None))
            case "receive":
                mine = [entry for entry in self.pending if entry[1] in (None, process)]
                if mine:
                    chosen = self.draw(st.sampled_from(mine))
                    self.pending.remove(chosen)
                    fields |= {"kind": kind, "msg": chosen[0]}
            case "enter":
                fields |= {"kind": kind, "fn": self.draw(texts)}
                self.stacks.setdefault(process, []).append(fields["fn"])
            case "exit":
                if self.stacks.get(process):
                    fields |= {"kind": kind, "fn": self.stacks[process].pop()}
            case _:
                fields["kind"] = kind

    def _describe(self, process: str, fields: dict[str, Any]) -> None:
        draw: Callable[[st.SearchStrategy[Any]], Any] = self.draw
        fields["set"] = draw(optional(assignments))
        fields["write"] = draw(optional(assignments))
        fields["read"] = draw(optional(st.lists(texts, max_size=2)))
        fields["at"] = draw(optional(texts))
        fields["label"] = draw(optional(texts))
        fields["meet"] = draw(optional(st.just(f"meet {self.count}")))
        fields["t"] = draw(optional(st.floats(0, 1e12)))
        if draw(st.booleans()):
            fields["id"] = f"{draw(texts)} {self.count}"
        if self.ids and draw(st.booleans()):
            fields["after"] = draw(st.lists(st.sampled_from(self.ids), max_size=2))
        if draw(st.booleans()):
            fields["extra"] = {"unknown field": draw(values)}
