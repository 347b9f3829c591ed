"""Properties checked on as much of a Parquet file as they name.

Law: the answer is that of the whole run. A formula without a next operator has the same answer in the run of
those processes alone that it reads, with the order of the whole run between them (`order.projection`, where
the law stands); so columns, rows and messages of others stay in the file.

An order that is shown is one of the whole run, with the names of its events. So where there is anything to
show, and wherever an answer may rest on more than what the formula reads, `answered` gives none and
the whole file is read.
"""

from __future__ import annotations

from collections.abc import Iterator

from possibly.errors import FormulaError
from possibly.logic.bind import Vocabulary, bind_property
from possibly.logic.languages import FORMULAS
from possibly.logic.predicates.functions import leaves
from possibly.logic.specification import Specification
from possibly.logic.syntax import Keyed, Leaf, Shared, Transit
from possibly.order.projection import may_be_projected
from possibly.records import dataclass, replace
from possibly.session.checking.check import LONG, Options, Progress, check_trace
from possibly.trace.model import Trace
from possibly.trace.parquet.read import Outline, Part, outline, read_parquet, words_of
from possibly.trace.turns import TURN
from possibly.verdict.model import Report, Truth, Verdict


@dataclass(frozen=True, slots=True)
class Selected:
    """The part of a run that was read, and the answers."""

    trace: Trace
    report: Report


def words_in(specification: Specification) -> frozenset[str] | None:
    """The words that the properties consist of; None if what they need cannot be told from these."""
    if any(found.language not in FORMULAS for found in specification.properties):
        return None
    lets = [let.text for let in specification.lets]
    return words_of([*(found.text for found in specification.properties), *lets])


def answered(
    path: str, specification: Specification, options: Options, progress: Progress | None = None
) -> Selected | None:
    """The answers from a part of the file; None if the whole has to be read."""
    words = words_in(specification)
    if words is None or not _may_be_asked(specification, options):
        return None
    run = outline(path, words)
    part = part_for(specification, run)
    if part is None:
        return None
    trace = read_parquet(path, words, part)
    asked = replace(options, examples=options.examples and run.events <= LONG)  # as of the whole run
    report = check_trace(trace, specification, asked, progress)
    if not all(_shows_nothing(verdict) for verdict in report.verdicts):
        return None
    note = (
        f"of the file: {len(trace):,} of {run.events:,} events were read, those of {len(part.processes)} of"
        f" {len(run.processes)} processes"
    )
    verdicts = tuple(replace(verdict, raced=(), notes=(*verdict.notes, note)) for verdict in report.verdicts)
    return Selected(trace, replace(report, trace=path, events=run.events, verdicts=verdicts))


def _may_be_asked(specification: Specification, options: Options) -> bool:
    is_plain = options.order == "causal" and options.engine == "auto"
    is_declared = any(let.declared for let in specification.lets)
    is_keyed = any(isinstance(found.formula, Keyed) for found in specification.properties)
    return is_plain and options.loops is None and not is_declared and not is_keyed


def _shows_nothing(verdict: Verdict) -> bool:
    has_order = verdict.witness is not None or verdict.example is not None
    return verdict.truth is Truth.HOLDS and not has_order and not verdict.faults


def part_for(specification: Specification, run: Outline) -> Part | None:
    """The processes that the properties read; None if these cannot be told, or are all."""
    if not run.has_order or TURN in run.kinds:
        return None
    names = _vocabulary(run)
    try:
        bounds = [
            bind_property(found, names, specification.lets, counts_pairs=True).formula
            for found in specification.properties
        ]
    except FormulaError:
        return None
    read = {leaf for formula in bounds for leaf in leaves(formula)}
    if not all(map(may_be_projected, bounds)) or not _is_told(read, run):
        return None
    processes = frozenset(name for leaf in read for name in _read_by(leaf, run))
    if not processes or len(processes) == len(run.processes):
        return None
    return Part(processes, run.processes, any(isinstance(leaf, Transit) for leaf in read))


def _is_told(read: set[Leaf], run: Outline) -> bool:
    """Whether what they read belongs to processes; of short runs races are told, and others take part."""
    is_racing = run.events <= LONG and any(isinstance(leaf, Shared) for leaf in read)
    return not is_racing and not any(isinstance(leaf, Transit) and leaf.sender is None for leaf in read)


def _read_by(leaf: Leaf, run: Outline) -> Iterator[str]:
    match leaf:
        case Shared(variable):
            yield from run.writers.get(variable, ())
        case Transit(sender, receiver):
            yield from (sender, receiver)
        case _:
            yield leaf.process


def _vocabulary(run: Outline) -> Vocabulary:
    found: dict[str, set[str]] = {name: set() for name in run.processes}
    for process in run.header.get("processes", ()):
        found[process["name"]].update(process.get("init", ()))
    for variable, processes in run.setters.items():
        for name in processes:
            found[name].add(variable)
    return Vocabulary(
        processes=run.processes,
        locals={name: frozenset(variables) for name, variables in found.items()},
        shared=frozenset(run.header.get("shared", ())) | run.writers.keys(),
        functions=run.functions,
        labels=run.labels,
    )
