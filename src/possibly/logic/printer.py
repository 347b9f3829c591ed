"""Trees to text: what `parse` reads back as the same tree, with no more brackets than a reader needs.

Here belongs the writing of formulas, surface and bound. The levels mirror those of `parser`. A quantifier
swallows everything to its right, so an operand that ends in one is bracketed unless it comes last.
A bound variable is written as one would write it: `P1.x`, `turn`; odd names are quoted, and a shared
variable whose bare name is an operator of some language becomes `shared("G")`.
"""

from __future__ import annotations

import json

from possibly.logic.syntax import (
    And,
    Apart,
    Arithmetic,
    At,
    AtLeast,
    Call,
    Compare,
    Count,
    Done,
    Iff,
    Implies,
    Index,
    Items,
    Keyed,
    Literal,
    Local,
    Name,
    Node,
    Not,
    Or,
    Quantified,
    Shared,
    Stack,
    Subscript,
    Temporal,
    Transit,
)
from possibly.logic.walk import fold
from possibly.logic.words import ARITHMETIC_LEVELS, GRAMMAR, LTL_BINARY, RESERVED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple
else:
    from possibly.records import NamedTuple

_IFF, _IMPLIES, _OR, _AND, _BINARY, _UNARY, _COMPARE, _SUM, _PRODUCT, _SIGN, _POWER, _PRIMARY = range(1, 13)
_RESERVED = GRAMMAR | RESERVED["ctl"] | RESERVED["ltl"]


class _Piece(NamedTuple):
    text: str
    level: int = _PRIMARY
    open: bool = False
    """It ends in a quantifier, whose body would take in whatever followed."""


def unparse(node: Node) -> str:
    """The text of a formula, a value or a part of one."""
    return fold(node, _piece).text


def _piece(node: Node, below: list[_Piece]) -> _Piece:
    match node:
        case And():
            return _joined(" & ", below, _AND, _BINARY, _BINARY)
        case Or():
            return _joined(" | ", below, _OR, _AND, _AND)
        case Implies():
            return _joined(" -> ", below, _IMPLIES, _OR, _IMPLIES)
        case Iff():
            return _joined(" <-> ", below, _IFF, _IFF, _IMPLIES)
        case Not():
            return _Piece("!" + _under_unary(below[0]), _UNARY, below[0].open)
        case Temporal():
            return _temporal(node, below)
        case Quantified():
            return _quantified(node, below)
        case AtLeast(text=text) | Apart(text=text) if text:
            return _Piece(text, _IFF, open=True)
        case AtLeast(least):
            return _Piece(f"at least {least} of ({_listed(below)})")
        case Apart():
            half = len(below) // 2
            return _Piece(f"one of ({_listed(below[:half])}) beside one of ({_listed(below[half:])})")
        case Keyed():
            return _keyed(node, below)
        case Compare():
            return _compared(node, below)
        case Arithmetic():
            return _computed(node, below)
        case Subscript():
            return _Piece(f"{_fit(below[0], _PRIMARY)}[{below[1].text}]")
        case Call(function):
            return _Piece(f"{function}({_listed(below)})")
        case Items():
            return _Piece(f"[{_listed(below)}]")
    return _leaf(node)


def _fit(piece: _Piece, level: int, last: bool = False) -> str:
    """The operand, in brackets if it binds looser than wanted or would swallow what follows."""
    if piece.level < level or (piece.open and not last):
        return f"({piece.text})"
    return piece.text


def _under_unary(piece: _Piece) -> str:
    """Comparisons and arithmetic keep brackets that the grammar could spare: `!(x > 1)` misleads nobody."""
    if _UNARY < piece.level < _PRIMARY:
        return f"({piece.text})"
    return _fit(piece, _UNARY, last=True)


def _joined(operator: str, below: list[_Piece], own: int, left: int, right: int) -> _Piece:
    """Operands around an operator; `left`, `right`: the levels wanted of the first and of the others."""
    parts = [_fit(below[0], left)]
    parts.extend([_fit(piece, right) for piece in below[1:-1]])
    parts.append(_fit(below[-1], right, last=True))
    return _Piece(operator.join(parts), own, below[-1].open)


def _listed(below: list[_Piece]) -> str:
    return ", ".join([piece.text for piece in below])


def _temporal(node: Temporal, below: list[_Piece]) -> _Piece:
    operator = node.operator
    if operator in ("EU", "AU"):
        return _Piece(f"{operator[0]}[{_fit(below[0], _IFF)} U {below[1].text}]")
    if operator in LTL_BINARY:
        return _joined(f" {operator} ", below, _BINARY, _UNARY, _BINARY)
    if node.process is not None:
        operator = f"{operator}[{_process(node.process)}]"
    operand = _under_unary(below[0])
    if operator == "EX" and operand.startswith("["):
        operand = f"({operand})"  # a list, which must not be taken for the process of EX[P]
    space = "" if operand.startswith("(") else " "
    return _Piece(f"{operator}{space}{operand}", _UNARY, below[0].open)


def _quantified(node: Quantified, below: list[_Piece]) -> _Piece:
    condition = f" if {below[0].text}" if node.condition is not None else ""
    head = f"{node.quantifier} {', '.join(node.variables)} in {_quoted(node.pattern)}{condition}"
    return _Piece(f"{head}: {below[-1].text}", _UNARY, open=True)


def _keyed(node: Keyed, below: list[_Piece]) -> _Piece:
    owner = node.owner if _is_plain(node.owner) else _quoted(node.owner)
    head = f"forall key {node.key} in {owner}.{node.variable}"
    return _Piece(f"{head}: {below[0].text}", _UNARY, open=True)


def _is_plain(name: str) -> bool:
    return name.isascii() and name.isidentifier()


def _compared(node: Compare, below: list[_Piece]) -> _Piece:
    parts = [_fit(below[0], _SUM)]
    for operator, piece in zip(node.operators, below[1:], strict=True):
        parts.append(f" {operator} {_fit(piece, _SUM)}")
    return _Piece("".join(parts), _COMPARE)


def _computed(node: Arithmetic, below: list[_Piece]) -> _Piece:
    operator = node.operator
    if len(below) == 1:
        return _Piece(operator + _fit(below[0], _SIGN), _SIGN)
    if operator == "**":
        return _Piece(f"{_fit(below[0], _PRIMARY)} ** {_fit(below[1], _SIGN)}", _POWER)
    own = _SUM if ARITHMETIC_LEVELS[operator] == 1 else _PRODUCT
    return _Piece(f"{_fit(below[0], own)} {operator} {_fit(below[1], own + 1)}", own)


# ---- leaves -------------------------------------------------------------------------------------


def _leaf(node: Node) -> _Piece:
    match node:
        case Literal(value):
            return _literal(value)
        case Name(parts):
            return _Piece(".".join([_word(part) for part in parts]))
        case Local(process, variable):
            return _Piece(f"{_word(process)}.{_dotted(variable)}")
        case Shared():
            return _Piece(_shared(node))
        case Transit(None, None):
            return _Piece("transit()")
        case Transit(sender, receiver, tag):
            third = "" if tag is None else f", {_quoted(tag)}"
            return _Piece(f"transit({_process(sender)}, {_process(receiver)}{third})")
        case At(process, label):
            return _Piece(f"at({_process(process)}, {_quoted(label)})")
        case Stack(observer, process, function):
            return _Piece(f"{observer}({_process(process)}, {_dotted(function)})")
        case Done(process):
            return _Piece(f"done({_process(process)})")
        case Index(variable):
            return _Piece(f"index({variable})")
        case Count(pattern):
            return _Piece(f"count({_quoted(pattern)})")
    raise TypeError(f"unknown node {type(node).__name__}")


def _literal(value: Any) -> _Piece:
    if isinstance(value, str):
        return _Piece(_quoted(value))
    if value is None or isinstance(value, bool):
        return _Piece({None: "null", True: "true", False: "false"}[value])
    text = repr(value)
    return _Piece(text, _SIGN if text.startswith("-") else _PRIMARY)


def _shared(node: Shared) -> str:
    variable = node.variable
    plain = all(_is_word(part) for part in variable.split("."))
    if node.explicit or not plain or variable in _RESERVED:
        return f"shared({_quoted(variable)})"
    return variable


def _process(process: Any) -> str:
    return _word(process.parts[0] if isinstance(process, Name) else process)


def _word(name: str) -> str:
    return name if _is_word(name) else _quoted(name)


def _dotted(name: str) -> str:
    return name if all(_is_word(part) for part in name.split(".")) else _quoted(name)


def _is_word(name: str) -> bool:
    # NFKC forms differ between str.isidentifier and \w, so only what the lexer surely reads stays bare.
    return name.isidentifier() and (name.isascii() or all(c == "_" or c.isalnum() for c in name))


def _quoted(text: str) -> str:
    """In double quotes; what does not print is escaped, other letters stay as they are."""
    if text.isprintable():
        return json.dumps(text, ensure_ascii=False)
    return "".join(['"', *[_escaped(character) for character in text], '"'])


def _escaped(character: str) -> str:
    return json.dumps(character, ensure_ascii=not character.isprintable())[1:-1]
