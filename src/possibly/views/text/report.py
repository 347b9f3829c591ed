"""The report for a person, from a `Report` alone.

`render` is a pure function: whether there is a terminal, how wide it is, which command was typed and
where source files lie comes in with the `Layout`. Each part of a verdict (the order, the state, the
deciding atoms, the missing order) is one function that yields lines; `render` only puts them together.
Lines are measured before they are coloured, so colours never shift a column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from possibly.records import dataclass
from possibly.verdict.model import Atom, Explanation, Keys, MissingOrder, Report, Step, Truth, Verdict
from possibly.views.text.words import (
    action_text,
    changes_text,
    count_text,
    elided,
    event_text,
    filled,
    plain,
    state_texts,
    value_text,
)

HEAD, AROUND, TAIL = 10, 3, 20
"""Steps of a long order that are shown: at its start, around the deciding moment, at its end."""
MOST_ASKED, LONGEST_LOOKED_THROUGH = 20, 2_000
"""Steps that change what decided, in an order that is not longer."""
MOST_SETTLED = 8
"""First steps of a long order from which on those are left out that come before all others in every order."""
LONGEST_STATE = 24
LONGEST_FORMULA = 300
LONGEST_SOURCE = 44
LONGEST_FAULTS = 5

STATE, DECIDED = "  State at the end: ", "  Decided by: "
RED, GREEN, YELLOW, BOLD, DIM = "31;1", "32;1", "33;1", "1", "2"
COLOURS = {
    Truth.HOLDS: GREEN,
    Truth.VIOLATED: RED,
    Truth.UNKNOWN: YELLOW,
    Truth.MATCHED: YELLOW,
    Truth.ABSENT: GREEN,
}
RECORDED = {
    (Truth.HOLDS, True): "The recorded order satisfies it too.",
    (Truth.HOLDS, False): "The recorded order does not satisfy it; another order of the same events does.",
    (Truth.VIOLATED, True): "The recorded order satisfies it; another order of the same events does not.",
    (Truth.VIOLATED, False): "The recorded order violates it already.",
    (Truth.UNKNOWN, True): "The recorded order satisfies it.",
    (Truth.UNKNOWN, False): "The recorded order violates it.",
}
SUFFICES = {
    (Truth.VIOLATED, True): "the property would hold.",
    (Truth.VIOLATED, False): "this order would be impossible, though another one would violate it as well.",
    (Truth.VIOLATED, None): "this order would be impossible.",
    (Truth.HOLDS, True): "the property would not hold.",
    (Truth.HOLDS, False): "this order would be impossible, though another one would satisfy it as well.",
    (Truth.HOLDS, None): "this order would be impossible.",
}


@dataclass(frozen=True, slots=True)
class Layout:
    """How to render, and what only the caller knows."""

    colour: bool = False
    width: int = 100
    full: bool = False
    """Show every step and every variable."""
    notes: bool = False
    """Add class, engine and cost of each property."""
    again: Callable[[Verdict], str] | None = None
    """The command that shows a failing property again."""
    draw: Callable[[Verdict], str] | None = None
    """The command that draws the model of a path expression."""
    quote: Callable[[str | None], str | None] | None = None
    """The source line at a place, where it can be read."""

    def paint(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text


def render(report: Report, layout: Layout | None = None) -> str:
    """The whole report, ending in a newline."""
    layout = layout or Layout()
    sizes = f"{count_text(report.processes, 'process')}, {count_text(report.events, 'event')}"
    lines = [layout.paint(f"{plain(report.trace)}: {sizes}", BOLD)]
    lines += [f"warning: {plain(warning)}" for warning in report.warnings]
    for verdict in report.verdicts:
        lines += ["", *verdict_lines(verdict, layout)]
    return "\n".join(lines) + "\n"


def verdict_lines(verdict: Verdict, layout: Layout) -> Iterator[str]:
    """One property: its verdict, and below it, indented, why."""
    word = layout.paint(f"{verdict.truth.value.upper():<8}", COLOURS[verdict.truth])
    formula = verdict.formula
    if "\n" in formula:
        formula = re.sub(r"\s*\n\s*", " ", formula)
    formula = plain(formula)
    if not layout.full:
        formula = elided(formula, LONGEST_FORMULA)
    yield f"{word}  {plain(verdict.name)}  {verdict.language} {formula}"
    for paragraph in facts(verdict):
        yield from _wrapped(paragraph, layout)
    if verdict.path is not None:
        from possibly.views.text.paths import path_lines

        for paragraph in path_lines(verdict, layout.full):
            yield from _wrapped(paragraph, layout)
    if verdict.explanation is not None:
        yield from explanation_lines(verdict, verdict.explanation, layout)
    if layout.notes:
        if verdict.example is not None:
            yield from explanation_lines(verdict, verdict.example.explanation, layout)
        yield from _note_lines(verdict, layout)
        if layout.draw is not None and verdict.path is not None:
            yield f"  Draw it: {layout.paint(plain(layout.draw(verdict)), BOLD)}"
    if layout.again is not None and verdict.truth is Truth.VIOLATED:
        yield f"  Show it again: {layout.paint(plain(layout.again(verdict)), BOLD)}"


CANDIDATE = (
    "A candidate: in this order of unsynchronised accesses some read sees another value than it did, so the "
    "program may go on differently. possibly confirm --order predictive tells."
)


def facts(verdict: Verdict) -> Iterator[str]:
    if verdict.keys is not None:
        yield plain(keys_text(verdict.keys))
    if verdict.candidate:
        yield CANDIDATE
    if verdict.observed is not None:
        yield RECORDED[verdict.truth, verdict.observed]
    if verdict.truth is Truth.UNKNOWN:
        yield f"Undecided: {plain(verdict.reason or 'a limit was reached; raise --max-cuts or --timeout.')}"
    if verdict.raced:
        yield raced_text(verdict.raced)
    if verdict.noticed:
        yield noticed_text(verdict.noticed)
    if verdict.assumed:
        yield f"Assumed: {plain(', '.join(verdict.assumed))}."
    for fault in verdict.faults[:LONGEST_FAULTS]:
        yield f"Counted as false: {plain(fault)}"
    if len(verdict.faults) > LONGEST_FAULTS:
        yield f"... and {count_text(len(verdict.faults) - LONGEST_FAULTS, 'more fault')}."


def raced_text(names: Sequence[str]) -> str:
    """What a property that holds does not answer for."""
    return (
        f"Nothing orders the accesses to {_first(names)}: they were kept in their recorded order. "
        "--order predictive asks for their other orders, possibly explore runs them."
    )


def noticed_text(names: Sequence[str]) -> str:
    """How far a property holds in every order of unsynchronised accesses."""
    return (
        f"In another order some read of {_first(names)} may see another value than it did. It holds for the "
        "values that were recorded; what the program would do then, possibly explore tells."
    )


def _first(names: Sequence[str]) -> str:
    shown = ", ".join(plain(name) for name in names[:LONGEST_FAULTS])
    return shown + (", ..." if len(names) > LONGEST_FAULTS else "")


def keys_text(keys: Keys) -> str:
    """`Violated for 3 of 12 keys: k = 17, 18, 20.`"""
    if not keys.violated and keys.of is not None:
        return f"There {'is' if keys.of == 1 else 'are'} {count_text(keys.of, 'key')}."
    values = ", ".join(value_text(value) for value in keys.values[:LONGEST_FAULTS])
    more = ", ..." if keys.violated > LONGEST_FAULTS else ""
    count = (
        count_text(keys.violated, "key")
        if keys.of is None
        else f"{keys.violated:,} of {count_text(keys.of, 'key')}"
    )
    return f"Violated for {count}: {keys.key} = {values}{more}."


def explanation_lines(verdict: Verdict, explanation: Explanation, layout: Layout) -> Iterator[str]:
    yield ""
    yield from _wrapped(summary_text(verdict, explanation), layout)
    yield from step_lines(explanation, layout)
    yield from state_lines(explanation, layout)
    yield from atom_lines(explanation, layout)
    if explanation.unending:
        yield from _wrapped(loop_text(explanation), layout)
    if explanation.missing is not None:
        yield from _wrapped(missing_text(explanation.missing, verdict.truth), layout)


def loop_text(explanation: Explanation) -> str:
    """Whether what the path shows can go on for ever, or the run may only have ended too early."""
    if explanation.loop is None:
        return "No state comes twice on it: the run may only have ended before it could happen."
    loop = explanation.loop
    text = (
        f"The state after step {loop.first} comes again after step {loop.second}: as far as the trace shows, "
        "this can go on for ever."
    )
    if not loop.passed_over:
        return f"{text} Nobody is passed over who could go on all the time."
    names = plain(", ".join(loop.passed_over))
    return f"{text} But {names} could go on all the time, and does not: a fair scheduler does not do this."


def summary_text(verdict: Verdict, explanation: Explanation) -> str:
    """What the order is and what it shows."""
    title = "A failing order" if verdict.truth is Truth.VIOLATED else "An order that satisfies it"
    if verdict.example is not None:
        title = "An order in which it takes effect"
    if not explanation.steps:
        title += ", before any event"
    return f"{title}: {plain(explanation.summary)}."


# ---- the order, step by step --------------------------------------------------------------------


def step_lines(explanation: Explanation, layout: Layout) -> Iterator[str]:
    """A table with a line a step; `>` marks the step that decides, a long order is elided."""
    steps = explanation.steps
    if not steps:
        return
    moment = len(steps) if explanation.moment is None else explanation.moment
    is_long = not layout.full and len(steps) > HEAD + TAIL + 2 * AROUND
    settled = min(explanation.settled, moment) - AROUND if is_long else 0
    settled = settled if settled >= MOST_SETTLED else 0
    asked = [] if layout.full else _asked(explanation)
    later = shown_steps(len(steps) - settled, moment - settled, [each - settled for each in asked])
    before = [each for each in _in_force(explanation) if each < settled] if settled else []
    shown = range(len(steps)) if layout.full else [*before, *(each + settled for each in later if each >= 0)]
    cells = {number: _cells(number + 1, steps[number], layout) for number in shown}
    widths = [max(map(len, column)) for column in zip(*cells.values(), strict=True)]
    if moment == 0:
        yield layout.paint("  > it is decided before the first step", BOLD)
    expected = 0
    for number, row in cells.items():
        if number != expected:
            why = ", which come before all others in every order" if number <= settled else ""
            yield f"    ... {count_text(number - expected, 'step')} left out{why}, --full shows all ..."
        expected = number + 1
        yield _row(row, widths, number + 1 == moment, layout)


def _asked(explanation: Explanation) -> list[int]:
    """The last steps that change what decided: variables that were read, functions that are spoken of."""
    if len(explanation.steps) > LONGEST_LOOKED_THROUGH:
        return []
    read = {name for atom in explanation.atoms for name in atom.operands}
    spoken = {word for atom in explanation.atoms for word in re.findall(r"\w+", atom.text)}
    found = [
        number
        for number, step in enumerate(explanation.steps)
        if step.function in spoken or any(change.variable in read for change in step.changes)
    ]
    return found[-MOST_ASKED:]


def _in_force(explanation: Explanation) -> list[int]:
    """The steps that gave the variables which were read the values that they have in the end."""
    if len(explanation.steps) > LONGEST_LOOKED_THROUGH:
        return []
    read = {name for atom in explanation.atoms for name in atom.operands}
    last = {
        change.variable: number
        for number, step in enumerate(explanation.steps)
        for change in step.changes
        if change.variable in read
    }
    return sorted(set(last.values()))


def shown_steps(count: int, moment: int, asked: Sequence[int] = ()) -> Sequence[int]:
    """The steps of an order that are shown, ascending, all if leaving some out saves little."""
    if count <= HEAD + TAIL + 2 * AROUND:
        return range(count)
    around = range(max(0, moment - 1 - AROUND), min(count, moment + AROUND))
    head, tail = (HEAD, TAIL) if len(asked) < HEAD else (HEAD // 2, TAIL // 2)
    return sorted({*range(head), *around, *asked, *range(count - tail, count)})


def _cells(number: int, step: Step, layout: Layout) -> tuple[str, ...]:
    source = layout.quote(step.place) if layout.quote is not None else None
    quoted = elided(plain(source), LONGEST_SOURCE) if source else ""
    place = plain(step.place or "")
    return (
        str(number),
        plain(step.process),
        plain(step.event),
        action_text(step),
        place,
        quoted,
        changes_text(step),
    )


def _row(cells: tuple[str, ...], widths: Sequence[int], decides: bool, layout: Layout) -> str:
    number, *others = cells
    parts = [f"{number:>{widths[0]}}"]
    parts += [f"{cell:<{width}}" for cell, width in zip(others, widths[1:], strict=True) if width]
    line = "  ".join(parts).rstrip()
    return layout.paint(f"  > {line}", BOLD) if decides else f"    {line}"


# ---- what it ends in ----------------------------------------------------------------------------


def state_lines(explanation: Explanation, layout: Layout) -> Iterator[str]:
    """The state at the end of the order, the variables that decided first."""
    deciding = [name for atom in explanation.atoms for name in atom.operands]
    names = [name for name in dict.fromkeys([*deciding, *explanation.state]) if name in explanation.state]
    shown = names if layout.full else names[:LONGEST_STATE]
    texts = state_texts({name: explanation.state[name] for name in shown})
    if len(shown) < len(names):
        texts.append(f"and {len(names) - len(shown):,} more")
    if texts:
        first, *others = filled(texts, layout.width, indent=" " * len(STATE))
        yield f"{STATE}{first.lstrip()}"
        yield from others


def atom_lines(explanation: Explanation, layout: Layout) -> Iterator[str]:
    """The parts of the formula that decided, with the values they read."""
    longest = None if layout.full else layout.width
    for number, text in enumerate(atom_texts(explanation.atoms, longest)):
        yield f"{' ' * len(DECIDED) if number else DECIDED}{text}"


def atom_texts(atoms: Sequence[Atom], longest: int | None = 100) -> Iterator[str]:
    """`P1.x > 1 is true  (P1.x = 2)`, in columns."""
    width = max((len(plain(atom.text)) for atom in atoms), default=0)
    for atom in atoms:
        text = plain(atom.text) if longest is None else elided(plain(atom.text), longest)
        yield f"{text:<{min(width, 40)}} is {value_text(atom.value)}{_operands(atom)}"


def _operands(atom: Atom) -> str:
    if not atom.operands or (set(atom.operands) == {atom.text} and atom.operands[atom.text] == atom.value):
        return ""
    return f"  ({', '.join(state_texts(atom.operands))})"


def missing_text(missing: MissingOrder, truth: Truth) -> str:
    """The missing order in words."""
    first, second = event_text(missing.first), event_text(missing.second)
    return (
        f"Nothing orders {first} before {second}: "
        f"if {plain(missing.first.event)} had to come first, {SUFFICES[truth, missing.suffices]}"
    )


def _note_lines(verdict: Verdict, layout: Layout) -> Iterator[str]:
    cost = f"{count_text(verdict.cuts, 'cut')} in {verdict.seconds:.3f} s"
    yield f"  Class {verdict.predicate_class}, engine {verdict.engine}, {cost}."
    for note in verdict.notes:
        yield from _wrapped(plain(note), layout)


def _wrapped(text: str, layout: Layout) -> list[str]:
    if len(text) + 2 <= max(layout.width, 40) and text.isprintable() and text == text.strip() != "":
        return [f"  {text}"]
    import textwrap

    return textwrap.wrap(
        text,
        max(layout.width, 40),
        initial_indent="  ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
