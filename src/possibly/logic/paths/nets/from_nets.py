"""Safe nets as expressions.

Here belongs the way back of appendix I.2 of Modeling Concurrency in Parallel Debugging, by another
construction. A place that never holds more than one token is a machine with two states, empty and marked, so
the transitions around it follow a regular expression; the net is all its places at once, synchronised at
the transitions they share: an `&` of sequential expressions. The order is that of the net: a transition that
fills such a place comes after the one that emptied it, for otherwise it could have come before and put a
second token there.

A place that holds up to k tokens, k > 1, is any number of tokens that are each made and then taken:
`(makers; takers)@`, which orders a taker after the maker of its token and nothing else. That there are never
more than k at once is a matter of the rest of the net. That does not do for a place that is marked at the
start or at the end, since an `@` makes any number of copies and not as many as there are tokens; nor for two
arcs to one transition, for then one event would belong to two copies, and copies do not synchronise. Such a
net is written run by run (see `from_runs`), if it has finitely many.

The paper instead unfolds splits and joins, and its proof leaves out how parts that share events are to be
cut; with k > 1 it keeps to the four operators of safe expressions, while this needs `@`. Transitions must
have names of their own.
"""

from __future__ import annotations

from possibly.errors import UsageError
from possibly.logic.paths.nets.from_runs import expression_of_runs
from possibly.logic.paths.nets.net import Marking, Net, NetTransition
from possibly.logic.paths.parser import number_atoms
from possibly.logic.paths.syntax import (
    Atom,
    Choice,
    Control,
    Expression,
    Many,
    Path,
    Repeat,
    Sequence,
    Together,
)
from possibly.logic.source import Source
from possibly.records import replace


def expression_of(net: Net) -> Expression:
    """An expression whose language are the runs of the net from its initial to its final marking."""
    labels = [each.label for each in net.transitions]
    if None in labels or len(set(labels)) < len(labels):
        raise UsageError("every transition of the net needs a name of its own")
    if net.has_zero_tests or net.bound() is None:
        raise UsageError(
            "the net is not safe: a place may hold any number of tokens, or there are zero tests"
        )
    if not all(each.inputs for each in net.transitions):
        raise UsageError("every transition of the net needs an input")
    transitions, is_finite = _useful(net)
    net = replace(net, transitions=transitions)
    bounds = net.bounds()
    assert bounds is not None, "with fewer transitions there are fewer markings"
    wide = [place for place in range(net.places) if bounds[place] > 1 and not _has_single_tokens(net, place)]
    if not wide:
        found = _places(net, bounds)
    else:
        found = expression_of_runs(net) if is_finite else None
    if found is None and wide:
        raise UsageError(
            f"place {wide[0]} holds several tokens at once, and some at the start or at the end, or a "
            "transition has two arcs to it: only the runs one by one could tell its tokens apart, and there "
            "are too many of them, or an empty one, or one in which a name returns"
        )
    if found is None:
        raise UsageError("the net has no transition")
    root, atoms = number_atoms(found, Source(""))
    return Expression(root, tuple(atoms))


def _places(net: Net, bounds: Marking) -> Path | None:
    """All places at once."""
    found: Path | None = None
    for place in range(net.places):
        path = _place(net, place) if bounds[place] < 2 else _tokens(net, place)
        if path is not None:
            found = path if found is None else Together(found, path)
    return found


def _has_single_tokens(net: Net, place: int) -> bool:
    """Whether each token is made by one event and taken by one."""
    arcs = [each.inputs.count(place) + each.outputs.count(place) for each in net.transitions]
    return not net.initial[place] and not net.final[place] and max(arcs, default=0) <= 1


def _useful(net: Net) -> tuple[tuple[NetTransition, ...], bool]:
    """The transitions that occur in some run to the final marking; others have no place in an expression.

    Also whether there are finitely many such runs.
    """
    arcs: list[tuple[Marking, NetTransition, Marking]] = []
    seen, pending = {net.initial}, [net.initial]
    while pending:
        marking = pending.pop()
        for each in net.enabled(marking):
            following = net.fired(marking, each)
            arcs.append((marking, each, following))
            if following not in seen:
                seen.add(following)
                pending.append(following)
    if net.final not in seen:
        raise UsageError("the final marking cannot be reached")
    leading = {net.final}
    while more := {one for one, _, two in arcs if two in leading} - leading:
        leading |= more
    useful = {each for _, each, two in arcs if two in leading}
    inner = [(one, two) for one, _, two in arcs if two in leading]
    while ended := leading - {one for one, two in inner if two in leading}:
        leading -= ended
    return tuple(each for each in net.transitions if each in useful), not leading


def _place(net: Net, place: int) -> Path | None:
    """What the transitions around a place may do; None if there are none."""
    fills: list[str] = []
    empties: list[str] = []
    tests: list[str] = []
    for each in net.transitions:
        puts, takes = place in each.outputs, place in each.inputs
        if puts or takes:
            (tests if puts and takes else fills if puts else empties).append(each.label or "")
    if not fills and not empties and not tests:
        return None
    return _between(net.initial[place], net.final[place], _any(fills), _any(empties), _any(tests))


def _tokens(net: Net, place: int) -> Path:
    """What the transitions around a place that holds several tokens may do."""
    makers = [each for each in net.transitions if place in each.outputs]
    takers = [each for each in net.transitions if place in each.inputs]
    made, taken = (_any([each.label or "" for each in side]) for side in (makers, takers))
    assert made is not None and taken is not None, "tokens that are made are taken on the way to the end"
    return Many(Sequence(made, taken))


def _between(start: int, end: int, fill: Path | None, empty: Path | None, test: Path | None) -> Path:
    """All ways from one state of a place to another; `test` leaves a token where it is."""
    tested = None if test is None else Repeat(test)
    full_round = _chain(empty, fill) if empty and fill else None
    empty_round = _chain(fill, tested, empty) if empty and fill else None
    match start, end:
        case 1, 1:
            found = _repeated(_either(test, full_round))
        case 1, 0:
            found = _chain(_repeated(_either(test, full_round)), empty) if empty else None
        case 0, 0:
            found = _repeated(empty_round)
        case _:
            found = _chain(_repeated(empty_round), fill, tested) if fill else None
    assert found is not None, "transitions that no run needs are gone"
    return found


def _any(labels: list[str]) -> Path | None:
    found: Path | None = None
    for label in labels:
        found = _either(found, Atom(Control(label)))
    return found


def _either(one: Path | None, two: Path | None) -> Path | None:
    return Choice(one, two) if one is not None and two is not None else one or two


def _repeated(body: Path | None) -> Path | None:
    return None if body is None else Repeat(body)


def _chain(*parts: Path | None) -> Path | None:
    found: Path | None = None
    for part in reversed(parts):
        if part is not None:
            found = part if found is None else Sequence(part, found)
    return found
