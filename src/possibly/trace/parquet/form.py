"""What stands in a trace kept as Parquet.

The columns are the fields of a line of a trace file (`n` counts the events from 1; `to`, `after` and `read`
are lists), and one for each variable: `set:x` has the value that an event gave to the local variable x,
`write:x` to the shared one, as JSON, so that a null of the program is not the NULL of an event that does not
touch it. `more` has the fields that are not ours. The header stands in the file's metadata under
`possibly-trace`.

`learns` has what an event knows of other processes and the one before it on its process did not: a list of
processes `p` with the number `k` of their events that happened before. So the order among some processes can
be read off their own rows, also where it goes through others. It may be missing, as may be the whole column:
then the order is known from all rows alone.

The rows of a process stand together, so that others can be passed over.
"""

from __future__ import annotations

import atexit
import gc
from typing import Any

from possibly.errors import UsageError

MAGIC = b"PAR1"
HEADER = "possibly-trace"
TEXTS = ("p", "id", "kind", "msg", "tag", "meet", "fn", "at", "label", "parent")
LISTS = ("to", "after", "read")
VALUES = ("set", "write")
LEARNS = "learns"
GROUP = 8_192
"""Rows that are read or passed over together."""


def quoted_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def duckdb_here() -> Any:
    try:
        import duckdb
    except ImportError:
        raise UsageError("traces in Parquet need DuckDB", hint="pip install 'possibly[parquet]'") from None
    atexit.register(gc.unfreeze)  # of what is frozen when Python ends, as our command has it, it complains
    return duckdb
