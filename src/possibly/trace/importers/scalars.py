"""What importers of text share: regular expressions with named groups, and texts that are numbers."""

from __future__ import annotations

import re

from possibly.errors import UsageError
from possibly.trace.intern import decoded
from possibly.trace.model import Value

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,400})(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")


def named_groups(expression: str, role: str, groups: tuple[str, ...]) -> re.Pattern[str]:
    """The user's expression, which may use JavaScript's `(?<name>...)`, and must have these groups."""
    text = re.sub(r"\(\?<(?![=!])", "(?P<", expression)
    text = re.sub(r"\\k<(\w+)>", r"(?P=\1)", text)
    try:
        pattern = re.compile(text, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(f"the {role} expression is no regular expression: {error}") from None
    for group in groups:
        if group not in pattern.groupindex:
            raise UsageError(f"the {role} expression needs a group (?<{group}>...)")
    return pattern


def scalar(text: str) -> Value:
    """A number where the text is one, else the text."""
    value = decoded(text) if _NUMBER.fullmatch(text) else text
    return text if value in (float("inf"), float("-inf")) else value
