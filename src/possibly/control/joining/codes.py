"""What a code object does, as a digest: the same in every process, another one for any other code.

Where a function stands in its source does not say which one it is: a line may have several lambdas, and what
`exec` compiles has lines of its own. So its instructions are told, with its names and its constants, and so
are those of the functions within.
"""

from __future__ import annotations

from hashlib import blake2b
from types import CodeType
from typing import Any

SIZE = 8
PLAIN = (int, float, complex, str, bytes, type(None), type(...))
MOST = 4096
_known: dict[int, tuple[CodeType, bytes]] = {}
"""By their addresses, since a code object is hashed by its whole content each time; those here live."""


def identity(code: CodeType) -> bytes:
    """Equal for code that does the same."""
    found = _known.get(id(code))
    if found is None:
        if len(_known) >= MOST:
            _known.clear()
        found = _known[id(code)] = code, blake2b(repr(_parts(code)).encode(), digest_size=SIZE).digest()
    return found[1]


def _parts(code: CodeType) -> tuple[Any, ...]:
    return (
        code.co_code, code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars, code.co_flags,
        code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_exceptiontable,
        *map(_constant, code.co_consts),
    )  # fmt: skip


def _constant(value: Any) -> Any:
    if isinstance(value, CodeType):
        return _parts(value)
    if type(value) in (tuple, frozenset):
        found = [repr(_constant(each)) for each in value]
        return type(value).__name__, found if type(value) is tuple else sorted(found)
    return repr(value) if type(value) in (*PLAIN, bool) else type(value).__qualname__
