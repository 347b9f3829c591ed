"""What stands where in the columnar form: its head, its sections and what each must obey.

Here belongs what the writer (`columns`) and the reader (`mapped`) must agree on; `columns` describes it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from possibly.records import NamedTuple

MAGIC = b"POSSIBLY"
VERSION = 1
HEAD = struct.Struct("<8sIIQQ")
SIZES = {"B": 1, "b": 1, "h": 2, "i": 4, "q": 8, "d": 8, "I": 4, "Q": 8}


class Rule(NamedTuple):
    """What a column must obey: how long it is and what its items index."""

    length: str
    """`events`, `starts` (one more than events), or the name of the column that it goes along with."""
    table: str
    """What the items are numbers of: processes, strings, values, events, line numbers, or another column."""
    or_none: bool = False
    is_ascending: bool = False


_OPTIONAL = Rule("events", "strings", or_none=True)
RULES: Mapping[str, Rule] = {
    "process": Rule("events", "processes"),
    "kind": Rule("events", "strings"),
    "identifier": _OPTIONAL,
    "message": _OPTIONAL,
    "tag": _OPTIONAL,
    "meet": _OPTIONAL,
    "function": _OPTIONAL,
    "place": _OPTIONAL,
    "label": _OPTIONAL,
    "lines": Rule("events", "line numbers"),
    "set_variable": Rule("any", "strings"),
    "set_value": Rule("set_variable", "values"),
    "set_start": Rule("starts", "set_variable", is_ascending=True),
    "write_variable": Rule("any", "strings"),
    "write_value": Rule("write_variable", "values"),
    "write_start": Rule("starts", "write_variable", is_ascending=True),
    "read_variable": Rule("any", "strings"),
    "read_start": Rule("starts", "read_variable", is_ascending=True),
    "after_event": Rule("any", "events"),
    "after_start": Rule("starts", "after_event", is_ascending=True),
    "delivery_send": Rule("any", "events", is_ascending=True),
    "delivery_receive": Rule("delivery_send", "events", or_none=True),
    "delivery_to": Rule("delivery_send", "processes", or_none=True),
}
MANY = (
    "process", "kind", "set_variable", "set_value", "write_variable", "write_value",
    "read_variable", "after_event", "delivery_send", "delivery_receive", "delivery_to",
)  # fmt: skip
"""Columns that are empty, not None, where nobody uses them."""


INDEX: Mapping[str, str] = {
    "length": "i",
    "receive_start": "i",
    "receive_position": "i",
    "receive_end": "IQ",
    "send_start": "i",
    "send_position": "i",
    "send_end": "IQ",
    "course_process": "bhi",
    "course_variable": "bhi",
    "course_position_end": "bhi",
    "course_number_end": "bhi",
    "course_position": "i",
    "course_number": "bhi",
}
"""The sections of the arrangement by process, with the types they may have."""
