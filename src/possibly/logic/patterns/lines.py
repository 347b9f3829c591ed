"""A line of a specification file that names a pattern, read.

    pattern response(P1.request, P2.reply)
    pattern answered = response(P1.request, P2.reply) after P1.ready until P1.closed

Every argument is parsed by itself, so that a mistake is told at its place; then it is put into the formula
of the pattern. A quoted pattern of process names in an argument, `inside("worker*", update)`, makes it speak
of the group: of each process of it by itself, or as the pattern says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from possibly.logic.parser import parse
from possibly.logic.patterns.table import BY_NAME, SCOPES, Pattern, once
from possibly.logic.source import Source
from possibly.records import dataclass

_HEAD = r"\s*(?:(?P<name>\w[\w.-]*)\s*=(?!=)\s*)?(?P<kind>[^\W\d]\w*)\s*\("
_GROUP = r'"(?:[^"\\]|\\.)*[*?\[](?:[^"\\]|\\.)*"'
_LETTERS = "i j k m n u v w x y z".split()
MOST = 6
"""The largest number that `at_most` and `bounded_existence` take: the formula grows with it."""


@dataclass(frozen=True, slots=True)
class Meant:
    """What a line stands for."""

    name: str | None
    """Given by its author."""
    pattern: Pattern
    language: str
    formula: str


@dataclass(frozen=True, slots=True)
class _Argument:
    text: str
    source: Source


def read_pattern(entry: Source, offset: int) -> Meant:
    """The pattern that begins at that offset of a line."""
    head = re.compile(_HEAD).match(entry.text, offset)
    if head is None:
        entry.fail("expected `pattern name(arguments)`", offset, "possibly patterns lists them")
    pattern = BY_NAME.get(head["kind"])
    if pattern is None:
        entry.fail(f"there is no pattern `{head['kind']}`", head.start("kind"), _near(head["kind"]))
    arguments, end = _arguments(entry, head.end())
    scope, ends = _scope(entry, end, pattern)
    if len(arguments) != len(pattern.parameters):
        takes = ", ".join(pattern.parameters) or "nothing"
        entry.fail(f"{pattern.name} takes {takes}", head.end("kind"), f"for instance {pattern.example}")
    formula = _plainer(_formula(pattern, arguments, scope, ends))
    parse(formula, pattern.language, Source(formula, entry.file, entry.line))
    return Meant(head["name"], pattern, pattern.language, formula)


def _plainer(formula: str) -> str:
    """Without the parentheses around a name."""
    return re.sub(r"(?<!\w)\(([\w.]+)\)", r"\1", formula)


def _near(kind: str) -> str:
    import difflib

    found = difflib.get_close_matches(kind, BY_NAME, n=2, cutoff=0.6)
    return f"did you mean {' or '.join(found)}?" if found else "possibly patterns lists them"


# ---- arguments ----------------------------------------------------------------------------------


def _arguments(entry: Source, start: int) -> tuple[list[_Argument], int]:
    """The texts between commas up to the closing parenthesis, and the offset behind it."""
    found: list[_Argument] = []
    depth, begin = 0, start
    for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[()\[\]{},]', entry.text[start:]):
        mark, at = match.group(), start + match.start()
        if mark in "([{":
            depth += 1
        elif mark in ")]}" and depth:
            depth -= 1
        elif mark == ")" or (mark == "," and not depth):
            _add(found, entry, begin, at, is_last=mark == ")")
            begin = at + 1
            if mark == ")":
                return found, at + 1
    return entry.fail("this parenthesis is not closed", start - 1)


def _add(found: list[_Argument], entry: Source, begin: int, end: int, is_last: bool) -> None:
    text = entry.text[begin:end]
    if not text.strip():
        if is_last and not found:
            return
        entry.fail("expected an argument", begin)
    lead = len(text) - len(text.lstrip())
    found.append(_Argument(text.strip(), _part(entry, begin + lead, text.strip())))


def _part(entry: Source, offset: int, text: str) -> Source:
    line, column = entry.place(offset)
    return Source(text, entry.file, line, column)


def _scope(entry: Source, offset: int, pattern: Pattern) -> tuple[str, dict[str, str]]:
    """Which scope a line has, and where it begins (q) and ends (r)."""
    rest = entry.text[offset:]
    if rest.strip() in ("", "globally"):
        return "globally", {}
    for name, form in _FORMS.items():
        match = re.fullmatch(form, rest, re.DOTALL)
        if match is None:
            continue
        if not pattern.has_scopes:
            entry.fail(f"{pattern.name} has no scope", offset + match.start(1) - 1)
        ends = match.groupdict()
        for key, text in ends.items():
            parse(text, "predicate", _part(entry, offset + match.start(key), text))
        return name, ends
    return entry.fail("not a scope", offset, "globally, before r, after q, between q and r, after q until r")


_FORMS = {
    "between": r"\s*between\s+(?P<q>.+?)\s+and\s+(?P<r>.+)",
    "until": r"\s*after\s+(?P<q>.+?)\s+until\s+(?P<r>.+)",
    "before": r"\s*before\s+(?P<r>.+)",
    "after": r"\s*after\s+(?P<q>.+)",
}


# ---- the formula --------------------------------------------------------------------------------


def _formula(pattern: Pattern, arguments: Sequence[_Argument], scope: str, ends: dict[str, str]) -> str:
    template = pattern.templates[SCOPES.index(scope)]
    most = 10**9 if "{n}" in template else MOST
    given = zip(pattern.parameters, arguments, strict=True)
    values = {name: _checked(name, each, most) for name, each in given} | ends
    if "each" in values:
        return _of_group(pattern, template, values, arguments)
    groups = list(dict.fromkeys(group for text in values.values() for group in re.findall(_GROUP, text)))
    if len(groups) > 1:
        arguments[0].source.fail("two groups of processes in one pattern", 0, "name one group")
    if not groups:
        return _filled(template, values)
    (letter,) = _letters(values.values(), 1)
    inside = {name: text.replace(groups[0], letter) for name, text in values.items()}
    return f"forall {letter} in {groups[0]}: ({_filled(template, inside)})"


def _filled(template: str, values: dict[str, str]) -> str:
    if "{times}" in template:
        return once(values["p"], int(values["n"]))
    return template.format(**values, once=once(values.get("p", "")))


def _of_group(pattern: Pattern, template: str, values: dict[str, str], arguments: Sequence[_Argument]) -> str:
    each = values.pop("each")
    groups = list(dict.fromkeys(re.findall(_GROUP, each)))
    if len(groups) != 1:
        hint = f"for instance {pattern.example}"
        arguments[-1].source.fail('expected one group of processes in quotes, as in "worker*"', 0, hint)
    count = int(values["n"]) + 1 if "n" in values else 2
    letters = _letters([each], count)
    texts = [each.replace(groups[0], letter) for letter in letters]
    if "{at_most}" in template:
        return _at_most(groups[0], letters, texts)
    i, j = letters
    return template.format(group=groups[0], i=i, j=j, first=texts[0], second=texts[1])


def _at_most(group: str, letters: Sequence[str], texts: Sequence[str]) -> str:
    pairs = [f"{a} != {b}" for n, a in enumerate(letters) for b in letters[n + 1 :]]
    chosen = f" if {' and '.join(pairs)}" if pairs else ""
    inside = " & ".join(f"({text})" for text in texts)
    return f"forall {', '.join(letters)} in {group}{chosen}: AG(!({inside}))"


def _checked(name: str, argument: _Argument, most: int) -> str:
    """The argument's text, if it is a predicate or, where one is wanted, a number."""
    if name == "n":
        if re.fullmatch(r"0|[1-9]\d{0,8}", argument.text) is None:
            argument.source.fail("expected a number", 0)
        if int(argument.text) > most:
            argument.source.fail(f"at most {most}: the formula grows with it", 0)
        return argument.text
    parse(argument.text, "predicate", argument.source)
    return argument.text


def _letters(texts: Iterable[str], count: int) -> list[str]:
    """Names for processes that the arguments do not use."""
    used = set(re.findall(r"\w+", " ".join(texts)))
    return [letter for letter in _LETTERS if letter not in used][:count]
