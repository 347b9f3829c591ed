"""The words of the languages: which are reserved where, which can be called, and what a stranger meant.

Here belong tables only; the parser reads by them, the printer quotes by them.
"""

from __future__ import annotations

GRAMMAR = frozenset(
    ("and", "or", "not", "implies", "iff", "in", "true", "false", "null", "True", "False", "None")
) | {"forall", "exists"}
"""Never the name of a variable, unless a dot stands before or after it."""

CONSTANTS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}

CTL_UNARY = frozenset(("EF", "AF", "EG", "AG", "EX", "AX"))
LTL_UNARY = frozenset(("X", "N", "F", "G", "Y", "Z", "O", "H"))
LTL_BINARY = frozenset(("U", "R", "W", "S"))

RESERVED = {
    "predicate": frozenset[str](),
    "ctl": CTL_UNARY | {"E", "A", "U"},
    "ltl": LTL_UNARY | LTL_BINARY,
}
"""The operator letters of each language."""

UNARY = {"predicate": frozenset[str](), "ctl": CTL_UNARY, "ltl": LTL_UNARY}

BINARY_LEVELS = {
    "<->": 1, "iff": 1, "->": 2, "implies": 2, "|": 3, "or": 3, "&": 4, "and": 4,
    "U": 5, "R": 5, "W": 5, "S": 5,
}  # fmt: skip
"""Connectives and binary temporal operators, the loosest first."""

COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">=", "in"))
ARITHMETIC_LEVELS = {"+": 1, "-": 1, "*": 2, "/": 2, "//": 2, "%": 2}

FUNCTIONS = {"len": 1, "abs": 1, "sum": 1, "any": 1, "all": 1, "min": None, "max": None, "defined": 1}
"""Functions of values, with the number of their arguments (None: one or more)."""
FACTS = ("transit", "at", "start", "inside", "term", "done", "shared", "index", "count")
"""Words that ask for a fact of a cut, or of a quantifier, when a bracket follows."""

_CTL_FOR_LTL = {"G": "AG or EG", "F": "AF or EF", "X": "AX or EX", "U": "E[p U q] or A[p U q]"}
_LTL_FOR_CTL = {"AG": "G", "AF": "F", "AX": "X"}

_STRANGERS = {
    "is": "write `==` to compare",
    "if": "there is no conditional expression; write (p & q) | (!p & r)",
    "else": "there is no conditional expression; write (p & q) | (!p & r)",
    "for": "there are no comprehensions; write `forall i in \"P*\": ...` to range over processes",
    "lambda": "there are no functions to define; name a predicate with `let`",
    "xor": "write !(p <-> q)",
    "until": "write U",
    "always": "write G in ltl, AG in ctl",
    "eventually": "write F in ltl, AF in ctl",
    "next": "write X in ltl, AX in ctl",
}  # fmt: skip


def hint_for(word: str, language: str) -> str | None:
    """What somebody who wrote this word here most likely needs to know."""
    if word in RESERVED[language]:
        if language == "ctl" and word == "U":
            return "in ctl an until needs a path quantifier: write E[p U q] or A[p U q]"
        if word in ("E", "A") and language == "ctl":
            return f'write {word}[p U q], or shared("{word}") for a variable of that name'
        return f'`{word}` is an operator of {language}; write shared("{word}") for a variable of that name'
    if word in RESERVED["ctl"] | RESERVED["ltl"]:
        return _foreign(word, language)
    return _STRANGERS.get(word)


def _foreign(word: str, language: str) -> str:
    home = "ltl" if word in RESERVED["ltl"] else "ctl"
    if language == "predicate":
        return f"`{word}` is an operator of {home}; a state predicate has no temporal operators"
    known = (_CTL_FOR_LTL if language == "ctl" else _LTL_FOR_CTL).get(word)
    if known:
        return f"`{word}` is an operator of {home}; in {language} write {known}"
    reason = ", whose formulas speak of every path alike" if home == "ctl" else ""
    return f"`{word}` is an operator of {home}, not of {language}{reason}"
