"""`possibly dap`: the debug adapter, which editors start."""

from __future__ import annotations

import argparse

NAME = "dap"
SUMMARY = "the debug adapter for editors (Debug Adapter Protocol)"
DESCRIPTION = (
    "Speaks the Debug Adapter Protocol with an editor, over standard input and output or over a port of this "
    "machine. The editor launches a trace, a schedule, a model or a Python program."
)
EXAMPLES = """\
examples:
  possibly dap
  possibly dap --port 4711
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", metavar="N", type=int, help="wait for one client there (0: any free port)")


def run(arguments: argparse.Namespace) -> int:
    from possibly.views.dap.serve import serve_socket, serve_standard

    if arguments.port is None:
        serve_standard()
    else:
        serve_socket(arguments.port)
    return 0
