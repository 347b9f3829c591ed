"""The adapter for one client: over standard input and output, or over a socket of this machine."""

from __future__ import annotations

import socket
import sys
from typing import BinaryIO

from possibly.views.dap.adapter import Adapter
from possibly.views.dap.protocol import Channel, messages


def serve(incoming: BinaryIO, outgoing: BinaryIO) -> None:
    """Answers a client until it leaves."""
    adapter = Adapter(Channel(outgoing))
    try:
        for message in messages(incoming):
            adapter.handle(message)
            if adapter.is_over:
                return
    finally:
        adapter.close()


def serve_standard() -> None:
    """Whatever else would be printed goes to standard error: standard output is the client's."""
    incoming, outgoing = sys.stdin.buffer, sys.stdout.buffer
    before, sys.stdout = sys.stdout, sys.stderr
    try:
        serve(incoming, outgoing)
    finally:
        sys.stdout = before


def serve_socket(port: int) -> None:
    """Waits for one client on that port of this machine; 0 is any, and says which."""
    with socket.create_server(("127.0.0.1", port)) as server:
        print(f"listening on 127.0.0.1:{server.getsockname()[1]}", file=sys.stderr, flush=True)
        client, _ = server.accept()
        with client, client.makefile("rb") as incoming, client.makefile("wb") as outgoing:
            serve(incoming, outgoing)
