"""What a live page does: another property, another slice, and whatever stands behind its trees and stacks.

Here belongs the meaning of a request, as a function from its JSON to the new document; not how it travels
(`server`). A request changes the page's own state only; what it cannot do is a PossiblyError, and the state
is then as before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from possibly.errors import PossiblyError, UsageError
from possibly.logic.languages import LANGUAGES
from possibly.records import replace
from possibly.verdict.model import Report, Verdict
from possibly.views.web.contents import Commands, Quote, contents_of
from possibly.views.web.document import Contents, changing_document, picture_document
from possibly.views.web.models import Operated, Stack, Tree

if TYPE_CHECKING:
    from possibly.logic.specification import Specification
    from possibly.order.computation import Computation
    from possibly.session.checking.check import Options
    from possibly.trace.model import Trace
    from possibly.views.export.arcs import Graph
    from possibly.views.export.boxes import Picture


@dataclass(slots=True)
class LiveRun:
    """A run that is asked about."""

    trace: Trace
    computation: Computation
    options: Options
    specification: Specification
    report: Report
    commands: Commands | None = None
    quote: Quote | None = None
    slices: list[Mapping[str, Any]] = field(default_factory=list)
    _known: tuple[Report, Contents] | None = None
    """The contents for a report: what is operated beside the run does not change them."""

    def contents(self) -> Contents:
        if self._known is None or self._known[0] is not self.report:
            found = contents_of(self.computation, self.report, self.specification, self._commands, self.quote)
            self._known = self.report, found
        found = self._known[1]
        return Contents(
            lattice=found.lattice,
            slices=[*self.slices, *found.slices],
            pictures=found.pictures,
            commands=found.commands,
            quote=found.quote,
        )

    def _commands(self, verdict: Verdict) -> Sequence[tuple[str, str]]:
        return self.commands(verdict) if self.commands is not None else ()

    def check(self, language: str, formula: str) -> None:
        """One property more; its answer comes first."""
        from possibly.logic.specification import property_from_text
        from possibly.session.checking.check import check_trace

        if language not in LANGUAGES:
            raise UsageError(f"no language is called {language!r}: there are {', '.join(LANGUAGES)}")
        taken = {each.name for each in self.specification.properties}
        name = next(n for k in range(1, len(taken) + 2) if (n := f"{language}{k}") not in taken)
        asked = property_from_text(language, formula, name)
        alone = replace(self.specification, properties=(asked,))
        answer = check_trace(self.trace, alone, self.options)
        self.specification = replace(self.specification, properties=(asked, *self.specification.properties))
        self.report = replace(
            self.report,
            verdicts=(*answer.verdicts, *self.report.verdicts),
            warnings=tuple(dict.fromkeys((*self.report.warnings, *answer.warnings))),
        )

    def slice(self, predicate: str) -> None:
        """The slice for one predicate more; it comes first."""
        from possibly.order.lattice import Lattice
        from possibly.session.checking.slicing import slice_trace
        from possibly.views.web.lattices import slice_document

        found = slice_trace(self.trace, predicate, self.computation.order).slice
        document = slice_document(found, predicate, None, Lattice(found.computation))
        self.slices.insert(0, document)


class LivePage:
    """The page and everything behind it."""

    def __init__(
        self,
        title: str,
        run: LiveRun | None = None,
        operated: Sequence[Operated] = (),
        graphs: Callable[[], Sequence[Picture | Graph]] = tuple,
        close: Callable[[], None] = lambda: None,
        cut: Callable[[], list[int] | None] = lambda: None,
    ) -> None:
        self.title = title
        self.run = run
        self.operated = list(operated)
        self.graphs = graphs
        self.cut = cut
        """Where something behind the page stands in the run: the page moves its cut there."""
        self.close = close
        """Ends what stands behind the page: a program that is stopped somewhere."""

    def document(self) -> dict[str, Any]:
        """The whole page."""
        return picture_document(*self._parts())

    def _parts(self) -> tuple[str, Computation | None, Report | None, Contents]:
        shown = [each.picture() for each in self.operated]
        contents = self.run.contents() if self.run is not None else Contents()
        contents = Contents(
            lattice=contents.lattice,
            slices=contents.slices,
            trees=[each for each in shown if isinstance(each, Tree)],
            stacks=[each for each in shown if isinstance(each, Stack)],
            pictures=[*self.graphs(), *contents.pictures],
            commands=contents.commands,
            quote=contents.quote,
        )
        computation = self.run.computation if self.run is not None else None
        report = self.run.report if self.run is not None else None
        return self.title, computation, report, contents

    def ask(self, what: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The document after a request, without the run: the page has it."""
        actions: Mapping[str, Callable[[Mapping[str, Any]], None]] = {
            "check": lambda body: self._asked().check(_text(body, "language"), _text(body, "formula")),
            "slice": lambda body: self._asked().slice(_text(body, "formula")),
            "operate": self._operate,
        }
        if what not in actions:
            raise UsageError(f"no request is called {what!r}")
        actions[what](body)
        document = changing_document(*self._parts())
        return {**document, "cut": self.cut()} if what == "operate" else document

    def _asked(self) -> LiveRun:
        if self.run is None:
            raise UsageError("this page shows no run that could be asked about")
        return self.run

    def _operate(self, body: Mapping[str, Any]) -> None:
        kind = {"trees": Tree, "stacks": Stack}.get(_text(body, "what"))
        found = [each for each in self.operated if kind is not None and isinstance(each.picture(), kind)]
        index, values = body.get("index"), body.get("values")
        if not isinstance(index, int) or not 0 <= index < len(found) or not isinstance(values, dict):
            raise UsageError("no such picture")
        found[index].operate(_text(body, "action"), {str(name): str(value) for name, value in values.items()})


def _text(body: Mapping[str, Any], name: str) -> str:
    found = body.get(name)
    if not isinstance(found, str):
        raise PossiblyError(f"the request has no text {name!r}")
    return found
