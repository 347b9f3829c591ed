"""The options that say what to check and how far, shared by the commands that check.

Here belong their definitions, how they become a `Specification` and `Options`, and how they are written
again as the command that repeats a check.
"""

from __future__ import annotations

from collections.abc import Iterator

from possibly.errors import UsageError
from possibly.logic.languages import LANGUAGES
from possibly.records import replace
from possibly.views.cli.files import read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from possibly.logic.specification import Property, Specification
    from possibly.session.checking.check import Options
    from possibly.verdict.model import Verdict

HOW_TO_GIVE_ONE = "give a property: --spec FILE, --ctl FORMULA, --ltl FORMULA or --tl FORMULA"
UNLIMITED = "none"
MOST_CUTS = 10_000_000
"""That a property may take if nothing is said."""
PATHS = {
    "expect": "a path expression that the run must fit",
    "never": "a path expression that must not occur",
    "watch": "a path expression to look out for",
}


def add_property_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("properties")
    group.add_argument("--spec", metavar="FILE", help="a file with let, ctl, ltl, tl and path lines")
    for language in LANGUAGES:
        group.add_argument(
            f"--{language}",
            metavar="FORMULA",
            action="append",
            default=[],
            help=f"{PATHS.get(language, f'a formula of {language.upper()}')}; may be given again",
        )
    group.add_argument(
        "--only",
        metavar="NAME",
        action="append",
        default=[],
        help="check only the property of that name; may be given again",
    )


def from_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


from_one.__name__ = "number from 1"


def add_window_argument(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--window",
        metavar="N",
        type=from_one,
        help="with --races: look at other orders in windows of so many events (default: of long runs)",
    )


def add_limit_arguments(parser: argparse.ArgumentParser, predictive: bool = False) -> None:
    group = parser.add_argument_group("order and limits")
    add_order_argument(group, predictive)
    group.add_argument(
        "--max-cuts",
        metavar="N",
        type=_limit,
        default=MOST_CUTS,
        help=f"give up on a property after visiting that many cuts (default {MOST_CUTS:,}; none: never)",
    )
    group.add_argument(
        "--timeout", metavar="SECONDS", type=seconds, help="give up on a property after that time"
    )
    group.add_argument(
        "--max-memory",
        metavar="SIZE",
        type=_size,
        default=0,
        help="give up on a property that needs more: 500M, 4G (default: half of the machine's; none: never)",
    )
    group.add_argument(
        "--vacuity",
        action="store_true",
        help="ask all engines, not slices alone, whether the left sides of what holds are ever true, "
        "and name the parts that may be anything",
    )
    group.add_argument("--engine", metavar="NAME", default="auto", help="the engine to use (default: auto)")


def add_order_argument(group: argparse._ActionsContainer, predictive: bool = False) -> None:
    group.add_argument(
        "--order",
        choices=("causal", "sync", "predictive") if predictive else ("causal", "sync"),
        default="causal",
        help="causal (default): conflicting accesses to shared variables stay in their order; "
        "sync: only synchronisation orders events"
        + ("; predictive: unsynchronised accesses in every order" if predictive else ""),
    )


def _limit(text: str) -> int | None:
    if text == UNLIMITED:
        return None
    number = int(text)
    if number < 0:
        raise ValueError
    return number


_limit.__name__ = "number of cuts"  # argparse names it in its message


def seconds(text: str) -> float:
    number = float(text)
    if not number >= 0:
        raise ValueError
    return number


seconds.__name__ = "number of seconds"


def _size(text: str) -> int | None:
    if text == UNLIMITED:
        return None
    unit = {"K": 10, "M": 20, "G": 30, "T": 40}.get(text[-1:].upper())
    number = float(text if unit is None else text[:-1]) * (1 << (unit or 0))
    if not 1 <= number < 1 << 62:
        raise ValueError
    return int(number)


_size.__name__ = "size of memory (500M, 4G)"


def has_properties(arguments: argparse.Namespace) -> bool:
    return arguments.spec is not None or any(getattr(arguments, language) for language in LANGUAGES)


def specification_of(arguments: argparse.Namespace) -> Specification:
    """The properties of the file and of the command line together."""
    from possibly.logic.specification import read_specification

    if not has_properties(arguments):
        raise UsageError(f"nothing to check: {HOW_TO_GIVE_ONE}")
    file = arguments.spec
    found = read_specification("" if file is None else read_text(file), file)
    taken = {each.name for each in found.properties}
    both = (*found.properties, *_given(arguments, taken))
    if not both:
        raise UsageError(f"no property in this file: {HOW_TO_GIVE_ONE}", file=file)
    return replace(found, properties=_selected(both, arguments.only))


def _given(arguments: argparse.Namespace, taken: set[str]) -> Iterator[Property]:
    """The formulas of the command line, called ctl1, ctl2, ... as far as these names are free."""
    from possibly.logic.specification import property_from_text

    for language in LANGUAGES:
        number = 0
        for text in getattr(arguments, language):
            number += 1
            while f"{language}{number}" in taken:
                number += 1
            yield property_from_text(language, text, f"{language}{number}")


def _selected(properties: tuple[Property, ...], only: list[str]) -> tuple[Property, ...]:
    names = [each.name for each in properties]
    for name in only:
        if name not in names:
            raise UsageError(f"no property is called {name!r}: there are {', '.join(names)}")
    return tuple(each for each in properties if not only or each.name in only)


def options_of(arguments: argparse.Namespace, explain: bool, is_drawn: bool = False) -> Options:
    """`is_drawn`: there will be a page, which shows what a property that holds looks like."""
    from possibly.session.checking.check import Options

    is_drawn = is_drawn or getattr(arguments, "html", None) is not None
    return Options(
        order=arguments.order,
        max_cuts=arguments.max_cuts,
        timeout=None if arguments.timeout in (None, float("inf")) else arguments.timeout,
        engine=arguments.engine,
        explain=explain,
        notes=getattr(arguments, "explain", False),
        examples=explain and (is_drawn or getattr(arguments, "explain", False)),
        max_memory=arguments.max_memory,
        loops=getattr(arguments, "loops", None),
        modular=getattr(arguments, "modular", False),
        times=getattr(arguments, "times", False),
        vacuity=arguments.vacuity,
    )


def command_again(arguments: argparse.Namespace, trace: str, verdict: Verdict, several: bool) -> str:
    """The command that checks this one property on this one trace again."""
    import shlex

    words = ["possibly", "check", trace, *_options(arguments)]
    words += ["--only", verdict.name] if several else []
    words += ["--loops", arguments.loops] if getattr(arguments, "loops", None) else []
    words += ["--order", arguments.order] if arguments.order != "causal" else []
    if arguments.max_cuts != MOST_CUTS:
        words += ["--max-cuts", UNLIMITED if arguments.max_cuts is None else str(arguments.max_cuts)]
    words += ["--timeout", f"{arguments.timeout:g}"] if arguments.timeout is not None else []
    if arguments.max_memory != 0:
        words += ["--max-memory", UNLIMITED if arguments.max_memory is None else str(arguments.max_memory)]
    words += ["--engine", arguments.engine] if arguments.engine != "auto" else []
    return shlex.join(words)


def command_to_draw(arguments: argparse.Namespace, trace: str, verdict: Verdict) -> str:
    """The command that draws the semantic model of a path expression."""
    import shlex

    return shlex.join(["possibly", "view", trace, *_options(arguments), "--model", verdict.name])


def _options(arguments: argparse.Namespace) -> list[str]:
    """The options that gave the properties."""
    words = ["--times"] if getattr(arguments, "times", False) else []
    words += ["--spec", arguments.spec] if arguments.spec is not None else []
    formulas = [(each, text) for each in LANGUAGES for text in getattr(arguments, each)]
    return words + [word for each, text in formulas for word in _option(each, text)]


def _option(language: str, formula: str) -> list[str]:
    """A formula that begins with a minus sign would be taken for an option of its own."""
    return [f"--{language}={formula}"] if formula.startswith("-") else [f"--{language}", formula]
