"""Specification files: named predicates, properties in several languages, synchronisation rules.

Here belongs the form of the lines, `keyword name = text`, not the meaning of the texts. `let`, `ctl`, `ltl`
and `tl` are parsed at once, `pattern` lines become `ctl` or `ltl` properties (`possibly.logic.patterns`); the
texts of the other languages are kept for their own readers (`formula` is None). A line that begins with a
blank continues the one before; `#` outside quotes begins a comment. Comments are blanked rather than cut out,
so that an offset in a text is a place in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from possibly.logic.languages import FORMULAS, LANGUAGES, PATHS
from possibly.logic.parser import parse
from possibly.logic.source import Source
from possibly.logic.syntax import Node
from possibly.records import dataclass, replace

KEYWORDS = ("let", *LANGUAGES, "pattern", "event", "sync")

CLASS_WORDS = (
    "local", "conjunctive", "disjunctive", "regular", "linear", "post-linear", "stable",
    "observer-independent", "relational", "co-regular", "co-linear", "co-stable",
)  # fmt: skip
"""Classes that a user may declare: `let stable dead = ...`."""


@dataclass(frozen=True, slots=True)
class Let:
    """A named predicate or value, perhaps with a class that its author vouches for."""

    name: str
    declared: str | None
    formula: Node
    text: str
    line: int
    file: str | None = None
    column: int = 1

    @property
    def source(self) -> Source:
        return Source(self.text, self.file, self.line, self.column)


@dataclass(frozen=True, slots=True)
class Property:
    """A named formula to check. (`line`, `column`) is where `text` begins."""

    name: str
    language: str
    text: str
    formula: Node | None
    file: str | None = None
    line: int = 1
    column: int = 1

    @property
    def source(self) -> Source:
        return Source(self.text, self.file, self.line, self.column)


@dataclass(frozen=True, slots=True)
class Unnamed:
    """A property of a pattern that its author gave no name."""

    found: Property


@dataclass(frozen=True, slots=True)
class Sync:
    """A rule `P(S): release(S); acquire(S)` that says what a synchronisation is made of."""

    text: str
    file: str | None
    line: int
    column: int

    @property
    def source(self) -> Source:
        return Source(self.text, self.file, self.line, self.column)


@dataclass(frozen=True, slots=True)
class Definition:
    """A compound event `event name = expression`, for path expressions."""

    name: str
    source: Source

    @property
    def line(self) -> int:
        return self.source.line


@dataclass(frozen=True, slots=True)
class Specification:
    lets: tuple[Let, ...] = ()
    properties: tuple[Property, ...] = ()
    syncs: tuple[Sync, ...] = ()
    definitions: tuple[Definition, ...] = ()
    """Compound events of path expressions."""


def read_specification(text: str, file: str | None = None) -> Specification:
    """All that a specification file says; the first error in it is raised with its place."""
    lets: dict[str, Let] = {}
    properties: dict[str, Property] = {}
    syncs: list[Sync] = []
    definitions: dict[str, Definition] = {}
    for entry in _entries(text, file):
        match _read(entry):
            case Let() as let:
                _refuse_second(let.name, lets.get(let.name), entry)
                lets[let.name] = let
            case Property() as found:
                _refuse_second(found.name, properties.get(found.name), entry)
                properties[found.name] = found
            case Unnamed(found):
                found = _numbered(found, properties)
                properties[found.name] = found
            case Sync() as sync:
                syncs.append(sync)
            case definition:
                _refuse_second(definition.name, definitions.get(definition.name), entry)
                definitions[definition.name] = definition
    _check_paths(properties.values(), syncs, definitions)
    return Specification(
        tuple(lets.values()), tuple(properties.values()), tuple(syncs), tuple(definitions.values())
    )


def _check_paths(
    properties: Iterable[Property], syncs: list[Sync], definitions: Mapping[str, Definition]
) -> None:
    """Path expressions are read once here, so that their errors come with those of all other lines."""
    paths = [found for found in properties if found.language in PATHS]
    if not paths and not syncs and not definitions:
        return
    from possibly.logic.paths.parser import parse_path
    from possibly.logic.paths.rules import parse_rule

    for source in [*(found.source for found in paths), *(each.source for each in definitions.values())]:
        parse_path(source, definitions)
    for sync in syncs:
        parse_rule(sync.source, definitions)


def property_from_text(language: str, text: str, name: str, file: str | None = None) -> Property:
    """A property that stands alone, as on the command line: `--ctl FORMULA` is named ctl1."""
    source = Source(text, file or f"--{language}")
    if not text.strip():
        source.fail("the formula is empty", 0)
    formula = _parsed(language, text, source)
    return Property(name, language, text, formula, source.file, source.line, source.column)


def _parsed(language: str, text: str, source: Source) -> Node | None:
    """The tree of a formula; None for a language that has its own reader."""
    if language == "tl":
        from possibly.logic.tasks.parser import parse_tasks

        return parse_tasks(text, source)
    if language in PATHS and source.file == f"--{language}":
        from possibly.logic.paths.parser import parse_path

        parse_path(source)
    return parse(text, language, source) if language in FORMULAS else None


# ---- lines --------------------------------------------------------------------------------------

_QUOTED_OR_COMMENT = r'"(?:[^"\\]|\\.)*"|(?<!\w)\'(?:[^\'\\]|\\.)*\'|#.*'
"""A quote right after a word is a prime (`X'`, the previous value), not the begin of a string."""


def _entries(text: str, file: str | None) -> Iterator[Source]:
    """Each line together with the lines that continue it."""
    first = 0
    found: list[str] = []
    for number, raw in enumerate(text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"), 1):
        line = (re.sub(_QUOTED_OR_COMMENT, _blanked, raw) if "#" in raw else raw).rstrip()
        if line and not line[0].isspace():
            yield from _entry(found, file, first)
            first, found = number, [line]
        elif found:
            found.append(line)
        elif line:
            indent = len(line) - len(line.lstrip())
            hint = "an indented line continues the one before"
            Source(line, file, number).fail("this line continues nothing", indent, hint)
    yield from _entry(found, file, first)


def _blanked(match: re.Match[str]) -> str:
    return " " * len(match.group()) if match.group()[0] == "#" else match.group()


def _entry(lines: list[str], file: str | None, number: int) -> Iterator[Source]:
    if lines:
        yield Source("\n".join(lines).rstrip(), file, number)


# Compiled when a file is read: formulas of the command line do without.
_HEAD = r"(?P<keyword>\S+)(?:\s+(?P<words>[^=]*?))?\s*(?P<equals>=(?!=))\s*"
_LET_NAME = r"[^\W\d]\w*"
_PROPERTY_NAME = r"[\w][\w.-]*"


def _read(entry: Source) -> Let | Property | Unnamed | Sync | Definition:
    keyword = entry.text.split(maxsplit=1)[0]
    if keyword.startswith("SYNC("):  # as the paper writes it: the line is the rule
        return Sync(entry.text, entry.file, entry.line, entry.column)
    if keyword not in KEYWORDS:
        _unknown_keyword(entry, keyword)
    if keyword == "sync":
        return _sync(entry)
    if keyword == "pattern":
        return _pattern(entry)
    head = re.match(_HEAD, entry.text)
    if head is None:
        entry.fail(f"expected `{keyword} name = ...`", len(keyword), None)
    words = (head["words"] or "").split()
    text = entry.text[head.end() :]
    if not text:
        entry.fail("expected a formula after `=`", len(entry.text) - 1)
    source = _part(entry, head.end())
    if keyword == "let":
        return _let(entry, words, source)
    if keyword == "event":
        return Definition(_name(entry, keyword, words, _LET_NAME), source)
    name = _name(entry, keyword, words, _PROPERTY_NAME)
    formula = _parsed(keyword, text, source)
    return Property(name, keyword, text, formula, source.file, source.line, source.column)


def _part(entry: Source, offset: int) -> Source:
    line, column = entry.place(offset)
    return Source(entry.text[offset:], entry.file, line, column)


def _let(entry: Source, words: list[str], source: Source) -> Let:
    declared = None
    if len(words) == 2:
        declared, words = words[0], words[1:]
        if declared not in CLASS_WORDS:
            hint = near(declared, CLASS_WORDS) or f"classes are {', '.join(CLASS_WORDS)}"
            entry.fail(f"unknown class `{declared}`", entry.text.index(declared, 3), hint)
    name = _name(entry, "let", words, _LET_NAME)
    formula = parse(source.text, "predicate", source)
    return Let(name, declared, formula, source.text, source.line, source.file, source.column)


def _name(entry: Source, keyword: str, words: list[str], form: str) -> str:
    if len(words) != 1:
        shape = "let [class] name = ..." if keyword == "let" else f"{keyword} name = ..."
        entry.fail(f"expected `{shape}`", len(keyword))
    if re.fullmatch(form, words[0]) is None:
        entry.fail(f"`{words[0]}` is not a name", entry.text.index(words[0], len(keyword)))
    return words[0]


def _sync(entry: Source) -> Sync:
    body = entry.text[len("sync") :].lstrip()
    left, colon, right = body.partition(":")
    if not (left.strip() and colon and right.strip()):
        entry.fail("expected `sync name(variables): ...`", len("sync"))
    source = _part(entry, len(entry.text) - len(body))
    return Sync(source.text, source.file, source.line, source.column)


def _pattern(entry: Source) -> Property | Unnamed:
    from possibly.logic.patterns.lines import read_pattern

    meant = read_pattern(entry, len("pattern"))
    formula = _parsed(meant.language, meant.formula, Source(meant.formula, entry.file, entry.line))
    name = meant.name or meant.pattern.name
    found = Property(name, meant.language, meant.formula, formula, entry.file, entry.line, 1)
    return found if meant.name else Unnamed(found)


def _numbered(found: Property, taken: Mapping[str, Property]) -> Property:
    """A property without a name is called after its pattern: `response`, `response2`."""
    names = [found.name, *(f"{found.name}{number}" for number in range(2, len(taken) + 3))]
    return replace(found, name=next(name for name in names if name not in taken))


def _refuse_second(name: str, before: Let | Property | Definition | None, entry: Source) -> None:
    if before is not None:
        offset = entry.text.index(name, len(entry.text.split(maxsplit=1)[0]))
        entry.fail(f"`{name}` is defined a second time", offset, f"the first stands in line {before.line}")


def _unknown_keyword(entry: Source, keyword: str) -> None:
    clipped = keyword if len(keyword) <= 40 else keyword[:37] + "..."
    hint = near(keyword, KEYWORDS) or f"a line begins with one of {' '.join(KEYWORDS)}"
    entry.fail(f"unknown keyword `{clipped}`", 0, hint)


def near(word: str, known: tuple[str, ...]) -> str | None:
    """A hint with the known words that look like this one."""
    import difflib  # only needed on the way to an error message

    found = difflib.get_close_matches(word[:100], known, n=3, cutoff=0.6)
    return f"did you mean {' or '.join(found)}?" if found else None
