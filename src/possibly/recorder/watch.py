"""What a specification speaks of, as what the recorder has to watch.

A dotted name may be a local of a process, an attribute of an object or a global of a module: its last word
is watched
as all three, which costs nothing where the word does not occur. The other languages are read for their words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from possibly.logic.specification import Specification
from possibly.logic.syntax import Name, Node, Quantified, Shared, Stack
from possibly.logic.walk import nodes
from possibly.probes.watching.candidates import NOTHING, Candidates
from possibly.probes.watching.watch import Watch

ALL, USUAL, NAMED, SYNC = "all", "usual", "named", "sync"
"""How much is recorded: every call and access; every call and what tasks share, but for what happens all the
time; what a property or the user names; synchronisation alone."""
MOST_CALLS = 10_000
"""Calls of a function, or accesses of a line to a variable, that are kept when nobody asked for them."""

STATE_LANGUAGES = ("ctl", "ltl")
"""Those whose formulas are read as trees."""
TASKS = "tl"
"""The language in which a local of a function ends with it."""


def watched(
    specification: Specification | None,
    watch: Iterable[str] = (),
    calls: Iterable[str] = (),
    everything: bool = False,
    record: str = NAMED,
    shared: Candidates = NOTHING,
) -> Watch:
    """The variables and functions of the specification and those that were asked for.

    `shared`: what tasks may share, told as far as it is cheap.
    """
    if record == SYNC:
        specification, watch, calls = None, (), ()
    names: set[str] = set()
    members: set[str] = set()
    functions = {call.rpartition(".")[2] for call in calls}
    arguments: set[str] = set()
    for each in watch:
        _asked_for(each, names, members)
    scoped: set[str] = set()
    if specification is not None:
        for formula in _formulas(specification):
            _from_formula(formula, names, members, functions)
        for language, text in _texts(specification):
            words = set(_WORD.findall(_STRING.sub(" ", text)))
            names |= words
            members |= words
            functions |= words
            arguments.update(_CALL.findall(text))
            scoped.update(words if language == TASKS else ())
        if scoped:
            scoped |= {part for let in specification.lets for part in _last_words(let.formula)}
    return Watch(
        frozenset(names),
        frozenset(members),
        frozenset(functions),
        everything or record == ALL,
        frozenset(arguments),
        frozenset(scoped),
        every_call=record in (USUAL, ALL),
        most_calls=MOST_CALLS if record == USUAL else 0,
        shared_names=shared.names,
        shared_members=shared.members,
    )


def _asked_for(name: str, names: set[str], members: set[str]) -> None:
    name = name.partition("[")[0]
    members.add(name.rpartition(".")[2])
    if "." not in name:
        names.add(name)


def _formulas(specification: Specification) -> Iterable[Node]:
    yield from (let.formula for let in specification.lets)
    for each in specification.properties:
        if each.language in STATE_LANGUAGES and each.formula is not None:
            yield each.formula


def _texts(specification: Specification) -> Iterable[tuple[str, str]]:
    """The texts of other languages with these; a `sync` rule is one of path expressions."""
    for each in specification.properties:
        if each.language not in STATE_LANGUAGES:
            yield each.language, each.text
    yield from (("watch", each.text) for each in specification.syncs)


def _last_words(formula: Node) -> Iterable[str]:
    return (node.parts[-1] for node in nodes(formula) if isinstance(node, Name))


_WORD = re.compile(r"[^\W\d]\w*")
_CALL = re.compile(r"([^\W\d]\w*)\s*\(")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def _from_formula(formula: Node, names: set[str], members: set[str], functions: set[str]) -> None:
    variables = {name for node in nodes(formula) if isinstance(node, Quantified) for name in node.variables}
    for node in nodes(formula):
        match node:
            case Name((single,)) if single not in variables:
                names.add(single)
            case Name((*_, last)) if len(node.parts) > 1:
                members.add(last)
            case Shared(variable):
                _asked_for(variable, names, members)
            case Stack(function=function):
                functions.add(function)
