"""`possibly view FILE --serve`: the live page on this machine, until Ctrl-C."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from possibly.errors import UsageError
from possibly.views.cli.drawing.pages import commands_for, computation_of
from possibly.views.cli.drawing.pictures import executions_of, is_tree_file
from possibly.views.cli.files import loaded, named_errors, read_text
from possibly.views.cli.properties import has_properties, options_of, specification_of
from possibly.views.cli.recorded.check import checked

if TYPE_CHECKING:
    from possibly.session.debugging.temporal import Debugger
    from possibly.views.web.live import LivePage, LiveRun


def serve(arguments: argparse.Namespace) -> int:
    """Serves until somebody stops it, which is its normal end."""
    from possibly.views.web.server import serving

    page = live_page(arguments)
    if not 0 <= arguments.port < 1 << 16:
        raise UsageError(f"{arguments.port} is no port: a port is a number below {1 << 16:,}")
    with named_errors(f"port {arguments.port}"), serving(page, arguments.port) as server:
        print(f"Page: {server.address}", flush=True)
        print("Ctrl-C ends it.", flush=True)
        if not arguments.no_browser:
            _open(server.address)
        _wait()
    page.close()
    return 0


def _open(address: str) -> None:
    import webbrowser

    webbrowser.open(address)


def _wait() -> None:
    from threading import Event

    try:
        Event().wait()
    except KeyboardInterrupt:
        pass


def live_page(arguments: argparse.Namespace) -> LivePage:
    """A trace with a temporal stack on its cuts, or a model with one on its states."""
    from possibly.views.web.debugging import LiveStack
    from possibly.views.web.live import LivePage

    if is_tree_file(arguments.trace):
        return _live_executions(arguments.trace) or _live_tree(arguments.trace)
    stack = LiveStack(_debugger(arguments))
    if arguments.trace.endswith(".py"):
        return LivePage(arguments.trace, None, [stack], stack.graphs)
    return LivePage(arguments.trace, _live_run(arguments), [stack], stack.graphs, cut=stack.cut)


def _live_executions(path: str) -> LivePage | None:
    """The executions of a search, with the program behind them to be run again."""
    tree = executions_of(path)
    if tree is None:
        return None
    from possibly.views.web.explored import LiveExecutions
    from possibly.views.web.live import LivePage

    with named_errors(path):
        live = LiveExecutions(tree)
    return LivePage(path, None, [live], close=live.close)


def _live_tree(path: str) -> LivePage:
    """A saved macro-step tree with its program behind it: branches are taken and replayed for real."""
    from possibly.control.macro.tree import Tree
    from possibly.session.macro_steps.tree import MacroSession, program_of
    from possibly.views.web.live import LivePage
    from possibly.views.web.macro import LiveMacroTree

    with named_errors(path):
        tree = Tree.load(path)
        session = MacroSession(program_of(tree), tree)
    return LivePage(path, None, [LiveMacroTree(session, "Macro-step tree")], close=session.close)


def _live_run(arguments: argparse.Namespace) -> LiveRun:
    from possibly.logic.specification import Specification
    from possibly.verdict.model import Report, Verdict
    from possibly.views.text.source import Sources
    from possibly.views.web.live import LiveRun

    options = options_of(arguments, explain=True, is_drawn=True)
    if has_properties(arguments):
        specification = specification_of(arguments)
        trace, report = checked(arguments.trace, specification, options)
    else:
        specification, trace = Specification(), loaded(arguments.trace, None)
        report = Report(arguments.trace, len(trace.processes), len(trace), ())
    given = {verdict.name for verdict in report.verdicts}

    def commands(verdict: Verdict) -> list[tuple[str, str]]:
        """Only what was given on the command line can be repeated by the same command."""
        if verdict.name not in given:
            return []
        return commands_for(arguments, arguments.trace, verdict, len(given) > 1)

    import os

    quote = Sources((os.path.dirname(arguments.trace), "")).quote
    computation = computation_of(trace, report, arguments.order)
    return LiveRun(trace, computation, options, specification, report, commands, quote)


def _debugger(arguments: argparse.Namespace) -> Debugger:
    from possibly.session.debugging.temporal import Opening, opened

    path = arguments.trace
    head = read_text(path) if path.endswith(".py") else ""
    with named_errors(path):
        return opened(Opening(path, head, arguments.order))
