"""Columns of numbers and texts as JSON that a page can carry.

Here belongs the encoding: a short column is a list of numbers, a long one the bytes of its narrowest integers
(little-endian) in base64; a long document is compressed as a whole. The page's `unpacked` and `readDocument`
are the other half.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Sequence
from typing import Any

from possibly.views.text.words import plain

LONGEST_LIST = 2_000
"""Numbers of a column that is written as a list."""
LONGEST_PLAIN = 1_000_000
"""Characters of a document that is written as it is."""


def packed(numbers: Sequence[int]) -> Any:
    """A column for the document."""
    if len(numbers) <= LONGEST_LIST:
        return list(numbers)
    from base64 import b64encode

    items = _narrow(numbers)
    if sys.byteorder == "big":
        items.byteswap()
    return {"code": items.typecode, "data": b64encode(items.tobytes()).decode()}


def _narrow(numbers: Sequence[int]) -> array[int]:
    least, greatest = min(numbers), max(numbers)
    for code, bits in (("b", 7), ("h", 15)):
        if -(1 << bits) <= least and greatest < 1 << bits:
            return array(code, numbers)
    return array("i", numbers)


def shown(value: Any) -> Any:
    """The value with every text in it made printable, so that no control or direction mark is shown."""
    match value:
        case str():
            return plain(value)
        case dict():
            return {plain(name): shown(part) for name, part in value.items()}
        case list() | tuple():
            return [shown(part) for part in value]
    return value


def script_text(document: Any) -> str:
    """The document as JSON for a `script` element: no `<`, so nothing can end it or begin a tag."""
    text = _json(shown(document))
    if len(text) > LONGEST_PLAIN:
        from base64 import b64encode
        from zlib import compress

        text = _json({"deflate": b64encode(compress(text.encode(), 6)).decode()})
    return text


def _json(document: Any) -> str:
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
