"""Sets whose order is an accident: of how this interpreter hashes texts, or of where objects lie in memory.

A set is gone through in the order of its elements' hashes. The hash of a number is that of the number, but
that of a text is another in each interpreter (unless PYTHONHASHSEED says which), and that of most objects is
their address. All executions of a search see one such order. Law. Whoever goes through a set that has
another order elsewhere, or takes an element of it, has noted what the search takes for granted: the sentence
for texts, or the one for addresses. What comes out alike in any order (`sorted`, `len`, `in`, `sum`, unions)
notes nothing.
"""

from __future__ import annotations

import enum
import types
from collections import deque
from typing import Any, Final

from possibly.control.runtime.kernel import Kernel
from possibly.hashing import known
from possibly.probes.stated import stated

OF_TEXTS: Final = "sets of texts are gone through in the order in which this process hashes them"
OF_SEED: Final = "sets of texts are gone through in the order that PYTHONHASHSEED={} gives"
OF_ADDRESSES: Final = "sets of objects are gone through in the order of their addresses"
SETS: Final = (set, frozenset)
IN_ORDER: Final = frozenset(map(id, (list, tuple, iter, enumerate, zip, map, filter, deque)))
"""Functions whose result shows the order."""
NUMBERS: Final = (int, float, complex, bool, type(None))
BUILT_IN: Final = (types.BuiltinFunctionType,)
CALLABLE: Final = (*BUILT_IN, types.MethodType)
"""Their hashes are made of addresses."""
TEXTS: Final = (str, bytes)
OF_NUMBERS: Final = (("decimal", "Decimal"), ("fractions", "Fraction"), ("uuid", "UUID"))
BY_ADDRESS: Final[Any] = object.__hash__
MOST = 100
"""Elements that are looked at."""


def note_order(value: Any, kernel: Kernel) -> None:
    """The value is about to be gone through."""
    if type(value) in SETS and len(value) > 1:
        for each, _ in zip(value, range(MOST), strict=False):
            sentence = _order_of(each)
            if sentence:
                kernel.assumed[sentence] = None


def note_call(function: Any, given: tuple[Any, ...], kernel: Kernel) -> None:
    """A function that is not instrumented is about to be called."""
    if id(function) in IN_ORDER:
        for each in given:
            note_order(each, kernel)
    elif type(function) in BUILT_IN:
        name = function.__name__
        if name == "pop":
            note_order(function.__self__, kernel)
        elif name in ("join", "fromkeys"):
            for each in given:
                note_order(each, kernel)


def _order_of(element: Any) -> str:
    """What decides where it stands in a set; empty: it stands in the same place everywhere."""
    kind = type(element)
    if kind in NUMBERS:
        return ""
    if kind in TEXTS or issubclass(kind, enum.Enum):
        return _of_texts()
    if kind in (tuple, frozenset):
        return next(filter(None, map(_order_of, element)), "")
    if kind in CALLABLE or getattr(kind, "__hash__", None) is BY_ADDRESS:
        return OF_ADDRESSES
    return "" if _holds_numbers(element) else _of_texts()


def _holds_numbers(element: Any) -> bool:
    """Whether nothing is there but numbers that its class could make a hash of."""
    held = stated(element, "__dict__")
    if not held or type(held) is not dict:
        return (type(element).__module__, type(element).__name__) in OF_NUMBERS
    return all(type(each) in NUMBERS for each in dict.values(held))


def _of_texts() -> str:
    return OF_TEXTS if known is None else OF_SEED.format(known)
