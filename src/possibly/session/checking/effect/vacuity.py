"""Properties that hold because what they speak of never happens.

Here belongs finding the left sides of implications that are true in no order of a run: `AG(a -> b)` holds
then, whatever b is. For a property that holds each left side is asked for by `EF`; as a rule of slices alone,
which answer in no time or not at all, and with `--vacuity` of all engines. What is not known is not told.

With `--vacuity` each other part is asked for as well, as by Beer, Ben-David, Eisner and Rodeh, *Efficient
detection of vacuity in temporal model checking*: all operators are monotone, so a part under an even number
of negations is put to `false`, any other to `true`, which is the hardest for the property. If it holds even
so, it holds whatever that part is. Both sides of `<->` are left alone, since they have no such sign. Parts
that speak of the key of `forall key` are left alone too: they are another one for each value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from possibly.logic.keyed import speaks_of_key
from possibly.logic.predicates.functions import is_state
from possibly.logic.printer import unparse
from possibly.logic.syntax import And, Implies, Literal, Node, Not, Or, Temporal

Ask = Callable[[Node], bool | None]
"""Whether a formula of branching time holds; None: it is not known."""

FEW, MANY = 20, 2_000
"""Left sides of one property that are looked at, as a rule and when asked for: quantifiers make thousands."""

UNDER = ("AG", "AF", "AX", "AU", "G", "F", "X", "N", "U", "R", "W")
"""Operators below which an implication speaks of many states."""


def never_true(formula: Node, ask: Ask, thoroughly: bool = False) -> tuple[Node, ...]:
    """The left sides that are known to be true in no order."""
    most = MANY if thoroughly else FEW
    found: dict[Node, None] = {}
    for left in _left_sides(formula):
        if len(found) >= most:
            break
        found[left] = None
    return tuple(left for left in found if ask(Temporal("EF", (left,))) is False)


def _left_sides(formula: Node) -> Iterator[Node]:
    return (left for left, _ in implications(formula) if not speaks_of_key(left))


def implications(formula: Node) -> Iterator[tuple[Node, Node]]:
    """Those under an operator over all orders whose left side is without time."""
    pending = [(formula, False)]
    while pending:
        node, is_under = pending.pop()
        match node:
            case Implies(left, right):
                if is_under and is_state(left) and not isinstance(left, Literal):
                    yield left, right
                pending.append((right, is_under))
            case And(operands) | Or(operands):
                pending += [(part, is_under) for part in reversed(operands)]
            case Temporal(operator, operands) if operator in UNDER:
                pending += [(part, True) for part in reversed(operands)]


def immaterial(formula: Node, holds: Ask, never: Sequence[Node]) -> tuple[Node, ...]:
    """The largest parts of a formula that holds which may be anything, but for left sides `never` true."""
    if speaks_of_key(formula):
        return ()
    found: dict[Node, None] = {}
    pending = list(_parts(formula, True, lambda new: new, never))
    for _ in range(MANY):
        if not pending:
            break
        part, sign, put = pending.pop()
        if holds(put(Literal(not sign))) is True:
            found[part] = None
        else:
            pending += _parts(part, sign, put, never)
    return tuple(found)


_Put = Callable[[Node], Node]
"""The formula with something else in the place of a part."""


def _parts(node: Node, sign: bool, put: _Put, never: Sequence[Node]) -> list[tuple[Node, bool, _Put]]:
    """The parts of a part, each with its sign: whether more of it makes the whole easier to fulfil."""
    match node:
        case Not(operand):
            found = [(operand, not sign, lambda new: put(Not(new)))]
        case Implies(left, right) if left not in never:
            found = [
                (right, sign, lambda new: put(Implies(left, new))),
                (left, not sign, lambda new: put(Implies(new, right))),
            ]
        case And(operands) | Or(operands):
            found = [
                (part, sign, partial(_put_into, put, type(node), operands, index))
                for index, part in enumerate(operands)
            ]
        case Temporal(operator, operands, process):
            again = partial(_temporal, operator, process)
            found = [
                (part, sign, partial(_put_into, put, again, operands, index))
                for index, part in enumerate(operands)
            ]
        case _:
            found = []
    return [each for each in reversed(found) if not isinstance(each[0], Literal)]


def _put_into(
    put: _Put, make: Callable[[tuple[Node, ...]], Node], operands: tuple[Node, ...], index: int, new: Node
) -> Node:
    return put(make((*operands[:index], new, *operands[index + 1 :])))


def _temporal(operator: str, process: object, operands: tuple[Node, ...]) -> Node:
    return Temporal(operator, operands, process)


def told_immaterial(name: str, parts: Sequence[Node], where: str = "this run") -> str:
    """One sentence for a property."""
    more = f" (and {len(parts) - 1} more like it)" if len(parts) > 1 else ""
    return f"{name} holds whatever {_shown(parts[0])} is: that part makes no difference in {where}{more}"


def told(name: str, lefts: Sequence[Node], where: str = "order of this run") -> str:
    """One sentence for a property."""
    more = f" (and {len(lefts) - 1} more like it)" if len(lefts) > 1 else ""
    return f"{name} holds without effect: {_shown(lefts[0])} is true in no {where}{more}"


def _shown(part: Node) -> str:
    text = unparse(part)
    return text if len(text) <= 100 else text[:97] + "..."
