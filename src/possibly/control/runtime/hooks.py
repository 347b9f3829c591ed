"""The builtins `_possibly_...` that rewritten source calls while it is controlled (see `probes.accesses`).

Each does what the expression it stands for did, after telling `memory` what is touched. They live by
subject: `items`, `attributes`, `variables`, `calls`.
"""

from __future__ import annotations

import builtins

from possibly.control.runtime.attributes import delattribute, setattribute
from possibly.control.runtime.calls import attribute, callee, code, keyed, lazily, managed, method
from possibly.control.runtime.following import enter, leave, local
from possibly.control.runtime.items import (
    backwards,
    changed,
    contains,
    deep,
    delitem,
    dict_of,
    dict_of_globals,
    getitem,
    iterate,
    iterator,
    setitem,
    size,
    whole,
)
from possibly.control.runtime.variables import made, read, saw, turn, wrote

NAMES = {
    "getitem": getitem, "setitem": setitem, "delitem": delitem, "whole": whole, "deep": deep,
    "changed": changed, "size": size, "contains": contains, "iterate": iterate, "iterator": iterator,
    "backwards": backwards, "lazily": lazily, "keyed": keyed, "getattr": attribute, "setattr": setattribute,
    "delattr": delattribute, "method": method, "read": read, "saw": saw, "wrote": wrote, "made": made,
    "callee": callee, "code": code, "managed": managed, "dict_of": dict_of,
    "dict_of_globals": dict_of_globals, "turn": turn, "slice": slice,
    "enter": enter, "leave": leave, "local": local,
}  # fmt: skip


def put() -> None:
    for name, value in NAMES.items():
        setattr(builtins, f"_possibly_{name}", value)
